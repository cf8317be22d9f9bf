package solver

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cespare/xxhash/v2"

	"antipode/internal/puzzle"
)

// written is the table of a small puzzle and the bytes of its file. What a file
// holds does not depend on how large it is.
func written(t testing.TB, s subject, goal []uint8) (*Table, []byte) {
	t.Helper()
	q := s.ask(goal, goal)
	table, err := NewTable(context.Background(), q.Space, q.Goal)
	if err != nil {
		t.Fatal(err)
	}
	path, err := table.WriteFile(context.Background(), t.TempDir(), s.Name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return table, text
}

func write(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// reopen opens the file of a table as that of another one.
func reopen(t testing.TB, text []byte, as *Table) (*Table, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "some"+fileSuffix)
	write(t, path, text)
	return OpenTable(context.Background(), path, as.space, as.goal)
}

// A table from a file says of every state what the one that was written says, as long
// as it is in use.
func TestFileRoundTrip(t *testing.T) {
	for _, c := range []struct {
		subject subject
		goal    []uint8
	}{
		{swaps(t, 3, 2), upTo(1, 6)}, {slide(t, 3, 2), solvedWithBlank(6, 4)}, {eight(t), solvedWithBlank(9, 8)}, {swap(t), upTo(1, 9)},
	} {
		table, text := written(t, c.subject, c.goal)
		got, err := reopen(t, text, table)
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		if !slices.Equal(got.Layers(), table.Layers()) {
			t.Errorf("%s: layers %v, want %v", c.subject.Name, got.Layers(), table.Layers())
		}
		permutations(c.goal, func(start []uint8) {
			s := c.subject.ask(start, c.goal).Start
			want, ok := table.AppendMoves(nil, s)
			moves, found := got.AppendMoves(nil, s)
			if d, near := got.Distance(s); !slices.Equal(moves, want) || found != ok || near != ok || d != len(want) {
				t.Fatalf("%s %v: distance %d, moves %v, %v; want %v, %v", c.subject.Name, start, d, moves, found, want, ok)
			}
		})
	}
}

// A file's header says what it holds, to those who do not know its puzzle, too.
func TestStored(t *testing.T) {
	table, text := written(t, eight(t), solvedWithBlank(9, 8))
	path := filepath.Join(t.TempDir(), "x")
	write(t, path, text)
	for _, read := range []func() (*Stored, error){
		func() (*Stored, error) { return ReadStored(path) },
		func() (*Stored, error) { return VerifyStored(context.Background(), path) },
	} {
		s, err := read()
		if err != nil {
			t.Fatal(err)
		}
		if s.Fingerprint != table.space.Fingerprint() || s.Name != "eight" || s.Cells != 9 || s.Goal != table.goal || s.States != 181440 ||
			len(s.Layers) != 32 || s.Size != int64(len(text)) || s.Written.IsZero() {
			t.Errorf("%+v", s)
		}
	}
	if name, want := FileName(table.space, table.goal), table.space.Fingerprint().String()+"-8.table"; name != want {
		t.Errorf("%s, want %s", name, want)
	}
	if name := FileName(swap(t).Space(), identity(9, -1)); !strings.HasSuffix(name, "-none.table") {
		t.Error(name)
	}
}

// seal makes the checksums of a file right.
func seal(text []byte) []byte {
	text = slices.Clone(text)
	if len(text) < fileFixed {
		return text
	}
	end := headerSize(int(min(binary.LittleEndian.Uint32(text[44:]), fileLayers)))
	if len(text) < end {
		return text
	}
	sum, _ := sumCodes(context.Background(), bytes.NewReader(text[end:]), int64(len(text)-end))
	binary.LittleEndian.PutUint64(text[64:], sum)
	binary.LittleEndian.PutUint64(text[end-8:], xxhash.Sum64(text[:end-8]))
	return text
}

// Whatever is not what was written is refused, and it is said why.
func TestRefusedFiles(t *testing.T) {
	p := swaps(t, 3, 2)
	table, text := written(t, p, upTo(1, 6))
	slid, _ := written(t, slide(t, 3, 2), solvedWithBlank(6, 1))
	_, otherGoal := written(t, slide(t, 3, 2), solvedWithBlank(6, 4))
	changed := func(at int, to ...byte) []byte {
		b := slices.Clone(text)
		copy(b[at:], to)
		return b
	}
	for _, c := range []struct {
		name string
		text []byte
		as   *Table
		want string
	}{
		{"nothing", nil, table, "is no file of a table"},
		{"another file", []byte("about: A puzzle.\n"), table, "is no file of a table"},
		{"a piece of the header", text[:100], table, "is cut: 100 of 4096 bytes"},
		{"the header", text[:4000], table, "is cut: 4000 of 4096 bytes"},
		{"cut", text[:4100], table, "is cut: 4100 of 4366 bytes"},
		{"longer", append(slices.Clone(text), 0), table, "is too long: 4367 bytes instead of 4366"},
		{"a later layout", changed(8, 2), table, "was written by another version"},
		{"other numbers of states", changed(12, 9), table, "was written by another version"},
		{"endless layers", changed(44, 0xff, 0xff, 0xff, 0xff), table, "the checksum of its header differs"},
		{"a bit of the codes", changed(4200, text[4200]^1), table, "is damaged: its checksum differs"},
		{"another puzzle", otherGoal, table, "is of another puzzle"},
		{"another goal", otherGoal, slid, "is of another goal"},
		{"other lanes", seal(changed(41, 2)), table, "is laid out in another way"},
		{"other cells", seal(changed(40, 13)), table, "contradicts itself"},
		{"codes without end", seal(changed(56, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)), table, "contradicts itself"},
		{"fewer states", seal(changed(48, 1)), table, "contradicts itself"},
		{"a state for another", seal(changed(fileFixed, 2)), table, "contradicts itself"},
		{"a name for the terminal", seal(changed(72, 0x1b)), table, "contradicts itself"},
	} {
		opened, err := reopen(t, c.text, c.as)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "some.table ") || opened != nil {
			t.Errorf("%s: %v, want that it %s", c.name, err, c.want)
		}
	}
	if _, err := OpenTable(context.Background(), filepath.Join(t.TempDir(), "none"), table.space, table.goal); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := OpenTable(context.Background(), t.TempDir(), table.space, table.goal); err == nil {
		t.Error("a folder")
	}
	// Every byte counts.
	path := filepath.Join(t.TempDir(), "flipped")
	for at := range text {
		for _, bit := range []byte{1, 1 << (at % 7), 0x80} {
			text[at] ^= bit
			write(t, path, text)
			if _, err := OpenTable(context.Background(), path, table.space, table.goal); err == nil {
				t.Errorf("byte %d may be another", at)
			}
			text[at] ^= bit
		}
	}
}

