//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/job"
	"antipode/internal/natsd"
	"antipode/internal/queue"
)

// What submit advises is a command that a shell takes as it is meant.
func TestAdvisedCommands(t *testing.T) {
	for _, c := range []struct {
		name, out string
		file      *os.File
		want      string
	}{
		{"eight.txt", "", nil, "submit resume --config 'my conf.yaml' --nats URL J eight.txt"},
		{"it's here.txt", "a b", nil, `submit resume --config 'my conf.yaml' --nats URL J 'it'\''s here.txt' --out 'a b'`},
		{"-x.txt", "-y", nil, "submit resume --config 'my conf.yaml' --nats URL J ./-x.txt --out -y"},
		{"stdin", "", os.Stdin, "submit resume --config 'my conf.yaml' --nats URL J FILE"},
	} {
		s := &submission{stdin: os.Stdin, where: []string{"--config", "my conf.yaml", "--nats", "nats://me:secret@host"}, opts: options{out: c.out}}
		in := &input{name: c.name, file: c.file, spec: job.Spec{Job: "J"}}
		if got := s.command("resume", in); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// A job that the server was never told of cannot be resumed, and nobody is advised to.
func TestAdviceForWhatIsNotBegun(t *testing.T) {
	name := filepath.Join(t.TempDir(), "eight.txt")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	s := &submission{}
	s.cfg.NATS.URL = "nats://host"
	s.leave(nil, &input{name: "eight.txt", info: info}, &queue.Entry{}, errors.New("interrupted"))
	if got := strings.Join(s.advice, "; "); got != "eight.txt is not begun" {
		t.Errorf("advice %q", got)
	}
}

// An empty file does not keep those after it from being posted.
func TestDetachEmptyFile(t *testing.T) {
	server, err := natsd.Start(natsd.Config{Port: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop() })
	empty, full := filepath.Join(t.TempDir(), "swap-0.txt"), filepath.Join(t.TempDir(), "swap-1.txt")
	for name, text := range map[string]string{empty: "", full: oneSwap} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	status, ids, said := submits(t, "", "--nats", server.URL(), "--detach", empty, full)
	if status != 1 || strings.Count(ids, "\n") != 1 || !strings.Contains(said, "an empty file") {
		t.Errorf("exit status %d, want 1; ids %q; %s", status, ids, said)
	}
}
