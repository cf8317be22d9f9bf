package solver

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"antipode/internal/job"
	"antipode/internal/puzzle"
)

// hard is a question of 34 moves, which takes some hundred thousand states.
func hard(t *testing.T) *puzzle.Question {
	pair := antipodes(t)[0]
	return rotegame(t).ask(pair[0], pair[1])
}

// korf is the first of Korf's hundred boards of the 15-puzzle, 57 moves from home
// and far beyond what a search of two sides can keep.
func korf(t *testing.T) *puzzle.Question {
	start := []uint8{14, 13, 15, 7, 11, 12, 9, 5, 6, 0, 2, 1, 4, 8, 10, 3}
	return slide(t, 4, 4).ask(start, solvedWithBlank(16, 0))
}

// A search whose budget of states runs out says so, and proves a lower bound that
// is true and grows with the budget; with enough it answers.
func TestBudgetOfStates(t *testing.T) {
	s := newSolver()
	q := hard(t)
	last := 0
	for states := int64(1); states < 1<<17; states *= 2 {
		a, err := s.Solve(context.Background(), q, s.Plan(q), puzzle.Moves, job.Budget{States: states}, nil, nil)
		if err != nil || a.Status != job.Exceeded || a.Moves != nil {
			t.Fatalf("%d states: %+v, %v", states, a, err)
		}
		if a.LowerBound < max(last, 1) || a.LowerBound > 34 {
			t.Errorf("%d states: at least %d moves, after at least %d; it is 34", states, a.LowerBound, last)
		}
		last = a.LowerBound
	}
	if last < 25 {
		t.Errorf("with %d states at least %d moves are proven", 1<<16, last)
	}
	if a, err := s.Solve(context.Background(), q, s.Plan(q), puzzle.Moves, job.Budget{States: 10_000_000}, nil, nil); err != nil || a.Distance != 34 {
		t.Errorf("with enough: %+v, %v", a, err)
	}
}

// On small puzzles no budget, however small, makes an answer wrong: it is the
// right one, or at least so many moves.
func TestAnyBudgetOnSmallPuzzle(t *testing.T) {
	subject := slide(t, 3, 2)
	goal := solvedWithBlank(6, 5)
	search := NewSearch(0)
	for _, start := range [][]uint8{{0, 5, 4, 3, 2, 1}, {5, 4, 3, 2, 1, 0}, {1, 2, 3, 4, 0, 5}, {1, 2, 3, 5, 4, 0}} {
		q := subject.ask(start, goal)
		want := subject.shortest(start, goal)
		for states := int64(1); states <= 750; states++ {
			moves, bound, end, err := search.run(context.Background(), q, limits{states: states}, nil)
			kept := int64(len(search.forward.states) + len(search.backward.states))
			switch {
			case err != nil || kept > states+4: // the moves of one more state
				t.Fatalf("%d states: %d kept, %v", states, kept, err)
			case end == overBudget && (bound < 1 || want != nil && bound > len(want)):
				t.Errorf("%v with %d states: at least %d moves; want %v", start, states, bound, want)
			case end == exhausted && want != nil, end == found && check(job.Answer{Distance: len(moves), Moves: moves}, want) != nil:
				t.Errorf("%v with %d states: %v; want %v", start, states, moves, want)
			case end == overBudget && states == 750: // more than all there are
				t.Errorf("%v with %d states: over budget", start, states)
			}
		}
	}
}

// The sets of a search stay within their memory, and running out of it is a
// budget that ran out.
func TestMemory(t *testing.T) {
	q := korf(t)
	for _, memory := range []int64{0, 100_000, 1 << 20, 3_000_000, 10 << 20} {
		search := NewSearch(memory)
		for range 2 { // the second has the first's memory
			_, bound, end, err := search.run(context.Background(), q, limits{}, nil)
			if err != nil || end != overBudget || bound < 1 || bound > 57 {
				t.Errorf("%d bytes: outcome %d, at least %d moves, %v", memory, end, bound, err)
			}
			if held := search.forward.bytes() + search.backward.bytes(); held > max(memory, minMemory) {
				t.Errorf("%d bytes: %d held", memory, held)
			}
			for _, side := range []*set{&search.forward, &search.backward} {
				if got := int64(cap(side.states)*8 + cap(side.from)*4 + cap(side.index)*4); got != side.bytes() {
					t.Errorf("%d bytes counted, %d held", side.bytes(), got)
				}
			}
		}
	}
}

