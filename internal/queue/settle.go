package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
// It returns which of these it was, and notes in o what it came to.
func (s *server) settle(hold context.Context, msg jetstream.Msg, o *Outcome) End {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(hold), settleTime)
	defer cancel()
	delivered := o.Delivered
	chunk, err := decodeChunk(msg)
	if errors.Is(err, errNameless) {
		buried := s.bury(ctx, deadPrefix+"nameless.nameless."+job.NewID(), msg, delivered, err.Error())
		if buried != nil && delivered <= limit.Deliveries {
			s.log.Warn("message put off", "error", buried)
			return s.putOff(msg, delivered)
		}
		o.Dead = buried == nil
		s.say(msg.TermWithReason(err.Error()), "term", "subject", clip(msg.Subject()))
		return Nameless
	}
	o.Chunk = chunk
	log := s.log.With("job", chunk.Job, "chunk", chunk.Number)
	if err != nil {
		return s.giveUp(ctx, msg, o, err.Error())
	}
	begun := 0
	if delivered > 1 {
		if begun, err = s.begin(ctx, chunk); err != nil && delivered <= limit.Deliveries {
			log.Warn("chunk put off", "error", err)
			return s.putOff(msg, delivered)
		}
	}
	if begun >= limit.Tries || delivered > limit.Deliveries {
		reason := fmt.Sprintf("given up: begun %d times, delivered %d times, and never finished", begun, delivered)
		log.Error("chunk given up", "begun", begun, "delivered", delivered)
		return s.giveUp(ctx, msg, o, reason)
	}
	if delivered > 1 {
		log.Info("chunk redelivered", "delivered", delivered, "begun", begun+1)
	}

	work, release := s.cancelled.hold(hold, chunk)
	began := time.Now()
	res, remember, err := s.answer(work, msg, chunk)
	o.Answering = time.Since(began)
	cause := context.Cause(work)
	release()
	// The work may have taken longer than settling may, and nobody else shall have
	// the chunk meanwhile.
	s.say(msg.InProgress(), "progress", "job", chunk.Job)
	ctx, cancel = context.WithTimeout(context.WithoutCancel(hold), settleTime)
	defer cancel()
	switch {
	case err == nil:
		began := time.Now()
		if err := s.persist(hold, msg, chunk, res); err != nil {
			s.takeBack(hold, chunk, begun)
			return s.notStored(hold, msg, o, err)
		}
		o.Result, o.Storing = res, time.Since(began)
		s.finish(hold, msg, chunk, delivered)
		if remember != nil {
			remember(hold)
		}
		return Answered
	case errors.Is(cause, ErrCancelled):
		s.say(msg.Ack(), "ack", "job", chunk.Job)
		return Cancelled
	case hold.Err() != nil:
		s.takeBack(hold, chunk, begun)
		s.say(msg.Nak(), "nak", "job", chunk.Job)
		s.handedBack()
		return HandedBack
	case delivered >= limit.Tries && errors.Is(err, ErrNoDefinition):
		log.Error("chunk given up", "error", err)
		return s.giveUp(ctx, msg, o, err.Error())
	}
	log.Warn("chunk put off", "error", err)
	s.takeBack(hold, chunk, begun)
	return s.putOff(msg, delivered)
}

const (
	// settleTime bounds the calls that settle one chunk. It is below the ack wait.
	settleTime = 9 * time.Second
	// storeTime is how long an ack of a result may take, and a call besides.
	storeTime = 3 * time.Second
	// mendTime is how long it may take to create a stream that is gone, before it is
	// tried again to store something in it: servers without a leader say nothing.
	mendTime = time.Second
	// persistTime is for how long it is tried to store a result that is not heard of.
	// Servers of a cluster need up to ten seconds to agree on a leader when one is lost.
	persistTime = 24 * time.Second
)

// persist stores an answer, for longer than a chunk may be silent: an answer may have
// taken long, too. When hold ends it is not begun anew.
func (s *server) persist(hold context.Context, msg jetstream.Msg, c *job.Chunk, res *job.Result) error {
	for began := time.Now(); ; {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(hold), settleTime-storeTime)
		err := s.publish(ctx, c, res, false)
		cancel()
		unheard := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, jetstream.ErrNoStreamResponse)
		if !unheard || hold.Err() != nil || time.Since(began) > persistTime {
			return err
		}
		s.say(msg.InProgress(), "progress", "job", c.Job)
	}
}

// finish acks a chunk whose result is stored.
func (s *server) finish(ctx context.Context, msg jetstream.Msg, c *job.Chunk, delivered int) {
	s.say(msg.Ack(), "ack", "job", c.Job)
	if delivered > 1 {
		s.forget(ctx, c)
	}
}

