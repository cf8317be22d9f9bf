package main

import (
	"bufio"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
)

// kind is a kind of input. Its records are the same for the same seed.
type kind struct {
	puzzle  string
	counted bool // the file starts with the number of records
	// records returns what appends one record after another.
	records func(rng *rand.Rand) func(dst []byte) []byte
}

var kinds = map[string]kind{
	"eight":      {"eight", true, eightRecords},
	"eight2":     {"eight2", true, eight2Records},
	"rotegame":   {"rotegame", false, rotegameRecords},
	"repeats":    {"rotegame", false, repeatsRecords},
	"graph":      {"graph", false, graphRecords},
	"same-graph": {"graph", false, sameGraphRecords},
}

// antipodesFile holds the 163 pairs of boards of Rotegame that are farthest
// apart, six lines each.
const antipodesFile = "internal/solver/testdata/rotegame_antipodes.in"

// writeInput writes an input of so many records. The antipodes are no more than
// there are.
func writeInput(w io.Writer, name string, seed uint64, records int) error {
	out := bufio.NewWriterSize(w, 1<<16)
	if name == "antipodes" {
		pairs, err := antipodes()
		if err != nil {
			return err
		}
		for _, pair := range pairs[:min(records, len(pairs))] {
			out.WriteString(pair)
		}
		return out.Flush()
	}
	k := kinds[name]
	var rec []byte
	if k.counted {
		rec = append(strconv.AppendInt(rec, int64(records), 10), '\n')
	}
	next := k.records(rand.New(rand.NewPCG(seed, 0)))
	for range records {
		rec = next(rec)
		out.Write(rec)
		rec = rec[:0]
	}
	return out.Flush()
}

// antipodes returns the records of antipodesFile.
func antipodes() (pairs []string, err error) {
	text, err := os.ReadFile(antipodesFile)
	if err != nil {
		return nil, err
	}
	lines, from := 0, 0
	for i, c := range text {
		if c != '\n' {
			continue
		}
		if lines++; lines%6 == 0 {
			pairs = append(pairs, string(text[from:i+1]))
			from = i + 1
		}
	}
	if from != len(text) || len(pairs) == 0 {
		return nil, errors.New(antipodesFile + ": not six lines a record")
	}
	return pairs, nil
}

// upTo returns the numbers from first to last.
func upTo(first, last int) []int {
	v := make([]int, last-first+1)
	for i := range v {
		v[i] = first + i
	}
	return v
}

func shuffle[T any](rng *rand.Rand, v []T) {
	rng.Shuffle(len(v), func(i, j int) { v[i], v[j] = v[j], v[i] })
}

// appendRows appends a board, so many values a line.
func appendRows(dst []byte, board []int, width int) []byte {
	for i, v := range board {
		dst = strconv.AppendInt(dst, int64(v), 10)
		if i%width == width-1 {
			dst = append(dst, '\n')
		} else {
			dst = append(dst, ' ')
		}
	}
	return dst
}

// eightRecords are random boards of 0 to 8, of which half cannot reach the
// goal.
func eightRecords(rng *rand.Rand) func([]byte) []byte {
	board := upTo(0, 8)
	return func(dst []byte) []byte {
		shuffle(rng, board)
		return appendRows(dst, board, 3)
	}
}

// eight2Records are pairs of words, of which each can reach the other: the
// pieces of both without the blank are even permutations, or odd ones.
func eight2Records(rng *rand.Rand) func([]byte) []byte {
	start, goal := []byte("12345678X"), []byte("12345678X")
	return func(dst []byte) []byte {
		shuffle(rng, start)
		shuffle(rng, goal)
		if odd(start) != odd(goal) {
			i, j := 0, 1
			switch byte('X') {
			case goal[0]:
				i = 2
			case goal[1]:
				j = 2
			}
			goal[i], goal[j] = goal[j], goal[i]
		}
		dst = append(append(dst, start...), '\n')
		return append(append(dst, goal...), '\n')
	}
}

// odd tells whether a word without its X is an odd permutation.
func odd(word []byte) bool {
	inversions := 0
	for i, a := range word {
		for _, b := range word[i+1:] {
			if a != 'X' && b != 'X' && a > b {
				inversions++
			}
		}
	}
	return inversions%2 == 1
}

// rotegameRecords are pairs of boards of the same 12 of the values 1 to 100.
func rotegameRecords(rng *rand.Rand) func([]byte) []byte {
	values := upTo(1, 100)
	return func(dst []byte) []byte {
		shuffle(rng, values)
		dst = appendRows(dst, values[:12], 4)
		shuffle(rng, values[:12])
		return appendRows(dst, values[:12], 4)
	}
}

// repeatsRecords are pairs of boards of the same 12 values, each 1 to 6.
func repeatsRecords(rng *rand.Rand) func([]byte) []byte {
	board := make([]int, 12)
	return func(dst []byte) []byte {
		for i := range board {
			board[i] = 1 + rng.IntN(6)
		}
		dst = appendRows(dst, board, 4)
		shuffle(rng, board)
		return appendRows(dst, board, 4)
	}
}

// graphRecords are the 8-puzzle on random connected graphs.
func graphRecords(rng *rand.Rand) func([]byte) []byte {
	places := upTo(1, 9)
	return func(dst []byte) []byte {
		dst = appendGraph(dst, rng)
		shuffle(rng, places)
		return appendRows(dst, places[:8], 8)
	}
}

// sameGraphRecords are the 8-puzzle on one such graph.
func sameGraphRecords(rng *rand.Rand) func([]byte) []byte {
	places := upTo(1, 9)
	graph := appendGraph(nil, rng)
	return func(dst []byte) []byte {
		shuffle(rng, places)
		return appendRows(append(dst, graph...), places[:8], 8)
	}
}

// appendGraph appends a random connected graph of 9 vertices and 12 edges: a
// tree, and other edges.
func appendGraph(dst []byte, rng *rand.Rand) []byte {
	var edges [][2]int
	add := func(a, b int) {
		e := [2]int{min(a, b), max(a, b)}
		if a != b && !slices.Contains(edges, e) {
			edges = append(edges, e)
		}
	}
	for v := 2; v <= 9; v++ {
		add(v, 1+rng.IntN(v-1))
	}
	for len(edges) < 12 {
		add(1+rng.IntN(9), 1+rng.IntN(9))
	}
	slices.SortFunc(edges, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	dst = append(dst, "12\n"...)
	for _, e := range edges {
		dst = appendRows(dst, e[:], 2)
	}
	return dst
}
