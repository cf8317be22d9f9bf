package queue

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/job"
	"antipode/internal/limit"
)

// settle answers one delivered chunk and says so. Every chunk that can be named
// gets exactly one result, then an ack:
//
//	what happened                            result              NATS
//	answered                                 yes                 result acked by the server → ack → remember
//	given up: begun 4 times, as counted in   failed, for each    ack
//	  the bucket from the second delivery    record; a copy to
//	  on, or delivered over 50 times         DEAD
//	its headers cannot be read               the same            ack
//	the job is cancelled                     no                  ack
//	its subject names no chunk               copy to DEAD        term
//	passing fault: the result or the tries   no                  nak, with a delay; the try is
//	  could not be stored, or the puzzle's                       taken back
//	  definition not be read
//	a definition that is still not there     failed, a copy      ack
//	  when it is delivered the 4th time        to DEAD
//	stopping before it was answered          no                  nak at once; the try is taken back
//
// A failed result is stored only where there is none, so that it never replaces
// an answer. Calls that settle go on after hold ends, for a bounded time.
func (s *server) settle(hold context.Context, msg jetstream.Msg) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(hold), settleTime)
	defer cancel()
	delivered := 1
	if meta, err := msg.Metadata(); err == nil {
		delivered = int(meta.NumDelivered)
	}
	chunk, err := decodeChunk(msg)
	if errors.Is(err, errNameless) {
		buried := s.bury(ctx, deadPrefix+"nameless.nameless."+job.NewID(), msg, delivered, err.Error())
		if buried != nil && delivered <= limit.Deliveries {
			s.log.Warn("message put off", "error", buried)
			s.putOff(msg, delivered)
			return
		}
		s.say(msg.TermWithReason(err.Error()), "term", "subject", clip(msg.Subject()))
		return
	}
	log := s.log.With("job", chunk.Job, "chunk", chunk.Number)
	if err != nil {
		s.finish(ctx, msg, chunk, delivered, s.giveUp(ctx, msg, chunk, delivered, err.Error()))
		return
	}
	begun := 0
	if delivered > 1 {
		if begun, err = s.tries(ctx, chunk); err != nil && delivered <= limit.Deliveries {
			log.Warn("chunk put off", "error", err)
			s.putOff(msg, delivered)
			return
		}
	}
	if begun >= limit.Tries || delivered > limit.Deliveries {
		reason := fmt.Sprintf("given up: begun %d times, delivered %d times, and never finished", begun, delivered)
		log.Error("chunk given up", "begun", begun, "delivered", delivered)
		s.finish(ctx, msg, chunk, delivered, s.giveUp(ctx, msg, chunk, delivered, reason))
		return
	}
	if delivered > 1 {
		if err := s.setTries(ctx, chunk, begun+1); err != nil {
			log.Warn("chunk put off", "error", err)
			s.putOff(msg, delivered)
			return
		}
		log.Info("chunk redelivered", "delivered", delivered, "begun", begun+1)
	}

	work, release := s.cancelled.hold(hold, chunk)
	res, remember, err := s.answer(work, msg, chunk)
	cause := context.Cause(work)
	release()
	// The work may have taken longer than settling may, and nobody else shall have
	// the chunk meanwhile.
	s.say(msg.InProgress(), "progress", "job", chunk.Job)
	ctx, cancel = context.WithTimeout(context.WithoutCancel(hold), settleTime)
	defer cancel()
	switch {
	case err == nil:
		stored := s.publish(ctx, chunk, res, false)
		if stored != nil {
			s.takeBack(ctx, chunk, begun)
		}
		if s.finish(ctx, msg, chunk, delivered, stored) && remember != nil {
			remember()
		}
	case errors.Is(cause, errCancelled):
		s.say(msg.Ack(), "ack", "job", chunk.Job)
	case hold.Err() != nil:
		s.takeBack(ctx, chunk, begun)
		s.say(msg.Nak(), "nak", "job", chunk.Job)
	case delivered >= limit.Tries && errors.Is(err, ErrNoDefinition):
		log.Error("chunk given up", "error", err)
		s.finish(ctx, msg, chunk, delivered, s.giveUp(ctx, msg, chunk, delivered, err.Error()))
	default:
		log.Warn("chunk put off", "error", err)
		s.takeBack(ctx, chunk, begun)
		s.putOff(msg, delivered)
	}
}

const (
	// settleTime bounds the calls that settle one chunk. It is below the ack wait.
	settleTime = 9 * time.Second
	// storeTime is how long an ack of a result may take.
	storeTime = 3 * time.Second
)

