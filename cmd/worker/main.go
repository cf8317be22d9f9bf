// Command worker answers chunks of jobs that come through NATS, until it is
// told to stop.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"antipode/internal/cache"
	"antipode/internal/config"
	"antipode/internal/job"
	"antipode/internal/metrics"
	"antipode/internal/profile"
	"antipode/internal/puzzle"
	"antipode/internal/queue"
	"antipode/internal/solver"
	"antipode/internal/version"
	"antipode/internal/worker"
)

// Exit statuses, besides 0: what went wrong on the way, and usage or
// configuration.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	os.Exit(run(context.Background(), os.Args[1:], signals, os.Stdout, os.Stderr))
}

// usageError asks for the exit status of usage.
type usageError struct{ error }

// run is the program, with its exit status. Signals stop it: the first lets it
// finish what it holds, the second gives that back.
func run(ctx context.Context, args []string, signals <-chan os.Signal, stdout io.Writer, stderr *os.File) int {
	cmd := newCommand(signals, stdout, stderr)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	var failed *runError
	var interrupted interruptedError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &failed):
		fmt.Fprintln(stderr, "worker:", failed.err)
		return exitFailed
	case errors.As(err, &interrupted):
		fmt.Fprintln(stderr, "worker:", err)
		return exitInterrupt + int(interrupted.Signal)
	}
	fmt.Fprintln(stderr, "worker:", err)
	if !errors.As(err, new(usageError)) {
		fmt.Fprintln(stderr, "worker: 'worker --help' shows how it is used")
	}
	return exitUsage
}

// runError is an error of the work, not of how the program was called.
type runError struct{ err error }

func (e *runError) Error() string { return e.err.Error() }

func newCommand(signals <-chan os.Signal, stdout io.Writer, stderr *os.File) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "worker [flags]",
		Short: "Answer chunks of jobs that come through NATS",
		Long: `worker loads its tables, then answers chunks of jobs that come through NATS
until it is told to stop. Any number of workers share the work of a server.

The first SIGINT or SIGTERM lets it finish what it holds, for as long as 'drain'
allows; the second gives that back to the other workers at once. Exit status: 0
after a stop; 1 where NATS is set up otherwise than needed, or permits too
little, or the address for metrics is taken; 2 usage or configuration.

Where http.listen is set (ANTIPODE_HTTP_LISTEN=127.0.0.1:9090), it serves /metrics
for Prometheus, /livez and /readyz there; 'worker healthy' asks it.`,
		Example: `  worker                                              nats://127.0.0.1:4222, no Redis
  worker --nats nats://queue:4222 --redis cache:6379 --slots 4
  worker tables build --tables tables rotegame        once on a host; then
  worker --tables tables
  ANTIPODE_LOG_FORMAT=json worker --config worker.yaml`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	f := cmd.Flags()
	all := cmd.PersistentFlags()
	all.StringVar(&file, "config", "", "configuration file (configs/worker.yaml shows every key)")
	all.String("tables", "", "folder of large tables, which 'worker tables build' makes (default: none)")
	f.String("nats", "", "address of the NATS server (default: nats://127.0.0.1:4222)")
	f.String("redis", "", "address of a Redis server that keeps answers (default: none)")
	f.Int("slots", 0, "chunks to answer at once (default: one a core)")
	var files profile.Files
	files.Flags(f)
	bind := config.Flags{"nats": "nats.url", "redis": "redis.addr", "slots": "slots", "tables": "tables.dir"}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := config.LoadWorker(f, bind, file)
		if err != nil {
			return usageError{err}
		}
		stop, err := files.Start()
		if err != nil {
			return usageError{err}
		}
		if err := errors.Join(serve(cmd.Context(), cfg, signals, newLogger(cfg, stderr)), stop()); err != nil {
			return &runError{err}
		}
		return nil
	}
	cmd.AddCommand(tablesCommand(&file, signals, stdout, stderr), configCommand(f, bind, &file, stdout), healthyCommand(&file, stdout), &cobra.Command{
		Use:   "version",
		Short: "Say which build this is",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(stdout, "worker", version.String())
			return err
		},
	})
	cmd.CompletionOptions.DisableDefaultCmd = true
	return cmd
}

