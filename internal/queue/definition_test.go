package queue

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"antipode/internal/job"
	"antipode/internal/limit"
	"antipode/internal/puzzle"
)

// A definition comes back as it was stored; what stands under its hash and is
// another is none.
func TestDefinition(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	text := []byte("cells: 2\n# the bytes, not the meaning\n")
	hash := puzzle.Hash(text)
	if _, err := q.Definition(t.Context(), hash); !errors.Is(err, ErrNoDefinition) {
		t.Errorf("before: %v", err)
	}
	if err := q.Define(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	if got, err := q.Definition(t.Context(), hash); err != nil || string(got) != string(text) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := q.kv.PutString(t.Context(), "puzzle."+hash, "cells: 3\n"); err != nil {
		t.Fatal(err)
	}
	if got, err := q.Definition(t.Context(), hash); !errors.Is(err, ErrNoDefinition) {
		t.Errorf("planted: %q, %v", got, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := q.Definition(ended, hash); err == nil || errors.Is(err, ErrNoDefinition) {
		t.Errorf("that it cannot be read now is not that it is not there: %v", err)
	}
}

// needing answers a chunk once the definition that it names is there.
func needing(q *Queue, hash string, tried *atomic.Int64) answerer {
	return func(ctx context.Context, c *job.Chunk) (*job.Result, error) {
		tried.Add(1)
		if _, err := q.Definition(ctx, hash); err != nil {
			return nil, err
		}
		return echoed(c), nil
	}
}

// A chunk whose definition is not there is put off: the bucket may lag behind. At
// its fourth delivery it is given up.
func TestChunkWithoutItsDefinition(t *testing.T) {
	t.Parallel()
	tm := lenient()
	tm.again = 50 * time.Millisecond
	q := connect(t, startServer(t).URL(), tm)
	late, never := []byte("late"), []byte("never")
	var tried, given atomic.Int64
	chunk := textChunk(1)
	push(t, q, Bulk, chunk)
	other := numbered(newSpec(), 1)[0]
	push(t, q, Express, other)
	serve(t, q, 1, 0, needing(q, puzzle.Hash(never), &tried))
	serve(t, q, 0, 1, func(ctx context.Context, c *job.Chunk) (*job.Result, error) {
		res, err := needing(q, puzzle.Hash(late), &given)(ctx, c)
		if given.Load() == 2 && err != nil {
			if err := q.Define(ctx, late); err != nil {
				t.Error(err)
			}
		}
		return res, err
	})
	settled(t, q)
	if n := tried.Load(); n != limit.Tries {
		t.Errorf("tried %d times, want %d", n, limit.Tries)
	}
	if got := string(lastOf(t, q, resultsStream, resultSubject(chunk, 1)).Data); !strings.HasPrefix(got, "failed: swap.txt:10: definition ") || !strings.Contains(got, "no such definition") {
		t.Errorf("result %q", got)
	}
	if reason := lastOf(t, q, deadStream, deadSubject(chunk)).Header.Get(hReason); !strings.Contains(reason, puzzle.Hash(never)) {
		t.Errorf("reason %q", reason)
	}
	if got := string(lastOf(t, q, resultsStream, resultSubject(other, 1)).Data); !strings.HasPrefix(got, "answer to") || given.Load() != 3 {
		t.Errorf("%q at the third time, was the %d.", got, given.Load())
	}
	if n := messages(t, q, deadStream); n != 1 {
		t.Errorf("%d dead letters", n)
	}
}

// A job's definitions are there before its first chunk, and again when the server
// came back without them.
func TestRunDefines(t *testing.T) {
	t.Parallel()
	tm := lenient()
	tm.quiet, tm.audit, tm.again = 200*time.Millisecond, 400*time.Millisecond, 10*time.Second
	s := startServer(t)
	q := connect(t, s.URL(), tm)
	text := []byte("cells: 2\n")
	var tried atomic.Int64
	halfway, gone := make(chan struct{}), make(chan struct{})
	worker := connect(t, s.URL(), tm)
	serve(t, worker, 1, 1, func(ctx context.Context, c *job.Chunk) (*job.Result, error) {
		if c.Number == 3 && tried.Load() == 3 {
			close(halfway)
			<-gone
		}
		return needing(worker, puzzle.Hash(text), &tried)(ctx, c)
	})
	spec := newSpec()
	var w written
	result := running(t, q, Run{Spec: spec, Definitions: [][]byte{text}, Next: inTurn(numbered(spec, 6)), Write: w.write})
	await(t, halfway, "a chunk in the middle")
	if err := q.kv.Delete(t.Context(), "puzzle."+puzzle.Hash(text)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the definition is there again", func() bool {
		_, err := q.Definition(t.Context(), puzzle.Hash(text))
		return err == nil
	})
	close(gone)
	completes(t, result)
	w.check(t, 6)
	if n := tried.Load(); n != 6 {
		t.Errorf("tried %d times, for 6 chunks", n)
	}
}

// A job that goes on for long stores its definitions again before the bucket
// forgets them, however busy it is.
func TestRunDefinesAgain(t *testing.T) {
	t.Parallel()
	tm := lenient()
	tm.define = 300 * time.Millisecond
	s := startServer(t)
	q := connect(t, s.URL(), tm)
	text := []byte("cells: 2\n")
	held, release := make(chan *job.Chunk, 6), make(chan struct{})
	serve(t, connect(t, s.URL(), lenient()), 1, 1, func(_ context.Context, c *job.Chunk) (*job.Result, error) {
		held <- c
		<-release
		return echoed(c), nil
	})
	spec := newSpec()
	var w written
	result := running(t, q, Run{Spec: spec, Definitions: [][]byte{text}, Next: inTurn(numbered(spec, 6)), Write: w.write})
	await(t, held, "the first chunk")
	if err := q.kv.Delete(t.Context(), "puzzle."+puzzle.Hash(text)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the definition is there again", func() bool {
		_, err := q.Definition(t.Context(), puzzle.Hash(text))
		return err == nil
	})
	close(release)
	completes(t, result)
	w.check(t, 6)
}
