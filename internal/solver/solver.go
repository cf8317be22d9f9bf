package solver

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"antipode/internal/job"
	"antipode/internal/limit"
	"antipode/internal/puzzle"
)

// Config bounds a Solver. Zero values are not useful.
type Config struct {
	Searches    int   // at the same time
	Memory      int64 // of all searches' sets, in bytes
	TableMemory int64 // of all tables, in bytes, but for those that are mapped

	// Tables is a folder of files that hold tables; "" is none. Refused hears of those
	// that are of no use, once for each that is written, from any goroutine; it may be nil.
	Tables  string
	Refused func(file string, err error)
}

// Solver answers questions by the cheapest method that can. It is safe for use
// by many goroutines.
type Solver struct {
	all      []*Search
	searches chan *Search // idle ones
	targets  targets
}

// New returns a Solver.
func New(cfg Config) *Solver {
	s := &Solver{searches: make(chan *Search, cfg.Searches)}
	for range cfg.Searches {
		s.all = append(s.all, NewSearch(cfg.Memory/int64(cfg.Searches)))
		s.searches <- s.all[len(s.all)-1]
	}
	s.targets.init(cfg)
	return s
}

// Method is a way of answering.
type Method uint8

const (
	// ByContents needs no moves: start is goal, or holds other values.
	ByContents Method = iota
	// ByReachability knows that no moves lead to the goal.
	ByReachability
	// ByTable reads a table.
	ByTable
	// BySearch searches.
	BySearch
)

// Plan is the method chosen for a question, and what it needs.
type Plan struct {
	Method Method
	table  *Table
	target *target
}

// Plan chooses how to answer a question: here, and nowhere else. What is
// unreachable is known at once where values are distinct, and mostly where they
// repeat. Where there is a table it is read; there is one as soon as searching has
// cost what it does.
func (s *Solver) Plan(q *puzzle.Question) Plan {
	if q.Unlike || q.Start == q.Goal {
		return Plan{Method: ByContents}
	}
	return s.targets.of(q).plan(q)
}

// Planner plans the questions of a chunk, one after another: as Solver.Plan does,
// but that it remembers the targets of the space at hand, which share counters with
// all other slots. Not for use by several goroutines.
type Planner struct {
	Solver *Solver

	space   *puzzle.Space
	targets [puzzle.MaxCells]*target // of the space, by the goal's blank; nil where not asked for yet
	left    int                      // questions until they are asked for again
}

// replanEvery is after how many questions a Planner asks for its targets again: they
// may have been forgotten, and must not seem to be out of use.
const replanEvery = 256

// Plan chooses how to answer a question.
func (p *Planner) Plan(q *puzzle.Question) Plan {
	if q.Unlike || q.Start == q.Goal {
		return Plan{Method: ByContents}
	}
	if q.Space != p.space || p.left == 0 {
		*p = Planner{Solver: p.Solver, space: q.Space, left: replanEvery}
	}
	p.left--
	blank := 0
	if q.Space.HasBlank() {
		blank = q.Goal.Blank()
	}
	t := p.targets[blank]
	if t == nil {
		t = p.Solver.targets.of(q)
		p.targets[blank] = t
	}
	return t.plan(q)
}

// plan chooses how to answer a question whose target t is.
func (t *target) plan(q *puzzle.Question) Plan {
	if q.Distinct {
		if table := t.table.Load(); table != nil {
			return Plan{Method: ByTable, table: table}
		}
		if !t.reach().Reachable(q.Start, q.Goal) {
			return Plan{Method: ByReachability}
		}
	} else if !t.reach().Possible(q.Start, q.Goal) {
		return Plan{Method: ByReachability}
	}
	return Plan{Method: BySearch, target: t}
}

// Leads tells whether moves are proven to lead to the goal of a question that is to
// be searched. Where values are distinct they are; where they repeat the proof is the
// number of states, which is known for most puzzles.
func (p Plan) Leads(q *puzzle.Question) bool {
	if p.Method != BySearch || q.Distinct {
		return p.Method == BySearch
	}
	_, exact := p.target.reach().States(q.Goal)
	return exact
}

