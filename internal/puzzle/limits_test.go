package puzzle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/limit"
)

// Each limit on a definition from both sides: what is just within it is read, and
// what is just beyond is refused with its key and the limit.
func TestLimitsOfDefinitions(t *testing.T) {
	padded := func(n int) string { return swap2x2 + "#" + strings.Repeat("x", n-len(swap2x2)-1) }
	with := func(base, old, new string) string { return strings.Replace(base, old, new, 1) }
	text := func(n int) string { return strings.Repeat("é", n/2) + strings.Repeat("e", n%2) }
	moves := func(n int) string { return with(swap2x2, "  - {name: 1-2", manyMoves(n-4)+"  - {name: 1-2") }
	cells := func(n int) string {
		var goal []string
		for i := range n {
			goal = append(goal, fmt.Sprint(i))
		}
		return fmt.Sprintf("{cells: %d, blank: {edges: [[1, 2]]}, goal: [%s]}", n, strings.Join(goal, ", "))
	}
	value := func(n int) string {
		return with(slide2x2, "goal: [1, 2, 3, 0]", fmt.Sprintf("values: {to: %d, repeat: true}\ngoal: [1, 1, 1, 0]", n))
	}
	for _, c := range []struct {
		name           string
		within, beyond string
		where, want    string // key, and the limit
	}{
		{"bytes", padded(limit.Definition), padded(limit.Definition + 1), "definition", "16385 bytes; 16384 are possible"},
		{"about", with(slide2x2, "A board of four cells.", text(limit.About)), with(slide2x2, "A board of four cells.", text(limit.About+1)), "about", "201 bytes; one line of 200"},
		{"example", slide2x2 + "example: a" + text(limit.Example-1), slide2x2 + "example: a" + text(limit.Example), "example", "4097 bytes; 4096"},
		{"name of a move", with(swap2x2, "name: 3-4", "name: "+text(limit.MoveName)), with(swap2x2, "name: 3-4", "name: "+text(limit.MoveName+1)), "moves[2].name", "1 to 32 bytes"},
		{"name of a way", with(slide2x2, "[d, l, r, u]", "[d, l, r, {way: u, name: "+text(limit.MoveName)+"}]"),
			with(slide2x2, "[d, l, r, u]", "[d, l, r, {way: u, name: "+text(limit.MoveName+1)+"}]"), "blank.moves[4]", "1 to 32 bytes"},
		{"separator", with(slide2x2, `separator: ""`, "separator: "+text(limit.MoveName)), with(slide2x2, `separator: ""`, "separator: "+text(limit.MoveName+1)), "answer.separator", "32 bytes"},
		{"chunk", with(slide2x2, "chunk: 100", fmt.Sprint("chunk: ", limit.ChunkRecords)), with(slide2x2, "chunk: 100", fmt.Sprint("chunk: ", limit.ChunkRecords+1)), "chunk", "65537 records; 1 to 65536"},
		{"moves", moves(limit.Moves), moves(limit.Moves + 1), "moves", "256 moves; 1 to 255"},
		{"cells", cells(limit.Cells), cells(limit.Cells + 1), "cells", "17 cells; 2 to 16"},
		{"cells in rows", with(slide2x2, "width: 2\nheight: 2\nblank: {moves: [d, l, r, u]}\ngoal: [1, 2, 3, 0]", "width: 8\nheight: 2\nblank: {moves: [l, r]}\ngoal: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0]"),
			with(slide2x2, "width: 2\nheight: 2", "width: 17\nheight: 1"), "width", "17 cells; 1 to 16"},
		{"a value", value(limit.Value), value(limit.Value + 1), "values.to", "256; 1 to 255"},
		{"a value of the goal", with(value(limit.Value), "goal: [1, 1, 1, 0]", "goal: [255, 1, 1, 0]"), with(value(limit.Value), "goal: [1, 1, 1, 0]", "goal: [256, 1, 1, 0]"), "goal[1]", "256 is out of range; a board holds one blank and 3 numbers from 1 to 255"},
	} {
		t.Run(c.name, func(t *testing.T) {
			parsed(t, c.within)
			p, err := Given("mine", "mine.yaml", []byte(c.beyond))
			if err == nil {
				t.Fatalf("accepted: %+v", p)
			}
			if got := err.Error(); !strings.Contains(got, ": "+c.where+": ") || !strings.Contains(got, c.want) || !strings.HasPrefix(got, "mine.yaml:") || len(got) > 300 {
				t.Errorf("%v; want %s and %q", err, c.where, c.want)
			}
		})
	}
	for n := limit.Nesting - 1; n <= limit.Nesting+1; n++ { // a goal of so many lists is none, and one more is not read
		_, err := Given("mine", "mine.yaml", []byte(with(slide2x2, "[1, 2, 3, 0]", strings.Repeat("[", n)+strings.Repeat("]", n))))
		if refused := strings.Contains(fmt.Sprint(err), "lists in lists; 16 are possible"); err == nil || refused != (n > limit.Nesting) {
			t.Errorf("%d lists in lists: %v", n, err)
		}
	}
}

// A huge definition is refused before it costs anything, wherever it comes
// from.
func TestHugeDefinitions(t *testing.T) {
	var moves strings.Builder
	for i := range 1_000_000 {
		fmt.Fprintf(&moves, "  - {name: m%d, cycles: (1 2)}\n", i)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a million moves":         strings.Replace(swap2x2, "  - {name: 1-2", moves.String()+"  - {name: 1-2", 1),
		"a huge text of cycles":   strings.Replace(swap2x2, "(3 4)", strings.Repeat("(1 2)", 1_000_000), 1),
		"a huge cycle":            strings.Replace(swap2x2, "(3 4)", "("+strings.Repeat("1 ", 1_000_000)+")", 1),
		"a huge line of brackets": strings.Repeat("[", 10_000_000),
		"NUL bytes":               strings.Repeat("\x00", 10_000_000),
	} {
		want := fmt.Sprintf("huge.yaml:1: definition: %d bytes; 16384 are possible", len(text))
		if p, err := Given("huge", "huge.yaml", []byte(text)); p != nil || err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
		file := filepath.Join(dir, "huge.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		set := &Set{}
		if p, err := set.Find(file); p != nil || err == nil || err.Error() != file+": a definition of more than 16384 bytes" {
			t.Errorf("%s in a file: %v", name, err)
		}
	}
	// What fits is refused for what it says.
	for _, c := range []struct{ name, cycles, want string }{
		{"a cell again and again", strings.Repeat("(1 2)", 3000), "moves[2].cycles: cell 1 stands in it twice"},
		{"a long cycle", "(" + strings.Repeat("1 ", 7000) + ")", "moves[2].cycles: cell 1 stands in it twice"},
		{"a long number", "(" + strings.Repeat("1", 15000) + ")", "moves[2].cycles: \"11111111111111111111111111111111\"… is no cell; cells are the numbers 1 to 4"},
		{"open cycles", strings.Repeat("(", 15000), "moves[2].cycles: "},
	} {
		_, err := Given("mine", "mine.yaml", []byte(strings.Replace(swap2x2, "(3 4)", `"`+c.cycles+`"`, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), "mine.yaml:6: "+c.want) || len(err.Error()) > 300 {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// Cycles of nothing, as many as fit, are no moves; they are read, and soon.
	parsed(t, strings.Replace(swap2x2, "(3 4)", strings.Repeat("()", 7000), 1))
}
