//go:build unix

package e2e

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// client connects to a server until the end of the test.
func client(t testing.TB, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// ask asks until a worker is there.
func ask(t testing.TB, nc *nats.Conn, puzzle, record string) string {
	t.Helper()
	for late := time.Now().Add(patience); ; {
		m, err := nc.Request("antipode.v1.solve."+puzzle, []byte(record), time.Second)
		switch {
		case err == nil:
			return m.Header.Get("Nats-Service-Error") + string(m.Data)
		case !errors.Is(err, nats.ErrNoResponders) && !errors.Is(err, nats.ErrTimeout) || time.Now().After(late):
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

const (
	board  = "1 4 2 3 0 5 6 7 8"
	answer = `{"line":1,"status":"solved","distance":2}`
)

// A worker answers questions until it is stopped, and when its server was killed,
// again as soon as that is back.
func TestQuestions(t *testing.T) {
	t.Parallel()
	store, port := t.TempDir(), freePort(t)
	server := natsServer(t, port, store)
	worker := startWorker(t, address(port))
	nc := client(t, address(port))
	for range 3 {
		if got := ask(t, nc, "eight", board); got != answer {
			t.Errorf("answer %s, want %s", got, answer)
		}
		server.kill(syscall.SIGKILL)
		server = natsServer(t, port, store)
	}
	if got := ask(t, nc, "eight", board); got != answer {
		t.Errorf("answer %s, want %s", got, answer)
	}
	if status := worker.kill(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d", status)
	}
	if m, err := nc.Request("antipode.v1.solve.eight", []byte(board), patience); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("without a worker: %v, %v", m, err)
	}
}

// The client that docs/protocol.md shows is docs/solve.py.
func TestClientIsShown(t *testing.T) {
	document, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	client, err := os.ReadFile("../../docs/solve.py")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(document), "```python\n")
	if shown, _, _ = strings.Cut(shown, "```"); shown != string(client) {
		t.Errorf("docs/protocol.md shows\n%s\ndocs/solve.py is\n%s", shown, client)
	}
	if lines := strings.Count(string(client), "\n"); lines >= 40 {
		t.Errorf("%d lines; want fewer than 40", lines)
	}
}

// Python asks with its standard library alone.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("docs/solve.py is not tested: ", err)
		}
		t.Skip("docs/solve.py is not tested: ", err)
	}
	port := freePort(t)
	natsServer(t, port, t.TempDir())
	startWorker(t, address(port))
	ask(t, client(t, address(port)), "eight", board)
	at := strings.TrimPrefix(address(port), "nats://")
	run := func(args ...string) (string, error) {
		cmd := exec.Command(python, append([]string{"-I", "-W", "error"}, args...)...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, c := range []struct{ puzzle, record, want string }{
		{"eight", board, `{"line": 1, "status": "solved", "distance": 2}`},
		{"rotegame", "9 9 9 9\n1 2 3 4\n5 6 7 8\n1 9 9 4\n5 9 9 8\n6 2 7 3\n", `{"line": 1, "status": "solved", "distance": 2, "moves": ["1", "2"]}`},
		{"swap", `{"id": "é", "start": "213456789"}`, `{"id": "\u00e9", "line": 1, "status": "solved", "distance": 1}`},
	} {
		if got, err := run("../../docs/solve.py", at, c.puzzle, c.record); got != c.want+"\n" || err != nil {
			t.Errorf("%s %q: %s, %v; want %s", c.puzzle, c.record, got, err, c.want)
		}
	}
	if got, err := run("../../docs/solve.py", at, "nine", "1"); err == nil || !strings.Contains(got, `Nats-Service-Error: unknown puzzle "nine"`) {
		t.Errorf("an unknown puzzle: %s, %v", got, err)
	}
	if got, err := run("../../docs/solve.py", at, "no.puzzle", "1"); err == nil || !strings.Contains(got, "NATS/1.0 503") {
		t.Errorf("a subject without a worker: %s, %v", got, err)
	}
	const program = `
import sys
sys.path.insert(0, "../../docs")
sys.dont_write_bytecode = True
from solve import solve
print(solve(sys.argv[1], "eight", {"start": [1, 4, 2, 3, 0, 5, 6, 7, 8], "want": "moves"})["moves"])
`
	if got, err := run("-c", program, at); got != "['u', 'l']\n" || err != nil {
		t.Errorf("as a module: %s, %v", got, err)
	}
}

// BenchmarkQuestion is the time of one question that a table answers, the server
// and the worker being processes.
func BenchmarkQuestion(b *testing.B) {
	port := freePort(b)
	natsServer(b, port, b.TempDir())
	startWorker(b, address(port))
	nc := client(b, address(port))
	ask(b, nc, "eight", board)
	var times []time.Duration
	for b.Loop() {
		began := time.Now()
		ask(b, nc, "eight", board)
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	b.ReportMetric(times[len(times)/2].Seconds()*1e3, "median-ms")
	b.ReportMetric(times[len(times)*99/100].Seconds()*1e3, "p99-ms")
}