// Solve answers a question as planned, within a budget. Moves are written
// over buf where they are wanted, and always by a search. It is an error, and no
// answer, when ctx ends first. Progress, which may be nil, counts while a search
// goes on.
//
// What searches have paid for is made after the answer, within no budget. An answer
// that is exceeded must not come late, so that then the next question makes the
// table, which answers it, and patterns are left to Pay.
func (s *Solver) Solve(ctx context.Context, q *puzzle.Question, plan Plan, want puzzle.Want, budget job.Budget, progress *atomic.Int64, buf []uint8) (job.Answer, error) {
	var known job.Answer
	if plan.Known(q, want, buf, &known) {
		return known, nil
	}
	if progress == nil {
		progress = new(atomic.Int64)
	}
	if q.Distinct && s.targets.payTable(ctx, plan.target, progress) {
		if again := plan.target.plan(q); again.Known(q, want, buf, &known) {
			return known, nil
		}
	}
	answer, err := s.search(ctx, q, plan.target, budget, progress, buf)
	if err == nil && q.Distinct {
		plan.target.spent.Add(effort(&answer))
		if answer.Status != job.Exceeded {
			s.targets.pay(ctx, plan.target, progress)
		}
	}
	return answer, err
}

// Pay makes what the searches for questions with this plan have paid for, where an
// answer that was exceeded could not wait for it. It is to be called when none waits.
func (s *Solver) Pay(ctx context.Context, plan Plan) {
	if plan.Method == BySearch {
		s.targets.pay(ctx, plan.target, new(atomic.Int64))
	}
}

// effort is what an answer cost, in states of a search; a node of deepening costs an
// eighth of one.
func effort(a *job.Answer) int64 {
	if a.Method == "deepening" {
		return a.Nodes / 8
	}
	return a.Nodes
}

// Known answers a question whose plan is not to search, as Solve does; it tells
// whether it is so. The answer must be zero but for what Known left there before.
func (p Plan) Known(q *puzzle.Question, want puzzle.Want, buf []uint8, a *job.Answer) bool {
	a.Status, a.Distance, a.Moves = job.Unreachable, 0, nil
	switch p.Method {
	case ByContents:
		a.Method = "contents"
		if !q.Unlike {
			a.Status, a.Moves = job.Solved, buf[:0]
		}
	case ByReachability:
		a.Method = "reachability"
	case ByTable:
		a.Method = "table"
		p.table.answer(q, want, buf, a)
	default:
		return false
	}
	return true
}

// answer reads the answer to a question. The distance of one that is unreachable
// means nothing.
func (t *Table) answer(q *puzzle.Question, want puzzle.Want, buf []uint8, a *job.Answer) {
	if want == puzzle.Moves {
		if moves, ok := t.AppendMoves(buf[:0], q.Start); ok {
			a.Status, a.Distance, a.Moves = job.Solved, len(moves), moves
		}
		return
	}
	d, ok := t.Distance(q.Start)
	status := job.Unreachable
	if ok { // of every second board, as likely as not: no jump, but a move
		status = job.Solved
	}
	a.Status, a.Distance = status, d
}

// Way is a question whose plan is a table and that wants moves, and its answer,
// whose moves are good until the Way is used again.
type Way struct {
	Question *puzzle.Question
	Plan     Plan
	Answer   job.Answer

	at    number
	moves []uint8
}

// Walk answers questions side by side. Each step of a way waits for memory that the
// step before chose; steps of several ways wait together, up to eight or so.
func Walk(ways []Way) {
	walking := make([]*Way, 0, 16) // on the stack
	for i := range ways {
		w := &ways[i]
		a := &w.Answer
		a.Method, a.Status, a.Distance, a.Moves = "table", job.Unreachable, 0, nil
		var ok bool
		if w.at, ok = w.Plan.table.enter(w.Question.Start); ok {
			w.moves = w.moves[:0]
			walking = append(walking, w)
		}
	}
	for len(walking) > 0 {
		going := walking[:0]
		for _, w := range walking {
			if w.at == w.Plan.table.home {
				w.Answer.Status, w.Answer.Distance, w.Answer.Moves = job.Solved, len(w.moves), w.moves
				continue
			}
			var m uint8
			w.at, m = w.Plan.table.step(w.at)
			w.moves = append(w.moves, m)
			w.Plan.table.long(len(w.moves))
			going = append(going, w)
		}
		walking = going
	}
}

// search waits for an idle Search, and runs within the budget's time.
func (s *Solver) search(ctx context.Context, q *puzzle.Question, t *target, budget job.Budget, progress *atomic.Int64, buf []uint8) (job.Answer, error) {
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
	answer, err := s.run(limited, search, q, t, limits{budget.States, progress}, buf)
	if err != nil && ctx.Err() != nil {
		return job.Answer{}, context.Cause(ctx)
	}
	return answer, nil
}

