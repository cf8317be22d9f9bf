package puzzle

import (
	"math/rand/v2"
	"slices"
	"testing"

	"antipode/internal/plain"
)

func board(values ...uint8) *Board {
	var b Board
	copy(b[:], values)
	return &b
}

// rings is a puzzle like rotegame on six cells.
const rings = `about: Two rings of four.
width: 3
height: 2
moves:
  - {name: 1, cycles: (1 2 5 4)}
  - {name: 2, cycles: (2 5 6 3)}
values: {from: 1, to: 255, repeat: true}
record: {parts: [start, goal]}
answer: {want: moves, separator: " "}
chunk: 64
`

// repeatSlide is a sliding puzzle whose pieces repeat.
const repeatSlide = `about: Three columns, two rows.
width: 3
height: 2
blank: {moves: [d, l, r, u]}
values: {from: 1, to: 255, repeat: true}
record: {parts: [start, goal]}
answer: {want: moves, separator: ""}
chunk: 64
`

func TestCanonicalForm(t *testing.T) {
	for _, c := range []struct {
		name        string
		puzzle      *Puzzle
		start, goal *Board
		want        Question
	}{
		{"values that repeat", parsed(t, rings), board(9, 9, 4, 7, 7, 7), board(9, 4, 9, 7, 7, 7),
			Question{Start: Pack([]uint8{0, 0, 1, 2, 2, 2}), Goal: Pack([]uint8{0, 1, 0, 2, 2, 2})}},
		{"distinct values", parsed(t, rings), board(6, 5, 4, 3, 2, 1), board(4, 5, 6, 1, 2, 3),
			Question{Start: Pack([]uint8{2, 1, 0, 5, 4, 3}), Goal: Pack([]uint8{0, 1, 2, 3, 4, 5}), Distinct: true}},
		{"a blank is label 0 wherever it stands", parsed(t, repeatSlide), board(8, 0, 8, 3, 3, 5), board(3, 8, 0, 5, 8, 3),
			Question{Start: Pack([]uint8{2, 0, 2, 1, 1, 3}), Goal: Pack([]uint8{1, 2, 0, 3, 2, 1})}},
		{"a blank and distinct pieces", parsed(t, repeatSlide), board(1, 2, 3, 4, 5, 0), board(5, 4, 0, 3, 2, 1),
			Question{Start: Pack([]uint8{5, 4, 3, 2, 1, 0}), Goal: Pack([]uint8{1, 2, 0, 3, 4, 5}), Distinct: true}},
		{"the definition's goal", builtin(t, "swap"), board(2, 1, 3, 4, 5, 6, 7, 8, 9), nil,
			Question{Start: Pack([]uint8{1, 0, 2, 3, 4, 5, 6, 7, 8}), Goal: Pack([]uint8{0, 1, 2, 3, 4, 5, 6, 7, 8}), Distinct: true}},
	} {
		var q Question
		c.puzzle.Ask(nil, c.start, c.goal, &q)
		c.want.Space = c.puzzle.Space()
		if q != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, q, c.want)
		}
	}
}

func TestUnlike(t *testing.T) {
	for _, c := range []struct {
		name        string
		start, goal *Board
		want        bool
	}{
		{"another value", board(1, 2, 3, 4, 5, 6), board(1, 2, 3, 4, 5, 7), true},
		{"a value more often", board(1, 1, 2, 2, 2, 3), board(1, 1, 1, 2, 2, 3), true},
		{"a value twice in the start only", board(1, 1, 3, 4, 5, 6), board(1, 2, 3, 4, 5, 6), true},
		{"a value twice in the goal only", board(1, 2, 3, 4, 5, 6), board(1, 1, 3, 4, 5, 6), true},
		{"one value but for one cell", board(1, 1, 1, 1, 1, 2), board(1, 1, 1, 1, 1, 1), true},
		{"the same", board(3, 1, 1, 2, 2, 2), board(2, 1, 2, 1, 2, 3), false},
		{"one value", board(255, 255, 255, 255, 255, 255), board(255, 255, 255, 255, 255, 255), false},
	} {
		var q Question
		parsed(t, rings).Ask(nil, c.start, c.goal, &q)
		if q.Unlike != c.want {
			t.Errorf("%s: unlike is %v", c.name, q.Unlike)
		}
	}
}

