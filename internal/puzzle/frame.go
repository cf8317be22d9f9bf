package puzzle

import (
	"math"
	"strconv"

	"antipode/internal/limit"
)

// Framing says where the text records of a file end. The first record decides:
// where it ends at a line's end, every record has as many lines as it, and one
// with too many or too few values is broken alone. So it is where the first
// record does not, but most of the first lines look as if records were lines.
// Otherwise values are counted.
//
// Where records of several lines stand apart, with a blank line after each, it
// is the blank lines that end them, and one with too many or too few lines is
// broken alone too.
//
// A record whose end cannot be known, since its number of edges cannot be read,
// goes to the next blank line or the end of the file.
type Framing struct {
	// Lines is the number of lines of a record, blank and comment lines and the
	// lines of edges aside; 0 where values are counted.
	Lines int
	// Blocks is 0 where blank lines say nothing. Otherwise a blank line ends a
	// record that has its lines or more, or so many blocks of lines with blank
	// lines between: 1, but where blank lines part the boards of a record too.
	Blocks int
}

// Valid tells whether f is within its bounds; a record that ends with a blank line
// has more lines than one.
func (f Framing) Valid() bool {
	return f.Lines >= 0 && f.Lines <= limit.Lines && f.Blocks >= 0 && f.Blocks <= limit.Blocks && (f.Blocks == 0 || f.Lines > 1)
}

// Frame is where a record stands in a buffer.
type Frame struct {
	Start, End int
	Line       int // line ends before Start
	Lines      int // line ends from Start to End
}

// Found says whether a search for a record found one.
type Found uint8

// One record was found; none is left; the buffer ends before the record does.
const (
	FoundOne Found = iota
	FoundNone
	FoundPart
)

// Next finds the first record of buf. With last, no bytes follow those of buf,
// and what is left of a record is a record.
func (p *Puzzle) Next(buf []byte, framing Framing, last bool) (Frame, Found) {
	if framing.Lines == 0 {
		return p.nextCounted(buf, last)
	}
	return p.nextLines(buf, framing, last)
}

// nextLines finds a record that ends with a line.
func (p *Puzzle) nextLines(buf []byte, framing Framing, last bool) (f Frame, _ Found) {
	inside, ends, pos := false, 0, 0
	var ending Ending
	for pos < len(buf) {
		end, whole := lineEnd(buf, pos)
		if !whole && !last {
			return f, FoundPart
		}
		kind := kindOf(buf[pos:end])
		if kind == valuesLine && !inside {
			inside = true
			f.Start, f.Line = pos, ends
			for isSpace(buf[f.Start]) {
				f.Start++
			}
			ending = p.Ending(buf[pos:end], framing)
		}
		pos = end
		if whole {
			ends++
		}
		if inside && ending.with(kind) {
			f.End, f.Lines = pos, ends-f.Line
			return f, FoundOne
		}
	}
	switch {
	case !last:
		return f, FoundPart
	case !inside:
		return f, FoundNone
	}
	f.End, f.Lines = pos, ends-f.Line
	return f, FoundOne
}

// Ending tells with which of its lines a record ends.
type Ending struct {
	lines  int  // of values, until the record is complete
	blocks int  // until a blank line ends the record anyway; 0 where it ends with its lines
	inside bool // values came since the last blank line
}

// Ending returns the ending of the record that buf starts with.
func (p *Puzzle) Ending(buf []byte, framing Framing) Ending {
	e := Ending{lines: framing.Lines, blocks: framing.Blocks}
	known := framing.Lines > 0
	if known && p.bringsEdges() {
		var m int
		m, known = edgeCount(buf)
		e.lines += m
	}
	if !known {
		e.lines, e.blocks = math.MaxInt, max(1, e.blocks)
	}
	return e
}

// With reports whether the record ends with its next line, which is blank, holds
// only a comment, or holds values.
func (e *Ending) With(blank, comment bool) bool {
	switch {
	case blank:
		return e.with(blankLine)
	case comment:
		return e.with(commentLine)
	}
	return e.with(valuesLine)
}

func (e *Ending) with(kind lineKind) bool {
	switch {
	case kind == valuesLine:
		e.lines--
		e.inside = true
		return e.lines == 0 && e.blocks == 0
	case kind == blankLine && e.inside && e.blocks > 0:
		e.blocks--
		e.inside = false
		return e.lines <= 0 || e.blocks == 0
	}
	return false
}

// nextCounted finds a record by its number of values.
func (p *Puzzle) nextCounted(buf []byte, last bool) (f Frame, _ Found) {
	w := words{buf: buf}
	first, ok := w.next()
	switch {
	case !ok && last:
		return f, FoundNone
	case !ok || !last && w.pos == len(buf):
		return f, FoundPart
	}
	f.Start, f.Line = w.pos-len(first), w.line
	if p.bringsEdges() {
		if !isEdgeCount(first) {
			return toBlankLine(buf, f, last)
		}
		m, _ := wordNumber(first)
		for range 2 * m {
			if _, ok = w.next(); !ok {
				break
			}
		}
	} else {
		w = words{buf: buf} // again, as part of a board
	}
	for range p.boards() {
		n := p.boardWords()
		for n > 0 {
			word, ok := w.next()
			if !ok {
				break
			}
			if n == p.cells && p.isBoardWord(word) {
				break
			}
			n--
		}
	}
	// A last word that the buffer ends may go on in the next.
	if w.pos == len(buf) && !last {
		return f, FoundPart
	}
	f.End, f.Lines = w.pos, w.line-f.Line
	return f, FoundOne
}

// boardWords returns the number of values of a board of a record.
func (p *Puzzle) boardWords() int {
	if p.parts[len(p.parts)-1] == placesPart {
		return p.cells - 1
	}
	return p.cells
}

// boards returns the number of boards of a record.
func (p *Puzzle) boards() int {
	if p.bringsEdges() {
		return len(p.parts) - 1
	}
	return len(p.parts)
}

func isEdgeCount(word []byte) bool {
	m, ok := wordNumber(word)
	return ok && m <= limit.Edges
}

func (p *Puzzle) bringsEdges() bool { return p.parts[0] == edgesPart }

// toBlankLine ends a frame after the next blank line, or at the end of buf.
func toBlankLine(buf []byte, f Frame, last bool) (Frame, Found) {
	for f.End = f.Start; f.End < len(buf); {
		end, whole := lineEnd(buf, f.End)
		blank := kindOf(buf[f.End:end]) == blankLine
		f.End = end
		if whole {
			f.Lines++
			if blank {
				return f, FoundOne
			}
		}
	}
	if !last {
		return f, FoundPart
	}
	return f, FoundOne
}

// edgeCount reads the number of edges from the first line of a record.
func edgeCount(buf []byte) (int, bool) {
	end, _ := lineEnd(buf, 0)
	w := words{buf: buf[:end]}
	word, _ := w.next()
	m, ok := wordNumber(word)
	if _, more := w.next(); more || !ok || m > limit.Edges {
		return 0, false
	}
	return m, true
}

// ReadCount reads the number that a job file starts with, and returns where it
// ends. It is not ok where buf starts with something else, or it is above
// limit.Count.
func (p *Puzzle) ReadCount(buf []byte, last bool) (n, end int, found Found, ok bool) {
	w := words{buf: buf}
	word, some := w.next()
	switch {
	case !some && last:
		return 0, 0, FoundNone, false
	case !last && (!some || w.pos == len(buf)):
		return 0, 0, FoundPart, false
	}
	n, err := strconv.Atoi(string(word))
	return n, w.pos, FoundOne, err == nil && n >= 0 && int64(n) <= limit.Count
}
