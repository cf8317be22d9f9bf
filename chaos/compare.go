//go:build unix

package main

import (
	"bytes"
	"os"
	"strconv"
)

// compare counts what became of a job's answers in a file of the lab.
func (l *lab) compare(j *job, out string) (tally, error) {
	got, err := os.ReadFile(l.path(out))
	if err != nil {
		return tally{}, err
	}
	return j.compare(got), nil
}

// compare counts answers beside those of the undisturbed run. Each is known by
// the id of its record; one whose id is of no record is wrong.
func (j *job) compare(got []byte) tally {
	t := tally{records: j.records}
	if bytes.Equal(got, j.want) {
		return t
	}
	want := make(map[int][]byte, j.records)
	for line := range bytes.Lines(j.want) {
		if id, ok := idOf(line); ok {
			want[id] = line
		}
	}
	seen := make(map[int]bool, j.records)
	for line := range bytes.Lines(got) {
		id, ok := idOf(line)
		switch {
		case !ok || want[id] == nil:
			t.wrong++
		case seen[id]:
			t.doubled++
		case !bytes.Equal(line, want[id]):
			t.wrong++
			seen[id] = true
		default:
			seen[id] = true
		}
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

// idOf returns the id with which an answer starts.
func idOf(line []byte) (int, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"id":`))
	digits, _, more := bytes.Cut(rest, []byte(","))
	if !ok || !more {
		return 0, false
	}
	id, err := strconv.Atoi(string(digits))
	return id, err == nil
}