// Questions that differ in their values only are one question, and moves that
// lead from board to board lead from start to goal.
func TestQuestionsOfRandomWalks(t *testing.T) {
	for _, c := range []struct {
		name   string
		puzzle *Puzzle
		plain  *plain.Puzzle
		kinds  int // of pieces
	}{
		{"rotegame", builtin(t, "rotegame"), plain.Rotegame(), 12},
		{"rotegame, values repeat", builtin(t, "rotegame"), plain.Rotegame(), 4},
		{"eight2", builtin(t, "eight2"), plain.Slide(3, 3), 8},
		{"slide, values repeat", parsed(t, repeatSlide), plain.Slide(3, 2), 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 5))
			_, to, _ := c.puzzle.Values()
			for range 300 {
				names := rng.Perm(to) // of the kinds of pieces, from 0
				others := rng.Perm(to)
				a := make([]uint8, c.plain.Cells)
				for i := range a {
					a[i] = uint8(names[i%c.kinds] + 1)
				}
				if c.puzzle.HasBlank() {
					a[len(a)-1] = 0
				}
				rng.Shuffle(len(a), func(i, j int) { a[i], a[j] = a[j], a[i] })
				b := a
				var moves []uint8
				for range rng.IntN(30) {
					m := rng.IntN(len(c.plain.Names))
					if n := c.plain.Next(b, m); n != nil {
						b, moves = n, append(moves, uint8(m))
					}
				}
				renamed := func(values []uint8) *Board {
					var r Board
					for i, v := range values {
						if v != 0 {
							r[i] = uint8(others[slices.Index(names, int(v)-1)] + 1)
						}
					}
					return &r
				}
				var q, same Question
				c.puzzle.Ask(nil, board(a...), board(b...), &q)
				c.puzzle.Ask(nil, renamed(a), renamed(b), &same)
				if q != same {
					t.Fatalf("%v to %v: %+v, with other values %+v", a, b, q, same)
				}
				if q.Unlike || q.Distinct != (c.kinds >= len(a)-1) || !q.Space.Replay(q.Start, q.Goal, moves) {
					t.Fatalf("%v to %v: %+v is not what %v do", a, b, q, moves)
				}
				if q.Distinct {
					identity := make([]uint8, len(a))
					next := uint8(0)
					if c.puzzle.HasBlank() {
						next = 1
					}
					for i := range identity {
						if b[i] != 0 {
							identity[i] = next
							next++
						}
					}
					if q.Goal != Pack(identity) {
						t.Fatalf("%v: goal %x is not the identity", b, q.Goal)
					}
				}
			}
		})
	}
}

func TestCheckBoard(t *testing.T) {
	for _, c := range []struct {
		puzzle string
		board  *Board
		want   string // "" where it is fine
	}{
		{"eight", board(8, 7, 6, 5, 4, 3, 2, 1, 0), ""},
		{"eight", board(8, 7, 6, 5, 4, 3, 2, 1, 9), "9 is out of range; a board holds 0 to 8 once each, 0 being the blank"},
		{"eight", board(8, 7, 6, 5, 4, 3, 1, 1, 0), "1 stands on it twice; a board holds 0 to 8 once each, 0 being the blank"},
		{"eight", board(8, 7, 6, 5, 4, 3, 2, 0, 0), "the blank stands on it twice; a board holds 0 to 8 once each, 0 being the blank"},
		{"swap", board(9, 8, 7, 6, 5, 4, 3, 2, 1), ""},
		{"swap", board(9, 8, 7, 6, 5, 4, 3, 2, 0), "0 is out of range; a board holds 1 to 9 once each"},
		{"rotegame", board(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 100), ""},
		{"rotegame", board(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 101), "101 is out of range; a board holds 12 numbers from 1 to 100"},
		{"rotegame", board(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), "0 is out of range; a board holds 12 numbers from 1 to 100"},
	} {
		if got := builtin(t, c.puzzle).CheckBoard(c.board); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.puzzle, c.board, got, c.want)
		}
	}
	if got := parsed(t, repeatSlide).CheckBoard(board(1, 2, 1, 2, 1, 2)); got != "it has no blank; a board holds one blank and 5 numbers from 1 to 255" {
		t.Errorf("no blank: %q", got)
	}
	if got := parsed(t, repeatSlide).CheckBoard(board(1, 2, 0, 0, 1, 2)); got != "the blank stands on it twice; a board holds one blank and 5 numbers from 1 to 255" {
		t.Errorf("two blanks: %q", got)
	}
}
