//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"antipode/internal/natsd"
)

// On a terminal watch takes all of it, and gives it back as it was: left by a key or
// ended by a signal.
func TestWatchOnATerminal(t *testing.T) {
	server, err := natsd.Start(natsd.Config{Port: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop() })
	for _, tt := range []struct {
		name   string
		leave  func(terminal *os.File, p *os.Process) error
		status int
	}{
		{"a key", func(terminal *os.File, _ *os.Process) error { _, err := io.WriteString(terminal, "q"); return err }, 0},
		{"Ctrl-C", func(terminal *os.File, _ *os.Process) error { _, err := io.WriteString(terminal, "\x03"); return err }, 0},
		{"SIGTERM", func(_ *os.File, p *os.Process) error { return p.Signal(syscall.SIGTERM) }, 143},
	} {
		t.Run(tt.name, func(t *testing.T) {
			terminal, tty, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer terminal.Close()
			defer tty.Close()
			if err := pty.Setsize(terminal, &pty.Winsize{Rows: 10, Cols: 60}); err != nil {
				t.Fatal(err)
			}
			before, err := term.GetState(int(tty.Fd()))
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("submit", "watch", "--nats", server.URL())
			cmd.Env = append(os.Environ(), "TERM=xterm-256color")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
			defer late.Stop()
			shown := readUntil(terminal, "q leaves")
			if !strings.Contains(shown, "\x1b[?1049h") {
				t.Errorf("no screen of its own: %q", shown)
			}
			if err := tt.leave(terminal, cmd.Process); err != nil {
				t.Fatal(err)
			}
			rest := make(chan string, 1)
			go func() { rest <- readUntil(terminal, "\x1b[?1049l") }()
			_ = cmd.Wait() // its status is looked at
			if status := cmd.ProcessState.ExitCode(); status != tt.status {
				t.Errorf("exit status %d, want %d", status, tt.status)
			}
			if after, err := term.GetState(int(tty.Fd())); err != nil || !reflect.DeepEqual(before, after) {
				t.Errorf("the terminal is %v, was %v; %v", after, before, err)
			}
			tty.Close() // so that reading ends
			if text := <-rest; !strings.Contains(text, "\x1b[?1049l") {
				t.Errorf("the screen is not given back: %q", text)
			}
		})
	}
}

// readUntil reads up to a text, or as far as there is something.
func readUntil(r io.Reader, text string) string {
	var all strings.Builder
	buf := make([]byte, 4096)
	for !strings.Contains(all.String(), text) {
		n, err := r.Read(buf)
		all.Write(buf[:n])
		if err != nil {
			break
		}
	}
	return all.String()
}
