package queue

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/job"
	"antipode/internal/limit"
	"antipode/internal/puzzle"
)

// bucketPrefix stands before a key in the subject of its value.
const bucketPrefix = "$KV." + bucket + "."

// Keys of the bucket.
func definitionKey(hash string) string  { return "puzzle." + hash }
func jobKey(owner, id string) string    { return "job." + owner + "." + id }
func cancelKey(owner, id string) string { return "cancel." + owner + "." + id }
func triesKey(c *job.Chunk) string      { return "tries." + c.Job + "." + strconv.Itoa(c.Number) }

// begin counts that a chunk is begun which was delivered before, and returns how often
// it was begun by then: once, unless it was counted otherwise. Servers of a cluster may
// answer with what was true a moment ago, such as a try that is taken back; so what was
// read counts only where nothing was written since.
func (q *Queue) begin(ctx context.Context, c *job.Chunk) (begun int, err error) {
	begun, revision := 1, uint64(0)
	entry, err := q.kv.Get(ctx, triesKey(c))
	if err == nil {
		revision = entry.Revision()
		if n, err := number(string(entry.Value()), 0, 1<<20); err == nil { // else no count of ours: waiting would not mend it
			begun = n
		}
	}
	next := []byte(strconv.Itoa(begun + 1))
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		_, err = q.kv.Create(ctx, triesKey(c), next)
	case err == nil:
		_, err = q.kv.Update(ctx, triesKey(c), next, revision)
	}
	if err != nil {
		return 0, fmt.Errorf("tries of chunk %s: %w", c.Name(), err)
	}
	return begun, nil
}

// setTries counts how often a chunk was begun.
func (q *Queue) setTries(ctx context.Context, c *job.Chunk, n int) error {
	if _, err := q.kv.PutString(ctx, triesKey(c), strconv.Itoa(n)); err != nil {
		return fmt.Errorf("tries of chunk %s: %w", c.Name(), err)
	}
	return nil
}

// lags are the times after which a key that was not found is asked for again.
var lags = []time.Duration{askAgain, time.Second}

// expected returns the value of a key that is expected to be there. Servers of a cluster
// share in such answers, and one may not have yet what was just stored.
func (q *Queue) expected(ctx context.Context, key string) (entry jetstream.KeyValueEntry, err error) {
	entry, err = q.kv.Get(ctx, key)
	for _, lag := range lags {
		if !errors.Is(err, jetstream.ErrKeyNotFound) || q.nc.ConnectedClusterName() == "" {
			break
		}
		pause(ctx, lag)
		entry, err = q.kv.Get(ctx, key)
	}
	return entry, err
}

// ErrNoDefinition says that the bucket holds no definition of a hash.
var ErrNoDefinition = errors.New("no such definition in the bucket")

// Define stores a puzzle's definition for workers, under the hash of its bytes.
func (q *Queue) Define(ctx context.Context, definition []byte) error {
	hash := puzzle.Hash(definition)
	put := func(ctx context.Context) error {
		_, err := q.kv.Put(ctx, definitionKey(hash), definition)
		return err
	}
	if err := q.ask(ctx, put, bucketPrefix+definitionKey(hash)); err != nil {
		return fmt.Errorf("store definition %s: %w", hash, err)
	}
	return nil
}

// Definition returns a puzzle's definition by the hash of its bytes. The error is
// ErrNoDefinition, or that the bucket could not be read.
func (q *Queue) Definition(ctx context.Context, hash string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	entry, err := q.expected(ctx, definitionKey(hash))
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return nil, fmt.Errorf("definition %s: %w", hash, ErrNoDefinition)
	case err != nil:
		return nil, fmt.Errorf("definition %s: %w", hash, err)
	}
	if puzzle.Hash(entry.Value()) != hash { // it was not Define that stored it
		return nil, fmt.Errorf("definition %s: what is stored under it has another hash: %w", hash, ErrNoDefinition)
	}
	return entry.Value(), nil
}

