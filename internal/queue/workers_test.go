package queue

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"antipode/internal/limit"
)

// Who works is told by name, with what they have; whoever else answers is left
// out.
func TestWorkers(t *testing.T) {
	s := startServer(t)
	q := connect(t, s.URL(), lenient())
	began := time.Now()
	if all := workersOf(t, q); len(all) != 0 {
		t.Errorf("workers where none are: %v", all)
	}
	if d := time.Since(began); d > gatherFirst/2 {
		t.Errorf("that nobody is there took %s", d)
	}
	w := newWorker(t, q)
	if _, err := w.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"b", "c", "a"} {
		cfg := serviceOf(w)
		cfg.Worker, cfg.Bulk = name, i
		present(t, connect(t, s.URL(), lenient()), cfg)
	}
	liar := connect(t, s.URL(), lenient())
	if _, err := liar.nc.Subscribe("$SRV.STATS.antipode", func(m *nats.Msg) {
		for _, text := range []string{
			"", "{", "[]", `{"name":"other","metadata":{"worker":"x"}}`, `{"name":"antipode"}`,
			`{"name":"antipode","metadata":{"worker":"x y"}}`, `{"name":"antipode","metadata":{"worker":"x","slots":"-1"}}`,
			`{"name":"antipode","metadata":{"worker":"e","slots":"9223372036854775807"}}`,
			`{"name":"antipode","version":"1\u001b[2J","metadata":{"worker":"d","puzzles":"a \u001b[2J b","slots":"x"}}`,
		} {
			m.Respond([]byte(text)) // who asks last does not wait for it
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := liar.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	puzzles, tables := []string{"eight", "eight2", "graph", "rotegame", "swap"}, []string{"eight", "eight2", "swap"}
	want := []Presence{
		{Name: "a", Version: "1.2.3", Puzzles: puzzles, Tables: tables, Slots: 2}, {Name: "b", Version: "1.2.3", Puzzles: puzzles, Tables: tables, Slots: 0},
		{Name: "c", Version: "1.2.3", Puzzles: puzzles, Tables: tables, Slots: 1},
		{Name: "d", Version: "1?[2J", Puzzles: []string{"a", "b"}, Tables: []string{}, Slots: 0},
	}
	var all []Presence
	eventually(t, "all are seen", func() bool {
		all = workersOf(t, q)
		return len(all) == len(want)
	})
	for i, p := range all {
		if (p.ID == "") != (p.Name == "d") || (p.Doing == nil) != (p.Name == "d") {
			t.Errorf("worker %s: id %q, doing %v", p.Name, p.ID, p.Doing)
		}
		all[i].ID, all[i].Doing = "", nil
	}
	if fmt.Sprint(all) != fmt.Sprint(want) {
		t.Errorf("workers\n%v\nwant\n%v", all, want)
	}
	if n := reflect.TypeFor[Presence]().NumField(); n != 7 {
		t.Errorf("%d fields, of which 7 are compared", n)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := q.Workers(ended); err == nil {
		t.Error("no error where the context has ended")
	}
}

// However much somebody tells of a worker, what is kept of it is bounded.
func TestPresenceBounded(t *testing.T) {
	tell := func(names int) (Presence, bool) {
		return readPresence(fmt.Appendf(nil, `{"name":"antipode","metadata":{"worker":"w","puzzles":"%[1]s","tables":"%[1]s"}}`, strings.Repeat("p ", names)))
	}
	if p, ok := tell(10_000); !ok || len(p.Puzzles) != limit.KeptDefinitions || len(p.Tables) != limit.KeptDefinitions {
		t.Errorf("of 10,000 names %d and %d are kept, %t", len(p.Puzzles), len(p.Tables), ok)
	}
	if _, ok := tell(limit.Presence); ok {
		t.Errorf("more than %d bytes are taken", limit.Presence)
	}
}
