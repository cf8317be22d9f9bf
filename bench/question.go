package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// questions is single questions, one after another, to a worker that has a table
// for them, with a nats-server between.
func questions(ctx context.Context, l *lab) (baseline, ours *side, err error) {
	boards, err := l.boards(2000)
	if err != nil {
		return nil, nil, err
	}
	c, err := l.cluster(ctx, 1)
	if err != nil {
		return nil, nil, err
	}
	return nil, &side{name: "one worker", close: c.stop, once: func(ctx context.Context) (trial, error) {
		nc, err := nats.Connect(c.url)
		if err != nil {
			return trial{}, err
		}
		defer nc.Close()
		for err = nats.ErrNoResponders; errors.Is(err, nats.ErrNoResponders) && ctx.Err() == nil; { // until it is there
			err = askOne(ctx, nc, boards[0])
		}
		if err != nil {
			return trial{}, err
		}
		times := make([]float64, len(boards))
		for i, board := range boards {
			began := time.Now()
			if err := askOne(ctx, nc, board); err != nil {
				return trial{}, err
			}
			times[i] = time.Since(began).Seconds() * 1e3
		}
		return trial{values: map[string]float64{medianMilli: median(times), lateMilli: slices.Sorted(slices.Values(times))[len(times)*99/100]}}, nil
	}}, nil
}

// boards returns boards of eight, one a question.
func (l *lab) boards(n int) (boards []string, err error) {
	in, err := l.input("eight", n)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(in.path)
	if err != nil {
		return nil, err
	}
	values := strings.Fields(string(text))[1:] // without the number of boards
	for board := range slices.Chunk(values, 9) {
		boards = append(boards, strings.Join(board, " "))
	}
	return boards, nil
}

// askTime is how long one question may take.
const askTime = 5 * time.Second

func askOne(ctx context.Context, nc *nats.Conn, board string) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	m, err := nc.RequestWithContext(ctx, "antipode.v1.solve.eight", []byte(board))
	if err != nil {
		return fmt.Errorf("ask %s: %w", board, err)
	}
	if answer := string(m.Data); !strings.HasPrefix(answer, `{"line":1,"status":"solved"`) && !strings.HasPrefix(answer, `{"line":1,"status":"unreachable"`) {
		return fmt.Errorf("ask %s: %q, %v", board, answer, m.Header)
	}
	return nil
}
