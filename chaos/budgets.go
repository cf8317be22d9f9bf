//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"antipode/internal/process"
)

const (
	lateTarget = 100 * time.Millisecond // of an answer that is exceeded, after its budget of time
	// heapRoom is what a worker may have besides memory, tables.memory and
	// cache.memory, in bytes.
	heapRoom = 128 << 20
	// keptRoom is what a worker may keep of the memory of a search that is over.
	keptRoom = 128 << 20
)

// Puzzles whose searches outgrow any budget. Values of the first two repeat.
const (
	wheels = `about: A ring of twelve cells, one of the four cells inside, and one of four at a corner.
width: 4
height: 4
moves:
  - {name: outer, cycles: (1 2 3 4 8 12 16 15 14 13 9 5)}
  - {name: inner, cycles: (6 7 11 10)}
  - {name: corner, cycles: (1 2 6 5)}
values: {from: 1, to: 100, repeat: true}
record: {parts: [start, goal]}
answer: {want: moves, separator: " "}
chunk: 1
`
	torus = `about: Each row turns by one cell either way, each column down.
width: 4
height: 4
moves:
  - {name: r1, cycles: (1 2 3 4)}
  - {name: r2, cycles: (5 6 7 8)}
  - {name: r3, cycles: (9 10 11 12)}
  - {name: r4, cycles: (13 14 15 16)}
  - {name: l1, cycles: (4 3 2 1)}
  - {name: l2, cycles: (8 7 6 5)}
  - {name: l3, cycles: (12 11 10 9)}
  - {name: l4, cycles: (16 15 14 13)}
  - {name: d1, cycles: (1 5 9 13)}
  - {name: d2, cycles: (2 6 10 14)}
  - {name: d3, cycles: (3 7 11 15)}
  - {name: d4, cycles: (4 8 12 16)}
values: {from: 1, to: 100, repeat: true}
record: {parts: [start, goal]}
answer: {want: moves, separator: " "}
chunk: 1
`
	fifteen = `about: The 15-puzzle, to the blank and 1 to 15 in order.
width: 4
height: 4
blank: {moves: [d, l, r, u]}
goal: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
record: {parts: [start]}
answer: {want: moves, separator: ""}
chunk: 1
`
)

// hardQuestion is a question whose distance is not more than most.
type hardQuestion struct {
	question
	most int
}

// The boards of the 15-puzzle are the first of the hundred in Korf,
// "Depth-First Iterative-Deepening", 1985, 57 moves from home, and one that is
// farther from home; no board is more than 80.
var (
	korf       = hardQuestion{question{puzzle: "fifteen", start: []uint8{14, 13, 15, 7, 11, 12, 9, 5, 6, 0, 2, 1, 4, 8, 10, 3}}, 57}
	farFifteen = hardQuestion{question{puzzle: "fifteen", start: []uint8{0, 12, 9, 13, 15, 11, 10, 14, 3, 7, 2, 5, 4, 8, 1, 6}}, 80}
)

// walked is a question of wheels or torus: a walk leads from its start to its goal.
func walked(rng *rand.Rand, puzzle string) hardQuestion {
	start := []uint8{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10}
	rng.Shuffle(len(start), func(i, j int) { start[i], start[j] = start[j], start[i] })
	cycles := [][]int{{0, 1, 2, 3, 7, 11, 15, 14, 13, 12, 8, 4}, {5, 6, 10, 9}, {0, 1, 5, 4}}
	if puzzle == "torus" {
		cycles = nil
		for i := range 4 {
			cycles = append(cycles, []int{4 * i, 4*i + 1, 4*i + 2, 4*i + 3}, []int{i, i + 4, i + 8, i + 12})
		}
	}
	const turns = 60
	goal := append([]uint8{}, start...)
	for range turns {
		c := cycles[rng.IntN(len(cycles))]
		last := goal[c[len(c)-1]]
		for i := len(c) - 1; i > 0; i-- {
			goal[c[i]] = goal[c[i-1]]
		}
		goal[c[0]] = last
	}
	return hardQuestion{question{puzzle: puzzle, start: start, goal: goal}, turns}
}

