//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/process"
)

// What a worker logs about itself.
var (
	workerName  = regexp.MustCompile(`"msg":"ready","worker":"([^"]+)"`)
	redelivered = regexp.MustCompile(`"chunk redelivered"`)
	stopping    = regexp.MustCompile("finishing what is held")
)

// stops stops a worker that holds a chunk, once: it takes no other, answers what it
// has and ends; another does the rest.
func stops(ctx context.Context, l *lab) (found result, err error) {
	j, err := l.job(ctx, mix{seed: 9, chunks: 40, searches: 128, depth: 28})
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
	for ; found.often < 5; found.often++ {
		w, err := l.worker(ctx, s.url())
		if err != nil {
			return found, err
		}
		if err := o.answered(ctx, 3*found.often+1); err != nil {
			return found, err
		}
		if err := o.stopped(ctx, w); err != nil {
			return found, err
		}
	}
	if _, err := l.worker(ctx, s.url()); err != nil {
		return found, err
	}
	if err := ended(ctx, p, 0); err != nil {
		return found, err
	}
	lane, err := o.lane(ctx, "v1-bulk")
	if err != nil {
		return found, err
	}
	if lane.NumRedelivered > 0 || l.count("worker", `"chunk redelivered"`) > found.often {
		return found, fmt.Errorf("%d chunks were given back by %d workers that had time", l.count("worker", `"chunk redelivered"`), found.often)
	}
	found.tally, err = l.compare(j, "out")
	return found, err
}

// stopped stops a worker, and wants no more answers of it than to what it held.
func (o *operator) stopped(ctx context.Context, w *process.Process) error {
	name, err := w.Await(ctx, workerName)
	if err != nil {
		return err
	}
	if err := w.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if _, err := w.Await(ctx, stopping); err != nil {
		return err
	}
	before, err := o.resultsOf(ctx, name[0])
	if err != nil {
		return err
	}
	if err := ended(ctx, w, 0); err != nil {
		return err
	}
	after, err := o.resultsOf(ctx, name[0])
	if err == nil && after > before+1 {
		err = fmt.Errorf("a worker of one slot answered %d chunks after it was stopped", after-before)
	}
	return err
}

// resultsOf counts the results of one worker.
func (o *operator) resultsOf(ctx context.Context, worker string) (n int, err error) {
	return n, o.eachResult(ctx, func(m *jetstream.RawStreamMsg) error {
		if m.Header.Get("Worker") == worker {
			n++
		}
		return nil
	})
}

// givesBack stops workers twice while they are at long chunks: others have these at
// once, not after the ack wait.
func givesBack(ctx context.Context, l *lab) (found result, err error) {
	j, err := l.antipodesJob(ctx, 2)
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
	var busy []*process.Process
	for len(busy) < 2 { // as many as there are chunks
		w, err := l.worker(ctx, s.url(), noTables...)
		if err != nil {
			return found, err
		}
		if busy = append(busy, w); o.held(ctx, len(busy)) != nil {
			return found, err
		}
	}
	slowest := time.Duration(0)
	for settings := noTables; len(busy) > 0; found.often++ {
		if found.often == 4 {
			settings = nil // whoever takes them now is soon done
		}
		idle, err := l.worker(ctx, s.url(), settings...)
		if err != nil {
			return found, err
		}
		took, err := handOver(ctx, busy[0], idle)
		if err != nil {
			return found, err
		}
		slowest = max(slowest, took)
		if busy = busy[1:]; settings != nil {
			busy = append(busy, idle)
		}
	}
	if err := ended(ctx, p, 0); err != nil {
		return found, err
	}
	found.note = fmt.Sprintf("the slowest was handed over in %.2f s, target < 2", slowest.Seconds())
	if slowest > ackWait/2 {
		return found, errors.New("what is given back waits")
	}
	if found.tally, err = l.compare(j, "out"); err != nil {
		return found, err
	}
	return found, l.uncounted(ctx, o, &found)
}

// handOver stops a worker twice, and returns how long it took until another had what
// it held.
func handOver(ctx context.Context, busy, idle *process.Process) (time.Duration, error) {
	for range 2 {
		if err := busy.Signal(syscall.SIGTERM); err != nil {
			return 0, err
		}
		if _, err := busy.Await(ctx, stopping); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	if _, err := idle.Await(ctx, redelivered); err != nil {
		return 0, err
	}
	return time.Since(began), ended(ctx, busy, 0)
}

// rolling restarts all workers in turn, many times, the way deployments do: that
// counts as no failure of any chunk.
func rolling(ctx context.Context, l *lab) (found result, err error) {
	rounds := 12
	if l.short {
		rounds = 5
	}
	m := mix{seed: 10, chunks: 20 * rounds, searches: 48, depth: 28}
	j, err := l.job(ctx, m)
	if err != nil {
		return found, err
	}
	s, o, err := l.watched(ctx)
	if err != nil {
		return found, err
	}
	defer o.close()
	var workers [3]*process.Process
	for i := range workers {
		if workers[i], err = l.worker(ctx, s.url()); err != nil {
			return found, err
		}
	}
	p, err := l.submit(ctx, s.url(), j, "out")
	if err != nil {
		return found, err
	}
	for round := range rounds {
		if err := o.answered(ctx, m.chunks*round/(rounds+1)); err != nil {
			return found, err
		}
		for i, w := range workers {
			for range 1 + (round+i)%2 { // once and twice in turn
				if err := w.Signal(syscall.SIGTERM); err != nil {
					return found, err
				}
				if _, err := w.Await(ctx, stopping); err != nil {
					return found, err
				}
			}
			if err := ended(ctx, w, 0); err != nil {
				return found, err
			}
			if workers[i], err = l.worker(ctx, s.url()); err != nil {
				return found, err
			}
			found.often++
		}
	}
	if err := ended(ctx, p, 0); err != nil {
		return found, err
	}
	if found.tally, err = l.compare(j, "out"); err != nil {
		return found, err
	}
	return found, l.uncounted(ctx, o, &found)
}

// uncounted wants no chunk to have been begun twice, by its own count, nor any dead
// letter.
func (l *lab) uncounted(ctx context.Context, o *operator, found *result) error {
	dead, err := o.state(ctx, "DEAD")
	if err != nil {
		return err
	}
	again := 0
	for _, w := range l.all("worker") {
		for line := range strings.Lines(w.Log()) {
			if !strings.Contains(line, `"chunk redelivered"`) {
				continue
			}
			if again++; !strings.Contains(line, `"begun":1`) {
				return fmt.Errorf("a planned stop was counted: %s", line)
			}
		}
	}
	found.note = strings.TrimPrefix(fmt.Sprintf("%s; %d chunks were given back", found.note, again), "; ")
	if dead.Msgs > 0 {
		return fmt.Errorf("%d dead letters", dead.Msgs)
	}
	return nil
}
