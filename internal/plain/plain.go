// Package plain is the oracle of the tests: puzzles and their shortest ways in
// the plainest form, sharing no code with the product.
//
// Boards are slices of values, 0 being a blank; states are kept in maps under
// their bytes. It is slow on purpose, where slow is evidently right.
package plain

import (
	"maps"
	"slices"
)

// Puzzle is a set of cells with moves in order.
type Puzzle struct {
	Cells int
	Names []string
	next  func(board []uint8, move int) []uint8 // nil where the move is not possible
	prev  func(board []uint8, move int) [][]uint8
}

// Permutations is the puzzle whose move m gives cell i what stood on cell
// from[m][i], cells from 0.
func Permutations(cells int, names []string, from [][]int) *Puzzle {
	return &Puzzle{
		Cells: cells, Names: names,
		next: func(board []uint8, m int) []uint8 {
			b := make([]uint8, cells)
			for i, f := range from[m] {
				b[i] = board[f]
			}
			return b
		},
		prev: func(board []uint8, m int) [][]uint8 {
			b := make([]uint8, cells)
			for i, f := range from[m] {
				b[f] = board[i]
			}
			return [][]uint8{b}
		},
	}
}

// Swaps is the puzzle of exchanges of two cells, from 1.
func Swaps(cells int, names []string, pairs [][2]int) *Puzzle {
	from := make([][]int, len(pairs))
	for m, p := range pairs {
		for i := range cells {
			from[m] = append(from[m], i)
		}
		from[m][p[0]-1], from[m][p[1]-1] = p[1]-1, p[0]-1
	}
	return Permutations(cells, names, from)
}

// Blank is the puzzle of a blank for which way says where a move takes it, cells
// from 0, or -1.
func Blank(cells int, names []string, way func(from, move int) int) *Puzzle {
	return &Puzzle{
		Cells: cells, Names: names,
		next: func(board []uint8, m int) []uint8 {
			from := slices.Index(board, 0)
			to := way(from, m)
			if to < 0 {
				return nil
			}
			b := slices.Clone(board)
			b[from], b[to] = board[to], 0
			return b
		},
		prev: func(board []uint8, m int) (boards [][]uint8) {
			to := slices.Index(board, 0)
			for from := range cells {
				if way(from, m) == to {
					b := slices.Clone(board)
					b[to], b[from] = board[from], 0
					boards = append(boards, b)
				}
			}
			return boards
		},
	}
}

// Slide is the sliding puzzle of rows, the blank going d l r u.
func Slide(width, height int) *Puzzle {
	return Blank(width*height, []string{"d", "l", "r", "u"}, func(from, m int) int {
		x, y := from%width, from/width
		switch m {
		case 0:
			y++
		case 1:
			x--
		case 2:
			x++
		case 3:
			y--
		}
		if x < 0 || y < 0 || x == width || y == height {
			return -1
		}
		return y*width + x
	})
}

// Graph is the puzzle of a blank on a graph of vertices from 1; a move is the
// vertex that it goes to, rising.
func Graph(vertices int, edges [][2]int) *Puzzle {
	names := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"}
	return Blank(vertices, names[:vertices], func(from, to int) int {
		for _, e := range edges {
			if from != to && (e == [2]int{from + 1, to + 1} || e == [2]int{to + 1, from + 1}) {
				return to
			}
		}
		return -1
	})
}

// Swap is the 3x3 board of swaps of neighbours: rows first, then columns.
func Swap() *Puzzle {
	return Swaps(9,
		[]string{"1-2", "2-3", "4-5", "5-6", "7-8", "8-9", "1-4", "4-7", "2-5", "5-8", "3-6", "6-9"},
		[][2]int{{1, 2}, {2, 3}, {4, 5}, {5, 6}, {7, 8}, {8, 9}, {1, 4}, {4, 7}, {2, 5}, {5, 8}, {3, 6}, {6, 9}})
}

// Rotegame is two rings on a board of three rows of four.
func Rotegame() *Puzzle {
	return Permutations(12, []string{"1", "2"}, [][]int{
		{4, 0, 1, 3, 8, 5, 2, 7, 9, 10, 6, 11},
		{0, 2, 3, 7, 4, 1, 6, 11, 8, 5, 9, 10},
	})
}

