// Package puzzle says what a permutation puzzle is: its cells and moves, its
// states, its definition as data, and how its boards are read from text.
//
// It is pure: values in, values out, but for the file of a definition (file.go).
package puzzle

import (
	"embed"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Want says what an answer holds.
type Want uint8

// Distance asks for the number of moves, Moves for the moves too.
const (
	Distance Want = iota
	Moves
)

// String returns the word that stands for w.
func (w Want) String() string { return [...]string{"distance", "moves"}[w] }

// ParseWant reads distance or moves.
func ParseWant(s string) (Want, error) {
	switch s {
	case "distance":
		return Distance, nil
	case "moves":
		return Moves, nil
	}
	return 0, fmt.Errorf("want: %q; distance or moves are possible", s)
}

// part is one part of a text record.
type part uint8

const (
	edgesPart  part = iota // M, then M pairs of vertices
	startPart              // a board: one value for each cell, or one word
	goalPart               // another
	placesPart             // the vertices of the pieces in order, the start seen from its pieces
)

// Puzzle is a definition: a space, how its records are read, how its answers
// are printed, and how many make a chunk. It does not change once made.
type Puzzle struct {
	Name    string
	About   string // one sentence
	Example string // a job file

	Width, Height int  // 0 where the board is a graph
	Count         bool // a job file starts with the number of its records
	Want          Want // unless a job says otherwise
	Case          bool // text answers start with "Case k: "
	Separator     string
	ChunkRecords  int

	cells     int
	blank     bool
	space     *Space // nil where every record brings its own
	from, to  int    // least and largest value of a piece
	repeat    bool   // values may stand on a board more than once
	parts     []part
	goal      *labelling // nil where records bring theirs
	goalBoard Board

	definition []byte // with its hash; empty where it comes with the program
	hash       string
}

// Cells returns the number of cells.
func (p *Puzzle) Cells() int { return p.cells }

// Space returns the puzzle's space, nil where every record brings its own.
func (p *Puzzle) Space() *Space { return p.space }

// HasBlank tells the kind of move.
func (p *Puzzle) HasBlank() bool { return p.blank }

// Values returns the least and the largest value of a piece, and whether one
// may stand on a board more than once.
func (p *Puzzle) Values() (from, to int, repeat bool) { return p.from, p.to, p.repeat }

// Goal returns the goal of records that bring none, and whether there is one.
func (p *Puzzle) Goal() ([]uint8, bool) { return p.goalBoard[:p.cells], p.goal != nil }

// BringsGoal tells whether text records bring their goal.
func (p *Puzzle) BringsGoal() bool { return p.parts[len(p.parts)-1] == goalPart }

// Parts names the parts of a text record in order.
func (p *Puzzle) Parts() []string {
	names := make([]string, len(p.parts))
	for i, part := range p.parts {
		names[i] = [...]string{"edges", "start", "goal", "places"}[part]
	}
	return names
}

//go:embed builtin/*.yaml
var builtins embed.FS

// Set is a set of puzzles. It does not change once made.
type Set struct {
	names   []string           // sorted
	puzzles map[string]*Puzzle // by name, and by ref
}

// Builtin reads the definitions that come with the program.
func Builtin() (*Set, error) {
	files, err := builtins.ReadDir("builtin")
	if err != nil {
		return nil, err
	}
	var all []*Puzzle
	for _, f := range files {
		text, err := builtins.ReadFile(path.Join("builtin", f.Name()))
		if err != nil {
			return nil, err
		}
		p, err := Parse(strings.TrimSuffix(f.Name(), ".yaml"), f.Name(), text)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return new(Set).With(all...), nil
}

// With returns the set with other puzzles, each of which takes the place of one
// of its name.
func (s *Set) With(puzzles ...*Puzzle) *Set {
	w := &Set{puzzles: maps.Clone(s.puzzles)}
	if w.puzzles == nil {
		w.puzzles = map[string]*Puzzle{}
	}
	for _, p := range puzzles {
		w.puzzles[p.Name], w.puzzles[p.Ref()] = p, p
	}
	for key, p := range w.puzzles {
		if key == p.Name {
			w.names = append(w.names, key)
		}
	}
	slices.Sort(w.names)
	return w
}

// Names returns the names of the puzzles, sorted.
func (s *Set) Names() []string { return slices.Clone(s.names) }

// Get returns a puzzle by its name or its ref. The error lists the names there
// are.
func (s *Set) Get(name string) (*Puzzle, error) {
	if p, ok := s.puzzles[name]; ok {
		return p, nil
	}
	return nil, fmt.Errorf("unknown puzzle %.150q; there are %s", name, strings.Join(s.names, ", "))
}
