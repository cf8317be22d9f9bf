package solver

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"

	"antipode/internal/puzzle"
)

// patterns bounds from below how many moves a state of a space with a blank is
// from one goal: additive pattern databases (Felner, Korf and Hanan, "Additive
// Pattern Database Heuristics", 2004).
//
// The pieces are divided into groups. For each placement of a group's pieces
// there is the least number of moves of these pieces that bring them home,
// whatever the others do and wherever the blank stands. A move moves one piece,
// so that the sum over the groups is at most the distance. It is 0 at the goal
// only. Where a group's pieces shut the blank in, a move may change the sum by
// more than one.
//
// Patterns are read only once made, and serve many searches.
type patterns struct {
	cells int
	goal  puzzle.State
	ways  [puzzle.MaxCells][]way  // of the blank out of each cell, in order of moves
	near  [puzzle.MaxCells]uint16 // the cells that share an edge with each, as bits
	// moves holds the groups' tables one after the other. A placement's index in
	// its group's table has the pieces' cells as its digits, those of a number to
	// the base of all cells, the first piece's the lowest.
	moves  []uint8
	groups [][]uint8               // the pieces of each
	base   []uint32                // where each group's table starts in moves
	group  [puzzle.MaxCells]uint8  // of each piece
	weight [puzzle.MaxCells]uint32 // of each piece's digit
}

// way is one way of the blank out of a cell.
type way struct{ move, to uint8 }

// groupPieces is the largest number of pieces of a group. On 16 cells a table of
// five has a million entries, one of six sixteen times as many.
const groupPieces = 5

// maxMoves is the largest number of moves that a table tells from unreached; it
// stands for more too.
const maxMoves = unreached - 1