// Next returns the board after a move, nil where it is not possible.
func (p *Puzzle) Next(board []uint8, move int) []uint8 { return p.next(board, move) }

// Previous returns the boards from which a move leads to this one.
func (p *Puzzle) Previous(board []uint8, move int) [][]uint8 { return p.prev(board, move) }

// Words returns the names of moves.
func (p *Puzzle) Words(moves []int) []string {
	words := make([]string, len(moves))
	for i, m := range moves {
		words[i] = p.Names[m]
	}
	return words
}

// Shortest returns the first shortest way from start to goal, nil where there
// is none: a breadth-first search forward in order of moves, in which each
// board keeps the first board and move that found it.
func (p *Puzzle) Shortest(start, goal []uint8) (moves []int, ok bool) {
	type link struct {
		from string
		move int
	}
	found := map[string]link{string(start): {}}
	queue := [][]uint8{start}
	for len(queue) > 0 && !slices.Equal(queue[0], goal) {
		b := queue[0]
		queue = queue[1:]
		for m := range p.Names {
			n := p.next(b, m)
			if n == nil {
				continue
			}
			if _, again := found[string(n)]; !again {
				found[string(n)] = link{string(b), m}
				queue = append(queue, n)
			}
		}
	}
	if len(queue) == 0 {
		return nil, false
	}
	moves = []int{}
	for at := string(goal); at != string(start); at = found[at].from {
		moves = append(moves, found[at].move)
	}
	slices.Reverse(moves)
	return moves, true
}

// Field is the distances of boards to a goal: of all from which it can be
// reached, or of those at most so many moves away.
type Field struct {
	puzzle *Puzzle
	goal   []uint8
	depth  int // boards farther away are not in the map; -1: all are
	at     map[string]int
	counts []int
}

// All as the depth of a Field is no bound.
const All = -1

// Distances searches from a goal against the moves.
func (p *Puzzle) Distances(goal []uint8, depth int) *Field {
	f := &Field{puzzle: p, goal: goal, depth: depth, at: map[string]int{string(goal): 0}, counts: []int{1}}
	layer := [][]uint8{goal}
	for d := 1; depth == All || d <= depth; d++ {
		var further [][]uint8
		for _, b := range layer {
			for m := range p.Names {
				for _, n := range p.prev(b, m) {
					if _, again := f.at[string(n)]; !again {
						f.at[string(n)] = d
						further = append(further, n)
					}
				}
			}
		}
		if len(further) == 0 {
			break
		}
		f.counts = append(f.counts, len(further))
		layer = further
	}
	return f
}

// Counts returns the number of boards at each distance.
func (f *Field) Counts() []int { return f.counts }

// Boards returns all boards of the field, in order of their bytes.
func (f *Field) Boards() (boards [][]uint8) {
	for _, b := range slices.Sorted(maps.Keys(f.at)) {
		boards = append(boards, []uint8(b))
	}
	return boards
}

// Distance returns a board's distance, as far as the field goes.
func (f *Field) Distance(board []uint8) (d int, ok bool) {
	d, ok = f.at[string(board)]
	return d, ok
}

// Within tells whether at most n moves lead from a board to the goal. Beyond
// the field it tries all moves.
func (f *Field) Within(board []uint8, n int) bool {
	if d, ok := f.at[string(board)]; ok {
		return d <= n
	}
	if f.depth == All || n <= f.depth {
		return false
	}
	for m := range f.puzzle.Names {
		if b := f.puzzle.next(board, m); b != nil && f.Within(b, n-1) {
			return true
		}
	}
	return false
}

// First returns the first of the ways of n moves from a board to the goal, which
// must be n moves away: each step is the first move that leaves n-1.
func (f *Field) First(board []uint8, n int) []int {
	moves := []int{}
	for ; n > 0; n-- {
		for m := range f.puzzle.Names {
			if b := f.puzzle.next(board, m); b != nil && f.Within(b, n-1) {
				board = b
				moves = append(moves, m)
				break
			}
		}
	}
	return moves
}
