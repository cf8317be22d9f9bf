package puzzle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"antipode/internal/limit"
)

// slide2x2 and swap2x2 are small definitions that the tests change.
const (
	slide2x2 = `about: A board of four cells.
width: 2
height: 2
blank: {moves: [d, l, r, u]}
goal: [1, 2, 3, 0]
record: {count: true, parts: [start]}
answer: {want: moves, separator: ""}
chunk: 100
`
	swap2x2 = `about: Neighbours change places.
width: 2
height: 2
moves:
  - {name: 1-2, cycles: (1 2)}
  - {name: 3-4, cycles: (3 4)}
  - {name: 1-3, cycles: (1 3)}
  - {name: 2-4, cycles: (2 4)}
goal: [1, 2, 3, 4]
record: {parts: [start]}
answer: {want: distance, separator: " "}
chunk: 100
`
	graph4 = `about: Any graph of four vertices.
cells: 4
blank: {edges: record}
goal: [1, 2, 3, 0]
record: {parts: [edges, places]}
answer: {want: moves, separator: " "}
chunk: 100
`
)

func parsed(t testing.TB, text string) *Puzzle {
	t.Helper()
	p, err := Parse("test", "test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The five puzzles are what they are documented to be.
func TestBuiltins(t *testing.T) {
	set, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"eight", "eight2", "graph", "rotegame", "swap"}; !slices.Equal(set.Names(), want) {
		t.Fatalf("names %v, want %v", set.Names(), want)
	}
	for _, c := range []struct {
		name        string
		cells       int
		blank       bool
		moves       string // "" where records bring their graph
		count       bool
		parts       string
		want        Want
		cases       bool
		separator   string
		from, to    int
		repeat      bool
		fingerprint string // of the puzzle with the same mathematics
	}{
		{"eight", 9, true, "d l r u", true, "start", Distance, false, "", 1, 8, false, "eight2"},
		{"eight2", 9, true, "d l r u", true, "start goal", Moves, true, "", 1, 8, false, "eight"},
		{"graph", 9, true, "", false, "edges places", Distance, false, " ", 1, 8, false, ""},
		{"rotegame", 12, false, "1 2", false, "start goal", Moves, false, " ", 1, 100, true, ""},
		{"swap", 9, false, "1-2 2-3 4-5 5-6 7-8 8-9 1-4 4-7 2-5 5-8 3-6 6-9", false, "start", Distance, false, " ", 1, 9, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := builtin(t, c.name)
			from, to, repeat := p.Values()
			if p.Name != c.name || p.Cells() != c.cells || p.HasBlank() != c.blank || p.Count != c.count ||
				strings.Join(p.Parts(), " ") != c.parts || p.Want != c.want || p.Case != c.cases || p.Separator != c.separator ||
				from != c.from || to != c.to || repeat != c.repeat {
				t.Errorf("got %+v", p)
			}
			if p.About == "" || p.Example == "" || p.ChunkRecords < 1 {
				t.Errorf("nothing about it, no example or no chunk: %+v", p)
			}
			if p.BringsGoal() != strings.HasSuffix(c.parts, "goal") {
				t.Errorf("brings its goal: %v", p.BringsGoal())
			}
			switch {
			case c.moves == "":
				if p.Space() != nil {
					t.Error("has a space of its own")
				}
			case strings.Join(p.Space().Moves(), " ") != c.moves:
				t.Errorf("moves %v", p.Space().Moves())
			}
		})
	}
	if p, err := set.Get("nine"); err == nil || !strings.Contains(err.Error(), "eight2") {
		t.Errorf("unknown puzzle: %v, %v; want the names there are", p, err)
	}
}

func TestBuiltinGoals(t *testing.T) {
	for name, want := range map[string][]uint8{
		"eight":  {0, 1, 2, 3, 4, 5, 6, 7, 8},
		"swap":   {1, 2, 3, 4, 5, 6, 7, 8, 9},
		"graph":  {1, 2, 3, 4, 5, 6, 7, 8, 0},
		"eight2": {1, 2, 3, 4, 5, 6, 7, 8, 0},
	} {
		if goal, ok := builtin(t, name).Goal(); !ok || !slices.Equal(goal, want) {
			t.Errorf("%s: goal %v", name, goal)
		}
	}
}

