//go:build !race

package solver

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"antipode/internal/plain"
)

// The complete tables of twelve cells: their states at each distance are known;
// every state but the goal has a way on; near states agree with the plain search;
// and on a million random boards the distance is one more than the nearest
// neighbour's.
func TestLargeTables(t *testing.T) {
	topspin := "cells: 12\nmoves: [{name: L, cycles: (12 11 10 9 8 7 6 5 4 3 2 1)}, {name: R, cycles: (1 2 3 4 5 6 7 8 9 10 11 12)}, {name: T, cycles: (1 4)(2 3)}]"
	turns := [][]int{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0}, {11, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {3, 2, 1, 0, 4, 5, 6, 7, 8, 9, 10, 11}}
	for _, c := range []struct {
		name    string
		subject subject
		goal    []uint8
		layers  string
		near    int // depth of the plain search
		boards  int
	}{
		{"rotegame", rotegame(t), upTo(1, 12), rotegameLayers, 15, 1_000_000},
		{"topspin", subject{defined(t, "topspin", topspin, false), plain.Permutations(12, []string{"L", "R", "T"}, turns)}, upTo(1, 12), topspinLayers, 10, 200_000},
		{"slide 4x3", slide(t, 4, 3), solvedWithBlank(12, 0), slide4x3Layers, 16, 200_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := c.subject.ask(c.goal, c.goal)
			table, err := NewTable(context.Background(), q.Space, q.Goal)
			if err != nil {
				t.Fatal(err)
			}
			if want := numbers[int](t, c.layers); !slices.Equal(table.Layers(), want) {
				t.Errorf("layers %v, want %v", table.Layers(), want)
			}
			sum := 0
			for _, n := range table.Layers() {
				sum += n
			}
			o := table.order
			if goals := o.patterns*o.lanes - table.states(); goals != 1 || sum != o.patterns*o.lanes {
				t.Errorf("%d of %d states have no way on", goals, sum)
			}
			field := c.subject.plain.Distances(c.goal, c.near)
			for i, board := range field.Boards() {
				want, _ := field.Distance(board)
				s := c.subject.ask(board, c.goal).Start
				if d, ok := table.Distance(s); !ok || d != want {
					t.Fatalf("%v: distance %d, %v; want %d", board, d, ok, want)
				}
				if moves, _ := table.AppendMoves(nil, s); i%7 == 0 && !slices.Equal(ints(moves), field.First(board, want)) {
					t.Fatalf("%v: %v, want %v", board, moves, field.First(board, want))
				}
			}
			var wg sync.WaitGroup
			for g := range runtime.GOMAXPROCS(0) {
				wg.Go(func() {
					rng := rand.New(rand.NewPCG(uint64(g), 9))
					for range c.boards / runtime.GOMAXPROCS(0) {
						i := rng.IntN(o.patterns * o.lanes)
						if err := table.checkState(o.state(i/o.lanes, i%o.lanes)); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			if c.name == "rotegame" {
				for _, pair := range antipodes(t) {
					if d, ok := table.Distance(c.subject.ask(pair[0], pair[1]).Start); d != 34 || !ok {
						t.Errorf("%v to %v: %d", pair[0], pair[1], d)
					}
				}
			}
		})
	}
}

// states counts the states that have a way on: those with any bit in their codes.
func (t *Table) states() (n int) {
	size := t.wordBytes
	for codes := t.codes; len(codes) > 0; codes = codes[t.codeBits*size:] {
		for i := range size {
			any := byte(0)
			for j := range t.codeBits {
				any |= codes[j*size+i]
			}
			n += bits.OnesCount8(any)
		}
	}
	return n
}

// Of Rotegame a search of all 12! boards for this project; of TopSpin CayleyPy's
// table of growth; of the slide what lightln2/SlidingTilesSolver publishes.
const (
	rotegameLayers = "1 2 4 8 16 32 64 128 254 503 995 1966 3884 7670 15132 29836 58773 115699 227590 447218 877681 1718648 3353541 6500600 12453852 23329570 41879898 69376513 99014979 108586652 77558428 29295243 4055545 90512 163"
	topspinLayers  = "1 3 6 12 24 48 95 188 373 737 1449 2851 5599 10945 21323 41348 79325 151021 285576 535014 991289 1816126 3277994 5805760 10030016 16761135 26779190 40326341 56177720 70685978 77836140 72055787 53234670 29234710 10640109 2066922 143807 1960 8"
	slide4x3Layers = "1 2 4 9 20 37 63 122 232 431 781 1392 2494 4442 7854 13899 24215 41802 71167 119888 198363 323206 515778 811000 1248011 1885279 2782396 4009722 5621354 7647872 10065800 12760413 15570786 18171606 20299876 21587248 21841159 20906905 18899357 16058335 12772603 9515217 6583181 4242753 2503873 1350268 643245 270303 92311 27116 5390 1115 86 18"
)
