//go:build unix

// Command chaos kills, stops, cuts off and fills what a job's answers stand on,
// while the job runs, and counts its answers: none may be lost, none come twice,
// none be another than that of an undisturbed run. Everything is real: submit,
// worker, nats-server and redis-server are processes of their own.
//
//	go run ./chaos                      all rows of the table, in less than ten minutes
//	go run ./chaos -short               the short form, in less than three
//	go run ./chaos -only '^conserve'    some of them
//
// It runs in the root of the module. Exit status 1: an answer was lost, came
// twice or was wrong, a fault never hit, something hung, or a row's own demand
// does not hold.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil && ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	short bool
	only  *regexp.Regexp
	logs  bool
	seed  uint64
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	opts, err := parse(args)
	if err != nil {
		return err
	}
	b, err := newBench(ctx, opts, stderr)
	if err != nil {
		return err
	}
	defer b.close()
	r := report{}
	for _, group := range groups(rows, opts) {
		r.lines = append(r.lines, b.run(ctx, group)...)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	fmt.Fprint(stdout, r.table())
	return r.err()
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("chaos", flag.ContinueOnError)
	f.BoolVar(&o.short, "short", false, "fewer rows, less of each")
	f.BoolVar(&o.logs, "logs", false, "print the logs of all programs")
	f.Uint64Var(&o.seed, "seed", 4, "make the faults that come at random in another order")
	f.Func("only", "run the rows whose name this `expression` matches", func(s string) (err error) {
		o.only, err = regexp.Compile(s)
		return err
	})
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("%v: no arguments are known besides flags", f.Args())
	}
	if o.only == nil {
		o.only = regexp.MustCompile("")
	}
	return o, nil
}
