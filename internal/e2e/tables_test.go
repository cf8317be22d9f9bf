//go:build unix && !race

package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A table that was built once answers in every worker of the folder.
func TestTablesFromTheFolder(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command(filepath.Join(bin, "worker"), "tables", "build", "--tables", dir, "rotegame").CombinedOutput(); err != nil || !strings.Contains(string(out), "479001600 states, depth 34") {
		t.Fatalf("%v: %s", err, out)
	}
	port := freePort(t)
	natsServer(t, port, t.TempDir())
	startWorker(t, address(port), "--tables", dir)
	boards := ringBoards(41, 50)
	job := jobFile(t, "rotegame-random.txt", ringText(boards))
	answers, _ := submit(t, 0, "--nats", address(port), job)
	checkRings(t, boards, answers)
	explained, _ := submit(t, 0, "--nats", address(port), "--explain", job)
	if n := strings.Count(explained, "method=table"); n != len(boards) {
		t.Errorf("%d of %d answers by table:\n%.2000s", n, len(boards), explained)
	}
	// The worker inside submit has it after its first search, even where it keeps no
	// other tables.
	t.Setenv("ANTIPODE_TABLES_DIR", dir)
	t.Setenv("ANTIPODE_TABLES_MEMORY", "0")
	t.Setenv("ANTIPODE_SLOTS", "1")
	explained, _ = submit(t, 0, "--explain", job)
	if n := strings.Count(explained, "method=table"); n == 0 {
		t.Errorf("no answer by table:\n%.2000s", explained)
	}
}
