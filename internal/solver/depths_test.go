package solver

import (
	"context"
	"slices"
	"testing"

	"antipode/internal/job"
	"antipode/internal/puzzle"
)

// depths are known numbers of boards at each distance from the goal. Those of
// swaps and of the 3x3 slide were made by other programs; those of the other
// slides are published with lightln2/SlidingTilesSolver.
var depths = []struct {
	name          string
	swaps         bool
	width, height int
	blank         int // its cell in the goal
	counts        string
}{
	{"swap 2x1", true, 2, 1, -1, "1 1"},
	{"swap 2x2", true, 2, 2, -1, "1 4 10 8 1"},
	{"swap 3x2", true, 3, 2, -1, "1 7 31 89 178 210 143 53 7 1"},
	{"swap 4x2", true, 4, 2, -1, "1 10 61 262 866 2220 4467 6980 8514 7922 5535 2684 714 82 2"},
	{"swap 3x3", true, 3, 3, -1, "1 12 88 470 1978 6658 18081 38936 65246 83000 76688 48316 18975 4024 382 24 1"},
	{"slide 2x2", false, 2, 2, 3, "1 2 2 2 2 2 1"},
	{"slide 3x2", false, 3, 2, 0, "1 2 3 5 6 7 10 12 12 16 23 25 28 39 44 40 29 21 18 12 6 1"},
	{"slide 4x2", false, 4, 2, 7, "1 2 3 6 10 14 19 28 42 61 85 119 161 215 293 396 506 632 788 985 1194 1414 1664 1884 1999 1958 1770 1463 1076 667 361 190 88 39 19 7 1"},
	{"slide 3x3, corner", false, 3, 3, 0, slide3x3Corner},
	{"slide 3x3, edge", false, 3, 3, 5, slide3x3Edge},
	{"slide 3x3, centre", false, 3, 3, 4, slide3x3Centre},
}

const (
	slide3x3Corner = "1 2 4 8 16 20 39 62 116 152 286 396 748 1024 1893 2512 4485 5638 9529 10878 16993 17110 23952 20224 24047 15578 14560 6274 3910 760 221 2"
	slide3x3Edge   = "1 3 5 10 14 28 42 80 108 202 278 524 726 1348 1804 3283 4193 7322 8596 13930 14713 21721 19827 25132 18197 18978 9929 7359 2081 878 126 2"
	slide3x3Centre = "1 4 8 8 16 32 60 72 136 200 376 512 964 1296 2368 3084 5482 6736 11132 12208 18612 18444 24968 19632 22289 13600 11842 4340 2398 472 148"
)

func TestTableDepths(t *testing.T) {
	for _, c := range depths {
		t.Run(c.name, func(t *testing.T) {
			var s subject
			var goal []uint8
			if c.swaps {
				s, goal = swaps(t, c.width, c.height), upTo(1, c.width*c.height)
			} else {
				s, goal = slide(t, c.width, c.height), solvedWithBlank(c.width*c.height, c.blank)
			}
			q := s.ask(goal, goal)
			table, err := NewTable(context.Background(), q.Space, q.Goal)
			if err != nil {
				t.Fatal(err)
			}
			if want := numbers[int](t, c.counts); !slices.Equal(table.Layers(), want) {
				t.Errorf("layers %v, want %v", table.Layers(), want)
			}
		})
	}
}

// Two boards of the 8-puzzle are 31 moves from 1 2 3 / 4 5 6 / 7 8 blank, and two
// from the blank first: the same, turned.
func TestEightAntipodes(t *testing.T) {
	s := newSolver()
	for _, c := range []struct {
		name  string
		goal  string
		start []string
	}{
		{"blank last", "1 2 3 4 5 6 7 8 0", []string{"6 4 7 8 5 0 3 2 1", "8 6 7 2 5 4 3 0 1"}},
		{"blank first", "0 1 2 3 4 5 6 7 8", []string{"8 7 6 0 4 1 2 5 3", "8 0 6 5 4 7 2 3 1"}},
	} {
		for _, start := range c.start {
			q := eight2(t).ask(numbers[uint8](t, start), numbers[uint8](t, c.goal))
			for _, search := range []bool{false, true} {
				if a := solve(t, s, q, search); a.Status != job.Solved || a.Distance != 31 || !q.Space.Replay(q.Start, q.Goal, a.Moves) {
					t.Errorf("%s, %s, by search %v: %+v", c.name, start, search, a)
				}
			}
		}
	}
}

