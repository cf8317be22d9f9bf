//go:build unix

package e2e

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// eventually asks again and again for what gives no sign of its own.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so after %s: %s", patience, what)
		}
	}
}

// ends waits for the end of a program by itself, and wants this exit status.
func (p *process) ends(t *testing.T, status int) {
	t.Helper()
	select {
	case <-p.Gone():
	case <-time.After(patience):
		t.Fatalf("no end after %s: %s", patience, p.Log())
	}
	if got := p.State().ExitCode(); got != status {
		t.Errorf("exit status %d, want %d: %s", got, status, p.Log())
	}
}

// operator looks at a server's streams.
type operator struct{ jetstream.JetStream }

func newOperator(t *testing.T, url string) operator {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return operator{js}
}

// result returns the result of the first chunk of a job of the owner me, "" where
// there is none.
func (o operator) result(t *testing.T, job string) string {
	t.Helper()
	s, err := o.Stream(t.Context(), "RESULTS")
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.GetLastMsgForSubject(t.Context(), "antipode.v1.results.me."+job+".0.1")
	if err != nil {
		return ""
	}
	return string(m.Data)
}

func (o operator) messages(t *testing.T, stream string) int {
	t.Helper()
	s, err := o.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	return int(s.CachedInfo().State.Msgs)
}

// A job that cannot be resumed, since it comes from a pipe, is cancelled when it is
// interrupted while it waits: the worker that comes drops its chunks without a result, and
// goes on with other jobs.
func TestInterruptedPipeIsCancelled(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	natsServer(t, port, t.TempDir())
	url := address(port)
	lines := make(chan string, 10)
	p := producing(t, strings.NewReader(ringText(ringBoards(11, 10*ringChunk))), lines, "--nats", url, "--puzzle", "rotegame", "-")
	p.awaits(t, "waits for a worker")
	o := newOperator(t, url)
	if n := o.messages(t, "JOBS"); n != 10 {
		t.Fatalf("%d chunks are queued, want 10", n)
	}
	if status := p.kill(syscall.SIGINT); status != 130 {
		t.Errorf("exit status %d, want 130: %s", status, p.Log())
	}
	startWorker(t, url)
	eventually(t, "the chunks are dropped", func() bool { return o.messages(t, "JOBS") == 0 })
	if n := o.messages(t, "RESULTS"); n != 0 {
		t.Errorf("%d results of a cancelled job", n)
	}
	if got, _ := submit(t, 0, "--nats", url, jobFile(t, "swap.txt", "2 1 3 7 5 9 8 4 6\n")); got != "4\n" {
		t.Errorf("the next job: %q", got)
	}
}

// When submit is killed, what it had queued is answered all the same, and the
// workers go on.
func TestSubmitDies(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	natsServer(t, port, t.TempDir())
	url := address(port)
	p := start(t, "submit", "--nats", url, jobFile(t, "rotegame-many.txt", ringText(ringBoards(12, 10*ringChunk))), "--out", filepath.Join(t.TempDir(), "out"))
	p.awaits(t, "waits for a worker")
	p.kill(syscall.SIGKILL)
	o := newOperator(t, url)
	startWorker(t, url)
	eventually(t, "the chunks are answered", func() bool { return o.messages(t, "JOBS") == 0 })
	if n := o.messages(t, "RESULTS"); n != 10 {
		t.Errorf("%d results, want 10", n)
	}
	if got, _ := submit(t, 0, "--nats", url, jobFile(t, "swap.txt", "2 1 3 7 5 9 8 4 6\n")); got != "4\n" {
		t.Errorf("the next job: %q", got)
	}
}

// Programs may be started before their server.
func TestServerComesLast(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	url := address(port)
	out := filepath.Join(t.TempDir(), "out")
	w := start(t, "worker", "--nats", url)
	p := start(t, "submit", "--nats", url, "--puzzle", "swap", "--out", out, jobFile(t, "boards", "2 1 3 7 5 9 8 4 6\n"))
	w.awaits(t, "waiting for NATS")
	p.awaits(t, "waiting for NATS")
	natsServer(t, port, t.TempDir())
	p.ends(t, 0)
	if status := w.kill(syscall.SIGTERM); status != 0 {
		t.Errorf("worker: exit status %d", status)
	}
}

