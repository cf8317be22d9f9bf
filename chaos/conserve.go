//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
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
	m, scale, hits := mix{seed: 1, chunks: 2000, searches: 64, depth: 28}, 3, 30
	x := &storm{lab: l, rng: rand.New(rand.NewPCG(m.seed, l.seed)), window: "ANTIPODE_WINDOW_CHUNKS=128"}
	if l.short {
		m.chunks, scale, hits, x.window = 600, 1, 6, "ANTIPODE_WINDOW_CHUNKS=60"
	}
	if err := x.begin(ctx, m); err != nil {
		return found, err
	}
	defer x.ops.close()
	plan := x.plan(scale)
	for n, step := range plan {
		if err := x.progress(ctx, len(plan)-n); err != nil {
			return found, err
		}
		if n%10 == 0 {
			l.tell("%d of %d faults", n, len(plan))
		}
		if x.over() {
			break // what hit it by then must be enough
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

// over tells whether the job has ended.
func (x *storm) over() bool { return x.submit.State() != nil }

// startWorker starts a worker of one slot. It does not wait until it is ready: the job
// would be over before its faults.
func (x *storm) startWorker(ctx context.Context) (*process.Process, error) {
	env := []string{"ANTIPODE_SLOTS=1", "ANTIPODE_REDIS_ADDR=" + x.redis.addr}
	return x.start(x.command(ctx, env, "worker", "--nats", x.nats.url()))
}

// plan is all that happens, one of each kind before the others, since a fast machine is
// through with the job before its faults. Scale says how much.
func (x *storm) plan(scale int) (steps []func(context.Context) error) {
	var first, more []fault
	add := func(times int, f ...func(context.Context) error) {
		first = append(first, f)
		for range times - 1 {
			more = append(more, f)
		}
	}
	add(8*scale, x.killWorker)
	add(scale, x.suspendWorker)
	add(2*scale, x.nats.restart)
	add(scale, telling(x.redis.pause), x.killWorker, x.killWorker, telling(x.redis.resume))
	add(scale, x.redis.flush)
	add(scale, killing(x.redis), x.killWorker, func(ctx context.Context) error { return x.redis.launch(ctx) })
	add(scale, x.interruptSubmit)
	add(scale, x.killSubmit)
	for _, all := range [][]fault{first, more} {
		x.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, f := range all {
			steps = append(steps, f...)
		}
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

func (x *storm) interruptSubmit(ctx context.Context) error {
	next, err := x.interrupt(ctx, x.submit, x.job, "out", x.window)
	switch {
	case err == nil:
		x.submit = next
	case x.over() && x.submit.State().ExitCode() == 0:
		return nil // it was faster
	}
	return err
}

func (x *storm) killSubmit(ctx context.Context) (err error) {
	x.submit, err = x.slay(ctx, x.ops, x.submit, x.job, "out", x.nats.url(), x.window)
	return err
}

// killWorker kills a worker while chunks wait for one, so that it has one in hand,
// and starts another in its place. It is one of the older, since the youngest may not
// be ready yet.
func (x *storm) killWorker(ctx context.Context) error {
	if err := x.busy(ctx); err != nil {
		return err
	}
	n := x.rng.IntN(len(x.workers) - 1)
	x.workers[n].Kill()
	w, err := x.startWorker(ctx)
	x.workers = append(slices.Delete(x.workers, n, n+1), w)
	return err
}

// progress waits for the next of so many faults that are left: they come at even
// distances of what is not answered yet.
func (x *storm) progress(ctx context.Context, faults int) error {
	var now int
	err := until(ctx, "results are counted", func() (ok bool, err error) {
		now, _, err = x.results(ctx)
		return err == nil, err
	})
	if err != nil {
		return err
	}
	chunks := x.job.records / chunkRecords
	return x.ops.answered(ctx, now+(chunks-now)/(faults+2))
}

// busy waits until chunks wait for a worker, so that all have one.
func (x *storm) busy(ctx context.Context) error {
	return until(ctx, "chunks wait for a worker", func() (bool, error) {
		lane, err := x.ops.lane(ctx, "v1-bulk")
		return x.over() || err == nil && lane.NumPending > 0 && lane.NumAckPending > 0, err
	})
}

// ackWait is after what silence a chunk goes to another worker.
const ackWait = 10 * time.Second

// suspendWorker silences the first worker for longer than the ack wait, as a machine
// does that is suspended: the chunk that it holds goes to another, and is answered
// twice. It may just then hold none, so that it is suspended again.
func (x *storm) suspendWorker(ctx context.Context) error {
	for range 3 {
		if err := x.busy(ctx); err != nil {
			return err
		}
		_, before, err := x.results(ctx)
		if err != nil || x.over() {
			return err
		}
		w := x.workers[0]
		if err := errors.Join(w.Signal(stopSignal), pause(ctx, ackWait+time.Second/4), w.Signal(continueSignal)); err != nil {
			return err
		}
		soon, cancel := context.WithTimeout(ctx, ackWait)
		err = until(soon, "a result comes twice", func() (bool, error) {
			_, twice, err := x.results(ctx)
			return twice > before, err
		})
		cancel()
		if err == nil {
			break
		}
	}
	return nil
}

// results counts the chunks that are answered, and how many answers came again.
func (x *storm) results(ctx context.Context) (chunks, twice int, err error) {
	state, err := x.ops.state(ctx, "RESULTS")
	return int(state.Msgs), int(state.LastSeq) - int(state.Msgs), err
}

// hits counts what the faults hit: chunks in hand, which were delivered again or
// answered twice. It wants so many, and some of each kind.
func (x *storm) hits(ctx context.Context, found *result, least int) error {
	_, twice, err := x.results(ctx)
	if err != nil {
		return err
	}
	again := x.count("worker", `"chunk redelivered"`)
	back := x.count("worker", `"NATS is back"`)
	given := x.count("worker", "redis is given up")
	found.note = fmt.Sprintf("%d chunks in hand delivered again and %d answered twice (wanted %d), NATS back %d times, Redis given up %d times",
		again, twice, least, back, given)
	if again+twice < least || again == 0 || twice == 0 || back == 0 || given == 0 {
		return errors.New("the faults hit too little")
	}
	return nil
}
