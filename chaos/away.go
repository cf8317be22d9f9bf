//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"time"
)

// waiting is what programs say while they wait for a server.
var waiting = regexp.MustCompile(`waiting for NATS`)

// small is a job of a second or two.
var small = mix{seed: 11, chunks: 40, searches: 32, depth: 26}

// late starts the server last: both programs wait for it, and each says so once,
// with the address.
func late(ctx context.Context, l *lab) (found result, err error) {
	j, err := l.job(ctx, small)
	if err != nil {
		return found, err
	}
	s, err := l.nats(ctx)
	if err != nil {
		return found, err
	}
	s.Kill()
	p, err := l.submit(ctx, s.url(), j, "out")
	if err != nil {
		return found, err
	}
	w, err := l.start(l.command(ctx, nil, "worker", "--nats", s.url()))
	if err != nil {
		return found, err
	}
	for found.often < 2 {
		if _, err := p.Await(ctx, waiting); err != nil {
			return found, err
		}
		p, w = w, p
		found.often++
	}
	if err := pause(ctx, 5*time.Second); err != nil { // time to say it again
		return found, err
	}
	if err := s.launch(ctx); err != nil {
		return found, err
	}
	if err := ended(ctx, p, 0); err != nil {
		return found, err
	}
	if p.Count("waiting for NATS") != 1 || w.Count("waiting for NATS") != 1 || p.Count(s.addr) == 0 || w.Count(s.addr) == 0 {
		return found, fmt.Errorf("they do not say once, and where, that they wait: %s\n%s", p.Log(), w.Log())
	}
	found.tally, err = l.compare(j, "out")
	return found, err
}

// never starts no server: submit gives up after the time that is set.
func never(ctx context.Context, l *lab) (found result, err error) {
	const patience = 2 * time.Second
	m := small
	m.chunks = 1
	j, err := l.job(ctx, m)
	if err != nil {
		return found, err
	}
	s, err := l.nats(ctx)
	if err != nil {
		return found, err
	}
	s.Kill()
	began := time.Now()
	p, err := l.submit(ctx, s.url(), j, "out", "ANTIPODE_NATS_WAIT="+patience.String())
	if err != nil {
		return found, err
	}
	if err := ended(ctx, p, 3); err != nil {
		return found, err
	}
	took := time.Since(began)
	found.note = fmt.Sprintf("gave up after %.1f s of %s", took.Seconds(), patience)
	if took < patience || took > 10*patience || p.Count("waiting for NATS") != 1 {
		return found, errors.New(p.Log())
	}
	// What was said is the answer: none of the job's records was taken.
	found.often, found.records = 1, j.records
	return found, nil
}

// disturbed is a job, and a server that is done something to while the job runs.
type disturbed struct {
	*lab
	job    *job
	server *server
	ops    *operator
	url    string // for programs
}

func (l *lab) disturbed(ctx context.Context, m mix) (*disturbed, error) {
	j, err := l.job(ctx, m)
	if err != nil {
		return nil, err
	}
	s, o, err := l.watched(ctx)
	if err != nil {
		return nil, err
	}
	return &disturbed{l, j, s, o, s.url()}, nil
}

// away silences the server for longer than the ack wait, and then kills it and starts
// it again after a while, in the middle of a job.
func away(ctx context.Context, l *lab) (found result, err error) {
	d, err := l.disturbed(ctx, mix{seed: 12, chunks: 100, searches: 48, depth: 28})
	if err != nil {
		return found, err
	}
	defer d.ops.close()
	return d.while(ctx, "a reconnect", `"NATS is back"`,
		func(ctx context.Context) error {
			return errors.Join(d.server.pause(), pause(ctx, ackWait+2*time.Second), d.server.resume())
		},
		func(ctx context.Context) error {
			d.server.Kill()
			return errors.Join(pause(ctx, ackWait/2), d.server.launch(ctx))
		})
}

// while runs the job with two workers, does each of these at points of its progress,
// and wants a sign of it in what programs say.
func (d *disturbed) while(ctx context.Context, what, sign string, faults ...func(context.Context) error) (found result, err error) {
	for range 2 {
		if _, err := d.worker(ctx, d.url); err != nil {
			return found, err
		}
	}
	p, err := d.submit(ctx, d.url, d.job, "out")
	if err != nil {
		return found, err
	}
	chunks := d.job.records / chunkRecords
	for n, fault := range faults {
		if err := d.ops.answered(ctx, chunks*(n+1)/(len(faults)+2)); err != nil {
			return found, err
		}
		if err := fault(ctx); err != nil {
			return found, err
		}
		found.often++
	}
	if err := ended(ctx, p, 0); err != nil {
		return found, err
	}
	n := d.count("worker", sign) + d.count("submit", sign)
	found.note = fmt.Sprintf("%s %d times", what, n)
	if n == 0 {
		return found, fmt.Errorf("no program says %s", sign)
	}
	found.tally, err = d.compare(d.job, "out")
	return found, err
}

// lostChunks says in submit's log that the audit repaired something.
const lostChunks = "chunks were lost and are published again"

// wiped kills the server, and starts it without its data: first while chunks only
// wait, then while they are answered.
func wiped(ctx context.Context, l *lab) (found result, err error) {
	d, err := l.disturbed(ctx, mix{seed: 13, chunks: 100, searches: 48, depth: 28})
	if err != nil {
		return found, err
	}
	defer d.ops.close()
	return d.while(ctx, "an audit found losses", lostChunks, d.server.wipe, func(ctx context.Context) error {
		// All that was answered is gone, so that progress begins anew.
		return errors.Join(d.ops.answered(ctx, 20), d.server.wipe(ctx))
	})
}

// lostAcks cuts all connections again and again, each time so that what was published
// has arrived and its ack has not.
func lostAcks(ctx context.Context, l *lab) (found result, err error) {
	d, err := l.disturbed(ctx, mix{seed: 14, chunks: 150, searches: 48, depth: 28})
	if err != nil {
		return found, err
	}
	defer d.ops.close()
	x, err := newProxy(d.server.addr)
	if err != nil {
		return found, err
	}
	defer x.close()
	d.url = x.url()
	times := 20
	if l.short {
		times = 5
	}
	rng := rand.New(rand.NewPCG(14, l.seed))
	cuts := make([]func(context.Context) error, times)
	for i := range cuts {
		cuts[i] = func(ctx context.Context) error {
			return errors.Join(pause(ctx, time.Duration(rng.Int64N(int64(heardTime)))), x.cut(ctx))
		}
	}
	found, err = d.while(ctx, "reconnects", `"NATS is back"`, cuts...)
	found.often = int(x.lost.Load())
	found.note = fmt.Sprintf("%d cuts, %s", len(cuts), found.note)
	return found, err
}
