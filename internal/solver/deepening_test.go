package solver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"antipode/internal/job"
	"antipode/internal/plain"
	"antipode/internal/puzzle"
)

// deepen answers a question of distinct values on a board with a blank by
// deepening.
func deepenTo(t testing.TB, q *puzzle.Question, p *patterns, lim limits) (job.Answer, *deepening) {
	t.Helper()
	d := new(deepening)
	moves, bound, end, err := d.run(context.Background(), q, p, lim, nil)
	switch {
	case err != nil:
		t.Fatal(err)
	case end == overBudget:
		return job.Answer{Status: job.Exceeded, LowerBound: bound}, d
	case end == exhausted:
		return job.Answer{Status: job.Unreachable}, d
	}
	return job.Answer{Distance: len(moves), Moves: moves}, d
}

// slideBy is the sliding puzzle of a board of rows with the blank's moves in a
// given order.
func slideBy(t testing.TB, width, height int, names []string) subject {
	t.Helper()
	board := fmt.Sprintf("width: %d\nheight: %d\nblank: {moves: [%s]}", width, height, strings.Join(names, ", "))
	p := plain.Blank(width*height, names, func(from, m int) int {
		x, y := from%width, from/width
		switch names[m] {
		case "d":
			y++
		case "l":
			x--
		case "r":
			x++
		case "u":
			y--
		}
		if x < 0 || y < 0 || x == width || y == height {
			return -1
		}
		return y*width + x
	})
	return subject{defined(t, fmt.Sprintf("slide%dx%d", width, height), board, false), p}
}

// checkDeepening compares answers to questions about random boards, to one goal,
// with the plain search's: the first ways, and no way where there is none.
func checkDeepening(t *testing.T, s subject, goal []uint8, starts [][]uint8) {
	t.Helper()
	p := patternsTo(t, s.ask(goal, goal))
	field := s.plain.Distances(goal, plain.All)
	for _, start := range starts {
		d, ok := field.Distance(start)
		if !ok { // the limit ends what patterns cannot tell
			if a, _ := deepenTo(t, s.ask(start, goal), p, limits{states: 1000}); a.Status == job.Solved {
				t.Errorf("%s %v to %v: %v; there is no way", s.Name, start, goal, a.Moves)
			}
			continue
		}
		a, _ := deepenTo(t, s.ask(start, goal), p, limits{})
		if err := check(a, field.First(start, d)); err != nil {
			t.Errorf("%s %v to %v: %v", s.Name, start, goal, err)
		}
	}
}

// shuffles returns so many random boards of the same values.
func shuffles(rng *rand.Rand, goal []uint8, count int) (boards [][]uint8) {
	for range count {
		boards = append(boards, shuffled(rng, goal...))
	}
	return boards
}

// Boards of rows of four to eight cells, whatever the order of the moves.
func TestDeepeningOfSmallBoards(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, size := range [][2]int{{2, 2}, {3, 2}, {2, 3}, {4, 2}, {2, 4}, {7, 1}} {
		for range 3 {
			names := []string{"d", "l", "r", "u"}
			rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			s := slideBy(t, size[0], size[1], names)
			goal := shuffled(rng, solvedWithBlank(s.Cells(), 0)...)
			checkDeepening(t, s, goal, shuffles(rng, goal, 40))
		}
	}
}

// Graphs of four to eight vertices: trees, rings and thicker ones, connected or
// not.
func TestDeepeningOfSmallGraphs(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for vertices := 4; vertices <= 8; vertices++ {
		for range 5 {
			s := graph(t, vertices, randomEdges(rng, vertices, vertices-1+rng.IntN(vertices)))
			goal := shuffled(rng, solvedWithBlank(vertices, 0)...)
			starts := shuffles(rng, goal, 20)
			for range 20 { // of few edges, shuffles are seldom reachable
				starts = append(starts, s.walk(rng, goal, 30))
			}
			checkDeepening(t, s, goal, starts)
		}
	}
}

// All boards of 3x2 and 2x3, to every place of the goal's blank.
func TestDeepeningOfAllBoards(t *testing.T) {
	for _, s := range []subject{slide(t, 3, 2), slide(t, 2, 3)} {
		for blank := range 6 {
			goal := solvedWithBlank(6, blank)
			checkDeepening(t, s, goal, s.plain.Distances(goal, plain.All).Boards())
		}
	}
}

