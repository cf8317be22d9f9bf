package worker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"antipode/internal/cache"
	"antipode/internal/job"
	"antipode/internal/puzzle"
	"antipode/internal/solver"
)

// benchmark is a chunk of a puzzle's records.
type benchmark struct {
	puzzle  string
	records int
	framing puzzle.Framing
	record  func() string
}

func benchmarks() []benchmark {
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
	return []benchmark{
		{"eight", 10000, puzzle.Framing{Lines: 3}, func() string { return rows(perm("012345678"), 3) }},
		{"swap", 10000, puzzle.Framing{Lines: 3}, func() string { return rows(perm("123456789"), 3) }},
		{"eight2", 8192, puzzle.Framing{Lines: 2}, func() string {
			return strings.Join(perm("12345678X"), "") + "\n" + strings.Join(perm("12345678X"), "") + "\n"
		}},
		{"graph", 64, puzzle.Framing{Lines: 2}, func() string { // the same one in all records
			return "12\n8 5\n9 6\n4 5\n4 1\n2 5\n8 9\n2 1\n3 6\n8 7\n6 5\n7 4\n2 3\n" + strings.Join(perm("123456789")[:8], " ") + "\n"
		}},
		{"rotegame", 64, puzzle.Framing{Lines: 6}, func() string {
			return strings.NewReplacer("A", "10", "B", "11", "C", "12").Replace(rows(perm("123456789ABC"), 4) + rows(perm("123456789ABC"), 4))
		}},
	}
}

// chunk makes a chunk of the benchmark's records.
func (bm *benchmark) chunk(name string) *job.Chunk {
	c := &job.Chunk{Spec: job.Spec{Puzzle: name, Format: job.Format{Known: true, Framing: bm.framing}, File: "bench"}, FirstLine: 1, FirstRecord: 1, Records: bm.records}
	for range bm.records {
		c.Payload = append(c.Payload, bm.record()...)
	}
	return c
}

// benchWorker is a worker that has its tables.
func benchWorker(b *testing.B) *Worker {
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
	return w
}

// BenchmarkAnswer measures a worker's own cost of a record: read, look up or
// search, check, print.
func BenchmarkAnswer(b *testing.B) {
	for _, bm := range benchmarks() {
		for _, given := range []bool{false, true} { // the same definition, brought by its chunk
			b.Run(bm.puzzle+map[bool]string{true: "-given"}[given], func(b *testing.B) {
				w := benchWorker(b)
				name := bm.puzzle
				if given {
					text, err := os.ReadFile("../puzzle/builtin/" + name + ".yaml")
					if err != nil {
						b.Fatal(err)
					}
					w.Definition = func(context.Context, string) ([]byte, error) { return text, nil }
					name = "mine@" + puzzle.Hash(text)
				}
				answer(b, w, bm.chunk(name))
			})
		}
	}
}

// answer answers a chunk again and again.
func answer(b *testing.B, w *Worker, c *job.Chunk) {
	var progress atomic.Int64
	once := func() {
		if res, _, err := w.Answer(context.Background(), c, &progress); err != nil || res.ByStatus[job.Invalid]+res.ByStatus[job.Failed] > 0 {
			b.Fatal(res, err)
		}
	}
	if b.N == 1 && c.Records < 100 {
		for range 8 { // searches pay for a table, where there is to be one
			once()
		}
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		once()
		n++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n*c.Records), "ns/record")
}

// BenchmarkLayers measures what each layer adds to those before it: each of its
// benchmarks goes as far as its name says. Limit is a loop that does nothing but the
// least, for boards of digits: digits to a state, the table, a number.
func BenchmarkLayers(b *testing.B) {
	const plan, look, print = 1, 2, 3
	for _, bm := range benchmarks()[:3] {
		w := benchWorker(b)
		c := bm.chunk(bm.puzzle)
		for last, name := range []string{"read", "plan", "look", "print"} {
			b.Run(bm.puzzle+"/"+name, func(b *testing.B) {
				buf := make([]byte, 0, 4*len(c.Payload))
				var moves []uint8
				n := 0
				for b.Loop() {
					r, err := job.NewReader(c, w.Puzzles)
					if err != nil {
						b.Fatal(err)
					}
					planner := solver.Planner{Solver: w.Solver}
					var rec job.Record
					var answer job.Answer
					buf = buf[:0]
					for r.Next(&rec) {
						r.Read(&rec)
						n++
						if last < plan {
							continue
						}
						p := planner.Plan(&rec.Question)
						if last < look {
							continue
						}
						if !p.Known(&rec.Question, rec.Want, moves, &answer) {
							b.Fatal("no table")
						}
						if answer.Moves != nil {
							moves = answer.Moves
						}
						if last < print {
							continue
						}
						buf = job.Append(buf, &c.Spec, &rec, &answer)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/record")
			})
		}
		b.Run(bm.puzzle+"/all", func(b *testing.B) { answer(b, w, c) })
	}
	eight := benchmarks()[0]
	c := eight.chunk("eight")
	p, err := benchWorker(b).Puzzles.Get("eight")
	if err != nil {
		b.Fatal(err)
	}
	const goal = puzzle.State(0x876543210)
	table, err := solver.NewTable(context.Background(), p.Space(), goal)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("eight/limit", func(b *testing.B) {
		buf := make([]byte, 0, len(c.Payload))
		for b.Loop() {
			buf = buf[:0]
			for rest := c.Payload; len(rest) >= 18; rest = rest[18:] {
				var s puzzle.State
				for i := 0; i < 9; i++ {
					s |= puzzle.State(rest[2*i]-'0') << (4 * i)
				}
				d, ok := table.Distance(s)
				if !ok {
					d = -1
				}
				buf = append(strconv.AppendInt(buf, int64(d), 10), '\n')
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*c.Records), "ns/record")
	})
}
