package puzzle

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"antipode/internal/plain"
)

// subject is a puzzle twice: ours and in plain form.
type subject struct {
	reach *Reach
	plain *plain.Puzzle
}

func graphSpace(t testing.TB, n int, edges [][2]uint8) *Space {
	sp, err := NewGraph(n, edges)
	if err != nil {
		t.Fatal(err)
	}
	return sp
}

func graphSubject(t testing.TB, n int, edges [][2]uint8) subject {
	var joined [MaxCells][MaxCells]bool
	for _, e := range edges {
		joined[e[0]][e[1]], joined[e[1]][e[0]] = e[0] != e[1], e[0] != e[1]
	}
	return subject{NewReach(graphSpace(t, n, edges)), plain.Blank(n, make([]string, n), func(from, to int) int {
		if joined[from][to] {
			return to
		}
		return -1
	})}
}

func permutationSubject(t testing.TB, n int, from [][]int) subject {
	var moves []Move
	for _, f := range from {
		var m Move
		for _, c := range f {
			m.From = append(m.From, uint8(c))
		}
		moves = append(moves, m)
	}
	sp, err := NewPermutations(n, moves)
	if err != nil {
		t.Fatal(err)
	}
	return subject{NewReach(sp), plain.Permutations(n, make([]string, len(from)), from)}
}

// eachArrangement calls f with each order of some labels, once; f must not keep it.
func eachArrangement(labels []int, f func(board []uint8)) {
	var left [MaxCells]int
	for _, l := range labels {
		left[l]++
	}
	board := make([]uint8, 0, len(labels))
	var place func()
	place = func() {
		if len(board) == len(labels) {
			f(board)
			return
		}
		for l := range left {
			if left[l] > 0 {
				left[l]--
				board = append(board, uint8(l))
				place()
				board = board[:len(board)-1]
				left[l]++
			}
		}
	}
	place()
}

func ints(board []uint8) (labels []int) {
	for _, v := range board {
		labels = append(labels, int(v))
	}
	return labels
}

// compare compares what is said of every order of a goal's labels with the plain
// search. It returns whether the number of states is known.
func (s subject) compare(t *testing.T, goal []uint8) (known bool) {
	t.Helper()
	field := s.plain.Distances(goal, plain.All)
	boards := 0
	for _, n := range field.Counts() {
		boards += n
	}
	distinct := len(slices.Compact(slices.Sorted(slices.Values(goal)))) == len(goal)
	n, known := s.reach.States(Pack(goal))
	if known && n != uint64(boards) || distinct && !known {
		t.Fatalf("%v: %d states, %v; want %d", goal, n, known, boards)
	}
	eachArrangement(ints(goal), func(start []uint8) {
		_, want := field.Distance(start)
		if got := s.reach.Possible(Pack(start), Pack(goal)); got != want && (known || want) {
			t.Fatalf("%v to %v: possible %v, want %v", start, goal, got, want)
		}
		if got := s.reach.Reachable(Pack(start), Pack(goal)); distinct && got != want {
			t.Fatalf("%v to %v: reachable %v, want %v", start, goal, got, want)
		}
	})
	return known
}

// goalWithBlank returns the labels 1, 2, … in a random order, and 0 on one cell.
func goalWithBlank(rng *rand.Rand, n, blank int) []uint8 {
	goal := make([]uint8, n)
	for i, v := range rng.Perm(n) {
		goal[i] = uint8(v)
	}
	at := slices.Index(goal, 0)
	goal[at], goal[blank] = goal[blank], 0
	return goal
}

// eachColouring calls f with each way to label cells, but for the names of labels,
// which rise from first.
func eachColouring(n, first int, f func(board []uint8)) {
	board := make([]uint8, 0, n)
	var label func(next int)
	label = func(next int) {
		if len(board) == n {
			f(board)
			return
		}
		for l := first; l <= next; l++ {
			board = append(board, uint8(l))
			label(max(next, l+1))
			board = board[:len(board)-1]
		}
	}
	label(first)
}

// pairs returns all edges of a complete graph.
func pairs(n int) (edges [][2]uint8) {
	for j := range n {
		for i := range j {
			edges = append(edges, [2]uint8{uint8(i), uint8(j)})
		}
	}
	return edges
}

func chosen(edges [][2]uint8, mask int) (subset [][2]uint8) {
	for i, e := range edges {
		if mask>>i&1 == 1 {
			subset = append(subset, e)
		}
	}
	return subset
}

