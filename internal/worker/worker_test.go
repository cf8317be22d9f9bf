package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"antipode/internal/cache"
	"antipode/internal/job"
	"antipode/internal/limit"
	"antipode/internal/plain"
	"antipode/internal/puzzle"
	"antipode/internal/solver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait for something that must come.
const patience = time.Minute

// newWorker returns a worker with a cache of its own process.
func newWorker(t *testing.T, mode Mode) *Worker {
	t.Helper()
	set, err := puzzle.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	w := &Worker{
		Name: "test-worker", Puzzles: set, Mode: mode,
		Solver: solver.New(solver.Config{Searches: 4, Memory: 1 << 30, TableMemory: 64 << 20}),
	}
	if w.Cache, err = cache.Open(cache.Config{Bytes: 16 << 20}); err != nil {
		t.Fatal(err)
	}
	return w
}

// chunk is a chunk of text records, one a line's end, from line 1.
func chunk(name string, records int, payload string) *job.Chunk {
	return &job.Chunk{
		Spec:      job.Spec{Owner: "me", Job: "job", Puzzle: name, File: "file"},
		FirstLine: 1, FirstRecord: 1, Records: records, Payload: []byte(payload),
	}
}

func (w *Worker) must(t *testing.T, c *job.Chunk) *job.Result {
	t.Helper()
	var progress atomic.Int64
	res, remember, err := w.Answer(t.Context(), c, &progress)
	if err != nil {
		t.Fatal(err)
	}
	remember(t.Context())
	if n := res.Records - res.ByStatus[job.Failed]; int(progress.Load()) < n {
		t.Errorf("progress %d after %d records", progress.Load(), n)
	}
	if res.Worker != w.Name || res.Seconds < 0 {
		t.Errorf("worker %q, %v seconds", res.Worker, res.Seconds)
	}
	if got := byStatus(res); got != res.ByStatus || res.Asking+res.Searching > time.Duration(res.Seconds*1e9)+time.Microsecond {
		t.Errorf("tally %v of %v; %v and %v of %v seconds", got, res.ByStatus, res.Asking, res.Searching, res.Seconds)
	}
	return res
}

// byStatus sums up a result's tally.
func byStatus(res *job.Result) (sum [job.Statuses]int) {
	for _, row := range res.Tally.Rows {
		for s, n := range row.ByStatus {
			sum[s] += n
		}
	}
	return sum
}

func (w *Worker) check(t *testing.T, c *job.Chunk, want string, cached int) *job.Result {
	t.Helper()
	res := w.must(t, c)
	if got := string(res.Payload); got != want {
		t.Errorf("answers\n%s\nwant\n%s", got, want)
	}
	if res.Cached != cached {
		t.Errorf("%d answers from the cache, want %d", res.Cached, cached)
	}
	if sum := res.ByStatus[0] + res.ByStatus[1] + res.ByStatus[2] + res.ByStatus[3] + res.ByStatus[4]; sum != res.Records {
		t.Errorf("counts %+v", res.Counts)
	}
	return res
}

// Questions about two rings, each a search, and their answers.
const (
	near = "9 9 9 9\n1 2 3 4\n5 6 7 8\n1 9 9 4\n5 9 9 8\n6 2 7 3\n"
	far  = "1 2 3 4\n5 6 7 8\n9 10 11 12\n2 10 9 6\n11 3 4 8\n5 1 12 7\n"
	same = "7 7 7 7\n7 7 7 7\n7 7 7 7\n7 7 7 7\n7 7 7 7\n7 7 7 7\n"
	// other values, and yet the same question as near
	nearToo = "5 5 5 5\n21 22 23 24\n95 96 97 98\n21 5 5 24\n95 5 5 98\n96 22 97 23\n"

	nearAnswer = "2\n1 2\n"
	sameAnswer = "0\n\n"
)

