package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/job"
	"antipode/internal/limit"
	"antipode/internal/natsd"
)

// settled waits until JOBS is empty.
func settled(t *testing.T, q *Queue) {
	t.Helper()
	eventually(t, "JOBS is empty", func() bool { return messages(t, q, jobsStream) == 0 })
}

// textChunk is a chunk of n swap boards.
func textChunk(n int) *job.Chunk {
	return &job.Chunk{Spec: newSpec(), FirstLine: 10, FirstRecord: 4, Records: n, Payload: []byte(strings.Repeat("2 1 3\n7 5 9\n8 4 6\n", n)), Last: true}
}

// failures is what is printed of n records from line 10 on, each of three lines.
func failures(file string, n int, reason string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "failed: %s:%d: %s\n", file, 10+3*i, reason)
	}
	return b.String()
}

// When hold ends, what is held is given back at once, and the next worker
// answers it: here nothing would come for minutes otherwise.
func TestHeldChunksAreGivenBack(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	spec := newSpec()
	var w written
	result := running(t, q, Run{Spec: spec, Next: inTurn(numbered(spec, 4)), Write: w.write})
	for range limit.Tries + 2 { // however often: a planned stop is no try
		take, stopTaking := context.WithCancel(context.Background())
		hold, stopHolding := context.WithCancel(context.Background())
		held := make(chan *job.Chunk, 4)
		done := serveUntil(t, q, take, hold, 3, 1, blocked(held))
		for range 3 {
			await(t, held, "a chunk in each slot")
		}
		stopTaking()
		select {
		case <-done:
			t.Fatal("Serve ended while it held chunks")
		case <-time.After(50 * time.Millisecond): // it has had a chance
		}
		stopHolding()
		await(t, done, "the end of Serve")
	}
	serve(t, q, 1, 1, echo)
	completes(t, result)
	w.check(t, 4)
	if n := messages(t, q, deadStream); n != 0 {
		t.Errorf("%d dead letters", n)
	}
	leftTries(t, q)
}

// A chunk that goes back before it was begun, however often, was never tried.
func TestUnbegunChunksAreNoTries(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	spec := newSpec()
	chunk := numbered(spec, 2)[0]
	push(t, q, Bulk, chunk)
	worker := &server{Queue: q}
	for range limit.Tries + 2 {
		worker.handBack(pull(t, q, Bulk))
	}
	if n, err := counted(t, q, chunk); n != 0 || err != nil {
		t.Errorf("begun %d times, %v", n, err)
	}
	serve(t, q, 1, 0, echo)
	eventually(t, "the chunk is answered", func() bool { return messages(t, q, jobsStream) == 0 })
	if n := messages(t, q, deadStream); n != 0 {
		t.Errorf("%d dead letters", n)
	}
	leftTries(t, q)
}

// leftTries fails the test where tries are left in the bucket.
func leftTries(t *testing.T, q *Queue) {
	t.Helper()
	eventually(t, "no tries are left in the bucket", func() bool {
		keys, err := q.kv.Keys(t.Context())
		if err != nil && !errors.Is(err, jetstream.ErrNoKeysFound) {
			t.Fatal(err)
		}
		return !slices.ContainsFunc(keys, func(k string) bool { return strings.HasPrefix(k, "tries.") })
	})
}

// What is held when take ends is finished.
func TestHeldChunksAreFinished(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	spec := newSpec()
	var w written
	result := running(t, q, Run{Spec: spec, Next: inTurn(numbered(spec, 3)), Write: w.write})
	take, stop := context.WithCancel(context.Background())
	held, release := make(chan *job.Chunk, 3), make(chan struct{})
	done := serveUntil(t, q, take, context.Background(), 3, 0, func(_ context.Context, c *job.Chunk) (*job.Result, error) {
		held <- c
		<-release
		return echoed(c), nil
	})
	for range 3 {
		await(t, held, "a chunk in each slot")
	}
	stop()
	close(release)
	await(t, done, "the end of Serve")
	completes(t, result)
	w.check(t, 3)
}

// An idle worker stops at once.
func TestIdleWorkerStops(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	stop := serve(t, q, 2, 1, echo)
	spec := newSpec()
	var w written
	completes(t, running(t, q, Run{Spec: spec, Next: inTurn(numbered(spec, 2)), Write: w.write}))
	began := time.Now()
	stop()
	if d := time.Since(began); d > patience/2 {
		t.Errorf("stopped after %s", d)
	}
}

