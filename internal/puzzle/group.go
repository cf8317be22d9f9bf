package puzzle

import (
	"math/bits"
	"slices"
)

// permutation of cells, packed as a State is: the image of cell i stands in bits
// 4i..4i+3.
type permutation uint64

const identity permutation = 0xfedcba9876543210

func (p permutation) at(cell int) int { return int(p>>(4*cell)) & 15 }

// after returns the images of the first n cells under q, then p.
func (p permutation) after(q permutation, n int) permutation {
	var r permutation
	for i := 0; i < 4*n; i += 4 {
		r |= p >> (q >> i & 15 * 4) & 15 << i
	}
	return r
}

// inverse returns the images of the first n cells, which p keeps together, under
// the inverse of p.
func (p permutation) inverse(n int) permutation {
	var r permutation
	for i := range n {
		r |= permutation(i) << (p >> (4 * i) & 15 * 4)
	}
	return r
}

// group is a group of permutations of cells. It does not change once made.
//
// It lies in its hull: the permutations that keep each of its orbits, and are
// even on each union of orbits on which all its generators are. Most groups of
// puzzles are their hull, so that membership is a matter of orbits and parities;
// a chain of stabilizers decides in the others.
type group struct {
	cells int
	order uint64
	orbit [MaxCells]cellSet // of each cell
	sign  [MaxCells]uint8   // the bit of each cell's orbit, 0 where that is the cell alone
	even  []uint8           // the unions of orbits, as signs, on which all permutations are even; 0 is one
	chain *chain            // nil where the group is its hull
}

// cellSet is a set of cells: bit 4i for cell i.
type cellSet uint64

func (c cellSet) size() int { return bits.OnesCount64(uint64(c)) }

func (c cellSet) first() int { return bits.TrailingZeros64(uint64(c)) / 4 }

// holding returns the cells on which a label stands. Cells above the last seem to
// hold label 0.
func (s State) holding(label uint8) cellSet {
	x := s ^ State(label)*ones
	x |= x >> 1
	x |= x >> 2
	return cellSet(^x & ones)
}

// newGroup returns the group that permutations of n cells generate.
func newGroup(n int, generators []permutation) group {
	g := group{cells: n}
	g.findOrbits(generators)
	g.findEven(generators)
	hull := g.arrangements() / uint64(len(g.even))
	b := newBuilder(n, hull)
	for _, p := range generators {
		if b.order == hull {
			break
		}
		if !b.contains(n-1, p) {
			b.add(n-1, p)
		}
	}
	if g.order = b.order; g.order < hull {
		c := b.chain
		g.chain = &c
	}
	return g
}

func (g *group) findOrbits(generators []permutation) {
	for i := range g.cells {
		g.orbit[i] = 1 << (4 * i)
	}
	for _, p := range generators {
		for i := range g.cells {
			if j := p.at(i); g.orbit[i]>>(4*j)&1 == 0 {
				both := g.orbit[i] | g.orbit[j]
				for c := both; c != 0; c &= c - 1 {
					g.orbit[c.first()] = both
				}
			}
		}
	}
	next := uint8(1) // at most 8 orbits have two cells or more
	for i := range g.cells {
		switch first := g.orbit[i].first(); {
		case first < i:
			g.sign[i] = g.sign[first]
		case g.orbit[i].size() > 1:
			g.sign[i] = next
			next <<= 1
		}
	}
}

// findEven tries all unions of orbits. Those that it finds are a vector space
// over the field of two elements, and to be even on each of a basis halves the
// permutations that keep the orbits: the hull is that part of them whose index is
// the number of unions.
func (g *group) findEven(generators []permutation) {
	signs, all := make([]uint8, len(generators)), uint8(0)
	for i, p := range generators {
		signs[i] = g.signs(p)
	}
	for _, s := range g.sign {
		all |= s
	}
	for union := 0; union <= int(all); union++ {
		if !slices.ContainsFunc(signs, func(s uint8) bool { return isOdd(s & uint8(union)) }) {
			g.even = append(g.even, uint8(union))
		}
	}
}

func isOdd(signs uint8) bool { return bits.OnesCount8(signs)&1 == 1 }

// signs returns the bits of the orbits on which p, which keeps them, is odd.
func (g *group) signs(p permutation) uint8 {
	var signs uint8
	var seen uint32
	for i := range g.cells {
		for j := p.at(i); seen>>i&1 == 0 && j != i; j = p.at(j) {
			seen |= 1 << j
			signs ^= g.sign[i]
		}
	}
	return signs
}

// arrangements returns the number of permutations that keep each orbit.
func (g *group) arrangements() uint64 {
	n := uint64(1)
	for i := range g.cells {
		if g.orbit[i].first() == i {
			n *= factorial(g.orbit[i].size())
		}
	}
	return n
}

func factorial(n int) uint64 {
	f := uint64(1)
	for ; n > 1; n-- {
		f *= uint64(n)
	}
	return f
}

