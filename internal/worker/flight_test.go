package worker

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"antipode/internal/cache"
	"antipode/internal/job"
)

// passenger is one who asks.
type passenger struct {
	progress atomic.Int64
	cancel   context.CancelCauseFunc
	landed   chan struct{} // closed when answer and err are set
	answer   job.Answer
	err      error
}

// board asks a question in a goroutine.
func board(t *testing.T, f *flights, key flightKey, solve func(context.Context) (job.Answer, error)) *passenger {
	t.Helper()
	p := &passenger{landed: make(chan struct{})}
	var ctx context.Context
	ctx, p.cancel = context.WithCancelCause(t.Context())
	go func() {
		defer close(p.landed)
		p.answer, p.err = f.do(ctx, key, &p.progress, func() (job.Answer, error) { return solve(ctx) })
	}()
	return p
}

func (p *passenger) land(t *testing.T) (job.Answer, error) {
	t.Helper()
	select {
	case <-p.landed:
	case <-time.After(patience):
		t.Fatal("still in the air")
	}
	return p.answer, p.err
}

// waits returns once the passenger is seen to wait for the leader: it counts
// when the leader does.
func (p *passenger) waits(t *testing.T, leader *passenger) {
	t.Helper()
	for deadline := time.Now().Add(patience); p.progress.Load() == 0; time.Sleep(10 * time.Millisecond) {
		leader.progress.Add(1)
		if time.Now().After(deadline) {
			t.Fatal("one who waits does not get on while the leader does")
		}
	}
}

func unexpected(context.Context) (job.Answer, error) {
	return job.Answer{}, errors.New("solved again")
}

func TestFlightSharesItsAnswer(t *testing.T) {
	var f flights
	taxi, takeOff := make(chan struct{}), make(chan struct{})
	want := job.Answer{Distance: 2, Moves: []uint8{0, 1}}
	leader := board(t, &f, flightKey{}, func(context.Context) (job.Answer, error) {
		close(taxi)
		<-takeOff
		return want, nil
	})
	<-taxi
	others := make([]*passenger, 5)
	for i := range others {
		others[i] = board(t, &f, flightKey{}, unexpected)
	}
	for _, p := range others {
		p.waits(t, leader)
	}
	// Another question, and the same with another budget, are other flights.
	for _, key := range []flightKey{{key: cache.Key{Start: 1}}, {budget: job.Budget{States: 1}}} {
		p := board(t, &f, key, func(context.Context) (job.Answer, error) { return job.Answer{Distance: 7}, nil })
		if a, err := p.land(t); a.Distance != 7 || a.Cached || err != nil {
			t.Errorf("another flight: %+v, %v", a, err)
		}
	}
	close(takeOff)
	if a, err := leader.land(t); a.Cached || a.Distance != 2 || err != nil {
		t.Errorf("leader: %+v, %v", a, err)
	}
	for _, p := range others {
		if a, err := p.land(t); !a.Cached || a.Distance != 2 || len(a.Moves) != 2 || err != nil {
			t.Errorf("other: %+v, %v", a, err)
		}
	}
	if len(f.current) != 0 {
		t.Errorf("%d flights are left", len(f.current))
	}
}

// When the leader's chunk is cancelled, another of those who wait solves, once,
// and the rest wait on.
func TestFlightOfACancelledLeader(t *testing.T) {
	var f flights
	taxi := make(chan struct{})
	leader := board(t, &f, flightKey{}, func(ctx context.Context) (job.Answer, error) {
		close(taxi)
		<-ctx.Done()
		return job.Answer{}, context.Cause(ctx)
	})
	<-taxi
	var solved atomic.Int64
	again := make(chan struct{})
	others := make([]*passenger, 3)
	for i := range others {
		others[i] = board(t, &f, flightKey{}, func(context.Context) (job.Answer, error) {
			if solved.Add(1) == 1 {
				<-again
			}
			return job.Answer{Distance: 5}, nil
		})
	}
	for _, p := range others {
		p.waits(t, leader)
	}
	cancelled := errors.New("cancelled")
	leader.cancel(cancelled)
	if _, err := leader.land(t); err != cancelled {
		t.Errorf("leader: %v", err)
	}
	close(again)
	fresh := 0
	for _, p := range others {
		a, err := p.land(t)
		if a.Distance != 5 || err != nil {
			t.Errorf("other: %+v, %v", a, err)
		}
		if !a.Cached {
			fresh++
		}
	}
	if int(solved.Load()) != fresh || fresh == 0 {
		t.Errorf("solved %d times, %d answers are fresh", solved.Load(), fresh)
	}
}

// One who waits ends with its own context, and leaves the leader alone.
func TestFlightLeftByAnother(t *testing.T) {
	var f flights
	taxi, takeOff := make(chan struct{}), make(chan struct{})
	leader := board(t, &f, flightKey{}, func(context.Context) (job.Answer, error) {
		close(taxi)
		<-takeOff
		return job.Answer{Distance: 3}, nil
	})
	<-taxi
	other := board(t, &f, flightKey{}, unexpected)
	other.waits(t, leader)
	left := errors.New("left")
	other.cancel(left)
	if _, err := other.land(t); err != left {
		t.Errorf("other: %v", err)
	}
	close(takeOff)
	if a, err := leader.land(t); a.Distance != 3 || err != nil {
		t.Errorf("leader: %+v, %v", a, err)
	}
}

func TestGuard(t *testing.T) {
	if a := guard(func() {}); a != nil {
		t.Errorf("no panic: %+v", a)
	}
	for _, p := range []any{"why", errors.New("why"), 7} {
		a := guard(func() { breakDown(p) })
		if a == nil || a.Status != job.Failed || !strings.HasPrefix(a.Reason, "panic: ") || !strings.HasSuffix(a.Reason, "worker.breakDown") {
			t.Errorf("%v: %+v", p, a)
		}
	}
}

//go:noinline
func breakDown(p any) { panic(p) }

func TestOriginOfNoPanic(t *testing.T) {
	for _, stack := range []string{"", "goroutine 1 [running]:\n", "panic(", "panic({0x1, 0x2})\n\tfile.go:1"} {
		if got := origin([]byte(stack)); got != "an unknown place" {
			t.Errorf("%q: %s", stack, got)
		}
	}
}
