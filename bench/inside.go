package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"antipode/internal/cache"
	"antipode/internal/job"
	"antipode/internal/puzzle"
	"antipode/internal/solver"
	"antipode/internal/worker"
)

// asked is work for worker.Answer in one goroutine, on one core.
type asked struct {
	kind    string
	records int
	tables  int64 // tables.memory, in bytes
	table   bool  // measured from when a table answers; else the first time, as searches are
	apart   bool  // each record is a chunk of its own
}

var insides = map[string]asked{
	"eight":             {kind: "eight", records: 4096, tables: tableMemory, table: true},
	"rotegame, table":   {kind: "rotegame", records: 20_000, tables: tableMemory, table: true},
	"rotegame, search":  {kind: "rotegame", records: 1000},
	"antipodes, search": {kind: "antipodes", records: 163, apart: true},
	"repeats":           {kind: "repeats", records: 1000, tables: tableMemory},
	"graph":             {kind: "graph", records: 2000, tables: tableMemory},
	"same-graph":        {kind: "same-graph", records: 100_000, tables: tableMemory, table: true},
}

// answerInside measures in this process what another asks for, and says what
// came of it. What is asked for is a key of insides, or "table" and the name of
// a puzzle or the file of its definition.
func answerInside(ctx context.Context, what string, scale float64, stdout io.Writer) error {
	var values map[string]float64
	var err error
	if name, ok := strings.CutPrefix(what, "table "); ok {
		values, err = buildTable(ctx, name)
	} else if a, ok := insides[what]; ok {
		a.records = scaled(a.records, scale)
		values, err = a.measure(ctx)
	} else {
		err = fmt.Errorf("nothing known to measure as %q", what)
	}
	var d declined
	if err != nil && !errors.As(err, &d) {
		return err
	}
	return json.NewEncoder(stdout).Encode(replied{Values: values, Declined: d.reason})
}

// buildTable builds the table of a puzzle, on all cores.
func buildTable(ctx context.Context, name string) (map[string]float64, error) {
	set, err := puzzle.Builtin()
	if err != nil {
		return nil, err
	}
	var p *puzzle.Puzzle
	if filepath.Ext(name) == "" {
		p, err = set.Get(name)
	} else {
		p, err = given(name)
	}
	if err != nil {
		return nil, err
	}
	began := time.Now()
	table, err := solver.NewTable(ctx, p.Space(), goal(p))
	if err != nil {
		return nil, declined{err.Error()}
	}
	took := time.Since(began)
	runtime.KeepAlive(table)
	return map[string]float64{seconds: took.Seconds()}, nil
}

// given reads the definition of a puzzle that does not come with the program.
func given(file string) (*puzzle.Puzzle, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return puzzle.Given("given", file, text)
}

// goal is the goal of a puzzle's definition in canonical form.
func goal(p *puzzle.Puzzle) puzzle.State {
	var board puzzle.Board
	values, _ := p.Goal()
	copy(board[:], values)
	var q puzzle.Question
	p.Ask(p.Space(), &board, nil, &q)
	return q.Goal
}

// enough is how long answers from a table are measured.
const enough = time.Second / 2

func (a asked) measure(ctx context.Context) (map[string]float64, error) {
	runtime.GOMAXPROCS(1)
	set, err := puzzle.Builtin()
	if err != nil {
		return nil, err
	}
	chunks, err := a.chunks(ctx, set, seed)
	if err != nil {
		return nil, err
	}
	answers, err := cache.Open(cache.Config{})
	if err != nil {
		return nil, err
	}
	w := &worker.Worker{Name: "bench", Puzzles: set, Cache: answers, Mode: worker.None,
		Solver: solver.New(solver.Config{Searches: 1, Memory: 1 << 30, TableMemory: a.tables})}
	if a.table {
		err = untilTable(ctx, w, chunks[0])
	} else {
		err = a.warm(ctx, w)
	}
	if err != nil {
		return nil, err
	}

	var before, after runtime.MemStats
	var slowest, took time.Duration
	records := 0
	runtime.GC()
	runtime.ReadMemStats(&before)
	for first := true; first || a.table && took < enough; first = false {
		for _, c := range chunks {
			one, err := answer(ctx, w, c)
			if err != nil {
				return nil, err
			}
			took += one
			slowest = max(slowest, one)
			records += c.Records
		}
	}
	runtime.ReadMemStats(&after)
	each := took.Seconds() / float64(records)
	return map[string]float64{
		eachNano: each * 1e9, eachMilli: each * 1e3, maxMilli: slowest.Seconds() * 1e3, rate: 1 / each,
		allocs: float64(after.Mallocs-before.Mallocs) / float64(records),
	}, nil
}

// warm answers a few other questions first, as a worker has that searches for a
// while.
func (a asked) warm(ctx context.Context, w *worker.Worker) error {
	a.records = 8
	chunks, err := a.chunks(ctx, w.Puzzles, seed+1)
	if err != nil {
		return err
	}
	_, err = answer(ctx, w, chunks[0])
	return err
}

// chunks cuts the work as submit does.
func (a asked) chunks(ctx context.Context, set *puzzle.Set, seed uint64) ([]*job.Chunk, error) {
	var text bytes.Buffer
	if err := writeInput(&text, a.kind, seed, a.records); err != nil {
		return nil, err
	}
	name := "rotegame" // of the antipodes
	if k, ok := kinds[a.kind]; ok {
		name = k.puzzle
	}
	p, err := set.Get(name)
	if err != nil {
		return nil, err
	}
	if a.apart {
		alone := *p
		alone.ChunkRecords = 1
		p = &alone
	}
	cutter := job.NewCutter(&text, job.Spec{Puzzle: name, File: "bench"}, p)
	var chunks []*job.Chunk
	for {
		c, err := cutter.Next(ctx)
		if err == io.EOF {
			return chunks, nil
		}
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, c)
	}
}

// answer answers a chunk, and returns the processor time that took: on one core
// it is that of the wall, but for what else the machine does.
func answer(ctx context.Context, w *worker.Worker, c *job.Chunk) (time.Duration, error) {
	var progress atomic.Int64
	before := processorTime()
	res, _, err := w.Answer(ctx, c, &progress)
	took := processorTime() - before
	if err == nil && res.ByStatus[job.Solved]+res.ByStatus[job.Unreachable] != c.Records {
		err = fmt.Errorf("not all of %d records are answered: %v", c.Records, res.Counts)
	}
	return took, err
}

// tableTime bounds how long a table is waited for.
const tableTime = 2 * time.Minute

// untilTable asks the same questions until a table answers them: there is one as
// soon as searching has paid for it, if there can be one.
func untilTable(ctx context.Context, w *worker.Worker, c *job.Chunk) error {
	p, err := w.Puzzles.Get(c.Puzzle)
	if err != nil {
		return err
	}
	if p.Space() != nil {
		over, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := solver.NewTable(over, p.Space(), goal(p)); err != nil && !errors.Is(err, context.Canceled) {
			return declined{err.Error()}
		}
	}
	explained := *c
	explained.Explain = true
	for late := time.Now().Add(tableTime); time.Now().Before(late); {
		res, _, err := w.Answer(ctx, &explained, new(atomic.Int64))
		if err != nil {
			return err
		}
		if bytes.Contains(res.Payload, []byte("method=table")) && !bytes.Contains(res.Payload, []byte("method=bidirectional")) {
			return nil
		}
	}
	return declined{fmt.Sprintf("no table after %s of searching", tableTime)}
}
