package queue

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/job"
)

// An answer outlives that nobody has the stream of results, as while servers of a
// cluster agree on a leader: its chunk is not begun again.
func TestAnswerWithoutStream(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	var begun atomic.Int64
	serve(t, q, 1, 0, func(ctx context.Context, c *job.Chunk) (*job.Result, error) {
		if begun.Add(1) == 1 {
			if err := q.js.DeleteStream(ctx, resultsStream); err != nil {
				t.Error(err)
			}
		}
		return echoed(c), nil
	})
	push(t, q, Bulk, numbered(newSpec(), 2)[0])
	eventually(t, "the chunk is settled", func() bool { return messages(t, q, jobsStream) == 0 })
	if n := messages(t, q, resultsStream); n != 1 || begun.Load() != 1 {
		t.Errorf("%d results, begun %d times; want one, and once", n, begun.Load())
	}
}

// What a server that lags says of tries is not believed: not that none were counted,
// and not a count that was taken back since.
func TestTriesThatChangedMeanwhile(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	chunk := numbered(newSpec(), 1)[0]
	real := q.kv
	for _, now := range []int{0, 3} {
		old, err := real.Get(t.Context(), triesKey(chunk))
		if err := q.setTries(t.Context(), chunk, now); err != nil {
			t.Fatal(err)
		}
		q.kv = lagging{real, old, err}
		if n, err := q.begin(t.Context(), chunk); err == nil {
			t.Errorf("begun %d times, by an old count", n)
		}
		q.kv = real
		if n, err := counted(t, q, chunk); n != now || err != nil {
			t.Errorf("%d tries are counted, %v; want %d", n, err, now)
		}
	}
	if n, err := q.begin(t.Context(), chunk); n != 3 || err != nil {
		t.Errorf("begun %d times, %v; want 3", n, err)
	}
	if n, err := counted(t, q, chunk); n != 4 || err != nil {
		t.Errorf("%d tries are counted, %v; want 4", n, err)
	}
}

// What is said of tries when a chunk is settled has time, however long it took to get
// there.
func TestTriesAreSettledLate(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	s, chunk := &server{Queue: q}, numbered(newSpec(), 1)[0]
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if s.takeBack(over, chunk, 2); !hasTries(t, q, chunk) {
		t.Error("a try was not taken back")
	}
	if s.forget(over, chunk); hasTries(t, q, chunk) {
		t.Error("tries were not forgotten")
	}
}

func hasTries(t *testing.T, q *Queue, c *job.Chunk) bool {
	t.Helper()
	_, err := q.kv.Get(t.Context(), triesKey(c))
	if err != nil && !errors.Is(err, jetstream.ErrKeyNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

// lagging is a bucket that answers with what it had.
type lagging struct {
	jetstream.KeyValue
	entry jetstream.KeyValueEntry
	err   error
}

func (l lagging) Get(context.Context, string) (jetstream.KeyValueEntry, error) { return l.entry, l.err }
