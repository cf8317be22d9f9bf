package puzzle

import "strconv"

// Framing says where the text records of a file end. The first record decides:
// where it ends at a line's end, every record has as many lines as it, and one
// with too many or too few values is broken alone. So it is where the first
// record does not, but most of the first lines look as if records were lines.
// Otherwise values are counted.
//
//	n > 0   n lines a record, blank and comment lines and the lines of edges aside
//	0       values are counted
//
// A record whose end cannot be known, since its number of edges cannot be read,
// goes to the next blank line or the end of the file.
type Framing int

// Counted is the framing of records that share lines.
const Counted Framing = 0

// MaxLines is the largest Framing: a record of all parts with each value on a
// line.
const MaxLines = 2*MaxCells + 1

// maxEdges bounds the edges of a record; edges may be given more than once.
const maxEdges = 1024

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
	if framing == Counted {
		return p.nextCounted(buf, last)
	}
	return p.nextLines(buf, int(framing), last)
}

// nextLines finds a record of so many lines.
func (p *Puzzle) nextLines(buf []byte, lines int, last bool) (f Frame, _ Found) {
	seen, ends, pos := 0, 0, 0
	for pos < len(buf) {
		end, whole := lineEnd(buf, pos)
		if !whole && !last {
			return f, FoundPart
		}
		line := buf[pos:end]
		if kindOf(line) == valuesLine {
			if seen == 0 {
				f.Start, f.Line = pos, ends
				for isSpace(buf[f.Start]) {
					f.Start++
				}
				if p.bringsEdges() {
					var ok bool
					if lines, ok = p.Lines(line, Framing(lines)); !ok {
						return toBlankLine(buf, f, last)
					}
				}
			}
			seen++
		}
		pos = end
		if whole {
			ends++
		}
		if seen == lines {
			f.End, f.Lines = pos, ends-f.Line
			return f, FoundOne
		}
	}
	switch {
	case !last:
		return f, FoundPart
	case seen == 0:
		return f, FoundNone
	}
	f.End, f.Lines = pos, ends-f.Line
	return f, FoundOne
}

// Lines returns the number of lines of the record that buf starts with, blank
// and comment lines aside. It is not ok where that cannot be known, and the
// record goes to the next blank line.
func (p *Puzzle) Lines(buf []byte, framing Framing) (n int, ok bool) {
	switch {
	case framing == Counted:
		return 0, false
	case !p.bringsEdges():
		return int(framing), true
	}
	m, ok := edgeCount(buf)
	return int(framing) + m, ok
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
	boards := len(p.parts)
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
		boards--
	} else {
		w = words{buf: buf} // again, as part of a board
	}
	for b := range boards {
		n := p.boardWords(b)
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

// boardWords returns the number of values of the b-th board of a record.
func (p *Puzzle) boardWords(b int) int {
	if p.parts[len(p.parts)-1] == placesPart {
		return p.cells - 1
	}
	return p.cells
}

func isEdgeCount(word []byte) bool {
	m, ok := wordNumber(word)
	return ok && m <= maxEdges
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
	if _, more := w.next(); more || !ok || m > maxEdges {
		return 0, false
	}
	return m, true
}

// ReadCount reads the number that a job file starts with, and returns where it
// ends. It is not ok where buf starts with something else.
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
	return n, w.pos, FoundOne, err == nil && n >= 0
}
