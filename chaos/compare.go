//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// compare counts what became of a job's answers in a file of the lab.
func (l *lab) compare(j *job, out string) (tally, error) {
	got, err := l.read(out)
	if err != nil {
		return tally{}, err
	}
	return j.compare(got), nil
}

func (l *lab) read(name string) ([]byte, error) { return os.ReadFile(l.path(name)) }

// compare counts answers beside those of the undisturbed run. Each is known by what
// stands before its status: the id and the line of its record. One of no record is
// wrong.
func (j *job) compare(got []byte) tally {
	t := tally{records: j.records}
	if bytes.Equal(got, j.want) {
		return t
	}
	want := make(map[string][]byte, j.records)
	for line := range bytes.Lines(j.want) {
		want[nameOf(line)] = line
	}
	seen := make(map[string]bool, j.records)
	for line := range bytes.Lines(got) {
		name := nameOf(line)
		switch {
		case want[name] == nil:
			t.wrong++
			continue
		case seen[name]:
			t.doubled++
		case !bytes.Equal(line, want[name]):
			t.wrong++
		}
		seen[name] = true
	}
	t.lost = len(want) - len(seen)
	if t.clean() { // all are there, and not in their places
		t.wrong = j.misplaced(got)
	}
	return t
}

// misplaced counts the lines that are not those of the undisturbed run in the same
// place.
func (j *job) misplaced(got []byte) (n int) {
	a, b := bytes.SplitAfter(j.want, []byte("\n")), bytes.SplitAfter(got, []byte("\n"))
	for i := range a {
		if i >= len(b) || !bytes.Equal(a[i], b[i]) {
			n++
		}
	}
	return n
}

// nameOf is what an answer begins with: the id and the line of its record.
func nameOf(line []byte) string {
	name, _, _ := bytes.Cut(line, []byte(`,"status":`))
	return string(name)
}

// expected compares answers of which some are to be others than in the undisturbed
// run: these are counted, and count as right. One is known by the line of its record.
func (l *lab) expected(j *job, out string, other func(answer) bool) (t tally, n int, err error) {
	got, err := l.read(out)
	if err != nil {
		return t, 0, err
	}
	want := make(map[int][]byte, j.records)
	for line := range bytes.Lines(j.want) {
		want[len(want)+1] = line
	}
	var repaired []byte
	for line := range bytes.Lines(got) {
		var a answer
		if err := json.Unmarshal(line, &a); err != nil {
			return t, 0, fmt.Errorf("answer %s: %w", line, err)
		}
		if other(a) {
			line = want[a.Line]
			n++
		}
		repaired = append(repaired, line...)
	}
	return j.compare(repaired), n, nil
}
