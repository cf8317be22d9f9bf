//go:build unix

package main

import (
	"bytes"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// proxy stands between programs and a server, and cuts their connections so that
// what programs said arrives, and what the server answers does not.
type proxy struct {
	addr     string        // host:port
	server   string        // the same
	delay    time.Duration // of all that the server says
	listener net.Listener
	running  sync.WaitGroup
	lost     atomic.Int64 // acks of publishes that were held back

	mu    sync.Mutex
	links map[*link]bool // guarded by mu
	over  bool           // guarded by mu
}

// link is one connection.
type link struct {
	client, server net.Conn
	deaf           atomic.Bool // the client hears nothing any more
}

// newProxy listens on a port of its own. It must be closed.
func newProxy(server string) (*proxy, error) { return newSlowProxy(server, 0) }

// newSlowProxy is newProxy where all that the server says comes late.
func newSlowProxy(server string, delay time.Duration) (*proxy, error) {
	listener, err := net.Listen("tcp", host+":0")
	if err != nil {
		return nil, err
	}
	p := &proxy{addr: listener.Addr().String(), server: server, delay: delay, listener: listener, links: map[*link]bool{}}
	p.running.Go(p.accept)
	return p, nil
}

func (p *proxy) url() string { return "nats://" + p.addr }

func (p *proxy) close() {
	p.listener.Close()
	p.mu.Lock()
	p.over = true
	for k := range p.links {
		k.close()
	}
	p.mu.Unlock()
	p.running.Wait()
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			client.Close()
			continue
		}
		k := &link{client: client, server: server}
		p.mu.Lock()
		if p.over {
			k.close()
		}
		p.links[k] = true
		p.mu.Unlock()
		p.running.Go(func() { p.pass(k, client, server, nil) })
		p.running.Go(func() { p.pass(k, server, client, &k.deaf) })
	}
}

// pass copies one way of a link, and drops what comes while held is set.
func (p *proxy) pass(k *link, from, to net.Conn, held *atomic.Bool) {
	defer func() {
		k.close()
		p.mu.Lock()
		delete(p.links, k)
		p.mu.Unlock()
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if held != nil {
			time.Sleep(p.delay)
		}
		if held != nil && held.Load() {
			p.lost.Add(int64(bytes.Count(buf[:n], []byte(`{"stream":"`)))) // how the ack of a publish begins
			continue
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (k *link) close() {
	k.client.Close()
	k.server.Close()
}

// heardTime is how long what programs say still arrives, before a cut.
const heardTime = 100 * time.Millisecond

// cut cuts all connections: first what comes from the server, then the rest.
func (p *proxy) cut(ctx context.Context) error {
	deaf := p.deafen()
	err := pause(ctx, heardTime)
	for _, k := range deaf {
		k.close()
	}
	return err
}

// deafen lets no client hear any more, and returns their connections.
func (p *proxy) deafen() (all []*link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k := range p.links {
		k.deaf.Store(true)
		all = append(all, k)
	}
	return all
}
