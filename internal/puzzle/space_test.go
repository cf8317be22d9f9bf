package puzzle

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"antipode/internal/limit"
	"antipode/internal/plain"
)

func builtin(t testing.TB, name string) *Puzzle {
	t.Helper()
	set, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	p, err := set.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// spaces are spaces with the same puzzle in plain form.
func spaces(t *testing.T) map[string]struct {
	space *Space
	plain *plain.Puzzle
} {
	edges := [][2]int{{1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8}, {8, 9}, {9, 1}, {1, 5}, {7, 2}, {2, 7}, {3, 3}}
	zero := make([][2]uint8, len(edges))
	for i, e := range edges {
		zero[i] = [2]uint8{uint8(e[0] - 1), uint8(e[1] - 1)}
	}
	graph, err := NewGraph(9, zero)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]struct {
		space *Space
		plain *plain.Puzzle
	}{
		"eight":    {builtin(t, "eight").Space(), plain.Slide(3, 3)},
		"eight2":   {builtin(t, "eight2").Space(), plain.Slide(3, 3)},
		"swap":     {builtin(t, "swap").Space(), plain.Swap()},
		"rotegame": {builtin(t, "rotegame").Space(), plain.Rotegame()},
		"graph":    {graph, plain.Graph(9, edges)},
	}
}

// The moves of a space are those of the tables in plain form: name by name,
// forward and back, on many boards.
func TestMovesAgainstPlain(t *testing.T) {
	for name, c := range spaces(t) {
		t.Run(name, func(t *testing.T) {
			if !slices.Equal(c.space.Moves(), c.plain.Names) {
				t.Fatalf("moves %v, want %v", c.space.Moves(), c.plain.Names)
			}
			rng := rand.New(rand.NewPCG(2, 2))
			for range 500 {
				board := make([]uint8, c.plain.Cells)
				for i, v := range rng.Perm(len(board)) {
					board[i] = uint8(v)
				}
				var next, previous []Edge
				for m := range c.plain.Names {
					b := c.plain.Next(board, m)
					got, ok := c.space.Apply(Pack(board), uint8(m))
					if ok != (b != nil) || ok && got != Pack(b) {
						t.Fatalf("%v, move %d: got %x %v, want %v", board, m, got, ok, b)
					}
					if b != nil {
						next = append(next, Edge{Pack(b), uint8(m)})
					}
					for _, b := range c.plain.Previous(board, m) {
						previous = append(previous, Edge{Pack(b), uint8(m)})
					}
				}
				if got := c.space.AppendNext(nil, Pack(board)); !slices.Equal(got, next) {
					t.Fatalf("%v: next %x, want %x", board, got, next)
				}
				if got := c.space.AppendPrevious(nil, Pack(board)); !slices.Equal(got, previous) {
					t.Fatalf("%v: previous %x, want %x", board, got, previous)
				}
			}
			if _, ok := c.space.Apply(Pack([]uint8{0, 1, 2, 3}), uint8(len(c.plain.Names))); ok {
				t.Error("there is a move after the last")
			}
		})
	}
}

// What a move leads to, AppendPrevious leads back from, by the same move; and
// the other way round.
func TestPreviousUndoesNext(t *testing.T) {
	for name, c := range spaces(t) {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 3))
			for range 500 {
				board := make([]uint8, c.plain.Cells)
				for i, v := range rng.Perm(len(board)) {
					board[i] = uint8(v)
				}
				s := Pack(board)
				for _, e := range c.space.AppendNext(nil, s) {
					if !slices.Contains(c.space.AppendPrevious(nil, e.State), Edge{s, e.Move}) {
						t.Fatalf("%x: no way back from %x by move %d", s, e.State, e.Move)
					}
				}
				for _, e := range c.space.AppendPrevious(nil, s) {
					if got, ok := c.space.Apply(e.State, e.Move); !ok || got != s {
						t.Fatalf("%x: move %d from %x leads to %x", s, e.Move, e.State, got)
					}
				}
			}
		})
	}
}

// A packed permutation does what a loop over the cells does, for every number
// of cells and with labels that repeat.
func TestPermAgainstLoop(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for n := 2; n <= MaxCells; n++ {
		for range 300 {
			from, labels, want := make([]uint8, n), make([]uint8, n), make([]uint8, n)
			for i, f := range rng.Perm(n) {
				from[i], labels[i] = uint8(f), uint8(rng.IntN(16))
			}
			for i := range want {
				want[i] = labels[from[i]]
			}
			if got := newPerm(from).apply(Pack(labels)); got != Pack(want) {
				t.Fatalf("from %v on %v: %x, want %x", from, labels, got, Pack(want))
			}
		}
	}
}

