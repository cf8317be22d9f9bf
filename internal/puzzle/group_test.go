package puzzle

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// cycles returns the permutation that is a product of disjoint cycles of points
// from 1.
func cycles(cycles ...[]int) permutation {
	images := make([]uint8, MaxCells)
	for i := range images {
		images[i] = uint8(i)
	}
	for _, c := range cycles {
		for i, from := range c {
			images[from-1] = uint8(c[(i+1)%len(c)] - 1)
		}
	}
	return permutation(Pack(images))
}

// run returns the points from one to another.
func run(from, to int) (points []int) {
	for ; from <= to; from++ {
		points = append(points, from)
	}
	return points
}

// images returns the permutation that sends i to f(i), points from 0.
func images(f func(int) int) permutation {
	var labels []uint8
	for i := range MaxCells {
		labels = append(labels, uint8(f(i)))
	}
	return permutation(Pack(labels))
}

// projective returns the permutations x+1, ax and -1/x of the projective line
// over the field of p elements; the point p is infinity. With a primitive root as
// a they generate PGL(2,p), of order p(p^2-1), with its square PSL(2,p), half of
// it.
func projective(p, a int) []permutation {
	return []permutation{
		images(func(x int) int {
			if x >= p {
				return x
			}
			return (x + 1) % p
		}),
		images(func(x int) int {
			if x >= p {
				return x
			}
			return a * x % p
		}),
		images(func(x int) int {
			switch {
			case x == 0:
				return p
			case x == p:
				return 0
			case x > p:
				return x
			}
			y := 1
			for x*y%p != p-1 {
				y++
			}
			return y
		}),
	}
}

type knownGroup struct {
	name       string
	n          int
	generators []permutation
	order      uint64
}

// knownGroups are groups whose orders are in the literature.
func knownGroups() []knownGroup {
	eleven, m11 := cycles(run(1, 11)), cycles([]int{3, 7, 11, 8}, []int{4, 10, 5, 6})
	m12 := cycles([]int{1, 12}, []int{2, 11}, []int{3, 6}, []int{4, 8}, []int{5, 9}, []int{7, 10})
	pairs := func(i int) permutation { return cycles([]int{i, i + 1}, []int{i + 2, i + 3}) }
	a8 := []permutation{cycles(run(1, 3)), cycles(run(2, 8)), cycles(run(9, 11)), cycles(run(10, 16))}
	groups := []knownGroup{
		{"no generators", 5, nil, 1},
		{"identity", 5, []permutation{identity}, 1},
		{"M11", 11, []permutation{eleven, m11}, 7920},
		{"M12", 12, []permutation{eleven, m11, m12}, 95040},
		{"PGL(2,5)", 6, projective(5, 2), 120},
		{"PGL(2,7)", 8, projective(7, 3), 336},
		{"PGL(2,11)", 12, projective(11, 2), 1320},
		{"PGL(2,13)", 14, projective(13, 2), 2184},
		{"PSL(2,5)", 6, projective(5, 4), 60},
		{"PSL(2,7)", 8, projective(7, 2), 168},
		{"PSL(2,11)", 12, projective(11, 4), 660},
		{"PSL(2,13)", 14, projective(13, 4), 1092},
		{"AGL(4,2)", 16, []permutation{
			images(func(x int) int { return x ^ 1 }),
			images(func(x int) int { return x ^ x>>1&1 }),
			images(func(x int) int { return x<<1&15 | x>>3 }),
		}, 16 * 20160},
		{"C2 wr S8", 16, []permutation{cycles([]int{1, 2}), cycles([]int{1, 3}, []int{2, 4}),
			cycles([]int{1, 3, 5, 7, 9, 11, 13, 15}, []int{2, 4, 6, 8, 10, 12, 14, 16})}, 256 * 40320},
		{"S4 wr S4", 16, []permutation{cycles([]int{1, 2}), cycles(run(1, 4)),
			cycles([]int{1, 5}, []int{2, 6}, []int{3, 7}, []int{4, 8}),
			cycles([]int{1, 5, 9, 13}, []int{2, 6, 10, 14}, []int{3, 7, 11, 15}, []int{4, 8, 12, 16})}, 24 * 24 * 24 * 24 * 24},
		{"S8 on two orbits alike", 16, []permutation{cycles([]int{1, 2}, []int{9, 10}), cycles(run(1, 8), run(9, 16))}, 40320},
		{"A8 x A8", 16, a8, 20160 * 20160},
		{"S8 x S8, signs alike", 16, append(a8[:4:4], cycles([]int{1, 2}, []int{9, 10})), 2 * 20160 * 20160},
		{"S8 x A8", 16, append(a8[:4:4], cycles([]int{1, 2})), 2 * 20160 * 20160},
		{"S8 x S8", 16, append(a8[:4:4], cycles([]int{1, 2}), cycles([]int{9, 10})), 4 * 20160 * 20160},
		{"C2^7, even on eight pairs", 16, []permutation{pairs(1), pairs(3), pairs(5), pairs(7), pairs(9), pairs(11), pairs(13)}, 128},
		{"C2^2 on three pairs", 16, []permutation{cycles([]int{1, 2}, []int{15, 16}), cycles([]int{1, 2}, []int{7, 9})}, 4},
	}
	half := uint64(1) // n!/2
	for n := 3; n <= MaxCells; n++ {
		half *= uint64(n)
		odd := 1 + (n+1)%2 // the first point of a cycle of odd length that ends at n
		reversal := images(func(x int) int {
			if x >= n {
				return x
			}
			return n - 1 - x
		})
		groups = append(groups,
			knownGroup{fmt.Sprintf("S%d", n), n, []permutation{cycles(run(1, n)), cycles(run(1, 2))}, 2 * half},
			knownGroup{fmt.Sprintf("A%d", n), n, []permutation{cycles(run(odd, n)), cycles(run(1, 3))}, half},
			knownGroup{fmt.Sprintf("C%d", n), n, []permutation{cycles(run(1, n))}, uint64(n)},
			knownGroup{fmt.Sprintf("D%d", n), n, []permutation{cycles(run(1, n)), reversal}, uint64(2 * n)})
	}
	return groups
}

