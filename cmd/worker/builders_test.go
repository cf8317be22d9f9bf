//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gofrs/flock"

	"antipode/internal/puzzle"
	"antipode/internal/solver"
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

// What does not fit on the disk is not left there.
func TestBuilderOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", `ulimit -f 1000 && exec worker tables build --tables "$0" "$1"`, dir, definition(t, "turns.yaml", eleven))
	out, _ := cmd.CombinedOutput()
	if status := cmd.ProcessState.ExitCode(); status != exitFailed || !strings.Contains(string(out), "write "+dir) || !strings.Contains(string(out), ": file too large") {
		t.Errorf("exit status %d: %s", status, out)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "build.lock" {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A worker says which table it does not use, and that there is no folder, and works.
func TestWorkerWithoutGoodTables(t *testing.T) {
	dir := t.TempDir()
	set, err := puzzle.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	rotegame, err := set.Get("rotegame")
	if err != nil {
		t.Fatal(err)
	}
	goals, err := solver.StoredGoals(rotegame)
	if err != nil || len(goals) != 1 {
		t.Fatal(goals, err)
	}
	file := filepath.Join(dir, solver.FileName(rotegame.Space(), goals[0]))
	if err := os.WriteFile(file, []byte("antipode, but for what follows"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := startServer(t).URL()
	p := startWith(t, nil, "--nats", url, "--tables", dir)
	p.says(t, `"table refused; searching instead","error":"`+file+` is cut: 30 of 4096 bytes"`)
	p.says(t, `"ready"`)
	p.signal(t)
	p.ends(t, 0)
	p = startWith(t, []string{"ANTIPODE_TABLES_DIR=" + filepath.Join(dir, "none")}, "--nats", url)
	p.says(t, `"no folder of tables yet"`)
	p.says(t, `"ready"`)
	p.signal(t)
	p.ends(t, 0)
}
