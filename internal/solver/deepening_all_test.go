//go:build !race

package solver

import (
	"context"
	"testing"
)

// Every board of the 8-puzzle to a goal with the blank in a corner, and in the
// centre: the table's moves.
func TestDeepeningOfEveryBoardOfEight(t *testing.T) {
	t.Parallel()
	s := eight2(t)
	for _, blank := range []int{0, 4} {
		goal := solvedWithBlank(9, blank)
		q := s.ask(goal, goal)
		p, d := patternsTo(t, q), new(deepening)
		table, err := NewTable(context.Background(), q.Space, q.Goal)
		if err != nil {
			t.Fatal(err)
		}
		var moves, want []uint8
		for r := range 362880 {
			q.Start = nine.state(r/nine.lanes, r%nine.lanes)
			if _, ok := table.Distance(q.Start); !ok {
				continue
			}
			var end outcome
			moves, _, end, err = d.run(context.Background(), q, p, limits{}, moves[:0])
			want, _ = table.AppendMoves(want[:0], q.Start)
			if err != nil || end != found || string(moves) != string(want) {
				t.Fatalf("%x to %x: outcome %d, %v, %v; want %v", uint64(q.Start), uint64(q.Goal), end, moves, err, want)
			}
		}
	}
}
