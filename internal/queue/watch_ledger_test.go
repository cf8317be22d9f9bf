package queue

import (
	"fmt"
	"testing"
	"time"

	"antipode/internal/job"
	"antipode/internal/limit"
)

func solved(n int) job.Counts {
	c := job.Counts{Records: n}
	c.ByStatus[job.Solved] = n
	return c
}

// What tells chunks apart is bounded, and given back with the job.
func TestLedgerIsBounded(t *testing.T) {
	l := newLedger("o")
	for n := range limit.Watched + 10 {
		l.count("J", n, solved(1), time.Unix(int64(n), 0))
	}
	l.count("J", 0, solved(2), time.Unix(1, 0))
	l.count("K", 0, solved(1), time.Unix(1, 0))
	j := l.get("J")
	if l.noted != limit.Watched || len(j.chunks) != limit.Watched || j.Answered != limit.Watched+10 || j.Counts.Records != limit.Watched+11 || l.get("K").Answered != 1 {
		t.Errorf("noted %d, %d chunks, %+v", l.noted, len(j.chunks), j.Progress)
	}
	now := time.Now()
	l.live = true
	l.enter("J", &Entry{Finished: now})
	l.shown(nil, now)
	if j.closed {
		t.Error("closed while answers may be on their way")
	}
	l.shown(nil, now.Add(time.Hour))
	if !j.closed || j.chunks != nil || l.noted != 0 || l.missed {
		t.Errorf("not closed: %d noted", l.noted)
	}
	l.count("K", 1, solved(1), time.Unix(1, 0))
	if l.noted != 1 {
		t.Errorf("%d noted, want one", l.noted)
	}
	l.count("J", 3, solved(1), now)
	if !l.missed || j.Counts.Records != limit.Watched+11 {
		t.Error("an answer to a job that is closed is not to be counted, but read anew")
	}
}

// A job that is taken up again after its end is read anew.
func TestLedgerOfAResumedJob(t *testing.T) {
	l := newLedger("o")
	l.enter("J", &Entry{Finished: time.Now()})
	l.count("J", 0, solved(1), time.Now())
	l.live = true
	if l.noted != 0 || l.get("J").Answered != 1 {
		t.Errorf("noted %d, %+v", l.noted, l.get("J").Progress)
	}
	l.enter("J", &Entry{})
	if !l.missed {
		t.Error("it goes on with what it cannot tell apart")
	}
}

// Those with work to do come first, the latest of them at the top; then those that
// something happened to last. There are so many at the most.
func TestLedgerShowsWhatMatters(t *testing.T) {
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	l := newLedger("o")
	enter := func(id string, e Entry, answered int, last time.Time) {
		e.Chunks, e.Records = 2, 2
		for n := range answered {
			l.count(id, n, solved(1), last)
		}
		l.enter(id, &e)
	}
	enter("working", Entry{Started: ago(time.Hour)}, 1, ago(2*time.Hour))
	enter("begun", Entry{Started: ago(time.Second)}, 0, now)
	enter("abandoned", Entry{Started: ago(48 * time.Hour)}, 1, ago(47*time.Hour))
	enter("finished", Entry{Started: ago(time.Hour), Finished: ago(time.Minute)}, 2, ago(2*time.Minute))
	enter("answered", Entry{Started: ago(time.Hour)}, 2, ago(3*time.Minute))
	l.get("mark").Cancelled = true
	l.get("working").Entry.Started = ago(time.Hour)
	list, more := l.shown(map[string]int{"working": 1, "foreign": 3}, now)
	var ids []string
	for _, p := range list {
		ids = append(ids, p.Job+" "+p.State())
	}
	if got, want := fmt.Sprint(ids), "[begun queued working running foreign queued finished finished answered answered abandoned running]"; got != want || more != 0 {
		t.Errorf("%s and %d more, want %s", got, more, want)
	}
	list[0].Answered = 99
	if l.get("begun").Answered != 0 {
		t.Error("a view is not a copy")
	}
	for n := range maxShown {
		enter(fmt.Sprint("old", n), Entry{Started: ago(50 * time.Hour), Finished: ago(49 * time.Hour)}, 0, now)
	}
	list, more = l.shown(map[string]int{"working": 1}, now)
	if len(list) != maxShown || more != 5 || list[0].Job != "begun" {
		t.Errorf("%d jobs and %d more, first %s", len(list), more, list[0].Job)
	}
}

// What is queued is asked for less often than answers are heard of: the two together are
// no more than there is.
func TestLedgerOfWhatIsStillQueued(t *testing.T) {
	l := newLedger("o")
	l.enter("J", &Entry{Records: 5, Chunks: 5})
	for n, want := range []int{5, 4, 3, 2, 1, 5} { // and once all are answered, one may be tried again
		if list, _ := l.shown(map[string]int{"J": 5}, time.Now()); list[0].Queued != want {
			t.Errorf("%d of 5 answered, %d queued, want %d", n, list[0].Queued, want)
		}
		l.count("J", n, solved(1), time.Now())
	}
	l.enter("K", &Entry{}) // it is being cut
	l.count("K", 0, solved(1), time.Now())
	if list, _ := l.shown(map[string]int{"K": 5}, time.Now()); list[0].Job != "K" && list[1].Job != "K" || list[0].Queued+list[1].Queued != 5 {
		t.Errorf("of a job of any size: %+v", list)
	}
}
