//go:build unix

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"antipode/internal/process"
)

// storm is a job whose workers, server and cache die at random.
type storm struct {
	*lab
	rng     *rand.Rand
	nats    *server
	redis   *server
	ops     *operator
	workers []*process.Process
	submit  *process.Process
	job     *job
	faults  int    // that were made
	window  string // of submit, as its setting
}

// fault is something that happens in one place of a job, and maybe another thing
// in the next.
type fault []func(context.Context) error

// conserve is the test of conservation: what goes in comes out, exactly, while
// things die. Faults come at points of the job's progress, in an order that the
// seed decides.
func conserve(ctx context.Context, l *lab) (found result, err error) {
	m, scale, hits := mix{seed: 1, chunks: 2000, searches: 48, depth: 28}, 4, 30
	x := &storm{lab: l, rng: rand.New(rand.NewPCG(m.seed, 1)), window: "ANTIPODE_WINDOW_CHUNKS=256"}
	if l.short {
		m.chunks, scale, hits, x.window = 240, 1, 8, "ANTIPODE_WINDOW_CHUNKS=100"
	}
	if err := x.begin(ctx, m); err != nil {
		return found, err
	}
	defer x.ops.close()
	plan := x.plan(scale)
	for n, step := range plan {
		if err := x.ops.answered(ctx, m.chunks*(n+1)/(len(plan)+2)); err != nil {
			return found, err
		}
		if n%10 == 0 {
			l.tell("%d of %d faults", n, len(plan))
		}
		if err := step(ctx); err != nil {
			return found, err
		}
		x.faults++
	}
	if err := ended(ctx, x.submit, 0); err != nil {
		return found, err
	}
	found.often = x.faults
	if found.tally, err = l.compare(x.job, "out"); err != nil {
		return found, err
	}
	return found, x.hits(ctx, &found, hits)
}

// begin starts everything, and the job.
func (x *storm) begin(ctx context.Context, m mix) (err error) {
	x.tell("the undisturbed run of %d chunks", m.chunks)
	if x.job, err = x.lab.job(ctx, m); err != nil {
		return err
	}
	x.tell("the same, disturbed")
	if x.nats, err = x.lab.nats(ctx); err != nil {
		return err
	}
	if x.redis, err = x.lab.redis(ctx); err != nil {
		return err
	}
	for range 3 {
		w, err := x.startWorker(ctx)
		if err != nil {
			return err
		}
		x.workers = append(x.workers, w)
	}
	if x.ops, err = x.operator(ctx, x.nats.url()); err != nil {
		return err
	}
	x.submit, err = x.lab.submit(ctx, x.nats.url(), x.job, "out", x.window)
	return err
}

func (x *storm) startWorker(ctx context.Context) (*process.Process, error) {
	return x.worker(ctx, x.nats.url(), "ANTIPODE_REDIS_ADDR="+x.redis.addr)
}

// plan is all that happens, in order. Scale says how much.
func (x *storm) plan(scale int) (steps []func(context.Context) error) {
	var all []fault
	add := func(times int, f ...func(context.Context) error) {
		for range times {
			all = append(all, f)
		}
	}
	add(8*scale, x.killWorker)
	add(scale, x.stopWorker, x.continueWorker)
	add(2*scale, x.nats.restart)
	add(scale, telling(x.redis.pause), x.killWorker, x.killWorker, telling(x.redis.resume))
	add(scale, x.redis.flush)
	add(scale, killing(x.redis), x.killWorker, func(ctx context.Context) error { return x.redis.launch(ctx) })
	add(scale, x.interruptSubmit)
	add(scale, x.killSubmit)
	x.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, f := range all {
		steps = append(steps, f...)
	}
	return steps
}

func telling(send func() error) func(context.Context) error {
	return func(context.Context) error { return send() }
}

func killing(s *server) func(context.Context) error {
	return func(context.Context) error {
		s.Kill()
		return nil
	}
}

func (x *storm) interruptSubmit(ctx context.Context) (err error) {
	x.submit, err = x.interrupt(ctx, x.submit, x.job, "out", x.window)
	return err
}

func (x *storm) killSubmit(ctx context.Context) (err error) {
	x.submit, err = x.slay(ctx, x.ops, x.submit, x.job, "out", x.nats.url(), x.window)
	return err
}

// killWorker kills a worker while chunks wait for one, so that it has one in hand,
// and starts another in its place.
func (x *storm) killWorker(ctx context.Context) (err error) {
	err = until(ctx, "chunks wait for a worker", func() (bool, error) {
		lane, err := x.ops.lane(ctx, "v1-bulk")
		return x.submit.State() != nil || err == nil && lane.NumPending > 0 && lane.NumAckPending > 0, err
	})
	if err != nil {
		return err
	}
	n := x.rng.IntN(len(x.workers))
	x.workers[n].Kill()
	x.workers[n], err = x.startWorker(ctx)
	return err
}

// ackWait is after what silence a chunk goes to another worker.
const ackWait = 10 * time.Second

// stopWorker silences the first worker for longer than the ack wait, as a machine
// does that is suspended: the chunk that it holds goes to another.
func (x *storm) stopWorker(ctx context.Context) error {
	before := x.count("worker", `"chunk redelivered"`)
	if err := x.workers[0].Signal(stopSignal); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*ackWait) // it may have had none
	defer cancel()
	until(ctx, "its chunk is delivered again", func() (bool, error) {
		return x.count("worker", `"chunk redelivered"`) > before, nil
	})
	return nil
}

// continueWorker lets it go on; its answer comes twice.
func (x *storm) continueWorker(context.Context) error { return x.workers[0].Signal(continueSignal) }

// hits counts what the faults hit, and wants so many chunks that were in hand.
func (x *storm) hits(ctx context.Context, found *result, least int) error {
	results, err := x.ops.state(ctx, "RESULTS")
	if err != nil {
		return err
	}
	again := x.count("worker", `"chunk redelivered"`)
	twice := int(results.LastSeq) - int(results.Msgs)
	back := x.count("worker", `"NATS is back"`)
	given := x.count("worker", "redis is given up")
	found.note = fmt.Sprintf("chunks in hand hit %d times (wanted %d), %d results twice, NATS back %d times, Redis given up %d times",
		again, least, twice, back, given)
	if again < least || twice == 0 || back == 0 || given == 0 {
		return fmt.Errorf("the faults hit too little")
	}
	return nil
}
