package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// eleven is a definition of the fewest cells whose table is kept in a file; half of
// its states can be reached.
const eleven = `about: Turn eleven, or three of them.
cells: 11
moves: [{name: a, cycles: (1 2 3 4 5 6 7 8 9 10 11)}, {name: b, cycles: (1 2 3)}]
goal: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
example: 2 3 1 4 5 6 7 8 9 10 11
`

// called is the outcome of a command.
type called struct {
	status         int
	stdout, stderr string
}

// call runs the program in this process.
func call(t *testing.T, args ...string) (c called) {
	t.Helper()
	errs, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer errs.Close()
	var out bytes.Buffer
	c.status = run(context.Background(), args, make(chan os.Signal), &out, errs)
	text, err := os.ReadFile(errs.Name())
	if err != nil {
		t.Fatal(err)
	}
	return called{c.status, out.String(), string(text)}
}

// is demands an exit status and texts.
func (c called) is(t *testing.T, status int, stdout, stderr string) {
	t.Helper()
	if c.status != status || !strings.Contains(c.stdout, stdout) || !strings.Contains(c.stderr, stderr) || (stdout == "") != (c.stdout == "") || (stderr == "") != (c.stderr == "") {
		t.Errorf("exit status %d, want %d\nstdout: %swant: %s\nstderr: %swant: %s", c.status, status, c.stdout, stdout, c.stderr, stderr)
	}
}

func definition(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A folder of tables from its first day: built, listed, checked, damaged, mended.
func TestTables(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "tables")
	file := definition(t, "turns.yaml", eleven)
	call(t, "tables", "list", "--tables", dir).is(t, exitFailed, "", "no such file")
	call(t, "tables", "build", "--tables", dir, file).is(t, 0, "-none.table (turns): 19958400 states, depth ", "")
	call(t, "tables", "build", "--tables", dir, file).is(t, 0, "-none.table (turns) is up to date\n", "")
	call(t, "--tables", dir, "tables", "list").is(t, 0, "-none.table  turns   11     19958400  ", "")
	call(t, "tables", "verify", "--tables", dir).is(t, 0, "-none.table is ok by its checksum; name", "")
	call(t, "tables", "verify", "--tables", dir, file).is(t, 0, "-none.table is ok\n", "")
	call(t, "tables", "verify", "--tables", dir, "rotegame").is(t, exitFailed, "is missing; 'worker tables build' makes it", "1 of 1 tables are no good")

	paths, err := filepath.Glob(filepath.Join(dir, "*.table"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("%v, %v", paths, err)
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	put := func(path string, text []byte) {
		t.Helper()
		os.Remove(path) // it may be mapped
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text[5000] ^= 1
	put(paths[0], text)
	call(t, "tables", "verify", "--tables", dir).is(t, exitFailed, "is damaged: its checksum differs", "1 of 1 tables are no good")
	call(t, "tables", "verify", "--tables", dir, file).is(t, exitFailed, "is damaged: its checksum differs", "1 of 1 tables are no good")
	put(paths[0], text[:9000])
	call(t, "tables", "list", "--tables", dir).is(t, 0, "refused: is cut: 9000 of ", "")
	call(t, "tables", "build", "--tables", dir, file).is(t, 0, "(turns): 19958400 states", "; making it anew")
	text[5000] ^= 1
	put(filepath.Join(dir, "0123.table"), text)
	call(t, "tables", "list", "--tables", dir).is(t, 0, "0123.table                                   refused: is of another puzzle", "")
	call(t, "tables", "verify", "--tables", dir).is(t, exitFailed, "0123.table is of another puzzle", "1 of 2 tables are no good")
}

// Slips of the hand say what would do.
func TestTablesUsage(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{{"build", "rotegame"}, {"list"}, {"verify"}} {
		call(t, append([]string{"tables"}, args...)...).is(t, exitUsage, "", "set it by --tables DIR, ANTIPODE_TABLES_DIR, or tables.dir in the configuration file")
	}
	call(t, "tables").is(t, 0, "worker tables [command]", "")
	call(t, "tables", "make").is(t, exitUsage, "", `unknown command "make"`)
	call(t, "tables", "build", "--tables", dir).is(t, exitUsage, "", "requires at least 1 arg")
	call(t, "tables", "list", "--tables", dir, "rotegame").is(t, exitUsage, "", "unknown command")
	call(t, "tables", "build", "--tables", dir, "eight").is(t, exitUsage, "", "eight: a table of 9 cells needs no file: a worker builds it in memory in milliseconds")
	call(t, "tables", "build", "--tables", dir, "graph").is(t, exitUsage, "", "graph: each of its records brings moves of its own")
	call(t, "tables", "build", "--tables", dir, "chess").is(t, exitUsage, "", "unknown puzzle \"chess\"")
	call(t, "tables", "build", "--tables", dir, "none.yaml").is(t, exitUsage, "", "none.yaml")
	call(t, "tables", "build", "--tables", dir, definition(t, "fifteen.yaml", "about: Fifteen.\nwidth: 4\nheight: 4\nblank: {moves: [d, l, r, u]}\ngoal: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0]\nexample: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 0 15\n")).is(t, exitUsage, "", "fifteen: a table of 16 cells; 12 are possible")
	repeats := strings.Replace(eleven, "goal: [1, 2,", "values: {from: 1, to: 20, repeat: true}\ngoal: [1, 1,", 1)
	call(t, "tables", "build", "--tables", dir, definition(t, "twins.yaml", strings.Replace(repeats, "example: 2 3 1", "example: 1 3 1", 1))).is(t, exitUsage, "", "twins: its goal repeats values")
	call(t, "tables", "list", "--tables", dir).is(t, 0, "", "no tables in "+dir)
	call(t, "tables", "verify", "--tables", dir).is(t, 0, "", "no tables in "+dir)
	t.Setenv("ANTIPODE_TABLES_DIR", dir)
	call(t, "tables", "list").is(t, 0, "", "no tables in "+dir)
	blocked := filepath.Join(definition(t, "file", "x"), "tables")
	call(t, "tables", "build", "--tables", blocked, "rotegame").is(t, exitFailed, "", "not a directory")
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