// A solver divides its memory between its searches.
func TestMemoryOfSolver(t *testing.T) {
	s := New(Config{Searches: 4, Memory: 4 << 20})
	q := korf(t)
	a := solve(t, s, q, true)
	if a.Status != job.Exceeded || a.LowerBound < 1 || a.LowerBound > 57 {
		t.Errorf("got %+v", a)
	}
	for range 4 {
		search := <-s.searches
		if search.memory != 1<<20 {
			t.Errorf("a search of %d bytes", search.memory)
		}
	}
}

// A budget of time that is over makes a long search end.
func TestBudgetOfTime(t *testing.T) {
	s := newSolver()
	for _, q := range []*puzzle.Question{hard(t), korf(t)} {
		a, err := s.Solve(context.Background(), q, s.Plan(q), puzzle.Moves, job.Budget{Time: time.Nanosecond}, nil, nil)
		if err != nil || a.Status != job.Exceeded || a.LowerBound < 1 || a.LowerBound > 57 {
			t.Errorf("got %+v, %v", a, err)
		}
	}
}

// Who asked gave up: that is an error, no answer, and the search can be used
// again.
func TestCancel(t *testing.T) {
	s := New(Config{Searches: 1, Memory: 256 << 20, TableMemory: 64 << 20})
	gone := errors.New("nobody waits")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(gone)
	q := hard(t)
	if a, err := s.Solve(ctx, q, s.Plan(q), puzzle.Moves, job.Budget{}, nil, nil); err != gone {
		t.Errorf("search: %+v, %v", a, err)
	}
	if a, err := s.Solve(ctx, q, s.Plan(q), puzzle.Moves, job.Budget{Time: time.Nanosecond}, nil, nil); err != gone {
		t.Errorf("search with a budget of time: %+v, %v", a, err)
	}
	e := eight(t).ask([]uint8{8, 7, 6, 0, 4, 1, 2, 5, 3}, solvedWithBlank(9, 0))
	if a, err := s.Solve(ctx, e, s.Plan(e), puzzle.Moves, job.Budget{}, nil, nil); err == nil {
		t.Errorf("table: %+v", a)
	}
	busy := <-s.searches
	if a, err := s.Solve(ctx, q, s.Plan(q), puzzle.Moves, job.Budget{}, nil, nil); err != gone {
		t.Errorf("no search idle: %+v, %v", a, err)
	}
	s.searches <- busy
	if a := solve(t, s, q, false); a.Distance != 34 {
		t.Errorf("after all that: %+v", a)
	}
	if a := solve(t, s, e, false); a.Distance != 31 {
		t.Errorf("after all that: %+v", a)
	}
}

