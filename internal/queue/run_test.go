package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/job"
	"antipode/internal/natsd"
)

// Results are written in the order of the chunks, in whichever order they were
// answered: here each group of chunks is held until all of it is with a worker,
// and then let go in an order of its own.
func TestResultsAreWrittenInOrder(t *testing.T) {
	const chunks, group = 48, 8
	q := connect(t, startServer(t).URL(), lenient())
	rng := rand.New(rand.NewPCG(1, 1))
	var mu sync.Mutex
	var held []chan struct{}
	serve(t, q, group, 0, func(ctx context.Context, c *job.Chunk) (*job.Result, error) {
		release := make(chan struct{})
		mu.Lock()
		if held = append(held, release); len(held) == group {
			for _, i := range rng.Perm(group) {
				close(held[i])
			}
			held = nil
		}
		mu.Unlock()
		<-release
		return echoed(c), nil
	})
	spec := newSpec()
	var w written
	completes(t, running(t, q, Run{Spec: spec, Next: inTurn(numbered(spec, chunks)), Write: w.write}))
	w.check(t, chunks)
	if n := messages(t, q, resultsStream); n != chunks {
		t.Errorf("%d results are kept, want %d", n, chunks)
	}
	eventually(t, "JOBS is empty", func() bool { return messages(t, q, jobsStream) == 0 })
}

// No more chunks than the window says are published and not written, by number
// and by bytes, and yet all of them are answered.
func TestWindow(t *testing.T) {
	t.Parallel()
	const chunks = 500
	for _, c := range []struct {
		name   string
		window Window
		most   int
	}{
		{"one", Window{1, 1 << 20}, 1},
		{"chunks", Window{5, 1 << 20}, 5},
		{"bytes", Window{1000, 30}, 8}, // of chunks of four bytes: taken while there are fewer bytes
	} {
		t.Run(c.name, func(t *testing.T) {
			q := connect(t, startServer(t).URL(), lenient())
			var w written
			var arrived, wrote, most atomic.Int64 // most: arrived and not written
			serve(t, q, 3, 3, func(_ context.Context, c *job.Chunk) (*job.Result, error) {
				ahead := arrived.Add(1) - wrote.Load()
				for seen := most.Load(); ahead > seen && !most.CompareAndSwap(seen, ahead); {
					seen = most.Load()
				}
				return echoed(c), nil
			})
			spec := newSpec()
			all := numbered(spec, chunks)
			for i, c := range all {
				c.Payload = fmt.Appendf(nil, "%03d\n", i)
			}
			next := inTurn(all)
			taken := 0
			completes(t, running(t, q, Run{
				Spec: spec, Window: c.window,
				Next: func(ctx context.Context) (*job.Chunk, *job.Result, error) {
					// One more may have been cut, and waits for the window.
					if ahead := taken - int(wrote.Load()); ahead > c.most+1 {
						t.Errorf("chunk %d is cut, %d are not written", taken, ahead)
					}
					taken++
					return next(ctx)
				},
				Write: func(c *job.Chunk, r *job.Result) error {
					defer wrote.Add(1)
					return w.write(c, r)
				},
			}))
			if got := most.Load(); got > int64(c.most) {
				t.Errorf("%d chunks were published and not written, want at most %d", got, c.most)
			}
			if w.counts.Records != chunks || len(w.chunks) != chunks || w.chunks[chunks-1] != chunks-1 {
				t.Errorf("%d records of %d chunks", w.counts.Records, len(w.chunks))
			}
		})
	}
}

