//go:build unix

package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"

	"antipode/internal/plain"
)

const topspin = "../../configs/puzzles/topspin10.yaml"

// topspinBoards returns boards of TopSpin with ten discs, some moves from order,
// and their answers by the plain search.
func topspinBoards(t *testing.T, n int) (boards, answers string) {
	t.Helper()
	left, right, turn := make([]int, 10), make([]int, 10), []int{3, 2, 1, 0, 4, 5, 6, 7, 8, 9}
	for i := range 10 {
		left[i], right[i] = (i+1)%10, (i+9)%10
	}
	p := plain.Permutations(10, []string{"L", "R", "T"}, [][]int{left, right, turn})
	goal := []uint8{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	rng := rand.New(rand.NewPCG(10, 10))
	for range n {
		board := goal
		for range rng.IntN(11) {
			board = p.Next(board, rng.IntN(3))
		}
		moves, ok := p.Shortest(board, goal)
		if !ok {
			t.Fatal("no way back")
		}
		boards += strings.Trim(fmt.Sprint(board), "[]") + "\n"
		answers += fmt.Sprintf("%d\n%s\n", len(moves), strings.Join(p.Words(moves), " "))
	}
	return boards, answers
}

// Workers that never saw the file of a definition answer its jobs, as text and as
// JSON lines; one that comes later does, too.
func TestGivenPuzzle(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	natsServer(t, port, t.TempDir())
	url := address(port)
	first := startWorker(t, url)
	boards, want := topspinBoards(t, 300)
	file := jobFile(t, "boards.txt", boards)
	if got, said := submit(t, 0, "--nats", url, "--puzzle", topspin, file); got != want {
		t.Errorf("answers differ from the plain search's: %s", said)
	}
	first.kill(syscall.SIGKILL)
	startWorker(t, url)
	startWorker(t, url)
	if got, said := submit(t, 0, "--nats", url, "--puzzle", topspin, file); got != want {
		t.Errorf("answers of other workers differ: %s", said)
	}
	lines := jobFile(t, "lines.jsonl", `{"id":"x","puzzle":"topspin10","start":[10,1,2,3,4,5,6,7,8,9]}`+"\n")
	if got, _ := submit(t, 0, "--nats", url, "--puzzle", topspin, lines); got != `{"id":"x","line":1,"status":"solved","distance":1,"moves":["L"]}`+"\n" {
		t.Errorf("as JSON: %s", got)
	}
}

// Definitions that strangers plant hurt no worker: each chunk that names one has a
// result that says why.
func TestHostileDefinitions(t *testing.T) {
	t.Parallel()
	url, w, o := exposed(t)
	kv, err := o.KeyValue(t.Context(), "antipode")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{} // by job
	for name, c := range map[string]struct{ text, why string }{
		"large":   {strings.Repeat("# a comment\n", 50_000), "bytes; 16384 are possible"},
		"nested":  {"goal: " + strings.Repeat("[", 8000) + strings.Repeat("]", 8000), "lists in lists"},
		"aliases": {"about: &a x\ngoal: [*a, *a]\n", "aliases"},
		"binary":  {strings.Repeat("\xff\x00", 8000), "not UTF-8"},
		"foreign": {"apiVersion: v1\nkind: Pod\n", "no such key"},
		"moves":   {"cells: 16\nmoves:\n" + strings.Repeat("- {name: a, cycles: (1 2)}\n", 500), "500 moves; 1 to 255 are possible"},
	} {
		sum := sha256.Sum256([]byte(c.text))
		hash := hex.EncodeToString(sum[:])
		if _, err := kv.PutString(t.Context(), "puzzle."+hash, c.text); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		m := &nats.Msg{Subject: "antipode.v1.jobs.bulk.me." + name + ".0", Data: []byte("1 2 3\n"), Header: nats.Header{"Puzzle": {"mine@" + hash}, "Records": {"1"}}}
		if _, err := o.PublishMsg(t.Context(), m); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want[name] = c.why
	}
	eventually(t, "all chunks are settled", func() bool { return o.messages(t, "JOBS") == 0 })
	for name, why := range want {
		if got := o.result(t, name); !strings.HasPrefix(got, "failed: ") || !strings.Contains(got, why) {
			t.Errorf("%s: %.300q, want a failed record with %q", name, got, why)
		}
	}
	unharmed(t, url, w)
}
