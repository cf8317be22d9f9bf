package puzzle

import (
	"math/rand/v2"
	"testing"
)

// randomConnected returns the edges of a random connected graph: a random tree
// and some more.
func randomConnected(rng *rand.Rand, n, more int) [][2]uint8 {
	var edges [][2]uint8
	order := rng.Perm(n)
	for i := 1; i < n; i++ {
		edges = append(edges, [2]uint8{uint8(order[i]), uint8(order[rng.IntN(i)])})
	}
	for range more {
		edges = append(edges, [2]uint8{uint8(rng.IntN(n)), uint8(rng.IntN(n))})
	}
	return edges
}

func graphSpace(t testing.TB, n int, edges [][2]uint8) *Space {
	sp, err := NewGraph(n, edges)
	if err != nil {
		t.Fatal(err)
	}
	return sp
}

func BenchmarkNewGraphOfNine(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	spaces := make([]*Space, 1000)
	for i := range spaces {
		spaces[i] = graphSpace(b, 9, randomConnected(rng, 9, rng.IntN(20)))
	}
	i := 0
	for b.Loop() {
		NewReach(spaces[i%1000]).Reachable(0x876543210, 0x876543201)
		i++
	}
}

func BenchmarkReachable(b *testing.B) {
	for _, name := range []string{"eight", "swap", "rotegame"} {
		sp := builtin(b, name).Space()
		r := NewReach(sp)
		rng := rand.New(rand.NewPCG(1, 1))
		starts := make([]State, 1024)
		for i := range starts {
			labels := make([]uint8, sp.Cells())
			for i, v := range rng.Perm(sp.Cells()) {
				labels[i] = uint8(v)
			}
			starts[i] = Pack(labels)
		}
		i := 0
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Reachable(starts[i&1023], starts[0])
				i++
			}
		})
		b.Run(name+"/possible", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Possible(starts[i&1023], starts[0])
				i++
			}
		})
	}
}