// Random boards of the 8-puzzle, by deepening and by table.
func TestDeepeningAgreesWithTable(t *testing.T) {
	s, rng := eight2(t), rand.New(rand.NewPCG(8, 8))
	for _, blank := range []int{0, 4, 5, 8} {
		goal := solvedWithBlank(9, blank)
		q := s.ask(goal, goal)
		p := patternsTo(t, q)
		table, err := NewTable(context.Background(), q.Space, q.Goal)
		if err != nil {
			t.Fatal(err)
		}
		for asked := 0; asked < 500; {
			q := s.ask(shuffled(rng, goal...), goal)
			if _, ok := table.Distance(q.Start); !ok {
				continue
			}
			asked++
			a, _ := deepenTo(t, q, p, limits{})
			if want, _ := table.AppendMoves(nil, q.Start); string(a.Moves) != string(want) || a.Status != job.Solved {
				t.Errorf("%x to %x: %v %v, want %v", uint64(q.Start), uint64(q.Goal), a.Status, a.Moves, want)
			}
		}
	}
}

// knownSlides are boards of sliding puzzles to 0 1 2 3 … with their distances, as
// other programs gave them. Those of the 15-puzzle beyond 40 moves are of the
// hundred in Korf's "Depth-First Iterative-Deepening".
var knownSlides = []struct {
	width, height int
	start         string
	distance      int
}{
	{4, 4, "1 2 3 0 4 5 6 7 8 9 10 11 12 13 14 15", 3},
	{4, 4, "4 1 2 3 8 5 6 7 12 9 10 11 0 13 14 15", 3},
	{4, 4, "1 2 3 7 4 5 6 11 8 9 10 15 12 13 14 0", 6},
	{2, 4, "6 7 4 5 3 2 1 0", 36},
	{4, 2, "3 2 5 4 7 6 1 0", 36},
	{5, 2, "4 3 2 6 1 9 8 7 5 0", 55},
	{5, 2, "4 8 2 6 5 9 3 7 1 0", 55},
	{3, 2, "3 4 5 0 1 2", 21},
	{4, 4, "13 8 14 3 9 1 0 7 15 5 4 10 12 2 6 11", 41},
	{4, 4, "1 3 2 5 10 9 15 6 8 14 13 11 12 4 7 0", 42},
	{4, 4, "4 5 7 2 9 14 12 13 0 3 6 11 8 1 15 10", 42},
	{4, 4, "0 1 9 7 11 13 5 3 14 12 4 2 8 6 10 15", 42},
	{4, 4, "14 1 9 6 4 8 12 5 7 2 3 0 10 11 13 15", 45},
	{4, 4, "6 0 5 10 11 12 9 2 1 7 4 3 14 8 13 15", 45},
	{4, 4, "3 14 9 11 5 4 8 2 13 12 6 7 10 1 15 0", 46},
	{4, 4, "14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3", 57},
}

func TestDeepeningOfKnownSlides(t *testing.T) {
	made := map[[2]int]*patterns{}
	for _, c := range knownSlides {
		s := slide(t, c.width, c.height)
		q := s.ask(numbers[uint8](t, c.start), solvedWithBlank(s.Cells(), 0))
		size := [2]int{c.width, c.height}
		if made[size] == nil {
			made[size] = patternsTo(t, q)
		}
		a, _ := deepenTo(t, q, made[size], limits{})
		if a.Status != job.Solved || a.Distance != c.distance || !q.Space.Replay(q.Start, q.Goal, a.Moves) {
			t.Errorf("%dx%d %s: %+v, want %d", c.width, c.height, c.start, a, c.distance)
		}
	}
}

// A change of a search's nodes must be meant: these counts are this program's
// own, and change with the bound, the order of moves, or what is left out. Less is
// better.
func TestDeepeningStates(t *testing.T) {
	s, goal := slide(t, 4, 4), solvedWithBlank(16, 0)
	p := patternsTo(t, s.ask(goal, goal))
	for start, want := range map[string]int64{
		"13 8 14 3 9 1 0 7 15 5 4 10 12 2 6 11": 35570,
		"1 3 2 5 10 9 15 6 8 14 13 11 12 4 7 0": 253748,
		"3 14 9 11 5 4 8 2 13 12 6 7 10 1 15 0": 39277,
	} {
		if _, d := deepenTo(t, s.ask(numbers[uint8](t, start), goal), p, limits{}); d.states != want {
			t.Errorf("%s: %d states visited, once %d", start, d.states, want)
		}
	}
}

// A budget of states that runs out is kept to the state, and proves a bound that
// is true and grows with it; progress counts all the while.
func TestDeepeningBudget(t *testing.T) {
	q := slide(t, 5, 2).ask([]uint8{4, 3, 2, 6, 1, 9, 8, 7, 5, 0}, solvedWithBlank(10, 0)) // 55 moves
	p := patternsTo(t, q)
	_, whole := deepenTo(t, q, p, limits{})
	last := 0
	for states := int64(1); states < whole.states; states = states*2 + 1 {
		var progress atomic.Int64
		a, d := deepenTo(t, q, p, limits{states, &progress})
		if a.Status != job.Exceeded || a.LowerBound < max(last, 1) || a.LowerBound > 55 || d.states != states {
			t.Errorf("%d states: %+v, after at least %d, %d visited", states, a, last, d.states)
		}
		if n := progress.Load(); n > states || n <= states-checkEvery {
			t.Errorf("%d states: progress of %d", states, n)
		}
		last = a.LowerBound
	}
	if last < 50 {
		t.Errorf("at least %d moves are proven of 55", last)
	}
}

