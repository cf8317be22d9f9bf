package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"antipode/internal/queue"
)

func cancelCommand(s *submission) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cancel JOB...",
		Short: "Have workers drop what is left of jobs",
		Long: `cancel tells the workers that nobody waits for a job: they drop its chunks,
those in hand too. What is answered stays for a day; 'submit resume' takes the
cancellation back.`,
		Example: `  submit cancel --nats nats://queue:4222 5QZJ2NKXH4T7RA6WEMCB3YVGDU`,
		Args:    cobra.MinimumNArgs(1),
	}
	from := newSettings(cmd, toServer)
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		if err := s.prepare(from); err != nil {
			return err
		}
		if err := s.named("submit cancel", ids...); err != nil {
			return err
		}
		return s.ask(cmd.Context(), func(ctx context.Context, q *queue.Queue) error { return s.cancel(ctx, q, ids) })
	}
	return cmd
}

// ask reaches the server for one question or order, and ends the connection.
func (s *submission) ask(ctx context.Context, do func(context.Context, *queue.Queue) error) error {
	q, end, err := s.reach(ctx)
	if err == nil {
		err = errors.Join(q.Ask(ctx, func(ctx context.Context) error { return do(ctx, q) }), end())
	}
	if exit := (*exitError)(nil); err == nil || errors.As(err, &exit) {
		return err
	}
	if sig := (signalError{}); errors.As(s.cause(ctx, err), &sig) {
		return &exitError{exitInterrupt + int(sig.Signal), sig}
	}
	return s.exit(err)
}

// cancel cancels jobs that are known.
func (s *submission) cancel(ctx context.Context, q *queue.Queue, ids []string) error {
	for _, id := range ids {
		jobs, err := q.Jobs(ctx, s.cfg.Owner, id)
		if errors.Is(err, queue.ErrNoJob) {
			return &exitError{exitUsage, err}
		}
		if err == nil {
			err = q.Cancel(ctx, s.cfg.Owner, id)
		}
		if err != nil {
			return err
		}
		for _, p := range jobs {
			s.note("job %s is cancelled; its %d queued chunks are dropped", id, p.Queued)
		}
	}
	return nil
}
