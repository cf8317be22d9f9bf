package job_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"antipode/internal/job"
	"antipode/internal/plain"
	"antipode/internal/puzzle"
	"antipode/internal/solver"
)

const definitions = "../../configs/puzzles"

// definition reads a file of configs/puzzles.
func definition(t testing.TB, file string) *puzzle.Puzzle {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(definitions, file))
	if err != nil {
		t.Fatal(err)
	}
	p, err := puzzle.Parse(strings.TrimSuffix(file, ".yaml"), file, text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// plainTopspin is the TopSpin of n discs.
func plainTopspin(n int) *plain.Puzzle {
	from := make([][]int, 3)
	for i := range n {
		from[0] = append(from[0], (i+1)%n)
		from[1] = append(from[1], (i+n-1)%n)
		from[2] = append(from[2], i)
	}
	copy(from[2], []int{3, 2, 1, 0})
	return plain.Permutations(n, []string{"L", "R", "T"}, from)
}

func upTo(n int) (values []uint8) {
	for v := range n {
		values = append(values, uint8(v+1))
	}
	return values
}

// Each definition of configs/puzzles answers its example as the plain search in the
// puzzle that it is to be.
func TestDefinitions(t *testing.T) {
	rings := plain.Permutations(14, []string{"L+", "L-", "R+", "R-"}, [][]int{
		{2, 1, 5, 0, 4, 9, 6, 3, 8, 12, 7, 11, 10, 13},
		{3, 1, 0, 7, 4, 2, 6, 10, 8, 5, 12, 11, 9, 13},
		{0, 3, 2, 6, 1, 5, 10, 7, 4, 9, 13, 8, 12, 11},
		{0, 4, 2, 1, 8, 5, 3, 7, 11, 9, 6, 13, 12, 10},
	})
	pieces := plain.Slide(4, 4)
	pieces.Names = []string{"U", "R", "L", "D"}
	want := map[string]struct {
		plain     *plain.Puzzle
		goal      []uint8
		separator string
	}{
		"topspin10.yaml":  {plainTopspin(10), upTo(10), " "},
		"topspin12.yaml":  {plainTopspin(12), upTo(12), " "},
		"sliding2x4.yaml": {plain.Slide(4, 2), append(upTo(7), 0), ""},
		"sliding3x4.yaml": {plain.Slide(4, 3), append(upTo(11), 0), ""},
		"sliding4x4.yaml": {pieces, append(upTo(15), 0), " "},
		"hungarian.yaml":  {rings, []uint8{1, 2, 1, 3, 2, 1, 4, 4, 2, 1, 3, 2, 1, 2}, " "},
	}
	files, err := os.ReadDir(definitions)
	if err != nil || len(files) != len(want) {
		t.Fatalf("%d files, %d wanted: %v", len(files), len(want), err)
	}
	for _, f := range files {
		t.Run(f.Name(), func(t *testing.T) {
			p, w := definition(t, f.Name()), want[f.Name()]
			if p.About == "" || p.Want != puzzle.Moves {
				t.Errorf("%+v", p)
			}
			var right strings.Builder
			starts := exampleBoards(t, p)
			for _, start := range starts {
				moves, ok := w.plain.Shortest(start, w.goal)
				if !ok {
					t.Fatalf("%v cannot be solved", start)
				}
				fmt.Fprintf(&right, "%d\n%s\n", len(moves), strings.Join(w.plain.Words(moves), w.separator))
			}
			if got := exampleAnswers(t, p); got != right.String() || len(starts) < 2 {
				t.Errorf("\n%s\nwant\n%s", got, right.String())
			}
		})
	}
}

// The first definition of each page has the answers that follow it.
func TestDocumentedExamples(t *testing.T) {
	for _, c := range []struct {
		page   string
		blocks int // from the definition to the answers
	}{{"docs/puzzles.md", 1}, {"README.md", 2}} {
		docs, err := os.ReadFile("../../" + c.page)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(docs), "```yaml\n")
		text, rest, _ := strings.Cut(rest, "```\n")
		want, ok := "", false
		for range c.blocks {
			_, rest, _ = strings.Cut(rest, "```\n")
			want, rest, ok = strings.Cut(rest, "```\n")
		}
		p, err := puzzle.Parse("page", c.page, []byte(text))
		if !ok || err != nil {
			t.Fatalf("no example: %v", err)
		}
		if got := exampleAnswers(t, p); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.page, got, want)
		}
	}
}

