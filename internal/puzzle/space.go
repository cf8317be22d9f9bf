package puzzle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/bits"

	"antipode/internal/limit"
)

// Fingerprint names a space by its mathematics: kind, cells, and moves in
// order, not their names. It keys tables and caches.
type Fingerprint [16]byte

// String returns the fingerprint in hexadecimal.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// Space is the mathematics of a puzzle: its cells and its moves, in order. It
// has one of two kinds of move: permutations of all cells, which every state
// has, or a blank that walks the edges of a graph, so that a state has the
// moves that the blank's cell has. Edges go both ways; a set of permutations
// need not be closed under inverse. A Space does not change once made.
type Space struct {
	cells       int
	names       []string
	perms       []perm           // by move
	inverses    []perm           // by move
	steps       [MaxCells][]step // blank: the ways out of each cell, in order of moves
	entries     [MaxCells][]step // blank: the ways into each cell; To is where the blank comes from
	walk        []uint8          // blank: where move m takes it from cell c, at m*MaxCells+c, or noWay
	blank       bool
	letters     string // the names of the moves, where each is one byte
	fingerprint Fingerprint
}

const noWay = 255

// step is one way of the blank out of a cell: by which move, and where to.
type step struct{ Move, To uint8 }

// Move is a permutation of the cells with its name: cell i takes what stood on
// cell From[i].
type Move struct {
	Name string
	From []uint8
}

// NewPermutations returns the space of n cells moved by permutations.
func NewPermutations(n int, moves []Move) (*Space, error) {
	sp := &Space{cells: n}
	if err := sp.checkSize(len(moves)); err != nil {
		return nil, err
	}
	h := []byte{1, 'p', byte(n), byte(len(moves))}
	for _, m := range moves {
		to := make([]uint8, n)
		var seen uint32
		for i, f := range m.From {
			if int(f) >= n || len(m.From) != n {
				return nil, fmt.Errorf("move %q does not permute %d cells", m.Name, n)
			}
			seen |= 1 << f
			to[f] = uint8(i)
		}
		if seen != 1<<n-1 {
			return nil, fmt.Errorf("move %q sends two cells to one", m.Name)
		}
		sp.names = append(sp.names, m.Name)
		sp.perms = append(sp.perms, newPerm(m.From))
		sp.inverses = append(sp.inverses, newPerm(to))
		h = append(h, m.From...)
	}
	sp.seal(h)
	return sp, nil
}

// NewBlank returns the space of n cells on which a blank walks. Move m takes it
// from a cell to ways[m][cell], or is not possible there where that is
// negative. Ways must come in pairs: where the blank can go, it can come back,
// by whichever move.
func NewBlank(n int, names []string, ways [][]int) (*Space, error) {
	sp := &Space{cells: n, names: names, blank: true}
	if err := sp.checkSize(len(ways)); err != nil {
		return nil, err
	}
	var out [MaxCells]uint32
	h := []byte{1, 'b', byte(n), byte(len(ways))}
	sp.walk = bytes.Repeat([]byte{noWay}, len(ways)*MaxCells)
	for m, way := range ways {
		for from, to := range way {
			h = append(h, byte(to)) // -1 becomes 255
			if to < 0 {
				continue
			}
			if to >= n || to == from || out[from]>>to&1 == 1 {
				return nil, fmt.Errorf("move %q cannot take the blank from cell %d to cell %d", names[m], from+1, to+1)
			}
			out[from] |= 1 << to
			sp.walk[m*MaxCells+from] = uint8(to)
			sp.steps[from] = append(sp.steps[from], step{uint8(m), uint8(to)})
			sp.entries[to] = append(sp.entries[to], step{uint8(m), uint8(from)})
		}
	}
	for from := range n {
		for to := range n {
			if out[from]>>to&1 != out[to]>>from&1 {
				return nil, fmt.Errorf("the blank can go from cell %d to cell %d one way only", from+1, to+1)
			}
		}
	}
	sp.seal(h)
	return sp, nil
}

// NewGraph returns the space of n vertices on which a blank walks the given
// edges; the move is the vertex that the blank goes to, named from 1. An edge
// given twice counts once, one from a vertex to itself not at all.
func NewGraph(n int, edges [][2]uint8) (*Space, error) {
	if n < 2 || n > MaxCells {
		return nil, fmt.Errorf("%d vertices; 2 to %d are possible", n, MaxCells)
	}
	ways, flat := make([][]int, n), make([]int, n*n)
	for i := range flat {
		flat[i] = -1
	}
	for to := range ways {
		ways[to] = flat[to*n : (to+1)*n]
	}
	for _, e := range edges {
		if int(e[0]) >= n || int(e[1]) >= n {
			return nil, fmt.Errorf("edge %d %d leaves the vertices 1 to %d", e[0]+1, e[1]+1, n)
		}
		if e[0] != e[1] {
			ways[e[0]][e[1]], ways[e[1]][e[0]] = int(e[0]), int(e[1])
		}
	}
	return NewBlank(n, vertexNames[:n], ways)
}

