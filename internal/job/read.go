package job

import (
	"encoding/json"
	"errors"
	"strings"

	"antipode/internal/puzzle"
)

// Record is one record of a chunk, read.
type Record struct {
	Number   int             // in the job file, from 1
	Line     int             // of the job file, from 1
	ID       json.RawMessage // the user's, of a JSON record; nil where there is none
	Puzzle   *puzzle.Puzzle  // nil where a JSON record names none
	Want     puzzle.Want
	Question puzzle.Question
	Invalid  *puzzle.RecordError // not nil where the record could not be read

	text []byte
	read bool // by Next, so that Read has nothing left to do
}

// Reader reads the records of a chunk, one after another.
type Reader struct {
	chunk   *Chunk
	set     *puzzle.Set
	puzzle  *puzzle.Puzzle // nil for jsonl
	only    *puzzle.Puzzle // of jsonl records that name none; nil unless the chunk names one, and no more
	want    puzzle.Want
	framing puzzle.Framing
	neat    *puzzle.Neat // nil where no records are neat
	rest    []byte
	number  int
	line    int
	last    edges // of the JSON record that brought its own last
}

// edges are those of a graph as they stand in a record, and their space.
type edges struct {
	text  []byte
	cells int
	space *puzzle.Space
}

// NewReader returns a Reader of a chunk's records. Its error says that the
// chunk's puzzle is unknown, or what it wants.
func NewReader(c *Chunk, set *puzzle.Set) (*Reader, error) {
	r := &Reader{chunk: c, set: set, rest: c.Payload, number: c.FirstRecord, line: c.FirstLine}
	var err error
	if !c.Format.JSONL {
		if r.puzzle, err = set.Get(c.Puzzle); err != nil {
			return nil, err
		}
		r.want = r.puzzle.Want
	} else if named := strings.Fields(c.Puzzle); len(named) == 1 {
		r.only, _ = set.Get(named[0])
	}
	if c.Want != "" {
		if r.want, err = puzzle.ParseWant(c.Want); err != nil {
			return nil, err
		}
	}
	if r.framing = c.Format.Framing; !c.Format.JSONL && !c.Format.Known {
		r.framing, _ = r.puzzle.Decide(c.Payload, true)
	}
	if !c.Format.JSONL {
		r.neat = r.puzzle.NewNeat(r.framing)
	}
	return r, nil
}

// Next finds the next record, to be read by Read; it returns false after the
// last. One that is neat it reads in passing.
func (r *Reader) Next(rec *Record) bool {
	if r.neat != nil {
		if size, lines := r.neat.Read(r.rest, &rec.Question); size > 0 {
			if !rec.read || rec.Puzzle != r.puzzle {
				*rec = Record{Puzzle: r.puzzle, Question: rec.Question, read: true}
			}
			rec.Number, rec.Line, rec.Want = r.number, r.line, r.want
			r.rest = r.rest[size:]
			r.number++
			r.line += lines
			return true
		}
	}
	var f puzzle.Frame
	var found puzzle.Found
	if r.puzzle == nil {
		f, found = nextLine(r.rest, true)
	} else {
		f, found = r.puzzle.Next(r.rest, r.framing, true)
	}
	if found == puzzle.FoundNone {
		return false
	}
	*rec = Record{Number: r.number, Line: r.line + f.Line, Puzzle: r.puzzle, Want: r.want, text: r.rest[f.Start:f.End]}
	r.rest = r.rest[f.End:]
	r.number++
	r.line += f.Line + f.Lines
	return true
}

// Read reads a record that Next found: its question, or why it is invalid.
func (r *Reader) Read(rec *Record) {
	if rec.read {
		return
	}
	var err error
	if r.puzzle == nil {
		err = r.readJSON(rec.text, rec)
	} else {
		err = r.puzzle.ReadText(rec.text, &rec.Question)
	}
	if err != nil && !errors.As(err, &rec.Invalid) {
		rec.Invalid = &puzzle.RecordError{Reason: err.Error()}
	}
}
