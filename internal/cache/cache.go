// Package cache keeps answers by packed state: in the process first, then in
// Redis.
//
// Both are optional and neither is needed: an answer that is not found is
// found again by searching. Answers are facts about a question and never
// change, so nothing is ever invalidated, and whichever copy comes first will
// do.
//
//	Get       process, then one MGET for what is missing
//	Keep      process only, as soon as an answer is known
//	Remember  Redis only, once the chunk is settled: one pipeline, later
//
// A Redis that is absent, slow or wrong costs milliseconds and never an error:
// its values are misses.
package cache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"
)

// Config says where answers are kept. The zero value keeps none.
type Config struct {
	// Bytes bounds what is kept in the process, overhead included; the bound
	// may be passed for a moment while older answers make room. 0 keeps
	// nothing there.
	Bytes int64
	// Redis is the address, host:port, of a standalone server, after rediss:// where
	// it takes TLS; "" is none.
	Redis string
	// Access says who this is to Redis.
	Access Access
	// TTL is how long Redis keeps an answer, in whole milliseconds; 0 is until
	// Redis needs the room.
	TTL time.Duration
	// Secret authenticates the values in Redis. With a secret, a value that
	// was not written under it is a miss. Without one, Redis is trusted: a
	// planted path that replays is believed to be a shortest one.
	Secret string
	// Slots is how many callers of Get there are at once. Each has a connection to
	// Redis when it needs one, and there are limit.RedisSpare besides. 0 is two a
	// core.
	Slots int
	// Queue is how many chunks' answers may wait to be written to Redis; what
	// comes on top is dropped and counted. 0 is 64.
	Queue int
	// Logger hears when Redis is given up and when it is back; nil is silent.
	// The Redis client's own log, of which a process has one, goes at debug
	// level to the Logger of the last Open.
	Logger *slog.Logger
}

// Cache keeps answers. Its methods may be called at once from many goroutines.
type Cache struct {
	local  local
	redis  *remote // nil without Redis
	writes *writer // nil without Redis
	counts counters
}

// Open makes a cache. It neither waits for Redis nor needs it to be there; one
// warning says when it is not. The caller ends it with Close.
func Open(cfg Config) (*Cache, error) { return open(cfg, usual()) }

// open is Open with other limits, for tests: a machine busy with other things
// is no reason to fail, and a Redis that was given up must be tried again soon.
func open(cfg Config, l limits) (*Cache, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	kept, err := newLocal(cfg.Bytes)
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	c := &Cache{local: kept}
	if cfg.Redis != "" {
		if c.redis, err = newRemote(cfg, l, &c.counts); err != nil {
			return nil, fmt.Errorf("cache: %w", err)
		}
		c.writes = newWriter(c.redis, cmp.Or(cfg.Queue, 64), &c.counts)
	}
	return c, nil
}

func (cfg Config) check() error {
	var problems []error
	if cfg.Bytes < 0 {
		problems = append(problems, fmt.Errorf("bytes is %d: want 0 or more", cfg.Bytes))
	}
	if cfg.TTL < 0 || cfg.TTL%time.Millisecond != 0 {
		problems = append(problems, fmt.Errorf("ttl is %v: want whole milliseconds, 0 or more", cfg.TTL))
	}
	if cfg.Redis != "" {
		if _, _, err := net.SplitHostPort(strings.TrimPrefix(cfg.Redis, redisTLS)); err != nil {
			problems = append(problems, fmt.Errorf("redis address: want host:port: %w", err))
		}
	}
	if cfg.Slots < 0 {
		problems = append(problems, fmt.Errorf("slots is %d: want 0 or more", cfg.Slots))
	}
	if cfg.Queue < 0 {
		problems = append(problems, fmt.Errorf("queue is %d: want 0 or more", cfg.Queue))
	}
	return errors.Join(problems...)
}

// Get looks every key up and returns an answer for each, nil where there is
// none. It asks Redis once (once per 4096 keys, where there are more), and not at
// all when the process knows everything or Redis was given up. It never fails: when ctx ends or Redis does not
// answer, what is not known by then is a miss.
//
// Answers are shared with no one. One from Redis is as true as Redis is: the
// caller replays its moves before it trusts them.
func (c *Cache) Get(ctx context.Context, keys []Key) []*Answer {
	found := make([]*Answer, len(keys))
	var missing []int
	for i, k := range keys {
		if found[i] = c.local.get(k); found[i] == nil {
			missing = append(missing, i)
		}
	}
	c.counts.local.Add(uint64(len(keys) - len(missing)))
	misses := len(missing)
	if misses > 0 && c.redis != nil {
		misses -= c.fetch(ctx, keys, missing, found)
	}
	c.counts.misses.Add(uint64(misses))
	return found
}

// fetch fills found from Redis where the indices in missing point, and returns
// how many it found.
func (c *Cache) fetch(ctx context.Context, keys []Key, missing []int, found []*Answer) int {
	hits := 0
	seal := newSeal(c.redis.secret)
	for part := range slices.Chunk(missing, maxKeys) {
		names := make([]string, len(part))
		for j, i := range part {
			names[j] = keys[i].name()
		}
		var garbage []string
		for j, value := range c.redis.get(ctx, names) {
			text, ok := value.(string)
			if !ok {
				continue // not there
			}
			packed, err := seal.open(names[j], text)
			if err != nil {
				c.counts.bad.Add(1)
				if errors.Is(err, errGarbage) {
					garbage = append(garbage, names[j])
				}
				continue
			}
			a := unpack(packed)
			found[part[j]] = &a
			c.local.set(keys[part[j]], packed)
			hits++
		}
		c.writes.add(batch{garbage: garbage})
	}
	c.counts.redis.Add(uint64(hits))
	return hits
}

// Keep makes an answer known to this process at once; nothing leaves it.
// Answers that are not final, or longer than limit.CachedMoves, are not kept.
func (c *Cache) Keep(key Key, a Answer) {
	if a.keepable() {
		c.local.set(key, pack(a))
	}
}

// Entry is an answer under its key.
type Entry struct {
	Key    Key
	Answer Answer
}

// Remember hands a chunk's new answers over to be written to Redis, all in one
// go, and returns at once. They are not put in the process again: Keep did
// that. The cache owns entries from here on. Answers that are not final, or
// longer than limit.CachedMoves, are passed over; after Close, and while as many
// chunks wait as Config.Queue allows, all of them are dropped and counted.
func (c *Cache) Remember(entries []Entry) {
	if c.writes != nil {
		c.writes.add(batch{entries: entries})
	}
}

// Close writes what still waits and lets go of Redis. When ctx ends first, the
// rest is dropped, counted and reported: losing it costs a search, never an
// answer. After Close, Get knows only what the process keeps. Close is called
// once.
func (c *Cache) Close(ctx context.Context) error {
	if c.redis == nil {
		return nil
	}
	if err := errors.Join(c.writes.close(ctx), c.redis.close()); err != nil {
		return fmt.Errorf("close cache: %w", err)
	}
	return nil
}
