//go:build unix

package main

import (
	"context"
	"fmt"
	"time"
)

// workerDies kills workers that hold a chunk, one after another: the chunk goes to
// another after its ack wait.
func workerDies(ctx context.Context, l *lab) (found result, err error) {
	j, err := l.job(ctx, mix{seed: 2, chunks: 20, searches: 128, depth: 28})
	if err != nil {
		return found, err
	}
	s, o, err := l.watched(ctx)
	if err != nil {
		return found, err
	}
	defer o.close()
	p, err := l.submit(ctx, s.url(), j, "out")
	if err != nil {
		return found, err
	}
	for found.often < 3 {
		w, err := l.worker(ctx, s.url())
		if err != nil {
			return found, err
		}
		if err := o.held(ctx, found.often+1); err != nil {
			return found, err
		}
		w.Kill() // maybe between two chunks
		lane, err := o.lane(ctx, "v1-bulk")
		if err != nil {
			return found, err
		}
		found.often = lane.NumAckPending
	}
	killed := time.Now()
	if _, err := l.worker(ctx, s.url()); err != nil {
		return found, err
	}
	if err := ended(ctx, p, 0); err != nil {
		return found, err
	}
	found.note = fmt.Sprintf("answered %.1f s after the last death, target < 15", time.Since(killed).Seconds())
	if n := l.count("worker", `"chunk redelivered"`); n < found.often {
		return found, fmt.Errorf("%d chunks were delivered again, %d workers died with one", n, found.often)
	}
	found.tally, err = l.compare(j, "out")
	return found, err
}

// held waits until so many chunks of the bulk lane are in hand, or were when their
// worker died.
func (o *operator) held(ctx context.Context, chunks int) error {
	return until(ctx, fmt.Sprintf("%d chunks in hand", chunks), func() (bool, error) {
		lane, err := o.lane(ctx, "v1-bulk")
		return err == nil && lane.NumAckPending >= chunks, err
	})
}
