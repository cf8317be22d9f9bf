package cache

import (
	"encoding/binary"
	"encoding/hex"

	"antipode/internal/puzzle"
)

// version is that of the keys and values in Redis. Another encoding, or
// another meaning of the same one, needs another version.
const version = "1"

// Key is a question. Two questions with the same key have the same answer.
type Key struct {
	// Fingerprint stands for the mathematics of the puzzle: its kind, its
	// cells and its moves in order.
	Fingerprint [16]byte
	// Start and Goal are in canonical form: labels follow from the goal, by
	// first appearance.
	Start, Goal puzzle.State
}

// nameLen is the length of every name, which is what lets a MAC over name and
// value do without a separator.
const nameLen = len("antipode:"+version+":") + 32 + 1 + 16 + 1 + 16

// name returns the key's name in Redis:
//
//	antipode:1:<fingerprint, 32 hex digits>:<start, 16>:<goal, 16>
func (k Key) name() string {
	b := make([]byte, 0, nameLen)
	b = append(b, "antipode:"+version+":"...)
	b = hex.AppendEncode(b, k.Fingerprint[:])
	b = appendState(append(b, ':'), k.Start)
	b = appendState(append(b, ':'), k.Goal)
	return string(b)
}

func appendState(b []byte, s puzzle.State) []byte {
	var raw [8]byte
	binary.BigEndian.PutUint64(raw[:], uint64(s))
	return hex.AppendEncode(b, raw[:])
}
