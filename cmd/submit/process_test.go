//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds what a test waits for.
const patience = time.Minute

// process is a running submit.
type process struct {
	*exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	pipe   io.Closer // of stdout
	stderr said
}

// said is what a process has said so far.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// start runs submit, which is killed if it outlasts all patience.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command("submit", args...)}
	p.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	p.Stderr = &p.stderr
	var err error
	if p.stdin, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdout, p.pipe = bufio.NewReader(out), out
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { p.Process.Kill() })
	t.Cleanup(func() {
		timer.Stop()
		p.Process.Kill()
	})
	return p
}

// line reads a line of the answers.
func (p *process) line(t *testing.T) string {
	t.Helper()
	s, err := p.stdout.ReadString('\n')
	if err != nil {
		p.Wait()
		t.Fatalf("no line of answers: %v; standard error: %s", err, &p.stderr)
	}
	return s
}

// saysNothing fails the test where there was more to say than that an answer takes
// its time, as it does on a busy machine.
func (p *process) saysNothing(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(p.stderr.String()) {
		if !strings.Contains(line, "no answer for") {
			t.Errorf("standard error: %s", &p.stderr)
		}
	}
}

// status waits for the end.
func (p *process) status() int {
	p.Wait()
	return p.ProcessState.ExitCode()
}

func TestAnswersComeWhileTheProducerGoesOn(t *testing.T) {
	p := start(t, "--puzzle", "swap", "-")
	for _, r := range []struct{ record, answer string }{
		{"2 1 3 7 5 9 8 4 6\n", "4\n"},
		{"9 8 7 6 5 4 3 2 1\n1 2 3 4 5 6 7 8 9\n", "16\n"},
		{"", "0\n"},
		{"1 2 3 4 5 9 7 8 6\n", "1\n"},
	} {
		if _, err := io.WriteString(p.stdin, r.record); err != nil {
			t.Fatal(err)
		}
		if got := p.line(t); got != r.answer {
			t.Fatalf("answer %q, want %q", got, r.answer)
		}
	}
	p.stdin.Close()
	if status := p.status(); status != 0 {
		t.Errorf("exit status %d: %s", status, &p.stderr)
	}
}

// rings writes a job file of so many searches; most find one move.
func rings(t *testing.T, records int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	var text strings.Builder
	print := func(board []int) {
		for i, v := range board {
			fmt.Fprint(&text, v+1, map[bool]string{true: "\n", false: " "}[i%4 == 3])
		}
	}
	for n := range records {
		start := rng.Perm(12)
		print(start)
		if n%40 == 39 { // six a chunk, so that answers come soon wherever the test runs
			print(rng.Perm(12))
			continue
		}
		var turned []int
		for _, from := range []int{4, 0, 1, 3, 8, 5, 2, 7, 9, 10, 6, 11} { // the left ring, once
			turned = append(turned, start[from])
		}
		print(turned)
	}
	name := filepath.Join(t.TempDir(), "rotegame-many.txt")
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// many is more searches than are done before a test looks.
const many = 80_000

func TestClosedPipeEndsQuietly(t *testing.T) {
	p := start(t, rings(t, many))
	p.line(t)
	p.pipe.Close()
	if status := p.status(); status != 141 {
		t.Errorf("exit status %d, want 141", status)
	}
	p.saysNothing(t)
}

func TestInterruptLeavesWholeAnswers(t *testing.T) {
	for _, tt := range []struct {
		signal syscall.Signal
		status int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}} {
		t.Run(tt.signal.String(), func(t *testing.T) {
			dir := t.TempDir()
			profiles := []string{filepath.Join(dir, "cpu"), filepath.Join(dir, "memory")}
			p := start(t, "--cpuprofile", profiles[0], "--memprofile", profiles[1], rings(t, many))
			text := p.line(t)
			if err := p.Process.Signal(tt.signal); err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(p.stdout)
			if err != nil {
				t.Fatal(err)
			}
			text += string(rest)
			if status := p.status(); status != tt.status {
				t.Errorf("exit status %d, want %d: %s", status, tt.status, &p.stderr)
			}
			if !strings.Contains(p.stderr.String(), "interrupted") {
				t.Errorf("standard error: %s", &p.stderr)
			}
			lines := strings.Split(text, "\n")
			if last := len(lines) - 1; last%2 != 0 || lines[last] != "" {
				t.Fatalf("%d lines of answers of two lines, and %q", last, lines[last])
			}
			for i := 0; i+1 < len(lines); i += 2 {
				if n, err := strconv.Atoi(lines[i]); err != nil || n != len(strings.Fields(lines[i+1])) {
					t.Fatalf("answer %d: %q moves: %q", i/2+1, lines[i], lines[i+1])
				}
			}
			for _, name := range profiles {
				if err := checkProfile(name); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
