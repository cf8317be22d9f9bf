package worker

import (
	"time"

	"antipode/internal/cache"
	"antipode/internal/job"
	"antipode/internal/puzzle"
	"antipode/internal/solver"
)

// waiting is a record that waits for the cache.
type waiting struct {
	rec  job.Record
	plan solver.Plan
	key  int // in keys, -1 where it is not to be cached
	// answer is not nil where it is known.
	answer *job.Answer
}

// wait lets a record wait for the cache, or for those that do.
func (a *answering) wait(wait waiting, cached bool) {
	a.walk()
	wait.key = -1
	if cached {
		wait.key = len(a.keys)
		q := &wait.rec.Question
		a.keys = append(a.keys, cache.Key{Fingerprint: q.Space.Fingerprint(), Start: q.Start, Goal: q.Goal})
	}
	a.waiting = append(a.waiting, wait)
}

// caches tells whether the answer of a plan is to be cached.
func (w *Worker) caches(plan solver.Plan) bool {
	switch plan.Method {
	case solver.BySearch:
		return w.Mode != None
	case solver.ByTable:
		return w.Mode == All
	}
	return false
}

// finish answers the records that wait.
func (a *answering) finish() error {
	if len(a.waiting) == 0 {
		return nil
	}
	asked := time.Now()
	known := a.w.Cache.Get(a.ctx, a.keys)
	a.res.Asking = time.Since(asked)
	fresh := make(map[cache.Key]*cache.Answer) // learned from this chunk
	for i := range a.waiting {
		wait := &a.waiting[i]
		if i%checkEvery == 0 {
			a.count()
		}
		switch {
		case wait.answer != nil:
			a.print(&wait.rec, wait.answer, time.Time{})
			continue
		case wait.key < 0:
			if err := a.solveAlone(&wait.rec, wait.plan); err != nil {
				return err
			}
			continue
		}
		began := a.clock()
		key := a.keys[wait.key]
		kept := known[wait.key]
		if kept == nil {
			kept = fresh[key]
		}
		if answer, ok := fromCache(wait, kept); ok {
			a.print(&wait.rec, &answer, began)
			continue
		}
		// A table may have been built since, by the searches before this one.
		if wait.plan = a.w.Solver.Plan(&wait.rec.Question); !a.w.caches(wait.plan) {
			if err := a.solveAlone(&wait.rec, wait.plan); err != nil {
				return err
			}
			continue
		}
		answer, err := a.search(key, wait)
		if err != nil {
			return err
		}
		if answer.Status.Final() {
			kept := cache.Answer{Status: answer.Status, Moves: answer.Moves}
			fresh[key] = &kept
			if !answer.Cached {
				a.learned = append(a.learned, cache.Entry{Key: key, Answer: kept})
			}
		}
		a.print(&wait.rec, &answer, began)
	}
	return nil
}

// fromCache makes an answer of what the cache holds, if anything. Moves are
// replayed: those that miss the goal are no answer, nor is that a goal cannot be
// reached where it is proven that it can.
func fromCache(wait *waiting, kept *cache.Answer) (job.Answer, bool) {
	q := &wait.rec.Question
	switch {
	case kept == nil:
		return job.Answer{}, false
	case kept.Status == job.Unreachable:
		return job.Answer{Status: job.Unreachable, Cached: true, Method: "cache"}, !wait.plan.Leads(q)
	case !q.Space.Replay(q.Start, q.Goal, kept.Moves):
		return job.Answer{}, false
	}
	return job.Answer{Distance: len(kept.Moves), Moves: kept.Moves, Cached: true, Method: "cache"}, true
}

// search solves the question of a record that the cache does not know, unless
// another slot is at the same question just now.
func (a *answering) search(key cache.Key, wait *waiting) (job.Answer, error) {
	q := &wait.rec.Question
	a.count()
	defer a.searched(time.Now())
	return a.w.flights.do(a.ctx, flightKey{key, a.budget}, a.progress, func() (answer job.Answer, err error) {
		broken := guard(func() {
			answer, err = a.w.Solver.Solve(a.ctx, q, wait.plan, puzzle.Moves, a.budget, a.progress, nil)
			if err == nil && !leads(q, &answer) {
				answer = *astray()
			}
		})
		if broken != nil {
			return *broken, nil
		}
		if err == nil && answer.Status == job.Exceeded {
			a.unpaid = wait.plan
		}
		if err == nil && answer.Status.Final() {
			a.w.Cache.Keep(key, cache.Answer{Status: answer.Status, Moves: answer.Moves})
		}
		return answer, err
	})
}
