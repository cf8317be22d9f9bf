// Package worker answers chunks: it reads their records, looks up or solves,
// checks, and prints. It knows nothing of NATS or Redis.
package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"antipode/internal/cache"
	"antipode/internal/job"
	"antipode/internal/limit"
	"antipode/internal/puzzle"
	"antipode/internal/solver"
)

// Mode says which answers are cached.
type Mode string

// Searched caches what took a search: reading a table takes less time than
// asking a cache. All caches the answers of tables too, None nothing.
const (
	Searched Mode = "searched"
	All      Mode = "all"
	None     Mode = "none"
)

// Worker answers chunks. It is safe for use by many goroutines.
type Worker struct {
	Name    string // a token, in every result
	Puzzles *puzzle.Set
	Solver  *solver.Solver
	Cache   *cache.Cache
	Mode    Mode
	Budget  job.Budget // of a record, the upper bound of what jobs may ask
	// Definition fetches the definition of a given puzzle by its hash.
	Definition func(ctx context.Context, hash string) ([]byte, error)

	definitions given
	flights     flights
}

// Answer answers a chunk: a result with an answer for every record, in order.
// Remember, to be called once the result is safe, keeps what was learned; ctx may end
// what it does besides. With an error there is no result: it is ctx's, or the chunk's puzzle cannot be fetched
// now. Progress counts while the work really goes on.
func (w *Worker) Answer(ctx context.Context, c *job.Chunk, progress *atomic.Int64) (res *job.Result, remember func(context.Context), err error) {
	began := time.Now()
	a := answering{w: w, ctx: ctx, chunk: c, budget: c.Budget.Within(w.Budget), progress: progress, planner: solver.Planner{Solver: w.Solver}}
	a.puzzles, err = w.puzzles(ctx, c)
	switch {
	case err == nil:
		res, err = a.all()
	case errors.As(err, new(invalidError)):
		res, err = w.Fail(ctx, c, err.Error()), nil
	}
	if err != nil {
		return nil, nil, err
	}
	res.Seconds = time.Since(began).Seconds()
	res.Worker = w.Name
	return res, a.remember, nil
}

// payTime bounds how long a slot that has answered is at what its searches have paid
// for. It is less than a worker has to stop.
const payTime = 10 * time.Second

// remember keeps what was learned, and makes what answers that are exceeded could
// not wait for, unless ctx ends: not the chunk's, which has ended, but the slot's.
func (a *answering) remember(ctx context.Context) {
	a.w.Cache.Remember(a.learned)
	ctx, cancel := context.WithTimeout(ctx, payTime)
	defer cancel()
	a.w.Solver.Pay(ctx, a.unpaid)
}

// Fail makes the result of a chunk that is given up: each of its records failed.
func (w *Worker) Fail(ctx context.Context, c *job.Chunk, reason string) *job.Result {
	set, err := w.puzzles(ctx, c)
	if err != nil {
		set = w.Puzzles // it can be said in fewer words
	}
	res := job.All(c, set, job.Answer{Status: job.Failed, Reason: reason})
	res.Worker = w.Name
	return res
}

// answering is one chunk being answered. Records are answered and printed one
// by one, until the first that the cache may know; from there on they wait, so
// that the cache is asked once for all.
type answering struct {
	w        *Worker
	ctx      context.Context
	chunk    *job.Chunk
	puzzles  *puzzle.Set // that it may name
	budget   job.Budget
	progress *atomic.Int64

	planner solver.Planner
	res     job.Result
	counted int // records of the result that progress has counted
	recs    [block]job.Record
	ways    [block]solver.Way // to the first held of recs
	held    int               // of recs, whose ways are walked together
	rec     *job.Record       // at hand, after those that are held
	inside  bool              // it is being read or answered: a panic is its own
	known   job.Answer        // to it, without a search
	moves   []uint8           // of it
	waiting []waiting
	keys    []cache.Key // of those that wait and may be cached
	learned []cache.Entry
	unpaid  solver.Plan // of the last record that was exceeded
}

// checkEvery is how many records are answered between two looks at ctx, and between
// two counts of progress.
const checkEvery = 256

// block is how many ways are walked together.
const block = 8

