package cache

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// refusal remembers that Redis takes no writes, and is well otherwise: out of
// memory, say. Answers are read as before, and writes are left alone for a while.
// It logs once when that begins and once when it ends.
//
// It is the writer's, but for stands.
type refusal struct {
	log    *slog.Logger
	retry  time.Duration
	until  time.Time   // when to try again
	stands atomic.Bool // the last write was refused
}

// holds tells whether a write is not worth a call yet.
func (r *refusal) holds() bool { return r.stands.Load() && time.Now().Before(r.until) }

// hear learns what became of a write that Redis answered; refused is nil where it
// was taken.
func (r *refusal) hear(refused error) {
	r.until = time.Now().Add(r.retry)
	switch before := r.stands.Swap(refused != nil); {
	case refused != nil && !before:
		r.log.Warn("redis takes no answers for now: they are still read", "error", refused, "retry", r.retry)
	case refused == nil && before:
		r.log.Info("redis takes answers again")
	}
}

// refuses tells whether an error is Redis saying that it takes no writes: its
// memory is full, its disk fails, it is a replica or lacks one, or the user may
// only read.
func refuses(err error) bool {
	return err != nil && (redis.IsOOMError(err) || redis.IsReadOnlyError(err) || redis.IsNoReplicasError(err) ||
		redis.IsPermissionError(err) || redis.HasErrorPrefix(err, "MISCONF "))
}