var farAnswer = sync.OnceValue(func() string {
	p := plain.Rotegame()
	f := p.Distances([]uint8{2, 10, 9, 6, 11, 3, 4, 8, 5, 1, 12, 7}, 14)
	start := []uint8{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	for d := 0; ; d++ {
		if f.Within(start, d) {
			return fmt.Sprintf("%d\n%s\n", d, strings.Join(p.Words(f.First(start, d)), " "))
		}
	}
})

// All five puzzles, against breadth-first searches that share no code with the
// product.
func TestAnswersAgainstPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	shuffled := func(n, from int) []uint8 {
		b := make([]uint8, n)
		for i, v := range rng.Perm(n) {
			b[i] = uint8(v + from)
		}
		return b
	}
	// walked is a board some moves away.
	walked := func(p *plain.Puzzle, board []uint8, moves int) []uint8 {
		for range moves {
			for {
				if b := p.Next(board, rng.IntN(len(p.Names))); b != nil {
					board = b
					break
				}
			}
		}
		return board
	}
	numbers := func(b []uint8) string { return strings.Trim(fmt.Sprint(b), "[]") }
	eights, swaps := plain.Slide(3, 3).Distances([]uint8{0, 1, 2, 3, 4, 5, 6, 7, 8}, plain.All), plain.Swap().Distances([]uint8{1, 2, 3, 4, 5, 6, 7, 8, 9}, plain.All)
	distance := func(f *plain.Field, b []uint8) string {
		if d, ok := f.Distance(b); ok {
			return fmt.Sprintln(d)
		}
		return "-1\n"
	}
	ways := func(moves []int, names []string, ok bool, separator string) string {
		if !ok {
			return "-1\n\n"
		}
		var words []string
		for _, m := range moves {
			words = append(words, names[m])
		}
		return fmt.Sprintf("%d\n%s\n", len(moves), strings.Join(words, separator))
	}
	w := newWorker(t, Searched)
	for _, c := range []struct {
		puzzle  string
		records int
		ask     func(n int) (record, answer string)
	}{
		{"eight", 2000, func(int) (string, string) {
			b := shuffled(9, 0)
			return numbers(b), distance(eights, b)
		}},
		{"swap", 2000, func(int) (string, string) {
			b := shuffled(9, 1)
			return numbers(b), distance(swaps, b)
		}},
		{"eight2", 10, func(n int) (string, string) {
			p := plain.Slide(3, 3)
			goal := shuffled(9, 0)
			start := walked(p, goal, rng.IntN(40))
			if n%5 == 0 {
				start = shuffled(9, 0)
			}
			moves, ok := p.Shortest(start, goal)
			return numbers(start) + " " + numbers(goal), fmt.Sprintf("Case %d: ", n+1) + ways(moves, p.Names, ok, "")
		}},
		{"rotegame", 30, func(n int) (string, string) {
			p := plain.Rotegame()
			start := make([]uint8, 12)
			for i := range start {
				start[i] = uint8(1 + rng.IntN(1+n%12)) // values repeat, the more the sooner
			}
			goal := walked(p, start, rng.IntN(14))
			moves, ok := p.Shortest(start, goal)
			return numbers(start) + " " + numbers(goal), ways(moves, p.Names, ok, " ")
		}},
		{"graph", 20, func(n int) (string, string) {
			var edges [][2]int
			text := ""
			for range rng.IntN(13) {
				e := [2]int{1 + rng.IntN(9), 1 + rng.IntN(9)}
				edges = append(edges, e)
				text += fmt.Sprintf(" %d %d", e[0], e[1])
			}
			p := plain.Graph(9, edges)
			goal := []uint8{1, 2, 3, 4, 5, 6, 7, 8, 0}
			start := shuffled(9, 0)
			if len(edges) > 0 && n%2 == 0 {
				start = goal
				for range 30 {
					if b := p.Next(start, rng.IntN(9)); b != nil {
						start = b
					}
				}
			}
			places := make([]uint8, 8)
			for v, piece := range start {
				if piece > 0 {
					places[piece-1] = uint8(v + 1)
				}
			}
			return fmt.Sprint(len(edges)) + text + " " + numbers(places), distance(p.Distances(goal, plain.All), start)
		}},
	} {
		t.Run(c.puzzle, func(t *testing.T) {
			var payload, want strings.Builder
			for n := range c.records {
				record, answer := c.ask(n)
				payload.WriteString(record + "\n")
				want.WriteString(answer)
			}
			ch := chunk(c.puzzle, c.records, payload.String())
			ch.Format = job.Format{Known: true}
			if got := string(w.must(t, ch).Payload); got != want.String() {
				gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want.String(), "\n")
				for i := range wantLines {
					if i >= len(gotLines) || gotLines[i] != wantLines[i] {
						t.Fatalf("line %d of answers is %q, want %q", i+1, gotLines[min(i, len(gotLines)-1)], wantLines[i])
					}
				}
				t.Fatalf("%d lines, want %d", len(gotLines), len(wantLines))
			}
		})
	}
}

