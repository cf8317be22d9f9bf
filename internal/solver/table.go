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

// Table holds for every state of a space the distance to one goal, and the
// first move that shortens it, at the state's rank. With values relabelled by
// the goal, one table serves every goal of a space without a blank, and one for
// each cell of the goal's blank every goal of a space with one.
type Table struct {
	space *puzzle.Space
	goal  puzzle.State
	// distance to the goal in moves; unreached where there is no way.
	distance []uint8
	// first is the least move that leads to a state one nearer to the goal.
	first  []uint8
	layers []int // states at each distance
}

// tableBytes is the memory of a table of n cells, in bytes.
func tableBytes(n int) int64 { return 2 * int64(factorial(n)) }

// errTooDeep says that a space is deeper than a table's bytes can count.
var errTooDeep = errors.New("states at a distance of more than 254 moves")

// NewTable searches a space retrograde from a goal with distinct labels: layer
// by layer over the moves that lead into a state. A state of the next layer
// keeps the least of the moves by which it was found, and that is the first
// move of its first shortest way.
func NewTable(ctx context.Context, space *puzzle.Space, goal puzzle.State) (*Table, error) {
	return newTable(ctx, space, goal, new(atomic.Int64))
}

// newTable is NewTable; progress counts the states.
func newTable(ctx context.Context, space *puzzle.Space, goal puzzle.State, progress *atomic.Int64) (*Table, error) {
	n := space.Cells()
	if n > maxTableCells {
		return nil, fmt.Errorf("a table of %d cells; %d are possible", n, maxTableCells)
	}
	size := factorial(n)
	t := &Table{space: space, goal: goal, distance: make([]uint8, size), first: make([]uint8, size)}
	for i := range t.distance {
		t.distance[i] = unreached
	}
	t.distance[rank(goal, n)] = 0
	layer, next := []puzzle.State{goal}, []puzzle.State(nil)
	var edges []puzzle.Edge
	for d := uint8(1); len(layer) > 0; d++ {
		if d == unreached {
			return nil, errTooDeep
		}
		t.layers = append(t.layers, len(layer))
		next = next[:0]
		for i, s := range layer {
			if i%checkEvery == checkEvery-1 {
				progress.Add(checkEvery)
				if err := ctx.Err(); err != nil {
					return nil, err
				}
			}
			edges = space.AppendPrevious(edges[:0], s)
			for _, e := range edges {
				r := rank(e.State, n)
				switch {
				case t.distance[r] == unreached:
					t.distance[r], t.first[r] = d, e.Move
					next = append(next, e.State)
				case t.distance[r] == d && e.Move < t.first[r]:
					t.first[r] = e.Move
				}
			}
		}
		layer, next = next, layer
	}
	return t, t.check()
}

// checkStates is how many states check looks at, spread over the table.
const checkStates = 2048

// check tells whether the table is what it says: no state but the goal is at
// distance 0, and a state's distance is one more than that of its nearest
// neighbour, to which its first move leads.
func (t *Table) check() error {
	n := t.space.Cells()
	var edges []puzzle.Edge
	step := max(1, len(t.distance)/checkStates)
	for r := 0; r < len(t.distance); r += step {
		s := unrank(r, n)
		d, nearest, first := t.distance[r], uint8(unreached), uint8(0)
		edges = t.space.AppendNext(edges[:0], s)
		for _, e := range edges {
			if near := t.distance[rank(e.State, n)]; near < nearest {
				nearest, first = near, e.Move
			}
		}
		switch {
		case s == t.goal && d == 0:
		case d == unreached && nearest == unreached:
		case d == unreached || d == 0 || d != nearest+1 || t.first[r] != first:
			return fmt.Errorf("table check: state %x at distance %d, first move %d; its nearest neighbour is at %d by move %d", uint64(s), d, t.first[r], nearest, first)
		}
	}
	return nil
}

// Distance returns the distance of a state to the goal; ok is false where there
// is no way.
func (t *Table) Distance(s puzzle.State) (d int, ok bool) {
	d = int(t.distance[rank(s, t.space.Cells())])
	return d, d != unreached
}

// AppendMoves appends the first shortest way from s to the goal, which must be
// reachable.
func (t *Table) AppendMoves(dst []uint8, s puzzle.State) []uint8 {
	for s != t.goal {
		m := t.first[rank(s, t.space.Cells())]
		dst = append(dst, m)
		s, _ = t.space.Apply(s, m)
	}
	return dst
}

// Layers returns the number of states at each distance. Read only.
func (t *Table) Layers() []int { return t.layers }
