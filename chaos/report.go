//go:build unix

package main

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
)

// line is a row that was run.
type line struct {
	row
	result
	seconds float64
	err     error
}

// demand is what every row must meet.
func (l line) demand() error {
	switch {
	case l.often == 0:
		return errors.New("the fault never hit")
	case l.records == 0:
		return errors.New("no records were asked")
	case !l.clean():
		return fmt.Errorf("%d lost, %d doubled, %d wrong", l.lost, l.doubled, l.wrong)
	}
	return nil
}

// report is the lines of the table.
type report struct{ lines []line }

func (r report) table() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "often\trecords\tlost\tdoubled\twrong\tseconds\t\tfault")
	for _, l := range r.lines {
		note := l.note
		if l.err != nil {
			note = strings.TrimPrefix(note+"; FAILED: "+oneLine(l.err), "; ")
		}
		if note != "" {
			note = ": " + note
		}
		fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%d\t%.1f\t\t%s%s\n", l.often, l.records, l.lost, l.doubled, l.wrong, l.seconds, l.fault, note)
	}
	t.Flush()
	return b.String()
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", " ") }

// err is not nil where a row failed.
func (r report) err() error {
	var failed []string
	for _, l := range r.lines {
		if l.err != nil {
			failed = append(failed, l.name)
		}
	}
	switch {
	case len(r.lines) == 0:
		return errors.New("no row has such a name")
	case failed != nil:
		return fmt.Errorf("failed: %s", strings.Join(failed, ", "))
	}
	return nil
}
