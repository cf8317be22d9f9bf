package redistest

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Slow stands before a server until the test ends: it accepts connections at once,
// and whatever the server says comes later by delay. It returns its address.
func Slow(t testing.TB, addr string, delay time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { relay(ctx, client, addr, delay) })
		}
	})
	t.Cleanup(func() {
		cancel()
		l.Close()
		running.Wait()
	})
	return l.Addr().String()
}

// relay joins a client to the server at addr until either leaves, or ctx ends.
func relay(ctx context.Context, client net.Conn, addr string, delay time.Duration) {
	defer client.Close()
	server, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer server.Close()
	stop := context.AfterFunc(ctx, func() { client.Close(); server.Close() })
	defer stop()
	var asking sync.WaitGroup
	asking.Go(func() {
		_, _ = io.Copy(server, client)
		server.Close()
	})
	defer asking.Wait()
	defer client.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		if err != nil {
			return
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return
		}
		if _, err := client.Write(buf[:n]); err != nil {
			return
		}
	}
}
