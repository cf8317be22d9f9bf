package cache

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"antipode/internal/cache/redistest"
	"antipode/internal/job"
	"antipode/internal/limit"
	"antipode/internal/puzzle"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Questions and answers that the tests use.
var (
	near  = Key{Fingerprint: [16]byte{15: 1}, Start: 0x876543210, Goal: 0x876543201}
	far   = Key{Fingerprint: [16]byte{15: 1}, Start: 0x876543102, Goal: 0x876543201}
	apart = Key{Fingerprint: [16]byte{15: 2}, Start: 0x1, Goal: 0x2}

	here   = Answer{Status: job.Solved}
	twelve = Answer{Status: job.Solved, Moves: []uint8{0, 1, 2, 3, 255, 5, 6, 7, 8, 9, 10, 11}}
	never  = Answer{Status: job.Unreachable}
)

// lenient returns limits that a healthy Redis keeps on any machine. One that was
// given up is tried again soon.
func lenient() limits {
	return limits{dial: patience, io: patience, slow: patience, retry: 20 * time.Millisecond}
}

// openCache opens a lenient cache that is closed with the test.
func openCache(t *testing.T, cfg Config) *Cache {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	c, err := open(cfg, lenient())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return c
}

// written opens a cache that keeps nothing in the process, lets it remember the
// entries, and returns when they are in Redis.
func written(t testing.TB, cfg Config, entries ...Entry) {
	t.Helper()
	c, err := open(cfg, lenient())
	if err != nil {
		t.Fatal(err)
	}
	n := uint64(len(entries))
	c.Remember(entries)
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := c.Stats(); cfg.Redis != "" && s.Written != n {
		t.Fatalf("written %d of %d answers: %+v", s.Written, n, s)
	}
}

func client(t *testing.T, s *redistest.Server) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.Addr})
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// want fails the test unless the cache has exactly these answers, nil for none.
func want(t *testing.T, c *Cache, keys []Key, answers ...*Answer) {
	t.Helper()
	got := c.Get(t.Context(), keys)
	if len(got) != len(answers) {
		t.Fatalf("%d answers for %d keys", len(got), len(keys))
	}
	for i := range got {
		if !equal(got[i], answers[i]) {
			t.Errorf("key %d: got %+v, want %+v", i, got[i], answers[i])
		}
	}
}

func equal(a, b *Answer) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Status == b.Status && slices.Equal(a.Moves, b.Moves)
}

func TestKeepStaysInTheProcess(t *testing.T) {
	server := redistest.Start(t)
	c := openCache(t, Config{Bytes: 1 << 20, Redis: server.Addr})
	c.Keep(near, twelve)
	c.Keep(far, here)
	c.Keep(apart, never)
	want(t, c, []Key{near, far, apart}, &twelve, &here, &never)
	if n := client(t, server).DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("%d keys in redis, want none", n)
	}
	if s := c.Stats(); s.LocalHits != 3 || s.RedisHits != 0 || s.Misses != 0 {
		t.Errorf("stats %+v", s)
	}
}

func TestOnlyFinalAnswersAreKept(t *testing.T) {
	server := redistest.Start(t)
	c := openCache(t, Config{Bytes: 1 << 20, Redis: server.Addr})
	for s := range job.Status(job.Statuses) {
		if s.Final() {
			continue
		}
		c.Keep(near, Answer{Status: s})
		c.Remember([]Entry{{near, Answer{Status: s}}})
	}
	long := Answer{Status: job.Solved, Moves: make([]uint8, limit.CachedMoves+1)}
	c.Keep(near, long)
	c.Remember([]Entry{{near, long}})
	want(t, c, []Key{near}, nil)
	if s := c.Stats(); s.Written+s.Dropped != 0 {
		t.Errorf("stats %+v", s)
	}
}

func TestAnswersAreSharedWithNoOne(t *testing.T) {
	c := openCache(t, Config{Bytes: 1 << 20})
	moves := slices.Clone(twelve.Moves)
	c.Keep(near, Answer{Status: job.Solved, Moves: moves})
	moves[0] = 99
	c.Get(t.Context(), []Key{near})[0].Moves[1] = 99
	want(t, c, []Key{near}, &twelve)
}

