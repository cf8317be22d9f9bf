package solver

import (
	"testing"

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

// The figure to compare with BenchmarkTable's: what a state costs a search.
func BenchmarkSearch(b *testing.B) {
	far := antipodes(b)
	for _, c := range []struct {
		name string
		q    *puzzle.Question
	}{
		{"eight", eight(b).ask([]uint8{8, 7, 6, 0, 4, 1, 2, 5, 3}, []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8})},
		{"antipode", rotegame(b).ask(far[0][0], far[0][1])},
	} {
		b.Run(c.name, func(b *testing.B) {
			search := NewSearch(512 << 20)
			var states int64
			for b.Loop() {
				if _, _, end, err := search.run(b.Context(), c.q, limits{}, nil); end != found || err != nil {
					b.Fatal(end, err)
				}
				states += search.states()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(states), "ns/state")
			b.ReportMetric(float64(states)/float64(b.N), "states")
		})
	}
}
