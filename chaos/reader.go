//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	readRate = 1 << 20 // bytes a second
	readStep = 20 * time.Millisecond
	// rssSlack is by how much submit's memory may differ with its reader, in bytes: as
	// much as its window. It is the same for ten times as many answers.
	rssSlack = 64 << 20
)

// slowReader lets a pipe take the answers of a submit slowly, and stop for a while:
// first with a server of small messages, so that results travel in parts, then with
// all inside submit.
func slowReader(ctx context.Context, l *lab) (found result, err error) {
	pairs, stop := 1_000_000, 30*time.Second
	if l.short {
		pairs, stop = 100_000, 3*time.Second
	}
	file := l.path("eight2.txt")
	if err := writePairs(file, pairs); err != nil {
		return found, err
	}
	url, err := l.smallMessages(ctx)
	if err != nil {
		return found, err
	}
	want := l.path("eight2.want")
	var notes []string
	for _, way := range []struct {
		name string
		args []string
	}{{"with a server", []string{"--nats", url, file}}, {"embedded", []string{file}}} {
		quick, err := l.readTo(ctx, want, 0, way.args)
		if err != nil {
			return found, err
		}
		out := l.path("eight2.out")
		slow, err := l.readTo(ctx, out, stop, way.args)
		if err != nil {
			return found, err
		}
		t, err := comparePairs(want, out, pairs)
		if err != nil {
			return found, err
		}
		found.add(t)
		found.often++
		notes = append(notes, fmt.Sprintf("%s %d MiB, and %d MiB read at once", way.name, slow>>20, quick>>20))
		if slow > quick+rssSlack {
			return found, fmt.Errorf("submit grew with its reader's slowness: %s", strings.Join(notes, "; "))
		}
	}
	if parts, err := l.severalParts(ctx, url); err != nil || parts == 0 {
		return found, errors.Join(err, errors.New("no result travelled in parts"))
	}
	found.note = "peak memory of submit " + strings.Join(notes, "; ")
	return found, nil
}

// smallMessages starts a server whose messages have room for a chunk of pairs, and
// none for its answers, and two workers.
func (l *lab) smallMessages(ctx context.Context) (url string, err error) {
	conf := l.path("small.conf")
	if err := os.WriteFile(conf, []byte("max_payload: 256KB\n"), 0o600); err != nil {
		return "", err
	}
	s, err := l.nats(ctx, "-c", conf)
	if err != nil {
		return "", err
	}
	for range 2 {
		if _, err := l.worker(ctx, s.url()); err != nil {
			return "", err
		}
	}
	return s.url(), nil
}

// severalParts counts the results in more parts than one that the server has.
func (l *lab) severalParts(ctx context.Context, url string) (int, error) {
	o, err := l.operator(ctx, url)
	if err != nil {
		return 0, err
	}
	defer o.close()
	s, err := o.Stream(ctx, "RESULTS")
	if err != nil {
		return 0, err
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter("antipode.v1.results.*.*.*.2"))
	if err != nil {
		return 0, err
	}
	return len(info.State.Subjects), nil
}

// writePairs writes pairs of boards of the 8-puzzle, after their number. Moves lead
// from each to the other.
func writePairs(file string, pairs int) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	fmt.Fprintln(out, pairs)
	rng := rand.New(rand.NewPCG(9, 9))
	board := func() []uint8 {
		for {
			b := shuffled(rng, 0)
			if _, ok := blanks().of[[9]uint8(b)]; ok {
				return b
			}
		}
	}
	for range pairs {
		for side := range 2 {
			for _, v := range board() {
				out.WriteByte("X12345678"[v])
			}
			out.WriteByte(" \n"[side])
		}
	}
	return out.Flush()
}

// readTo runs submit with a pipe for its answers, which it puts into a file: at
// once, or slowly with a stop in the middle. It returns the memory that submit had at
// the most, in bytes.
func (l *lab) readTo(ctx context.Context, file string, stop time.Duration, args []string) (rss int64, err error) {
	f, err := os.Create(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	pipe, in, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer pipe.Close()
	cmd := l.command(ctx, nil, "submit", args...)
	cmd.Stdout = in
	p, err := l.start(cmd)
	in.Close()
	if err != nil {
		return 0, err
	}
	most := watchMemory(ctx, p)
	if stop == 0 {
		_, err = io.Copy(f, pipe)
	} else {
		err = copySlowly(ctx, f, pipe, stop)
	}
	if err := errors.Join(err, ended(ctx, p, 0)); err != nil {
		return 0, err
	}
	return <-most, nil
}

// copySlowly copies readRate bytes a second, and stops for a while after the first
// of them.
func copySlowly(ctx context.Context, to io.Writer, from io.Reader, stop time.Duration) error {
	const step = readRate * int64(readStep) / int64(time.Second)
	for n := int64(0); ; {
		m, err := io.CopyN(to, from, step)
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return err
		}
		wait := readStep
		if n < readRate && n+m >= readRate {
			wait += stop
		}
		n += m
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

// comparePairs counts what became of the answers in two files.
func comparePairs(want, got string, pairs int) (t tally, err error) {
	a, err := os.ReadFile(want)
	if err != nil {
		return t, err
	}
	b, err := os.ReadFile(got)
	if err != nil {
		return t, err
	}
	if !bytes.HasPrefix(a, []byte("Case 1: ")) || bytes.Count(a, []byte("Case ")) != pairs {
		return t, errors.New("the undisturbed run did not answer all pairs")
	}
	t = tallyPairs(a, b)
	t.records = pairs
	return t, nil
}

// tallyPairs counts what became of answers of two lines each, whose first says
// their number.
func tallyPairs(want, got []byte) (t tally) {
	if bytes.Equal(want, got) {
		return t
	}
	seen := map[string]int{}
	for answer := range bytes.SplitSeq(got, []byte("Case ")) {
		seen[string(answer)]++
	}
	for answer := range bytes.SplitSeq(want, []byte("Case ")) {
		switch n := seen[string(answer)]; {
		case n == 0:
			t.lost++
		case n > 1:
			t.doubled++
		}
		delete(seen, string(answer))
	}
	if t.wrong = len(seen); t.clean() { // all are there, and not in their places
		t.wrong = 1
	}
	return t
}
