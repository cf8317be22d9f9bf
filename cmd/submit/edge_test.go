//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"antipode/internal/natsd"
)

const (
	oneSwap, swapAnswer = "2 1 3 7 5 9 8 4 6\n", "4\n"
)

// ends waits for the end of a process that nothing more is done for.
func (p *process) ends(t *testing.T) int {
	t.Helper()
	late := time.AfterFunc(patience, func() {
		t.Errorf("no end after %s", patience)
		p.Process.Kill()
	})
	defer late.Stop()
	return p.status()
}

// says waits until a process has said a text.
func (p *process) says(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(patience); !strings.Contains(p.stderr.String(), text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %q: %s", text, &p.stderr)
		}
	}
}

// An interrupt ends a submit whose producer has gone quiet, with the status of
// an interrupt however the two meet.
func TestInterruptWhileTheProducerIsQuiet(t *testing.T) {
	for range 5 {
		p := start(t, "--puzzle", "swap", "-")
		if _, err := io.WriteString(p.stdin, oneSwap); err != nil {
			t.Fatal(err)
		}
		if got := p.line(t); got != swapAnswer {
			t.Fatalf("answer %q, want %q", got, swapAnswer)
		}
		if err := p.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if status := p.ends(t); status != 130 || !strings.Contains(p.stderr.String(), "1 records: 1 solved") {
			t.Errorf("exit status %d, want 130: %s", status, &p.stderr)
		}
	}
}

// An interrupt ends a submit that has not seen the first record of its producer.
func TestInterruptBeforeTheFirstRecord(t *testing.T) {
	for _, args := range [][]string{{"-"}, {"--puzzle", "eight", "-"}} {
		p := start(t, args...)
		// It reads what standard input is, and has its own folder as soon as its
		// server runs.
		first := "\n"
		if len(args) > 1 {
			first = "1\n"
		}
		if _, err := io.WriteString(p.stdin, first); err != nil {
			t.Fatal(err)
		}
		if len(args) > 1 {
			tmp := p.Env[len(p.Env)-1][len("TMPDIR="):]
			for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
				if found, _ := filepath.Glob(filepath.Join(tmp, "antipode-nats-*")); len(found) > 0 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("no server")
				}
			}
		}
		if err := p.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if status := p.ends(t); status != 143 && status != -1 { // -1: before it listened to signals
			t.Errorf("%v: exit status %d, want 143: %s", args, status, &p.stderr)
		}
	}
}

// When nobody reads the answers any more, submit ends with the next of them,
// although its producer keeps the pipe open and says nothing.
func TestClosedPipeWhileTheProducerIsQuiet(t *testing.T) {
	p := start(t, "--puzzle", "swap", "-")
	if _, err := io.WriteString(p.stdin, oneSwap); err != nil {
		t.Fatal(err)
	}
	p.line(t)
	p.pipe.Close()
	if _, err := io.WriteString(p.stdin, oneSwap); err != nil {
		t.Fatal(err)
	}
	if status := p.ends(t); status != 141 {
		t.Errorf("exit status %d, want 141: %s", status, &p.stderr)
	}
	p.saysNothing(t)
}

// A full disk is no delivery, and says so; be it a file's or standard output's.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("NOT TESTED: a full disk: %v", err)
	}
	defer full.Close()
	file := filepath.Join(t.TempDir(), "swap.txt")
	if err := os.WriteFile(file, []byte(oneSwap), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, cmd := range map[string]*exec.Cmd{
		"standard output": exec.Command("submit", file),
		"--out":           exec.Command("submit", "--out", "/dev/full", file),
	} {
		var stderr bytes.Buffer
		cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
		cmd.Stdout, cmd.Stderr = full, &stderr
		cmd.Run()
		if status := cmd.ProcessState.ExitCode(); status != 3 || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%s: exit status %d, want 3: %s", name, status, &stderr)
		}
	}
}

// A job without a worker can be interrupted, and so can one whose server has
// gone.
func TestInterruptWhileTheJobWaits(t *testing.T) {
	for name, goes := range map[string]bool{"for a worker": false, "for a server": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, err := natsd.Start(natsd.Config{Port: -1})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { server.Stop() })
			p := start(t, "--nats", server.URL(), "--puzzle", "swap", "-")
			if _, err := io.WriteString(p.stdin, oneSwap); err != nil {
				t.Fatal(err)
			}
			p.stdin.Close()
			p.says(t, "waits for a worker")
			if goes {
				if err := server.Stop(); err != nil {
					t.Fatal(err)
				}
				p.says(t, "NATS went away")
			}
			if err := p.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			if status := p.ends(t); status != 130 {
				t.Errorf("exit status %d, want 130: %s", status, &p.stderr)
			}
		})
	}
}

// However many interrupts it takes, here since nobody reads the answers, the status
// is that of an interrupt. The second ends the process, and not by the signal, which
// has no effect on the first process of a container.
func TestManyInterrupts(t *testing.T) {
	p := start(t, rings(t, many))
	p.line(t)
	ended := make(chan int, 1)
	go func() { ended <- p.ends(t) }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case status := <-ended:
			if status != 130 {
				t.Errorf("exit status %d, want 130: %s", status, &p.stderr)
			}
			return
		case <-tick.C:
			_ = p.Process.Signal(syscall.SIGINT) // it may have ended just now
		}
	}
}
