package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/job"
	"antipode/internal/puzzle"
	"antipode/internal/worker"
)

// The same seed gives the same input, another one another.
func TestInputsAreSeeded(t *testing.T) {
	for name := range kinds {
		a, b, other := text(t, name, 1, 50), text(t, name, 1, 50), text(t, name, 2, 50)
		if a != b {
			t.Errorf("%s: two inputs of one seed differ", name)
		}
		if a == other {
			t.Errorf("%s: inputs of two seeds are the same", name)
		}
	}
}

func text(t *testing.T, name string, seed uint64, records int) string {
	t.Helper()
	var b bytes.Buffer
	if err := writeInput(&b, name, seed, records); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Each input has the records that it should, all of which can be read, and can
// be answered where the goal can be reached by construction.
func TestInputsAreRead(t *testing.T) {
	t.Chdir("..")
	set, err := puzzle.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	const records = 100
	for name, reachable := range map[string]bool{"eight": false, "eight2": true, "rotegame": true, "repeats": true, "antipodes": true, "graph": false, "same-graph": false} {
		chunks, err := asked{kind: name, records: records}.chunks(context.Background(), set, seed)
		if err != nil {
			t.Fatal(name, err)
		}
		read, reached := 0, 0
		spaces := map[puzzle.Fingerprint]bool{}
		for _, c := range chunks {
			r, err := job.NewReader(c, set)
			if err != nil {
				t.Fatal(name, err)
			}
			for rec := new(job.Record); r.Next(rec); read++ {
				if r.Read(rec); rec.Invalid != nil {
					t.Fatalf("%s: record %d: %v", name, read+1, rec.Invalid)
				}
				q := &rec.Question
				spaces[q.Space.Fingerprint()] = true
				if !q.Unlike && puzzle.NewReach(q.Space).Possible(q.Start, q.Goal) {
					reached++
				}
			}
		}
		if read != records {
			t.Errorf("%s: %d records, want %d", name, read, records)
		}
		if reachable && reached != records {
			t.Errorf("%s: %d of %d can be reached", name, reached, records)
		}
		if name == "eight" && (reached < records/4 || reached > records*3/4) {
			t.Errorf("eight: %d of %d can be reached, want about half", reached, records)
		}
		if many := len(spaces) > 1; many != (name == "graph") {
			t.Errorf("%s: %d spaces", name, len(spaces))
		}
	}
}

// All rows name a measurement, and what they measure inside is known.
func TestRows(t *testing.T) {
	t.Chdir("..")
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.name] || r.work == "" || len(r.targets) == 0 || r.sides == nil {
			t.Errorf("row %q is incomplete, or there twice", r.name)
		}
		seen[r.name] = true
	}
	set, err := puzzle.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for what, a := range insides {
		a.records = 3
		chunks, err := a.chunks(context.Background(), set, seed)
		if err != nil {
			t.Fatal(what, err)
		}
		if want := map[bool]int{true: 3, false: 1}[a.apart]; len(chunks) != want {
			t.Errorf("%s: %d chunks, want %d", what, len(chunks), want)
		}
	}
	if worker.None != "none" { // as clusters set it
		t.Error("workers of a cluster cache answers")
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3},
		{[]float64{9, 1}, 5},
		{[]float64{5, 1, 9}, 5},
		{[]float64{4, 9, 1, 2}, 3},
	} {
		before := append([]float64(nil), c.values...)
		if got := median(c.values); got != c.want {
			t.Errorf("median of %v: %v, want %v", c.values, got, c.want)
		}
		for i := range before {
			if before[i] != c.values[i] {
				t.Errorf("median changed its values: %v to %v", before, c.values)
			}
		}
	}
}

func TestSameFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a := file("a", "1\n2\n")
	if err := sameFiles(a, file("same", "1\n2\n")); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"", "1\n", "1\n3\n", "1\n2\n3", "1\n2"} {
		if err := sameFiles(a, file("other", text)); !errors.Is(err, errDiffer) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := sameFiles(a, filepath.Join(dir, "missing")); err == nil || errors.Is(err, errDiffer) {
		t.Errorf("a missing file: %v", err)
	}
}

