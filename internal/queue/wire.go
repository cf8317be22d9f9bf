package queue

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"antipode/internal/job"
	"antipode/internal/limit"
	"antipode/internal/puzzle"
)

// Headers of a chunk. All may be missing: then the payload is text, starts with
// line 1 and record 1, and is not named in messages.
const (
	hPuzzle       = "Puzzle" // a ref: NAME or NAME@HASH; of jsonl, those that records may name besides the built-in ones
	hFormat       = "Format"
	hOutput       = "Output" // text or jsonl, of the answers; without it as the records
	hWant         = "Want"
	hFile         = "File"
	hFirstLine    = "First-Line"
	hFirstRecord  = "First-Record"
	hRecords      = "Records"
	hBudgetStates = "Budget-States"
	hBudgetTime   = "Budget-Time" // as 1.5s
	hExplain      = "Explain"     // true: answers say how they were found
)

// Headers of a result, besides Records and one for each status.
const (
	hCached  = "Cached"
	hSeconds = "Seconds"
	hWorker  = "Worker"
	hPart    = "Part"      // n/m
	hSum     = "Sum"       // the same in all parts of one result
	hOf      = "Chunk-Sum" // of the payload that it answers
)

var statusHeaders = [job.Statuses]string{"Solved", "Unreachable", "Invalid", "Exceeded", "Failed"}

// Headers of a dead letter, besides those of the chunk.
const (
	hReason    = "Dead-Reason"
	hDelivered = "Dead-Delivered"
	hDeadTime  = "Dead-Time"
	hDeadBy    = "Dead-Worker"
	hDeadBytes = "Dead-Bytes" // of a payload that did not fit and is left out
)

func chunkSubject(lane Lane, c *job.Chunk) string {
	return jobsPrefix + string(lane) + "." + c.Owner + "." + c.Job + "." + strconv.Itoa(c.Number)
}

func resultSubject(c *job.Chunk, part int) string {
	return resultsPrefix + c.Owner + "." + c.Job + "." + strconv.Itoa(c.Number) + "." + strconv.Itoa(part)
}

func deadSubject(c *job.Chunk) string {
	return deadPrefix + c.Owner + "." + c.Job + "." + strconv.Itoa(c.Number)
}

// encodeChunk makes a chunk's message.
func encodeChunk(lane Lane, c *job.Chunk) *nats.Msg {
	m := nats.NewMsg(chunkSubject(lane, c))
	m.Data = c.Payload
	set := func(key, value string) {
		if value != "" {
			m.Header.Set(key, value)
		}
	}
	set(hPuzzle, c.Puzzle)
	set(hFormat, c.Format.String())
	set(hOutput, map[bool]string{false: "text", true: "jsonl"}[c.JSON])
	set(hWant, c.Want)
	set(hFile, c.File)
	set(hFirstLine, strconv.Itoa(c.FirstLine))
	set(hFirstRecord, strconv.Itoa(c.FirstRecord))
	set(hRecords, strconv.Itoa(c.Records))
	if c.Budget.States > 0 {
		set(hBudgetStates, strconv.FormatInt(c.Budget.States, 10))
	}
	if c.Budget.Time > 0 {
		set(hBudgetTime, c.Budget.Time.String())
	}
	if c.Explain {
		set(hExplain, "true")
	}
	return m
}

// errNameless says that a message's subject names no chunk.
var errNameless = errors.New("the subject names no chunk")

// decodeChunk reads a chunk's message. With errNameless there is no chunk; with
// another error the chunk has its name and its number of records, and whatever
// else could be read.
func decodeChunk(m interface {
	Subject() string
	Headers() nats.Header
	Data() []byte
}) (*job.Chunk, error) {
	rest, ok := strings.CutPrefix(m.Subject(), jobsPrefix)
	tokens := strings.Split(rest, ".")
	if !ok || len(tokens) != 4 || !job.IsToken(tokens[1]) || !job.IsToken(tokens[2]) {
		return nil, errNameless
	}
	c := &job.Chunk{Spec: job.Spec{Owner: tokens[1], Job: tokens[2]}, Payload: m.Data()}
	var err error
	if c.Number, err = number(tokens[3], 0, limit.Number); err != nil {
		return nil, errNameless
	}
	return c, readHeaders(c, m.Headers())
}

