package job_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"antipode/internal/job"
	"antipode/internal/plain"
	"antipode/internal/puzzle"
	"antipode/internal/solver"
)

func builtins(t testing.TB) *puzzle.Set {
	t.Helper()
	set, err := puzzle.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

var oneSolver = solver.New(solver.Config{Searches: 1, Memory: 256 << 20, TableMemory: 64 << 20})

// outcome is what became of a job file.
type outcome struct {
	output    string
	counts    job.Counts
	announced int // -1: nothing
	err       error
}

// run takes a job file all the way: it is cut, read, solved and printed. The
// puzzle is "" for jsonl.
func run(t testing.TB, name, text string) (out outcome) {
	t.Helper()
	return runSet(t, builtins(t), name, text)
}

func runSet(t testing.TB, set *puzzle.Set, name, text string) (out outcome) {
	t.Helper()
	spec := job.Spec{Job: "test", Puzzle: name, File: "job.in", JSON: name == "", Format: job.Format{JSONL: name == ""}}
	var p *puzzle.Puzzle
	if name != "" {
		var err error
		if p, err = set.Get(name); err != nil {
			t.Fatal(err)
		}
	}
	cutter := job.NewCutter(strings.NewReader(text), spec, p)
	defer func() {
		out.announced = -1
		if n, ok := cutter.Announced(); ok {
			out.announced = n
		}
	}()
	for {
		c, err := cutter.Next(context.Background())
		if err == io.EOF {
			return out
		}
		if err != nil {
			out.err = err
			return out
		}
		if c.TooLong != "" {
			res := job.All(c, set, job.Answer{Status: job.Invalid, Reason: c.TooLong})
			out.output += string(res.Payload)
			out.counts.Sum(res.Counts)
			continue
		}
		out.add(t, c, set)
	}
}

// add answers a chunk.
func (out *outcome) add(t testing.TB, c *job.Chunk, set *puzzle.Set) {
	t.Helper()
	r, err := job.NewReader(c, set)
	if err != nil {
		t.Fatal(err)
	}
	var printed []byte
	var rec job.Record
	for r.Next(&rec) {
		r.Read(&rec)
		var a job.Answer
		if rec.Invalid != nil {
			a = job.Answer{Status: job.Invalid, Line: rec.Invalid.Line, Reason: rec.Invalid.Reason}
		} else if a, err = oneSolver.Solve(context.Background(), &rec.Question, oneSolver.Plan(&rec.Question), rec.Want, job.Budget{}, nil, nil); err != nil {
			t.Fatal(err)
		}
		printed = job.Append(printed, &c.Spec, &rec, &a)
		out.counts.Add(&a)
	}
	out.output += string(printed)
}

// Job files as people write them, and their right answers: samples of public
// tasks, answers of other programs, and what can be told on paper.
func TestAnswers(t *testing.T) {
	for _, c := range []struct{ puzzle, name, in, out string }{
		{"eight", "the goal is 0 to 8",
			"5\n8 6 7 2 5 4 3 0 1\n6 4 7 8 5 0 3 2 1\n1 2 3 4 5 6 7 8 0\n8 0 6 5 4 7 2 3 1\n8 7 6 0 4 1 2 5 3\n",
			"27\n25\n22\n31\n31\n"},
		{"eight", "other goals are unreachable, or far",
			"5\n1 2 3 8 0 4 7 6 5\n1 0 3 8 2 4 7 6 5\n0 1 2 3 4 5 6 7 8\n2 8 3 1 0 4 7 6 5\n0 4 1 3 2 5 6 7 8\n",
			"-1\n-1\n0\n-1\n14\n"},
		{"eight", "near the goal",
			"5\n0 1 2 3 4 5 6 7 8\n1 0 2 3 4 5 6 7 8\n3 1 2 0 4 5 6 7 8\n1 2 0 3 4 5 6 7 8\n1 4 2 3 0 5 6 7 8\n",
			"0\n1\n1\n2\n2\n"},
		{"eight", "unreachable boards among others",
			"6\n0 8 7 6 5 4 3 2 1\n0 2 1 3 4 5 6 7 8\n0 8 7 6 5 4 3 1 2\n8 1 2 0 4 3 7 6 5\n0 1 2 3 4 5 6 7 8\n0 1 2 3 4 5 6 8 7\n",
			"30\n-1\n-1\n-1\n0\n-1\n"},
		{"eight", "the farthest boards",
			"4\n8 7 6 0 4 1 2 5 3\n8 0 6 5 4 7 2 3 1\n0 8 7 6 5 4 3 2 1\n7 2 4 5 0 6 8 3 1\n",
			"31\n31\n30\n26\n"},
		{"eight", "spaces",
			"2\n1 4 2 3 0 5 6 7 8\n8 7 6 0 4 1 2 5 3\n",
			"2\n31\n"},
		{"eight", "digits in a row",
			"2\n142305678\n876041253\n",
			"2\n31\n"},
		{"eight", "three lines each",
			"2\n1 4 2\n3 0 5\n6 7 8\n8 7 6\n0 4 1\n2 5 3\n",
			"2\n31\n"},
		{"eight", "blank lines between",
			"2\n\n1 4 2\n3 0 5\n6 7 8\n\n8 7 6\n0 4 1\n2 5 3\n",
			"2\n31\n"},
		{"eight", "commas",
			"2\n1,4,2,3,0,5,6,7,8\n8,7,6,0,4,1,2,5,3\n",
			"2\n31\n"},
		{"eight", "Windows line ends",
			"2\r\n1 4 2 3 0 5 6 7 8\r\n8 7 6 0 4 1 2 5 3\r\n",
			"2\n31\n"},
		{"eight", "a byte order mark",
			"\ufeff2\r\n1 4 2 3 0 5 6 7 8\r\n8 7 6 0 4 1 2 5 3\r\n",
			"2\n31\n"},
		{"eight", "no last line end",
			"2\n1 4 2 3 0 5 6 7 8\n8 7 6 0 4 1 2 5 3",
			"2\n31\n"},
		{"eight", "blank lines at the end",
			"2\n1 4 2 3 0 5 6 7 8\n8 7 6 0 4 1 2 5 3\n\n\n  \n",
			"2\n31\n"},
		{"eight", "white space at line ends",
			"2 \t\n1 4 2 3 0 5 6 7 8 \t\n8 7 6 0 4 1 2 5 3 \t\n",
			"2\n31\n"},
		{"eight", "blank written x",
			"1\n1 4 2 3 x 5 6 7 8\n",
			"2\n"},
		{"eight", "blank written X",
			"1\n1 4 2 3 X 5 6 7 8\n",
			"2\n"},
		{"eight", "blank written _",
			"1\n1 4 2 3 _ 5 6 7 8\n",
			"2\n"},
		{"eight", "blank written .",
			"1\n1 4 2 3 . 5 6 7 8\n",
			"2\n"},
		{"eight", "count of 0",
			"0\n",
			""},
		{"swap", "a sample",
			"2 1 3\n7 5 9\n8 4 6\n",
			"4\n"},
		{"swap", "sorted",
			"1 2 3\n4 5 6\n7 8 9\n",
			"0\n"},
		{"swap", "a swap in a row",
			"2 1 3\n4 5 6\n7 8 9\n",
			"1\n"},
		{"swap", "a swap in a column",
			"1 2 3\n4 5 9\n7 8 6\n",
			"1\n"},
		{"swap", "the farthest board",
			"9 8 7\n6 5 4\n3 2 1\n",
			"16\n"},
		{"eight2", "samples",
			"2\n12X453786\n12345678X\n564178X23\n7568X4123\n",
			"Case 1: 2\ndd\nCase 2: 8\nurrulldr\n"},
		{"eight2", "start is goal: the second line is empty",
			"3\n12345678X\n12345678X\nX87654321\nX87654321\n12X453786\n12345678X\n",
			"Case 1: 0\n\nCase 2: 0\n\nCase 3: 2\ndd\n"},
		{"eight2", "ties go to the first move",
			"4\n4321X5678\nX12345678\n1543X2678\n12X345678\n12348765X\n1234X5678\n123875X46\n12345678X\n",
			"Case 1: 6\nlurdlu\nCase 2: 6\nruldru\nCase 3: 6\nlurdlu\nCase 4: 8\nruldrurd\n"},
		{"eight2", "letters are the way of the blank",
			"3\n1234X5678\n12345X678\n1234X5678\n1X3425678\n1X2453786\n12345678X\n",
			"Case 1: 1\nr\nCase 2: 1\nu\nCase 3: 3\nrdd\n"},
		{"eight2", "a small x",
			"1\n12x453786\n12345678x\n",
			"Case 1: 2\ndd\n"},
		{"eight2", "0 for X",
			"1\n120453786\n123456780\n",
			"Case 1: 2\ndd\n"},
		{"eight2", "numbers with spaces",
			"1\n1 2 X 4 5 3 7 8 6\n1 2 3 4 5 6 7 8 X\n",
			"Case 1: 2\ndd\n"},
		{"rotegame", "the left ring turns clockwise",
			"1 2 3 4\n5 6 7 8\n9 10 11 12\n5 1 2 4\n9 6 3 8\n10 11 7 12\n",
			"1\n1\n"},
		{"rotegame", "the right ring turns counter-clockwise",
			"1 2 3 4\n5 6 7 8\n9 10 11 12\n1 3 4 8\n5 2 7 12\n9 6 10 11\n",
			"1\n2\n"},
		{"rotegame", "moves in the order in which they are made",
			"1 2 3 4\n5 6 7 8\n9 10 11 12\n5 2 4 8\n9 1 3 12\n10 6 11 7\n",
			"2\n1 2\n"},
		{"rotegame", "other contents",
			"1 2 3 4\n5 6 7 8\n9 10 11 12\n1 2 3 4\n5 6 7 8\n9 10 11 13\n",
			"-1\n\n"},
		{"rotegame", "all the same",
			"7 7 7 7\n7 7 7 7\n7 7 7 7\n7 7 7 7\n7 7 7 7\n7 7 7 7\n",
			"0\n\n"},
		{"rotegame", "29 moves",
			"1 2 3 4\n5 6 7 8\n9 10 11 12\n2 10 9 6\n11 3 4 8\n5 1 12 7\n",
			"29\n1 1 1 1 2 2 2 2 1 1 2 1 1 2 2 2 1 2 2 1 2 1 2 2 2 1 2 1 1\n"},
		{"graph", "sample 1",
			"5\n1 2\n1 3\n1 9\n2 9\n3 9\n3 9 2 4 5 6 7 8\n",
			"5\n"},
		{"graph", "sample 2, home",
			"5\n1 2\n1 3\n1 9\n2 9\n3 9\n1 2 3 4 5 6 7 8\n",
			"0\n"},
		{"graph", "sample 3, unreachable",
			"12\n8 5\n9 6\n4 5\n4 1\n2 5\n8 9\n2 1\n3 6\n8 7\n6 5\n7 4\n2 3\n1 2 3 4 5 6 8 7\n",
			"-1\n"},
		{"graph", "sample 4",
			"12\n6 5\n5 4\n4 1\n4 7\n8 5\n2 1\n2 5\n6 9\n3 6\n9 8\n8 7\n3 2\n2 3 4 6 1 9 7 8\n",
			"16\n"},
		{"graph", "no edges, home",
			"0\n1 2 3 4 5 6 7 8\n",
			"0\n"},
		{"graph", "no edges, not home",
			"0\n9 2 3 4 5 6 7 8\n",
			"-1\n"},
		{"graph", "an edge goes both ways",
			"1\n9 1\n9 2 3 4 5 6 7 8\n",
			"1\n"},
		{"graph", "a piece where the blank cannot go",
			"4\n1 9\n2 9\n5 6\n6 7\n9 2 3 4 6 5 7 8\n",
			"-1\n"},
		{"graph", "a ring does not exchange pieces",
			"9\n1 2\n2 3\n3 4\n4 5\n5 6\n6 7\n7 8\n8 9\n9 1\n2 1 3 4 5 6 7 8\n",
			"-1\n"},
		{"graph", "the complete graph",
			"36\n1 2\n1 3\n1 4\n1 5\n1 6\n1 7\n1 8\n1 9\n2 3\n2 4\n2 5\n2 6\n2 7\n2 8\n2 9\n3 4\n3 5\n3 6\n3 7\n3 8\n3 9\n4 5\n4 6\n4 7\n4 8\n4 9\n5 6\n5 7\n5 8\n5 9\n6 7\n6 8\n6 9\n7 8\n7 9\n8 9\n8 3 2 5 4 7 6 1\n",
			"12\n"},
		{"graph", "a star, the blank on a leaf",
			"8\n1 2\n1 3\n1 4\n1 5\n1 6\n1 7\n1 8\n1 9\n9 2 3 4 5 6 7 8\n",
			"1\n"},
		{"graph", "edges given twice, and to themselves",
			"8\n1 2\n1 3\n1 9\n2 9\n3 9\n2 1\n9 9\n1 2\n3 9 2 4 5 6 7 8\n",
			"5\n"},
		{"eight", "distances known for the blank last, turned",
			"8\n806547231\n876041253\n678534210\n578624301\n084673251\n768354201\n123405678\n312045678\n",
			"31\n31\n30\n29\n28\n27\n14\n1\n"},
		{"eight2", "another task's sample: the first of its four shortest ways",
			"1\n2  3  4  1  5  x  7  6  8\n12345678X\n",
			"Case 1: 19\ndlurullddrurdllurdr\n"},
	} {
		t.Run(c.puzzle+": "+c.name, func(t *testing.T) {
			out := run(t, c.puzzle, c.in)
			if out.err != nil || out.output != c.out {
				t.Errorf("%v\n%s\nwant\n%s", out.err, out.output, c.out)
			}
			if n := out.counts.Records; out.announced >= 0 && out.announced != n {
				t.Errorf("%d records of %d", n, out.announced)
			}
			if out.counts.ByStatus[job.Solved]+out.counts.ByStatus[job.Unreachable] != out.counts.Records {
				t.Errorf("counts %+v", out.counts)
			}
		})
	}
}

// Faults of job files are answered in their place, and never with a number.
func TestFaultyRecords(t *testing.T) {
	for _, c := range []struct {
		puzzle, name, in string
		out              []string // what each line of the output starts with
	}{
		{"eight", "a number twice", "1\n1 1 2 3 0 4 5 6 7\n", []string{"invalid: job.in:2: board: 1 stands on it twice"}},
		{"eight", "no blank", "1\n1 2 3 4 5 6 7 8 9\n", []string{"invalid: job.in:2: board: 9 is out of range"}},
		{"eight", "eight numbers", "1\n0 1 2 3 4 5 6 7\n", []string{"invalid: job.in:2: the board has 8 values"}},
		{"eight", "a sign", "1\n0 1 2 3 4 5 6 7 -8\n", []string{`invalid: job.in:2: "-8" is not a value`}},
		{"eight", "out of range", "1\n0 1 2 3 4 5 6 7 18\n", []string{"invalid: job.in:2: board: 18 is out of range"}},
		{"eight", "blank written -1", "1\n1 4 2 3 -1 5 6 7 8\n", []string{`invalid: job.in:2: "-1" is not a value`}},
		{"eight", "blank written *", "1\n1 4 2 3 * 5 6 7 8\n", []string{`invalid: job.in:2: "*" is not a value`}},
		{"eight", "blank as an empty column", "1\n1 4 2\n3   5\n6 7 8\n", []string{"invalid: job.in:4: the board has 8 values"}},
		{"eight", "one fault among right boards", "3\n142305678\n1 2 3\n876041253\n", []string{"2", "invalid: job.in:3: the board has 3 values", "31"}},
		{"eight", "too many values among right boards", "3\n142305678\n0 1 2 3 4 5 6 7 8 8\n876041253\n", []string{"2", `invalid: job.in:3: "8" is too much`, "31"}},
		{"swap", "0 to 8", "0 1 2\n3 4 5\n6 7 8\n", []string{"invalid: job.in:3: board: 0 is out of range; a board holds 1 to 9 once each"}},
		{"swap", "8 twice", "1 2 3\n4 5 6\n7 8 8\n", []string{"invalid: job.in:3: board: 8 stands on it twice; a board holds 1 to 9 once each"}},
		{"eight2", "unreachable", "2\n12345678X\n12345687X\n12X453786\n12345678X\n", []string{"Case 1: -1", "", "Case 2: 2", "dd"}},
		{"eight2", "other tiles", "1\n11345678X\n12345678X\n", []string{"Case 1: invalid: job.in:2: board: 1 stands on it twice", ""}},
		{"eight2", "two X", "1\nXX3456781\n12345678X\n", []string{"Case 1: invalid: job.in:2: board: the blank stands on it twice", ""}},
		{"eight2", "no X in the second", "2\n12345678X\n123456789\n12X453786\n12345678X\n", []string{"Case 1: invalid: job.in:3: second board: 9 is out of range", "", "Case 2: 2", "dd"}},
		{"graph", "vertex 0", "1\n0 1\n1 2 3 4 5 6 7 8\n", []string{`invalid: job.in:2: "0" is not a vertex 1 to 9`}},
		{"graph", "vertex 10", "1\n1 10\n1 2 3 4 5 6 7 8\n", []string{`invalid: job.in:2: "10" is not a vertex 1 to 9`}},
		{"graph", "two pieces on a vertex", "1\n1 9\n1 1 3 4 5 6 7 8\n", []string{"invalid: job.in:3: two pieces on vertex 1"}},
		{"rotegame", "a value too many among right boards", strings.Repeat("1 1 1 1\n", 6) + "1 1 1 1 1\n" + strings.Repeat("1 1 1 1\n", 5) + strings.Repeat("2 2 2 2\n", 6), []string{"0", "", "invalid: job.in:12: ", "", "0", ""}},
	} {
		t.Run(c.puzzle+": "+c.name, func(t *testing.T) {
			out := run(t, c.puzzle, c.in)
			lines := strings.Split(out.output, "\n")
			if out.err != nil || len(lines) != len(c.out)+1 {
				t.Fatalf("%v\n%s", out.err, out.output)
			}
			for i, want := range c.out {
				if want == "" && lines[i] != "" || !strings.HasPrefix(lines[i], want) {
					t.Errorf("line %d: %s; want %s", i+1, lines[i], want)
				}
			}
		})
	}
}

// Tiles of two digits need something between them: such a board is never answered
// with a number.
func TestTilesWithoutSeparators(t *testing.T) {
	set := builtins(t).With(definition(t, "sliding4x4.yaml"))
	for _, text := range []string{"4 4\n0123456789101112131415\n", "4 4\n0123456789abcdef\n", "0123456789101112131415\n", "123456789abcdef0\n"} {
		out := runSet(t, set, "sliding4x4", text)
		if n := out.counts.Records; out.err != nil || n == 0 || out.counts.ByStatus[job.Invalid] != n {
			t.Errorf("%q: %+v", text, out)
		}
	}
}

// A board as a generator writes it: a comment, its size, which reads as a count,
// padded columns, comments after rows.
func TestPaddedBoards(t *testing.T) {
	for _, text := range []string{"# solvable\n3\n 1  2  5\n 3  4  0  # row 2\n 6  7  8\n", "3\n  1 2 5\n3  4 0\n6 7   8\n"} {
		if out := run(t, "eight", text); out.err != nil || out.output != "3\n" || out.announced != 3 {
			t.Errorf("%q: %+v", text, out)
		}
	}
}

// A count that is wrong does not change an answer, and can be told.
func TestWrongCount(t *testing.T) {
	const boards = "1 4 2 3 0 5 6 7 8\n8 7 6 0 4 1 2 5 3\n"
	for _, announced := range []int{0, 1, 2, 3, 1000000} {
		out := run(t, "eight", fmt.Sprintln(announced)+boards)
		if out.err != nil || out.output != "2\n31\n" || out.announced != announced || out.counts.Records != 2 {
			t.Errorf("%d announced: %+v", announced, out)
		}
	}
}

// The example of each puzzle is a job file.
func TestExamples(t *testing.T) {
	for name, want := range map[string]string{
		"eight": "2\n", "eight2": "Case 1: 2\ndd\n", "graph": "5\n", "swap": "4\n",
	} {
		p, err := builtins(t).Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if out := run(t, name, p.Example); out.err != nil || out.output != want {
			t.Errorf("%s: %+v", name, out)
		}
	}
	p, err := builtins(t).Get("rotegame")
	if err != nil {
		t.Fatal(err)
	}
	r := plain.Rotegame()
	moves, ok := r.Shortest([]uint8{9, 9, 9, 9, 1, 2, 3, 4, 5, 6, 7, 8}, []uint8{1, 9, 9, 4, 5, 9, 9, 8, 6, 2, 7, 3})
	if out := run(t, "rotegame", p.Example); !ok || out.output != fmt.Sprintf("%d\n%s\n", len(moves), strings.Join(r.Words(moves), " ")) {
		t.Errorf("rotegame: %+v", out)
	}
}
