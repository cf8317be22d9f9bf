// Package redistest runs a real Redis server for a test.
package redistest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"
)

const (
	host = "127.0.0.1"
	// Ports firstPort and up, ports of them, are below what systems give to
	// clients, so that nobody sits on a server's port between Stop and Start.
	firstPort, ports = 20000, 10000
	// tries is how many ports are tried before the test fails.
	tries = 10
	// startTimeout is how long a server may take until it accepts connections.
	startTimeout = 20 * time.Second
)

// Server is a redis-server process that keeps nothing on disk. Its methods are
// for the test's own goroutine, and fail the test when they cannot do what they
// say.
type Server struct {
	// Addr is host:port; it stays the same from Stop to Start.
	Addr string

	t    testing.TB
	path string
	args []string
	port int
	cmd  *exec.Cmd     // nil while stopped
	gone chan struct{} // closed when the process has ended
}

// Start runs a server until the test ends, with further options where they are
// given. Without a redis-server in PATH the
// test is skipped, unless the environment says CI=true: there it fails, since a
// green run that tested nothing would be a lie.
func Start(t testing.TB, options ...string) *Server {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("redis-server is needed in CI: %v", err)
		}
		t.Skipf("NOT TESTED: this test needs a redis-server in PATH: %v", err)
	}
	s := &Server{t: t, path: path, args: options}
	t.Cleanup(s.Stop)
	for range tries {
		s.port = firstPort + rand.N(ports)
		s.Addr = host + ":" + strconv.Itoa(s.port)
		if err = s.launch(); err == nil {
			return s
		}
	}
	t.Fatal(err)
	return nil
}

// Start runs the server again after Stop, empty and on the same port.
func (s *Server) Start() {
	s.t.Helper()
	if err := s.launch(); err != nil {
		s.t.Fatal(err)
	}
}

// Stop kills the server; connections to it break.
func (s *Server) Stop() {
	s.t.Helper()
	if s.cmd == nil {
		return
	}
	s.signal(syscall.SIGKILL)
	<-s.gone
	s.cmd = nil
}

// Pause makes the server silent: connections to it are accepted, and nothing is
// answered until Resume.
func (s *Server) Pause() { s.t.Helper(); s.signal(stopSignal) }

// Resume ends a Pause.
func (s *Server) Resume() { s.t.Helper(); s.signal(continueSignal) }

func (s *Server) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Errorf("send %v to redis-server: %v", sig, err)
	}
}

// launch starts the process and waits until it accepts connections. On an error
// no process is left.
func (s *Server) launch() error {
	out := &output{ready: make(chan struct{})}
	args := append([]string{"--bind", host, "--port", strconv.Itoa(s.port),
		"--save", "", "--appendonly", "no", "--daemonize", "no", "--dir", s.t.TempDir()}, s.args...)
	cmd := exec.Command(s.path, args...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start redis-server: %w", err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = cmd.Wait() // how it ended is in its output
	}()
	s.cmd, s.gone = cmd, gone
	select {
	case <-out.ready:
		return nil
	case <-gone:
		s.cmd = nil
		return fmt.Errorf("redis-server on %s ended at once:\n%s", s.Addr, out)
	case <-time.After(startTimeout):
		s.Stop()
		return fmt.Errorf("redis-server on %s is not ready after %v:\n%s", s.Addr, startTimeout, out)
	}
}
