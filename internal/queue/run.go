package queue

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/job"
	"antipode/internal/limit"
)

// Window bounds what a job has published and not yet written. The reorder
// buffer, and the job's share of JOBS and RESULTS, follow from it.
type Window struct {
	Chunks int
	Bytes  int64 // of payloads
}

// Run is one job.
type Run struct {
	Spec  job.Spec
	Entry *Entry // nil where no one else can see it
	// Definitions are those of the puzzles that do not come with the program.
	Definitions [][]byte
	Window      Window
	// Resume goes on with a job that was begun before: what is queued or answered is
	// not published again.
	Resume bool
	// Next returns the job's chunks one after another, and io.EOF after the last.
	// It is called by one goroutine, not the caller's, and ends soon after ctx. A
	// chunk that does not travel comes with its result.
	Next func(ctx context.Context) (*job.Chunk, *job.Result, error)
	// Write is called with every chunk's result, in order, by the caller's
	// goroutine.
	Write func(c *job.Chunk, r *job.Result) error
	// Waiting is called when nothing came for a while, with the reason.
	Waiting func(reason string)
}

const (
	publishTime = 10 * time.Second
	// resultsAhead is how many messages of results are on their way to the run.
	resultsAhead = 32
)

// run is the state of one Run; it belongs to the goroutine that called Run.
type run struct {
	*Run
	q        *Queue
	js       jetstream.JetStream // with the run's own publish handlers
	lane     Lane
	chunks   map[int]*flying // published or answered, not written
	queued   map[int]bool    // of those not taken: already in JOBS when the run began
	answered map[int]bool    // of those not taken: in RESULTS
	taken    int             // chunks taken from Next
	travel   int             // of these, not answered by Next
	records  int             // in the taken
	written  int             // chunks written, the number of the next
	bytes    int64           // of payloads in chunks
	ended    bool            // Next has no more
	failed   error           // of Next, returned once what it gave is written

	refused  chan refusal // publishes that failed
	parts    chan part    // results, as they come
	consumer jetstream.ConsumeContext
	results  jetstream.Stream // as consumed
	heard    time.Time        // when something came last
	told     bool             // Waiting, since then
	audited  time.Time        // last
	defined  time.Time        // last
	marked   time.Time        // when it was last asked whether the job is cancelled
	returns  int64            // of the server, when the job was last audited
	doubted  atomic.Bool      // the consumer of results had an error since then
}

// flying is a chunk between publishing and writing.
type flying struct {
	chunk  *job.Chunk
	result *job.Result // when complete
	parts  assembly    // while it is not
	again  time.Time   // when to publish again; zero: not at all
	tries  int
}

type cut struct {
	chunk  *job.Chunk
	result *job.Result
	err    error
}

// Run publishes a job's chunks, under its window, and writes their results in
// order. It returns when all is written, with the error of Next if it had one; at
// once with the error of Write, or ctx's; or soon with ErrCancelled.
func (q *Queue) Run(ctx context.Context, r Run) error {
	x := &run{
		Run: &r, q: q, chunks: map[int]*flying{}, queued: map[int]bool{}, answered: map[int]bool{},
		refused: make(chan refusal, r.Window.Chunks), parts: make(chan part, resultsAhead), heard: time.Now(), returns: q.returns.Load(),
	}
	var err error
	x.js, err = jetstream.New(q.nc,
		jetstream.WithDefaultTimeout(callTimeout),
		jetstream.WithPublishAsyncMaxPending(2*r.Window.Chunks),
		jetstream.WithPublishAsyncTimeout(publishTime),
		jetstream.WithPublishAsyncErrHandler(x.publishFailed))
	if err != nil {
		return fmt.Errorf("use JetStream: %w", err)
	}
	ctx, cancel := q.during(ctx, chunkSubjects(&x.Spec),
		"$JS.API.CONSUMER.CREATE."+resultsStream+".>", "$JS.API.CONSUMER.MSG.NEXT."+resultsStream+".>")
	var cutter sync.WaitGroup
	cuts := make(chan cut)
	cutter.Go(func() { x.cutAll(ctx, cuts) })
	err = x.attach(ctx)
	if err == nil {
		err = x.loop(ctx, cuts)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // or a refusal
	}
	cancel()
	x.stopConsuming()
	x.js.CleanupPublisher()
	cutter.Wait()
	return err
}

