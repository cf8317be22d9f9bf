package queue

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A chunk of another wire version is on another subject: JOBS does not take it, and
// where its operator lets it, no worker of this version is given it.
func TestChunksOfAnotherVersion(t *testing.T) {
	s := startServer(t)
	q := connect(t, s.URL(), lenient())
	spec := newSpec()
	next := func(lane Lane) *nats.Msg {
		m := encodeChunk(lane, numbered(spec, 1)[0])
		m.Subject = strings.Replace(m.Subject, ".v1.", ".v2.", 1)
		return m
	}
	if _, err := q.js.PublishMsg(t.Context(), next(Bulk)); !errors.Is(err, jetstream.ErrNoStreamResponse) {
		t.Errorf("published, and no stream is for it: %v", err)
	}
	wide := streamConfig(t, q.js, jobsStream)
	wide.Subjects = []string{"antipode.*.jobs.>"}
	if _, err := q.js.UpdateStream(t.Context(), wide); err != nil {
		t.Fatal(err)
	}
	for _, lane := range []Lane{Bulk, Express} {
		if _, err := q.js.PublishMsg(t.Context(), next(lane)); err != nil {
			t.Fatal(err)
		}
	}
	stop := serve(t, q, 2, 1, echo)
	for _, lane := range []Lane{Bulk, Express} { // what comes after them is answered
		c := numbered(newSpec(), 1)[0]
		push(t, q, lane, c)
		eventually(t, "a chunk of this version is answered", func() bool { return hasResult(t, q, resultSubject(c, 1)) })
	}
	stop()
	if n := messages(t, q, jobsStream); n != 2 {
		t.Errorf("%d chunks are left of the two of another version", n)
	}
	for _, lane := range []Lane{Bulk, Express} {
		c, err := q.consumer(t.Context(), lane)
		if err != nil {
			t.Fatal(err)
		}
		if d := c.CachedInfo().Delivered.Consumer; d != 1 {
			t.Errorf("%s: %d chunks were given out, and one is of this version", lane, d)
		}
	}
	// Who starts now is told what is not as it must be.
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := Open(ctx, Config{URL: s.URL(), Logger: logger(t)})
	if wrong := new(mismatchError); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "subjects is antipode.*.jobs.>, want antipode.v1.jobs.>") {
		t.Errorf("opened on streams that are set up otherwise: %v", err)
	}
}

// hasResult tells whether there is a result on a subject.
func hasResult(t *testing.T, q *Queue, subject string) bool {
	t.Helper()
	s, err := q.js.Stream(t.Context(), resultsStream)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.GetLastMsgForSubject(t.Context(), subject)
	if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
		t.Fatal(err)
	}
	return err == nil
}
