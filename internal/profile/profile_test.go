package profile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// isProfile demands what 'go tool pprof' reads: a compressed message.
func isProfile(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		t.Errorf("%s is no profile: %d bytes", filepath.Base(name), len(text))
	}
}

func TestProfilesAreWritten(t *testing.T) {
	cpu, memory := filepath.Join(t.TempDir(), "cpu"), filepath.Join(t.TempDir(), "memory")
	for _, args := range [][]string{{}, {"--cpuprofile", cpu}, {"--memprofile", memory}, {"--cpuprofile", cpu, "--memprofile", memory}} {
		var files Files
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		files.Flags(flags)
		if err := flags.Parse(args); err != nil {
			t.Fatal(err)
		}
		stop, err := files.Start()
		if err != nil {
			t.Fatal(err)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(args); i += 2 {
			isProfile(t, args[i])
			os.Remove(args[i])
		}
	}
}

// What cannot be written is said with its flag and its name, and leaves nothing
// running.
func TestFilesThatCannotBeWritten(t *testing.T) {
	good, bad := filepath.Join(t.TempDir(), "good"), filepath.Join(t.TempDir(), "none", "bad")
	for flag, files := range map[string]Files{"--cpuprofile": {CPU: bad}, "--memprofile": {CPU: good, Memory: bad}} {
		if _, err := files.Start(); err == nil || !strings.Contains(err.Error(), flag) || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v", flag, err)
		}
	}
	stop, err := Files{CPU: good}.Start()
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	isProfile(t, good)
}
