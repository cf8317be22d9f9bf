package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"antipode/internal/puzzle"
)

// maxGiven is how many puzzles one call may give: their refs travel with every
// chunk of JSON lines.
const maxGiven = 15

// choose reads what --puzzle names and gives.
func (s *submission) choose() error {
	s.puzzles = s.builtin
	for _, name := range s.opts.puzzles {
		p, err := lookUp(s.builtin, name)
		if err != nil {
			return fmt.Errorf("--puzzle: %w", err)
		}
		if len(s.opts.puzzles) == 1 {
			s.only = p
		}
		if p.Definition() == nil {
			continue
		}
		for _, other := range s.given {
			if other.Name == p.Name {
				return fmt.Errorf("--puzzle: two definitions of the name %s; it is the file's, up to the first '.'", p.Name)
			}
		}
		s.given = append(s.given, p)
	}
	if len(s.given) > maxGiven {
		return fmt.Errorf("--puzzle: %d definitions; %d are possible", len(s.given), maxGiven)
	}
	s.puzzles = s.builtin.With(s.given...)
	return nil
}

// lookUp finds a puzzle by its name, or reads the file of a definition.
func lookUp(set *puzzle.Set, name string) (*puzzle.Puzzle, error) {
	if isFile(name) {
		return readDefinition(name)
	}
	p, err := set.Get(name)
	if err != nil {
		return nil, fmt.Errorf("%w; the name of a definition's file ends with .yaml", err)
	}
	return p, nil
}

// isFile tells the name of a file from that of a puzzle, which has none of these.
func isFile(name string) bool { return strings.ContainsAny(name, `./\`) }

// readDefinition reads the file of a definition. The puzzle has its name, up to
// the first '.'.
func readDefinition(path string) (*puzzle.Puzzle, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // a pipe could keep it waiting
		return nil, fmt.Errorf("%s is no regular file; name the file of a definition", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, puzzle.MaxDefinition+1))
	if err != nil {
		return nil, err
	}
	if len(text) > puzzle.MaxDefinition {
		return nil, fmt.Errorf("%s: a definition of more than %d bytes", path, puzzle.MaxDefinition)
	}
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return puzzle.Given(name, path, text)
}

// byName returns the puzzle with whose name that of a job file starts, the
// longest where there are several; nil without one. What follows is '.', '-' or
// nothing.
func (s *submission) byName(file string) (found *puzzle.Puzzle) {
	for _, name := range s.puzzles.Names() { // sorted: a longer name comes later
		rest, ok := strings.CutPrefix(file, name)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '-') {
			found, _ = s.puzzles.Get(name)
		}
	}
	return found
}

// names lists the puzzles there are.
func (s *submission) names() string { return strings.Join(s.puzzles.Names(), ", ") }
