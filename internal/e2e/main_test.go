//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// bin holds the programs, built once.
var bin string

// patience bounds what a test waits for.
const patience = 90 * time.Second

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "antipode-e2e-")
	if err == nil {
		bin = dir
		build := exec.Command("go", "build", "-o", dir, "antipode/cmd/submit", "antipode/cmd/worker", "github.com/nats-io/nats-server/v2")
		build.Stderr = os.Stderr
		err = build.Run()
	}
	status := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, "build the programs:", err)
	} else {
		status = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(status)
}

// process is a running program.
type process struct {
	cmd  *exec.Cmd
	log  *log
	gone chan struct{} // closed when it ended
}

// start runs a program until the end of the test.
func start(t testing.TB, name string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(filepath.Join(bin, name), args...), log: &log{grown: make(chan struct{}, 1)}, gone: make(chan struct{})}
	out, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.gone)
		p.log.fill(out)
		p.cmd.Wait()
	}()
	t.Cleanup(func() {
		p.kill(syscall.SIGKILL)
		if t.Failed() {
			t.Logf("%s %v:\n%s", name, args, p.log)
		}
	})
	return p
}

// kill sends a signal and waits for the end; it returns the exit status, -1
// where the signal was the end.
func (p *process) kill(sig syscall.Signal) int {
	p.cmd.Process.Signal(sig)
	<-p.gone
	return p.cmd.ProcessState.ExitCode()
}

// awaits waits until the program has logged a text.
func (p *process) awaits(t testing.TB, text string) {
	t.Helper()
	late := time.After(patience)
	for !strings.Contains(p.log.String(), text) {
		select {
		case <-p.log.grown:
		case <-p.gone:
			t.Fatalf("ended without %q: %s", text, p.log)
		case <-late:
			t.Fatalf("no %q: %s", text, p.log)
		}
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

// log keeps what a program says.
type log struct {
	mu    sync.Mutex
	text  bytes.Buffer  // guarded by mu
	grown chan struct{} // holds one while someone has not seen the last of it
}

func (l *log) fill(r io.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		l.mu.Lock()
		l.text.Write(buf[:n])
		l.mu.Unlock()
		select {
		case l.grown <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
