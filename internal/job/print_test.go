package job_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"antipode/internal/job"
	"antipode/internal/puzzle"
)

// answers are one of each status, for a record whose moves are 1 and 2.
var answers = map[job.Status]job.Answer{
	job.Solved:      {Status: job.Solved, Distance: 3, Moves: []uint8{0, 1, 1}},
	job.Unreachable: {Status: job.Unreachable},
	job.Invalid:     {Status: job.Invalid, Line: 2, Reason: "a board\r\nof two lines"},
	job.Exceeded:    {Status: job.Exceeded, LowerBound: 17},
	job.Failed:      {Status: job.Failed, Reason: "panic: index out of range"},
}

// record is the 12th record of a job file, on line 70, read.
func record(t *testing.T, name string, want puzzle.Want) *job.Record {
	t.Helper()
	p, err := builtins(t).Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return &job.Record{Number: 12, Line: 70, Puzzle: p, Want: want, Question: puzzle.Question{Space: p.Space()}}
}

func TestPrintText(t *testing.T) {
	for _, c := range []struct {
		puzzle string
		want   puzzle.Want
		status job.Status
		out    string
	}{
		{"rotegame", puzzle.Moves, job.Solved, "3\n1 2 2\n"},
		{"rotegame", puzzle.Moves, job.Unreachable, "-1\n\n"},
		{"rotegame", puzzle.Moves, job.Invalid, "invalid: in.txt:72: a board  of two lines\n\n"},
		{"rotegame", puzzle.Moves, job.Exceeded, "exceeded: in.txt:70: at least 17\n\n"},
		{"rotegame", puzzle.Moves, job.Failed, "failed: in.txt:70: panic: index out of range\n\n"},
		{"rotegame", puzzle.Distance, job.Solved, "3\n"},
		{"rotegame", puzzle.Distance, job.Unreachable, "-1\n"},
		{"rotegame", puzzle.Distance, job.Invalid, "invalid: in.txt:72: a board  of two lines\n"},
		{"rotegame", puzzle.Distance, job.Exceeded, "exceeded: in.txt:70: at least 17\n"},
		{"eight2", puzzle.Moves, job.Solved, "Case 12: 3\ndll\n"},
		{"eight2", puzzle.Moves, job.Unreachable, "Case 12: -1\n\n"},
		{"eight2", puzzle.Moves, job.Invalid, "Case 12: invalid: in.txt:72: a board  of two lines\n\n"},
		{"eight2", puzzle.Moves, job.Exceeded, "Case 12: exceeded: in.txt:70: at least 17\n\n"},
		{"eight2", puzzle.Moves, job.Failed, "Case 12: failed: in.txt:70: panic: index out of range\n\n"},
		{"eight2", puzzle.Distance, job.Solved, "Case 12: 3\n"},
		{"swap", puzzle.Moves, job.Solved, "3\n1-2 2-3 2-3\n"},
		{"eight", puzzle.Distance, job.Solved, "3\n"},
	} {
		a := answers[c.status]
		got := job.Append([]byte("before\n"), &job.Spec{File: "in.txt"}, record(t, c.puzzle, c.want), &a)
		if want := "before\n" + c.out; string(got) != want {
			t.Errorf("%s, %v, %v: %q, want %q", c.puzzle, c.want, c.status, got, want)
		}
	}
	home := job.Answer{Moves: []uint8{}}
	if got := job.Append(nil, &job.Spec{}, record(t, "eight2", puzzle.Moves), &home); string(got) != "Case 12: 0\n\n" {
		t.Errorf("no moves: %q", got)
	}
}

func TestPrintJSON(t *testing.T) {
	for _, c := range []struct {
		want   puzzle.Want
		status job.Status
		out    string
	}{
		{puzzle.Moves, job.Solved, `{"id":"x","line":70,"status":"solved","distance":3,"moves":["1","2","2"]}`},
		{puzzle.Distance, job.Solved, `{"id":"x","line":70,"status":"solved","distance":3}`},
		{puzzle.Moves, job.Unreachable, `{"id":"x","line":70,"status":"unreachable"}`},
		{puzzle.Moves, job.Invalid, `{"id":"x","line":72,"status":"invalid","reason":"a board\r\nof two lines"}`},
		{puzzle.Moves, job.Exceeded, `{"id":"x","line":70,"status":"exceeded","lower_bound":17}`},
		{puzzle.Moves, job.Failed, `{"id":"x","line":70,"status":"failed","reason":"panic: index out of range"}`},
	} {
		rec := record(t, "rotegame", c.want)
		rec.ID = json.RawMessage(`"x"`)
		a := answers[c.status]
		if got := job.Append(nil, &job.Spec{JSON: true, File: "in.txt"}, rec, &a); string(got) != c.out+"\n" {
			t.Errorf("%v, %v: %s want %s", c.want, c.status, got, c.out)
		}
	}
	// A record of which nothing could be read.
	a := answers[job.Failed]
	if got := job.Append(nil, &job.Spec{JSON: true}, &job.Record{Line: 3}, &a); string(got) != `{"line":3,"status":"failed","reason":"panic: index out of range"}`+"\n" {
		t.Errorf("nothing read: %s", got)
	}
}