// notStored puts a chunk off whose result could not be stored.
func (s *server) notStored(ctx context.Context, msg jetstream.Msg, o *Outcome, err error) End {
	s.log.Warn("result not stored", "job", o.Chunk.Job, "chunk", o.Chunk.Number, "error", err)
	if errors.Is(err, jetstream.ErrNoStreamResponse) { // the stream is gone
		ctx, cancel := afterwards(ctx)
		defer cancel()
		s.mend(ctx)
	}
	return s.putOff(msg, o.Delivered)
}

// afterwards gives a call its own time: what used up that for settling, or ended hold,
// is no fault of the chunk's.
func afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), storeTime)
}

// takeBack uncounts a try that did not end by the chunk's fault.
func (s *server) takeBack(ctx context.Context, c *job.Chunk, begun int) {
	ctx, cancel := afterwards(ctx)
	defer cancel()
	s.say(s.setTries(ctx, c, begun), "a try is taken back", "job", c.Job)
}

// forget removes the count of a chunk's tries: it would count against one that is
// published again.
func (s *server) forget(ctx context.Context, c *job.Chunk) {
	ctx, cancel := afterwards(ctx)
	defer cancel()
	if err := s.kv.Delete(ctx, triesKey(c)); err != nil {
		s.log.Debug("tries not removed", "job", c.Job, "chunk", c.Number, "error", err)
	}
}

// putOff gives a chunk back for later: the longer, the more often it came.
func (s *server) putOff(msg jetstream.Msg, delivered int) End {
	s.say(msg.NakWithDelay(min(s.times.again<<min(delivered, 6), time.Minute)), "nak", "subject", msg.Subject())
	return PutOff
}

// say logs what NATS could not be told; the ack wait mends it.
func (s *server) say(err error, what string, args ...any) {
	if err != nil {
		s.log.Warn("NATS was not told: "+what, append(args, "error", err)...)
	}
}

// answer works on a chunk, and tells the server so while the work gets on.
func (s *server) answer(ctx context.Context, msg jetstream.Msg, c *job.Chunk) (*job.Result, func(context.Context), error) {
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
func (s *server) giveUp(ctx context.Context, msg jetstream.Msg, o *Outcome, reason string) End {
	reason = strings.ToValidUTF8(reason[:min(len(reason), limit.Reason)], "?")
	if err := s.bury(ctx, deadSubject(o.Chunk), msg, o.Delivered, reason); err != nil {
		return s.notStored(ctx, msg, o, err)
	}
	o.Dead = true
	res := s.cfg.Fail(ctx, o.Chunk, reason)
	switch err := s.publish(ctx, o.Chunk, res, true); {
	case err == nil:
		o.Result = res
	case !isAnswered(err):
		return s.notStored(ctx, msg, o, err)
	}
	s.finish(ctx, msg, o.Chunk, o.Delivered)
	return GivenUp
}

// isAnswered tells whether a failed result was refused since there is a result.
func isAnswered(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence
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
	if isHeadersTooLong(err) { // the headers of its death came on top
		maps.DeleteFunc(m.Header, func(key string, _ []string) bool { return !strings.HasPrefix(key, "Dead-") })
		_, err = s.js.PublishMsg(ctx, m)
	}
	if errors.Is(err, nats.ErrMaxPayload) { // so they did
		m.Header.Set(hDeadBytes, strconv.Itoa(len(m.Data)))
		m.Data = nil
		_, err = s.js.PublishMsg(ctx, m)
	}
	if err != nil {
		return fmt.Errorf("dead letter %s: %w", subject, err)
	}
	return nil
}

// isHeadersTooLong tells whether JetStream refused a message for its headers, of
// which it takes 64 KiB.
func isHeadersTooLong(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == 10097
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
// what was on its way when the server went is lost, and the work is not. Nor is it
// where nobody has the stream: it is gone, or servers of a cluster are about to agree on
// who leads it.
func (s *server) store(ctx context.Context, m *nats.Msg, opts ...jetstream.PublishOpt) error {
	for {
		for !s.nc.IsConnected() && ctx.Err() == nil { // what is sent now would wait beside what was sent before
			pause(ctx, askAgain)
		}
		attempt, cancel := context.WithTimeout(ctx, storeTime)
		err := s.ask(attempt, func(ctx context.Context) error {
			_, err := s.js.PublishMsg(ctx, m, opts...)
			return err
		}, m.Subject)
		cancel()
		switch {
		case ctx.Err() != nil:
			return err
		case errors.Is(err, jetstream.ErrNoStreamResponse):
			soon, cancel := context.WithTimeout(ctx, mendTime)
			s.mend(soon)
			cancel()
		case !errors.Is(err, context.DeadlineExceeded):
			return err
		}
	}
}
