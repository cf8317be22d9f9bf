package puzzle

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"antipode/internal/limit"
)

// setMoves makes the space, but where records bring their own.
func (p *Puzzle) setMoves(d *definition, s *source) (err error) {
	switch {
	case d.Blank == nil && d.Moves == nil:
		return s.wrong("", "no moves; give one kind of move: blank, or moves")
	case d.Blank != nil && d.Moves != nil:
		return s.wrong("moves", "beside blank; give one kind of move")
	case d.Moves != nil:
		p.space, err = newPermutations(p.cells, d.Moves, s)
		return err
	}
	p.blank = true
	switch b := d.Blank; {
	case b.Moves == nil && b.Edges == nil:
		return s.wrong("blank", "no moves and no edges; give either")
	case b.Moves != nil && b.Edges != nil:
		return s.wrong("blank.edges", "beside moves; give either")
	case b.Moves != nil && b.Names != nil:
		return s.wrong("blank.names", "beside moves; write {name: N, way: d} in moves to name a way")
	case b.Moves != nil:
		p.space, err = newGrid(d.Width, d.Height, b.Moves, s)
	case b.Edges.perRecord && b.Names != nil:
		return s.wrong("blank.names", "beside edges: record; where records bring edges, vertices go by their numbers")
	case !b.Edges.perRecord:
		p.space, err = newGraph(p.cells, b, s)
	}
	return err
}

// nameList is names of moves, checked.
type nameList struct {
	*source
	seen []string
}

func (n *nameList) add(key, name string) error {
	switch {
	case name == "" || len(name) > limit.MoveName || strings.ContainsFunc(name, unicode.IsControl):
		return n.wrong(key, "%s is no name; 1 to %d bytes without control characters are possible", quote([]byte(name)), limit.MoveName)
	case slices.Contains(n.seen, name):
		return n.wrong(key, "two moves are named %s; give each its own name", quote([]byte(name)))
	}
	n.seen = append(n.seen, name)
	return nil
}

func newPermutations(cells int, defs []moveDef, s *source) (*Space, error) {
	if len(defs) < 1 || len(defs) > limit.Moves {
		return nil, s.wrong("moves", "%d moves; 1 to %d are possible", len(defs), limit.Moves)
	}
	moves := make([]Move, len(defs))
	names := nameList{source: s}
	for i, m := range defs {
		key := item("moves", i)
		if err := names.add(key+".name", m.Name); err != nil {
			return nil, err
		}
		if !s.has(key + ".cycles") {
			return nil, s.wrong(key+".cycles", "missing; write where what stands on a cell goes, as (1 2 3)(4 5)")
		}
		from, err := parseCycles(m.Cycles, cells)
		if err != nil {
			return nil, s.wrong(key+".cycles", "%v", err)
		}
		moves[i] = Move{m.Name, from}
	}
	return NewPermutations(cells, moves)
}

// newGrid returns the space of a blank that walks a board of rows.
func newGrid(width, height int, defs []wayDef, s *source) (*Space, error) {
	const key = "blank.moves"
	switch {
	case width == 0:
		return nil, s.wrong(key, "on a board without rows; give width and height, or edges instead of moves")
	case len(defs) == 0:
		return nil, s.wrong(key, "no moves; give some of d l r u, each with its opposite")
	}
	names := nameList{source: s}
	var ways [][]int
	has := func(defs []wayDef, way string) bool {
		return slices.ContainsFunc(defs, func(def wayDef) bool { return def.Way == way })
	}
	for i, def := range defs {
		way := gridWay(width, height, def.Way)
		switch {
		case way == nil:
			return nil, s.wrong(item(key, i), "%s is no way of the blank; d l r u are possible: down, left, right, up", quote([]byte(def.Way)))
		case has(defs[:i], def.Way):
			return nil, s.wrong(item(key, i), "the way %s is given again; give it once", def.Way)
		}
		if err := names.add(item(key, i), def.Name); err != nil {
			return nil, err
		}
		ways = append(ways, way)
	}
	for i, def := range defs {
		if back := opposite(def.Way); !has(defs, back) {
			return nil, s.wrong(item(key, i), "the way %s has no way back; give %s too, or neither", def.Way, back)
		}
	}
	return NewBlank(width*height, names.seen, ways)
}

// gridWay returns for each cell where a way takes the blank, -1 where it leaves
// the board; nil where the word is no way.
func gridWay(width, height int, word string) []int {
	way := make([]int, width*height)
	for c := range way {
		x, y := c%width, c/width
		switch word {
		case "d":
			y++
		case "l":
			x--
		case "r":
			x++
		case "u":
			y--
		default:
			return nil
		}
		way[c] = y*width + x
		if x < 0 || x >= width || y < 0 || y >= height {
			way[c] = -1
		}
	}
	return way
}

func opposite(way string) string {
	return map[string]string{"d": "u", "u": "d", "l": "r", "r": "l"}[way]
}

// newGraph returns the space of a blank that walks a definition's edges.
func newGraph(cells int, b *blankDef, s *source) (*Space, error) {
	edges := make([][2]uint8, len(b.Edges.list))
	for i, e := range b.Edges.list {
		if len(e) != 2 || min(e[0], e[1]) < 1 || max(e[0], e[1]) > cells {
			return nil, s.wrong(item("blank.edges", i), "%s is no edge; two vertices of 1 to %d are possible", quote(fmt.Append(nil, e)), cells)
		}
		edges[i] = [2]uint8{uint8(e[0] - 1), uint8(e[1] - 1)}
	}
	space, err := NewGraph(cells, edges)
	if err != nil || b.Names == nil {
		return space, err
	}
	if len(b.Names) != cells {
		return nil, s.wrong("blank.names", "%d names for %d vertices; give each its own, in order", len(b.Names), cells)
	}
	names := nameList{source: s}
	for i, name := range b.Names {
		if err := names.add(item("blank.names", i), name); err != nil {
			return nil, err
		}
	}
	space.names = names.seen
	return space, nil
}

// parseCycles reads a product of disjoint cycles over n cells numbered from 1
// and returns for each cell the cell from which it takes what stands there.
func parseCycles(s string, n int) ([]uint8, error) {
	from := make([]uint8, n)
	for i := range from {
		from[i] = uint8(i)
	}
	var moved uint32
	rest := strings.TrimSpace(s)
	for rest != "" {
		body, after, ok := strings.Cut(rest, ")")
		if !ok || !strings.HasPrefix(body, "(") {
			return nil, fmt.Errorf("%s is no product of cycles; write it as (1 2 3)(4 5)", quote([]byte(s)))
		}
		rest = strings.TrimSpace(after)
		fields := strings.Fields(body[1:])
		cycle := make([]int, len(fields))
		for i, f := range fields {
			c, ok := wordNumber([]byte(f))
			switch {
			case !ok:
				return nil, fmt.Errorf("%s is no cell; cells are the numbers 1 to %d, with spaces between them", quote([]byte(f)), n)
			case c < 1 || c > n:
				return nil, fmt.Errorf("cell %d is none of the %d cells; cells are numbered from 1", c, n)
			case moved>>c&1 == 1:
				return nil, fmt.Errorf("cell %d stands in it twice; a cell goes to one cell", c)
			}
			moved |= 1 << c
			cycle[i] = c - 1
		}
		for i, c := range cycle {
			from[cycle[(i+1)%len(cycle)]] = uint8(c)
		}
	}
	return from, nil
}
