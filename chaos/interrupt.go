//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"

	"antipode/internal/process"
)

// onward is how submit says how to go on.
var onward = regexp.MustCompile(`go on with: submit (resume .+)$`)

// interrupt ends a submit by a signal, as Ctrl-C does, and goes on by the command
// that it says.
func (l *lab) interrupt(ctx context.Context, p *process.Process, j *job, out string, env ...string) (*process.Process, error) {
	if err := p.Signal(syscall.SIGINT); err != nil {
		return nil, err
	}
	if err := ended(ctx, p, 130); err != nil {
		return nil, err
	}
	if err := l.begun(j, out, true); err != nil {
		return nil, err
	}
	command, err := p.Await(ctx, onward)
	if err != nil {
		return nil, err
	}
	return l.start(l.command(ctx, env, "submit", strings.Fields(command[0])...))
}

// slay kills a submit, which can say nothing, and goes on with its job.
func (l *lab) slay(ctx context.Context, o *operator, p *process.Process, j *job, out, url string, env ...string) (*process.Process, error) {
	p.Kill() // maybe within a write
	if err := l.begun(j, out, false); err != nil {
		return nil, err
	}
	id, err := o.jobID(ctx)
	if err != nil {
		return nil, err
	}
	return l.resume(ctx, url, id, j.file, out, env...)
}

// resume goes on with a job.
func (l *lab) resume(ctx context.Context, url, id, file, out string, env ...string) (*process.Process, error) {
	return l.start(l.command(ctx, env, "submit", "resume", "--nats", url, id, file, "--out", l.path(out)))
}

// begun wants answers that are the first of the undisturbed run's; none of them cut off,
// where they are to be whole.
func (l *lab) begun(j *job, out string, whole bool) error {
	got, err := l.read(out)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(j.want, got) || whole && len(got) > 0 && got[len(got)-1] != '\n' {
		return fmt.Errorf("the %d bytes of answers of a submit that was ended are not the first of the job's", len(got))
	}
	return nil
}

// jobID is the id of the one job whose results there are.
func (o *operator) jobID(ctx context.Context) (string, error) {
	s, err := o.Stream(ctx, "RESULTS")
	if err != nil {
		return "", err
	}
	m, err := s.GetMsg(ctx, s.CachedInfo().State.FirstSeq)
	if err != nil {
		return "", fmt.Errorf("a result: %w", err)
	}
	return strings.Split(m.Subject, ".")[4], nil // antipode.v1.results.OWNER.JOB.CHUNK.PART
}

// submitDies interrupts and kills submit in turn while its job is answered, and
// refuses to go on with a file that is another by then.
func submitDies(ctx context.Context, l *lab) (found result, err error) {
	const times = 6
	m := mix{seed: 7, chunks: 150, searches: 48, depth: 28}
	j, err := l.job(ctx, m)
	if err != nil {
		return found, err
	}
	s, o, err := l.watched(ctx)
	if err != nil {
		return found, err
	}
	defer o.close()
	if _, err := l.worker(ctx, s.url()); err != nil {
		return found, err
	}
	p, err := l.submit(ctx, s.url(), j, "out")
	if err != nil {
		return found, err
	}
	for ; found.often < times; found.often++ {
		if err := o.answered(ctx, m.chunks*(found.often+1)/(times+2)); err != nil {
			return found, err
		}
		if found.often%2 == 0 {
			p, err = l.interrupt(ctx, p, j, "out")
		} else {
			p, err = l.slay(ctx, o, p, j, "out", s.url())
		}
		if err != nil {
			return found, err
		}
	}
	if err := l.changed(ctx, o, s.url(), j); err != nil {
		return found, err
	}
	if err := ended(ctx, p, 0); err != nil {
		return found, err
	}
	found.tally, err = l.compare(j, "out")
	return found, err
}

