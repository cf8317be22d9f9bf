package worker

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"antipode/internal/cache"
	"antipode/internal/job"
)

// flights lets equal questions that are asked at the same moment be solved once.
//
// Each flight has a leader, who solves within its own chunk's context, and
// others, who wait within theirs; x/sync's singleflight has no contexts. When
// the leader's chunk is cancelled, the next of the others leads.
type flights struct {
	mu      sync.Mutex
	current map[flightKey]*flight // guarded by mu
}

type flightKey struct {
	key    cache.Key
	budget job.Budget
}

type flight struct {
	done     chan struct{} // closed when answer or err is set
	answer   job.Answer
	err      error
	progress *atomic.Int64 // the leader's
}

// do returns what solve returns, here or where the same question is being
// solved. Another's answer counts as cached.
func (f *flights) do(ctx context.Context, key flightKey, progress *atomic.Int64, solve func() (job.Answer, error)) (job.Answer, error) {
	for {
		f.mu.Lock()
		other := f.current[key]
		if other == nil {
			own := &flight{done: make(chan struct{}), progress: progress}
			if f.current == nil {
				f.current = map[flightKey]*flight{}
			}
			f.current[key] = own
			f.mu.Unlock()
			own.answer, own.err = solve()
			f.mu.Lock()
			delete(f.current, key)
			f.mu.Unlock()
			close(own.done)
			return own.answer, own.err
		}
		f.mu.Unlock()
		if err := other.wait(ctx, progress); err != nil {
			return job.Answer{}, err
		}
		if other.err == nil {
			answer := other.answer
			answer.Cached = answer.Status.Final()
			return answer, nil
		}
		if err := ctx.Err(); err != nil {
			return job.Answer{}, context.Cause(ctx)
		}
	}
}

// wait waits for the flight to end. While its leader gets on, so does the one
// who waits.
func (f *flight) wait(ctx context.Context, progress *atomic.Int64) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	seen := f.progress.Load()
	for {
		select {
		case <-f.done:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			if now := f.progress.Load(); now != seen {
				seen = now
				progress.Add(1)
			}
		}
	}
}

// origin finds the function that panicked in a stack, for a one-line reason.
func origin(stack []byte) string {
	_, below, ok := bytes.Cut(stack, []byte("panic("))
	if !ok {
		return "an unknown place"
	}
	lines := bytes.SplitN(below, []byte("\n"), 4)
	if len(lines) < 4 {
		return "an unknown place"
	}
	place, _, _ := bytes.Cut(lines[2], []byte("("))
	return string(bytes.TrimSpace(place))
}