var vertexNames = [MaxCells]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"}

func (sp *Space) checkSize(moves int) error {
	if sp.cells < 2 || sp.cells > MaxCells {
		return fmt.Errorf("%d cells; 2 to %d are possible", sp.cells, MaxCells)
	}
	if moves < 1 || moves > limit.Moves {
		return fmt.Errorf("%d moves; 1 to %d are possible", moves, limit.Moves)
	}
	return nil
}

func (sp *Space) seal(mathematics []byte) {
	sum := sha256.Sum256(mathematics)
	copy(sp.fingerprint[:], sum[:])
	letters := make([]byte, len(sp.names))
	for i, name := range sp.names {
		if len(name) != 1 {
			return
		}
		letters[i] = name[0]
	}
	sp.letters = string(letters)
}

// Cells returns the number of cells.
func (sp *Space) Cells() int { return sp.cells }

// Moves returns the names of the moves, in order. Read only.
func (sp *Space) Moves() []string { return sp.names }

// Letters returns the names of the moves one after another, where each is one
// byte long, and "" elsewhere.
func (sp *Space) Letters() string { return sp.letters }

// HasBlank tells the kind of move: whether a blank walks, or permutations act.
func (sp *Space) HasBlank() bool { return sp.blank }

// Fingerprint names the space by its mathematics.
func (sp *Space) Fingerprint() Fingerprint { return sp.fingerprint }

// Apply returns the state after a move, and whether s has that move.
func (sp *Space) Apply(s State, move uint8) (State, bool) {
	if !sp.blank {
		if int(move) >= len(sp.perms) {
			return s, false
		}
		return sp.perms[move].apply(s), true
	}
	b := s.Blank()
	to := sp.way(move, b)
	if to == noWay {
		return s, false
	}
	return s.slide(b, to), true
}

// way returns the cell that a move takes the blank to from cell b, or noWay.
func (sp *Space) way(move uint8, b int) int {
	if i := int(move)*MaxCells + b; i < len(sp.walk) {
		return int(sp.walk[i])
	}
	return noWay
}

// Way returns the state after one of a state's moves, by its place among those that
// the state has, and which move it is: as AppendNext lists them.
func (sp *Space) Way(s State, way int) (State, uint8) {
	if !sp.blank {
		return sp.perms[way].apply(s), uint8(way)
	}
	b := s.Blank()
	st := sp.steps[b][way]
	return s.slide(b, int(st.To)), st.Move
}

// Replay reports whether the moves lead from start to goal.
func (sp *Space) Replay(start, goal State, moves []uint8) bool {
	if sp.blank {
		b := start.Blank()
		for _, m := range moves {
			to := sp.way(m, b)
			if to == noWay {
				return false
			}
			start = start.slide(b, to)
			b = to
		}
		return start == goal
	}
	for _, m := range moves {
		if int(m) >= len(sp.perms) {
			return false
		}
		start = sp.perms[m].apply(start)
	}
	return start == goal
}

// Edge is one move seen from a state: the move, and the state at its other end.
type Edge struct {
	State State
	Move  uint8
}

// AppendNext appends the states one move after s, in order of moves.
func (sp *Space) AppendNext(dst []Edge, s State) []Edge {
	if sp.blank {
		return s.appendSlides(dst, &sp.steps)
	}
	return s.appendPermuted(dst, sp.perms)
}

// AppendPrevious appends the states from which one move leads to s, in order of
// moves.
func (sp *Space) AppendPrevious(dst []Edge, s State) []Edge {
	if sp.blank {
		return s.appendSlides(dst, &sp.entries)
	}
	return s.appendPermuted(dst, sp.inverses)
}

func (s State) appendSlides(dst []Edge, ways *[MaxCells][]step) []Edge {
	b := s.Blank()
	for _, st := range ways[b] {
		dst = append(dst, Edge{s.slide(b, int(st.To)), st.Move})
	}
	return dst
}

func (s State) appendPermuted(dst []Edge, perms []perm) []Edge {
	for m, p := range perms {
		dst = append(dst, Edge{p.apply(s), uint8(m)})
	}
	return dst
}

// perm is a permutation of the cells of a packed state, as few rotations of the
// whole word: cells that go the same way go together.
//
//	cell i takes cell From[i]:  new = OR over the distances d = i - From[i]
//	                                  of rotate(old & cells that go d, 4d)
type perm []turn

type turn struct {
	mask State
	by   int // bits, to the left
}

func newPerm(from []uint8) perm {
	var masks [2 * MaxCells]State
	for i, f := range from {
		masks[i-int(f)+MaxCells] |= 15 << (4 * f)
	}
	var p perm
	for d, mask := range masks {
		if mask != 0 {
			p = append(p, turn{mask, 4 * (d - MaxCells)})
		}
	}
	return p
}

func (p perm) apply(s State) State {
	var r State
	for _, t := range p {
		r |= State(bits.RotateLeft64(uint64(s&t.mask), t.by))
	}
	return r
}
