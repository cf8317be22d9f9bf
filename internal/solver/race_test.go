//go:build race

package solver

// raceEnabled tells that the race detector makes everything ten times slower.
const raceEnabled = true
