package solver

import (
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
		seen := make([]bool, factorials[n])
		permutations(upTo(0, n-1), func(labels []uint8) {
			r := rank(puzzle.Pack(labels), n)
			if r < 0 || r >= len(seen) || seen[r] || r != plainRank(labels) {
				t.Fatalf("rank of %v is %d, want %d", labels, r, plainRank(labels))
			}
			seen[r] = true
		})
		if slices.Contains(seen, false) {
			t.Errorf("%d labels: a rank is of none", n)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for n := 9; n <= maxTableCells; n++ {
		for range 500 {
			labels := shuffled(rng, upTo(0, n-1)...)
			if r := rank(puzzle.Pack(labels), n); r != plainRank(labels) {
				t.Fatalf("rank of %v is %d, want %d", labels, r, plainRank(labels))
			}
		}
	}
}