// A result that is larger than a message comes in parts; so does one that is
// answered twice, by two workers that do not agree on its bytes.
func TestResultsInParts(t *testing.T) {
	t.Parallel()
	q := connect(t, startServer(t).URL(), lenient())
	const size = 2_500_000
	answerOf := func(c *job.Chunk, seed uint64) *job.Result {
		r := echoed(c)
		r.Payload = make([]byte, size)
		rng := rand.New(rand.NewPCG(seed, uint64(c.Number)))
		for i := range r.Payload {
			r.Payload[i] = byte(rng.Uint32())
		}
		return r
	}
	serve(t, q, 2, 1, func(ctx context.Context, c *job.Chunk) (*job.Result, error) {
		if c.Number == 1 { // parts of another worker's answer, which does not agree, came before
			for _, m := range encodeResult(c, answerOf(c, 1), q.nc.MaxPayload())[1:] {
				if _, err := q.js.PublishMsg(ctx, m); err != nil {
					return nil, err
				}
			}
		}
		return answerOf(c, 2), nil
	})
	spec := newSpec()
	var got [][]byte
	completes(t, running(t, q, Run{Spec: spec, Next: inTurn(numbered(spec, 3)), Write: func(_ *job.Chunk, r *job.Result) error {
		got = append(got, r.Payload)
		if r.Records != 1 || r.ByStatus[job.Solved] != 1 || r.Worker != "test-worker" {
			t.Errorf("result %+v %s", r.Counts, r.Worker)
		}
		return nil
	}}))
	for i, c := range numbered(spec, 3) {
		if !bytes.Equal(got[i], answerOf(c, 2).Payload) {
			t.Errorf("chunk %d: not the answer, %d bytes", i, len(got[i]))
		}
	}
	if n := messages(t, q, resultsStream); n != 9 {
		t.Errorf("%d messages of results, want three of each chunk", n)
	}
}

// Parts of one answer that were cut at different sizes, under another largest payload,
// are not taken for it.
func TestPartsOfDifferentSizes(t *testing.T) {
	c := numbered(newSpec(), 1)[0]
	r := echoed(c)
	r.Payload = []byte(strings.Repeat("0123456789\n", 300))
	cut := func(size int) (parts []part) {
		for _, m := range encodeResult(c, r, int64(headerRoom+size)) {
			p, err := decodePart(c.Owner, c.Job, sent(m))
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, p)
		}
		return parts
	}
	before, after := cut(2500), cut(2000)
	if len(before) != 2 || len(after) != 2 {
		t.Fatalf("%d and %d parts, want two of each", len(before), len(after))
	}
	var a assembly
	for i, p := range []part{before[0], after[1], after[0], after[1]} {
		whole, ok := a.add(p)
		if ok != (i == 3) || ok && !bytes.Equal(whole.Payload, r.Payload) {
			t.Errorf("part %d: whole %v, of %d bytes, want %d", i, ok, len(whole.Payload), len(r.Payload))
		}
	}
}

// A result that comes again is as good as once, before and after it is written.
func TestResultsThatComeTwice(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	serve(t, q, 2, 1, func(ctx context.Context, c *job.Chunk) (*job.Result, error) {
		for range 3 {
			if _, err := q.js.PublishMsg(ctx, encodeResult(c, echoed(c), 1<<20)[0]); err != nil {
				return nil, err
			}
		}
		return echoed(c), nil
	})
	spec := newSpec()
	var w written
	completes(t, running(t, q, Run{Spec: spec, Next: inTurn(numbered(spec, 20)), Write: w.write}))
	w.check(t, 20)
}

// A message that is no result is not one, and a job of another is not ours.
func TestResultsThatAreNone(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	spec, other := newSpec(), newSpec()
	serve(t, q, 1, 1, func(ctx context.Context, c *job.Chunk) (*job.Result, error) {
		wrong := *c
		wrong.Job = other.Job
		evil := encodeResult(&wrong, echoed(c), 1<<20)[0]
		evil.Data = []byte("another's\n")
		garbage := nats.NewMsg(resultSubject(c, 1))
		garbage.Data = []byte("garbage\n")
		late := encodeResult(&job.Chunk{Spec: c.Spec, Number: 999}, echoed(c), 1<<20)[0]
		for _, m := range []*nats.Msg{evil, garbage, late} {
			if _, err := q.js.PublishMsg(ctx, m); err != nil {
				return nil, err
			}
		}
		return echoed(c), nil
	})
	var w written
	completes(t, running(t, q, Run{Spec: spec, Next: inTurn(numbered(spec, 3)), Write: w.write}))
	w.check(t, 3)
}

// Chunks that do not travel are written in their places.
func TestChunksThatDoNotTravel(t *testing.T) {
	for name, stays := range map[string]func(int) bool{
		"some": func(n int) bool { return n%3 != 1 },
		"all":  func(int) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			q := connect(t, startServer(t).URL(), lenient())
			serve(t, q, 2, 1, func(_ context.Context, c *job.Chunk) (*job.Result, error) {
				if stays(c.Number) {
					t.Errorf("chunk %d came to a worker", c.Number)
				}
				return echoed(c), nil
			})
			spec := newSpec()
			next := inTurn(numbered(spec, 30))
			var w written
			completes(t, running(t, q, Run{Spec: spec, Window: Window{4, 1 << 20}, Write: w.write, Next: func(ctx context.Context) (*job.Chunk, *job.Result, error) {
				c, _, err := next(ctx)
				if err != nil || !stays(c.Number) {
					return c, nil, err
				}
				return c, echoed(c), nil
			}}))
			w.check(t, 30)
		})
	}
}

