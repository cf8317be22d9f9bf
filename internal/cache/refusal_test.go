package cache

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"antipode/internal/cache/redistest"
)

// A Redis that cannot do what is asked says so once, however often it is tried.

// watched opens a cache with the limits of every day, but that Redis is tried again
// soon, and returns its log. It is closed with the test.
func watched(t *testing.T, addr string) (*Cache, *logged) {
	t.Helper()
	log := new(logged)
	l := usual()
	l.retry = time.Millisecond
	c, err := open(Config{Redis: addr, Logger: log.logger()}, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("%+v\n%s", c.Stats(), log.text.String())
		}
	})
	return c, log
}

// said fails the test unless the log holds so many warnings and infos.
func said(t *testing.T, log *logged, warnings, infos int) {
	t.Helper()
	if w, i := log.count(slog.LevelWarn), log.count(slog.LevelInfo); w != warnings || i != infos {
		t.Errorf("%d warnings and %d infos, want %d and %d", w, i, warnings, infos)
	}
}

// set changes the server while it runs.
func set(t *testing.T, s *redistest.Server, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if err := client(t, s).ConfigSet(t.Context(), pairs[i], pairs[i+1]).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// Out of memory, or a replica: what Redis has is read, and what it does not take is
// dropped.
func TestRedisThatTakesNoWrites(t *testing.T) {
	for _, c := range []struct {
		name string
		turn []string // its settings
		back []string
	}{
		{"out of memory", []string{"maxmemory-policy", "noeviction", "maxmemory", "1mb"}, []string{"maxmemory", "0"}},
		{"lacks a replica", []string{"min-replicas-to-write", "1"}, []string{"min-replicas-to-write", "0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := redistest.Start(t)
			written(t, Config{Redis: server.Addr}, Entry{near, twelve})
			cache, log := watched(t, server.Addr)
			until(t, cache, "in use", inUse)
			set(t, server, c.turn...)
			refused := func(n uint64) func(Stats) bool {
				return func(s Stats) bool {
					cache.Remember([]Entry{{far, here}})
					return s.Refusing && s.Errors >= n
				}
			}
			until(t, cache, "refused again and again", refused(4*tripFailures))
			if s := cache.Stats(); s.Breaker != "closed" || s.Written != 0 || s.Dropped == 0 {
				t.Errorf("stats %+v", s)
			}
			want(t, cache, []Key{near, far}, &twelve, nil)
			said(t, log, 1, 0)
			set(t, server, c.back...)
			until(t, cache, "taken again", func(s Stats) bool {
				cache.Remember([]Entry{{far, here}})
				return !s.Refusing && s.Written > 0
			})
			want(t, cache, []Key{far}, &here)
			said(t, log, 1, 1)
		})
	}
}

// In the middle of its work Redis asks for a password, answers late, or comes too
// late altogether: it is given up once, though it is tried again and again.
func TestRedisTurnsSickOnce(t *testing.T) {
	locked := func(t *testing.T, s *redistest.Server) {
		c := client(t, s)
		set(t, s, "requirepass", "another")
		if err := c.Do(t.Context(), "AUTH", "another").Err(); err != nil {
			t.Fatal(err)
		}
		if err := c.Do(t.Context(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		first bool // from the start
		delay time.Duration
		turn  func(t *testing.T, s *redistest.Server)
	}{
		{"a password from the start", true, 0, locked},
		{"a password in the middle", false, 0, locked},
		{"45 ms late", true, 45 * time.Millisecond, func(*testing.T, *redistest.Server) {}},
		{"90 ms late", true, 90 * time.Millisecond, func(*testing.T, *redistest.Server) {}},
		{"silent in the middle", false, 0, func(_ *testing.T, s *redistest.Server) { s.Pause() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := redistest.Start(t)
			written(t, Config{Redis: server.Addr}, Entry{near, twelve})
			addr := server.Addr
			if c.delay > 0 {
				addr = redistest.Slow(t, addr, c.delay)
			}
			if c.first {
				c.turn(t, server)
			}
			cache, log := watched(t, addr)
			if !c.first {
				until(t, cache, "in use", inUse)
				c.turn(t, server)
			}
			until(t, cache, "given up", givenUp)
			before := cache.Stats()
			until(t, cache, "tried again and again", func(s Stats) bool {
				cache.Remember([]Entry{{far, here}})
				return s.Errors+s.Slow >= before.Errors+before.Slow+2*tripFailures
			})
			said(t, log, 1, 0)
			if s := cache.Stats(); s.Refusing {
				t.Errorf("refusing: %+v", s)
			}
		})
	}
}
