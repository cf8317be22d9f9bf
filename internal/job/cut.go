package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"antipode/internal/limit"
	"antipode/internal/puzzle"
)

// ErrQuiet is returned by the reader of a Cutter when no input came for a
// while; the Cutter then gives what whole records it has as a chunk.
var ErrQuiet = errors.New("no input for a while")

// ErrEmpty says that a job file holds no records and no count of 0.
var ErrEmpty = errors.New("empty job file")

// Cutter cuts a job file at record ends. The same bytes, puzzle and options
// give the same chunks, but for the pauses of a slow producer.
type Cutter struct {
	r       io.Reader
	spec    Spec
	puzzle  *puzzle.Puzzle // nil for jsonl
	max     int            // records of a chunk
	buf     []byte         // from the first record not cut; buf[:pos] are records of the next chunk
	pos     int
	last    bool // no bytes follow those of buf
	quiet   bool // no bytes came for a while
	marked  bool // the byte order mark is off, if there was one
	counted bool // the count is read
	started bool // the framing is decided
	lines   int  // of a record where plain may look for it, else 0

	chunk        int // the number of the next
	pending      int // records in buf[:pos]
	line, lineAt int // of buf[0] and of buf[pos], from 1

	records   atomic.Int64 // cut so far
	announced atomic.Int64 // -1: nothing
}

// NewCutter returns a Cutter of the job file r. The puzzle is nil for jsonl.
func NewCutter(r io.Reader, spec Spec, p *puzzle.Puzzle) *Cutter {
	c := &Cutter{r: r, spec: spec, puzzle: p, max: jsonlRecords, line: 1, lineAt: 1}
	c.announced.Store(-1)
	if p != nil {
		c.max = p.ChunkRecords
	}
	return c
}

// Records returns the number of records of the chunks so far. It may be called
// while another goroutine cuts, as may Announced.
func (c *Cutter) Records() int { return int(c.records.Load()) }

// Announced returns the number of records that the file says it has.
func (c *Cutter) Announced() (n int, ok bool) {
	n = int(c.announced.Load())
	return n, n >= 0
}

// Next returns the next chunk, io.EOF after the last, ErrEmpty where there is
// none at all, or the reader's error. It ends with ctx at the next pause of the
// reader.
func (c *Cutter) Next(ctx context.Context) (*Chunk, error) {
	for {
		if !c.started {
			if err := c.start(); err != nil {
				return nil, err
			}
		}
		if c.started {
			chunk, err := c.cut(ctx)
			if chunk != nil || err != nil {
				return chunk, err
			}
		}
		if c.last {
			if c.Records() == 0 && c.announced.Load() != 0 {
				return nil, ErrEmpty
			}
			return nil, io.EOF
		}
		if err := c.fill(ctx); err != nil {
			return nil, err
		}
	}
}

// start takes a byte order mark off, reads the count and decides the framing,
// each once there are bytes enough.
func (c *Cutter) start() error {
	if !c.marked {
		if len(c.buf) < len(byteOrderMark) && !c.last {
			return nil
		}
		c.buf = bytes.TrimPrefix(c.buf, []byte(byteOrderMark))
		c.marked = true
	}
	if c.puzzle == nil {
		c.started = true
		return nil
	}
	c.strip()
	if c.puzzle.Count && !c.counted {
		if err := c.count(); err != nil || !c.counted {
			return err
		}
		c.strip()
	}
	// A first record that is too long to travel is too long to decide.
	n := min(len(c.buf), limit.Record)
	framing, ok := c.puzzle.Decide(c.buf[:n], c.last && n == len(c.buf))
	if !ok && (c.quiet || n == limit.Record) {
		framing, ok = c.puzzle.DecideNow(c.buf[:n])
	}
	if ok || c.last || n == limit.Record {
		c.spec.Format = Format{Framing: framing, Known: true}
		c.lineAt = c.line
		c.started = true
		if framing.Blocks == 0 && c.puzzle.Parts()[0] != "edges" {
			c.lines = framing.Lines
		}
	}
	return nil
}

const byteOrderMark = "\ufeff"

