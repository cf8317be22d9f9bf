package queue

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// consume starts to follow the job's results from the first that RESULTS has.
func (x *run) consume(ctx context.Context) error {
	stream, err := x.js.Stream(ctx, resultsStream)
	if err != nil {
		return fmt.Errorf("stream %s: %w", resultsStream, err)
	}
	x.results = stream
	filter := resultsPrefix + x.Spec.Owner + "." + x.Spec.Job + ".>"
	c, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{FilterSubjects: []string{filter}})
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
	}, jetstream.PullMaxMessages(resultsAhead), jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
		x.q.log.Debug("results", "error", err)
	}))
	if err != nil {
		return fmt.Errorf("follow the results of job %s: %w", x.Spec.Job, err)
	}
	return nil
}

// stopConsuming ends consume and waits for it; what still comes is dropped.
func (x *run) stopConsuming() {
	if x.consumer == nil {
		return
	}
	x.consumer.Stop()
	closed := x.consumer.Closed()
	for {
		select {
		case <-x.parts:
		case <-closed:
			x.consumer = nil
			return
		}
	}
}

// audit compares the job with what the server has. A chunk that is neither
// queued nor answered was lost, and is published again. Where RESULTS holds an
// answer that did not come, or is not the stream it was, it is read again from
// its start. An answer that does not come then either (part of it is missing, or
// it is another chunk's) is as good as lost.
func (x *run) audit(ctx context.Context) error {
	if !x.q.nc.IsConnected() {
		return nil // what is sent now would only wait
	}
	if _, err := x.q.ensure(ctx); err != nil {
		return x.passing(ctx, err)
	}
	if err := x.define(ctx); err != nil { // the bucket may be another
		return x.passing(ctx, err)
	}
	queued, err := x.numbers(ctx, jobsStream, jobsPrefix+"*."+x.Spec.Owner+"."+x.Spec.Job+".*", 6)
	if err != nil {
		return x.passing(ctx, err)
	}
	answered, err := x.numbers(ctx, resultsStream, resultsPrefix+x.Spec.Owner+"."+x.Spec.Job+".>", 5)
	if err != nil {
		return x.passing(ctx, err)
	}
	stream, err := x.js.Stream(ctx, resultsStream)
	if err != nil {
		return x.passing(ctx, err)
	}
	readAgain := x.consumer == nil || !stream.CachedInfo().Created.Equal(x.results.CachedInfo().Created)
	lost := 0
	for n, f := range x.chunks {
		switch {
		case f.result != nil || queued[n] || !f.again.IsZero():
		case answered[n] && !f.reread:
			f.reread, readAgain = true, true
		default:
			lost++
			f.reread = false
			if err := x.publish(f); err != nil {
				return err
			}
		}
	}
	if lost > 0 {
		x.q.log.Warn("chunks were lost and are published again", "job", x.Spec.Job, "chunks", lost)
	}
	if readAgain {
		x.stopConsuming()
		if err := x.consume(ctx); err != nil {
			return x.passing(ctx, err)
		}
	}
	return nil
}

// passing makes an audit that could not be done one that is done later.
func (x *run) passing(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
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
