package cache

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// batch is what a chunk changes in Redis: its new answers, or the values to
// delete that it found to be none.
type batch struct {
	entries []Entry
	garbage []string
}

// writer writes batches to Redis, one after the other, from a queue that never
// makes anyone wait.
type writer struct {
	redis  *remote
	counts *counters
	cancel context.CancelFunc // ends the write under way, and makes the others moot
	done   chan struct{}      // closed when the goroutine has ended

	mu     sync.RWMutex // held for reading while sending to queue, for writing to close it
	closed bool
	queue  chan batch
}

// newWriter starts the writer's goroutine; close ends it.
func newWriter(r *remote, depth int, counts *counters) *writer {
	ctx, cancel := context.WithCancel(context.Background())
	w := &writer{
		redis:  r,
		counts: counts,
		cancel: cancel,
		done:   make(chan struct{}),
		queue:  make(chan batch, depth),
	}
	go w.run(ctx)
	return w
}

// run asks whether Redis is there, so that the log says so before the first
// chunk comes, and then writes until the queue is closed and empty.
func (w *writer) run(ctx context.Context) {
	defer close(w.done)
	w.redis.ping(ctx)
	for b := range w.queue {
		w.write(ctx, b)
	}
}

func (w *writer) write(ctx context.Context, b batch) {
	if len(b.garbage) > 0 && ctx.Err() == nil {
		w.redis.unlink(ctx, b.garbage)
	}
	for part := range slices.Chunk(b.entries, maxKeys) {
		if ctx.Err() == nil && w.redis.set(ctx, part) {
			w.counts.written.Add(uint64(len(part)))
		} else {
			w.counts.dropped.Add(uint64(len(part)))
		}
	}
}

// add queues a batch unless it is empty, or drops it when there is no room.
func (w *writer) add(b batch) {
	b.entries = slices.DeleteFunc(b.entries, func(e Entry) bool { return !e.Answer.keepable() })
	if len(b.entries)+len(b.garbage) == 0 {
		return
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	if !w.closed {
		select {
		case w.queue <- b:
			return
		default:
		}
	}
	w.counts.dropped.Add(uint64(len(b.entries)))
}

// close takes no more batches, and waits until those in the queue are written.
// When ctx ends first it drops them and says so.
func (w *writer) close(ctx context.Context) error {
	w.mu.Lock()
	w.closed = true
	close(w.queue)
	w.mu.Unlock()

	defer w.cancel()
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		w.cancel()
		<-w.done
		return fmt.Errorf("answers that waited for redis were dropped: %w", context.Cause(ctx))
	}
}
