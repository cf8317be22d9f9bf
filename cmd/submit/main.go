// Command submit sends job files to workers through NATS, and writes their
// answers in order. Without the address of a server, server and worker run
// inside this process.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"antipode/internal/config"
	"antipode/internal/puzzle"
	"antipode/internal/version"
)

// Exit statuses, besides 0 and 128 + the number of a signal.
const (
	exitAnswers   = 1 // some records invalid, exceeded or failed, or a file empty
	exitUsage     = 2
	exitDelivery  = 3 // NATS away, output not writable
	exitPipe      = 128 + int(syscall.SIGPIPE)
	exitInterrupt = 128 // plus the signal
)

// exitError is an error with the exit status that it asks for. A nil err has
// been said already.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// signalError is the cause of a context that a signal ended.
type signalError struct{ syscall.Signal }

func (e signalError) Error() string { return "interrupted" }

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the program, with its exit status.
func run(ctx context.Context, args []string, stdin *os.File, stdout, stderr *os.File) int {
	ctx, stop := withSignals(ctx)
	defer stop()
	cmd := newCommand(stdin, stdout, stderr)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	status := exitUsage // what cobra finds
	var exit *exitError
	if errors.As(err, &exit) {
		status = exit.status
		err = exit.err
	}
	if err != nil {
		fmt.Fprintf(stderr, "submit: %v\n", err)
		if exit == nil {
			fmt.Fprintln(stderr, "submit: 'submit --help' shows how it is used")
		}
	}
	return status
}

// withSignals returns a context that the first interrupt ends, with a
// signalError as the cause. The second ends the process: its usual effect would,
// but not in a container, where this is the first process. A closed pipe is left
// to whoever writes to it.
func withSignals(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signal.Ignore(syscall.SIGPIPE)
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case s := <-ch:
			cancel(signalError{s.(syscall.Signal)})
		case <-over:
			return
		}
		select {
		case s := <-ch:
			os.Exit(exitInterrupt + int(s.(syscall.Signal)))
		case <-over:
		}
	}()
	return ctx, func() {
		signal.Stop(ch)
		cancel(nil)
		close(over)
		<-done
	}
}

const example = `  submit examples/*                                 all the samples, server and worker inside this process
  submit --nats nats://127.0.0.1:4222 eight.txt     the workers of that server
  submit --puzzle rotegame - <boards                from standard input
  submit --puzzle topspin.yaml boards.txt           a puzzle of your own
  submit --out-dir answers tests/*.in --puzzle eight
  submit --nats nats://queue:4222 --detach big.txt  publish only; 'submit status', 'submit resume' go on from there
  producer | submit --puzzle swap --output jsonl -  answers as they come`

func newCommand(stdin, stdout, stderr *os.File) *cobra.Command {
	s := &submission{stdin: stdin, stdout: stdout, stderr: stderr}
	opts := &s.opts
	cmd := &cobra.Command{
		Use:   "submit [flags] FILE...",
		Short: "Answer shortest-path questions about permutation puzzles",
		Long: `submit answers the records of job files, in their order, on standard output.

A text file holds records of one puzzle: the one that its name starts with
(eight-sample.txt), or the one that --puzzle names. A .jsonl file holds a JSON
object a line, which names its puzzle. '-' is standard input. 'submit puzzles'
lists the puzzles that come with the program; --puzzle FILE.yaml gives one of
your own.

Exit status: 0 every record was answered (that a goal is unreachable is an
answer); 1 some are invalid, exceeded or failed, or a file is empty; 2 usage or
configuration; 3 not delivered; 130 or 143 interrupted. What was interrupted goes
on with 'submit resume', where a NATS server has it.`,
		Example:       example,
		Args:          cobra.ArbitraryArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.SetIn(stdin)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	f := cmd.Flags()
	f.StringArrayVar(&opts.puzzles, "puzzle", nil, "puzzle of the text files: a `NAME`, or the file of a definition;\nmore than once: names of files and JSON lines choose")
	f.BoolVar(&opts.explain, "explain", false, "add to each answer how it was found")
	f.StringVar(&opts.want, "want", "", "distance or moves (default: what the puzzle wants)")
	f.StringVar(&opts.output, "output", "", "text or jsonl (default: as the file)")
	f.StringVar(&opts.out, "out", "", "write the answers to this file")
	f.StringVar(&opts.outDir, "out-dir", "", "write the answers to NAME.out in this folder, for each file")
	f.BoolVar(&opts.detach, "detach", false, "publish the job, print its id, and wait for no answer")
	from := newSettings(cmd, "address of the NATS server (default: one inside this process)")
	opts.profile.Flags(f)
	cmd.MarkFlagsMutuallyExclusive("out", "out-dir")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := s.prepare(from); err != nil {
			return err
		}
		return s.run(cmd.Context(), args)
	}
	cmd.AddCommand(resumeCommand(s), cancelCommand(s), statusCommand(s), watchCommand(s), deadCommand(s),
		puzzlesCommand(stdout), configCommand(stdout), versionCommand(stdout))
	cmd.CompletionOptions.DisableDefaultCmd = true
	return cmd
}

// settings are the flags by which a command finds its configuration, and its server.
type settings struct {
	flags *pflag.FlagSet
	file  *string
	bind  config.Flags
}

// newSettings gives a command these flags.
func newSettings(cmd *cobra.Command, address string) *settings {
	f := cmd.Flags()
	s := &settings{flags: f, bind: config.Flags{"nats": "nats.url", "owner": "owner"}}
	s.file = f.String("config", "", "configuration file (configs/submit.yaml shows every key)")
	f.String("nats", "", address)
	f.String("owner", "", "token under which jobs are filed (default: public)")
	return s
}

// load reads the configuration. Given are the flags that were given, with their values.
func (s *settings) load() (cfg config.Submit, given []string, err error) {
	cfg, err = config.LoadSubmit(s.flags, s.bind, *s.file)
	for _, name := range []string{"config", "nats", "owner"} {
		if flag := s.flags.Lookup(name); flag.Changed {
			given = append(given, "--"+name, flag.Value.String())
		}
	}
	return cfg, given, err
}

// prepare reads the configuration and the puzzles that come with the program.
func (s *submission) prepare(from *settings) (err error) {
	if s.cfg, s.where, err = from.load(); err != nil {
		return &exitError{exitUsage, err}
	}
	s.builtin, err = puzzle.Builtin()
	s.puzzles = s.builtin
	return err
}

func versionCommand(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which build this is",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(stdout, "submit", version.String())
			return err
		},
	}
}
