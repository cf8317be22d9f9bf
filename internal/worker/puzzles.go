package worker

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"antipode/internal/job"
	"antipode/internal/limit"
	"antipode/internal/puzzle"
)

// given are the puzzles that chunks named by their definitions' hashes. When there
// are more than limit.KeptDefinitions it starts over: what is wanted again is
// fetched again.
type given struct {
	mu    sync.Mutex
	known map[string]reading // by ref, guarded by mu
}

// reading is a definition read: a puzzle, or what is wrong with it for good.
type reading struct {
	puzzle *puzzle.Puzzle
	err    error
}

// invalidError says that a chunk's puzzle cannot be had, now or later.
type invalidError struct{ error }

// puzzles returns the puzzles that a chunk may name: those that come with the
// program, and those whose refs it brings. The error is an invalidError, or that
// a definition could not be fetched.
func (w *Worker) puzzles(ctx context.Context, c *job.Chunk) (*puzzle.Set, error) {
	if !strings.Contains(c.Puzzle, "@") {
		return w.Puzzles, nil
	}
	var more []*puzzle.Puzzle
	for _, ref := range strings.Fields(c.Puzzle) {
		p, err := w.given(ctx, ref)
		if err != nil {
			return nil, err
		}
		more = append(more, p)
	}
	return w.Puzzles.With(more...), nil
}

// given returns the puzzle of one ref.
func (w *Worker) given(ctx context.Context, ref string) (*puzzle.Puzzle, error) {
	g := &w.definitions
	g.mu.Lock()
	r, ok := g.known[ref]
	g.mu.Unlock()
	if ok {
		return r.puzzle, r.err
	}
	name, hash, err := puzzle.ParseRef(ref)
	switch {
	case err != nil:
		return nil, invalidError{err}
	case hash == "": // it comes with the program
		p, err := w.Puzzles.Get(name)
		if err != nil {
			return nil, invalidError{err}
		}
		return p, nil
	}
	text, err := w.Definition(ctx, hash)
	if err != nil {
		return nil, fmt.Errorf("puzzle %s: %w", name, err)
	}
	if r.puzzle, err = puzzle.Given(name, name, text); err != nil {
		r.err = invalidError{err}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known == nil || len(g.known) == limit.KeptDefinitions {
		g.known = map[string]reading{}
	}
	g.known[ref] = r
	return r.puzzle, r.err
}
