package job_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"antipode/internal/job"
	"antipode/internal/puzzle"
)

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		word string
		want job.Format
	}{
		{"jsonl", job.Format{JSONL: true}},
		{"text", job.Format{}},
		{"text/0", job.Format{Framing: puzzle.Framing{}, Known: true}},
		{"text/3", job.Format{Framing: puzzle.Framing{Lines: 3}, Known: true}},
		{"text/2/apart", job.Format{Framing: puzzle.Framing{Lines: 2, Blocks: 1}, Known: true}},
		{"text/33/apart/3", job.Format{Framing: puzzle.Framing{Lines: 33, Blocks: 3}, Known: true}},
		{"text/33", job.Format{Framing: puzzle.Framing{Lines: 33}, Known: true}},
	} {
		got, err := job.ParseFormat(c.word)
		if err != nil || got != c.want || got.String() != c.word {
			t.Errorf("%s: %+v, %v", c.word, got, err)
		}
	}
	for _, bad := range []string{"", "json", "Text", "text/", "text/-1", "text/+1", "text/03", "text/34", "text/1x", "text/99999999999999999999", "jsonl/1", " text",
		"text/0/apart", "text/1/apart", "text/34/apart", "text/3/", "text/3/apart/", "text/3/apart/0", "text/3/apart/1", "text/3/apart/4", "text/3/apart/02", "text/3/apart/-2", "text/3/apart2", "text/3/2", "text//apart", "text/apart", "3/apart"} {
		if got, err := job.ParseFormat(bad); err == nil {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}

// A record may lower a worker's budgets, never raise them.
func TestBudgetWithin(t *testing.T) {
	const s = time.Second
	for _, c := range []struct{ record, worker, want job.Budget }{
		{job.Budget{}, job.Budget{}, job.Budget{}},
		{job.Budget{}, job.Budget{States: 10, Time: s}, job.Budget{States: 10, Time: s}},
		{job.Budget{States: 5, Time: 2 * s}, job.Budget{}, job.Budget{States: 5, Time: 2 * s}},
		{job.Budget{States: 5, Time: 2 * s}, job.Budget{States: 10, Time: s}, job.Budget{States: 5, Time: s}},
		{job.Budget{States: 15, Time: s / 2}, job.Budget{States: 10, Time: s}, job.Budget{States: 10, Time: s / 2}},
		{job.Budget{States: -1, Time: -s}, job.Budget{States: 10, Time: s}, job.Budget{States: 10, Time: s}},
	} {
		if got := c.record.Within(c.worker); got != c.want {
			t.Errorf("%+v within %+v: %+v, want %+v", c.record, c.worker, got, c.want)
		}
	}
}

func TestStatuses(t *testing.T) {
	for s, want := range []string{"solved", "unreachable", "invalid", "exceeded", "failed"} {
		if got := job.Status(s).String(); got != want {
			t.Errorf("status %d: %s", s, got)
		}
		if got, want := job.Status(s).Final(), s < 2; got != want {
			t.Errorf("status %d is final: %v", s, got)
		}
	}
	if job.Statuses != 5 || job.Status(5).String() != "status(5)" || job.Status(5).Final() {
		t.Errorf("a sixth status: %v", job.Status(5))
	}
}

func TestCounts(t *testing.T) {
	var a, b job.Counts
	for s := range job.Status(job.Statuses) {
		for range s + 1 {
			a.Add(&job.Answer{Status: s})
		}
	}
	b.Add(&job.Answer{Status: job.Solved, Cached: true})
	b.Sum(a)
	if want := (job.Counts{Records: 16, ByStatus: [job.Statuses]int{2, 2, 3, 4, 5}, Cached: 1}); !reflect.DeepEqual(b, want) {
		t.Errorf("got %+v, want %+v", b, want)
	}
}

func TestTokens(t *testing.T) {
	for _, good := range []string{"a", "A-z_09", strings.Repeat("x", 64), "-", "_"} {
		if !job.IsToken(good) {
			t.Errorf("%q is none", good)
		}
	}
	for _, bad := range []string{"", strings.Repeat("x", 65), "a.b", "a b", "*", ">", "a/b", "é", "a\n", "\x00"} {
		if job.IsToken(bad) {
			t.Errorf("%q is one", bad)
		}
	}
	seen := map[string]bool{}
	for range 1000 {
		id := job.NewID()
		if !job.IsToken(id) || len(id) < 22 || seen[id] { // 128 bits, 6 a character
			t.Fatalf("id %q", id)
		}
		seen[id] = true
	}
	c := job.Chunk{Spec: job.Spec{Job: "abc"}, Number: 7}
	if c.Name() != "abc/7" {
		t.Errorf("name %s", c.Name())
	}
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"boards 1.txt": "boards 1.txt", "größte-盤.txt": "größte-盤.txt",
		"\x1b[2J": "?[2J", "a\nb\tc\r": "a?b?c?", "\u202etxt.exe": "?txt.exe", "\u200b\u00a0\u0085": "???", "\xff": "?", "": "",
	} {
		if got := job.Printable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
