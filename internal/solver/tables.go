package solver

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"antipode/internal/puzzle"
)

// tables holds a Solver's tables, each built at first use, within a bound of
// memory. What does not fit is searched instead.
type tables struct {
	bound int64
	slots atomic.Pointer[map[tableKey]*tableSlot] // replaced, never changed; nil slots are refused

	mu      sync.Mutex // held to replace slots
	claimed int64      // bytes of all slots, guarded by mu
}

// tableKey names a table: a space, and the cell of the goal's blank, 0 without.
type tableKey struct {
	space puzzle.Fingerprint
	blank uint8
}

// tableSlot is a place for a table that fits.
type tableSlot struct {
	space *puzzle.Space
	goal  puzzle.State
	table atomic.Pointer[Table]

	mu  sync.Mutex // held while the table is built
	err error      // of building, which is not tried again; guarded by mu
}

// maxSlots bounds the number of spaces that are remembered, refused ones too.
const maxSlots = 1 << 12

func (t *tables) init(bound int64) {
	t.bound = bound
	t.slots.Store(&map[tableKey]*tableSlot{})
}

// slot returns the place for a table of a space to a goal in canonical form,
// nil where it does not fit.
func (t *tables) slot(space *puzzle.Space, goal puzzle.State) *tableSlot {
	k := tableKey{space: space.Fingerprint()}
	if space.HasBlank() {
		k.blank = uint8(goal.Blank())
	}
	if s, ok := (*t.slots.Load())[k]; ok {
		return s
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	old := *t.slots.Load()
	if s, ok := old[k]; ok || len(old) >= maxSlots {
		return s
	}
	var s *tableSlot
	if size := tableBytes(space.Cells()); t.claimed+size <= t.bound {
		t.claimed += size
		s = &tableSlot{space: space, goal: goal}
	}
	slots := maps.Clone(old)
	slots[k] = s
	t.slots.Store(&slots)
	return s
}

// ready counts the tables that are built.
func (t *tables) ready() (n int) {
	for _, s := range *t.slots.Load() {
		if s != nil && s.table.Load() != nil {
			n++
		}
	}
	return n
}

// get returns the table, which it builds at first use. The error is ctx's,
// errTooDeep, or that the table failed its own check.
func (s *tableSlot) get(ctx context.Context) (*Table, error) {
	if t := s.table.Load(); t != nil {
		return t, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.table.Load(); t != nil || s.err != nil {
		return t, s.err
	}
	t, err := NewTable(ctx, s.space, s.goal)
	switch {
	case err == nil:
		s.table.Store(t)
		return t, nil
	case ctx.Err() == nil:
		s.err = err
	}
	return nil, err
}
