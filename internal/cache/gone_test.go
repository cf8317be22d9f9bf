//go:build linux

package cache

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"
)

// goneHost is an address on which nothing answers, not even to refuse: who listens
// there has room for no more connections.
func goneHost(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	for range 8 {
		conn, err := net.DialTimeout("tcp", addr, usual().dial)
		if late := net.Error(nil); errors.As(err, &late) && late.Timeout() {
			return addr
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
	}
	t.Skip("NOT TESTED: this system always has room for one more connection")
	return ""
}

// A host that is gone in the middle of a job, all packets lost, costs a moment.
func TestHostIsGone(t *testing.T) {
	addr := goneHost(t)
	// With so many connections the client does not dial by itself, beyond its end.
	c, err := Open(Config{Redis: addr, Slots: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	c.redis.breaker.reached.Store(true) // it was there before
	began := time.Now()
	until(t, c, "given up", givenUp)
	if took, target := time.Since(began), 2*time.Second; took > 10*target {
		t.Errorf("given up after %v, target %v", took, target)
	} else {
		t.Logf("given up after %v, target %v", took, target)
	}
	if s := c.Stats(); s.Errors < tripFailures {
		t.Errorf("stats %+v", s)
	}
}