// faults runs f and tells whether it panicked with damage.
func faults(f func()) (found bool) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case damage:
			found = true
		default:
			panic(r)
		}
	}()
	f()
	return false
}

// A file with the right checksums and the wrong codes is refused. Were it not, each of
// its ways would end, at the goal or with damage.
func TestHostileFiles(t *testing.T) {
	for _, c := range []struct {
		subject subject
		goal    []uint8
	}{{swaps(t, 3, 2), upTo(1, 6)}, {slide(t, 3, 2), solvedWithBlank(6, 4)}} {
		table, text := written(t, c.subject, c.goal)
		rng := rand.New(rand.NewPCG(1, 2))
		for kind := range 40 {
			hostile := *table
			hostile.distance = nil
			hostile.codes = slices.Clone(table.codes)
			for i := range hostile.codes {
				switch kind {
				case 0:
					hostile.codes[i] = 0
				case 1:
					hostile.codes[i] = 0xff
				case 2, 3, 4: // the same way everywhere
					hostile.codes[i] = -byte((kind - 1) >> (i % table.codeBits) & 1)
				default:
					hostile.codes[i] = byte(rng.Uint32())
				}
			}
			if _, err := reopen(t, seal(append(slices.Clone(text[:headerSize(len(table.layers))]), hostile.codes...)), table); err == nil || !strings.Contains(err.Error(), "is wrong: table") {
				t.Errorf("kind %d: %v", kind, err)
			}
			damaged := 0
			permutations(c.goal, func(start []uint8) {
				q := c.subject.ask(start, c.goal)
				var moves []uint8
				way := []Way{{Question: q, Plan: Plan{Method: ByTable, table: &hostile}}}
				n := 0
				for _, f := range []func(){
					func() { hostile.Distance(q.Start) },
					func() { moves, _ = hostile.AppendMoves(nil, q.Start) },
					func() { Walk(way) },
				} {
					if faults(f) {
						n++
					}
				}
				if n != 0 && n != 3 || n == 0 && !slices.Equal(moves, way[0].Answer.Moves) || len(moves) > 0 && !q.Space.Replay(q.Start, q.Goal, moves) {
					t.Fatalf("kind %d, %v: %d of 3 faults, moves %v and %v", kind, start, n, moves, way[0].Answer.Moves)
				}
				damaged += n
			})
			if damaged == 0 && kind > 0 {
				t.Errorf("kind %d: no way is damaged", kind)
			}
		}
	}
}

