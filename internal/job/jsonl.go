package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"antipode/internal/limit"
	"antipode/internal/puzzle"
)

// jsonRecord is the fields of a line of jsonl as they stand there, nil where
// they are left out. A goal of null counts as left out; no other field may be
// null but the id, which may be any value.
type jsonRecord struct{ id, puzzle, start, goal, edges, want []byte }

// readJSON reads a line. It keeps the id of one that is invalid, too, if what
// stands up to the end of the id is JSON; of two ids the first. An id that is too
// long, or not UTF-8, is not kept.
func (r *Reader) readJSON(line []byte, rec *Record) error {
	var j jsonRecord
	err := j.read(line)
	switch {
	case len(j.id) > limit.ID:
		return fmt.Errorf("id: more than %d bytes", limit.ID)
	case utf8.Valid(j.id):
		rec.ID = j.id
	}
	if err != nil {
		return err
	}
	p, err := j.named(r)
	if err != nil {
		return err
	}
	rec.Puzzle = p
	if rec.Want = p.Want; r.chunk.Want != "" {
		rec.Want = r.want
	}
	if j.want != nil {
		word, err := readString("want", j.want)
		if err != nil {
			return err
		}
		if rec.Want, err = puzzle.ParseWant(word); err != nil {
			return fmt.Errorf(`want: "%s"; distance or moves are possible`, excerpt(word))
		}
	}
	return j.ask(r, p, &rec.Question)
}

// named returns the puzzle that a record names, or that of its chunk.
func (j *jsonRecord) named(r *Reader) (*puzzle.Puzzle, error) {
	if j.puzzle == nil && r.only != nil {
		return r.only, nil
	}
	name, err := readString("puzzle", j.puzzle)
	if err != nil {
		return nil, err
	}
	p, err := r.set.Get(name)
	if err != nil {
		return nil, fmt.Errorf(`unknown puzzle "%s"; there are %s`, excerpt(name), strings.Join(r.set.Names(), ", "))
	}
	return p, nil
}

// read finds the fields of a line and returns what is wrong first. After a wrong
// field, or one that is not UTF-8, it goes on, for the sake of the id; what is
// not JSON ends it.
func (j *jsonRecord) read(line []byte) (first error) {
	if !utf8.Valid(line) {
		first = errors.New("the line is not UTF-8")
	}
	s := scanner{line}
	err := s.fields(func(name string, value []byte) {
		field := j.field(name)
		var err error
		switch {
		case field == nil:
			err = fmt.Errorf(`unknown field "%s"; there are id, puzzle, start, goal, edges, want`, excerpt(name))
		case *field != nil:
			err = fmt.Errorf("%s: given twice", name)
		default:
			*field = value
		}
		if first == nil {
			first = err
		}
	})
	if first == nil {
		first = err
	}
	return first
}

func (j *jsonRecord) field(name string) *[]byte {
	switch name {
	case "id":
		return &j.id
	case "puzzle":
		return &j.puzzle
	case "start":
		return &j.start
	case "goal":
		return &j.goal
	case "edges":
		return &j.edges
	case "want":
		return &j.want
	}
	return nil
}

// ask makes the question of a JSON record.
func (j *jsonRecord) ask(r *Reader, p *puzzle.Puzzle, q *puzzle.Question) error {
	var space *puzzle.Space
	var err error
	switch own := p.Space() == nil; {
	case own:
		if space, err = r.readEdges(p.Cells(), j.edges); err != nil {
			return err
		}
	case j.edges != nil:
		return fmt.Errorf("edges: %s has its own", p.Name)
	}
	var start, goal puzzle.Board
	if err := readBoard(p, "start", j.start, &start); err != nil {
		return err
	}
	ownGoal := (*puzzle.Board)(nil)
	if string(j.goal) == "null" {
		j.goal = nil
	}
	if _, some := p.Goal(); j.goal != nil || !some {
		if err := readBoard(p, "goal", j.goal, &goal); err != nil {
			return err
		}
		ownGoal = &goal
	}
	p.Ask(space, &start, ownGoal, q)
	return nil
}

// scanner takes JSON apart from its start. It finds where values end by their
// quotes and brackets; json.Valid looks at what is inside.
type scanner struct{ rest []byte }

// fields gives the name and the value of each field of the object that the rest
// is, up to where it is none.
func (s *scanner) fields(give func(name string, value []byte)) error {
	if !s.skip('{') {
		return s.unexpected("a JSON object")
	}
	for more := !s.skip('}'); more; {
		if s.space(); len(s.rest) == 0 || s.rest[0] != '"' {
			return s.unexpected("the name of a field in double quotes")
		}
		quoted, err := s.value()
		if err != nil {
			return err
		}
		name := unquote(quoted)
		if !s.skip(':') {
			return s.unexpected("a colon")
		}
		value, err := s.value()
		if err != nil {
			return fmt.Errorf("%s: %w", excerpt(name), err)
		}
		give(name, value)
		switch {
		case s.skip('}'):
			more = false
		case !s.skip(','):
			return s.unexpected("a comma or a closing brace")
		}
	}
	if s.space(); len(s.rest) > 0 {
		return s.unexpected("the end of the line, one object on each,")
	}
	return nil
}

// space steps over white space.
func (s *scanner) space() {
	for len(s.rest) > 0 && strings.IndexByte(jsonSpace, s.rest[0]) >= 0 {
		s.rest = s.rest[1:]
	}
}

// skip steps over white space and c, if c is what comes then.
func (s *scanner) skip(c byte) bool {
	if s.space(); len(s.rest) == 0 || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// unexpected says what stands where something else is wanted.
func (s *scanner) unexpected(want string) error {
	rest := bytes.TrimRight(s.rest, jsonSpace)
	if len(rest) == 0 {
		return fmt.Errorf("the line breaks off where %s is wanted", want)
	}
	return fmt.Errorf("%s stands where %s is wanted", excerpt(rest), want)
}

// value takes a JSON value.
func (s *scanner) value() ([]byte, error) {
	s.space()
	n := valueEnd(s.rest)
	if n < 0 && len(s.rest) > 0 {
		return nil, fmt.Errorf("the line breaks off within %s", excerpt(s.rest))
	}
	if n < 0 || !json.Valid(s.rest[:n]) {
		return nil, s.unexpected("a JSON value")
	}
	value := s.rest[:n]
	s.rest = s.rest[n:]
	return value, nil
}

// valueEnd returns the end of the value that b starts with, -1 where b ends
// before it is seen. That of a number is not seen before what follows.
func valueEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '[', '{':
			depth++
			continue
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if i >= len(b) {
				return -1
			}
		case ']', '}':
			if depth == 0 {
				return i
			}
			depth--
		case ' ', '\t', '\r', '\n', ',', ':':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return -1
}
