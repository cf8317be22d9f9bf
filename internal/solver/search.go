package solver

import (
	"context"
	"runtime"
	"sync/atomic"

	"antipode/internal/puzzle"
)

// Search is one bidirectional breadth-first search at a time, over packed
// states; where labels repeat, it is a search of the coset graph. It keeps its
// memory from one to the next, up to a bound.
//
// It expands whole layers of the smaller side. The forward side finds states in
// order of discovery, which is the order of their first shortest ways:
//
//   - When the forward side meets the backward one, the first meeting found has
//     the first way, and ends the search.
//   - When the backward side meets, its layer is finished; of the states that met,
//     the one that the forward side discovered first has the first way.
//   - The sides can only meet in the last layer of the other: a state of an earlier
//     one would be on a way that is as short as one that both sides have ruled out.
//   - From the meeting the way goes on down the backward layers, by the first move
//     that leads one layer nearer to the goal.
type Search struct {
	forward, backward set
	memory            int64 // bound of both sets, in bytes
	edges             []puzzle.Edge
	held              atomic.Int64 // bytes of both sets, for who asks meanwhile
}

// states is how many states the last search visited.
func (s *Search) states() int64 { return int64(len(s.forward.states) + len(s.backward.states)) }

// minMemory is what a Search needs at the least, in bytes.
const minMemory = 4 * firstStates * stateBytes

// NewSearch returns a Search whose sets hold at most so many bytes.
func NewSearch(memory int64) *Search { return &Search{memory: max(memory, minMemory)} }

// outcome says how a search, or a layer of it, ended.
type outcome uint8

const (
	goesOn outcome = iota // of a layer that met nothing
	found
	exhausted
	overBudget
)

// limits of one search.
type limits struct {
	states   int64         // kept by both sides together; 0 is no bound
	progress *atomic.Int64 // counts the states kept, while the search goes on
}

// checkEvery is how many states a search expands between two looks at its
// context.
const checkEvery = 4096

// run searches for the first shortest way. With found it appends the moves to
// dst; with overBudget, bound is the proven lower bound of the distance. The
// error is the context's.
func (s *Search) run(ctx context.Context, q *puzzle.Question, lim limits, dst []uint8) (moves []uint8, bound int, _ outcome, _ error) {
	f, b := &s.forward, &s.backward
	defer runtime.KeepAlive(s) // and its memory
	if f.reset(q.Start) != nil || b.reset(q.Goal) != nil {
		return dst, 1, overBudget, nil
	}
	s.note()
	if q.Start == q.Goal {
		return dst, 0, found, nil
	}
	for {
		side, other, isForward := f, b, true
		if b.lastSize() < f.lastSize() {
			side, other, isForward = b, f, false
		}
		meeting, end, err := s.expand(ctx, q.Space, side, other, isForward, lim)
		switch {
		case err != nil:
			return dst, f.depth() + b.depth() + 1, overBudget, err
		case end == overBudget:
			// Only finished layers count: any way is longer than both sides' depths.
			return dst, f.depth() + b.depth() + 1, overBudget, nil
		case end == exhausted:
			return dst, 0, exhausted, nil
		case end == found:
			return s.appendWay(dst, q, meeting), 0, found, nil
		}
	}
}

// expand adds a layer to a side. It is found where the sides meet, at the
// returned state of the forward side's discovery order; exhausted where the
// layer is empty.
func (s *Search) expand(ctx context.Context, space *puzzle.Space, side, other *set, isForward bool, lim limits) (meeting puzzle.State, _ outcome, _ error) {
	start, end := side.lastLayer()
	first := -1 // the forward number of the meeting
	for i := start; i < end; i++ {
		if i%checkEvery == checkEvery-1 { // by number, so that thin layers count too
			if lim.progress != nil {
				lim.progress.Add(checkEvery)
			}
			if err := ctx.Err(); err != nil {
				return 0, overBudget, err
			}
		}
		if isForward {
			s.edges = space.AppendNext(s.edges[:0], side.states[i])
		} else {
			s.edges = space.AppendPrevious(s.edges[:0], side.states[i])
		}
		for _, e := range s.edges {
			if side.full() {
				if ok, err := s.enlarge(ctx, side); !ok {
					return 0, overBudget, err
				}
			}
			if !side.add(e.State, uint32(i)) || !other.sieve.holds(e.State) {
				continue
			}
			n, met := other.find(e.State)
			switch {
			case !met:
			case isForward:
				side.layers = append(side.layers, end)
				return e.State, found, nil
			case first < 0 || n < first:
				first = n
			}
		}
		if lim.states > 0 && s.states() > lim.states {
			return 0, overBudget, nil
		}
	}
	side.layers = append(side.layers, end)
	switch {
	case first >= 0:
		return other.states[first], found, nil
	case len(side.states) == end:
		return 0, exhausted, nil
	}
	if err := side.sieve.fill(ctx, side.states[end:]); err != nil {
		return 0, overBudget, err
	}
	return 0, goesOn, nil
}

// enlarge doubles a side, unless that would need more than the memory allowed:
// the old and the new arrays are held at once, or the system has no more. The error
// is ctx's.
func (s *Search) enlarge(ctx context.Context, side *set) (ok bool, err error) {
	n := 2 * side.room()
	if n > cap(side.states) {
		held := s.forward.bytes() + s.backward.bytes()
		if n > maxStates || held+int64(n)*stateBytes > s.memory {
			return false, nil
		}
	}
	if err = side.resize(ctx, n); err == errNoPages {
		return false, nil
	}
	s.note()
	return err == nil, err
}

// note notes what the search holds.
func (s *Search) note() { s.held.Store(s.forward.bytes() + s.backward.bytes()) }

// appendWay appends the first way through a meeting state, which both sides
// have.
func (s *Search) appendWay(dst []uint8, q *puzzle.Question, meeting puzzle.State) []uint8 {
	at := len(dst)
	n, _ := s.forward.find(meeting)
	for n != 0 {
		from := int(s.forward.from[n])
		dst = append(dst, s.firstMove(q.Space, s.forward.states[from], func(t puzzle.State) bool { return t == s.forward.states[n] }))
		n = from
	}
	for i, j := at, len(dst)-1; i < j; i, j = i+1, j-1 {
		dst[i], dst[j] = dst[j], dst[i]
	}
	n, _ = s.backward.find(meeting)
	for layer := s.backward.layerOf(n); layer > 0; layer-- {
		m := s.firstMove(q.Space, meeting, func(t puzzle.State) bool {
			k, ok := s.backward.find(t)
			return ok && s.backward.layerOf(k) == layer-1
		})
		dst = append(dst, m)
		meeting, _ = q.Space.Apply(meeting, m)
	}
	return dst
}

// firstMove returns the first move from s to a state that is as wanted.
func (s *Search) firstMove(space *puzzle.Space, from puzzle.State, wanted func(puzzle.State) bool) uint8 {
	s.edges = space.AppendNext(s.edges[:0], from)
	for _, e := range s.edges {
		if wanted(e.State) {
			return e.Move
		}
	}
	panic("solver: a search lost its way")
}

// release gives memory back that a large search took.
func (s *Search) release() {
	if s.forward.bytes()+s.backward.bytes() > keepMemory {
		s.forward.release()
		s.backward.release()
		s.note()
	}
}

// keepMemory is what a Search keeps from one question to the next, in bytes.
const keepMemory = 64 << 20
