package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
)

// cluster is servers that know each other's addresses, and start one by one.
type cluster []*url.URL

// newCluster finds ports for the routes of so many servers.
func newCluster(t *testing.T, servers int) (c cluster) {
	t.Helper()
	for range servers {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		c = append(c, &url.URL{Scheme: "nats", Host: l.Addr().String()})
	}
	return c
}

// start starts the n-th server until the test ends.
func (c cluster) start(t *testing.T, n int) (url string) {
	t.Helper()
	return customServer(t, func(o *natsserver.Options) {
		o.ServerName, o.Routes = fmt.Sprint("server-", n), c
		o.Cluster.Name, o.Cluster.Host, o.Cluster.NoAdvertise = "test", "127.0.0.1", true
		o.Cluster.Port, _ = strconv.Atoi(c[n].Port())
	})
}

// listener collects what is logged.
func listener(said *bytes.Buffer) *slog.Logger { return slog.New(slog.NewTextHandler(said, nil)) }

// A worker that comes before the cluster is complete waits for it, says so once, and
// creates streams that as many servers keep as it was told. A submit creates none.
func TestReplicas(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	first := c.start(t, 0)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	type opened struct {
		q   *Queue
		err error
	}
	var said, told bytes.Buffer
	worker, submit := make(chan opened, 1), make(chan opened, 1)
	go func() {
		q, err := Open(ctx, Config{URL: first, Replicas: 3, Logger: listener(&said)})
		worker <- opened{q, err}
	}()
	second := c.start(t, 1)
	c.start(t, 2)
	w := <-worker
	if w.err != nil {
		t.Fatal(w.err)
	}
	for _, name := range []string{"JOBS", "RESULTS", "DEAD", "KV_antipode"} {
		if c := streamConfig(t, w.q.js, name); c.Replicas != 3 {
			t.Errorf("%s has %d replicas", name, c.Replicas)
		}
	}
	bulk, err := w.q.js.Consumer(ctx, jobsStream, "v1-bulk")
	if err != nil {
		t.Fatal(err)
	}
	if info := bulk.CachedInfo(); info.Cluster == nil || len(info.Cluster.Replicas) != 2 {
		t.Errorf("the consumer is kept by %+v, want a leader and two more", info.Cluster)
	}
	if n := strings.Count(said.String(), "waiting for NATS"); n != 1 {
		t.Errorf("said %d times that it waits, want once: %s", n, &said)
	}

	if err := w.q.js.DeleteStream(ctx, deadStream); err != nil {
		t.Fatal(err)
	}
	go func() {
		q, err := Open(ctx, Config{URL: second, Logger: listener(&told)})
		submit <- opened{q, err}
	}()
	select {
	case s := <-submit:
		t.Fatalf("opened without DEAD: %v", s.err)
	case <-time.After(time.Second):
	}
	if _, err := w.q.js.Stream(ctx, deadStream); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("DEAD: %v, want that it is not there", err)
	}
	if _, err := w.q.ensure(ctx); err != nil {
		t.Fatal(err)
	}
	s := <-submit
	if s.err != nil {
		t.Fatal(s.err)
	}
	if !strings.Contains(told.String(), "in a cluster a worker creates it") {
		t.Errorf("submit does not say what it waits for: %s", &told)
	}
	hangUp(t, s.q)
	hangUp(t, w.q)
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
