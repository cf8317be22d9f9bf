// Package queue carries chunks from submitters to workers and results back,
// through NATS JetStream. It alone knows streams, subjects and headers.
//
//	topology.go  the streams, the consumers, the key-value bucket
//	wire.go      chunks and results as messages: wire version 1
//	run.go       a submitter's job: publish under a window, take results in order
//	publish.go   a chunk on its way to JOBS, and what a refusal means
//	results.go   following results; the audit that repairs every loss
//	post.go      a job that nobody waits for
//	entry.go     what the bucket knows of a job; jobs.go shows it with what is answered
//	serve.go     a worker's slots
//	settle.go    what becomes of a delivered chunk
//	observe.go   what is counted of it
//	dead.go      chunks that were given up, published again
//	kv.go        tries, and cancelled jobs
//	service.go   workers as a micro service
//	question.go  single questions
//	workers.go   which workers there are; doing.go what they do
//	watch.go     all of that, followed: watch_poll.go asks, watch_follow.go reads, watch_ledger.go counts
//	access.go    who this is to the server
//	refused.go   what the server does not permit
package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/secret"
)

// Config says how to reach a server.
type Config struct {
	URL string // of a server, or several with commas between them
	// InProcess is a server inside this process; it is used instead of URL, its
	// streams are kept in memory, and results are purged once they are written.
	InProcess interface{ InProcessConn() (net.Conn, error) }
	// Replicas is how many servers of a cluster keep what this program creates; with 0
	// it creates nothing in a cluster, and waits until another did.
	Replicas int
	Access   Access
	Inbox    string // the prefix of answers' subjects, SubmitInbox or WorkerInbox; "" is NATS's own
	Name     string // of the client, for the server's listings
	Logger   *slog.Logger
}

// Queue is a connection to a server whose topology is as it must be.
type Queue struct {
	log      *slog.Logger
	nc       *nats.Conn
	js       jetstream.JetStream
	kv       jetstream.KeyValue
	embedded bool
	replicas int
	few      sync.Once             // that existing streams have fewer replicas is said once
	closed   chan struct{}         // closed with the connection
	stops    sync.WaitGroup        // consumers that are being stopped
	returns  atomic.Int64          // how often the server came back
	away     atomic.Pointer[error] // why the last attempt to connect failed
	inbox    string                // the prefix of answers' subjects
	refused  refusals
	times    times
	counters counters
}

const (
	callTimeout  = 5 * time.Second // of one request to JetStream
	maxReconnect = 2 * time.Second // between two attempts
)

// times says how long a Queue waits for what.
type times struct {
	ackWait  time.Duration // a chunk is silent so long: it is given to another worker
	progress time.Duration // between two reports of progress
	again    time.Duration // half of the first time for which a chunk is put off
	quiet    time.Duration // nothing came for so long: Waiting is told
	audit    time.Duration // nothing came for so long: the job is compared with what the server has
	define   time.Duration // after so long a job's definitions are stored again, before the bucket forgets them
}

func usual() times {
	return times{ackWait: 10 * time.Second, progress: 3 * time.Second, again: time.Second, quiet: 5 * time.Second, audit: 30 * time.Second, define: kvAge / 4}
}

// Open connects to a server and ensures the topology. Until ctx ends it waits
// for a server that is away, and says so once.
func Open(ctx context.Context, cfg Config) (*Queue, error) { return open(ctx, cfg, usual()) }

// open is Open with other times, for tests.
func open(ctx context.Context, cfg Config, t times) (*Queue, error) {
	q := &Queue{
		log: cfg.Logger, embedded: cfg.InProcess != nil, replicas: cfg.Replicas, closed: make(chan struct{}), times: t,
		inbox: cmp.Or(cfg.Inbox, strings.TrimSuffix(nats.InboxPrefix, ".")),
	}
	access, err := cfg.Access.options()
	if err != nil {
		return nil, err
	}
	opts := append(access,
		nats.Name(cfg.Name),
		nats.MaxReconnects(-1),
		nats.RetryOnFailedConnect(true),
		nats.IgnoreAuthErrorAbort(), // start decides that; later, who was let in once may be again
		nats.CustomInboxPrefix(q.inbox),
		nats.CustomReconnectDelay(reconnectDelay),
		nats.Timeout(2*time.Second),
		nats.PingInterval(10*time.Second),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				q.log.Warn("NATS went away; waiting for it", "server", secret.Redact(cfg.URL), "error", err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			q.returns.Add(1)
			q.refused.turn(false)
			q.log.Info("NATS is back", "server", nc.ConnectedUrlRedacted())
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { q.away.Store(&err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { q.hear(err) }),
		nats.ClosedHandler(func(*nats.Conn) { close(q.closed) }),
	)
	if cfg.InProcess != nil {
		opts = append(opts, nats.InProcessServer(cfg.InProcess))
	}
	nc, err := nats.Connect(cfg.URL, opts...)
	if err != nil {
		if bad := (*url.Error)(nil); errors.As(err, &bad) {
			err = bad.Err // without the address, which may hold a password
		}
		return nil, fmt.Errorf("connect to NATS at %s: %w", secret.Redact(cfg.URL), err)
	}
	q.nc = nc
	if err := q.start(ctx, secret.Redact(cfg.URL)); err != nil {
		nc.Close()
		<-q.closed
		return nil, err
	}
	return q, nil
}

// start ensures the topology, as soon as the server answers. A server that does
// not let this user in, or do what is needed, ends it at once.
func (q *Queue) start(ctx context.Context, server string) error {
	js, err := jetstream.New(q.nc, jetstream.WithDefaultTimeout(callTimeout))
	if err != nil {
		return fmt.Errorf("use JetStream: %w", err)
	}
	q.js = js
	for said := false; ; {
		if q.nc.IsConnected() {
			if q.kv, err = q.ensure(ctx); err == nil {
				return nil
			}
			if lasting(err) {
				return fmt.Errorf("NATS at %s: %w", server, err)
			}
		} else {
			err = q.whyAway()
			if refused := refusedCredentials(err); refused != nil {
				return fmt.Errorf("NATS at %s refuses the credentials: %w; set nats.user, nats.token, nats.nkey or nats.creds", server, refused)
			}
		}
		if !said && err != errAway {
			q.log.Warn("waiting for NATS", "server", server, "error", err)
			said = true
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("NATS at %s: %w", server, err)
		case <-time.After(reconnectDelay(1)):
		}
	}
}

// errAway says that no attempt to connect has ended yet.
var errAway = errors.New("not connected")

// whyAway says why there is no connection yet. The client tells of credentials
// that are refused only at the first attempt; later they are its last error.
func (q *Queue) whyAway() error {
	if err := q.nc.LastError(); refusedCredentials(err) != nil {
		return err
	}
	if err := q.away.Load(); err != nil {
		return *err
	}
	return errAway
}

// reconnectDelay is short at first, jittered, and bounded.
func reconnectDelay(attempts int) time.Duration {
	d := min(100*time.Millisecond<<min(attempts, 8), maxReconnect)
	return d/2 + rand.N(d/2)
}

// Close waits until what was sent has left, and closes the connection. It waits
// no longer than ctx lasts.
func (q *Queue) Close(ctx context.Context) error {
	var err error
	if q.nc.IsConnected() {
		err = q.nc.FlushWithContext(ctx)
	}
	q.nc.Close()
	<-q.closed
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		q.stops.Wait()
	}()
	select {
	case <-stopped:
	case <-ctx.Done():
	}
	if errors.Is(err, nats.ErrConnectionClosed) {
		return nil
	}
	return err
}