// What was searched is known the second time, to the same worker, under other
// values, too, and counted; within a chunk it is searched once.
func TestCachedAnswers(t *testing.T) {
	w := newWorker(t, Searched)
	first := chunk("rotegame", 3, near+far+same)
	w.check(t, first, nearAnswer+farAnswer()+sameAnswer, 0)
	w.check(t, first, nearAnswer+farAnswer()+sameAnswer, 2)
	w.check(t, chunk("rotegame", 1, nearToo), nearAnswer, 1)

	w = newWorker(t, Searched)
	w.check(t, chunk("rotegame", 4, near+far+nearToo+near), nearAnswer+farAnswer()+nearAnswer+nearAnswer, 2)
	// jsonl knows what text learned
	c := chunk("", 1, `{"puzzle":"rotegame","start":[9,9,9,9,1,2,3,4,5,6,7,8],"goal":[1,9,9,4,5,9,9,8,6,2,7,3],"want":"distance"}`)
	c.Format, c.JSON = job.Format{JSONL: true}, true
	w.check(t, c, `{"line":1,"status":"solved","distance":2}`+"\n", 1)
}

// ring turns a ring of six pieces whose values repeat.
const ring = "cells: 6\nmoves: [{name: turn, cycles: (1 2 3 4 5 6)}]\nvalues: {from: 1, to: 2, repeat: true}\n" +
	"record: {parts: [start, goal]}\n"

// An unreachable goal that only a search proves is proven once.
func TestCachedUnreachable(t *testing.T) {
	w := newWorker(t, Searched)
	p, err := puzzle.Parse("ring", "ring.yaml", []byte(ring))
	if err != nil {
		t.Fatal(err)
	}
	w.Puzzles = w.Puzzles.With(p)
	w.check(t, chunk("ring", 1, "1 1 2 2 1 2  1 2 1 2 1 2\n"), "-1\n", 0)
	w.check(t, chunk("ring", 1, "1 1 2 2 1 2  1 2 1 2 1 2\n"), "-1\n", 1)
}

func TestModes(t *testing.T) {
	const board, distance = "1 4 2 3 0 5 6 7 8\n", "2\n" // a table's
	for _, c := range []struct {
		mode            Mode
		searches, table int // of two, from the cache the second time
	}{{Searched, 1, 0}, {All, 1, 1}, {None, 0, 0}} {
		t.Run(string(c.mode), func(t *testing.T) {
			w := newWorker(t, c.mode)
			if _, err := w.Prepare(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.check(t, chunk("rotegame", 1, near), nearAnswer, 0)
			w.check(t, chunk("rotegame", 1, near), nearAnswer, c.searches)
			w.check(t, chunk("eight", 1, board), distance, 0)
			w.check(t, chunk("eight", 1, board), distance, c.table)
			if s := w.Cache.Stats(); c.mode == None && s.LocalHits+s.Misses > 0 {
				t.Errorf("the cache was asked: %+v", s)
			}
		})
	}
}

// keyOf is the cache's key of a chunk's one record.
func keyOf(t *testing.T, w *Worker, c *job.Chunk) cache.Key {
	t.Helper()
	r, err := job.NewReader(c, w.Puzzles)
	if err != nil {
		t.Fatal(err)
	}
	var rec job.Record
	if !r.Next(&rec) {
		t.Fatal("no record")
	}
	if r.Read(&rec); rec.Invalid != nil {
		t.Fatal(rec.Invalid)
	}
	q := rec.Question
	return cache.Key{Fingerprint: q.Space.Fingerprint(), Start: q.Start, Goal: q.Goal}
}

// Moves from the cache that miss the goal, or are none of the puzzle, are not
// believed, and what is true replaces them.
func TestCachedMovesAreReplayed(t *testing.T) {
	c := chunk("rotegame", 1, near)
	for name, moves := range map[string][]uint8{
		"none": {}, "wrong": {1, 0}, "too few": {0}, "too many": {0, 1, 1}, "no such move": {0, 7}, "far from a move": {255, 255},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorker(t, Searched)
			w.Cache.Keep(keyOf(t, w, c), cache.Answer{Status: job.Solved, Moves: moves})
			w.check(t, c, nearAnswer, 0)
			w.check(t, c, nearAnswer, 1) // what is true
		})
	}
}

