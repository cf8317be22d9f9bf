//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"
)

// advised finds the command that a submit advised to go on with.
func advised(t *testing.T, said, verb string) []string {
	t.Helper()
	m := regexp.MustCompile(`: submit (` + verb + ` .*)`).FindStringSubmatch(said)
	if m == nil {
		t.Fatalf("no command to %s: %s", verb, said)
	}
	return strings.Fields(m[1])
}

// interruptedJob breaks a job of ten chunks off while it waits for a worker, and returns
// its file, where its answers were to go, what is right, and what submit said.
func interruptedJob(t *testing.T, url string, sig syscall.Signal) (file, out, want, said string) {
	t.Helper()
	file = jobFile(t, "rotegame-many.txt", ringText(ringBoards(21, 10*ringChunk)))
	out = filepath.Join(t.TempDir(), "out")
	want, _ = submit(t, 0, file)
	p := start(t, "submit", "--nats", url, "--owner", "me", file, "--out", out)
	p.awaits(t, "waits for a worker")
	if status := p.kill(sig); sig == syscall.SIGINT && status != 130 {
		t.Errorf("exit status %d, want 130: %s", status, p.Log())
	}
	return file, out, want, p.Log()
}

// The command that an interrupted submit names writes all answers; before that, the job
// can be looked at.
func TestInterruptedJobIsResumed(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	natsServer(t, port, t.TempDir())
	url := address(port)
	_, out, want, said := interruptedJob(t, url, syscall.SIGINT)
	if got, _ := submit(t, 0, "status", "--nats", url, "--owner", "me"); !strings.Contains(got, "queued") || !strings.Contains(got, "0 of 2560") {
		t.Errorf("status: %s", got)
	}
	startWorker(t, url)
	submit(t, 0, advised(t, said, "resume")...)
	same(t, out, want)
	id := advised(t, said, "cancel")[5]
	if got, _ := submit(t, 0, "status", "--nats", url, "--owner", "me", id); !strings.Contains(got, "finished") || !strings.Contains(got, "2560 of 2560") {
		t.Errorf("status: %s", got)
	}
	submit(t, 2, "status", "--nats", url, id) // of another owner
}

func same(t *testing.T, file, want string) {
	t.Helper()
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s has %d bytes of answers, which are not the %d of an undisturbed run", file, len(got), len(want))
	}
}

// A job whose submit was killed is found by its status, and goes on from where it was.
func TestKilledJobIsResumed(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	natsServer(t, port, t.TempDir())
	url := address(port)
	file, out, want, _ := interruptedJob(t, url, syscall.SIGKILL)
	listed, _ := submit(t, 0, "status", "--nats", url, "--owner", "me")
	id := regexp.MustCompile(`(?m)^(\S+) +queued`).FindStringSubmatch(listed)
	if id == nil {
		t.Fatalf("no queued job: %s", listed)
	}
	startWorker(t, url)
	submit(t, 0, "resume", "--nats", url, "--owner", "me", id[1], file, "--out", out)
	same(t, out, want)
}

// A job does not go on with another file, nor one that nobody knows.
func TestResumeRefusals(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	natsServer(t, port, t.TempDir())
	url := address(port)
	file, _, _, said := interruptedJob(t, url, syscall.SIGINT)
	id := advised(t, said, "cancel")[5]
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "1", "2", 1)
	for _, c := range []struct{ id, text, want string }{
		{id, changed, "has changed"},
		{id, changed + "\n", "bytes"},
		{"unknown", string(text), "no such job"},
		{"no token", string(text), "no job's id"},
	} {
		if _, said := submit(t, 2, "resume", "--nats", url, "--owner", "me", c.id, jobFile(t, "rotegame-many.txt", c.text)); !strings.Contains(said, c.want) {
			t.Errorf("refused with %q, want %q", said, c.want)
		}
	}
	if _, said := submit(t, 2, "resume", id, file); !strings.Contains(said, "--nats") {
		t.Errorf("without an address: %s", said)
	}
	if _, said := submit(t, 2, "resume", "--nats", url, "--owner", "me", id, file, "--out", file); !strings.Contains(said, "written over") {
		t.Errorf("over the job file: %s", said)
	}
}

