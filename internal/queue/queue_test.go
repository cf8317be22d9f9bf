package queue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"antipode/internal/job"
	"antipode/internal/natsd"
	"antipode/internal/puzzle"
)

func TestMain(m *testing.M) {
	// A publisher of the client that is cleaned up before its goroutine has looked for
	// its channel leaves that behind. It takes a job that ends at its first chunk.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect"))
}

// patience bounds every wait for something that must come.
const patience = time.Minute

// lenient returns times that a busy machine keeps: nothing is given to another
// worker, or audited, because it was slow.
func lenient() times {
	return times{ackWait: 5 * patience, progress: time.Second, again: time.Second, quiet: 5 * patience, audit: 5 * patience, define: kvAge / 4}
}

// startServer runs a server on a free port until the test ends.
func startServer(t *testing.T) *natsd.Server {
	t.Helper()
	s, err := natsd.Start(natsd.Config{Port: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// customServer runs a server with other options until the test ends.
func customServer(t *testing.T, change func(*natsserver.Options)) (url string) {
	t.Helper()
	opts := &natsserver.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true}
	change(opts)
	s, err := natsserver.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server is not ready")
	}
	return s.ClientURL()
}

func logger(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// connect opens a queue that is closed with the test.
func connect(t *testing.T, url string, tm times) *Queue {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	q, err := open(ctx, Config{URL: url, Name: t.Name(), Logger: logger(t)}, tm)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hangUp(t, q) })
	return q
}

func hangUp(t *testing.T, q *Queue) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := q.Close(ctx); err != nil {
		t.Error(err)
	}
}

// answerer is what a test does in the place of a worker.
type answerer func(ctx context.Context, c *job.Chunk) (*job.Result, error)

// serve serves a queue's lanes until the test ends, or stop is called.
func serve(t *testing.T, q *Queue, bulk, express int, answer answerer) (stop func()) {
	t.Helper()
	take, cancel := context.WithCancel(context.Background())
	done := serveUntil(t, q, take, take, bulk, express, answer)
	stop = sync.OnceFunc(func() {
		cancel()
		await(t, done, "the end of Serve")
	})
	t.Cleanup(stop)
	return stop
}

func serveUntil(t *testing.T, q *Queue, take, hold context.Context, bulk, express int, answer answerer) (done chan struct{}) {
	t.Helper()
	done = make(chan struct{})
	go func() {
		defer close(done)
		q.Serve(take, hold, ServeConfig{
			Fail: failAll, Worker: "test-worker", Bulk: bulk, Express: express,
			Answer: func(ctx context.Context, c *job.Chunk, progress *atomic.Int64) (*job.Result, func(context.Context), error) {
				r, err := answer(ctx, c)
				return r, nil, err
			},
		})
	}()
	return done
}

// failAll is the Fail of a server that knows no given puzzles.
func failAll(_ context.Context, c *job.Chunk, reason string) *job.Result {
	set, err := puzzle.Builtin()
	if err != nil {
		panic(err)
	}
	res := job.All(c, set, job.Answer{Status: job.Failed, Reason: reason})
	res.Worker = "test-worker"
	return res
}

// echo answers a chunk with its own payload.
func echo(_ context.Context, c *job.Chunk) (*job.Result, error) { return echoed(c), nil }

func echoed(c *job.Chunk) *job.Result {
	r := &job.Result{Payload: []byte("answer to " + string(c.Payload)), Worker: "test-worker"}
	r.Records, r.ByStatus[job.Solved] = c.Records, c.Records
	return r
}

// blocked answers nothing before its context ends, and tells what it holds.
func blocked(held chan<- *job.Chunk) answerer {
	return func(ctx context.Context, c *job.Chunk) (*job.Result, error) {
		held <- c
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
}

func newSpec() job.Spec {
	return job.Spec{Owner: "tester", Job: job.NewID(), Puzzle: "swap", File: "swap.txt", Format: job.Format{Framing: puzzle.Framing{Lines: 3}, Known: true}}
}

// numbered returns a job's n chunks.
func numbered(spec job.Spec, n int) []*job.Chunk {
	chunks := make([]*job.Chunk, n)
	for i := range chunks {
		chunks[i] = &job.Chunk{Spec: spec, Number: i, FirstLine: 1 + i, FirstRecord: 1 + i, Records: 1, Payload: fmt.Appendf(nil, "%d\n", i), Last: i == n-1}
	}
	return chunks
}

// inTurn is the Next of these chunks.
func inTurn(chunks []*job.Chunk) func(context.Context) (*job.Chunk, *job.Result, error) {
	return func(context.Context) (*job.Chunk, *job.Result, error) {
		if len(chunks) == 0 {
			return nil, nil, io.EOF
		}
		c := chunks[0]
		chunks = chunks[1:]
		return c, nil, nil
	}
}

// written is the Write that collects.
type written struct {
	mu     sync.Mutex
	text   strings.Builder
	counts job.Counts
	chunks []int
}

func (w *written) write(c *job.Chunk, r *job.Result) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(r.Payload)
	w.counts.Sum(r.Counts)
	w.chunks = append(w.chunks, c.Number)
	return nil
}

// echoes is what is written of n numbered chunks.
func echoes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "answer to %d\n", i)
	}
	return b.String()
}

func (w *written) check(t *testing.T, n int) {
	t.Helper()
	if got, want := w.text.String(), echoes(n); got != want {
		t.Errorf("written, of %d chunks:\n%.2000s\nwant\n%.2000s", n, got, want)
	}
	if w.counts.Records != n || w.counts.ByStatus[job.Solved] != n {
		t.Errorf("counts %+v, want %d solved", w.counts, n)
	}
}

