package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"antipode/internal/limit"
	"antipode/internal/puzzle"
)

// The values that are read here are JSON by now; nil is a field that is left out.

// readString reads a field that must be a string.
func readString(field string, raw []byte) (string, error) {
	switch {
	case raw == nil:
		return "", fmt.Errorf("%s: missing", field)
	case raw[0] != '"':
		return "", fmt.Errorf("%s: %s is not a string", field, excerpt(raw))
	}
	return unquote(raw), nil
}

// readBoard reads a board: nested rows, a flat list, or a string as it would
// stand in a text file.
func readBoard(p *puzzle.Puzzle, field string, raw []byte, b *puzzle.Board) error {
	switch {
	case raw == nil:
		return fmt.Errorf("%s: missing", field)
	case raw[0] == '"':
		if err := p.ReadBoard([]byte(unquote(raw)), b); err != nil {
			reason := strings.ReplaceAll(err.Error(), "…", "...") // its line is not one of the file
			return fmt.Errorf("%s: %s", field, reason)
		}
		return nil
	case raw[0] != '[':
		return fmt.Errorf("%s: %s is no board; want rows of numbers, a list of numbers, or a string", field, excerpt(raw))
	}
	n, err := readValues(p, raw, b)
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	if n != p.Cells() {
		return fmt.Errorf("%s: %d values; the board has %d cells", field, n, p.Cells())
	}
	if reason := p.CheckBoard(b); reason != "" {
		return fmt.Errorf("%s: %s", field, reason)
	}
	return nil
}

// readValues reads a list of numbers, or of rows of numbers, and returns how many
// there are. Those that the board has no cells for are counted only.
func readValues(p *puzzle.Puzzle, list []byte, b *puzzle.Board) (n int, err error) {
	from, to, _ := p.Values()
	if p.HasBlank() {
		from = 0
	}
	read := func(row []byte) error {
		for e := range elements(row) {
			v, err := readNumber(e, from, to)
			if err != nil {
				return err
			}
			if n < len(b) {
				b[n] = uint8(v)
			}
			n++
		}
		return nil
	}
	if s := (scanner{list[1:]}); !s.skip('[') {
		return n, read(list)
	}
	rows, width := 0, 0
	for row := range elements(list) {
		if row[0] != '[' {
			return n, fmt.Errorf("%s is not a row of numbers, as those before it", excerpt(row))
		}
		before := n
		if err := read(row); err != nil {
			return n, err
		}
		if rows++; rows > 1 && n-before != width {
			return n, fmt.Errorf("rows of different lengths, %d and %d", width, n-before)
		}
		width = n - before
	}
	if n == p.Cells() && p.Height > 0 && rows != p.Height {
		return n, fmt.Errorf("%d rows; the board has %d of %d", rows, p.Height, p.Width)
	}
	return n, nil
}

// readEdges reads a list of pairs of vertices. The space of the last is remembered,
// for records that bring the same, written alike.
func (r *Reader) readEdges(cells int, raw []byte) (*puzzle.Space, error) {
	if r.last.space != nil && r.last.cells == cells && bytes.Equal(r.last.text, raw) {
		return r.last.space, nil
	}
	space, err := readEdges(cells, raw)
	if err == nil {
		r.last = edges{raw, cells, space}
	}
	return space, err
}

func readEdges(cells int, raw []byte) (*puzzle.Space, error) {
	switch {
	case raw == nil:
		return nil, errors.New("edges: missing")
	case raw[0] != '[':
		return nil, fmt.Errorf("edges: %s is not a list of pairs of numbers", excerpt(raw))
	}
	var edges [][2]uint8
	for pair := range elements(raw) {
		if len(edges) == limit.Edges {
			return nil, fmt.Errorf("edges: more than %d", limit.Edges)
		}
		edge, ok := readPair(cells, pair)
		if !ok {
			return nil, fmt.Errorf("edges: %s is not a pair of vertices, which are numbers from 1 to %d", excerpt(pair), cells)
		}
		edges = append(edges, edge)
	}
	return puzzle.NewGraph(cells, edges)
}

func readPair(cells int, raw []byte) (edge [2]uint8, ok bool) {
	if raw[0] != '[' {
		return edge, false
	}
	n := 0
	for e := range elements(raw) {
		v, err := readNumber(e, 1, cells)
		if err != nil || n == len(edge) {
			return edge, false
		}
		edge[n] = uint8(v - 1)
		n++
	}
	return edge, n == len(edge)
}

// readNumber reads a whole number without fraction and exponent.
func readNumber(raw []byte, from, to int) (int, error) {
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < from || n > to {
		return 0, fmt.Errorf("%s is not a whole number from %d to %d", excerpt(raw), from, to)
	}
	return n, nil
}

// elements are the elements of a list.
func elements(list []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		s := scanner{list[1:]}
		for !s.skip(']') {
			n := valueEnd(s.rest)
			if !yield(s.rest[:n]) {
				return
			}
			s.rest = s.rest[n:]
			s.skip(',')
		}
	}
}

// unquote returns what a string says.
func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	_ = json.Unmarshal(raw, &s) // a string is read always
	return s
}

// excerpt shows the start of a text on a line of ASCII.
func excerpt[T string | []byte](text T) string {
	const most = 40 // bytes
	more := ""
	if len(text) > most {
		text, more = text[:most], "..."
	}
	quoted := strconv.QuoteToASCII(string(text))
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`) + more
}

// appendString appends s as a JSON string.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // a string always marshals
			return append(dst, quoted...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}