// attach stores what the job needs, follows its results and, where it is resumed, finds
// out what there is of it. A server that goes just then is waited for.
func (x *run) attach(ctx context.Context) error {
	for tries := 1; ; tries++ {
		err := x.define(ctx)
		if err == nil {
			err = x.consume(ctx)
		}
		if err == nil && x.Resume {
			x.queued, x.answered, err = x.survey(ctx)
		}
		if err == nil || lasting(err) || ctx.Err() != nil {
			return err
		}
		x.stopConsuming()
		x.tell(err.Error())
		pause(ctx, backOff(tries))
		if _, err := x.q.ensure(ctx); lasting(err) { // it may have come back without its data
			return err
		}
	}
}

// define stores the definitions that the job's chunks name.
func (x *run) define(ctx context.Context) error {
	for _, d := range x.Definitions {
		if err := x.q.Define(ctx, d); err != nil {
			return err
		}
	}
	x.defined = time.Now()
	return nil
}

// renew stores again what the bucket may have forgotten, or lost.
func (x *run) renew(ctx context.Context) error {
	if x.taken > 0 {
		x.q.register(ctx, &x.Spec, x.Entry)
	}
	return x.define(ctx)
}

// cutAll hands over the chunks one by one.
func (x *run) cutAll(ctx context.Context, cuts chan<- cut) {
	for {
		var c cut
		c.chunk, c.result, c.err = x.Next(ctx)
		select {
		case cuts <- c:
		case <-ctx.Done():
			return
		}
		if c.err != nil {
			return
		}
	}
}

func (x *run) loop(ctx context.Context, cuts <-chan cut) error {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		var next <-chan cut
		if !x.ended && len(x.chunks) < x.Window.Chunks && x.bytes < x.Window.Bytes {
			next = cuts
		}
		select {
		case c := <-next:
			switch {
			case c.err == io.EOF:
				x.ended = true
				x.total(ctx)
			case c.err != nil:
				x.ended, x.failed = true, c.err
			default:
				if err := x.take(ctx, c); err != nil {
					return err
				}
			}
		case p := <-x.parts:
			if x.accept(p) {
				x.hurry(time.Now())
			}
		case f := <-x.refused:
			if err := x.retry(f); err != nil {
				return err
			}
		case now := <-tick.C:
			if err := x.look(ctx, now); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := x.write(ctx); err != nil {
			return err
		}
		if x.ended && len(x.chunks) == 0 {
			x.finish(ctx)
			return x.failed
		}
	}
}

// take starts a chunk on its way, unless it has been on it before.
func (x *run) take(ctx context.Context, c cut) error {
	n := c.chunk.Number
	if x.taken == 0 {
		x.lane = laneOf(c.chunk)
		x.begin(ctx, c.chunk)
		x.heard = time.Now()
	}
	f := &flying{chunk: c.chunk, result: c.result}
	x.chunks[n] = f
	x.count(c)
	x.bytes += int64(len(c.chunk.Payload))
	queued, answered := x.queued[n], x.answered[n]
	delete(x.queued, n)
	delete(x.answered, n)
	switch {
	case f.result != nil, queued && !answered:
		return nil
	case answered && x.fetch(ctx, f):
		if queued && f.result != nil && f.result.ByStatus[job.Failed] > 0 {
			// Its dead letter is tried again, and the answer will be another. Where it is not,
			// but its worker was about to ack it, the audit takes this one.
			f.result = nil
		}
		return nil
	}
	return x.publish(f)
}

// begin registers the job, before its first chunk leaves.
func (x *run) begin(ctx context.Context, first *job.Chunk) {
	if x.Entry == nil {
		return
	}
	if first.Last {
		x.Entry.Chunks, x.Entry.Records = 1, first.Records
	}
	x.Entry.Finished = time.Time{}
	x.q.register(ctx, &x.Spec, x.Entry)
}

// total registers how much there is, once all is cut.
func (x *run) total(ctx context.Context) {
	if x.Entry == nil || x.Entry.Chunks == x.travel && x.Entry.Records == x.records {
		return
	}
	x.Entry.Chunks, x.Entry.Records = x.travel, x.records
	x.q.register(ctx, &x.Spec, x.Entry)
}

// finish registers that all is written.
func (x *run) finish(ctx context.Context) {
	if x.Entry == nil || x.taken == 0 || x.failed != nil {
		return
	}
	x.Entry.Finished = time.Now().UTC()
	x.q.register(ctx, &x.Spec, x.Entry)
}

// count counts a chunk that Next gave.
func (x *run) count(c cut) {
	x.taken = c.chunk.Number + 1
	x.records += c.chunk.Records
	if c.result == nil {
		x.travel++
	}
}

// chunkSubjects are those of a job's chunks.
func chunkSubjects(s *job.Spec) string { return jobsPrefix + "*." + s.Owner + "." + s.Job + ".*" }

