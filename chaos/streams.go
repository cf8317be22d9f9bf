//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/process"
)

// purgedJobs removes all that is queued, as an operator may by mistake.
func purgedJobs(ctx context.Context, l *lab) (found result, err error) {
	d, err := l.disturbed(ctx, small)
	if err != nil {
		return found, err
	}
	defer d.ops.close()
	p, err := d.submit(ctx, d.url, d.job, "out")
	if err != nil {
		return found, err
	}
	if err := d.ops.filled(ctx, "JOBS", small.chunks); err != nil {
		return found, err
	}
	if err := d.ops.purge(ctx, "JOBS"); err != nil {
		return found, err
	}
	return d.repaired(ctx, p)
}

// expired removes all results while submit is silent, so that it has not taken them
// yet: those that are older than their time go just so.
func expired(ctx context.Context, l *lab) (found result, err error) {
	return l.whileSilent(ctx, func(ctx context.Context, d *disturbed) error { return d.ops.purge(ctx, "RESULTS") })
}

// recreated deletes the stream of results and creates another in its place while
// submit is silent.
func recreated(ctx context.Context, l *lab) (found result, err error) {
	return l.whileSilent(ctx, func(ctx context.Context, d *disturbed) error {
		s, err := d.ops.Stream(ctx, "RESULTS")
		if err != nil {
			return err
		}
		if err := d.ops.DeleteStream(ctx, "RESULTS"); err != nil {
			return err
		}
		_, err = d.ops.CreateStream(ctx, s.CachedInfo().Config)
		return err
	})
}

// whileSilent does something to what submit has not heard yet.
func (l *lab) whileSilent(ctx context.Context, fault func(context.Context, *disturbed) error) (found result, err error) {
	d, err := l.disturbed(ctx, small)
	if err != nil {
		return found, err
	}
	defer d.ops.close()
	p, err := d.submit(ctx, d.url, d.job, "out")
	if err != nil {
		return found, err
	}
	if err := d.ops.filled(ctx, "JOBS", small.chunks); err != nil {
		return found, err
	}
	if err := p.Signal(stopSignal); err != nil {
		return found, err
	}
	if _, err := d.worker(ctx, d.url); err != nil {
		return found, err
	}
	if err := d.ops.answered(ctx, small.chunks); err != nil {
		return found, err
	}
	if err := errors.Join(fault(ctx, d), p.Signal(continueSignal)); err != nil {
		return found, err
	}
	return d.repaired(ctx, p)
}

// repaired starts a worker, waits for the end of a job of which chunks were lost, and
// wants the audit to have found them.
func (d *disturbed) repaired(ctx context.Context, p *process.Process) (found result, err error) {
	began := time.Now()
	if _, err := d.worker(ctx, d.url); err != nil {
		return found, err
	}
	if err := ended(ctx, p, 0); err != nil {
		return found, err
	}
	found.note = fmt.Sprintf("answered %.0f s later, an audit comes after 30", time.Since(began).Seconds())
	if found.often = p.Count(lostChunks); found.often == 0 {
		return found, fmt.Errorf("the audit found nothing: %s", p.Log())
	}
	found.tally, err = d.compare(d.job, "out")
	return found, err
}

// deleted removes what the programs stand on, one after another, while a job runs, as
// an operator may by mistake: they create it anew.
func deleted(ctx context.Context, l *lab) (found result, err error) {
	d, err := l.disturbed(ctx, mix{seed: 15, chunks: 100, searches: 48, depth: 28})
	if err != nil {
		return found, err
	}
	defer d.ops.close()
	stream := func(name string) func(context.Context) error {
		return func(ctx context.Context) error { return d.ops.DeleteStream(ctx, name) }
	}
	return d.while(ctx, "an audit found losses", lostChunks,
		func(ctx context.Context) error { return d.ops.DeleteConsumer(ctx, "JOBS", "v1-bulk") },
		stream("KV_antipode"), stream("DEAD"), stream("JOBS"),
		func(ctx context.Context) error {
			return errors.Join(d.ops.answered(ctx, 80), d.ops.DeleteStream(ctx, "RESULTS"))
		})
}

// filled waits until a stream holds so many messages.
func (o *operator) filled(ctx context.Context, stream string, messages int) error {
	return until(ctx, fmt.Sprintf("%s holds %d", stream, messages), func() (bool, error) {
		state, err := o.state(ctx, stream)
		return err == nil && int(state.Msgs) >= messages, err
	})
}

func (o *operator) purge(ctx context.Context, stream string) error {
	s, err := o.Stream(ctx, stream)
	if err != nil {
		return err
	}
	return s.Purge(ctx)
}

// full leaves room for a few chunks only: submit waits, says so, and goes on as room
// comes.
func full(ctx context.Context, l *lab) (found result, err error) {
	d, err := l.disturbed(ctx, small)
	if err != nil {
		return found, err
	}
	defer d.ops.close()
	_, err = d.ops.CreateStream(ctx, jetstream.StreamConfig{
		Name: "JOBS", Subjects: []string{"antipode.v1.jobs.>"}, Retention: jetstream.WorkQueuePolicy,
		Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, MaxMsgsPerSubject: 1,
		MaxBytes: d.job.size() / 3,
	})
	if err != nil {
		return found, err
	}
	p, err := d.submit(ctx, d.url, d.job, "out")
	if err != nil {
		return found, err
	}
	if _, err := p.Await(ctx, regexp.MustCompile("the server takes no chunks: maximum bytes exceeded")); err != nil {
		return found, err
	}
	if _, err := d.worker(ctx, d.url); err != nil {
		return found, err
	}
	if err := ended(ctx, p, 0); err != nil {
		return found, err
	}
	found.often = p.Count("the server takes no chunks")
	found.tally, err = d.compare(d.job, "out")
	return found, err
}
