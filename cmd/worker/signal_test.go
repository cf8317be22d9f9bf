//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/job"
	"antipode/internal/natsd"
	"antipode/internal/queue"
)

// patience bounds what a test waits for.
const patience = time.Minute

// process is a running worker.
type process struct {
	*exec.Cmd
	log said
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

// start runs a worker without tables, which starts at once.
func start(t *testing.T, url string, env ...string) *process {
	t.Helper()
	return startWith(t, env, "--nats", url, "--slots", "1")
}

// startWith is start with all its arguments.
func startWith(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command("worker", args...)}
	p.Env = append(append(os.Environ(), "ANTIPODE_TABLES_MEMORY=0", "ANTIPODE_LOG_LEVEL=debug"), env...)
	p.Stderr = &p.log
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Process.Kill() })
	return p
}

// says waits until the worker has logged a text.
func (p *process) says(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(patience); !strings.Contains(p.log.String(), text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %q: %s", text, &p.log)
		}
	}
}

func (p *process) signal(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// ends waits for the end, and wants this exit status.
func (p *process) ends(t *testing.T, status int) {
	t.Helper()
	late := time.AfterFunc(patience, func() { p.Process.Kill() })
	defer late.Stop()
	p.Wait()
	if got := p.ProcessState.ExitCode(); got != status {
		t.Errorf("exit status %d, want %d: %s", got, status, &p.log)
	}
}

func startServer(t *testing.T) *natsd.Server {
	t.Helper()
	s, err := natsd.Start(natsd.Config{Port: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	return s
}

func TestIdleWorkerStops(t *testing.T) {
	p := start(t, startServer(t).URL())
	p.says(t, `"ready"`)
	p.signal(t)
	p.ends(t, 0)
	if !strings.Contains(p.log.String(), `"stopped"`) {
		t.Errorf("%s", &p.log)
	}
}

// A worker that is told to stop writes its profiles, and so does one that fails.
func TestProfilesAreWritten(t *testing.T) {
	s := startServer(t)
	for name, status := range map[string]int{"stopped": 0, "failed": exitFailed} {
		dir := t.TempDir()
		files := []string{filepath.Join(dir, "cpu"), filepath.Join(dir, "memory")}
		url := s.URL()
		if name == "failed" {
			url = "nats://no\tserver"
		}
		p := startWith(t, nil, "--nats", url, "--cpuprofile", files[0], "--memprofile", files[1])
		if name == "stopped" {
			p.says(t, `"ready"`)
			p.signal(t)
		}
		p.ends(t, status)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil || !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) { // compressed, as profiles are
				t.Errorf("%s: %s is no profile: %d bytes, %v", name, filepath.Base(file), len(text), err)
			}
		}
	}
}

// A worker whose server never came stops like any other.
func TestWorkerWithoutAServerStops(t *testing.T) {
	p := start(t, "nats://127.0.0.1:1")
	p.says(t, "waiting for NATS")
	p.signal(t)
	p.ends(t, 0)
}

// Where NATS is set up otherwise a worker says how, and ends.
func TestWorkerRefusesAnotherTopology(t *testing.T) {
	s := startServer(t)
	js := connect(t, s)
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "JOBS", Subjects: []string{"antipode.v1.jobs.>"}}); err != nil {
		t.Fatal(err)
	}
	p := start(t, s.URL())
	p.ends(t, 1)
	if text := p.log.String(); !strings.Contains(text, ": stream JOBS is set up otherwise: retention is Limits, want WorkQueue") {
		t.Errorf("%s", text)
	}
}

func connect(t *testing.T, s *natsd.Server) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// Where its address for metrics is taken a worker says so, and ends before it takes
// chunks.
func TestWorkerWithoutItsAddress(t *testing.T) {
	s := startServer(t)
	taken := strings.TrimPrefix(s.URL(), "nats://")
	p := start(t, s.URL(), "ANTIPODE_HTTP_LISTEN="+taken)
	p.ends(t, exitFailed)
	text := p.log.String()
	if !strings.Contains(text, "worker: serve metrics at "+taken+" (http.listen sets it): ") || strings.Contains(text, `"ready"`) {
		t.Errorf("%s", text)
	}
}

// What a worker holds goes back at once when it is told to stop twice, and when
// its time to drain is over; and that is no try.
func TestWorkerGivesBack(t *testing.T) {
	for name, c := range map[string]struct {
		drain   string
		signals int
	}{"the second signal": {"1h", 2}, "the drain time": {"1s", 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t)
			// The job waits in this process; its one chunk is some 10^4 searches.
			q, err := queue.Open(t.Context(), queue.Config{URL: s.URL(), Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			spec := job.Spec{Owner: "me", Job: job.NewID(), Puzzle: "rotegame", File: "rings", Format: job.Format{Known: true}}
			ctx, cancel := context.WithCancel(context.Background())
			var running sync.WaitGroup
			running.Go(func() { q.Run(ctx, endless(spec)) })
			t.Cleanup(func() {
				cancel()
				running.Wait()
				q.Close(context.Background())
			})

			p := start(t, s.URL(), "ANTIPODE_DRAIN="+c.drain)
			p.says(t, `"ready"`)
			js := connect(t, s)
			lane, err := js.Consumer(t.Context(), "JOBS", "v1-express")
			if err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
				info, err := lane.Info(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if info.NumAckPending == 1 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("the chunk did not come to the worker")
				}
			}
			p.signal(t)
			p.says(t, "finishing what is held")
			if c.signals == 2 {
				p.signal(t)
			}
			p.ends(t, 0)
			m, err := lane.Next(jetstream.FetchMaxWait(time.Second)) // the ack wait would be ten
			if err != nil {
				t.Fatalf("the chunk is not back: %v", err)
			}
			if meta, err := m.Metadata(); err != nil || meta.NumDelivered != 2 {
				t.Errorf("delivered %+v, %v", meta, err)
			}
			kv, err := js.KeyValue(t.Context(), "antipode")
			if err != nil {
				t.Fatal(err)
			}
			tries, err := kv.Get(t.Context(), "tries."+spec.Job+".0")
			switch {
			case errors.Is(err, jetstream.ErrKeyNotFound): // the signal came before it was begun
			case err != nil || string(tries.Value()) != "0":
				t.Errorf("tries %v, %v", tries, err)
			}
		})
	}
}

// endless is a job of one chunk of many searches.
func endless(spec job.Spec) queue.Run {
	const records = 4000
	c := &job.Chunk{Spec: spec, FirstLine: 1, FirstRecord: 1, Records: records, Last: true}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2 * records {
		for _, v := range rng.Perm(12) {
			c.Payload = fmt.Append(c.Payload, v+1, " ")
		}
		c.Payload = append(c.Payload, '\n')
	}
	return queue.Run{
		Spec: spec, Window: queue.Window{Chunks: 1, Bytes: 1 << 20},
		Next: func(context.Context) (*job.Chunk, *job.Result, error) {
			if c == nil {
				return nil, nil, io.EOF
			}
			defer func() { c = nil }()
			return c, nil, nil
		},
		Write: func(*job.Chunk, *job.Result) error { return nil },
	}
}
