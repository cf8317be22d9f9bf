package puzzle

import (
	"errors"
	"strings"
	"testing"
)

// Every layout of the same board gives the same question.
func TestLayouts(t *testing.T) {
	for _, c := range []struct {
		puzzle string
		want   Question
		texts  []string
	}{
		{"eight", Question{Start: Pack([]uint8{1, 4, 2, 3, 0, 5, 6, 7, 8}), Goal: Pack([]uint8{0, 1, 2, 3, 4, 5, 6, 7, 8}), Distinct: true}, []string{
			"1 4 2 3 0 5 6 7 8\n",
			"1 4 2\n3 0 5\n6 7 8",
			"1 4 2\r\n3 0 5\r\n6 7 8\r\n",
			"\t1,4,2, 3,0,5 ,6,7,8",
			"142305678",
			"1423X5678\n",
			"1423x5678 # a comment",
			"1423_5678",
			"1423.5678#",
			"1 4 2 3 X 5 6 7 8",
			"1 4 2 # first row\n3 . 5#\n# all but the last\n\n6 7 8",
			"01 04 02 03 00 05 06 07 08",
			"\v1\f4 2 3 0 5 6 7\r8",
		}},
		{"eight2", Question{Start: Pack([]uint8{0, 1, 2, 3, 4, 5, 6, 7, 8}), Goal: Pack([]uint8{1, 0, 2, 3, 4, 5, 6, 7, 8}), Distinct: true}, []string{
			"X87654321 8X7654321",
			"X87654321\n8X7654321\n",
			"X87654321\n8 0 7 6 5 4 3 2 1\n",
			"X 8 7\n6 5 4\n3 2 1\n8x7654321",
		}},
		{"rotegame", Question{Start: Pack([]uint8{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1}), Goal: Pack([]uint8{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1})}, []string{
			"7 7 7 100\n100 100 7 7\n7 100 100 100\n7 100 7 100\n7 100 7 100\n7 100 7 100\n",
			"7 7 7 100 100 100 7 7 7 100 100 100 7 100 7 100 7 100 7 100 7 100 7 100",
		}},
	} {
		p := builtin(t, c.puzzle)
		c.want.Space = p.Space()
		for _, text := range c.texts {
			var q Question
			if err := p.ReadText([]byte(text), &q); err != nil || q != c.want {
				t.Errorf("%s %q: %+v, %v", c.puzzle, text, q, err)
			}
		}
	}
}

// A graph's record gives the vertex of each piece: piece 1 on vertex 3 is label
// 1 on cell 2.
func TestPlaces(t *testing.T) {
	p := builtin(t, "graph")
	var q Question
	if err := p.ReadText([]byte("2\n1 2\n3 9\n3 9 2 4 5 6 7 8\n"), &q); err != nil {
		t.Fatal(err)
	}
	if want := Pack([]uint8{0, 3, 1, 4, 5, 6, 7, 8, 2}); q.Start != want || q.Goal != Pack([]uint8{1, 2, 3, 4, 5, 6, 7, 8, 0}) || !q.Distinct || q.Space == nil {
		t.Errorf("got %+v", q)
	}
	same, err := NewGraph(9, [][2]uint8{{8, 2}, {1, 0}})
	if err != nil || q.Space.Fingerprint() != same.Fingerprint() {
		t.Errorf("another graph: %v", q.Space)
	}
}