// renamed gives the vertices other numbers.
func renamed(rng *rand.Rand, n int, edges [][2]uint8) [][2]uint8 {
	to := rng.Perm(n)
	other := make([][2]uint8, len(edges))
	for i, e := range edges {
		other[i] = [2]uint8{uint8(to[e[0]]), uint8(to[e[1]])}
	}
	return other
}

// trail returns the edges from a vertex over others to the last.
func trail(vertices ...uint8) (edges [][2]uint8) {
	for i, v := range vertices[1:] {
		edges = append(edges, [2]uint8{vertices[i], v})
	}
	return edges
}

// theta0 is the exception of Wilson's theorem: a hexagon, and a vertex joined to
// two opposite ones.
func theta0() [][2]uint8 {
	return append(trail(0, 1, 2, 3, 4, 5, 0), trail(0, 6, 3)...)
}

// Every graph of up to four vertices, connected or not, from every state to each
// place of the blank.
func TestSmallGraphsAgainstPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := 2; n <= 4; n++ {
		for mask := range 1 << len(pairs(n)) {
			s := graphSubject(t, n, chosen(pairs(n), mask))
			for blank := range n {
				s.compare(t, goalWithBlank(rng, n, blank))
			}
		}
	}
}

// randomMoves returns some permutations; most leave some cells alone.
func randomMoves(rng *rand.Rand, n int) [][]int {
	from := make([][]int, 1+rng.IntN(3))
	for m := range from {
		cells, order := rng.Perm(n)[:2+rng.IntN(n-1)], rng.Perm(n)
		from[m] = make([]int, n)
		for i := range from[m] {
			from[m][i] = i
		}
		slices.SortStableFunc(cells, func(a, b int) int { return order[a] - order[b] })
		for i, c := range cells { // a cycle, or two of them
			from[m][c] = cells[(i+1)%len(cells)]
		}
		if len(cells) > 3 && rng.IntN(2) == 0 {
			a, b := cells[0], cells[2]
			from[m][a], from[m][b] = from[m][b], from[m][a]
		}
	}
	return from
}

func TestPermutationsAgainstPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		n := 2 + rng.IntN(4)
		s := permutationSubject(t, n, randomMoves(rng, n))
		goal := make([]uint8, n)
		for i, v := range rng.Perm(n) {
			goal[i] = uint8(v)
		}
		s.compare(t, goal)
	}
}

// Labels repeat in every way.
func TestColouringsAgainstPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	known, unknown := 0, 0
	compare := func(s subject, goal []uint8) {
		if s.compare(t, goal) {
			known++
		} else {
			unknown++
		}
	}
	for range 80 {
		n := 2 + rng.IntN(4)
		s := permutationSubject(t, n, randomMoves(rng, n))
		eachColouring(n, 0, func(goal []uint8) { compare(s, goal) })
		s = graphSubject(t, n, randomGraph(rng, n))
		eachColouring(n-1, 1, func(pieces []uint8) {
			compare(s, slices.Insert(slices.Clone(pieces), rng.IntN(n), 0))
		})
	}
	if known < 100 || unknown < 100 {
		t.Errorf("the number of states is known %d times, not known %d times: too few to compare", known, unknown)
	}
}

// randomGraph returns the edges of a graph of any density; most are connected, and
// many have bridges and vertices that cut them.
func randomGraph(rng *rand.Rand, n int) (edges [][2]uint8) {
	if rng.IntN(4) == 0 {
		return chosen(pairs(n), rng.IntN(1<<min(len(pairs(n)), 60))&rng.Int())
	}
	for i := 1; i < n; i++ { // a tree that tends to be a path, then edges that tend to be short
		edges = append(edges, [2]uint8{uint8(i), uint8(max(rng.IntN(i), rng.IntN(i)))})
	}
	for range rng.IntN(n + 2) {
		i := rng.IntN(n)
		edges = append(edges, [2]uint8{uint8(i), uint8((i + 2 + rng.IntN(4)) % n)})
	}
	return renamed(rng, n, edges)
}

// graph is a graph as a matrix, for a theory of its own.
type graph [MaxCells][MaxCells]bool

func graphOf(edges [][2]uint8) (g graph) {
	for _, e := range edges {
		g[e[0]][e[1]], g[e[1]][e[0]] = e[0] != e[1], e[0] != e[1]
	}
	return g
}

// reach returns the vertices that can be reached from one without another.
func (g *graph) reach(from, without int) (seen [MaxCells]bool) {
	var visit func(int)
	visit = func(v int) {
		seen[v] = true
		for w, joined := range g[v] {
			if joined && w != without && !seen[w] {
				visit(w)
			}
		}
	}
	visit(from)
	return seen
}

