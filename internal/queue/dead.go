package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/job"
	"antipode/internal/limit"
)

// Letter is a dead letter: a chunk that was given up, or a message that was none. Its
// text is fit to be printed.
type Letter struct {
	Owner, Job string // tokens
	Chunk      string // its number, or a token where the message named no chunk
	Reason     string
	Puzzle     string
	File       string
	FirstLine  string
	Records    string
	Delivered  string // how often it came to a worker
	Worker     string // that gave it up
	Time       time.Time
	Lost       bool // its payload was left out: it cannot be published again

	seq uint64
}

// ID names a letter for people: JOB/CHUNK.
func (l *Letter) ID() string { return l.Job + "/" + l.Chunk }

// Dead reads the dead letters of an owner, or of all where owner is "", the oldest
// first.
func (q *Queue) Dead(ctx context.Context, owner string) (all []*Letter, err error) {
	if owner == "" {
		owner = "*"
	}
	err = q.ask(ctx, func(ctx context.Context) error {
		s, err := q.js.Stream(ctx, deadStream)
		if err != nil {
			return fmt.Errorf("stream %s: %w", deadStream, err)
		}
		return q.read(ctx, s, deadPrefix+owner+".>", true, func(m jetstream.Msg, meta *jetstream.MsgMetadata) {
			if l := readLetter(m); l != nil {
				l.seq = meta.Sequence.Stream
				all = append(all, l)
			}
		})
	}, "$JS.API.>")
	return all, err
}

// DeadLetters counts those of all owners.
func (q *Queue) DeadLetters(ctx context.Context) (n int, err error) {
	err = q.ask(ctx, func(ctx context.Context) error {
		s, err := q.js.Stream(ctx, deadStream)
		if err != nil {
			return fmt.Errorf("stream %s: %w", deadStream, err)
		}
		n = int(s.CachedInfo().State.Msgs)
		return nil
	}, "$JS.API.STREAM.INFO."+deadStream)
	return n, err
}

// readLetter reads the headers of a dead letter; nil where its subject is none.
func readLetter(m jetstream.Msg) *Letter {
	tokens := strings.Split(strings.TrimPrefix(m.Subject(), deadPrefix), ".")
	if len(tokens) != 3 {
		return nil
	}
	h := m.Headers()
	short := func(s string) string { return job.Printable(clip(s)) }
	reason := h.Get(hReason)
	l := &Letter{
		Owner: short(tokens[0]), Job: short(tokens[1]), Chunk: short(tokens[2]),
		Reason: job.Printable(reason[:min(len(reason), limit.Reason)]), Puzzle: short(h.Get(hPuzzle)), File: short(h.Get(hFile)), FirstLine: short(h.Get(hFirstLine)),
		Records: short(h.Get(hRecords)), Delivered: short(h.Get(hDelivered)), Worker: short(h.Get(hDeadBy)),
		Lost: h.Get(hDeadBytes) != "",
	}
	l.Time, _ = time.Parse(time.RFC3339, h.Get(hDeadTime))
	return l
}

// Retry publishes a dead letter's chunk again, as if it had never been begun, and
// removes the letter. Its answer takes the place of the failed one; whoever wants it
// resumes the job. The letter of a cancelled job stays, with ErrCancelled: workers would
// drop its chunk.
func (q *Queue) Retry(ctx context.Context, l *Letter) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	n, err := number(l.Chunk, 0, limit.Number)
	switch {
	case err != nil || !job.IsToken(l.Owner) || !job.IsToken(l.Job):
		err = errors.New("the message named no chunk")
	case l.Lost:
		err = errors.New("its payload did not fit into the letter; resume its job")
	default:
		err = q.ask(ctx, func(ctx context.Context) error { return q.retry(ctx, l, n) }, "$JS.API.>", "$KV.>", jobsPrefix+">")
	}
	if err != nil {
		return fmt.Errorf("retry %s: %w", l.ID(), err)
	}
	return nil
}

func (q *Queue) retry(ctx context.Context, l *Letter, chunk int) error {
	s, err := q.js.Stream(ctx, deadStream)
	if err != nil {
		return err
	}
	dead, err := s.GetMsg(ctx, l.seq)
	if err != nil {
		return err
	}
	cancelled, err := q.cancelledJob(ctx, l.Owner, l.Job)
	switch {
	case err != nil:
		return err
	case cancelled:
		return fmt.Errorf("%w; 'submit resume' takes that back", ErrCancelled)
	}
	if err := q.kv.Delete(ctx, triesKey(&job.Chunk{Spec: job.Spec{Job: l.Job}, Number: chunk})); err != nil {
		return err
	}
	m := nats.NewMsg(jobsPrefix + string(Bulk) + "." + l.Owner + "." + l.Job + "." + l.Chunk)
	m.Data = dead.Data
	for key, values := range dead.Header {
		if !strings.HasPrefix(key, "Dead-") && !strings.HasPrefix(key, "Nats-") {
			m.Header[key] = values
		}
	}
	if _, err := q.js.PublishMsg(ctx, m); err != nil {
		if queued, _, _ := refused(&job.Chunk{}, err); !queued {
			return err
		}
	}
	if err := s.DeleteMsg(ctx, l.seq); err != nil {
		// A chunk that was given up again meanwhile has taken the letter's place.
		if _, gone := s.GetMsg(ctx, l.seq); !errors.Is(gone, jetstream.ErrMsgNotFound) {
			return err
		}
	}
	return nil
}
