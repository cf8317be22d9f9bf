//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	programs "antipode/internal/process"
)

// bin holds the programs, built once.
var bin string

// patience bounds what a test waits for.
const patience = 90 * time.Second

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "antipode-e2e-")
	if err == nil {
		bin = dir
		err = programs.Build(context.Background(), dir, "antipode/cmd/submit", "antipode/cmd/worker", "github.com/nats-io/nats-server/v2")
	}
	status := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		status = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(status)
}

// process is a running program.
type process struct{ *programs.Process }

// start runs a program until the end of the test.
func start(t testing.TB, name string, args ...string) *process {
	t.Helper()
	return run(t, command(t, name, args...))
}

// command is a program that was built, with the settings of this environment.
func command(t testing.TB, name string, args ...string) *exec.Cmd {
	cmd := programs.Command(context.Background(), t.TempDir(), filepath.Join(bin, name), args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	return cmd
}

// run starts a program, which the end of the test kills.
func run(t testing.TB, cmd *exec.Cmd) *process {
	t.Helper()
	p, err := programs.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("%v:\n%s", cmd.Args, p.Log())
		}
	})
	return &process{p}
}

// kill sends a signal and waits for the end; it returns the exit status, -1
// where the signal was the end.
func (p *process) kill(sig syscall.Signal) int {
	p.Signal(sig)
	<-p.Gone()
	return p.State().ExitCode()
}

// awaits waits until the program has logged a text.
func (p *process) awaits(t testing.TB, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := p.Await(ctx, regexp.MustCompile(regexp.QuoteMeta(text))); err != nil {
		t.Fatalf("%v: %s", err, p.Log())
	}
}

// natsServer starts a nats-server on a folder that outlives it, and returns its
// address.
func natsServer(t testing.TB, port int, store string) *process {
	t.Helper()
	p := start(t, "nats-server", "-a", "127.0.0.1", "-p", fmt.Sprint(port), "-js", "-sd", store)
	p.awaits(t, "Server is ready")
	return p
}

func address(port int) string { return fmt.Sprintf("nats://127.0.0.1:%d", port) }

// freePort returns a port that nobody listens on.
func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// startWorker starts a worker and waits until it is ready.
func startWorker(t testing.TB, url string, args ...string) *process {
	t.Helper()
	p := start(t, "worker", append([]string{"--nats", url, "--slots", "1"}, args...)...)
	p.awaits(t, `"ready"`)
	return p
}

// submit runs submit to its end and returns its answers and its summary. It
// demands an exit status.
func submit(t *testing.T, status int, args ...string) (answers, summary string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "submit"), args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != status {
		t.Fatalf("submit %v: exit status %d, want %d: %s", args, got, status, &stderr)
	}
	return stdout.String(), stderr.String()
}

// jobFile writes a job file.
func jobFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// examples are the samples with their expected answers.
func examples(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../examples/*")
	if err != nil || len(files) < 6 {
		t.Fatalf("examples: %v %v", files, err)
	}
	want := map[string]string{}
	for _, f := range files {
		base := strings.TrimSuffix(filepath.Base(f), filepath.Ext(f))
		text, err := os.ReadFile(filepath.Join("../../testdata/examples", base+".out"))
		if err != nil {
			t.Fatal(err)
		}
		want[f] = string(text)
	}
	return want
}

// ringChunk is how many questions of Rotegame make a chunk.
const ringChunk = 256

// ringBoards returns so many questions of Rotegame, two boards of three rows.
func ringBoards(seed uint64, records int) [][2][12]int {
	rng := rand.New(rand.NewPCG(seed, 1))
	all := make([][2][12]int, records)
	for i := range all {
		for side := range all[i] {
			copy(all[i][side][:], rng.Perm(12))
		}
	}
	return all
}

func ringText(all [][2][12]int) string {
	var b strings.Builder
	for _, pair := range all {
		for _, board := range pair {
			for i, v := range board {
				fmt.Fprint(&b, v+1, map[bool]string{true: "\n", false: " "}[i%4 == 3])
			}
		}
	}
	return b.String()
}

// checkRings replays answers, two lines each, by the rule of the puzzle.
func checkRings(t *testing.T, all [][2][12]int, answers string) {
	t.Helper()
	from := map[string][12]int{
		"1": {4, 0, 1, 3, 8, 5, 2, 7, 9, 10, 6, 11},
		"2": {0, 2, 3, 7, 4, 1, 6, 11, 8, 5, 9, 10},
	}
	lines := bufio.NewScanner(strings.NewReader(answers))
	for i, pair := range all {
		if !lines.Scan() {
			t.Fatalf("%d answers to %d records", i, len(all))
		}
		count := lines.Text()
		lines.Scan()
		moves := strings.Fields(lines.Text())
		board := pair[0]
		for _, m := range moves {
			p, ok := from[m]
			if !ok {
				t.Fatalf("answer %d: move %q", i+1, m)
			}
			var next [12]int
			for cell := range next {
				next[cell] = board[p[cell]]
			}
			board = next
		}
		if count != fmt.Sprint(len(moves)) || board != pair[1] {
			t.Fatalf("answer %d: %s moves %v do not lead to the goal", i+1, count, moves)
		}
	}
	if lines.Scan() {
		t.Fatalf("more than %d answers: %q", len(all), lines.Text())
	}
}
