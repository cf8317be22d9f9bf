package solver

import (
	"context"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"antipode/internal/puzzle"
)

// builder searches all states of a space from a goal outwards, a word of boards at
// a time. A move takes a pattern to a pattern and changes all lanes alike: a pair
// whose cells the move puts into the other order turns round in every board. So
// the boards of a pattern that lie one move before the last layer are one word of
// that layer, with its bits moved by xorLanes.
//
//	last      pattern 17 ─┐ way 0, lanes ^ 5
//	          pattern 40 ─┼ way 1, lanes ^ 0 ─▶ pattern 9 of this layer, less what
//	          pattern 62 ─┘ way 2, lanes ^ 12   earlier layers found
//
// Each layer pulls from the last: a word has one writer, and many goroutines need
// no atomics. For a board that is found twice the first way counts, so that the
// table holds the first of the shortest ways.
//
// Patterns are numbered block*places + place: the block says where the first
// groups of labels are, the place where the others are among the cells left. What
// a move does to a place depends only on how it orders the cells left, a row of
// which there are few. So a block has one link for each of its ways, not one for
// each of its patterns, and a row stays in the processor's cache.
//
// Layers over a bit or two a state are as old as Cooperman and Finkelstein, "New
// methods for using Cayley graphs in interconnection networks", 1992.
type builder[W word] struct {
	*plan
	table       []W // the codes of each pattern's boards: bit j of all lanes in word j
	last, found []W // the boards of the last layer and of this, by pattern
	// Of each block: whether last and found hold any of its boards, and whether
	// table holds all.
	lastIn, foundIn, full []bool
	distance              []uint8            // of each board at pattern*lanes + lane, where wanted
	all                   W                  // the lanes there are
	nothing               *[1 << placeBits]W // no boards
}

// plan is what moves do to patterns.
type plan struct {
	*order
	space          *puzzle.Space
	goal           puzzle.State
	blocks, places int
	ways           int // most that a state has
	codeBits       int // of a way's code: 0 for a board not found, or way + 1
	wordBytes      int // of a word of the codes
	tail           *order
	links          []link   // by block, then by way
	rows           []uint16 // one after the other, places each
}

// link is where a way takes a block.
type link struct {
	block uint32 // none where the block has no such way
	row   uint16 // its number
	lanes uint8  // turned round
	move  uint8
}

const none = ^uint32(0)

// A row says for each place the place after a move, in its low bits, and the lanes
// turned round in the high ones.
const (
	placeBits = 10
	tailCells = 7 // at the most: 630 places
)

func newPlan(space *puzzle.Space, goal puzzle.State) *plan {
	p := &plan{order: numbering(space.Cells(), space.HasBlank()), space: space, goal: goal}
	p.halve(space, goal)
	p.places = p.patterns
	left := p.cells
	for k := 0; left > tailCells || left == p.cells && space.HasBlank(); k++ {
		left -= p.groups[k].size()
		p.places = p.groups[k].weight
	}
	p.blocks = p.patterns / p.places
	p.tail = numbering(left, false)
	var edges []puzzle.Edge
	for cell := range p.cells {
		edges = space.AppendNext(edges[:0], identity(p.cells, cell))
		p.ways = max(p.ways, len(edges))
	}
	p.codeBits, p.wordBytes = bits.Len(uint(p.ways)), wordBytes(p.lanes)
	return p
}

// bytes is the memory of a table, and of what its making needs besides.
func (p *plan) bytes() (table, making int64) {
	words := int64(p.patterns) * int64(p.wordBytes)
	table = int64(p.blocks*p.ways)*int64(unsafe.Sizeof(link{})) + p.codesBytes()
	making = 2*words + 3*int64(p.blocks)
	if p.cells <= measuredCells {
		table += int64(factorials[p.cells])
		making += int64(p.patterns) * int64(p.lanes)
	}
	return table, making
}

