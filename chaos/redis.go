//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// sickTarget is how much longer a job of a thousand searches may take with a sick
// Redis than without one.
const sickTarget = 2 * time.Second

// What a worker says of a Redis that it gives up, and of one that takes no writes.
const (
	givenUp  = `"redis is given up for now`
	refusing = `"redis takes no answers for now`
)

// withoutTables makes a worker ready at once: searches are for questions that have
// none.
const withoutTables = "ANTIPODE_TABLES_MEMORY=0"

// sickness is something that a Redis may have.
type sickness struct {
	name  string
	says  string // by each worker, once
	delay time.Duration
	// strike makes a Redis sick; nil where it is late only.
	strike func(ctx context.Context, s *server) error
}

var sicknesses = []sickness{
	{"refusing connections", givenUp, 0, func(_ context.Context, s *server) error {
		s.Kill()
		return nil
	}},
	{"accepting and never answering", givenUp, 0, func(_ context.Context, s *server) error { return s.pause() }},
	{"90 ms late", givenUp, 90 * time.Millisecond, nil},
	{"45 ms late", givenUp, 45 * time.Millisecond, nil},
	{"out of memory", refusing, 0, told("CONFIG SET maxmemory-policy noeviction", "CONFIG SET maxmemory 1mb")},
	{"a replica without its master", givenUp, 0, told("CONFIG SET replica-serve-stale-data no", "REPLICAOF 127.0.0.1 1")},
	{"a replica", refusing, 0, told("REPLICAOF 127.0.0.1 1")},
	{"wanting a password", givenUp, 0, told("CONFIG SET requirepass another")},
	{"forbidding to write", refusing, 0, told("ACL SETUSER default -@write")},
}

// told strikes by commands.
func told(commands ...string) func(context.Context, *server) error {
	return func(ctx context.Context, s *server) error {
		for _, c := range commands {
			if _, err := s.command(ctx, strings.Fields(c)...); err != nil {
				return err
			}
		}
		return nil
	}
}

// searches is a job of a thousand records that are all searched.
func (l *lab) searches(ctx context.Context) (*job, error) {
	return l.job(ctx, mix{seed: 55, chunks: 4, searches: chunkRecords, depth: 14})
}

// sickRedis answers a job with each sickness: as without Redis, hardly later, and
// with one warning.
func sickRedis(ctx context.Context, l *lab) (found result, err error) {
	j, err := l.searches(ctx)
	if err != nil {
		return found, err
	}
	url, err := l.queueFor(ctx)
	if err != nil {
		return found, err
	}
	without, t, err := l.withRedis(ctx, url, j, "", "")
	if err != nil {
		return found, err
	}
	found.add(t)
	worst, of := time.Duration(0), ""
	for _, s := range sicknesses {
		took, t, err := l.withSick(ctx, url, j, s)
		if err != nil {
			return found, fmt.Errorf("redis %s: %w", s.name, err)
		}
		found.add(t)
		found.often++
		if added := took - without; added > worst {
			worst, of = added, s.name
		}
	}
	found.note = fmt.Sprintf("%d records took %.2f s without it, and at the most %.2f s more, with one %s; target < %s",
		j.records, without.Seconds(), worst.Seconds(), of, sickTarget)
	if worst > 10*sickTarget {
		return found, errors.New("that is far too long")
	}
	return found, nil
}

func (l *lab) queueFor(ctx context.Context) (url string, err error) {
	s, err := l.nats(ctx)
	if err != nil {
		return "", err
	}
	return s.url(), nil
}

// withSick answers a job by a worker with a Redis of its own that has a sickness.
func (l *lab) withSick(ctx context.Context, url string, j *job, s sickness) (took time.Duration, t tally, err error) {
	r, err := l.redis(ctx)
	if err != nil {
		return 0, t, err
	}
	defer r.Kill()
	addr := r.addr
	if s.delay > 0 {
		x, err := newSlowProxy(addr, s.delay)
		if err != nil {
			return 0, t, err
		}
		defer x.close()
		addr = x.addr
	}
	if s.strike != nil {
		if err := s.strike(ctx, r); err != nil {
			return 0, t, err
		}
	}
	return l.withRedis(ctx, url, j, addr, s.says)
}

// withRedis answers a job by a worker with a Redis, and returns how long it took.
// The worker must say once what is wrong, and nothing else of Redis.
func (l *lab) withRedis(ctx context.Context, url string, j *job, addr, says string) (took time.Duration, t tally, err error) {
	w, err := l.worker(ctx, url, withoutTables, "ANTIPODE_REDIS_ADDR="+addr)
	if err != nil {
		return 0, t, err
	}
	began := time.Now()
	p, err := l.submit(ctx, url, j, "out")
	if err != nil {
		return 0, t, err
	}
	if err := ended(ctx, p, 0); err != nil {
		return 0, t, err
	}
	took = time.Since(began)
	if err := errors.Join(w.Signal(syscall.SIGTERM), ended(ctx, w, 0)); err != nil {
		return 0, t, err
	}
	warnings := w.Count(`"WARN"`)
	if want := min(1, len(says)); warnings != want || says != "" && w.Count(says) != want {
		return 0, t, fmt.Errorf("%d warnings, want %d with %q: %s", warnings, want, says, w.Log())
	}
	t, err = l.compare(j, "out")
	return took, t, err
}

