package puzzle

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"antipode/internal/limit"
)

// plainRecord reads a text record the plain way: the values of the start and,
// but for graph, of the goal.
func plainRecord(name, text string) (start, goal []int, edges [][2]int, ok bool) {
	var words []string
	for line := range strings.SplitSeq(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words = append(words, strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ,\t\v\f\r", r) })...)
	}
	blank := name != "swap" && name != "rotegame"
	number := func(word string) (n int, ok bool) {
		if len(word) > 9 || strings.Trim(word, "0123456789") != "" {
			return 0, false
		}
		n, err := strconv.Atoi(word)
		return n, err == nil
	}
	value := func(word string) (n int, ok bool) {
		if blank && slices.Contains([]string{"X", "x", "_", "."}, word) {
			return 0, true
		}
		return number(word)
	}
	next := func() (word string) {
		if len(words) > 0 {
			word, words = words[0], words[1:]
		}
		return word
	}
	readBoard := func(n int, from, to int, repeat bool) (b []int, ok bool) {
		first := next()
		cells := []string{first}
		if n == 9 && len(first) == 9 && strings.Trim(first, "0123456789Xx_.") == "" {
			cells = strings.Split(first, "")
		} else {
			for range n - 1 {
				cells = append(cells, next())
			}
		}
		for _, word := range cells {
			v, ok := value(word)
			if !ok || v < from || v > to || !repeat && slices.Contains(b, v) {
				return nil, false
			}
			b = append(b, v)
		}
		return b, true
	}
	switch name {
	case "eight":
		start, ok = readBoard(9, 0, 8, false)
		goal = []int{0, 1, 2, 3, 4, 5, 6, 7, 8}
	case "swap":
		start, ok = readBoard(9, 1, 9, false)
		goal = []int{1, 2, 3, 4, 5, 6, 7, 8, 9}
	case "eight2":
		if start, ok = readBoard(9, 0, 8, false); ok {
			goal, ok = readBoard(9, 0, 8, false)
		}
	case "rotegame":
		if start, ok = readBoard(12, 1, 100, true); ok {
			goal, ok = readBoard(12, 1, 100, true)
		}
	case "graph":
		m, isNumber := number(next())
		if !isNumber || m > 1024 {
			return nil, nil, nil, false
		}
		vertex := func() int {
			v, isNumber := number(next())
			if !isNumber || v > 9 {
				return 0
			}
			return v
		}
		for range m {
			e := [2]int{vertex(), vertex()}
			if e[0] == 0 || e[1] == 0 {
				return nil, nil, nil, false
			}
			edges = append(edges, e)
		}
		start = make([]int, 9)
		for piece := 1; piece <= 8; piece++ {
			v := vertex()
			if v == 0 || start[v-1] != 0 {
				return nil, nil, nil, false
			}
			start[v-1] = piece
		}
		goal, ok = []int{1, 2, 3, 4, 5, 6, 7, 8, 0}, true
	}
	return start, goal, edges, ok && len(words) == 0
}

// FuzzText: reading never panics, and accepts exactly the records that the plain
// way accepts, as the same boards.
func FuzzText(f *testing.F) {
	names := []string{"eight", "eight2", "graph", "rotegame", "swap"}
	set, err := Builtin()
	if err != nil {
		f.Fatal(err)
	}
	for i, name := range names {
		p, _ := set.Get(name)
		f.Add(i, []byte(p.Example))
	}
	for _, text := range []string{"1 4 2\r\n3 X 5\r\n6 7 8", "1423_5678 # x\n", "1,4,2,3,0,5,6,7,08", "1 4 2 3 0 5 6 7 8 8", "123456789"} {
		f.Add(0, []byte(text))
		f.Add(4, []byte(text))
	}
	f.Add(1, []byte("12X453786\n1 2 3 4 5 6 7 8 .\n"))
	f.Add(2, []byte("0 1 2 3 4 5 6 7 8"))
	f.Add(2, []byte("2 1 2 9 9\n9 8 7 6 5 4 3 2"))
	f.Add(3, []byte("1 1 1 1 2 2 2 2 3 3 3 100\n1 1 1 1 2 2 2 2 3 3 3 101"))
	f.Fuzz(func(t *testing.T, which int, text []byte) {
		if which < 0 || which >= len(names) {
			return
		}
		p, err := set.Get(names[which])
		if err != nil {
			t.Fatal(err)
		}
		start, goal, edges, valid := plainRecord(p.Name, string(text))
		var q Question
		err = p.ReadText(text, &q)
		if !valid {
			var rec *RecordError
			if !errors.As(err, &rec) {
				t.Fatalf("accepted, or an error of another kind: %v, %+v", err, q)
			}
			if lines := strings.Count(string(text), "\n"); rec.Line < 0 || rec.Line > lines || rec.Reason == "" {
				t.Fatalf("line %d of %d: %q", rec.Line, lines, rec.Reason)
			}
			return
		}
		if err != nil {
			t.Fatalf("refused %v to %v: %v", start, goal, err)
		}
		if p.Space() == nil {
			for from := range 9 {
				for to := range 9 {
					want := from != to && (slices.Contains(edges, [2]int{from + 1, to + 1}) || slices.Contains(edges, [2]int{to + 1, from + 1}))
					if got := slices.Contains(q.Space.steps[from], step{uint8(to), uint8(to)}); got != want {
						t.Fatalf("edge %d %d: %v", from+1, to+1, got)
					}
				}
			}
		}
		// Labels by first appearance in the goal, the blank's being 0.
		var values []int
		if p.HasBlank() {
			values = []int{0}
		}
		var goalLabels, startLabels []uint8
		for _, v := range goal {
			if !slices.Contains(values, v) {
				values = append(values, v)
			}
			goalLabels = append(goalLabels, uint8(slices.Index(values, v)))
		}
		like := slices.Equal(slices.Sorted(slices.Values(start)), slices.Sorted(slices.Values(goal)))
		if q.Unlike == like {
			t.Fatalf("%v to %v: unlike is %v", start, goal, q.Unlike)
		}
		if !like {
			return
		}
		for _, v := range start {
			startLabels = append(startLabels, uint8(slices.Index(values, v)))
		}
		if q.Start != Pack(startLabels) || q.Goal != Pack(goalLabels) || q.Distinct != (len(values) == len(goal)) {
			t.Fatalf("%v to %v: %+v", start, goal, q)
		}
	})
}

// FuzzDefinition: parsing never panics, its errors are lines that say where, and what it
// accepts can be used.
func FuzzDefinition(f *testing.F) {
	for _, text := range []string{slide2x2, swap2x2, graph4, rings, repeatSlide} {
		f.Add([]byte(text))
	}
	files, err := builtins.ReadDir("builtin")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, _ := builtins.ReadFile("builtin/" + file.Name())
		f.Add(text)
	}
	for _, text := range []string{
		"{width: 3, height: 2, blank: {moves: [{name: U, way: d}, l, r, {way: u, name: D}]}, goal: [1, 2, 3, 4, 5, 0]}\n",
		"cells: 3\nblank:\n  edges: [[1, 2], [2, 3]]\n  names: [A, \"2\", 1]\ngoal: [1, 2, 0]\n",
		"\ufeff# minimal\r\ncells: 3\r\nmoves: [{name: '+', cycles: (1 2 3)}]\r\nvalues: {repeat: true}\r\ngoal: [1, 1, 3]\r\nexample: |\r\n  1 3 1\r\n",
		"about: >\n  x\nwidth: 4.5\nheight: ~\ngoal:\nvalues: {from: -1, to: 0b11}\nchunk: 1_0\n",
		"? a\n: b\n", "\"a\\nb\": c\n", "a: 'b\n", "- - - 1\n", "---\n---\n",
	} {
		f.Add([]byte(text))
	}
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("width: !!int 2\n<<: {height: 0x2}\n"))
	form := regexp.MustCompile(`^mine\.yaml:[1-9][0-9]*: [^[:cntrl:]]+: [^[:cntrl:]]+; [^[:cntrl:]]+$`)
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Parse("mine", "mine.yaml", text)
		if err != nil {
			if !form.MatchString(err.Error()) || len(err.Error()) > 400 {
				t.Fatalf("an error without a place or a remedy, of two lines, or long: %q", err)
			}
			line, _ := strconv.Atoi(strings.Split(err.Error(), ":")[1])
			if lines := strings.Count(strings.ReplaceAll(string(text), "\r", "\n"), "\n") + 1; line < 1 || line > lines {
				t.Fatalf("line %d of %d: %v", line, lines, err)
			}
			return
		}
		n := p.Cells()
		if n < 2 || n > MaxCells || p.ChunkRecords < 1 || p.ChunkRecords > limit.ChunkRecords || len(p.Parts()) == 0 {
			t.Fatalf("accepted %+v", p)
		}
		space := p.Space()
		if space == nil {
			if space, err = NewGraph(n, [][2]uint8{{0, 1}}); err != nil {
				t.Fatal(err)
			}
		} else if again, err := Parse("again", "again.yaml", text); err != nil || again.Space().Fingerprint() != space.Fingerprint() {
			t.Fatalf("read again: %v", err)
		}
		goal, fixed := p.Goal()
		if !fixed {
			return
		}
		var b Board
		words := strings.Trim(fmt.Sprint(goal), "[]")
		if err := p.ReadBoard([]byte(words), &b); err != nil || !slices.Equal(b[:n], goal) {
			t.Fatalf("its goal %s is not one of its boards: %v", words, err)
		}
		var q Question
		p.Ask(space, &b, nil, &q)
		if q.Unlike || q.Start != q.Goal {
			t.Fatalf("from its goal to its goal: %+v", q)
		}
		for _, e := range space.AppendNext(nil, q.Goal) {
			if !slices.Contains(space.AppendPrevious(nil, e.State), Edge{q.Goal, e.Move}) {
				t.Fatalf("move %d is not undone", e.Move)
			}
		}
	})
}
