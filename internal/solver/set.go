package solver

import (
	"context"
	"math/bits"
	"slices"

	"antipode/internal/puzzle"
)

// set holds the states that one side of a search has found, in order of
// discovery, with an index over them: open addressing, linear probing, at most
// half full.
//
//	states   s0 s1 s2 s3 …      layer 0 | layer 1    | layer 2 …
//	from      0  0  0  1 …      from which state each was found
//	index    …  2 . 4 1 . …     a state's number plus 1, at its hash or after
type set struct {
	states []puzzle.State
	from   []uint32
	index  []uint32 // its memory is kept beyond its length
	pages  *pages   // of all three
	shift  uint     // 64 - log2(len(index))
	layers []int    // number of the first state of each layer
	sieve  sieve    // of the last layer
}

// sieve tells quickly of most states that they are not among some: a bit for each
// hash, an eighth of them set. It is small enough to stay in the cache, where the
// index of a large set is not.
type sieve struct {
	bits  []uint64
	shift uint // 64 - log2 of the number of bits
}

// maxSieve is the size of the largest sieve, in bits: 1 MiB. Beyond a million states
// it lets more through.
const maxSieve = 1 << 23

// fill makes it the sieve of some states. The error is ctx's; then it is of no use.
func (v *sieve) fill(ctx context.Context, states []puzzle.State) error {
	log := uint(min(max(9, bits.Len(uint(len(states)))+3), bits.Len(maxSieve-1)))
	words := 1 << (log - 6)
	if cap(v.bits) < words {
		v.bits = make([]uint64, words)
	}
	v.bits = v.bits[:words]
	clear(v.bits)
	v.shift = 64 - log
	for part := range slices.Chunk(states, indexEvery) {
		for _, s := range part {
			h := hash(s) >> v.shift
			v.bits[h>>6] |= 1 << (h & 63)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// holds tells whether a state may be among those of the sieve.
func (v *sieve) holds(s puzzle.State) bool {
	h := hash(s) >> v.shift
	return v.bits[h>>6]>>(h&63)&1 == 1
}

func hash(s puzzle.State) uint64 { return uint64(s) * 0x9e3779b97f4a7c15 } // Fibonacci hashing

const (
	firstStates = 1 << 10
	// stateBytes is the memory of a state, in bytes: itself, from, and two
	// places of the index.
	stateBytes = 8 + 4 + 2*4
	// maxStates is a power of two that numbers of 32 bits allow.
	maxStates = 1 << 30
	// indexEvery is how many states are indexed between two looks at a context: some
	// milliseconds, where each waits for memory.
	indexEvery = 1 << 16
)

// reset empties the set but for its root. It keeps its memory, and starts with
// an index as large as the last search could use, so that the time to clear it
// is in proportion to the work. The error is errNoPages.
func (t *set) reset(root puzzle.State) error {
	n := max(t.room(), firstStates)
	for n > firstStates && len(t.states) < n/8 {
		n /= 2
	}
	t.states, t.from, t.layers = t.states[:0], t.from[:0], append(t.layers[:0], 0)
	ctx := context.Background() // of one state
	if err := t.resize(ctx, n); err != nil {
		return err
	}
	t.add(root, 0)
	return t.sieve.fill(ctx, t.states)
}

// release gives the set's memory back.
func (t *set) release() {
	t.pages.free()
	*t = set{}
}

// bytes is the memory that the set holds.
func (t *set) bytes() int64 { return int64(cap(t.states)) * stateBytes }

// room is how many states the set can hold without resize.
func (t *set) room() int { return len(t.index) / 2 }

// full tells whether the next state needs a resize.
func (t *set) full() bool { return len(t.states) == t.room() }

// resize makes room for n states, a power of two, and indexes those there are. The
// error is errNoPages, which changes nothing, or ctx's; then the set must be reset
// before it is used again.
func (t *set) resize(ctx context.Context, n int) error {
	if n <= cap(t.states) {
		t.index = t.index[:2*n]
		clear(t.index)
	} else if err := t.move(n); err != nil {
		return err
	}
	t.shift = uint(64 - bits.Len(uint(2*n-1)))
	for i, s := range t.states {
		if i%indexEvery == indexEvery-1 && ctx.Err() != nil {
			return ctx.Err()
		}
		t.index[t.place(s)] = uint32(i) + 1
	}
	return nil
}

// move moves the states to memory for n of them, with an empty index.
func (t *set) move(n int) error {
	pages, err := newPages(n * stateBytes)
	if err != nil {
		return err
	}
	states, rest := carve[puzzle.State](pages.bytes, n)
	from, rest := carve[uint32](rest, n)
	t.index, _ = carve[uint32](rest, 2*n)
	t.states = states[:copy(states, t.states)]
	t.from = from[:copy(from, t.from)]
	t.pages.free()
	t.pages = pages
	return nil
}

// place returns where a state stands in the index, or would.
func (t *set) place(s puzzle.State) uint64 {
	mask := uint64(len(t.index) - 1)
	i := hash(s) >> t.shift
	for {
		if n := t.index[i]; n == 0 || t.states[n-1] == s {
			return i
		}
		i = (i + 1) & mask
	}
}

// add adds a state unless it is there, and reports whether it was not. The set
// must not be full.
func (t *set) add(s puzzle.State, from uint32) bool {
	i := t.place(s)
	if t.index[i] != 0 {
		return false
	}
	t.states, t.from = append(t.states, s), append(t.from, from)
	t.index[i] = uint32(len(t.states))
	return true
}

// find returns the number of a state.
func (t *set) find(s puzzle.State) (n int, ok bool) {
	n = int(t.index[t.place(s)]) - 1
	return n, n >= 0
}

// lastLayer returns the numbers of the states of the last layer.
func (t *set) lastLayer() (start, end int) { return t.layers[len(t.layers)-1], len(t.states) }

// lastSize is the number of states of the last layer.
func (t *set) lastSize() int { return len(t.states) - t.layers[len(t.layers)-1] }

// depth is the number of the last layer.
func (t *set) depth() int { return len(t.layers) - 1 }

// layerOf returns the layer of a state by its number.
func (t *set) layerOf(n int) int {
	l := len(t.layers) - 1
	for t.layers[l] > n {
		l--
	}
	return l
}