// finish acks a chunk whose result is stored, or puts it off where that failed.
func (s *server) finish(ctx context.Context, msg jetstream.Msg, c *job.Chunk, delivered int, err error) bool {
	if err != nil {
		s.log.Warn("result not stored", "job", c.Job, "chunk", c.Number, "error", err)
		s.putOff(msg, delivered)
		return false
	}
	s.say(msg.Ack(), "ack", "job", c.Job)
	if delivered > 1 {
		if err := s.kv.Delete(ctx, triesKey(c)); err != nil {
			s.log.Debug("tries not removed", "job", c.Job, "chunk", c.Number, "error", err)
		}
	}
	return true
}

// takeBack uncounts a try that did not end by the chunk's fault.
func (s *server) takeBack(ctx context.Context, c *job.Chunk, begun int) {
	s.say(s.setTries(ctx, c, begun), "a try is taken back", "job", c.Job)
}

// putOff gives a chunk back for later: the longer, the more often it came.
func (s *server) putOff(msg jetstream.Msg, delivered int) {
	s.say(msg.NakWithDelay(min(s.times.again<<min(delivered, 6), time.Minute)), "nak", "subject", msg.Subject())
}

// say logs what NATS could not be told; the ack wait mends it.
func (s *server) say(err error, what string, args ...any) {
	if err != nil {
		s.log.Warn("NATS was not told: "+what, append(args, "error", err)...)
	}
}

// answer works on a chunk, and tells the server so while the work gets on.
func (s *server) answer(ctx context.Context, msg jetstream.Msg, c *job.Chunk) (*job.Result, func(), error) {
	var progress atomic.Int64
	done, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		tick := time.NewTicker(s.times.progress)
		defer tick.Stop()
		for seen := int64(0); ; {
			select {
			case <-done:
				return
			case <-tick.C:
				if now := progress.Load(); now != seen {
					seen = now
					s.say(msg.InProgress(), "progress", "job", c.Job)
				}
			}
		}
	}()
	res, remember, err := s.cfg.Answer(ctx, c, &progress)
	close(done)
	<-told
	return res, remember, err
}

// giveUp stores a failed result for each record of a chunk, unless there is a
// result, and a copy of the chunk in DEAD.
func (s *server) giveUp(ctx context.Context, msg jetstream.Msg, c *job.Chunk, delivered int, reason string) error {
	reason = strings.ToValidUTF8(reason[:min(len(reason), limit.Reason)], "?")
	if err := s.bury(ctx, deadSubject(c), msg, delivered, reason); err != nil {
		return err
	}
	err := s.publish(ctx, c, s.cfg.Fail(ctx, c, reason), true)
	var api *jetstream.APIError
	if errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return nil // it was answered
	}
	return err
}

// bury copies a message to the dead letters.
func (s *server) bury(ctx context.Context, subject string, msg jetstream.Msg, delivered int, reason string) error {
	m := nats.NewMsg(subject)
	for key, values := range msg.Headers() {
		if !strings.HasPrefix(key, "Nats-") { // those asked the server something about JOBS
			m.Header[key] = values
		}
	}
	m.Header.Set(hReason, reason)
	m.Header.Set(hDelivered, fmt.Sprint(delivered))
	m.Header.Set(hDeadTime, time.Now().UTC().Format(time.RFC3339))
	m.Header.Set(hDeadBy, s.cfg.Worker)
	m.Data = msg.Data()
	_, err := s.js.PublishMsg(ctx, m)
	if errors.Is(err, nats.ErrMaxPayload) { // the headers of its death came on top
		m.Header.Set(hDeadBytes, strconv.Itoa(len(m.Data)))
		m.Data = nil
		_, err = s.js.PublishMsg(ctx, m)
	}
	if err != nil {
		return fmt.Errorf("dead letter %s: %w", subject, err)
	}
	return nil
}

// publish stores a chunk's result, and waits until the server has it.
func (s *server) publish(ctx context.Context, c *job.Chunk, res *job.Result, onlyFirst bool) error {
	var opts []jetstream.PublishOpt
	if onlyFirst {
		opts = append(opts, jetstream.WithExpectLastSequencePerSubject(0))
	}
	for _, m := range encodeResult(c, res, s.nc.MaxPayload()) {
		if err := s.store(ctx, m, opts...); err != nil {
			return fmt.Errorf("publish a result: %w", err)
		}
		opts = nil // the first part decides
	}
	return nil
}

// store publishes a message, again and again while ctx lasts where no ack comes:
// what was on its way when the server went is lost, and the work is not.
func (s *server) store(ctx context.Context, m *nats.Msg, opts ...jetstream.PublishOpt) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, storeTime)
		_, err := s.js.PublishMsg(attempt, m, opts...)
		cancel()
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
}
