package main

import (
	"os"
	"path/filepath"
	"testing"

	"antipode/internal/puzzle"
)

// Tables are made before the work where the file is large, and a puzzle can have
// them; not for a pipe, whose size is not known.
func TestWorthTables(t *testing.T) {
	set, err := puzzle.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	tiny, err := puzzle.Given("tiny", "tiny.yaml", []byte("about: Three.\ncells: 3\nmoves: [{name: a, cycles: (1 2 3)}]\ngoal: [1, 2, 3]\nexample: 2 3 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	set = set.With(tiny)
	for _, tt := range []struct {
		puzzle string
		bytes  int64
		want   bool
	}{
		{"eight", 362880/32 - 1, false},
		{"eight", 362880 / 32, true},
		{"swap", 362880 / 32, true},
		{"eight2", 362880 / 32, false}, // one for each cell of the blank
		{"eight2", 9 * 362880 / 32, true},
		{"tiny", smallJob - 1, false},
		{"tiny", smallJob, true},
		{"rotegame", 1 << 20, false},
	} {
		p, err := set.Get(tt.puzzle)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), tt.puzzle)
		if err := os.WriteFile(name, make([]byte, tt.bytes), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := worthTables([]*input{{info: info, puzzle: p}}); (len(got) == 1) != tt.want {
			t.Errorf("%d bytes of %s: tables of %d puzzles", tt.bytes, tt.puzzle, len(got))
		}
	}
	null, err := os.Stat(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	eight, _ := set.Get("eight")
	if got := worthTables([]*input{{info: null, puzzle: eight}, {puzzle: nil}}); got != nil {
		t.Errorf("tables for what has no size")
	}
}
