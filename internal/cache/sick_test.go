package cache

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"antipode/internal/cache/redistest"
)

// A sick Redis is a miss, soon given up, and used again when it is well.

// patience bounds what must happen soon, on a machine busy with other things.
const patience = 20 * time.Second

// logged is a log that a test can read.
type logged struct {
	mu   sync.Mutex // covers text
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// count returns how many lines have the level.
func (l *logged) count(level slog.Level) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), "level="+level.String()+" ")
}

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// until asks the cache for near, over and over, until the stats are as wanted.
func until(t *testing.T, c *Cache, what string, ok func(Stats) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok(c.Stats()) {
		c.Get(ctx, []Key{near})
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not %s after %v: %+v", what, patience, c.Stats())
		}
	}
}

func givenUp(s Stats) bool { return s.Breaker != "closed" && s.Skipped > 0 }
func inUse(s Stats) bool   { return s.Breaker == "closed" && s.RedisHits > 0 }

func TestRedisStopsAndComesBack(t *testing.T) {
	server := redistest.Start(t)
	var log logged
	cfg := Config{Redis: server.Addr, Logger: log.logger()}
	written(t, cfg, Entry{near, twelve})
	c := openCache(t, cfg)
	until(t, c, "in use", inUse)

	server.Stop()
	until(t, c, "given up", givenUp)
	want(t, c, []Key{near}, nil)
	if s := c.Stats(); s.Errors < tripFailures {
		t.Errorf("given up after %d errors, want %d: %+v", s.Errors, tripFailures, s)
	}

	server.Start()
	until(t, c, "tried again", func(s Stats) bool { return s.Breaker == "closed" })
	written(t, cfg, Entry{near, twelve})
	want(t, c, []Key{near}, &twelve)
	if warn, info := log.count(slog.LevelWarn), log.count(slog.LevelInfo); warn != 1 || info != 1 {
		t.Errorf("%d warnings and %d infos, want one each", warn, info)
	}
}

func TestRedisFallsSilentAndWakes(t *testing.T) {
	server := redistest.Start(t)
	written(t, Config{Redis: server.Addr}, Entry{near, twelve})
	l := usual()
	l.retry = time.Millisecond
	c, err := open(Config{Redis: server.Addr}, l)
	if err != nil {
		t.Fatal(err)
	}
	until(t, c, "in use", inUse)
	server.Pause()
	until(t, c, "given up", givenUp)
	server.Resume()
	hits := c.Stats().RedisHits
	until(t, c, "in use again", func(s Stats) bool { return inUse(s) && s.RedisHits > hits })
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAbsentRedisIsOneWarning(t *testing.T) {
	server := redistest.Start(t)
	server.Stop()
	var log logged
	c, err := Open(Config{Bytes: 1 << 20, Redis: server.Addr, Logger: log.logger()})
	if err != nil {
		t.Fatal(err)
	}
	until(t, c, "given up", givenUp)
	c.Keep(near, twelve)
	want(t, c, []Key{near, far}, &twelve, nil)
	c.Remember([]Entry{{near, twelve}})
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if s := c.Stats(); s.Errors > 2 || s.Dropped != 1 { // the ping, and a Get at the same time
		t.Errorf("stats %+v", s)
	}
	if warn := log.count(slog.LevelWarn); warn != 1 {
		t.Errorf("%d warnings, want 1", warn)
	}
}

// blackHole accepts connections and never says a word. It counts them.
func blackHole(t *testing.T) (addr string, accepted <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := make(chan struct{}, 1000)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			c <- struct{}{}
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return l.Addr().String(), c
}

func TestBlackHoleIsGivenUp(t *testing.T) {
	addr, accepted := blackHole(t)
	c, err := Open(Config{Redis: addr})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	until(t, c, "given up", givenUp)
	for range 1000 {
		c.Get(ctx, []Key{near})
		c.Remember([]Entry{{near, twelve}})
	}
	if err := c.Close(ctx); err != nil {
		t.Errorf("thousand chunks took more than %v: %v", patience, err)
	}
	// A few more when the machine is slow and trials fall due.
	if n := len(accepted); n > 10 {
		t.Errorf("%d connections for 1000 chunks, want a few", n)
	}
	if s := c.Stats(); s.Dropped != 1000 {
		t.Errorf("stats %+v", s)
	}
}

func TestFullQueueDrops(t *testing.T) {
	addr, accepted := blackHole(t)
	c, err := Open(Config{Redis: addr, Queue: 3})
	if err != nil {
		t.Fatal(err)
	}
	<-accepted // the writer waits for its ping
	const chunks, each = 50, 2
	for range chunks {
		c.Remember([]Entry{{near, twelve}, {far, never}})
	}
	if s := c.Stats(); s.Dropped < (chunks-3-1)*each {
		t.Errorf("stats %+v", s)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if s := c.Stats(); s.Dropped != chunks*each || s.Written != 0 {
		t.Errorf("after close: stats %+v", s)
	}
}

func TestCloseWaitsNoLongerThanItsContext(t *testing.T) {
	server := redistest.Start(t)
	l := lenient()
	l.io = 200 * time.Millisecond // bounds how long a call outlives its context
	c, err := open(Config{Redis: server.Addr}, l)
	if err != nil {
		t.Fatal(err)
	}
	server.Pause()
	defer server.Resume()
	for range 20 {
		c.Remember([]Entry{{near, twelve}})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Close(ctx); err == nil {
		t.Error("close succeeded, and redis has not answered")
	}
	if s := c.Stats(); s.Dropped != 20 {
		t.Errorf("stats %+v", s)
	}
	c.Remember([]Entry{{near, twelve}})
	if s := c.Stats(); s.Dropped != 21 {
		t.Errorf("remembered after close: stats %+v", s)
	}
}

func TestLeavingCallerIsNoFault(t *testing.T) {
	server := redistest.Start(t)
	c := openCache(t, Config{Redis: server.Addr})
	until(t, c, "connected", func(s Stats) bool { return s.Misses > 0 && s.Breaker == "closed" })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 * tripFailures {
		if got := c.Get(ctx, []Key{near}); got[0] != nil {
			t.Fatal("an answer from nowhere")
		}
	}
	if s := c.Stats(); s.Breaker != "closed" {
		t.Errorf("callers that left opened the breaker: %+v", s)
	}
}

func TestManyAtOnce(t *testing.T) {
	server := redistest.Start(t)
	c := openCache(t, Config{Bytes: 1 << 20, Redis: server.Addr, Queue: 2})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				c.Get(t.Context(), []Key{near, far})
				c.Keep(near, twelve)
				c.Remember([]Entry{{near, twelve}})
				c.Stats()
			}
		})
	}
	wg.Wait()
	want(t, c, []Key{near}, &twelve)
}
