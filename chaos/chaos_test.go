//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestCompare(t *testing.T) {
	const a, b, c = `{"id":"0","line":1,"status":"solved","distance":1}`, `{"id":"1","line":2,"status":"unreachable"}`, `{"id":"2","line":3,"status":"solved","distance":2}`
	text := func(lines ...string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }
	j := &job{records: 3, want: text(a, b, c)}
	for name, tt := range map[string]struct {
		got  []byte
		want tally
	}{
		"the same":     {text(a, b, c), tally{}},
		"nothing":      {nil, tally{lost: 3}},
		"one missing":  {text(a, c), tally{lost: 1}},
		"one twice":    {text(a, b, b, c), tally{doubled: 1}},
		"another":      {text(a, strings.Replace(b, "unreachable", "failed", 1), c), tally{wrong: 1}},
		"out of order": {text(b, a, c), tally{wrong: 2}},
		"a stranger":   {text(a, b, c, strings.Replace(c, `"2"`, `"3"`, 1)), tally{wrong: 1}},
		"cut off":      {text(a, b, c)[:len(a)+len(b)+10], tally{wrong: 1, lost: 1}},
		"no line end":  {bytes.TrimSuffix(text(a, b, c), []byte("\n")), tally{wrong: 1}},
	} {
		tt.want.records = 3
		if got := j.compare(tt.got); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

// What is known of these puzzles: how many boards reach the goal, and the farthest.
func TestDistances(t *testing.T) {
	for name, tt := range map[string]struct {
		d                *distances
		boards, farthest int
	}{"eight": {blanks(), 181440, 31}, "swap": {swaps(), 362880, 16}} {
		if n, far := len(tt.d.of), slices.Max(slices.Collect(maps.Values(tt.d.of))); n != tt.boards || far != tt.farthest {
			t.Errorf("%s: %d boards, %d moves; want %d, %d", name, n, far, tt.boards, tt.farthest)
		}
	}
}

func TestRightAndWrongAnswers(t *testing.T) {
	eight := question{puzzle: "eight", want: "moves", start: []uint8{1, 0, 2, 3, 4, 5, 6, 7, 8}}
	stuck := question{puzzle: "eight", start: []uint8{0, 2, 1, 3, 4, 5, 6, 7, 8}}
	rings := question{puzzle: "rotegame", start: []uint8{9, 9, 9, 9, 1, 2, 3, 4, 5, 6, 7, 8}, goal: []uint8{1, 9, 9, 4, 5, 9, 9, 8, 6, 2, 7, 3}}
	for _, tt := range []struct {
		q     question
		a     answer
		right bool
	}{
		{eight, answer{Status: "solved", Distance: 1, Moves: []string{"l"}}, true},
		{eight, answer{Status: "solved", Distance: 1, Moves: []string{"r"}}, false},
		{eight, answer{Status: "solved", Distance: 3, Moves: []string{"l", "r", "l"}}, false},
		{eight, answer{Status: "failed"}, false},
		{stuck, answer{Status: "unreachable"}, true},
		{stuck, answer{Status: "solved", Distance: 2}, false},
		{rings, answer{Status: "solved", Distance: 2, Moves: []string{"1", "2"}}, true}, // the sample of the README
		{rings, answer{Status: "solved", Distance: 2, Moves: []string{"2", "1"}}, false},
		{rings, answer{Status: "solved", Distance: 1, Moves: []string{"1", "2"}}, false},
	} {
		searched := 0
		if got := tt.q.right(tt.a, true, &searched); got != tt.right {
			t.Errorf("%s, %+v: right is %v", tt.q.puzzle, tt.a, got)
		}
	}
	same := question{puzzle: "rotegame", start: make([]uint8, 12), goal: make([]uint8, 12)}
	longer := answer{Status: "solved", Distance: 1, Moves: []string{"1"}}
	if searched := 0; same.right(longer, true, &searched) || searched != 1 {
		t.Error("a way that is not the shortest passes for right")
	}
}

func TestMixIsTheSame(t *testing.T) {
	m := mix{seed: 3, chunks: 2, searches: 10, depth: 20}
	all := m.questions()
	if !reflect.DeepEqual(all, m.questions()) {
		t.Error("the same seed gives other records")
	}
	searches := 0
	for _, q := range all {
		if q.puzzle == "rotegame" {
			searches++
			if len(slices.Compact(slices.Sorted(slices.Values(q.start)))) == len(q.start) {
				t.Errorf("the values of %v do not repeat, so that a table may answer it", q.start)
			}
		}
	}
	if len(all) != m.records() || searches != m.chunks*m.searches {
		t.Errorf("%d records, %d searches", len(all), searches)
	}
}

func TestDemands(t *testing.T) {
	good := result{often: 1, tally: tally{records: 1}}
	if err := (line{result: good}).demand(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*result){
		"never hit":  func(r *result) { r.often = 0 },
		"no records": func(r *result) { r.records = 0 },
		"lost":       func(r *result) { r.lost = 1 },
		"doubled":    func(r *result) { r.doubled = 1 },
		"wrong":      func(r *result) { r.wrong = 1 },
	} {
		r := good
		change(&r)
		if (line{result: r}).demand() == nil {
			t.Errorf("%s passes", name)
		}
	}
	if (report{}).err() == nil || (report{lines: []line{{err: errors.New("x")}}}).err() == nil {
		t.Error("a report of nothing, or of a failure, is no failure")
	}
}

// What a client said before a cut arrives; what the server says is held back, and
// counted.
func TestProxyCuts(t *testing.T) {
	server, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	p, err := newProxy(server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	client, err := net.Dial("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	there, err := server.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	for _, c := range []net.Conn{client, there} {
		c.SetDeadline(time.Now().Add(time.Minute))
	}
	say := func(from, to net.Conn, text string) {
		t.Helper()
		buf := make([]byte, len(text))
		if _, err := io.WriteString(from, text); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(to, buf); err != nil || string(buf) != text {
			t.Fatalf("%q came as %q, %v", text, buf, err)
		}
	}
	say(client, there, "publish")
	say(there, client, `{"stream":"JOBS"}`)
	p.deafen()
	if _, err := io.WriteString(there, `{"stream":"JOBS"}`); err != nil {
		t.Fatal(err)
	}
	say(client, there, "publish")
	if err := p.cut(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rest, _ := io.ReadAll(client); len(rest) > 0 || p.lost.Load() != 1 {
		t.Errorf("the client heard %q, %d acks were lost", rest, p.lost.Load())
	}
}
