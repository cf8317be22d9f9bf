package solver

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"antipode/internal/plain"
)

// placed gives each value of a board the number of its cell in the goal, from 1:
// the moves from start to goal are those from placed(start, goal) to 1 2 3 ….
func placed(start, goal []uint8) []uint8 {
	b := make([]uint8, len(start))
	for i, v := range start {
		b[i] = uint8(slices.Index(goal, v) + 1)
	}
	return b
}

// antipodes are the 163 pairs of boards that are 34 moves apart, and none is
// farther: found by a search of all 12! boards.
func antipodes(t testing.TB) (pairs [][2][]uint8) {
	t.Helper()
	text, err := os.ReadFile("testdata/rotegame_antipodes.in")
	if err != nil {
		t.Fatal(err)
	}
	values := numbers[uint8](t, string(text))
	for len(values) > 0 {
		pairs = append(pairs, [2][]uint8{values[:12], values[12:24]})
		values = values[24:]
	}
	if len(pairs) != 163 {
		t.Fatalf("%d pairs of boards", len(pairs))
	}
	return pairs
}

// Boards far apart: the antipodes, and random ones. The plain search knows all
// boards within 17 moves of the goal; from any other it tries all moves until it
// comes upon one of those. That is slow, and says for each step whether a smaller
// move would do.
func TestRotegameFarApart(t *testing.T) {
	s, r := newSolver(), rotegame(t)
	pairs, every := antipodes(t), 1
	if raceEnabled {
		every = 40
	}
	far := len(pairs)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 40 {
		pairs = append(pairs, [2][]uint8{shuffled(rng, upTo(50, 61)...), shuffled(rng, upTo(50, 61)...)})
	}
	field := r.plain.Distances(upTo(1, 12), 17)
	for i := 0; i < len(pairs); i += every {
		start, goal := pairs[i][0], pairs[i][1]
		a := solve(t, s, r.ask(start, goal), false)
		if i < far && a.Distance != 34 {
			t.Errorf("antipode %d: %d moves", i+1, a.Distance)
		}
		if b := r.after(start, a.Moves); !slices.Equal(b, goal) {
			t.Errorf("%v: %v lead to %v, not %v", start, a.Moves, b, goal)
		}
		if i < far && i%5 != 0 {
			continue
		}
		from := placed(start, goal)
		if field.Within(from, a.Distance-1) || !field.Within(from, a.Distance) {
			t.Errorf("%v to %v: not %d moves", start, goal, a.Distance)
			continue
		}
		if err := check(a, field.First(from, a.Distance)); err != nil {
			t.Errorf("%v to %v: %v", start, goal, err)
		}
	}
}

// Answers that other programs gave, or paper.
func TestKnownRotegame(t *testing.T) {
	s, r := newSolver(), rotegame(t)
	for _, c := range []struct {
		name, goal string
		want       []int // moves from 0
	}{
		{"move 1", "5 1 2 4 9 6 3 8 10 11 7 12", []int{0}},
		{"move 2", "1 3 4 8 5 2 7 12 9 6 10 11", []int{1}},
		{"1, then 2", "5 2 4 8 9 1 3 12 10 6 11 7", []int{0, 1}},
		{"29 moves", "2 10 9 6 11 3 4 8 5 1 12 7", []int{0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 0}},
	} {
		if err := check(solve(t, s, r.ask(upTo(1, 12), numbers[uint8](t, c.goal)), false), c.want); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Random walks, values distinct or not, are made again in the first shortest
// way.
func TestRotegameWalks(t *testing.T) {
	s, r := newSolver(), rotegame(t)
	rng := rand.New(rand.NewPCG(2, 2))
	for _, kinds := range []int{12, 8, 4, 3, 2, 1} {
		for range 20 {
			values := make([]uint8, 12)
			for i := range values {
				values[i] = uint8(100 - i%kinds)
			}
			start := shuffled(rng, values...)
			goal := r.walk(rng, start, rng.IntN(13))
			if err := check(solve(t, s, r.ask(start, goal), false), r.shortest(start, goal)); err != nil {
				t.Errorf("%d kinds, %v to %v: %v", kinds, start, goal, err)
			}
		}
	}
}

// With few kinds of values every board that holds the goal's is asked about, or
// every so many.
func TestRotegameRepeats(t *testing.T) {
	s, r := newSolver(), rotegame(t)
	for _, c := range []struct {
		goal   []uint8
		boards int // that hold the goal's values: 12! over the orders of equal ones
		every  int
	}{
		{[]uint8{1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, 12, 1},
		{[]uint8{2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2}, 12, 1},
		{[]uint8{2, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2}, 132, 1},
		{[]uint8{1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2}, 924, 1},
		{[]uint8{1, 2, 1, 2, 2, 1, 2, 1, 1, 2, 1, 2}, 924, 1},
		{[]uint8{1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 3, 4}, 23760, 29},
		{[]uint8{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}, 34650, 29},
	} {
		field := r.plain.Distances(c.goal, plain.All)
		boards := field.Boards()
		if len(boards) != c.boards {
			t.Errorf("%v: %d boards, want %d", c.goal, len(boards), c.boards)
		}
		for i := 0; i < len(boards); i += c.every {
			d, _ := field.Distance(boards[i])
			if err := check(solve(t, s, r.ask(boards[i], c.goal), false), field.First(boards[i], d)); err != nil {
				t.Errorf("%v to %v: %v", boards[i], c.goal, err)
			}
		}
	}
}
