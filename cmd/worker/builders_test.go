//go:build unix

package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gofrs/flock"
)

// Of two builders one waits, and finds the work done. An interrupt ends the wait.
func TestOneBuilderAtATime(t *testing.T) {
	dir := t.TempDir()
	file := definition(t, "turns.yaml", eleven)
	first := flock.New(filepath.Join(dir, "build.lock"))
	if ok, err := first.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	var builders [3]*process
	var outs [3]bytes.Buffer
	for i := range builders {
		p := &process{Cmd: exec.Command("worker", "tables", "build", "--tables", dir, file)}
		p.Stdout, p.Stderr = &outs[i], &p.log
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Process.Kill() })
		p.says(t, "another builder holds "+first.Path())
		builders[i] = p
	}
	if err := builders[2].Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	builders[2].ends(t, 130)
	if err := first.Unlock(); err != nil {
		t.Fatal(err)
	}
	builders[0].ends(t, 0)
	builders[1].ends(t, 0)
	said := outs[0].String() + outs[1].String()
	if strings.Count(said, "19958400 states") != 1 || strings.Count(said, "is up to date") != 1 || outs[2].Len() != 0 {
		t.Errorf("%s; interrupted: %s", said, &outs[2])
	}
}
