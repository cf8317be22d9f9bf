package metrics

import (
	"context"
	"net"
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
