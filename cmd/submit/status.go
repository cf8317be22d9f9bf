package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"antipode/internal/job"
	"antipode/internal/queue"
)

func statusCommand(s *submission) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [JOB]",
		Short: "Say which workers there are, what is queued, and how far jobs are",
		Long: `status shows the workers that are there, what is queued for them, and the owner's
jobs of the last three days; of one job all that is known.

A job is queued until its first chunk is answered, then running; answered, when all
of it is, and finished, once its submitter has written the answers. One that is
answered or was interrupted is taken up by 'submit resume'.`,
		Example: `  submit status --nats nats://queue:4222
  submit status --nats nats://queue:4222 5QZJ2NKXH4T7RA6WEMCB3YVGDU`,
		Args: cobra.MaximumNArgs(1),
	}
	from := newSettings(cmd, toServer)
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		if err := s.prepare(from); err != nil {
			return err
		}
		if err := s.named("submit status", ids...); err != nil {
			return err
		}
		return s.ask(cmd.Context(), func(ctx context.Context, q *queue.Queue) error {
			if len(ids) == 1 {
				return s.oneJob(ctx, q, ids[0])
			}
			return s.allJobs(ctx, q)
		})
	}
	return cmd
}

// allJobs shows the workers, the lanes and the owner's jobs.
func (s *submission) allJobs(ctx context.Context, q *queue.Queue) error {
	jobs, err := q.Jobs(ctx, s.cfg.Owner, "")
	if err != nil {
		return err
	}
	workers, err := q.Workers(ctx)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "workers\t%d\n", len(workers))
	for _, w := range workers {
		fmt.Fprintf(t, "\t%s\t%s slots\tversion %s\ttables %s\n", w.Name, strconv.Itoa(w.Slots), w.Version, orNone(strings.Join(w.Tables, " ")))
	}
	for _, lane := range []queue.Lane{queue.Express, queue.Bulk} {
		d, err := q.Depth(ctx, lane)
		if err != nil {
			return err
		}
		fmt.Fprintf(t, "%s\t%d chunks wait, %d are with workers or put off\n", lane, d.Pending, d.Unacked)
	}
	dead, err := q.DeadLetters(ctx)
	if err != nil {
		return err
	}
	if dead > 0 {
		fmt.Fprintf(t, "dead\t%d letters: 'submit dead list'\n", dead)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(jobs) == 0 {
		_, err := fmt.Fprintf(s.stdout, "no jobs of %s in the last three days\n", s.cfg.Owner)
		return err
	}
	fmt.Fprintln(s.stdout)
	t = tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "JOB\tSTATE\tRECORDS\tRATE\tAGE\tFILE")
	for _, p := range jobs {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", p.Job, p.State(), records(p), rate(p), age(p), file(p))
	}
	return t.Flush()
}

// oneJob shows all that is known of a job.
func (s *submission) oneJob(ctx context.Context, q *queue.Queue, id string) error {
	jobs, err := q.Jobs(ctx, s.cfg.Owner, id)
	if errors.Is(err, queue.ErrNoJob) || err == nil && len(jobs) == 0 {
		return &exitError{exitUsage, fmt.Errorf("job %s of %s: %w", id, s.cfg.Owner, queue.ErrNoJob)}
	}
	if err != nil {
		return err
	}
	return describe(s.stdout, jobs[0])
}

func describe(w io.Writer, p *queue.Progress) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(t, name+"\t"+format+"\n", args...) }
	row("job", "%s", p.Job)
	row("file", "%s", file(p))
	row("state", "%s", p.State())
	row("records", "%s", records(p))
	for status := range job.Status(job.Statuses) {
		if n := p.Counts.ByStatus[status]; n > 0 {
			row("  "+status.String(), "%d", n)
		}
	}
	row("chunks", "%d answered, %d queued%s", p.Answered, p.Queued, chunksOf(p))
	row("rate", "%s", rate(p))
	if e := p.Entry; e != nil {
		row("puzzle", "%s", orNone(e.Puzzle))
		row("started", "%s, %s ago", e.Started.Local().Format(time.DateTime), age(p))
	}
	if !p.Last.IsZero() {
		row("last answer", "%s ago", short(time.Since(p.Last)))
	}
	return t.Flush()
}

func orNone(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// records says how many are answered, of how many.
func records(p *queue.Progress) string {
	done, all := p.Counts.Records, 0
	if p.Entry != nil {
		all = p.Entry.Records
	}
	switch {
	case p.Finished():
		done = all // its answers may have gone
	case all == 0:
		return fmt.Sprintf("%d of ?", done) // it is being cut
	}
	return fmt.Sprintf("%d of %d", done, all)
}

func chunksOf(p *queue.Progress) string {
	if p.Entry == nil || p.Entry.Chunks == 0 {
		return ""
	}
	return fmt.Sprintf(", of %d", p.Entry.Chunks)
}

// rate is the records a second from the job's start to its last answer.
func rate(p *queue.Progress) string {
	if p.Entry == nil || p.Counts.Records == 0 || !p.Last.After(p.Entry.Started) {
		return "-"
	}
	return humanize.CommafWithDigits(float64(p.Counts.Records)/p.Last.Sub(p.Entry.Started).Seconds(), 0) + "/s"
}

func age(p *queue.Progress) string {
	if p.Entry == nil {
		return "-"
	}
	return short(time.Since(p.Entry.Started))
}

// short is a time as 12s, 3m or 5h20m.
func short(d time.Duration) string {
	if d < time.Minute {
		return max(d, 0).Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

func file(p *queue.Progress) string {
	if p.Entry == nil {
		return "-"
	}
	return p.Entry.File
}
