package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/job"
)

// Window bounds what a job has published and not yet written. The reorder
// buffer, and the job's share of JOBS and RESULTS, follow from it.
type Window struct {
	Chunks int
	Bytes  int64 // of payloads
}

// Entry is what the bucket holds of a job.
type Entry struct {
	File    string    `json:"file"`
	Size    int64     `json:"size"`           // bytes; -1 for a stream
	Time    time.Time `json:"time"`           // of the file's last change
	Hash    string    `json:"hash,omitempty"` // SHA-256 of the file, in hexadecimal
	Puzzle  string    `json:"puzzle,omitempty"`
	Chunk   int       `json:"chunk"` // bytes of a chunk, at the most
	Started time.Time `json:"started"`
}

// Run is one job.
type Run struct {
	Spec  job.Spec
	Entry *Entry // nil where no one else can see it
	// Definitions are those of the puzzles that do not come with the program.
	Definitions [][]byte
	Window      Window
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
	q         *Queue
	js        jetstream.JetStream // with the run's own publish handlers
	lane      Lane
	chunks    map[int]*flying // published or answered, not written
	published int             // chunks taken from Next
	written   int             // chunks written, the number of the next
	bytes     int64           // of payloads in chunks
	ended     bool            // Next has no more
	failed    error           // of Next, returned once what it gave is written

	refused  chan refusal // publishes that failed
	parts    chan part    // results, as they come
	consumer jetstream.ConsumeContext
	results  jetstream.Stream // as consumed
	heard    time.Time        // when something came last
	told     bool             // Waiting, since then
	audited  time.Time        // last
	defined  time.Time        // last
	returns  int64            // of the server, when the job was last audited
}

// flying is a chunk between publishing and writing.
type flying struct {
	chunk  *job.Chunk
	result *job.Result // when complete
	parts  []part      // while it is not
	again  time.Time   // when to publish again; zero: not at all
	tries  int
	reread bool // RESULTS was read again for its sake
}

type refusal struct {
	chunk int
	err   error
}

type cut struct {
	chunk  *job.Chunk
	result *job.Result
	err    error
}

// Run publishes a job's chunks, under its window, and writes their results in
// order. It returns when all is written, with the error of Next if it had one; or
// at once with the error of Write, or ctx's.
func (q *Queue) Run(ctx context.Context, r Run) error {
	x := &run{
		Run: &r, q: q, chunks: map[int]*flying{},
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
	x.register(ctx)
	if err := x.define(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var cutter sync.WaitGroup
	cuts := make(chan cut)
	cutter.Go(func() { x.cutAll(ctx, cuts) })
	err = x.consume(ctx)
	if err == nil {
		err = x.loop(ctx, cuts)
	}
	cancel()
	x.stopConsuming()
	x.js.CleanupPublisher()
	cutter.Wait()
	return err
}

// register puts the job into the bucket. It is answered without that, too.
func (x *run) register(ctx context.Context) {
	if x.Entry == nil {
		return
	}
	value, err := json.Marshal(x.Entry)
	if err == nil {
		_, err = x.q.kv.Put(ctx, jobKey(x.Spec.Owner, x.Spec.Job), value)
	}
	if err != nil {
		x.q.log.Warn("job not registered", "job", x.Spec.Job, "error", err)
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
			case c.err != nil:
				x.ended, x.failed = true, c.err
			default:
				if err := x.take(c); err != nil {
					return err
				}
			}
		case p := <-x.parts:
			x.accept(p)
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
			return x.failed
		}
	}
}

// take starts a chunk on its way.
func (x *run) take(c cut) error {
	if x.published == 0 {
		x.lane = Bulk
		if c.chunk.Last {
			x.lane = Express
		}
		x.heard = time.Now()
	}
	x.published++
	f := &flying{chunk: c.chunk, result: c.result}
	x.chunks[c.chunk.Number] = f
	x.bytes += int64(len(c.chunk.Payload))
	if f.result != nil {
		return nil
	}
	return x.publish(f)
}

// publish publishes a chunk. What fails later comes by refused; the error ends
// the job.
func (x *run) publish(f *flying) error {
	f.again = time.Time{}
	f.tries++
	_, err := x.js.PublishMsgAsync(encodeChunk(x.lane, f.chunk))
	if err != nil {
		return x.retry(refusal{f.chunk.Number, err})
	}
	return nil
}

func backOff(tries int) time.Duration {
	return min(100*time.Millisecond<<min(tries, 6), 5*time.Second)
}

// publishFailed hears of publishes that failed, or whose ack did not come. No
// more of them can be under way than refused has room for, unless the run is
// over.
func (x *run) publishFailed(_ jetstream.JetStream, m *nats.Msg, err error) {
	tokens := strings.Split(m.Subject, ".")
	n, _ := number(tokens[len(tokens)-1], 0, 1<<31-1)
	select {
	case x.refused <- refusal{n, err}:
	default:
	}
}

// retry looks at a publish that failed. That the chunk is already queued is as
// good as success; only the description tells that from a full stream. A server
// that cannot for now is tried again, as it is where it is not known what it has.
// The error is for what will not change.
func (x *run) retry(r refusal) error {
	f := x.chunks[r.chunk]
	if f == nil || f.result != nil {
		return nil
	}
	var api *jetstream.APIError
	if errors.As(r.err, &api) {
		switch {
		case strings.Contains(api.Description, "maximum messages per subject"):
			return nil
		case api.Code >= 500:
			x.tell("the server takes no chunks: " + api.Description)
		default:
			return fmt.Errorf("publish chunk %s: %w", f.chunk.Name(), r.err)
		}
	}
	if errors.Is(r.err, nats.ErrMaxPayload) {
		return fmt.Errorf("publish chunk %s of %d bytes: %w", f.chunk.Name(), len(f.chunk.Payload), r.err)
	}
	f.again = time.Now().Add(backOff(f.tries))
	return nil
}

// accept takes a message of a result. What comes twice is as good as once.
func (x *run) accept(p part) {
	f := x.chunks[p.chunk]
	if f == nil || f.result != nil {
		return
	}
	x.heard, x.told = time.Now(), false
	if p.parts == 1 {
		x.complete(f, p.result)
		return
	}
	if len(f.parts) != p.parts || f.parts[0].sum != p.sum { // the first, or of another answer
		f.parts = make([]part, p.parts)
		for i := range f.parts {
			f.parts[i].sum = p.sum
		}
	}
	f.parts[p.n-1] = p
	if slices.ContainsFunc(f.parts, func(q part) bool { return q.parts == 0 }) {
		return // one is missing
	}
	whole := p.result
	whole.Payload = nil
	for _, q := range f.parts {
		whole.Payload = append(whole.Payload, q.result.Payload...)
	}
	x.complete(f, whole)
}

func (x *run) complete(f *flying, r job.Result) {
	if r.Records != f.chunk.Records {
		return // not an answer to this chunk; the audit asks again
	}
	f.result, f.parts = &r, nil
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
		if err := x.define(ctx); err != nil {
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
	}
	returns := x.q.returns.Load()
	if due := x.q.times.audit; returns == x.returns && (quiet < due || now.Sub(x.audited) < due) || quiet < x.q.times.quiet/2 {
		return nil
	}
	x.audited, x.returns = now, returns
	return x.audit(ctx)
}

// tell calls Waiting, once in a time in which nothing comes.
func (x *run) tell(reason string) {
	if !x.told && x.Waiting != nil {
		x.Waiting(reason)
	}
	x.told = true
}
