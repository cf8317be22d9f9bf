package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// side is one of the two that a row measures.
type side struct {
	name  string
	once  func(ctx context.Context) (trial, error)
	close func() // where it has something to end
}

// trial is what came of one run.
type trial struct {
	values  map[string]float64 // by metric
	answers string             // the file of the answers, "" where there is none
}

// declined is the error of what cannot be measured here, and is no fault: the
// row says why.
type declined struct{ reason string }

func (d declined) Error() string { return d.reason }

// errDiffer says that two sides answered the same questions differently.
var errDiffer = errors.New("answers differ")

// measured is a row with what came of its runs.
type measured struct {
	row
	baseline, ours series
	err            error
}

// series is all trials of a side.
type series struct {
	name   string // "" where there is no such side
	trials []trial
}

// measure runs a row, its sides in turn: what else the machine does meets both.
func (r row) measure(ctx context.Context, l *lab, runs int) measured {
	m := measured{row: r}
	if r.runs > 0 {
		runs = min(runs, r.runs)
	}
	baseline, ours, err := r.sides(ctx, l)
	for _, s := range []*side{baseline, ours} {
		if s != nil && s.close != nil {
			defer s.close()
		}
	}
	for run := 0; run < runs && err == nil; run++ {
		if baseline != nil {
			err = m.baseline.run(ctx, baseline)
		}
		if err == nil {
			err = m.ours.run(ctx, ours)
		}
		if err == nil && baseline != nil {
			err = sameFiles(m.baseline.last().answers, m.ours.last().answers)
		}
	}
	m.err = err
	return m
}

func (s *series) run(ctx context.Context, side *side) error {
	t, err := side.once(ctx)
	if err != nil {
		return err
	}
	s.name = side.name
	s.trials = append(s.trials, t)
	return nil
}

func (s *series) last() trial { return s.trials[len(s.trials)-1] }

// of returns the values of one metric in the order of the runs.
func (s *series) of(metric string) (values []float64) {
	for _, t := range s.trials {
		if v, ok := t.values[metric]; ok {
			values = append(values, v)
		}
	}
	return values
}

// median returns the middle of some values, or the mean of the two in the
// middle.
func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	half := len(v) / 2
	if len(v)%2 == 1 {
		return v[half]
	}
	return (v[half-1] + v[half]) / 2
}

// sameFiles compares two files byte by byte.
func sameFiles(a, b string) error {
	fa, err := os.Open(a)
	if err != nil {
		return err
	}
	defer fa.Close()
	fb, err := os.Open(b)
	if err != nil {
		return err
	}
	defer fb.Close()
	ra, rb := bufio.NewReaderSize(fa, 1<<16), bufio.NewReaderSize(fb, 1<<16)
	for line := 1; ; {
		ca, ea := ra.ReadByte()
		cb, eb := rb.ReadByte()
		switch {
		case ea == io.EOF && eb == io.EOF:
			return nil
		case ea != nil && ea != io.EOF, eb != nil && eb != io.EOF:
			return errors.Join(ea, eb)
		case ea != eb || ca != cb:
			return fmt.Errorf("%w in line %d", errDiffer, line)
		case ca == '\n':
			line++
		}
	}
}
