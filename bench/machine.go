package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// fact is a line of the page about where and with what was measured; its value
// is "" where that is not known.
type fact struct{ name, value string }

func (l *lab) machine(ctx context.Context) []fact {
	return []fact{
		{"cores", fmt.Sprint(runtime.NumCPU())},
		{"CPU", field("/proc/cpuinfo", "model name")},
		{"memory", field("/proc/meminfo", "MemTotal")},
		{"kernel", firstLine(ctx, "uname", "-srm")},
		{"filesystem of the stores, inputs and answers", firstLine(ctx, "stat", "-f", "-c", "%T", l.dir)},
	}
}

func (l *lab) versions(ctx context.Context) []fact {
	commit := firstLine(ctx, "git", "rev-parse", "--short=12", "HEAD")
	if firstLine(ctx, "git", "status", "--porcelain", "--untracked-files=no") != "" {
		commit += ", modified"
	}
	cpp := "none found: no baselines"
	if _, err := exec.LookPath(compiler); err == nil {
		cpp = firstLine(ctx, compiler, "--version") + ", " + optimize
	}
	return []fact{
		{"Go", runtime.Version()},
		{"commit", commit},
		{"NATS", firstLine(ctx, l.program("nats-server"), "--version")},
		{"Redis", "not used"},
		{"C++", cpp},
	}
}

// field returns the first value of a name in a file of "name: value" lines, ""
// where there is none.
func field(file, name string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