// A chunk that takes every worker down with it is given up after four tries:
// failed for each of its records, with a copy and the reason in DEAD.
func TestChunkThatKillsWorkers(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	tm := lenient()
	tm.ackWait = time.Second
	q := connect(t, s.URL(), tm)
	chunk := textChunk(3)
	var got string
	var counts job.Counts
	result := running(t, q, Run{Spec: chunk.Spec, Next: inTurn([]*job.Chunk{chunk}), Write: func(_ *job.Chunk, r *job.Result) error {
		got, counts = string(r.Payload), r.Counts
		return nil
	}})
	for try := range limit.Tries {
		victim, err := open(t.Context(), Config{URL: s.URL(), Logger: logger(t)}, tm)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		held := make(chan *job.Chunk, 1)
		done := serveUntil(t, victim, ctx, ctx, 0, 1, blocked(held))
		await(t, held, fmt.Sprintf("try %d", try+1))
		victim.nc.Close() // gone, without a word to the server
		<-victim.closed
		cancel()
		await(t, done, "the end of a worker")
	}
	last := make(chan *job.Chunk, 1)
	serve(t, q, 0, 1, func(ctx context.Context, c *job.Chunk) (*job.Result, error) {
		last <- c
		return echoed(c), nil
	})
	completes(t, result)
	select {
	case <-last:
		t.Error("the chunk was begun a fifth time")
	default:
	}
	const reason = "given up: begun 4 times, delivered 5 times, and never finished"
	if want := failures("swap.txt", 3, reason); got != want {
		t.Errorf("written:\n%s\nwant\n%s", got, want)
	}
	if counts.Records != 3 || counts.ByStatus[job.Failed] != 3 {
		t.Errorf("counts %+v", counts)
	}
	settled(t, q)
	dead := lastOf(t, q, deadStream, "antipode.v1.dead.tester."+chunk.Job+".0")
	if string(dead.Data) != string(chunk.Payload) {
		t.Errorf("the copy holds %q", dead.Data)
	}
	for key, want := range map[string]string{
		hPuzzle: "swap", hFormat: "text/3", hFile: "swap.txt", hRecords: "3", hFirstLine: "10", hFirstRecord: "4",
		hReason: reason, hDelivered: "5", hDeadBy: "test-worker",
	} {
		if got := dead.Header.Get(key); got != want {
			t.Errorf("the copy's %s is %q, want %q", key, got, want)
		}
	}
	if _, err := time.Parse(time.RFC3339, dead.Header.Get(hDeadTime)); err != nil {
		t.Error(err)
	}
	leftTries(t, q)
}

// The bucket's count decides how often a chunk may still be begun. Without a
// count one that comes again was begun once; what is no count is none.
func TestTriesDecide(t *testing.T) {
	for _, c := range []struct {
		tries string
		begun bool // once more
	}{{"", true}, {"0", true}, {"3", true}, {"4", false}, {"1000", false}, {"x", true}, {"-7", true}} {
		t.Run(c.tries, func(t *testing.T) {
			q := connect(t, startServer(t).URL(), lenient())
			chunk := textChunk(1)
			if c.tries != "" {
				if _, err := q.kv.PutString(t.Context(), triesKey(chunk), c.tries); err != nil {
					t.Fatal(err)
				}
			}
			push(t, q, Bulk, chunk)
			if err := pull(t, q, Bulk).Nak(); err != nil {
				t.Fatal(err)
			}
			begun := make(chan *job.Chunk, 1)
			serve(t, q, 1, 0, func(_ context.Context, c *job.Chunk) (*job.Result, error) {
				begun <- c
				return echoed(c), nil
			})
			settled(t, q)
			if n := len(begun); (n == 1) != c.begun {
				t.Errorf("begun %d times", n)
			}
			failed := lastOf(t, q, resultsStream, resultSubject(chunk, 1)).Header.Get("Failed")
			if (failed == "0") != c.begun {
				t.Errorf("%s failed", failed)
			}
			leftTries(t, q)
		})
	}
}

