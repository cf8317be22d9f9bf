//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"antipode/internal/process"
)

// poisoned makes a job with some records at which poisonable workers panic or
// crash. Others answer them as the undisturbed run does.
func (l *lab) poisoned(ctx context.Context, m mix, ids map[int]string) (*job, error) {
	all := m.questions()
	for n, id := range ids {
		all[n].id = id
	}
	return l.jobOf(ctx, l.path("job.jsonl"), all)
}

// panics lets records panic: each fails alone, with the reason.
func panics(ctx context.Context, l *lab) (found result, err error) {
	ids := map[int]string{3: "panic one", 300: "panic two", 301: "panic three", 1023: "panic four"}
	j, err := l.poisoned(ctx, mix{seed: 4, chunks: 4, searches: 8, depth: 20}, ids)
	if err != nil {
		return found, err
	}
	s, err := l.nats(ctx)
	if err != nil {
		return found, err
	}
	if _, err := l.poisonable(ctx, s.url()); err != nil {
		return found, err
	}
	p, err := l.submit(ctx, s.url(), j, "out")
	if err != nil {
		return found, err
	}
	if err := ended(ctx, p, 1); err != nil {
		return found, err
	}
	if found.tally, found.often, err = l.expected(j, "out", func(a answer) bool {
		return a.Status == "failed" && strings.HasPrefix(a.ID, "panic") && strings.Contains(a.Reason, "panic: poison")
	}); err != nil {
		return found, err
	}
	if found.often != len(ids) || !strings.Contains(p.Log(), "4 failed") {
		return found, fmt.Errorf("%d records failed of %d that panic: %s", found.often, len(ids), p.Log())
	}
	return found, nil
}

// crashes lets a record kill each worker that begins it: its chunk is given up, and
// the job goes on.
func crashes(ctx context.Context, l *lab) (found result, err error) {
	j, err := l.poisoned(ctx, mix{seed: 5, chunks: 4, searches: 8, depth: 20}, map[int]string{300: "crash"})
	if err != nil {
		return found, err
	}
	s, o, err := l.watched(ctx)
	if err != nil {
		return found, err
	}
	defer o.close()
	p, err := l.submit(ctx, s.url(), j, "out")
	if err != nil {
		return found, err
	}
	if found.often, err = l.revive(ctx, s, p); err != nil {
		return found, err
	}
	if err := ended(ctx, p, 1); err != nil {
		return found, err
	}
	failed := 0
	if found.tally, failed, err = l.expected(j, "out", func(a answer) bool {
		return a.Status == "failed" && strings.Contains(a.Reason, "given up: begun 4 times")
	}); err != nil {
		return found, err
	}
	if found.often != 4 || failed != chunkRecords || !strings.Contains(p.Log(), "256 failed") {
		return found, fmt.Errorf("%d crashes and %d failed records, want 4 and %d: %s", found.often, failed, chunkRecords, p.Log())
	}
	if err := o.letter(ctx); err != nil {
		return found, err
	}
	again, err := l.retried(ctx, o, s.url(), j)
	found.add(again)
	return found, err
}

// retried lists the dead letter and has its chunk tried again, by a worker that is
// not at fault: the job then has all its answers.
func (l *lab) retried(ctx context.Context, o *operator, url string, j *job) (t tally, err error) {
	id, err := o.jobID(ctx)
	if err != nil {
		return t, err
	}
	for _, w := range l.all("worker") {
		w.Kill()
	}
	if _, err := l.worker(ctx, url); err != nil {
		return t, err
	}
	list, err := l.start(l.command(ctx, nil, "submit", "dead", "list", "--nats", url))
	if err != nil {
		return t, err
	}
	if err := ended(ctx, list, 0); err != nil {
		return t, err
	}
	if list.Count(id+"/1") != 1 || list.Count("begun 4 times") != 1 {
		return t, fmt.Errorf("'submit dead list' says %s", list.Log())
	}
	retry, err := l.start(l.command(ctx, nil, "submit", "dead", "retry", "--nats", url, id+"/1"))
	if err != nil {
		return t, err
	}
	if err := ended(ctx, retry, 0); err != nil {
		return t, err
	}
	if err := errors.Join(o.empty(ctx, "DEAD"), o.empty(ctx, "JOBS")); err != nil {
		return t, err
	}
	p, err := l.resume(ctx, url, id, j.file, "again")
	if err != nil {
		return t, err
	}
	if err := ended(ctx, p, 0); err != nil {
		return t, err
	}
	return l.compare(j, "again")
}

// revive starts a worker in the place of each that crashed, until the job is over.
func (l *lab) revive(ctx context.Context, s *server, job *process.Process) (crashes int, err error) {
	for {
		w, err := l.poisonable(ctx, s.url())
		if err != nil {
			return crashes, err
		}
		select {
		case <-w.Gone():
			if w.Count("panic: poison") == 0 {
				return crashes, fmt.Errorf("%s ended otherwise than by the record: %s", w, w.Log())
			}
			crashes++
		case <-job.Gone():
			return crashes, nil
		case <-ctx.Done():
			return crashes, context.Cause(ctx)
		}
	}
}

// letter wants one dead letter, which says why, when, by whom and after how much.
func (o *operator) letter(ctx context.Context) error {
	dead, err := o.Stream(ctx, "DEAD")
	if err != nil {
		return err
	}
	if n := dead.CachedInfo().State.Msgs; n != 1 {
		return fmt.Errorf("%d dead letters, want 1", n)
	}
	m, err := dead.GetMsg(ctx, dead.CachedInfo().State.FirstSeq)
	if err != nil {
		return err
	}
	for _, name := range []string{"Dead-Worker", "Dead-Time", "Dead-Delivered", "Dead-Reason"} {
		if m.Header.Get(name) == "" {
			return fmt.Errorf("the dead letter has no %s: %v", name, m.Header)
		}
	}
	if reason := m.Header.Get("Dead-Reason"); !strings.Contains(reason, "begun 4 times") {
		return fmt.Errorf("the dead letter's reason is %q", reason)
	}
	return nil
}
