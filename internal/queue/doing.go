package queue

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"antipode/internal/job"
	"antipode/internal/limit"
)

// Doing is what a worker does now, and has done since it began to serve. It names no
// owner and no job: whoever may submit may ask for it.
type Doing struct {
	Express int    // slots
	Held    []Held // what its slots work on, the longest first
	Chunks  int    // answered
	Counts  job.Counts
}

// Held is what a slot works on.
type Held struct {
	Lane    Lane    `json:"lane"`
	Puzzle  string  `json:"puzzle,omitempty"` // its name; "" where records name theirs
	Seconds float64 `json:"seconds"`          // until now, by the worker's clock
}

// doing is Doing while it is being counted: once a chunk.
type doing struct {
	mu     sync.Mutex
	held   map[*holding]struct{} // guarded by mu
	chunks int                   // guarded by mu
	counts job.Counts            // guarded by mu
}

type holding struct {
	lane   Lane
	puzzle string
	since  time.Time
}

// begin notes that a slot begins to work on a chunk of a puzzle's ref, and returns the
// function that notes what came of it, nil for nothing.
func (d *doing) begin(lane Lane, ref string) func(*job.Result) {
	h := &holding{lane, puzzleName(ref), time.Now()}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held == nil {
		d.held = map[*holding]struct{}{}
	}
	d.held[h] = struct{}{}
	return func(res *job.Result) {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.held, h)
		if res != nil {
			d.chunks++
			d.counts.Sum(res.Counts)
		}
	}
}

// puzzleName is what a ref, NAME or NAME@HASH, is called; "" where that is no name, or
// there are several.
func puzzleName(ref string) string {
	name, _, _ := strings.Cut(ref, "@")
	if strings.Contains(ref, " ") || !job.IsToken(name) {
		return ""
	}
	return name
}

// activity is Doing on the wire: the data of the endpoint's stats.
type activity struct {
	Slots   map[Lane]int   `json:"slots"`
	Held    []Held         `json:"held"`
	Chunks  int            `json:"chunks"`
	Records map[string]int `json:"records"` // by status
	Cached  int            `json:"cached"`
}

// encode makes what is told of a worker's slots.
func (d *doing) encode(bulk, express int) json.RawMessage {
	d.mu.Lock()
	a := activity{Slots: map[Lane]int{Bulk: bulk, Express: express}, Held: []Held{}, Chunks: d.chunks, Records: map[string]int{}, Cached: d.counts.Cached}
	for status, n := range d.counts.ByStatus {
		a.Records[job.Status(status).String()] = n
	}
	for h := range d.held {
		a.Held = append(a.Held, Held{h.lane, h.puzzle, time.Since(h.since).Round(time.Millisecond).Seconds()})
	}
	d.mu.Unlock()
	text, err := json.Marshal(a)
	if err != nil {
		return nil // it has no number that JSON has not
	}
	return text
}

// readDoing reads what a worker tells, nil where it tells nothing that makes sense:
// anybody may answer.
func readDoing(data json.RawMessage) *Doing {
	var a activity
	if len(data) == 0 || json.Unmarshal(data, &a) != nil || a.Slots[Express] < 0 || a.Slots[Express] > limit.Number || a.Chunks < 0 || a.Cached < 0 {
		return nil
	}
	d := &Doing{Express: a.Slots[Express], Chunks: a.Chunks}
	d.Counts.Cached = a.Cached
	for status := range job.Status(job.Statuses) {
		n := a.Records[status.String()]
		if n < 0 || n > math.MaxInt/(2*job.Statuses) { // sums stay numbers
			return nil
		}
		d.Counts.ByStatus[status] = n
		d.Counts.Records += n
	}
	for _, h := range a.Held[:min(len(a.Held), limit.Held)] {
		if h.Lane != Bulk && h.Lane != Express || h.Puzzle != "" && !job.IsToken(h.Puzzle) || !(h.Seconds >= 0 && h.Seconds < 1e9) {
			return nil
		}
		d.Held = append(d.Held, h)
	}
	slices.SortStableFunc(d.Held, func(a, b Held) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return d
}