// A lie is a script that puts something in the place of each answer in Redis, whose
// key is k and whose value is v.
var lies = []struct{ name, script string }{
	{"moves that miss the goal", `redis.call('SET', k, v .. string.char(0))`},
	{"unreachable", `redis.call('SET', k, 'u')`},
	{"answers of other keys", `redis.call('SET', k, values[i % #values + 1])`},
	{"text", `redis.call('SET', k, 'lorem ipsum')`},
	{"nothing", `redis.call('SET', k, '')`},
	{"half an answer", `redis.call('SET', k, 'S' .. string.sub(v, 2, #v / 2))`},
	{"a list", `redis.call('DEL', k) redis.call('RPUSH', k, v)`},
}

// signedLies are told to workers with a secret.
var signedLies = append(lies,
	struct{ name, script string }{"a longer way, unsigned", `redis.call('SET', k, 's' .. string.rep(string.char(0), 8) .. string.sub(v, 2, -17))`},
	struct{ name, script string }{"a longer way under the right one's signature", `redis.call('SET', k, 'S' .. string.rep(string.char(0), 8) .. string.sub(v, 2))`},
	struct{ name, script string }{"the right answer, unsigned", `redis.call('SET', k, 's' .. string.sub(v, 2, -17))`},
	struct{ name, script string }{"unreachable under the signature of an answer", `redis.call('SET', k, 'U' .. string.sub(v, -16))`},
)

// lieTo is the script around a lie. It returns how many answers it replaced. A list
// may still be there, where a worker could not write.
const lieTo = `local keys = redis.call('KEYS', 'antipode:*')
local values = {}
for i, k in ipairs(keys) do values[i] = redis.call('TYPE', k).ok == 'string' and redis.call('GET', k) or 's' end
for i, k in ipairs(keys) do local v = values[i] %s end
return #keys`

var fromCache = regexp.MustCompile(`(\d+) from cache`)

// lyingRedis replaces all answers in Redis by garbage and lies, and asks again:
// none is believed, and all are replaced by the truth.
func lyingRedis(ctx context.Context, l *lab) (found result, err error) {
	j, err := l.searches(ctx)
	if err != nil {
		return found, err
	}
	url, err := l.queueFor(ctx)
	if err != nil {
		return found, err
	}
	for _, c := range []struct {
		secret string
		lies   []struct{ name, script string }
	}{{"", lies}, {"hush", signedLies}} {
		r, err := l.redis(ctx)
		if err != nil {
			return found, err
		}
		env := []string{withoutTables, "ANTIPODE_REDIS_ADDR=" + r.addr, "ANTIPODE_CACHE_SECRET=" + c.secret}
		if _, err := l.cached(ctx, url, j, env, &found.tally); err != nil {
			return found, err
		}
		n, err := l.cached(ctx, url, j, env, &found.tally)
		if err != nil || n < j.records/2 { // a call of a busy machine's Redis may be late
			return found, errors.Join(err, fmt.Errorf("%d of %d answers come from a Redis that has them", n, j.records))
		}
		for _, lie := range c.lies {
			reply, err := r.command(ctx, "EVAL", fmt.Sprintf(lieTo, lie.script), "0")
			if err != nil {
				return found, fmt.Errorf("%s: %w", lie.name, err)
			}
			told, err := strconv.Atoi(reply)
			if err != nil || told < j.records/2 {
				return found, fmt.Errorf("%s answers are in Redis, for %d records", reply, j.records)
			}
			found.often += told
			if n, err := l.cached(ctx, url, j, env, &found.tally); err != nil || n > j.records-told {
				return found, errors.Join(err, fmt.Errorf("%s, secret %q: %d answers were believed", lie.name, c.secret, n))
			}
		}
	}
	return found, nil
}

// cached answers a job by a worker that has no answers yet, and returns how many
// came from Redis, or from an equal question of the job.
func (l *lab) cached(ctx context.Context, url string, j *job, env []string, t *tally) (n int, err error) {
	w, err := l.worker(ctx, url, env...)
	if err != nil {
		return 0, err
	}
	p, err := l.submit(ctx, url, j, "out")
	if err != nil {
		return 0, err
	}
	if err := errors.Join(ended(ctx, p, 0), w.Signal(syscall.SIGTERM), ended(ctx, w, 0)); err != nil {
		return 0, err
	}
	parts, err := p.Await(ctx, fromCache)
	if err != nil {
		return 0, err
	}
	u, err := l.compare(j, "out")
	t.add(u)
	n, _ = strconv.Atoi(parts[0])
	return n, err
}

// command asks a redis-server, and returns its reply, one line without its type.
func (s *server) command(ctx context.Context, words ...string) (string, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if late, ok := ctx.Deadline(); ok {
		conn.SetDeadline(late)
	}
	text := fmt.Sprintf("*%d\r\n", len(words))
	for _, w := range words {
		text += fmt.Sprintf("$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		return "", err
	}
	reply, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || reply[0] == '-' {
		return "", fmt.Errorf("%s: %q, %v", words[0], reply, err)
	}
	return strings.TrimSpace(reply[1:]), nil
}
