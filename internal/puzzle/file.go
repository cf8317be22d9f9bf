package puzzle

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"antipode/internal/limit"
)

// Find returns the puzzle that a user names: one of the set, or that of the file of
// a definition.
func (s *Set) Find(name string) (*Puzzle, error) {
	if isFile(name) {
		return readDefinition(name)
	}
	p, err := s.Get(name)
	if err != nil {
		return nil, fmt.Errorf("%w; the name of a definition's file ends with .yaml", err)
	}
	return p, nil
}

// isFile tells the name of a file from that of a puzzle, which has none of these.
func isFile(name string) bool { return strings.ContainsAny(name, `./\`) }

// readDefinition reads the file of a definition. The puzzle has its name, up to
// the first '.'.
func readDefinition(path string) (*Puzzle, error) {
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
	text, err := io.ReadAll(io.LimitReader(f, limit.Definition+1))
	if err != nil {
		return nil, err
	}
	if len(text) > limit.Definition {
		return nil, fmt.Errorf("%s: a definition of more than %d bytes", path, limit.Definition)
	}
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return Given(name, path, text)
}
