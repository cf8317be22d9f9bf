package process

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// A copy of this test is the program that is run.
const role = "PROCESS_TEST"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "talks":
		fmt.Fprintln(os.Stderr, "one")
		fmt.Println("port 17")
		fmt.Fprint(os.Stderr, "unended")
		os.Exit(3)
	case "stays":
		fmt.Fprintln(os.Stderr, "here", os.Getenv("ANTIPODE_NATS_URL"), os.Getenv("TMPDIR"))
		time.Sleep(time.Hour) // not for ever, which Go would call a deadlock
	case "parent":
		parent()
		time.Sleep(time.Hour) // not for ever, which Go would call a deadlock
	}
	goleak.VerifyTestMain(m)
}

// parent starts a program that holds the same pipe.
func parent() {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := Command(context.Background(), "", self)
	cmd.Env = append(cmd.Env, role+"=stays")
	cmd.ExtraFiles = []*os.File{os.NewFile(3, "pipe")}
	other, err := Start(cmd)
	if err != nil {
		panic(err)
	}
	parts, err := other.Await(context.Background(), regexp.MustCompile("^(here) "))
	fmt.Println("the other:", parts, err)
}

func start(t *testing.T, ctx context.Context, as string) *Process {
	t.Helper()
	t.Setenv("ANTIPODE_NATS_URL", "nats://elsewhere")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := Command(ctx, "/temporary", self)
	cmd.Env = append(cmd.Env, role+"="+as)
	p, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestLogAndStatus(t *testing.T) {
	p := start(t, t.Context(), "talks")
	parts, err := p.Await(within(t, time.Minute), regexp.MustCompile(`port (\d+)`))
	if err != nil || len(parts) != 1 || parts[0] != "17" {
		t.Fatalf("%q, %v", parts, err)
	}
	if status, err := p.Status(within(t, time.Minute)); status != 3 || err != nil {
		t.Errorf("exit status %d, %v", status, err)
	}
	if _, err := p.Await(within(t, time.Minute), regexp.MustCompile("never")); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("what an ended program never said: %v", err)
	}
	if got := p.Log(); got != "one\nport 17\nunended" {
		t.Errorf("log %q", got)
	}
	if p.Count("o") != 2 || p.Count("none") != 0 {
		t.Errorf("counted %d and %d", p.Count("o"), p.Count("none"))
	}
}

func TestProgramsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, c := range []struct {
		name string
		end  func(*Process)
	}{{"kill", (*Process).Kill}, {"context", func(*Process) { cancel() }}} {
		name, end := c.name, c.end
		p := start(t, ctx, "stays")
		if _, err := p.Await(within(t, time.Minute), regexp.MustCompile("^here  /temporary$")); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Status(within(t, time.Millisecond)); err == nil {
			t.Errorf("%s: it ended by itself", name)
		}
		end(p)
		if status, err := p.Status(within(t, time.Minute)); status != -1 || err != nil {
			t.Errorf("%s: exit status %d, %v", name, status, err)
		}
	}
}

func TestLogIsBounded(t *testing.T) {
	l := newLog()
	line := []byte(strings.Repeat("x", 1023) + "\n")
	for range 2 * maxLog / len(line) {
		l.Write(line)
	}
	l.Write([]byte("last\n"))
	lines, next, _ := l.since(0)
	size := 0
	for _, s := range lines {
		size += len(s)
	}
	if size > maxLog || lines[len(lines)-1] != "last" || next != 2*maxLog/len(line)+1 {
		t.Errorf("%d bytes kept, %d lines, the next is %d", size, len(lines), next)
	}
	if lines, _, _ := l.since(next - 1); len(lines) != 1 || lines[0] != "last" {
		t.Errorf("the last alone: %.100q", lines)
	}
}
