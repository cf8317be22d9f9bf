package puzzle

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPackAndAt(t *testing.T) {
	labels := []uint8{3, 0, 15, 1, 2, 14, 13, 4, 12, 5, 11, 6, 10, 7, 9, 8}
	for n := 0; n <= MaxCells; n++ {
		s := Pack(labels[:n])
		for i := range MaxCells {
			want := uint8(0) // above the last cell
			if i < n {
				want = labels[i]
			}
			if got := s.At(i); got != want {
				t.Errorf("%d cells: cell %d holds %d, want %d", n, i, got, want)
			}
		}
		if got := s.AppendLabels([]uint8{99}, n); !slices.Equal(got, append([]uint8{99}, labels[:n]...)) {
			t.Errorf("%d cells: labels %v", n, got)
		}
	}
	if got, want := Pack([]uint8{1, 2, 10}), State(0xa21); got != want {
		t.Errorf("got %x, want %x: cell 0 is the lowest digit", got, want)
	}
}

// Every label is told from 0, on every cell.
func TestBlank(t *testing.T) {
	for n := 2; n <= MaxCells; n++ {
		for blank := range n {
			for label := uint8(1); label < 16; label++ {
				labels := slices.Repeat([]uint8{label}, n)
				labels[blank] = 0
				if got := Pack(labels).Blank(); got != blank {
					t.Errorf("%v: blank on %d", labels, got)
				}
			}
		}
	}
}

func TestSlideExchangesTwoCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		n := 2 + rng.IntN(MaxCells-1)
		labels := make([]uint8, n)
		for i, l := range rng.Perm(n) {
			labels[i] = uint8(l)
		}
		from, to := slices.Index(labels, 0), rng.IntN(n)
		got := Pack(labels).slide(from, to)
		labels[from], labels[to] = labels[to], labels[from]
		if want := Pack(labels); from != to && got != want {
			t.Fatalf("slide from %d to %d: %x, want %x", from, to, got, want)
		}
	}
}
