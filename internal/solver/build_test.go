package solver

import (
	"testing"

	"antipode/internal/job"
	"antipode/internal/puzzle"
)

// nine numbers the boards of the 8-puzzle.
var nine = numbering(9, true)

func BenchmarkTable(b *testing.B) {
	for _, c := range []struct {
		name  string
		space *puzzle.Space
		blank int
	}{{"eight", eight(b).Space(), 0}, {"swap", swap(b).Space(), -1}, {"slide2x4", slide(b, 2, 4).Space(), 0}, {"slide5x2", slide(b, 5, 2).Space(), 0}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := NewTable(b.Context(), c.space, identity(c.space.Cells(), c.blank)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	s := newSolver()
	q := eight(b).ask([]uint8{8, 7, 6, 0, 4, 1, 2, 5, 3}, []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8})
	var nodes int64
	for b.Loop() {
		a, err := s.Solve(b.Context(), q, Plan{Method: BySearch, target: &target{space: q.Space, reach: func() *puzzle.Reach { return nil }}}, puzzle.Moves, job.Budget{}, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		nodes += a.Nodes
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(nodes), "ns/state")
}
