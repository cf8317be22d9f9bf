package solver

import (
	"math/bits"

	"antipode/internal/puzzle"
)

// maxTableCells is the largest board that gets a table: 12! = 479,001,600 states.
const maxTableCells = 12

// order numbers the states whose labels are all different, so that a move takes
// whole words of them to whole words. The labels are taken in pairs: a pattern
// says which two cells each pair holds, and a lane which way round each lies.
//
//	cell     0 1 2 3 4 5
//	labels   2 1 4 3 0 5      the pairs are 0 1, 2 3 and 4 5
//	pattern  b a c b a c      pair a holds cells 1 and 4, b holds 0 and 3, c holds 2 and 5
//	lane     0 0 1            bit k: pair k has its larger label on the lower cell; here a
//
// With a blank, the blank is alone, and the pairs are of the pieces from the first.
// Where one label is left over it is alone too.
//
// A pattern's number has a digit for each group of labels, the first the highest:
// the place of its cells among those that the groups before left free, pairs in
// the order 01 02 12 03 13 23 …
//
// Where every move changes a sign that a state can be told by, only half of the
// states can be reached, and the sign tells which way round the last pair lies. Then
// lanes are half as many.
type order struct {
	cells    int
	groups   []group
	patterns int
	lanes    int
	shift    puzzle.State // is added to a state: with a blank, labels from 1
	lowest   puzzle.State // the lowest bit of each cell's label
	signed   bool         // lanes are halved by the sign
	colour   uint16       // a blank's cells that count as a change of sign, as bits
	negative bool         // the sign of the goal
}

// group is one or two labels.
type group struct {
	labels puzzle.State // half of each label, on every cell
	weight int          // of its digit
	single bool
}

// size is the number of the group's labels, and of its cells.
func (g *group) size() int {
	if g.single {
		return 1
	}
	return 2
}

const everyCell puzzle.State = 0x1111111111111111

// numbering returns the order of all states of so many cells.
func numbering(cells int, blank bool) *order {
	o := &order{cells: cells, patterns: 1, lanes: 1, lowest: everyCell & (1<<(4*cells) - 1)}
	if cells == puzzle.MaxCells {
		o.lowest = everyCell
	}
	first, end := 0, cells
	if blank {
		o.shift = o.lowest
		first, end = 1, cells+1
	}
	for label := first &^ 1; label < end; label += 2 {
		g := group{labels: puzzle.State(label/2) * everyCell, single: label < first || label+1 == end}
		o.groups = append(o.groups, g)
		if !g.single {
			o.lanes *= 2
		}
	}
	left := 0 // cells of the groups that follow
	for k := len(o.groups) - 1; k >= 0; k-- {
		g := &o.groups[k]
		g.weight = o.patterns
		if left += g.size(); g.single {
			o.patterns *= left
		} else {
			o.patterns *= left * (left - 1) / 2
		}
	}
	return o
}

// halve halves the lanes where the sign of a state tells whether it can reach the
// goal.
func (o *order) halve(space *puzzle.Space, goal puzzle.State) {
	if colour, ok := signs(space); ok && o.lanes > 1 {
		o.signed, o.colour = true, colour
		o.lanes /= 2
		o.negative = o.sign(goal)
	}
}

// find returns the number of a state's pattern, and its lane. Where lanes are halved
// the state must be of the goal's sign.
func (o *order) find(s puzzle.State) (pattern, lane int) {
	s += o.shift
	free := o.lowest // the lowest bit of each cell that is left
	pair := 0
	for k := range o.groups {
		g := &o.groups[k]
		other := s>>1&(7*everyCell) ^ g.labels
		held := ^(other | other>>1 | other>>2) & o.lowest
		low := held & -held
		if g.single {
			pattern += g.weight * bits.OnesCount64(uint64(free&(low-1)))
		} else {
			high := held ^ low
			i, j := bits.OnesCount64(uint64(free&(low-1))), bits.OnesCount64(uint64(free&(high-1)))
			pattern += g.weight * (j*(j-1)/2 + i)
			if s&low != 0 {
				lane |= 1 << pair
			}
			pair++
		}
		free &^= held
	}
	return pattern, lane & (o.lanes - 1)
}

