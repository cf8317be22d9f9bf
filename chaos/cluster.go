//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// cluster is three NATS servers as configs/nats-cluster.conf has them.
type cluster struct {
	*lab
	nodes  [3]*node
	ops    *operator
	routes string // ANTIPODE_ROUTES
}

// node is one of them; its name is what streams call their leader.
type node struct {
	server
	name    string
	monitor string // host:port
}

// cluster starts three servers, and an operator, who must be closed.
func (l *lab) cluster(ctx context.Context) (c *cluster, err error) {
	c = &cluster{lab: l}
	for _, name := range []string{"nats.conf", "nats-cluster.conf"} {
		text, err := os.ReadFile(filepath.Join("configs", name))
		if err == nil {
			err = os.WriteFile(l.path(name), text, 0o600)
		}
		if err != nil {
			return nil, err
		}
	}
	all, err := freeAddresses(3 * len(c.nodes))
	if err != nil {
		return nil, err
	}
	var routes []string
	for i := range c.nodes {
		routes = append(routes, "nats://route:route@"+all[3*i+2])
	}
	list, err := json.Marshal(routes)
	if err != nil {
		return nil, err
	}
	c.routes = string(list)
	for i := range c.nodes {
		if c.nodes[i], err = c.node(ctx, fmt.Sprint("nats-", i+1), all[3*i], all[3*i+1], routes[i]); err != nil {
			return nil, err
		}
	}
	c.ops, err = l.operator(ctx, c.urls("operator:operator@"))
	return c, err
}

// node starts one server, on the product's configuration but for its addresses and
// where it stores.
func (c *cluster) node(ctx context.Context, name, addr, monitor, route string) (*node, error) {
	n := &node{server: server{addr: addr, store: c.path(name)}, name: name, monitor: monitor}
	file := c.path(name + ".conf")
	text := fmt.Sprintf("include nats-cluster.conf\njetstream { store_dir: %q, max_file_store: 8GiB }\n", n.store)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	env := []string{
		"ANTIPODE_NATS_NAME=" + name, "ANTIPODE_ROUTES=" + c.routes, "ANTIPODE_ROUTE_PASSWORD=route",
		"ANTIPODE_WORKER_PASSWORD=worker", "ANTIPODE_OPERATOR_PASSWORD=operator",
	}
	_, port, _ := net.SplitHostPort(addr)
	_, http, _ := net.SplitHostPort(monitor)
	n.launch = func(ctx context.Context) (err error) {
		cmd := c.command(ctx, env, "nats-server", "--config", file, "-a", host, "-p", port, "-m", http, "--cluster", route)
		if n.Process, err = c.start(cmd); err == nil {
			_, err = n.Await(ctx, natsReady)
		}
		return err
	}
	return n, n.launch(ctx)
}

// urls are the addresses of all, each with who comes.
func (c *cluster) urls(who string) string {
	var all []string
	for _, n := range c.nodes {
		all = append(all, "nats://"+who+n.addr)
	}
	return strings.Join(all, ",")
}

// leader is the server that leads RESULTS.
func (c *cluster) leader(ctx context.Context) (lost []*node, err error) {
	err = until(ctx, "the leader of RESULTS", func() (bool, error) {
		info, err := c.ops.info(ctx, "RESULTS")
		if err != nil || info.Cluster == nil {
			return false, err
		}
		for _, n := range c.nodes {
			if n.name == info.Cluster.Leader {
				lost = []*node{n}
			}
		}
		return lost != nil, nil
	})
	return lost, err
}

// whole waits until every server has all that streams hold.
func (c *cluster) whole(ctx context.Context) error {
	return until(ctx, "servers that have caught up", func() (bool, error) {
		for _, name := range []string{"JOBS", "RESULTS", "DEAD", "KV_antipode"} {
			info, err := c.ops.info(ctx, name)
			if err != nil || info.Cluster == nil {
				return false, err
			}
			current := 0
			for _, r := range info.Cluster.Replicas {
				if r.Current && !r.Offline {
					current++
				}
			}
			if current < len(c.nodes)-1 {
				return false, fmt.Errorf("%s is kept by %d more servers", name, current)
			}
		}
		return true, nil
	})
}