func TestProcessIsBounded(t *testing.T) {
	const entries = 10
	c := openCache(t, Config{Bytes: entries * (overhead + 1)})
	for i := range 100 * entries {
		c.Keep(Key{Start: puzzle.State(i)}, never)
	}
	c.local.entries.CleanUp()
	if n := c.local.entries.EstimatedSize(); n == 0 || n > entries {
		t.Errorf("%d entries kept, want 1 to %d", n, entries)
	}
}

func TestZeroConfigKeepsNothing(t *testing.T) {
	c := openCache(t, Config{})
	c.Keep(near, twelve)
	c.Remember([]Entry{{near, twelve}})
	want(t, c, []Key{near}, nil)
	if s := c.Stats(); s != (Stats{Misses: 1}) {
		t.Errorf("stats %+v", s)
	}
}

func TestRememberReachesAnotherProcess(t *testing.T) {
	for _, secret := range []string{"", "a secret"} {
		t.Run("secret="+secret, func(t *testing.T) {
			server := redistest.Start(t)
			cfg := Config{Redis: server.Addr, TTL: time.Hour, Secret: secret}
			written(t, cfg, Entry{near, twelve}, Entry{far, here}, Entry{apart, never})

			cfg.Bytes = 1 << 20
			c := openCache(t, cfg)
			other := Key{Fingerprint: near.Fingerprint, Start: near.Goal, Goal: near.Start}
			want(t, c, []Key{near, other, far, apart, near}, &twelve, nil, &here, &never, &twelve)
			if s := c.Stats(); s.RedisHits != 4 || s.Misses != 1 || s.LocalHits != 0 {
				t.Errorf("first look: stats %+v", s)
			}
			want(t, c, []Key{near, far, apart}, &twelve, &here, &never)
			if s := c.Stats(); s.LocalHits != 3 {
				t.Errorf("second look asked redis again: stats %+v", s)
			}
		})
	}
}

// One read and one write a chunk: what a chunk costs Redis is part of the API.
func TestOneCommandReadsAChunk(t *testing.T) {
	server := redistest.Start(t)
	c := openCache(t, Config{Redis: server.Addr})
	rdb := client(t, server)
	for _, test := range []struct{ keys, commands int }{{1, 1}, {maxKeys, 1}, {maxKeys + 1, 2}} {
		keys := make([]Key, test.keys)
		for i := range keys {
			keys[i].Start = puzzle.State(i)
		}
		c.Get(t.Context(), keys) // connects
		if err := rdb.ConfigResetStat(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		c.Get(t.Context(), keys)
		stats := rdb.Info(t.Context(), "commandstats").Val()
		calls := fmt.Sprintf("cmdstat_mget:calls=%d,", test.commands)
		if !strings.Contains(stats, calls) || strings.Count(stats, "cmdstat_") != 2 { // and the reset
			t.Errorf("%d keys: want %s and nothing else, got:\n%s", test.keys, calls, stats)
		}
	}
}

func TestLargeChunkIsWrittenInParts(t *testing.T) {
	server := redistest.Start(t)
	entries := make([]Entry, 2*maxKeys+1)
	for i := range entries {
		entries[i] = Entry{Key{Start: puzzle.State(i)}, never}
	}
	written(t, Config{Redis: server.Addr}, entries...)
	if n := client(t, server).DBSize(t.Context()).Val(); n != int64(len(entries)) {
		t.Errorf("%d keys in redis, want %d", n, len(entries))
	}
}

func TestRedisKeepsForTTL(t *testing.T) {
	server := redistest.Start(t)
	rdb := client(t, server)
	written(t, Config{Redis: server.Addr, TTL: time.Hour}, Entry{near, twelve})
	if ttl := rdb.TTL(t.Context(), near.name()).Val(); ttl <= 59*time.Minute || ttl > time.Hour {
		t.Errorf("ttl %v, want an hour", ttl)
	}
	written(t, Config{Redis: server.Addr}, Entry{far, twelve})
	if ttl := rdb.TTL(t.Context(), far.name()).Val(); ttl != -1 {
		t.Errorf("ttl %v, want none", ttl)
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, cfg := range map[string]Config{
		"negative bytes":  {Bytes: -1},
		"negative ttl":    {TTL: -time.Second},
		"ttl too fine":    {TTL: time.Nanosecond},
		"negative queue":  {Queue: -1},
		"address no port": {Redis: "localhost"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Open(cfg); err == nil {
				t.Errorf("Open(%+v) succeeded", cfg)
			}
		})
	}
}