// FuzzTableFile opens whatever a file may hold, also with the right checksums. What
// is let in answers about every state, or says that it is damaged.
func FuzzTableFile(f *testing.F) {
	p := subject{defined(f, "five", "cells: 5\nmoves: [{name: a, cycles: (1 2 3 4 5)}, {name: b, cycles: (1 2)}]", false), nil}
	table, text := written(f, p, upTo(1, 5))
	f.Add(text, false)
	f.Add(text, true)
	f.Add(text[:4100], true)
	f.Add(text[:200], false)
	path := filepath.Join(f.TempDir(), "fuzz")
	f.Fuzz(func(t *testing.T, text []byte, right bool) {
		if right {
			text = seal(text)
		}
		os.Remove(path) // one that is mapped must not be cut
		write(t, path, text)
		if s, err := VerifyStored(context.Background(), path); err == nil && (s.Size != int64(len(text)) || len(s.Layers) > len(text)/8) {
			t.Errorf("%+v of %d bytes", s, len(text))
		}
		opened, err := OpenTable(context.Background(), path, table.space, table.goal)
		if err != nil {
			if !strings.HasPrefix(err.Error(), path+" ") {
				t.Errorf("%v", err)
			}
			return
		}
		permutations(upTo(1, 5), func(start []uint8) {
			q := p.ask(start, upTo(1, 5))
			faults(func() {
				if moves, ok := opened.AppendMoves(nil, q.Start); ok && !q.Space.Replay(q.Start, q.Goal, moves) {
					t.Errorf("%v: %v", start, moves)
				}
			})
		})
	})
}

// eleven is a puzzle of the least cells whose tables are kept in files; half of its
// states can be reached.
func eleven(t tester) *puzzle.Puzzle {
	return defined(t, "eleven", "cells: 11\nmoves: [{name: a, cycles: (1 2 3 4 5 6 7 8 9 10 11)}, {name: b, cycles: (1 2 3)}]", false)
}

// elevenTable is its table, which is made once.
var elevenTable = sync.OnceValues(func() (*Table, error) {
	q := eleven(panics{}).Space()
	return NewTable(context.Background(), q, identity(11, -1))
})

// panics is a tester where there is no test.
type panics struct{}

func (panics) Helper()                           {}
func (panics) Errorf(format string, args ...any) { panic(format) }
func (panics) Fatal(args ...any)                 { panic(args) }
func (panics) Fatalf(format string, args ...any) { panic(format) }

