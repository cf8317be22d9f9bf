package worker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"antipode/internal/cache"
	"antipode/internal/job"
	"antipode/internal/puzzle"
	"antipode/internal/solver"
)

// BenchmarkAnswer measures a worker's own cost of a record: read, look up or
// search, check, print.
func BenchmarkAnswer(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	perm := func(symbols string) []string {
		s := strings.Split(symbols, "")
		rng.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
		return s
	}
	rows := func(v []string, width int) string {
		var out strings.Builder
		for i := 0; i < len(v); i += width {
			fmt.Fprintln(&out, strings.Join(v[i:i+width], " "))
		}
		return out.String()
	}
	for _, bm := range []struct {
		puzzle  string
		records int
		format  job.Format
		record  func() string
	}{
		{"eight", 10000, job.Format{Known: true, Framing: puzzle.Framing{Lines: 3}}, func() string { return rows(perm("012345678"), 3) }},
		{"swap", 10000, job.Format{Known: true, Framing: puzzle.Framing{Lines: 3}}, func() string { return rows(perm("123456789"), 3) }},
		{"eight2", 10000, job.Format{Known: true, Framing: puzzle.Framing{Lines: 2}}, func() string {
			return strings.Join(perm("12345678X"), "") + "\n" + strings.Join(perm("12345678X"), "") + "\n"
		}},
		{"rotegame", 64, job.Format{Known: true, Framing: puzzle.Framing{Lines: 6}}, func() string { return rows(perm("123456789ABC"), 4) + rows(perm("123456789ABC"), 4) }},
	} {
		for _, given := range []bool{false, true} { // the same definition, brought by its chunk
			b.Run(bm.puzzle+map[bool]string{true: "-given"}[given], func(b *testing.B) {
				answer(b, bm.puzzle, given, bm.records, bm.format, bm.record)
			})
		}
	}
}

// answer answers a chunk of so many records again and again.
func answer(b *testing.B, name string, given bool, records int, format job.Format, record func() string) {
	set, err := puzzle.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	answers, err := cache.Open(cache.Config{})
	if err != nil {
		b.Fatal(err)
	}
	w := &Worker{Name: "bench", Puzzles: set, Cache: answers, Mode: None,
		Solver: solver.New(solver.Config{Searches: 1, Memory: 1 << 30, TableMemory: 1 << 28})}
	if _, err := w.Prepare(context.Background()); err != nil {
		b.Fatal(err)
	}
	if given {
		text, err := os.ReadFile("../puzzle/builtin/" + name + ".yaml")
		if err != nil {
			b.Fatal(err)
		}
		w.Definition = func(context.Context, string) ([]byte, error) { return text, nil }
		name = "mine@" + puzzle.Hash(text)
	}
	c := &job.Chunk{Spec: job.Spec{Puzzle: name, Format: format, File: "bench"}, FirstLine: 1, FirstRecord: 1, Records: records}
	for range records {
		c.Payload = append(c.Payload, strings.NewReplacer("A", "10", "B", "11", "C", "12").Replace(record())...)
	}
	var progress atomic.Int64
	b.ReportAllocs()
	for b.Loop() {
		if res, _, err := w.Answer(context.Background(), c, &progress); err != nil || res.ByStatus[job.Invalid]+res.ByStatus[job.Failed] > 0 {
			b.Fatal(res, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*records), "ns/record")
}
