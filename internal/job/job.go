// Package job holds the words that job files, the wire and the output share:
// records, chunks, answers and their statuses. It cuts a job file into chunks,
// reads a chunk's records, and prints their answers.
package job

import (
	"crypto/rand"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"antipode/internal/limit"
	"antipode/internal/puzzle"
)

// jsonlRecords is how many JSON records make a chunk: any of them may be a
// search.
const jsonlRecords = 256

// Format says how the records of a payload are written, or its answers.
type Format struct {
	JSONL bool
	// Framing says where text records end; Known that it is decided. Otherwise
	// the first record of a payload decides.
	Framing puzzle.Framing
	Known   bool
}

// String returns the format's word: jsonl; text; or text/3, where every record
// has three lines; text/0, where values are counted; text/3/apart, where a blank
// line ends each; text/6/apart/2, where every second one does.
func (f Format) String() string {
	switch {
	case f.JSONL:
		return "jsonl"
	case !f.Known:
		return "text"
	}
	s := "text/" + strconv.Itoa(f.Framing.Lines)
	switch f.Framing.Blocks {
	case 0:
		return s
	case 1:
		return s + "/apart"
	}
	return s + "/apart/" + strconv.Itoa(f.Framing.Blocks)
}

// ParseFormat reads a format's word.
func ParseFormat(s string) (Format, error) {
	switch s {
	case "jsonl":
		return Format{JSONL: true}, nil
	case "text":
		return Format{}, nil
	}
	lines, blocks, apart := strings.Cut(strings.TrimPrefix(s, "text/"), "/apart")
	f := Format{Known: true}
	f.Framing.Lines, _ = strconv.Atoi(lines)
	if apart {
		f.Framing.Blocks = 1
	}
	if n, ok := strings.CutPrefix(blocks, "/"); ok {
		f.Framing.Blocks, _ = strconv.Atoi(n)
	}
	if f.String() != s || !f.Framing.Valid() {
		return Format{}, fmt.Errorf("format %q: text, text/N, text/N/apart, text/N/apart/B and jsonl are possible, N up to %d, B up to %d", s, limit.Lines, limit.Blocks)
	}
	return f, nil
}

// Budget bounds the work on one record; 0 leaves it to the worker. A record may
// lower a worker's budgets, never raise them.
type Budget struct {
	States int64 // kept by a search, both sides together
	Time   time.Duration
}

// Within returns b with the worker's own budget as the upper bound.
func (b Budget) Within(worker Budget) Budget {
	if b.States <= 0 || worker.States > 0 && worker.States < b.States {
		b.States = worker.States
	}
	if b.Time <= 0 || worker.Time > 0 && worker.Time < b.Time {
		b.Time = worker.Time
	}
	return b
}

// Spec is what all chunks of a job have in common.
type Spec struct {
	Owner string // a token
	Job   string // a token of 128 random bits
	// Puzzle is the ref of the puzzle of a text file. Of jsonl, whose records name
	// theirs, it is the refs of those that they may name besides the built-in
	// ones, with spaces between them; where it is one, records may leave it out.
	Puzzle  string
	Format  Format // of the records
	JSON    bool   // answers are printed as jsonl
	Want    string // distance, moves, or "" for what the puzzle wants
	Explain bool   // answers say how they were found
	File    string // what messages call the job file
	Budget  Budget
}

// Chunk is a run of whole records as they stand in the job file, the unit of
// delivery.
type Chunk struct {
	Spec
	Number      int  // in the job, from 0
	FirstLine   int  // line of the file on which the payload starts, from 1
	FirstRecord int  // number of its first record in the file, from 1
	Records     int  // 0: not said
	Last        bool // known to be the last of its job
	Payload     []byte
	// TooLong is not empty for a chunk that stands for one record which does not
	// travel, and says why.
	TooLong string
}

// Name names a chunk for people: JOB/NUMBER.
func (c *Chunk) Name() string { return c.Job + "/" + strconv.Itoa(c.Number) }

// Counts counts records by what became of them.
type Counts struct {
	Records  int
	ByStatus [Statuses]int
	Cached   int // of them, answered from the cache
}

// Add counts an answer.
func (n *Counts) Add(a *Answer) {
	n.Records++
	n.ByStatus[a.Status]++
	if a.Cached {
		n.Cached++
	}
}

// Sum adds other counts.
func (n *Counts) Sum(m Counts) {
	n.Records += m.Records
	n.Cached += m.Cached
	for i, c := range m.ByStatus {
		n.ByStatus[i] += c
	}
}

// Result is the answers of a chunk, printed, in the order of its records.
type Result struct {
	Counts
	Seconds float64 // that the worker took
	Worker  string  // a token
	Payload []byte

	// What follows is for the worker's own counters, and does not travel.
	Tally             Tally
	Asking, Searching time.Duration // the cache, and for answers; of Seconds
}

// Answer is what became of a record.
type Answer struct {
	Status     Status
	Distance   int     // moves; of a solved record
	Moves      []uint8 // indices in the order of the space's moves; nil where only the distance is wanted
	LowerBound int     // proven; of an exceeded record
	Line       int     // on which an invalid record is wrong, from the record's first, 0
	Reason     string  // of an invalid or failed record
	Cached     bool
	// How it was found, of a record that was solved or whose budget ran out.
	Method  string  // a word for people
	Nodes   int64   // states that a search visited
	Seconds float64 // where the job asks for it
}

var token = regexp.MustCompile(fmt.Sprintf(`^[A-Za-z0-9_-]{1,%d}$`, limit.Token))

// IsToken tells whether s may stand in a subject: [A-Za-z0-9_-]{1,64}.
func IsToken(s string) bool { return token.MatchString(s) }

// Printable makes text of strangers fit for a line: what is no letter, mark, number,
// sign or blank becomes '?', so that no terminal obeys it or turns it around.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// NewID returns a token of at least 128 random bits, in letters and digits: it is an
// argument of commands, and must not look like a flag.
func NewID() string { return rand.Text() }
