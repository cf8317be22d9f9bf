package solver

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"antipode/internal/job"
	"antipode/internal/plain"
	"antipode/internal/puzzle"
)

// agree answers a question by every method that can and checks the answers.
func agree(t tester, s *Solver, q *puzzle.Question, want []int, what ...any) {
	t.Helper()
	if err := check(answer(t, s, q, s.Plan(q)), want); err != nil {
		t.Errorf("%v, as planned: %v", what, err)
	}
	for _, search := range []bool{true, false} {
		if err := check(solve(t, s, q, search), want); err != nil {
			t.Errorf("%v, by search %v: %v", what, search, err)
		}
	}
}

// Table, search and the plain search give the same moves between random boards.
func TestMethodsAgree(t *testing.T) {
	s := newSolver()
	for _, subject := range []subject{eight(t), eight2(t), swap(t)} {
		t.Run(subject.Name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 1))
			goal, _ := subject.Goal()
			start := shuffled(rng, goal...)
			if subject.BringsGoal() {
				goal = shuffled(rng, goal...)
			}
			q := subject.ask(start, goal)
			agree(t, s, q, subject.shortest(start, goal), start, goal)
			if plan := s.Plan(q); plan.Method != ByTable {
				t.Fatalf("method %d", plan.Method)
			}
			for range 50 {
				start := subject.walk(rng, goal, rng.IntN(7))
				agree(t, s, subject.ask(start, goal), subject.shortest(start, goal), start, goal)
			}
		})
	}
}

// smallPuzzle is a random puzzle of 2 to 6 cells, of either kind.
func smallPuzzle(t *rapid.T) subject {
	cells := rapid.IntRange(2, 6).Draw(t, "cells")
	if rapid.Bool().Draw(t, "blank") {
		vertex := rapid.IntRange(1, cells)
		edges := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]int { return [2]int{vertex.Draw(t, "a"), vertex.Draw(t, "b")} }), 0, 10).Draw(t, "edges")
		list := make([]string, len(edges))
		for i, e := range edges {
			list[i] = fmt.Sprintf("[%d, %d]", e[0], e[1])
		}
		board := fmt.Sprintf("cells: %d\nblank: {edges: [%s]}", cells, strings.Join(list, ", "))
		return subject{defined(t, "graph", board, true), plain.Graph(cells, edges)}
	}
	// Any permutations, inverses or none, the same twice or none that moves.
	from := rapid.SliceOfN(rapid.Permutation(intsUpTo(cells)), 1, 4).Draw(t, "from")
	board := fmt.Sprintf("cells: %d\nmoves:", cells)
	var names []string
	for m, f := range from {
		names = append(names, fmt.Sprint("m", m))
		board += fmt.Sprintf("\n  - {name: m%d, cycles: %q}", m, cycles(f))
	}
	return subject{defined(t, "permutations", board, true), plain.Permutations(cells, names, from)}
}

func intsUpTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// cycles writes a permutation as where what stands on each cell goes.
func cycles(from []int) (text string) {
	done := make([]bool, len(from))
	for first := range from {
		cell := first
		for !done[cell] {
			done[cell] = true
			if cell == first {
				text += "("
			}
			text += fmt.Sprint(cell+1, " ")
			if cell = slices.Index(from, cell); cell == first {
				text += ")"
			}
		}
	}
	return text
}

// Every method gives the plain search's answer to any question of any small
// puzzle, and none is said to have an answer that has none: values distinct or repeated, goals near, anywhere, or of other values.
func TestSmallPuzzles(t *testing.T) {
	s := newSolver()
	for range 20 {
		rapid.Check(t, func(t *rapid.T) { askSmallPuzzle(t, s) })
	}
}

func askSmallPuzzle(t *rapid.T, s *Solver) {
	subject := smallPuzzle(t)
	n := subject.Cells()
	kinds := rapid.IntRange(1, n).Draw(t, "kinds")
	start := make([]uint8, n)
	for i := range start {
		start[i] = uint8(1 + i%kinds)
	}
	if subject.HasBlank() {
		start[n-1] = 0
	}
	for range 20 {
		start = rapid.Permutation(start).Draw(t, "start")
		goal := slices.Clone(start)
		switch rapid.SampledFrom([]string{"same", "walk", "shuffle", "other values"}).Draw(t, "goal") {
		case "walk":
			for _, m := range rapid.SliceOfN(rapid.IntRange(0, len(subject.plain.Names)-1), 0, 12).Draw(t, "moves") {
				if b := subject.plain.Next(goal, m); b != nil {
					goal = b
				}
			}
		case "shuffle":
			goal = rapid.Permutation(start).Draw(t, "goal")
		case "other values":
			if i := rapid.IntRange(0, n-1).Draw(t, "cell"); goal[i] != 0 {
				goal[i] = uint8(rapid.IntRange(1, n+1).Draw(t, "value"))
			}
		}
		q := subject.ask(start, goal)
		want := subject.shortest(start, goal)
		if want == nil && s.Plan(q).Leads(q) {
			t.Errorf("%v to %v: moves are said to lead there", start, goal)
		}
		agree(t, s, q, want, start, goal)
	}
}

