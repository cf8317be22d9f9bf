package job

import (
	"cmp"
	"strconv"
	"strings"

	"antipode/internal/limit"
	"antipode/internal/puzzle"
)

// Append appends the printed answer to a record.
//
// As text: a solved record's distance, and its moves on the next line where
// moves are wanted; -1 where the goal is unreachable. A record with another
// status says so in the place of the distance, with the file and the line. An
// answer of two lines stays two lines. As jsonl: an object on a line.
//
// Where the job asks for it, how an answer was found comes after it: as text in a
// comment on its first line, as jsonl in four more fields.
func Append(dst []byte, spec *Spec, rec *Record, a *Answer) []byte {
	if spec.JSON {
		return appendJSON(dst, spec, rec, a)
	}
	return appendText(dst, spec, rec, a)
}

func appendText(dst []byte, spec *Spec, rec *Record, a *Answer) []byte {
	p := rec.Puzzle
	if p != nil && p.Case {
		dst = append(dst, "Case "...)
		dst = strconv.AppendInt(dst, int64(rec.Number), 10)
		dst = append(dst, ": "...)
	}
	switch {
	case a.Status <= Unreachable: // or solved
		dst = appendDistance(dst, a)
	default:
		dst = append(dst, a.Status.String()...)
		dst = append(dst, ": "...)
		dst = append(dst, spec.File...)
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, int64(rec.Line+a.Line), 10)
		dst = append(dst, ": "...)
		if a.Status == Exceeded {
			dst = append(dst, "at least "...)
			dst = strconv.AppendInt(dst, int64(a.LowerBound), 10)
		} else {
			dst = append(dst, oneLine(a.Reason)...)
		}
	}
	if spec.Explain && a.Method != "" {
		dst = append(dst, " # method="...)
		dst = append(dst, a.Method...)
		dst = append(dst, " nodes="...)
		dst = strconv.AppendInt(dst, a.Nodes, 10)
		dst = append(dst, " cached="...)
		dst = strconv.AppendBool(dst, a.Cached)
		dst = append(dst, " seconds="...)
		dst = strconv.AppendFloat(dst, a.Seconds, 'f', 6, 64)
	}
	dst = append(dst, '\n')
	if rec.Want == puzzle.Moves {
		if a.Status == Solved {
			dst = appendMoves(dst, rec.Question.Space, p.Separator, a.Moves)
		}
		dst = append(dst, '\n')
	}
	return dst
}

// appendDistance appends a solved record's distance, or -1. It is made to have no
// jumps that depend on them: which record of a chunk cannot be solved, and whether a
// distance has two digits, no processor foretells.
func appendDistance(dst []byte, a *Answer) []byte {
	i := a.Distance + 1
	if a.Status == Unreachable {
		i = 0
	}
	if i >= len(shortNumbers) {
		return strconv.AppendInt(dst, int64(a.Distance), 10)
	}
	n := &shortNumbers[i]
	return append(dst, n[0], n[1])[:len(dst)+int(n[2])]
}

// shortNumbers holds the characters of -1 to 99 and how many there are.
var shortNumbers = func() (all [101][3]byte) {
	for i := range all {
		all[i][2] = uint8(copy(all[i][:2], strconv.Itoa(i-1)))
	}
	return all
}()

// appendMoves appends the names of moves.
func appendMoves(dst []byte, space *puzzle.Space, separator string, moves []uint8) []byte {
	if letters := space.Letters(); letters != "" && separator == "" {
		for _, m := range moves {
			dst = append(dst, letters[m])
		}
		return dst
	}
	names := space.Moves()
	for i, m := range moves {
		if i > 0 {
			dst = append(dst, separator...)
		}
		dst = append(dst, names[m]...)
	}
	return dst
}

func appendJSON(dst []byte, spec *Spec, rec *Record, a *Answer) []byte {
	dst = append(dst, '{')
	if rec.ID != nil {
		dst = append(dst, `"id":`...)
		dst = append(dst, rec.ID...)
		dst = append(dst, ',')
	}
	dst = append(dst, `"line":`...)
	dst = strconv.AppendInt(dst, int64(rec.Line+a.Line), 10)
	dst = append(dst, `,"status":"`...)
	dst = append(dst, a.Status.String()...)
	dst = append(dst, '"')
	switch a.Status {
	case Solved:
		dst = append(dst, `,"distance":`...)
		dst = strconv.AppendInt(dst, int64(a.Distance), 10)
		if rec.Want == puzzle.Moves {
			names := rec.Question.Space.Moves()
			dst = append(dst, `,"moves":[`...)
			for i, m := range a.Moves {
				if i > 0 {
					dst = append(dst, ',')
				}
				dst = appendString(dst, names[m])
			}
			dst = append(dst, ']')
		}
	case Exceeded:
		dst = append(dst, `,"lower_bound":`...)
		dst = strconv.AppendInt(dst, int64(a.LowerBound), 10)
	case Invalid, Failed:
		dst = append(dst, `,"reason":`...)
		dst = appendString(dst, a.Reason)
	}
	if spec.Explain && a.Method != "" {
		dst = append(dst, `,"method":"`...)
		dst = append(dst, a.Method...)
		dst = append(dst, `","nodes":`...)
		dst = strconv.AppendInt(dst, a.Nodes, 10)
		dst = append(dst, `,"cached":`...)
		dst = strconv.AppendBool(dst, a.Cached)
		dst = append(dst, `,"seconds":`...)
		dst = strconv.AppendFloat(dst, a.Seconds, 'f', 6, 64)
	}
	return append(dst, "}\n"...)
}

func oneLine(s string) string {
	if strings.ContainsAny(s, "\r\n") {
		return strings.NewReplacer("\r", " ", "\n", " ").Replace(s)
	}
	return s
}

// All prints the same answer for every record of a chunk: the result of one
// that was given up, or does not travel. A JSON record keeps its id where it can
// be read. The set may lack the chunk's puzzle.
func All(c *Chunk, set *puzzle.Set, a Answer) *Result {
	res := &Result{}
	rec := Record{Number: c.FirstRecord, Line: c.FirstLine}
	if p, err := set.Get(c.Puzzle); err == nil {
		rec.Puzzle, rec.Want = p, p.Want
	}
	if w, err := puzzle.ParseWant(c.Want); err == nil {
		rec.Want = w
	}
	r, err := NewReader(c, set)
	if err == nil {
		r.neat = nil // which may have panicked before
	}
	for n := 0; n < cmp.Or(c.Records, limit.ChunkRecords); n++ {
		switch {
		case err == nil && r.Next(&rec):
			if c.Format.JSONL {
				r.readSafely(&rec)
			}
		case c.Records == 0 && (err == nil || n > 0): // one answer, where records cannot be told apart
			return res
		case n > 0: // it cannot be found
			rec.Number++
			rec.ID = nil
		}
		res.Payload = Append(res.Payload, &c.Spec, &rec, &a)
		res.Add(&a)
		res.Tally.Add(rec.Puzzle, &a)
	}
	return res
}

// readSafely reads a record that may have made a reader panic before.
func (r *Reader) readSafely(rec *Record) {
	defer func() { recover() }()
	r.Read(rec)
}
