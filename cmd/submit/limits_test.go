//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/internal/limit"
)

// submits runs submit to its end.
func submits(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	cmd := exec.Command("submit", args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &said
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), said.String()
}

// As many definitions as a job may bring, with names as long as there are, and one
// more.
func TestLimitOfDefinitions(t *testing.T) {
	const text = "{cells: 2, moves: [{name: x, cycles: (1 2)}], goal: [1, 2]}\n"
	dir := t.TempDir()
	var args []string
	var lines, answers strings.Builder
	for i := range limit.JobDefinitions + 1 {
		name := fmt.Sprintf("%0*d", limit.Token, i)
		file := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--puzzle", file)
		if i < limit.JobDefinitions {
			fmt.Fprintf(&lines, `{"puzzle":"%s","start":[2,1]}`+"\n", name)
			fmt.Fprintf(&answers, `{"line":%d,"status":"solved","distance":1}`+"\n", i+1)
		}
	}
	if status, out, said := submits(t, lines.String(), append(slices.Clip(args[2:]), "-")...); status != 1 || strings.Count(out, `"solved"`) != limit.JobDefinitions-1 {
		t.Errorf("the last %d: exit status %d: %s%s", limit.JobDefinitions, status, said, out) // the first line names one that is not given
	}
	if status, out, said := submits(t, lines.String(), append(slices.Clip(args[:2*limit.JobDefinitions]), "-")...); status != 0 || out != answers.String() {
		t.Errorf("%d definitions: exit status %d: %s%s", limit.JobDefinitions, status, said, out)
	}
	if status, out, said := submits(t, lines.String(), append(args, "-")...); status != 2 || out != "" || !strings.Contains(said, "--puzzle: 16 definitions; 15 are possible") {
		t.Errorf("%d definitions: exit status %d: %s%s", limit.JobDefinitions+1, status, said, out)
	}
}

// A definition whose name, or whose text, is longer than can be.
func TestDefinitionTooLong(t *testing.T) {
	const text = "{cells: 2, moves: [{name: x, cycles: (1 2)}], goal: [1, 2]}\n#"
	dir := t.TempDir()
	for _, c := range []struct{ name, text, want string }{
		{"large", text + strings.Repeat("#", limit.Definition-len(text)), ""},
		{"larger", text + strings.Repeat("#", limit.Definition-len(text)+1), "larger.yaml: a definition of more than 16384 bytes"},
		{strings.Repeat("n", limit.Token), text, ""},
		{strings.Repeat("n", limit.Token+1), text, "1 to 64 letters, digits, - and _"},
	} {
		file := filepath.Join(dir, c.name+".yaml")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		status, out, said := submits(t, "2 1\n", "--puzzle", file, "-")
		if c.want == "" && (status != 0 || out != "1\n") || c.want != "" && (status != 2 || !strings.Contains(said, c.want)) {
			t.Errorf("%.10s: exit status %d: %s%s", c.name, status, said, out)
		}
	}
}

// An owner is a token.
func TestLimitOfTheOwner(t *testing.T) {
	for _, c := range []struct {
		owner  string
		status int
	}{{strings.Repeat("o", limit.Token), 0}, {strings.Repeat("o", limit.Token+1), 2}, {"", 2}, {"o.o", 2}, {"o>", 2}} {
		t.Setenv("ANTIPODE_OWNER", c.owner)
		status, out, said := submits(t, oneSwap, "--puzzle", "swap", "-")
		if status != c.status || status == 0 && out != swapAnswer || status == 2 && !strings.Contains(said, "1 to 64 letters") {
			t.Errorf("%d bytes: exit status %d: %s%s", len(c.owner), status, said, out)
		}
	}
}

// White space before the first record of a nameless input: as much as is looked at,
// and more, after which it is text.
func TestLimitOfTheHead(t *testing.T) {
	const line, answer = `{"puzzle":"swap","start":[2,1,3,7,5,9,8,4,6]}`, `{"line":1,"status":"solved","distance":4}` + "\n"
	if status, out, said := submits(t, strings.Repeat(" ", limit.Head-1)+line, "-"); status != 0 || out != answer {
		t.Errorf("just within: exit status %d: %s%s", status, said, out)
	}
	if status, out, said := submits(t, strings.Repeat(" ", 2*limit.Head)+line, "-"); status != 2 || out != "" || !strings.Contains(said, "use --puzzle") {
		t.Errorf("far beyond: exit status %d: %s%s", status, said, out)
	}
}

// A file whose name is longer than messages hold is called by the end of it, and
// answered all the same.
func TestLongFileNames(t *testing.T) {
	dir := t.TempDir()
	for range 3 {
		dir = filepath.Join(dir, strings.Repeat("d", 200))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "swap.txt")
	if err := os.WriteFile(file, []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, out, said := submits(t, "", file)
	want := "invalid: …" + file[len(file)-limit.FileShown:] + ":1: "
	if status != 1 || !strings.HasPrefix(out, want) {
		t.Errorf("exit status %d: %s%s; want %s", status, said, out, want)
	}
}
