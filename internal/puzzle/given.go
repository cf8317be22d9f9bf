package puzzle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"antipode/internal/limit"
)

// Hash names a definition by its bytes: their SHA-256 in hexadecimal, which is a
// token.
func Hash(definition []byte) string {
	sum := sha256.Sum256(definition)
	return hex.EncodeToString(sum[:])
}

var (
	nameForm = regexp.MustCompile(fmt.Sprintf(`^[A-Za-z0-9_-]{1,%d}$`, limit.Token))
	hashForm = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Given reads a definition that does not come with the program. Workers know it
// by its name and its hash. File is what messages call it.
func Given(name, file string, definition []byte) (*Puzzle, error) {
	if !nameForm.MatchString(name) {
		return nil, fmt.Errorf("%s: %q is no name of a puzzle; it is the file's, up to the first '.': 1 to 64 letters, digits, - and _", file, name)
	}
	p, err := Parse(name, file, definition)
	if err != nil {
		return nil, err
	}
	p.definition, p.hash = definition, Hash(definition)
	return p, nil
}

// Definition returns the bytes of a given puzzle's definition, nil where it comes
// with the program. Read only.
func (p *Puzzle) Definition() []byte { return p.definition }

// Ref names the puzzle to workers: NAME where it comes with the program,
// NAME@HASH where it was given.
func (p *Puzzle) Ref() string {
	if p.hash == "" {
		return p.Name
	}
	return p.Name + "@" + p.hash
}

// ParseRef splits a Ref; the hash is "" where the puzzle comes with the program.
func ParseRef(ref string) (name, hash string, err error) {
	name, hash, given := strings.Cut(ref, "@")
	if !nameForm.MatchString(name) || given && !hashForm.MatchString(hash) {
		return "", "", fmt.Errorf("%.150q names no puzzle; want NAME, or NAME@HASH with the SHA-256 of its definition", ref)
	}
	return name, hash, nil
}