// store writes the table of eleven into a folder.
func store(t *testing.T, dir string) string {
	t.Helper()
	table, err := elevenTable()
	if err != nil {
		t.Fatal(err)
	}
	path, err := table.WriteFile(context.Background(), dir, "eleven")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A Solver uses the files there are, from the start or as soon as they appear; those
// that are of no use it leaves alone until they change, and searches.
func TestStoredTables(t *testing.T) {
	dir := t.TempDir()
	var refused []error
	config := Config{Searches: 1, Memory: 64 << 20, TableMemory: 1 << 20, Tables: dir, Refused: func(_ string, err error) { refused = append(refused, err) }}
	s := New(config)
	s.targets.again = 0
	p := subject{eleven(t), nil}
	goal := upTo(1, 11)
	q := p.ask([]uint8{3, 4, 5, 6, 8, 7, 9, 10, 11, 2, 1}, goal)
	ask := func(method Method) []uint8 {
		t.Helper()
		plan := s.Plan(q)
		if plan.Method != method {
			t.Fatalf("method %d, want %d", plan.Method, method)
		}
		return answer(t, s, q, plan).Moves
	}
	want := ask(BySearch)
	path := filepath.Join(dir, FileName(q.Space, q.Goal))
	write(t, path, []byte("about: A puzzle.\n"))
	for range 3 {
		ask(BySearch)
	}
	if len(refused) != 1 || !strings.Contains(refused[0].Error(), "is no file of a table") {
		t.Errorf("refused: %v", refused)
	}
	if got := store(t, dir); got != path {
		t.Fatalf("%s, want %s", got, path)
	}
	ask(BySearch)
	if got := ask(ByTable); !slices.Equal(got, want) || !q.Space.Replay(q.Start, q.Goal, got) {
		t.Errorf("moves %v, want %v", got, want)
	}
	// It takes none of the memory of others, and does not go for them.
	other := slide(t, 3, 2)
	for blank := range 6 {
		x := other.ask(solvedWithBlank(6, blank), solvedWithBlank(6, blank))
		solve(t, s, x, false)
	}
	tg := s.targets.of(q)
	s.targets.mu.Lock()
	s.targets.drop(tg)
	s.targets.mu.Unlock()
	ask(ByTable)
	if tg.held != 0 || !tg.table.Load().mapped {
		t.Errorf("%d bytes held", tg.held)
	}
	if h := s.Held(); h.Stored.Count != 1 || h.Stored.Bytes != int64(len(tg.table.Load().codes)) {
		t.Errorf("%+v", h)
	}
	// One that starts with the file there has it at once, and one that has not looked
	// for it does so before it builds.
	s = New(config)
	if n, err := s.Prepare(context.Background(), p.Puzzle); n != 1 || err != nil {
		t.Errorf("%d tables, %v", n, err)
	}
	ask(ByTable)
	s = New(config)
	if err := s.targets.build(context.Background(), s.targets.of(q), nil); err != nil {
		t.Error(err)
	}
	ask(ByTable)
	if len(refused) != 1 {
		t.Errorf("refused: %v", refused)
	}
}

// A folder is not looked at after every search.
func TestFolderIsLookedAtNowAndThen(t *testing.T) {
	dir := t.TempDir()
	looks := 0
	s := New(Config{Searches: 1, Memory: 64 << 20, Tables: dir, Refused: func(string, error) { looks++ }})
	q := subject{eleven(t), nil}.ask([]uint8{2, 3, 1, 4, 5, 6, 7, 8, 9, 10, 11}, upTo(1, 11))
	path := filepath.Join(dir, FileName(q.Space, q.Goal))
	for n := range 4 {
		write(t, path, make([]byte, n)) // another each time
		answer(t, s, q, s.Plan(q))
	}
	if looks != 1 {
		t.Errorf("%d looks", looks)
	}
}

// Only what can be of use is kept in files.
func TestStoredGoals(t *testing.T) {
	fixed := "goal: [1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\nabout: X.\nexample: 1 1 2 3 4 5 6 7 8 9 10\nvalues: {from: 1, to: 20, repeat: true}\n"
	twice, err := puzzle.Parse("twice", "twice.yaml", []byte("cells: 11\nmoves: [{name: a, cycles: (1 2 3 4 5 6 7 8 9 10 11)}]\n"+fixed))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		puzzle *puzzle.Puzzle
		goals  int
		reason string
	}{
		{rotegame(t).Puzzle, 1, ""},
		{eleven(t), 1, ""},
		{slide(t, 4, 3).Puzzle, 12, ""},
		{eight(t).Puzzle, 0, "needs no file"},
		{slide(t, 5, 3).Puzzle, 0, "12 are possible"},
		{builtin(t, "graph"), 0, "moves of its own"},
		{twice, 0, "its goal repeats values"},
	} {
		goals, err := StoredGoals(c.puzzle)
		if len(goals) != c.goals || (err == nil) != (c.reason == "") || err != nil && !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %d goals, %v; want %d, %s", c.puzzle.Name, len(goals), err, c.goals, c.reason)
		}
	}
}

// What could not be finished is not there.
func TestUnfinishedFiles(t *testing.T) {
	dir := t.TempDir()
	table, _ := written(t, swaps(t, 3, 2), upTo(1, 6))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := table.WriteFile(ctx, dir, "x"); err != context.Canceled {
		t.Error(err)
	}
	if err := replaceFile(ctx, filepath.Join(dir, "x.table"), []byte("x")); err != context.Canceled {
		t.Error(err)
	}
	if _, err := table.WriteFile(context.Background(), filepath.Join(dir, "none"), "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	write(t, filepath.Join(dir, "x.table.123.tmp"), nil)
	write(t, filepath.Join(dir, "x.tmp"), nil)
	if err := RemoveUnfinished(dir); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 || left[0].Name() != "x.tmp" {
		t.Errorf("left: %v", left)
	}
}