func TestJobWithoutChunks(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	completes(t, running(t, q, Run{Spec: newSpec(), Next: inTurn(nil), Write: func(*job.Chunk, *job.Result) error { return errors.New("written") }}))
}

// What was read before the error is answered.
func TestRunEndsWithTheErrorOfNext(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	serve(t, q, 2, 1, echo)
	spec := newSpec()
	written := 0
	next, broken := inTurn(numbered(spec, 3)), errors.New("the disk is broken")
	result := running(t, q, Run{
		Spec: spec, Window: Window{4, 1 << 20},
		Write: func(*job.Chunk, *job.Result) error {
			written++
			return nil
		},
		Next: func(ctx context.Context) (*job.Chunk, *job.Result, error) {
			c, r, err := next(ctx)
			if err == io.EOF {
				err = broken
			}
			return c, r, err
		},
	})
	if err := await(t, result, "the error"); !errors.Is(err, broken) || written != 3 {
		t.Errorf("error %v, want %v; %d chunks written", err, broken, written)
	}
}

// When the answers cannot be written, the run ends at once, although Next waits
// for a producer that has gone quiet.
func TestRunEndsWithTheErrorOfWrite(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	serve(t, q, 2, 1, echo)
	spec := newSpec()
	next, full := inTurn(numbered(spec, 3)), errors.New("the disk is full")
	var wrote []int
	result := running(t, q, Run{
		Spec: spec,
		Next: func(ctx context.Context) (*job.Chunk, *job.Result, error) {
			c, r, err := next(ctx)
			if err == io.EOF {
				<-ctx.Done()
				err = context.Cause(ctx)
			}
			return c, r, err
		},
		Write: func(c *job.Chunk, _ *job.Result) error {
			if wrote = append(wrote, c.Number); c.Number == 1 {
				return full
			}
			return nil
		},
	})
	if err := await(t, result, "the error"); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
	if fmt.Sprint(wrote) != "[0 1]" {
		t.Errorf("wrote %v, want nothing after the error", wrote)
	}
}

