//go:build unix

package e2e

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"antipode/internal/cache"
	"antipode/internal/cache/redistest"
	"antipode/internal/job"
	"antipode/internal/natsd"
	"antipode/internal/puzzle"
	"antipode/internal/queue"
	"antipode/internal/solver"
	"antipode/internal/worker"
)

// site is a worker in this process and a connection to submit by.
type site struct {
	*queue.Queue
	puzzles *puzzle.Set
	stop    func() // ends both, once
}

// newSite starts a worker with its own, empty cache.
func newSite(t *testing.T, url, redis, secret string) *site {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	s := &site{}
	var err error
	if s.puzzles, err = puzzle.Builtin(); err != nil {
		t.Fatal(err)
	}
	answers, err := cache.Open(cache.Config{Bytes: 1 << 20, Redis: redis, Secret: secret, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	open := func() *queue.Queue {
		q, err := queue.Open(t.Context(), queue.Config{URL: url, Name: "test", Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	work := open()
	s.Queue = open()
	w := &worker.Worker{Name: "test", Puzzles: s.puzzles, Cache: answers, Mode: worker.Searched,
		Solver: solver.New(solver.Config{Searches: 3, Memory: 1 << 28, TableMemory: 1 << 28}), Definition: work.Definition}
	serving, stop := context.WithCancel(context.Background())
	var slots sync.WaitGroup
	slots.Go(func() {
		work.Serve(serving, serving, queue.ServeConfig{Answer: w.Answer, Fail: w.Fail, Worker: "test", Bulk: 2, Express: 1})
	})
	s.stop = sync.OnceFunc(func() {
		stop()
		slots.Wait()
		ctx := context.Background()
		s.Queue.Close(ctx)
		work.Close(ctx)
		answers.Close(ctx)
	})
	t.Cleanup(s.stop)
	return s
}

// run answers a job and counts what became of its records.
func (s *site) run(t *testing.T, name string, in io.Reader) (answers string, counts job.Counts) {
	t.Helper()
	spec := job.Spec{Owner: "public", Job: job.NewID(), File: name}
	var p *puzzle.Puzzle
	if strings.HasSuffix(name, ".jsonl") {
		spec.Format.JSONL, spec.JSON = true, true
	} else {
		spec.Puzzle, _, _ = strings.Cut(name, "-")
		var err error
		if p, err = s.puzzles.Get(spec.Puzzle); err != nil {
			t.Fatal(err)
		}
	}
	cutter := job.NewCutter(in, spec, p)
	var out bytes.Buffer
	err := s.Run(t.Context(), queue.Run{
		Spec: spec, Window: queue.Window{Chunks: 16, Bytes: 1 << 20},
		Next: func(ctx context.Context) (*job.Chunk, *job.Result, error) {
			c, err := cutter.Next(ctx)
			return c, nil, err
		},
		Write: func(_ *job.Chunk, r *job.Result) error {
			counts.Sum(r.Counts)
			out.Write(r.Payload)
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), counts
}

// From file to file through a server in this process, over TCP, and a Redis
// server: a new worker finds in Redis what another has searched.
func TestRedis(t *testing.T) {
	server, err := natsd.Start(natsd.Config{Port: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop() })
	redis := redistest.Start(t)
	boards := ringBoards(9, 100)
	text := ringText(boards)

	first := newSite(t, server.URL(), redis.Addr, "")
	for file, want := range examples(t) {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		name := file[strings.LastIndexByte(file, '/')+1:]
		if got, _ := first.run(t, name, f); got != want {
			t.Errorf("%s:\n%swant\n%s", name, got, want)
		}
	}
	searched, counts := first.run(t, "rotegame-rings", strings.NewReader(text))
	checkRings(t, boards, searched)
	if counts.Cached != 0 || counts.ByStatus[job.Solved] != len(boards) {
		t.Errorf("at first: %+v", counts)
	}
	first.stop() // what was learned is in Redis now

	cached, counts := newSite(t, server.URL(), redis.Addr, "").run(t, "rotegame-rings", strings.NewReader(text))
	if cached != searched || counts.Cached == 0 {
		t.Errorf("with what Redis knows: %+v, the same answers: %t", counts, cached == searched)
	}
	redis.Stop()
	gone, counts := newSite(t, server.URL(), redis.Addr, "").run(t, "rotegame-rings", strings.NewReader(text))
	if gone != searched || counts.Records != len(boards) {
		t.Errorf("without Redis: %+v, the same answers: %t", counts, gone == searched)
	}
}
