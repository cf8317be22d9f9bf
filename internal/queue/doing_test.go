package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go/micro"

	"antipode/internal/job"
	"antipode/internal/limit"
)

// A worker tells what its slots hold and what became of records, and of whom nothing.
func TestWhatAWorkerDoes(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	cfg := serviceOf(newWorker(t, q))
	cfg.Bulk, cfg.Express = 2, 1
	held, release := make(chan *job.Chunk, 8), make(chan job.Status, 8)
	cfg.Answer = func(ctx context.Context, c *job.Chunk, _ *atomic.Int64) (*job.Result, func(context.Context), error) {
		held <- c
		select {
		case status := <-release:
			res := &job.Result{Worker: "test-worker"}
			res.Records, res.Cached, res.ByStatus[status] = c.Records, 1, c.Records
			return res, nil, nil
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
	present(t, q, cfg)
	doing := func() *Doing {
		t.Helper()
		all := workersOf(t, q)
		if len(all) != 1 || all[0].Doing == nil {
			t.Fatalf("workers %+v", all)
		}
		return all[0].Doing
	}
	if d := doing(); d.Express != 1 || len(d.Held) != 0 || d.Chunks != 0 || d.Counts.Records != 0 {
		t.Errorf("at first %+v", d)
	}
	spec := newSpec()
	for n, ref := range []string{"swap", "mine@" + strings.Repeat("0", 64), "several of@them"} {
		c := numbered(spec, 3)[n]
		c.Puzzle, c.Records = ref, 10+n
		if _, err := q.js.PublishMsg(t.Context(), encodeChunk(Bulk, c)); err != nil {
			t.Fatal(err)
		}
		if n < 2 {
			await(t, held, "a chunk")
		}
	}
	d := doing()
	if len(d.Held) != 2 || d.Held[0].Puzzle != "swap" || d.Held[1].Puzzle != "mine" || d.Held[0].Lane != Bulk || d.Held[0].Seconds < d.Held[1].Seconds {
		t.Errorf("held %+v", d.Held)
	}
	m, err := q.nc.Request("$SRV.STATS.antipode", nil, patience)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(m.Data); strings.Contains(text, spec.Owner) || strings.Contains(text, spec.Job) {
		t.Errorf("told whose chunk it is: %s", text)
	}
	release <- job.Solved
	await(t, held, "the third chunk")
	release <- job.Invalid
	release <- job.Invalid
	eventually(t, "all is answered", func() bool { return doing().Chunks == 3 })
	d = doing()
	if len(d.Held) != 0 || d.Counts.Records != 33 || d.Counts.Cached != 3 || d.Counts.ByStatus[job.Solved]+d.Counts.ByStatus[job.Invalid] != 33 || d.Counts.ByStatus[job.Invalid] < 20 {
		t.Errorf("at last %+v", d)
	}
}

// What others say of themselves is taken if it makes sense.
func TestReadDoing(t *testing.T) {
	presence := func(data string) string {
		return `{"name":"antipode","metadata":{"worker":"w","slots":"1"},"endpoints":[{"data":` + data + `}]}`
	}
	many := strings.Repeat(`{"lane":"bulk"},`, 2000) + `{"lane":"bulk"}`
	for _, c := range []struct{ data, want string }{
		{`{}`, "&{0 [] 0 {0 [0 0 0 0 0] 0}}"},
		{`{"slots":{"bulk":1,"express":2},"held":[{"lane":"bulk","puzzle":"p","seconds":1},{"lane":"express","seconds":2.5}],"chunks":3,"records":{"solved":5,"failed":2,"eaten":9},"cached":1}`,
			"&{2 [{express  2.5} {bulk p 1}] 3 {7 [5 0 0 0 2] 1}}"},
		{`null`, "&{0 [] 0 {0 [0 0 0 0 0] 0}}"},
		{`7`, "<nil>"},
		{`{"slots":{"express":-1}}`, "<nil>"},
		{`{"slots":{"express":9223372036854775807}}`, "<nil>"}, // a sum with others would be negative
		{`{"chunks":-1}`, "<nil>"},
		{`{"records":{"solved":-1}}`, "<nil>"},
		{`{"records":{"solved":9223372036854775807,"failed":9223372036854775807}}`, "<nil>"},
		{`{"held":[{"lane":"fast"}]}`, "<nil>"},
		{`{"held":[{"lane":"bulk","puzzle":"\u001b[2J"}]}`, "<nil>"},
		{`{"held":[{"lane":"bulk","seconds":-1}]}`, "<nil>"},
		{`{"held":[{"lane":"bulk","seconds":1e300}]}`, "<nil>"},
	} {
		p, ok := readPresence([]byte(presence(c.data)))
		if got := fmt.Sprint(p.Doing); !ok || got != c.want {
			t.Errorf("%s: %s, want %s", c.data, got, c.want)
		}
	}
	if p, _ := readPresence([]byte(presence(`{"held":[` + many + `]}`))); p.Doing == nil || len(p.Doing.Held) != limit.Held {
		t.Errorf("of many held: %v", p.Doing)
	}
	for _, text := range []string{`[]`, `[null]`} {
		if p, ok := readPresence([]byte(`{"name":"antipode","metadata":{"worker":"w"},"endpoints":` + text + `}`)); !ok || p.Doing != nil {
			t.Errorf("endpoints %s: %+v, %t", text, p, ok)
		}
	}
	var stats micro.Stats
	text, _ := json.Marshal(micro.Stats{Endpoints: []*micro.EndpointStats{{Data: (&doing{}).encode(3, 1)}}})
	if err := json.Unmarshal(text, &stats); err != nil {
		t.Fatal(err)
	}
	if d := readDoing(stats.Endpoints[0].Data); fmt.Sprint(d) != "&{1 [] 0 {0 [0 0 0 0 0] 0}}" {
		t.Errorf("of no work: %v", d)
	}
}
