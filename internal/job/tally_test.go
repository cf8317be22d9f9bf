package job_test

import (
	"reflect"
	"testing"

	"antipode/internal/job"
	"antipode/internal/puzzle"
)

// Rows stand for themselves, however records alternate.
func TestTally(t *testing.T) {
	one, two := &puzzle.Puzzle{Name: "one"}, &puzzle.Puzzle{Name: "two"}
	var got job.Tally
	for _, a := range []struct {
		puzzle *puzzle.Puzzle
		answer job.Answer
	}{
		{one, job.Answer{Method: "table"}},
		{one, job.Answer{Method: "table", Status: job.Unreachable}},
		{two, job.Answer{Method: "table"}},
		{nil, job.Answer{Status: job.Invalid}},
		{one, job.Answer{Method: "cache"}},
		{one, job.Answer{Method: "table"}},
		{nil, job.Answer{Status: job.Failed}},
	} {
		got.Add(a.puzzle, &a.answer)
	}
	want := []job.Row{
		{Puzzle: one, Method: "table", ByStatus: [job.Statuses]int{2, 1, 0, 0, 0}},
		{Puzzle: two, Method: "table", ByStatus: [job.Statuses]int{1, 0, 0, 0, 0}},
		{Puzzle: nil, Method: "", ByStatus: [job.Statuses]int{0, 0, 1, 0, 1}},
		{Puzzle: one, Method: "cache", ByStatus: [job.Statuses]int{1, 0, 0, 0, 0}},
	}
	rows := []job.Row{}
	for _, r := range got.Rows {
		rows = append(rows, *r)
	}
	if !reflect.DeepEqual(rows, want) {
		t.Errorf("got %+v\nwant %+v", rows, want)
	}
}
