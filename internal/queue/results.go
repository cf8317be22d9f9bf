package queue

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/job"
)

// consume starts to follow what RESULTS will have of the job. What it has by then is
// for survey to find.
func (x *run) consume(ctx context.Context) error {
	stream, err := x.js.Stream(ctx, resultsStream)
	if err != nil {
		return fmt.Errorf("stream %s: %w", resultsStream, err)
	}
	x.results = stream
	filter := resultsPrefix + x.Spec.Owner + "." + x.Spec.Job + ".>"
	// Who knows a consumer's name can pull from it, and permissions cannot tell one
	// owner's consumers from another's. So the name is as hard to guess as a job's;
	// the client's own would count up from one that is not.
	c, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		NamePrefix:     job.NewID(),
		FilterSubjects: []string{filter},
		DeliverPolicy:  jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:    stream.CachedInfo().State.LastSeq + 1,
	})
	if err != nil {
		return fmt.Errorf("follow the results of job %s: %w", x.Spec.Job, err)
	}
	x.consumer, err = c.Consume(func(m jetstream.Msg) {
		p, err := decodePart(x.Spec.Owner, x.Spec.Job, m)
		if err != nil {
			x.q.log.Warn("a result cannot be read", "error", err)
			return
		}
		select {
		case x.parts <- p:
		case <-ctx.Done():
		}
	}, jetstream.PullMaxMessages(resultsAhead), jetstream.PullHeartbeat(heartbeat), jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
		x.q.log.Debug("results", "error", err)
		x.doubted.Store(true)
	}))
	if err != nil {
		return fmt.Errorf("follow the results of job %s: %w", x.Spec.Job, err)
	}
	return nil
}

// fetch takes a result that RESULTS holds, and tells whether there is nothing left to
// do for its chunk now: it is complete, or the server did not say and the audit will ask.
func (x *run) fetch(ctx context.Context, f *flying) (settled bool) {
	f.parts = nil
	for n := 1; ; n++ {
		m, err := x.results.GetLastMsgForSubject(ctx, resultSubject(f.chunk, n))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return false
		}
		if err != nil {
			x.q.log.Debug("result not fetched", "chunk", f.chunk.Name(), "error", err)
			return true
		}
		p, err := decodePart(x.Spec.Owner, x.Spec.Job, stored{m})
		if err != nil || p.chunk != f.chunk.Number || n > p.parts {
			return false
		}
		if whole, ok := f.parts.add(p); ok {
			x.heard, x.told = time.Now(), false
			return x.complete(f, p.of, whole)
		}
		if n == p.parts {
			return false // of several answers, none of them whole
		}
	}
}

// stored is a message read from its stream.
type stored struct{ *jetstream.RawStreamMsg }

func (s stored) Subject() string      { return s.RawStreamMsg.Subject }
func (s stored) Headers() nats.Header { return s.Header }
func (s stored) Data() []byte         { return s.RawStreamMsg.Data }

// stopConsuming ends consume, and does not wait for it: the client may be about to create
// the consumer again, on a server that does not answer, for ten seconds and more. What
// still comes meanwhile is as good as any other.
func (x *run) stopConsuming() {
	if x.consumer == nil {
		return
	}
	c := x.consumer
	x.consumer = nil
	x.q.stops.Go(func() {
		c.Stop()
		<-c.Closed()
	})
}

// audit compares the job with what the server has. A chunk that is neither queued nor
// answered was lost, and is published again. An answer that did not come is fetched;
// where it is not whole, or another chunk's, it is as good as lost. Where RESULTS is not
// the stream it was, the new one is followed.
func (x *run) audit(ctx context.Context) error {
	if !x.q.nc.IsConnected() {
		return nil // what is sent now would only wait
	}
	if _, err := x.q.ensure(ctx); err != nil {
		return x.passing(ctx, err)
	}
	if err := x.renew(ctx); err != nil { // the bucket may be another
		return x.passing(ctx, err)
	}
	stream, err := x.js.Stream(ctx, resultsStream)
	if err != nil {
		return x.passing(ctx, err)
	}
	if x.consumer == nil || !stream.CachedInfo().Created.Equal(x.results.CachedInfo().Created) {
		x.stopConsuming()
		if err := x.consume(ctx); err != nil {
			return x.passing(ctx, err)
		}
	}
	queued, answered, err := x.survey(ctx)
	if err != nil {
		return x.passing(ctx, err)
	}
	lost := 0
	for n, f := range x.chunks {
		switch {
		case f.result != nil || queued[n] || !f.again.IsZero():
		case answered[n] && x.fetch(ctx, f):
		default:
			lost++
			if err := x.publish(f); err != nil {
				return err
			}
		}
	}
	if lost > 0 {
		x.q.log.Warn("chunks were lost and are published again", "job", x.Spec.Job, "chunks", lost)
	}
	return nil
}

// survey finds out which of the job's chunks are queued, and which are answered. What
// is answered after it began comes by consume, so that nothing falls between.
func (x *run) survey(ctx context.Context) (queued, answered map[int]bool, err error) {
	queued, err = x.numbers(ctx, jobsStream, chunkSubjects(&x.Spec), 6)
	if err == nil {
		answered, err = x.numbers(ctx, resultsStream, resultsPrefix+x.Spec.Owner+"."+x.Spec.Job+".>", 5)
	}
	return queued, answered, err
}

// passing makes an audit that could not be done one that is done soon: servers of a
// cluster need some seconds to agree on a leader.
func (x *run) passing(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	x.doubted.Store(true)
	x.q.log.Warn("the job could not be audited; trying again", "job", x.Spec.Job, "error", err)
	return nil
}

// numbers returns the chunks' numbers, which are the token at a place of the
// subjects of a stream's messages.
func (x *run) numbers(ctx context.Context, stream, filter string, place int) (map[int]bool, error) {
	s, err := x.js.Stream(ctx, stream)
	if err != nil {
		return nil, err
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(filter))
	if err != nil {
		return nil, err
	}
	found := make(map[int]bool, len(info.State.Subjects))
	for subject := range info.State.Subjects {
		if tokens := strings.Split(subject, "."); len(tokens) > place {
			if n, err := strconv.Atoi(tokens[place]); err == nil {
				found[n] = true
			}
		}
	}
	return found, nil
}
