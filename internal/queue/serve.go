package queue

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/job"
)

// ServeConfig says who answers chunks, and how many at a time.
type ServeConfig struct {
	// Answer answers a chunk; remember, if not nil, is called once the result is
	// stored, with hold as its context. With an error there is no result: ctx ended, or
	// the chunk cannot be answered now. Progress must count up while the work gets on.
	Answer func(ctx context.Context, c *job.Chunk, progress *atomic.Int64) (res *job.Result, remember func(context.Context), err error)
	// Fail makes the result of a chunk that is given up.
	Fail func(ctx context.Context, c *job.Chunk, reason string) *job.Result
	// Observe, if not nil, hears of every delivery when it is settled. Many slots call
	// it at once.
	Observe func(Outcome)

	Worker  string // a token, in dead letters
	Bulk    int    // slots
	Express int    // slots; as many again for single questions

	// Service, if not nil, makes the worker a NATS micro service: others see it,
	// and it answers single questions.
	Service *Service
}

// server is one Serve.
type server struct {
	*Queue
	cfg       ServeConfig
	cancelled cancellations
	doing     doing
	drain     sync.Once
	doubtful  atomic.Bool // it was said that the server does not answer as it must
}

// Serve takes chunks until take ends, and returns when every slot has settled
// what it held. When hold ends, what is held is given back. The error, if there is
// one, is a RefusedError: this user may not do what a worker has to.
func (q *Queue) Serve(take, hold context.Context, cfg ServeConfig) error {
	take, end := q.during(take, "$JS.API.CONSUMER.MSG.NEXT."+jobsStream+".*", "$JS.ACK."+jobsStream+".>", resultsPrefix+">", deadPrefix+">",
		"$JS.API.CONSUMER.CREATE."+kvStream+".>", bucketPrefix+"tries.>", "$JS.API.DIRECT.GET."+kvStream+".>")
	defer end()
	s := &server{Queue: q, cfg: cfg, cancelled: cancellations{
		jobs: map[string]struct{}{},
		held: map[string]map[*job.Chunk]context.CancelCauseFunc{},
	}}
	watching, stop := context.WithCancel(context.WithoutCancel(take)) // a job may be cancelled while its chunk is held
	var watcher, slots sync.WaitGroup
	watcher.Go(func() { s.watch(watching) })
	for lane, n := range map[Lane]int{Bulk: cfg.Bulk, Express: cfg.Express} {
		all, _ := q.counters.slots(lane)
		all.Add(int64(n))
		defer all.Add(int64(-n))
	}
	for range cfg.Bulk {
		slots.Go(func() { s.slot(take, hold, Bulk) })
	}
	for range cfg.Express {
		slots.Go(func() { s.slot(take, hold, Express) })
	}
	if cfg.Service != nil {
		slots.Go(func() { s.serveQuestions(take, hold) })
	}
	slots.Wait()
	stop()
	watcher.Wait()
	var refused *RefusedError
	if errors.As(context.Cause(take), &refused) {
		return refused
	}
	return nil
}

// slot takes and settles one chunk after another, of one lane, with one
// iterator: it holds only what it works on. It takes up the thread again after
// whatever ends the iterator.
func (s *server) slot(take, hold context.Context, lane Lane) {
	for take.Err() == nil {
		err := s.serveLane(take, hold, lane)
		if take.Err() != nil {
			return
		}
		if err == nil {
			continue
		}
		if s.nc.IsConnected() { // else that was said
			s.doubt("no chunks; trying again", "lane", lane, "error", err)
		}
		pause(take, maxReconnect)
		s.mend(take)
	}
}

// mend creates what a server that came back without its data lacks.
func (s *server) mend(ctx context.Context) {
	if !s.nc.IsConnected() {
		return
	}
	switch _, err := s.ensure(ctx); {
	case err == nil:
		if s.doubtful.Swap(false) {
			s.log.Info("the server's streams are as they must be")
		}
	case ctx.Err() != nil:
	case lasting(err):
		s.log.Warn("the server's streams are not as they must be", "error", err)
	default:
		s.doubt("the server does not say how its streams are; trying again", "error", err)
	}
}

// doubt says that the server does not do what it must: once until that is mended, since
// every slot finds out for itself, and again and again while servers of a cluster have
// no leader.
func (s *server) doubt(what string, args ...any) {
	level := slog.LevelWarn
	if s.doubtful.Swap(true) {
		level = slog.LevelDebug
	}
	s.log.Log(context.Background(), level, what, args...)
}

// heartbeat is how often the server says that there is nothing; after two that did
// not come it is looked whether the consumer is still there. The server of a cluster
// that had it may be gone, and the one that this program is connected to is not.
const heartbeat = 2 * time.Second

// serveLane takes chunks until take or the iterator ends; or, without an error, until
// the connection was lost and came back while the slot was busy. The iterator hears of
// that late, after it has asked for a chunk: it would ask for a second one, and have one
// more in hand than the slot works on, from then on.
func (s *server) serveLane(take, hold context.Context, lane Lane) error {
	returns := s.returns.Load()
	c, err := s.consumer(take, lane)
	if err != nil {
		return err
	}
	it, err := c.Messages(jetstream.PullMaxMessages(1), jetstream.PullHeartbeat(heartbeat))
	if err != nil {
		return err
	}
	_, bound := s.counters.slots(lane)
	bound.Add(1)
	defer bound.Add(-1)
	for {
		msg, err := next(take, it)
		if err != nil {
			s.giveBack(take, lane, it)
			return err
		}
		s.handle(hold, lane, msg)
		if s.returns.Load() != returns {
			s.giveBack(take, lane, it)
			return nil
		}
	}
}

// askAgain is much longer than a request takes to leave this process.
const askAgain = 100 * time.Millisecond

// next returns the next chunk. It asks twice: where an answer overtakes the
// iterator's own note that its request has left, which happens on a busy machine,
// the iterator makes no other request, and would wait until heartbeats are missed.
func next(take context.Context, it jetstream.MessagesContext) (jetstream.Msg, error) {
	if take.Err() != nil {
		return nil, take.Err() // without a request
	}
	soon, cancel := context.WithTimeout(take, askAgain)
	defer cancel()
	msg, err := it.Next(jetstream.NextContext(soon))
	if errors.Is(err, context.DeadlineExceeded) && take.Err() == nil {
		msg, err = it.Next(jetstream.NextContext(take))
	}
	return msg, err
}

// giveBack ends an iterator; a chunk that came meanwhile goes back at once.
func (s *server) giveBack(take context.Context, lane Lane, it jetstream.MessagesContext) {
	it.Drain()
	for {
		msg, err := it.Next(jetstream.NextMaxWait(time.Second))
		if err != nil {
			if !errors.Is(err, jetstream.ErrMsgIteratorClosed) {
				it.Stop()
			}
			return
		}
		s.handBack(msg)
		if take.Err() != nil {
			s.handedBack()
		}
		s.observe(&Outcome{Lane: lane, End: HandedBack})
	}
}

// handBack gives a chunk back that was never begun. Its next delivery is its second,
// and would be taken for a second try.
func (s *server) handBack(msg jetstream.Msg) {
	if meta, err := msg.Metadata(); err == nil && meta.NumDelivered == 1 {
		if chunk, err := decodeChunk(msg); !errors.Is(err, errNameless) {
			ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
			defer cancel()
			s.say(s.setTries(ctx, chunk, 0), "a chunk was not begun", "job", chunk.Job)
		}
	}
	s.say(msg.Nak(), "nak", "subject", msg.Subject())
}