// exampleBoards reads the boards of an example the plain way.
func exampleBoards(t *testing.T, p *puzzle.Puzzle) [][]uint8 {
	t.Helper()
	var values []uint8
	for _, word := range strings.Fields(strings.ReplaceAll(p.Example, ".", "0")) {
		v, err := strconv.ParseUint(word, 10, 8)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, uint8(v))
	}
	return slices.Collect(slices.Chunk(values, p.Cells()))
}

// exampleAnswers prints the answers of a puzzle's example.
func exampleAnswers(t *testing.T, p *puzzle.Puzzle) (printed string) {
	t.Helper()
	text := []byte(p.Example)
	framing, ok := p.Decide(text, true)
	if !ok {
		t.Fatal("no framing")
	}
	for {
		f, found := p.Next(text, framing, true)
		if found != puzzle.FoundOne {
			return printed
		}
		rec := job.Record{Puzzle: p, Want: p.Want}
		if err := p.ReadText(text[f.Start:f.End], &rec.Question); err != nil {
			t.Fatal(err)
		}
		a, err := oneSolver.Solve(context.Background(), &rec.Question, oneSolver.Plan(&rec.Question), rec.Want, job.Budget{}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		printed += string(job.Append(nil, &job.Spec{}, &rec, &a))
		text = text[f.End:]
	}
}

// topspin defines the TopSpin of n discs as configs/puzzles does.
func topspin(t *testing.T, n int) *puzzle.Puzzle {
	t.Helper()
	right := strings.Trim(fmt.Sprint(upTo(n)), "[]")
	left := strings.Fields(right)
	slices.Reverse(left)
	text := fmt.Sprintf("cells: %d\nmoves:\n- {name: L, cycles: (%s)}\n- {name: R, cycles: (%s)}\n- {name: T, cycles: (1 4)(2 3)}\ngoal: [%s]\n",
		n, strings.Join(left, " "), right, strings.ReplaceAll(right, " ", ", "))
	p, err := puzzle.Parse("topspin", "topspin.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The positions of TopSpin at each distance, as CayleyPy's tables of growth give
// them.
func TestTopspinGrowth(t *testing.T) {
	growth := map[int][]int{
		4: {1, 3, 3, 1},
		5: {1, 3, 4, 2},
		6: {1, 3, 6, 11, 20, 37, 63, 103, 165, 152, 106, 46, 7},
		7: {1, 3, 6, 12, 20, 34, 58, 96, 158, 234, 334, 430, 410, 326, 258, 112, 24, 4},
		8: {1, 3, 6, 12, 23, 44, 85, 148, 244, 389, 621, 996, 1584, 2484, 3764, 5452, 6968, 7138, 6292, 3036, 848, 166, 16},
		9: {1, 3, 6, 12, 24, 46, 88, 168, 322, 613, 1137, 2095, 3745, 6385, 10697, 17134, 24461, 30412, 32269, 27633, 17101, 5884, 1112, 92},
	}
	for n, want := range growth {
		p := topspin(t, n)
		var b puzzle.Board
		copy(b[:], upTo(n))
		var q puzzle.Question
		p.Ask(nil, &b, nil, &q)
		table, err := solver.NewTable(context.Background(), p.Space(), q.Goal)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(table.Layers(), want) {
			t.Errorf("%d discs: %v, want %v", n, table.Layers(), want)
		}
	}
	for _, n := range []int{10, 12} {
		if definition(t, fmt.Sprintf("topspin%d.yaml", n)).Space().Fingerprint() != topspin(t, n).Space().Fingerprint() {
			t.Errorf("topspin%d.yaml has other moves", n)
		}
	}
}
