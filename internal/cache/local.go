package cache

import (
	"fmt"

	"github.com/maypok86/otter/v2"
)

// overhead is what an entry costs in the process beside its value, in bytes:
// key, string header and otter's bookkeeping. Measured on 64-bit Linux with
// 100,000 to 400,000 entries: 103.
const overhead = 104

// local is the part of the cache that is in the process. Its values are packed
// answers: half the size of Answers, and nobody can change them.
type local struct {
	entries *otter.Cache[Key, string] // nil where nothing is kept
}

func newLocal(bytes int64) (local, error) {
	if bytes == 0 {
		return local{}, nil
	}
	entries, err := otter.New(&otter.Options[Key, string]{
		MaximumWeight: uint64(bytes),
		Weigher:       func(_ Key, packed string) uint32 { return overhead + uint32(len(packed)) },
	})
	if err != nil {
		return local{}, fmt.Errorf("keep answers in the process: %w", err)
	}
	return local{entries: entries}, nil
}

func (l local) get(key Key) *Answer {
	if l.entries == nil {
		return nil
	}
	packed, ok := l.entries.GetIfPresent(key)
	if !ok {
		return nil
	}
	a := unpack(packed)
	return &a
}

func (l local) set(key Key, packed string) {
	if l.entries != nil {
		l.entries.Set(key, packed)
	}
}
