package solver

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"antipode/internal/puzzle"
)

// unreached marks the states of a table from which its goal is not reachable.
const unreached = 255

// measuredCells is the largest board whose table has distances too: each is then a
// single look-up.
const measuredCells = 10

// Table knows for every state of a space the first move of the first shortest way
// to one goal, and so the way. With values relabelled by the goal, one table serves
// every goal of a space without a blank, and one for each cell of the goal's blank
// every goal of a space with one.
type Table struct {
	*plan
	home   number
	layers []int // states at each distance

	// codes has for each pattern codeBits words, each with a bit for each lane, the
	// lowest byte first. A state's code, the bit of the first word being the lowest,
	// is its first way + 1; 0 for the goal, and where there is no way.
	codes  []byte
	mapped bool // codes are a file's, and end with the Table
	// distance to the goal in moves, at a state's rank; unreached where there is no
	// way. Only up to measuredCells.
	distance []uint8
}

// errTooDeep says that a space is deeper than a table's bytes can count.
var errTooDeep = errors.New("states at a distance of more than 254 moves")

// NewTable makes the table of a space and of a goal with distinct labels. It keeps
// all processors busy, and for a moment needs about twice the table's memory.
func NewTable(ctx context.Context, space *puzzle.Space, goal puzzle.State) (*Table, error) {
	return BuildTable(ctx, space, goal, new(atomic.Int64))
}

// BuildTable is NewTable; progress counts the table's states.
func BuildTable(ctx context.Context, space *puzzle.Space, goal puzzle.State, progress *atomic.Int64) (*Table, error) {
	if n := space.Cells(); n > maxTableCells {
		return nil, fmt.Errorf("a table of %d cells; %d are possible", n, maxTableCells)
	}
	return build(ctx, newPlan(space, goal), progress)
}

// checkStates is how many states check looks at, spread over the table.
const checkStates = 2048

// check tells whether the table is what it says: all states that can be reached are
// in it, no state but the goal is at distance 0, and a state's distance is one more
// than that of its nearest neighbour, to which its first way leads.
func (t *Table) check() error {
	sum := uint64(0)
	for _, n := range t.layers {
		sum += uint64(n)
	}
	if want, exact := puzzle.NewReach(t.space).States(t.goal); exact && want != sum {
		return fmt.Errorf("table check: %d states, of which %d can be reached", sum, want)
	}
	size := t.patterns * t.lanes
	samples := min(size, checkStates)
	wrong := make([]error, samples)
	_ = inRuns(context.Background(), samples, func() func(int) { // a matter of milliseconds
		return func(n int) {
			i := int(int64(n) * int64(size) / int64(samples))
			wrong[n] = t.checkState(t.state(i/t.lanes, i%t.lanes))
		}
	})
	for _, err := range wrong {
		if err != nil {
			return err
		}
	}
	return t.checkState(t.goal)
}

func (t *Table) checkState(s puzzle.State) (err error) {
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case damage:
			err = fault
		default:
			panic(fault)
		}
	}()
	states := []puzzle.State{s}
	for _, e := range t.space.AppendNext(nil, s) {
		states = append(states, e.State)
	}
	distances := t.distances(states)
	d, known := distances[0], distances[0] >= 0
	nearest, least := -1, 0
	for way, near := range distances[1:] {
		if near >= 0 && (nearest < 0 || near < nearest) {
			nearest, least = near, way
		}
	}
	switch way := t.way(t.number(s)); {
	case s == t.goal && known && d == 0 && way < 0:
	case !known && nearest < 0 && way < 0:
	case s == t.goal || !known || d != nearest+1 || way != least:
		return fmt.Errorf("table check: state %x at distance %d, first way %d; its nearest neighbour is at %d by way %d", uint64(s), d, way, nearest, least)
	}
	return nil
}

// way returns the first way of a state, -1 where it has none and at the goal.
func (t *Table) way(n number) int {
	size := t.wordBytes
	at := t.codes[(n.block*t.places+n.place)*t.codeBits*size+n.lane>>3:]
	if size == 1 && len(at) >= 8 { // all words in one read, their bits brought together by a product
		bits := binary.LittleEndian.Uint64(at) >> n.lane & 0x0101010101010101
		runtime.KeepAlive(t)
		return int(bits*0x0102040810204080>>56)&(1<<t.codeBits-1) - 1
	}
	code := 0
	for j := range t.codeBits {
		code |= int(at[j*size]>>(n.lane&7)&1) << j
	}
	runtime.KeepAlive(t) // and with it codes
	return code - 1
}

// enter returns the number of a state; ok is false where there is no way from it to
// the goal.
func (t *Table) enter(s puzzle.State) (n number, ok bool) {
	if !t.has(s) {
		return number{}, false
	}
	n = t.number(s)
	return n, n == t.home || t.way(n) >= 0
}

// damage is what panics where a table contradicts itself. Only one from a file can:
// it was made by other means than this package's, since its checksum is right.
type damage string

func (d damage) Error() string { return string(d) }

// step takes the first move of the first shortest way from a state that is not the
// goal and reaches it. It panics with damage where the state has no such way.
func (t *Table) step(n number) (number, uint8) {
	if way := t.way(n); uint(way) < uint(t.ways) {
		if next, m := t.next(n, way); next.block < t.blocks {
			return next, m
		}
	}
	panic(damage("table: a way that its state does not have"))
}

// long panics with damage where a way of so many moves is longer than any.
func (t *Table) long(moves int) {
	if moves >= len(t.layers) {
		panic(damage("table: a way that is longer than the longest"))
	}
}

// Distance returns the distance of a state to the goal; ok is false where there
// is no way.
func (t *Table) Distance(s puzzle.State) (d int, ok bool) {
	if t.distance != nil {
		d = int(t.distance[rank(s, t.cells)])
		return d, d != unreached
	}
	n, ok := t.enter(s)
	for ; ok && n != t.home; d++ {
		t.long(d + 1)
		n, _ = t.step(n)
	}
	return d, ok
}

// distances returns the distances of several states, -1 where there is no way. Their
// walks wait for memory together.
func (t *Table) distances(states []puzzle.State) []int {
	distances := make([]int, len(states))
	at := make([]number, len(states))
	walking := make([]int, 0, len(states))
	for i, s := range states {
		var ok bool
		if t.distance != nil {
			distances[i], ok = t.Distance(s)
		} else if at[i], ok = t.enter(s); ok {
			walking = append(walking, i)
		}
		if !ok {
			distances[i] = -1
		}
	}
	for len(walking) > 0 {
		going := walking[:0]
		for _, i := range walking {
			if at[i] != t.home {
				distances[i]++
				t.long(distances[i])
				at[i], _ = t.step(at[i])
				going = append(going, i)
			}
		}
		walking = going
	}
	return distances
}

// AppendMoves appends the first shortest way from s to the goal; ok is false where
// there is none.
func (t *Table) AppendMoves(dst []uint8, s puzzle.State) (moves []uint8, ok bool) {
	n, ok := t.enter(s)
	for d := 1; ok && n != t.home; d++ {
		t.long(d)
		var m uint8
		n, m = t.step(n)
		dst = append(dst, m)
	}
	return dst, ok
}

// Layers returns the number of states at each distance. Read only.
func (t *Table) Layers() []int { return t.layers }
