package solver

import (
	"math/bits"

	"antipode/internal/puzzle"
)

// factorials are the weights of a rank's digits, from the last cell's.
var factorials = [maxTableCells + 1]int{1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880, 3628800, 39916800, 479001600}

// rank numbers the n! states whose labels are 0..n-1 once each, in lexicographic
// order of their labels: it counts for each cell the smaller labels that are not yet
// placed, as the digits of the factorial number system. For a single look-up it
// takes half as long as an order's number.
func rank(s puzzle.State, n int) (r int) {
	var used uint32
	for i := n - 1; i > 0; i-- { // the last digit is 0
		l := uint32(s) & 15
		s >>= 4
		r += (int(l) - bits.OnesCount32(used&(1<<l-1))) * factorials[i]
		used |= 1 << l
	}
	return r
}
