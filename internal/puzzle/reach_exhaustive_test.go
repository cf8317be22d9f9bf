//go:build !race

package puzzle

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// eachGraph calls f with one graph of each isomorphism class, and returns their
// number.
func eachGraph(n int, f func(edges [][2]uint8)) (classes int) {
	edges := pairs(n)
	var index [MaxCells][MaxCells]int
	for i, e := range edges {
		index[e[0]][e[1]], index[e[1]][e[0]] = i, i
	}
	var moved [][]int // by permutation of the vertices, then edge
	eachArrangement(run(0, n-1), func(to []uint8) {
		images := make([]int, len(edges))
		for i, e := range edges {
			images[i] = index[to[e[0]]][to[e[1]]]
		}
		moved = append(moved, images)
	})
	seen := make([]bool, 1<<len(edges))
	for mask := range seen {
		if seen[mask] {
			continue
		}
		classes++
		for _, images := range moved {
			other := 0
			for i, to := range images {
				other |= mask >> i & 1 << to
			}
			seen[other] = true
		}
		f(chosen(edges, mask))
	}
	return classes
}

// Every graph of five vertices, and up to the names of vertices every one of six,
// to each place of the blank; of seven, to one. Numbers of classes: OEIS A000088.
func TestEveryGraphAgainstPlain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for mask := range 1 << len(pairs(5)) {
		s := graphSubject(t, 5, chosen(pairs(5), mask))
		for blank := range 5 {
			s.compare(t, goalWithBlank(rng, 5, blank))
		}
	}
	if n := eachGraph(6, func(edges [][2]uint8) {
		s := graphSubject(t, 6, renamed(rng, 6, edges))
		for blank := range 6 {
			s.compare(t, goalWithBlank(rng, 6, blank))
		}
	}); n != 156 {
		t.Errorf("%d graphs of six vertices", n)
	}
	if n := eachGraph(7, func(edges [][2]uint8) {
		graphSubject(t, 7, renamed(rng, 7, edges)).compare(t, goalWithBlank(rng, 7, rng.IntN(7)))
	}); n != 1044 {
		t.Errorf("%d graphs of seven vertices", n)
	}
}

func TestLargerGraphsAgainstPlain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 2))
	for n, graphs := range map[int]int{8: 20, 9: 4} {
		for range graphs {
			graphSubject(t, n, randomGraph(rng, n)).compare(t, goalWithBlank(rng, n, rng.IntN(n)))
		}
	}
	// The exception with a tail, and between two more vertices.
	for _, more := range [][][2]uint8{trail(0, 7, 8), append(trail(1, 7), trail(6, 8)...)} {
		edges := renamed(rng, 9, append(theta0(), more...))
		graphSubject(t, 9, edges).compare(t, goalWithBlank(rng, 9, rng.IntN(9)))
	}
}

func TestMorePermutationsAgainstPlain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	for range 2000 {
		s := permutationSubject(t, 6, randomMoves(rng, 6))
		goal := make([]uint8, 6)
		for i, v := range rng.Perm(6) {
			goal[i] = uint8(v)
		}
		s.compare(t, goal)
	}
}

// Labels that repeat, on six cells in every way, and on the exception in many.
func TestMoreColouringsAgainstPlain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	for range 60 {
		s := permutationSubject(t, 6, randomMoves(rng, 6))
		eachColouring(6, 0, func(goal []uint8) { s.compare(t, goal) })
		s = graphSubject(t, 6, randomGraph(rng, 6))
		eachColouring(5, 1, func(pieces []uint8) {
			s.compare(t, slices.Insert(slices.Clone(pieces), rng.IntN(6), 0))
		})
	}
	s := graphSubject(t, 7, theta0())
	eachColouring(6, 1, func(pieces []uint8) {
		if known := s.compare(t, slices.Insert(slices.Clone(pieces), rng.IntN(7), 0)); known != (slices.Max(pieces) == 6) {
			t.Errorf("%v: the number of states is known: %v", pieces, known)
		}
	})
}