// An answer that is exceeded does not wait for the table that it has paid for: the
// next question makes that, whatever its own budget.
func TestExceededIsNotLate(t *testing.T) {
	s, e := newSolver(), eight(t)
	q := e.ask([]uint8{8, 7, 6, 0, 4, 1, 2, 5, 3}, solvedWithBlank(9, 0))
	ask := func(b job.Budget) job.Answer {
		a, err := s.Solve(context.Background(), q, s.Plan(q), puzzle.Moves, b, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for spent := int64(0); spent < s.targets.of(q).tableCost(); {
		a := ask(job.Budget{States: 10_000})
		if a.Status != job.Exceeded {
			t.Fatalf("%+v after %d states", a, spent)
		}
		if n := s.targets.tables(); n != 0 {
			t.Fatalf("%d tables made after an answer that is exceeded", n)
		}
		spent += a.Nodes
	}
	if a := ask(job.Budget{Time: time.Nanosecond}); a.Method != "table" || a.Distance != 31 {
		t.Errorf("got %+v", a)
	}
}

// fading is a context that ends once it was asked so often.
type fading struct {
	context.Context
	left int
}

func (f *fading) Err() error {
	if f.left--; f.left < 0 {
		return context.Canceled
	}
	return nil
}

// Wherever a search ends, while its sets grow, or between layers, what it has proven
// is true, and the next search is as good as new.
func TestSearchEndsAnywhere(t *testing.T) {
	q := hard(t)
	search := NewSearch(256 << 20)
	last := 0
	for left := 0; ; left++ {
		ctx := &fading{context.Background(), left}
		moves, bound, end, err := search.run(ctx, q, limits{}, nil)
		if end == found {
			if len(moves) != 34 || left < 50 {
				t.Errorf("%d moves after %d looks", len(moves), left)
			}
			return
		}
		if end != overBudget || err != context.Canceled || bound < max(1, last) || bound > 34 || ctx.left >= 0 {
			t.Fatalf("after %d looks: outcome %d, at least %d moves after at least %d, %v", left, end, bound, last, err)
		}
		last = bound
	}
}

// Cancelled half way, a search ends where it is.
func TestCancelDuringSearch(t *testing.T) {
	s := New(Config{Searches: 1, Memory: 1 << 30})
	q := korf(t)
	ctx, cancel := context.WithCancel(context.Background())
	var progress atomic.Int64
	ended := make(chan error)
	go func() {
		_, err := s.Solve(ctx, q, s.Plan(q), puzzle.Moves, job.Budget{}, &progress, nil)
		ended <- err
	}()
	for progress.Load() == 0 {
		runtime.Gosched()
	}
	cancel()
	if err := <-ended; err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

// A search from the goal to itself takes no moves.
func TestSearchOfNothing(t *testing.T) {
	q := rotegame(t).ask(upTo(1, 12), upTo(1, 12))
	if moves, _, end, err := NewSearch(0).run(context.Background(), q, limits{}, nil); end != found || len(moves) != 0 || err != nil {
		t.Errorf("outcome %d, %v, %v", end, moves, err)
	}
}

// One Search, asked many questions of very different sizes on puzzles of all
// kinds, some beyond its budget, answers as a fresh one does.
func TestSearchIsAsGoodAsNew(t *testing.T) {
	type question struct {
		*puzzle.Question
		limits limits
	}
	rng := rand.New(rand.NewPCG(1, 1))
	r, e, w := rotegame(t), eight2(t), swap(t)
	var questions []question
	add := func(q *puzzle.Question) { questions = append(questions, question{q, limits{}}) }
	for range 8 {
		a := shuffled(rng, upTo(1, 12)...)
		add(r.ask(a, r.walk(rng, a, rng.IntN(8))))
		add(r.ask(a, r.walk(rng, a, 10+rng.IntN(8))))
		b := shuffled(rng, upTo(0, 8)...)
		add(e.ask(b, e.walk(rng, b, rng.IntN(25))))
		add(w.ask(shuffled(rng, upTo(1, 9)...), upTo(1, 9)))
		sevens := shuffled(rng, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 1)
		add(r.ask(sevens, r.walk(rng, sevens, 5)))
		add(graphQuestion(t, graphs["ring"], shuffled(rng, graphGoal...)))
		questions = append(questions, question{korf(t), limits{states: int64(1 + rng.IntN(100_000))}})
	}
	add(hard(t))
	add(e.ask([]uint8{1, 2, 3, 4, 5, 6, 8, 7, 0}, solvedWithBlank(9, 8))) // unreachable, after 181,440 states
	for range 3 {
		rng.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
		used := NewSearch(256 << 20)
		for i, q := range questions {
			fresh := NewSearch(256 << 20)
			wantMoves, wantBound, wantEnd, _ := fresh.run(context.Background(), q.Question, q.limits, nil)
			moves, bound, end, err := used.run(context.Background(), q.Question, q.limits, []uint8{99})
			if err != nil || end != wantEnd || bound != wantBound || !slices.Equal(moves, append([]uint8{99}, wantMoves...)) {
				t.Fatalf("question %d: %v, %d, %d, %v; want %v, %d, %d", i, moves, bound, end, err, wantMoves, wantBound, wantEnd)
			}
			if rng.IntN(10) == 0 {
				used.release()
			}
		}
	}
}

// Where the system has no more memory a set stays as it is, and the search that it
// is of ends as one over budget.
func TestNoMemory(t *testing.T) {
	var s set
	if err := s.reset(7); err != nil {
		t.Fatal(err)
	}
	if err := s.resize(context.Background(), 1<<45); err != errNoPages {
		t.Fatalf("memory for 2^45 states: %v", err)
	}
	if n, ok := s.find(7); n != 0 || !ok || !s.add(8, 0) {
		t.Errorf("found %d, %t; %d states", n, ok, len(s.states))
	}
	if s.release(); s.bytes() != 0 {
		t.Errorf("%d bytes kept", s.bytes())
	}
}

// After a large search the next gives the memory back.
func TestRelease(t *testing.T) {
	search := NewSearch(1 << 30)
	search.forward.reset(0)
	search.forward.resize(context.Background(), 1<<22)
	if search.forward.bytes()+search.backward.bytes() <= keepMemory {
		t.Fatal("not large enough to be given back")
	}
	if search.release(); search.forward.bytes()+search.backward.bytes() != 0 {
		t.Error("kept")
	}
	if moves, _, end, _ := search.run(context.Background(), hard(t), limits{}, nil); end != found || len(moves) != 34 {
		t.Errorf("outcome %d, %d moves", end, len(moves))
	}
}

// Tables made ready are those that the puzzles' questions need: eight shares one
// of the nine of eight2; rotegame's values repeat, graph's records bring their
// graphs.
func TestPrepare(t *testing.T) {
	s := newSolver()
	var all []*puzzle.Puzzle
	for _, name := range []string{"eight", "eight2", "graph", "rotegame", "swap"} {
		all = append(all, builtin(t, name))
	}
	if n, err := s.Prepare(context.Background(), all[0]); n != 1 || err != nil {
		t.Errorf("eight: %d tables, %v", n, err)
	}
	for range 2 {
		if n, err := s.Prepare(context.Background(), all...); n != 10 || err != nil {
			t.Errorf("all: %d tables, %v", n, err)
		}
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if n, err := newSolver().Prepare(gone, all...); n != 0 || err == nil {
		t.Errorf("cancelled: %d tables, %v", n, err)
	}
	if n, err := New(Config{Searches: 1, Memory: 1, TableMemory: 0}).Prepare(context.Background(), all...); n != 0 || err != nil {
		t.Errorf("no memory: %d tables, %v", n, err)
	}
}

// Many goroutines ask one Solver, tables yet to be built.
func TestManyAsk(t *testing.T) {
	s := newSolver()
	e, r := eight2(t), rotegame(t)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			for range 20 {
				start := shuffled(rng, upTo(0, 8)...)
				goal := e.walk(rng, start, rng.IntN(8))
				a, err := s.Solve(context.Background(), e.ask(start, goal), s.Plan(e.ask(start, goal)), puzzle.Moves, job.Budget{}, nil, nil)
				if err != nil || check(a, e.shortest(start, goal)) != nil {
					t.Errorf("%v to %v: %+v, %v", start, goal, a, err)
				}
				start = shuffled(rng, upTo(1, 12)...)
				goal = r.walk(rng, start, rng.IntN(8))
				if a, err = s.Solve(context.Background(), r.ask(start, goal), s.Plan(r.ask(start, goal)), puzzle.Moves, job.Budget{}, nil, nil); err != nil || check(a, r.shortest(start, goal)) != nil {
					t.Errorf("%v to %v: %+v, %v", start, goal, a, err)
				}
			}
		})
	}
	wg.Wait()
}

// A change of what a search visits must be meant: these counts are this program's
// own. They change with the choice of the side, the order of moves, and what ends a
// layer; less is better.
func TestSearchStates(t *testing.T) {
	far := antipodes(t)
	fifteen := slide(t, 4, 4)
	walked := fifteen.walk(rand.New(rand.NewPCG(15, 15)), solvedWithBlank(16, 0), 150)
	for _, c := range []struct {
		name string
		q    *puzzle.Question
		want int64
	}{
		{"eight, 31 moves", eight(t).ask([]uint8{8, 7, 6, 0, 4, 1, 2, 5, 3}, []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8}), 20220},
		{"swap, 16 moves", swap(t).ask([]uint8{9, 8, 7, 6, 5, 4, 3, 2, 1}, upTo(1, 9)), 262940},
		{"rotegame, 34 moves", rotegame(t).ask(far[0][0], far[0][1]), 469934},
		{"rotegame, repeated", rotegame(t).ask([]uint8{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}, []uint8{3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1}), 251},
		{"rotegame, six kinds", rotegame(t).ask([]uint8{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}, []uint8{6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1}), 4014},
		{"15-puzzle", fifteen.ask(walked, solvedWithBlank(16, 0)), 395751},
	} {
		s := NewSearch(512 << 20)
		moves, _, end, err := s.run(context.Background(), c.q, limits{}, nil)
		if s.states() != c.want || end != found || err != nil {
			t.Errorf("%s: %d states visited, once %d; %d moves, outcome %d, %v", c.name, s.states(), c.want, len(moves), end, err)
		}
	}
}