// running starts a run; result is where its end comes.
func running(t *testing.T, q *Queue, r Run) (result chan error) {
	t.Helper()
	if r.Window == (Window{}) {
		r.Window = Window{Chunks: 64, Bytes: 32 << 20}
	}
	ctx, cancel := context.WithCancel(context.Background())
	result = make(chan error, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		result <- q.Run(ctx, r)
	}()
	t.Cleanup(func() {
		cancel()
		await(t, done, "the end of Run")
	})
	return result
}

// completes fails the test unless a run ends well.
func completes(t *testing.T, result chan error) {
	t.Helper()
	if err := await(t, result, "the end of the job"); err != nil {
		t.Fatalf("the job ended with: %v", err)
	}
}

// await returns what comes, or is closed.
func await[T any](t *testing.T, ch <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-time.After(patience):
		t.Fatalf("no sign of %s after %s", what, patience)
	}
	return v
}

// eventually asks again and again for what gives no sign of its own.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("not so after %s: %s", patience, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// messages is how many messages a stream holds.
func messages(t *testing.T, q *Queue, stream string) int {
	t.Helper()
	s, err := q.js.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	return int(s.CachedInfo().State.Msgs)
}

// push publishes a chunk as it comes.
func push(t *testing.T, q *Queue, lane Lane, c *job.Chunk) {
	t.Helper()
	if _, err := q.js.PublishMsg(t.Context(), encodeChunk(lane, c)); err != nil {
		t.Fatal(err)
	}
}

// pull takes the next chunk of a lane as a worker would.
func pull(t *testing.T, q *Queue, lane Lane) jetstream.Msg {
	t.Helper()
	c, err := q.consumer(t.Context(), lane)
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.Next(jetstream.FetchMaxWait(patience))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// lastOf returns the message of a subject.
func lastOf(t *testing.T, q *Queue, stream, subject string) *jetstream.RawStreamMsg {
	t.Helper()
	s, err := q.js.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.GetLastMsgForSubject(t.Context(), subject)
	if err != nil {
		t.Fatalf("%s: %v", subject, err)
	}
	return m
}

func TestOpenWaitsForTheServer(t *testing.T) {
	const nobody = "nats://user:hush@127.0.0.1:1"
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	q, err := Open(ctx, Config{URL: nobody, Logger: logger(t)})
	if err == nil {
		hangUp(t, q)
		t.Fatal("there is a server where none is")
	}
	if !strings.Contains(err.Error(), "127.0.0.1:1") || strings.Contains(err.Error(), "hush") {
		t.Errorf("error %v, want one with the address and without the password", err)
	}
}

func TestOpenRefusesNonsense(t *testing.T) {
	_, err := Open(t.Context(), Config{URL: "nats://[::1", Logger: logger(t)})
	if err == nil || strings.Contains(err.Error(), "[::1") {
		t.Errorf("error %v, want one that does not repeat an address that may hold a password", err)
	}
}

// A server without JetStream is waited for: it may be restarted with it.
func TestOpenNeedsJetStream(t *testing.T) {
	url := customServer(t, func(o *natsserver.Options) { o.JetStream = false })
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := Open(ctx, Config{URL: url, Logger: logger(t)})
	if err == nil || !strings.Contains(err.Error(), "JOBS") {
		t.Errorf("error %v, want one that names the stream", err)
	}
}

func TestCloseAfterTheServer(t *testing.T) {
	s, err := natsd.Start(natsd.Config{Port: -1})
	if err != nil {
		t.Fatal(err)
	}
	q, err := Open(t.Context(), Config{URL: s.URL(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := q.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestReconnectDelay(t *testing.T) {
	for attempts := range 100 {
		if d := reconnectDelay(attempts); d < 50*time.Millisecond || d > maxReconnect {
			t.Errorf("attempt %d: %s", attempts, d)
		}
	}
}

// connectInside opens a queue on a server that only this process reaches.
func connectInside(t *testing.T, s *natsd.Server) *Queue {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	q, err := open(ctx, Config{InProcess: s, Name: t.Name(), Logger: logger(t)}, lenient())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hangUp(t, q) })
	return q
}

// serveProgress serves with an Answer that works until its context ends, and
// counts its progress where it advances.
func serveProgress(t *testing.T, q *Queue, ctx context.Context, slots int, advances bool, begun chan<- int) (done chan struct{}) {
	t.Helper()
	done = make(chan struct{})
	go func() {
		defer close(done)
		q.Serve(ctx, ctx, ServeConfig{
			Worker: "test-worker", Bulk: slots,
			Answer: func(ctx context.Context, c *job.Chunk, progress *atomic.Int64) (*job.Result, func(context.Context), error) {
				begun <- c.Number
				tick := time.NewTicker(50 * time.Millisecond)
				defer tick.Stop()
				for {
					select {
					case <-tick.C:
						if advances {
							progress.Add(1)
						}
					case <-ctx.Done():
						return nil, nil, context.Cause(ctx)
					}
				}
			},
		})
	}()
	return done
}

// serveRemembering serves until the test ends.
func serveRemembering(t *testing.T, q *Queue, remember func(context.Context)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		q.Serve(ctx, ctx, ServeConfig{
			Worker: "test-worker", Bulk: 1,
			Answer: func(_ context.Context, c *job.Chunk, _ *atomic.Int64) (*job.Result, func(context.Context), error) {
				return echoed(c), remember, nil
			},
		})
	}()
	t.Cleanup(func() {
		cancel()
		await(t, done, "the end of Serve")
	})
}
