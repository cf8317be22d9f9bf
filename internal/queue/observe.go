package queue

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/job"
)

// End says what became of a delivery, as in settle's table.
type End string

const (
	Answered   End = "answered"
	GivenUp    End = "given-up"    // or answered by another meanwhile
	Cancelled  End = "cancelled"   // its job was
	Nameless   End = "nameless"    // its subject names no chunk
	PutOff     End = "put-off"     // for later, since something failed that may pass
	HandedBack End = "handed-back" // at once, since the worker stops
)

// Ends lists them all.
var Ends = [...]End{Answered, GivenUp, Cancelled, Nameless, PutOff, HandedBack}

// Outcome is what became of one delivery, and how long it took.
type Outcome struct {
	Lane      Lane
	End       End
	Chunk     *job.Chunk  // nil where it was not read; as far as its headers could be
	Result    *job.Result // that was stored; nil where none was
	Delivered int         // times, from 1; 0: not known
	Dead      bool        // a copy went to DEAD

	// Waited is from the server's receipt of a chunk to this delivery, by two clocks;
	// Answering is the work, Storing the result's way to the server. 0: not come to.
	Waited, Answering, Storing time.Duration
}

// Stats is what a Queue does now, and has done since Open.
type Stats struct {
	Connected  bool  // to a server
	Reconnects int64 // times that a server came back
	Drains     int64 // stops that handed chunks back
	Held       int64 // chunks that are being settled
	// Lanes has for each lane its slots while Serve runs, and how many of them have
	// an iterator of the lane's consumer.
	Lanes map[Lane]Slots
}

// Slots counts those of a lane.
type Slots struct{ All, Bound int64 }

// counters is Stats while it is being counted.
type counters struct {
	drains, held  atomic.Int64
	bulk, express struct{ all, bound atomic.Int64 }
}

// slots returns the counters of a lane.
func (c *counters) slots(lane Lane) (all, bound *atomic.Int64) {
	if lane == Express {
		return &c.express.all, &c.express.bound
	}
	return &c.bulk.all, &c.bulk.bound
}

// Stats returns the counts so far. It asks no server.
func (q *Queue) Stats() Stats {
	s := Stats{
		Connected: q.nc.IsConnected(), Reconnects: q.returns.Load(),
		Drains: q.counters.drains.Load(), Held: q.counters.held.Load(), Lanes: map[Lane]Slots{},
	}
	for _, lane := range []Lane{Bulk, Express} {
		all, bound := q.counters.slots(lane)
		s.Lanes[lane] = Slots{all.Load(), bound.Load()}
	}
	return s
}

// Depth is what a lane's consumer has to do, in chunks.
type Depth struct {
	Pending uint64 // never delivered
	Unacked int    // delivered, and not settled or to be delivered again
}

// Depth asks the server for the depth of a lane.
func (q *Queue) Depth(ctx context.Context, lane Lane) (Depth, error) {
	c, err := q.js.Consumer(ctx, jobsStream, lane.consumer())
	if err != nil {
		return Depth{}, fmt.Errorf("depth of lane %s: %w", lane, err)
	}
	info := c.CachedInfo()
	return Depth{info.NumPending, info.NumAckPending}, nil
}

// handle settles one delivery, and lets the observer know.
func (s *server) handle(hold context.Context, lane Lane, msg jetstream.Msg) {
	o := Outcome{Lane: lane, Delivered: 1}
	if meta, err := msg.Metadata(); err == nil {
		o.Delivered, o.Waited = int(meta.NumDelivered), max(0, time.Since(meta.Timestamp))
	}
	s.counters.held.Add(1)
	done := s.doing.begin(lane, msg.Headers().Get(hPuzzle))
	o.End = s.settle(hold, msg, &o)
	done(o.Result)
	s.counters.held.Add(-1)
	s.observe(&o)
}

func (s *server) observe(o *Outcome) {
	if s.cfg.Observe != nil {
		s.cfg.Observe(*o)
	}
}

// handedBack counts a stop that hands chunks back, once.
func (s *server) handedBack() { s.drain.Do(func() { s.counters.drains.Add(1) }) }
