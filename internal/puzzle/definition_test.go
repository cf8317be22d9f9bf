package puzzle

import (
	"slices"
	"strings"
	"testing"
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
	p, err := Parse("test", []byte(text))
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

func TestDefinitionErrors(t *testing.T) {
	for _, c := range []struct {
		name     string
		base     string
		old, new string
		want     []string // in the error
	}{
		{"unknown key", slide2x2, "chunk:", "chunks:", []string{"[8:1]", "chunks"}},
		{"unknown key inside", slide2x2, "count: true", "counts: true", []string{"[6:10]", "counts"}},
		{"key twice", slide2x2, "chunk: 100", "chunk: 100\nchunk: 100", []string{"[9:1]", "chunk"}},
		{"word for a number", slide2x2, "width: 2", "width: two", []string{"[2:8]", "Width"}},
		{"word in the goal", slide2x2, "3, 0]", "3, X]", []string{"[5:17]", "Goal"}},
		{"number for a truth", slide2x2, "count: true", "count: 4", []string{"[6:17]", "Record"}},
		{"a list for a map", slide2x2, "{moves: [d, l, r, u]}", "[d, l, r, u]", []string{"[4:8]"}},
		{"not YAML", slide2x2, "width: 2", "width: [2", []string{"[3:1]"}},
		{"a list", slide2x2, slide2x2, "- 1", []string{"[1:1]"}},
		{"nothing", slide2x2, slide2x2, "", []string{"empty"}},
		{"comments only", slide2x2, slide2x2, "# nothing\n", []string{"empty"}},
		{"two documents", slide2x2, "chunk: 100\n", "chunk: 100\n---\nchunk: 7\n", []string{"more than one"}},
		{"too long", slide2x2, "about: A", "about: " + strings.Repeat("A", MaxDefinition), []string{"16384"}},

		{"no board", slide2x2, "width: 2\nheight: 2\n", "", []string{"cells"}},
		{"width without height", slide2x2, "height: 2\n", "", []string{"height"}},
		{"width and cells", slide2x2, "height: 2\n", "height: 2\ncells: 4\n", []string{"width and height, or cells"}},
		{"one cell", slide2x2, "width: 2\nheight: 2\n", "width: 1\nheight: 1\n", []string{"1 cells"}},
		{"17 cells", graph4, "cells: 4", "cells: 17", []string{"17 cells"}},
		{"negative width", slide2x2, "width: 2\nheight: 2", "width: -2\nheight: -2", []string{"width"}},
		{"huge width", slide2x2, "width: 2\n", "width: 4611686018427387904\n", []string{"width"}},

		{"no moves", slide2x2, "blank: {moves: [d, l, r, u]}\n", "", []string{"blank", "moves"}},
		{"both kinds of move", slide2x2, "goal:", "moves: [{name: a, cycles: (1 2)}]\ngoal:", []string{"blank", "moves"}},
		{"an empty blank", slide2x2, "{moves: [d, l, r, u]}", "{}", []string{"blank", "moves", "edges"}},
		{"moves and edges of a blank", slide2x2, "[d, l, r, u]", "[d, l, r, u], edges: [[1, 2]]", []string{"blank", "moves", "edges"}},
		{"an unknown way", slide2x2, "[d, l, r, u]", "[d, l, r, up]", []string{"blank.moves", `"up"`}},
		{"a way twice", slide2x2, "[d, l, r, u]", "[d, l, r, u, d]", []string{"blank.moves", `"d"`}},
		{"ways without a way back", slide2x2, "[d, l, r, u]", "[d, l, r]", []string{"blank.moves", "one way"}},
		{"no ways", slide2x2, "[d, l, r, u]", "[]", []string{"blank.moves", "0 moves"}},
		{"ways on a graph", graph4, "edges: record", "moves: [d, l, r, u]", []string{"blank.moves", "width"}},
		{"edges that are a word", graph4, "edges: record", "edges: recrod", []string{"blank.edges", "record"}},
		{"an edge of three", graph4, "edges: record", "edges: [[1, 2, 3]]", []string{"blank.edges", "[1 2 3]"}},
		{"an edge from 0", graph4, "edges: record", "edges: [[0, 1]]", []string{"blank.edges", "[0 1]"}},
		{"an edge off the graph", graph4, "edges: record", "edges: [[4, 5]]", []string{"blank.edges", "4 5"}},

		{"an empty list of moves", swap2x2, "  - {name: 1-2, cycles: (1 2)}\n  - {name: 3-4, cycles: (3 4)}\n  - {name: 1-3, cycles: (1 3)}\n  - {name: 2-4, cycles: (2 4)}\n", "  []\n", []string{"moves", "0 moves"}},
		{"a move without a name", swap2x2, "name: 3-4, ", "", []string{"moves", "move 2"}},
		{"two moves of one name", swap2x2, "name: 3-4", "name: 1-2", []string{"moves", "1-2"}},
		{"a name of two lines", swap2x2, "name: 3-4", `name: "3\n4"`, []string{"moves", `"3\n4"`}},
		{"a long name", swap2x2, "name: 3-4", "name: " + strings.Repeat("a", 33), []string{"moves", "32"}},
		{"a cell off the board", swap2x2, "(3 4)", "(3 5)", []string{"moves", "3-4", "5"}},
		{"an open cycle", swap2x2, "(3 4)", `"(3 4"`, []string{"moves", "3-4"}},
		{"cycles that share a cell", swap2x2, "(3 4)", "(3 4)(4 1)", []string{"moves", "3-4", "cell 4"}},

		{"too few values", slide2x2, "goal:", "values: {from: 1, to: 2}\ngoal:", []string{"values", "3 pieces"}},
		{"too many values", slide2x2, "goal:", "values: {from: 1, to: 4}\ngoal:", []string{"values", "repeat"}},
		{"a piece like the blank", slide2x2, "goal:", "values: {from: 0, to: 2}\ngoal:", []string{"values", "0"}},
		{"values from the end", slide2x2, "goal:", "values: {from: 9, to: 7, repeat: true}\ngoal:", []string{"values"}},
		{"values beyond a byte", slide2x2, "goal:", "values: {from: 254, to: 256}\ngoal:", []string{"values", "255"}},

		{"a short goal", slide2x2, "[1, 2, 3, 0]", "[1, 2, 0]", []string{"goal", "3 values"}},
		{"a goal of other values", slide2x2, "[1, 2, 3, 0]", "[1, 2, 4, 0]", []string{"goal", "4"}},
		{"a goal with a value twice", slide2x2, "[1, 2, 3, 0]", "[1, 2, 2, 0]", []string{"goal", "2"}},
		{"a goal without a blank", slide2x2, "[1, 2, 3, 0]", "[1, 2, 3, 1]", []string{"goal"}},
		{"a goal with two blanks", slide2x2, "[1, 2, 3, 0]", "[1, 2, 0, 0]", []string{"goal", "blank"}},
		{"a goal beyond a byte", slide2x2, "[1, 2, 3, 0]", "[1, 2, 3, 256]", []string{"goal", "256"}},
		{"a negative goal", slide2x2, "[1, 2, 3, 0]", "[1, 2, 3, -1]", []string{"goal", "-1"}},
		{"no goal at all", slide2x2, "goal: [1, 2, 3, 0]\n", "", []string{"goal", "missing"}},

		{"no parts", slide2x2, ", parts: [start]", "", []string{"record.parts"}},
		{"unknown parts", slide2x2, "parts: [start]", "parts: [begin]", []string{"record.parts", "begin"}},
		{"parts out of order", slide2x2, "parts: [start]", "parts: [goal, start]", []string{"record.parts"}},
		{"edges that nothing reads", slide2x2, "parts: [start]", "parts: [edges, start]", []string{"record.parts", "blank.edges"}},
		{"edges that no record brings", graph4, "parts: [edges, places]", "parts: [start]", []string{"record.parts", "blank.edges"}},
		{"places of values that repeat", graph4, "goal:", "values: {from: 1, to: 3, repeat: true}\ngoal:", []string{"record.parts", "places"}},

		{"nothing wanted", slide2x2, "want: moves, ", "", []string{"answer.want"}},
		{"an unknown want", slide2x2, "want: moves", "want: all", []string{"answer.want", `"all"`}},
		{"a separator of two lines", slide2x2, `separator: ""`, `separator: "\n"`, []string{"answer.separator"}},
		{"no chunk", slide2x2, "chunk: 100\n", "", []string{"chunk", "0 records"}},
		{"a huge chunk", slide2x2, "chunk: 100", "chunk: 65537", []string{"chunk", "65537"}},

		// A few hundred bytes of these would stand for gigabytes.
		{"an alias", graph4, "edges: record", "edges: [&a [1, 2], *a]", []string{"[3:28]", "alias"}},
		{"aliases of aliases", graph4, "edges: record", "edges: [&a [1], &b [*a, *a], &c [*b, *b]]", []string{"alias"}},
		{"a tag", slide2x2, "[1, 2, 3, 0]", "! -1", []string{"[5:7]", "tags"}},
		{"deep nesting", slide2x2, "[1, 2, 3, 0]", strings.Repeat("[", 10000), []string{"brackets"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(c.base, c.old, c.new, 1)
			if text == c.base {
				t.Fatal("nothing changed")
			}
			p, err := Parse("mine", []byte(text))
			if err == nil {
				t.Fatalf("accepted: %+v", p)
			}
			for _, want := range append(c.want, "puzzle mine:") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v; want %q in it", err, want)
				}
			}
		})
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
	} {
		t.Run(c.name, func(t *testing.T) {
			parsed(t, strings.Replace(c.base, c.old, c.new, 1))
		})
	}
}
