package worker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"antipode/internal/job"
)

// One question is one record, of the puzzle that the chunk names. How chunks are
// refused is tested in internal/queue, too.
func TestCheck(t *testing.T) {
	w := newWorker(t, Searched)
	s := &shelf{}
	w.Definition = s.fetch
	ref, broken := "two@"+s.put(two), "broken@"+s.put("cells: 2\n")
	for _, c := range []struct{ puzzle, payload, want string }{
		{"swap", "2 1 3 4 5 6 7 8 9", ""},
		{"swap", "2 1 3 4 5 6 7 8", ""}, // invalid, which is an answer
		{"swap", "", "no record"},
		{"swap", "2 1 3 4 5 6 7 8 9\n1 2 3 4 5 6 7 8 9\n", "more than one record"},
		{"nine", "1", `unknown puzzle "nine"`},
		{"", "1", "unknown puzzle"},
		{ref, "2 1", ""},
		{ref, "2 1\n1 2", "more than one record"},
		{broken, "2 1", "moves"},
		{ref, `{"start":[2,1]}`, ""},
		{ref, `{"start":[2,1],"puzzle":"two"}`, ""},
		{ref, `{"start":[2,1],"puzzle":"` + ref + `"}`, ""},
		{ref, `{"start":[2,1],"puzzle":"swap"}`, "the record names the puzzle swap, the subject two"},
		{ref, "{}\n{}", "more than one line"},
		{ref, "{}", ""},
	} {
		ch := chunk(c.puzzle, 1, c.payload)
		ch.Format = job.Format{JSONL: strings.Contains(c.payload, "{")}
		got, err := w.Check(t.Context(), ch)
		if err != nil || !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s %q: %q, %v; want %q", c.puzzle, c.payload, got, err, c.want)
		}
	}
	if got, err := w.Check(t.Context(), chunk("two@"+strings.Repeat("0", 64), 1, "2 1")); got != "" || !errors.Is(err, errNotNow) {
		t.Errorf("a definition that cannot be fetched: %q, %v", got, err)
	}
}

// Puzzles have their tables once they are made; that of a large one is not, and
// there is none where every record brings its own edges.
func TestTabled(t *testing.T) {
	w := newWorker(t, Searched)
	if got := w.Tabled(); len(got) != 0 {
		t.Errorf("tables of %v before any was made", got)
	}
	swap, err := w.Puzzles.Get("swap")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Solver.Prepare(context.Background(), swap); err != nil {
		t.Fatal(err)
	}
	if got, want := w.Tabled(), []string{"swap"}; !slices.Equal(got, want) {
		t.Errorf("tables of %v, want %v", got, want)
	}
	if _, err := w.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := w.Tabled(), []string{"eight", "eight2", "swap"}; !slices.Equal(got, want) {
		t.Errorf("tables of %v, want %v", got, want)
	}
}
