package puzzle

import (
	"bytes"

	"antipode/internal/limit"
)

// Neat reads neat records, those that are written as programs write them: one
// space, comma, tab or line end after each value, no line more than the framing
// wants, and nothing else.
//
//	1 4 2⏎3 0 5⏎6 7 8⏎
//	12X453786⏎12345678X⏎     a board is a word, where its values are one digit each
//	1⏎1 9⏎1 2 3 4 5 6 7 8⏎   an edge is a line
//
// It finds such a record and reads it in one pass over its bytes, and says what
// Next and ReadText say. Any other record, and each that is wrong, is left to
// them.
//
// It remembers the space of the edges that it read last, for records that bring
// the same ones, written alike. Not for use by several goroutines; a buffer that
// it was given must not change while it is in use.
type Neat struct {
	p     *Puzzle
	lines int  // of a record, those of edges aside
	apart bool // a blank line ends a record
	form  form
	value [256]uint8 // of a board's word of one character; in digits its label, where the goal is the definition's
	ends  [256]uint8 // line ends that a character after a value is: 0 or 1, tooMany where it cannot stand there

	set   uint64          // in digits: a bit for each of a board's values, or labels
	goals [MaxCells]State // in digits: the goal in canonical form, by the cell of its blank

	text  []byte // the lines of the edges read last
	space *Space // theirs
}

// form is how the boards of neat records are read.
type form uint8

const (
	numbers form = iota // of up to three digits
	digits              // values of one character that do not repeat: at most 10 cells
	places              // the vertices of pieces
)

// What stands for no value, and for no line end. A shift by noValue is one that
// no value has; tooMany is more lines than a record may have.
const (
	noValue = 63
	tooMany = 64
)

// NewNeat returns a Neat for records of a framing, nil where none are neat.
func (p *Puzzle) NewNeat(framing Framing) *Neat {
	if framing.Lines == 0 || framing.Blocks > 1 {
		return nil
	}
	n := &Neat{p: p, lines: framing.Lines, apart: framing.Blocks == 1}
	for c := range n.value {
		n.value[c], n.ends[c] = noValue, tooMany
		if v, ok := p.charValue(byte(c)); ok {
			n.value[c] = v
		}
	}
	n.ends[' '], n.ends[','], n.ends['\t'], n.ends['\n'] = 0, 0, 0, 1
	switch {
	case p.parts[len(p.parts)-1] == placesPart:
		n.form = places
	case !p.repeat && p.to <= 9:
		n.form = digits
		n.setDigits()
	}
	return n
}

// setDigits prepares for boards whose values are digits.
func (n *Neat) setDigits() {
	p := n.p
	for v := p.from; v <= p.to; v++ {
		n.set |= 1 << v
	}
	if p.blank {
		n.set |= 1
	}
	for blank := range p.cells {
		n.goals[blank] = canonical(p.cells, blank, p.blank)
	}
	if p.BringsGoal() {
		return
	}
	n.set = 1<<p.cells - 1
	for c, v := range n.value {
		if n.value[c] = noValue; v != noValue && p.goal.label[v] != 0 {
			n.value[c] = p.goal.label[v] - 1
		}
	}
}

// canonical returns the canonical form of a goal whose values are distinct.
func canonical(cells, blank int, hasBlank bool) (goal State) {
	next := State(0)
	for i := range cells {
		switch {
		case !hasBlank:
			goal |= State(i) << (4 * i)
		case i != blank:
			next++
			goal |= next << (4 * i)
		}
	}
	return goal
}

// Read reads the record that buf starts with, and returns its size in bytes and
// in line ends. It returns 0 where the record is not neat, or buf ends before it is
// known to be; then what q holds means nothing.
func (n *Neat) Read(buf []byte, q *Question) (size, lines int) {
	space, want := n.p.space, n.lines
	if space == nil {
		if space, size = n.readEdges(buf); size == 0 {
			return 0, 0
		}
		want-- // that of the number of edges
	}
	var more int
	switch n.form {
	case digits:
		more, lines = n.readDigits(buf[size:], space, q)
	case numbers:
		more, lines = n.readNumbers(buf[size:], space, q)
	case places:
		more, lines = n.readPlaces(buf[size:], space, q)
	}
	size += more
	if more == 0 || lines != want || buf[size-1] != '\n' {
		return 0, 0
	}
	if n.p.space == nil {
		lines += bytes.Count(n.text, []byte{'\n'})
	}
	if n.apart {
		if size == len(buf) || buf[size] != '\n' {
			return 0, 0
		}
		size, lines = size+1, lines+1
	}
	return size, lines
}

// readDigits reads boards in digits, and asks for the first.
func (n *Neat) readDigits(buf []byte, space *Space, q *Question) (size, lines int) {
	start, size, lines := n.digits(buf)
	if size == 0 {
		return 0, 0
	}
	var goal State
	if n.p.BringsGoal() {
		values, more, ends := n.digits(buf[size:])
		if more == 0 {
			return 0, 0
		}
		blank := 0
		if n.p.blank {
			blank = values.Blank()
		}
		goal = n.goals[blank]
		start = relabel(start, values, goal, n.p.cells)
		size, lines = size+more, lines+ends
	} else {
		goal = n.p.goal.goal
	}
	q.Space, q.Start, q.Goal, q.Distinct, q.Unlike = space, start, goal, true, false
	return size, lines
}

