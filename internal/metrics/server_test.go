package metrics

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"antipode/internal/job"
	"antipode/internal/limit"
	"antipode/internal/natsd"
	"antipode/internal/queue"
)

func startServer(t *testing.T) *natsd.Server {
	t.Helper()
	s, err := natsd.Start(natsd.Config{Port: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	return s
}

func connect(t *testing.T, s *natsd.Server) *queue.Queue {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	q, err := queue.Open(ctx, queue.Config{URL: s.URL(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close(context.Background()) })
	return q
}

// serve serves metrics, and returns their address.
func serve(t *testing.T, m *Metrics) (*Server, string) {
	t.Helper()
	var said strings.Builder
	s, err := m.Listen("127.0.0.1:0", slog.New(slog.NewTextHandler(&said, nil)))
	if err != nil {
		t.Fatal(err)
	}
	_, address, _ := strings.Cut(strings.TrimSpace(said.String()), "address=")
	return s, "http://" + address
}

// listen is serve until the test ends.
func listen(t *testing.T, m *Metrics) string {
	t.Helper()
	s, url := serve(t, m)
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return url
}

// get returns an answer's status and text, over a connection of its own.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// serveIdle takes chunks until the test ends, and answers none.
func serveIdle(t *testing.T, q *queue.Queue) {
	take, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		q.Serve(take, take, queue.ServeConfig{Worker: "test-worker", Bulk: 2, Express: 1, Answer: func(ctx context.Context, _ *job.Chunk, _ *atomic.Int64) (*job.Result, func(context.Context), error) {
			return nil, nil, context.Cause(ctx)
		}})
	}()
	t.Cleanup(func() { stop(); <-done })
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so after %s: %s", patience, what)
		}
	}
}

// A worker is ready from when it takes chunks of both lanes until it is told to
// stop, and not while NATS is away.
func TestReady(t *testing.T) {
	var stopping atomic.Bool
	m, _ := newMetrics(t)
	m.sources.Stopping = stopping.Load
	url := listen(t, m)
	is := func(want string) {
		t.Helper()
		var status int
		var text string
		defer func() {
			if t.Failed() {
				t.Logf("at last %d: %s", status, text)
			}
		}()
		eventually(t, want, func() bool {
			status, text = get(t, url+"/readyz")
			return text == want+"\n" && (status == http.StatusOK) == (want == "ready") && (status == http.StatusServiceUnavailable) == (want != "ready")
		})
		if status, text := get(t, url+"/livez"); status != http.StatusOK || text != "alive\n" {
			t.Errorf("/livez: %d: %s", status, text)
		}
	}
	is("tables are being built\nthere is no connection to NATS yet")
	m.Prepared()
	is("there is no connection to NATS yet")
	server := startServer(t)
	q := connect(t, server)
	m.Connected(q)
	is("lane bulk: 0 of 0 slots take chunks\nlane express: 0 of 0 slots take chunks")

	serveIdle(t, q)
	is("ready")
	check(t, m, "antipode_ready", map[string]float64{"": 1})
	check(t, m, "antipode_slots", map[string]float64{"bulk bound": 2, "bulk unbound": 0, "express bound": 1, "express unbound": 0})
	check(t, m, "antipode_queue_chunks", map[string]float64{"bulk pending": 0, "bulk unacknowledged": 0, "express pending": 0, "express unacknowledged": 0})
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	is("NATS is away")
	check(t, m, "antipode_queue_chunks", map[string]float64{})
	check(t, m, "antipode_nats_connected", map[string]float64{"": 0})
	stopping.Store(true)
	is("stopping: no more chunks are taken\nNATS is away")
}

// Other paths and methods are refused.
func TestOtherRequests(t *testing.T) {
	m, _ := newMetrics(t)
	url := listen(t, m)
	for path, want := range map[string]int{"/": 404, "/metrics/": 404, "/debug/pprof/": 404, "/metrics": 200} {
		if status, text := get(t, url+path); status != want {
			t.Errorf("%s: %d, want %d: %.200s", path, status, want, text)
		}
	}
	res, err := http.Post(url+"/livez", "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", res.StatusCode)
	}
}

// An address that is taken is refused, with what sets it.
func TestAddressIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	m, _ := newMetrics(t)
	address := l.Addr().String()
	if s, err := m.Listen(address, slog.New(slog.DiscardHandler)); s != nil || err == nil || !strings.HasPrefix(err.Error(), "serve metrics at "+address+" (http.listen sets it): ") {
		t.Errorf("%v, %v", s, err)
	}
	if s, err := m.Listen("", nil); s != nil || err != nil || s.Close(t.Context()) != nil {
		t.Errorf("no address: %v, %v", s, err)
	}
}

// Those who connect and say nothing, as many as there may be, are sent away in time
// for others, and do not keep the server from its end.
func TestIdleConnections(t *testing.T) {
	m, _ := newMetrics(t)
	s, url := serve(t, m)
	crowd := func() {
		for range limit.HTTPConnections {
			c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
		}
	}
	crowd()
	if status, _ := get(t, url+"/livez"); status != http.StatusOK {
		t.Errorf("/livez: %d", status)
	}
	crowd()
	began := time.Now()
	if err := s.Close(context.Background()); err != nil || time.Since(began) > 10*closeTime {
		t.Errorf("closed after %s: %v", time.Since(began), err)
	}
}
