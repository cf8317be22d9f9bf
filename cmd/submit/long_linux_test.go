package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
)

// mostHeld is the most memory that a process has held, in bytes.
func (p *process) mostHeld(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kib, _, _ := strings.Cut(after, "kB")
	n, err := strconv.Atoi(strings.TrimSpace(kib))
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}

// A line of 256 MiB is one record that is too long, whatever it is made of, and
// submit does not hold it.
func TestLongLine(t *testing.T) {
	const size, most = 256 << 20, 128 << 20
	const object, solved = `{"id":1,"puzzle":"swap","start":[2,1,3,7,5,9,8,4,6]}` + "\n", `{"id":1,"line":%d,"status":"solved","distance":4}` + "\n"
	const invalid = `{"id":7,"line":2,"status":"invalid","reason":"a record of more than 131072 bytes"}` + "\n"
	for _, c := range []struct {
		name, puzzle, record, start, filler string
		answers                             []string
	}{
		{"digits", "swap", oneSwap, "", "1", []string{swapAnswer, "invalid: stdin:2: a record of more than 131072 bytes\n", swapAnswer}},
		{"NUL bytes", "swap", oneSwap, "", "\x00", []string{swapAnswer, "invalid: stdin:2: a record of more than 131072 bytes\n", swapAnswer}},
		{"a comment", "swap", oneSwap, "#", "1", []string{swapAnswer, swapAnswer}},
		{"a board of JSON", "", object, `{"id":7,"start":[`, "1,", []string{fmt.Sprintf(solved, 1), invalid, fmt.Sprintf(solved, 3)}},
		{"a pit of JSON", "", object, `{"id":7,"start":`, "[", []string{fmt.Sprintf(solved, 1), invalid, fmt.Sprintf(solved, 3)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := []string{"-"}
			if c.puzzle != "" {
				args = []string{"--puzzle", c.puzzle, "-"}
			}
			p := start(t, args...)
			write := func(text string) {
				t.Helper()
				if _, err := io.WriteString(p.stdin, text); err != nil {
					t.Fatal(err)
				}
			}
			write(c.record)
			if got := p.line(t); got != c.answers[0] {
				t.Fatalf("answer %q, want %q", got, c.answers[0])
			}
			before := p.mostHeld(t)
			write(c.start)
			filler := bytes.Repeat([]byte(c.filler), 1<<20/len(c.filler))
			for range size >> 20 {
				if _, err := p.stdin.Write(filler); err != nil {
					t.Fatal(err)
				}
			}
			write("\n" + c.record)
			for _, want := range c.answers[1:] {
				if got := p.line(t); got != want {
					t.Fatalf("answer %q, want %q", got, want)
				}
			}
			grown := p.mostHeld(t) - before
			t.Logf("%d KiB more than before", grown>>10)
			if grown > most {
				t.Errorf("%d bytes more are held than before it", grown)
			}
			p.stdin.Close()
			if status := p.ends(t); status != 0 && c.name == "a comment" || status != 1 && c.name != "a comment" {
				t.Errorf("exit status %d: %s", status, &p.stderr)
			}
		})
	}
}
