package puzzle

import (
	"math/bits"

	"antipode/internal/limit"
)

// MaxCells is the largest number of cells that a State can hold.
const MaxCells = limit.Cells

// State is a board, packed: the label on cell i stands in bits 4i..4i+3.
//
//	cell     2    1    0
//	bits  …8-11  4-7  0-3
//
// On a board with a blank, the blank is label 0 and the pieces follow from 1;
// on any other board labels start at 0. Bits above the last cell are 0.
type State uint64

// Pack packs one label (0..15) for each of at most MaxCells cells.
func Pack(labels []uint8) State {
	var s State
	for i, l := range labels {
		s |= State(l) << (4 * i)
	}
	return s
}

// At returns the label on a cell.
func (s State) At(cell int) uint8 { return uint8(s>>(4*cell)) & 15 }

// AppendLabels appends the labels of the first n cells to dst.
func (s State) AppendLabels(dst []uint8, n int) []uint8 {
	for range n {
		dst = append(dst, uint8(s)&15)
		s >>= 4
	}
	return dst
}

const ones = 0x1111111111111111

// Blank returns the cell of the lowest label 0, which on a board with a blank
// is the blank's.
func (s State) Blank() int {
	x := uint64(s)
	x |= x >> 1
	x |= x >> 2
	return bits.TrailingZeros64(^x&ones) >> 2
}

// slide moves the blank, known to be on cell from, to cell to; the piece there
// takes its place.
func (s State) slide(from, to int) State {
	f, t := uint(4*from)&63, uint(4*to)&63 // the mask tells the compiler that they are below 64
	piece := s >> t & 15
	return s ^ piece<<t ^ piece<<f
}