func (a *answering) all() (res *job.Result, err error) {
	defer func() {
		if p := recover(); p != nil { // outside a record: nothing of the chunk can be trusted
			res, err = job.All(a.chunk, a.puzzles, failed(p)), nil
		}
	}()
	r, err := job.NewReader(a.chunk, a.puzzles)
	if err != nil {
		return job.All(a.chunk, a.puzzles, job.Answer{Status: job.Failed, Reason: err.Error()}), nil
	}
	n := 0
	for more := true; more; {
		switch more, err = a.run(r, &n); {
		case err == errTooMany:
			return job.All(a.chunk, a.puzzles, job.Answer{Status: job.Failed, Reason: err.Error()}), nil
		case err != nil:
			return nil, err
		}
	}
	if a.chunk.Records != 0 && n != a.chunk.Records {
		reason := fmt.Sprintf("the chunk says that it has %d records, and has %d", a.chunk.Records, n)
		return job.All(a.chunk, a.puzzles, job.Answer{Status: job.Failed, Reason: reason}), nil
	}
	if err := a.finish(); err != nil {
		return nil, err
	}
	a.count()
	return &a.res, nil
}

// errTooMany bounds what a chunk that does not say how many records it has makes of a
// message: answers may be much longer than records.
var errTooMany = fmt.Errorf("the chunk has more than %d records", limit.ChunkRecords)

// run answers the records that are left, or up to one that panics, which fails
// alone; then there may be more. It counts them in n.
func (a *answering) run(r *job.Reader, n *int) (more bool, err error) {
	defer func() {
		if !a.inside {
			return
		}
		if p := recover(); p != nil {
			a.inside = false
			broken := failed(p)
			a.settle(&broken)
			more, err = true, nil
		}
	}()
	for {
		a.rec = &a.recs[a.held]
		if !r.Next(a.rec) {
			a.walk()
			return false, nil
		}
		if *n == limit.ChunkRecords {
			return false, errTooMany
		}
		if *n%checkEvery == 0 {
			a.count()
			a.makeRoom()
			if a.ctx.Err() != nil {
				return false, context.Cause(a.ctx)
			}
		}
		*n++
		if err := a.record(r); err != nil {
			return false, err
		}
	}
}

// most is how many bytes makeRoom makes room for at once: a chunk's word for how many
// records it has is not proven.
const most = 1 << 20

// makeRoom makes room for the answers that are left, if they are as long as those
// before them, and some more.
func (a *answering) makeRoom() {
	if a.res.Records == 0 || a.chunk.Records <= a.res.Records {
		return
	}
	each := len(a.res.Payload)*9/8/a.res.Records + 1
	left := min(a.chunk.Records-a.res.Records, most) // so that the product fits
	a.res.Payload = slices.Grow(a.res.Payload, min(each*left, most))
}

// record reads the record at hand and answers it, or lets it wait.
func (a *answering) record(r *job.Reader) error {
	rec, began := a.rec, a.clock()
	a.inside = true
	r.Read(rec)
	poison(rec)
	if rec.Invalid != nil {
		a.inside = false
		a.settle(&job.Answer{Status: job.Invalid, Line: rec.Invalid.Line, Reason: rec.Invalid.Reason})
		return nil
	}
	plan := a.planner.Plan(&rec.Question)
	a.inside = false
	switch cached := a.w.caches(plan); {
	case cached || len(a.waiting) > 0:
		a.wait(waiting{rec: *rec, plan: plan}, cached)
		return nil
	case plan.Method == solver.ByTable && rec.Want == puzzle.Moves && !a.chunk.Explain:
		a.hold(plan)
		return nil
	}
	a.walk()
	a.inside = true
	answer, err := a.solve(rec, plan)
	a.inside = false
	if err == nil {
		a.print(rec, answer, began)
	}
	return err
}

// settle prints the answer to the record at hand, which took no time, in its turn.
func (a *answering) settle(answer *job.Answer) {
	if len(a.waiting) > 0 {
		a.wait(waiting{rec: *a.rec, answer: answer}, false)
		return
	}
	a.walk()
	a.print(a.rec, answer, time.Time{})
}

// hold holds the record at hand until its way is walked.
func (a *answering) hold(plan solver.Plan) {
	way := &a.ways[a.held]
	way.Question, way.Plan = &a.rec.Question, plan
	if a.held++; a.held == block {
		a.walk()
	}
}