// relabel gives the values of a start the labels that those of a goal have in its
// canonical form.
func relabel(start, values, goal State, cells int) (s State) {
	var labels State // by value
	for shift := 0; shift < 4*cells; shift += 4 {
		labels |= (goal >> (shift & 63) & 15) << (4 * (values >> (shift & 63) & 15) & 63)
	}
	for shift := 0; shift < 4*cells; shift += 4 {
		s |= (labels >> (4 * (start >> (shift & 63) & 15) & 63) & 15) << (shift & 63)
	}
	return s
}

// digits reads a board in digits, one word or a word for each cell.
func (n *Neat) digits(buf []byte) (board State, size, lines int) {
	cells := n.p.cells
	seen := uint64(0)
	if len(buf) > cells && n.value[buf[1]] != noValue { // as one word
		for i, c := range buf[:cells] {
			v := n.value[c]
			seen |= 1 << (v & 63)
			board |= State(v) << (4 * i & 63)
		}
		size, lines = cells+1, int(n.ends[buf[cells]])
	} else {
		size = 2 * cells
		if len(buf) < size {
			return 0, 0, 0
		}
		shift := 0
		for row := buf[:size]; len(row) >= 2; row = row[2:] {
			v := n.value[row[0]]
			seen |= 1 << (v & 63)
			board |= State(v) << (shift & 63)
			lines += int(n.ends[row[1]])
			shift += 4
		}
	}
	if seen != n.set {
		return 0, 0, 0
	}
	return board, size, lines
}

// readNumbers reads boards in numbers, and asks for the first.
func (n *Neat) readNumbers(buf []byte, space *Space, q *Question) (size, lines int) {
	var boards [2]Board
	goal := (*Board)(nil)
	count := 1
	if n.p.BringsGoal() {
		goal, count = &boards[1], 2
	}
	for i := range count {
		more, ends := n.numbers(buf[size:], &boards[i])
		if more == 0 {
			return 0, 0
		}
		size, lines = size+more, lines+ends
	}
	n.p.Ask(space, &boards[0], goal, q)
	return size, lines
}

// numbers reads a board in numbers.
func (n *Neat) numbers(buf []byte, b *Board) (size, lines int) {
	for i := range b[:n.p.cells] {
		v, more, ends := n.number(buf, size)
		if more == 0 && size+1 < len(buf) && n.value[buf[size]] == 0 { // what may stand for a blank beside 0
			more, ends = 2, int(n.ends[buf[size+1]])
		}
		if more == 0 || v > limit.Value {
			return 0, 0
		}
		b[i] = uint8(v)
		size += more
		lines += ends
	}
	if !n.p.isBoard(b) {
		return 0, 0
	}
	return size, lines
}

// number reads a word of up to three digits at pos and the character after it,
// which is so many line ends, or tooMany; size is 0 where there is no such word.
func (n *Neat) number(buf []byte, pos int) (v, size, ends int) {
	for size < 4 && pos+size < len(buf) {
		c := buf[pos+size]
		size++
		if c-'0' > 9 {
			if size == 1 {
				break
			}
			return v, size, int(n.ends[c])
		}
		v = 10*v + int(c-'0')
	}
	return 0, 0, 0
}

// readPlaces reads the vertices of the pieces, and asks.
func (n *Neat) readPlaces(buf []byte, space *Space, q *Question) (size, lines int) {
	var start Board
	var taken uint32
	cells := n.p.cells
	for piece := range cells - 1 {
		v, more, ends := n.number(buf, size)
		if more == 0 || v < 1 || v > cells || taken>>v&1 == 1 {
			return 0, 0
		}
		taken |= 1 << v
		start[v-1] = uint8(n.p.from + piece)
		size += more
		lines += ends
	}
	n.p.Ask(space, &start, nil, q)
	return size, lines
}

// readEdges reads the edges that a record starts with, each on a line; size is 0
// where they are not neat, or wrong.
func (n *Neat) readEdges(buf []byte) (space *Space, size int) {
	if n.space != nil && bytes.HasPrefix(buf, n.text) {
		return n.space, len(n.text)
	}
	m, size, ends := n.number(buf, 0)
	if size == 0 || m > limit.Edges || ends != 1 {
		return nil, 0
	}
	edges := make([][2]uint8, m)
	for i := range edges {
		for k := range 2 { // the second ends the line
			v, more, ends := n.number(buf, size)
			if more == 0 || v < 1 || v > n.p.cells || ends != k {
				return nil, 0
			}
			edges[i][k] = uint8(v - 1)
			size += more
		}
	}
	space, err := NewGraph(n.p.cells, edges)
	if err != nil {
		return nil, 0
	}
	n.text, n.space = buf[:size], space
	return space, size
}
