package cache

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
)

// Redis is given up when, within tripWindow, tripFailures calls failed or were
// slow, and they are half of all calls.
const (
	tripWindow   = 10 * time.Second
	tripFailures = 5
)

var (
	// errGivenUp says that no call was made.
	errGivenUp = errors.New("redis is given up for now")
	// errSlow marks a call that succeeded too late.
	errSlow = errors.New("too slow")
	// errAbandoned marks a call whose caller left: it says nothing of Redis.
	errAbandoned = errors.New("abandoned by its caller")
)

// breaker stands before every call of Redis, and makes none while Redis is
// sick. It logs once when Redis is given up and once when it is back.
type breaker struct {
	circuit *gobreaker.CircuitBreaker[struct{}]
	log     *slog.Logger
	limits  limits
	// reached is whether any call has succeeded yet. Until one has, Redis is
	// taken to be absent, and the first failure is enough.
	reached atomic.Bool
	last    atomic.Pointer[error] // the latest failure, for the log
}

func newBreaker(log *slog.Logger, l limits) *breaker {
	b := &breaker{log: log, limits: l}
	b.circuit = gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Interval:      tripWindow,
		BucketPeriod:  tripWindow / 10,
		Timeout:       l.retry,
		ReadyToTrip:   b.sick,
		OnStateChange: b.changed,
		IsExcluded:    func(err error) bool { return errors.Is(err, errAbandoned) },
	})
	return b
}

// do makes the call unless Redis is given up. Its error wraps errGivenUp when
// the call was not made, errSlow when it succeeded late, errAbandoned when
// ctx ended first, and is the call's own otherwise.
func (b *breaker) do(ctx context.Context, call func(context.Context) error) error {
	_, err := b.circuit.Execute(func() (struct{}, error) {
		begin := time.Now()
		err := call(ctx)
		took := time.Since(begin)
		switch {
		case err != nil && ctx.Err() != nil:
			return struct{}{}, fmt.Errorf("%w: %w", errAbandoned, err)
		case err == nil:
			b.reached.Store(true)
			if took > b.limits.slow {
				err = fmt.Errorf("%w: %v", errSlow, took.Round(time.Millisecond))
			}
		}
		if err != nil {
			b.last.Store(&err)
		}
		return struct{}{}, err
	})
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return errGivenUp
	}
	return err
}

func (b *breaker) state() string { return b.circuit.State().String() }

func (b *breaker) sick(n gobreaker.Counts) bool {
	return !b.reached.Load() || n.TotalFailures >= tripFailures && 2*n.TotalFailures >= n.Requests
}

// changed runs under the circuit's lock and must not ask it anything. A trial
// that fails is no news.
func (b *breaker) changed(_ string, from, to gobreaker.State) {
	switch {
	case to == gobreaker.StateClosed:
		b.log.Info("redis is back: answers are shared again")
	case from == gobreaker.StateClosed:
		b.log.Warn("redis is given up for now: going on without it",
			"error", *b.last.Load(), "retry", b.limits.retry)
	}
}