func TestReplay(t *testing.T) {
	p := builtin(t, "eight")
	goal := Pack([]uint8{0, 1, 2, 3, 4, 5, 6, 7, 8})
	start := Pack([]uint8{1, 4, 2, 3, 0, 5, 6, 7, 8})
	const d, l, r, u = 0, 1, 2, 3
	for _, c := range []struct {
		name  string
		moves []uint8
		want  bool
	}{
		{"there", []uint8{u, l}, true},
		{"there by a detour", []uint8{d, u, u, l}, true},
		{"elsewhere", []uint8{l, u}, false},
		{"not yet there", []uint8{u}, false},
		{"past it", []uint8{u, l, d}, false},
		{"off the board", []uint8{u, u, l}, false},
		{"no such move", []uint8{u, l, 4}, false},
		{"no moves", nil, false},
	} {
		if got := p.Space().Replay(start, goal, c.moves); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if !p.Space().Replay(goal, goal, nil) {
		t.Error("no moves do not lead from the goal to itself")
	}
}

// A fingerprint is one of the mathematics: equal where they are, whatever the
// names are, and else not.
func TestFingerprint(t *testing.T) {
	turn := []uint8{3, 0, 1, 2}
	swap := []uint8{1, 0, 2, 3}
	permutations := func(moves ...Move) *Space {
		sp, err := NewPermutations(4, moves)
		if err != nil {
			t.Fatal(err)
		}
		return sp
	}
	graph := func(n int, edges ...[2]uint8) *Space {
		sp, err := NewGraph(n, edges)
		if err != nil {
			t.Fatal(err)
		}
		return sp
	}
	blank := func(names []string, ways ...[]int) *Space {
		sp, err := NewBlank(len(ways[0]), names, ways)
		if err != nil {
			t.Fatal(err)
		}
		return sp
	}
	of := func(name string) *Space { return builtin(t, name).Space() }
	for _, c := range []struct {
		name string
		a, b *Space
		want bool
	}{
		{"eight and eight2", of("eight"), of("eight2"), true},
		{"eight and swap", of("eight"), of("swap"), false},
		{"swap and rotegame", of("swap"), of("rotegame"), false},
		{"other names", permutations(Move{"a", turn}, Move{"b", swap}), permutations(Move{"x", turn}, Move{"y", swap}), true},
		{"other order", permutations(Move{"a", turn}, Move{"b", swap}), permutations(Move{"b", swap}, Move{"a", turn}), false},
		{"fewer moves", permutations(Move{"a", turn}, Move{"b", swap}), permutations(Move{"a", turn}), false},
		{"inverse moves", permutations(Move{"a", turn}), permutations(Move{"a", []uint8{1, 2, 3, 0}}), false},
		{"edges in another order", graph(4, [2]uint8{0, 1}, [2]uint8{2, 3}), graph(4, [2]uint8{3, 2}, [2]uint8{0, 1}, [2]uint8{1, 0}, [2]uint8{2, 2}), true},
		{"other edges", graph(4, [2]uint8{0, 1}), graph(4, [2]uint8{0, 2}), false},
		{"more vertices", graph(4, [2]uint8{0, 1}), graph(5, [2]uint8{0, 1}), false},
		{"blank, other names", blank([]string{"r", "l"}, []int{1, -1}, []int{-1, 0}), blank([]string{"a", "b"}, []int{1, -1}, []int{-1, 0}), true},
		{"blank, other order", blank([]string{"r", "l"}, []int{1, -1}, []int{-1, 0}), blank([]string{"l", "r"}, []int{-1, 0}, []int{1, -1}), false},
	} {
		if got := c.a.Fingerprint() == c.b.Fingerprint(); got != c.want {
			t.Errorf("%s: equal is %v", c.name, got)
		}
	}
	if s := of("eight").Fingerprint().String(); len(s) != 32 || strings.Trim(s, "0123456789abcdef") != "" {
		t.Errorf("printed as %q", s)
	}
}

func TestSpaceRefuses(t *testing.T) {
	move := func(from ...uint8) []Move { return []Move{{"m", from}} }
	many := slices.Repeat(move(1, 0), limit.Moves+1)
	for _, c := range []struct {
		name string
		make func() (*Space, error)
		want string // in the error
	}{
		{"one cell", func() (*Space, error) { return NewPermutations(1, move(0)) }, "1 cells"},
		{"17 cells", func() (*Space, error) { return NewPermutations(17, move(0)) }, "17 cells"},
		{"no moves", func() (*Space, error) { return NewPermutations(2, nil) }, "0 moves"},
		{"too many moves", func() (*Space, error) { return NewPermutations(2, many) }, "256 moves"},
		{"a move of too few cells", func() (*Space, error) { return NewPermutations(3, move(1, 0)) }, `"m"`},
		{"a move of too many cells", func() (*Space, error) { return NewPermutations(2, move(1, 0, 2)) }, `"m"`},
		{"a move of no cells", func() (*Space, error) { return NewPermutations(2, move()) }, `"m"`},
		{"two cells to one", func() (*Space, error) { return NewPermutations(3, move(1, 1, 2)) }, `"m"`},
		{"a cell from nowhere", func() (*Space, error) { return NewPermutations(3, move(1, 0, 3)) }, `"m"`},
		{"a one way street", func() (*Space, error) { return NewBlank(2, []string{"r"}, [][]int{{1, -1}}) }, "one way only"},
		{"two moves to one cell", func() (*Space, error) { return NewBlank(2, []string{"r", "s"}, [][]int{{1, 0}, {1, 0}}) }, `"s"`},
		{"a move that stays", func() (*Space, error) { return NewBlank(2, []string{"r"}, [][]int{{0, 1}}) }, `"r"`},
		{"a move off the board", func() (*Space, error) { return NewBlank(2, []string{"r"}, [][]int{{2, 0}}) }, `"r"`},
		{"one vertex", func() (*Space, error) { return NewGraph(1, nil) }, "1 vertices"},
		{"17 vertices", func() (*Space, error) { return NewGraph(17, nil) }, "17 vertices"},
		{"an edge off the graph", func() (*Space, error) { return NewGraph(4, [][2]uint8{{0, 4}}) }, "1 5"},
	} {
		if sp, err := c.make(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want %s", c.name, sp, err, c.want)
		}
	}
	if _, err := NewPermutations(2, many[:limit.Moves]); err != nil {
		t.Errorf("%d moves: %v", limit.Moves, err)
	}
}
