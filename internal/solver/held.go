package solver

// Held is what a Solver holds just now.
type Held struct {
	Tables   Share // built
	Stored   Share // tables mapped from files; their memory is the kernel's
	Patterns Share // pattern databases
	Searches Share // that are under way; the bytes are of idle ones too
}

// Share is how many of a kind there are, and their bytes.
type Share struct {
	Count int
	Bytes int64
}

func (s *Share) add(bytes int64) {
	s.Count++
	s.Bytes += bytes
}

// Held returns what the Solver holds. What is being built is no part of it.
func (s *Solver) Held() Held {
	h := Held{Searches: Share{Count: cap(s.searches) - len(s.searches)}}
	for _, search := range s.all {
		h.Searches.Bytes += search.held.Load()
	}
	ts := &s.targets
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, t := range ts.known {
		switch table := t.table.Load(); {
		case table == nil:
		case table.mapped:
			h.Stored.add(table.codesBytes())
		default:
			bytes, _ := table.bytes()
			h.Tables.add(bytes)
		}
		if p := t.patterns.Load(); p != nil {
			h.Patterns.add(p.bytes())
		}
	}
	return h
}
