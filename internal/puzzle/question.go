package puzzle

import (
	"fmt"
	"strconv"

	"antipode/internal/limit"
)

// Board holds the value on each cell, 0 for a blank.
type Board [MaxCells]uint8

// Question asks for the moves from Start to Goal in canonical form: labels are
// given by first appearance in the goal, so that questions that differ only in
// their values are the same question.
//
//	board 9 9 4 7, goal 9 4 9 7:   labels 9→0 4→1 7→2
//	start 0 0 1 2, goal 0 1 0 2
type Question struct {
	Space       *Space
	Start, Goal State
	// Distinct says that no label stands on two cells. Then Goal is the
	// identity, but for the place of a blank.
	Distinct bool
	// Unlike says that start and goal do not hold the same values, so that no
	// moves lead from one to the other; Start and Goal are not set.
	Unlike bool
}

// labelling relabels values by their first appearance in a goal.
type labelling struct {
	goal     State
	label    [limit.Value + 1]uint8 // of each value, plus 1; 0 where it is not in the goal
	count    [MaxCells]uint8        // cells of each label
	distinct bool
}

// take makes l the labelling by a goal.
func (l *labelling) take(goal *Board, p *Puzzle) {
	*l = labelling{distinct: true}
	next := uint8(0)
	if p.blank {
		l.label[0] = 1
		next = 1
	}
	for i, v := range goal[:p.cells] {
		if l.label[v] == 0 {
			next++
			l.label[v] = next
		}
		k := l.label[v] - 1
		l.count[k]++
		l.distinct = l.distinct && l.count[k] == 1
		l.goal |= State(k) << (4 * i)
	}
}

// start relabels a start board; ok is false where it does not hold the goal's
// values.
func (l *labelling) start(b *Board, cells int) (s State, ok bool) {
	if l.distinct { // each label once: the labels seen must be all
		var seen uint32
		for i, v := range b[:cells] {
			k := uint32(l.label[v]) - 1 // 2^32-1 where the value is not in the goal: the shift gives 0
			seen |= 1 << k
			s |= State(k&15) << (4 * i)
		}
		return s, seen == 1<<cells-1
	}
	count := l.count
	for i, v := range b[:cells] {
		k := l.label[v] - 1
		if k == 255 || count[k] == 0 {
			return 0, false
		}
		count[k]--
		s |= State(k) << (4 * i)
	}
	return s, true
}

// Ask makes the question of two boards, which must be of the puzzle's values
// (CheckBoard); a nil goal stands for the definition's. The space is the
// record's own where the puzzle has none.
func (p *Puzzle) Ask(space *Space, start, goal *Board, q *Question) {
	l := p.goal
	if goal != nil {
		var own labelling
		own.take(goal, p)
		l = &own
	}
	*q = Question{Space: p.space, Goal: l.goal, Distinct: l.distinct}
	if q.Space == nil {
		q.Space = space
	}
	s, ok := l.start(start, p.cells)
	q.Start, q.Unlike = s, !ok
}

// CheckBoard says what is wrong with a board as one of this puzzle's, "" where
// nothing is.
func (p *Puzzle) CheckBoard(b *Board) string { return p.checkBoard(b) }

func (p *Puzzle) checkBoard(b *Board) string {
	var seen [limit.Value + 1]bool
	for _, v := range b[:p.cells] {
		switch isBlank := p.blank && v == 0; {
		case !isBlank && (int(v) < p.from || int(v) > p.to):
			return fmt.Sprintf("%d is out of range; %s", v, p.wanted())
		case seen[v] && (isBlank || !p.repeat):
			return fmt.Sprintf("%s stands on it twice; %s", p.valueName(v), p.wanted())
		}
		seen[v] = true
	}
	if p.blank && !seen[0] {
		return "it has no blank; " + p.wanted()
	}
	return ""
}

func (p *Puzzle) valueName(v uint8) string {
	if p.blank && v == 0 {
		return "the blank"
	}
	return strconv.Itoa(int(v))
}

// wanted says what a board of the puzzle holds.
func (p *Puzzle) wanted() string {
	switch {
	case p.repeat && p.blank:
		return fmt.Sprintf("a board holds one blank and %d numbers from %d to %d", p.cells-1, p.from, p.to)
	case p.repeat:
		return fmt.Sprintf("a board holds %d numbers from %d to %d", p.cells, p.from, p.to)
	case p.blank && p.from == 1:
		return fmt.Sprintf("a board holds 0 to %d once each, 0 being the blank", p.to)
	case p.blank:
		return fmt.Sprintf("a board holds one blank and %d to %d once each", p.from, p.to)
	}
	return fmt.Sprintf("a board holds %d to %d once each", p.from, p.to)
}
