//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// antipodesFile holds the 163 pairs of boards of Rotegame that are farthest apart,
// ringsFile its definition.
const (
	antipodesFile = "internal/solver/testdata/rotegame_antipodes.in"
	ringsFile     = "internal/puzzle/builtin/rotegame.yaml"
	antipodes     = 163
	antipodeLines = 6
)

// noTables lets a worker search all, and remember nothing.
var noTables = []string{"ANTIPODE_TABLES_MEMORY=0", "ANTIPODE_CACHE_MODE=none"}

// slowChunks lets chunks take longer than the ack wait: each is solved once, since
// its worker says that it gets on. How long a chunk takes is the machine's affair, so
// chunks grow until it is long enough.
func slowChunks(ctx context.Context, l *lab) (found result, err error) {
	s, o, err := l.watched(ctx)
	if err != nil {
		return found, err
	}
	defer o.close()
	for range 2 {
		if _, err := l.worker(ctx, s.url(), noTables...); err != nil {
			return found, err
		}
	}
	for times := 2; found.often == 0; times *= 2 {
		j, err := l.antipodesJob(ctx, times)
		if err != nil {
			return found, err
		}
		p, err := l.submit(ctx, s.url(), j, "out")
		if err != nil {
			return found, err
		}
		if err := ended(ctx, p, 0); err != nil {
			return found, err
		}
		t, err := l.compare(j, "out")
		if err != nil {
			return found, err
		}
		found.add(t)
		if err := o.longest(ctx, &found); err != nil {
			return found, err
		}
	}
	lane, err := o.lane(ctx, "v1-bulk")
	if err != nil {
		return found, err
	}
	results, err := o.state(ctx, "RESULTS")
	if err != nil {
		return found, err
	}
	if lane.NumRedelivered > 0 || lane.Delivered.Consumer != results.LastSeq || results.Msgs != results.LastSeq {
		return found, fmt.Errorf("%d deliveries, %d of them again; %d results to %d chunks",
			lane.Delivered.Consumer, lane.NumRedelivered, results.LastSeq, results.Msgs)
	}
	return found, nil
}

// antipodesJob makes a job of two chunks, each of the antipodes so many times.
func (l *lab) antipodesJob(ctx context.Context, times int) (*job, error) {
	rings, err := os.ReadFile(ringsFile)
	if err != nil {
		return nil, err
	}
	pairs, err := os.ReadFile(antipodesFile)
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(pairs, []byte("\n")); n != antipodes*antipodeLines {
		return nil, fmt.Errorf("%s: %d lines", antipodesFile, n)
	}
	definition := bytes.Replace(rings, []byte("chunk: 256 "), fmt.Appendf(nil, "chunk: %d ", antipodes*times), 1)
	if bytes.Equal(definition, rings) {
		return nil, errors.New(ringsFile + ": its chunk is not as expected")
	}
	j := &job{file: l.path("slow.txt"), records: 2 * times * antipodes}
	j.args = []string{"--puzzle", l.path("slow.yaml"), "--output", "jsonl"}
	err = errors.Join(os.WriteFile(l.path("slow.yaml"), definition, 0o600), os.WriteFile(j.file, bytes.Repeat(pairs, 2*times), 0o600))
	if err != nil {
		return nil, err
	}
	return j, l.undisturbed(ctx, j)
}

// longest counts the chunks that took longer than the ack wait.
func (o *operator) longest(ctx context.Context, found *result) error {
	most := 0.0
	err := o.eachResult(ctx, func(m *jetstream.RawStreamMsg) error {
		seconds, err := strconv.ParseFloat(m.Header.Get("Seconds"), 64)
		most = max(most, seconds)
		if seconds > ackWait.Seconds() {
			found.often++
		}
		return err
	})
	found.note = fmt.Sprintf("the longest took %.1f s, the ack wait is %s", most, ackWait)
	return err
}

// eachResult reads all that RESULTS holds.
func (o *operator) eachResult(ctx context.Context, look func(*jetstream.RawStreamMsg) error) error {
	s, err := o.Stream(ctx, "RESULTS")
	if err != nil {
		return err
	}
	state := s.CachedInfo().State
	for seq := state.FirstSeq; seq <= state.LastSeq; seq++ {
		m, err := s.GetMsg(ctx, seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err == nil {
			err = look(m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stuckBudget is what a record may take, in the row of a stuck one.
const stuckBudget = 3 * time.Second

// stuck asks what no search answers in its time: it ends there, and all others are
// answered.
func stuck(ctx context.Context, l *lab) (found result, err error) {
	hard := question{
		id: "hard", puzzle: "sliding4x4",
		start: []uint8{0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1},
	}
	const moves = 80 // the most that any board of the 15-puzzle takes
	all := mix{seed: 6, chunks: 2, searches: 8, depth: 20}.questions()
	j, err := l.jobOf(ctx, l.path("job.jsonl"), all)
	if err != nil {
		return found, err
	}
	all[100] = hard
	j.args = []string{"--puzzle", "configs/puzzles/sliding4x4.yaml"}
	if err := write(j.file, all); err != nil {
		return found, err
	}
	s, err := l.nats(ctx)
	if err != nil {
		return found, err
	}
	if _, err := l.worker(ctx, s.url(), "ANTIPODE_TABLES_MEMORY=0"); err != nil {
		return found, err
	}
	p, err := l.submit(ctx, s.url(), j, "out", "ANTIPODE_BUDGET_TIME="+stuckBudget.String())
	if err != nil {
		return found, err
	}
	if err := ended(ctx, p, 1); err != nil {
		return found, err
	}
	bound := 0
	found.tally, found.often, err = l.expected(j, "out", func(a answer) bool {
		if a.ID != hard.id {
			return false
		}
		bound = a.Bound
		return a.Status == "exceeded" && 0 < bound && bound <= moves
	})
	found.note = fmt.Sprintf("at least %d moves are proven, %d are enough for any", bound, moves)
	return found, err
}