// Without a cache that keeps anything, equal questions of one chunk are still
// searched once.
func TestDuplicatesWithoutMemory(t *testing.T) {
	w := newWorker(t, Searched)
	var err error
	if w.Cache, err = cache.Open(cache.Config{}); err != nil {
		t.Fatal(err)
	}
	const n = 50
	w.check(t, chunk("rotegame", n, strings.Repeat(far, n)), strings.Repeat(farAnswer(), n), n-1)
	w.check(t, chunk("rotegame", 1, far), farAnswer(), 0)
}

// Records that wait for the cache are printed in their places among those that
// do not.
func TestOrderAmongMethods(t *testing.T) {
	w := newWorker(t, Searched)
	lines := []string{
		`{"id":1,"puzzle":"eight","start":"142305678"}`,
		`{"id":2,"puzzle":"rotegame","start":[9,9,9,9,1,2,3,4,5,6,7,8],"goal":[1,9,9,4,5,9,9,8,6,2,7,3]}`,
		`{"id":3,"puzzle":"swap","start":"213759846"}`,
		`{"id":4}`,
		`{"id":5,"puzzle":"rotegame","start":[9,9,9,9,1,2,3,4,5,6,7,8],"goal":[1,9,9,4,5,9,9,8,6,2,7,3],"want":"distance"}`,
		`{"id":6,"puzzle":"rotegame","start":[9,9,9,9,1,2,3,4,5,6,7,8],"goal":[1,1,1,1,1,1,1,1,1,1,1,1]}`,
		`{"id":7,"puzzle":"eight","start":"012345678"}`,
	}
	c := chunk("", len(lines), strings.Join(lines, "\n"))
	c.Format, c.JSON = job.Format{JSONL: true}, true
	res := w.check(t, c, `{"id":1,"line":1,"status":"solved","distance":2}
{"id":2,"line":2,"status":"solved","distance":2,"moves":["1","2"]}
{"id":3,"line":3,"status":"solved","distance":4}
{"id":4,"line":4,"status":"invalid","reason":"puzzle: missing"}
{"id":5,"line":5,"status":"solved","distance":2}
{"id":6,"line":6,"status":"unreachable"}
{"id":7,"line":7,"status":"solved","distance":0}
`, 1)
	got := map[string]int{}
	for _, row := range res.Tally.Rows {
		name := "none"
		if row.Puzzle != nil {
			name = row.Puzzle.Name
		}
		for s, n := range row.ByStatus {
			if n > 0 {
				got[fmt.Sprint(name, " ", job.Status(s), " ", row.Method)] += n
			}
		}
	}
	want := map[string]int{"eight solved bidirectional": 1, "eight solved contents": 1, "swap solved bidirectional": 1, "none invalid ": 1,
		"rotegame solved bidirectional": 1, "rotegame solved cache": 1, "rotegame unreachable contents": 1}
	if !maps.Equal(got, want) {
		t.Errorf("tally %v, want %v", got, want)
	}
}

// A panic fails its record and no other, whether the record's answer is looked
// for at once or after the cache was asked. Here the solver is missing: what
// needs one panics.
func TestPanicFailsItsRecord(t *testing.T) {
	w := newWorker(t, Searched)
	w.Solver = nil
	res := w.must(t, chunk("eight", 3, "0 1 2 3 4 5 6 7 8\n1 4 2 3 0 5 6 7 8\n0 1 2 3 4 5 6 7 8\n"))
	lines := strings.Split(string(res.Payload), "\n")
	if len(lines) != 4 || lines[0] != "0" || !strings.HasPrefix(lines[1], "failed: file:2: panic: ") || lines[2] != "0" {
		t.Errorf("answers\n%s", res.Payload)
	}
	if res.ByStatus[job.Solved] != 2 || res.ByStatus[job.Failed] != 1 {
		t.Errorf("counts %+v", res.Counts)
	}
	res = w.must(t, chunk("rotegame", 3, same+near+same))
	lines = strings.Split(string(res.Payload), "\n")
	if len(lines) != 7 || lines[0] != "0" || !strings.HasPrefix(lines[2], "failed: file:7: panic: ") || lines[3] != "" || lines[4] != "0" {
		t.Errorf("answers\n%s", res.Payload)
	}
	if !strings.Contains(lines[2], "solver") {
		t.Errorf("%s: does not say where", lines[2])
	}
	w.Solver = newWorker(t, None).Solver // nothing that failed was kept
	w.check(t, chunk("rotegame", 1, near), nearAnswer, 0)
}

