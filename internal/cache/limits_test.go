package cache

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"antipode/internal/cache/redistest"
	"antipode/internal/job"
	"antipode/internal/limit"
)

// An answer of as many moves as are kept is kept, in the process and in Redis; one
// of more is in neither, and a miss where somebody else put it.
func TestLimitOfMoves(t *testing.T) {
	most := Answer{Status: job.Solved, Moves: make([]uint8, limit.CachedMoves)}
	more := Answer{Status: job.Solved, Moves: make([]uint8, limit.CachedMoves+1)}
	for _, secret := range []string{"", "a secret"} {
		server := redistest.Start(t)
		cfg := Config{Bytes: 1 << 20, Redis: server.Addr, Secret: secret}
		written(t, cfg, Entry{near, most})
		c := openCache(t, cfg)
		c.Keep(far, most)
		c.Keep(apart, more)
		want(t, c, []Key{near, far, apart}, &most, &most, nil)

		name := apart.name()
		if err := client(t, server).Set(t.Context(), name, newSeal(secret).close(name, pack(more)), 0).Err(); err != nil {
			t.Fatal(err)
		}
		want(t, c, []Key{near, apart}, &most, nil)
		if s := c.Stats(); s.Bad != 1 {
			t.Errorf("stats %+v", s)
		}
	}
}

// However many ask at once, the connections to Redis are those of the slots and of
// the writer.
func TestConnections(t *testing.T) {
	const slots, callers = 3, 50
	server := redistest.Start(t)
	written(t, Config{Redis: server.Addr}, Entry{near, twelve})
	rdb := client(t, server)
	connections := func() int {
		t.Helper()
		text, err := rdb.Info(t.Context(), "stats").Result()
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(text, "total_connections_received:")
		line, _, _ := strings.Cut(after, "\r\n")
		n, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := connections()
	c := openCache(t, Config{Redis: server.Addr, Slots: slots})
	server.Pause() // so that nobody is done before all have asked
	var all sync.WaitGroup
	asked := make(chan struct{}, callers)
	for range callers {
		all.Go(func() {
			asked <- struct{}{}
			for range 20 {
				if got := c.Get(t.Context(), []Key{near}); !equal(got[0], &twelve) {
					t.Error("a miss")
				}
				c.Remember([]Entry{{far, twelve}})
			}
		})
	}
	for range callers {
		<-asked
	}
	server.Resume()
	all.Wait()
	if n := connections() - before; n < 2 || n > slots+limit.RedisSpare {
		t.Errorf("%d connections, want at most %d", n, slots+limit.RedisSpare)
	}
}
