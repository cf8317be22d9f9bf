package queue

import (
	"cmp"
	"slices"
	"time"

	"antipode/internal/job"
	"antipode/internal/limit"
)

// ledger is an owner's jobs, as they are told by the bucket's keys and the results. Its
// size is that of what the server has of them: entries of three days, results of one.
type ledger struct {
	owner  string
	jobs   map[string]*account
	read   map[string]uint64 // of the streams, up to which message
	noted  int               // chunks that are told apart, of all jobs
	live   bool              // what there was at the beginning is read
	missed bool              // something could not be taken in: it is to be read anew
}

// account is a job, and what each of its chunks counts for.
type account struct {
	Progress
	chunks map[int]entered
	// closed: chunks are not told apart any more, since the job is finished.
	closed   bool
	finished time.Time // when that was heard, by this clock
}

// entered is what a chunk's result counts for. Those of a job of 10^5 chunks take 5 MB.
type entered struct {
	records, cached int32
	by              [job.Statuses]int32
}

func newLedger(owner string) *ledger {
	return &ledger{owner: owner, jobs: map[string]*account{}, read: map[string]uint64{}}
}

func (l *ledger) get(id string) *account {
	a := l.jobs[id]
	if a == nil {
		a = &account{Progress: Progress{Owner: l.owner, Job: id}}
		l.jobs[id] = a
	}
	return a
}

// enter takes in what the bucket says of a job, nil for nothing any more.
func (l *ledger) enter(id string, e *Entry) {
	a := l.get(id)
	a.Entry = e
	switch {
	case !a.Finished():
		l.missed = l.missed || a.closed // it was resumed
		a.finished = time.Time{}
	case !l.live:
		l.close(a)
	case a.finished.IsZero():
		a.finished = time.Now()
	}
}

// lateness is how long after its end results of a job may still be on their way here.
const lateness = 5 * time.Second

// close stops telling the chunks of a finished job apart.
func (l *ledger) close(a *account) {
	l.noted -= len(a.chunks)
	a.chunks, a.closed = nil, true
}

// count takes a chunk's result in. It replaces one that came before.
func (l *ledger) count(id string, chunk int, c job.Counts, at time.Time) {
	a := l.get(id)
	if at.After(a.Last) {
		a.Last = at
	}
	if a.closed && l.live {
		l.missed = true // a dead letter that was tried again, say
		return
	}
	was, again := a.chunks[chunk]
	if again {
		a.Counts.Sum(was.counts(-1))
		a.Answered--
	}
	a.Counts.Sum(c)
	a.Answered++
	if a.closed || !again && l.noted == limit.Watched {
		return
	}
	if a.chunks == nil {
		a.chunks = map[int]entered{}
	}
	a.chunks[chunk] = enteredOf(c)
	if !again {
		l.noted++
	}
}

func enteredOf(c job.Counts) entered {
	e := entered{records: int32(c.Records), cached: int32(c.Cached)}
	for status, n := range c.ByStatus {
		e.by[status] = int32(n)
	}
	return e
}

// counts is so many times what was entered.
func (e entered) counts(times int) job.Counts {
	c := job.Counts{Records: times * int(e.records), Cached: times * int(e.cached)}
	for status, n := range e.by {
		c.ByStatus[status] = times * int(n)
	}
	return c
}

// recent is how long a job that has nothing queued counts as being worked on after
// something happened to it: its submitter misses what was lost within half a minute.
const recent = time.Minute

// stillQueued are the chunks of those that were queued a while ago that may be so now:
// answers are heard of at once. With all answered, what is queued was tried again.
func (a *account) stillQueued(queued int) int {
	if a.Entry == nil || a.Answered >= a.Entry.Chunks {
		return queued
	}
	return min(queued, a.Entry.Chunks-a.Answered)
}

// shown are the jobs that matter most: those with work to do, the latest first, then
// those that something happened to last. More says how many there are besides.
func (l *ledger) shown(queued map[string]int, now time.Time) (list []*Progress, more int) {
	for id, n := range queued {
		if l.jobs[id] == nil {
			list = append(list, &Progress{Owner: l.owner, Job: id, Queued: n})
		}
	}
	for id, a := range l.jobs {
		if !a.finished.IsZero() && now.Sub(a.finished) > lateness && !a.closed {
			l.close(a)
		}
		if a.Queued = a.stillQueued(queued[id]); a.Entry != nil || a.Queued+a.Answered > 0 { // not a mere mark
			list = append(list, &a.Progress)
		}
	}
	working := func(p *Progress) bool { return !p.Over() && (p.Queued > 0 || now.Sub(p.touched()) < recent) }
	slices.SortFunc(list, func(a, b *Progress) int {
		switch {
		case working(a) != working(b):
			return map[bool]int{true: -1, false: 1}[working(a)]
		case working(a):
			return cmp.Or(b.started().Compare(a.started()), cmp.Compare(a.Job, b.Job))
		}
		return cmp.Or(b.touched().Compare(a.touched()), cmp.Compare(a.Job, b.Job))
	})
	more = max(0, len(list)-maxShown)
	list = list[:len(list)-more]
	for i, p := range list {
		list[i] = new(*p)
	}
	return list, more
}
