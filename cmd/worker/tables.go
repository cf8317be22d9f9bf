package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/gofrs/flock"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"antipode/internal/config"
	"antipode/internal/puzzle"
	"antipode/internal/solver"
)

// exitInterrupt is the exit status of a signal, less its number.
const exitInterrupt = 128

// interruptedError says which signal ended a command.
type interruptedError struct{ syscall.Signal }

func (interruptedError) Error() string { return "interrupted" }

// tables is one call of a command that works on the folder of tables.
type tables struct {
	dir            string
	builtin        *puzzle.Set
	stdout, stderr io.Writer
	terminal       bool // stderr is one
}

// wanted is a table that a puzzle's questions need.
type wanted struct {
	puzzle *puzzle.Puzzle
	goal   puzzle.State
	path   string
}

func tablesCommand(file *string, signals <-chan os.Signal, stdout io.Writer, stderr *os.File) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tables",
		Short: "Make, list and check the files of large tables",
		Long: `A table says the first move of a shortest way from every state. Those of 11 and 12
cells take seconds to make and up to some hundred MB: they are made once on a host,
in a folder that 'tables.dir' names, and all its workers share what they read of
them. A worker that runs finds a new one by itself.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, c := range []struct {
		use, short, long string
		args             cobra.PositionalArgs
		run              func(*tables, context.Context, []string) error
	}{
		{"build NAME|FILE.yaml...", "Make the tables of puzzles of 11 or 12 cells",
			"build makes the tables of puzzles, each named or given by its definition, where the\nfolder has no good ones. One builder is at work in a folder at a time.", cobra.MinimumNArgs(1), (*tables).build},
		{"list", "List the tables there are", "", cobra.NoArgs, (*tables).list},
		{"verify [NAME|FILE.yaml...]", "Read all tables, or those of these puzzles, and check them",
			"verify reads whole tables and checks them. Exit status: 1 where one is bad or, of a\npuzzle that is named, missing.", cobra.ArbitraryArgs, (*tables).verify},
	} {
		cmd.AddCommand(&cobra.Command{Use: c.use, Short: c.short, Long: c.long, Args: c.args, RunE: func(cmd *cobra.Command, names []string) error {
			t, err := newTables(cmd, *file, stdout, stderr)
			if err != nil {
				return usageError{err}
			}
			ctx, end := untilSignal(cmd.Context(), signals)
			defer end()
			return outcome(ctx, c.run(t, ctx, names))
		}})
	}
	return cmd
}

// newTables finds the folder, which must be set.
func newTables(cmd *cobra.Command, file string, stdout io.Writer, stderr *os.File) (*tables, error) {
	cfg, err := config.LoadWorker(cmd.Flags(), config.Flags{"tables": "tables.dir"}, file)
	if err != nil {
		return nil, err
	}
	if cfg.Tables.Dir == "" {
		return nil, errors.New("no folder for tables; set it by --tables DIR, ANTIPODE_TABLES_DIR, or tables.dir in the configuration file")
	}
	set, err := puzzle.Builtin()
	return &tables{cfg.Tables.Dir, set, stdout, stderr, term.IsTerminal(int(stderr.Fd()))}, err
}

// untilSignal returns a context that the first signal ends.
func untilSignal(ctx context.Context, signals <-chan os.Signal) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case s := <-signals:
			number, _ := s.(syscall.Signal)
			cancel(interruptedError{number})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// outcome gives an error its exit status.
func outcome(ctx context.Context, err error) error {
	switch {
	case err == nil || errors.As(err, new(usageError)):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return &runError{err}
}

// wanted returns the tables of the puzzles that are named.
func (t *tables) wanted(names []string) (all []wanted, err error) {
	for _, name := range names {
		p, err := t.builtin.Find(name)
		if err != nil {
			return nil, usageError{err}
		}
		goals, err := solver.StoredGoals(p)
		if err != nil {
			return nil, usageError{fmt.Errorf("%s: %w", p.Name, err)}
		}
		for _, goal := range goals {
			all = append(all, wanted{p, goal, filepath.Join(t.dir, solver.FileName(p.Space(), goal))})
		}
	}
	return all, nil
}

// build makes the tables of puzzles.
func (t *tables) build(ctx context.Context, names []string) error {
	all, err := t.wanted(names)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(t.dir, 0o755); err != nil {
		return err
	}
	unlock, err := t.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := solver.RemoveUnfinished(t.dir); err != nil {
		return err
	}
	for _, w := range all {
		if err := t.buildOne(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// lockEvery is how often a builder that waits looks whether the other is done.
const lockEvery = 100 * time.Millisecond

// lock waits until no other builder is at work in the folder.
func (t *tables) lock(ctx context.Context) (unlock func() error, err error) {
	l := flock.New(filepath.Join(t.dir, "build.lock"), flock.SetPermissions(0o644)) // any user may look
	ok, err := l.TryLock()
	if err == nil && !ok {
		fmt.Fprintf(t.stderr, "worker: another builder holds %s; waiting for its end\n", l.Path())
		_, err = l.TryLockContext(ctx, lockEvery)
	}
	return l.Unlock, err
}

// buildOne makes a table, unless there is a good one.
func (t *tables) buildOne(ctx context.Context, w wanted) error {
	_, err := solver.OpenTable(ctx, w.path, w.puzzle.Space(), w.goal)
	switch {
	case err == nil:
		fmt.Fprintf(t.stdout, "%s (%s) is up to date\n", w.path, w.puzzle.Name)
		return nil
	case ctx.Err() != nil:
		return err
	case !errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(t.stderr, "worker: %v; making it anew\n", err)
	}
	began := time.Now()
	var states atomic.Int64
	end := t.showProgress(w, &states)
	table, err := solver.BuildTable(ctx, w.puzzle.Space(), w.goal, &states)
	end()
	if err != nil {
		return err
	}
	if _, err := table.WriteFile(ctx, t.dir, w.puzzle.Name); err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.stdout, "%s (%s): %d states, depth %d, %.1f s\n", w.path, w.puzzle.Name, states.Load(), len(table.Layers())-1, time.Since(began).Seconds())
	return err
}

// showProgress shows a bar on a terminal, until end.
func (t *tables) showProgress(w wanted, states *atomic.Int64) (end func()) {
	if !t.terminal {
		return func() {}
	}
	most, _ := puzzle.NewReach(w.puzzle.Space()).States(w.goal)
	bar := progressbar.NewOptions64(int64(most),
		progressbar.OptionSetWriter(t.stderr),
		progressbar.OptionSetDescription(w.puzzle.Name),
		progressbar.OptionShowCount(),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionFullWidth(),
	)
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				bar.Set64(states.Load())
			case <-over:
				bar.Finish()
				return
			}
		}
	}()
	return func() {
		close(over)
		<-done
	}
}

// list writes a line for each file.
func (t *tables) list(ctx context.Context, _ []string) error {
	paths, err := t.files()
	if err != nil || len(paths) == 0 {
		return err
	}
	out := tabwriter.NewWriter(t.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "FILE\tPUZZLE\tCELLS\tSTATES\tDEPTH\tSIZE\tBUILT")
	for _, path := range paths {
		name := filepath.Base(path)
		s, err := solver.ReadStored(path)
		switch {
		case err != nil:
			fmt.Fprintf(out, "%s\trefused: %s\n", name, strings.TrimPrefix(err.Error(), path+" "))
		case !strings.HasPrefix(name, s.Fingerprint.String()+"-"):
			fmt.Fprintf(out, "%s\trefused: is of another puzzle\n", name)
		default:
			fmt.Fprintf(out, "%s\t%s\t%d\t%d\t%d\t%s\t%s\n", name, t.puzzleOf(s), s.Cells, s.States, len(s.Layers)-1,
				humanize.IBytes(uint64(s.Size)), s.Written.Format(time.DateTime))
		}
	}
	return out.Flush()
}

// files lists the files of tables, and says so where there are none.
func (t *tables) files() ([]string, error) {
	paths, err := solver.FileNames(t.dir)
	if err == nil && len(paths) == 0 {
		fmt.Fprintf(t.stderr, "worker: no tables in %s; 'worker tables build' makes them\n", t.dir)
	}
	return paths, err
}

// puzzleOf names the puzzle of a table: one that comes with the program, or the one
// that it was built for.
func (t *tables) puzzleOf(s *solver.Stored) string {
	for _, name := range t.builtin.Names() {
		if p, err := t.builtin.Get(name); err == nil && p.Space() != nil && p.Space().Fingerprint() == s.Fingerprint {
			return name
		}
	}
	return s.Name
}

// verify checks the tables of the puzzles that are named, or all that there are.
func (t *tables) verify(ctx context.Context, names []string) error {
	all, err := t.wanted(names)
	if len(names) == 0 {
		all, err = t.present()
	}
	if err != nil {
		return err
	}
	bad := 0
	for _, w := range all {
		said, err := verifyOne(ctx, w)
		switch {
		case ctx.Err() != nil:
			return err
		case errors.Is(err, fs.ErrNotExist):
			said = fmt.Sprintf("%s is missing; 'worker tables build' makes it", w.path)
		case err != nil:
			said = err.Error()
		}
		if err != nil {
			bad++
		}
		fmt.Fprintln(t.stdout, said)
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d tables are no good", bad, len(all))
	}
	return nil
}

// present returns the tables whose files there are; the puzzle is nil where it is
// none of those that come with the program.
func (t *tables) present() ([]wanted, error) {
	known := map[string]wanted{}
	for _, name := range t.builtin.Names() {
		all, err := t.wanted([]string{name})
		if err != nil {
			continue // it has none
		}
		for _, w := range all {
			known[w.path] = w
		}
	}
	paths, err := t.files()
	all := make([]wanted, len(paths))
	for i, path := range paths {
		all[i] = known[path]
		all[i].path = path
	}
	return all, err
}

// verifyOne checks a table, as far as that can be done, and says that it is good.
func verifyOne(ctx context.Context, w wanted) (said string, err error) {
	if w.puzzle != nil {
		_, err := solver.OpenTable(ctx, w.path, w.puzzle.Space(), w.goal)
		return w.path + " is ok", err
	}
	s, err := solver.VerifyStored(ctx, w.path)
	if err == nil && !strings.HasPrefix(filepath.Base(w.path), s.Fingerprint.String()+"-") {
		err = fmt.Errorf("%s is of another puzzle", w.path)
	}
	return w.path + " is ok by its checksum; name its puzzle's definition to check its ways, too", err
}