// A job is cancelled by command: its chunks are dropped. Resumed, it is answered after all.
func TestCancelledJobIsResumed(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	natsServer(t, port, t.TempDir())
	url := address(port)
	_, out, want, said := interruptedJob(t, url, syscall.SIGINT)
	submit(t, 0, advised(t, said, "cancel")...)
	o := newOperator(t, url)
	startWorker(t, url)
	eventually(t, "the chunks are dropped", func() bool { return o.messages(t, "JOBS") == 0 })
	if n := o.messages(t, "RESULTS"); n != 0 {
		t.Errorf("%d results of a cancelled job", n)
	}
	submit(t, 0, advised(t, said, "resume")...)
	same(t, out, want)
	submit(t, 2, "cancel", "--nats", url, "unknown")
}

// A detached job is answered without its submit, and its answers are taken later: of text
// and JSON lines, and of a puzzle that workers fetch.
func TestDetachedJobs(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	natsServer(t, port, t.TempDir())
	url := address(port)
	startWorker(t, url)
	boards, _ := topspinBoards(t, 300)
	lines := `{"id":"a","puzzle":"swap","start":"213456789"}` + "\n" + `{"id":"b","puzzle":"topspin10","start":[2,1,3,4,5,6,7,8,9,10]}` + "\n" + `{"id":"c"}` + "\n"
	for _, c := range []struct {
		file   string
		flags  []string
		status int
	}{
		{jobFile(t, "boards.txt", boards), []string{"--puzzle", topspin, "--explain=false", "--output", "jsonl"}, 0},
		{jobFile(t, "lines.jsonl", lines), []string{"--puzzle", topspin, "--puzzle", "swap", "--want", "moves"}, 1},
		{jobFile(t, "eight-x.txt", "2\n1 0 2 3 4 5 6 7 8\n"+strings.Repeat("9", 200_000)+"\n"), nil, 1}, // one that does not travel
	} {
		want, _ := submit(t, c.status, append(c.flags, c.file)...)
		id, said := submit(t, 0, append(c.flags, "--detach", "--nats", url, c.file)...)
		id = strings.TrimSpace(id)
		eventually(t, "the job is answered", func() bool {
			got, _ := submit(t, 0, "status", "--nats", url, id)
			return strings.Contains(got, "answered\n")
		})
		if got, _ := submit(t, c.status, advised(t, said, "resume")...); got != want {
			t.Errorf("%s:\n%.500s\nwant\n%.500s", c.file, got, want)
		}
	}
}

// What was given up is listed, and tried again.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	url, w, o := exposed(t)
	if _, said := submit(t, 0, "dead", "--nats", url); !strings.Contains(said, "no dead letters") {
		t.Errorf("at first: %s", said)
	}
	bad := &nats.Msg{Subject: "antipode.v1.jobs.express.me.job.3", Data: []byte("2 1 3 7 5 9 8 4 6"), Header: nats.Header{"Puzzle": {"swap"}, "Records": {"1"}, "First-Line": {"-1"}}}
	if _, err := o.PublishMsg(t.Context(), bad); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is given up", func() bool { return o.messages(t, "JOBS") == 0 })
	if got, said := submit(t, 0, "dead", "list", "--nats", url); got != "" || !strings.Contains(said, "--all-owners looks at all") {
		t.Errorf("another owner's list: %s%s", got, said)
	}
	got, _ := submit(t, 0, "dead", "list", "--all-owners", "--nats", url)
	for _, want := range []string{"job/3", "me", "header First-Line"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in the list: %s", want, got)
		}
	}
	if got, _ := submit(t, 0, "status", "--nats", url); !strings.Contains(got, "1 letters") {
		t.Errorf("status: %s", got)
	}
	submit(t, 2, "dead", "retry", "--nats", url)
	submit(t, 1, "dead", "retry", "--owner", "me", "--nats", url, "job/4")
	if _, said := submit(t, 0, "dead", "retry", "--owner", "me", "--nats", url, "job/3"); !strings.Contains(said, "1 chunks are queued") {
		t.Errorf("retried: %s", said)
	}
	eventually(t, "it is given up again", func() bool { return o.messages(t, "JOBS") == 0 && o.messages(t, "DEAD") == 1 })
	unharmed(t, url, w)
}
