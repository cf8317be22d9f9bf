//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	jobs "antipode/internal/job"
	"antipode/internal/process"
	"antipode/internal/queue"
)

const (
	// fifteenFile is the definition of the 15-puzzle, hardFifteen a board that more
	// than a hundred million nodes do not get home: it takes more than 76 moves.
	fifteenFile = "configs/puzzles/sliding4x4.yaml"
	hardFifteen = "0 12 9 13\n15 11 10 14\n3 7 2 5\n4 8 6 1\n"

	busyBudget = 5 * time.Second
	fairTarget = 250 * time.Millisecond // of the 99th percentile
)

// fairness asks one record at a time while two workers are busy with bulk records
// that take their whole budget of time: first over an open connection, then with a
// submit for each.
func fairness(ctx context.Context, l *lab) (found result, err error) {
	s, o, err := l.watched(ctx)
	if err != nil {
		return found, err
	}
	defer o.close()
	for range 2 {
		if _, err := l.worker(ctx, s.url()); err != nil {
			return found, err
		}
	}
	bulk, err := l.keepBusy(ctx, s.url())
	if err != nil {
		return found, err
	}
	if err := o.held(ctx, 2); err != nil {
		return found, err
	}
	const times = 200
	q, err := queue.Open(ctx, queue.Config{URL: s.url(), Name: "antipode chaos", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return found, err
	}
	defer q.Close(context.WithoutCancel(ctx))
	var notes []string
	for _, way := range []struct {
		name string
		ask  func(ctx context.Context, record []byte) ([]byte, error)
	}{
		{"over an open connection", func(ctx context.Context, record []byte) ([]byte, error) { return runOne(ctx, q, record) }},
		{"as a whole submit", func(ctx context.Context, record []byte) ([]byte, error) { return l.submitOne(ctx, s.url(), record) }},
	} {
		took, t, err := oneByOne(ctx, times, way.ask)
		if err != nil {
			return found, err
		}
		found.add(t)
		found.often += times
		notes = append(notes, fmt.Sprintf("%s %s", way.name, percentiles(took)))
		if late := percentile(took, 99); late > 10*fairTarget {
			return found, fmt.Errorf("%s: %s", way.name, percentiles(took))
		}
	}
	found.note = fmt.Sprintf("one record %s; p99 target < %s", strings.Join(notes, "; "), fairTarget)
	return found, l.wasBusy(ctx, bulk)
}

// keepBusy starts a job whose records, a chunk each, are all searched until their
// budget is over.
func (l *lab) keepBusy(ctx context.Context, url string) (*process.Process, error) {
	text, err := os.ReadFile(fifteenFile)
	if err != nil {
		return nil, err
	}
	puzzle, file := l.path("fifteen.yaml"), l.path("busy.txt")
	single := bytes.Replace(text, []byte("\nchunk: 16 "), []byte("\nchunk: 1 "), 1)
	err = errors.Join(os.WriteFile(puzzle, single, 0o600), os.WriteFile(file, []byte(strings.Repeat(hardFifteen, 200)), 0o600))
	if err != nil {
		return nil, err
	}
	return l.start(l.command(ctx, []string{"ANTIPODE_BUDGET_TIME=" + busyBudget.String()}, "submit",
		"--nats", url, "--puzzle", puzzle, "--out", l.path("busy.out"), file))
}

// wasBusy ends such a job once it has an answer, and fails unless all records that
// were answered ran into their budget.
func (l *lab) wasBusy(ctx context.Context, bulk *process.Process) error {
	err := until(ctx, "a bulk record's answer", func() (bool, error) {
		answers, err := l.read("busy.out")
		return len(answers) > 0, err
	})
	if err != nil {
		return err
	}
	if err := bulk.Signal(os.Interrupt); err != nil {
		return err
	}
	if err := ended(ctx, bulk, 130); err != nil {
		return err
	}
	answers, err := l.read("busy.out")
	if err != nil {
		return err
	}
	exceeded := bytes.Count(answers, []byte("exceeded:"))
	if exceeded == 0 || 2*exceeded != bytes.Count(answers, []byte("\n")) {
		return fmt.Errorf("the bulk records did not all run into their budget: %s", answers)
	}
	return nil
}

// oneByOne asks so many questions of the 8-puzzle, one after another, and returns
// how long each took.
func oneByOne(ctx context.Context, times int, ask func(context.Context, []byte) ([]byte, error)) (took []time.Duration, t tally, err error) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range times {
		q := question{puzzle: "eight", want: "moves", start: shuffled(rng, 0)}
		began := time.Now()
		line, err := ask(ctx, q.append(nil, 0))
		if err != nil {
			return nil, t, err
		}
		took = append(took, time.Since(began))
		t.records++
		var a answer
		switch lines := bytes.Count(line, []byte("\n")); {
		case lines == 0:
			t.lost++
		case lines > 1:
			t.doubled++
		case json.Unmarshal(line, &a) != nil || !q.right(a, false, nil):
			t.wrong++
		}
	}
	return took, t, nil
}

// runOne answers a job of one JSON record over an open connection.
func runOne(ctx context.Context, q *queue.Queue, record []byte) (answers []byte, err error) {
	spec := jobs.Spec{Owner: "public", Job: jobs.NewID(), File: "one", Format: jobs.Format{JSONL: true}, JSON: true}
	cutter := jobs.NewCutter(bytes.NewReader(record), spec, nil)
	err = q.Run(ctx, queue.Run{
		Spec: spec, Window: queue.Window{Chunks: 1, Bytes: 1 << 20},
		Next: func(ctx context.Context) (*jobs.Chunk, *jobs.Result, error) {
			c, err := cutter.Next(ctx)
			return c, nil, err
		},
		Write: func(_ *jobs.Chunk, r *jobs.Result) error {
			answers = append(answers, r.Payload...)
			return nil
		},
	})
	return answers, err
}

// submitOne answers a job of one JSON record by a submit of its own.
func (l *lab) submitOne(ctx context.Context, url string, record []byte) ([]byte, error) {
	cmd := l.command(ctx, nil, "submit", "--nats", url, "-")
	cmd.Stdin = bytes.NewReader(record)
	cmd.Stderr = io.Discard
	answers, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("submit of one record: %w", err)
	}
	return answers, nil
}

// percentile is the time that so many of a hundred took, or less.
func percentile(took []time.Duration, percent int) time.Duration {
	slices.Sort(took)
	return took[(len(took)-1)*percent/100]
}

// percentiles says how long things took, in milliseconds.
func percentiles(took []time.Duration) string {
	at := func(percent int) float64 { return percentile(took, percent).Seconds() * 1e3 }
	return fmt.Sprintf("p50 %.0f ms, p99 %.0f ms, most %.0f ms", at(50), at(99), at(100))
}
