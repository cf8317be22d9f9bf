package solver

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"antipode/internal/job"
	"antipode/internal/plain"
	"antipode/internal/puzzle"
)

// A table is built as soon as searching has cost what it does, and not before.
func TestTablesArePaidFor(t *testing.T) {
	s := newSolver()
	e := eight(t)
	goal, _ := e.Goal()
	rng := rand.New(rand.NewPCG(5, 5))
	spent, searches := int64(0), 0
	for spent < 362_880 {
		q := e.ask(shuffled(rng, goal...), goal)
		switch plan := s.Plan(q); plan.Method {
		case ByTable:
			t.Fatalf("a table after %d states", spent)
		case BySearch:
			spent += answer(t, s, q, plan).Nodes
			searches++
		}
	}
	if plan := s.Plan(e.ask(e.walk(rng, goal, 20), goal)); plan.Method != ByTable {
		t.Errorf("no table after %d searches of %d states", searches, spent)
	}
	if n := s.targets.tables(); n != 1 {
		t.Errorf("%d tables", n)
	}
}

// hold builds the table to the goal with the blank on a cell of the 8-puzzle.
func hold(t *testing.T, s *Solver, blank int) *target {
	t.Helper()
	goal := solvedWithBlank(9, blank)
	q := eight2(t).ask(eight2(t).walk(rand.New(rand.NewPCG(1, 1)), goal, 5), goal)
	if err := s.targets.build(context.Background(), s.targets.of(q), new(atomic.Int64)); err != nil {
		t.Fatal(err)
	}
	return s.targets.of(q)
}

// Tables stay within their memory; the least recently used makes room, and must be
// paid for anew.
func TestLeastRecentlyUsedTableGoes(t *testing.T) {
	nine, making := newPlan(eight(t).Space(), identity(9, 0)).bytes()
	s := New(Config{Searches: 1, Memory: 64 << 20, TableMemory: 2*nine + making + 100})
	first, second := hold(t, s, 0), hold(t, s, 1)
	hold(t, s, 0)
	third := hold(t, s, 2)
	if first.table.Load() == nil || second.table.Load() != nil || third.table.Load() == nil || second.spent.Load() != 0 {
		t.Errorf("tables: %v, %v, %v", first.table.Load() != nil, second.table.Load() != nil, third.table.Load() != nil)
	}
	if s.targets.held != 2*nine {
		t.Errorf("%d bytes held", s.targets.held)
	}
	// One that would never fit costs no other its place.
	none := New(Config{Searches: 1, Memory: 64 << 20, TableMemory: nine - 1})
	if x := hold(t, none, 0); x.table.Load() != nil || none.targets.held != 0 {
		t.Error("a table beyond the bound")
	}
}

// Any number of graphs, each asked about once, is forgotten again; what is asked
// about all the time is not.
func TestTargetsAreBounded(t *testing.T) {
	s := newSolver()
	kept := hold(t, s, 4)
	rng := rand.New(rand.NewPCG(6, 6))
	for i := range 3 * maxTargets {
		edges := make([][2]int, 8+rng.IntN(10))
		for e := range edges {
			edges[e] = [2]int{1 + rng.IntN(9), 1 + rng.IntN(9)}
		}
		board := shuffled(rng, graphGoal...)
		s.Plan(graphQuestion(t, edges, board))
		if i%100 == 0 && hold(t, s, 4) != kept {
			t.Fatalf("forgotten after %d graphs", i)
		}
		if n := len(s.targets.known); n > maxTargets {
			t.Fatalf("%d targets", n)
		}
	}
	if kept.table.Load() == nil || s.targets.tables() != 1 {
		t.Errorf("%d tables", s.targets.tables())
	}
}

// One record after another about the same graph is a table's matter in the end.
func TestGraphAskedOften(t *testing.T) {
	s := newSolver()
	rng := rand.New(rand.NewPCG(7, 7))
	var last Method
	for range 3000 {
		board := subject{nil, plain.Graph(9, graphs["grid"])}.walk(rng, graphGoal, 40)
		q := graphQuestion(t, graphs["grid"], board)
		plan := s.Plan(q)
		answer(t, s, q, plan)
		if last = plan.Method; last == ByTable {
			return
		}
	}
	t.Errorf("method %d to the end", last)
}