// graphs are graphs of nine vertices.
var graphs = map[string][][2]int{
	"grid":         {{1, 2}, {2, 3}, {4, 5}, {5, 6}, {7, 8}, {8, 9}, {1, 4}, {4, 7}, {2, 5}, {5, 8}, {3, 6}, {6, 9}},
	"ring":         {{1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8}, {8, 9}, {9, 1}},
	"path":         {{1, 9}, {9, 5}, {5, 2}, {2, 7}, {7, 3}, {3, 8}, {8, 4}, {4, 6}},
	"star":         {{1, 5}, {2, 5}, {3, 5}, {4, 5}, {6, 5}, {7, 5}, {8, 5}, {9, 5}},
	"tree":         {{1, 2}, {1, 3}, {2, 4}, {2, 5}, {3, 6}, {3, 7}, {7, 8}, {7, 9}},
	"complete":     complete(9),
	"disconnected": {{1, 2}, {2, 9}, {9, 1}, {3, 4}, {4, 5}, {5, 3}, {6, 7}},
	"theta":        {{1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 1}, {1, 7}, {7, 8}, {8, 9}, {9, 4}},
	"theta of six": {{1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 1}, {1, 9}, {9, 4}}, // 7 and 8 stand alone
	"no edges":     nil,
}

func complete(n int) (edges [][2]int) {
	for a := 1; a <= n; a++ {
		for b := a + 1; b <= n; b++ {
			edges = append(edges, [2]int{a, b})
		}
	}
	return edges
}

// graphQuestion asks how a board of eight pieces on a graph gets home.
func graphQuestion(t testing.TB, edges [][2]int, board []uint8) *puzzle.Question {
	t.Helper()
	text := fmt.Sprintln(len(edges))
	for _, e := range edges {
		text += fmt.Sprintln(e[0], e[1])
	}
	for piece := uint8(1); piece <= 8; piece++ {
		text += fmt.Sprint(slices.Index(board, piece)+1, " ")
	}
	var q puzzle.Question
	if err := builtin(t, "graph").ReadText([]byte(text), &q); err != nil {
		t.Fatal(err)
	}
	return &q
}

var graphGoal = []uint8{1, 2, 3, 4, 5, 6, 7, 8, 0}

// On any graph a walk of some moves is undone in the first shortest way.
func TestGraphWalks(t *testing.T) {
	s := newSolver()
	for name, edges := range graphs {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(2, 2))
			p := plain.Graph(9, edges)
			for range 25 {
				board := subject{nil, p}.walk(rng, graphGoal, rng.IntN(6))
				want, _ := p.Shortest(board, graphGoal)
				q := graphQuestion(t, edges, board)
				agree(t, s, q, want, board)
			}
		})
	}
}

// Where the blank reaches few states, every other board is unreachable, and said
// to be.
func TestGraphUnreachable(t *testing.T) {
	s := newSolver()
	for _, name := range []string{"ring", "path", "disconnected", "theta of six", "no edges"} {
		t.Run(name, func(t *testing.T) {
			field := plain.Graph(9, graphs[name]).Distances(graphGoal, plain.All)
			rng := rand.New(rand.NewPCG(3, 3))
			unreachable := 0
			for range 80 {
				board := slices.Clone(graphGoal)
				for range 1 + rng.IntN(3) { // exchange a few
					i, j := rng.IntN(9), rng.IntN(9)
					board[i], board[j] = board[j], board[i]
				}
				var want []int
				if d, ok := field.Distance(board); ok {
					want = field.First(board, d)
				} else {
					unreachable++
				}
				agree(t, s, graphQuestion(t, graphs[name], board), want, board)
			}
			if unreachable == 0 {
				t.Error("no board was unreachable")
			}
		})
	}
}

// A board that holds other values than the goal, or the goal itself, is answered
// without a search.
func TestByContents(t *testing.T) {
	s := New(Config{Searches: 1, Memory: 1, TableMemory: 0})
	r := rotegame(t)
	a := upTo(1, 12)
	b := slices.Clone(a)
	b[11] = 13
	if got := solve(t, s, r.ask(a, b), false); got.Status != job.Unreachable || s.Plan(r.ask(a, b)).Method != ByContents {
		t.Errorf("other values: %+v", got)
	}
	if got := solve(t, s, r.ask(a, a), false); check(got, []int{}) != nil || s.Plan(r.ask(a, a)).Method != ByContents {
		t.Errorf("the goal: %+v", got)
	}
	sevens := slices.Repeat([]uint8{7}, 12)
	if got := solve(t, s, r.ask(sevens, sevens), false); check(got, []int{}) != nil {
		t.Errorf("all the same: %+v", got)
	}
}
