package cache

import (
	"errors"
	"fmt"

	"antipode/internal/job"
	"antipode/internal/limit"
)

// Answer is what became of a question.
type Answer struct {
	// Status is job.Solved or job.Unreachable; no other answer is kept.
	Status job.Status
	// Moves are indices (0..255) in the order of the puzzle's moves, from
	// start to goal. Their number is the distance.
	Moves []uint8
}

// keepable reports whether the answer may be kept: it is a fact about the
// question, and not too long.
func (a Answer) keepable() bool {
	return a.Status.Final() && len(a.Moves) <= limit.CachedMoves
}

// The first byte of a packed answer. Redis holds values longer than any
// program runs, so these are not job.Status, whose numbers may change.
const (
	solved      = 's'
	unreachable = 'u'
)

// errGarbage says that a value is none that this package writes, whatever the
// secret.
var errGarbage = errors.New("not an answer")

// pack writes a keepable answer as a status byte and a byte for each move. The
// result is a string since it is shared and must not change.
func pack(a Answer) string {
	if a.Status == job.Unreachable {
		return string(rune(unreachable))
	}
	b := make([]byte, 0, 1+len(a.Moves))
	return string(append(append(b, solved), a.Moves...))
}

// unpack reads a packed answer that check has passed. The moves are the
// caller's own.
func unpack(packed string) Answer {
	if packed[0] == unreachable {
		return Answer{Status: job.Unreachable}
	}
	return Answer{Status: job.Solved, Moves: []uint8(packed[1:])}
}

// check returns an error that wraps errGarbage unless pack could have written
// the text.
func check(packed string) error {
	switch {
	case packed == "":
		return fmt.Errorf("empty: %w", errGarbage)
	case packed[0] == unreachable && len(packed) > 1:
		return fmt.Errorf("unreachable, and yet %d moves: %w", len(packed)-1, errGarbage)
	case packed[0] != solved && packed[0] != unreachable:
		return fmt.Errorf("status %q: %w", packed[0], errGarbage)
	case len(packed)-1 > limit.CachedMoves:
		return fmt.Errorf("%d moves, more than %d: %w", len(packed)-1, limit.CachedMoves, errGarbage)
	}
	return nil
}