// count reads the number that the file starts with, now that blank lines and
// comments before it are off.
func (c *Cutter) count() error {
	n, end, found, ok := c.puzzle.ReadCount(c.buf, c.last)
	switch {
	case found == puzzle.FoundNone:
		c.counted = true // there is nothing at all
		return nil
	case found == puzzle.FoundPart && len(c.buf) <= limit.Record:
		return nil
	case !ok:
		return fmt.Errorf("%s:%d: a file of %s starts with the number of its records, 0 to %d", c.spec.File, c.line, c.puzzle.Name, int64(limit.Count))
	}
	c.announced.Store(int64(n))
	c.buf = c.buf[end:]
	c.counted = true
	return nil
}

// cut takes records from buf until a chunk is complete. It returns nil where
// more bytes are needed, or none are left.
//
// Where chunks end must not depend on how many bytes a read gave. So what is
// too far ahead, be it a long record or one after many blank lines, ends a chunk
// when its end is seen as well as when it is not.
func (c *Cutter) cut(ctx context.Context) (*Chunk, error) {
	for {
		if c.lines > 0 {
			n, end := plain(c.buf[c.pos:], c.lines, c.max-c.pending, limit.Chunk-c.pos)
			c.pos += end
			c.lineAt += n * c.lines
			if c.pending += n; c.pending == c.max {
				return c.take(), nil
			}
		}
		f, found := c.next(c.buf[c.pos:])
		ahead := len(c.buf) - c.pos
		if found == puzzle.FoundOne {
			ahead = f.End
		}
		far := ahead > limit.Record
		switch {
		case found == puzzle.FoundPart && !far:
			if c.quiet {
				return c.take(), nil
			}
			return nil, nil
		case c.pending > 0 && (far || found == puzzle.FoundOne && c.pos+f.End > limit.Chunk):
			return c.take(), nil
		case found == puzzle.FoundNone:
			chunk := c.take()
			if chunk != nil {
				chunk.Last = true
			}
			return chunk, nil
		case far && c.strip():
			continue
		case found == puzzle.FoundPart || f.End-f.Start > limit.Record:
			return c.tooLong(ctx)
		}
		if c.pending == 0 { // the payload starts with the record
			c.buf, c.line = c.buf[c.pos+f.Start:], c.lineAt+f.Line
			c.pos, c.lineAt = 0, c.line
			f.End -= f.Start
			f.Line = 0
		}
		c.pos += f.End
		c.lineAt += f.Line + f.Lines
		c.pending++
		if c.pending == c.max {
			return c.take(), nil
		}
	}
}

func (c *Cutter) next(buf []byte) (puzzle.Frame, puzzle.Found) {
	if c.puzzle == nil {
		return nextLine(buf, c.last)
	}
	framing := c.spec.Format.Framing
	f, found := c.puzzle.Next(buf, framing, c.last)
	if found == puzzle.FoundPart && c.quiet && framing.Blocks > 0 {
		// A record whose lines are there does not wait for its blank line.
		framing.Blocks = 0
		if f, found := c.puzzle.Next(buf, framing, false); found == puzzle.FoundOne && puzzle.IsBlank(buf[f.End:]) {
			return f, found
		}
	}
	return f, found
}

// take returns the pending records as a chunk, nil where there are none.
func (c *Cutter) take() *Chunk {
	if c.pending == 0 {
		return nil
	}
	chunk := &Chunk{Spec: c.spec, Number: c.chunk, FirstLine: c.line, FirstRecord: c.Records() + 1, Records: c.pending}
	if chunk.Payload = c.buf[:c.pos:c.pos]; c.pos < shared {
		chunk.Payload = bytes.Clone(chunk.Payload)
	}
	c.advance(c.pos, c.lineAt)
	return chunk
}

// shared is how large a payload is that stays in the memory it was read into, to
// which nothing is written again. A smaller one has its own, and holds no more.
const shared = readSize / 4

// advance goes on after n bytes of buf, which is on the given line.
func (c *Cutter) advance(n, line int) {
	c.buf, c.pos = c.buf[n:], 0
	c.line, c.lineAt = line, line
	c.records.Add(int64(max(c.pending, 1)))
	c.pending = 0
	c.chunk++
}

// strip drops lines without a record, and white space before one, from the start
// of buf and reports whether there was any.
func (c *Cutter) strip() bool {
	n := 0
	for n < len(c.buf) {
		end := bytes.IndexByte(c.buf[n:], '\n') + 1
		whole := end > 0
		if !whole {
			end = len(c.buf) - n
		}
		line := c.buf[n : n+end]
		if comment := c.isComment(line); comment && !whole && !c.last {
			n += end - 1
			c.buf[n] = '#' // what follows is a comment still
			break
		} else if !comment && !c.isBlank(line) {
			n += len(line) - len(c.trimSpace(line))
			break
		}
		n += end
	}
	c.line += bytes.Count(c.buf[:n], []byte{'\n'})
	c.buf, c.pos, c.lineAt = c.buf[n:], 0, c.line
	return n > 0
}

