package puzzle

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		name, puzzle, text string
		want               int
	}{
		{"a line each", "eight", "1 4 2 3 0 5 6 7 8\n8 7 6 0 4 1 2 5 3\n", 1},
		{"a line each, the last without its end", "eight", "1 4 2 3 0 5 6 7 8", 1},
		{"a word each", "eight", "142305678\n876041253\n", 1},
		{"three lines each", "eight", "1 4 2\n3 0 5\n6 7 8\n8 7 6\n", 3},
		{"a value a line", "eight", "1\n4\n2\n3\n0\n5\n6\n7\n8\n8\n", 9},
		{"lines of different lengths", "eight", "1 4 2 3\n0 5 6 7 8\n", 2},
		{"blank lines and comments aside", "eight", "\n# one\n1 4 2\n\n3 0 5 # two\n  # three\n6 7 8 # four\n8 7 6\n", 3},
		{"all on one line", "eight", "1 4 2 3 0 5 6 7 8 8 7 6 0 4 1 2 5 3\n", 0},
		{"a record that ends inside a line", "eight", "1 4 2 3 0\n5 6 7 8 8 7\n6 0 4 1 2 5 3\n", 0},
		{"words on one line", "eight", "142305678 876041253\n", 0},
		{"carriage returns only", "eight", "1 4 2 3 0 5 6 7 8\r8 7 6 0 4 1 2 5 3\r", 0},
		{"nothing", "eight", "\n \n# nothing\n", 1},
		{"two words, a line each", "eight2", "12X453786\n12345678X\n", 2},
		{"two words on a line", "eight2", "12X453786 12345678X\n", 1},
		{"six lines", "rotegame", "1 1 1 1\n1 1 1 1\n1 1 1 1\n1 1 1 1\n1 1 1 1\n1 1 1 1\n2 2 2 2\n", 6},
		{"a value a line of two boards", "rotegame", strings.Repeat("1\n", 24) + "2\n", 24},
		{"a graph", "graph", "2\n1 2\n1 3\n1 2 3 4 5 6 7 8\n5\n", 2},
		{"a graph, its pieces on lines", "graph", "1\n1 2\n1 2 3 4\n5 6 7 8\n", 3},
		{"a graph without edges", "graph", "0\n1 2 3 4 5 6 7 8\n5\n", 2},
		{"a graph, edges on one line", "graph", "2\n1 2 1 3\n1 2 3 4 5 6 7 8\n", 0},
		{"a graph on one line", "graph", "2 1 2 1 3 1 2 3 4 5 6 7 8\n", 0},
		{"a graph, an edge on the line of the number", "graph", "2 1 2\n1 3\n1 2 3 4 5 6 7 8\n", 0},
		{"a graph, pieces on the line of the last edge", "graph", "1\n1 2 1 2 3 4\n5 6 7 8\n", 0},
		{"a graph after an unknown end", "graph", "x\n1 2\n1 2 3 4 5 6 7 8\n\n\n1\n1 2\n1 2 3 4 5 6 7 8\n", 2},
		{"graphs on a line after an unknown end", "graph", "1025 1 2\n\n1 1 2 1 2 3 4 5 6 7 8", 0},
		{"no end can be known", "graph", "x\n1 2\n\ny\n\n", 1},
		{"two graphs on a line", "graph", "0 1 2 3 4 5 6 7 8 0 1 2 3 4 5 6 7 8\n", 0},
	} {
		p := builtin(t, c.puzzle)
		if got, ok := p.Decide([]byte(c.text), true); !ok || got != (Framing{Lines: c.want}) {
			t.Errorf("%s: %+v, %v; want %d lines", c.name, got, ok, c.want)
		}
		// The start of a file either says the same or too little.
		for n := range len(c.text) {
			if got, ok := p.Decide([]byte(c.text[:n]), false); ok && got != (Framing{Lines: c.want}) {
				t.Errorf("%s: after %d bytes %+v; want %d lines", c.name, n, got, c.want)
			}
		}
	}
}

// framed finds all records of a text, each with its lines: from-to:"text".
func framed(p *Puzzle, text string, framing Framing) (records []string) {
	line := 1
	for {
		f, found := p.Next([]byte(text), framing, true)
		if found != FoundOne {
			return records
		}
		line += f.Line
		records = append(records, fmt.Sprintf("%d-%d:%q", line, line+f.Lines, text[f.Start:f.End]))
		line += f.Lines
		text = text[f.End:]
	}
}

