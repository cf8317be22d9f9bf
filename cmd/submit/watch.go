package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"antipode/internal/job"
	"antipode/internal/queue"
)

// watchEvery is how often the view is made anew.
const watchEvery = time.Second

func watchCommand(s *submission) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "watch [JOB]",
		Short: "Look on while workers work: rates, queues, slots, jobs",
		Long: `watch shows what 'submit status' shows, and what workers are at, once a second:
records a second of all workers together, what is queued, the puzzle that each
slot works on and for how long, the owner's jobs with what is done, the rate of the
last seconds and the time that is left. While NATS is away it says so, and goes on
when it is back. q, Esc or Ctrl-C leave.

Where standard output is no terminal, or TERM is dumb, it prints lines of KEY=VALUE
for what changed, and one each half minute. bulk=120+4 is 120 chunks that wait, and 4
that are with workers or put off.

With a job it shows that job, and ends when it is answered, finished or cancelled.

Exit status: 0 left, or every record of the job was answered; 1 some are invalid,
exceeded or failed; 2 usage, or no such job; 3 the job was cancelled, or NATS could
not be reached at the start; 130 or 143 interrupted before the job's end.`,
		Example: `  submit watch --nats nats://queue:4222
  submit watch --nats nats://queue:4222 5QZJ2NKXH4T7RA6WEMCB3YVGDU | tee progress.log
  submit watch 5QZJ2NKXH4T7RA6WEMCB3YVGDU >/dev/null && echo all answered`,
		Args: cobra.MaximumNArgs(1),
	}
	from := newSettings(cmd, toServer)
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		if err := s.prepare(from); err != nil {
			return err
		}
		if err := s.named("submit watch", ids...); err != nil {
			return err
		}
		w := &watcher{submission: s, cfg: queue.WatchConfig{Owner: s.cfg.Owner, Every: watchEvery}, rates: newRates()}
		if len(ids) == 1 {
			w.cfg.Job = ids[0]
		}
		if w.terminal() {
			w.screen = newScreen(s)
			s.log = w.screen
		}
		return s.ask(cmd.Context(), w.watch)
	}
	return cmd
}

// watcher is one call of watch.
type watcher struct {
	*submission
	cfg    queue.WatchConfig
	rates  *rates
	screen *screen // nil for lines
	lines  lines

	job *queue.Progress // the one that is watched, as it was seen last
	odd time.Time       // since when it is not seen, or lacks answers at its end
	end error           // the exit status that the job's end asks for
}

// terminal tells whether there is one that can show more than lines.
func (w *watcher) terminal() bool {
	kind := os.Getenv("TERM")
	return term.IsTerminal(int(w.stdout.Fd())) && kind != "dumb" && (kind != "" || runtime.GOOS == "windows")
}

// errOver ends the watch of a job, errLeft one whose user has left.
var (
	errOver = errors.New("over")
	errLeft = errors.New("left")
)

func (w *watcher) watch(ctx context.Context, q *queue.Queue) error {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	show, stop := w.print, func() error { return nil }
	if w.screen != nil {
		show, stop = w.screen.draw, w.screen.start(w.cfg, func() { leave(errLeft) })
	}
	var last frame
	err := q.Watch(ctx, w.cfg, func(v queue.View) error {
		last = w.rates.frame(v, w.cfg)
		over := w.over(v)
		if err := show(last); err != nil || !over {
			return err
		}
		return errOver
	})
	if closing := stop(); closing != nil {
		return closing
	}
	switch sig := (signalError{}); {
	case errors.Is(err, errLeft):
		return nil
	case errors.As(err, &sig) && sig.Signal == syscall.SIGINT && (w.screen != nil || w.cfg.Job == ""):
		return nil // that is how one leaves
	case !errors.Is(err, errOver):
		return err
	}
	if w.screen != nil && w.job != nil { // it is gone from the screen
		if _, err := fmt.Fprintln(w.stdout, jobLine(&last, w.job)); err != nil {
			return err
		}
	}
	return w.end
}

const (
	// lateAnswers is how long the last answers of a job that is finished may take to
	// be seen.
	lateAnswers = 5 * time.Second
	// lostJob is how long a job that NATS has lost is waited for: a submitter that is
	// there enters it anew within half a minute or so.
	lostJob = 2 * time.Minute
)

// over tells whether the job that is watched has ended, and sets the exit status.
func (w *watcher) over(v queue.View) bool {
	if w.cfg.Job == "" || !v.Ready || !v.Away.IsZero() {
		return false
	}
	late := func(bound time.Duration) bool {
		if w.odd.IsZero() {
			w.odd = v.Time
		}
		return v.Time.Sub(w.odd) >= bound
	}
	if len(v.Jobs) == 0 {
		w.end = &exitError{exitUsage, fmt.Errorf("job %s of %s: %w", w.cfg.Job, w.cfg.Owner, queue.ErrNoJob)}
		return w.job == nil || late(lostJob)
	}
	p := v.Jobs[0]
	w.job = p
	w.end = verdict(p)
	if p.State() == queue.StateFinished && p.Answered < p.Entry.Chunks {
		return late(lateAnswers) // or for ever gone, after a day
	}
	w.odd = time.Time{}
	return p.Over()
}

// verdict is the exit status of a job's end.
func verdict(p *queue.Progress) error {
	n := p.Counts
	short := p.Entry != nil && p.Answered >= p.Entry.Chunks && n.Records < p.Entry.Records // too long to travel, so invalid
	switch {
	case p.State() == queue.StateCancelled:
		return &exitError{exitDelivery, fmt.Errorf("job %s was cancelled", p.Job)}
	case short || n.ByStatus[job.Invalid]+n.ByStatus[job.Exceeded]+n.ByStatus[job.Failed] > 0:
		return &exitError{exitAnswers, nil}
	}
	return nil
}
