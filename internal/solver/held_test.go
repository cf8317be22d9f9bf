package solver

import (
	"sync/atomic"
	"testing"
)

// A solver holds what it built, and knows the searches under way.
func TestHeld(t *testing.T) {
	s := New(Config{Searches: 3, Memory: 1 << 30, TableMemory: 64 << 20})
	if h := s.Held(); h != (Held{}) {
		t.Errorf("at first %+v", h)
	}
	n, err := s.Prepare(t.Context(), builtin(t, "swap"), builtin(t, "eight"))
	if err != nil {
		t.Fatal(err)
	}
	const boards = 362880 // a byte each for swap's distances alone
	if h := s.Held(); n != 2 || h.Tables.Count != n || h.Tables.Bytes < boards || h.Tables.Bytes > 64<<20 || h.Stored != (Share{}) || h.Patterns != (Share{}) {
		t.Errorf("%d tables: %+v", n, h)
	}
	eleven := slide(t, 4, 3)
	q := eleven.ask(solvedWithBlank(12, 0), solvedWithBlank(12, 0))
	if s.targets.makePatterns(t.Context(), s.targets.of(q)) == nil {
		t.Fatal("no patterns")
	}
	if h := s.Held(); h.Patterns.Count != 1 || h.Tables.Bytes+h.Patterns.Bytes != s.targets.held {
		t.Errorf("with patterns %+v of %d bytes", h, s.targets.held)
	}
	search := <-s.searches // as a search takes it
	if _, _, end, err := search.run(t.Context(), rotegame(t).ask(upTo(1, 12), []uint8{12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}), limits{progress: new(atomic.Int64)}, nil); end != found || err != nil {
		t.Fatal(end, err)
	}
	kept := search.states() * stateBytes
	if h := s.Held(); h.Searches.Count != 1 || h.Searches.Bytes < kept || h.Searches.Bytes > 1<<30/3 {
		t.Errorf("one search of %d bytes: %+v", kept, h.Searches)
	}
	search.forward.release()
	search.note()
	s.searches <- search
	if h := s.Held(); h.Searches.Count != 0 || h.Searches.Bytes != search.backward.bytes() {
		t.Errorf("at the end %+v", h.Searches)
	}
}
