package job

import (
	"encoding/json"
	"errors"
	"fmt"

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
}

// Reader reads the records of a chunk, one after another.
type Reader struct {
	chunk   *Chunk
	set     *puzzle.Set
	puzzle  *puzzle.Puzzle // nil for jsonl
	want    puzzle.Want
	framing puzzle.Framing
	rest    []byte
	number  int
	line    int
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
	}
	if c.Want != "" {
		if r.want, err = puzzle.ParseWant(c.Want); err != nil {
			return nil, err
		}
	}
	if r.framing = c.Format.Framing; !c.Format.JSONL && !c.Format.Known {
		r.framing, _ = r.puzzle.Decide(c.Payload, true)
	}
	return r, nil
}

// Next finds the next record, to be read by Read; it returns false after the
// last.
func (r *Reader) Next(rec *Record) bool {
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

// jsonRecord is a line of jsonl.
type jsonRecord struct {
	ID     json.RawMessage `json:"id"`
	Puzzle string          `json:"puzzle"`
	Start  json.RawMessage `json:"start"`
	Goal   json.RawMessage `json:"goal"`
	Edges  [][]int         `json:"edges"`
	Want   string          `json:"want"`
}

// maxID is the longest id that is kept, in bytes.
const maxID = 1 << 10

func (r *Reader) readJSON(line []byte, rec *Record) error {
	var j jsonRecord
	decodeErr := decodeStrict(line, &j)
	if len(j.ID) > maxID {
		return fmt.Errorf("id: more than %d bytes", maxID)
	}
	rec.ID = j.ID
	if decodeErr != nil {
		return decodeErr
	}
	if j.Puzzle == "" {
		return errors.New("puzzle: missing")
	}
	p, err := r.set.Get(j.Puzzle)
	if err != nil {
		return err
	}
	rec.Puzzle = p
	if rec.Want = p.Want; r.chunk.Want != "" {
		rec.Want = r.want
	}
	if j.Want != "" {
		if rec.Want, err = puzzle.ParseWant(j.Want); err != nil {
			return err
		}
	}
	return j.ask(p, &rec.Question)
}

// ask makes the question of a JSON record.
func (j *jsonRecord) ask(p *puzzle.Puzzle, q *puzzle.Question) error {
	var space *puzzle.Space
	var err error
	switch own := p.Space() == nil; {
	case own && j.Edges == nil:
		return errors.New("edges: missing")
	case own:
		if space, err = readEdges(p.Cells(), j.Edges); err != nil {
			return err
		}
	case j.Edges != nil:
		return fmt.Errorf("edges: %s has its own", p.Name)
	}
	var start, goal puzzle.Board
	if err := readBoard(p, "start", j.Start, &start); err != nil {
		return err
	}
	ownGoal := (*puzzle.Board)(nil)
	if _, some := p.Goal(); !isAbsent(j.Goal) || !some {
		if err := readBoard(p, "goal", j.Goal, &goal); err != nil {
			return err
		}
		ownGoal = &goal
	}
	p.Ask(space, &start, ownGoal, q)
	return nil
}