// serves tells whether a client of a name is connected to the server.
func (n *node) serves(ctx context.Context, client string) (bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.monitor+"/connz", nil)
	if err != nil {
		return false, err
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return strings.Contains(string(text), client), err
}

// lostServers kills one of three servers, the one that leads RESULTS; when it is back
// the one that submit is connected to; and when that is back, two at once: each time in
// the middle of a job. Programs go on with what is left, and wait where that is one.
func lostServers(ctx context.Context, l *lab) (found result, err error) {
	c, err := l.cluster(ctx)
	if err != nil {
		return found, err
	}
	defer c.ops.close()
	for range 2 {
		if _, err := l.worker(ctx, c.urls("worker:worker@"), "ANTIPODE_NATS_REPLICAS=3"); err != nil {
			return found, err
		}
	}
	const chunks = 100 // of each job
	var stalls []string
	for n, victims := range []func(context.Context) ([]*node, error){c.leader, c.submits, c.majority} {
		j, err := l.job(ctx, mix{seed: 16 + uint64(n), chunks: chunks, searches: 48, depth: 28})
		if err != nil {
			return found, err
		}
		out := fmt.Sprint("out-", n)
		p, err := l.submit(ctx, c.urls(""), j, out, "ANTIPODE_WINDOW_CHUNKS=60")
		if err != nil {
			return found, err
		}
		stall, lost, err := c.lose(ctx, chunks*n+chunks/4, victims)
		if err != nil {
			return found, err
		}
		if err := ended(ctx, p, 0); err != nil {
			return found, err
		}
		if n == 1 && p.Count("NATS went away") == 0 {
			return found, fmt.Errorf("submit lost no connection: %s", p.Log())
		}
		t, err := l.compare(j, out)
		if err != nil {
			return found, err
		}
		found.add(t)
		found.often += lost
		stalls = append(stalls, fmt.Sprintf("%.1f", stall.Seconds()))
	}
	found.note = fmt.Sprintf("more was answered %s and %s s later; of two at once one was back after %.1f s, and more was answered after %s",
		stalls[0], stalls[1], bothGone.Seconds(), stalls[2])
	return found, nil
}

// bothGone is for how long two of three servers are away: longer than the other two
// need to agree, if they could.
const bothGone = ackWait

// lose kills servers when so many chunks are answered, starts those again, and waits
// until they have caught up. It returns after how long yet more was answered: without
// them, as long as two are left; and how many they were.
func (c *cluster) lose(ctx context.Context, chunks int, victims func(context.Context) ([]*node, error)) (stall time.Duration, n int, err error) {
	if err := c.ops.answered(ctx, chunks); err != nil {
		return 0, 0, err
	}
	lost, err := victims(ctx)
	if err != nil {
		return 0, 0, err
	}
	state, err := c.ops.state(ctx, "RESULTS")
	if err != nil {
		return 0, 0, err
	}
	killed := time.Now()
	for _, n := range lost {
		n.Kill()
		c.tell("%s is killed with %d chunks answered", n.name, state.Msgs)
	}
	more := func() error {
		err := c.ops.answered(ctx, int(state.Msgs)+3) // two were in hand
		stall = time.Since(killed)
		return err
	}
	if len(lost) == 1 {
		err = more()
	} else {
		err = pause(ctx, bothGone)
	}
	for _, n := range lost {
		err = errors.Join(err, n.launch(ctx))
	}
	if err == nil && len(lost) > 1 {
		err = more()
	}
	return stall, len(lost), errors.Join(err, c.whole(ctx))
}

// submits is the server that submit is connected to.
func (c *cluster) submits(ctx context.Context) ([]*node, error) {
	for _, n := range c.nodes {
		if yes, err := n.serves(ctx, "antipode submit"); err != nil || yes {
			return []*node{n}, err
		}
	}
	return nil, errors.New("submit is connected to no server")
}

// majority is two servers.
func (c *cluster) majority(context.Context) ([]*node, error) { return c.nodes[:2], nil }
