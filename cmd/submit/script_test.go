package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"submit": main})
}

// TestScripts plays testdata/script: a behaviour of the command each.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("EXAMPLES", filepath.Join(root, "examples"))
			env.Setenv("EXPECTED", filepath.Join(root, "testdata", "examples"))
			env.Setenv("CONFIGS", filepath.Join(root, "configs"))
			env.Setenv("BUILTIN", filepath.Join(root, "internal", "puzzle", "builtin"))
			env.Setenv("TMPDIR", env.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "profile": isProfile},
	})
}

// status runs a command and demands its exit status: status N command args...
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command args...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		got = strconv.Itoa(exit.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

// isProfile demands that files are profiles: profile FILE...
func isProfile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: profile file...")
	}
	for _, name := range args {
		if err := checkProfile(ts.MkAbs(name)); err != nil {
			ts.Fatalf("%v", err)
		}
	}
}

// checkProfile says what is wrong with a file that should be a profile.
func checkProfile(name string) error {
	text, err := os.ReadFile(name)
	if err == nil && !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) { // compressed, as profiles are
		err = fmt.Errorf("%s is no profile: %d bytes", name, len(text))
	}
	return err
}