// contains tells whether p, which keeps each orbit, is in the group.
func (g *group) contains(p permutation) bool {
	return g.hullContains(p, 0) && (g.chain == nil || g.chain.contains(g.cells-1, p))
}

// hullContains tells whether p, which keeps each orbit, is in the hull, or comes
// into it by an exchange within some of the free orbits.
func (g *group) hullContains(p permutation, free uint8) bool {
	if len(g.even) == 1 {
		return true
	}
	signs := g.signs(p)
	for _, union := range g.even {
		if union&free == 0 && isOdd(union&signs) {
			return false
		}
	}
	return true
}

// match returns a permutation that keeps each orbit and makes one state of
// another: cell i takes what stood on its image. There is none where the states
// hold other labels on some orbit, and one only where no label is twice on an
// orbit.
func (g *group) match(from, to State) (p permutation, ok bool) {
	rest := cellSet(ones)
	for i := range g.cells {
		fit := from.holding(to.At(i)) & g.orbit[i] & rest
		if fit == 0 {
			return 0, false
		}
		rest &^= fit & -fit
		p |= permutation(fit.first()) << (4 * i)
	}
	return p, true
}

// repeats returns the bits of the orbits on which a label stands twice, and the
// number of ways to exchange cells of an orbit that hold the same label.
func (g *group) repeats(s State) (signs uint8, ways uint64) {
	ways = 1
	for i := range g.cells {
		same := s.holding(s.At(i)) & g.orbit[i]
		if same.first() == i && same.size() > 1 {
			signs |= g.sign[i]
			ways *= factorial(same.size())
		}
	}
	return signs, ways
}

// images returns the number of states that the group makes of one; ok is false
// where it does not tell: where a label stands twice on an orbit and the group is
// not its hull.
//
// The permutations that keep the orbits make arrangements/ways states. The hull
// is a normal subgroup, so it divides these into equal parts; an exchange of
// like labels joins parts, and the unions of orbits that still tell them apart
// are those that it leaves alone.
func (g *group) images(s State) (n uint64, ok bool) {
	free, ways := g.repeats(s)
	if free == 0 {
		return g.order, true
	}
	if g.chain != nil {
		return 0, false
	}
	parts := uint64(0)
	for _, union := range g.even {
		if union&free == 0 {
			parts++
		}
	}
	return g.arrangements() / ways / parts, true
}

// chain is the chain of stabilizers of a group, by Sims, in the form of Knuth,
// "Efficient representation of perm groups", Combinatorica 11 (1991): level k
// is the subgroup that fixes all cells above k, of whose permutations only the
// images of the cells up to k are kept. back[k][j] is one in it that takes cell j
// to k, 0 where there is none.
type chain struct {
	back [MaxCells][MaxCells]permutation
}

// contains tells whether p is in level k.
func (c *chain) contains(k int, p permutation) bool {
	for ; k > 0; k-- {
		j := p.at(k)
		if j == k {
			continue
		}
		back := c.back[k][j]
		if back == 0 {
			return false
		}
		p = back.after(p, k)
	}
	return true
}

// builder makes a chain, by Knuth's algorithms A (add) and B (meet).
//
// It stops as soon as the order is that of the hull. However unfinished levels
// are by then, the products of one representative from each are different
// permutations in the group, and the group lies in the hull: if they are as many
// as the hull has, all three are the same.
type builder struct {
	chain
	order, hull uint64 // the product of the levels' sizes; its bound
	levels      [MaxCells]struct {
		generators []permutation
		reps       [MaxCells]permutation // inverses of back, as found; the first is the identity
		size       int                   // of reps
	}
}

func newBuilder(n int, hull uint64) *builder {
	b := &builder{order: 1, hull: hull}
	for k := range n {
		b.back[k][k] = identity
		b.levels[k].reps[0] = identity
		b.levels[k].size = 1
	}
	return b
}

// add makes level k hold p, which it does not, and all that follows from it.
func (b *builder) add(k int, p permutation) {
	l := &b.levels[k]
	l.generators = append(l.generators, p)
	for _, r := range l.reps[:l.size] { // those that follow meet p in meet
		b.meet(k, p.after(r, k+1))
	}
}

// meet makes level k hold p, a product of a generator and a representative.
func (b *builder) meet(k int, p permutation) {
	if b.order == b.hull {
		return
	}
	l := &b.levels[k]
	j := p.at(k)
	if back := b.back[k][j]; back != 0 {
		if p = back.after(p, k); !b.contains(k-1, p) {
			b.add(k-1, p)
		}
		return
	}
	b.back[k][j] = p.inverse(k + 1)
	l.reps[l.size] = p
	b.order = b.order / uint64(l.size) * uint64(l.size+1)
	l.size++
	for _, q := range l.generators {
		b.meet(k, q.after(p, k+1))
	}
}