// A panic outside a record fails the chunk, and no more.
func TestPanicFailsItsChunk(t *testing.T) {
	w := newWorker(t, Searched)
	w.Cache = nil
	var progress atomic.Int64
	res, _, err := w.Answer(t.Context(), chunk("rotegame", 2, near+far), &progress)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(res.Payload), "\n")
	if len(lines) != 5 || !strings.HasPrefix(lines[0], "failed: file:1: panic: ") || !strings.HasPrefix(lines[2], "failed: file:7: panic: ") || res.ByStatus[job.Failed] != 2 {
		t.Errorf("%+v\n%s", res.Counts, res.Payload)
	}
}

// A chunk that is not what it says fails, for as many records as it says.
func TestChunksThatFail(t *testing.T) {
	const board = "2 1 3 7 5 9 8 4 6\n"
	for _, c := range []struct {
		name  string
		chunk *job.Chunk
		lines int
		want  string // in each line
	}{
		{"too few records", chunk("swap", 3, board+board), 3, "says that it has 3 records, and has 2"},
		{"too many records", chunk("swap", 1, board+board), 1, "says that it has 1 records, and has 2"},
		{"more records than a chunk may have", chunk("swap", 0, strings.Repeat(board, limit.ChunkRecords+1)), limit.ChunkRecords, "more than 65536 records"},
		{"no records", chunk("swap", 2, "\n\n"), 2, "says that it has 2 records, and has 0"},
		{"unknown puzzle", chunk("fifteen", 2, board+board), 2, `unknown puzzle "fifteen"`},
		{"a definition that is not there", chunk("mine@0123abcd", 1, board), 1, `"mine@0123abcd" names no puzzle`},
		{"no puzzle", chunk("", 1, board), 1, `unknown puzzle ""`},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := newWorker(t, Searched).must(t, c.chunk)
			if res.Records != c.lines || res.ByStatus[job.Failed] != c.lines {
				t.Errorf("counts %+v", res.Counts)
			}
			lines := strings.SplitAfter(strings.TrimSuffix(string(res.Payload), "\n"), "\n")
			if len(lines) != c.lines {
				t.Errorf("%d lines\n%s", len(lines), res.Payload)
			}
			for _, line := range lines {
				if !strings.HasPrefix(line, "failed: file:") || !strings.Contains(line, c.want) {
					t.Errorf("%q, want one with %q", line, c.want)
				}
			}
		})
	}
}

// A chunk that does not say how many records it has is answered as it is.
func TestChunkWithoutACount(t *testing.T) {
	w := newWorker(t, Searched)
	w.check(t, chunk("swap", 0, "2 1 3 7 5 9 8 4 6\n1 2 3 4 5 6 7 8 9\n"), "4\n0\n", 0)
	w.check(t, chunk("swap", 0, ""), "", 0)
}

// A job may lower the worker's budgets, and not raise them.
func TestBudgets(t *testing.T) {
	const small, large = 100, 1 << 40
	for _, c := range []struct {
		name        string
		worker, job job.Budget
		exceeds     bool
	}{
		{"none", job.Budget{}, job.Budget{}, false},
		{"the worker's states", job.Budget{States: small}, job.Budget{}, true},
		{"the job's states", job.Budget{States: large}, job.Budget{States: small}, true},
		{"a job wants more states", job.Budget{States: small}, job.Budget{States: large}, true},
		{"a job wants fewer than a worker without a bound", job.Budget{}, job.Budget{States: small}, true},
		{"the worker's time", job.Budget{Time: time.Nanosecond}, job.Budget{}, true},
		{"the job's time", job.Budget{Time: time.Hour}, job.Budget{Time: time.Nanosecond}, true},
		{"a job wants more time", job.Budget{Time: time.Nanosecond}, job.Budget{Time: time.Hour}, true},
		{"enough", job.Budget{States: large, Time: time.Hour}, job.Budget{States: large, Time: time.Hour}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorker(t, Searched)
			w.Budget = c.worker
			ch := chunk("rotegame", 2, far+same)
			ch.Budget = c.job
			res := w.must(t, ch)
			want := farAnswer() + sameAnswer
			if c.exceeds {
				line, _, _ := strings.Cut(string(res.Payload), "\n")
				var bound int
				if _, err := fmt.Sscanf(line, "exceeded: file:1: at least %d", &bound); err != nil || bound < 1 || bound > 29 {
					t.Errorf("answer %q", line)
				}
				want = line + "\n\n" + sameAnswer
			}
			if got := string(res.Payload); got != want {
				t.Errorf("answers\n%s\nwant\n%s", got, want)
			}
			// What was exceeded is not kept.
			w.Budget = job.Budget{}
			ch.Budget = job.Budget{}
			again := 1
			if c.exceeds {
				again = 0
			}
			w.check(t, ch, farAnswer()+sameAnswer, again)
		})
	}
}

