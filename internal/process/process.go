// Package process runs programs for those that test and measure them: it starts
// them, awaits what they log, signals and kills them, and leaves none behind.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// killTime bounds what is waited for after a program was killed.
const killTime = 5 * time.Second

// Process is a running program. It is safe for use by many goroutines.
type Process struct {
	cmd  *exec.Cmd
	log  *log
	gone chan struct{} // closed when it has ended and its log is complete
}

// Command is a program that is killed when ctx ends, and on Linux when this
// process does. It takes no settings from the environment of this one, and puts
// its temporary files into a folder.
func Command(ctx context.Context, temporary, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = killTime
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "ANTIPODE_") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, "TMPDIR="+temporary)
	bind(cmd)
	return cmd
}

// Build builds the programs of packages into a folder.
func Build(ctx context.Context, folder string, args ...string) error {
	build := exec.CommandContext(ctx, "go", append([]string{"build", "-o", folder}, args...)...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w: %s", err, said)
	}
	return nil
}

// Start starts a program whose standard error is its log. Its standard output is
// the log's, too, where the command says nothing else.
func Start(cmd *exec.Cmd) (*Process, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = in
	if cmd.Stdout == nil {
		cmd.Stdout = in
	}
	err = cmd.Start()
	in.Close() // the program has its own
	if err != nil {
		out.Close()
		return nil, fmt.Errorf("start %s: %w", filepath.Base(cmd.Path), err)
	}
	p := &Process{cmd: cmd, log: newLog(), gone: make(chan struct{})}
	go func() {
		defer close(p.gone)
		io.Copy(p.log, out)
		out.Close()
		p.log.end()
		cmd.Wait() // how it ended is in its state
	}()
	return p, nil
}

// Await waits until a line of the log, from its first, matches an expression, and
// returns what its parts matched. It fails when the program or ctx ends before.
func (p *Process) Await(ctx context.Context, awaited *regexp.Regexp) (parts []string, err error) {
	for read := 0; ; {
		lines, next, grown := p.log.since(read)
		read = next
		for _, line := range lines {
			if m := awaited.FindStringSubmatch(line); m != nil {
				return m[1:], nil
			}
		}
		if len(lines) > 0 {
			continue
		}
		select {
		case <-grown:
		case <-p.gone:
			if lines, _, _ := p.log.since(read); len(lines) == 0 {
				return nil, fmt.Errorf("%s ended, and never said %q: %s", p, awaited, p.last())
			}
		case <-ctx.Done():
			return nil, fmt.Errorf("%s does not say %q: %w: %s", p, awaited, context.Cause(ctx), p.last())
		}
	}
}

// Signal sends a signal. That the program has ended already is no error.
func (p *Process) Signal(sig os.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %s to %s: %w", sig, p, err)
	}
	return nil
}

// Kill kills the program and waits for its end.
func (p *Process) Kill() {
	p.cmd.Process.Kill() // it may have ended
	<-p.gone
}

// Gone is closed when the program has ended.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Status waits for the program's end and returns its exit status, -1 where a
// signal was its end.
func (p *Process) Status(ctx context.Context) (int, error) {
	select {
	case <-p.gone:
		return p.cmd.ProcessState.ExitCode(), nil
	case <-ctx.Done():
		return 0, fmt.Errorf("%s does not end: %w: %s", p, context.Cause(ctx), p.last())
	}
}

// State is how the program ended. It is nil before.
func (p *Process) State() *os.ProcessState {
	select {
	case <-p.gone:
		return p.cmd.ProcessState
	default:
		return nil
	}
}

// Name is the name of the program's file.
func (p *Process) Name() string { return filepath.Base(p.cmd.Path) }

// Pid is the number of the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Log returns what the program has said last, maxLog bytes at most.
func (p *Process) Log() string {
	lines, _, _ := p.log.since(0)
	return strings.Join(lines, "\n")
}

// Count returns how many lines of the log hold a text.
func (p *Process) Count(text string) (n int) {
	lines, _, _ := p.log.since(0)
	for _, line := range lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// String names the program with its number.
func (p *Process) String() string {
	return fmt.Sprintf("%s[%d]", filepath.Base(p.cmd.Path), p.cmd.Process.Pid)
}

// last is the last line of the log.
func (p *Process) last() string {
	lines, _, _ := p.log.since(0)
	if len(lines) == 0 {
		return "it said nothing"
	}
	return lines[len(lines)-1]
}
