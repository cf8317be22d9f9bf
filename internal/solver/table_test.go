package solver

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"antipode/internal/plain"
	"antipode/internal/puzzle"
)

func makeTable(t tester, space *puzzle.Space, goal puzzle.State) *Table {
	t.Helper()
	table, err := NewTable(context.Background(), space, goal)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Tables say of every state of any small puzzle what the plain
// search says.
func TestTablesOfSmallPuzzles(t *testing.T) {
	for range 5 {
		rapid.Check(t, func(t *rapid.T) {
			subject := smallPuzzle(t)
			n := subject.Cells()
			goal := upTo(1, n)
			if subject.HasBlank() {
				goal = solvedWithBlank(n, rapid.IntRange(0, n-1).Draw(t, "blank"))
			}
			compareTables(t, subject, goal)
		})
	}
}

// compareTables asks tables and the plain search about every state.
func compareTables(t tester, subject subject, goal []uint8) {
	t.Helper()
	field := subject.plain.Distances(goal, plain.All)
	q := subject.ask(goal, goal)
	table := makeTable(t, q.Space, q.Goal)
	if !slices.Equal(table.Layers(), field.Counts()) {
		t.Errorf("layers %v, want %v", table.Layers(), field.Counts())
	}
	permutations(goal, func(start []uint8) {
		s := subject.ask(start, goal).Start
		want, reachable := field.Distance(start)
		d, ok := table.Distance(s)
		moves, way := table.AppendMoves(nil, s)
		switch {
		case ok != reachable || way != reachable:
			t.Fatalf("%v: reachable %v, with moves %v; want %v", start, ok, way, reachable)
		case !ok:
		case d != want || !slices.Equal(ints(moves), field.First(start, want)):
			t.Fatalf("%v: distance %d, moves %v; want %d, %v", start, d, moves, want, field.First(start, want))
		}
	})
}

// The same, of puzzles with more cells: halved and not, of many ways, and without
// inverses.
func TestTablesOfSevenCells(t *testing.T) {
	for _, c := range []struct {
		subject subject
		goal    []uint8
	}{
		{slide(t, 4, 2), solvedWithBlank(8, 3)},
		{swaps(t, 4, 2), upTo(1, 8)},
		{subject{defined(t, "wheel", "cells: 7\nblank: {edges: [[1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 1], [7, 1], [7, 2], [7, 3], [7, 4], [7, 5], [7, 6]]}", false),
			plain.Graph(7, [][2]int{{1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 1}, {7, 1}, {7, 2}, {7, 3}, {7, 4}, {7, 5}, {7, 6}})}, solvedWithBlank(7, 0)},
		{subject{defined(t, "even", "cells: 7\nmoves: [{name: a, cycles: (1 2 3)}, {name: b, cycles: (1 2 3 4 5 6 7)}]", false),
			plain.Permutations(7, []string{"a", "b"}, [][]int{{2, 0, 1, 3, 4, 5, 6}, {6, 0, 1, 2, 3, 4, 5}})}, upTo(1, 7)},
	} {
		if raceEnabled && len(c.goal) > 7 {
			continue
		}
		compareTables(t, c.subject, c.goal)
	}
}

// A table's check finds every wrong distance and every wrong bit of a small table.
func TestTableCheck(t *testing.T) {
	for _, s := range []subject{slide(t, 2, 2), swaps(t, 2, 2), slide(t, 3, 2)} {
		goal := upTo(1, s.Cells())
		if s.HasBlank() {
			goal = solvedWithBlank(s.Cells(), 1)
		}
		q := s.ask(goal, goal)
		table := makeTable(t, q.Space, q.Goal)
		for i := range table.patterns * table.lanes {
			state := table.state(i/table.lanes, i%table.lanes)
			distance := &table.distance[rank(state, s.Cells())]
			d := *distance
			for _, wrong := range []uint8{0, 1, 2, d + 1, d - 1, d + 2, d - 2, unreached} {
				if *distance = wrong; wrong != d && table.check() == nil {
					t.Fatalf("%s: distance %d of %x goes for %d", s.Name, wrong, state, d)
				}
			}
			*distance = d
		}
		if err := table.check(); err != nil {
			t.Error(err)
		}
		for i := range table.codes {
			for bit := range 8 {
				if i%table.wordBytes*8+bit >= table.lanes { // of no board
					continue
				}
				table.codes[i] ^= 1 << bit
				if table.check() == nil {
					t.Fatalf("%s: bit %d of byte %d may be wrong", s.Name, bit, i)
				}
				table.codes[i] ^= 1 << bit
			}
		}
		if err := table.check(); err != nil {
			t.Error(err)
		}
	}
}

// A check that does not look at every state still looks at many, spread over the
// table.
func TestTableCheckOfLargeTable(t *testing.T) {
	q := eight(t).ask(solvedWithBlank(9, 0), solvedWithBlank(9, 0))
	table := makeTable(t, q.Space, q.Goal)
	for part := range 4 { // quarters
		found := *table
		found.distance = slices.Clone(table.distance)
		for i := part * len(table.distance) / 4; i < (part+1)*len(table.distance)/4; i++ {
			if found.distance[i] != unreached && found.distance[i] > 1 {
				found.distance[i] += 2
			}
		}
		if found.check() == nil {
			t.Errorf("quarter %d may be wrong", part)
		}
	}
	table.layers[3]++
	if table.check() == nil {
		t.Error("a state too many")
	}
}

// A table that nobody waits for is not made.
func TestTableOfAnEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if table, err := NewTable(ctx, rotegame(t).Space(), identity(12, -1)); err != context.Canceled || table != nil {
		t.Errorf("%v, %v", table, err)
	}
	if _, err := NewTable(context.Background(), slide(t, 5, 3).Space(), identity(15, 0)); err == nil {
		t.Error("a table of 15 cells")
	}
}