func readHeaders(c *job.Chunk, h nats.Header) error {
	var problems []error
	integer := func(key string, otherwise, least, most int) int {
		s := h.Get(key)
		if s == "" {
			return otherwise
		}
		n, err := number(s, least, most)
		if err != nil {
			problems = append(problems, fmt.Errorf("header %s: %w", key, err))
			return otherwise
		}
		return n
	}
	c.Records = integer(hRecords, 0, 1, limit.ChunkRecords)
	c.FirstLine = integer(hFirstLine, 1, 1, math.MaxInt)
	c.FirstRecord = integer(hFirstRecord, 1, 1, math.MaxInt)
	c.Budget.States = int64(integer(hBudgetStates, 0, 1, math.MaxInt))
	if s := h.Get(hBudgetTime); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 {
			problems = append(problems, fmt.Errorf("header %s: %q is no time as 1.5s", hBudgetTime, clip(s)))
		}
		c.Budget.Time = d
	}
	if c.Puzzle = h.Get(hPuzzle); len(c.Puzzle) > limit.PuzzleHeader {
		problems = append(problems, fmt.Errorf("header %s: longer than %d bytes", hPuzzle, limit.PuzzleHeader))
		c.Puzzle = clip(c.Puzzle)
	}
	switch s := h.Get(hExplain); s {
	case "":
	case "true":
		c.Explain = true
	default:
		problems = append(problems, fmt.Errorf("header %s: %q; true is possible", hExplain, clip(s)))
	}
	c.File = h.Get(hFile)
	if c.File == "" {
		c.File = "chunk"
	}
	if len(c.File) > limit.FileHeader || strings.ContainsFunc(c.File, func(r rune) bool { return r < ' ' }) {
		problems = append(problems, fmt.Errorf("header %s: longer than %d bytes, or with control characters", hFile, limit.FileHeader))
		c.File = "chunk"
	}
	if s := h.Get(hFormat); s != "" {
		var err error
		if c.Format, err = job.ParseFormat(clip(s)); err != nil {
			problems = append(problems, fmt.Errorf("header %s: %w", hFormat, err))
		}
	}
	switch s := h.Get(hOutput); s {
	case "":
		c.JSON = c.Format.JSONL
	case "text":
	case "jsonl":
		c.JSON = true
	default:
		problems = append(problems, fmt.Errorf("header %s: %q; text and jsonl are possible", hOutput, clip(s)))
	}
	if c.Want = h.Get(hWant); c.Want != "" {
		if _, err := puzzle.ParseWant(c.Want); err != nil {
			problems = append(problems, fmt.Errorf("header %s: %q; distance and moves are possible", hWant, clip(c.Want)))
			c.Want = ""
		}
	}
	return errors.Join(problems...)
}

// number reads a decimal number without signs or leading zeros.
func number(s string, least, most int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || strconv.Itoa(n) != s || n < least || n > most {
		return 0, fmt.Errorf("%q is not a number from %d to %d", clip(s), least, most)
	}
	return n, nil
}

// clip bounds what an error shows of a message.
func clip(s string) string { return s[:min(len(s), 128)] }

// headerRoom is what a message's subject and headers take of the server's
// largest payload, at the most.
const headerRoom = 4 << 10

// encodeResult makes the messages of a chunk's result, as many as the server's
// largest payload asks for.
func encodeResult(c *job.Chunk, r *job.Result, maxPayload int64) []*nats.Msg {
	size := max(int(maxPayload)-headerRoom, 1<<10)
	parts := max(1, (len(r.Payload)+size-1)/size)
	sum, of := "", checksum(c.Payload)
	if parts > 1 {
		sum = checksum(r.Payload)
	}
	msgs := make([]*nats.Msg, parts)
	for i := range msgs {
		m := nats.NewMsg(resultSubject(c, i+1))
		m.Data = r.Payload[i*size : min((i+1)*size, len(r.Payload))]
		m.Header.Set(hRecords, strconv.Itoa(r.Records))
		for s, key := range statusHeaders {
			m.Header.Set(key, strconv.Itoa(r.ByStatus[s]))
		}
		m.Header.Set(hCached, strconv.Itoa(r.Cached))
		m.Header.Set(hSeconds, strconv.FormatFloat(r.Seconds, 'f', 6, 64))
		m.Header.Set(hWorker, r.Worker)
		m.Header.Set(hPart, strconv.Itoa(i+1)+"/"+strconv.Itoa(parts))
		m.Header.Set(hOf, of)
		if parts > 1 {
			m.Header.Set(hSum, sum)
		}
		msgs[i] = m
	}
	return msgs
}

// part is one message of a result.
type part struct {
	chunk    int
	n, parts int // n from 1
	sum      string
	of       string // the checksum of the chunk's payload; "" is not said
	result   job.Result
}

// decodePart reads a message of a result of the given job.
func decodePart(owner, id string, m interface {
	Subject() string
	Headers() nats.Header
	Data() []byte
}) (p part, err error) {
	rest, ok := strings.CutPrefix(m.Subject(), resultsPrefix+owner+"."+id+".")
	chunk, nth, two := strings.Cut(rest, ".")
	if !ok || !two {
		return p, fmt.Errorf("result on the subject %s", clip(m.Subject()))
	}
	h := m.Headers()
	ints := []struct {
		to   *int
		text string
	}{{&p.chunk, chunk}, {&p.result.Records, h.Get(hRecords)}, {&p.result.Cached, h.Get(hCached)}}
	for s, key := range statusHeaders {
		ints = append(ints, struct {
			to   *int
			text string
		}{&p.result.ByStatus[s], h.Get(key)})
	}
	for _, i := range ints {
		if *i.to, err = number(i.text, 0, limit.Number); err != nil {
			return p, fmt.Errorf("result %s: %w", rest, err)
		}
	}
	n, parts, _ := strings.Cut(h.Get(hPart), "/")
	if p.parts, err = number(parts, 1, limit.Parts); err == nil {
		p.n, err = number(n, 1, p.parts)
	}
	if err != nil || n != nth {
		return p, fmt.Errorf("result %s: part %q", rest, clip(h.Get(hPart)))
	}
	p.result.Seconds, _ = strconv.ParseFloat(h.Get(hSeconds), 64)
	p.result.Worker = clip(h.Get(hWorker))
	p.sum, p.of = h.Get(hSum), h.Get(hOf)
	p.result.Payload = m.Data()
	return p, nil
}
