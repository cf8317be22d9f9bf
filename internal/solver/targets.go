package solver

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"antipode/internal/puzzle"
)

// targets remembers what was learned of the spaces that were asked about, for each
// goal in canonical form: what can be reached, what searching has cost, and the
// table that was built as soon as it had cost as much. Tables share a bound of
// memory; the least recently used goes first. Tables from files are no part of that:
// their memory is the kernel's, which takes it back where it is short.
//
// An LRU of a library takes a lock for each look-up. This one is read for each
// record: it has a look at the targets of late first, which takes none.
type targets struct {
	bound  int64  // of tables and patterns, in bytes
	folder string // of files with tables; "" is none
	refuse func(file string, err error)
	again  time.Duration // lookAgain
	began  time.Time
	recent [puzzle.MaxCells]atomic.Pointer[target] // the last asked for, by the goal's blank
	clock  atomic.Int64                            // ticks when another target than the last is asked for

	mu    sync.Mutex
	known map[targetKey]*target // guarded by mu
	held  int64                 // bytes of all tables and patterns, guarded by mu
}

// targetKey names a target: a space, and the cell of the goal's blank, 0 without.
type targetKey struct {
	space puzzle.Fingerprint
	blank int
}

// target is a space with one goal in canonical form. With distinct labels it is
// the goal of all questions of that space, but for the cell of its blank.
type target struct {
	key   targetKey
	space *puzzle.Space
	goal  puzzle.State
	reach func() *puzzle.Reach // made at first use

	used     atomic.Int64 // the clock when it was asked for
	spent    atomic.Int64 // states that searches visited since it had a table last
	table    atomic.Pointer[Table]
	patterns atomic.Pointer[patterns]
	turn     chan struct{} // full while patterns are made, which others wait for

	looked  atomic.Int64 // when the folder was looked at, in nanoseconds since targets.began; 0 is never
	opening sync.Mutex   // held while its file is opened
	refused fs.FileInfo  // its file, where that was of no use; guarded by opening

	held   int64 // bytes of both, guarded by targets.mu
	making bool  // one of them, guarded by targets.mu
	never  bool  // it has no table, guarded by targets.mu
}

// maxTargets bounds how many targets are remembered; one without a table takes
// some kilobytes.
const maxTargets = 1 << 10

func (ts *targets) init(cfg Config) {
	ts.bound = cfg.TableMemory
	ts.folder, ts.refuse = cfg.Tables, cfg.Refused
	if ts.refuse == nil {
		ts.refuse = func(string, error) {}
	}
	ts.again, ts.began = lookAgain, time.Now()
	ts.known = map[targetKey]*target{}
}

// keyOf names the target of a space and a goal.
func keyOf(space *puzzle.Space, goal puzzle.State) targetKey {
	k := targetKey{space: space.Fingerprint()}
	if space.HasBlank() {
		k.blank = goal.Blank()
	}
	return k
}

// of returns the target of a question.
func (ts *targets) of(q *puzzle.Question) *target {
	k := keyOf(q.Space, q.Goal)
	t := ts.recent[k.blank].Load()
	if t == nil || t.key.space != k.space {
		t = ts.find(k, q.Space)
	}
	if t.used.Load() != ts.clock.Load() { // another was asked for since
		t.used.Store(ts.clock.Add(1))
	}
	return t
}

// find finds a target in known, or adds it.
func (ts *targets) find(k targetKey, space *puzzle.Space) *target {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.known[k]
	if t == nil {
		t = ts.add(k, space)
	}
	ts.recent[k.blank].Store(t) // with mu held, as it is taken out again
	return t
}

// add adds a target, with mu held.
func (ts *targets) add(k targetKey, space *puzzle.Space) *target {
	if len(ts.known) == maxTargets {
		ts.forget()
	}
	blank := k.blank
	if !space.HasBlank() {
		blank = -1
	}
	t := &target{key: k, space: space, goal: identity(space.Cells(), blank), reach: sync.OnceValue(func() *puzzle.Reach { return puzzle.NewReach(space) }), turn: make(chan struct{}, 1)}
	t.used.Store(-1) // never
	ts.known[k] = t
	return t
}

// forget forgets the eighth of all targets that was asked for the longest time
// ago, with mu held.
func (ts *targets) forget() {
	for _, t := range ts.byUse()[:maxTargets/8] {
		if !t.making {
			ts.drop(t)
			delete(ts.known, t.key)
		}
	}
}

// byUse returns the targets, the least recently used first, with mu held.
func (ts *targets) byUse() []*target {
	all := make([]*target, 0, len(ts.known))
	for _, t := range ts.known {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *target) int { return int(a.used.Load() - b.used.Load()) })
	return all
}

// drop gives a target's memory back, with mu held. What searching costs from here
// on must pay for a table anew. A mapped table stays: it is none of that memory.
func (ts *targets) drop(t *target) {
	if table := t.table.Load(); table != nil && !table.mapped {
		t.table.Store(nil)
	}
	t.patterns.Store(nil)
	t.spent.Store(0)
	ts.held -= t.held
	t.held = 0
	ts.recent[t.key.blank].CompareAndSwap(t, nil)
}

// claim sets memory aside for what is to be made for a target, at the cost of those
// that were used less recently. It tells whether the caller is to make it: not
// where another is at it, or where it does not fit.
func (ts *targets) claim(t *target, bytes int64) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t.making || t.never || ts.known[t.key] != t || bytes > ts.bound {
		return false
	}
	if ts.held+bytes > ts.bound {
		for _, old := range ts.byUse() {
			if old != t && !old.making && old.held > 0 && ts.held+bytes > ts.bound {
				ts.drop(old)
			}
		}
	}
	if ts.held+bytes > ts.bound {
		return false
	}
	t.making = true
	t.held += bytes
	ts.held += bytes
	return true
}

