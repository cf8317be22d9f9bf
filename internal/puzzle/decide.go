package puzzle

import (
	"bytes"
	"unicode"
)

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