// changed resumes a job with another file of the same length, which is refused.
func (l *lab) changed(ctx context.Context, o *operator, url string, j *job) error {
	text, err := os.ReadFile(j.file)
	if err != nil {
		return err
	}
	text[len(text)-2] = ' ' // it was a brace
	const out = "kept"
	err = errors.Join(os.WriteFile(l.path("changed.jsonl"), text, 0o600), os.WriteFile(l.path(out), j.want[:1], 0o600))
	if err != nil {
		return err
	}
	id, err := o.jobID(ctx)
	if err != nil {
		return err
	}
	p, err := l.resume(ctx, url, id, l.path("changed.jsonl"), out)
	if err != nil {
		return err
	}
	if err := ended(ctx, p, 2); err != nil {
		return err
	}
	if got, err := l.read(out); err != nil || len(got) != 1 || p.Count("has changed") == 0 {
		return fmt.Errorf("a changed file: %d bytes are left of the output, %v: %s", len(got), err, p.Log())
	}
	return nil
}

// cancelled lets a detached job be cancelled while it is queued and while it is
// answered: its chunks are dropped, and come back when it is resumed.
func cancelled(ctx context.Context, l *lab) (found result, err error) {
	j, err := l.job(ctx, mix{seed: 8, chunks: 60, searches: 96, depth: 28})
	if err != nil {
		return found, err
	}
	s, o, err := l.watched(ctx)
	if err != nil {
		return found, err
	}
	defer o.close()
	id, err := l.detach(ctx, s.url(), j)
	if err != nil {
		return found, err
	}
	for range 2 {
		p, err := l.start(l.command(ctx, nil, "submit", "cancel", "--nats", s.url(), id))
		if err != nil {
			return found, err
		}
		if err := ended(ctx, p, 0); err != nil {
			return found, err
		}
		if found.often++; found.often == 1 {
			if _, err := l.worker(ctx, s.url()); err != nil {
				return found, err
			}
		}
		if err := o.empty(ctx, "JOBS"); err != nil {
			return found, err
		}
		results, err := o.state(ctx, "RESULTS")
		switch {
		case err != nil:
			return found, err
		case found.often == 1 && results.Msgs > 0, int(results.Msgs) == j.records/chunkRecords:
			return found, fmt.Errorf("%d results of a cancelled job", results.Msgs)
		case found.often == 2:
			continue
		}
		if _, err = l.resume(ctx, s.url(), id, j.file, "out"); err != nil {
			return found, err
		}
		if err := o.answered(ctx, 5); err != nil {
			return found, err
		}
		for _, p := range l.all("submit") {
			p.Kill()
		}
	}
	p, err := l.resume(ctx, s.url(), id, j.file, "out")
	if err != nil {
		return found, err
	}
	if err := ended(ctx, p, 0); err != nil {
		return found, err
	}
	found.tally, err = l.compare(j, "out")
	return found, err
}

// detach queues a job and returns its id.
func (l *lab) detach(ctx context.Context, url string, j *job) (string, error) {
	p, err := l.start(l.command(ctx, nil, "submit", "--detach", "--nats", url, j.file))
	if err != nil {
		return "", err
	}
	if err := ended(ctx, p, 0); err != nil {
		return "", err
	}
	id, err := p.Await(ctx, regexp.MustCompile(`^([A-Za-z0-9_-]{16,64})$`))
	if err != nil {
		return "", err
	}
	return id[0], nil
}

// empty waits until nothing is left in a stream.
func (o *operator) empty(ctx context.Context, stream string) error {
	return until(ctx, stream+" is empty", func() (bool, error) {
		state, err := o.state(ctx, stream)
		return err == nil && state.Msgs == 0, err
	})
}

// answered waits until so many chunks have a result.
func (o *operator) answered(ctx context.Context, chunks int) error {
	return until(ctx, fmt.Sprintf("%d chunks are answered", chunks), func() (bool, error) {
		results, err := o.state(ctx, "RESULTS")
		return err == nil && int(results.Msgs) >= chunks, err
	})
}
