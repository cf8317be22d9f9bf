package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/job"
)

// Progress is a job as the server knows it.
type Progress struct {
	Owner, Job string
	Entry      *Entry // nil where the bucket has forgotten it, and has answers still
	Cancelled  bool
	Queued     int        // chunks in JOBS, those with workers among them
	Answered   int        // chunks that RESULTS has
	Counts     job.Counts // of these
	Last       time.Time  // when the last of them came
}

// Jobs looks at the jobs of an owner, or at one of them where id is not "". The oldest
// comes first. The error is ErrNoJob where that one is not known.
func (q *Queue) Jobs(ctx context.Context, owner, id string) ([]*Progress, error) {
	all := map[string]*Progress{}
	get := func(id string) *Progress {
		if all[id] == nil {
			all[id] = &Progress{Owner: owner, Job: id}
		}
		return all[id]
	}
	err := q.ask(ctx, func(ctx context.Context) (err error) {
		for _, look := range []func(context.Context, string, string, func(string) *Progress) error{q.entries, q.cancelMarks, q.queued, q.results} {
			if err == nil {
				err = look(ctx, owner, cmp.Or(id, "*"), get)
			}
		}
		return err
	}, "$JS.API.>")
	if err != nil {
		return nil, err
	}
	if id != "" && all[id] == nil {
		return nil, fmt.Errorf("job %s of %s: %w", id, owner, ErrNoJob)
	}
	list := make([]*Progress, 0, len(all))
	for _, p := range all {
		if p.Entry != nil || p.Queued+p.Answered > 0 { // not a mere mark
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *Progress) int {
		return cmp.Or(a.started().Compare(b.started()), cmp.Compare(a.Job, b.Job))
	})
	return list, nil
}

// What State says.
const (
	StateQueued    = "queued"
	StateRunning   = "running" // since its first chunk is answered
	StateAnswered  = "answered"
	StateFinished  = "finished" // its submitter has written the answers
	StateCancelled = "cancelled"
)

// State is one word for how far a job is.
func (p *Progress) State() string {
	switch e := p.Entry; {
	case p.Finished():
		return StateFinished
	case p.Cancelled:
		return StateCancelled
	case e != nil && e.Records > 0 && p.Queued == 0 && p.Answered >= e.Chunks:
		return StateAnswered
	case p.Answered == 0:
		return StateQueued
	}
	return StateRunning
}

// Finished tells whether the job's submitter has written its answers.
func (p *Progress) Finished() bool { return p.Entry != nil && !p.Entry.Finished.IsZero() }

// Over tells whether nothing more is to come of the job.
func (p *Progress) Over() bool {
	s := p.State()
	return s != StateQueued && s != StateRunning
}

// touched is when the last that is known of happened to the job.
func (p *Progress) touched() time.Time {
	t := p.started()
	if t.Before(p.Last) {
		t = p.Last
	}
	if p.Finished() && t.Before(p.Entry.Finished) {
		t = p.Entry.Finished
	}
	return t
}

func (p *Progress) started() time.Time {
	if p.Entry != nil {
		return p.Entry.Started
	}
	return time.Time{}
}

// entries reads what the bucket says of jobs.
func (q *Queue) entries(ctx context.Context, owner, one string, get func(string) *Progress) error {
	return q.values(ctx, jobKey(owner, one), func(key string, value []byte) {
		id := key[strings.LastIndexByte(key, '.')+1:]
		if !job.IsToken(id) {
			return
		}
		e, err := decodeEntry(id, value)
		if err != nil {
			q.log.Warn("a job's entry is not shown", "error", err)
			return
		}
		get(id).Entry = e
	})
}

// cancelMarks reads which jobs are cancelled.
func (q *Queue) cancelMarks(ctx context.Context, owner, one string, get func(string) *Progress) error {
	return q.values(ctx, cancelKey(owner, one), func(key string, _ []byte) {
		get(key[strings.LastIndexByte(key, '.')+1:]).Cancelled = true
	})
}

