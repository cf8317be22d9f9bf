package job_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"antipode/internal/job"
	"antipode/internal/puzzle"
)

// outcomes returns what becomes of each record of a job file: its distance, or
// the line and the reason of an invalid one.
func outcomes(t testing.TB, r io.Reader, p *puzzle.Puzzle, set *puzzle.Set) (all []string) {
	t.Helper()
	chunks, _, err := cut(r, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chunks {
		r, err := job.NewReader(c, set)
		if err != nil {
			t.Fatal(err)
		}
		for rec := (job.Record{}); r.Next(&rec); {
			if r.Read(&rec); rec.Invalid != nil {
				all = append(all, fmt.Sprintf("%d: %s", rec.Line+rec.Invalid.Line, rec.Invalid.Reason))
				continue
			}
			a, err := oneSolver.Solve(context.Background(), &rec.Question, oneSolver.Plan(&rec.Question), rec.Want, job.Budget{}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprint(a.Distance))
		}
	}
	return all
}

// Where blank lines separate records of several lines, a record with rows too few
// or too many is invalid alone.
func TestRecordsApart(t *testing.T) {
	const (
		// The sorted board, one swap away, and two that share no cell.
		zero = "1 2 3\n4 5 6\n7 8 9\n"
		one  = "2 1 3\n4 5 6\n7 8 9\n"
		two  = "2 1 3\n4 5 9\n7 8 6\n"
		// A board, and the same with the left ring turned.
		rings  = "1 2 3 4\n5 6 7 8\n9 10 11 12\n"
		turned = "5 1 2 4\n9 6 3 8\n10 11 7 12\n"
		home   = "0\n1 2 3 4 5 6 7 8\n"
		step   = "2\n1 9\n2 9\n9 2 3 4 5 6 7 8\n"
	)
	set := builtins(t)
	crlf := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	for _, c := range []struct {
		puzzle, name, text string
		want               []string // each a distance, or what an invalid record's line and reason start with
	}{
		{"swap", "all right", zero + "\n" + one + "\n" + two, []string{"0", "1", "2"}},
		{"swap", "a row missing in the first", "1 2 3\n7 8 9\n\n" + one + "\n" + two, []string{"2: the board has 6 values", "1", "2"}},
		{"swap", "a row missing in the first of two", "1 2 3\n7 8 9\n\n" + one, []string{"2: the board has 6 values", "1"}},
		{"swap", "a row missing in the first, the next one's completes it", "4 5 6\n7 8 9\n\n" + zero + "\n" + one, []string{"2: the board has 6 values", "0", "1"}},
		{"swap", "a row missing in the middle", zero + "\n2 1 3\n7 8 9\n\n" + two, []string{"0", "6: the board has 6 values", "2"}},
		{"swap", "a row missing in the last", zero + "\n" + one + "\n2 1 3\n4 5 9\n", []string{"0", "1", "10: the board has 6 values"}},
		{"swap", "a row missing in two, which would be right together", zero + "\n1 2 3\n\n4 5 6\n7 8 9\n\n" + two, []string{"0", "5: the board has 3 values", "8: the board has 6 values", "2"}},
		{"swap", "all but one row missing in the middle", zero + "\n2 1 3\n\n" + two, []string{"0", "5: the board has 3 values", "2"}},
		{"swap", "an extra row in the first", zero + "7 8 9\n\n" + one + "\n" + two, []string{`4: "7" is too much`, "1", "2"}},
		{"swap", "an extra row in the first of two", zero + "7 8 9\n\n" + zero, []string{`4: "7" is too much`, "0"}},
		{"swap", "an extra row in the middle", zero + "\n" + one + "7 8 9\n\n" + two, []string{"0", `8: "7" is too much`, "2"}},
		{"swap", "an extra row in the last", zero + "\n" + one + "\n" + two + "7 8 9\n", []string{"0", "1", `12: "7" is too much`}},
		{"swap", "a row missing, and one too many in the next", zero + "\n1 2 3\n4 5 6\n\n" + zero + "7 8 9\n\n" + two, []string{"0", "6: the board has 6 values", `11: "7" is too much`, "2"}},
		{"swap", "a value missing in the first", "1 2 3\n4 5\n7 8 9\n\n" + one + "\n" + two, []string{"3: the board has 8 values", "1", "2"}},
		{"swap", "a value missing in the middle", zero + "\n2 1 3\n4 5\n7 8 9\n\n" + two, []string{"0", "7: the board has 8 values", "2"}},
		{"swap", "a value too many in the first", "1 2 3\n4 5 6\n7 8 9 9\n\n" + one + "\n" + two, []string{`3: "9" is too much`, "1", "2"}},
		{"swap", "a wrong value in the first", "1 2 3\n4 5 6\n7 8 8\n\n4 5 6\n7 8 9\n\n" + two, []string{"3: board: 8 stands on it twice", "6: the board has 6 values", "2"}},
		{"swap", "a word that is none", zero + "\n2 1 3\n4 x 6\n\n" + two, []string{"0", `6: "x" is not a value`, "2"}},
		{"swap", "Windows line ends", crlf(zero + "\n2 1 3\n7 8 9\n\n" + two + "7 8 9\n\n" + one), []string{"0", "6: the board has 6 values", `11: "7" is too much`, "1"}},
		{"swap", "blank lines of white space", zero + " \t \n2 1 3\n7 8 9\n , \n" + two, []string{"0", "6: the board has 6 values", "2"}},
		{"swap", "several blank lines", "\n\n" + zero + "\n\n\n2 1 3\n7 8 9\n \n\n" + two + "\n\n", []string{"0", "10: the board has 6 values", "2"}},
		{"swap", "white space at line ends", "1 2 3 \n4 5 6\t\n7 8 9 \n \n2 1 3 \n7 8 9 \n \n" + two, []string{"0", "6: the board has 6 values", "2"}},
		{"swap", "comments between", "# a\n" + zero + "\n# b\n2 1 3\n7 8 9\n\n# c\n" + two, []string{"0", "8: the board has 6 values", "2"}},
		{"swap", "comments after, before the blank line", zero + "# a\n\n2 1 3\n7 8 9\n# b\n\n" + two, []string{"0", "7: the board has 6 values", "2"}},
		{"swap", "comments separate nothing", zero + "\n2 1 3\n# b\n4 5 6\n7 8 9\n# c\n7 8 9\n\n" + two, []string{"0", `10: "7" is too much`, "2"}},
		{"eight", "after a count", "3\n0 1 2\n3 4 5\n6 7 8\n\n1 0 2\n6 7 8\n\n1 0 2\n3 4 5\n6 7 8\n", []string{"0", "7: the board has 6 values", "1"}},

		{"eight2", "words", "3\n12345678X\n12345678X\n\n12345678X\n\n12X453786\n12345678X\n", []string{"0", "5: the second board has 0 values", "2"}},
		{"rotegame", "the second board missing in the middle", rings + turned + "\n" + rings + "\n" + rings + rings, []string{"1", "10: the second board has 0 values", "0"}},
		{"rotegame", "the second board missing in the first", rings + "\n" + rings + turned + "\n" + rings + rings, []string{"3: the second board has 0 values", "1", "0"}},
		{"rotegame", "the second board missing in the last", rings + turned + "\n" + rings + rings + "\n" + rings, []string{"1", "0", "17: the second board has 0 values"}},
		{"rotegame", "a row missing in each board", rings + turned + "\n1 2 3 4\n5 6 7 8\n9 6 3 8\n10 11 7 12\n\n" + rings + rings, []string{"1", "11: the second board has 4 values", "0"}},
		{"rotegame", "boards apart, a row missing in a first board", rings + "\n" + turned + "\n1 2 3 4\n5 6 7 8\n\n" + turned + "\n" + rings + "\n" + rings, []string{"1", "14: the second board has 8 values", "0"}},
		{"rotegame", "boards apart, a row missing in a second board", rings + "\n" + turned + "\n" + rings + "\n9 6 3 8\n10 11 7 12\n\n" + rings + "\n" + rings, []string{"1", "14: the second board has 8 values", "0"}},
		{"rotegame", "boards apart, an extra row", rings + "\n" + turned + "\n" + rings + "9 10 11 12\n\n" + turned + "\n" + rings + "\n" + rings, []string{"1", `16: "10" is too much`, "0"}},
		{"rotegame", "boards apart, a row missing in the first record", "1 2 3 4\n5 6 7 8\n\n" + turned + "\n" + rings + "\n" + turned + "\n" + rings + "\n" + rings, []string{"6: the second board has 8 values", "1", "0"}},
		{"rotegame", "boards apart, but not those of one record", rings + "\n" + turned + "\n" + rings + turned + "\n" + rings + "\n" + rings, []string{"1", "1", "0"}},

		{"graph", "edges cut short in the middle", home + "\n2\n1 9\n9 2 3 4 5 6 7 8\n\n" + step, []string{"0", "6: the vertices of 6 pieces", "1"}},
		{"graph", "edges cut short in the first", "2\n1 9\n9 2 3 4 5 6 7 8\n\n" + home + "\n" + step, []string{"3: the vertices of 6 pieces", "0", "1"}},
		{"graph", "an edge too many in the middle", home + "\n1\n1 9\n2 9\n9 2 3 4 5 6 7 8\n\n" + step, []string{"0", "7: two pieces on vertex 9", "1"}},
		{"graph", "an edge too many in the first", "1\n1 9\n2 8\n9 1 3 4 5 6 7 8\n\n" + home + "\n" + step, []string{`4: "7" is too much`, "0", "1"}},
		{"graph", "no vertices", step + "\n2\n1 9\n2 9\n\n" + home, []string{"1", "8: the vertices of 0 pieces", "0"}},
		{"graph", "a blank line among edges", home + "\n2\n1 9\n\n" + step, []string{"0", "5: the record ends after 1 of 2 edges", "1"}},
		{"graph", "no number of edges", home + "\n1 9\n9 2 3 4 5 6 7 8\n\n" + step, []string{"0", "5: the vertices of 7 pieces", "1"}},
		{"graph", "edges apart, cut short", "1\n1 9\n\n9 2 3 4 5 6 7 8\n\n2\n1 9\n\n9 2 3 4 5 6 7 8\n\n0\n\n1 2 3 4 5 6 7 8\n", []string{"1", "9: the vertices of 6 pieces", "0"}},
		{"graph", "edges apart, no number of edges", "1\n1 9\n\n9 2 3 4 5 6 7 8\n\nx\n1 9\n\n9 2 3 4 5 6 7 8\n\n0\n\n1 2 3 4 5 6 7 8\n", []string{"1", `6: "x" is not a number of edges`, "0"}},

		// Files that are not apart: lines or values are counted.
		{"swap", "a blank line after every row", strings.ReplaceAll(zero+one+two, "\n", "\n\n"), []string{"0", "1", "2"}},
		{"swap", "a blank line inside each board", "1 2 3\n\n4 5 6\n7 8 9\n2 1 3\n\n4 5 6\n7 8 9\n2 1 3\n\n4 5 9\n7 8 6\n", []string{"0", "1", "2"}},
		{"swap", "no blank lines", zero + one + two, []string{"0", "1", "2"}},
		{"swap", "a blank line after the second", zero + one + "\n" + two + zero, []string{"0", "1", "2", "0"}},
		{"swap", "a blank line after the first only", zero + "\n" + one + two + zero, []string{"0", "1", "2", "0"}},
		{"swap", "a blank line after the first, and every two", zero + "\n" + one + two + "\n" + zero + two, []string{"0", "1", "2", "0", "2"}},
		{"swap", "a line each", strings.ReplaceAll(zero, "\n", " ") + "\n\n1 2 3\n\n" + strings.ReplaceAll(two, "\n", " ") + "\n", []string{"0", "3: the board has 3 values", "2"}},
	} {
		t.Run(c.puzzle+": "+c.name, func(t *testing.T) {
			for _, chunk := range []int{1, 2, 100} {
				p := chunked(t, c.puzzle, chunk)
				for how, r := range readers(c.text) {
					got := outcomes(t, r, p, set)
					if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
						t.Fatalf("%s, %d a chunk: %q, want %q", how, chunk, got, c.want)
					}
				}
			}
		})
	}
}