// Records that are exceeded pay for patterns, and do not wait for them: they are made
// once their chunk is settled, and answer the next.
func TestExceededPaysForPatterns(t *testing.T) {
	w := newWorker(t, Searched)
	p, err := puzzle.Parse("slide", "slide.yaml", []byte("width: 4\nheight: 3\nblank: {moves: [d, l, r, u]}\n"+
		"record: {parts: [start, goal]}\nanswer: {want: moves, separator: \" \"}\nchunk: 10\n"))
	if err != nil {
		t.Fatal(err)
	}
	w.Puzzles = w.Puzzles.With(p)
	c := chunk("slide", 1, "6 11 2 1 8 10 3 0 4 7 5 9 1 2 3 4 5 6 7 8 9 10 11 0\n")
	c.Budget.States, c.Explain = 100_000, true
	for exceeded := 0; ; exceeded++ {
		res := w.must(t, c)
		if res.ByStatus[job.Solved] == 1 {
			if exceeded == 0 || !strings.Contains(string(res.Payload), "method=deepening") {
				t.Errorf("after %d that were exceeded: %s", exceeded, res.Payload)
			}
			return
		}
		if res.ByStatus[job.Exceeded] != 1 || exceeded > 10 {
			t.Fatalf("after %d that were exceeded: %s", exceeded, res.Payload)
		}
	}
}