// A cycle says where what stands on a cell goes.
func TestCycles(t *testing.T) {
	for _, c := range []struct {
		cycles string
		want   []uint8 // from 0: the cell that each cell takes from
	}{
		{"(1 2 3)", []uint8{2, 0, 1, 3, 4}},
		{"(1 2)(4 5)", []uint8{1, 0, 2, 4, 3}},
		{" ( 5 1 ) (2 3) ", []uint8{4, 2, 1, 3, 0}},
		{"(3)", []uint8{0, 1, 2, 3, 4}},
		{"", []uint8{0, 1, 2, 3, 4}},
	} {
		got, err := parseCycles(c.cycles, 5)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, %v; want %v", c.cycles, got, err, c.want)
		}
	}
	for _, bad := range []string{"1 2", "(1 2", "(1 2))", "(1 2) 3", "(1 6)", "(0 1)", "(1 -2)", "(1 1)", "(1 2)(2 3)", "(1,2)", "((1 2))", "(a b)", "(1 2)x"} {
		if got, err := parseCycles(bad, 5); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

// Every error says where, what is wrong and what is possible, in a line.
func TestDefinitionErrors(t *testing.T) {
	for _, c := range []struct {
		name     string
		base     string
		old, new string
		where    string // LINE: KEY
		want     string // in the rest
	}{
		{"unknown key", slide2x2, "chunk:", "chunks:", "8: chunks", "no such key; the keys here are about, width, height, cells, blank, moves, values, goal, record, answer, chunk, example"},
		{"unknown key inside", slide2x2, "count: true", "counts: true", "6: record.counts", "the keys here are count, parts"},
		{"unknown key of a move", swap2x2, "cycles: (3 4)", "cycle: (3 4)", "6: moves[2].cycle", "the keys here are name, cycles"},
		{"unknown key of a way", slide2x2, "[d, l, r, u]", "[d, l, r, {way: u, called: u}]", "4: blank.moves[4].called", "the keys here are name, way"},
		{"a key that is no word", slide2x2, "chunk: 100", "? [chunk]\n: 100", "9: answer", "not YAML"},
		{"a key that is a number", slide2x2, "chunk: 100", "100: chunk", "8: 100", "no such key"},
		{"a key with a line end", slide2x2, "chunk: 100", `"chunk\nchunk": 100`, `8: "chunk\nchunk"`, "no such key"},
		{"key twice", slide2x2, "chunk: 100", "chunk: 100\nchunk: 100", "9: chunk", "after line 8; give it once"},
		{"key of a move twice", swap2x2, "name: 3-4", "name: a, name: b", "6: moves[2].name", "give it once"},
		{"word for a number", slide2x2, "width: 2", "width: two", "2: width", `"two" is not a whole number`},
		{"a list for a number", slide2x2, "width: 2", "width: [2]", "2: width", "a list is not a whole number"},
		{"a map for a number", slide2x2, "width: 2", "width: {two: 2}", "2: width", "a map is not a whole number"},
		{"lines for a number", slide2x2, "width: 2", "width: |\n  2", "2: width", "a text of lines is not a whole number"},
		{"a number in quotes", slide2x2, "width: 2", `width: "2"`, "2: width", "write digits alone"},
		{"a point", slide2x2, "width: 2", "width: 2.0", "2: width", `"2.0" is not a whole number`},
		{"an exponent", slide2x2, "chunk: 100", "chunk: 1e2", "8: chunk", `"1e2"`},
		{"nothing for a number", slide2x2, "width: 2", "width:", "2: width", "no value; give one"},
		{"null for a number", slide2x2, "width: 2", "width: null", "2: width", `"null"`},
		{"hexadecimal", slide2x2, "width: 2", "width: 0x2", "2: width", `"0x2"`},
		{"octal", slide2x2, "width: 2", "width: 0o2", "2: width", `"0o2"`},
		{"old octal", slide2x2, "width: 2", "width: 02", "2: width", `"02"`},
		{"binary", slide2x2, "width: 2", "width: 0b10", "2: width", `"0b10"`},
		{"underscores", slide2x2, "chunk: 100", "chunk: 1_0_0", "8: chunk", `"1_0_0"`},
		{"a sign", slide2x2, "width: 2", "width: +2", "2: width", `"+2"`},
		{"word in the goal", slide2x2, "3, 0]", "3, X]", "5: goal[4]", `"X" is not a whole number`},
		{"null in the goal", slide2x2, "3, 0]", "3, null]", "5: goal[4]", `"null" is not a whole number`},
		{"tilde in the goal", slide2x2, "3, 0]", "3, ~]", "5: goal[4]", `"~" is not a whole number`},
		{"a goal of lines", slide2x2, "goal: [1, 2, 3, 0]", "goal:\n- 1\n- 2\n- 3\n- 0.0", "9: goal[4]", `"0.0"`},
		{"a goal that is not there", slide2x2, "goal: [1, 2, 3, 0]", "goal:", "5: goal", "no value; give one, or leave the key out"},
		{"a goal that is a word", slide2x2, "goal: [1, 2, 3, 0]", "goal: 1230", "5: goal", `"1230" is not a list`},
		{"number for a truth", slide2x2, "count: true", "count: 4", "6: record.count", "write one of them"},
		{"a truth in quotes", slide2x2, "count: true", `count: "true"`, "6: record.count", "neither true nor false"},
		{"no name", swap2x2, "name: 3-4", "name: null", "6: moves[2].name", "put it in quotes"},
		{"a name with a point", swap2x2, "name: 3-4", "name: 3.4", "6: moves[2].name", `"3.4" is not read as text; put it in quotes`},
		{"a name that is a truth", swap2x2, "name: 3-4", "name: true", "6: moves[2].name", "put it in quotes"},
		{"a name with a sign", swap2x2, "name: 3-4", "name: -1", "6: moves[2].name", "put it in quotes"},
		{"a name in hexadecimal", swap2x2, "name: 3-4", "name: 0x4", "6: moves[2].name", "put it in quotes"},
		{"a name that is a list", swap2x2, "name: 3-4", "name: [3, 4]", "6: moves[2].name", "a list"},
		{"a list for a map", slide2x2, "{moves: [d, l, r, u]}", "[d, l, r, u]", "4: blank", "a list is not a map of keys; the keys here are moves, edges, names"},
		{"a map for a list", slide2x2, "[1, 2, 3, 0]", "{1: 2}", "5: goal", "a map is not a list"},
		{"an open bracket", slide2x2, "width: 2", "width: [2", "3: height", "not YAML"},
		{"an open quote", slide2x2, "A board", `"A board`, "7: about", "not YAML"},
		{"a tab", slide2x2, "width: 2", "\twidth: 2", "2: about", "not YAML"},
		{"a tab after text", slide2x2, "chunk: 100", "chunk: 100\n\t", "9: chunk", "not YAML"},
		{"a colon in text", slide2x2, "A board", "A: board", "1: about", "not YAML"},
		{"a list instead of keys", slide2x2, slide2x2, "- 1", "1: definition", "a list is not a map"},
		{"a word instead of keys", slide2x2, slide2x2, "\n\neight", "3: definition", `"eight" is not a map`},
		{"nothing", slide2x2, slide2x2, "", "1: definition", "empty"},
		{"comments only", slide2x2, slide2x2, "# nothing\n", "1: definition", "empty"},
		{"two documents", slide2x2, "chunk: 100\n", "chunk: 100\n---\nchunk: 7\n", "10: definition", "a file holds one"},
		{"a directive", slide2x2, "about:", "%YAML 1.2\n---\nabout:", "1: definition", "directives"},
		{"too long", slide2x2, "about: A", "about: " + strings.Repeat("A", limit.Definition), "1: definition", "16384"},
		{"not UTF-8", slide2x2, "count: true", "count: tr\xfce", "6: definition", "UTF-8"},

		{"a long about", slide2x2, "about: A", "about: " + strings.Repeat("é", 100), "1: about", "200"},
		{"an about of two lines", slide2x2, "A board of four cells.", `"A\nboard"`, "1: about", "one line"},
		{"an about of lines", slide2x2, "about: A board", "about: |\n  A board\n ", "1: about", "one line"},
		{"an about for terminals", slide2x2, "about: A board of four cells.", `about: "\e[2J"`, "1: about", "control characters"},
		{"a long example", slide2x2, "chunk:", "example: " + strings.Repeat("1", 4097) + "a\nchunk:", "8: example", "4096"},
		{"an example for terminals", slide2x2, "chunk:", "example: \"\\e[2J\"\nchunk:", "8: example", "control characters"},

		{"no board", slide2x2, "width: 2\nheight: 2\n", "", "1: definition", "give width and height, or cells"},
		{"width without height", slide2x2, "height: 2\n", "", "1: height", "missing"},
		{"height without width", slide2x2, "width: 2\n", "", "1: width", "missing"},
		{"width and cells", slide2x2, "height: 2\n", "height: 2\ncells: 4\n", "4: cells", "give either"},
		{"no width at all", slide2x2, "width: 2", "width: 0", "2: width", "1 to 16 are possible"},
		{"one cell", slide2x2, "width: 2\nheight: 2\n", "width: 1\nheight: 1\n", "3: height", "2 to 16 are possible"},
		{"17 cells", graph4, "cells: 4", "cells: 17", "2: cells", "2 to 16 are possible"},
		{"18 cells in rows", slide2x2, "width: 2\nheight: 2\n", "width: 6\nheight: 3\n", "3: height", "18 cells; 2 to 16 are possible"},
		{"negative width", slide2x2, "width: 2", "width: -2", "2: width", `"-2"`},
		{"huge width", slide2x2, "width: 2\n", "width: 4611686018427387904\n", "2: width", "nine digits"},
		{"large width", slide2x2, "width: 2\n", "width: 999999999\n", "2: width", "1 to 16 are possible"},

		{"no moves", slide2x2, "blank: {moves: [d, l, r, u]}\n", "", "1: definition", "give one kind of move: blank, or moves"},
		{"both kinds of move", slide2x2, "goal:", "moves: [{name: a, cycles: (1 2)}]\ngoal:", "5: moves", "give one kind of move"},
		{"an empty blank", slide2x2, "{moves: [d, l, r, u]}", "{}", "4: blank", "no moves and no edges; give either"},
		{"moves and edges of a blank", slide2x2, "[d, l, r, u]", "[d, l, r, u], edges: [[1, 2]]", "4: blank.edges", "give either"},
		{"an unknown way", slide2x2, "[d, l, r, u]", "[d, l, r, up]", "4: blank.moves[4]", `"up" is no way of the blank; d l r u are possible`},
		{"an unknown way with a name", slide2x2, "[d, l, r, u]", "[d, l, r, {name: u, way: up}]", "4: blank.moves[4]", "d l r u are possible"},
		{"a name without a way", slide2x2, "[d, l, r, u]", "[d, l, r, {name: u}]", "4: blank.moves[4]", "d l r u are possible"},
		{"a way without a name", slide2x2, "[d, l, r, u]", "[d, l, r, {way: u}]", "4: blank.moves[4]", "is no name"},
		{"a way twice", slide2x2, "[d, l, r, u]", "[d, l, r, u, d]", "4: blank.moves[5]", "the way d is given again"},
		{"a way by two names", slide2x2, "[d, l, r, u]", "[d, l, r, u, {name: s, way: d}]", "4: blank.moves[5]", "the way d is given again"},
		{"a name for two ways", slide2x2, "[d, l, r, u]", "[d, l, r, {name: d, way: u}]", "4: blank.moves[4]", "give each its own name"},
		{"a way without its way back", slide2x2, "[d, l, r, u]", "[l, r, d]", "4: blank.moves[3]", "give u too"},
		{"a named way without its way back", slide2x2, "[d, l, r, u]", "[d, {name: r, way: l}, u]", "4: blank.moves[2]", "the way l has no way back; give r too"},
		{"no ways", slide2x2, "[d, l, r, u]", "[]", "4: blank.moves", "d l r u"},
		{"ways on a graph", graph4, "edges: record", "moves: [d, l, r, u]", "3: blank.moves", "give width and height, or edges"},
		{"names of ways", slide2x2, "[d, l, r, u]", "[d, l, r, u], names: [D, L, R, U]", "4: blank.names", "{name: N, way: d}"},
		{"names of vertices that records join", graph4, "edges: record", "edges: record, names: [a, b, c, d]", "3: blank.names", "by their numbers"},
		{"three names for four vertices", slide2x2, "moves: [d, l, r, u]", "edges: [[1, 2]], names: [a, b, c]", "4: blank.names", "3 names for 4 vertices"},
		{"two vertices of one name", slide2x2, "moves: [d, l, r, u]", "edges: [[1, 2]], names: [a, b, a, c]", "4: blank.names[3]", "give each its own name"},
		{"a vertex without a name", slide2x2, "moves: [d, l, r, u]", `edges: [[1, 2]], names: [a, b, "", c]`, "4: blank.names[3]", "is no name"},
		{"edges that are a word", graph4, "edges: record", "edges: recrod", "3: blank.edges", `"recrod" cannot be; the word record is possible, or a list`},
		{"edges that are a map", graph4, "edges: record", "edges: {1: 2}", "3: blank.edges", "a map cannot be"},
		{"an edge of three", graph4, "edges: record", "edges: [[1, 2, 3]]", "3: blank.edges[1]", `"[1 2 3]" is no edge; two vertices of 1 to 4 are possible`},
		{"an edge from 0", graph4, "edges: record", "edges: [[0, 1]]", "3: blank.edges[1]", "[0 1]"},
		{"an edge off the graph", graph4, "edges: record", "edges: [[1, 2], [4, 5]]", "3: blank.edges[2]", "[4 5]"},
		{"an edge of a word", graph4, "edges: record", "edges: [[1, a]]", "3: blank.edges[1][2]", `"a"`},

		{"an empty list of moves", swap2x2, "  - {name: 1-2, cycles: (1 2)}\n  - {name: 3-4, cycles: (3 4)}\n  - {name: 1-3, cycles: (1 3)}\n  - {name: 2-4, cycles: (2 4)}\n", "  []\n", "4: moves", "0 moves; 1 to 255 are possible"},
		{"too many moves", swap2x2, "  - {name: 1-2", strings.Repeat("  - {name: a, cycles: (1 2)}\n", 252) + "  - {name: 1-2", "4: moves", "256 moves; 1 to 255 are possible"},
		{"a move without a name", swap2x2, "name: 3-4, ", "", "6: moves[2].name", "1 to 32 bytes"},
		{"a move without cycles", swap2x2, ", cycles: (3 4)", "", "6: moves[2].cycles", "missing"},
		{"two moves of one name", swap2x2, "name: 3-4", "name: 1-2", "6: moves[2].name", `two moves are named "1-2"`},
		{"a name of two lines", swap2x2, "name: 3-4", `name: "3\n4"`, "6: moves[2].name", `"3\n4"`},
		{"a long name", swap2x2, "name: 3-4", "name: " + strings.Repeat("a", 33), "6: moves[2].name", "32"},
		{"a cell off the board", swap2x2, "(3 4)", "(3 5)", "6: moves[2].cycles", "cell 5 is none of the 4 cells; cells are numbered from 1"},
		{"cell 0", swap2x2, "(3 4)", "(0 4)", "6: moves[2].cycles", "cell 0 is none of the 4 cells; cells are numbered from 1"},
		{"a cell that is a word", swap2x2, "(3 4)", "(3 x)", "6: moves[2].cycles", `"x" is no cell`},
		{"an open cycle", swap2x2, "(3 4)", `"(3 4"`, "6: moves[2].cycles", "write it as (1 2 3)(4 5)"},
		{"cycles that share a cell", swap2x2, "(3 4)", "(3 4)(4 1)", "6: moves[2].cycles", "cell 4 stands in it twice"},

		{"too few values", slide2x2, "goal:", "values: {from: 1, to: 2}\ngoal:", "5: values", "3 pieces; give as many, or repeat: true"},
		{"too many values", slide2x2, "goal:", "values: {from: 1, to: 4}\ngoal:", "5: values", "repeat"},
		{"a piece like the blank", slide2x2, "goal:", "values: {from: 0, to: 2}\ngoal:", "5: values.from", "1 to 255"},
		{"values from the end", slide2x2, "goal:", "values: {from: 9, to: 7, repeat: true}\ngoal:", "5: values.to", "9 to 255"},
		{"values beyond a byte", slide2x2, "goal:", "values: {from: 254, to: 256}\ngoal:", "5: values.to", "254 to 255"},
		{"values that go beyond a byte", slide2x2, "goal:", "values: {from: 254}\ngoal:", "5: values.to", "254 to 255"},

		{"a short goal", slide2x2, "[1, 2, 3, 0]", "[1, 2, 0]", "5: goal", "3 values for 4 cells"},
		{"a goal of other values", slide2x2, "[1, 2, 3, 0]", "[1, 2, 4, 0]", "5: goal", "4 is out of range; a board holds 0 to 3 once each"},
		{"a goal with a value twice", slide2x2, "[1, 2, 3, 0]", "[1, 2, 2, 0]", "5: goal", "2 stands on it twice"},
		{"a goal without a blank", slide2x2, "[1, 2, 3, 0]", "[1, 2, 3, 1]", "5: goal", "1 stands on it twice"},
		{"a goal with two blanks", slide2x2, "[1, 2, 3, 0]", "[1, 2, 0, 0]", "5: goal", "the blank stands on it twice"},
		{"a goal beyond a byte", slide2x2, "[1, 2, 3, 0]", "[1, 2, 3, 256]", "5: goal[4]", "256 is out of range"},
		{"a negative goal", slide2x2, "[1, 2, 3, 0]", "[1, 2, 3, -1]", "5: goal[4]", `"-1"`},
		{"no goal at all", slide2x2, "goal: [1, 2, 3, 0]\n", "", "1: goal", "missing; give it, or let records bring theirs"},

		{"empty parts", slide2x2, "parts: [start]", "parts: []", "6: record.parts", "[start] and [start, goal] can"},
		{"unknown parts", slide2x2, "parts: [start]", "parts: [begin]", "6: record.parts", `"begin" cannot be`},
		{"parts out of order", slide2x2, "parts: [start]", "parts: [goal, start]", "6: record.parts", "[start] and [start, goal] can"},
		{"edges that nothing reads", slide2x2, "parts: [start]", "parts: [edges, start]", "6: record.parts", "[start] and [start, goal] can"},
		{"edges that no record brings", graph4, "parts: [edges, places]", "parts: [start]", "5: record.parts", "[edges, start], [edges, start, goal] and [edges, places] can"},
		{"places of values that repeat", graph4, "goal:", "values: {from: 1, to: 3, repeat: true}\ngoal:", "6: record.parts", "places"},

		{"nothing wanted", slide2x2, "want: moves", `want: ""`, "7: answer.want", "distance or moves are possible"},
		{"an unknown want", slide2x2, "want: moves", "want: all", "7: answer.want", `"all"; distance or moves are possible`},
		{"a separator of two lines", slide2x2, `separator: ""`, `separator: "\n"`, "7: answer.separator", "32 bytes"},
		{"a long separator", slide2x2, `separator: ""`, "separator: " + strings.Repeat("-", 33) + "a", "7: answer.separator", "32 bytes"},
		{"a chunk of none", slide2x2, "chunk: 100", "chunk: 0", "8: chunk", "1 to 65536 are possible"},
		{"a huge chunk", slide2x2, "chunk: 100", "chunk: 65537", "8: chunk", "65537 records; 1 to 65536 are possible"},

		// A few hundred bytes of these would stand for gigabytes, or take minutes.
		{"an alias", graph4, "edges: record", "edges: [&a [1, 2], *a]", "3: definition", "aliases"},
		{"aliases of aliases", graph4, "edges: record", "edges: [&a [1], &b [*a, *a], &c [*b, *b]]", "3: definition", "aliases"},
		{"a merge", slide2x2, "chunk: 100", "<<: {chunk: 100}", "8: definition", "merges"},
		{"a tag", slide2x2, "[1, 2, 3, 0]", "! -1", "5: definition", "tags"},
		{"deep brackets", slide2x2, "[1, 2, 3, 0]", strings.Repeat("[", 10000), "5: definition", "16"},
		{"deep dashes", slide2x2, "[1, 2, 3, 0]", "\n" + strings.Repeat("- ", 5000), "6: definition", "16"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(c.base, c.old, c.new, 1)
			if text == c.base {
				t.Fatal("nothing changed")
			}
			p, err := Parse("mine", "mine.yaml", []byte(text))
			if err == nil {
				t.Fatalf("accepted: %+v", p)
			}
			wrong, isOne := strings.CutPrefix(err.Error(), "mine.yaml:"+c.where+": ")
			what, remedy, _ := strings.Cut(wrong, "; ")
			if !isOne || !strings.Contains(wrong, c.want) || what == "" || remedy == "" || strings.Contains(wrong, "\n") {
				t.Errorf("%v; want %s and %q", err, c.where, c.want)
			}
		})
	}
}

