package queue

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"antipode/internal/job"
)

// Every delivery is observed once, as what settle's table calls it.
func TestOutcomes(t *testing.T) {
	tm := lenient()
	tm.again = time.Millisecond
	q := connect(t, startServer(t).URL(), tm)
	take, stopTaking := context.WithCancel(context.Background())
	hold, stopHolding := context.WithCancel(context.Background())
	outcomes, begun := make(chan Outcome, 100), make(chan string, 100)
	done := make(chan struct{})
	go func() {
		defer close(done)
		q.Serve(take, hold, ServeConfig{Fail: failAll, Worker: "test-worker", Bulk: 1, Express: 2, Observe: func(o Outcome) { outcomes <- o }, Answer: answerByName(begun)})
	}()
	t.Cleanup(func() {
		stopTaking()
		stopHolding()
		await(t, done, "the end of Serve")
	})
	send := func(lane Lane, name string) *job.Chunk {
		c := &job.Chunk{Spec: newSpec(), FirstLine: 1, FirstRecord: 1, Records: 2, Payload: []byte("1 2 3\n4 5 6\n")}
		c.Job = name
		m := encodeChunk(lane, c)
		switch name {
		case "nameless":
			m.Subject = jobsPrefix + "express.x"
		case "headers":
			m.Header.Set(hFirstLine, "-1")
		}
		if _, err := q.js.PublishMsg(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		return c
	}
	check := func(lane Lane, end End, delivered int, dead, stored bool) {
		t.Helper()
		o := await(t, outcomes, "an outcome")
		if o.Lane != lane || o.End != end || o.Delivered != delivered || o.Dead != dead || (o.Result != nil) != stored {
			t.Errorf("%+v; want lane %s, %s, delivered %d, dead %t, stored %t", o, lane, end, delivered, dead, stored)
		}
		if (o.Chunk == nil) != (end == Nameless) || (o.Storing > 0) != (end == Answered) || o.Waited > patience {
			t.Errorf("%+v", o)
		}
	}

	send(Bulk, "answered")
	check(Bulk, Answered, 1, false, true)
	send(Express, "passing")
	check(Express, PutOff, 1, false, false)
	check(Express, Answered, 2, false, true)
	send(Express, "nameless")
	check(Express, Nameless, 1, true, false)
	send(Express, "headers")
	check(Express, GivenUp, 1, true, true)
	for len(begun) > 0 {
		<-begun
	}
	cancelled := send(Express, "cancelled")
	await(t, begun, "the chunk to be cancelled")
	if err := q.Cancel(t.Context(), cancelled.Owner, cancelled.Job); err != nil {
		t.Fatal(err)
	}
	check(Express, Cancelled, 1, false, false)

	send(Bulk, "held")
	await(t, begun, "the chunk to be handed back")
	if s := q.Stats(); !s.Connected || s.Held != 1 || s.Drains != 0 || s.Reconnects != 0 || s.Lanes[Bulk] != (Slots{1, 1}) || s.Lanes[Express] != (Slots{2, 2}) {
		t.Errorf("%+v", s)
	}
	send(Bulk, "waits")
	for lane, want := range map[Lane]Depth{Bulk: {Pending: 1, Unacked: 1}, Express: {}} {
		eventually(t, "the depth of "+string(lane), func() bool { // acks are on their way
			d, err := q.Depth(t.Context(), lane)
			return err == nil && d == want
		})
	}
	stopTaking()
	stopHolding()
	check(Bulk, HandedBack, 1, false, false)
	await(t, done, "the end of Serve")
	if s := q.Stats(); s.Held != 0 || s.Drains != 1 || s.Lanes[Bulk] != (Slots{}) {
		t.Errorf("%+v", s)
	}
	if len(outcomes) > 0 {
		t.Errorf("one more: %+v", <-outcomes)
	}
}

// answerByName answers a chunk as its job is called.
func answerByName(begun chan<- string) func(context.Context, *job.Chunk, *atomic.Int64) (*job.Result, func(context.Context), error) {
	passing := true // one slot is at it at a time
	return func(ctx context.Context, c *job.Chunk, _ *atomic.Int64) (*job.Result, func(context.Context), error) {
		begun <- c.Job
		switch c.Job {
		case "passing":
			if passing {
				passing = false
				return nil, nil, errors.New("not just now")
			}
		case "cancelled", "held":
			<-ctx.Done()
			return nil, nil, context.Cause(ctx)
		}
		return echoed(c), nil, nil
	}
}

// A connection that went and came back is counted, and said while it is away.
func TestReconnectsAreCounted(t *testing.T) {
	s := startServer(t)
	q := connect(t, s.URL(), lenient())
	if err := q.nc.ForceReconnect(); err != nil && !errors.Is(err, nats.ErrConnectionReconnecting) {
		t.Fatal(err)
	}
	eventually(t, "NATS is back", func() bool { s := q.Stats(); return s.Connected && s.Reconnects == 1 })
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "NATS is away", func() bool { return !q.Stats().Connected })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if d, err := q.Depth(ctx, Bulk); err == nil || !strings.HasPrefix(err.Error(), "depth of lane bulk: ") {
		t.Errorf("depth %+v, %v", d, err)
	}
}
