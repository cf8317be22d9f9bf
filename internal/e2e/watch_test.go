//go:build unix

package e2e

import (
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// posted submits a job that nobody waits for, and returns its id.
func posted(t *testing.T, url, name, text string) (id string) {
	t.Helper()
	id, _ = submit(t, 0, "--detach", "--nats", url, jobFile(t, name, text))
	return strings.TrimSpace(id)
}

// Without a terminal watch prints lines, and with a job it ends with it. The user is one
// without credentials.
func TestWatch(t *testing.T) {
	url := guarded(t)
	settings := jobFile(t, "worker.yaml", "nats: {user: worker, password: work-hush}")
	startWorker(t, url, "--config", settings).kill(syscall.SIGTERM)
	id := posted(t, url, "rotegame-many.txt", ringText(ringBoards(31, 10*ringChunk)))
	all, one := start(t, "submit", "watch", "--nats", url), start(t, "submit", "watch", "--nats", url, id)
	for _, p := range []*process{all, one} {
		p.awaits(t, " workers=0 slots=0/0 bulk=10+0 express=0+0 rate=0/s dead=0")
		p.awaits(t, " job="+id+" state=queued records=0/2560 chunks=0 queued=10 solved=0 unreachable=0 invalid=0 exceeded=0 failed=0 rate=0/s file=\"")
	}
	w := startWorker(t, url, "--config", settings)
	answered := " job=" + id + " state=answered records=2560/2560 chunks=10 queued=0 solved=2560 "
	one.ends(t, 0)
	if last := lastLine(one.Log()); !strings.Contains(last, answered) {
		t.Errorf("the last line is %q", last)
	}
	all.awaits(t, answered)
	all.awaits(t, " workers=1 slots=0/2 bulk=0+0 ")
	const nobody = " workers=0 slots=0/0 "
	before := strings.Count(all.Log(), nobody)
	w.kill(syscall.SIGKILL)
	eventually(t, "the worker is gone", func() bool { return strings.Count(all.Log(), nobody) > before })
	if status := all.kill(syscall.SIGINT); status != 0 {
		t.Errorf("exit status %d of one who leaves: %s", status, all.Log())
	}
	for _, p := range []*process{all, one} {
		if line := regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d (\w+=("[^"]*"|\S+) ?)+$`); len(line.ReplaceAllString(p.Log(), "")) != strings.Count(p.Log(), "\n") {
			t.Errorf("more than lines of key=value: %s", p.Log())
		}
	}
	again, _ := submit(t, 0, "watch", "--nats", url, id)
	if strings.Count(again, "\n") != 2 || !strings.Contains(again, answered) {
		t.Errorf("of a job that is answered: %s", again)
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// The exit status says how a job ended, or that it did not.
func TestWatchEnds(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	natsServer(t, port, t.TempDir())
	url := address(port)
	submit(t, 2, "watch", "--nats", url, "unknown")
	submit(t, 2, "watch", "--nats", url, "two words")
	submit(t, 2, "watch")
	id := posted(t, url, "swap.txt", "2 1 3 7 5 9 8 4 6\n1 2 x 4 5 6 7 8 9\n")
	for sig, status := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		p := start(t, "submit", "watch", "--nats", url, id)
		p.awaits(t, "state=queued")
		if got := p.kill(sig); got != status {
			t.Errorf("exit status %d after %s, want %d: %s", got, sig, status, p.Log())
		}
	}
	closed := command(t, "submit", "watch", "--nats", url)
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in.Close()
	closed.Stdout = out
	p := run(t, closed)
	out.Close()
	p.ends(t, 141)

	p = start(t, "submit", "watch", "--nats", url, id)
	p.awaits(t, "state=queued")
	startWorker(t, url)
	p.ends(t, 1)
	if last := lastLine(p.Log()); !strings.Contains(last, "state=answered records=2/2 chunks=1 queued=0 solved=1 unreachable=0 invalid=1 ") {
		t.Errorf("the last line is %q", last)
	}
	dropped := posted(t, url, "rotegame-many.txt", ringText(ringBoards(32, 100*ringChunk)))
	submit(t, 0, "cancel", "--nats", url, dropped)
	if _, said := submit(t, 3, "watch", "--nats", url, dropped); !strings.Contains(said, "job "+dropped+" was cancelled") {
		t.Errorf("of a job that was cancelled: %s", said)
	}
}

// watch goes on when its server is back, and says that it was away.
func TestWatchSurvivesNATS(t *testing.T) {
	t.Parallel()
	store, port := t.TempDir(), freePort(t)
	server := natsServer(t, port, store)
	url := address(port)
	id := posted(t, url, "rotegame-many.txt", ringText(ringBoards(33, 10*ringChunk)))
	p := start(t, "submit", "watch", "--nats", url, id)
	p.awaits(t, "state=queued")
	server.kill(syscall.SIGKILL)
	p.awaits(t, " nats=away seconds=")
	natsServer(t, port, store)
	startWorker(t, url)
	p.ends(t, 0)
	if last := lastLine(p.Log()); !strings.Contains(last, "state=answered records=2560/2560 ") {
		t.Errorf("the last line is %q", last)
	}
}