// Of records that stand apart each block of lines is one, right or broken.
func TestBlocksAreRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	set, p := builtins(t), chunked(t, "swap", 4)
	for range 300 {
		var text strings.Builder
		var lines []int
		var broken []bool
		line := 1
		for i := range 1 + rng.IntN(12) {
			rows := 3
			switch { // two whole boards in the second are another kind of file
			case i == 1 && rng.IntN(2) == 0:
				rows = 1 + rng.IntN(5)
			case i > 1 && rng.IntN(2) == 0:
				rows = 1 + rng.IntN(6)
			}
			lines, broken = append(lines, line), append(broken, rows != 3)
			for k := range rows {
				fmt.Fprintln(&text, 3*(k%3)+1, 3*(k%3)+2, 3*(k%3)+3)
			}
			blanks := 1 + rng.IntN(3)
			text.WriteString(strings.Repeat("\n", blanks))
			line += rows + blanks
		}
		for _, size := range []int{7, 100, 1 << 20} {
			chunks, _, err := cut(pieces{strings.NewReader(text.String()), func() int { return size }}, p)
			if err != nil {
				t.Fatal(err)
			}
			if err := checkChunks(text.String(), p, set, chunks); err != nil {
				t.Fatal(err)
			}
			if got := recordLines(t, set, chunks); !slices.Equal(got, lines) {
				t.Fatalf("%q: records on lines %v, want %v", text.String(), got, lines)
			}
			for i, o := range outcomes(t, strings.NewReader(text.String()), p, set) {
				if (o == "0") == broken[i] {
					t.Fatalf("%q: record %d: %s", text.String(), i+1, o)
				}
			}
		}
	}
}
