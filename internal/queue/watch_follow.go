package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/job"
)

const (
	// readAgain is how long what was read is believed: entries that grew old leave the
	// bucket, and results RESULTS, without a word.
	readAgain = time.Hour
	// readPause is the least time between two readings that are due to what was missed.
	readPause = 10 * time.Second
)

// follow reads the owner's jobs, and follows what becomes of them, until ctx ends. It
// reads anew where the server was away, or what it follows is not what it was.
func (w *watching) follow(ctx context.Context) error {
	for ctx.Err() == nil {
		err := w.followOnce(ctx)
		if lasting(err) {
			return err
		}
		trouble := ""
		if err != nil {
			trouble = job.Printable(err.Error())
		}
		w.tell(ctx, func(k *watched) { k.trouble = trouble })
		pause(ctx, reconnectDelay(3))
	}
	return nil
}

// reading is one reading of the jobs, and what it is read from.
type reading struct {
	w       *watching
	ledger  *ledger // owned by whoever reads watching.news
	began   time.Time
	returns int64

	entries, cancels jetstream.KeyWatcher
	results          chan jetstream.Msg
	heard            time.Time                  // when the last of them came
	drained          func(context.Context) bool // whether nothing is left of them
	left             map[string]bool            // what there was of these three and is not read yet
}

// followOnce reads and follows until there is reason to read anew.
func (w *watching) followOnce(ctx context.Context) (err error) {
	r := &reading{
		w: w, ledger: newLedger(w.cfg.Owner), began: time.Now(), returns: w.q.returns.Load(),
		results: make(chan jetstream.Msg), heard: time.Now(), left: map[string]bool{"entries": true, "cancels": true, "results": true},
	}
	if !w.q.nc.IsConnected() {
		return nil // that is seen
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	kv, err := w.q.js.KeyValue(ctx, bucket) // which a watch does not create: it may not, and others do
	if err != nil {
		return fmt.Errorf("bucket %s: %w", bucket, err)
	}
	if r.entries, err = kv.Watch(ctx, jobKey(w.cfg.Owner, w.one())); err != nil {
		return fmt.Errorf("follow jobs: %w", err)
	}
	defer w.unwatch(r.entries)
	if r.cancels, err = kv.Watch(ctx, cancelKey(w.cfg.Owner, w.one())); err != nil {
		return fmt.Errorf("follow cancelled jobs: %w", err)
	}
	defer w.unwatch(r.cancels)
	stop, err := r.consume(ctx)
	if err != nil {
		return fmt.Errorf("follow results: %w", err)
	}
	defer stop()
	return r.loop(ctx)
}

// unwatch ends a watch. What it would still tell is taken from it, since it waits for that.
func (w *watching) unwatch(watch jetstream.KeyWatcher) {
	w.q.stops.Go(func() {
		watch.Stop()
		for {
			select {
			case _, ok := <-watch.Updates():
				if !ok {
					return
				}
			case <-w.q.closed:
				return
			}
		}
	})
}

// consume starts to read the headers of what RESULTS has and will have. Stop ends that.
func (r *reading) consume(ctx context.Context) (stop func(), err error) {
	stream, err := r.w.q.js.Stream(ctx, resultsStream)
	if err != nil {
		return nil, err
	}
	// As in run.consume, its name is as hard to guess as a job's.
	c, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		NamePrefix: job.NewID(), FilterSubjects: []string{resultsPrefix + r.w.cfg.Owner + "." + r.w.one() + ".*.1"}, HeadersOnly: true,
	})
	if err != nil {
		return nil, err
	}
	r.drained = func(ctx context.Context) bool {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		info, err := c.Info(ctx)
		return err == nil && info.NumPending == 0
	}
	consumer, err := c.Consume(func(m jetstream.Msg) {
		select {
		case r.results <- m:
		case <-ctx.Done():
		}
	}, jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) { r.w.q.log.Debug("results", "error", err) }))
	if err != nil {
		return nil, err
	}
	if info := c.CachedInfo(); info != nil && info.NumPending == 0 {
		r.read(ctx, "results")
	}
	return func() {
		r.w.q.stops.Go(func() { // as in run.stopConsuming
			consumer.Stop()
			<-consumer.Closed()
		})
	}, nil
}

