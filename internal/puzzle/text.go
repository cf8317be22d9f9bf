package puzzle

import (
	"fmt"
	"strconv"

	"antipode/internal/limit"
)

// RecordError says why a record cannot be read, and on which of its lines.
type RecordError struct {
	Line   int // from the record's first, 0
	Reason string
}

func (e *RecordError) Error() string { return e.Reason }

// ReadText reads the one text record of rec, as Next found it. The error is a
// *RecordError.
func (p *Puzzle) ReadText(rec []byte, q *Question) error {
	r := reader{words: words{buf: rec}, p: p}
	var start, goal Board
	var space *Space
	ownGoal := (*Board)(nil)
	for _, part := range p.parts {
		var err error
		switch part {
		case edgesPart:
			space, err = r.edges()
		case startPart:
			err = r.board(&start, "board")
		case goalPart:
			err = r.board(&goal, "second board")
			ownGoal = &goal
		case placesPart:
			err = r.places(&start)
		}
		if err != nil {
			return err
		}
	}
	if err := r.end(); err != nil {
		return err
	}
	p.Ask(space, &start, ownGoal, q)
	return nil
}

// ReadBoard reads a text that is one board. The error is a *RecordError.
func (p *Puzzle) ReadBoard(text []byte, b *Board) error {
	r := reader{words: words{buf: text}, p: p}
	if err := r.board(b, "board"); err != nil {
		return err
	}
	return r.end()
}

// end reports a word after the last.
func (r *reader) end() error {
	if word, more := r.next(); more {
		return r.fail("%s is too much: the record was complete before it", quote(word))
	}
	return nil
}

type reader struct {
	words
	p *Puzzle
}

func (r *reader) fail(format string, args ...any) error {
	return &RecordError{r.line, fmt.Sprintf(format, args...)}
}

// short reports that words are missing after the last, which is on the given
// line.
func (r *reader) short(line int, format string, args ...any) error {
	r.line = line
	return r.fail(format, args...)
}

// quote shows a word, the start of it where it is long.
func quote(word []byte) string {
	if len(word) > 32 {
		return strconv.QuoteToASCII(string(word[:32])) + "…"
	}
	return strconv.QuoteToASCII(string(word))
}

// board reads one value for each cell, or one word that is the whole board.
func (r *reader) board(b *Board, what string) error {
	n := r.p.cells
	for i := range n {
		line := r.line
		word, ok := r.next()
		if !ok {
			return r.short(line, "the %s has %d values; %s", what, i, r.p.wanted())
		}
		if i == 0 && r.p.isBoardWord(word) {
			for c, char := range word {
				b[c], _ = r.p.charValue(char)
			}
			break
		}
		v, ok := r.p.wordValue(word)
		if !ok {
			return r.fail("%s is not a value of the %s; %s", quote(word), what, r.p.wanted())
		}
		b[i] = v
	}
	if !r.p.isBoard(b) {
		return r.fail("%s: %s", what, r.p.checkBoard(b))
	}
	return nil
}

// isBoard tells quickly whether checkBoard finds nothing wrong.
func (p *Puzzle) isBoard(b *Board) bool {
	if !p.repeat {
		return p.isPermutation(b)
	}
	blanks := 0
	for _, v := range b[:p.cells] {
		switch {
		case p.blank && v == 0:
			blanks++
		case int(v) < p.from || int(v) > p.to:
			return false
		}
	}
	return !p.blank || blanks == 1
}

// isPermutation tells quickly whether a board has each value once; only where
// values do not repeat.
func (p *Puzzle) isPermutation(b *Board) bool {
	var seen uint64
	for _, v := range b[:p.cells] {
		switch d := int(v) - p.from; {
		case p.blank && v == 0:
			seen |= 1 << 32
		case d >= 0 && d < MaxCells:
			seen |= 1 << d
		}
	}
	if p.blank {
		return seen == 1<<32|(1<<(p.cells-1)-1)
	}
	return seen == 1<<p.cells-1
}

// places reads the vertex of each piece in order; the blank is on the one left.
func (r *reader) places(b *Board) error {
	n := r.p.cells
	var taken uint32
	for piece := range n - 1 {
		line := r.line
		word, ok := r.next()
		if !ok {
			return r.short(line, "the vertices of %d pieces; want %d", piece, n-1)
		}
		v, ok := wordNumber(word)
		if !ok || v < 1 || v > n {
			return r.fail("piece %d on %s, which is not a vertex 1 to %d", piece+1, quote(word), n)
		}
		if taken>>v&1 == 1 {
			return r.fail("two pieces on vertex %d", v)
		}
		taken |= 1 << v
		b[v-1] = uint8(r.p.from + piece)
	}
	return nil
}

// edges reads the number of edges, then as many pairs of vertices.
func (r *reader) edges() (*Space, error) {
	word, ok := r.next()
	m, isNumber := wordNumber(word)
	if !ok || !isNumber || m > limit.Edges {
		return nil, r.fail("%s is not a number of edges, 0 to %d", quote(word), limit.Edges)
	}
	edges := make([][2]uint8, m)
	for i := range edges {
		for k := range 2 {
			line := r.line
			word, ok := r.next()
			if !ok {
				return nil, r.short(line, "the record ends after %d of %d edges", i, m)
			}
			v, ok := wordNumber(word)
			if !ok || v < 1 || v > r.p.cells {
				return nil, r.fail("%s is not a vertex 1 to %d", quote(word), r.p.cells)
			}
			edges[i][k] = uint8(v - 1)
		}
	}
	space, err := NewGraph(r.p.cells, edges)
	if err != nil {
		return nil, r.fail("%v", err)
	}
	return space, nil
}

// isBoardWord tells whether a word is a whole board: where every value has one
// character, one that has as many as the board has cells.
func (p *Puzzle) isBoardWord(word []byte) bool {
	if len(word) != p.cells || p.to > 9 {
		return false
	}
	for _, c := range word {
		if _, ok := p.charValue(c); !ok {
			return false
		}
	}
	return true
}

// charValue reads a value of one character.
func (p *Puzzle) charValue(c byte) (uint8, bool) {
	switch {
	case c-'0' <= 9:
		return c - '0', true
	case p.blank && (c == 'X' || c == 'x' || c == '_' || c == '.'):
		return 0, true
	}
	return 0, false
}

// wordValue reads a value of one word.
func (p *Puzzle) wordValue(word []byte) (uint8, bool) {
	if len(word) == 1 {
		return p.charValue(word[0])
	}
	n, ok := wordNumber(word)
	return uint8(min(n, limit.Value)), ok && n <= limit.Value
}