// laneOf is the lane of a job by its first chunk.
func laneOf(first *job.Chunk) Lane {
	if first.Last {
		return Express
	}
	return Bulk
}

// accept takes a message of a result, and tells whether it completes one. What comes
// twice is as good as once; what comes before its chunk is cut again is fetched then.
func (x *run) accept(p part) (complete bool) {
	f := x.chunks[p.chunk]
	if f == nil && p.chunk >= x.taken && len(x.answered) < limit.Noted {
		x.answered[p.chunk] = true
		delete(x.queued, p.chunk)
	}
	if f == nil || f.result != nil {
		return false
	}
	x.heard, x.told = time.Now(), false
	whole, ok := f.parts.add(p)
	return ok && x.complete(f, p.of, whole)
}

// complete takes a result, unless it answers another chunk: of a job that was cut
// otherwise, say.
func (x *run) complete(f *flying, of string, r job.Result) bool {
	if r.Records != f.chunk.Records || of != "" && of != checksum(f.chunk.Payload) {
		return false // the audit asks again
	}
	f.result, f.parts = &r, nil
	return true
}

// write writes what is complete, in order.
func (x *run) write(ctx context.Context) error {
	for {
		f := x.chunks[x.written]
		if f == nil || f.result == nil {
			return nil
		}
		if err := x.Write(f.chunk, f.result); err != nil {
			return err
		}
		delete(x.chunks, x.written)
		x.bytes -= int64(len(f.chunk.Payload))
		x.written++
		if x.q.embedded {
			x.purge(ctx, f.chunk)
		}
	}
}

// purge removes a result that is written.
func (x *run) purge(ctx context.Context, c *job.Chunk) {
	err := x.results.Purge(ctx, jetstream.WithPurgeSubject(strings.TrimSuffix(resultSubject(c, 1), "1")+">"))
	if err != nil && ctx.Err() == nil {
		x.q.log.Debug("result not purged", "chunk", c.Name(), "error", err)
	}
}

// look publishes again what is due, and audits the job when nothing came for a
// while: a short one where the server was away.
func (x *run) look(ctx context.Context, now time.Time) error {
	for _, f := range x.chunks {
		if f.result == nil && !f.again.IsZero() && now.After(f.again) {
			if err := x.publish(f); err != nil {
				return err
			}
		}
	}
	if now.Sub(x.defined) > x.q.times.define && x.q.nc.IsConnected() {
		x.defined = now // be it stored or not: there is time to try again
		if err := x.renew(ctx); err != nil {
			return x.passing(ctx, err)
		}
	}
	if len(x.chunks) == 0 {
		x.heard = now // nothing is awaited
		return nil
	}
	quiet := now.Sub(x.heard)
	if quiet > x.q.times.quiet {
		x.tell(fmt.Sprintf("no answer for %s; the job waits for a worker, or its records are hard", x.q.times.quiet))
		if err := x.wanted(ctx, now); err != nil {
			return err
		}
	}
	if quiet < x.q.times.quiet/2 || !x.due(now, quiet) {
		return nil
	}
	x.audited, x.returns = now, x.q.returns.Load()
	x.doubted.Store(false)
	return x.audit(ctx)
}

// due tells whether an audit is: after a reconnect, soon after an error of the consumer
// of results, else when it was quiet for long.
func (x *run) due(now time.Time, quiet time.Duration) bool {
	since := now.Sub(x.audited)
	switch t := x.q.times; {
	case x.q.returns.Load() != x.returns:
		return true
	case x.doubted.Load():
		return since >= t.quiet
	default:
		return quiet >= t.audit && since >= t.audit
	}
}

// wanted tells by an error that the job was cancelled: what is published then is dropped,
// and its answers never come.
func (x *run) wanted(ctx context.Context, now time.Time) error {
	if now.Sub(x.marked) < x.q.times.quiet || !x.q.nc.IsConnected() {
		return nil
	}
	x.marked = now
	cancelled, err := x.q.cancelledJob(ctx, x.Spec.Owner, x.Spec.Job)
	if err != nil {
		x.q.log.Debug("not known whether the job is cancelled", "job", x.Spec.Job, "error", err)
	}
	if cancelled {
		return fmt.Errorf("job %s: %w", x.Spec.Job, ErrCancelled)
	}
	return nil
}

// tell calls Waiting, once in a time in which nothing comes.
func (x *run) tell(reason string) {
	if !x.told && x.Waiting != nil {
		x.Waiting(reason)
	}
	x.told = true
}
