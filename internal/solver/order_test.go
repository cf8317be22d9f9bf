package solver

import (
	"math/rand/v2"
	"slices"
	"testing"

	"antipode/internal/puzzle"
)

// plainOrder numbers a state by the words of the comment on order: groups of labels,
// each with the place of its cells among those that are free.
func plainOrder(labels []uint8, blank bool) (pattern, lane int) {
	var groups [][]uint8
	for label := range uint8(len(labels)) {
		last := len(groups) - 1
		switch {
		case blank && label <= 1, last < 0, len(groups[last]) == 2:
			groups = append(groups, []uint8{label})
		default:
			groups[last] = append(groups[last], label)
		}
	}
	var free []int
	for cell := range labels {
		free = append(free, cell)
	}
	pairs := 0
	for _, g := range groups {
		var places [][]int // that the group could have, in order
		for j, high := range free {
			if len(g) == 1 {
				places = append(places, []int{high})
				continue
			}
			for _, low := range free[:j] {
				places = append(places, []int{low, high})
			}
		}
		var mine []int
		for _, label := range g {
			mine = append(mine, slices.Index(labels, label))
		}
		if len(g) == 2 {
			if mine[0] > mine[1] {
				lane |= 1 << pairs
			}
			pairs++
		}
		slices.Sort(mine)
		pattern = pattern*len(places) + slices.IndexFunc(places, func(p []int) bool { return slices.Equal(p, mine) })
		free = slices.DeleteFunc(free, func(cell int) bool { return slices.Contains(mine, cell) })
	}
	return pattern, lane
}

func TestOrderNumbersAllStates(t *testing.T) {
	// The picture on the type: pair a on 1 4, b on 0 3, c on 2 5.
	if p, l := numbering(6, false).find(puzzle.Pack([]uint8{2, 1, 4, 3, 0, 5})); l != 1 || p != (6+1)*6+1 {
		t.Errorf("pattern %d, lane %d", p, l) // 1 4 is the 8th pair of 6 cells; 0 3 the 2nd of 0 2 3 5
	}
	for _, blank := range []bool{false, true} {
		for n := 2; n <= 8; n++ {
			o := numbering(n, blank)
			seen := make([]bool, o.patterns*o.lanes)
			states := 0
			permutations(upTo(0, n-1), func(labels []uint8) {
				states++
				s := puzzle.Pack(labels)
				p, l := o.find(s)
				if wantP, wantL := plainOrder(labels, blank); p != wantP || l != wantL {
					t.Fatalf("%v, blank %v: pattern %d, lane %d; want %d, %d", labels, blank, p, l, wantP, wantL)
				}
				seen[p*o.lanes+l] = true
				if got := o.state(p, l); got != s {
					t.Fatalf("%v, blank %v: back %x", labels, blank, got)
				}
			})
			if states != len(seen) || slices.Contains(seen, false) {
				t.Errorf("%d labels, blank %v: %d states, %d numbers", n, blank, states, len(seen))
			}
		}
	}
}

func TestOrderOfManyCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, blank := range []bool{false, true} {
		for n := 9; n <= maxTableCells; n++ {
			o := numbering(n, blank)
			for range 300 {
				labels := shuffled(rng, upTo(0, n-1)...)
				s := puzzle.Pack(labels)
				p, l := o.find(s)
				if wantP, wantL := plainOrder(labels, blank); p != wantP || l != wantL || o.state(p, l) != s {
					t.Fatalf("%v, blank %v: pattern %d, lane %d, back %x; want %d, %d", labels, blank, p, l, o.state(p, l), wantP, wantL)
				}
			}
		}
	}
}

