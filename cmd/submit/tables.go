package main

import "antipode/internal/puzzle"

// searchedStates is how many states searching visits for a byte of a job file of a
// small board, at the least: some 10^3 for a record of 20 bytes, where half of the
// records are unreachable.
const searchedStates = 32

// smallJob is how many bytes of records are answered in a moment, anyhow.
const smallJob = 8 << 10

// worthTables returns the puzzles of those job files that are so large that
// searching would pay for their tables anyway. The tables are better made before.
func worthTables(inputs []*input) (puzzles []*puzzle.Puzzle) {
	for _, in := range inputs {
		if in.puzzle != nil && in.size() >= max(tableStates(in.puzzle)/searchedStates, smallJob) {
			puzzles = append(puzzles, in.puzzle)
		}
	}
	return puzzles
}

// tableStates is how many states a puzzle's tables hold: those of one table are all
// arrangements of the cells, and there is one for each cell of the goal's blank.
func tableStates(p *puzzle.Puzzle) int64 {
	states := int64(1)
	for n := range p.Cells() {
		states *= int64(n + 1)
	}
	if p.HasBlank() && p.BringsGoal() {
		states *= int64(p.Cells())
	}
	return states
}
