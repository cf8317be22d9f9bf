// Package solver answers questions about puzzles: how few moves lead from a
// start to a goal, and which. It is pure: no logging, and no I/O but for
// the files of tables.
//
// The map of ideas, one a file:
//
//	solver.go     the choice of the method, in one place
//	targets.go    what was learned of each space, and which have tables
//	table.go      tables: the first way on from every state of a space, up to 12 cells
//	build.go      making them: retrograde search, a word of boards at a time
//	file.go       tables in files, which all workers of a host share
//	order.go      numbering states by patterns and lanes, so that tables need no hashing
//	lanes.go      words of lanes
//	search.go     bidirectional breadth-first search, first in order
//	set.go        the states that a search has found, in order of discovery
//	pages.go      their memory, which goes back to the system at once
//	deepening.go  iterative deepening, for boards with a blank too large for the others
//	pattern.go    the bounds of what is left that it needs
//
// Every method gives the same answer: shortest, and among the shortest the
// first in the order of moves.
package solver