func (c *Cutter) isBlank(line []byte) bool {
	if c.puzzle == nil {
		return len(bytes.Trim(line, jsonSpace)) == 0
	}
	return puzzle.IsBlank(line)
}

// trimSpace takes off the white space that line starts with.
func (c *Cutter) trimSpace(line []byte) []byte {
	if c.puzzle == nil {
		return bytes.TrimLeft(line, jsonSpace)
	}
	return puzzle.TrimSpace(line)
}

func (c *Cutter) isComment(line []byte) bool { return c.puzzle != nil && puzzle.IsComment(line) }

// tooLong skips the record of more than limit.Record bytes that buf starts with:
// all its lines, or where their number cannot be known what goes before the next
// blank line. Of a line of jsonl it keeps the start, for the sake of the id.
func (c *Cutter) tooLong(ctx context.Context) (*Chunk, error) {
	chunk := &Chunk{Spec: c.spec, Number: c.chunk, FirstLine: c.line, FirstRecord: c.Records() + 1, Records: 1,
		TooLong: fmt.Sprintf("a record of more than %d bytes", limit.Record)}
	var ending puzzle.Ending
	if c.puzzle != nil {
		ending = c.puzzle.Ending(c.buf[:limit.Record], c.spec.Format.Framing)
	}
	line, blank, comment := c.line, true, false // the last two of the line at hand, so far
	for {
		for len(c.buf) > 0 {
			end := bytes.IndexByte(c.buf, '\n') + 1
			whole := end > 0
			if !whole {
				end = len(c.buf)
			}
			if c.puzzle == nil {
				chunk.Payload = appendStart(chunk.Payload, c.buf[:end])
			}
			if blank {
				blank, comment = c.isBlank(c.buf[:end]), c.isComment(c.buf[:end])
			}
			c.buf = c.buf[end:]
			if !whole {
				continue
			}
			line++
			if c.puzzle == nil || ending.With(blank, comment) {
				c.advance(0, line)
				return chunk, nil
			}
			blank, comment = true, false
		}
		if c.last {
			c.advance(0, line)
			return chunk, nil
		}
		if err := c.fill(ctx); err != nil {
			return nil, err
		}
	}
}

// appendStart appends a piece of a line of jsonl to its start, which has at most
// limit.Record bytes from the first that is not white space.
func appendStart(start, piece []byte) []byte {
	if len(start) == 0 {
		piece = bytes.TrimLeft(piece, jsonSpace)
	}
	return append(start, piece[:min(len(piece), limit.Record-len(start))]...)
}

const readSize = 256 << 10

// fill reads more bytes into buf.
func (c *Cutter) fill(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if cap(c.buf)-len(c.buf) < readSize/2 {
		c.buf = append(make([]byte, 0, len(c.buf)+2*readSize), c.buf...)
	}
	n, err := c.r.Read(c.buf[len(c.buf):cap(c.buf)])
	c.buf = c.buf[:len(c.buf)+n]
	c.quiet = err == ErrQuiet
	switch {
	case err == io.EOF:
		c.last = true
	case err != nil && err != ErrQuiet:
		return fmt.Errorf("%s: %w", c.spec.File, err)
	}
	return nil
}

// jsonSpace is the white space that JSON knows.
const jsonSpace = " \t\r\n"

// nextLine finds the first line of buf that is not blank.
func nextLine(buf []byte, last bool) (f puzzle.Frame, _ puzzle.Found) {
	inside := false
	for i, b := range buf {
		switch {
		case b == '\n' && inside:
			f.End, f.Lines = i+1, 1
			return f, puzzle.FoundOne
		case b == '\n':
			f.Line++
		case !inside && b != ' ' && b != '\t' && b != '\r':
			f.Start, inside = i, true
		}
	}
	switch {
	case !last:
		return f, puzzle.FoundPart
	case !inside:
		return f, puzzle.FoundNone
	}
	f.End = len(buf)
	return f, puzzle.FoundOne
}
