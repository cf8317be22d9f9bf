package process

import (
	"io"
	"os"
	"regexp"
	"testing"
	"time"
)

// A program ends with the process that started it, even where this one is killed. Both
// hold a pipe, whose end tells that neither is left.
func TestProgramsEndWithTheirParent(t *testing.T) {
	here, there, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := Command(t.Context(), t.TempDir(), self)
	cmd.Env = append(cmd.Env, role+"=parent")
	cmd.ExtraFiles = []*os.File{there}
	p, err := Start(cmd)
	there.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	if _, err := p.Await(within(t, time.Minute), regexp.MustCompile("the other: .here")); err != nil {
		t.Fatal(err)
	}
	p.Kill()
	here.SetReadDeadline(time.Now().Add(time.Minute))
	if n, err := here.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("the pipe is still held: %v", err)
	}
}