// codesBytes is the size of a table's codes.
func (p *plan) codesBytes() int64 {
	return int64(p.patterns) * int64(p.codeBits) * int64(p.wordBytes)
}

// wordBytes is the size of the word for so many lanes.
func wordBytes(lanes int) int {
	switch {
	case lanes > 32:
		return 8
	case lanes > 16:
		return 4
	case lanes > 8:
		return 2
	}
	return 1
}

// link finds the links and rows.
func (p *plan) link(ctx context.Context) error {
	p.links = make([]link, p.blocks*p.ways)
	var rows sync.Mutex
	known := map[puzzle.State]uint16{}
	return inRuns(ctx, p.blocks, func() func(b int) {
		var edges []puzzle.Edge
		mine := map[puzzle.State]uint16{} // of known
		return func(b int) {
			s := p.state(b*p.places, 0)
			links := p.links[b*p.ways:][:p.ways]
			edges = p.space.AppendNext(edges[:0], s)
			for w := range links {
				if w >= len(edges) {
					links[w].block = none
					continue
				}
				t := edges[w].State
				pattern, lanes := p.find(t)
				before, after := p.left(s), p.left(t)
				order := reorder(before, after, p.tail.cells)
				n, ok := mine[order]
				if !ok {
					rows.Lock()
					if n, ok = known[order]; !ok {
						n = uint16(len(known))
						known[order] = n
						p.rows = p.appendRow(p.rows, order)
					}
					rows.Unlock()
					mine[order] = n
				}
				// The row knows about the tail's lanes.
				links[w] = link{uint32(pattern / p.places), n, uint8(lanes) & (1<<p.headPairs() - 1), edges[w].Move}
			}
		}
	})
}

// headPairs is the number of pairs that a block places.
func (p *plan) headPairs() (n int) {
	for _, g := range p.groups[:len(p.groups)-len(p.tail.groups)] {
		n += g.size() - 1
	}
	return n
}

// left returns the labels on the cells that a state's block leaves, in order of
// cells, the lowest being 0.
func (p *plan) left(s puzzle.State) (labels puzzle.State) {
	first := puzzle.State(p.cells - p.tail.cells)
	for i, n := 0, 0; i < p.cells; i++ {
		if l := s >> (4 * i) & 15; l >= first {
			labels |= (l - first) << (4 * n)
			n++
		}
	}
	return labels
}

// reorder returns how a move orders cells: cell i gets what stood on cell At(i).
func reorder(before, after puzzle.State, cells int) (order puzzle.State) {
	var stood [puzzle.MaxCells]puzzle.State
	for i := range cells {
		stood[before.At(i)] = puzzle.State(i)
	}
	for i := range cells {
		order |= stood[after.At(i)] << (4 * i)
	}
	return order
}

func (p *plan) appendRow(rows []uint16, order puzzle.State) []uint16 {
	for place := range p.places {
		s := p.tail.state(place, 0)
		t := puzzle.State(0)
		for i := range p.tail.cells {
			t |= s >> (4 * order.At(i)) & 15 << (4 * i)
		}
		to, lanes := p.tail.find(t)
		rows = append(rows, uint16(to|lanes<<p.headPairs()&(p.lanes-1)<<placeBits))
	}
	return rows
}

// number is the number of a state: its block, place and lane.
type number struct{ block, place, lane int }

// number returns a state's number. Where lanes are halved the state must be of the
// goal's sign.
func (p *plan) number(s puzzle.State) number {
	pattern, lane := p.find(s)
	return number{pattern / p.places, pattern % p.places, lane}
}

// next returns the number after a way, which the state must have, and its move.
func (p *plan) next(n number, way int) (number, uint8) {
	l := &p.links[n.block*p.ways+way]
	to := p.rows[int(l.row)*p.places+n.place]
	return number{int(l.block), int(to & (1<<placeBits - 1)), n.lane ^ int(l.lanes) ^ int(to>>placeBits)}, l.move
}