// Whatever a reason or a move's name is, it comes back from JSON.
func TestPrintJSONStrings(t *testing.T) {
	for _, s := range []string{"", "plain ~ text", `"`, `\`, `\"`, "a\nb\tc\x00d\x1f", "\x7f", "é ↻ 🂡", "<&>", "\u2028"} {
		a := job.Answer{Status: job.Failed, Reason: s}
		rec := record(t, "eight", puzzle.Distance)
		var back struct{ Reason string }
		got := job.Append(nil, &job.Spec{JSON: true}, rec, &a)
		if err := json.Unmarshal(got, &back); err != nil || back.Reason != s || strings.Count(string(got), "\n") != 1 {
			t.Errorf("%q: %s, %v", s, got, err)
		}
		if s == "" || strings.ContainsAny(s, "\n\t\x00\x7f") {
			continue // no name of a move
		}
		name, _ := json.Marshal(s)
		p, err := puzzle.Parse("test", "test.yaml", []byte("cells: 2\nmoves: [{name: "+string(name)+", cycles: (1 2)}]\ngoal: [1, 2]\nrecord: {parts: [start]}\nanswer: {want: moves, separator: \"\"}\nchunk: 1\n"))
		if err != nil {
			t.Fatal(err)
		}
		solved := job.Answer{Distance: 1, Moves: []uint8{0}}
		got = job.Append(nil, &job.Spec{JSON: true}, &job.Record{Puzzle: p, Want: puzzle.Moves, Question: puzzle.Question{Space: p.Space()}}, &solved)
		var moved struct{ Moves []string }
		if err := json.Unmarshal(got, &moved); err != nil || len(moved.Moves) != 1 || moved.Moves[0] != s {
			t.Errorf("a move %q: %s, %v", s, got, err)
		}
	}
}

// Bytes that are no text are no reason for JSON that is none.
func TestPrintJSONOfBytes(t *testing.T) {
	a := job.Answer{Status: job.Failed, Reason: "a\xffb"}
	if got := job.Append(nil, &job.Spec{JSON: true}, record(t, "eight", puzzle.Distance), &a); !utf8.Valid(got) || !json.Valid(got) {
		t.Errorf("%q", got)
	}
}

