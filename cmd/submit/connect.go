package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"antipode/internal/cache"
	"antipode/internal/config"
	"antipode/internal/job"
	"antipode/internal/natsd"
	"antipode/internal/queue"
	"antipode/internal/solver"
	"antipode/internal/worker"
)

// closeTime bounds the end of connections and servers.
const closeTime = 5 * time.Second

// connect reaches the workers: those of the server that is configured, or one
// of its own. End ends all that it started.
func (s *submission) connect(ctx context.Context, inputs []*input) (q *queue.Queue, end func() error, err error) {
	if s.cfg.NATS.URL == "" {
		q, end, err = s.embed(ctx, inputs)
	} else {
		q, end, err = s.reach(ctx)
	}
	if err != nil && ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	return q, end, err
}

// reach waits for the server that is configured.
func (s *submission) reach(ctx context.Context) (*queue.Queue, func() error, error) {
	waiting, cancel := context.WithTimeout(ctx, s.cfg.NATS.Wait)
	defer cancel()
	q, err := queue.Open(waiting, queue.Config{
		URL: s.cfg.NATS.URL, Access: queue.Access(s.cfg.NATS.Access), Inbox: queue.SubmitInbox(s.cfg.Owner), Name: "antipode submit", Logger: s.logger(),
	})
	switch {
	case err != nil && waiting.Err() != nil:
		return nil, nil, fmt.Errorf("%w (gave up after %s; nats.wait sets it)", err, s.cfg.NATS.Wait)
	case err != nil:
		return nil, nil, err
	}
	return q, func() error { return closeQueue(q) }, nil
}

// closers end what was started, the last first.
type closers []func() error

func (c *closers) add(end func() error) { *c = append(*c, end) }

func (c *closers) close() error {
	var errs []error
	for _, end := range slices.Backward(*c) {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

// embed starts a server and a worker inside this process.
func (s *submission) embed(ctx context.Context, inputs []*input) (q *queue.Queue, end func() error, err error) {
	var started closers
	if q, err = s.embedded(ctx, inputs, &started); err != nil {
		return nil, nil, errors.Join(err, started.close())
	}
	return q, started.close, nil
}

// embedded makes tables while the server starts, and serves once both are there.
func (s *submission) embedded(ctx context.Context, inputs []*input, started *closers) (*queue.Queue, error) {
	answers, err := cache.Open(cache.Config{Bytes: embeddedCache, Logger: s.logger()})
	if err != nil {
		return nil, err
	}
	limits := config.DefaultWorker().Budget
	slots := worker.Slots(s.cfg.Slots)
	w := &worker.Worker{
		Name:    "embedded",
		Puzzles: s.builtin,
		Solver:  solver.New(solver.Config{Searches: slots + 1, Memory: int64(s.cfg.Memory), TableMemory: int64(s.cfg.Tables.Memory), Tables: s.cfg.Tables.Dir, Refused: s.refusedTable}),
		Cache:   answers,
		Mode:    worker.Searched,
		Budget:  job.Budget{States: limits.States, Time: limits.Time},
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	var tables, slotsDone sync.WaitGroup
	tables.Go(func() {
		if _, err := w.Solver.Prepare(serving, worthTables(inputs)...); err != nil && serving.Err() == nil {
			s.logger().Warn("no tables; searching instead", "error", err)
		}
	})
	started.add(func() error {
		stop()
		tables.Wait()
		return nil
	})
	server, err := natsd.Start(natsd.Config{})
	if err != nil {
		return nil, err
	}
	started.add(server.Stop)
	q, err := queue.Open(ctx, queue.Config{InProcess: server, Name: "antipode submit", Logger: s.logger()})
	if err != nil {
		return nil, err
	}
	started.add(func() error { return closeQueue(q) })
	w.Definition = q.Definition
	slotsDone.Go(func() {
		tables.Wait()
		q.Serve(serving, serving, queue.ServeConfig{Answer: w.Answer, Fail: w.Fail, Worker: w.Name, Bulk: slots, Express: 1})
	})
	started.add(func() error {
		stop()
		slotsDone.Wait()
		return nil
	})
	return q, nil
}

// embeddedCache bounds the answers that submit's own worker keeps, in bytes.
const embeddedCache = 64 << 20

func closeQueue(q *queue.Queue) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if err := q.Close(ctx); err != nil {
		return fmt.Errorf("close NATS: %w", err)
	}
	return nil
}

// refusedTable says which file of a table is of no use.
func (s *submission) refusedTable(_ string, err error) {
	s.logger().Warn("table refused; searching instead", "error", err)
}