// settle ends what claim began. Memory that is not kept is given back; what can
// never be made is not tried again.
func (ts *targets) settle(t *target, back int64, never bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t.making, t.never = false, never
	t.held -= back
	ts.held -= back
}

// build builds a target's table, unless it has one, may have none, or another is
// at it. Where there is a file of it, that is opened instead. The error is the
// context's, errTooDeep, or that the table failed its own check; after the last two
// it is not tried again.
func (ts *targets) build(ctx context.Context, t *target, progress *atomic.Int64) error {
	if t.table.Load() != nil || t.isStored() && ts.open(ctx, t) {
		return nil
	}
	p := newPlan(t.space, t.goal)
	bytes, making := p.bytes()
	if !ts.claim(t, bytes+making) {
		return nil
	}
	if t.table.Load() != nil { // another was faster
		ts.settle(t, bytes+making, false)
		return nil
	}
	table, err := build(ctx, p, progress)
	if err != nil {
		ts.settle(t, bytes+making, ctx.Err() == nil)
		return err
	}
	t.table.Store(table)
	ts.settle(t, making, false)
	return nil
}

// lookAgain is how long a target without a table waits until it looks for a file of
// it again. A look takes some microseconds, so that it could well be more often, but
// a folder on a network may be slow.
const lookAgain = 5 * time.Second

// isStored tells whether a target's table may be in a file. Smaller ones are built
// sooner than they are read.
func (t *target) isStored() bool {
	cells := t.space.Cells()
	return measuredCells < cells && cells <= maxTableCells
}

// look opens the file of a target's table where it has none, unless it looked for it
// a moment ago. It tells whether there is a table now.
func (ts *targets) look(ctx context.Context, t *target) bool {
	if ts.folder == "" || !t.isStored() || t.table.Load() != nil {
		return false
	}
	now, last := int64(time.Since(ts.began))+1, t.looked.Load()
	if last != 0 && now-last < int64(ts.again) || !t.looked.CompareAndSwap(last, now) {
		return false
	}
	return ts.open(ctx, t)
}

// open opens the file of a target's table, unless that has been refused as it is. It
// tells whether there is a table now.
func (ts *targets) open(ctx context.Context, t *target) bool {
	if ts.folder == "" {
		return false
	}
	t.opening.Lock()
	defer t.opening.Unlock()
	if t.table.Load() != nil {
		return true
	}
	path := filepath.Join(ts.folder, FileName(t.space, t.goal))
	info, err := os.Stat(path)
	if err != nil || t.refused != nil && info.Size() == t.refused.Size() && info.ModTime().Equal(t.refused.ModTime()) {
		return false
	}
	table, err := OpenTable(ctx, path, t.space, t.goal)
	switch {
	case err == nil:
		t.table.Store(table)
	case ctx.Err() == nil && !errors.Is(err, fs.ErrNotExist):
		t.refused = info
		ts.refuse(path, err)
	}
	return err == nil
}

// pay makes the table or the patterns for which searches have paid.
func (ts *targets) pay(ctx context.Context, t *target, progress *atomic.Int64) {
	cost := t.patternCost()
	if !ts.payTable(ctx, t, progress) && cost > 0 && t.spent.Load() >= cost && t.patterns.Load() == nil {
		ts.makePatterns(ctx, t)
	}
}

// payTable makes the table for which searches have paid. First it looks whether
// there is a file of it by now. It tells whether there is a table.
func (ts *targets) payTable(ctx context.Context, t *target, progress *atomic.Int64) bool {
	if ts.look(ctx, t) {
		return true
	}
	if cost := t.tableCost(); cost > 0 && t.spent.Load() >= cost {
		t.spent.Store(0)               // where there is no room for it, it must be paid for anew
		_ = ts.build(ctx, t, progress) // without a table it is searched as before
	}
	return t.table.Load() != nil
}

// tableCost is what a target's table costs, in states that a search visits; 0 where
// there can be none. A board of a small table takes about as long as such a state,
// one of a large table a sixteenth of that: BenchmarkTable, BenchmarkSearch.
func (t *target) tableCost() int64 {
	cells := t.space.Cells()
	if cells > maxTableCells {
		return 0
	}
	cost := int64(1)
	for n := range cells {
		cost *= int64(n + 1)
	}
	if cells > measuredCells {
		cost /= 16
	}
	return cost
}

// patternCost is what a target's patterns cost, an entry being as much work as a
// state; 0 where a table is better, or there is no blank.
func (t *target) patternCost() int64 {
	if cells := t.space.Cells(); cells > measuredCells && t.space.HasBlank() {
		return patternBytes(cells)
	}
	return 0
}

// makePatterns returns a target's patterns, which it makes, or waits for, where it
// has none; nil where ctx ends first, or they do not fit.
func (ts *targets) makePatterns(ctx context.Context, t *target) *patterns {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return nil
	}
	if p := t.patterns.Load(); p != nil {
		return p
	}
	bytes := patternBytes(t.space.Cells())
	if !ts.claim(t, bytes) {
		return nil
	}
	p, err := newPatterns(ctx, t.space, t.goal)
	if err != nil {
		ts.settle(t, bytes, false)
		return nil
	}
	t.patterns.Store(p)
	ts.settle(t, 0, false)
	return p
}

// tabled tells whether a target has a table, without asking for it.
func (ts *targets) tabled(space *puzzle.Space, goal puzzle.State) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.known[keyOf(space, goal)]
	return t != nil && t.table.Load() != nil
}

// tables counts the tables there are.
func (ts *targets) tables() (n int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, t := range ts.known {
		if t.table.Load() != nil {
			n++
		}
	}
	return n
}
