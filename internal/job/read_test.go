package job_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"antipode/internal/job"
	"antipode/internal/puzzle"
)

// Records as programs write them, among comments, other layouts and wrong ones, are
// what Next and ReadText of their puzzle say, with the numbers and lines that they have.
func TestRecordsAmongOthers(t *testing.T) {
	set := builtins(t)
	rng := rand.New(rand.NewPCG(6, 6))
	row := func(values string) string {
		v := strings.Split(values, "")
		rng.Shuffle(len(v), func(i, j int) { v[i], v[j] = v[j], v[i] })
		return strings.Join(v, " ")
	}
	board := func() string {
		v := strings.Fields(row("012345678"))
		return strings.Join(v[:3], " ") + "\n" + strings.Join(v[3:6], " ") + "\n" + strings.Join(v[6:], " ") + "\n"
	}
	for _, c := range []struct {
		puzzle  string
		framing puzzle.Framing
		record  func() string
	}{
		{"eight", puzzle.Framing{Lines: 3}, board},
		{"eight", puzzle.Framing{Lines: 3, Blocks: 1}, func() string { return board() + "\n" }},
		{"eight", puzzle.Framing{}, board},
		{"eight2", puzzle.Framing{Lines: 2}, func() string {
			return strings.ReplaceAll(row("X12345678")+"\n"+row("X12345678"), " ", "") + "\n"
		}},
		{"graph", puzzle.Framing{Lines: 2}, func() string {
			return []string{"0\n", "2\n1 2\n3 9\n", "2\n1 2\n3 8\n"}[rng.IntN(3)] + strings.TrimSpace(row("12345678")) + "\n"
		}},
		{"rotegame", puzzle.Framing{Lines: 2}, func() string { return row("123456123456") + "\n" + row("123456123456") + "\n" }},
	} {
		t.Run(fmt.Sprint(c.puzzle, c.framing), func(t *testing.T) {
			p, err := set.Get(c.puzzle)
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for range 500 {
				s := c.record()
				switch rng.IntN(8) {
				case 0:
					s = "# a comment\n" + s
				case 1:
					s = "\n \n" + s
				case 2:
					s = strings.ReplaceAll(s, "\n", "\r\n")
				case 3:
					s = strings.Replace(s, "1", "7", 1)
				case 4:
					s = strings.Replace(s, " ", "  ", 1)
				}
				text.WriteString(s)
			}
			ch := &job.Chunk{Spec: job.Spec{Puzzle: c.puzzle, Format: job.Format{Known: true, Framing: c.framing}}, FirstLine: 5, FirstRecord: 11, Payload: []byte(text.String())}
			r, err := job.NewReader(ch, set)
			if err != nil {
				t.Fatal(err)
			}
			number, line := 11, 5
			var rec job.Record
			for rest := ch.Payload; ; {
				f, found := p.Next(rest, c.framing, true)
				if more := r.Next(&rec); more != (found == puzzle.FoundOne) {
					t.Fatalf("record %d: %v, want %v", number, more, found)
				}
				if found != puzzle.FoundOne {
					break
				}
				r.Read(&rec)
				var q puzzle.Question
				var invalid *puzzle.RecordError
				err := p.ReadText(rest[f.Start:f.End], &q)
				errors.As(err, &invalid)
				switch {
				case rec.Number != number || rec.Line != line+f.Line || rec.Puzzle != p || rec.Want != p.Want || rec.ID != nil:
					t.Fatalf("record %d on line %d: %+v", number, line+f.Line, rec)
				case (rec.Invalid == nil) != (invalid == nil) || invalid != nil && *rec.Invalid != *invalid:
					t.Fatalf("record %d: %+v, want %+v", number, rec.Invalid, invalid)
				case invalid == nil && rec.Question.Space.Fingerprint() != q.Space.Fingerprint():
					t.Fatalf("record %d: another space", number)
				}
				if invalid == nil {
					if q.Space = rec.Question.Space; rec.Question != q {
						t.Fatalf("record %d: %+v, want %+v", number, rec.Question, q)
					}
				}
				number++
				line += f.Line + f.Lines
				rest = rest[f.End:]
			}
		})
	}
}

// JSON records that bring the same edges have one space, whatever stands between
// them; others have their own.
func TestSpacesOfJSON(t *testing.T) {
	lines := []struct {
		edges string
		same  int // the line that has the same space, from 0; -1 where none has
	}{
		{"[[1,2],[3,9]]", -1}, {"[[1,2],[3,9]]", 0}, {"[[1,2],[3,8]]", -1}, {"[[1,2],[3,8]]", 2}, {"[[1,2] ,[3,8]]", -1}, {"[]", -1},
	}
	var text strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&text, `{"puzzle":"graph","edges":%s,"start":[1,2,3,4,5,6,7,8,0]}`+"\n", l.edges)
	}
	r, err := job.NewReader(&job.Chunk{Spec: job.Spec{Format: job.Format{JSONL: true}}, FirstLine: 1, FirstRecord: 1, Payload: []byte(text.String())}, builtins(t))
	if err != nil {
		t.Fatal(err)
	}
	var spaces []*puzzle.Space
	for rec := (job.Record{}); r.Next(&rec); {
		if r.Read(&rec); rec.Invalid != nil {
			t.Fatal(rec.Invalid)
		}
		spaces = append(spaces, rec.Question.Space)
	}
	for i, l := range lines {
		for k := range i {
			if got, want := spaces[i] == spaces[k], k == l.same; got != want {
				t.Errorf("lines %d and %d have one space: %v", k, i, got)
			}
		}
	}
}
