package job_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"antipode/internal/job"
)

// FuzzCut: however a file is read, it is cut into the same chunks, and they hold
// its words in order.
func FuzzCut(f *testing.F) {
	set := builtins(f)
	names := set.Names()
	for i, name := range names {
		p, _ := set.Get(name)
		f.Add(i, []byte(p.Example+p.Example), uint8(1), uint64(1))
	}
	for i, text := range []string{
		"\ufeff3\r\n142305678\r\n876041253\r\n\r\n 0 1 2 3 4 5 6 7 8",
		"9 1 2 3 4 5 6 7 8 0 1 2 3 # a\n# b\n\n4 5 6",
		"2\n1 2\n2 3\n1 2 3 4 5 6 7 8\nx\n1\n\n0\n1 2 3 4 5 6 7 8\n",
		"1 2 3 4 5 6 7 8 9 10 11 12 1 2 3 4 5 6 7 8 9 10 11 12 1",
		"1 2 3\n4 5 6\n7 8 9\n1 2 3\n\n",
		"1 2 3\n4 5 6\n7 8 9\n\n1 2 3\n4 5 6\n# a\n\n1 2 3\n4 5 6\n7 8 9\n7 8 9\n \n\n",
		"1 2 3\n4 5 6\n\n1 2 3\n4 5 6\n7 8 9\n\n1 2 3\n4 5 6\n7 8 9\n",
		"12X453786\n\n12345678X\n\n12X453786\n12345678X\n\n123\n\n12345678X\n",
		"1\n1 2\n1 2 3 4 5 6 7 8\n\n2\n1 2\n\n1 2 3 4 5 6 7 8\n\nx\n\n",
		"0\n\n1 2 3 4 5 6 7 8\n\n1\n1 2\n\n1 2 3\n\n0\n1 2 3 4 5 6 7 8\n",
		"0\n",
		"\xef\xbb",
		"\ufeff\ufeff",
		",,\n,#\n",
	} {
		for which := range names {
			f.Add(which, []byte(text), uint8(2), uint64(i))
		}
	}
	f.Fuzz(func(t *testing.T, which int, text []byte, chunk uint8, seed uint64) {
		if which < 0 || which >= len(names) || len(text) > 4096 {
			return
		}
		p := chunked(t, names[which], 1+int(chunk)%4)
		whole, cutter, err := cut(bytes.NewReader(text), p)
		if err == nil {
			records := 0
			for _, c := range whole {
				records += c.Records
			}
			if records != cutter.Records() {
				t.Fatalf("%d records in chunks, %d said", records, cutter.Records())
			}
			if err := checkChunks(string(text), p, set, whole); err != nil {
				t.Fatal(err)
			}
		}
		one, _, _ := cut(bytes.NewReader(text), chunked(t, names[which], 1<<16))
		if want, got := recordLines(t, set, one), recordLines(t, set, whole); !slices.Equal(got, want) {
			t.Fatalf("records on lines %v, and in one chunk %v", got, want)
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		parts, other, partsErr := cut(pieces{bytes.NewReader(text), func() int { return rng.IntN(8) }}, p)
		announced, ok := cutter.Announced()
		otherAnnounced, otherOK := other.Announced()
		if !reflect.DeepEqual(parts, whole) || ok != otherOK || announced != otherAnnounced || (err == nil) != (partsErr == nil) || err != nil && err.Error() != partsErr.Error() {
			t.Fatalf("in pieces %d chunks, %d, %v; whole %d, %d, %v", len(parts), otherAnnounced, partsErr, len(whole), announced, err)
		}
	})
}

// FuzzJSONL: a line of any bytes gets one line of JSON with its own id, and a
// board that is answered is one that the puzzle has.
func FuzzJSONL(f *testing.F) {
	for _, line := range []string{
		`{"id": 1, "puzzle": "eight", "start": [[1,4,2],[3,0,5],[6,7,8]]}`,
		`{"id": "a", "puzzle": "eight2", "start": "12X453786", "goal": "12345678X", "want": "distance"}`,
		`{"puzzle": "graph", "edges": [[1,2],[1,9]], "start": [2,0,3,4,5,6,7,8,1], "want": "moves"}`,
		`{"id": [1,{"b":null}], "puzzle": "rotegame", "start": [9,9,9,9,1,2,3,4,5,6,7,8], "goal": [[1,9,9,4],[5,9,9,8],[6,2,7,3]]}`,
		`{"id": null, "puzzle": "swap", "start": [2,1,3,7,5,9,8,4,6], "goal": null}`,
		`{"puzzle": "swap", "start": [2,1,3,7,5,9,8,4,null]}`,
		`{"puzzle": "nine"} {}`, `[]`, `"`, `{"id": "` + "\xff" + `"}`, `{"start": 1e400, "puzzle": "swap"}`,
		`{"Start": ["\ud800"], "\u0069d" : {"id": 1, "id": 2} , "id2": [[]]}`, `{"id": 1, "id": 2}`, `{"x": [}, "id": 3}`, `{"id": 12`,
	} {
		f.Add([]byte(line))
	}
	set := builtins(f)
	f.Fuzz(func(t *testing.T, line []byte) {
		if len(line) > 4096 {
			return
		}
		c := &job.Chunk{Spec: job.Spec{Format: job.Format{JSONL: true}, JSON: true, File: "job.in"}, FirstLine: 1, FirstRecord: 1, Payload: line}
		r, err := job.NewReader(c, set)
		if err != nil {
			t.Fatal(err)
		}
		records := 0
		var ids []json.RawMessage
		for rec := (job.Record{}); r.Next(&rec); records++ {
			r.Read(&rec)
			a := job.Answer{Status: job.Exceeded}
			if rec.Invalid != nil {
				a = job.Answer{Status: job.Invalid, Reason: rec.Invalid.Reason}
				if strings.ContainsFunc(a.Reason, func(r rune) bool { return r < ' ' || r > '~' }) {
					t.Fatalf("not a line of ASCII: %q", a.Reason)
				}
			} else {
				checkQuestion(t, &rec)
			}
			printed := job.Append(nil, &c.Spec, &rec, &a)
			var answer struct {
				ID     json.RawMessage
				Status string
				Reason string
			}
			if err := json.Unmarshal(printed, &answer); err != nil || bytes.Count(printed, []byte("\n")) != 1 || !bytes.HasSuffix(printed, []byte("}\n")) {
				t.Fatalf("%q: %v", printed, err)
			}
			if answer.Status != a.Status.String() || rec.Invalid != nil && answer.Reason == "" || !bytes.Equal(answer.ID, rec.ID) {
				t.Fatalf("%q", printed)
			}
			ids = append(ids, rec.ID)
		}
		want := 0
		for l := range bytes.SplitSeq(line, []byte("\n")) {
			if len(bytes.Trim(l, " \t\r")) == 0 {
				continue
			}
			if want++; want > records {
				continue
			}
			if id, ok := onlyID(l); ok && !bytes.Equal(ids[want-1], id) {
				t.Fatalf("%q has the id %q, want %q", l, ids[want-1], id)
			}
		}
		if records != want {
			t.Fatalf("%d records of %d lines", records, want)
		}
	})
}

// onlyID returns the id of a line that is an object with exactly one, short enough
// and UTF-8.
func onlyID(line []byte) (id json.RawMessage, ok bool) {
	d := json.NewDecoder(bytes.NewReader(line))
	if open, err := d.Token(); !json.Valid(line) || err != nil || open != json.Delim('{') {
		return nil, false
	}
	n := 0
	for d.More() {
		name, _ := d.Token()
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil, false
		}
		if name == "id" {
			id = value
			n++
		}
	}
	return id, n == 1 && len(id) <= 1<<10 && utf8.Valid(id)
}