// On a small puzzle no budget makes an answer wrong.
func TestDeepeningWithAnyBudget(t *testing.T) {
	s, goal, start := slide(t, 3, 2), solvedWithBlank(6, 0), []uint8{3, 4, 5, 0, 1, 2}
	q := s.ask(start, goal)
	p, want := patternsTo(t, q), s.shortest(start, goal)
	_, d := deepenTo(t, q, p, limits{})
	for states := int64(1); states <= d.states+1; states++ {
		a, _ := deepenTo(t, q, p, limits{states: states})
		switch {
		case states < d.states && (a.Status != job.Exceeded || a.LowerBound < 1 || a.LowerBound > len(want)):
			t.Errorf("%d of %d states: %+v, want at most %d", states, d.states, a, len(want))
		case states >= d.states && check(a, want) != nil:
			t.Errorf("%d of %d states: %v", states, d.states, check(a, want))
		}
	}
}

// The goal itself takes no moves, and no states.
func TestDeepeningOfNothing(t *testing.T) {
	goal := solvedWithBlank(9, 4)
	q := eight2(t).ask(goal, goal)
	if a, d := deepenTo(t, q, patternsTo(t, q), limits{}); check(a, []int{}) != nil || d.states != 0 {
		t.Errorf("%+v, %d states", a, d.states)
	}
}

// Moves go after those that are there, whatever was searched for before.
func TestDeepeningAppends(t *testing.T) {
	s, goal := slide(t, 3, 2), solvedWithBlank(6, 0)
	q := s.ask([]uint8{3, 4, 5, 0, 1, 2}, goal)
	p, d := patternsTo(t, q), new(deepening)
	want, _, _, _ := d.run(context.Background(), q, p, limits{}, nil)
	moves, _, end, err := d.run(context.Background(), q, p, limits{}, []uint8{7})
	if string(moves) != "\x07"+string(want) || len(want) != 21 || end != found || err != nil {
		t.Errorf("%v, outcome %d, %v; want 7 and %v", moves, end, err, want)
	}
}

// A context that is done ends a search at once; cancelled half way, it ends where
// it is.
func TestCancelDeepening(t *testing.T) {
	// Two pieces of different groups exchanged: there is no way, and no end.
	start := solvedWithBlank(12, 0)
	start[1], start[11] = start[11], start[1]
	q := slide(t, 4, 3).ask(start, solvedWithBlank(12, 0))
	p, d := patternsTo(t, q), new(deepening)
	ctx, cancel := context.WithCancel(context.Background())
	var progress atomic.Int64
	ended := make(chan error)
	go func() {
		_, _, _, err := d.run(ctx, q, p, limits{progress: &progress}, nil)
		ended <- err
	}()
	for progress.Load() == 0 {
		runtime.Gosched()
	}
	cancel()
	if err := <-ended; err != context.Canceled {
		t.Errorf("got %v", err)
	}
	if _, bound, end, err := d.run(ctx, q, p, limits{}, nil); err != context.Canceled || end != overBudget || bound < 1 || d.states != 0 {
		t.Errorf("outcome %d, at least %d, %v, %d states", end, bound, err, d.states)
	}
}

// Nothing is allocated for a state.
func TestDeepeningAllocates(t *testing.T) {
	q := slide(t, 4, 2).ask([]uint8{3, 2, 5, 4, 7, 6, 1, 0}, solvedWithBlank(8, 0))
	p, d, buf := patternsTo(t, q), new(deepening), make([]uint8, 0, 64)
	if n := testing.AllocsPerRun(3, func() { d.run(context.Background(), q, p, limits{}, buf) }); n > 0 {
		t.Errorf("%v allocations for %d states", n, d.states)
	}
}

// The 15-puzzle's boards beyond 40 moves, one after the other.
func BenchmarkDeepening(b *testing.B) {
	s, goal := slide(b, 4, 4), solvedWithBlank(16, 0)
	p := patternsTo(b, s.ask(goal, goal))
	for _, c := range knownSlides {
		if c.distance <= 40 || c.width*c.height != 16 {
			continue
		}
		b.Run(fmt.Sprint(c.distance, ":", strings.ReplaceAll(c.start, " ", "-")), func(b *testing.B) {
			q, states := s.ask(numbers[uint8](b, c.start), goal), int64(0)
			for b.Loop() {
				_, d := deepenTo(b, q, p, limits{})
				states += d.states
			}
			b.ReportMetric(float64(states)/float64(b.N), "states/op")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(states), "ns/state")
		})
	}
}