// newPatterns makes the patterns of a space with a blank and of a goal with
// distinct labels. The error is the context's, or that the space has no blank.
func newPatterns(ctx context.Context, space *puzzle.Space, goal puzzle.State) (*patterns, error) {
	if !space.HasBlank() {
		return nil, fmt.Errorf("patterns of a space of permutations; it must have a blank")
	}
	p := &patterns{cells: space.Cells(), goal: goal}
	var edges []puzzle.Edge
	for cell := range p.cells {
		edges = space.AppendNext(edges[:0], identity(p.cells, cell))
		for _, e := range edges {
			to := e.State.Blank()
			p.ways[cell] = append(p.ways[cell], way{e.Move, uint8(to)})
			p.near[cell] |= 1 << to
		}
	}
	p.divide()
	size := uint32(0)
	for g := range p.groups {
		p.base = append(p.base, size)
		size += p.size(g)
	}
	p.moves = make([]uint8, size)
	for g := range p.groups {
		if err := p.fill(ctx, g); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// size is the number of entries of a group's table.
func (p *patterns) size(g int) uint32 {
	size := uint32(1)
	for range p.groups[g] {
		size *= uint32(p.cells)
	}
	return size
}

// patternBytes is the memory that the tables for so many cells will take, and their
// number of entries.
func patternBytes(cells int) (n int64) {
	for pieces := cells - 1; pieces > 0; pieces -= groupPieces {
		size := int64(1)
		for range min(pieces, groupPieces) {
			size *= int64(cells)
		}
		n += size
	}
	return n
}

// bytes is the memory of the tables.
func (p *patterns) bytes() int64 { return int64(len(p.moves)) }

// at sets the index of each group's placement in a state, and returns the least
// number of moves to the goal; ok is false where there is no way.
func (p *patterns) at(s puzzle.State, index *[puzzle.MaxCells]uint32) (least int, ok bool) {
	copy(index[:], p.base)
	for cell := range p.cells {
		if piece := s.At(cell); piece != 0 {
			index[p.group[piece]] += uint32(cell) * p.weight[piece]
		}
	}
	ok = true
	for g := range p.groups {
		m := p.moves[index[g]]
		least += int(m)
		ok = ok && m != unreached
	}
	return least, ok
}

// divide divides the pieces into groups whose homes lie near each other: it
// starts each with the piece farthest from the blank, and adds the nearest to
// those it has.
func (p *patterns) divide() {
	var apart [puzzle.MaxCells][puzzle.MaxCells]int
	var homes []int // of the pieces in no group yet
	blank := p.goal.Blank()
	for cell := range p.cells {
		apart[cell] = p.distances(cell)
		if cell != blank {
			homes = append(homes, cell)
		}
	}
	for len(homes) > 0 {
		var pieces []uint8
		weight := uint32(1)
		var sum [puzzle.MaxCells]int // the distances of each cell to the homes of the group's pieces
		for cell := range p.cells {
			sum[cell] = -apart[blank][cell]
		}
		for len(pieces) < groupPieces && len(homes) > 0 {
			home := slices.MinFunc(homes, func(a, b int) int { return cmp.Compare(sum[a], sum[b]) })
			homes = slices.DeleteFunc(homes, func(h int) bool { return h == home })
			if len(pieces) == 0 {
				clear(sum[:])
			}
			for cell := range p.cells {
				sum[cell] += apart[home][cell]
			}
			piece := p.goal.At(home)
			p.group[piece] = uint8(len(p.groups))
			p.weight[piece] = weight
			weight *= uint32(p.cells)
			pieces = append(pieces, piece)
		}
		p.groups = append(p.groups, pieces)
	}
}

// distances returns how far each cell is from one, and the number of cells for
// those that no way leads to.
func (p *patterns) distances(from int) (distance [puzzle.MaxCells]int) {
	for cell := range distance {
		distance[cell] = p.cells
	}
	seen := uint16(0)
	layer := uint16(1) << from
	for d := 0; layer != 0; d++ {
		seen |= layer
		next := uint16(0)
		for ; layer != 0; layer &= layer - 1 {
			cell := bits.TrailingZeros16(layer)
			distance[cell] = d
			next |= p.near[cell]
		}
		layer = next &^ seen
	}
	return distance
}

// pattern is a placement of a group's pieces, with the cells on which the blank
// can get without moving any of them.
type pattern struct {
	index uint32             // in the group's table
	cells [groupPieces]uint8 // of the pieces
	blank uint16             // cells, as bits
}

// fill fills a group's table by a search from the goal, layer by layer: the
// moves of other pieces cost nothing, so that a pattern's blank goes as far as
// the group's pieces let it.
func (p *patterns) fill(ctx context.Context, g int) error {
	pieces := p.groups[g]
	table := p.moves[p.base[g]:][:p.size(g)]
	for i := range table {
		table[i] = unreached
	}
	seen := make([]uint16, len(table)) // the blank's cells of the patterns found, by index
	var layer, next []pattern
	find := func(at pattern, blank, moves int) {
		occupied := uint16(0)
		for _, cell := range at.cells[:len(pieces)] {
			occupied |= 1 << cell
		}
		at.blank = p.region(blank, occupied)
		seen[at.index] |= at.blank
		table[at.index] = min(table[at.index], uint8(min(moves, maxMoves)))
		next = append(next, at)
	}
	var goal pattern
	for i, piece := range pieces {
		for goal.cells[i] = 0; p.goal.At(int(goal.cells[i])) != piece; {
			goal.cells[i]++
		}
		goal.index += uint32(goal.cells[i]) * p.weight[piece]
	}
	find(goal, p.goal.Blank(), 0)
	for moves := 1; len(next) > 0; moves++ {
		layer, next = next, layer[:0]
		for n, at := range layer {
			if n%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			for i, piece := range pieces {
				from := at.cells[i]
				for ways := at.blank & p.near[from]; ways != 0; ways &= ways - 1 {
					to := uint8(bits.TrailingZeros16(ways))
					index := at.index + (uint32(to)-uint32(from))*p.weight[piece]
					if seen[index]>>from&1 == 0 {
						moved := pattern{index: index, cells: at.cells}
						moved.cells[i] = to
						find(moved, int(from), moves)
					}
				}
			}
		}
	}
	return nil
}

// region returns the cells on which the blank can get from one over cells that
// are not occupied, as bits.
func (p *patterns) region(blank int, occupied uint16) uint16 {
	region := uint16(0)
	for edge := uint16(1) << blank; edge != 0; {
		cell := bits.TrailingZeros16(edge)
		region |= 1 << cell
		edge = (edge | p.near[cell]) &^ (region | occupied)
	}
	return region
}