// definitions writes the puzzles' files and returns the arguments that give them.
func (l *lab) definitions() (args []string, err error) {
	for name, text := range map[string]string{"wheels": wheels, "torus": torus, "fifteen": fifteen} {
		file := l.path(name + ".yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, err
		}
		args = append(args, "--puzzle", file)
	}
	return args, nil
}

// hardAnswer is an answer with how it was found.
type hardAnswer struct {
	answer
	Method  string  `json:"method"`
	Nodes   int64   `json:"nodes"`
	Seconds float64 `json:"seconds"`
}

// solve asks all questions in one job and counts their answers: each must be solved,
// or exceeded with a bound that is no more than the distance can be.
func (l *lab) solve(ctx context.Context, url string, all []hardQuestion, env ...string) (answers []hardAnswer, t tally, err error) {
	args, err := l.definitions()
	if err != nil {
		return nil, t, err
	}
	file := l.path("hard.jsonl")
	questions := make([]question, len(all))
	for i, q := range all {
		questions[i] = q.question
	}
	if err := write(file, questions); err != nil {
		return nil, t, err
	}
	args = append(args, "--nats", url, "--explain", file)
	cmd := l.command(ctx, env, "submit", args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 { // some are exceeded
		return nil, t, fmt.Errorf("submit %s: %w: %s", filepath.Base(file), err, &said)
	}
	t.records = len(all)
	for line := range bytes.Lines(text) {
		var a hardAnswer
		if err := json.Unmarshal(line, &a); err != nil {
			return nil, t, fmt.Errorf("%s: %w", line, err)
		}
		answers = append(answers, a)
		n := len(answers) - 1
		if n >= len(all) {
			t.doubled++
			continue
		}
		if most := all[n].most; a.Status != "exceeded" && a.Status != "solved" || a.Bound > most || a.Distance > most {
			l.tell("%s", line)
			t.wrong++
		}
	}
	t.lost = max(0, len(all)-len(answers))
	return answers, t, nil
}

// budgets asks what takes more than its budget of time, of states or of memory.
func budgets(ctx context.Context, l *lab) (found result, err error) {
	url, err := l.queueFor(ctx)
	if err != nil {
		return found, err
	}
	for _, part := range []func(context.Context, *lab, string, *result) (string, error){lateAnswers, fewStates, littleMemory, memoryBack} {
		note, err := part(ctx, l, url, &found)
		if err != nil {
			return found, err
		}
		found.note = strings.TrimPrefix(found.note+"; "+note, "; ")
	}
	return found, nil
}

// lateAnswers measures by how much answers are later than their budget of time.
func lateAnswers(ctx context.Context, l *lab, url string, found *result) (note string, err error) {
	w, err := l.worker(ctx, url)
	if err != nil {
		return "", err
	}
	defer w.Kill()
	rng := rand.New(rand.NewPCG(10, 10))
	wheel := walked(rng, "wheels")
	var worst time.Duration
	methods := map[string]int{}
	for _, c := range []struct {
		q       hardQuestion
		budgets []time.Duration // in milliseconds
	}{
		{wheel, []time.Duration{50, 150, 400, 700, 1000, 1500}},
		{korf, []time.Duration{50, 100, 150, 200}},
		{farFifteen, []time.Duration{100, 300, 600, 1000, 1500, 100, 200}}, // patterns are made on the way
	} {
		for _, budget := range c.budgets {
			budget *= time.Millisecond
			answers, t, err := l.solve(ctx, url, []hardQuestion{c.q}, "ANTIPODE_BUDGET_TIME="+budget.String())
			if err != nil {
				return "", err
			}
			found.add(t)
			for _, a := range answers {
				if a.Status != "exceeded" {
					continue // on a fast machine
				}
				found.often++
				methods[a.Method]++
				worst = max(worst, time.Duration(a.Seconds*1e9)-budget)
			}
		}
	}
	if worst > 10*lateTarget || methods["bidirectional"] == 0 || methods["deepening"] == 0 {
		return "", fmt.Errorf("answers came %s after their budget; exceeded by method: %v", worst, methods)
	}
	return fmt.Sprintf("exceeded at the most %.0f ms after a budget of time, target < %.0f ms", worst.Seconds()*1e3, lateTarget.Seconds()*1e3), nil
}

// fewStates asks with budgets of states.
func fewStates(ctx context.Context, l *lab, url string, found *result) (note string, err error) {
	w, err := l.worker(ctx, url)
	if err != nil {
		return "", err
	}
	defer w.Kill()
	const states, edges = 100_000, 32
	rng := rand.New(rand.NewPCG(11, 11))
	var all []hardQuestion
	for range 20 {
		all = append(all, walked(rng, "wheels"))
	}
	answers, t, err := l.solve(ctx, url, all, fmt.Sprint("ANTIPODE_BUDGET_STATES=", states))
	if err != nil {
		return "", err
	}
	found.add(t)
	least := 0
	for _, a := range answers {
		if a.Nodes > states+edges {
			return "", fmt.Errorf("%d states kept of %d", a.Nodes, states)
		}
		if a.Status == "exceeded" {
			found.often++
			if least == 0 || a.Bound < least {
				least = a.Bound
			}
		}
	}
	return fmt.Sprintf("%d states prove %d moves or more", states, least), nil
}

// littleMemory lets hard questions of all kinds meet a worker of little memory.
func littleMemory(ctx context.Context, l *lab, url string, found *result) (note string, err error) {
	w, err := l.worker(ctx, url, "ANTIPODE_SLOTS=2", "ANTIPODE_MEMORY=64MiB", "ANTIPODE_TABLES_MEMORY=64MiB", "ANTIPODE_CACHE_MEMORY=16MiB")
	if err != nil {
		return "", err
	}
	defer w.Kill()
	rng := rand.New(rand.NewPCG(12, 12))
	rounds := 12
	if l.short {
		rounds = 3
	}
	all := []hardQuestion{farFifteen}
	for range rounds {
		all = append(all, walked(rng, "wheels"), walked(rng, "torus"), walked(rng, "wheels"))
	}
	answers, t, err := l.solve(ctx, url, all, "ANTIPODE_BUDGET_TIME=2s")
	if err != nil {
		return "", err
	}
	found.add(t)
	for _, a := range answers {
		if a.Status == "exceeded" {
			found.often++
		}
	}
	const bound = 64<<20 + 64<<20 + 16<<20 + heapRoom
	m := memoryOf(w)
	if m.most > bound {
		return "", fmt.Errorf("a worker of 64 + 64 + 16 MiB had %d MiB", m.most>>20)
	}
	return fmt.Sprintf("a worker with memory, tables and cache of 64 + 64 + 16 MiB had %d MiB at the most", m.most>>20), nil
}

// memoryBack looks at a worker's memory during a search and after it.
func memoryBack(ctx context.Context, l *lab, url string, found *result) (note string, err error) {
	w, err := l.worker(ctx, url)
	if err != nil {
		return "", err
	}
	defer w.Kill()
	q := walked(rand.New(rand.NewPCG(13, 13)), "wheels")
	q.start = []uint8{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8} // far from a goal of any order
	q.goal = []uint8{8, 3, 6, 1, 7, 2, 4, 5, 1, 8, 3, 6, 2, 7, 5, 4}
	q.most = 1000
	_, t, err := l.solve(ctx, url, []hardQuestion{q}, "ANTIPODE_BUDGET_TIME=10s")
	if err != nil {
		return "", err
	}
	found.add(t)
	return fellBack(ctx, w)
}

func fellBack(ctx context.Context, w *process.Process) (note string, err error) {
	var m memory
	ctx, cancel := context.WithTimeoutCause(ctx, 20*time.Second, errors.New("memory is not given back"))
	defer cancel()
	err = until(ctx, "memory after a search", func() (bool, error) {
		m = memoryOf(w)
		if m.most == 0 {
			return false, errors.New("it is known on Linux only")
		}
		return m.now <= keptRoom, nil
	})
	if err == nil && m.most < 3*m.now {
		err = fmt.Errorf("%d MiB in a search, and %d MiB after it: too little to tell", m.most>>20, m.now>>20)
	}
	return fmt.Sprintf("of %d MiB in a search %d were left after it", m.most>>20, m.now>>20), err
}
