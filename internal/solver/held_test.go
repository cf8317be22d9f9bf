package solver

import "testing"

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
	if h := s.Held(); h.Searches != 1 {
		t.Errorf("%d searches, want 1", h.Searches)
	}
	s.searches <- search
}
