package queue

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/job"
)

// A slot takes chunk after chunk without a pause: none as long as it takes to
// miss heartbeats.
func TestSlotTakesChunkAfterChunk(t *testing.T) {
	s := startServer(t)
	q := connect(t, s.URL(), lenient())
	serve(t, connect(t, s.URL(), lenient()), 1, 0, echo)
	const chunks = 1000
	spec := newSpec()
	var w written
	var longest time.Duration
	last := time.Now()
	completes(t, running(t, q, Run{Spec: spec, Window: Window{4, 1 << 20}, Next: inTurn(numbered(spec, chunks)), Write: func(c *job.Chunk, r *job.Result) error {
		longest = max(longest, time.Since(last))
		last = time.Now()
		return w.write(c, r)
	}}))
	w.check(t, chunks)
	if longest > 2*heartbeat {
		t.Errorf("a pause of %s", longest)
	}
}

// scripted is an iterator that returns what a test says.
type scripted struct {
	jetstream.MessagesContext
	msgs []jetstream.Msg
	errs []error
}

func (s *scripted) Next(...jetstream.NextOpt) (jetstream.Msg, error) {
	msg, err := s.msgs[0], s.errs[0]
	s.msgs, s.errs = s.msgs[1:], s.errs[1:]
	return msg, err
}

type message struct{ jetstream.Msg }

// An iterator that has nothing is asked again, and that only once at short
// notice.
func TestNextAsksAgain(t *testing.T) {
	chunk, broken := &message{}, errors.New("broken")
	for _, c := range []struct {
		name string
		msgs []jetstream.Msg
		errs []error
		want jetstream.Msg
		err  error
	}{
		{"at once", []jetstream.Msg{chunk}, []error{nil}, chunk, nil},
		{"again", []jetstream.Msg{nil, chunk}, []error{context.DeadlineExceeded, nil}, chunk, nil},
		{"broken", []jetstream.Msg{nil}, []error{broken}, nil, broken},
		{"broken later", []jetstream.Msg{nil, nil}, []error{context.DeadlineExceeded, broken}, nil, broken},
	} {
		it := &scripted{msgs: c.msgs, errs: c.errs}
		if got, err := next(context.Background(), it); got != c.want || err != c.err || len(it.errs) != 0 {
			t.Errorf("%s: %v, %v; %d answers are left", c.name, got, err, len(it.errs))
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := next(ended, &scripted{}); !errors.Is(err, context.Canceled) { // without a request
		t.Errorf("after the end: %v", err)
	}
}

// A connection that is lost and comes back while a slot is busy leaves the slot with
// what it works on: another chunk in its hands would wait there for its turn.
func TestSlotHoldsOneChunkAfterReconnects(t *testing.T) {
	s := startServer(t)
	q, worker := connect(t, s.URL(), lenient()), connect(t, s.URL(), lenient())
	held, release := make(chan *job.Chunk), make(chan struct{})
	serve(t, worker, 1, 0, func(ctx context.Context, c *job.Chunk) (*job.Result, error) {
		held <- c
		select {
		case <-release:
			return echoed(c), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	})
	const chunks = 8
	spec := newSpec()
	var w written
	result := running(t, q, Run{Spec: spec, Window: Window{chunks, 1 << 20}, Next: inTurn(numbered(spec, chunks)), Write: w.write})
	for n := range chunks {
		await(t, held, "a chunk")
		eventually(t, fmt.Sprintf("chunk %d is the only one in the slot's hands", n), func() bool {
			lane, err := worker.consumer(t.Context(), Bulk)
			return err == nil && lane.CachedInfo().NumAckPending == 1
		})
		if n < 3 {
			if err := worker.nc.ForceReconnect(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the connection is back", func() bool { return int(worker.returns.Load()) == n+1 })
		}
		release <- struct{}{}
	}
	completes(t, result)
	w.check(t, chunks)
}