// The same answer for all records keeps to their numbers, lines, ids and to what
// they want.
func TestAll(t *testing.T) {
	failed := job.Answer{Status: job.Failed, Reason: "given up"}
	text := job.Spec{Puzzle: "eight2", File: "in.txt"}
	jsonl := job.Spec{Format: job.Format{JSONL: true}, JSON: true}
	for _, c := range []struct {
		name  string
		chunk job.Chunk
		want  string
	}{
		{"text", job.Chunk{Spec: text, Records: 2, FirstRecord: 5, FirstLine: 10, Payload: []byte("12345678X\n12345678X\n\n12345678X\n12345678X\n")},
			"Case 5: failed: in.txt:10: given up\n\nCase 6: failed: in.txt:13: given up\n\n"},
		{"the number of records not said", job.Chunk{Spec: text, FirstRecord: 5, FirstLine: 10, Payload: []byte("12345678X\n12345678X\n\n12345678X\n12345678X\n")},
			"Case 5: failed: in.txt:10: given up\n\nCase 6: failed: in.txt:13: given up\n\n"},
		{"a record that does not travel", job.Chunk{Spec: text, Records: 1, FirstRecord: 5, FirstLine: 10, TooLong: "long"},
			"Case 5: failed: in.txt:10: given up\n\n"},
		{"fewer records than said", job.Chunk{Spec: text, Records: 3, FirstRecord: 5, FirstLine: 10, Payload: []byte("12345678X\n12345678X\n")},
			"Case 5: failed: in.txt:10: given up\n\nCase 6: failed: in.txt:10: given up\n\nCase 7: failed: in.txt:10: given up\n\n"},
		{"more records than said", job.Chunk{Spec: text, Records: 1, FirstRecord: 5, FirstLine: 10, Payload: []byte("12345678X\n12345678X\n12345678X\n12345678X\n")},
			"Case 5: failed: in.txt:10: given up\n\n"},
		{"another want", job.Chunk{Spec: job.Spec{Puzzle: "eight2", File: "in.txt", Want: "distance"}, Records: 1, FirstRecord: 1, FirstLine: 2, Payload: []byte("12345678X\n12345678X\n")},
			"Case 1: failed: in.txt:2: given up\n"},
		{"an unknown puzzle", job.Chunk{Spec: job.Spec{Puzzle: "nine", File: "in.txt", Want: "moves"}, Records: 2, FirstRecord: 1, FirstLine: 2, Payload: []byte("1\n2\n")},
			"failed: in.txt:2: given up\n\nfailed: in.txt:2: given up\n\n"},
		{"jsonl", job.Chunk{Spec: jsonl, Records: 3, FirstRecord: 1, FirstLine: 1, Payload: []byte("{\"id\": 1, \"puzzle\": \"eight\", \"start\": 5}\n\nx\n{\"id\": [2]}")},
			`{"id":1,"line":1,"status":"failed","reason":"given up"}` + "\n" + `{"line":3,"status":"failed","reason":"given up"}` + "\n" + `{"id":[2],"line":4,"status":"failed","reason":"given up"}` + "\n"},
		{"jsonl with fewer records than said", job.Chunk{Spec: jsonl, Records: 2, FirstRecord: 1, FirstLine: 1, Payload: []byte("{\"id\": 1}\n")},
			`{"id":1,"line":1,"status":"failed","reason":"given up"}` + "\n" + `{"line":1,"status":"failed","reason":"given up"}` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := job.All(&c.chunk, builtins(t), failed)
			if string(res.Payload) != c.want {
				t.Errorf("got  %q\nwant %q", res.Payload, c.want)
			}
			if n := strings.Count(c.want, "failed"); res.Records != n || res.ByStatus[job.Failed] != n {
				t.Errorf("counts %+v", res.Counts)
			}
		})
	}
}

// A chunk that says neither how many records it has nor of which puzzle gets one
// answer, with the reason.
func TestAllOfWhatCannotBeTold(t *testing.T) {
	c := &job.Chunk{Spec: job.Spec{Puzzle: "nine", File: "f"}, FirstLine: 1, FirstRecord: 1, Payload: []byte("1 2 3\n4 5 6\n")}
	res := job.All(c, builtins(t), job.Answer{Status: job.Failed, Reason: "no such puzzle"})
	if got, want := string(res.Payload), "failed: f:1: no such puzzle\n"; got != want || res.Records != 1 {
		t.Errorf("%d records, %q; want 1, %q", res.Records, got, want)
	}
}

func TestPrintDistances(t *testing.T) {
	for d := range 300 {
		a := job.Answer{Distance: d}
		if got, want := string(job.Append(nil, &job.Spec{}, record(t, "eight", puzzle.Distance), &a)), strconv.Itoa(d)+"\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Names of one letter and longer ones, with a separator and without.
func TestPrintMoves(t *testing.T) {
	for _, c := range []struct{ names, separator, want string }{
		{"[d, l, r, u]", `""`, "dur"}, {"[d, l, r, u]", "\" \"", "d u r"},
		{"[{way: d, name: down}, l, r, {way: u, name: up}]", `""`, "downupr"}, {"[{way: d, name: down}, l, r, u]", "\", \"", "down, u, r"},
		{"[{way: d, name: é}, l, r, u]", `""`, "éur"},
	} {
		p, err := puzzle.Parse("mine", "mine.yaml", []byte("width: 3\nheight: 3\nblank: {moves: "+c.names+"}\ngoal: [0, 1, 2, 3, 4, 5, 6, 7, 8]\nanswer: {want: moves, separator: "+c.separator+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		rec := &job.Record{Puzzle: p, Want: p.Want, Question: puzzle.Question{Space: p.Space()}}
		a := job.Answer{Distance: 3, Moves: []uint8{0, 3, 2}}
		if got := string(job.Append(nil, &job.Spec{}, rec, &a)); got != "3\n"+c.want+"\n" {
			t.Errorf("%s, separator %s: %q", c.names, c.separator, got)
		}
	}
}
