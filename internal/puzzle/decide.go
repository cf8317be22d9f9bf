package puzzle

import (
	"bytes"
	"unicode"

	"antipode/internal/limit"
)

// Decide returns the framing that the first record of buf decides, whose end can
// be known. With last, no bytes follow those of buf. It is not ok where buf is too
// short to tell.
func (p *Puzzle) Decide(buf []byte, last bool) (framing Framing, ok bool) {
	return p.decide(buf, last, false)
}

// DecideNow is Decide of a buf after which nothing comes for a while: a first
// record that is whole decides without what follows it.
func (p *Puzzle) DecideNow(buf []byte) (framing Framing, ok bool) {
	return p.decide(buf, false, true)
}

func (p *Puzzle) decide(buf []byte, last, now bool) (framing Framing, ok bool) {
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
		return Framing{}, false
	case FoundNone:
		return Framing{Lines: 1}, true
	}
	framing, ok = p.decideByRecord(buf, f, last)
	if ok && framing.Lines == 1 {
		return framing, true
	}
	switch apart, known := p.decideByBlocks(buf, f, last, now); {
	case !known:
		return Framing{}, false
	case apart.Blocks > 0:
		return apart, true
	}
	return framing, ok
}

// decideByRecord decides whether records have as many lines as the first, or
// values are counted.
func (p *Puzzle) decideByRecord(buf []byte, f Frame, last bool) (framing Framing, ok bool) {
	end, whole := lineEnd(buf, f.End)
	switch {
	case kindOf(buf[f.End:end]) == valuesLine: // more values on its last line
		if p.bringsEdges() {
			return Framing{}, true
		}
		return p.decideByLines(buf, last)
	case !whole && !last:
		return Framing{}, false
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
				return Framing{}, true
			}
		}
	}
	if lines -= edges; lines < 1 || lines > limit.Lines {
		return Framing{}, true
	}
	return Framing{Lines: lines}, true
}

// Where the first record does not decide alone, so many lines or blocks do.
const (
	sampleLines  = 8
	sampleBlocks = 8
)

// decideByBlocks decides whether records stand apart: where the first is of
// several lines, the blank lines after and inside it end parts of it, and the next
// is not as long as two; or
// where the first is broken, but half of the first blocks of lines between blank
// lines are such records. The framing has no blocks where they do not. With now,
// the blocks that are whole decide.
func (p *Puzzle) decideByBlocks(buf []byte, f Frame, last, now bool) (framing Framing, ok bool) {
	start := f.Start
	ends, apart, long, whole := p.blocks(buf[start:], last)
	for n := 1; n <= min(len(p.parts), apart); n++ {
		lines, ok := p.shape(buf[start : start+ends[n-1]])
		switch {
		case !ok || lines < 2:
		case apart == n && long && p.goesOn(buf[start+ends[n-1]:start+ends[n]], lines):
			return Framing{}, true // a blank line after the first, and none after the next
		case apart == n && !whole && !now:
			return Framing{}, false
		default:
			return Framing{Lines: lines, Blocks: n}, true
		}
	}
	if !whole && !long && !now {
		return Framing{}, false
	}
	// The first record may be right as it is: one with blank lines inside looks like
	// one that is cut short, and a graph before a short one like one with lines too many.
	right := apart > 0 && (start+ends[0] < f.End || p.bringsEdges()) && p.isQuestion(buf[start:f.End])
	for n := 1; n <= min(len(p.parts), apart); n++ {
		good, all, from := 0, 0, start
		for i := n - 1; i < len(ends); i += n {
			record := buf[from : start+ends[i]]
			if lines, ok := p.shape(record); ok && lines > 1 && p.isQuestion(record) {
				if good == 0 {
					framing = Framing{Lines: lines, Blocks: n}
				}
				good++
			}
			all++
			from = start + ends[i]
		}
		if 2*good > all || good > 0 && 2*good == all && !right {
			return framing, true
		}
	}
	return Framing{}, true
}