// states returns the number of states of a blank on a vertex, by Wilson, "Graph
// puzzles, homotopy, and the alternating group", Journal of Combinatorial Theory
// B 16 (1974), for each block, a part that no vertex cuts: of m vertices, it moves
// its other m-1 pieces in a circle if it is one, evenly if it is bipartite, at
// will if it is not, and in 120 ways if it is theta0. With the blank in one
// place, blocks do not share pieces.
func (g *graph) states(blank int) uint64 {
	component := g.reach(blank, -1)
	n := uint64(0)
	for _, in := range component {
		if in {
			n++
		}
	}
	var done graph
	for a := range g {
		for b := range g {
			if component[a] && g[a][b] && !done[a][b] {
				block := g.block(a, b, &done)
				n *= block.moved()
			}
		}
	}
	return n
}

// block returns the block of an edge: edges that meet in a vertex are in the same
// one where their other ends are joined without it.
func (g *graph) block(a, b int, done *graph) (block graph) {
	var take func(a, b int)
	take = func(a, b int) {
		if block[a][b] {
			return
		}
		block[a][b], block[b][a], done[a][b], done[b][a] = true, true, true, true
		for _, e := range [2][2]int{{a, b}, {b, a}} {
			for c, joined := range g.reach(e[1], e[0]) {
				if joined && g[e[0]][c] {
					take(e[0], c)
				}
			}
		}
	}
	take(a, b)
	return block
}

// moved returns the order of a block's group.
func (g *graph) moved() uint64 {
	vertices, ends := 0, 0
	order := uint64(1) // (vertices-1)!
	var forks []int
	for v, row := range g {
		degree := 0
		for _, joined := range row {
			if joined {
				degree++
			}
		}
		if degree > 0 {
			order *= uint64(max(vertices, 1))
			vertices++
		}
		if degree == 3 {
			forks = append(forks, v)
		}
		ends += degree
	}
	common := 0
	if len(forks) == 2 {
		for v := range g {
			if g[forks[0]][v] && g[forks[1]][v] {
				common++
			}
		}
	}
	switch edges := ends / 2; {
	case edges == 1:
		return 1
	case edges == vertices:
		return uint64(vertices - 1)
	case edges == 8 && vertices == 7 && common == 1 && !g[forks[0]][forks[1]]:
		return 120
	case g.bipartite():
		return order / 2
	}
	return order
}

func (g *graph) bipartite() bool {
	var side [MaxCells]int
	ok := true
	var visit func(v, s int)
	visit = func(v, s int) {
		side[v] = s
		for w, joined := range g[v] {
			if joined && side[w] == 0 {
				visit(w, -s)
			}
			ok = ok && !(joined && side[w] == s)
		}
	}
	for v := range g {
		if side[v] == 0 {
			visit(v, 1)
		}
	}
	return ok
}

// The number of states is that of Wilson's theorem, on thousands of graphs of all
// sizes; what is walked to can be reached, and what a bipartite graph's parity
// forbids cannot.
func TestGraphsAgainstWilson(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	exceptions := 0
	for i := range 4000 {
		n := 2 + rng.IntN(MaxCells-1)
		if i%2 == 0 {
			n = 9
		}
		edges := randomGraph(rng, n)
		if i%50 == 0 {
			n = 7 + rng.IntN(10)
			edges = theta0()
			for v := 7; v < n; v++ {
				edges = append(edges, [2]uint8{uint8(v), uint8(rng.IntN(v))})
			}
			edges = renamed(rng, n, edges)
			exceptions++
		}
		sp, g := graphSpace(t, n, edges), graphOf(edges)
		r := NewReach(sp)
		blank := rng.IntN(n)
		goal := Pack(goalWithBlank(rng, n, blank))
		if got, ok := r.States(goal); !ok || got != g.states(blank) {
			t.Fatalf("%d vertices, edges %v, blank %d: %d states, %v; want %d", n, edges, blank, got, ok, g.states(blank))
		}
		s := goal
		for range 100 {
			if next := sp.AppendNext(nil, s); len(next) > 0 {
				s = next[rng.IntN(len(next))].State
			}
			if !r.Reachable(s, goal) || !r.Reachable(goal, s) {
				t.Fatalf("%d vertices, edges %v: %x cannot be reached from %x", n, edges, s, goal)
			}
		}
		pieces := slices.DeleteFunc(rng.Perm(n), func(c int) bool { return c == s.Blank() })
		if n > 2 && g.bipartite() {
			a, b := pieces[0], pieces[1]
			other := s&^(15<<(4*a)|15<<(4*b)) | State(s.At(a))<<(4*b) | State(s.At(b))<<(4*a)
			if r.Reachable(other, goal) {
				t.Fatalf("%d vertices, edges %v: %x can be reached from %x, and so can %x", n, edges, goal, s, other)
			}
		}
	}
	if exceptions < 50 {
		t.Errorf("%d graphs hold the exception", exceptions)
	}
}