// Cancel marks a job as cancelled: workers drop its chunks.
func (q *Queue) Cancel(ctx context.Context, owner, id string) error {
	put := func(ctx context.Context) error {
		_, err := q.kv.PutString(ctx, cancelKey(owner, id), time.Now().UTC().Format(time.RFC3339))
		return err
	}
	if err := q.ask(ctx, put, bucketPrefix+cancelKey(owner, id)); err != nil {
		return fmt.Errorf("cancel job %s: %w", id, err)
	}
	return nil
}

// ErrCancelled says that a job was cancelled while it was run. It is the cause of its
// chunks' contexts, too.
var ErrCancelled = errors.New("the job was cancelled")

// cancelledJob reports whether a job is marked as cancelled.
func (q *Queue) cancelledJob(ctx context.Context, owner, id string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := q.kv.Get(ctx, cancelKey(owner, id))
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("is job %s cancelled: %w", id, err)
	}
	return true, nil
}

// cancellations knows the cancelled jobs, and ends the work on their chunks.
type cancellations struct {
	mu   sync.Mutex
	jobs map[string]struct{}                               // by OWNER.JOB, guarded by mu
	old  map[string]struct{}                               // those before jobs was full, guarded by mu
	held map[string]map[*job.Chunk]context.CancelCauseFunc // chunks being answered, guarded by mu
}

// watch follows the bucket until ctx ends. It goes on over a lost connection,
// and starts again where the bucket was lost.
func (s *server) watch(ctx context.Context) {
	for ctx.Err() == nil {
		err := s.watchOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && s.nc.IsConnected() {
			s.doubt("cancelled jobs are not followed; trying again", "error", err)
		}
		pause(ctx, maxReconnect)
		s.mend(ctx)
	}
}

// watchOnce follows the bucket until the server was away: the bucket may be
// another since, and a watch that goes on would wait for its old sequence.
func (s *server) watchOnce(ctx context.Context) error {
	returns := s.returns.Load()
	// The client names this consumer by a hash of 48 bits. It pushes into this
	// connection's inbox and cannot be pulled from, so its name opens nothing.
	w, err := s.kv.Watch(ctx, "cancel.*.*")
	if err != nil {
		return err
	}
	defer w.Stop()
	tick := time.NewTicker(maxReconnect)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if s.returns.Load() != returns {
				return nil
			}
		case entry, ok := <-w.Updates():
			if !ok {
				return errors.New("the watch of the bucket ended")
			}
			if entry != nil { // nil ends what was there before
				s.cancelled.mark(strings.TrimPrefix(entry.Key(), "cancel."), entry.Operation() == jetstream.KeyValuePut)
			}
		}
	}
}

func (c *cancellations) mark(name string, cancelled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !cancelled {
		delete(c.jobs, name)
		delete(c.old, name)
		return
	}
	if len(c.jobs) == limit.KeptCancels/2 {
		c.jobs, c.old = map[string]struct{}{}, c.jobs
	}
	c.jobs[name] = struct{}{}
	for _, cancel := range c.held[name] {
		cancel(ErrCancelled)
	}
}

// hold returns a context for the work on a chunk that ends when its job is
// cancelled, and the function that ends it.
func (c *cancellations) hold(ctx context.Context, chunk *job.Chunk) (context.Context, func()) {
	name := chunk.Owner + "." + chunk.Job
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	_, now := c.jobs[name]
	if _, before := c.old[name]; now || before {
		cancel(ErrCancelled)
	}
	if c.held[name] == nil {
		c.held[name] = map[*job.Chunk]context.CancelCauseFunc{}
	}
	c.held[name][chunk] = cancel
	return ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		cancel(nil)
		delete(c.held[name], chunk)
		if len(c.held[name]) == 0 {
			delete(c.held, name)
		}
	}
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
