package solver

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"antipode/internal/plain"
	"antipode/internal/puzzle"
)

// patternsTo makes patterns of a question's space and goal.
func patternsTo(t testing.TB, q *puzzle.Question) *patterns {
	t.Helper()
	p, err := newPatterns(context.Background(), q.Space, q.Goal)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// graph is the puzzle of a blank on a graph of vertices from 1. Its records bring
// their goals.
func graph(t testing.TB, vertices int, edges [][2]int) subject {
	t.Helper()
	list := ""
	for _, e := range edges {
		list += fmt.Sprintf("[%d, %d], ", e[0], e[1])
	}
	board := fmt.Sprintf("cells: %d\nblank: {edges: [%s]}", vertices, list)
	return subject{defined(t, "graph", board, false), plain.Graph(vertices, edges)}
}

// randomEdges returns so many edges, some perhaps twice or from a vertex to
// itself.
func randomEdges(rng *rand.Rand, vertices, count int) (edges [][2]int) {
	for range count {
		edges = append(edges, [2]int{1 + rng.IntN(vertices), 1 + rng.IntN(vertices)})
	}
	return edges
}

// another stands for each piece that is not of a group.
const another = 99

// fewest returns, for the boards on which a group's pieces can stand, the least
// number of their moves that brings them home: boards hold another for all other
// pieces and for the blank. It searches boards on which only the blank tells
// itself from the others, from the goal, and takes those first to which one of
// the others moved, since that counts nothing.
func fewest(p *plain.Puzzle, goal, group []uint8) map[string]int {
	start := slices.Clone(goal)
	for i, v := range start {
		if v != 0 && !slices.Contains(group, v) {
			start[i] = another
		}
	}
	moves := map[string]int{} // by board with the blank
	least := map[string]int{} // without
	layer := [][]uint8{start}
	for d := 0; len(layer) > 0; d++ {
		var next [][]uint8
		for len(layer) > 0 {
			b := layer[len(layer)-1]
			layer = layer[:len(layer)-1]
			if _, again := moves[string(b)]; again {
				continue
			}
			moves[string(b)] = d
			blank := slices.Index(b, 0)
			b[blank] = another
			if _, again := least[string(b)]; !again {
				least[string(b)] = d
			}
			b[blank] = 0
			for m := range p.Names {
				for _, n := range p.Previous(b, m) {
					if n[blank] == another {
						layer = append(layer, n)
					} else {
						next = append(next, n)
					}
				}
			}
		}
		layer = next
	}
	return least
}

// checkPatterns compares all entries of all tables with the plain search.
func checkPatterns(t *testing.T, s subject, goal []uint8) {
	t.Helper()
	p := patternsTo(t, s.ask(goal, goal))
	rename := slices.DeleteFunc(slices.Clone(goal), func(v uint8) bool { return v == 0 }) // canonical pieces are numbered in order of cells
	seen := make([]bool, len(goal))
	for g, pieces := range p.groups {
		var group []uint8
		for _, piece := range pieces {
			if seen[piece] {
				t.Fatalf("piece %d is in two groups", piece)
			}
			seen[piece] = true
			group = append(group, rename[piece-1])
		}
		want := fewest(s.plain, goal, group)
		table := p.moves[p.base[g]:][:p.size(g)]
		for board, moves := range want {
			index := 0
			for _, v := range slices.Backward(group) {
				index = index*len(goal) + strings.IndexByte(board, v)
			}
			if int(table[index]) != moves {
				t.Fatalf("goal %v, pieces %v on %v: %d moves, want %d", goal, group, []uint8(board), table[index], moves)
			}
		}
		if reached := len(table) - bytes.Count(table, []uint8{unreached}); reached != len(want) {
			t.Errorf("goal %v, pieces %v: %d placements, want %d", goal, group, reached, len(want))
		}
	}
	if slices.Contains(seen[1:], false) {
		t.Errorf("goal %v: groups %v", goal, p.groups)
	}
	if got := int64(cap(p.moves)); got != p.bytes() {
		t.Errorf("%d bytes counted, %d held", p.bytes(), got)
	}
}

// Every entry of the tables of small boards, to every place of the goal's blank.
func TestPatternsOfSmallBoards(t *testing.T) {
	for _, size := range [][2]int{{2, 1}, {2, 2}, {3, 2}, {2, 3}, {1, 5}} {
		s := slide(t, size[0], size[1])
		for blank := range s.Cells() {
			checkPatterns(t, s, solvedWithBlank(s.Cells(), blank))
		}
	}
}

// Every entry of the tables of random graphs of six and seven vertices, of which
// some are not connected, to random goals.
func TestPatternsOfGraphs(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 8 {
		for vertices := 6; vertices <= 7; vertices++ {
			s := graph(t, vertices, randomEdges(rng, vertices, 4+rng.IntN(8)))
			checkPatterns(t, s, shuffled(rng, solvedWithBlank(vertices, 0)...))
		}
	}
}

// Patterns never say more than the distance, on no state of the 8-puzzle; they
// are as even or odd as it is, and 0 at the goal only.
func TestPatternsAreBounds(t *testing.T) {
	for _, blank := range []int{0, 4, 5} {
		goal := solvedWithBlank(9, blank)
		q := eight2(t).ask(goal, goal)
		p := patternsTo(t, q)
		table, err := NewTable(context.Background(), q.Space, q.Goal)
		if err != nil {
			t.Fatal(err)
		}
		var index [puzzle.MaxCells]uint32
		states, sum, far := 0, 0, 0
		for r := range 362880 {
			s := nine.state(r/nine.lanes, r%nine.lanes)
			d, reachable := table.Distance(s)
			if !reachable {
				continue
			}
			least, ok := p.at(s, &index)
			if !ok || least > d || (d-least)%2 != 0 || (least == 0) != (s == q.Goal) {
				t.Fatalf("goal %v, state %x: at least %d moves, %v; its distance is %d", goal, uint64(s), least, ok, d)
			}
			states, sum, far = states+1, sum+least, far+d
		}
		if states != 362880/2 || sum*10 < far*7 {
			t.Errorf("goal %v: %d states, bounds that sum up to %d of %d moves", goal, states, sum, far)
		}
	}
}

// Where a goal cannot be reached because of the pieces of one group, patterns
// tell.
func TestPatternsOfUnreachable(t *testing.T) {
	q := graph(t, 9, graphs["path"]).ask([]uint8{2, 1, 3, 4, 5, 6, 7, 8, 0}, graphGoal)
	var index [puzzle.MaxCells]uint32
	if least, ok := patternsTo(t, q).at(q.Start, &index); ok {
		t.Errorf("at least %d moves", least)
	}
}

func TestPatternsNeedBlank(t *testing.T) {
	q := swap(t).ask(upTo(1, 9), upTo(1, 9))
	if p, err := newPatterns(context.Background(), q.Space, q.Goal); err == nil {
		t.Errorf("got %v", p.groups)
	}
}

func TestCancelPatterns(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	goal := solvedWithBlank(16, 0)
	q := slide(t, 4, 4).ask(goal, goal)
	if p, err := newPatterns(ctx, q.Space, q.Goal); err != context.Canceled {
		t.Errorf("got %v, %v", p.groups, err)
	}
}

func BenchmarkPatterns(b *testing.B) {
	for _, size := range [][2]int{{4, 4}, {4, 3}, {5, 2}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			s := slide(b, size[0], size[1])
			goal := solvedWithBlank(s.Cells(), 0)
			q := s.ask(goal, goal)
			for b.Loop() {
				b.ReportMetric(float64(patternsTo(b, q).bytes()), "bytes")
			}
		})
	}
}
