package queue

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/puzzle"
)

// cluster is three servers of configs/nats-cluster.conf: the ports of their routes.
type cluster []string

func newCluster(t *testing.T) (c cluster) {
	t.Helper()
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		c = append(c, port)
	}
	t.Setenv("ANTIPODE_ROUTE_PASSWORD", "route-hush")
	t.Setenv("ANTIPODE_ROUTES", `["nats://route:route-hush@127.0.0.1:`+strings.Join(c, `", "nats://route:route-hush@127.0.0.1:`)+`"]`)
	return c
}

// start starts the n-th server until the test ends.
func (c cluster) start(t *testing.T, n int) (url string) {
	t.Helper()
	t.Setenv("ANTIPODE_NATS_NAME", "server-"+strconv.Itoa(n))
	return serverOf(t, "../../configs/nats-cluster.conf", func(o *natsserver.Options) {
		o.Cluster.Host = "127.0.0.1"
		o.Cluster.Port, _ = strconv.Atoi(c[n])
	})
}

// asOperator is a server's address with the operator's password.
func asOperator(url string) string {
	return strings.Replace(url, "nats://", "nats://operator:operate-hush@", 1)
}

// listener collects what is logged.
func listener(said *bytes.Buffer) *slog.Logger { return slog.New(slog.NewTextHandler(said, nil)) }

// opened is what Open returned.
type opened struct {
	q   *Queue
	err error
}

// opening opens a queue that comes by a channel.
func opening(t *testing.T, cfg Config, said *bytes.Buffer) <-chan opened {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cfg.Logger = listener(said)
	ch := make(chan opened, 1)
	go func() {
		q, err := open(ctx, cfg, lenient())
		ch <- opened{q, err}
	}()
	return ch
}

// A worker that comes before the cluster is complete waits for it, says so once, and
// creates streams that as many servers keep as it was told. A submit creates none.
func TestReplicas(t *testing.T) {
	c := newCluster(t)
	first := c.start(t, 0)
	var said, told bytes.Buffer
	working := asWorker(first)
	working.Replicas = 3
	worker := opening(t, working, &said)
	submit := opening(t, asSubmit(c.start(t, 1)), &told)
	select {
	case o := <-worker:
		t.Fatalf("opened without a cluster: %v", o.err)
	case o := <-submit:
		t.Fatalf("opened without a worker: %v", o.err)
	default:
	}
	third := c.start(t, 2)
	w := <-worker
	if w.err != nil {
		t.Fatal(w.err)
	}
	defer hangUp(t, w.q)
	for _, name := range []string{"JOBS", "RESULTS", "DEAD", "KV_antipode"} {
		if c := streamConfig(t, w.q.js, name); c.Replicas != 3 {
			t.Errorf("%s has %d replicas", name, c.Replicas)
		}
	}
	lane, err := w.q.js.Consumer(t.Context(), jobsStream, "v1-bulk")
	if err != nil {
		t.Fatal(err)
	}
	if info := lane.CachedInfo(); info.Cluster == nil || len(info.Cluster.Replicas) != 2 {
		t.Errorf("the consumer is kept by %+v, want a leader and two more", info.Cluster)
	}
	if n := strings.Count(said.String(), "waiting for NATS"); n != 1 {
		t.Errorf("said %d times that it waits, want once: %s", n, &said)
	}
	s := <-submit
	if s.err != nil {
		t.Fatal(s.err)
	}
	defer hangUp(t, s.q)

	// A stream that is gone is for workers to create, and so it is kept as they were told.
	if err := operator(t, asOperator(third)).DeleteStream(t.Context(), deadStream); err != nil {
		t.Fatal(err)
	}
	if _, err := s.q.ensure(t.Context()); !errors.Is(err, errLeftToWorkers) {
		t.Errorf("submit ensures DEAD: %v, want that it waits", err)
	}
	if _, err := w.q.ensure(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := s.q.ensure(t.Context()); err != nil {
		t.Error(err)
	}

	// A server that has not yet what was just stored is asked again.
	definition := []byte("about: nothing\n")
	if err := s.q.Define(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	real := s.q.kv
	s.q.kv = &late{KeyValue: real}
	if got, err := s.q.Definition(t.Context(), puzzle.Hash(definition)); err != nil || !bytes.Equal(got, definition) {
		t.Errorf("definition %q, %v", got, err)
	}
	s.q.kv = real

	// A job, over all three servers and as the roles allow.
	serve(t, w.q, 1, 0, echo)
	var got written
	spec := publicSpec()
	completes(t, running(t, s.q, Run{Spec: spec, Next: inTurn(numbered(spec, 3)), Write: got.write}))
	got.check(t, 3)
}

// late is a bucket that lacks a key when it is first asked for one.
type late struct {
	jetstream.KeyValue
	asked bool
}

func (l *late) Get(ctx context.Context, key string) (jetstream.KeyValueEntry, error) {
	if !l.asked {
		l.asked = true
		return nil, jetstream.ErrKeyNotFound
	}
	return l.KeyValue.Get(ctx, key)
}

// What exists is left alone, and it is said that it is less than was asked for.
func TestFewerReplicas(t *testing.T) {
	s := startServer(t)
	connect(t, s.URL(), usual())
	var said bytes.Buffer
	q, err := Open(t.Context(), Config{URL: s.URL(), Replicas: 3, Logger: listener(&said)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	hangUp(t, q)
	if n := strings.Count(said.String(), "nats stream edit JOBS --replicas 3"); n != 1 {
		t.Errorf("the remedy was said %d times, want once: %s", n, &said)
	}
}

// A server that is in no cluster never takes replicas: that ends the worker, and says
// which setting it is.
func TestReplicasWithoutCluster(t *testing.T) {
	s := startServer(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := Open(ctx, Config{URL: s.URL(), Replicas: 3, Logger: logger(t)})
	if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "nats.replicas is 3") {
		t.Errorf("error %v, want one of the setting, at once", err)
	}
}