// Whatever stands before a key, its line is counted.
func TestLinesOfErrors(t *testing.T) {
	for _, before := range []string{
		"", "# a comment\n", "\n\n", "---\n", "about: a\n", "about: >\n  folded\n  text\n", "about: 'in\n\n  quotes'\n", "about: \"in\n  quotes\\n\"\n",
		"example: |\n  1\n  2 # no comment\n\n  3\n\n# a comment\n", "goal: [1,\n 2, # a comment\n 3]\n", "goal:\n  - 1\n  # a comment\n  - 2\n",
		"moves:\n  - name: a\n    cycles: (1 2)\n\n  - name: b\n    cycles: |-\n      (1 2)\n\n", "answer: {\n  want: moves\n}\n", "example: plain\n  words\n",
	} {
		for _, end := range []string{"\n", "\r\n", "\r"} {
			for _, mark := range []string{"", "\ufeff"} {
				text := mark + strings.ReplaceAll(before+"mistake: 1\n", "\n", end)
				want := fmt.Sprintf("mine.yaml:%d: mistake: no such key", strings.Count(before, "\n")+1)
				if _, err := Parse("mine", "mine.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("%q: %v; want %s", text, err, want)
				}
			}
		}
	}
}

func TestDefinitionsThatAreFine(t *testing.T) {
	for _, c := range []struct {
		name, base, old, new string
	}{
		{"as it is", slide2x2, "", ""},
		{"permutations", swap2x2, "", ""},
		{"a graph of each record", graph4, "", ""},
		{"record in quotes", graph4, "edges: record", `edges: "record"`},
		{"a graph", slide2x2, "moves: [d, l, r, u]", "edges: [[1, 2], [2, 4]]"},
		{"a graph without edges", slide2x2, "moves: [d, l, r, u]", "edges: []"},
		{"values that start elsewhere", slide2x2, "goal: [1, 2, 3, 0]", "values: {from: 7, to: 9}\ngoal: [7, 8, 9, 0]"},
		{"values that repeat", slide2x2, "goal: [1, 2, 3, 0]", "values: {from: 1, to: 255, repeat: true}\ngoal: [255, 1, 255, 0]"},
		{"values from 0", swap2x2, "goal: [1, 2, 3, 4]", "values: {from: 0, to: 3}\ngoal: [0, 1, 2, 3]"},
		{"no goal, but records bring theirs", slide2x2, "goal: [1, 2, 3, 0]\nrecord: {count: true, parts: [start]}", "record: {parts: [start, goal]}"},
		{"a move that moves nothing", swap2x2, "(3 4)", `""`},
		{"the largest chunk", slide2x2, "chunk: 100", "chunk: 65536"},
		{"brackets in an example", slide2x2, "chunk: 100", "chunk: 100\nexample: \"[[1, 2], [3, 0]]\""},
		{"names like numbers, and in quotes", swap2x2, "name: 3-4", `name: "0x4"`},
		{"a digit for a name", swap2x2, "name: 3-4", "name: 4"},
		{"a name in many bytes", swap2x2, "name: 3-4", "name: " + strings.Repeat("é", 16)},
		{"ways by other names", slide2x2, "[d, l, r, u]", "[{name: U, way: d}, {way: u, name: D}, l, r]"},
		{"ways of one line", slide2x2, "[d, l, r, u]", "[l, r]"},
		{"names of vertices", slide2x2, "moves: [d, l, r, u]", "edges: [[1, 2], [2, 4]], names: [a, b, c, 4]"},
		{"values from somewhere", slide2x2, "goal: [1, 2, 3, 0]", "values: {from: 7}\ngoal: [7, 8, 9, 0]"},
		{"values that repeat, as many as pieces", slide2x2, "goal: [1, 2, 3, 0]", "values: {repeat: true}\ngoal: [3, 3, 1, 0]"},
		{"255 moves", swap2x2, "  - {name: 1-2", manyMoves(251) + "  - {name: 1-2"},
		{"brackets in quotes and in a comment", slide2x2, "about: A board of four cells.", "about: '" + strings.Repeat("[", 100) + "'  # " + strings.Repeat("[", 100)},
		{"an about in lines", slide2x2, "about: A board of", "about: >\n  A board of\n "},
		{"an example of 4 KiB", slide2x2, "chunk: 100", "example: a" + strings.Repeat("1", 4095)},
		{"an about of 200 bytes", slide2x2, "about: A board of four cells.", "about: " + strings.Repeat("é", 100)},
		{"a mark before it, and Windows line ends", strings.ReplaceAll("\ufeff"+slide2x2, "\n", "\r\n"), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			parsed(t, strings.Replace(c.base, c.old, c.new, 1))
		})
	}
}

