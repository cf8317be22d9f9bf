package solver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"antipode/internal/job"
	"antipode/internal/plain"
	"antipode/internal/puzzle"
)

// tester is what *testing.T and *rapid.T have in common.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// subject is a puzzle of the product with the same puzzle in plain form.
type subject struct {
	*puzzle.Puzzle
	plain *plain.Puzzle
}

func builtin(t testing.TB, name string) *puzzle.Puzzle {
	t.Helper()
	set, err := puzzle.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	p, err := set.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func eight(t testing.TB) subject    { return subject{builtin(t, "eight"), plain.Slide(3, 3)} }
func eight2(t testing.TB) subject   { return subject{builtin(t, "eight2"), plain.Slide(3, 3)} }
func swap(t testing.TB) subject     { return subject{builtin(t, "swap"), plain.Swap()} }
func rotegame(t testing.TB) subject { return subject{builtin(t, "rotegame"), plain.Rotegame()} }

// defined reads a definition that says what its board and its moves are. Its
// records bring their goals.
func defined(t tester, name, board string, repeat bool) *puzzle.Puzzle {
	t.Helper()
	text := board + "\nrecord: {parts: [start, goal]}\nanswer: {want: moves, separator: \" \"}\nchunk: 10\n"
	if repeat {
		text += "values: {from: 1, to: 255, repeat: true}\n"
	}
	p, err := puzzle.Parse(name, name+".yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

// slide is the sliding puzzle of a board of rows.
func slide(t testing.TB, width, height int) subject {
	t.Helper()
	board := fmt.Sprintf("width: %d\nheight: %d\nblank: {moves: [d, l, r, u]}", width, height)
	return subject{defined(t, fmt.Sprintf("slide%dx%d", width, height), board, false), plain.Slide(width, height)}
}

// swaps is the puzzle of swaps of neighbours on a board of rows.
func swaps(t testing.TB, width, height int) subject {
	t.Helper()
	var names []string
	var pairs [][2]int
	for c := 1; c <= width*height; c++ {
		if c%width != 0 {
			pairs = append(pairs, [2]int{c, c + 1})
		}
		if c+width <= width*height {
			pairs = append(pairs, [2]int{c, c + width})
		}
	}
	board := fmt.Sprintf("width: %d\nheight: %d\nmoves:", width, height)
	for _, p := range pairs {
		names = append(names, fmt.Sprintf("%d-%d", p[0], p[1]))
		board += fmt.Sprintf("\n  - {name: %d-%d, cycles: (%d %d)}", p[0], p[1], p[0], p[1])
	}
	return subject{defined(t, fmt.Sprintf("swap%dx%d", width, height), board, false), plain.Swaps(width*height, names, pairs)}
}

// ask makes the question of two boards.
func (s subject) ask(start, goal []uint8) *puzzle.Question {
	var a, b puzzle.Board
	copy(a[:], start)
	copy(b[:], goal)
	var q puzzle.Question
	s.Ask(nil, &a, &b, &q)
	return &q
}

// askOwn asks for the moves to the puzzle's own goal.
func (s subject) askOwn(start []uint8) *puzzle.Question {
	var a puzzle.Board
	copy(a[:], start)
	var q puzzle.Question
	s.Ask(nil, &a, nil, &q)
	return &q
}

// shortest is the right answer by the plain search; nil where there is none.
func (s subject) shortest(start, goal []uint8) []int {
	moves, _ := s.plain.Shortest(start, goal)
	return moves
}

// newSolver returns a Solver with memory for what the tests do.
func newSolver() *Solver {
	return New(Config{Searches: 2, Memory: 512 << 20, TableMemory: 64 << 20})
}

// solve answers a question with moves: by a table where there may be one, or,
// where it could, by a search, even for what is known to be unreachable.
func solve(t tester, s *Solver, q *puzzle.Question, search bool) job.Answer {
	t.Helper()
	if q.Distinct && !search && q.Space.Cells() <= maxTableCells {
		if err := s.targets.build(context.Background(), s.targets.of(q), new(atomic.Int64)); err != nil && err != errTooDeep {
			t.Fatal(err)
		}
	}
	plan := s.Plan(q)
	if search && plan.Method != ByContents {
		plan = Plan{Method: BySearch, target: s.targets.of(q)}
	}
	return answer(t, s, q, plan)
}

// answer answers a question with moves as planned.
func answer(t tester, s *Solver, q *puzzle.Question, plan Plan) job.Answer {
	t.Helper()
	a, err := s.Solve(context.Background(), q, plan, puzzle.Moves, job.Budget{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// check tells what is wrong with an answer; want is the first shortest way, nil
// where the goal is unreachable.
func check(a job.Answer, want []int) error {
	switch {
	case want == nil && a.Status == job.Unreachable:
		return nil
	case want == nil || a.Status != job.Solved:
		return fmt.Errorf("%v, %d moves; want moves %v", a.Status, a.Distance, want)
	case a.Distance != len(want) || !slices.EqualFunc(a.Moves, want, func(got uint8, want int) bool { return int(got) == want }):
		return fmt.Errorf("%d moves %v; want %d, %v", a.Distance, a.Moves, len(want), want)
	}
	return nil
}

// numbers reads numbers.
func numbers[N int | uint8](t testing.TB, text string) (all []N) {
	t.Helper()
	for _, word := range strings.Fields(text) {
		n, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, N(n))
	}
	return all
}

// shuffled returns the values in another order.
func shuffled(rng *rand.Rand, values ...uint8) []uint8 {
	b := slices.Clone(values)
	rng.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
	return b
}

// after returns the board after moves, nil where one is not possible.
func (s subject) after(b []uint8, moves []uint8) []uint8 {
	for _, m := range moves {
		if b != nil {
			b = s.plain.Next(b, int(m))
		}
	}
	return b
}

// walk returns the board after so many random moves.
func (s subject) walk(rng *rand.Rand, b []uint8, moves int) []uint8 {
	for range moves {
		var next [][]uint8
		for m := range s.plain.Names {
			if n := s.plain.Next(b, m); n != nil {
				next = append(next, n)
			}
		}
		if len(next) > 0 {
			b = next[rng.IntN(len(next))]
		}
	}
	return b
}

// permutations calls f with every order of the values.
func permutations(values []uint8, f func([]uint8)) {
	var rest func(n int)
	b := slices.Clone(values)
	rest = func(n int) {
		if n == len(b) {
			f(b)
			return
		}
		for i := n; i < len(b); i++ {
			b[n], b[i] = b[i], b[n]
			rest(n + 1)
			b[n], b[i] = b[i], b[n]
		}
	}
	rest(0)
}

// upTo returns the values from..to.
func upTo(from, to int) (values []uint8) {
	for v := from; v <= to; v++ {
		values = append(values, uint8(v))
	}
	return values
}

// solvedWithBlank is the board of pieces 1, 2, … in order around a blank.
func solvedWithBlank(cells, blank int) []uint8 {
	return slices.Insert(upTo(1, cells-1), blank, 0)
}
