// Package natsd runs a NATS server with JetStream inside this process.
package natsd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Config says how the server runs. The zero value is a server without a port,
// for this process alone, whose store goes with it.
type Config struct {
	Port  int    // on 127.0.0.1; 0 is none, -1 any that is free
	Store string // a folder that is kept; "" is one that is removed at the end
}

// Server is a running server.
type Server struct {
	server *server.Server
	store  string // to remove; "" if kept
	inside bool   // it has no port
}

// startTime bounds the start.
const startTime = 10 * time.Second

// Start starts a server and waits until it is ready.
func Start(cfg Config) (_ *Server, err error) {
	s := &Server{inside: cfg.Port == 0}
	dir := cfg.Store
	if dir == "" {
		if dir, err = os.MkdirTemp("", "antipode-nats-"); err != nil {
			return nil, fmt.Errorf("embedded NATS: %w", err)
		}
		s.store = dir
	}
	s.server, err = server.NewServer(&server.Options{
		ServerName: "antipode", Host: "127.0.0.1", Port: cfg.Port, DontListen: cfg.Port == 0,
		JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true,
	})
	if err == nil {
		err = s.start()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("embedded NATS: %w", err), s.Stop())
	}
	return s, nil
}

// start starts the server and waits for it, no longer than for what it cannot do
// without.
func (s *Server) start() error {
	failed := make(lastWords, 1)
	s.server.SetLogger(failed, false, false)
	s.server.Start()
	for deadline := time.Now().Add(startTime); time.Now().Before(deadline); {
		if s.server.ReadyForConnections(startTime / 100) {
			return nil
		}
		select {
		case reason := <-failed:
			return errors.New(reason)
		default:
		}
	}
	return errors.New("not ready in time; is there room in the folder for temporary files?")
}

// lastWords takes the first fatal error of a server, which would end a program of
// its own, and nothing else.
type lastWords chan string

func (w lastWords) Fatalf(format string, args ...any) {
	select {
	case w <- fmt.Sprintf(format, args...):
	default:
	}
}

func (lastWords) Noticef(string, ...any) {}
func (lastWords) Warnf(string, ...any)   {}
func (lastWords) Errorf(string, ...any)  {}
func (lastWords) Debugf(string, ...any)  {}
func (lastWords) Tracef(string, ...any)  {}

// InProcessConn returns a connection to the server that leaves no process.
func (s *Server) InProcessConn() (net.Conn, error) { return s.server.InProcessConn() }

// URL is the address of a server with a port.
func (s *Server) URL() string { return s.server.ClientURL() }

// Stop ends the server, waits for it, and removes its store unless it is kept.
func (s *Server) Stop() error {
	if s.server != nil {
		if s.inside {
			// Otherwise Shutdown tells pull requests that it comes, and waits 50 ms
			// for them to hear of it. Those of this process have ended, or end with
			// their connection.
			s.server.DisableJetStream() // its only error is one of clusters
		}
		s.server.Shutdown()
		s.server.WaitForShutdown()
	}
	if s.store == "" {
		return nil
	}
	return os.RemoveAll(s.store)
}