// manyMoves are so many moves that differ in their names.
func manyMoves(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "  - {name: m%d, cycles: (1 2)}\n", i)
	}
	return s.String()
}

// A definition needs a board, moves and a goal; the rest has a default.
func TestDefaults(t *testing.T) {
	for _, c := range []struct{ text, parts string }{
		{"{width: 2, height: 2, blank: {moves: [d, l, r, u]}, goal: [1, 2, 3, 0]}", "start"},
		{"{cells: 4, blank: {edges: [[1, 2], [2, 3], [3, 4]]}, goal: [1, 2, 3, 0]}", "start"},
		{"{cells: 4, blank: {edges: record}, goal: [1, 2, 3, 0]}", "edges start"},
		{"{cells: 3, moves: [{name: a, cycles: (1 2 3)}], goal: [1, 2, 3]}", "start"},
	} {
		p := parsed(t, c.text)
		from, to, repeat := p.Values()
		if got := strings.Join(p.Parts(), " "); got != c.parts || p.Want != Distance || p.Separator != " " || p.ChunkRecords != 256 ||
			p.Count || p.Case || from != 1 || to != 3 || repeat || p.About != "" || p.Example != "" {
			t.Errorf("%s: %+v", c.text, p)
		}
	}
}

// Names are what is printed; the mathematics is that of the ways they name.
func TestNamesOfWaysAndVertices(t *testing.T) {
	path := "{cells: 4, blank: {edges: [[1, 2], [2, 3], [3, 4]]%s}, goal: [1, 2, 3, 0]}"
	for _, c := range []struct{ text, same, names string }{
		{strings.Replace(slide2x2, "[d, l, r, u]", "[{name: U, way: d}, {name: R, way: l}, {name: L, way: r}, {name: D, way: u}]", 1), slide2x2, "U R L D"},
		{strings.Replace(slide2x2, "[d, l, r, u]", "[{name: u, way: d}, l, r, {name: d, way: u}]", 1), slide2x2, "u l r d"},
		{strings.Replace(slide2x2, "[d, l, r, u]", "[r, {name: North, way: u}, l, d]", 1), strings.Replace(slide2x2, "[d, l, r, u]", "[r, u, l, d]", 1), "r North l d"},
		{fmt.Sprintf(path, ", names: [A, B, 10, 1]"), fmt.Sprintf(path, ""), "A B 10 1"},
	} {
		p := parsed(t, c.text)
		if got := strings.Join(p.Space().Moves(), " "); got != c.names {
			t.Errorf("moves %s; want %s", got, c.names)
		}
		if p.Space().Fingerprint() != parsed(t, c.same).Space().Fingerprint() {
			t.Errorf("%s: another space than %s", c.text, c.same)
		}
	}
	if parsed(t, strings.Replace(slide2x2, "[d, l, r, u]", "[u, l, r, d]", 1)).Space().Fingerprint() == parsed(t, slide2x2).Space().Fingerprint() {
		t.Error("the order of ways is not part of the space")
	}
}