// The end of a run's context is its error, with the cause.
func TestRunEndsWithItsContext(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	held := make(chan *job.Chunk, 1)
	serve(t, q, 1, 1, func(ctx context.Context, c *job.Chunk) (*job.Result, error) {
		if c.Number == 0 {
			return echoed(c), nil
		}
		return blocked(held)(ctx, c)
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	spec := newSpec()
	wrote := make(chan int, 10)
	result := make(chan error, 1)
	go func() {
		result <- q.Run(ctx, Run{Spec: spec, Window: Window{8, 1 << 20}, Next: inTurn(numbered(spec, 5)), Write: func(c *job.Chunk, _ *job.Result) error {
			wrote <- c.Number
			return nil
		}})
	}()
	await(t, wrote, "the first answer")
	await(t, held, "the second chunk")
	interrupted := errors.New("interrupted")
	cancel(interrupted)
	if err := await(t, result, "the end"); err != interrupted {
		t.Errorf("error %v, want %v", err, interrupted)
	}
}

// So it is when the context ended before anything was asked of the server, or is just being
// asked.
func TestRunEndsWithItsContextAtOnce(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	interrupted := errors.New("interrupted")
	for n := range 40 {
		ctx, cancel := context.WithCancelCause(t.Context())
		timer := time.AfterFunc(time.Duration(n)*50*time.Microsecond, func() { cancel(interrupted) })
		err := q.Run(ctx, Run{Spec: newSpec(), Resume: n%2 == 0, Window: Window{8, 1 << 20}, Next: func(ctx context.Context) (*job.Chunk, *job.Result, error) {
			<-ctx.Done()
			return nil, nil, context.Cause(ctx)
		}})
		timer.Stop()
		if err != interrupted {
			t.Errorf("run %d: error %v, want %v", n, err, interrupted)
		}
	}
}

// A job of one chunk goes by the express lane, any other by the bulk lane, and
// neither waits for the other's slots.
func TestLanes(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	held := make(chan *job.Chunk, 5)
	release := make(chan struct{})
	big, small := newSpec(), newSpec()
	serve(t, q, 1, 1, func(_ context.Context, c *job.Chunk) (*job.Result, error) {
		if c.Job == big.Job {
			held <- c
			<-release
		}
		return echoed(c), nil
	})
	var wBig, wSmall written
	first := running(t, q, Run{Spec: big, Next: inTurn(numbered(big, 5)), Write: wBig.write})
	await(t, held, "the bulk slot is taken")
	for range 3 {
		completes(t, running(t, q, Run{Spec: small, Next: inTurn(numbered(small, 1)), Write: wSmall.write}))
		small = newSpec()
	}
	if len(wBig.chunks) != 0 {
		t.Error("the big job was answered while its slot was held")
	}
	close(release)
	completes(t, first)
	wBig.check(t, 5)
	if wSmall.counts.Records != 3 {
		t.Errorf("small jobs: %+v", wSmall.counts)
	}
}

// With one chunk at a time in a slot, those that wait are for whoever comes.
func TestSlotHoldsOneChunk(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	held := make(chan *job.Chunk, 1)
	hold, cancel := context.WithCancel(context.Background())
	done := serveUntil(t, q, hold, hold, 1, 0, blocked(held))
	defer func() {
		cancel()
		await(t, done, "the end of Serve")
	}()
	spec := newSpec()
	var w written
	result := running(t, q, Run{Spec: spec, Next: inTurn(numbered(spec, 10)), Write: w.write})
	first := await(t, held, "a chunk in the first worker")
	served := make(chan int, 10)
	stop := serve(t, connect(t, q.nc.ConnectedUrl(), lenient()), 1, 0, func(_ context.Context, c *job.Chunk) (*job.Result, error) {
		served <- c.Number
		return echoed(c), nil
	})
	for range 9 {
		if n := await(t, served, "a chunk in the second worker"); n == first.Number {
			t.Errorf("chunk %d is with two workers", n)
		}
	}
	cancel() // the first gives back what it held
	if n := await(t, served, "the last chunk"); n != first.Number {
		t.Errorf("chunk %d came, want %d", n, first.Number)
	}
	completes(t, result)
	w.check(t, 10)
	stop()
}

// In the process's own server results go as soon as they are written.
func TestEmbeddedResultsArePurged(t *testing.T) {
	s, err := natsd.Start(natsd.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	worker, q := connectInside(t, s), connectInside(t, s)
	serve(t, worker, 2, 1, func(_ context.Context, c *job.Chunk) (*job.Result, error) {
		r := echoed(c)
		if c.Number%10 == 0 {
			r.Payload = bytes.Repeat(r.Payload, 200_000) // in parts
		}
		return r, nil
	})
	spec := newSpec()
	kept := 0
	completes(t, running(t, q, Run{Spec: spec, Window: Window{4, 1 << 20}, Next: inTurn(numbered(spec, 40)), Write: func(c *job.Chunk, r *job.Result) error {
		kept = max(kept, messages(t, q, resultsStream))
		return nil
	}}))
	if kept > 4*4 { // parts of a window
		t.Errorf("%d messages of results were kept", kept)
	}
	if n := messages(t, q, resultsStream); n != 0 {
		t.Errorf("%d results are kept", n)
	}
}

// A chunk that no message can carry ends the job, rather than be tried for ever.
func TestServerTakesSmallMessagesOnly(t *testing.T) {
	url := customServer(t, func(o *natsserver.Options) { o.MaxPayload = 64 << 10 })
	q := connect(t, url, lenient())
	spec := newSpec()
	chunks := numbered(spec, 2)
	chunks[1].Payload = make([]byte, 100<<10)
	result := running(t, q, Run{Spec: spec, Next: inTurn(chunks), Write: func(*job.Chunk, *job.Result) error { return nil }})
	err := await(t, result, "an error")
	if !errors.Is(err, nats.ErrMaxPayload) || !strings.Contains(err.Error(), chunks[1].Name()) || !strings.Contains(err.Error(), "102400 bytes") {
		t.Errorf("error %v, want one that names the chunk, its size, and the reason", err)
	}
}

// Parts of results are as small as the server's messages.
func TestSmallMessages(t *testing.T) {
	url := customServer(t, func(o *natsserver.Options) { o.MaxPayload = 16 << 10 })
	q := connect(t, url, lenient())
	serve(t, q, 2, 1, func(_ context.Context, c *job.Chunk) (*job.Result, error) {
		r := echoed(c)
		r.Payload = bytes.Repeat(r.Payload, 10_000)
		return r, nil
	})
	spec := newSpec()
	n := 0
	completes(t, running(t, q, Run{Spec: spec, Next: inTurn(numbered(spec, 3)), Write: func(c *job.Chunk, r *job.Result) error {
		n++
		if want := strings.Repeat(fmt.Sprintf("answer to %d\n", c.Number), 10_000); string(r.Payload) != want {
			t.Errorf("chunk %d: %d bytes, want %d", c.Number, len(r.Payload), len(want))
		}
		return nil
	}}))
	if n != 3 {
		t.Errorf("%d results", n)
	}
}

// A full JOBS holds the job up, says so, and loses nothing.
func TestJobsIsFull(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	js := operator(t, s.URL())
	for _, c := range (&Queue{}).streams() {
		if c.Name == jobsStream {
			c.MaxBytes = 4 << 10
		}
		if err := stream(c)(js); err != nil {
			t.Fatal(err)
		}
	}
	q := connect(t, s.URL(), lenient())
	spec := newSpec()
	chunks := numbered(spec, 30)
	for _, c := range chunks {
		c.File = strings.Repeat("f", 500) // of JOBS' room
	}
	said := make(chan string, 100)
	var w written
	result := running(t, q, Run{Spec: spec, Next: inTurn(chunks), Write: w.write, Waiting: func(reason string) { said <- reason }})
	if reason := await(t, said, "a word that JOBS is full"); !strings.Contains(reason, "maximum bytes") {
		t.Errorf("reason %q", reason)
	}
	serve(t, q, 1, 1, echo)
	completes(t, result)
	w.check(t, 30)
}

// Without a worker the job waits, and says so once.
func TestJobWaitsForAWorker(t *testing.T) {
	tm := lenient()
	tm.quiet = 100 * time.Millisecond
	q := connect(t, startServer(t).URL(), tm)
	spec := newSpec()
	var w written
	said := make(chan string, 100)
	result := running(t, q, Run{Spec: spec, Next: inTurn(numbered(spec, 3)), Write: w.write, Waiting: func(reason string) { said <- reason }})
	if reason := await(t, said, "a word that the job waits"); !strings.Contains(reason, "waits for a worker") {
		t.Errorf("reason %q", reason)
	}
	serve(t, q, 1, 1, echo)
	completes(t, result)
	w.check(t, 3)
}

// A slow producer is no silence of the workers.
func TestJobWaitsForItsProducer(t *testing.T) {
	tm := lenient()
	tm.quiet, tm.audit = time.Millisecond, time.Millisecond
	q := connect(t, startServer(t).URL(), tm)
	serve(t, q, 1, 1, echo)
	spec := newSpec()
	next := inTurn(numbered(spec, 2))
	first, second := make(chan struct{}), make(chan struct{})
	var w written
	result := running(t, q, Run{
		Spec: spec,
		Next: func(ctx context.Context) (*job.Chunk, *job.Result, error) {
			c, r, err := next(ctx)
			if err == nil && c.Number == 1 {
				await(t, second, "the producer")
			}
			return c, r, err
		},
		Write: func(c *job.Chunk, r *job.Result) error {
			if c.Number == 0 {
				close(first)
			}
			return w.write(c, r)
		},
	})
	await(t, first, "the first answer, before there is a second chunk")
	close(second)
	completes(t, result)
	w.check(t, 2)
}

// The bucket says what a job is.
func TestJobIsRegistered(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	serve(t, q, 1, 1, echo)
	spec := newSpec()
	var w written
	entry := &Entry{File: "swap.txt", Size: 18, Hash: "abc", Puzzle: "swap", Chunk: 5, Started: time.Unix(1, 0).UTC()}
	completes(t, running(t, q, Run{Spec: spec, Entry: entry, Next: inTurn(numbered(spec, 1)), Write: w.write}))
	got, err := q.kv.Get(t.Context(), "job."+spec.Owner+"."+spec.Job)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"file":"swap.txt"`, `"size":18`, `"hash":"abc"`, `"puzzle":"swap"`, `"chunk":5`} {
		if !strings.Contains(string(got.Value()), want) {
			t.Errorf("%s lacks %s", got.Value(), want)
		}
	}
}

// When the server goes away and comes back, with all it had or with nothing, the
// job goes on and nothing is lost or comes twice.
func TestServerComesBack(t *testing.T) {
	t.Parallel()
	for name, keeps := range map[string]bool{"with its data": true, "without its data": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := t.TempDir()
			s, err := natsd.Start(natsd.Config{Port: -1, Store: store})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Stop() })
			url := s.URL()
			tm := lenient()
			tm.quiet, tm.audit = 500*time.Millisecond, time.Second
			tm.ackWait = 2 * time.Second // a chunk may be lost between server and worker
			q, worker := connect(t, url, tm), connect(t, url, tm)
			const chunks = 40
			wrote := make(chan int, chunks)
			gate := make(chan struct{})
			serve(t, worker, 2, 1, func(ctx context.Context, c *job.Chunk) (*job.Result, error) {
				if c.Number >= 10 {
					select {
					case <-gate:
					case <-ctx.Done():
						return nil, context.Cause(ctx)
					}
				}
				return echoed(c), nil
			})
			spec := newSpec()
			var w written
			result := running(t, q, Run{Spec: spec, Window: Window{16, 1 << 20}, Next: inTurn(numbered(spec, chunks)), Write: func(c *job.Chunk, r *job.Result) error {
				wrote <- c.Number
				return w.write(c, r)
			}})
			for range 10 {
				await(t, wrote, "the first answers")
			}
			if err := s.Stop(); err != nil {
				t.Fatal(err)
			}
			close(gate) // answers come while the server is away
			if !keeps {
				store = t.TempDir()
			}
			if s, err = natsd.Start(natsd.Config{Port: portOf(t, url), Store: store}); err != nil {
				t.Fatal(err)
			}
			completes(t, result)
			w.check(t, chunks)
		})
	}
}

func portOf(t *testing.T, url string) (port int) {
	t.Helper()
	if _, err := fmt.Sscanf(url[strings.LastIndex(url, ":"):], ":%d", &port); err != nil {
		t.Fatal(err)
	}
	return port
}

// What was lost is found by the audit, whatever was lost.
func TestAudit(t *testing.T) {
	t.Parallel()
	// Each case makes a loss of chunk 1 of 3 while no worker is there.
	for name, lose := range map[string]func(t *testing.T, q *Queue, c *job.Chunk){
		"a queued chunk": func(t *testing.T, q *Queue, c *job.Chunk) {
			s, err := q.js.Stream(t.Context(), jobsStream)
			if err == nil {
				err = s.Purge(t.Context(), jetstream.WithPurgeSubject(chunkSubject(Bulk, c)))
			}
			if err != nil {
				t.Fatal(err)
			}
		},
		"JOBS": func(t *testing.T, q *Queue, c *job.Chunk) {
			if err := q.js.DeleteStream(t.Context(), jobsStream); err != nil {
				t.Fatal(err)
			}
		},
		"a result": func(t *testing.T, q *Queue, c *job.Chunk) { // acked, and there is none
			ack(t, q, c)
		},
		"part of a result": func(t *testing.T, q *Queue, c *job.Chunk) {
			r := echoed(c)
			r.Payload = make([]byte, 2<<20)
			m := encodeResult(c, r, q.nc.MaxPayload())
			if _, err := q.js.PublishMsg(t.Context(), m[0]); err != nil {
				t.Fatal(err)
			}
			ack(t, q, c)
		},
		"a result of another number of records": func(t *testing.T, q *Queue, c *job.Chunk) {
			r := echoed(c)
			r.Records = 7
			if _, err := q.js.PublishMsg(t.Context(), encodeResult(c, r, q.nc.MaxPayload())[0]); err != nil {
				t.Fatal(err)
			}
			ack(t, q, c)
		},
		"a result that cannot be read": func(t *testing.T, q *Queue, c *job.Chunk) {
			if _, err := q.js.Publish(t.Context(), resultSubject(c, 1), []byte("garbage")); err != nil {
				t.Fatal(err)
			}
			ack(t, q, c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tm := lenient()
			tm.quiet, tm.audit = 200*time.Millisecond, 400*time.Millisecond
			q := connect(t, startServer(t).URL(), tm)
			spec := newSpec()
			chunks := numbered(spec, 3)
			var w written
			result := running(t, q, Run{Spec: spec, Next: inTurn(chunks), Write: w.write})
			eventually(t, "all chunks are queued", func() bool { return messages(t, q, jobsStream) == 3 })
			lose(t, q, chunks[1])
			serve(t, connect(t, q.nc.ConnectedUrl(), lenient()), 1, 1, echo)
			completes(t, result)
			w.check(t, 3)
		})
	}
}

// A job that is cancelled while it is run ends: its chunks are dropped however often they
// are published.
func TestCancelEndsTheRun(t *testing.T) {
	t.Parallel()
	tm := lenient()
	tm.quiet, tm.audit = 200*time.Millisecond, 400*time.Millisecond
	q := connect(t, startServer(t).URL(), tm)
	spec := newSpec()
	result := running(t, q, Run{Spec: spec, Next: inTurn(numbered(spec, 3)), Write: new(written).write})
	eventually(t, "all chunks are queued", func() bool { return messages(t, q, jobsStream) == 3 })
	if err := q.Cancel(t.Context(), spec.Owner, spec.Job); err != nil {
		t.Fatal(err)
	}
	if err := await(t, result, "the end of the run"); !errors.Is(err, ErrCancelled) {
		t.Errorf("ended with %v, want %v", err, ErrCancelled)
	}
}

// ack takes the chunk out of JOBS as if it had been answered.
func ack(t *testing.T, q *Queue, c *job.Chunk) {
	t.Helper()
	for {
		m := pull(t, q, Bulk)
		if m.Subject() != chunkSubject(Bulk, c) {
			defer m.Nak()
			continue
		}
		if err := m.DoubleAck(t.Context()); err != nil {
			t.Fatal(err)
		}
		return
	}
}

// A RESULTS that was removed and created anew is followed from its start, by a
// run that waited for it.
func TestAuditFollowsANewStream(t *testing.T) {
	t.Parallel()
	tm := lenient()
	tm.quiet, tm.audit = 200*time.Millisecond, 400*time.Millisecond
	s := startServer(t)
	q := connect(t, s.URL(), tm)
	held, release := make(chan *job.Chunk, 8), make(chan struct{})
	serve(t, connect(t, s.URL(), lenient()), 1, 1, func(_ context.Context, c *job.Chunk) (*job.Result, error) {
		if c.Number == 2 {
			held <- c
			<-release
		}
		return echoed(c), nil
	})
	spec := newSpec()
	var w written
	result := running(t, q, Run{Spec: spec, Next: inTurn(numbered(spec, 6)), Write: w.write})
	await(t, held, "a chunk in the middle")
	if err := q.js.DeleteStream(t.Context(), resultsStream); err != nil {
		t.Fatal(err)
	}
	eventually(t, "RESULTS is created again", func() bool {
		_, err := q.js.Stream(t.Context(), resultsStream)
		return err == nil
	})
	close(release)
	completes(t, result)
	w.check(t, 6)
}

// Results that went before the run saw them are asked for again: all of RESULTS
// is purged while the run is busy writing.
func TestAuditAfterAPurge(t *testing.T) {
	t.Parallel()
	tm := lenient()
	tm.quiet, tm.audit = 200*time.Millisecond, 400*time.Millisecond
	s := startServer(t)
	q := connect(t, s.URL(), tm)
	const chunks = 200 // more than are on their way to the run
	spec := newSpec()
	serve(t, connect(t, s.URL(), lenient()), 2, 1, echo)
	writing, purged := make(chan struct{}), make(chan struct{})
	var w written
	result := running(t, q, Run{Spec: spec, Window: Window{chunks, 1 << 20}, Next: inTurn(numbered(spec, chunks)), Write: func(c *job.Chunk, r *job.Result) error {
		if c.Number == 0 {
			close(writing)
			<-purged
		}
		return w.write(c, r)
	}})
	await(t, writing, "the first answer")
	eventually(t, "all that was queued is answered", func() bool { return messages(t, q, jobsStream) == 0 })
	st, err := q.js.Stream(t.Context(), resultsStream)
	if err == nil {
		err = st.Purge(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	close(purged)
	completes(t, result)
	w.check(t, chunks)
}

// Two jobs at once do not see each other.
func TestManyJobs(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	serve(t, q, 4, 1, echo)
	results := make([]chan error, 8)
	all := make([]written, len(results))
	for i := range results {
		spec := newSpec()
		results[i] = running(t, q, Run{Spec: spec, Window: Window{4, 1 << 20}, Next: inTurn(numbered(spec, 20+i)), Write: all[i].write})
	}
	for i, result := range results {
		completes(t, result)
		all[i].check(t, 20+i)
	}
}