// Messages that are no chunks, and chunks that cannot be answered, do not hold
// up a worker or what is queued behind them; the worker lives.
func TestHostileMessages(t *testing.T) {
	t.Parallel()
	url, w, o := exposed(t)
	hostile := []*nats.Msg{
		{Subject: "antipode.v1.jobs.bulk.x", Data: []byte("no chunk")},
		{Subject: "antipode.v1.jobs.express.me.job.zero", Data: []byte("no chunk")},
		{Subject: "antipode.v1.jobs.express.me.empty.0"},
		{Subject: "antipode.v1.jobs.express.me.truncated.0", Data: []byte("1 2 3"), Header: nats.Header{"Puzzle": {"rotegame"}}},
		{Subject: "antipode.v1.jobs.express.me.unknown.0", Data: []byte("1 2 3"), Header: nats.Header{"Puzzle": {"../../etc/passwd"}, "Records": {"1"}}},
		{Subject: "antipode.v1.jobs.express.me.hash.0", Data: []byte("1 2 3"), Header: nats.Header{"Puzzle": {"mine@00ff"}, "Records": {"3"}}},
		{Subject: "antipode.v1.jobs.express.me.headers.0", Data: []byte("1 2 3"), Header: nats.Header{"Records": {"3"}, "First-Line": {"-1"}, "Format": {"text/99"}}},
		{Subject: "antipode.v1.jobs.express.me.binary.0", Data: []byte(strings.Repeat("\x00\xff{[\n", 30_000)), Header: nats.Header{"Format": {"jsonl"}}},
		{Subject: "antipode.v1.jobs.express.me.deep.0", Data: []byte(strings.Repeat("[", 500_000)), Header: nats.Header{"Format": {"jsonl"}}},
		{Subject: "antipode.v1.jobs.express.me.many.0", Data: []byte("1"), Header: nats.Header{"Puzzle": {"eight"}, "Records": {"65536"}}},
	}
	for _, m := range hostile {
		if _, err := o.PublishMsg(t.Context(), m); err != nil {
			t.Fatalf("%s: %v", m.Subject, err)
		}
	}
	eventually(t, "all messages are settled", func() bool { return o.messages(t, "JOBS") == 0 })
	if n := o.messages(t, "DEAD"); n != 3 { // the nameless, and the one with bad headers
		t.Errorf("%d dead letters, want 3", n)
	}
	for job, want := range map[string]string{"unknown": "unknown puzzle", "hash": "mine@00ff\" names no puzzle", "truncated": "invalid: ", "headers": "header First-Line", "binary": `"status":"invalid"`, "deep": `"status":"invalid"`, "many": "has 1"} {
		if got := o.result(t, job); !strings.Contains(got, want) {
			t.Errorf("%s: %.300q, want a result with %q", job, got, want)
		}
	}
	unharmed(t, url, w)
}

// exposed starts a server and one worker, for messages of strangers.
func exposed(t *testing.T) (url string, w *process, o operator) {
	t.Helper()
	port := freePort(t)
	natsServer(t, port, t.TempDir())
	url = address(port)
	return url, startWorker(t, url), newOperator(t, url)
}

// unharmed demands that a worker still answers, and stops when it is told.
func unharmed(t *testing.T, url string, w *process) {
	t.Helper()
	if got, _ := submit(t, 0, "--nats", url, jobFile(t, "swap.txt", "2 1 3 7 5 9 8 4 6\n")); got != "4\n" {
		t.Errorf("a good job: %q", got)
	}
	if status := w.kill(syscall.SIGTERM); status != 0 {
		t.Errorf("worker: exit status %d", status)
	}
}

// producing runs submit on what a producer says, and passes its answers on line
// by line.
func producing(t *testing.T, in io.Reader, lines chan<- string, args ...string) *process {
	t.Helper()
	cmd := command(t, "submit", args...)
	stdout, there, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = there
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := run(t, cmd)
	there.Close() // submit has its own
	go func() {
		defer stdin.Close()
		io.Copy(stdin, in)
	}()
	go func() {
		defer stdout.Close()
		for s := bufio.NewScanner(stdout); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return p
}

// A job goes on while its server is away for a while, by the same folder, and
// what its producer sends meanwhile is answered.
func TestServerIsAwayForAWhile(t *testing.T) {
	t.Parallel()
	store, port := t.TempDir(), freePort(t)
	server := natsServer(t, port, store)
	url := address(port)
	startWorker(t, url)
	in, producer := io.Pipe()
	lines := make(chan string, 10)
	p := producing(t, in, lines, "--nats", url, "--puzzle", "swap", "-")
	say := func(record string) {
		t.Helper()
		if _, err := io.WriteString(producer, record); err != nil {
			t.Fatal(err)
		}
	}
	hear := func(want string) {
		t.Helper()
		select {
		case got := <-lines:
			if got != want {
				t.Fatalf("answer %q, want %q", got, want)
			}
		case <-time.After(patience):
			t.Fatalf("no answer: %s", p.Log())
		}
	}
	say("2 1 3 7 5 9 8 4 6\n")
	hear("4")
	server.kill(syscall.SIGKILL)
	p.awaits(t, "NATS went away")
	say("9 8 7 6 5 4 3 2 1\n")
	natsServer(t, port, store)
	hear("16")
	say("1 2 3 4 5 9 7 8 6\n")
	hear("1")
	producer.Close()
	p.ends(t, 0)
}