// inRuns calls f of each of so many blocks, from all processors; start makes an f
// for each goroutine. The error is the context's.
func inRuns(ctx context.Context, blocks int, start func() func(b int)) error {
	processors := runtime.GOMAXPROCS(0)
	run := max(1, min(blocks/(8*processors), 256))
	var next atomic.Int64
	var wg sync.WaitGroup
	work := func() {
		f := start()
		for ctx.Err() == nil {
			end := int(next.Add(int64(run)))
			if end-run >= blocks {
				return
			}
			for b := end - run; b < min(end, blocks); b++ {
				f(b)
			}
		}
	}
	for range min(processors, (blocks+run-1)/run) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return ctx.Err()
}

// build builds the table of a plan; progress counts its states.
func build(ctx context.Context, p *plan, progress *atomic.Int64) (*Table, error) {
	switch p.wordBytes {
	case 8:
		return buildWords[uint64](ctx, p, progress)
	case 4:
		return buildWords[uint32](ctx, p, progress)
	case 2:
		return buildWords[uint16](ctx, p, progress)
	}
	return buildWords[uint8](ctx, p, progress)
}

func buildWords[W word](ctx context.Context, p *plan, progress *atomic.Int64) (*Table, error) {
	if err := p.link(ctx); err != nil {
		return nil, err
	}
	b := &builder[W]{
		plan: p, all: ^W(0) >> (8*int(unsafe.Sizeof(W(0))) - p.lanes), nothing: new([1 << placeBits]W),
		lastIn: make([]bool, p.blocks), foundIn: make([]bool, p.blocks), full: make([]bool, p.blocks),
	}
	for _, a := range []struct {
		words *[]W
		n     int
	}{{&b.table, p.patterns * p.codeBits}, {&b.last, p.patterns + 1<<placeBits}, {&b.found, p.patterns + 1<<placeBits}} {
		var err error
		if *a.words, err = touched[W](ctx, a.n); err != nil {
			return nil, err
		}
	}
	t := &Table{plan: p, home: p.number(p.goal)}
	if p.cells <= measuredCells {
		b.distance = make([]uint8, p.patterns*p.lanes)
		for i := range b.distance {
			b.distance[i] = unreached
		}
	}
	home, lane := p.find(p.goal)
	b.last[home], b.lastIn[home/p.places] = 1<<lane, true
	for j := range p.codeBits { // any code, until the search ends
		b.table[home*p.codeBits+j] = 1 << lane
	}
	if b.distance != nil {
		b.distance[home*p.lanes+lane] = 0
	}
	for n := int64(1); n > 0; {
		t.layers = append(t.layers, int(n))
		progress.Add(n)
		var err error
		if n, err = b.layer(ctx, len(t.layers)); err != nil {
			return nil, err
		}
		b.last, b.found, b.lastIn, b.foundIn = b.found, b.last, b.foundIn, b.lastIn
	}
	for j := range p.codeBits {
		b.table[home*p.codeBits+j] &^= 1 << lane
	}
	t.codes = littleEndian(b.table)
	if b.distance != nil {
		t.distance = p.byRank(b.distance)
	}
	return t, t.check()
}

// layer finds the states at a distance, and returns how many there are.
func (b *builder[W]) layer(ctx context.Context, distance int) (int64, error) {
	if b.distance != nil && distance >= unreached {
		return 0, errTooDeep
	}
	var sum atomic.Int64
	err := inRuns(ctx, b.blocks, func() func(int) {
		sources := make([]source[W], 0, b.ways+1)
		return func(block int) {
			n := b.grow(block, sources, uint8(distance))
			if b.foundIn[block] = n > 0; n > 0 {
				sum.Add(int64(n))
			}
		}
	})
	return sum.Load(), err
}

// source is where boards one move before those of a block are.
type source[W word] struct {
	last  *[1 << placeBits]W // of the block that a way leads to, and what follows
	row   []uint16
	lanes uint8
	code  uint8
}

