package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"antipode/internal/job"
	"antipode/internal/queue"
)

// lines is what was printed, so that only what changed is printed again.
type lines struct {
	at      time.Time // when a line was printed last
	server  string
	trouble string
	jobs    map[string]string // by id, what was known of it
}

// linesEvery is how often a line is printed at least.
const linesEvery = 30 * time.Second

// print prints a frame where there is no terminal.
func (w *watcher) print(f frame) error {
	var text strings.Builder
	w.lines.print(&text, &f)
	if text.Len() == 0 {
		return nil
	}
	_, err := io.WriteString(w.stdout, text.String())
	return err
}

func (l *lines) print(w io.Writer, f *frame) {
	now := f.Time.Format(time.TimeOnly)
	again := f.Time.Sub(l.at) >= linesEvery
	line := func(text string) {
		fmt.Fprintln(w, now, text)
		l.at = f.Time
	}
	switch {
	case !f.Away.IsZero():
		if again || !strings.HasPrefix(l.server, "nats=away") {
			l.server = "nats=away"
			line(fmt.Sprintf("nats=away seconds=%.0f", f.Time.Sub(f.Away).Seconds()))
		}
		return
	case f.Trouble != l.trouble:
		if l.trouble = f.Trouble; l.trouble != "" {
			line(fmt.Sprintf("trouble=%q", l.trouble))
		}
	}
	switch {
	case !f.Ready:
		if again {
			line("reading=jobs")
		}
		return
	}
	if server := serverLine(f); again || server != l.server {
		l.server = server
		line(server)
	}
	was := l.jobs
	l.jobs = map[string]string{}
	for _, p := range f.Jobs {
		known := jobCounts(p)
		before, seen := was[p.Job]
		l.jobs[p.Job] = known
		wanted := f.cfg.Job != "" || was != nil || !p.Over() // of those that were over before, nothing
		if wanted && (!seen || known != before || again && !p.Over()) {
			line(jobLine(f, p))
		}
	}
}

// serverLine says in key=value what servers and workers are at.
func serverLine(f *frame) string {
	held, slots := slotsOf(f.Workers)
	return fmt.Sprintf("workers=%d slots=%d/%d bulk=%s express=%s rate=%.0f/s dead=%d",
		len(f.Workers), held, slots, depth(f.Lanes[queue.Bulk]), depth(f.Lanes[queue.Express]), max(f.rate, 0), f.Dead)
}

func depth(d queue.Depth) string { return fmt.Sprintf("%d+%d", d.Pending, d.Unacked) }

// slotsOf counts those that hold a chunk, and all.
func slotsOf(workers []queue.Presence) (held, slots int) {
	for _, p := range workers {
		slots += p.Slots
		if p.Doing != nil {
			held += len(p.Doing.Held)
			slots += p.Doing.Express
		}
	}
	return held, slots
}

// jobLine says in key=value how far a job is.
func jobLine(f *frame, p *queue.Progress) string {
	text := "job=" + p.Job + " " + jobCounts(p) + fmt.Sprintf(" rate=%.0f/s", max(f.jobs[p.Job], 0))
	if left := f.left(p); left > 0 {
		text += fmt.Sprintf(" left=%.0fs", left.Seconds())
	}
	return text + fmt.Sprintf(" file=%q", file(p))
}

// jobCounts is the part of it that stays as it is while nothing happens.
func jobCounts(p *queue.Progress) string {
	all := "?"
	if p.Entry != nil && p.Entry.Records > 0 {
		all = fmt.Sprint(p.Entry.Records)
	}
	text := fmt.Sprintf("state=%s records=%d/%s chunks=%d queued=%d", p.State(), p.Counts.Records, all, p.Answered, p.Queued)
	for status := range job.Status(job.Statuses) {
		text += fmt.Sprintf(" %s=%d", status, p.Counts.ByStatus[status])
	}
	return text
}
