package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"syscall"
	"time"

	"antipode/internal/config"
	"antipode/internal/job"
	"antipode/internal/limit"
	"antipode/internal/profile"
	"antipode/internal/puzzle"
	"antipode/internal/queue"
	"antipode/internal/worker"
)

// options are the flags that belong to one call.
type options struct {
	puzzles      []string // names, and files of definitions
	want, output string
	out, outDir  string
	explain      bool
	detach       bool
	profile      profile.Files
}

// submission is one call of submit: job files, one after another.
type submission struct {
	cfg     config.Submit
	where   []string // the flags by which it finds the server, as they were given
	opts    options
	builtin *puzzle.Set

	puzzles *puzzle.Set      // those that --puzzle gave, too
	given   []*puzzle.Puzzle // by --puzzle
	only    *puzzle.Puzzle   // of all text files; nil where their names choose

	stdin, stdout, stderr *os.File
	log                   io.Writer // of warnings; nil is stderr

	several bool     // job files
	opened  bool     // --out was written to
	fresh   *os.File // of answers, to be emptied before the first
	total   job.Counts
	flawed  bool // something that is not a record's answer asks for exit status 1
	seconds float64
	advice  []string // how to go on after an interrupt
}

func (s *submission) run(ctx context.Context, names []string) error {
	if err := s.check(names); err != nil {
		return &exitError{exitUsage, err}
	}
	s.several = len(names) > 1
	inputs, err := s.open(ctx, names)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	defer closeAll(inputs)
	stop, err := s.opts.profile.Start()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	defer func() {
		if err := stop(); err != nil {
			s.note("%v", err)
		}
	}()
	q, end, err := s.connect(ctx, inputs)
	if err != nil {
		return s.exit(err)
	}
	if s.opts.detach {
		err = s.each(inputs, func(in *input) error { return s.post(ctx, q, in) })
	} else {
		err = s.each(inputs, func(in *input) error { return s.job(ctx, q, in) })
	}
	return s.end(s.cause(ctx, err), end)
}

// each does the work on the job files one after another. Those that are left when one
// fails are part of the advice.
func (s *submission) each(inputs []*input, work func(*input) error) error {
	began := time.Now()
	defer func() { s.seconds = time.Since(began).Seconds() }()
	for i, in := range inputs {
		err := work(in)
		if err == nil {
			continue
		}
		for _, left := range inputs[i+1:] {
			s.advice = append(s.advice, left.name+" is not begun")
		}
		return err
	}
	return nil
}

// end ends what connect started, says what became of the records, and finds the exit
// status.
func (s *submission) end(err error, end func() error) error {
	if closing := end(); closing != nil {
		s.note("%v", closing) // what was answered is written
	}
	if exit := s.exit(err); exit != nil {
		return exit
	}
	if !s.opts.detach {
		s.summary()
	}
	if s.flawed || s.total.ByStatus[job.Invalid]+s.total.ByStatus[job.Exceeded]+s.total.ByStatus[job.Failed] > 0 {
		return &exitError{exitAnswers, nil}
	}
	return nil
}

// check refuses what cannot be meant.
func (s *submission) check(names []string) error {
	if len(names) == 0 {
		return errors.New("no job file; name one or more, '-' for standard input")
	}
	if n := slices.Index(names, "-"); n >= 0 && slices.Contains(names[n+1:], "-") {
		return errors.New("standard input is named twice")
	}
	if s.opts.want != "" {
		if _, err := puzzle.ParseWant(s.opts.want); err != nil {
			return fmt.Errorf("--%w", err)
		}
	}
	switch s.opts.output {
	case "", "text", "jsonl":
	default:
		return fmt.Errorf("--output: %q; text or jsonl are possible", s.opts.output)
	}
	if s.opts.detach {
		switch {
		case s.cfg.NATS.URL == "":
			return needsServer("--detach")
		case s.opts.out != "" || s.opts.outDir != "":
			return errors.New("--detach writes no answers; 'submit resume' does, and takes --out")
		}
	}
	return s.choose()
}

// needsServer refuses what makes no sense inside this process.
func needsServer(what string) error {
	return fmt.Errorf("%s needs a NATS server that keeps the job: name it with --nats URL, nats.url in the configuration, or ANTIPODE_NATS_URL", what)
}

// exit gives an error the exit status that it asks for, and says what is lost.
func (s *submission) exit(err error) error {
	var sig signalError
	var exit *exitError
	var input *inputError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit):
		return exit
	case errors.As(err, &input):
		s.note("%v", err)
		s.advise()
		return &exitError{exitAnswers, nil}
	case errors.As(err, &sig):
		if !s.opts.detach {
			s.summary()
		}
		s.note("interrupted: the answers so far are whole")
		s.advise()
		return &exitError{exitInterrupt + int(sig.Signal), nil}
	case errors.Is(err, syscall.EPIPE):
		return &exitError{exitPipe, nil}
	}
	s.note("%v", err)
	s.advise()
	return &exitError{exitDelivery, nil}
}

// advise says how to go on.
func (s *submission) advise() {
	for _, line := range s.advice {
		s.note("%s", line)
	}
}

