package queue

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"antipode/internal/job"
	"antipode/internal/natsd"
)

// operator is a connection to a server that has no topology yet.
func operator(t *testing.T, url string) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func streamConfig(t *testing.T, js jetstream.JetStream, name string) jetstream.StreamConfig {
	t.Helper()
	s, err := js.Stream(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return s.CachedInfo().Config
}

func TestTopology(t *testing.T) {
	s := startServer(t)
	connect(t, s.URL(), usual())
	js := operator(t, s.URL())
	for _, want := range []struct {
		name, subjects string
		retention      jetstream.RetentionPolicy
		discard        jetstream.DiscardPolicy
		age            time.Duration
	}{
		{"JOBS", "antipode.v1.jobs.>", jetstream.WorkQueuePolicy, jetstream.DiscardNew, 0},
		{"RESULTS", "antipode.v1.results.>", jetstream.LimitsPolicy, jetstream.DiscardOld, 24 * time.Hour},
		{"DEAD", "antipode.v1.dead.>", jetstream.LimitsPolicy, jetstream.DiscardOld, 7 * 24 * time.Hour},
	} {
		c := streamConfig(t, js, want.name)
		if strings.Join(c.Subjects, " ") != want.subjects || c.Retention != want.retention || c.Discard != want.discard ||
			c.MaxAge != want.age || c.MaxMsgsPerSubject != 1 || c.Storage != jetstream.FileStorage {
			t.Errorf("stream %+v", c)
		}
	}
	if c := streamConfig(t, js, "JOBS"); !c.DiscardNewPerSubject || c.MaxBytes <= 0 {
		t.Errorf("JOBS %+v: a full stream must refuse chunks, and one that it holds", c)
	}
	for name, filter := range map[string]string{"v1-bulk": "antipode.v1.jobs.bulk.>", "v1-express": "antipode.v1.jobs.express.>"} {
		c, err := js.Consumer(t.Context(), "JOBS", name)
		if err != nil {
			t.Fatal(err)
		}
		have := c.CachedInfo().Config
		if have.FilterSubject != filter || have.AckPolicy != jetstream.AckExplicitPolicy || have.AckWait != 10*time.Second ||
			have.MaxDeliver != -1 || len(have.BackOff) != 0 || have.MaxAckPending < 1024 {
			t.Errorf("consumer %+v", have)
		}
	}
	if _, err := js.KeyValue(t.Context(), "antipode"); err != nil {
		t.Error(err)
	}
}

// The embedded server writes no chunks to disk.
func TestEmbeddedTopology(t *testing.T) {
	s, err := natsd.Start(natsd.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	q := connectInside(t, s)
	for _, name := range []string{"JOBS", "RESULTS", "DEAD", "KV_antipode"} {
		if c := streamConfig(t, q.js, name); c.Storage != jetstream.MemoryStorage {
			t.Errorf("%s is on disk", name)
		}
	}
}

// A topology that is there is left alone, with the limits that its operator
// gave it.
func TestOpenAgain(t *testing.T) {
	s := startServer(t)
	q := connect(t, s.URL(), lenient())
	push(t, q, Bulk, numbered(newSpec(), 1)[0])
	c := streamConfig(t, q.js, jobsStream)
	c.MaxBytes = 12345678
	c.Description = "the operator's"
	if _, err := q.js.UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	connect(t, s.URL(), lenient())
	if c := streamConfig(t, q.js, jobsStream); c.MaxBytes != 12345678 || c.Description != "the operator's" {
		t.Errorf("JOBS was changed: %+v", c)
	}
	if n := messages(t, q, jobsStream); n != 1 {
		t.Errorf("%d chunks, want the one that was there", n)
	}
}

// Many programs start at once on a new server.
func TestOpenAtTheSameTime(t *testing.T) {
	s := startServer(t)
	var g errgroup.Group
	queues := make(chan *Queue, 16)
	for range cap(queues) {
		g.Go(func() error {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			q, err := Open(ctx, Config{URL: s.URL(), Logger: logger(t)})
			if err == nil {
				queues <- q
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	close(queues)
	for q := range queues {
		hangUp(t, q)
	}
}

func TestOpenRefusesAnotherTopology(t *testing.T) {
	// The names come first, so that the parts of an error are seen to be of it.
	for _, c := range []struct {
		name  string
		make  func(js jetstream.JetStream) error
		wants []string
	}{
		{"retention", stream(jetstream.StreamConfig{
			Name: "JOBS", Subjects: []string{"antipode.v1.jobs.>"}, Retention: jetstream.LimitsPolicy,
			Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, MaxMsgsPerSubject: 1,
		}), []string{"stream JOBS", "retention is Limits, want WorkQueue"}},
		{"discard", stream(jetstream.StreamConfig{
			Name: "JOBS", Subjects: []string{"antipode.v1.jobs.>"}, Retention: jetstream.WorkQueuePolicy, MaxMsgsPerSubject: 1,
		}), []string{"stream JOBS", "discard is DiscardOld, want DiscardNew", "discard new a subject is false, want true"}},
		{"subjects", stream(jetstream.StreamConfig{
			Name: "RESULTS", Subjects: []string{"elsewhere.>"}, MaxMsgsPerSubject: 1,
		}), []string{"stream RESULTS", "subjects is elsewhere.>, want antipode.v1.results.>"}},
		{"messages a subject", stream(jetstream.StreamConfig{
			Name: "DEAD", Subjects: []string{"antipode.v1.dead.>"},
		}), []string{"stream DEAD", "messages a subject is -1, want 1"}},
		{"ack wait", consumers(func(c *jetstream.ConsumerConfig) { c.AckWait = time.Minute }),
			[]string{"consumer v1-bulk of JOBS", "ack wait is 1m0s, want 10s", "remove it"}},
		{"deliveries", consumers(func(c *jetstream.ConsumerConfig) { c.MaxDeliver = 5 }),
			[]string{"consumer v1-bulk of JOBS", "deliveries is 5, want -1"}},
		{"back-off", consumers(func(c *jetstream.ConsumerConfig) { c.BackOff = []time.Duration{10 * time.Second, time.Minute} }),
			[]string{"consumer v1-bulk of JOBS", "back-off"}},
		{"filter", consumers(func(c *jetstream.ConsumerConfig) { c.FilterSubject = "antipode.v1.jobs.bulk.me.>" }),
			[]string{"consumer v1-bulk of JOBS", "filter is antipode.v1.jobs.bulk.me.>, want antipode.v1.jobs.bulk.>"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startServer(t)
			if err := c.make(operator(t, s.URL())); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			q, err := Open(ctx, Config{URL: s.URL(), Logger: logger(t)})
			if err == nil {
				hangUp(t, q)
				t.Fatal("opened")
			}
			var mismatch *mismatchError
			if !errors.As(err, &mismatch) || ctx.Err() != nil {
				t.Errorf("error %v, want one of a topology that waiting does not mend", err)
			}
			for _, want := range c.wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "; subjects is") {
				t.Errorf("error %q says what does not differ", err)
			}
		})
	}
}

func stream(c jetstream.StreamConfig) func(jetstream.JetStream) error {
	return func(js jetstream.JetStream) error {
		_, err := js.CreateStream(context.Background(), c)
		return err
	}
}

// consumers makes the streams as they must be, and the bulk consumer otherwise.
func consumers(change func(*jetstream.ConsumerConfig)) func(jetstream.JetStream) error {
	return func(js jetstream.JetStream) error {
		q := &Queue{times: usual()}
		for _, c := range q.streams() {
			if err := stream(c)(js); err != nil {
				return err
			}
		}
		c := q.consumerConfig(Bulk)
		change(&c)
		_, err := js.CreateConsumer(context.Background(), jobsStream, c)
		return err
	}
}

// What is removed while nobody looks is there again after the next Open.
func TestOpenCreatesWhatIsMissing(t *testing.T) {
	s := startServer(t)
	q := connect(t, s.URL(), lenient())
	ctx := t.Context()
	if err := q.js.DeleteConsumer(ctx, jobsStream, "v1-express"); err != nil {
		t.Fatal(err)
	}
	if err := q.js.DeleteStream(ctx, deadStream); err != nil {
		t.Fatal(err)
	}
	if err := q.js.DeleteKeyValue(ctx, bucket); err != nil {
		t.Fatal(err)
	}
	again := connect(t, s.URL(), lenient())
	if _, err := again.js.Consumer(ctx, jobsStream, "v1-express"); err != nil {
		t.Error(err)
	}
	streamConfig(t, q.js, deadStream)
	if err := q.Cancel(ctx, "me", job.NewID()); err != nil { // by the one that opened before
		t.Error(err)
	}
}

// A consumer, or all of JOBS, that is removed under a worker is created again,
// and the worker goes on.
func TestServeCreatesWhatIsMissing(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(context.Context, *Queue) error{
		"consumer": func(ctx context.Context, q *Queue) error { return q.js.DeleteConsumer(ctx, jobsStream, "v1-bulk") },
		"stream":   func(ctx context.Context, q *Queue) error { return q.js.DeleteStream(ctx, jobsStream) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t)
			tm := lenient()
			tm.quiet, tm.audit = time.Second, time.Second // what was in JOBS is lost
			q := connect(t, s.URL(), tm)
			var w written
			serve(t, q, 1, 0, echo)
			before := newSpec()
			completes(t, running(t, q, Run{Spec: before, Next: inTurn(numbered(before, 2)), Write: w.write}))
			if err := remove(t.Context(), q); err != nil {
				t.Fatal(err)
			}
			w = written{}
			spec := newSpec()
			completes(t, running(t, q, Run{Spec: spec, Next: inTurn(numbered(spec, 3)), Write: w.write}))
			w.check(t, 3)
		})
	}
}