func FuzzOrder(f *testing.F) {
	f.Add(0, uint8(9), true)
	f.Add(362879, uint8(9), false)
	f.Add(181440, uint8(12), true)
	f.Add(5, uint8(3), false)
	f.Fuzz(func(t *testing.T, i int, cells uint8, blank bool) {
		n := 2 + int(cells)%(maxTableCells-1)
		o := numbering(n, blank)
		i = int(uint(i) % uint(o.patterns*o.lanes))
		s := o.state(i/o.lanes, i%o.lanes)
		labels := s.AppendLabels(nil, n)
		if !slices.Equal(slices.Sorted(slices.Values(labels)), upTo(0, n-1)) || puzzle.Pack(labels) != s {
			t.Fatalf("state %d of %d cells is %x", i, n, s)
		}
		if p, l := o.find(s); p*o.lanes+l != i {
			t.Fatalf("%x is %d, %d; want %d", s, p, l, i)
		}
	})
}

// isOdd counts inversions.
func isOdd(labels []uint8) bool {
	n := 0
	for i, a := range labels {
		for _, b := range labels[i+1:] {
			if a > b {
				n++
			}
		}
	}
	return n%2 == 1
}

// Where lanes are halved, a walk from the goal never leaves the numbered states, and
// a state and its number go together.
func TestHalvedOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, c := range []struct {
		subject subject
		halved  bool
	}{
		{slide(t, 4, 3), true}, {slide(t, 3, 3), true}, {rotegame(t), false}, {swap(t), false},
		{subject{defined(t, "triangle", "cells: 4\nblank: {edges: [[1, 2], [2, 3], [3, 1], [3, 4]]}", false), nil}, false},
		{subject{defined(t, "islands", "cells: 6\nblank: {edges: [[1, 2], [3, 4], [4, 5], [5, 6], [6, 3]]}", false), nil}, true},
		{subject{defined(t, "even", "cells: 7\nmoves: [{name: a, cycles: (1 2 3)}, {name: b, cycles: (1 2)(4 5)}, {name: c, cycles: (1 2 3 4 5 6 7)}]", false), nil}, true},
	} {
		space := c.subject.Space()
		blank := -1
		if space.HasBlank() {
			blank = space.Cells() - 1
		}
		goal := identity(space.Cells(), blank)
		o := numbering(space.Cells(), space.HasBlank())
		all := o.lanes
		o.halve(space, goal)
		if o.signed != c.halved || c.halved && o.lanes != all/2 {
			t.Errorf("%s: halved %v", c.subject.Name, o.signed)
		}
		s := goal
		for range 2000 {
			edges := space.AppendNext(nil, s)
			s = edges[rng.IntN(len(edges))].State
			p, l := o.find(s)
			if !o.has(s) || o.state(p, l) != s {
				t.Fatalf("%s: %x has number %d, %d, which is %x", c.subject.Name, s, p, l, o.state(p, l))
			}
		}
		if labels := s.AppendLabels(nil, space.Cells()); o.signed {
			i, j := 0, 1
			for labels[i] == 0 {
				i++
			}
			for j = i + 1; labels[j] == 0; j++ {
			}
			labels[i], labels[j] = labels[j], labels[i]
			if o.has(puzzle.Pack(labels)) {
				t.Errorf("%s: %v is of the goal's sign", c.subject.Name, labels)
			}
		}
	}
	plain := &order{cells: 9}
	for range 500 {
		if labels := shuffled(rng, upTo(0, 8)...); plain.sign(puzzle.Pack(labels)) != isOdd(labels) {
			t.Errorf("sign of %v", labels)
		}
	}
}

func testXorLanes[W word](t *testing.T, lanes int) {
	rng := rand.New(rand.NewPCG(4, 4))
	for x := range lanes {
		for range 20 {
			w, want := W(rng.Uint64()), W(0)
			for l := range lanes {
				want |= w >> l & 1 << (l ^ x)
			}
			if got := xorLanes(w, uint8(x)); got != want {
				t.Fatalf("%d lanes: %x by %d is %x, want %x", lanes, w, x, got, want)
			}
		}
	}
	words := []W{1, 2, 1 << (lanes - 1)}
	if b := littleEndian(words); b[0] != 1 || b[lanes/8] != 2 || b[len(b)-1] != 128 {
		t.Errorf("%d lanes: bytes %v", lanes, b)
	}
}

func TestXorLanes(t *testing.T) {
	testXorLanes[uint16](t, 16)
	testXorLanes[uint32](t, 32)
	testXorLanes[uint64](t, 64)
}
