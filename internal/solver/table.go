package solver

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"antipode/internal/puzzle"
)

// unreached marks the states of a table from which its goal is not reachable.
const unreached = 255

// unpackedCells is the largest board whose table has bytes for each state: its
// distance is then a single look-up.
const unpackedCells = 10

// Table knows for every state of a space the first move of the first shortest way
// to one goal, and so the way. With values relabelled by the goal, one table serves
// every goal of a space without a blank, and one for each cell of the goal's blank
// every goal of a space with one.
//
// Up to 10 cells it has two bytes for each state, at pattern*lanes + lane of its
// order. Beyond that it has the codes of the first ways, a few bits each.
type Table struct {
	space  *puzzle.Space
	goal   puzzle.State
	order  *order
	layers []int // states at each distance

	// distance to the goal in moves; unreached where there is no way.
	distance []uint8
	// first is the least of a state's ways that leads to a state one nearer to the
	// goal.
	first []uint8

	// codes has for each pattern codeBits words, each with a bit for each lane, the
	// lowest byte first. A state's code, the bit of the first word being the lowest,
	// is its first way + 1; 0 for the goal, and where there is no way.
	codes    []byte
	codeBits int
}

// errTooDeep says that a space is deeper than a table's bytes can count.
var errTooDeep = errors.New("states at a distance of more than 254 moves")

// NewTable makes the table of a space and of a goal with distinct labels. It keeps
// all processors busy, and for a moment needs about twice the table's memory.
func NewTable(ctx context.Context, space *puzzle.Space, goal puzzle.State) (*Table, error) {
	if n := space.Cells(); n > maxTableCells {
		return nil, fmt.Errorf("a table of %d cells; %d are possible", n, maxTableCells)
	}
	return build(ctx, newPlan(space, goal), new(atomic.Int64))
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
	size := t.order.patterns * t.order.lanes
	for n := range min(size, checkStates) {
		i := int(int64(n) * int64(size) / int64(min(size, checkStates)))
		if err := t.checkState(t.order.state(i/t.order.lanes, i%t.order.lanes)); err != nil {
			return err
		}
	}
	return t.checkState(t.goal)
}

func (t *Table) checkState(s puzzle.State) error {
	d, known := t.Distance(s)
	nearest, least := -1, 0
	for way, e := range t.space.AppendNext(nil, s) {
		if near, ok := t.Distance(e.State); ok && (nearest < 0 || near < nearest) {
			nearest, least = near, way
		}
	}
	switch {
	case s == t.goal && known && d == 0:
	case !known && nearest < 0:
	case s == t.goal || !known || d != nearest+1 || t.way(s) != least:
		return fmt.Errorf("table check: state %x at distance %d, first way %d; its nearest neighbour is at %d by way %d", uint64(s), d, t.way(s), nearest, least)
	}
	return nil
}

// way returns the first way of a state, -1 where it has none.
func (t *Table) way(s puzzle.State) int {
	pattern, lane := t.order.find(s)
	if i := pattern*t.order.lanes + lane; t.first != nil {
		if t.distance[i] == unreached || t.distance[i] == 0 {
			return -1
		}
		return int(t.first[i])
	}
	size := wordBytes(t.order.lanes)
	at, code := pattern*t.codeBits*size+lane>>3, 0
	for j := range t.codeBits {
		code |= int(t.codes[at+j*size]>>(lane&7)&1) << j
	}
	return code - 1
}

// reaches tells whether there is a way from s to the goal.
func (t *Table) reaches(s puzzle.State) bool {
	return s == t.goal || t.order.has(s) && t.way(s) >= 0
}

// step takes the first move of the first shortest way from s, which is not the goal
// and reaches it.
func (t *Table) step(s puzzle.State) (to puzzle.State, move uint8) {
	if t.first != nil {
		pattern, lane := t.order.find(s)
		return t.space.Way(s, int(t.first[pattern*t.order.lanes+lane]))
	}
	return t.space.Way(s, t.way(s))
}

// Distance returns the distance of a state to the goal; ok is false where there
// is no way.
func (t *Table) Distance(s puzzle.State) (d int, ok bool) {
	if t.distance != nil {
		pattern, lane := t.order.find(s)
		d = int(t.distance[pattern*t.order.lanes+lane])
		return d, d != unreached
	}
	if !t.reaches(s) {
		return 0, false
	}
	for ; s != t.goal; d++ {
		s, _ = t.step(s)
	}
	return d, true
}

// AppendMoves appends the first shortest way from s to the goal; ok is false where
// there is none.
func (t *Table) AppendMoves(dst []uint8, s puzzle.State) (moves []uint8, ok bool) {
	if !t.reaches(s) {
		return dst, false
	}
	for s != t.goal {
		var m uint8
		s, m = t.step(s)
		dst = append(dst, m)
	}
	return dst, true
}

// Layers returns the number of states at each distance. Read only.
func (t *Table) Layers() []int { return t.layers }
