// Command bench measures Antipode beside the usual single-process programs, and
// writes what it measured, on what machine and how, as a page of Markdown.
//
//	go run ./bench                            all rows of the table, in less than ten minutes
//	go run ./bench -only '^eight' -runs 9     some of them
//	go run ./bench -scale 0.01 -o /dev/null   a look at whether it works
//
// It runs in the root of the module. Exit status 1: answers differ, or
// something could not be measured. A target that is missed is only marked: the
// same programs take longer on a smaller or a busy machine.
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
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil && ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	out    string
	runs   int
	only   *regexp.Regexp
	scale  float64
	inside string // what to measure in this process, which another bench started; "" for the table
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	opts, err := parse(args)
	if err != nil {
		return err
	}
	if opts.inside != "" {
		return answerInside(ctx, opts.inside, opts.scale, stdout)
	}
	l, err := newLab(ctx, opts.scale)
	if err != nil {
		return err
	}
	defer l.close()
	r := report{options: opts, began: time.Now(), machine: l.machine(ctx), versions: l.versions(ctx)}
	fmt.Fprint(stdout, tableHead)
	for _, row := range rows {
		if !opts.only.MatchString(row.name) {
			continue
		}
		m := row.measure(ctx, l, opts.runs)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.rows = append(r.rows, m)
		fmt.Fprint(stdout, m.lines())
	}
	if err := os.WriteFile(opts.out, []byte(r.markdown()), 0o644); err != nil {
		return err
	}
	return r.err()
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.StringVar(&o.out, "o", "bench/RESULTS.md", "write the page to this `file`")
	f.IntVar(&o.runs, "runs", 5, "measure each row so many times; long ones take fewer")
	f.Float64Var(&o.scale, "scale", 1, "measure so much of each input; targets are for 1")
	f.StringVar(&o.inside, "inside", "", "measure this in the process itself; for bench's own use")
	f.Func("only", "measure the rows whose name this `expression` matches", func(s string) (err error) {
		o.only, err = regexp.Compile(s)
		return err
	})
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.only == nil {
		o.only = regexp.MustCompile("")
	}
	if o.runs < 1 || o.scale <= 0 || f.NArg() > 0 {
		return o, fmt.Errorf("%v: -runs is 1 or more, -scale more than 0, and no other arguments are known", args)
	}
	return o, nil
}
