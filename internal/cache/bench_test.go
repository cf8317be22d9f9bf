package cache

import (
	"fmt"
	"testing"

	"antipode/internal/cache/redistest"
	"antipode/internal/job"
	"antipode/internal/puzzle"
)

// BenchmarkGet looks a chunk of as many keys up as one call of Redis may name.
func BenchmarkGet(b *testing.B) {
	server := redistest.Start(b)
	keys := make([]Key, maxKeys)
	entries := make([]Entry, maxKeys)
	for i := range keys {
		keys[i].Start = puzzle.State(i)
		entries[i] = Entry{keys[i], Answer{Status: job.Solved, Moves: make([]uint8, 20)}}
	}
	for _, cfg := range []Config{
		{Bytes: 64 << 20},
		{Redis: server.Addr},
		{Redis: server.Addr, Secret: "a secret"},
	} {
		b.Run(fmt.Sprintf("redis=%v/secret=%v", cfg.Redis != "", cfg.Secret != ""), func(b *testing.B) {
			c, err := open(cfg, lenient())
			if err != nil {
				b.Fatal(err)
			}
			for _, e := range entries {
				c.Keep(e.Key, e.Answer)
			}
			written(b, cfg, entries...)
			for b.Loop() {
				c.Get(b.Context(), keys)
			}
			if s := c.Stats(); s.Misses > 0 {
				b.Errorf("stats %+v", s)
			}
			if err := c.Close(b.Context()); err != nil {
				b.Error(err)
			}
		})
	}
}
