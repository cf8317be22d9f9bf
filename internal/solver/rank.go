package solver

import (
	"math/bits"

	"antipode/internal/puzzle"
)

// maxTableCells is the largest board that gets a table: 10! = 3,628,800 states.
const maxTableCells = 10

// factorial returns n!.
func factorial(n int) int {
	f := 1
	for i := 2; i <= n; i++ {
		f *= i
	}
	return f
}

// rank numbers the n! states whose labels are 0..n-1 once each, in
// lexicographic order of their labels: it counts for each cell the smaller
// labels that are not yet placed, as the digits of the factorial number system.
func rank(s puzzle.State, n int) int {
	r := 0
	var used uint32
	for i := n; i > 0; i-- {
		l := uint32(s) & 15
		s >>= 4
		below := used & (1<<l - 1)
		r = r*i + int(l) - bits.OnesCount32(below)
		used |= 1 << l
	}
	return r
}

// unrank returns the state of a rank.
func unrank(r, n int) puzzle.State {
	var digits [puzzle.MaxCells]int
	for i := 1; i <= n; i++ {
		digits[n-i] = r % i
		r /= i
	}
	var s puzzle.State
	free := uint32(1)<<n - 1
	for i, d := range digits[:n] {
		left := free
		for range d {
			left &= left - 1
		}
		l := bits.TrailingZeros32(left)
		free &^= 1 << l
		s |= puzzle.State(l) << (4 * i)
	}
	return s
}