func TestRecordErrors(t *testing.T) {
	for _, c := range []struct {
		name, puzzle, text string
		line               int
		want               string // in the reason
	}{
		{"eight values", "eight", "0 1 2 3 4 5 6 7\n", 0, "8 values"},
		{"eight values, then blank lines", "eight", "0 1 2\n3 4 5\n6 7\n\n\n", 2, "8 values"},
		{"no values", "eight", "", 0, "0 values"},
		{"ten values", "eight", "0 1 2 3 4 5 6 7 8 8\n", 0, `"8" is too much`},
		{"ten values on lines", "eight", "0 1 2\n3 4 5\n6 7 8\n8\n", 3, `"8" is too much`},
		{"a number twice", "eight", "1 1 2 3 0 4 5 6 7", 0, "1 stands on it twice"},
		{"no blank", "eight", "1 2 3 4 5 6 7 8 9", 0, "9 is out of range"},
		{"a sign", "eight", "0 1 2 3 4 5 6 7 -8", 0, `"-8" is not a value`},
		{"a plus", "eight", "0 1 2 3 4 5 6 7 +8", 0, `"+8" is not a value`},
		{"a fraction", "eight", "0 1 2\n3 4 5\n6 7 8.0", 2, `"8.0" is not a value`},
		{"out of range", "eight", "0 1 2 3 4 5 6 7 18", 0, "18 is out of range"},
		{"beyond a byte", "eight", "0 1 2 3 4 5 6 7 264", 0, `"264" is not a value`},
		{"beyond a word", "eight", "0 1 2 3 4 5 6 7 18446744073709551624", 0, `"18446744073709551624" is not a value`},
		{"a star", "eight", "1 4 2 3 * 5 6 7 8", 0, `"*" is not a value`},
		{"two blanks in a word", "eight", "XX3456781", 0, "the blank stands on it twice"},
		{"no blank in a word", "eight", "123456789", 0, "9 is out of range"},
		{"a word too short", "eight", "12345678", 0, `"12345678" is not a value`},
		{"a word too long", "eight", "12345678X0", 0, `"12345678X0" is not a value`},
		{"a word inside a board", "eight", "1 234567800", 0, `"234567800" is not a value`},
		{"hexadecimal", "eight", "0 1 2 3 4 5 6 7 0x8", 0, `"0x8" is not a value`},
		{"other digits", "eight", "٠ 1 2 3 4 5 6 7 8", 0, "is not a value"},
		{"a byte order mark inside", "eight", "\ufeff0 1 2 3 4 5 6 7 8", 0, `"\ufeff0" is not a value`},
		{"a zero byte", "eight", "0 1 2 3 4 5 6 7 \x00", 0, `"\x00" is not a value`},
		{"a long word", "eight", strings.Repeat("a", 1000), 0, `"` + strings.Repeat("a", 32) + `"…`},
		{"0 to 8 for swap", "swap", "0 1 2\n3 4 5\n6 7 8", 2, "0 is out of range"},
		{"a blank for swap", "swap", "1 2 3 4 5 6 7 8 X", 0, `"X" is not a value`},
		{"8 twice", "swap", "1 2 3\n4 5 6\n7 8 8", 2, "8 stands on it twice"},
		{"only one board", "eight2", "12345678X\n", 0, "second board has 0 values"},
		{"the second board is wrong", "eight2", "12345678X\n12345678\n", 1, `"12345678" is not a value of the second board`},
		{"a third board", "eight2", "12345678X\n12345678X\n12345678X", 2, "too much"},
		{"value 0", "rotegame", "0 1 1 1 1 1 1 1 1 1 1 1\n1 1 1 1 1 1 1 1 1 1 1 1", 0, "0 is out of range"},
		{"value 101", "rotegame", "1 1 1 1 1 1 1 1 1 1 1 1\n1 1 1 1 1 1 1 1 1 1 1 101", 1, "101 is out of range"},
		{"23 values", "rotegame", "1 1 1 1 1 1 1 1 1 1 1 1\n1 1 1 1 1 1 1 1 1 1 1\n", 1, "11 values"},
		{"vertex 0", "graph", "1\n0 1\n1 2 3 4 5 6 7 8", 1, `"0" is not a vertex 1 to 9`},
		{"vertex 10", "graph", "1\n1 10\n1 2 3 4 5 6 7 8", 1, `"10" is not a vertex 1 to 9`},
		{"a piece twice", "graph", "1\n1 9\n1 1 3 4 5 6 7 8", 2, "two pieces on vertex 1"},
		{"a piece on vertex 0", "graph", "1\n1 9\n1 0 3 4 5 6 7 8", 2, `piece 2 on "0"`},
		{"a piece on no vertex", "graph", "1\n1 9\n1 x 3 4 5 6 7 8", 2, `piece 2 on "x"`},
		{"seven pieces", "graph", "1\n1 9\n1 2 3 4 5 6 7\n\n", 2, "7 pieces"},
		{"nine pieces", "graph", "1\n1 9\n1 2 3 4 5 6 7 8 9\n", 2, "too much"},
		{"too few edges", "graph", "9\n1 2\n1 3\n", 2, "2 of 9 edges"},
		{"half an edge", "graph", "2\n1 2\n1\n", 2, "1 of 2 edges"},
		{"edges without a number", "graph", "x\n1 2\n", 0, `"x" is not a number of edges`},
		{"too many edges to believe", "graph", "1025\n1 2\n", 0, `"1025" is not a number of edges`},
		{"a negative number of edges", "graph", "-1\n1 2 3 4 5 6 7 8\n", 0, `"-1" is not a number of edges`},
	} {
		t.Run(c.puzzle+": "+c.name, func(t *testing.T) {
			var q Question
			err := builtin(t, c.puzzle).ReadText([]byte(c.text), &q)
			var rec *RecordError
			if !errors.As(err, &rec) {
				t.Fatalf("got %v, %+v", err, q)
			}
			if rec.Line != c.line || !strings.Contains(rec.Reason, c.want) {
				t.Errorf("line %d: %s; want line %d, %s", rec.Line, rec.Reason, c.line, c.want)
			}
		})
	}
}

