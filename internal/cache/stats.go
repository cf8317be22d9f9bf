package cache

import "sync/atomic"

// Stats counts what the cache did since Open. After Close, every keepable
// answer given to Remember is in Written or in Dropped.
type Stats struct {
	LocalHits uint64 // keys answered by the process
	RedisHits uint64 // keys answered by Redis
	Misses    uint64 // keys not answered
	Written   uint64 // answers written to Redis
	Dropped   uint64 // answers meant for Redis and not written: queue full, Redis sick, or closed
	Bad       uint64 // values in Redis that were no answers, or not under our secret
	Errors    uint64 // calls of Redis that failed
	Slow      uint64 // calls of Redis that took longer than they may
	Skipped   uint64 // calls of Redis not made since it was given up
	Refusing  bool   // Redis is read, and takes no writes: it is out of memory, say
	Breaker   string // "closed": Redis is used; "open": it is given up; "half-open": it is on trial; "": there is none
}

// counters is Stats while it is being counted.
type counters struct {
	local, redis, misses  atomic.Uint64
	written, dropped, bad atomic.Uint64
	errors, slow, skipped atomic.Uint64
}

// Stats returns the counts so far. Counts of one call may be read apart.
func (c *Cache) Stats() Stats {
	s := Stats{
		LocalHits: c.counts.local.Load(),
		RedisHits: c.counts.redis.Load(),
		Misses:    c.counts.misses.Load(),
		Written:   c.counts.written.Load(),
		Dropped:   c.counts.dropped.Load(),
		Bad:       c.counts.bad.Load(),
		Errors:    c.counts.errors.Load(),
		Slow:      c.counts.slow.Load(),
		Skipped:   c.counts.skipped.Load(),
	}
	if c.redis != nil {
		s.Breaker = c.redis.breaker.state()
		s.Refusing = c.redis.refusal.stands.Load()
	}
	return s
}
