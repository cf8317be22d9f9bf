//go:build unix

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"antipode/internal/process"
)

// together is how many rows run at a time, of those that mostly wait.
const together = 4

// bench is what all rows share: the programs, and where to tell of progress.
type bench struct {
	options
	dir string // goes with the program

	mu  sync.Mutex // covers out
	out io.Writer

	jobs struct {
		sync.Mutex
		made map[mix]*job // guarded by the mutex
	}
}

// newBench builds the programs. The bench must be closed.
func newBench(ctx context.Context, opts options, out io.Writer) (*bench, error) {
	if _, err := os.Stat("chaos/main.go"); err != nil {
		return nil, errors.New("run it in the root of the module: go run ./chaos")
	}
	dir, err := os.MkdirTemp("", "antipode-chaos-")
	if err != nil {
		return nil, err
	}
	b := &bench{options: opts, dir: dir, out: out}
	b.jobs.made = map[mix]*job{}
	b.say("build", "the programs")
	if err := b.build(ctx); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// build builds the programs, and a worker that dies of certain records.
func (b *bench) build(ctx context.Context) error {
	if err := process.Build(ctx, b.dir, "antipode/cmd/submit", "antipode/cmd/worker", "github.com/nats-io/nats-server/v2"); err != nil {
		return err
	}
	poisonable := filepath.Join(b.dir, "poisonable")
	if err := os.Mkdir(poisonable, 0o700); err != nil {
		return err
	}
	return process.Build(ctx, poisonable, "-tags", "poison", "antipode/cmd/worker")
}

func (b *bench) close() { os.RemoveAll(b.dir) }

// say tells of progress.
func (b *bench) say(about, format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fmt.Fprintf(b.out, "chaos: %s: %s\n", about, fmt.Sprintf(format, args...))
}

// run runs rows, some at a time, those first that may take long, and returns their
// lines in the order of the rows.
func (b *bench) run(ctx context.Context, group []row) []line {
	lines := make([]line, len(group))
	order := make([]int, len(group))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(group[j].limit, group[i].limit) })
	var running errgroup.Group
	running.SetLimit(together)
	for _, i := range order {
		running.Go(func() error {
			if ctx.Err() == nil {
				lines[i] = b.one(ctx, group[i])
			}
			return nil
		})
	}
	running.Wait()
	return lines
}

// one runs a row under its limit.
func (b *bench) one(ctx context.Context, r row) line {
	limit := r.limit
	if limit == 0 {
		limit = usualLimit
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("hung: not over after %s", limit))
	defer cancel()
	b.say(r.name, "%s", r.fault)
	began := time.Now()
	l, err := newLab(b, r.name)
	if err != nil {
		return line{row: r, err: err}
	}
	defer l.close()
	found, err := r.run(ctx, l)
	n := line{row: r, result: found, seconds: time.Since(began).Seconds(), err: err}
	if n.err == nil {
		n.err = n.demand()
	}
	if b.logs {
		l.printLogs()
	}
	if n.err == nil {
		b.say(r.name, "%.1f s", n.seconds)
	} else {
		b.say(r.name, "FAILED: %v", n.err)
	}
	return n
}
