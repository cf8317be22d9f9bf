package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"antipode/internal/puzzle"
)

// decodeStrict decodes one JSON object and nothing after it; unknown fields are
// refused by name.
func decodeStrict(line []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		var typeErr *json.UnmarshalTypeError
		switch {
		case !errors.As(err, &typeErr):
		case typeErr.Field == "":
			return fmt.Errorf("a JSON %s; want an object", typeErr.Value)
		default:
			return fmt.Errorf("%s: a JSON %s cannot stand here", typeErr.Field, typeErr.Value)
		}
		return fmt.Errorf("not a JSON object as wanted: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one JSON value on the line")
	}
	return nil
}

// isAbsent tells whether a field is left out, or null.
func isAbsent(raw json.RawMessage) bool { return raw == nil || string(raw) == "null" }

// readBoard reads a board: nested rows, a flat list, or a string as it would
// stand in a text file.
func readBoard(p *puzzle.Puzzle, field string, raw json.RawMessage, b *puzzle.Board) error {
	if isAbsent(raw) {
		return fmt.Errorf("%s: missing", field)
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if err := p.ReadBoard([]byte(text), b); err != nil {
			return fmt.Errorf("%s: %v", field, err) // its line is not one of the file
		}
		return nil
	}
	values, err := flatValues(p, raw)
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	if len(values) != p.Cells() {
		return fmt.Errorf("%s: %d values; the board has %d cells", field, len(values), p.Cells())
	}
	for i, v := range values {
		if v < 0 || v > puzzle.MaxValue {
			return fmt.Errorf("%s: %d is out of range", field, v)
		}
		b[i] = uint8(v)
	}
	if reason := p.CheckBoard(b); reason != "" {
		return fmt.Errorf("%s: %s", field, reason)
	}
	return nil
}

var errNoBoard = errors.New("want rows of numbers, a list of numbers, or a string")

func flatValues(p *puzzle.Puzzle, raw json.RawMessage) ([]int, error) {
	if bytes.Contains(raw, []byte("null")) { // which would be read as 0
		return nil, errNoBoard
	}
	var flat []int
	if json.Unmarshal(raw, &flat) == nil {
		return flat, nil
	}
	var rows [][]int
	if json.Unmarshal(raw, &rows) != nil {
		return nil, errNoBoard
	}
	flat = nil // the failed attempt left zeros
	for _, row := range rows {
		if len(row) != len(rows[0]) {
			return nil, errors.New("rows of different lengths")
		}
		flat = append(flat, row...)
	}
	if len(flat) == p.Cells() && p.Height > 0 && len(rows) != p.Height {
		return nil, fmt.Errorf("%d rows; the board has %d of %d", len(rows), p.Height, p.Width)
	}
	return flat, nil
}

func readEdges(cells int, pairs [][]int) (*puzzle.Space, error) {
	edges := make([][2]uint8, len(pairs))
	for i, pair := range pairs {
		if len(pair) != 2 || min(pair[0], pair[1]) < 1 || max(pair[0], pair[1]) > cells {
			return nil, fmt.Errorf("edges: %v is not a pair of vertices 1 to %d", pair, cells)
		}
		edges[i] = [2]uint8{uint8(pair[0] - 1), uint8(pair[1] - 1)}
	}
	return puzzle.NewGraph(cells, edges)
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
