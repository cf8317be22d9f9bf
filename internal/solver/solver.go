package solver

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"antipode/internal/job"
	"antipode/internal/puzzle"
)

// Config bounds a Solver. Zero values are not useful.
type Config struct {
	Searches    int   // at the same time
	Memory      int64 // of all searches' sets, in bytes
	TableMemory int64 // of all tables, in bytes
}

// Solver answers questions by the cheapest method that can. It is safe for use
// by many goroutines.
type Solver struct {
	searches chan *Search // idle ones
	tables   tables
}

// New returns a Solver.
func New(cfg Config) *Solver {
	s := &Solver{searches: make(chan *Search, cfg.Searches)}
	for range cfg.Searches {
		s.searches <- NewSearch(cfg.Memory / int64(cfg.Searches))
	}
	s.tables.init(cfg.TableMemory)
	return s
}

// Method is a way of answering.
type Method uint8

const (
	// ByContents needs no moves: start is goal, or holds other values.
	ByContents Method = iota
	// ByTable reads a table.
	ByTable
	// BySearch searches from both ends.
	BySearch
)

// Plan is the method chosen for a question, and what it needs.
type Plan struct {
	Method Method
	table  *tableSlot
}

// Plan chooses how to answer a question: by look-up where values are distinct
// and the space is small and not a record's own, else by search.
func (s *Solver) Plan(q *puzzle.Question) Plan {
	switch {
	case q.Unlike || q.Start == q.Goal:
		return Plan{Method: ByContents}
	case q.Distinct && !q.OneOff && q.Space.Cells() <= maxTableCells:
		if slot := s.tables.slot(q.Space, q.Goal); slot != nil {
			return Plan{ByTable, slot}
		}
	}
	return Plan{Method: BySearch}
}

// Solve answers a question as planned, within a budget. Moves are written
// over buf where they are wanted, and always by a search. It is an error, and no
// answer, when ctx ends first. Progress, which may be nil, counts while a search
// goes on.
func (s *Solver) Solve(ctx context.Context, q *puzzle.Question, plan Plan, want puzzle.Want, budget job.Budget, progress *atomic.Int64, buf []uint8) (job.Answer, error) {
	switch plan.Method {
	case ByContents:
		if q.Unlike {
			return job.Answer{Status: job.Unreachable}, nil
		}
		return job.Answer{Moves: buf[:0]}, nil
	case ByTable:
		t, err := plan.table.get(ctx)
		if err == nil {
			return t.answer(q, want, buf), nil
		}
		if ctx.Err() != nil {
			return job.Answer{}, context.Cause(ctx)
		}
		// There is no such table, or it failed its check: a search needs none.
	}
	return s.search(ctx, q, budget, progress, buf)
}

func (t *Table) answer(q *puzzle.Question, want puzzle.Want, buf []uint8) job.Answer {
	d, ok := t.Distance(q.Start)
	switch {
	case !ok:
		return job.Answer{Status: job.Unreachable}
	case want == puzzle.Distance:
		return job.Answer{Distance: d}
	}
	return job.Answer{Distance: d, Moves: t.AppendMoves(buf[:0], q.Start)}
}

// search waits for an idle Search and runs it.
func (s *Solver) search(ctx context.Context, q *puzzle.Question, budget job.Budget, progress *atomic.Int64, buf []uint8) (job.Answer, error) {
	var search *Search
	select {
	case search = <-s.searches:
	case <-ctx.Done():
		return job.Answer{}, context.Cause(ctx)
	}
	defer func() {
		search.release()
		s.searches <- search
	}()
	limited := ctx
	if budget.Time > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, budget.Time)
		defer cancel()
	}
	moves, bound, end, err := search.run(limited, q, limits{budget.States, progress}, buf[:0])
	switch {
	case err != nil && ctx.Err() != nil:
		return job.Answer{}, context.Cause(ctx)
	case end == found:
		return job.Answer{Distance: len(moves), Moves: moves}, nil
	case end == exhausted:
		return job.Answer{Status: job.Unreachable}, nil
	}
	return job.Answer{Status: job.Exceeded, LowerBound: bound}, nil
}

// Prepare builds the tables that the puzzles' questions will most likely need,
// and returns how many there are now.
func (s *Solver) Prepare(ctx context.Context, puzzles ...*puzzle.Puzzle) (int, error) {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, p := range puzzles {
		for _, goal := range likelyGoals(p) {
			plan := s.Plan(&puzzle.Question{Space: p.Space(), Start: ^goal, Goal: goal, Distinct: true})
			if plan.Method == ByTable {
				g.Go(func() error {
					if _, err := plan.table.get(ctx); err != errTooDeep {
						return err
					}
					return nil
				})
			}
		}
	}
	err := g.Wait()
	return s.tables.ready(), err
}

// likelyGoals returns the goals of a puzzle in canonical form, but for those
// that repeat values: the definition's, and where records bring theirs one for
// each cell of the blank.
func likelyGoals(p *puzzle.Puzzle) []puzzle.State {
	if p.Space() == nil {
		return nil
	}
	if _, _, repeat := p.Values(); repeat {
		return nil
	}
	goal, fixed := p.Goal()
	if !p.HasBlank() {
		return []puzzle.State{identity(p.Cells(), -1)}
	}
	var goals []puzzle.State
	for blank := range p.Cells() {
		if p.BringsGoal() || fixed && goal[blank] == 0 {
			goals = append(goals, identity(p.Cells(), blank))
		}
	}
	return goals
}

// identity is the canonical form of a goal with distinct values.
func identity(cells, blank int) puzzle.State {
	var labels [puzzle.MaxCells]uint8
	next := uint8(0)
	if blank >= 0 {
		next = 1
	}
	for i := range cells {
		if i == blank {
			continue
		}
		labels[i] = next
		next++
	}
	return puzzle.Pack(labels[:cells])
}
