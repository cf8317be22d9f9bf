package job

import "antipode/internal/puzzle"

// Tally counts records by puzzle, method and status. The zero value is empty.
//
// It is made for records that come one after another and are much alike: those of
// one puzzle that one method answered cost a comparison and a count each.
type Tally struct {
	// Rows holds one for each puzzle and method, in order of appearance.
	Rows []*Row
	last *Row
}

// Row is the part of a Tally that one method answered of one puzzle.
type Row struct {
	Puzzle   *puzzle.Puzzle // nil where a record names none
	Method   string         // "" where none answered
	ByStatus [Statuses]int
}

// Add counts the answer to a record of a puzzle.
func (t *Tally) Add(p *puzzle.Puzzle, a *Answer) {
	if r := t.last; r == nil || r.Puzzle != p || r.Method != a.Method {
		t.turn(p, a.Method)
	}
	t.last.ByStatus[a.Status]++
}

// turn makes the row of a puzzle and a method the last, and adds it where there is
// none. There are as many at the most as puzzles that a chunk may name, times
// methods.
func (t *Tally) turn(p *puzzle.Puzzle, method string) {
	for _, r := range t.Rows {
		if r.Puzzle == p && r.Method == method {
			t.last = r
			return
		}
	}
	t.last = &Row{Puzzle: p, Method: method}
	t.Rows = append(t.Rows, t.last)
}
