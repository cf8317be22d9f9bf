//go:build unix

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
)

// answer is one answer as submit writes it.
type answer struct {
	ID       string   `json:"id"`
	Line     int      `json:"line"`
	Status   string   `json:"status"`
	Distance int      `json:"distance"`
	Moves    []string `json:"moves"`
	Reason   string   `json:"reason"`
	Bound    int      `json:"lower_bound"`
}

// check holds the answers of an undisturbed run against plain breadth-first
// searches: all boards of nine cells; of Rotegame's questions it replays all, and
// searches the first that it can.
func (l *lab) check(all []question, answers []byte) error {
	n, searched := 0, 0
	for line := range bytes.Lines(answers) {
		var a answer
		if err := json.Unmarshal(line, &a); err != nil {
			return fmt.Errorf("the undisturbed run's answer %s: %w", line, err)
		}
		if n >= len(all) || a.ID != cmp.Or(all[n].id, strconv.Itoa(n)) {
			return fmt.Errorf("the undisturbed run's answer %d has the id %s", n, a.ID)
		}
		if !all[n].right(a, searched < maxSearched, &searched) {
			return fmt.Errorf("the undisturbed run's answer is wrong: %s", line)
		}
		n++
	}
	if n != len(all) {
		return fmt.Errorf("the undisturbed run gave %d answers to %d records", n, len(all))
	}
	return nil
}

const (
	maxSearched = 200 // questions of a job that are searched here
	maxDepth    = nearTurns
)

// right tells whether an answer is the one that breadth-first search finds.
func (q question) right(a answer, search bool, searched *int) bool {
	switch q.puzzle {
	case "eight":
		return q.rightIn(blanks(), a, []string{"d", "l", "r", "u"})
	case "swap":
		return q.rightIn(swaps(), a, nil)
	}
	if a.Status != "solved" || a.Distance != len(a.Moves) {
		return false
	}
	board := q.start
	for _, m := range a.Moves {
		if m != "1" && m != "2" {
			return false
		}
		board = turn(board, int(m[0]-'1'))
	}
	if !slices.Equal(board, q.goal) {
		return false
	}
	if search && a.Distance <= maxDepth {
		*searched++
		return slices.Equal(a.Moves, q.shortest())
	}
	return true
}

// shortest searches a question of Rotegame, first move first: the first way that
// reaches the goal is the first of the shortest.
func (q question) shortest() []string {
	type place struct {
		board []uint8
		way   []string
	}
	seen := map[string]bool{string(q.start): true}
	for layer := []place{{board: q.start}}; len(layer) > 0; {
		var next []place
		for _, p := range layer {
			if slices.Equal(p.board, q.goal) {
				return p.way
			}
			for move := range rings {
				b := turn(p.board, move)
				if !seen[string(b)] {
					seen[string(b)] = true
					next = append(next, place{b, append(slices.Clip(p.way), string('1'+rune(move)))})
				}
			}
		}
		layer = next
	}
	return nil
}

// distances are of all boards that reach a goal, by their cells.
type distances struct {
	of    map[[9]uint8]int
	moves func(board [9]uint8) [][9]uint8 // in order; a board itself where one cannot be made
}

// rightIn tells whether an answer is the one that the distances give; words are the
// names of the moves.
func (q question) rightIn(d *distances, a answer, words []string) bool {
	board := [9]uint8(q.start)
	n, ok := d.of[board]
	if !ok {
		return a.Status == "unreachable"
	}
	if a.Status != "solved" || a.Distance != n {
		return false
	}
	if q.want != "moves" {
		return true
	}
	var way []string
	for ; n > 0; n-- {
		for i, next := range d.moves(board) {
			if m, ok := d.of[next]; ok && m == n-1 {
				board, way = next, append(way, words[i])
				break
			}
		}
	}
	return slices.Equal(a.Moves, way)
}

// from searches all boards from a goal; moves can be taken back.
func from(goal [9]uint8, moves func([9]uint8) [][9]uint8) *distances {
	d := &distances{of: map[[9]uint8]int{goal: 0}, moves: moves}
	for layer, n := [][9]uint8{goal}, 1; len(layer) > 0; n++ {
		var next [][9]uint8
		for _, b := range layer {
			for _, m := range moves(b) {
				if _, ok := d.of[m]; !ok {
					d.of[m] = n
					next = append(next, m)
				}
			}
		}
		layer = next
	}
	return d
}

// blanks are the distances of the 8-puzzle: the blank goes down, left, right, up.
var blanks = sync.OnceValue(func() *distances {
	return from([9]uint8{0, 1, 2, 3, 4, 5, 6, 7, 8}, func(b [9]uint8) [][9]uint8 {
		at := slices.Index(b[:], 0)
		var next [][9]uint8
		for _, step := range [][2]int{{1, 0}, {0, -1}, {0, 1}, {-1, 0}} {
			row, column := at/3+step[0], at%3+step[1]
			if row < 0 || row > 2 || column < 0 || column > 2 {
				next = append(next, b)
				continue
			}
			next = append(next, swapped(b, at, 3*row+column))
		}
		return next
	})
})

// swaps are the distances of the puzzle swap.
var swaps = sync.OnceValue(func() *distances {
	return from([9]uint8{1, 2, 3, 4, 5, 6, 7, 8, 9}, func(b [9]uint8) [][9]uint8 {
		var next [][9]uint8
		for cell := range 9 {
			if cell%3 < 2 {
				next = append(next, swapped(b, cell, cell+1))
			}
			if cell < 6 {
				next = append(next, swapped(b, cell, cell+3))
			}
		}
		return next
	})
})

func swapped(b [9]uint8, i, j int) [9]uint8 {
	b[i], b[j] = b[j], b[i]
	return b
}
