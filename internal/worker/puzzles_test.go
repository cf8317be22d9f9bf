package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"antipode/internal/job"
	"antipode/internal/limit"
	"antipode/internal/puzzle"
)

// shelf is a bucket of definitions.
type shelf struct {
	texts   map[string]string // by hash
	fetched int
}

func (s *shelf) put(text string) (hash string) {
	if s.texts == nil {
		s.texts = map[string]string{}
	}
	hash = puzzle.Hash([]byte(text))
	s.texts[hash] = text
	return hash
}

var errNotNow = errors.New("not now")

func (s *shelf) fetch(_ context.Context, hash string) ([]byte, error) {
	s.fetched++
	text, ok := s.texts[hash]
	if !ok {
		return nil, errNotNow
	}
	return []byte(text), nil
}

// two exchanges the two cells of a board; its answers are moves.
const two = "cells: 2\nmoves: [{name: x, cycles: (1 2)}]\ngoal: [1, 2]\nanswer: {want: moves}\n"

// A definition is fetched once, whatever chunks name it.
func TestDefinitionIsFetchedOnce(t *testing.T) {
	w := newWorker(t, Searched)
	s := &shelf{}
	w.Definition = s.fetch
	ref := "two@" + s.put(two)
	for range 3 {
		w.check(t, chunk(ref, 2, "2 1\n1 2\n"), "1\nx\n0\n\n", 0)
	}
	lines := chunk(ref+" swap other@"+s.put(two+"# another\n"), 3, `{"puzzle":"two","start":[2,1]}
{"puzzle":"swap","start":"213456789"}
{"puzzle":"other","start":[1,1]}
`)
	lines.Format, lines.JSON = job.Format{JSONL: true}, true
	w.check(t, lines, `{"line":1,"status":"solved","distance":1,"moves":["x"]}
{"line":2,"status":"solved","distance":1}
{"line":3,"status":"invalid","reason":"start: 1 stands on it twice; a board holds 1 to 2 once each"}
`, 0)
	if s.fetched != 2 {
		t.Errorf("fetched %d times, for 2 definitions", s.fetched)
	}
}

// A given puzzle takes the place of one of its name, within its chunk.
func TestGivenPuzzleComesFirst(t *testing.T) {
	w := newWorker(t, Searched)
	s := &shelf{}
	w.Definition = s.fetch
	w.check(t, chunk("swap@"+s.put(two), 1, "2 1\n"), "1\nx\n", 0)
	w.check(t, chunk("swap", 1, "2 1 3 4 5 6 7 8 9\n"), "1\n", 0)
}

// Any number of definitions leaves a bounded number behind.
func TestDefinitionsAreBounded(t *testing.T) {
	w := newWorker(t, Searched)
	s := &shelf{}
	w.Definition = s.fetch
	for n := range 3*limit.KeptDefinitions + 1 {
		w.check(t, chunk("two@"+s.put(fmt.Sprint(two, "# ", n, "\n")), 1, "2 1\n"), "1\nx\n", 0)
		if kept := len(w.definitions.known); kept > limit.KeptDefinitions {
			t.Fatalf("%d definitions are kept", kept)
		}
	}
}

// A definition that cannot be fetched is no result: the chunk's time may come.
func TestDefinitionCannotBeFetched(t *testing.T) {
	w := newWorker(t, Searched)
	s := &shelf{}
	w.Definition = s.fetch
	c := chunk("two@"+puzzle.Hash([]byte(two)), 1, "2 1\n")
	var progress atomic.Int64
	if res, remember, err := w.Answer(t.Context(), c, &progress); !errors.Is(err, errNotNow) || res != nil || remember != nil {
		t.Errorf("%+v, %v", res, err)
	}
	s.put(two)
	w.check(t, c, "1\nx\n", 0)
}

// What will never be a puzzle fails each record, and is not asked for again.
func TestBrokenDefinition(t *testing.T) {
	for _, c := range []struct {
		name, text string
		ref        func(hash string) string
		want       string
		fetched    int
	}{
		{"broken", "cells: 99\n", func(hash string) string { return "mine@" + hash }, "mine:1: cells: 99 cells; 2 to 16 are possible", 1},
		{"empty", "", func(hash string) string { return "mine@" + hash }, "definition: empty", 1},
		{"binary", "\x00\xff\xfe", func(hash string) string { return "mine@" + hash }, "UTF-8", 1},
		{"a path", two, func(hash string) string { return "../../mine@" + hash }, `"../../mine@`, 0},
		{"a subject", two, func(hash string) string { return "a.>@" + hash }, "names no puzzle", 0},
		{"a short hash", two, func(hash string) string { return "mine@" + hash[:63] }, "names no puzzle", 0},
		{"capitals", two, func(hash string) string { return "mine@" + strings.Repeat("A", 64) }, "names no puzzle", 0},
		{"two hashes", two, func(hash string) string { return "mine@" + hash + "@" + hash }, "names no puzzle", 0},
		{"not there", two, func(hash string) string { return "mine@" + hash + " fifteen" }, `unknown puzzle "fifteen"`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorker(t, Searched)
			s := &shelf{}
			w.Definition = s.fetch
			for range 2 {
				res := w.must(t, chunk(c.ref(s.put(c.text)), 2, "2 1\n1 2\n"))
				lines := strings.Split(string(res.Payload), "\n")
				if res.ByStatus[job.Failed] != 2 || len(lines) != 3 || !strings.HasPrefix(lines[1], "failed: file:") || !strings.Contains(lines[1], c.want) {
					t.Errorf("%+v\n%s", res.Counts, res.Payload)
				}
			}
			if s.fetched != c.fetched {
				t.Errorf("fetched %d times, want %d", s.fetched, c.fetched)
			}
		})
	}
}

// The records of a chunk that is given up have failed in the form that the given
// puzzle says, where it can be had, and in fewer words where not.
func TestFail(t *testing.T) {
	w := newWorker(t, Searched)
	s := &shelf{}
	w.Definition = s.fetch
	c := chunk("two@"+s.put(two), 2, "2 1\n1 2\n")
	if res := w.Fail(t.Context(), c, "why"); string(res.Payload) != "failed: file:1: why\n\nfailed: file:2: why\n\n" || res.Worker != w.Name {
		t.Errorf("%s", res.Payload)
	}
	c.Puzzle = "two@" + puzzle.Hash(nil)
	if res := w.Fail(t.Context(), c, "why"); res.ByStatus[job.Failed] != 2 || !strings.HasPrefix(string(res.Payload), "failed: file:1: why\n") {
		t.Errorf("%s", res.Payload)
	}
}

// Answers of a chunk that asks for it say how they were found.
func TestExplain(t *testing.T) {
	w := newWorker(t, Searched)
	c := chunk("rotegame", 4, near+near+same+"1 1 1 1\n")
	c.Explain = true
	got := strings.Split(string(w.must(t, c).Payload), "\n")
	for i, want := range []string{"2 # method=bidirectional nodes=", "1 2", "2 # method=cache nodes=0 cached=true", "1 2", "0 # method=contents nodes=0 cached=false", "", "invalid: "} {
		if !strings.HasPrefix(got[i], want) || want == "" && got[i] != "" {
			t.Errorf("line %d: %q, want %q", i+1, got[i], want)
		}
	}
}
