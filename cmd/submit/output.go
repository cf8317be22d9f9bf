package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"antipode/internal/job"
)

// create opens the place for a job's answers. Whole results are written, so
// that an interrupt leaves whole answers.
func (s *submission) create(in *input) (io.WriteCloser, error) {
	name := s.outName(in)
	flags := os.O_WRONLY | os.O_CREATE
	switch {
	case s.opts.outDir != "":
		if err := os.MkdirAll(s.opts.outDir, 0o777); err != nil {
			return nil, err
		}
	case name == "":
		return nopCloser{s.stdout}, nil
	case s.opened: // the answers of several files follow one another
		flags = os.O_WRONLY | os.O_APPEND
	}
	f, err := os.OpenFile(name, flags, 0o666)
	if err == nil && flags&os.O_APPEND == 0 {
		s.fresh = f
	}
	s.opened = err == nil
	return f, err
}

// clear empties what create opened for new answers, when there is no more reason not to
// begin.
func (s *submission) clear() error {
	f := s.fresh
	s.fresh = nil
	if f == nil {
		return nil
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	return f.Truncate(0)
}

// outName is the file for the answers to a job file, "" for standard output.
func (s *submission) outName(in *input) string {
	if s.opts.outDir == "" {
		return s.opts.out
	}
	base := filepath.Base(in.name)
	return filepath.Join(s.opts.outDir, strings.TrimSuffix(base, filepath.Ext(base))+".out")
}

// spare refuses answers and profiles in the place of a job file: opening that
// place would empty it.
func (s *submission) spare(inputs []*input) error {
	for _, in := range inputs {
		if err := untouched(inputs, s.outName(in), "the answers to "+in.name); err != nil {
			return err
		}
	}
	for _, name := range []string{s.opts.profile.CPU, s.opts.profile.Memory} {
		if err := untouched(inputs, name, "a profile"); err != nil {
			return err
		}
	}
	return nil
}

// untouched refuses to write something in the place of a job file.
func untouched(inputs []*input, place, what string) error {
	there, err := os.Stat(place)
	if err != nil {
		return nil
	}
	for _, in := range inputs {
		if os.SameFile(there, in.info) {
			return fmt.Errorf("%s would be written over the job file %s", what, in.name)
		}
	}
	return nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// progress is a bar on the terminal, or nothing.
type progress struct {
	bar    *progressbar.ProgressBar // nil where there is none
	in     *input
	cutter *job.Cutter
	done   int
}

// newProgress shows a bar, where standard error is a terminal and the answers
// do not run over the same one.
func (s *submission) newProgress(in *input, cutter *job.Cutter) *progress {
	p := &progress{in: in, cutter: cutter}
	onTerminal := s.opts.out == "" && s.opts.outDir == "" && term.IsTerminal(int(s.stdout.Fd()))
	if !term.IsTerminal(int(s.stderr.Fd())) || onTerminal {
		return p
	}
	p.bar = progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(s.stderr),
		progressbar.OptionSetDescription(in.name),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString("records"),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionFullWidth(),
	)
	return p
}

// add counts records that are written.
func (p *progress) add(records int) {
	p.done += records
	if p.bar == nil {
		return
	}
	if n := p.expected(); n > 0 {
		p.bar.ChangeMax64(n)
	}
	p.bar.Add(records)
}

// expected is how many records the file has: as it says, or in proportion to
// the bytes that were read; 0 where that cannot be told.
func (p *progress) expected() int64 {
	if n, ok := p.cutter.Announced(); ok {
		return int64(max(n, p.done))
	}
	read, size := p.in.read.Load(), p.in.size()
	if read == 0 || size < 0 {
		return 0
	}
	return max(int64(float64(p.cutter.Records())*float64(size)/float64(read)), int64(p.done))
}

// finish takes the bar away.
func (p *progress) finish() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
