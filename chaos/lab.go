//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"antipode/internal/process"
)

// lab is where one row works: a folder, and programs that end with it. It is safe
// for use by many goroutines.
type lab struct {
	*bench
	row string
	dir string

	mu       sync.Mutex
	programs []*process.Process // guarded by mu
}

func newLab(b *bench, row string) (*lab, error) {
	dir, err := os.MkdirTemp(b.dir, row+"-")
	return &lab{bench: b, row: row, dir: dir}, err
}

// close kills all programs and removes the folder.
func (l *lab) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.programs {
		p.Kill()
	}
	os.RemoveAll(l.dir)
}

// path is where a file of the row is.
func (l *lab) path(name string) string { return filepath.Join(l.dir, name) }

// tell tells of progress in the row.
func (l *lab) tell(format string, args ...any) { l.say(l.row, format, args...) }

// printLogs prints what all programs said.
func (l *lab) printLogs() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.programs {
		l.tell("log of %s:\n%s", p, p.Log())
	}
}

// all returns the programs that a file's name has, those that ended too.
func (l *lab) all(name string) (found []*process.Process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.programs {
		if p.Name() == name {
			found = append(found, p)
		}
	}
	return found
}

// count counts the lines with a text that all programs of a name have said.
func (l *lab) count(name, text string) (n int) {
	for _, p := range l.all(name) {
		n += p.Count(text)
	}
	return n
}

// command is a program of the bench, or of the system where its path is given.
// The environment comes on top of what programs get.
func (l *lab) command(ctx context.Context, env []string, path string, args ...string) *exec.Cmd {
	if filepath.Base(path) == path {
		path = filepath.Join(l.bench.dir, path)
	}
	cmd := process.Command(ctx, l.dir, path, args...)
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// start starts a program until the row ends.
func (l *lab) start(cmd *exec.Cmd) (*process.Process, error) {
	p, err := process.Start(cmd)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.programs = append(l.programs, p)
	return p, nil
}

// worker starts a worker of one slot and waits until it is ready.
func (l *lab) worker(ctx context.Context, url string, env ...string) (*process.Process, error) {
	return l.workerOf(ctx, "worker", url, env...)
}

// poisonable starts a worker that certain records kill.
func (l *lab) poisonable(ctx context.Context, url string, env ...string) (*process.Process, error) {
	return l.workerOf(ctx, filepath.Join(l.bench.dir, "poisonable", "worker"), url, env...)
}

func (l *lab) workerOf(ctx context.Context, program, url string, env ...string) (*process.Process, error) {
	p, err := l.start(l.command(ctx, append([]string{"ANTIPODE_SLOTS=1"}, env...), program, "--nats", url))
	if err != nil {
		return nil, err
	}
	_, err = p.Await(ctx, workerReady)
	return p, err
}

// submit starts submit on a job, whose answers go to a file of the lab.
func (l *lab) submit(ctx context.Context, url string, j *job, out string, env ...string) (*process.Process, error) {
	args := append([]string{"--nats", url, "--out", l.path(out), j.file}, j.args...)
	return l.start(l.command(ctx, env, "submit", args...))
}

// ended waits for the end of a submit, and wants an exit status.
func ended(ctx context.Context, p *process.Process, want int) error {
	got, err := p.Status(ctx)
	if err == nil && got != want {
		err = fmt.Errorf("%s: exit status %d, want %d: %s", p, got, want, p.Log())
	}
	return err
}