// Answers that people and other programs gave for sliding puzzles of other
// sizes.
func TestKnownSlides(t *testing.T) {
	s := newSolver()
	for _, c := range []struct {
		width, height int
		start, goal   string
		want          int // -1: unreachable
	}{
		{3, 2, "1 2 3 4 0 5", "1 2 3 4 5 0", 1},
		{3, 2, "1 2 3 5 4 0", "1 2 3 4 5 0", -1},
		{3, 2, "4 1 2 5 0 3", "1 2 3 4 5 0", 5},
		{2, 2, "3 2 1 0", "0 1 2 3", 6},
		{2, 2, "0 2 1 3", "0 1 2 3", -1},
		{2, 2, "1 0 2 3", "0 1 2 3", 1},
		{2, 2, "2 3 1 0", "1 2 3 0", 4},
		{4, 4, "1 2 3 0 4 5 6 7 8 9 10 11 12 13 14 15", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", 3},
		{4, 4, "4 1 2 3 8 5 6 7 12 9 10 11 0 13 14 15", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", 3},
		{4, 4, "1 2 3 7 4 5 6 11 8 9 10 15 12 13 14 0", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", 6},
		{2, 4, "6 7 4 5 3 2 1 0", "0 1 2 3 4 5 6 7", 36},
		{4, 2, "3 2 5 4 7 6 1 0", "0 1 2 3 4 5 6 7", 36},
		{3, 2, "3 4 5 0 1 2", "0 1 2 3 4 5", 21},
		{5, 2, "4 3 2 6 1 9 8 7 5 0", "0 1 2 3 4 5 6 7 8 9", 55},
		{5, 2, "4 8 2 6 5 9 3 7 1 0", "0 1 2 3 4 5 6 7 8 9", 55},
		{4, 4, "1 2 3 4 5 6 7 8 9 10 11 12 13 15 14 0", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0", -1},
		{4, 4, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 15 14", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", -1},
		{4, 4, "1 2 3 7 12 8 15 4 13 10 11 5 9 6 14 0", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0", -1},
	} {
		q := slide(t, c.width, c.height).ask(numbers[uint8](t, c.start), numbers[uint8](t, c.goal))
		for _, search := range []bool{false, true} {
			if search && c.want < 0 && c.width == 4 { // 16!/2 states, to no avail
				continue
			}
			switch a := solve(t, s, q, search); {
			case c.want < 0 && a.Status != job.Unreachable,
				c.want >= 0 && (a.Status != job.Solved || a.Distance != c.want || !q.Space.Replay(q.Start, q.Goal, a.Moves)):
				t.Errorf("%dx%d %s: %+v, want %d", c.width, c.height, c.start, a, c.want)
			}
		}
	}
}

// Where a distance is wanted, a table gives no moves and the same distance.
func TestDistanceOnly(t *testing.T) {
	s := newSolver()
	if _, err := s.Prepare(context.Background(), eight(t).Puzzle); err != nil {
		t.Fatal(err)
	}
	q := eight(t).ask([]uint8{8, 7, 6, 0, 4, 1, 2, 5, 3}, []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8})
	a, err := s.Solve(context.Background(), q, s.Plan(q), puzzle.Distance, job.Budget{}, nil, make([]uint8, 0, 64))
	if err != nil || a.Status != job.Solved || a.Distance != 31 || a.Moves != nil {
		t.Errorf("got %+v, %v", a, err)
	}
}
