package queue

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/nats-io/nats.go"

	"antipode/internal/job"
	"antipode/internal/limit"
)

// A job that was broken off in any state is taken up by another run: what is answered is
// read, what is queued is waited for, the rest is published, and nothing is solved twice.
func TestResume(t *testing.T) {
	const chunks = 40
	for name, state := range map[string]func(t *testing.T, q *Queue, all []*job.Chunk){
		"nothing left":  func(*testing.T, *Queue, []*job.Chunk) {},
		"all is queued": func(t *testing.T, q *Queue, all []*job.Chunk) { pushAll(t, q, all) },
		"all is answered": func(t *testing.T, q *Queue, all []*job.Chunk) {
			for _, c := range all {
				answered(t, q, c)
			}
		},
		"some of each, and more answers ahead than the window holds": func(t *testing.T, q *Queue, all []*job.Chunk) {
			for _, c := range all {
				switch {
				case c.Number%3 == 0 || c.Number > 20:
					answered(t, q, c)
				case c.Number%3 == 1:
					push(t, q, Bulk, c)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := connect(t, startServer(t).URL(), lenient())
			spec := newSpec()
			state(t, q, numbered(spec, chunks))
			var mu sync.Mutex
			begun := map[int]int{}
			serve(t, q, 2, 1, func(_ context.Context, c *job.Chunk) (*job.Result, error) {
				mu.Lock()
				defer mu.Unlock()
				begun[c.Number]++
				return echoed(c), nil
			})
			var w written
			completes(t, running(t, q, Run{Spec: spec, Resume: true, Window: Window{4, 1 << 20}, Next: inTurn(numbered(spec, chunks)), Write: w.write}))
			w.check(t, chunks)
			mu.Lock()
			defer mu.Unlock()
			for n, times := range begun {
				if times > 1 {
					t.Errorf("chunk %d was begun %d times", n, times)
				}
			}
			if name == "all is answered" && len(begun) > 0 {
				t.Errorf("%d chunks were begun, and all were answered", len(begun))
			}
		})
	}
}

func pushAll(t *testing.T, q *Queue, all []*job.Chunk) {
	t.Helper()
	for _, c := range all {
		push(t, q, Bulk, c)
	}
}

// answered stores a chunk's answer.
func answered(t *testing.T, q *Queue, c *job.Chunk) {
	t.Helper()
	for _, m := range encodeResult(c, echoed(c), q.nc.MaxPayload()) {
		if _, err := q.js.PublishMsg(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
}

// Answers to other bytes are none: of a job that was cut otherwise, its file having changed
// or the program being another.
func TestResumeBelievesNoAnswerToOtherBytes(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	spec := newSpec()
	other := numbered(spec, 3)
	for _, c := range other {
		c.Payload = append(c.Payload, "# cut otherwise\n"...)
		answered(t, q, c)
	}
	serve(t, q, 1, 1, echo)
	var w written
	completes(t, running(t, q, Run{Spec: spec, Resume: true, Next: inTurn(numbered(spec, 3)), Write: w.write}))
	w.check(t, 3)
}

// A run that is interrupted and one that resumes it write everything, while workers go on
// in between and answer more than the second one's window holds.
func TestResumeAfterAnInterrupt(t *testing.T) {
	const chunks, first = 60, 30
	q := connect(t, startServer(t).URL(), lenient())
	spec := newSpec()
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	serve(t, q, 2, 1, echo)
	ended := make(chan error, 1)
	go func() {
		ended <- q.Run(ctx, Run{
			Spec: spec, Entry: &Entry{Size: 1}, Window: Window{chunks, 1 << 20}, Next: inTurn(numbered(spec, chunks)),
			Write: func(c *job.Chunk, _ *job.Result) error {
				if c.Number == first {
					cancel(interrupted)
				}
				return nil
			},
		})
	}()
	if err := await(t, ended, "the interrupt"); err != interrupted {
		t.Fatalf("the first run ended with %v", err)
	}
	entry, err := q.Entry(t.Context(), spec.Owner, spec.Job)
	if err != nil {
		t.Fatal(err)
	}
	if !entry.Finished.IsZero() {
		t.Errorf("finished at %s, and was interrupted", entry.Finished)
	}
	var w written
	completes(t, running(t, q, Run{Spec: spec, Entry: entry, Resume: true, Window: Window{2, 1 << 20}, Next: inTurn(numbered(spec, chunks)), Write: w.write}))
	w.check(t, chunks)
	if entry, err = q.Entry(t.Context(), spec.Owner, spec.Job); err != nil || entry.Finished.IsZero() || entry.Chunks != chunks || entry.Records != chunks {
		t.Errorf("afterwards %+v, %v", entry, err)
	}
}

// A job is posted without anyone who waits, and taken up later, by its entry alone.
func TestPost(t *testing.T) {
	const chunks = 3 * postAhead
	q := connect(t, startServer(t).URL(), lenient())
	spec := newSpec()
	spec.Want, spec.JSON, spec.Explain, spec.Budget = "moves", true, true, job.Budget{States: 7, Time: 1500 * time.Millisecond}
	next := inTurn(numbered(spec, chunks))
	stays := func(n int) bool { return n == 5 }
	cut := func(ctx context.Context) (*job.Chunk, *job.Result, error) {
		c, _, err := next(ctx)
		if err == nil && stays(c.Number) {
			return c, echoed(c), nil
		}
		return c, nil, err
	}
	if err := q.Post(t.Context(), Run{Spec: spec, Entry: &Entry{Size: 7}, Next: cut}); err != nil {
		t.Fatal(err)
	}
	if n := messages(t, q, jobsStream); n != chunks-1 {
		t.Errorf("%d chunks are queued, want %d", n, chunks-1)
	}
	entry, err := q.Entry(t.Context(), spec.Owner, spec.Job)
	if err != nil {
		t.Fatal(err)
	}
	again, err := entry.Spec()
	again.Owner, again.Job, again.Format.Framing, again.Format.Known = spec.Owner, spec.Job, spec.Format.Framing, spec.Format.Known
	if err != nil || again != spec {
		t.Errorf("the entry says %+v, %v, want %+v", again, err, spec)
	}
	if entry.Records != chunks || entry.Chunks != chunks-1 || !entry.Finished.IsZero() {
		t.Errorf("entry %+v", entry)
	}
	serve(t, q, 2, 1, echo)
	eventually(t, "all is answered", func() bool { return messages(t, q, jobsStream) == 0 })
	next = inTurn(numbered(spec, chunks))
	var w written
	completes(t, running(t, q, Run{Spec: spec, Resume: true, Window: Window{4, 1 << 20}, Next: cut, Write: w.write}))
	w.check(t, chunks)
}

// A full JOBS makes Post wait, and it says so; it goes on when there is room.
func TestPostWaitsForRoom(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	s, err := q.js.Stream(t.Context(), jobsStream)
	if err != nil {
		t.Fatal(err)
	}
	small := s.CachedInfo().Config
	small.MaxBytes = 4 << 10
	if _, err := q.js.UpdateStream(t.Context(), small); err != nil {
		t.Fatal(err)
	}
	if err := q.Room(t.Context(), 1<<20); err == nil {
		t.Error("there is room for a megabyte in four kilobytes")
	}
	told := make(chan string, 100)
	spec := newSpec()
	posted := make(chan error, 1)
	go func() {
		posted <- q.Post(t.Context(), Run{Spec: spec, Next: inTurn(numbered(spec, 100)), Waiting: func(reason string) { told <- reason }})
	}()
	await(t, told, "that JOBS is full")
	var mu sync.Mutex
	seen := map[int]bool{}
	serve(t, q, 2, 1, func(_ context.Context, c *job.Chunk) (*job.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		seen[c.Number] = true
		return echoed(c), nil
	})
	completes(t, posted)
	eventually(t, "all is answered", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(seen) == 100
	})
	if err := q.Room(t.Context(), 100); err != nil {
		t.Errorf("in an empty JOBS: %v", err)
	}
}

// A JOBS that goes while a job is posted comes back, where nobody else creates it.
func TestPostAfterJobsWasRemoved(t *testing.T) {
	t.Parallel()
	const chunks, gone = 10, 4
	q := connect(t, startServer(t).URL(), lenient())
	next := inTurn(numbered(newSpec(), chunks))
	told := make(chan string, chunks)
	posted := make(chan error, 1)
	go func() {
		posted <- q.Post(t.Context(), Run{
			Spec: newSpec(), Waiting: func(reason string) { told <- reason },
			Next: func(ctx context.Context) (*job.Chunk, *job.Result, error) {
				c, r, err := next(ctx)
				if err == nil && c.Number == gone {
					err = q.js.DeleteStream(ctx, jobsStream)
				}
				return c, r, err
			},
		})
	}()
	completes(t, posted)
	await(t, told, "that a chunk did not arrive")
	if n := messages(t, q, jobsStream); n < chunks-gone {
		t.Errorf("%d chunks are queued, want at least %d", n, chunks-gone)
	}
}

// Jobs tells what there is of each job, and only of the owner's.
func TestJobs(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	began := time.Now().UTC()
	open, done, other := newSpec(), newSpec(), newSpec()
	other.Owner = "another"
	for i, spec := range []job.Spec{open, done, other} {
		if err := q.Post(t.Context(), Run{Spec: spec, Entry: &Entry{Size: 1, Started: began.Add(time.Duration(i))}, Next: inTurn(numbered(spec, 5))}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range numbered(done, 5) {
		ack(t, q, c)
		answered(t, q, c)
	}
	answered(t, q, numbered(open, 5)[4])
	if err := q.Cancel(t.Context(), open.Owner, open.Job); err != nil {
		t.Fatal(err)
	}
	if err := q.Cancel(t.Context(), open.Owner, "nothing-but-a-mark"); err != nil {
		t.Fatal(err)
	}
	jobs, err := q.Jobs(t.Context(), open.Owner, "")
	if err != nil || len(jobs) != 2 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	for i, want := range []Progress{
		{Job: open.Job, Cancelled: true, Queued: 5, Answered: 1},
		{Job: done.Job, Answered: 5},
	} {
		got := jobs[i]
		if got.Job != want.Job || got.Cancelled != want.Cancelled || got.Queued != want.Queued || got.Answered != want.Answered ||
			got.Counts.Records != want.Answered || got.Entry == nil || got.Entry.Records != 5 || got.Last.Before(began.Add(-time.Hour)) {
			t.Errorf("job %d: %+v of %+v", i, got, got.Entry)
		}
	}
	one, err := q.Jobs(t.Context(), open.Owner, done.Job)
	if err != nil || len(one) != 1 || one[0].Answered != 5 {
		t.Errorf("%d jobs, %v", len(one), err)
	}
	if _, err := q.Jobs(t.Context(), open.Owner, other.Job); !errors.Is(err, ErrNoJob) {
		t.Errorf("another owner's job: %v, want %v", err, ErrNoJob)
	}
	if err := q.Uncancel(t.Context(), open.Owner, open.Job); err != nil {
		t.Fatal(err)
	}
	if one, err = q.Jobs(t.Context(), open.Owner, open.Job); err != nil || one[0].Cancelled {
		t.Errorf("still cancelled: %v", err)
	}
	depth, err := q.Depth(t.Context(), Bulk)
	if err != nil || int(depth.Pending)+depth.Unacked != 10 { // another's, too
		t.Errorf("depth %v, %v", depth, err)
	}
}

// Entries of strangers are errors, not more.
func TestEntriesThatCannotBeRead(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	for id, value := range map[string]string{"garbage": "{", "list": "[]", "long": `{"file":"` + string(make([]byte, limit.Entry)) + `"}`, "kind": `{"size":"x"}`} {
		if _, err := q.kv.PutString(t.Context(), jobKey("tester", id), value); err != nil {
			t.Fatal(err)
		}
		if e, err := q.Entry(t.Context(), "tester", id); err == nil {
			t.Errorf("%s: %+v", id, e)
		}
	}
	if jobs, err := q.Jobs(t.Context(), "tester", ""); err != nil || len(jobs) != 0 {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
	for _, e := range []Entry{{Want: "all"}, {BudgetTime: "soon"}} {
		if _, err := e.Spec(); err == nil {
			t.Errorf("%+v is a spec", e)
		}
	}
	if _, err := q.Entry(t.Context(), "tester", "none"); !errors.Is(err, ErrNoJob) {
		t.Errorf("%v, want %v", err, ErrNoJob)
	}
}

// What a stranger wrote into the bucket, or into a letter, does not steer who looks at it.
func TestNothingShownSteersATerminal(t *testing.T) {
	const evil = "x\x1b[2J\x1b]0;y\a\u009b1m\tz"
	q := connect(t, startServer(t).URL(), lenient())
	value, err := json.Marshal(Entry{File: evil, Hash: evil, Puzzle: evil})
	if err == nil {
		_, err = q.kv.Put(t.Context(), jobKey("tester", "evil"), value)
	}
	if err != nil {
		t.Fatal(err)
	}
	e, err := q.Entry(t.Context(), "tester", "evil")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.js.Publish(t.Context(), bucketPrefix+"job.another.x\x1b[2J", value); err != nil {
		t.Fatal(err)
	}
	if jobs, err := q.Jobs(t.Context(), "another", ""); err != nil || len(jobs) != 0 {
		t.Errorf("jobs %v, %v", jobs, err)
	}
	m := nats.NewMsg(deadPrefix + "o\x1b[2J.j\x1b[2J.c\x1b[2J")
	for _, key := range []string{hReason, hPuzzle, hFile, hFirstLine, hRecords, hDelivered, hDeadBy} {
		m.Header.Set(key, evil)
	}
	if _, err := q.js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	letters, err := q.Dead(t.Context(), "")
	if err != nil || len(letters) != 1 {
		t.Fatalf("%d letters, %v", len(letters), err)
	}
	l := letters[0]
	for _, s := range []string{e.File, e.Hash, e.Puzzle, l.Owner, l.ID(), l.Reason, l.Puzzle, l.File, l.FirstLine, l.Records, l.Delivered, l.Worker} {
		if strings.ContainsFunc(s, unicode.IsControl) || len(s) < len("x[2J") {
			t.Errorf("%q is shown", s)
		}
	}
}

// A chunk that was given up is published again from its dead letter, and its answer takes
// the place of the failed one.
func TestRetryOfADeadLetter(t *testing.T) {
	tm := lenient()
	q := connect(t, startServer(t).URL(), tm)
	spec := newSpec()
	chunk := numbered(spec, 2)[0]
	push(t, q, Bulk, chunk)
	if err := (&server{Queue: q}).setTries(t.Context(), chunk, limit.Tries); err != nil {
		t.Fatal(err)
	}
	pull(t, q, Bulk).Nak() // the first delivery
	stop := serve(t, q, 1, 1, func(_ context.Context, c *job.Chunk) (*job.Result, error) {
		t.Errorf("chunk %d was begun", c.Number)
		return echoed(c), nil
	})
	eventually(t, "it is given up", func() bool { return messages(t, q, jobsStream) == 0 })
	stop()
	letters, err := q.Dead(t.Context(), "")
	if err != nil || len(letters) != 1 {
		t.Fatalf("%d letters, %v", len(letters), err)
	}
	l := letters[0]
	if l.ID() != spec.Job+"/0" || l.Owner != "tester" || l.Records != "1" || l.Delivered != "2" || l.Worker != "test-worker" || l.File != "swap.txt" || time.Since(l.Time) > time.Hour {
		t.Errorf("letter %+v", l)
	}
	if none, err := q.Dead(t.Context(), "another"); err != nil || len(none) != 0 {
		t.Errorf("%d letters of another, %v", len(none), err)
	}
	if err := q.Retry(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	var w written
	result := running(t, q, Run{Spec: spec, Resume: true, Next: inTurn([]*job.Chunk{chunk}), Write: w.write})
	eventually(t, "the run is there", func() bool {
		s, err := q.js.Stream(t.Context(), resultsStream)
		return err == nil && s.CachedInfo().State.Consumers > 0
	})
	serve(t, q, 1, 1, echo)
	completes(t, result)
	w.check(t, 1)
	eventually(t, "the chunk is answered", func() bool { return messages(t, q, jobsStream) == 0 })
	if got := string(lastOf(t, q, resultsStream, resultSubject(chunk, 1)).Data); got != "answer to 0\n" {
		t.Errorf("result %q", got)
	}
	if n := messages(t, q, deadStream); n != 0 {
		t.Errorf("%d letters are left", n)
	}
}

// A letter whose job is cancelled stays: its chunk would be dropped.
func TestRetryOfACancelledJob(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	chunk := numbered(newSpec(), 1)[0]
	m := encodeChunk(Bulk, chunk)
	m.Subject = deadSubject(chunk)
	if _, err := q.js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if err := q.Cancel(t.Context(), chunk.Owner, chunk.Job); err != nil {
		t.Fatal(err)
	}
	letters, err := q.Dead(t.Context(), "")
	if err != nil || len(letters) != 1 {
		t.Fatalf("%d letters, %v", len(letters), err)
	}
	if err := q.Retry(t.Context(), letters[0]); !errors.Is(err, ErrCancelled) {
		t.Errorf("%v, want %v", err, ErrCancelled)
	}
	if jobs, dead := messages(t, q, jobsStream), messages(t, q, deadStream); jobs != 0 || dead != 1 {
		t.Errorf("%d chunks, %d letters", jobs, dead)
	}
}

// What names no chunk cannot be retried, and neither can what is not there any more.
func TestRetryOfWhatIsNoChunk(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	if _, err := q.js.Publish(t.Context(), deadPrefix+"nameless.nameless.x", nil); err != nil {
		t.Fatal(err)
	}
	letters, err := q.Dead(t.Context(), "")
	if err != nil || len(letters) != 1 {
		t.Fatalf("%d letters, %v", len(letters), err)
	}
	for name, l := range map[string]*Letter{
		"nameless": letters[0],
		"lost":     {Owner: "me", Job: "job", Chunk: "1", Lost: true, seq: 1},
		"gone":     {Owner: "me", Job: "job", Chunk: "1", seq: 1 << 40},
		"token":    {Owner: "me.>", Job: "job", Chunk: "1", seq: 1},
	} {
		if err := q.Retry(t.Context(), l); err == nil {
			t.Errorf("%s was published again", name)
		}
	}
	if n := messages(t, q, jobsStream); n != 0 {
		t.Errorf("%d chunks are queued", n)
	}
}

// A job whose bucket was lost is known again after the audit, so that it can still be
// resumed.
func TestAuditRegistersTheJobAgain(t *testing.T) {
	t.Parallel()
	tm := lenient()
	tm.quiet, tm.audit = 200*time.Millisecond, 400*time.Millisecond
	q := connect(t, startServer(t).URL(), tm)
	spec := newSpec()
	var w written
	result := running(t, q, Run{Spec: spec, Entry: &Entry{Size: 9}, Next: inTurn(numbered(spec, 3)), Write: w.write})
	known := func() bool {
		e, err := q.Entry(t.Context(), spec.Owner, spec.Job)
		return err == nil && e.Records == 3
	}
	eventually(t, "the job is known", known)
	if err := q.kv.Delete(t.Context(), jobKey(spec.Owner, spec.Job)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the job is known again", known)
	serve(t, q, 1, 1, echo)
	completes(t, result)
}
