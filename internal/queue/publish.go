package queue

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/job"
	"antipode/internal/limit"
)

// refusal is a publish that failed, or of which nothing was heard.
type refusal struct {
	chunk int
	err   error
}

// publish publishes a chunk. What fails later comes by refused; the error ends
// the job.
func (x *run) publish(f *flying) error {
	f.again = time.Time{}
	f.tries++
	_, err := x.js.PublishMsgAsync(encodeChunk(x.lane, f.chunk))
	if err != nil {
		return x.retry(refusal{f.chunk.Number, err})
	}
	return nil
}

func backOff(tries int) time.Duration {
	return min(100*time.Millisecond<<min(tries, 6), 5*time.Second)
}

// publishFailed hears of publishes that failed, or whose ack did not come. No
// more of them can be under way than refused has room for, unless the run is
// over.
func (x *run) publishFailed(_ jetstream.JetStream, m *nats.Msg, err error) {
	tokens := strings.Split(m.Subject, ".")
	n, _ := number(tokens[len(tokens)-1], 0, limit.Number)
	select {
	case x.refused <- refusal{n, err}:
	default:
	}
}

// retry looks at a publish that failed, and tries it again later where that may help.
func (x *run) retry(r refusal) error {
	f := x.chunks[r.chunk]
	if f == nil || f.result != nil {
		return nil
	}
	queued, full, err := refused(f.chunk, r.err)
	if queued || err != nil {
		return err
	}
	if full != "" {
		x.tell(full)
	}
	f.again = time.Now().Add(backOff(f.tries))
	return nil
}

// refused says what a publish that failed means. That the chunk is already queued
// is as good as success; only the description tells that from a full stream. A
// server that cannot for now is to be tried again, and full says why; so is it where
// it is not known what the server has. The error is for what will not change.
func refused(c *job.Chunk, cause error) (queued bool, full string, err error) {
	var api *jetstream.APIError
	switch {
	case errors.As(cause, &api) && strings.Contains(api.Description, "maximum messages per subject"):
		return true, "", nil
	case api != nil && api.Code >= 500:
		return false, "the server takes no chunks: " + api.Description, nil
	case api != nil:
		return false, "", fmt.Errorf("publish chunk %s: %w", c.Name(), cause)
	case errors.Is(cause, nats.ErrMaxPayload):
		return false, "", fmt.Errorf("publish chunk %s of %d bytes: %w", c.Name(), len(c.Payload), cause)
	}
	return false, "", nil
}

// hurry has the first of the chunks that wait after a refusal published at the next tick:
// where JOBS is full, an answer makes room once it is acked.
func (x *run) hurry(now time.Time) {
	var first *flying
	for n, f := range x.chunks {
		if f.result == nil && f.again.After(now) && (first == nil || n < first.chunk.Number) {
			first = f
		}
	}
	if first != nil {
		first.again = now
	}
}