func TestNext(t *testing.T) {
	for _, c := range []struct {
		name, puzzle string
		framing      int
		text         string
		want         []string
	}{
		{"a line each", "eight", 1, "142305678\n\n# no\n876041253 # yes\n  \n", []string{`1-2:"142305678\n"`, `4-5:"876041253 # yes\n"`}},
		{"the last line without its end", "eight", 1, "142305678\n876041253", []string{`1-2:"142305678\n"`, `2-2:"876041253"`}},
		{"a broken line is broken alone", "eight", 1, "1 2 3\n1 4 2 3 0 5 6 7 8 9 9\n876041253\n", []string{`1-2:"1 2 3\n"`, `2-3:"1 4 2 3 0 5 6 7 8 9 9\n"`, `3-4:"876041253\n"`}},
		{"three lines each", "eight", 3, "\n1 4 2\n3 0 5\n\n6 7 8\n8 7 6\n0 4 1\n2 5 3\n", []string{`2-6:"1 4 2\n3 0 5\n\n6 7 8\n"`, `6-9:"8 7 6\n0 4 1\n2 5 3\n"`}},
		{"what is left", "eight", 3, "1 4 2\n3 0 5\n6 7 8\n8 7 6\n", []string{`1-4:"1 4 2\n3 0 5\n6 7 8\n"`, `4-5:"8 7 6\n"`}},
		{"counted on a line", "eight", 0, "1 4 2 3 0 5 6 7 8 876041253 8\n7 6 0 4 1 2 5 3\n", []string{`1-1:"1 4 2 3 0 5 6 7 8"`, `1-1:"876041253"`, `1-2:"8\n7 6 0 4 1 2 5 3"`}},
		{"counted, comments aside", "eight", 0, "1 4 2 # 9 9\n3 0 5#9\n6 7 8 8 7 6", []string{`1-3:"1 4 2 # 9 9\n3 0 5#9\n6 7 8"`, `3-3:"8 7 6"`}},
		{"counted, blank lines before", "eight", 0, "\n\n# 1\n1 4 2 3 0\n5 6 7 8 142\n305678\n\n\n142305678", []string{`4-5:"1 4 2 3 0\n5 6 7 8"`, `5-9:"142\n305678\n\n\n142305678"`}},
		{"two boards", "eight2", 0, "12X453786 1 2 3 4 5 6 7 8 X 12X453786\n12X453786", []string{`1-1:"12X453786 1 2 3 4 5 6 7 8 X"`, `1-2:"12X453786\n12X453786"`}},
		{"graphs of different sizes", "graph", 2, "1\n1 2\n1 2 3 4 5 6 7 8\n0\n1 2 3 4 5 6 7 8\n2\n1 2\n2 3\n1 2 3 4 5 6 7 8\n",
			[]string{`1-4:"1\n1 2\n1 2 3 4 5 6 7 8\n"`, `4-6:"0\n1 2 3 4 5 6 7 8\n"`, `6-10:"2\n1 2\n2 3\n1 2 3 4 5 6 7 8\n"`}},
		{"graphs counted", "graph", 0, "1 1 2 1 2 3 4 5 6 7 8 0 1 2 3 4\n5 6 7 8", []string{`1-1:"1 1 2 1 2 3 4 5 6 7 8"`, `1-2:"0 1 2 3 4\n5 6 7 8"`}},
		{"an end that cannot be known is the next blank line", "graph", 2, "x\n1 2\n1 2 3 4 5 6 7 8\n\n0\n1 2 3 4 5 6 7 8\n",
			[]string{`1-5:"x\n1 2\n1 2 3 4 5 6 7 8\n\n"`, `5-7:"0\n1 2 3 4 5 6 7 8\n"`}},
		{"the same, counted", "graph", 0, "0 1 2 3 4 5 6 7 8 x\n1 2\n \n0 1 2 3 4 5 6 7 8\n", []string{`1-1:"0 1 2 3 4 5 6 7 8"`, `1-4:"x\n1 2\n \n"`, `4-4:"0 1 2 3 4 5 6 7 8"`}},
		{"or the end of the file", "graph", 2, "1025\n1 2\n1 2 3 4 5 6 7 8\n", []string{`1-4:"1025\n1 2\n1 2 3 4 5 6 7 8\n"`}},
		{"two numbers for the number of edges", "graph", 2, "1 1\n2 2\n\n0\n1 2 3 4 5 6 7 8\n", []string{`1-4:"1 1\n2 2\n\n"`, `4-6:"0\n1 2 3 4 5 6 7 8\n"`}},
		{"nothing", "eight", 1, " \n# nothing\n\n", nil},
		{"nothing counted", "eight", 0, " \n# nothing\n\n", nil},
	} {
		p := builtin(t, c.puzzle)
		if got := framed(p, c.text, Framing{Lines: c.framing}); !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// A record is found as soon as its end is certain, and never too soon: with more
// to come, the start of a text gives the same first record or too little.
func TestNextOfAnUnfinishedBuffer(t *testing.T) {
	for _, c := range []struct {
		puzzle  string
		framing int
		text    string
	}{
		{"eight", 1, "# a\n\n142305678 # b\n876041253\n"},
		{"eight", 3, "1 4 2\n# a\n3 0 5\n\n6 7 8\n8 7 6\n"},
		{"eight", 0, " 1 4 2\n# a\n3 0 5 6 7 8 8 7 6"},
		{"eight2", 0, "12X453786 12345678X 1"},
		{"graph", 2, "2\n1 2\n2 3\n1 2 3 4 5 6 7 8\n0\n"},
		{"graph", 0, "2 1 2 2 3 1 2 3 4 5 6 7 8 0"},
		{"graph", 2, "x\n1\n\n0\n"},
		{"graph", 0, "x 1\n2\n\n0 "},
	} {
		p := builtin(t, c.puzzle)
		want, _ := p.Next([]byte(c.text), Framing{Lines: c.framing}, true)
		for n := range len(c.text) + 1 {
			got, found := p.Next([]byte(c.text[:n]), Framing{Lines: c.framing}, false)
			switch {
			case found == FoundOne && got != want:
				t.Errorf("%s %d %q: %+v, want %+v", c.puzzle, c.framing, c.text[:n], got, want)
			case found == FoundNone:
				t.Errorf("%s %d %q: none left, with more to come", c.puzzle, c.framing, c.text[:n])
			case found == FoundPart && n > want.End+1:
				t.Errorf("%s %d %q: too little, though its end is at %d", c.puzzle, c.framing, c.text[:n], want.End)
			}
		}
	}
}

func TestReadCount(t *testing.T) {
	for _, c := range []struct {
		text  string
		last  bool
		n     int
		found Found
		ok    bool
	}{
		{"12\n", false, 12, FoundOne, true},
		{"12", false, 0, FoundPart, false}, // 123?
		{"12", true, 12, FoundOne, true},
		{"\n# boards\n 0 \n", false, 0, FoundOne, true},
		{"", true, 0, FoundNone, false},
		{"\n \n", true, 0, FoundNone, false},
		{"\n \n", false, 0, FoundPart, false},
		{"X\n", false, 0, FoundOne, false},
		{"-1\n", false, -1, FoundOne, false},
		{"1.5\n", false, 0, FoundOne, false},
	} {
		n, _, found, ok := builtin(t, "eight").ReadCount([]byte(c.text), c.last)
		if found != c.found || ok != c.ok || ok && n != c.n {
			t.Errorf("%q, last %v: %d, %v, %v", c.text, c.last, n, found, ok)
		}
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		line           string
		blank, comment bool
	}{
		{"", true, false},
		{" \t,\r\n", true, false},
		{"# x\n", false, true},
		{" , # x", false, true},
		{"0 # x", false, false},
		{"x", false, false},
		{"\ufeff", false, false},
	} {
		if IsBlank([]byte(c.line)) != c.blank || IsComment([]byte(c.line)) != c.comment {
			t.Errorf("%q: blank %v, comment %v", c.line, IsBlank([]byte(c.line)), IsComment([]byte(c.line)))
		}
	}
}

// A first record with a value too few or too many does not shift the records
// after it.
func TestDecideWithABrokenFirstRecord(t *testing.T) {
	tests := []struct {
		name, puzzle, text string
		want               int
	}{
		{"a value too few, in rows", "swap", "1 2 3\n4 5 6\n7 8\n1 2 3\n4 5 6\n7 8 9\n1 2 3\n4 5 6\n7 8 9\n", 3},
		{"a value too few, in the first row", "swap", "1 2\n4 5 6\n7 8 9\n1 2 3\n4 5 6\n7 8 9\n", 3},
		{"a value too many, in rows", "swap", "1 2 3\n4 5 6\n7 8 9 9\n1 2 3\n4 5 6\n7 8 9\n", 3},
		{"a value too few, a board a line", "swap", "1 2 3 4 5 6 7 8\n1 2 3 4 5 6 7 8 9\n2 1 3 4 5 6 7 8 9\n", 1},
		{"a value too many, a board a line", "swap", "1 2 3 4 5 6 7 8 9 9\n1 2 3 4 5 6 7 8 9\n", 1},
		{"a value too many, alone", "swap", "1 2 3 4 5 6 7 8 9 9\n", 1},
		{"pairs of boards in rows", "rotegame", "1 2 3 4\n5 6 7 8\n9 10 11\n1 2 3 4\n5 6 7 8\n9 10 11 12\n1 2 3 4\n5 6 7 8\n", 6},
		{"words", "eight2", "12345678\n12345678X\n12X453786\n12345678X\n", 2},
		{"boards that share lines", "swap", "1 2 3 4 5 6 7 8 9 1 2 3 4\n5 6 7 8 9\n1 2 3 4 5 6 7 8 9\n", 0},
		{"whole boards on a line", "swap", "1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9\n1 2 3 4 5 6 7 8 9\n", 0},
		{"wrapped lines", "swap", "1 2 3 4\n5 6 7 8\n9 1 2 3\n4 5 6 7\n8 9 1 2\n3 4 5 6\n7 8 9\n", 0},
	}
	set, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := set.Get(tt.puzzle)
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := p.Decide([]byte(tt.text), true); got != (Framing{Lines: tt.want}) || !ok {
				t.Errorf("framing %+v, %t; want %d lines", got, ok, tt.want)
			}
		})
	}
}

