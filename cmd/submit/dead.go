package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"antipode/internal/queue"
)

func deadCommand(s *submission) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dead",
		Short: "List dead letters, or have them tried again",
		Long: `dead is for chunks that were given up: they were begun four times and never
finished, or could not be read. Their records were answered as failed, and a copy of
each is kept for a week. 'dead list' shows them; 'dead retry' queues them again, as
if they had never been begun. Their answers then take the place of the failed ones:
'submit resume JOB FILE' writes the whole job. Both may be the operator's alone: see
configs/nats.conf.`,
		Example: `  submit dead list --nats nats://queue:4222
  submit dead retry --nats nats://queue:4222 5QZJ2NKXH4T7RA6WEMCB3YVGDU/17
  submit dead list --nats nats://queue:4222 --all-owners
  submit dead retry --nats nats://queue:4222 --all`,
		Args: cobra.NoArgs,
	}
	list := &cobra.Command{
		Use:   "list",
		Short: "List the dead letters of the owner, or of all",
		Args:  cobra.NoArgs,
	}
	retry := &cobra.Command{
		Use:   "retry ID...",
		Short: "Queue chunks again",
		Args:  cobra.ArbitraryArgs,
	}
	all := retry.Flags().Bool("all", false, "all that there are of the owner")
	s.dead(cmd, s.letters)
	s.dead(list, s.letters)
	s.dead(retry, func(ctx context.Context, q *queue.Queue, owner string, ids []string) error {
		if (len(ids) == 0) != *all {
			return &exitError{exitUsage, errors.New("which ones? Name their IDs, as 'submit dead list' shows them, or --all")}
		}
		return s.retry(ctx, q, owner, ids)
	})
	cmd.AddCommand(list, retry)
	return cmd
}

// dead makes a command of what is done with the dead letters of the owner, or with
// those of all, for whom owner is "".
func (s *submission) dead(cmd *cobra.Command, do func(ctx context.Context, q *queue.Queue, owner string, ids []string) error) {
	from := newSettings(cmd, toServer)
	everybody := cmd.Flags().Bool("all-owners", false, "dead letters of all owners, for an operator")
	cmd.MarkFlagsMutuallyExclusive("owner", "all-owners")
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		if err := s.prepare(from); err != nil {
			return err
		}
		if err := s.named("submit dead"); err != nil {
			return err
		}
		owner := s.cfg.Owner
		if *everybody {
			owner = ""
		}
		return s.ask(cmd.Context(), func(ctx context.Context, q *queue.Queue) error { return do(ctx, q, owner, ids) })
	}
}

// letters lists the dead letters.
func (s *submission) letters(ctx context.Context, q *queue.Queue, owner string, _ []string) error {
	all, err := q.Dead(ctx, owner)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		if owner == "" {
			s.note("no dead letters")
		} else {
			s.note("no dead letters of %s; --all-owners looks at all", owner)
		}
		return nil
	}
	t := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tOWNER\tTIME\tDELIVERED\tWORKER\tRECORDS\tFILE\tREASON")
	for _, l := range all {
		where := orNone(l.File)
		if l.FirstLine != "" {
			where += ":" + l.FirstLine
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", l.ID(), l.Owner, l.Time.Local().Format(time.DateTime),
			orNone(l.Delivered), orNone(l.Worker), orNone(l.Records), where, l.Reason)
	}
	return t.Flush()
}

// retry queues dead letters again: those of the ids, or all that can be. It ends where
// the server is away.
func (s *submission) retry(ctx context.Context, q *queue.Queue, owner string, ids []string) error {
	all, err := q.Dead(ctx, owner)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	queued := 0
	defer func() { s.note("%d chunks are queued again", queued) }()
	var errs []error
	for _, l := range all {
		if len(ids) > 0 && !wanted[l.ID()] {
			continue
		}
		delete(wanted, l.ID())
		err := q.Retry(ctx, l)
		switch {
		case err == nil:
			queued++
		case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
			return err
		default:
			errs = append(errs, err)
		}
	}
	for id := range wanted {
		errs = append(errs, fmt.Errorf("%s is no dead letter; 'submit dead list' shows them", id))
	}
	if err := errors.Join(errs...); err != nil {
		return &exitError{exitAnswers, err}
	}
	return nil
}
