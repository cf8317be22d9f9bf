package puzzle

import (
	"bytes"
	"strconv"
	"unicode"
)

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

// Decide returns the framing that the first record of buf decides, whose end can
// be known. With last, no bytes follow those of buf. It is not ok where buf is too
// short to tell.
func (p *Puzzle) Decide(buf []byte, last bool) (framing Framing, ok bool) {
	f, found := p.nextCounted(buf, last)
	for found == FoundOne && p.bringsEdges() {
		w := words{buf: buf[f.Start:]}
		if first, _ := w.next(); isEdgeCount(first) {
			break
		}
		buf = buf[f.End:] // its end is a guess: the next decides
		f, found = p.nextCounted(buf, last)
	}
	switch found {
	case FoundPart:
		return 0, false
	case FoundNone:
		return 1, true
	}
	end, whole := lineEnd(buf, f.End)
	switch {
	case kindOf(buf[f.End:end]) == valuesLine: // more values on its last line
		if p.bringsEdges() {
			return Counted, true
		}
		return p.decideByLines(buf, last)
	case !whole && !last:
		return 0, false
	case !p.bringsEdges() && p.countValues(buf[f.Start:f.End]) != p.cells*len(p.parts):
		return p.decideByLines(buf, last) // cut short, or words among values
	}
	lines, edges := 0, 0
	if p.bringsEdges() {
		edges, _ = edgeCount(buf[f.Start:])
	}
	for pos := f.Start; pos < f.End; {
		end, _ := lineEnd(buf, pos)
		line := buf[pos:end]
		pos = end
		if kindOf(line) != valuesLine {
			continue
		}
		lines++
		if p.bringsEdges() && (lines == 1 || lines <= 1+edges) {
			if want := min(lines, 2); countWords(line) != want { // M alone, then an edge a line
				return Counted, true
			}
		}
	}
	if lines -= edges; lines < 1 || lines > MaxLines {
		return Counted, true
	}
	return Framing(lines), true
}

// sampleLines is how many lines decide where the first record does not end with
// one.
const sampleLines = 8

// decideByLines decides the framing where the first record does not end at a
// line's end, or not with its values: either records share lines, or the first is broken. If half of the
// first lines hold the values of a record, or the same share of them, the lines
// are right and the record is wrong; counted, it would shift all that follow.
func (p *Puzzle) decideByLines(buf []byte, last bool) (framing Framing, ok bool) {
	record := p.cells * len(p.parts)
	var counts []int
	for pos := 0; pos < len(buf) && len(counts) < sampleLines; {
		end, whole := lineEnd(buf, pos)
		line := buf[pos:end]
		pos = end
		if !whole && !last { // its last word may go on
			line = line[:1+bytes.LastIndexFunc(line, unicode.IsSpace)]
		}
		if kindOf(line) == valuesLine {
			counts = append(counts, p.countValues(line))
		}
		switch {
		case counts != nil && counts[0] >= 2*record:
			return Counted, true // whole records on the first line
		case !whole && !last:
			return 0, false
		}
	}
	if len(counts) < sampleLines && !last {
		return 0, false
	}
	if len(counts) == 1 {
		return 1, true
	}
	best, most := 0, 0
	for _, n := range counts {
		if record%n != 0 {
			continue
		}
		same := 0
		for _, m := range counts {
			if m == n {
				same++
			}
		}
		if same > most {
			best, most = n, same
		}
	}
	if 2*most < len(counts) || record/best > MaxLines {
		return Counted, true
	}
	return Framing(record / best), true
}

// countValues counts the values of a text; a word that is a whole board has one
// for each cell.
func (p *Puzzle) countValues(line []byte) (n int) {
	w := words{buf: line}
	for {
		word, ok := w.next()
		switch {
		case !ok:
			return n
		case p.isBoardWord(word):
			n += p.cells
		default:
			n++
		}
	}
}

func countWords(line []byte) (n int) {
	w := words{buf: line}
	for {
		if _, ok := w.next(); !ok {
			return n
		}
		n++
	}
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

// lineEnd returns the end of the line at pos, its line end included, and
// whether it has one.
func lineEnd(buf []byte, pos int) (end int, whole bool) {
	if i := bytes.IndexByte(buf[pos:], '\n'); i >= 0 {
		return pos + i + 1, true
	}
	return len(buf), false
}

type lineKind uint8

const (
	valuesLine lineKind = iota
	blankLine
	commentLine
)

func kindOf(line []byte) lineKind {
	for _, c := range line {
		switch {
		case c == '#':
			return commentLine
		case !isSpace(c):
			return valuesLine
		}
	}
	return blankLine
}

// IsBlank tells whether a line holds white space only.
func IsBlank(line []byte) bool { return kindOf(line) == blankLine }

// IsComment tells whether a line of text holds a comment only.
func IsComment(line []byte) bool { return kindOf(line) == commentLine }

// isSpace tells what separates words: white space and commas.
func isSpace(c byte) bool {
	return c == ' ' || c == ',' || c-'\t' < 5 // \t \n \v \f \r
}

// words splits a buffer into words. A # starts a comment to the line's end.
type words struct {
	buf  []byte
	pos  int // after the last word
	line int // line ends before pos
}

// next returns the next word; ok is false where none is left.
func (w *words) next() (word []byte, ok bool) {
	buf, i := w.buf, w.pos
	for i < len(buf) {
		c := buf[i]
		switch {
		case c == '\n':
			w.line++
		case c == '#':
			n := bytes.IndexByte(buf[i:], '\n')
			if n < 0 {
				w.pos = len(buf)
				return nil, false
			}
			i += n
			continue
		case !isSpace(c):
			start := i
			for i < len(buf) && !isSpace(buf[i]) && buf[i] != '#' {
				i++
			}
			w.pos = i
			return buf[start:i], true
		}
		i++
	}
	w.pos = i
	return nil, false
}

// wordNumber reads a word of one to nine digits.
func wordNumber(word []byte) (n int, ok bool) {
	if len(word) == 0 || len(word) > 9 {
		return 0, false
	}
	for _, c := range word {
		if c-'0' > 9 {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
}
