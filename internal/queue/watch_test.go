package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/job"
	"antipode/internal/natsd"
)

// glimpses is a Watch that a test looks at.
type glimpses struct {
	views chan View
	ended chan error
}

// watched starts a Watch that ends with the test.
func watch(t *testing.T, q *Queue, owner, id string) *glimpses {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	g := &glimpses{make(chan View), make(chan error, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.ended <- q.Watch(ctx, WatchConfig{Owner: owner, Job: id, Every: 20 * time.Millisecond}, func(v View) error {
			select {
			case g.views <- v:
			case <-ctx.Done():
			}
			return nil
		})
	}()
	t.Cleanup(func() {
		cancel()
		await(t, done, "the end of Watch")
	})
	return g
}

// until returns the first view that is as it shall become.
func (g *glimpses) until(t *testing.T, what string, ok func(View) bool) View {
	t.Helper()
	var v View
	for deadline := time.After(patience); ; {
		select {
		case v = <-g.views:
			if ok(v) {
				return v
			}
		case err := <-g.ended:
			t.Fatalf("%s: the watch ended: %v", what, err)
		case <-deadline:
			t.Fatalf("%s: not seen; the last view is %s", what, describe(v))
		}
	}
}

func describe(v View) string {
	text := fmt.Sprintf("%+v", v)
	for _, p := range v.Jobs {
		text += fmt.Sprintf("\n%s %+v", p.State(), p)
	}
	return text
}

// only is the one job of a view, nil where there are none or several.
func only(v View) *Progress {
	if !v.Ready || len(v.Jobs) != 1 {
		return nil
	}
	return v.Jobs[0]
}

// A submitter of its role sees everything while a job is answered, and tries nothing
// that it may not.
func TestWatchSeesAJob(t *testing.T) {
	url := roleServer(t)
	worker, submit := asWorker(url), asSubmit(url)
	worker.Logger, submit.Logger = violations(t), violations(t)
	w, q := connectAs(t, worker), connectAs(t, submit)
	cfg := serviceOf(newWorker(t, w))
	gate := make(chan struct{})
	cfg.Answer = func(ctx context.Context, c *job.Chunk, _ *atomic.Int64) (*job.Result, func(context.Context), error) {
		select {
		case <-gate:
			return echoed(c), nil, nil
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
	presentTo(t, q, w, cfg)
	if _, err := w.js.Publish(t.Context(), deadPrefix+"other.J.0", nil); err != nil {
		t.Fatal(err)
	}
	g := watch(t, q, "public", "")
	g.until(t, "nothing to do", func(v View) bool {
		return v.Ready && len(v.Jobs) == 0 && len(v.Workers) == 1 && v.Dead == 1 && len(v.Lanes) == 2
	})

	spec := publicSpec()
	var all written
	ended := running(t, q, Run{Spec: spec, Entry: &Entry{File: "f", Started: time.Now()}, Next: inTurn(numbered(spec, 5)), Write: all.write})
	v := g.until(t, "a chunk is held, and others wait", func(v View) bool {
		p := only(v)
		return p != nil && p.State() == StateQueued && p.Queued == 5 && len(v.Workers) == 1 && len(v.Workers[0].Doing.Held) == 1 && v.Lanes[Bulk].Pending == 4
	})
	if h := v.Workers[0].Doing.Held[0]; h.Puzzle != "swap" || v.Lanes[Bulk].Unacked != 1 || v.Server == "" || !v.Away.IsZero() || v.Trouble != "" {
		t.Errorf("%s", describe(v))
	}
	gate <- struct{}{}
	gate <- struct{}{}
	v = g.until(t, "two are answered", func(v View) bool { p := only(v); return p != nil && p.Answered == 2 && p.Queued == 3 })
	if p := v.Jobs[0]; p.State() != StateRunning || p.Counts.Records != 2 || p.Counts.ByStatus[job.Solved] != 2 || p.Entry.Records != 5 || p.Entry.Chunks != 5 || p.Last.IsZero() {
		t.Errorf("%s", describe(v))
	}
	one := watch(t, q, "public", spec.Job)
	one.until(t, "the same of one job", func(v View) bool { p := only(v); return p != nil && p.Answered == 2 && p.Queued == 3 })
	close(gate)
	completes(t, ended)
	for _, g := range []*glimpses{g, one} {
		v := g.until(t, "the job is finished", func(v View) bool { p := only(v); return p != nil && p.State() == StateFinished && p.Answered == 5 })
		if p := v.Jobs[0]; p.Counts.Records != 5 || !p.Over() {
			t.Errorf("%s", describe(v))
		}
	}
	g.until(t, "the worker has counted them", func(v View) bool { return len(v.Workers) == 1 && v.Workers[0].Doing.Counts.Records == 5 })
	if err := q.Cancel(t.Context(), "public", "another"); err != nil { // a mere mark is no job
		t.Fatal(err)
	}
	// Whoever asks later is told the same as whoever looked on.
	later := watch(t, q, "public", "").until(t, "all is read", func(v View) bool { return v.Ready })
	if p := only(later); p == nil || p.State() != StateFinished || p.Answered != 5 || p.Counts.Records != 5 {
		t.Errorf("%s", describe(later))
	}
}

// A watch creates nothing, and goes on when somebody else has.
func TestWatchWaitsForStreams(t *testing.T) {
	url := roleServer(t)
	submit := asSubmit(url)
	submit.Logger = violations(t)
	w := connectAs(t, asWorker(url))
	q := connectAs(t, submit)
	operator, err := jetstream.New(rawConnection(t, url, nats.UserInfo("operator", "operate-hush")).Conn)
	if err != nil {
		t.Fatal(err)
	}
	spec := publicSpec()
	stores(t, w, numbered(spec, 1)[0], job.Solved, 1)
	g := watch(t, q, "public", "")
	g.until(t, "a job", func(v View) bool { p := only(v); return p != nil && p.Answered == 1 })
	for _, name := range []string{kvStream, resultsStream, jobsStream, deadStream} {
		if err := operator.DeleteStream(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		g.until(t, "the loss of "+name, func(v View) bool { return v.Trouble != "" })
	}
	if _, err := w.ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.until(t, "all is well, and empty", func(v View) bool { return v.Trouble == "" && v.Ready && len(v.Jobs) == 0 })
}

// An owner's watch does not see another's jobs, and one that is not this user's ends.
func TestWatchOfAnother(t *testing.T) {
	url := roleServer(t)
	connectAs(t, asWorker(url))
	q := connectAs(t, asSubmit(url))
	g := watch(t, q, "other", "")
	for {
		select {
		case <-g.views:
			continue
		case err := <-g.ended:
			isRefusal(t, err, ".other.")
		}
		return
	}
}

// stores stores a result of one record by hand.
func stores(t *testing.T, q *Queue, c *job.Chunk, status job.Status, records int) {
	t.Helper()
	res := &job.Result{Worker: "w", Payload: []byte("x\n")}
	res.Records, res.ByStatus[status] = records, records
	for _, m := range encodeResult(c, res, 1<<20) {
		if _, err := q.js.PublishMsg(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
}

// A result that comes again replaces the first, before the job is finished and after.
func TestWatchCountsOnce(t *testing.T) {
	t.Parallel()
	q := connect(t, startServer(t).URL(), lenient())
	spec := newSpec()
	chunks := numbered(spec, 2)
	e := &Entry{File: "f", Started: time.Now(), Chunks: 2, Records: 9}
	q.register(t.Context(), &spec, e)
	stores(t, q, chunks[0], job.Failed, 4)
	g := watch(t, q, spec.Owner, "")
	is := func(state string, answered, records, solved int) func(View) bool {
		return func(v View) bool {
			p := only(v)
			return p != nil && p.State() == state && p.Answered == answered && p.Counts.Records == records && p.Counts.ByStatus[job.Solved] == solved
		}
	}
	g.until(t, "one chunk", is(StateRunning, 1, 4, 0))
	stores(t, q, chunks[0], job.Failed, 4)
	stores(t, q, chunks[0], job.Solved, 4)
	stores(t, q, chunks[1], job.Solved, 5)
	g.until(t, "both", is(StateAnswered, 2, 9, 9))
	e.Finished = time.Now()
	q.register(t.Context(), &spec, e)
	g.until(t, "finished", is(StateFinished, 2, 9, 9))
	later := watch(t, q, spec.Owner, spec.Job)
	later.until(t, "finished, from the first", is(StateFinished, 2, 9, 9))
	stores(t, q, chunks[1], job.Failed, 5)
	g.until(t, "one has failed", is(StateFinished, 2, 9, 4))
	later.until(t, "one has failed, of a job that was not told apart", is(StateFinished, 2, 9, 4))
	if err := q.Cancel(t.Context(), spec.Owner, spec.Job); err != nil {
		t.Fatal(err)
	}
	if err := q.kv.Delete(t.Context(), jobKey(spec.Owner, spec.Job)); err != nil {
		t.Fatal(err)
	}
	g.until(t, "without its entry it is cancelled", is(StateCancelled, 2, 9, 4))
	if err := q.Uncancel(t.Context(), spec.Owner, spec.Job); err != nil {
		t.Fatal(err)
	}
	g.until(t, "or runs", is(StateRunning, 2, 9, 4))
}

// What is lost on the server is lost in the view, and what comes after is seen.
func TestWatchOfWhatIsLost(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(ctx context.Context, q *Queue) error{
		"results purged": func(ctx context.Context, q *Queue) error {
			s, err := q.js.Stream(ctx, resultsStream)
			return errors.Join(err, s.Purge(ctx))
		},
		"results deleted": func(ctx context.Context, q *Queue) error { return q.js.DeleteStream(ctx, resultsStream) },
		"all deleted": func(ctx context.Context, q *Queue) error {
			return errors.Join(q.js.DeleteStream(ctx, resultsStream), q.js.DeleteStream(ctx, kvStream), q.js.DeleteStream(ctx, jobsStream), q.js.DeleteStream(ctx, deadStream))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := connect(t, startServer(t).URL(), lenient())
			spec := newSpec()
			chunks := numbered(spec, 3)
			e := &Entry{File: "f", Started: time.Now(), Chunks: 3, Records: 3}
			q.register(t.Context(), &spec, e)
			g := watch(t, q, spec.Owner, "")
			for _, c := range chunks {
				stores(t, q, c, job.Solved, 1)
			}
			g.until(t, "all three", func(v View) bool { p := only(v); return p != nil && p.State() == StateAnswered })
			if err := lose(t.Context(), q); err != nil {
				t.Fatal(err)
			}
			if _, err := q.ensure(t.Context()); err != nil {
				t.Fatal(err)
			}
			g.until(t, "the loss", func(v View) bool { return v.Ready && (len(v.Jobs) == 0 || v.Jobs[0].Answered == 0) })
			q.register(t.Context(), &spec, e)
			stores(t, q, chunks[1], job.Invalid, 1)
			g.until(t, "what came after", func(v View) bool {
				p := only(v)
				return p != nil && p.Entry != nil && p.State() == StateRunning && p.Answered == 1 && p.Counts.ByStatus[job.Invalid] == 1
			})
		})
	}
}

// The view says that the server is away, goes on when it is back, and shows what it has
// then.
func TestWatchSurvivesTheServer(t *testing.T) {
	t.Parallel()
	for name, keeps := range map[string]bool{"with its data": true, "without its data": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := t.TempDir()
			s, err := natsd.Start(natsd.Config{Port: -1, Store: store})
			if err != nil {
				t.Fatal(err)
			}
			stop := sync.OnceValue(s.Stop)
			t.Cleanup(func() { stop() })
			url := s.URL()
			q, w := connect(t, url, lenient()), connect(t, url, lenient())
			present(t, w, serviceOf(newWorker(t, w)))
			spec := newSpec()
			chunks := numbered(spec, 3)
			e := &Entry{File: "f", Started: time.Now(), Chunks: 3, Records: 3}
			q.register(t.Context(), &spec, e)
			stores(t, q, chunks[0], job.Solved, 1)
			g := watch(t, q, spec.Owner, "")
			seen := func(n int) func(View) bool {
				return func(v View) bool {
					p := only(v)
					return v.Away.IsZero() && p != nil && p.Answered == n && p.Counts.Records == n && len(v.Workers) == 1
				}
			}
			g.until(t, "the first", seen(1))
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			v := g.until(t, "the server is away", func(v View) bool { return !v.Away.IsZero() })
			if p := only(v); p == nil || p.Answered != 1 || len(v.Workers) != 1 {
				t.Errorf("away, and forgotten what was known: %s", describe(v))
			}
			if !keeps {
				store = t.TempDir()
			}
			again, err := natsd.Start(natsd.Config{Port: portOf(t, url), Store: store})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { again.Stop() })
			eventually(t, "the server is back", q.nc.IsConnected)
			if !keeps {
				g.until(t, "the job is gone", func(v View) bool { return v.Ready && v.Away.IsZero() && len(v.Jobs) == 0 })
				stores(t, q, chunks[0], job.Solved, 1)
			}
			stores(t, q, chunks[1], job.Solved, 1)
			g.until(t, "the second", seen(2))
		})
	}
}

// Answers in the name of workers that come faster than they are taken in are dropped
// before they fill the memory.
func TestWatchFlooded(t *testing.T) {
	s := startServer(t)
	q := connect(t, s.URL(), lenient())
	liar := connect(t, s.URL(), lenient())
	const size, answers = 900 << 10, 400
	told := make(chan struct{})
	var once sync.Once
	if _, err := liar.nc.Subscribe("$SRV.STATS.antipode", func(m *nats.Msg) {
		once.Do(func() {
			defer close(told)
			m.Respond([]byte(`{"name":"antipode","metadata":{"worker":"w"}}`))
			for range answers {
				m.Respond(make([]byte, size))
			}
			liar.nc.Flush()
		})
	}); err != nil {
		t.Fatal(err)
	}
	if err := liar.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w := &watching{q: q, cfg: WatchConfig{Every: time.Minute}, news: make(chan func(*watched))} // which nobody reads
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.roll(ctx)
	}()
	await(t, told, "all answers")
	if err := q.nc.Flush(); err != nil { // what was sent before it is here
		t.Fatal(err)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > answers*size/2 {
		t.Errorf("%d MB are kept of %d", m.HeapAlloc>>20, answers*size>>20)
	}
	cancel()
	await(t, done, "the end of roll")
}
