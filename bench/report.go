package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// report is all that came of a run of this program.
type report struct {
	options           options
	began             time.Time
	machine, versions []fact
	rows              []measured
}

const tableHead = `| work | baseline | Antipode | ratio or figure | target | met |
|---|---|---|---|---|---|
`

// method says how the figures came to be.
const method = `- Sides of a row run in turn, baseline, Antipode, baseline, …, in one call of the program; figures are medians, and ratios are of
  medians, of as many runs as the last table lists.
- A baseline reads the same file, and its answers are compared with Antipode's byte by byte after each run.
- *Whole process* is from start to exit, from a file to a file. Inputs were just written, so that reading them needs no disk.
- Without a server, ` + "`submit`" + ` starts one that stores in memory, and one slot a core; it starts cold, and makes its table in the time
  measured. Workers of a nats-server, which stores in files, are ready before: they have made their tables.
- Two workers have one slot a core each, unless the row says one slot. Chunks are as the definitions have them: 16384 boards of eight,
  8192 pairs of eight2, 256 questions of Rotegame or of graphs.
- Nothing is answered from a cache: Redis is not used, and workers run with ` + "`cache.mode: none`" + `.
- *One core* is ` + "`worker.Answer`" + ` in a process of its own, GOMAXPROCS 1: read, plan, look up or search, check, print. Its time is
  the processor's, so that what else the machine does counts little. From a table, it is measured after the table was made; searches
  are measured the first time a question is asked.
- MB are 10^6 bytes; peaks are of resident memory.
`

// markdown returns the page.
func (r *report) markdown() string {
	var b strings.Builder
	b.WriteString("# What was measured\n\n`make bench` writes this page; `go run ./bench -only EXPRESSION` measures single rows.\n")
	fmt.Fprintf(&b, "\n- date: %s, %s\n", r.began.UTC().Format("2006-01-02 15:04 UTC"), time.Since(r.began).Round(time.Second))
	for _, f := range slices.Concat(r.machine, r.versions) {
		fmt.Fprintf(&b, "- %s: %s\n", f.name, cmp.Or(f.value, "unknown"))
	}
	if r.options.scale != 1 {
		fmt.Fprintf(&b, "\n**Inputs are scaled by %g: targets are for 1.**\n", r.options.scale)
	}
	b.WriteString("\n" + method + "\n" + tableHead)
	for _, m := range r.rows {
		b.WriteString(m.lines())
	}
	b.WriteString("\n## All runs\n\n| work | side | metric | min | median | max | runs |\n|---|---|---|---|---|---|---|\n")
	for _, m := range r.rows {
		b.WriteString(m.runLines())
	}
	return b.String()
}

// err tells what went wrong: answers that differ, and what could not be
// measured for any other reason than that it cannot be done here.
func (r *report) err() error {
	var errs []error
	for _, m := range r.rows {
		if m.err != nil && !errors.As(m.err, new(declined)) {
			errs = append(errs, fmt.Errorf("%s: %w", m.name, m.err))
		}
	}
	return errors.Join(errs...)
}

// lines returns a row's lines of the table, one for each target.
func (m *measured) lines() string {
	var b strings.Builder
	for i, t := range m.targets {
		work := m.work
		if i > 0 {
			work = ""
		}
		baseline, ours, figure, met := m.cells(t)
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", work, baseline, ours, figure, t, met)
	}
	return b.String()
}

// cells returns what a line says of a target.
func (m *measured) cells(t target) (baseline, ours, figure, met string) {
	theirs, mine := m.baseline.of(t.metric), m.ours.of(t.metric)
	baseline, ours, met = "—", "—", "—"
	if len(theirs) > 0 {
		baseline = fmt.Sprintf("%s, %s", amount(median(theirs), t.metric), m.baseline.name)
	}
	if len(mine) > 0 {
		ours = amount(median(mine), t.metric)
	}
	switch {
	case m.err != nil:
		figure = cell(m.err.Error())
	case len(mine) == 0:
		figure = "not measured on this system"
	case t.figure != itself && len(theirs) == 0:
		figure = "no baseline: no " + compiler
	default:
		value := t.value(theirs, mine)
		figure, met = t.amount(value), t.met(value)
	}
	return baseline, ours, figure, met
}

// value makes a target's figure of what was measured.
func (t target) value(theirs, mine []float64) float64 {
	switch t.figure {
	case faster:
		return median(theirs) / median(mine)
	case slower:
		return median(mine) / median(theirs)
	}
	return median(mine)
}

// amount prints a target's figure, or its bound.
func (t target) amount(value float64) string {
	switch t.figure {
	case faster:
		return number(value) + " times as fast"
	case slower:
		return number(value) + " times as long"
	}
	return amount(value, t.metric)
}

// String prints what a target asks for.
func (t target) String() string {
	switch t.aim {
	case most:
		return "≤ " + t.amount(t.bound)
	case least:
		return "≥ " + t.amount(t.bound)
	}
	return "—"
}

// met tells whether a figure is what it is meant to be.
func (t target) met(value float64) string {
	switch {
	case t.aim == none:
		return "—"
	case t.aim == most && value <= t.bound, t.aim == least && value >= t.bound:
		return "yes"
	}
	return "**no**"
}

// runLines returns a row's lines of the table of all runs.
func (m *measured) runLines() string {
	var metrics []string
	for _, t := range m.targets {
		metrics = append(metrics, t.metric)
	}
	metrics = append(metrics, processor)
	var b strings.Builder
	for _, s := range []*series{&m.baseline, &m.ours} {
		for _, metric := range metrics {
			v := s.of(metric)
			if len(v) == 0 {
				continue
			}
			runs := make([]string, len(v))
			for i := range v {
				runs[i] = number(v[i])
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", m.work, s.name, metric,
				number(slices.Min(v)), number(median(v)), number(slices.Max(v)), strings.Join(runs, " "))
		}
	}
	return b.String()
}

// amount prints a value with the unit of its metric.
func amount(value float64, metric string) string { return number(value) + " " + metric }

// number prints three digits, or all before the point.
func number(v float64) string {
	if v >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// cell makes a text fit a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
}