// The end of a chunk's context is its error, with the cause, and there is no
// result.
func TestContextEnds(t *testing.T) {
	given := errors.New("given back")
	for name, c := range map[string]*job.Chunk{
		"a table's":  chunk("eight", 1000, strings.Repeat("1 4 2 3 0 5 6 7 8\n", 1000)),
		"a search's": chunk("rotegame", 1, far),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(given)
			var progress atomic.Int64
			res, remember, err := newWorker(t, Searched).Answer(ctx, c, &progress)
			if err != given || res != nil || remember != nil {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
}

// hard are questions about two rings of distinct values: some 10^5 states each.
func hard(n int) string {
	rng := rand.New(rand.NewPCG(9, 9))
	var b strings.Builder
	for range 2 * n {
		for _, v := range rng.Perm(12) {
			fmt.Fprint(&b, v+1, " ")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// A search counts while it goes on, and ends with its context.
func TestSearchCountsAndEnds(t *testing.T) {
	w := newWorker(t, Searched)
	ctx, cancel := context.WithCancelCause(t.Context())
	given := errors.New("given back")
	var progress atomic.Int64
	done := make(chan error, 1)
	go func() {
		_, _, err := w.Answer(ctx, chunk("rotegame", 0, hard(1000)), &progress)
		done <- err
	}()
	for deadline := time.Now().Add(patience); progress.Load() < 10_000; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("progress %d after %s", progress.Load(), patience)
		}
	}
	cancel(given)
	select {
	case err := <-done:
		if err != given {
			t.Errorf("error %v, want %v", err, given)
		}
	case <-time.After(patience):
		t.Fatal("the search goes on")
	}
}

// Equal questions that come at the same moment, in several chunks, are searched
// once: all others get the answer, counted as cached.
func TestEqualQuestionsAtOnce(t *testing.T) {
	w := newWorker(t, Searched)
	const chunks = 16
	var wg sync.WaitGroup
	var fresh atomic.Int64
	for range chunks {
		wg.Go(func() {
			var progress atomic.Int64
			res, _, err := w.Answer(t.Context(), chunk("rotegame", 1, far), &progress)
			if err != nil {
				t.Error(err)
				return
			}
			if string(res.Payload) != farAnswer() {
				t.Errorf("answer %s", res.Payload)
			}
			fresh.Add(int64(res.Records - res.Cached))
		})
	}
	wg.Wait()
	if fresh.Load() != 1 {
		t.Errorf("searched %d times", fresh.Load())
	}
}

func TestPrepare(t *testing.T) {
	w := newWorker(t, Searched)
	if n, err := w.Prepare(t.Context()); err != nil || n < 3 {
		t.Errorf("%d tables, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newWorker(t, Searched).Prepare(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestSlots(t *testing.T) {
	if Slots(3) != 3 || Slots(0) < 1 {
		t.Errorf("%d, %d", Slots(3), Slots(0))
	}
}

// Records whose ways are walked together are answered in their places among those
// that are not, whatever their number.
func TestOrderOfWays(t *testing.T) {
	w := newWorker(t, Searched)
	if _, err := w.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(4, 4))
	for n := range 3*block + 2 {
		var together, want strings.Builder
		for i := range n {
			a, b := rng.Perm(9), rng.Perm(9)
			record := strings.Trim(fmt.Sprint(a), "[]") + " " + strings.Trim(fmt.Sprint(b), "[]") + "\n"
			switch rng.IntN(8) {
			case 0:
				record = "1 2 3\n"
			case 1:
				record = "12345678X 12345678X\n"
			}
			together.WriteString(record)
			alone := chunk("eight2", 1, record)
			alone.Format = job.Format{Known: true, Framing: puzzle.Framing{Lines: 1}}
			alone.FirstLine, alone.FirstRecord = i+1, i+1
			alone.Explain = true // without company
			answer := string(w.must(t, alone).Payload)
			first, rest, _ := strings.Cut(answer, "\n")
			first, _, _ = strings.Cut(first, " # ")
			want.WriteString(first + "\n" + rest)
		}
		c := chunk("eight2", n, together.String())
		c.Format = job.Format{Known: true, Framing: puzzle.Framing{Lines: 1}}
		if got := string(w.must(t, c).Payload); got != want.String() {
			t.Fatalf("%d records\n%s\ngot\n%s\nwant\n%s", n, together.String(), got, want.String())
		}
	}
}

// A record that panics is answered after those that were held or wait before it,
// and where walking ways together panics, those that can be answered are.
func TestPanicInItsTurn(t *testing.T) {
	w := newWorker(t, Searched)
	if _, err := w.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, err := w.Puzzles.Get("eight2")
	if err != nil {
		t.Fatal(err)
	}
	record := func(number int) (rec job.Record) {
		rec.Number, rec.Line, rec.Puzzle, rec.Want = number, number, p, puzzle.Moves
		if err := p.ReadText([]byte("12X453786\n12345678X\n"), &rec.Question); err != nil {
			t.Fatal(err)
		}
		return rec
	}
	first := record(1)
	plan := w.Solver.Plan(&first.Question)
	plans := []solver.Plan{plan, {Method: solver.ByTable}, {Method: solver.ByReachability}} // the second lacks its table
	c := chunk("eight2", 0, "12X453786 12345678X\n")
	c.FirstRecord, c.FirstLine = 4, 4
	answers := func(prepare func(a *answering)) []string {
		var progress atomic.Int64
		a := &answering{w: w, ctx: t.Context(), chunk: c, progress: &progress} // its planner has no solver, and panics
		prepare(a)
		r, err := job.NewReader(c, w.Puzzles)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for more := true; more; {
			if more, err = a.run(r, &n); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.finish(); err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(a.res.Payload), "\n")
	}
	for name, prepare := range map[string]func(a *answering){
		"held": func(a *answering) {
			for i, plan := range plans {
				rec := record(i + 1)
				a.recs[a.held] = rec
				a.rec = &a.recs[a.held]
				a.hold(plan)
			}
		},
		"waiting": func(a *answering) {
			for i, plan := range plans {
				a.wait(waiting{rec: record(i + 1), plan: plan}, false)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			lines := answers(prepare)
			want := []string{"Case 1: 2", "dd", "Case 2: failed: file:2: panic: ", "", "Case 3: -1", "", "Case 4: failed: file:4: panic: ", "", ""}
			if len(lines) != len(want) {
				t.Fatalf("%q", lines)
			}
			for i := range want {
				if !strings.HasPrefix(lines[i], want[i]) {
					t.Errorf("line %d: %q, want %q", i+1, lines[i], want[i])
				}
			}
		})
	}
}
