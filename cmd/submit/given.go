package main

import (
	"fmt"
	"strings"

	"antipode/internal/limit"
	"antipode/internal/puzzle"
)

// choose reads what --puzzle names and gives.
func (s *submission) choose() error {
	s.puzzles = s.builtin
	for _, name := range s.opts.puzzles {
		p, err := s.builtin.Find(name)
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
	if len(s.given) > limit.JobDefinitions {
		return fmt.Errorf("--puzzle: %d definitions; %d are possible", len(s.given), limit.JobDefinitions)
	}
	s.puzzles = s.builtin.With(s.given...)
	return nil
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
