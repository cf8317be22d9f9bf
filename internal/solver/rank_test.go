package solver

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"antipode/internal/puzzle"
)

// plainRank counts the orders of 0..n-1 that come before this one.
func plainRank(labels []uint8) int {
	r := 0
	for i, l := range labels {
		smaller := 0
		for _, later := range labels[i+1:] {
			if later < l {
				smaller++
			}
		}
		orders := 1
		for k := 2; k < len(labels)-i; k++ {
			orders *= k
		}
		r += smaller * orders
	}
	return r
}

func TestRankNumbersAllOrders(t *testing.T) {
	if got, want := rank(puzzle.Pack([]uint8{2, 0, 1}), 3), 4; got != want { // 012 021 102 120 201
		t.Errorf("rank of 201 is %d, want %d", got, want)
	}
	for n := 1; n <= 8; n++ {
		seen := make([]bool, factorial(n))
		permutations(upTo(0, n-1), func(labels []uint8) {
			s := puzzle.Pack(labels)
			r := rank(s, n)
			if r < 0 || r >= len(seen) || seen[r] || r != plainRank(labels) {
				t.Fatalf("rank of %v is %d, want %d", labels, r, plainRank(labels))
			}
			seen[r] = true
			if got := unrank(r, n); got != s {
				t.Fatalf("unrank of %d is %x, want %x", r, got, s)
			}
		})
		if slices.Contains(seen, false) {
			t.Errorf("%d labels: a rank is of none", n)
		}
	}
}

func TestRankOfManyCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := 9; n <= puzzle.MaxCells; n++ {
		for range 500 {
			labels := shuffled(rng, upTo(0, n-1)...)
			s := puzzle.Pack(labels)
			if r := rank(s, n); r != plainRank(labels) || unrank(r, n) != s {
				t.Fatalf("%v: rank %d, back %x", labels, r, unrank(r, n))
			}
		}
	}
}

func FuzzRank(f *testing.F) {
	f.Add(0, uint8(9))
	f.Add(362879, uint8(9))
	f.Add(181440, uint8(9))
	f.Add(5, uint8(3))
	f.Add(0, uint8(1))
	f.Fuzz(func(t *testing.T, r int, cells uint8) {
		n := 1 + int(cells-1)%12
		r = int(uint(r) % uint(factorial(n)))
		s := unrank(r, n)
		labels := s.AppendLabels(nil, n)
		if !slices.Equal(slices.Sorted(slices.Values(labels)), upTo(0, n-1)) || puzzle.Pack(labels) != s {
			t.Fatalf("unrank of %d of %d cells is %x", r, n, s)
		}
		if got := rank(s, n); got != r || plainRank(labels) != r {
			t.Fatalf("rank of %x is %d, want %d", s, got, r)
		}
	})
}

// A table's check finds every wrong distance and every wrong first move of a
// small table.
func TestTableCheck(t *testing.T) {
	for _, s := range []subject{slide(t, 2, 2), swaps(t, 2, 2), slide(t, 3, 2)} {
		goal := upTo(1, s.Cells())
		if s.HasBlank() {
			goal = solvedWithBlank(s.Cells(), 1)
		}
		q := s.ask(goal, goal)
		table, err := NewTable(context.Background(), q.Space, q.Goal)
		if err != nil {
			t.Fatal(err)
		}
		for r := range table.distance {
			d, first := table.distance[r], table.first[r]
			for _, wrong := range []uint8{0, 1, 2, d + 1, d - 1, d + 2, d - 2, unreached} {
				if table.distance[r] = wrong; wrong != d && table.check() == nil {
					t.Fatalf("%s: distance %d of rank %d goes for %d", s.Name, wrong, r, d)
				}
			}
			table.distance[r] = d
			if d == 0 || d == unreached { // no way goes on from there
				continue
			}
			for move := range s.plain.Names {
				if table.first[r] = uint8(move); uint8(move) != first && table.check() == nil {
					t.Fatalf("%s: move %d from rank %d goes for %d", s.Name, move, r, first)
				}
			}
			table.first[r] = first
		}
		if err := table.check(); err != nil {
			t.Error(err)
		}
	}
}

// Where a check does not look at every state it still looks at many, spread
// over the table.
func TestTableCheckOfLargeTable(t *testing.T) {
	q := eight(t).ask(solvedWithBlank(9, 0), solvedWithBlank(9, 0))
	table, err := NewTable(context.Background(), q.Space, q.Goal)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []int{0, 1, 2, 3} { // quarters
		found := *table
		found.distance = slices.Clone(table.distance)
		for r := part * len(table.distance) / 4; r < (part+1)*len(table.distance)/4; r++ {
			if found.distance[r] != unreached && found.distance[r] > 1 {
				found.distance[r] += 2
			}
		}
		if found.check() == nil {
			t.Errorf("quarter %d may be wrong", part)
		}
	}
}