// job runs one job file and writes its answers.
func (s *submission) job(ctx context.Context, q *queue.Queue, in *input) error {
	out, err := s.create(in)
	if err != nil {
		return err
	}
	defer out.Close()
	cutter := job.NewCutter(in, in.spec, in.puzzle)
	bar := s.newProgress(in, cutter)
	defer bar.finish()
	r := queue.Run{
		Spec:        in.spec,
		Definitions: in.definitions,
		Resume:      in.resumed != nil,
		Window:      s.window(),
		Next:        func(ctx context.Context) (*job.Chunk, *job.Result, error) { return s.next(ctx, cutter) },
		Write: func(_ *job.Chunk, res *job.Result) error {
			if _, err := out.Write(res.Payload); err != nil {
				return fmt.Errorf("write answers: %w", err)
			}
			s.total.Sum(res.Counts)
			bar.add(res.Records)
			return nil
		},
		Waiting: func(reason string) { s.note("%s: %s", in.name, reason) },
	}
	if r.Entry, err = s.entry(ctx, in); err != nil {
		s.advice = append(s.advice, in.name+" is not begun")
		return err
	}
	if err := s.clear(); err != nil {
		return err
	}
	err = q.Run(ctx, r)
	switch {
	case errors.Is(err, job.ErrEmpty):
		s.empty(in)
		err = nil
	case err != nil:
		s.leave(q, in, r.Entry, err)
		return err
	}
	if n, ok := cutter.Announced(); ok && n != cutter.Records() {
		s.note("%s: announces %d records and holds %d; these are answered", in.name, n, cutter.Records())
		s.flawed = true
	}
	if err == nil {
		err = out.Close()
	}
	return err
}

// empty says that a job file holds nothing.
func (s *submission) empty(in *input) {
	s.note("%s: an empty file: it holds no records", in.name)
	s.flawed = true
}

// window is the window that is configured; inside this process, where chunks come
// at once, no more than keeps the slots busy: memory that is used again costs less
// than memory that is new.
func (s *submission) window() queue.Window {
	w := queue.Window{Chunks: s.cfg.Window.Chunks, Bytes: int64(s.cfg.Window.Bytes)}
	if s.cfg.NATS.URL == "" {
		w.Bytes = min(w.Bytes, int64(worker.Slots(s.cfg.Slots))*chunksPerSlot*limit.Chunk)
	}
	return w
}

// chunksPerSlot is how many chunks of the largest size there are for a slot inside
// this process, besides small ones: the one it is at, and others on their way there
// and back.
const chunksPerSlot = 4

// next cuts the next chunk. One that does not travel is answered here.
func (s *submission) next(ctx context.Context, cutter *job.Cutter) (*job.Chunk, *job.Result, error) {
	c, err := cutter.Next(ctx)
	switch {
	case err == io.EOF || errors.Is(err, job.ErrEmpty) || ctx.Err() != nil:
		return nil, nil, err
	case err != nil:
		return nil, nil, &inputError{err}
	case c.TooLong != "":
		return c, job.All(c, s.puzzles, job.Answer{Status: job.Invalid, Reason: c.TooLong}), nil
	}
	return c, nil, nil
}

// inputError says that a job file cannot be read on.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// cancelTime bounds the farewell of a job that cannot go on.
const cancelTime = 2 * time.Second

// leave breaks a job off. One that can be resumed goes on in the workers; of another
// they are told that no one waits for it any more, unless it was resumed: then someone
// may come again.
func (s *submission) leave(q *queue.Queue, in *input, e *queue.Entry, cause error) {
	switch {
	case s.cfg.NATS.URL == "":
		s.advice = append(s.advice, in.name+" is not finished; with a NATS server (--nats) it could be resumed")
	case in.resumed == nil && in.info.Mode().IsRegular() && !e.Known():
		s.advice = append(s.advice, in.name+" is not begun")
	case in.resumed != nil || in.info.Mode().IsRegular() && !errors.Is(cause, syscall.EPIPE) && !errors.As(cause, new(*inputError)):
		s.advice = append(s.advice, "go on with: "+s.command("resume", in))
		if !errors.Is(cause, queue.ErrCancelled) {
			s.advice = append(s.advice, "or end it with: "+s.command("cancel", in))
		}
	default:
		ctx, cancel := context.WithTimeout(context.Background(), cancelTime)
		defer cancel()
		s.advice = append(s.advice, "the rest of "+in.name+" is cancelled")
		if err := q.Cancel(ctx, in.spec.Owner, in.spec.Job); err != nil {
			s.note("%v", err)
		}
	}
}

// note says something to people.
func (s *submission) note(format string, args ...any) {
	fmt.Fprintf(s.stderr, "submit: "+format+"\n", args...)
}

// summary says on one line what became of the records.
func (s *submission) summary() {
	n := s.total
	line := fmt.Sprintf("%d records: %d solved, %d unreachable, %d invalid, %d exceeded, %d failed; %d from cache; %.2f s, %.0f records/s",
		n.Records, n.ByStatus[job.Solved], n.ByStatus[job.Unreachable], n.ByStatus[job.Invalid], n.ByStatus[job.Exceeded], n.ByStatus[job.Failed],
		n.Cached, s.seconds, float64(n.Records)/max(s.seconds, 1e-3))
	if s.cfg.NATS.URL == "" {
		line += ", embedded"
	}
	s.note("%s", line)
}

// logger writes what the packages below have to say.
func (s *submission) logger() *slog.Logger {
	to := s.log
	if to == nil {
		to = s.stderr
	}
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{
		Level: slog.LevelWarn,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey) {
				return slog.Attr{}
			}
			return a
		},
	}))
}