// run searches from both ends. On a large board with a blank, a search that has
// cost what patterns do gives way to deepening with them, and so does every
// search after it. With an error, ctx's, the answer is exceeded.
func (s *Solver) run(ctx context.Context, search *Search, q *puzzle.Question, t *target, lim limits, buf []uint8) (job.Answer, error) {
	free := limits{progress: lim.progress} // deepening keeps no states
	if p := t.patterns.Load(); p != nil && q.Distinct {
		return deepen(ctx, q, p, free, buf)
	}
	cost := t.patternCost()
	part := lim
	if q.Distinct && cost > 0 && (lim.states == 0 || lim.states > cost) {
		part.states = cost
	}
	short, err := bothEnds(ctx, search, q, part, buf)
	if err != nil || short.Status != job.Exceeded || part.states == lim.states {
		return short, err
	}
	search.release()
	p := s.targets.makePatterns(ctx, t)
	switch {
	case p == nil && ctx.Err() != nil:
		return short, ctx.Err()
	case p == nil: // they do not fit
		return bothEnds(ctx, search, q, lim, buf)
	}
	answer, err := deepen(ctx, q, p, free, buf)
	answer.Nodes += short.Nodes
	if answer.Status == job.Exceeded {
		answer.LowerBound = max(answer.LowerBound, short.LowerBound)
	}
	return answer, err
}

func bothEnds(ctx context.Context, search *Search, q *puzzle.Question, lim limits, buf []uint8) (job.Answer, error) {
	moves, bound, end, err := search.run(ctx, q, lim, buf[:0])
	return searched("bidirectional", search.states(), moves, bound, end), err
}

func deepen(ctx context.Context, q *puzzle.Question, p *patterns, lim limits, buf []uint8) (job.Answer, error) {
	var d deepening
	moves, bound, end, err := d.run(ctx, q, p, lim, buf[:0])
	return searched("deepening", d.states, moves, bound, end), err
}

// searched makes the answer of a search's end.
func searched(method string, nodes int64, moves []uint8, bound int, end outcome) job.Answer {
	a := job.Answer{Method: method, Nodes: nodes}
	switch end {
	case found:
		a.Distance, a.Moves = len(moves), moves
	case exhausted:
		a.Status = job.Unreachable
	default:
		a.Status, a.LowerBound = job.Exceeded, bound
	}
	return a
}

// Prepare builds the tables that the puzzles' questions will most likely need, or
// opens the files of those that are too large to be built, and returns how many
// there are now.
func (s *Solver) Prepare(ctx context.Context, puzzles ...*puzzle.Puzzle) (int, error) {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, p := range puzzles {
		for _, goal := range likelyGoals(p) {
			t := s.targets.of(&puzzle.Question{Space: p.Space(), Goal: goal})
			g.Go(func() error {
				if t.isStored() {
					s.targets.open(ctx, t)
					return ctx.Err()
				}
				if err := s.targets.build(ctx, t, new(atomic.Int64)); err != errTooDeep {
					return err
				}
				return nil
			})
		}
	}
	err := g.Wait()
	return s.targets.tables(), err
}

// Tabled tells whether all tables are there now that a puzzle's questions will most
// likely need, if there are such.
func (s *Solver) Tabled(p *puzzle.Puzzle) bool {
	goals := likelyGoals(p)
	for _, goal := range goals {
		if !s.targets.tabled(p.Space(), goal) {
			return false
		}
	}
	return len(goals) > 0
}

// likelyGoals returns the goals of a puzzle in canonical form that its tables are
// for: the definition's, and where records bring theirs one for each cell of the
// blank. Where values repeat, so do most records'; then only tables from files,
// which cost nothing, are worth having before they are needed.
func likelyGoals(p *puzzle.Puzzle) []puzzle.State {
	if p.Space() == nil || p.Cells() > maxTableCells {
		return nil
	}
	if _, _, repeat := p.Values(); repeat && p.Cells() <= measuredCells {
		return nil
	}
	goal, fixed := p.Goal()
	if fixed && !p.BringsGoal() && repeats(goal) {
		return nil
	}
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

// repeats tells whether a value stands on a board twice.
func repeats(board []uint8) bool {
	var seen [limit.Value + 1]bool
	for _, v := range board {
		if seen[v] {
			return true
		}
		seen[v] = true
	}
	return false
}

// StoredGoals returns the goals in canonical form whose tables can be kept in files
// for a puzzle's questions. The error says why there are none.
func StoredGoals(p *puzzle.Puzzle) ([]puzzle.State, error) {
	switch n := p.Cells(); {
	case p.Space() == nil:
		return nil, errors.New("each of its records brings moves of its own")
	case n <= measuredCells:
		return nil, fmt.Errorf("a table of %d cells needs no file: a worker builds it in memory in milliseconds", n)
	case n > maxTableCells:
		return nil, fmt.Errorf("a table of %d cells; %d are possible", n, maxTableCells)
	}
	goals := likelyGoals(p)
	if len(goals) == 0 {
		return nil, errors.New("its goal repeats values, and tables are for distinct ones")
	}
	return goals, nil
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