// walk answers the records that are held, and prints them. Where that panics, each is
// answered alone.
func (a *answering) walk() {
	if a.held == 0 {
		return
	}
	ways := a.ways[:a.held]
	a.held = 0
	broken := guard(func() {
		solver.Walk(ways)
		for i := range ways {
			if !leads(ways[i].Question, &ways[i].Answer) {
				ways[i].Answer = *astray()
			}
		}
	})
	for i := range ways {
		if broken != nil {
			_ = a.solveAlone(&a.recs[i], ways[i].Plan) // a table knows no contexts
			continue
		}
		a.print(&a.recs[i], &ways[i].Answer, time.Time{})
	}
}

// clock is the time, where answers say how long they took.
func (a *answering) clock() (t time.Time) {
	if a.chunk.Explain {
		t = time.Now()
	}
	return t
}

// solveAlone answers a record without the cache, and prints it.
func (a *answering) solveAlone(rec *job.Record, plan solver.Plan) (err error) {
	began := a.clock()
	var answer *job.Answer
	if broken := guard(func() { answer, err = a.solve(rec, plan) }); broken != nil {
		answer, err = broken, nil
	}
	if err == nil {
		a.print(rec, answer, began)
	}
	return err
}

// solve answers a record without the cache. The answer is good until the next
// record's.
func (a *answering) solve(rec *job.Record, plan solver.Plan) (*job.Answer, error) {
	answer := &a.known
	if !plan.Known(&rec.Question, rec.Want, a.moves, answer) {
		a.count()
		began := time.Now()
		found, err := a.w.Solver.Solve(a.ctx, &rec.Question, plan, rec.Want, a.budget, a.progress, a.moves)
		a.searched(began)
		if err != nil {
			return nil, err
		}
		if found.Status == job.Exceeded {
			a.unpaid = plan
		}
		answer = &found
	}
	if answer.Moves != nil {
		a.moves = answer.Moves[:0]
		if !leads(&rec.Question, answer) {
			return astray(), nil
		}
	}
	return answer, nil
}

// searched counts the time of a search that ends now.
func (a *answering) searched(began time.Time) { a.res.Searching += time.Since(began) }

func (a *answering) print(rec *job.Record, answer *job.Answer, began time.Time) {
	if a.chunk.Explain && !began.IsZero() {
		answer.Seconds = time.Since(began).Seconds()
	}
	a.res.Payload = job.Append(a.res.Payload, &a.chunk.Spec, rec, answer)
	a.res.Add(answer)
	a.res.Tally.Add(rec.Puzzle, answer)
}

// count lets progress count what was answered since the last time.
func (a *answering) count() {
	a.progress.Add(int64(a.res.Records - a.counted))
	a.counted = a.res.Records
}

// leads replays the moves of a solved record, and tells whether they reach the
// goal: none leaves that misses it.
func leads(q *puzzle.Question, answer *job.Answer) bool {
	return answer.Status != job.Solved || q.Unlike || q.Space.Replay(q.Start, q.Goal, answer.Moves)
}

// astray is the answer where moves miss the goal.
func astray() *job.Answer {
	return &job.Answer{Status: job.Failed, Reason: "the moves found do not lead to the goal: a fault of the solver"}
}

// guard runs f, and returns a failed answer where it panics: a panic fails its
// record, not its chunk.
func guard(f func()) (broken *job.Answer) {
	defer func() {
		if p := recover(); p != nil {
			a := failed(p)
			broken = &a
		}
	}()
	f()
	return nil
}

func failed(p any) job.Answer {
	return job.Answer{Status: job.Failed, Reason: fmt.Sprintf("panic: %v at %s", p, origin(debug.Stack()))}
}

// Slots returns how many chunks to answer at once, 0 meaning one a core.
func Slots(configured int) int {
	if configured > 0 {
		return configured
	}
	return runtime.GOMAXPROCS(0)
}

// Prepare builds the tables of the puzzles, and returns how many there are.
func (w *Worker) Prepare(ctx context.Context) (tables int, err error) {
	var all []*puzzle.Puzzle
	for _, name := range w.Puzzles.Names() {
		p, err := w.Puzzles.Get(name)
		if err != nil {
			return 0, err
		}
		all = append(all, p)
	}
	return w.Solver.Prepare(ctx, all...)
}