// serve loads, connects, and works until it is told to stop.
func serve(ctx context.Context, cfg config.Worker, signals <-chan os.Signal, log *slog.Logger) error {
	began := time.Now()
	take, hold, end := stops(ctx, signals, cfg.Drain, log)
	defer end()
	puzzles, err := puzzle.Builtin()
	if err != nil {
		return err
	}
	slots := worker.Slots(cfg.Slots)
	boundHeap(cfg)
	w := &worker.Worker{
		Name:    workerName(),
		Puzzles: puzzles,
		Solver:  newSolver(cfg, slots, log),
		Mode:    worker.Mode(cfg.Cache.Mode),
		Budget:  job.Budget{States: cfg.Budget.States, Time: cfg.Budget.Time},
	}
	w.Cache, err = cache.Open(cache.Config{
		Bytes: int64(cfg.Cache.Memory), Redis: cfg.Redis.Addr, Access: cache.Access(cfg.Redis.RedisAccess), TTL: cfg.Cache.TTL,
		Secret: string(cfg.Cache.Secret), Slots: slots + 2*express, Logger: log,
	})
	if err != nil {
		return err
	}
	defer closeWithin(w.Cache.Close, log)
	m := metrics.New(metrics.Sources{
		Puzzles: puzzles.Names(), Cache: w.Cache.Stats, Solver: w.Solver.Held, Stopping: func() bool { return take.Err() != nil },
	})
	web, err := m.Listen(cfg.HTTP.Listen, log)
	if err != nil {
		return err
	}
	defer closeWithin(web.Close, log)
	var tables int
	prepared := make(chan error, 1)
	go func() { // while the connection is made
		var err error
		if tables, err = w.Prepare(take); err == nil {
			m.Prepared()
		}
		prepared <- err
	}()
	q, err := queue.Open(take, queue.Config{
		URL: cfg.NATS.URL, Replicas: cfg.NATS.Replicas, Access: queue.Access(cfg.NATS.Access), Inbox: queue.WorkerInbox, Name: "antipode worker " + w.Name, Logger: log,
	})
	unprepared := <-prepared
	if err != nil {
		return stopped(take, err)
	}
	defer closeWithin(q.Close, log)
	if unprepared != nil {
		return stopped(take, fmt.Errorf("build tables: %w", unprepared))
	}
	m.Connected(q)
	w.Definition = q.Definition
	log.Info("ready", "worker", w.Name, "puzzles", strings.Join(puzzles.Names(), " "), "tables", tables, "slots", slots,
		"cache", cfg.Cache.Mode, "redis", cfg.Redis.Addr, "version", version.String(), "seconds", time.Since(began).Seconds())
	err = q.Serve(take, hold, queue.ServeConfig{Answer: w.Answer, Fail: w.Fail, Worker: w.Name, Bulk: slots, Express: express, Observe: m.Observe,
		Service: &queue.Service{Version: version.SemVer(), Puzzles: puzzles.Names(), Tables: w.Tabled, Check: w.Check, Observe: m.Question}})
	log.Info("stopped")
	return err
}

func boundHeap(cfg config.Worker) {
	worker.BoundHeap(int64(cfg.Tables.Memory)+int64(cfg.Cache.Memory), worker.Slots(cfg.Slots)+2*express)
}

// express is the slots for jobs of one chunk, and again those for single questions.
const express = 1

func newSolver(cfg config.Worker, slots int, log *slog.Logger) *solver.Solver {
	if dir := cfg.Tables.Dir; dir != "" {
		if _, err := os.ReadDir(dir); err != nil {
			log.Warn("no folder of tables yet", "error", err)
		}
	}
	return solver.New(solver.Config{
		Searches: slots + 2*express, Memory: int64(cfg.Memory), TableMemory: int64(cfg.Tables.Memory), Tables: cfg.Tables.Dir,
		Refused: func(_ string, err error) { log.Warn("table refused; searching instead", "error", err) },
	})
}

// stopped makes an error that came of being told to stop none.
func stopped(take context.Context, err error) error {
	if take.Err() != nil {
		return nil
	}
	return err
}

// stops returns two contexts: take ends with the first signal, hold with the
// second, or when what is held took longer than drain. End ends both, and waits
// for the goroutine behind them.
func stops(ctx context.Context, signals <-chan os.Signal, drain time.Duration, log *slog.Logger) (take, hold context.Context, end func()) {
	take, stopTaking := context.WithCancel(ctx)
	hold, stopHolding := context.WithCancel(ctx)
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		defer stopTaking()
		defer stopHolding()
		select {
		case s := <-signals:
			log.Info("stopping: finishing what is held", "signal", s.String(), "drain", drain)
		case <-over:
			return
		}
		stopTaking()
		late := time.NewTimer(drain)
		defer late.Stop()
		select {
		case s := <-signals:
			log.Warn("giving back what is held", "signal", s.String())
		case <-late.C:
			log.Warn("giving back what is held", "drain", drain)
		case <-over:
		}
	}()
	return take, hold, func() {
		close(over)
		<-done
	}
}

// closeTime bounds the end of each connection.
const closeTime = 5 * time.Second

func closeWithin(end func(context.Context) error, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if err := end(ctx); err != nil {
		log.Warn("closing", "error", err)
	}
}

// newLogger writes text to a terminal and JSON to anything else, unless told
// otherwise.
func newLogger(cfg config.Worker, stderr *os.File) *slog.Logger {
	opts := &slog.HandlerOptions{Level: cfg.Log.Level}
	if cfg.Log.Format == config.LogText || cfg.Log.Format == config.LogAuto && term.IsTerminal(int(stderr.Fd())) {
		return slog.New(slog.NewTextHandler(stderr, opts))
	}
	return slog.New(slog.NewJSONHandler(stderr, opts))
}

// notToken is what may not stand in a token.
var notToken = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// workerName is a token that tells this process from all others.
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "worker"
	}
	host = notToken.ReplaceAllString(host, "-")
	return host[:min(len(host), 40)] + "-" + job.NewID()[:8]
}