// grow finds the boards of a block that are in no layer yet and one move from a
// board in the last. It uses the memory of sources.
func (b *builder[W]) grow(block int, sources []source[W], distance uint8) (n int) {
	found := b.found[block*b.places:][:b.places]
	sources = b.sources(block, sources[:0])
	if len(sources) > 0 || b.foundIn[block] { // two layers ago
		clear(found)
	}
	if len(sources) == 0 {
		return 0
	}
	table := b.table[block*b.places*b.codeBits:][:b.places*b.codeBits]
	if len(sources)&1 == 1 {
		sources = append(sources, source[W]{b.nothing, sources[0].row, 0, 0})
	}
	left := W(0)
	for i := 0; i < len(sources); i += 2 {
		n, left = pull(found, table, b.all, sources[i], sources[i+1])
	}
	b.full[block] = left == 0
	if n > 0 && b.distance != nil {
		b.measure(block, found, distance)
	}
	return n
}

// pull adds to a block's found boards those of two sources, the first before the
// second. It returns the number of all that are found, and the lanes in which a
// board was not in the table before.
func pull[W word](found, table []W, all W, s, t source[W]) (n int, left W) {
	codeBits := len(table) / len(found)
	rowS, rowT := s.row[:len(found)], t.row[:len(found)]
	for place := range found {
		codes := table[:codeBits]
		table = table[codeBits:]
		free := all
		for _, w := range codes {
			free &^= w
		}
		if free != 0 {
			left |= free
			toS, toT := rowS[place], rowT[place]
			x, y := s.last[toS&(1<<placeBits-1)], t.last[toT&(1<<placeBits-1)]
			if x|y != 0 {
				l, m := s.lanes^uint8(toS>>placeBits), t.lanes^uint8(toT>>placeBits)
				x = xorHigh(xorMiddle(xorLow(x, l), l), l) & free
				y = xorHigh(xorMiddle(xorLow(y, m), m), m) & free &^ x
				found[place] |= x | y
				for j := range codes {
					codes[j] |= x*W(s.code>>j&1) | y*W(t.code>>j&1)
				}
			}
		}
		n += bits.OnesCount64(uint64(found[place]))
	}
	return n, left
}

// sources appends where a block's ways lead to boards of the last layer, unless it
// has no board to be found.
func (b *builder[W]) sources(block int, sources []source[W]) []source[W] {
	if b.full[block] {
		return sources
	}
	for way, l := range b.links[block*b.ways:][:b.ways] {
		if l.block != none && b.lastIn[l.block] {
			last := (*[1 << placeBits]W)(b.last[int(l.block)*b.places:])
			sources = append(sources, source[W]{last, b.rows[int(l.row)*b.places:][:b.places], l.lanes, uint8(way + 1)})
		}
	}
	return sources
}

// measure notes the distance of the boards found.
func (b *builder[W]) measure(block int, found []W, distance uint8) {
	for place, w := range found {
		at := b.distance[(block*b.places+place)*b.lanes:]
		for ; w != 0; w &= w - 1 {
			at[bits.TrailingZeros64(uint64(w))] = distance
		}
	}
}

// byRank puts the distances of all boards at their ranks, from their numbers.
func (p *plan) byRank(distance []uint8) []uint8 {
	ranked := make([]uint8, factorials[p.cells])
	for i := range ranked {
		ranked[i] = unreached
	}
	for pattern := range p.patterns {
		b := p.boards(pattern)
		for lane, d := range distance[:p.lanes] {
			if d != unreached {
				ranked[rank(b.at(lane), p.cells)] = d
			}
		}
		distance = distance[p.lanes:]
	}
	return ranked
}

// touched returns n zeros that are written to: a page that is read before it is
// written faults twice.
func touched[W word](ctx context.Context, n int) ([]W, error) {
	const part = 1 << 20
	s := make([]W, n)
	adviseHuge(s)
	err := inRuns(ctx, (n+part-1)/part, func() func(int) {
		return func(i int) { clear(s[i*part : min((i+1)*part, n)]) }
	})
	return s, err
}