// made is a series of runs of one metric.
func made(name, metric string, values ...float64) series {
	s := series{name: name}
	for _, v := range values {
		s.trials = append(s.trials, trial{values: map[string]float64{metric: v}})
	}
	return s
}

func TestLines(t *testing.T) {
	ratio := row{name: "r", work: "work", targets: []target{{seconds, faster, least, 6}}}
	for _, c := range []struct {
		name string
		m    measured
		want string
	}{
		{"met", measured{row: ratio, baseline: made("it.cpp", seconds, 3, 2, 4), ours: made("submit", seconds, 0.5, 0.25, 1)},
			"| work | 3 s, it.cpp | 0.5 s | 6 times as fast | ≥ 6 times as fast | yes |\n"},
		{"missed", measured{row: ratio, baseline: made("it.cpp", seconds, 1), ours: made("submit", seconds, 1)},
			"| work | 1 s, it.cpp | 1 s | 1 times as fast | ≥ 6 times as fast | **no** |\n"},
		{"no compiler", measured{row: ratio, ours: made("submit", seconds, 1)},
			"| work | — | 1 s | no baseline: no g++ | ≥ 6 times as fast | — |\n"},
		{"declined", measured{row: ratio, err: declined{"not | here"}},
			"| work | — | — | not \\| here | ≥ 6 times as fast | — |\n"},
		{"slower, two targets", measured{row: row{work: "work", targets: []target{{seconds, slower, most, 2}, {peak, itself, none, 0}}},
			baseline: made("submit", seconds, 2), ours: made("workers", seconds, 3)},
			"| work | 2 s, submit | 3 s | 1.5 times as long | ≤ 2 times as long | yes |\n" +
				"|  | — | — | not measured on this system | — | — |\n"},
		{"rate", measured{row: row{work: "work", targets: []target{{rate, itself, least, 250_000}}}, ours: made("in process", rate, 249_999.6)},
			"| work | — | 250000 answers/s | 250000 answers/s | ≥ 250000 answers/s | **no** |\n"},
	} {
		if got := c.m.lines(); got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// Only what is wrong asks for an exit status.
func TestReport(t *testing.T) {
	targets := []target{{seconds, faster, least, 6}}
	r := report{
		options: options{scale: 1}, machine: []fact{{"cores", "2"}, {"CPU", ""}}, versions: []fact{{"Go", "go1"}},
		rows: []measured{
			{row: row{name: "missed", work: "missed", targets: targets}, baseline: made("it.cpp", seconds, 2, 1, 3), ours: made("submit", seconds, 2)},
			{row: row{name: "declined", work: "declined", targets: targets}, err: declined{"not here"}},
		},
	}
	page := r.markdown()
	for _, want := range []string{
		"- cores: 2\n- CPU: unknown\n- Go: go1\n", tableHead + "| missed | 2 s, it.cpp | 2 s |", "| declined | — | — | not here |",
		"| missed | it.cpp | s | 1 | 2 | 3 | 2 1 3 |\n| missed | submit | s | 2 | 2 | 2 | 2 |\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if err := r.err(); err != nil {
		t.Errorf("missed and declined: %v", err)
	}
	r.rows = append(r.rows, measured{row: row{name: "wrong", targets: targets}, err: errDiffer})
	if err := r.err(); !errors.Is(err, errDiffer) {
		t.Errorf("answers that differ: %v", err)
	}
}

func TestParse(t *testing.T) {
	o, err := parse([]string{"-only", "^eight$", "-runs", "7"})
	if err != nil || !o.only.MatchString("eight") || o.only.MatchString("eight2") || o.runs != 7 || o.scale != 1 {
		t.Errorf("%+v %v", o, err)
	}
	for _, args := range [][]string{{"-runs", "0"}, {"-scale", "0"}, {"rows"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