// shuffled renames points at random.
func shuffled(rng *rand.Rand, n int, generators []permutation) []permutation {
	labels := State(identity).AppendLabels(nil, MaxCells)
	rng.Shuffle(n, func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
	to := permutation(Pack(labels))
	renamed := make([]permutation, len(generators))
	for i, p := range generators {
		renamed[i] = to.after(p, MaxCells).after(to.inverse(MaxCells), MaxCells)
	}
	return renamed
}

// Orders do not depend on the names of points, and products of generators are
// in the group.
func TestKnownOrders(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, k := range knownGroups() {
		for range 20 {
			generators := shuffled(rng, k.n, k.generators)
			g := newGroup(k.n, generators)
			if g.order != k.order {
				t.Fatalf("%s, by %x: order %d, want %d", k.name, generators, g.order, k.order)
			}
			p := identity
			for range 50 {
				if !g.contains(p) {
					t.Fatalf("%s, by %x: %x is not in it", k.name, generators, p)
				}
				if len(generators) > 0 {
					p = generators[rng.IntN(len(generators))].after(p, MaxCells)
				}
			}
		}
	}
}

// What small groups hold is counted: a permutation of all cells is in the group or
// not, and those that are in it are as many as its order.
func TestMembersAreAsManyAsTheOrder(t *testing.T) {
	for _, k := range knownGroups() {
		if k.n > 7 {
			continue
		}
		g := newGroup(k.n, k.generators)
		members := uint64(0)
		eachArrangement(run(0, k.n-1), func(board []uint8) {
			if p, ok := g.match(State(identity), Pack(board)); ok && g.contains(p) {
				members++
			}
		})
		if members != k.order {
			t.Errorf("%s: %d members, want %d", k.name, members, k.order)
		}
	}
}

// A primitive group that holds an exchange of two points holds every permutation
// (Jordan); these are primitive and smaller.
func TestPrimitiveGroupsHoldNoExchange(t *testing.T) {
	for _, k := range knownGroups() {
		switch k.name {
		case "M11", "M12", "PGL(2,11)", "PGL(2,13)", "AGL(4,2)":
		default:
			continue
		}
		g := newGroup(k.n, k.generators)
		for i := 1; i <= k.n; i++ {
			for j := 1; j < i; j++ {
				if g.contains(cycles([]int{j, i})) {
					t.Errorf("%s holds the exchange of %d and %d", k.name, j, i)
				}
			}
		}
	}
}

func BenchmarkNewGroup(b *testing.B) {
	for _, k := range knownGroups() {
		switch k.name {
		case "M12", "C2 wr S8", "S4 wr S4", "AGL(4,2)", "S16", "A16", "S8 x S8, signs alike":
			b.Run(k.name, func(b *testing.B) {
				for b.Loop() {
					newGroup(k.n, k.generators)
				}
			})
		}
	}
}