// The words and values of definitions other than the built-in ones.
func TestValuesOfOtherPuzzles(t *testing.T) {
	high := parsed(t, strings.Replace(slide2x2, "goal: [1, 2, 3, 0]", "values: {from: 253, to: 255}\ngoal: [253, 254, 255, 0]", 1))
	low := parsed(t, strings.Replace(swap2x2, "goal: [1, 2, 3, 4]", "values: {from: 0, to: 3}\ngoal: [0, 1, 2, 3]", 1))
	large := parsed(t, strings.Replace(strings.Replace(slide2x2, "width: 2\nheight: 2", "width: 4\nheight: 4", 1),
		"[1, 2, 3, 0]", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0]", 1))
	pair := parsed(t, "cells: 2\nmoves: [{name: a, cycles: (1 2)}]\nvalues: {from: 0, to: 99, repeat: true}\nrecord: {parts: [start, goal]}\nanswer: {want: moves, separator: \"\"}\nchunk: 1\n")
	for _, c := range []struct {
		puzzle *Puzzle
		text   string
		want   *Board // nil: an error
	}{
		{pair, "12 34", board(12, 34)}, // no word is a board where values have two digits
		{pair, "12", nil},
		{high, "255 X 253 254", board(255, 0, 253, 254)},
		{high, "255 0 253 252", nil},
		{high, "1 0 2 3", nil},
		{low, "0 3 2 1", board(0, 3, 2, 1)},
		{low, "0321", board(0, 3, 2, 1)},
		{low, "032X", nil},
		{low, "0 3 2 4", nil},
		{large, "15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0", board(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)},
		{large, "1 2 3 4 5 6 7 8 9 10 11 12 13 15 14 _", board(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 14, 0)},
		{large, "0123456789101112131415", nil},
		{large, "0123456789abcdef", nil},
		{large, "0123456789012345", nil},
	} {
		var b Board
		err := c.puzzle.ReadBoard([]byte(c.text), &b)
		switch {
		case c.want == nil && err == nil:
			t.Errorf("%q: accepted as %v", c.text, b)
		case c.want != nil && (err != nil || b != *c.want):
			t.Errorf("%q: %v, %v", c.text, b, err)
		}
	}
}