// checkQuestion tells whether a question is of boards that its puzzle has: labels
// from 0 up, the blank's once, start and goal alike.
func checkQuestion(t *testing.T, rec *job.Record) {
	t.Helper()
	q, n := &rec.Question, rec.Puzzle.Cells()
	if q.Space == nil || q.Space.Cells() != n || q.Space.HasBlank() != rec.Puzzle.HasBlank() {
		t.Fatalf("space of %s: %+v", rec.Puzzle.Name, q)
	}
	if q.Unlike {
		return
	}
	var start, goal [16]int
	for i := range n {
		start[q.Start.At(i)]++
		goal[q.Goal.At(i)]++
	}
	if start != goal || q.Start>>(4*n) != 0 || q.Goal>>(4*n) != 0 || q.Space.HasBlank() && goal[0] != 1 {
		t.Fatalf("%s: %x to %x", rec.Puzzle.Name, uint64(q.Start), uint64(q.Goal))
	}
	distinct := true
	for l, k := range goal {
		if k == 0 && l+1 < len(goal) && goal[l+1] > 0 {
			t.Fatalf("%s: %x: label %d is not used", rec.Puzzle.Name, uint64(q.Goal), l)
		}
		distinct = distinct && k <= 1
	}
	if q.Distinct != distinct {
		t.Fatalf("%s: %x: distinct is %v", rec.Puzzle.Name, uint64(q.Goal), q.Distinct)
	}
}
