package plain

import (
	"slices"
	"testing"
)

// deepen tries all sequences of moves, shorter ones first, in order.
func deepen(p *Puzzle, board, goal []uint8, n int) (moves []int, ok bool) {
	if n == 0 {
		return []int{}, slices.Equal(board, goal)
	}
	for m := range p.Names {
		if b := p.Next(board, m); b != nil {
			if rest, ok := deepen(p, b, goal, n-1); ok {
				return append([]int{m}, rest...), true
			}
		}
	}
	return nil, false
}

// The oracle's two searches agree with trying everything.
func TestAgainstAllSequences(t *testing.T) {
	puzzles := map[string]struct {
		*Puzzle
		goal   []uint8
		moves  int // to the farthest board that is tried
		boards int // from which the goal can be reached
	}{
		"2x2 slide":         {Slide(2, 2), []uint8{1, 2, 3, 0}, 6, 12},
		"3x2 slide, near":   {Slide(3, 2), []uint8{0, 1, 2, 3, 4, 5}, 9, 360},
		"theta graph, near": {Graph(5, [][2]int{{1, 2}, {2, 3}, {3, 4}, {4, 1}, {1, 5}, {5, 3}, {3, 5}, {2, 2}}), []uint8{1, 2, 3, 4, 0}, 8, 60},
		"2x2 swaps":         {Swaps(4, []string{"1-2", "3-4", "1-3", "2-4"}, [][2]int{{1, 2}, {3, 4}, {1, 3}, {2, 4}}), []uint8{1, 2, 3, 4}, 4, 24},
		"cycle one way":     {Permutations(4, []string{"turn", "swap"}, [][]int{{3, 0, 1, 2}, {1, 0, 2, 3}}), []uint8{1, 2, 3, 4}, 6, 24},
		"values repeat":     {Permutations(5, []string{"turn", "swap"}, [][]int{{4, 0, 1, 2, 3}, {1, 0, 2, 3, 4}}), []uint8{1, 1, 2, 2, 2}, 6, 10},
	}
	for name, c := range puzzles {
		t.Run(name, func(t *testing.T) {
			all, near := c.Distances(c.goal, All), c.Distances(c.goal, 2)
			if len(all.at) != c.boards {
				t.Errorf("%d boards, want %d", len(all.at), c.boards)
			}
			for key, d := range all.at {
				board := []uint8(key)
				if d > c.moves {
					continue
				}
				var want []int
				for n, ok := 0, false; !ok; n++ {
					want, ok = deepen(c.Puzzle, board, c.goal, n)
				}
				if d != len(want) || near.Within(board, d-1) || !near.Within(board, d) {
					t.Errorf("%v: distance %d, want %d", board, d, len(want))
				}
				got, _ := c.Shortest(board, c.goal)
				if first := all.First(board, d); !slices.Equal(got, want) || !slices.Equal(first, want) || !slices.Equal(near.First(board, d), want) {
					t.Errorf("%v: %v and %v, want %v", board, got, first, want)
				}
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	p := Slide(2, 2)
	if moves, ok := p.Shortest([]uint8{2, 1, 3, 0}, []uint8{1, 2, 3, 0}); ok {
		t.Errorf("got %v", moves)
	}
	if p.Distances([]uint8{1, 2, 3, 0}, All).Within([]uint8{2, 1, 3, 0}, 100) {
		t.Error("within reach")
	}
}
