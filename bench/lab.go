package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"antipode/internal/process"
)

// programs are the baselines: single-process programs as they are usually
// written for these puzzles.
//
//go:embed baseline/*.cpp
var programs embed.FS

// compiler and its only option build the baselines.
const (
	compiler = "g++"
	optimize = "-O2"
)

// lab is what the rows share: a folder that goes with the program, the programs
// built into it, and inputs, made when they are asked for first.
type lab struct {
	dir   string
	scale float64
}

// seed is of all inputs that are measured.
const seed = 1

// newLab builds the programs. The lab must be closed.
func newLab(ctx context.Context, scale float64) (*lab, error) {
	if _, err := os.Stat(antipodesFile); err != nil {
		return nil, errors.New("run it in the root of the module: go run ./bench")
	}
	dir, err := os.MkdirTemp("", "antipode-bench-")
	if err != nil {
		return nil, err
	}
	l := &lab{dir: dir, scale: scale}
	if err := process.Build(ctx, dir, "antipode/cmd/submit", "antipode/cmd/worker", "github.com/nats-io/nats-server/v2"); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *lab) close() { os.RemoveAll(l.dir) }

// path is where a file of the lab is.
func (l *lab) path(name string) string { return filepath.Join(l.dir, name) }

// program is where a program of the lab is.
func (l *lab) program(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return l.path(name)
}

// input is a job file.
type input struct {
	path    string
	records int
}

// input returns a job file of some kind, so many records at full scale.
func (l *lab) input(kind string, records int) (input, error) {
	records = scaled(records, l.scale)
	puzzle := "rotegame" // of the antipodes
	if k, ok := kinds[kind]; ok {
		puzzle = k.puzzle
	}
	in := input{l.path(puzzle + "-" + kind + "-" + strconv.Itoa(records) + ".txt"), records}
	if _, err := os.Stat(in.path); err == nil {
		return in, nil
	}
	f, err := os.Create(in.path)
	if err != nil {
		return in, err
	}
	return in, errors.Join(writeInput(f, kind, seed, records), f.Close())
}

func scaled(n int, scale float64) int { return max(1, int(float64(n)*scale)) }

// baseline is a program of the folder baseline, from job file to file of
// answers. It is nil where there is no compiler.
func (l *lab) baseline(ctx context.Context, name string, in input) (*side, error) {
	if _, err := exec.LookPath(compiler); err != nil {
		return nil, nil
	}
	program, answers := l.program("baseline-"+name), l.path("baseline.out")
	if _, err := os.Stat(program); err != nil {
		source := name + ".cpp"
		text, err := programs.ReadFile("baseline/" + source)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(l.path(source), text, 0o600); err != nil {
			return nil, err
		}
		if err := quiet(l.command(ctx, compiler, optimize, "-o", program, l.path(source))); err != nil {
			return nil, err
		}
	}
	return &side{name: name + ".cpp", once: func(ctx context.Context) (trial, error) {
		cmd := l.command(ctx, program)
		stdin, err := os.Open(in.path)
		if err != nil {
			return trial{}, err
		}
		defer stdin.Close()
		stdout, err := os.Create(answers)
		if err != nil {
			return trial{}, err
		}
		defer stdout.Close()
		cmd.Stdin, cmd.Stdout = stdin, stdout
		return whole(cmd, in.records, answers)
	}}, nil
}

// submit is the program submit, from job file to file of answers.
func (l *lab) submit(name string, in input, args ...string) *side {
	answers := l.path(name + ".out")
	args = append(args, "--out", answers, in.path)
	return &side{name: name, once: func(ctx context.Context) (trial, error) {
		return whole(l.command(ctx, l.program("submit"), args...), in.records, answers)
	}}
}

// start measures how long a worker takes until it says that it is ready.
func start(ctx context.Context, l *lab) (baseline, ours *side, err error) {
	return l.started(ctx)
}

// startStored is start with a table that is stored, where workers can.
func startStored(ctx context.Context, l *lab) (baseline, ours *side, err error) {
	folder := "ANTIPODE_TABLES_DIR=" + l.path("tables")
	build := l.command(ctx, l.program("worker"), "tables", "build", "rotegame")
	build.Env = append(build.Env, folder)
	if err := quiet(build); err != nil {
		return nil, nil, declined{err.Error()}
	}
	return l.started(ctx, folder)
}

func (l *lab) started(ctx context.Context, env ...string) (baseline, ours *side, err error) {
	c, err := l.cluster(ctx, 0)
	if err != nil {
		return nil, nil, err
	}
	ours = &side{name: "worker", close: c.stop, once: func(ctx context.Context) (trial, error) {
		cmd := l.command(ctx, l.program("worker"), "--nats", c.url)
		cmd.Env = append(cmd.Env, env...)
		began := time.Now()
		p, _, err := launch(ctx, cmd, workerReady)
		if err != nil {
			return trial{}, err
		}
		ready := time.Since(began).Seconds()
		p.Kill()
		return trial{values: map[string]float64{seconds: ready}}, nil
	}}
	return nil, ours, nil
}

// inside is a measurement of inside.go, in another process of this program.
func (l *lab) inside(what string) *side {
	return &side{name: "in process", once: func(ctx context.Context) (trial, error) {
		self, err := os.Executable()
		if err != nil {
			return trial{}, err
		}
		cmd := l.command(ctx, self, "-inside", what, "-scale", fmt.Sprint(l.scale))
		return reply(cmd)
	}}
}
