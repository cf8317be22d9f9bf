package cache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"antipode/internal/limit"
)

// limits says how long Redis may take for what.
type limits struct {
	dial  time.Duration // to accept a connection
	io    time.Duration // for one write or one read of a socket
	slow  time.Duration // for a call that still counts as a success
	retry time.Duration // how long it is left alone once it is given up
}

// usual returns the limits that Open sets. They keep the worst call, one that
// has to connect to a server that accepts and says nothing, well under a
// second; the client's own would let it block for a minute and more. A host that is
// gone costs tripFailures times dial until it is given up; what does not answer by
// then was lost, and is sent again after a second only. slow is a
// little under io: a Redis that keeps every caller waiting that long costs more
// than it saves.
func usual() limits {
	return limits{
		dial:  300 * time.Millisecond,
		io:    50 * time.Millisecond,
		slow:  40 * time.Millisecond,
		retry: 5 * time.Second,
	}
}

// call bounds a whole call: connect, greet (a write and a read), ask (the same),
// and as much again as one of them to wait for a free connection.
func (l limits) call() time.Duration { return l.dial + 5*l.io }

// maxKeys is how many keys one call of Redis may name. At 1 ms for a thousand,
// measured with both ends on two busy cores, such a call stays far from
// the limits, and does not keep Redis from its other clients for long.
const maxKeys = 4096

// remote is the part of the cache that is in Redis. No method returns an error
// that a caller could do anything about: they are counted here.
type remote struct {
	client  *redis.Client
	breaker *breaker
	refusal refusal // of writes
	counts  *counters
	secret  string
	ttl     time.Duration
	timeout time.Duration // of one call
}

func newRemote(cfg Config, l limits, counts *counters) (*remote, error) {
	encrypted, err := cfg.Access.tls(cfg.Redis)
	if err != nil {
		return nil, err
	}
	log := cfg.Logger.With("redis", cfg.Redis)
	redis.SetLogger(clientLog{log})
	return &remote{
		client: redis.NewClient(&redis.Options{
			Addr:                  strings.TrimPrefix(cfg.Redis, redisTLS),
			Username:              cfg.Access.User,
			Password:              string(cfg.Access.Password),
			TLSConfig:             encrypted,
			DialTimeout:           l.dial,
			DialerRetries:         1, // attempts, not retries
			ReadTimeout:           l.io,
			WriteTimeout:          l.io,
			PoolTimeout:           l.io,
			PoolSize:              cmp.Or(cfg.Slots, 2*runtime.GOMAXPROCS(0)) + limit.RedisSpare,
			PipelinePoolSize:      -1, // none; 0 would be ten more
			MaxRetries:            -1, // none; 0 would be three
			ContextTimeoutEnabled: true,
			DisableIdentity:       true,
			MaintNotificationsConfig: &maintnotifications.Config{
				Mode: maintnotifications.ModeDisabled,
			},
		}),
		breaker: newBreaker(log, l),
		refusal: refusal{log: log, retry: l.retry},
		counts:  counts,
		secret:  cfg.Secret,
		ttl:     cfg.TTL,
		timeout: l.call(),
	}, nil
}

// get reads at most maxKeys names with one command. The result has a string for
// each name that Redis knows and nil for the others; it is empty when Redis
// gave none.
func (r *remote) get(ctx context.Context, names []string) (values []any) {
	r.do(ctx, func(ctx context.Context) (err error) {
		values, err = r.client.MGet(ctx, names...).Result()
		return err
	})
	return values[:min(len(values), len(names))]
}

// set writes at most maxKeys entries with one pipeline, each with its own
// lifetime, and reports whether Redis took them all.
func (r *remote) set(ctx context.Context, entries []Entry) bool {
	seal := newSeal(r.secret)
	return r.write(ctx, func(ctx context.Context) error {
		_, err := r.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, e := range entries {
				name := e.Key.name()
				p.Set(ctx, name, seal.close(name, pack(e.Answer)), r.ttl)
			}
			return nil
		})
		return err
	})
}

// unlink deletes at most maxKeys names with one command.
func (r *remote) unlink(ctx context.Context, names []string) {
	r.write(ctx, func(ctx context.Context) error { return r.client.Unlink(ctx, names...).Err() })
}

// write makes one call that writes, unless Redis takes none for now, and reports
// whether it was taken. That Redis refuses it is no reason to give Redis up, nor to
// take it back.
func (r *remote) write(ctx context.Context, call func(context.Context) error) bool {
	if r.refusal.holds() {
		r.counts.skipped.Add(1)
		return false
	}
	var refused error
	answered := r.do(ctx, func(ctx context.Context) error {
		err := call(ctx)
		if refuses(err) && r.breaker.state() == "closed" {
			refused, err = err, nil
		}
		return err
	})
	if !answered {
		return false
	}
	r.refusal.hear(refused)
	if refused != nil {
		r.counts.errors.Add(1)
	}
	return refused == nil
}

// ping tells whether Redis is there; the breaker logs it when it is not.
func (r *remote) ping(ctx context.Context) {
	r.do(ctx, func(ctx context.Context) error { return r.client.Ping(ctx).Err() })
}

// do makes one call through the breaker, counts what became of it, and reports
// whether it succeeded, be it late.
func (r *remote) do(ctx context.Context, call func(context.Context) error) bool {
	err := r.breaker.do(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, r.timeout)
		defer cancel()
		return call(ctx)
	})
	switch {
	case err == nil:
		return true
	case errors.Is(err, errSlow):
		r.counts.slow.Add(1)
		return true
	case errors.Is(err, errGivenUp):
		r.counts.skipped.Add(1)
	default:
		r.counts.errors.Add(1)
	}
	return false
}

func (r *remote) close() error { return r.client.Close() }

// clientLog takes the client's own log. It repeats for every connection what
// the breaker says once, so it is for debugging only.
type clientLog struct{ log *slog.Logger }

func (l clientLog) Printf(ctx context.Context, format string, args ...any) {
	if l.log.Enabled(ctx, slog.LevelDebug) {
		l.log.DebugContext(ctx, fmt.Sprintf(format, args...))
	}
}