// state returns the state of a pattern and a lane.
func (o *order) state(pattern, lane int) puzzle.State {
	b := o.boards(pattern)
	return b.at(lane)
}

// boards are the states of a pattern.
type boards struct {
	first puzzle.State                      // of lane 0
	turns [puzzle.MaxCells / 2]puzzle.State // what each bit of a lane changes in it
	shift puzzle.State
}

func (b *boards) at(lane int) puzzle.State {
	s := b.first
	for ; lane != 0; lane &= lane - 1 {
		s ^= b.turns[bits.TrailingZeros(uint(lane))]
	}
	return s - b.shift
}

func (o *order) boards(pattern int) (b boards) {
	b.shift = o.shift
	free := uint32(1)<<o.cells - 1
	pairs := 0
	for k := range o.groups {
		g := &o.groups[k]
		digit := pattern / g.weight
		pattern %= g.weight
		label := 2 * (g.labels & 15)
		if g.single {
			if k == 0 && o.shift != 0 {
				label++ // the blank
			}
			cell := nth(free, digit)
			b.first |= label << (4 * cell)
			free &^= 1 << cell
			continue
		}
		j := 1
		for j*(j+1)/2 <= digit {
			j++
		}
		low, high := nth(free, digit-j*(j-1)/2), nth(free, j)
		b.first |= label<<(4*low) | (label+1)<<(4*high)
		b.turns[pairs] = 1<<(4*low) | 1<<(4*high) // the labels of a pair differ by the lowest bit
		free &^= 1<<low | 1<<high
		pairs++
	}
	if o.signed { // the last pair makes up for every other that is turned
		last := b.turns[pairs-1]
		for pair := range pairs - 1 {
			b.turns[pair] ^= last
		}
		if o.sign(b.first-o.shift) != o.negative {
			b.first ^= last
		}
	}
	return b
}

// nth returns the number of a set's n-th element, from 0.
func nth(set uint32, n int) int {
	for range n {
		set &= set - 1
	}
	return bits.TrailingZeros32(set)
}

// has tells whether a state is of the goal's sign, where that matters.
func (o *order) has(s puzzle.State) bool { return !o.signed || o.sign(s) == o.negative }

// sign tells whether a state is odd as a permutation, or not where its blank's cell
// counts as a change.
func (o *order) sign(s puzzle.State) bool {
	n := 0
	if o.shift != 0 {
		n = int(o.colour >> s.Blank() & 1)
	}
	seen := uint32(0)
	for range o.cells {
		l := s & 15
		s >>= 4
		n += bits.OnesCount32(seen >> l)
		seen |= 1 << l
	}
	return n&1 == 1
}

// signs tells whether no move of a space changes the sign of a state: permutations
// all even, or a blank on a graph of two colours.
func signs(space *puzzle.Space) (colour uint16, ok bool) {
	var edges []puzzle.Edge
	plain := &order{cells: space.Cells()}
	if !space.HasBlank() {
		s := identity(plain.cells, -1)
		for _, e := range space.AppendNext(nil, s) {
			if plain.sign(e.State) {
				return 0, false
			}
		}
		return 0, true
	}
	var near [puzzle.MaxCells]uint16
	for cell := range plain.cells {
		for _, e := range space.AppendNext(edges[:0], identity(plain.cells, cell)) {
			near[cell] |= 1 << e.State.Blank()
		}
	}
	seen := uint16(0)
	for cell := range plain.cells {
		// Cells in layers around this one take turns in colour.
		for layer, turn := uint16(1)<<cell&^seen, false; layer != 0; turn = !turn {
			next := uint16(0)
			seen |= layer
			if turn {
				colour |= layer
			}
			for ; layer != 0; layer &= layer - 1 {
				next |= near[bits.TrailingZeros16(layer)]
			}
			layer = next &^ seen
		}
	}
	for cell := range plain.cells {
		mine := colour
		if colour>>cell&1 == 0 {
			mine = ^colour
		}
		if near[cell]&mine != 0 {
			return 0, false
		}
	}
	return colour, true
}
