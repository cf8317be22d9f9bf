//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/process"
)

// What programs log when they are ready.
var (
	workerReady = regexp.MustCompile(`"msg":"ready"`)
	natsReady   = regexp.MustCompile(`Server is ready`)
	redisReady  = regexp.MustCompile(`Ready to accept connections`)
)

// Ports firstPort and up, ports of them, are below what systems give to clients,
// so that nobody sits on a server's port while it is away.
const (
	host             = "127.0.0.1"
	firstPort, ports = 20000, 10000
	portTries        = 10
)

// server is a nats-server or redis-server that is killed and started again on the
// same port.
type server struct {
	*process.Process
	addr   string // host:port
	store  string // folder of its data
	launch func(ctx context.Context) error
}

// anyPort launches a server on a port that is free.
func anyPort(ctx context.Context, s *server, launch func(ctx context.Context, port string) error) (err error) {
	for range portTries {
		port := anyNumber()
		s.addr = host + ":" + port
		s.launch = func(ctx context.Context) error { return launch(ctx, port) }
		if err = s.launch(ctx); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

func anyNumber() string { return strconv.Itoa(firstPort + rand.N(ports)) }

// freeAddresses are such on which nobody is.
func freeAddresses(n int) (all []string, err error) {
	for tries := 0; len(all) < n; tries++ {
		l, err := net.Listen("tcp", net.JoinHostPort(host, anyNumber()))
		if err == nil {
			defer l.Close()
			all = append(all, l.Addr().String())
		} else if tries > portTries*n {
			return nil, err
		}
	}
	return all, nil
}

// nats starts a nats-server with JetStream on a store of its own.
func (l *lab) nats(ctx context.Context, args ...string) (*server, error) {
	store, err := os.MkdirTemp(l.dir, "store-")
	if err != nil {
		return nil, err
	}
	s := &server{store: store}
	return s, anyPort(ctx, s, func(ctx context.Context, port string) (err error) {
		args := append([]string{"-a", host, "-p", port, "-js", "-sd", store}, args...)
		if s.Process, err = l.start(l.command(ctx, nil, "nats-server", args...)); err == nil {
			_, err = s.Await(ctx, natsReady)
		}
		return err
	})
}

// redis starts a redis-server that keeps nothing on disk.
func (l *lab) redis(ctx context.Context, args ...string) (*server, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, fmt.Errorf("redis-server is needed in PATH; 'make redis' installs it: %w", err)
	}
	s := &server{}
	return s, anyPort(ctx, s, func(ctx context.Context, port string) (err error) {
		args := append([]string{"--bind", host, "--port", port, "--save", "", "--appendonly", "no", "--daemonize", "no", "--dir", l.dir}, args...)
		if s.Process, err = l.start(l.command(ctx, nil, program, args...)); err == nil {
			_, err = s.Await(ctx, redisReady)
		}
		return err
	})
}

func (s *server) url() string { return "nats://" + s.addr }

// restart kills the server and starts it on what it has stored.
func (s *server) restart(ctx context.Context) error {
	s.Kill()
	return s.launch(ctx)
}

// wipe kills the server, and starts it without its data.
func (s *server) wipe(ctx context.Context) error {
	s.Kill()
	if err := os.RemoveAll(s.store); err != nil {
		return err
	}
	return s.launch(ctx)
}

// pause makes the server silent: connections to it are accepted, and nothing is
// answered.
func (s *server) pause() error  { return s.Signal(stopSignal) }
func (s *server) resume() error { return s.Signal(continueSignal) }

// flush removes all that a redis-server holds.
func (s *server) flush(ctx context.Context) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if late, ok := ctx.Deadline(); ok {
		conn.SetDeadline(late)
	}
	if _, err := io.WriteString(conn, "FLUSHALL\r\n"); err != nil {
		return err
	}
	reply, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || reply != "+OK\r\n" {
		return fmt.Errorf("FLUSHALL: %q, %v", reply, err)
	}
	return nil
}

// operator is a connection that looks at a server's streams, and does to them what
// operators do.
type operator struct {
	jetstream.JetStream
	nc *nats.Conn
}

// watched starts a NATS server with an operator, who must be closed.
func (l *lab) watched(ctx context.Context) (*server, *operator, error) {
	s, err := l.nats(ctx)
	if err != nil {
		return nil, nil, err
	}
	o, err := l.operator(ctx, s.url())
	return s, o, err
}

// operator connects to a NATS server. It must be closed.
func (l *lab) operator(ctx context.Context, url string) (*operator, error) {
	nc, err := nats.Connect(url, nats.MaxReconnects(-1))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", url, err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		nc.Close()
		return nil, err
	}
	return &operator{js, nc}, nil
}

func (o *operator) close() { o.nc.Close() }

// askTime bounds a call: a server that goes just then, or looks for a leader, says nothing.
const askTime = 2 * time.Second

// state returns what a stream holds.
func (o *operator) state(ctx context.Context, stream string) (jetstream.StreamState, error) {
	info, err := o.info(ctx, stream)
	if err != nil {
		return jetstream.StreamState{}, err
	}
	return info.State, nil
}

// info returns what the server tells of a stream.
func (o *operator) info(ctx context.Context, stream string) (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	s, err := o.Stream(ctx, stream)
	if err != nil {
		return nil, err
	}
	return s.CachedInfo(), nil
}

// lane returns what a consumer of JOBS has given out.
func (o *operator) lane(ctx context.Context, name string) (*jetstream.ConsumerInfo, error) {
	c, err := o.Consumer(ctx, "JOBS", name)
	if err != nil {
		return nil, err
	}
	return c.CachedInfo(), nil
}

// until asks again and again for what gives no sign of its own. An error of ok is
// not the end: the server may be away.
func until(ctx context.Context, what string, ok func() (bool, error)) error {
	for {
		done, err := ok()
		if done && err == nil {
			return nil
		}
		if waited := pause(ctx, pollTime); waited != nil {
			return fmt.Errorf("%s: %w (%v)", what, waited, err)
		}
	}
}