// values calls f with what the bucket has under the keys that match.
func (q *Queue) values(ctx context.Context, keys string, f func(key string, value []byte)) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	w, err := q.kv.Watch(ctx, keys, jetstream.IgnoreDeletes())
	if err != nil {
		return fmt.Errorf("keys %s of the bucket: %w", keys, err)
	}
	defer w.Stop()
	for {
		select {
		case entry, ok := <-w.Updates():
			if !ok {
				return fmt.Errorf("keys %s of the bucket: the watch ended", keys)
			}
			if entry == nil { // that was all
				return nil
			}
			f(entry.Key(), entry.Value())
		case <-ctx.Done():
			return fmt.Errorf("keys %s of the bucket: %w", keys, context.Cause(ctx))
		}
	}
}

// queued counts what JOBS holds.
func (q *Queue) queued(ctx context.Context, owner, one string, get func(string) *Progress) error {
	s, err := q.js.Stream(ctx, jobsStream)
	if err != nil {
		return fmt.Errorf("stream %s: %w", jobsStream, err)
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(jobsPrefix+"*."+owner+"."+one+".*"))
	if err != nil {
		return fmt.Errorf("stream %s: %w", jobsStream, err)
	}
	for subject := range info.State.Subjects {
		if tokens := strings.Split(subject, "."); len(tokens) == 7 && job.IsToken(tokens[5]) {
			get(tokens[5]).Queued++
		}
	}
	return nil
}

// results reads the headers of what RESULTS holds.
func (q *Queue) results(ctx context.Context, owner, one string, get func(string) *Progress) error {
	s, err := q.js.Stream(ctx, resultsStream)
	if err != nil {
		return fmt.Errorf("stream %s: %w", resultsStream, err)
	}
	return q.read(ctx, s, resultsPrefix+owner+"."+one+".*.1", true, func(m jetstream.Msg, meta *jetstream.MsgMetadata) {
		tokens := strings.Split(m.Subject(), ".")
		if len(tokens) != 7 || !job.IsToken(tokens[4]) {
			return
		}
		part, err := decodePart(owner, tokens[4], m)
		if err != nil {
			return
		}
		p := get(tokens[4])
		p.Answered++
		p.Counts.Sum(part.result.Counts)
		if meta.Timestamp.After(p.Last) {
			p.Last = meta.Timestamp
		}
	})
}

// read calls f with the messages that a stream has under a filter now.
func (q *Queue) read(ctx context.Context, s jetstream.Stream, filter string, headers bool, f func(jetstream.Msg, *jetstream.MsgMetadata)) error {
	failed := func(err error) error { return fmt.Errorf("read %s of %s: %w", filter, s.CachedInfo().Config.Name, err) }
	c, err := s.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{FilterSubjects: []string{filter}, HeadersOnly: headers, NamePrefix: job.NewID()})
	if err != nil {
		return failed(err)
	}
	info, err := c.Info(ctx)
	if err != nil {
		return failed(err)
	}
	it, err := c.Messages()
	if err != nil {
		return failed(err)
	}
	defer it.Stop()
	for left := info.NumPending; left > 0; {
		soon, cancel := context.WithTimeout(ctx, callTimeout)
		m, err := it.Next(jetstream.NextContext(soon))
		cancel()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil { // was the rest removed meanwhile?
			if info, err := c.Info(ctx); err == nil && info.NumPending == 0 {
				return nil
			}
		}
		if err != nil {
			return failed(err)
		}
		meta, err := m.Metadata()
		if err != nil {
			return failed(err)
		}
		f(m, meta)
		left = meta.NumPending
	}
	return nil
}

// Uncancel takes a cancellation back, for chunks that are still queued.
func (q *Queue) Uncancel(ctx context.Context, owner, id string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	key := cancelKey(owner, id)
	err := q.ask(ctx, func(ctx context.Context) error {
		if cancelled, err := q.cancelledJob(ctx, owner, id); err != nil || !cancelled {
			return err
		}
		return q.kv.Delete(ctx, key)
	}, bucketPrefix+key, "$JS.API.DIRECT.GET."+kvStream+".>")
	if err != nil {
		return fmt.Errorf("take back that job %s is cancelled: %w", id, err)
	}
	return nil
}
