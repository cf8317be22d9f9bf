//go:build unix

package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The samples of all puzzles come back right through programs and servers that
// are processes of their own; so does a job that waits for its worker.
func TestSamples(t *testing.T) {
	port := freePort(t)
	natsServer(t, port, t.TempDir())
	url := address(port)
	first := start(t, "submit", "--nats", url, "../../examples/swap-sample.txt", "--out", filepath.Join(t.TempDir(), "waits.out"))
	startWorker(t, url)
	first.ends(t, 0)
	for file, want := range examples(t) {
		if got, _ := submit(t, 0, "--nats", url, file); got != want {
			t.Errorf("%s:\n%swant\n%s", file, got, want)
		}
	}
	got, _ := submit(t, 0, "--nats", url, "--puzzle", "rotegame", jobFile(t, "boards", "9 9 9 9\n1 2 3 4\n5 6 7 8\n1 9 9 4\n5 9 9 8\n6 2 7 3\n"))
	if got != "2\n1 2\n" {
		t.Errorf("the two rings: %q", got)
	}
}

// A hundred thousand boards come back right, and in order, from two workers. What
// is right says a breadth-first search of the test's own.
func TestManyBoards(t *testing.T) {
	port := freePort(t)
	natsServer(t, port, t.TempDir())
	url := address(port)
	startWorker(t, url)
	startWorker(t, url)

	distance := map[[9]uint8]int{{0, 1, 2, 3, 4, 5, 6, 7, 8}: 0}
	for layer := [][9]uint8{{0, 1, 2, 3, 4, 5, 6, 7, 8}}; len(layer) > 0; {
		var next [][9]uint8
		for _, b := range layer {
			blank := bytes.IndexByte(b[:], 0)
			for _, step := range []struct{ by, x, y int }{{-3, 0, -1}, {3, 0, 1}, {-1, -1, 0}, {1, 1, 0}} {
				if x, y := blank%3+step.x, blank/3+step.y; x < 0 || x > 2 || y < 0 || y > 2 {
					continue
				}
				n := b
				n[blank], n[blank+step.by] = n[blank+step.by], 0
				if _, seen := distance[n]; !seen {
					distance[n] = distance[b] + 1
					next = append(next, n)
				}
			}
		}
		layer = next
	}

	const boards = 100_000
	rng := rand.New(rand.NewPCG(5, 6))
	var in, want strings.Builder
	fmt.Fprintln(&in, boards)
	for range boards {
		var b [9]uint8
		for i, v := range rng.Perm(9) {
			b[i] = uint8(v)
			fmt.Fprint(&in, v, map[bool]string{true: "\n", false: " "}[i%3 == 2])
		}
		d, ok := distance[b]
		if !ok {
			d = -1
		}
		fmt.Fprintln(&want, d)
	}
	got, summary := submit(t, 0, "--nats", url, jobFile(t, "eight-many.txt", in.String()))
	if got != want.String() {
		t.Error("answers differ")
	}
	if !strings.Contains(summary, "100000 records") {
		t.Error(summary)
	}
}

// Nothing is lost and nothing comes twice while workers are killed and stopped
// and the server is killed and comes back.
func TestDeaths(t *testing.T) {
	store, port := t.TempDir(), freePort(t)
	server := natsServer(t, port, store)
	url := address(port)
	boards := ringBoards(7, 23*ringChunk)
	file := jobFile(t, "rotegame-many.txt", ringText(boards))
	undisturbed, _ := submit(t, 0, file)
	checkRings(t, boards, undisturbed)

	killed, stopped := startWorker(t, url), startWorker(t, url)
	out := filepath.Join(t.TempDir(), "out")
	job := start(t, "submit", "--nats", url, "--out", out, file)
	said := func() string {
		text, _ := os.ReadFile(out) // it may not be there yet
		return string(text)
	}
	answered := func(lines int) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d lines of answers", lines), func() bool { return strings.Count(said(), "\n") >= lines })
	}
	answered(2 * ringChunk)
	killed.kill(syscall.SIGKILL)
	startWorker(t, url)
	answered(2 * 3 * ringChunk)
	server.kill(syscall.SIGKILL)
	natsServer(t, port, store)
	answered(2 * 5 * ringChunk)
	if status := stopped.kill(syscall.SIGTERM); status != 0 {
		t.Errorf("a stopped worker: exit status %d", status)
	}
	job.ends(t, 0)
	if said() != undisturbed {
		t.Error("the answers differ from those of an undisturbed run")
	}
}