// Numbers of states that are well known.
func TestKnownStates(t *testing.T) {
	grid := func(width, height int) *Space {
		var edges [][2]uint8
		for i := range width * height {
			if i%width > 0 {
				edges = append(edges, [2]uint8{uint8(i - 1), uint8(i)})
			}
			if i >= width {
				edges = append(edges, [2]uint8{uint8(i - width), uint8(i)})
			}
		}
		return graphSpace(t, width*height, edges)
	}
	star := func(n int) (edges [][2]uint8) {
		for i := 1; i < n; i++ {
			edges = append(edges, [2]uint8{0, uint8(i)})
		}
		return edges
	}
	for _, c := range []struct {
		name  string
		space *Space
		want  uint64
	}{
		{"eight", builtin(t, "eight").Space(), 181440},
		{"swap", builtin(t, "swap").Space(), 362880},
		{"rotegame", builtin(t, "rotegame").Space(), 479001600},
		{"2x2", grid(2, 2), 12},
		{"3x2", grid(3, 2), 360},
		{"3x3", grid(3, 3), 181440},
		{"4x3", grid(4, 3), 239500800},
		{"4x4", grid(4, 4), 10461394944000},
		{"8x2", grid(8, 2), 10461394944000},
		{"one row", grid(9, 1), 9},
		{"star", graphSpace(t, 16, star(16)), 16},
		{"no edges", graphSpace(t, 16, nil), 1},
		{"two vertices", graphSpace(t, 2, pairs(2)), 2},
		{"ring of 9", graphSpace(t, 9, append(trail(0, 1, 2, 3, 4, 5, 6, 7, 8), [2]uint8{8, 0})), 72},
		{"theta0", graphSpace(t, 7, theta0()), 840},
		{"complete", graphSpace(t, 16, pairs(16)), 20922789888000},
	} {
		labels := State(identity).AppendLabels(nil, c.space.Cells())
		if got, ok := NewReach(c.space).States(Pack(labels)); !ok || got != c.want {
			t.Errorf("%s: %d states, %v; want %d", c.name, got, ok, c.want)
		}
	}
}

func TestQueriesDoNotAllocate(t *testing.T) {
	r := NewReach(graphSpace(t, 7, theta0()))
	start, goal := Pack([]uint8{1, 2, 3, 0, 4, 5, 6}), Pack([]uint8{0, 1, 2, 3, 4, 5, 6})
	if n := testing.AllocsPerRun(100, func() {
		r.Reachable(start, goal)
		r.Possible(start, goal)
		r.States(goal)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkNewReach(b *testing.B) {
	for _, more := range []int{0, 1, 2, 4, 10, 28} {
		b.Run(strconv.Itoa(8+more)+"edges", func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			spaces := make([]*Space, 1000)
			for i := range spaces {
				var edges [][2]uint8
				for v := 1; v < 9; v++ {
					edges = append(edges, [2]uint8{uint8(v), uint8(rng.IntN(v))})
				}
				for range more {
					edges = append(edges, pairs(9)[rng.IntN(36)])
				}
				spaces[i] = graphSpace(b, 9, renamed(rng, 9, edges))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				NewReach(spaces[i%1000]).Reachable(0x876543210, 0x876543201)
			}
		})
	}
}

func BenchmarkReachable(b *testing.B) {
	for _, c := range []struct {
		name  string
		space *Space
	}{
		{"eight", builtin(b, "eight").Space()},
		{"rotegame", builtin(b, "rotegame").Space()},
		{"theta0", graphSpace(b, 7, theta0())},
	} {
		r, n := NewReach(c.space), c.space.Cells()
		rng := rand.New(rand.NewPCG(1, 1))
		boards := make([]State, 1024)
		for i := range boards {
			boards[i] = Pack(goalWithBlank(rng, n, rng.IntN(n)))
		}
		b.Run(c.name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				r.Reachable(boards[i%1024], boards[i/1024%1024])
			}
		})
		b.Run(c.name+"/possible", func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				r.Possible(boards[i%1024], boards[i/1024%1024])
			}
		})
	}
}