// Blank lines end records where they stand after the first, or where most blocks
// of lines are records; the start of a file says the same or too little.
func TestDecideApart(t *testing.T) {
	const rows = "1 2 3\n4 5 6\n7 8 9\n"
	const board = "1 2 3 4\n5 6 7 8\n9 10 11 12\n"
	for _, c := range []struct {
		name, puzzle, text string
		want               Framing
		now                Framing // of a file that pauses after its last line, which has an end
	}{
		{"a blank line after the first", "swap", rows + "\n", Framing{3, 1}, Framing{3, 1}},
		{"after a comment", "swap", rows + "# x\n \n" + rows, Framing{3, 1}, Framing{3, 1}},
		{"none", "swap", rows, Framing{3, 0}, Framing{3, 0}},
		{"a comment only", "swap", rows + "#\n" + rows, Framing{3, 0}, Framing{3, 0}},
		{"a wrong value", "swap", "1 2 3\n4 5 x\n7 8 8\n\n" + rows, Framing{3, 1}, Framing{3, 1}},
		{"a blank line inside the board", "swap", "1 2 3\n\n4 5 6\n7 8 9\n\n2 1 3\n\n4 5 6\n7 8 9\n\n", Framing{3, 0}, Framing{3, 0}},
		{"a row short", "swap", "1 2 3\n4 5 6\n\n" + rows + "\n", Framing{3, 1}, Framing{3, 1}},
		{"a row too many", "swap", rows + "7 8 9\n\n" + rows + "\n", Framing{3, 1}, Framing{3, 1}},
		{"a row too many and no more", "swap", rows + "7 8 9\n\n", Framing{3, 0}, Framing{3, 0}},
		{"two in a block", "swap", rows + rows + "\n" + rows + "\n" + rows, Framing{3, 0}, Framing{3, 0}},
		{"a line each", "swap", "123456789\n\n123456789\n\n", Framing{1, 0}, Framing{1, 0}},
		{"a value short, a line each", "swap", "1 2\n\n123456789\n\n123456789\n\n", Framing{1, 0}, Framing{0, 0}},
		{"a blank line after each pair", "rotegame", board + board + "\n", Framing{6, 1}, Framing{6, 1}},
		{"after each board", "rotegame", board + "\n" + board + "\n", Framing{6, 2}, Framing{6, 2}},
		{"after each board, the last not yet", "rotegame", board + "\n" + board, Framing{6, 0}, Framing{6, 0}},
		{"after edges and vertices", "graph", "1\n1 2\n\n1 2 3 4\n5 6 7 8\n\n", Framing{3, 2}, Framing{3, 2}},
		{"after the number of edges", "graph", "1\n\n1 2\n1 2 3 4 5 6 7 8\n\n", Framing{2, 0}, Framing{2, 0}},
		{"an edge short", "graph", "2\n1 2\n1 2 3 4 5 6 7 8\n\n0\n1 2 3 4 5 6 7 8\n\n", Framing{2, 1}, Framing{2, 1}},
	} {
		p := builtin(t, c.puzzle)
		if got, ok := p.Decide([]byte(c.text), true); !ok || got != c.want {
			t.Errorf("%s: %v, %v; want %v", c.name, got, ok, c.want)
		}
		if got, ok := p.DecideNow([]byte(c.text)); ok != (c.now.Lines > 0) || got != c.now {
			t.Errorf("%s: now %v, %v; want %v", c.name, got, ok, c.now)
		}
		for n := range len(c.text) {
			if got, ok := p.Decide([]byte(c.text[:n]), false); ok && got != c.want {
				t.Errorf("%s: after %d bytes %v; want %v", c.name, n, got, c.want)
			}
		}
	}
}