// goesOn tells whether a block, which is longer, starts with a record of so many
// lines.
func (p *Puzzle) goesOn(block []byte, lines int) bool {
	f, _ := p.nextLines(block, Framing{Lines: lines}, true)
	n, ok := p.shape(block[:f.End])
	return ok && n == lines
}

// blocks returns where the first blocks of lines of buf end, the blank line after
// each included; apart is how many of them have one. It is whole where nothing
// that may follow is wanted. A block as long as two records, which is too long,
// is the last: where records do not stand apart, it has no end.
func (p *Puzzle) blocks(buf []byte, last bool) (ends []int, apart int, long, whole bool) {
	values, most := 0, 0 // of the block
	for pos := 0; pos < len(buf) && len(ends) < sampleBlocks; {
		end, whole := lineEnd(buf, pos)
		line := buf[pos:end]
		pos = end
		if !whole && !last {
			line = wholeWords(line)
		}
		switch kind := kindOf(line); {
		case kind == blankLine && whole && values > 0:
			ends = append(ends, pos)
			values = 0
		case kind == valuesLine:
			if values == 0 {
				most = 2 * p.recordValues(line)
			}
			if values += p.countValues(line); values >= most {
				return append(ends, pos), len(ends), true, false
			}
		}
	}
	apart = len(ends)
	if last && values > 0 {
		ends = append(ends, len(buf))
	}
	return ends, apart, false, last || len(ends) == sampleBlocks
}

// recordValues returns the number of values of the record that starts with the
// given line.
func (p *Puzzle) recordValues(line []byte) int {
	n := p.boards() * p.boardWords()
	if m, ok := edgeCount(line); ok && p.bringsEdges() {
		n += 1 + 2*m
	}
	return n
}

// isQuestion tells whether a text is a record with a question that makes sense.
func (p *Puzzle) isQuestion(text []byte) bool {
	var q Question
	return p.ReadText(text, &q) == nil && !q.Unlike
}

// wholeWords takes the last word off a line that is not whole: it may go on.
func wholeWords(line []byte) []byte {
	return line[:1+bytes.LastIndexFunc(line, unicode.IsSpace)]
}

// shape returns the number of lines of a text that is one record by its number of
// values, the lines of edges aside. It is not ok for another text, and where a
// blank line stands inside a board or among edges.
func (p *Puzzle) shape(text []byte) (lines int, ok bool) {
	edges, values := 0, 0
	for pos := 0; pos < len(text); {
		end, _ := lineEnd(text, pos)
		line := text[pos:end]
		pos = end
		switch kind := kindOf(line); {
		case kind == commentLine:
			continue
		case kind == blankLine:
			if lines > 0 && (lines <= edges || values%p.boardWords() != 0) {
				return 0, false
			}
			continue
		case p.bringsEdges() && lines == 0:
			if edges, ok = edgeCount(line); !ok {
				return 0, false
			}
		case p.bringsEdges() && lines <= edges:
			if countWords(line) != 2 {
				return 0, false
			}
		default:
			values += p.countValues(line)
		}
		lines++
	}
	lines -= edges
	return lines, values == p.boards()*p.boardWords() && lines <= limit.Lines
}

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
		if !whole && !last {
			line = wholeWords(line)
		}
		if kindOf(line) == valuesLine {
			counts = append(counts, p.countValues(line))
		}
		switch {
		case counts != nil && counts[0] >= 2*record:
			return Framing{}, true // whole records on the first line
		case !whole && !last:
			return Framing{}, false
		}
	}
	if len(counts) < sampleLines && !last {
		return Framing{}, false
	}
	if len(counts) == 1 {
		return Framing{Lines: 1}, true
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
	if 2*most < len(counts) || record/best > limit.Lines {
		return Framing{}, true
	}
	return Framing{Lines: record / best}, true
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
