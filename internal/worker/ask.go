package worker

import (
	"context"
	"errors"
	"fmt"

	"antipode/internal/job"
)

// Check tells whether a chunk is one question of the puzzle that it names, and if
// not, why: in words for who asks. It answers nothing: a chunk of many records
// might take hours. The error is ctx's, or that the puzzle cannot be fetched now.
func (w *Worker) Check(ctx context.Context, c *job.Chunk) (refusal string, err error) {
	set, err := w.puzzles(ctx, c)
	switch {
	case errors.As(err, new(invalidError)):
		return err.Error(), nil
	case err != nil:
		return "", err
	}
	p, err := set.Get(c.Puzzle)
	if err != nil {
		return err.Error(), nil
	}
	r, err := job.NewReader(c, set)
	if err != nil {
		return err.Error(), nil
	}
	var rec, second job.Record
	broken := guard(func() {
		switch {
		case !r.Next(&rec):
			refusal = "no record"
			return
		case r.Next(&second) && c.Format.JSONL:
			refusal = "more than one line; a question is one JSON object on one line"
			return
		case second.Number > 0:
			refusal = "more than one record; a question is one"
			return
		}
		if r.Read(&rec); rec.Puzzle != nil && rec.Puzzle != p {
			refusal = fmt.Sprintf("the record names the puzzle %s, the subject %s", rec.Puzzle.Name, p.Name)
		}
	})
	if broken != nil {
		return "", nil // Answer panics just so, and fails the record
	}
	return refusal, nil
}

// Tabled lists those puzzles that come with the program and have their tables now.
func (w *Worker) Tabled() (names []string) {
	for _, name := range w.Puzzles.Names() {
		if p, err := w.Puzzles.Get(name); err == nil && w.Solver.Tabled(p) {
			names = append(names, name)
		}
	}
	return names
}
