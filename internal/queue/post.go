package queue

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/job"
	"antipode/internal/limit"
)

// postAhead is how many chunks of a Post are on their way to JOBS at once.
const postAhead = 64

// Post publishes a job's chunks and waits for none of their answers: a Run that
// resumes the job takes them up. It uses of r what it needs for that, neither Window
// nor Write. It returns when JOBS has all of them, with the error of Next if it had
// one; or at once with ctx's.
func (q *Queue) Post(ctx context.Context, r Run) error {
	js, err := jetstream.New(q.nc,
		jetstream.WithDefaultTimeout(callTimeout),
		jetstream.WithPublishAsyncMaxPending(postAhead),
		jetstream.WithPublishAsyncTimeout(publishTime))
	if err != nil {
		return fmt.Errorf("use JetStream: %w", err)
	}
	defer js.CleanupPublisher()
	x := &run{Run: &r, q: q, js: js}
	if err := x.define(ctx); err != nil {
		return err
	}
	return q.ask(ctx, x.postAll, chunkSubjects(&r.Spec))
}

// postAll publishes what Next gives.
func (x *run) postAll(ctx context.Context) error {
	var way []posted
	for !x.ended {
		c, local, err := x.Next(ctx)
		switch {
		case err == io.EOF:
			x.ended = true
			continue
		case err != nil:
			x.failed, x.ended = err, true
			continue
		}
		if x.taken == 0 {
			x.lane = laneOf(c)
			x.begin(ctx, c)
		}
		x.count(cut{chunk: c, result: local})
		if local != nil {
			continue // whoever takes the answers up cuts it again
		}
		if len(way) == postAhead {
			if err := x.arrive(ctx, way[0]); err != nil {
				return err
			}
			way = way[1:]
		}
		way = append(way, x.post(c))
	}
	for _, p := range way {
		if err := x.arrive(ctx, p); err != nil {
			return err
		}
	}
	if x.failed == nil {
		x.total(ctx)
	}
	return x.failed
}

// posted is a chunk on its way to JOBS.
type posted struct {
	chunk  *job.Chunk
	future jetstream.PubAckFuture // nil where it did not leave, with err
	err    error
}

func (x *run) post(c *job.Chunk) posted {
	p := posted{chunk: c}
	p.future, p.err = x.js.PublishMsgAsync(encodeChunk(x.lane, c))
	return p
}

// arrive waits until JOBS has a chunk, and publishes it again where that failed.
func (x *run) arrive(ctx context.Context, p posted) error {
	for tries := 1; ; tries++ {
		err := p.err
		if err == nil {
			select {
			case <-p.future.Ok():
				x.told = false
				return nil
			case err = <-p.future.Err():
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		queued, full, lasts := refused(p.chunk, err)
		if queued || lasts != nil {
			return lasts
		}
		x.tell(cmp.Or(full, fmt.Sprintf("chunk %s did not arrive, and is published again: %v", p.chunk.Name(), err)))
		pause(ctx, backOff(tries))
		if full == "" && x.q.nc.IsConnected() { // JOBS may be gone
			if _, err := x.q.ensure(ctx); lasting(err) {
				return err
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p = x.post(p.chunk)
	}
}

// chunkRoom is what a chunk takes in JOBS besides its payload, in bytes: its subject
// and headers, and what the server adds.
const chunkRoom = 2 << 10

// Room checks that JOBS has room for a file of so many bytes. The error says what to
// do where it has not.
func (q *Queue) Room(ctx context.Context, size int64) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	s, err := q.js.Stream(ctx, jobsStream)
	if err != nil {
		return fmt.Errorf("stream %s: %w", jobsStream, err)
	}
	most := s.CachedInfo().Config.MaxBytes
	if most < 0 {
		return nil
	}
	need := size + (size/limit.Chunk+1)*chunkRoom
	if room := most - int64(s.CachedInfo().State.Bytes); need > room {
		return fmt.Errorf("%s has room for %d bytes and the job needs up to %d: wait until workers have taken more, raise the stream's max_bytes, or submit without --detach",
			jobsStream, max(room, 0), need)
	}
	return nil
}