func (r *reading) loop(ctx context.Context) error {
	tick := time.NewTicker(r.w.cfg.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.w.again:
			return nil
		case <-tick.C:
			if r.old(ctx) {
				return nil
			}
		case e, ok := <-r.entries.Updates():
			if !ok {
				return errors.New("follow jobs: the watch of the bucket ended")
			}
			r.entry(ctx, e)
		case e, ok := <-r.cancels.Updates():
			if !ok {
				return errors.New("follow cancelled jobs: the watch of the bucket ended")
			}
			r.cancel(ctx, e)
		case m := <-r.results:
			r.result(ctx, m)
		}
	}
}

// old tells whether it is time to read anew. It also sees where what was to be read is
// gone before it came.
func (r *reading) old(ctx context.Context) bool {
	if r.left["results"] && time.Since(r.heard) > surveyTime && r.drained(ctx) {
		r.read(ctx, "results")
	}
	missed := make(chan bool, 1)
	r.w.tell(ctx, func(*watched) { missed <- r.ledger.missed })
	age := time.Since(r.began)
	select {
	case m := <-missed:
		return m && age > readPause || age > readAgain || r.w.q.returns.Load() != r.returns
	case <-ctx.Done():
		return true
	}
}

// read notes that something is read as far as it went at the beginning. With the last
// of it, the reading takes the place of the one before.
func (r *reading) read(ctx context.Context, what string) {
	delete(r.left, what)
	if len(r.left) == 0 {
		r.w.tell(ctx, func(k *watched) {
			r.ledger.live = true
			k.jobs, k.trouble = r.ledger, ""
		})
	}
}

// entry takes a key of the bucket in; nil follows the last that there was.
func (r *reading) entry(ctx context.Context, e jetstream.KeyValueEntry) {
	if e == nil {
		r.read(ctx, "entries")
		return
	}
	id := e.Key()[strings.LastIndexByte(e.Key(), '.')+1:]
	if !job.IsToken(id) {
		return
	}
	var entry *Entry
	if e.Operation() == jetstream.KeyValuePut {
		var err error
		if entry, err = decodeEntry(id, e.Value()); err != nil {
			r.w.q.log.Debug("a job's entry is not shown", "error", err)
			return
		}
	}
	r.w.tell(ctx, func(*watched) {
		r.ledger.read[kvStream] = max(r.ledger.read[kvStream], e.Revision())
		r.ledger.enter(id, entry)
	})
}

func (r *reading) cancel(ctx context.Context, e jetstream.KeyValueEntry) {
	if e == nil {
		r.read(ctx, "cancels")
		return
	}
	id, cancelled := e.Key()[strings.LastIndexByte(e.Key(), '.')+1:], e.Operation() == jetstream.KeyValuePut
	if job.IsToken(id) {
		r.w.tell(ctx, func(*watched) { r.ledger.get(id).Cancelled = cancelled })
	}
}

func (r *reading) result(ctx context.Context, m jetstream.Msg) {
	r.heard = time.Now()
	meta, err := m.Metadata()
	if err != nil {
		return
	}
	if tokens := strings.Split(m.Subject(), "."); len(tokens) == 7 && job.IsToken(tokens[4]) {
		if part, err := decodePart(r.w.cfg.Owner, tokens[4], m); err == nil {
			r.w.tell(ctx, func(*watched) {
				r.ledger.read[resultsStream] = meta.Sequence.Stream
				r.ledger.count(tokens[4], part.chunk, part.result.Counts, meta.Timestamp)
			})
		}
	}
	if r.left["results"] && meta.NumPending == 0 {
		r.read(ctx, "results")
	}
}
