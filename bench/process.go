package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"antipode/internal/process"
)

// command is a program that ends with ctx, and whose temporary files go with the lab.
func (l *lab) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	return process.Command(ctx, l.dir, name, args...)
}

// quiet runs a program to its end; its error is the first line it says.
func quiet(cmd *exec.Cmd) error {
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return failed(cmd, err, said.String())
	}
	return nil
}

// failed is the error of a program, with the first line it said.
func failed(cmd *exec.Cmd, err error, said string) error {
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	if line == "" {
		line = err.Error()
	}
	name := filepath.Base(cmd.Path)
	return fmt.Errorf("%s: %s", name, strings.TrimPrefix(line, name+": "))
}

// whole measures a program from start to exit.
func whole(cmd *exec.Cmd, records int, answers string) (trial, error) {
	began := time.Now()
	if err := quiet(cmd); err != nil {
		return trial{}, err
	}
	took := time.Since(began).Seconds()
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	t := trial{answers: answers, values: map[string]float64{seconds: took, eachMilli: took * 1e3 / float64(records), processor: used.Seconds()}}
	if mb, ok := peakMB(cmd.ProcessState); ok {
		t.values[peak] = mb
	}
	return t, nil
}

// replied is what another process of this program says: values, or why there
// are none.
type replied struct {
	Values   map[string]float64 `json:"values,omitempty"`
	Declined string             `json:"declined,omitempty"`
}

// reply runs another process of this program.
func reply(cmd *exec.Cmd) (trial, error) {
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := quiet(cmd); err != nil {
		return trial{}, err
	}
	var r replied
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return trial{}, err
	}
	if r.Declined != "" {
		return trial{}, declined{r.Declined}
	}
	if mb, ok := peakMB(cmd.ProcessState); ok {
		r.Values[peak] = mb
	}
	return trial{values: r.Values}, nil
}

// What programs log when they are ready.
var (
	workerReady = regexp.MustCompile(`"msg":"ready"`)
	natsReady   = regexp.MustCompile(`Server is ready`)
	natsListens = regexp.MustCompile(`Listening for client connections on (\S+)`)
)

// launch starts a program and waits until it has logged what is awaited; it returns
// what the parts of the expressions matched.
func launch(ctx context.Context, cmd *exec.Cmd, awaited ...*regexp.Regexp) (p *process.Process, matched []string, err error) {
	if p, err = process.Start(cmd); err != nil {
		return nil, nil, err
	}
	for _, a := range awaited {
		parts, err := p.Await(ctx, a)
		if err != nil {
			p.Kill()
			return nil, nil, err
		}
		matched = append(matched, parts...)
	}
	return p, matched, nil
}

// cluster is a nats-server, with a store of its own, and workers.
type cluster struct {
	url       string
	processes []*process.Process
}

// cluster starts a server and so many workers, which cache nothing.
func (l *lab) cluster(ctx context.Context, workers int, args ...string) (_ *cluster, err error) {
	c := &cluster{}
	defer func() {
		if err != nil {
			c.stop()
		}
	}()
	store, err := os.MkdirTemp(l.dir, "store-")
	if err != nil {
		return nil, err
	}
	server := l.command(ctx, l.program("nats-server"), "-a", "127.0.0.1", "-p", "-1", "-js", "-sd", store)
	p, address, err := launch(ctx, server, natsListens, natsReady)
	if err != nil {
		return nil, err
	}
	c.processes = append(c.processes, p)
	c.url = "nats://" + address[0]
	for range workers {
		cmd := l.command(ctx, l.program("worker"), append([]string{"--nats", c.url}, args...)...)
		cmd.Env = append(cmd.Env, "ANTIPODE_CACHE_MODE=none")
		p, _, err := launch(ctx, cmd, workerReady)
		if err != nil {
			return nil, err
		}
		c.processes = append(c.processes, p)
	}
	return c, nil
}

func (c *cluster) stop() {
	for _, p := range c.processes {
		p.Kill()
	}
	c.processes = nil
}

// firstLine is what a program says on its first line, "" where it cannot be run.
func firstLine(ctx context.Context, name string, args ...string) string {
	out, _ := exec.CommandContext(ctx, name, args...).Output()
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line)
}
