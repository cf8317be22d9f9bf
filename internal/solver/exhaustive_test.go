//go:build !race

package solver

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"antipode/internal/job"
	"antipode/internal/plain"
)

// exhaust asks about every order of the values and compares each answer with the
// plain search, the moves of every so many boards included; it returns the number
// of boards at each distance.
func exhaust(t *testing.T, s *Solver, subject subject, goal []uint8, everyMoves int) (counts []int) {
	field := subject.plain.Distances(goal, plain.All)
	counts = make([]int, len(field.Counts()))
	boards, faults := 0, 0
	permutations(goal, func(start []uint8) {
		boards++
		a := solve(t, s, subject.ask(start, goal), false)
		d, ok := field.Distance(start)
		var err error
		switch {
		case !ok:
			err = check(a, nil)
		case boards%everyMoves == 0:
			err = check(a, field.First(start, d))
		case a.Status != job.Solved || a.Distance != d:
			err = fmt.Errorf("%v, %d moves; want %d", a.Status, a.Distance, d)
		}
		if ok {
			counts[d]++
		}
		if err != nil {
			if faults++; faults < 10 {
				t.Errorf("%v to %v: %v", start, goal, err)
			}
		}
	})
	if faults > 0 || !slices.Equal(counts, field.Counts()) {
		t.Errorf("%d of %d boards are wrong; %v at each distance were asked, %v found", faults, boards, counts, field.Counts())
	}
	return counts
}

// Every board of the 8-puzzle to each of the nine places of the goal's blank;
// for one corner, one edge and the centre all moves too.
func TestEveryBoardOfEight(t *testing.T) {
	t.Parallel()
	s := newSolver()
	for blank, c := range []struct {
		truth      string
		everyMoves int
	}{
		{slide3x3Corner, 1}, {slide3x3Edge, 7}, {slide3x3Corner, 7},
		{slide3x3Edge, 7}, {slide3x3Centre, 1}, {slide3x3Edge, 1},
		{slide3x3Corner, 7}, {slide3x3Edge, 7}, {slide3x3Corner, 7},
	} {
		if counts := exhaust(t, s, eight2(t), solvedWithBlank(9, blank), c.everyMoves); !slices.Equal(counts, numbers[int](t, c.truth)) {
			t.Errorf("blank on %d: %v boards at each distance, want %s", blank, counts, c.truth)
		}
	}
}

// The goal of eight is one that records do not bring.
func TestEveryBoardOfEightToItsGoal(t *testing.T) {
	t.Parallel()
	s, subject := newSolver(), eight(t)
	goal, _ := subject.Goal()
	field := subject.plain.Distances(goal, plain.All)
	permutations(goal, func(start []uint8) {
		q := subject.askOwn(start)
		want, ok := field.Distance(start)
		if a := solve(t, s, q, false); ok != (a.Status == job.Solved) || ok && a.Distance != want {
			t.Fatalf("%v: %+v, want %d, %v", start, a, want, ok)
		}
	})
}

func TestEveryBoardOfSwap(t *testing.T) {
	t.Parallel()
	counts := exhaust(t, newSolver(), swap(t), upTo(1, 9), 1)
	for _, c := range depths {
		if c.name == "swap 3x3" && !slices.Equal(counts, numbers[int](t, c.counts)) {
			t.Errorf("%v boards at each distance, want %s", counts, c.counts)
		}
	}
}

// A search, from any board: a dense sample, since each takes a hundred times as
// long as a table.
func TestSearchOnManyBoards(t *testing.T) {
	t.Parallel()
	s := newSolver()
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		subject subject
		goal    []uint8
	}{
		{eight(t), solvedWithBlank(9, 0)}, {eight2(t), solvedWithBlank(9, 4)}, {eight2(t), solvedWithBlank(9, 5)}, {swap(t), upTo(1, 9)},
	} {
		field := c.subject.plain.Distances(c.goal, plain.All)
		for range 100 {
			start := shuffled(rng, c.goal...)
			var want []int
			if d, ok := field.Distance(start); ok {
				want = field.First(start, d)
			}
			if err := check(solve(t, s, c.subject.ask(start, c.goal), true), want); err != nil {
				t.Errorf("%s %v: %v", c.subject.Name, start, err)
			}
		}
	}
}

// Any board of eight pieces on any of the graphs, reachable or not.
func TestGraphBoards(t *testing.T) {
	t.Parallel()
	s := newSolver()
	rng := rand.New(rand.NewPCG(2, 2))
	for name, edges := range graphs {
		field := plain.Graph(9, edges).Distances(graphGoal, plain.All)
		for range 50 {
			board := shuffled(rng, graphGoal...)
			var want []int
			if d, ok := field.Distance(board); ok {
				want = field.First(board, d)
			}
			agree(t, s, graphQuestion(t, edges, board), want, name, board)
		}
	}
}
