//go:build unix

package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"antipode/internal/process"
)

// mix says what a job holds. Its records are JSON lines with rising ids from 0, of
// which 256 make a chunk.
type mix struct {
	seed     uint64
	chunks   int
	searches int // of each chunk; the others are read from tables
	depth    int // moves by which the boards of a search are turned, at most 2^depth states
}

// chunkRecords is how many JSON lines make a chunk.
const chunkRecords = 256

func (m mix) records() int { return m.chunks * chunkRecords }

// job is a job file with the answers of an undisturbed run.
type job struct {
	file    string
	args    []string // of submit, besides
	records int
	want    []byte
}

// job makes a job of a mix and its answers, once for all rows.
func (l *lab) job(ctx context.Context, m mix) (*job, error) {
	l.jobs.Lock()
	defer l.jobs.Unlock()
	if j := l.jobs.made[m]; j != nil {
		return j, nil
	}
	j, err := l.jobOf(ctx, filepath.Join(l.bench.dir, fmt.Sprintf("job-%d-%d.jsonl", m.seed, m.chunks)), m.questions())
	if err == nil {
		l.jobs.made[m] = j
	}
	return j, err
}

// jobOf is job with the records and its file given. The answers are checked.
func (l *lab) jobOf(ctx context.Context, file string, all []question) (*job, error) {
	j := &job{file: file, records: len(all)}
	if err := write(j.file, all); err != nil {
		return nil, err
	}
	if err := l.undisturbed(ctx, j); err != nil {
		return nil, err
	}
	return j, l.check(all, j.want)
}

// undisturbed answers a job with all inside one process.
func (l *lab) undisturbed(ctx context.Context, j *job) error {
	out := j.file + ".want"
	args := append([]string{"--out", out, j.file}, j.args...)
	p, err := process.Start(l.command(ctx, nil, "submit", args...))
	if err != nil {
		return err
	}
	if err := ended(ctx, p, 0); err != nil {
		return fmt.Errorf("the undisturbed run: %w", err)
	}
	j.want, err = os.ReadFile(out)
	return err
}

// size is that of the file, in bytes; 0 where it cannot be told.
func (j *job) size() int64 {
	info, err := os.Stat(j.file)
	if err != nil {
		return 0
	}
	return info.Size()
}

// question is one record.
type question struct {
	id          string // "" is its number
	puzzle      string
	want        string // "" is what the puzzle wants
	start, goal []uint8
}

// questions returns the records of a job, the same for the same mix.
func (m mix) questions() []question {
	rng := rand.New(rand.NewPCG(m.seed, 0))
	all := make([]question, 0, m.records())
	for n := range m.records() {
		switch at := n % chunkRecords; {
		case at*m.searches%chunkRecords < m.searches:
			depth := m.depth
			if rng.IntN(8) == 0 {
				depth = 1 + rng.IntN(nearTurns) // which can be checked
			}
			all = append(all, turned(rng, depth))
		case at%3 == 0:
			all = append(all, question{puzzle: "swap", start: shuffled(rng, 1)})
		case at%3 == 1:
			all = append(all, question{puzzle: "eight", start: shuffled(rng, 0)})
		default:
			all = append(all, question{puzzle: "eight", want: "moves", start: shuffled(rng, 0)})
		}
	}
	return all
}

// shuffled is a board of nine values from first.
func shuffled(rng *rand.Rand, first uint8) []uint8 {
	board := make([]uint8, 9)
	for i, v := range rng.Perm(9) {
		board[i] = first + uint8(v)
	}
	return board
}

// nearTurns are few enough for the plainest search.
const nearTurns = 12

// ringValues are fewer than the cells of a ring's board, so that one repeats.
const ringValues = 11

// turned is a question of Rotegame whose values repeat, which no table answers:
// some turns lead from its start to its goal.
func turned(rng *rand.Rand, turns int) question {
	start := make([]uint8, 12)
	for i := range start {
		start[i] = 1 + uint8(rng.IntN(ringValues))
	}
	goal := start
	for range turns {
		goal = turn(goal, rng.IntN(2))
	}
	return question{puzzle: "rotegame", start: start, goal: goal}
}

// rings are the moves 1 and 2 of Rotegame: where the new value of each cell stood.
var rings = [2][12]uint8{
	{4, 0, 1, 3, 8, 5, 2, 7, 9, 10, 6, 11},
	{0, 2, 3, 7, 4, 1, 6, 11, 8, 5, 9, 10},
}

// turn makes one move of Rotegame.
func turn(board []uint8, move int) []uint8 {
	next := make([]uint8, len(board))
	for cell, from := range rings[move] {
		next[cell] = board[from]
	}
	return next
}

// write writes a job file, with an id for each record.
func write(file string, all []question) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	var rec []byte
	for id, q := range all {
		rec = q.append(rec[:0], id)
		out.Write(rec)
	}
	return out.Flush()
}

func (q question) append(dst []byte, id int) []byte {
	dst = fmt.Appendf(dst, `{"id":%q,"puzzle":%q,"start":`, cmp.Or(q.id, strconv.Itoa(id)), q.puzzle)
	dst = appendBoard(dst, q.start)
	if q.goal != nil {
		dst = appendBoard(append(dst, `,"goal":`...), q.goal)
	}
	if q.want != "" {
		dst = fmt.Appendf(dst, `,"want":%q`, q.want)
	}
	return append(dst, "}\n"...)
}

func appendBoard(dst []byte, board []uint8) []byte {
	dst = append(dst, '[')
	for i, v := range board {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, uint64(v), 10)
	}
	return append(dst, ']')
}
