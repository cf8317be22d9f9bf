package worker

import (
	"math"
	"runtime/debug"
)

// What a process has on its heap besides tables and cached answers, in bytes, and
// what it may let garbage grow to.
const (
	heapBase = 128 << 20
	heapSlot = 16 << 20 // a chunk with its records and its result
)

// BoundHeap lets the garbage collector work harder before the heap is much larger
// than what is kept on it, so many bytes of tables and answers, and what slots need;
// else garbage may take as much as all that again. The sets of searches are no part
// of the heap. GOMEMLIMIT, where it is set, stands.
func BoundHeap(kept int64, slots int) {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(kept + heapBase + int64(slots)*heapSlot)
	}
}
