package metrics

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A probe says what /readyz says.
func TestProbe(t *testing.T) {
	m, _ := newMetrics(t)
	address := strings.TrimPrefix(listen(t, m), "http://")
	err := Probe(t.Context(), address)
	if want := "not ready: tables are being built; there is no connection to NATS yet"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	q := connect(t, startServer(t))
	m.Prepared()
	m.Connected(q)
	serveIdle(t, q)
	eventually(t, "ready", func() bool {
		err = Probe(t.Context(), address)
		return err == nil
	})
}

// Nobody there, and somebody who says nothing, are errors, in time.
func TestProbeNobody(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := Probe(ctx, l.Addr().String()); err == nil || !strings.Contains(err.Error(), "deadline exceeded") {
		t.Errorf("silence: %v", err)
	}
	l.Close()
	if err := Probe(t.Context(), l.Addr().String()); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("nobody: %v", err)
	}
}

// Whoever answers in the place of a worker, however long, is none that is ready; and what
// it says is fit to be printed.
func TestProbeOfAnother(t *testing.T) {
	for _, c := range []struct{ answer, want string }{
		{"HTTP/1.1 302 Found\r\nLocation: /livez\r\nContent-Length: 0\r\n\r\n", "not ready: 302 Found"},
		{"HTTP/1.1 503 Service Unavailable\r\n\r\nno\x1b[2J\nwork", "not ready: no?[2J; work"},
		{"HTTP/1.1 503 Service Unavailable\r\n\r\n" + strings.Repeat("a", 1<<20), "not ready: " + strings.Repeat("a", maxReason)},
		{"HTTP/1.1 200 OK\r\nA: " + strings.Repeat("a", 1<<20) + "\r\n\r\n", "exceeded"},
		{"-ERR unknown command\r\n", "malformed"},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			if conn, err := l.Accept(); err == nil {
				http.ReadRequest(bufio.NewReader(conn)) // what is not read makes Close a reset
				io.WriteString(conn, c.answer)
				conn.Close()
			}
		}()
		if err := Probe(t.Context(), l.Addr().String()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %v, want %q", c.answer, err, c.want)
		}
		l.Close()
		<-done
	}
}

// Where a worker listens everywhere it is asked on this host.
func TestReadyURL(t *testing.T) {
	for address, want := range map[string]string{
		":9090": "http://localhost:9090/readyz", "0.0.0.0:9090": "http://localhost:9090/readyz", "[::]:80": "http://localhost:80/readyz",
		"127.0.0.1:9090": "http://127.0.0.1:9090/readyz", "[::1]:9090": "http://[::1]:9090/readyz", "box:9090": "http://box:9090/readyz",
		":0": "", "9090": "",
	} {
		if url, err := readyURL(address); url != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", address, url, err, want)
		}
	}
}
