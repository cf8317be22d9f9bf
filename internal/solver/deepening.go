package solver

import (
	"context"
	"math"
	"slices"

	"antipode/internal/puzzle"
)

// deepening is one search at a time in a space with a blank, by
// iterative-deepening A* (Korf, "Depth-First Iterative-Deepening", 1985) with
// patterns as its bound. It needs next to no memory.
//
// Each iteration tries the ways of up to a threshold of moves, depth first and in
// order of moves. It leaves a way where it undoes its last step, or where the
// moves so far and the bound of what is left exceed the threshold together; the
// least such sum is the next threshold.
//
// The way found is the first of the shortest. No shortest way undoes a step, and
// on none do the moves so far and the bound exceed its length, so that the
// iteration whose threshold is the distance leaves none of them, and meets first
// the one that comes first in order of moves. An iteration before it finds
// nothing, there being no way so short, and leaves the shortest ways at sums no
// larger than the distance, so that the next threshold is not larger either.
type deepening struct {
	states int64 // visited by the last run, once for each way to them that was tried

	// Of the run that goes on:
	ctx    context.Context
	lim    limits
	pause  int64 // states at which to look at ctx and lim
	p      *patterns
	index  [puzzle.MaxCells]uint32 // of each group's placement, in p.moves
	excess int                     // the least by which a sum exceeded the threshold
	end    outcome
	err    error
	way    []uint8 // the moves found, the last one first
}

// run searches for the first shortest way to the goal, which is that of the
// patterns. With found it appends the moves to dst; with overBudget, bound is the
// proven lower bound of the distance. The error is the context's. A goal that
// cannot be reached may be searched for until the limits say no.
func (d *deepening) run(ctx context.Context, q *puzzle.Question, p *patterns, lim limits, dst []uint8) (moves []uint8, bound int, _ outcome, _ error) {
	*d = deepening{ctx: ctx, lim: lim, p: p, way: d.way[:0]}
	least, ok := p.at(q.Start, &d.index)
	switch {
	case !ok:
		return dst, 0, exhausted, nil
	case least == 0:
		return dst, 0, found, nil
	}
	blank := uint8(q.Start.Blank())
	for threshold := least; ; threshold += d.excess {
		d.excess = math.MaxInt
		switch d.visit(q.Start, blank, blank, least, threshold); {
		case d.end == found:
			slices.Reverse(d.way)
			return append(dst, d.way...), 0, found, nil
		case d.end == overBudget:
			return dst, threshold, overBudget, d.err
		case d.excess == math.MaxInt: // no way goes on
			return dst, 0, exhausted, nil
		}
	}
}

// visit tries the ways on from a state, whose blank came from a cell, with so
// many moves left; the bound is that at least so many are needed. It returns
// true when the search ends.
func (d *deepening) visit(s puzzle.State, blank, from uint8, bound, left int) bool {
	for _, w := range d.p.ways[blank&15] { // masks spare checks of the index
		if w.to == from {
			continue
		}
		if d.states == d.pause && !d.goOn() {
			d.end = overBudget
			return true
		}
		d.states++
		piece := s.At(int(w.to))
		index := &d.index[d.p.group[piece]&15]
		old := *index
		now := old + (uint32(blank)-uint32(w.to))*d.p.weight[piece]
		next := bound - int(d.p.moves[old]) + int(d.p.moves[now])
		switch {
		case next >= left:
			d.excess = min(d.excess, next+1-left)
			continue
		case next == 0:
			d.end = found
		default:
			slid := puzzle.State(piece)<<(4*w.to) | puzzle.State(piece)<<(4*blank)
			*index = now
			if !d.visit(s^slid, w.to, blank, next, left-1) {
				*index = old
				continue
			}
		}
		d.way = append(d.way, w.move)
		return true
	}
	return false
}

// goOn looks at the context and the limits, and tells whether the search may go
// on until the next pause.
func (d *deepening) goOn() bool {
	if d.lim.progress != nil && d.states > 0 && d.states%checkEvery == 0 {
		d.lim.progress.Add(checkEvery)
	}
	d.err = d.ctx.Err()
	if d.err != nil || d.lim.states > 0 && d.states >= d.lim.states {
		return false
	}
	d.pause = (d.states/checkEvery + 1) * checkEvery
	if d.lim.states > 0 {
		d.pause = min(d.pause, d.lim.states)
	}
	return true
}