// What cannot be reached is known without a search.
func TestByReachability(t *testing.T) {
	s := newSolver()
	for _, c := range []struct {
		name string
		q    *puzzle.Question
	}{
		{"a ring", graphQuestion(t, graphs["ring"], []uint8{2, 1, 3, 4, 5, 6, 7, 8, 0})},
		{"15-puzzle", slide(t, 4, 4).ask([]uint8{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 14, 0}, solvedWithBlank(16, 15))},
	} {
		if plan := s.Plan(c.q); plan.Method != ByReachability || check(answer(t, s, c.q, plan), nil) != nil {
			t.Errorf("%s: method %d", c.name, plan.Method)
		}
	}
}

// Tables come and go while many goroutines read them, and answers stay right.
func TestTablesComeAndGo(t *testing.T) {
	_, making := newPlan(slide(t, 4, 2).Space(), identity(8, 0)).bytes()
	s := New(Config{Searches: 4, Memory: 256 << 20, TableMemory: 2*90_000 + making}) // two of the sixteen that are asked for
	var all []subject
	for _, size := range [][2]int{{4, 2}, {2, 4}} {
		all = append(all, slide(t, size[0], size[1]))
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 8))
			for range 60 {
				p := all[rng.IntN(len(all))]
				goal := solvedWithBlank(8, rng.IntN(8))
				start := p.walk(rng, goal, rng.IntN(9))
				q := p.ask(start, goal)
				if rng.IntN(4) == 0 {
					if err := s.targets.build(context.Background(), s.targets.of(q), new(atomic.Int64)); err != nil {
						t.Error(err)
					}
				}
				a, err := s.Solve(context.Background(), q, s.Plan(q), puzzle.Moves, job.Budget{}, nil, nil)
				if err != nil || check(a, p.shortest(start, goal)) != nil {
					t.Errorf("%v to %v: %+v, %v", start, goal, a, err)
				}
			}
		})
	}
	wg.Wait()
	held, want, tables := int64(0), int64(0), s.targets.tables()
	for _, x := range s.targets.known {
		held += x.held
		if x.table.Load() != nil {
			bytes, _ := newPlan(x.space, x.goal).bytes()
			want += bytes
		}
	}
	if held != s.targets.held || held > s.targets.bound || held != want {
		t.Errorf("%d tables, %d bytes counted, %d held, %d allowed", tables, s.targets.held, held, s.targets.bound)
	}
}

// Patterns are paid for by searches that are too short to need them, and made when
// no answer waits; then even those of small budgets have them.
func TestPatternsDespiteSmallBudgets(t *testing.T) {
	s := newSolver()
	p := slide(t, 4, 3)
	q := p.ask([]uint8{6, 11, 2, 1, 8, 10, 3, 0, 4, 7, 5, 9}, solvedWithBlank(12, 11))
	for spent := int64(0); spent < patternBytes(12); {
		a, err := s.Solve(context.Background(), q, s.Plan(q), puzzle.Moves, job.Budget{States: 100_000}, nil, nil)
		if err != nil || a.Status != job.Exceeded || a.LowerBound < 10 {
			t.Fatalf("%+v, %v", a, err)
		}
		spent += a.Nodes
	}
	if s.targets.of(q).patterns.Load() != nil {
		t.Error("an answer that is exceeded waited for patterns")
	}
	s.Pay(context.Background(), s.Plan(q))
	a, err := s.Solve(context.Background(), q, s.Plan(q), puzzle.Moves, job.Budget{States: 100_000}, nil, nil)
	if err != nil || a.Status != job.Solved || a.Method != "deepening" || !q.Space.Replay(q.Start, q.Goal, a.Moves) {
		t.Errorf("%+v, %v", a, err)
	}
	// Without memory for them it is searched as before.
	none := New(Config{Searches: 1, Memory: 1 << 30, TableMemory: patternBytes(12) - 1})
	if b := answer(t, none, q, none.Plan(q)); check(b, ints(a.Moves)) != nil || b.Method != "bidirectional" {
		t.Errorf("without patterns %+v", b)
	}
}

func ints(moves []uint8) (all []int) {
	for _, m := range moves {
		all = append(all, int(m))
	}
	return all
}
