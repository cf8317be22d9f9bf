package cache

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// Slow successes count against Redis as failures do, and their values count.
func TestBreakerCountsSlowCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(slog.New(slog.DiscardHandler), usual())
		calls := 0
		take := func(d time.Duration) error {
			return b.do(t.Context(), func(context.Context) error {
				calls++
				time.Sleep(d) // the bubble's clock: no time passes outside
				return nil
			})
		}
		for range 10 * tripFailures {
			if err := take(usual().slow); err != nil {
				t.Fatalf("a call just fast enough: %v", err)
			}
		}
		time.Sleep(2 * tripWindow)
		for range tripFailures {
			if err := take(2 * usual().slow); !errors.Is(err, errSlow) {
				t.Fatalf("a slow call: %v, want %v", err, errSlow)
			}
		}
		before := calls
		if err := take(0); !errors.Is(err, errGivenUp) || calls != before {
			t.Fatalf("after %d slow calls: error %v, %d calls made", tripFailures, err, calls-before)
		}
		time.Sleep(2 * usual().retry)
		if err := take(0); err != nil || b.state() != "closed" {
			t.Errorf("a good trial: error %v, state %s", err, b.state())
		}
	})
}

// A few failures among many successes are no reason to give up.
func TestBreakerBearsSomeFailures(t *testing.T) {
	b := newBreaker(slog.New(slog.DiscardHandler), usual())
	broken := errors.New("broken")
	for i := range 300 {
		var result error
		if i%3 == 2 {
			result = broken
		}
		if err := b.do(t.Context(), func(context.Context) error { return result }); !errors.Is(err, result) {
			t.Fatalf("call %d: %v, want %v", i, err, result)
		}
	}
}
