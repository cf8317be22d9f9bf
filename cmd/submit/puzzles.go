package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"antipode/internal/puzzle"
)

func puzzlesCommand(stdout io.Writer) *cobra.Command {
	var example bool
	cmd := &cobra.Command{
		Use:   "puzzles [NAME | FILE.yaml]",
		Short: "List the puzzles, or explain one",
		Example: `  submit puzzles
  submit puzzles rotegame
  submit puzzles topspin.yaml                 the definition of a puzzle of your own
  submit puzzles --example eight | submit --puzzle eight -`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			set, err := puzzle.Builtin()
			switch {
			case err != nil:
				return err
			case len(args) == 0 && example:
				return &exitError{exitUsage, errors.New("--example: of which puzzle?")}
			case len(args) == 0:
				return list(stdout, set)
			}
			p, err := set.Find(args[0])
			switch {
			case err != nil:
				return &exitError{exitUsage, err}
			case example && p.Example == "":
				return &exitError{exitUsage, fmt.Errorf("the definition of %s has no example", p.Name)}
			case example:
				_, err := io.WriteString(stdout, p.Example)
				return err
			}
			return explain(stdout, p)
		},
	}
	cmd.Flags().BoolVar(&example, "example", false, "print its example only, a job file")
	return cmd
}

func list(w io.Writer, set *puzzle.Set) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, name := range set.Names() {
		p, err := set.Get(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(t, "%s\t%s\n", name, p.About)
	}
	return t.Flush()
}

func explain(w io.Writer, p *puzzle.Puzzle) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		for i, line := range strings.Split(fmt.Sprintf(format, args...), "\n") {
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(t, "%s\t%s\n", name, line)
		}
	}
	row(p.Name, "%s", p.About)
	row("cells", "%s", cells(p))
	row("moves", "%s", moves(p))
	if n := states(p); n != "" {
		row("states", "%s", n)
	}
	if goal, ok := p.Goal(); ok {
		row("goal", "%s", board(p, goal))
	}
	row("record", "%s", record(p))
	row("answer", "%s", answer(p))
	row("example", "%s", strings.TrimRight(p.Example, "\n"))
	return t.Flush()
}

func cells(p *puzzle.Puzzle) string {
	switch {
	case p.Width == 0 && p.HasBlank():
		return fmt.Sprintf("%d vertices of a graph, numbered from 1", p.Cells())
	case p.Width == 0:
		return fmt.Sprintf("%d, numbered from 1", p.Cells())
	}
	return fmt.Sprintf("%d in %d rows of %d, numbered row by row from 1", p.Cells(), p.Height, p.Width)
}

func moves(p *puzzle.Puzzle) string {
	space := p.Space()
	if space == nil {
		return "the vertex that the blank goes to along an edge, rising; each record brings its edges"
	}
	how := "permutations of the cells"
	if p.HasBlank() {
		how = "ways of the blank"
	}
	return strings.Join(space.Moves(), " ") + "  (" + how + "; of shortest ways the first in this order is the answer)"
}

// maxCounted bounds how many states are counted one by one.
const maxCounted = 1 << 20

// states says how many states have a way to the goal, or to any where records
// bring theirs.
func states(p *puzzle.Puzzle) string {
	if p.Space() == nil {
		return ""
	}
	n, exact := p.States(maxCounted)
	_, _, repeat := p.Values()
	switch {
	case !exact:
		return fmt.Sprintf("more than %d from which the goal can be reached", n)
	case repeat:
		return fmt.Sprintf("%d from which the goal can be reached; another number where other values repeat", n)
	}
	return fmt.Sprintf("%d from which the goal can be reached", n)
}

func board(p *puzzle.Puzzle, values []uint8) string {
	var rows []string
	width := p.Width
	if width == 0 {
		width = len(values)
	}
	for i := 0; i < len(values); i += width {
		rows = append(rows, strings.Trim(fmt.Sprint(values[i:i+width]), "[]"))
	}
	return strings.Join(rows, " / ")
}

func record(p *puzzle.Puzzle) string {
	names := map[string]string{
		"edges":  "M and M edges",
		"start":  "a board",
		"goal":   "a second board, its goal",
		"places": "the vertices of the pieces in order",
	}
	var parts []string
	for _, part := range p.Parts() {
		parts = append(parts, names[part])
	}
	s := strings.Join(parts, "; then ")
	if from, to, repeat := p.Values(); !slices.Contains(p.Parts(), "places") {
		s += fmt.Sprintf("\nvalues %d to %d", from, to)
		if repeat {
			s += ", which may repeat"
		}
		if p.HasBlank() {
			s += "; the blank is 0, x, X, _ or ."
		}
	}
	if p.Count {
		s += "\na file starts with the number of its records"
	}
	return s
}

func answer(p *puzzle.Puzzle) string {
	s := "the distance; -1 where the goal is unreachable"
	if p.Want == puzzle.Moves {
		s = "the number of moves, and the moves on the next line; -1 and an empty line where the goal is unreachable"
	}
	if p.Case {
		s += "\neach starts with \"Case k: \""
	}
	return s
}