// A chunk that was delivered over 50 times is given up, whatever became of the
// deliveries.
func TestDeliveredTooOften(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	chunk := textChunk(1)
	push(t, q, Bulk, chunk)
	for range limit.Deliveries {
		if err := pull(t, q, Bulk).Nak(); err != nil {
			t.Fatal(err)
		}
	}
	serve(t, q, 1, 0, func(_ context.Context, c *job.Chunk) (*job.Result, error) {
		t.Error("begun")
		return echoed(c), nil
	})
	settled(t, q)
	if reason := lastOf(t, q, deadStream, deadSubject(chunk)).Header.Get(hReason); !strings.Contains(reason, "delivered 51 times") {
		t.Errorf("reason %q", reason)
	}
}

// A chunk whose result cannot be stored is put off, and that is no try.
func TestResultCannotBeStored(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	q := connect(t, s.URL(), lenient())
	chunk := textChunk(1)
	for range 3 { // it was begun as often as it may be but once
		if err := q.setTries(t.Context(), chunk, 3); err != nil {
			t.Fatal(err)
		}
	}
	push(t, q, Bulk, chunk)
	if err := pull(t, q, Bulk).Nak(); err != nil {
		t.Fatal(err)
	}
	full := streamConfig(t, q.js, resultsStream)
	full.MaxMsgSize = 1
	if _, err := q.js.UpdateStream(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	begun := make(chan *job.Chunk, 10)
	serve(t, connect(t, s.URL(), lenient()), 1, 0, func(_ context.Context, c *job.Chunk) (*job.Result, error) {
		begun <- c
		return echoed(c), nil
	})
	await(t, begun, "the first attempt")
	eventually(t, "the try is taken back", func() bool {
		n, err := counted(t, q, chunk)
		if err != nil {
			t.Fatal(err)
		}
		return n == 3
	})
	full.MaxMsgSize = -1
	if _, err := q.js.UpdateStream(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	await(t, begun, "the second attempt")
	settled(t, q)
	if m := lastOf(t, q, resultsStream, resultSubject(chunk, 1)); m.Header.Get("Solved") != "1" {
		t.Errorf("result %v", m.Header)
	}
	leftTries(t, q)
}

// The chunks of a cancelled job go without a result; one that is being answered
// is let go at once.
func TestCancelledJob(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	other := numbered(newSpec(), 1)[0]
	chunks := numbered(newSpec(), 20)
	held, causes := make(chan *job.Chunk, 20), make(chan error, 20)
	serve(t, q, 1, 0, func(ctx context.Context, c *job.Chunk) (*job.Result, error) {
		if c.Job == other.Job {
			return echoed(c), nil
		}
		held <- c
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	})
	for _, c := range chunks {
		push(t, q, Bulk, c)
	}
	await(t, held, "the first chunk")
	if err := q.Cancel(t.Context(), chunks[0].Owner, chunks[0].Job); err != nil {
		t.Fatal(err)
	}
	if err := await(t, causes, "the end of the first chunk"); !errors.Is(err, ErrCancelled) {
		t.Errorf("ended with %v, want %v", err, ErrCancelled)
	}
	push(t, q, Bulk, other)
	settled(t, q)
	if n := messages(t, q, resultsStream); n != 1 {
		t.Errorf("%d results, want that of the other job", n)
	}
	if n := messages(t, q, deadStream); n != 0 {
		t.Errorf("%d dead letters", n)
	}
	lastOf(t, q, resultsStream, resultSubject(other, 1))
}

// A worker that starts after a job was cancelled drops its chunks, too.
func TestJobCancelledBeforeTheWorker(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	chunks := numbered(newSpec(), 5)
	for _, c := range chunks {
		push(t, q, Bulk, c)
	}
	if err := q.Cancel(t.Context(), chunks[0].Owner, chunks[0].Job); err != nil {
		t.Fatal(err)
	}
	serve(t, q, 1, 0, blocked(make(chan *job.Chunk, 5)))
	settled(t, q)
	if n := messages(t, q, resultsStream); n != 0 {
		t.Errorf("%d results", n)
	}
}

// A worker hears of cancelled jobs after its server came back with another
// bucket, too.
func TestJobCancelledAfterTheServerCameBack(t *testing.T) {
	t.Parallel()
	server, err := natsd.Start(natsd.Config{Port: -1, Store: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop() })
	q := connect(t, server.URL(), lenient())
	for range 5 { // so that the old sequence is ahead of the new one
		if err := q.Cancel(t.Context(), "me", job.NewID()); err != nil {
			t.Fatal(err)
		}
	}
	chunk := textChunk(1)
	held := make(chan *job.Chunk, 1)
	serve(t, connect(t, server.URL(), lenient()), 1, 0, blocked(held))
	push(t, q, Bulk, chunk)
	await(t, held, "a chunk, before the server goes")
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if server, err = natsd.Start(natsd.Config{Port: portOf(t, server.URL()), Store: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the job is cancelled", func() bool { return q.Cancel(t.Context(), chunk.Owner, chunk.Job) == nil })
	push(t, q, Bulk, chunk)
	settled(t, q)
	if n := messages(t, q, resultsStream); n != 0 {
		t.Errorf("%d results", n)
	}
}

// A job that was cancelled may be taken up again: its key is deleted.
func TestCancelTakenBack(t *testing.T) {
	c := cancellations{jobs: map[string]struct{}{}, held: map[string]map[*job.Chunk]context.CancelCauseFunc{}}
	chunk := textChunk(1)
	name := chunk.Owner + "." + chunk.Job
	c.mark(name, true)
	ctx, release := c.hold(t.Context(), chunk)
	if !errors.Is(context.Cause(ctx), ErrCancelled) {
		t.Error("a chunk of a cancelled job is held")
	}
	release()
	c.mark(name, false)
	ctx, release = c.hold(t.Context(), chunk)
	if ctx.Err() != nil {
		t.Error("a chunk of a job that is not cancelled any more is not held")
	}
	release()
	if len(c.held) != 0 {
		t.Errorf("%d jobs are held", len(c.held))
	}
}

// However many jobs are cancelled, a worker remembers the last of them, and not
// all.
func TestCancelledJobsAreBounded(t *testing.T) {
	c := cancellations{jobs: map[string]struct{}{}, held: map[string]map[*job.Chunk]context.CancelCauseFunc{}}
	for i := range 3 * limit.KeptCancels {
		c.mark(fmt.Sprintf("me.%d", i), true)
	}
	if n := len(c.jobs) + len(c.old); n > limit.KeptCancels {
		t.Errorf("%d jobs are remembered", n)
	}
	for i := 3*limit.KeptCancels - limit.KeptCancels/2; i < 3*limit.KeptCancels; i++ {
		chunk := &job.Chunk{Spec: job.Spec{Owner: "me", Job: fmt.Sprint(i)}}
		ctx, release := c.hold(t.Context(), chunk)
		if ctx.Err() == nil {
			t.Fatalf("job %d of %d is forgotten", i, 3*limit.KeptCancels)
		}
		release()
	}
}

// A message whose subject names no chunk is set aside, and not answered.
func TestNamelessMessages(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	subjects := []string{"antipode.v1.jobs.bulk.me", "antipode.v1.jobs.bulk.me.job.x", "antipode.v1.jobs.bulk.m$e.job.1", "antipode.v1.jobs.bulk.me.job.1.2.3"}
	for _, subject := range subjects {
		m := nats.NewMsg(subject)
		m.Data = []byte("payload of " + subject)
		m.Header.Set("Mine", "kept")
		if _, err := q.js.PublishMsg(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	good := textChunk(1)
	push(t, q, Bulk, good)
	serve(t, q, 1, 0, func(_ context.Context, c *job.Chunk) (*job.Result, error) {
		if c.Job != good.Job {
			t.Errorf("%s was begun", c.Name())
		}
		return echoed(c), nil
	})
	settled(t, q)
	if n := messages(t, q, resultsStream); n != 1 {
		t.Errorf("%d results, want that of the good chunk", n)
	}
	var payloads []string
	s, err := q.js.Stream(t.Context(), deadStream)
	if err != nil {
		t.Fatal(err)
	}
	for seq := range uint64(len(subjects)) {
		m, err := s.GetMsg(t.Context(), seq+1)
		if err != nil {
			t.Fatal(err)
		}
		payloads = append(payloads, string(m.Data))
		if !strings.HasPrefix(m.Subject, "antipode.v1.dead.nameless.nameless.") || m.Header.Get("Mine") != "kept" || m.Header.Get(hReason) == "" {
			t.Errorf("%s %v", m.Subject, m.Header)
		}
	}
	for _, subject := range subjects {
		if !slices.Contains(payloads, "payload of "+subject) {
			t.Errorf("no copy of %s", subject)
		}
	}
}

// Without room for a copy a nameless message is not thrown away.
func TestNamelessMessageWithoutACopy(t *testing.T) {
	t.Parallel()
	q := connect(t, startServer(t).URL(), lenient())
	if err := q.js.DeleteStream(t.Context(), deadStream); err != nil {
		t.Fatal(err)
	}
	if _, err := q.js.Publish(t.Context(), "antipode.v1.jobs.bulk.me", []byte("keep me")); err != nil {
		t.Fatal(err)
	}
	serve(t, q, 1, 0, echo)
	eventually(t, "the message was put off", func() bool {
		c, err := q.consumer(t.Context(), Bulk)
		return err == nil && c.CachedInfo().Delivered.Consumer >= 2
	})
	if n := messages(t, q, jobsStream); n != 1 {
		t.Error("the message is gone")
	}
	if _, err := q.ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	settled(t, q)
	if n := messages(t, q, deadStream); n != 1 {
		t.Errorf("%d dead letters", n)
	}
}

// A chunk whose headers cannot be read fails for each of its records.
func TestBadHeaders(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	chunk := textChunk(2)
	m := encodeChunk(Bulk, chunk)
	m.Header.Set(hFirstRecord, "first")
	m.Header.Set(hBudgetTime, "long\nline")
	if _, err := q.js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	serve(t, q, 1, 0, func(context.Context, *job.Chunk) (*job.Result, error) {
		t.Error("begun")
		return nil, errors.New("begun")
	})
	settled(t, q)
	got := lastOf(t, q, resultsStream, resultSubject(chunk, 1))
	lines := strings.SplitAfter(string(got.Data), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "failed: swap.txt:10: header First-Record: ") || !strings.HasPrefix(lines[1], "failed: swap.txt:13: header First-Record: ") ||
		!strings.Contains(lines[0], "header Budget-Time: ") || got.Header.Get("Failed") != "2" || got.Header.Get(hRecords) != "2" {
		t.Errorf("result %v\n%s", got.Header, got.Data)
	}
	if reason := lastOf(t, q, deadStream, deadSubject(chunk)).Header.Get(hReason); !strings.Contains(reason, "First-Record") {
		t.Errorf("reason %q", reason)
	}
}

// What a publisher asked of JOBS, by headers, does not keep a copy out of DEAD.
func TestServersHeadersAreNotBuried(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	chunk := textChunk(1)
	m := encodeChunk(Bulk, chunk)
	m.Header.Set(hFirstRecord, "first") // so that it is given up
	if _, err := q.js.PublishMsg(t.Context(), m, jetstream.WithExpectStream(jobsStream)); err != nil {
		t.Fatal(err)
	}
	serve(t, q, 1, 0, echo)
	settled(t, q)
	if got := lastOf(t, q, deadStream, deadSubject(chunk)); got.Header.Get(hFirstRecord) != "first" || got.Header.Get("Nats-Expected-Stream") != "" {
		t.Errorf("dead letter %v", got.Header)
	}
}

// Why a chunk was given up stands in the answer to each of its records, so that
// a hostile header must not make it long.
func TestReasonsAreBounded(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	chunk := textChunk(1)
	m := encodeChunk(Bulk, chunk)
	for _, key := range []string{hFirstRecord, hFirstLine, hBudgetStates, hBudgetTime, hFormat, hOutput, hWant} {
		m.Header.Set(key, strings.Repeat("\x01é", 2000))
	}
	if _, err := q.js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	serve(t, q, 1, 0, echo)
	settled(t, q)
	if got := lastOf(t, q, resultsStream, resultSubject(chunk, 1)); len(got.Data) > 1000 {
		t.Errorf("an answer of %d bytes", len(got.Data))
	}
}

// A chunk that fills a message is given up like any other, although its copy
// with the reason fits none.
func TestLargestChunkIsGivenUp(t *testing.T) {
	url := customServer(t, func(o *natsserver.Options) { o.MaxPayload = 64 << 10 })
	q := connect(t, url, lenient())
	chunk := textChunk(1)
	m := encodeChunk(Bulk, chunk)
	m.Header.Set(hWant, "everything")
	m.Data = make([]byte, 64<<10-m.Size())
	if _, err := q.js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	serve(t, q, 1, 0, echo)
	settled(t, q)
	lastOf(t, q, resultsStream, resultSubject(chunk, 1))
	dead := lastOf(t, q, deadStream, deadSubject(chunk))
	if len(dead.Data) != 0 || dead.Header.Get(hDeadBytes) != fmt.Sprint(len(m.Data)) || dead.Header.Get(hReason) == "" {
		t.Errorf("copy of %d bytes, %v", len(dead.Data), dead.Header)
	}
}

// A failed result is stored only where there is none.
func TestFailureReplacesNoAnswer(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	chunk := textChunk(2)
	if _, err := q.js.PublishMsg(t.Context(), encodeResult(chunk, echoed(chunk), q.nc.MaxPayload())[0]); err != nil {
		t.Fatal(err)
	}
	m := encodeChunk(Bulk, chunk)
	m.Header.Set(hFirstRecord, "first")
	if _, err := q.js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	serve(t, q, 1, 0, echo)
	settled(t, q)
	if got := lastOf(t, q, resultsStream, resultSubject(chunk, 1)); string(got.Data) != string(echoed(chunk).Payload) || got.Header.Get("Failed") != "0" {
		t.Errorf("result %v\n%s", got.Header, got.Data)
	}
	lastOf(t, q, deadStream, deadSubject(chunk)) // all the same
}

// An answer may replace a failed result.
func TestAnswerReplacesAFailure(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	chunk := textChunk(1)
	s := &server{Queue: q, cfg: ServeConfig{Worker: "test-worker"}}
	failed := &job.Result{Payload: []byte("failed\n")}
	failed.Records, failed.ByStatus[job.Failed] = 1, 1
	if err := s.publish(t.Context(), chunk, failed, true); err != nil {
		t.Fatal(err)
	}
	push(t, q, Bulk, chunk)
	serve(t, q, 1, 0, echo)
	settled(t, q)
	if got := lastOf(t, q, resultsStream, resultSubject(chunk, 1)); got.Header.Get("Failed") != "0" {
		t.Errorf("result %v", got.Header)
	}
}

// A chunk that is worked on for longer than the ack wait stays with its worker
// while the work gets on, and goes to another when it does not.
func TestProgress(t *testing.T) {
	t.Parallel()
	for name, advances := range map[string]bool{"the work gets on": true, "the work hangs": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tm := lenient()
			tm.ackWait, tm.progress = 3*time.Second, 200*time.Millisecond
			q := connect(t, startServer(t).URL(), tm)
			chunk := textChunk(1)
			push(t, q, Bulk, chunk)
			begun := make(chan int, 10)
			ctx, cancel := context.WithCancel(context.Background())
			done := serveProgress(t, q, ctx, 2, advances, begun)
			defer func() {
				cancel()
				await(t, done, "the end of Serve")
			}()
			await(t, begun, "the first try")
			select {
			case <-begun:
				if advances {
					t.Error("the chunk was given to another slot while the work got on")
				}
			case <-time.After(2 * tm.ackWait):
				if !advances {
					await(t, begun, "the second try")
				}
			}
		})
	}
}

// Remember is called when the result is stored, and only then.
func TestRemember(t *testing.T) {
	s := startServer(t)
	q := connect(t, s.URL(), lenient())
	chunk := textChunk(1)
	remembered := make(chan bool, 1)
	serveRemembering(t, q, func(context.Context) {
		_, err := q.js.Stream(context.Background(), resultsStream)
		remembered <- err == nil && messages(t, q, resultsStream) == 1
	})
	push(t, q, Bulk, chunk)
	if !await(t, remembered, "Remember") {
		t.Error("called before the result was stored")
	}
	settled(t, q)
}

// counted is how often a chunk was begun, as the bucket has it.
func counted(t *testing.T, q *Queue, c *job.Chunk) (int, error) {
	t.Helper()
	entry, err := q.kv.Get(t.Context(), triesKey(c))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(entry.Value()))
}
