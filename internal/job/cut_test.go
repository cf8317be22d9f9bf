package job_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"antipode/internal/job"
	"antipode/internal/limit"
	"antipode/internal/puzzle"
)

// chunked is a puzzle with other chunks.
func chunked(t testing.TB, name string, records int) *puzzle.Puzzle {
	t.Helper()
	p, err := builtins(t).Get(name)
	if err != nil {
		t.Fatal(err)
	}
	small := *p
	small.ChunkRecords = records
	return &small
}

// cut cuts a job file; the puzzle is nil for jsonl.
func cut(r io.Reader, p *puzzle.Puzzle) (chunks []*job.Chunk, cutter *job.Cutter, err error) {
	spec := job.Spec{Job: "test", File: "job.in", Format: job.Format{JSONL: p == nil}}
	if p != nil {
		spec.Puzzle = p.Name
	}
	cutter = job.NewCutter(r, spec, p)
	for {
		c, err := cutter.Next(context.Background())
		if err == io.EOF {
			return chunks, cutter, nil
		}
		if err != nil {
			return chunks, cutter, err
		}
		chunks = append(chunks, c)
	}
}

// pieces reads at most so many bytes at a time.
type pieces struct {
	r    io.Reader
	size func() int
}

func (p pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.size())]) }

// withEOF says with the last bytes that they are the last.
type withEOF struct{ rest string }

func (r *withEOF) Read(b []byte) (int, error) {
	n := copy(b, r.rest)
	if r.rest = r.rest[n:]; r.rest == "" {
		return n, io.EOF
	}
	return n, nil
}

// readers are ways of reading the same bytes. Small pieces are for small files:
// what is not yet a record is looked at again with each piece.
func readers(text string) map[string]io.Reader {
	rng := rand.New(rand.NewPCG(1, uint64(len(text))))
	r := func() io.Reader { return strings.NewReader(text) }
	all := map[string]io.Reader{
		"whole":              r(),
		"with its end":       &withEOF{text},
		"40,000 at a time":   pieces{r(), func() int { return 40_000 }},
		"131,073 at a time":  pieces{r(), func() int { return 131_073 }},
		"large random parts": pieces{r(), func() int { return 1 + rng.IntN(200_000) }},
	}
	if len(text) < 10_000 {
		all["one byte at a time"] = iotest.OneByteReader(r())
		all["halves"] = iotest.HalfReader(r())
		all["random parts"] = pieces{r(), func() int { return rng.IntN(20) }}
	}
	return all
}

// word is a word of a job file and its line, from 1.
type word struct {
	text string
	line int
}

// words are the words of a text file; comments aside.
func words(text string) (all []word) {
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		for _, w := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ,\t\v\f\r", r) }) {
			all = append(all, word{w, i + 1})
		}
	}
	return all
}

// checkChunks tells what is wrong with the chunks of a text file without records
// that are too long: they hold its words, each once and in order; numbers and
// lines are those of the file; each chunk reads as the records that it says.
func checkChunks(text string, p *puzzle.Puzzle, set *puzzle.Set, chunks []*job.Chunk) error {
	rest := words(strings.TrimPrefix(text, "\ufeff"))
	if p.Count && len(rest) > 0 {
		rest = rest[1:]
	}
	number := 1
	for i, c := range chunks {
		if c.Number != i || c.FirstRecord != number || c.Records < 1 || c.Records > p.ChunkRecords || len(c.Payload) > limit.Chunk || c.TooLong != "" {
			return fmt.Errorf("chunk %d: number %d, first record %d, %d records, %d bytes, too long %q; want first record %d", i, c.Number, c.FirstRecord, c.Records, len(c.Payload), c.TooLong, number)
		}
		inside := words(string(c.Payload))
		if len(inside) == 0 || len(inside) > len(rest) || c.FirstLine != rest[0].line {
			return fmt.Errorf("chunk %d: first line %d, %d words; the file goes on with %v", i, c.FirstLine, len(inside), rest[:min(1, len(rest))])
		}
		for k, w := range inside {
			if want := rest[k]; w.text != want.text || c.FirstLine+w.line-1 != want.line {
				return fmt.Errorf("chunk %d: %s on line %d, want %s on line %d", i, w.text, c.FirstLine+w.line-1, want.text, want.line)
			}
		}
		r, err := job.NewReader(c, set)
		if err != nil {
			return err
		}
		var rec job.Record
		lines := map[int]bool{}
		for _, w := range rest[:len(inside)] {
			lines[w.line] = true
		}
		for r.Next(&rec) {
			if r.Read(&rec); rec.Number != number || !lines[rec.Line] || rec.Puzzle.Name != p.Name {
				return fmt.Errorf("chunk %d: record %d on line %d; want record %d", i, rec.Number, rec.Line, number)
			}
			if rec.Invalid != nil && (rec.Invalid.Line < 0 || !lines[rec.Line+rec.Invalid.Line]) {
				return fmt.Errorf("record %d on line %d is wrong on line %d of it", rec.Number, rec.Line, rec.Invalid.Line)
			}
			number++
		}
		if number != c.FirstRecord+c.Records {
			return fmt.Errorf("chunk %d: it says %d records, and has %d", i, c.Records, number-c.FirstRecord)
		}
		rest = rest[len(inside):]
	}
	if len(rest) > 0 {
		return fmt.Errorf("left: %v", rest)
	}
	return nil
}

// recordLines returns the line of each record.
func recordLines(t *testing.T, set *puzzle.Set, chunks []*job.Chunk) (lines []int) {
	t.Helper()
	for _, c := range chunks {
		r, err := job.NewReader(c, set)
		if err != nil {
			t.Fatal(err)
		}
		for rec := (job.Record{}); r.Next(&rec); {
			lines = append(lines, rec.Line)
		}
	}
	return lines
}

// However a file is read, it is cut into the same chunks, which hold what it
// holds.
func TestCutting(t *testing.T) {
	const (
		line  = "1 2 3 4 5 6 7 8 9\n"
		rows  = "1 2 3\n4 5 6\n7 8 9\n"
		two   = "1 1 1 1 2 2 2 2 3 3 3 3\n1 1 2 2 2 2 1 1 3 3 3 3\n"
		six   = "1 1 1 1\n2 2 2 2\n3 3 3 3\n1 1 2 2\n2 2 1 1\n3 3 3 3\n"
		home  = "1 2 3 4 5 6 7 8\n"
		graph = "2\n1 2\n2 3\n" + home
	)
	lines := func(n int, record string) string { return strings.Repeat(record, n) }
	windows := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	join := func(text string) string { return strings.ReplaceAll(text, "\n", " ") }
	for _, c := range []struct {
		name, puzzle string
		chunk        int
		text         string
		format       string
		records      []int // of each chunk
	}{
		{"a line each", "swap", 3, lines(7, line), "text/1", []int{3, 3, 1}},
		{"chunks that come out even", "swap", 3, lines(6, line), "text/1", []int{3, 3}},
		{"one record", "swap", 3, line, "text/1", []int{1}},
		{"no last line end", "swap", 3, lines(3, line) + "123456789", "text/1", []int{3, 1}},
		{"words", "swap", 2, lines(3, "123456789\n"), "text/1", []int{2, 1}},
		{"three lines each", "swap", 2, lines(5, rows), "text/3", []int{2, 2, 1}},
		{"three lines each, apart", "swap", 2, lines(5, rows+"\n"), "text/3/apart", []int{2, 2, 1}},
		{"three lines each, apart, comments between", "swap", 2, lines(3, "# a\n"+rows+"# b\n \n"), "text/3/apart", []int{2, 1}},
		{"apart, rows missing and too many", "swap", 2, rows + "\n" + lines(2, "1 2 3\n\n"+rows+rows+"\n\n"), "text/3/apart", []int{2, 2, 1}},
		{"a blank line after every row", "swap", 2, strings.ReplaceAll(lines(3, rows), "\n", "\n\n"), "text/3", []int{2, 1}},
		{"one record and a blank line", "swap", 2, rows + "\n", "text/3/apart", []int{1}},
		{"a value a line", "swap", 2, lines(3, "1\n2\n3\n4\n5\n6\n7\n8\n9\n"), "text/9", []int{2, 1}},
		{"all on a line", "swap", 2, join(lines(5, line)), "text/0", []int{2, 2, 1}},
		{"words on a line", "swap", 2, join(lines(5, "123456789\n")), "text/0", []int{2, 2, 1}},
		{"records across lines", "swap", 2, lines(5, "1 2 3 4 5 6 7\n8 9 1 2 3 4 5 6 7\n8 9\n"), "text/0", []int{2, 2, 2, 2, 2}},
		{"records across lines, the first too", "swap", 2, lines(5, "1 2 3 4 5\n6 7 8 9 1 2 3\n4 5 6 7 8 9\n"), "text/0", []int{2, 2, 2, 2, 2}},
		{"Windows line ends", "swap", 2, windows(lines(3, rows)), "text/3", []int{2, 1}},
		{"a byte order mark", "swap", 2, "\ufeff" + lines(3, line), "text/1", []int{2, 1}},
		{"blank lines and comments", "swap", 2, "\n# a\n" + line + "\n  \n1 2 3 4 5 6 7 8 9 # b\n# c\n" + line + "\n# d\n", "text/1", []int{2, 1}},
		{"comments between the lines of a record", "swap", 2, lines(3, "# a\n1 2 3\n\n# b\n4 5 6\n7 8 9 # c\n"), "text/3", []int{2, 1}},
		{"broken lines", "swap", 2, line + "1 2\n" + "1 2 3 4 5 6 7 8 9 9\nx\n" + line, "text/1", []int{2, 2, 1}},
		{"part of a record at the end", "swap", 2, lines(3, rows) + "1 2 3\n", "text/3", []int{2, 2}},
		{"commas", "swap", 2, lines(3, "1,2,3,4,5,6,7,8,9\n"), "text/1", []int{2, 1}},

		{"a count", "eight", 2, "3\n" + lines(3, line), "text/1", []int{2, 1}},
		{"a count and a byte order mark", "eight", 2, "\ufeff" + windows("3\n"+lines(3, rows)), "text/3", []int{2, 1}},
		{"a count among blank lines", "eight", 2, "\n# how many\n  3 # three\n\n" + lines(3, rows), "text/3", []int{2, 1}},
		{"a count on the records' line", "eight", 2, "3 " + join(lines(3, line)), "text/0", []int{2, 1}},
		{"a count on the first record's line", "eight", 2, "3 " + lines(3, line), "text/1", []int{2, 1}},
		{"a count too large", "eight", 2, "9\n" + lines(3, line), "text/1", []int{2, 1}},

		{"two words, a line each", "eight2", 2, "3\n" + lines(3, "12345678X\nX12345678\n"), "text/2", []int{2, 1}},
		{"two words on a line", "eight2", 2, "3\n" + lines(3, "12345678X X12345678\n"), "text/1", []int{2, 1}},
		{"a word and rows", "eight2", 2, "3\n" + lines(3, "12345678X\n1 2 3\n4 5 6\n7 8 X\n"), "text/4", []int{2, 1}},
		{"two boards", "rotegame", 2, lines(3, two), "text/2", []int{2, 1}},
		{"six lines", "rotegame", 2, lines(5, six), "text/6", []int{2, 2, 1}},
		{"six lines, blank lines between boards", "rotegame", 2, lines(3, "1 1 1 1\n2 2 2 2\n3 3 3 3\n\n1 1 2 2\n2 2 1 1\n3 3 3 3\n\n\n"), "text/6/apart/2", []int{2, 1}},

		{"graphs", "graph", 2, graph + "0\n" + home + "1\n1 1\n" + home, "text/2", []int{2, 1}},
		{"graphs, pieces on lines", "graph", 2, lines(3, "1\n1 2\n1 2 3 4\n5 6 7 8\n"), "text/3", []int{2, 1}},
		{"graphs on one line", "graph", 2, join(lines(3, graph)), "text/0", []int{2, 1}},
		{"graphs, edges on one line", "graph", 2, lines(3, "2\n1 2 2 3\n"+home), "text/0", []int{2, 1}},
		{"graphs, the first without its number of edges", "graph", 2, "x\n1 2\n" + home + "\n" + graph + graph, "text/2", []int{2, 1}},
		{"graphs, one without its number of edges", "graph", 2, graph + "x\n1 2\n" + home + "\n" + graph + graph, "text/2", []int{2, 2}},
	} {
		t.Run(c.puzzle+": "+c.name, func(t *testing.T) {
			p := chunked(t, c.puzzle, c.chunk)
			var want []*job.Chunk
			for how, r := range readers(c.text) {
				chunks, cutter, err := cut(r, p)
				if err != nil {
					t.Fatalf("%s: %v", how, err)
				}
				var records []int
				total := 0
				for _, c := range chunks {
					records = append(records, c.Records)
					total += c.Records
				}
				if !slices.Equal(records, c.records) || cutter.Records() != total || chunks[0].Format.String() != c.format {
					t.Errorf("%s: chunks of %v records, %d together, as %v; want %v as %s", how, records, cutter.Records(), chunks[0].Format, c.records, c.format)
				}
				if err := checkChunks(c.text, p, builtins(t), chunks); err != nil {
					t.Errorf("%s: %v", how, err)
				}
				if want == nil {
					want = chunks
				} else if !reflect.DeepEqual(chunks, want) {
					t.Errorf("%s: other chunks", how)
				}
			}
			// In one chunk it has the same records.
			one, _, err := cut(strings.NewReader(c.text), chunked(t, c.puzzle, 1000))
			if err != nil || len(one) != 1 || !slices.Equal(recordLines(t, builtins(t), one), recordLines(t, builtins(t), want)) {
				t.Errorf("%v: %d chunks for one; records on lines %v, and in chunks %v", err, len(one), recordLines(t, builtins(t), one), recordLines(t, builtins(t), want))
			}
		})
	}
}

func TestCount(t *testing.T) {
	p := chunked(t, "eight", 2)
	for _, c := range []struct {
		name, text string
		announced  int // -1: nothing
		records    int
		err        string // in the error, "" where there is none
	}{
		{"right", "2\n123456780\n123456780\n", 2, 2, ""},
		{"too small", "1\n123456780\n123456780\n", 1, 2, ""},
		{"too large", "3\n123456780\n123456780\n", 3, 2, ""},
		{"0 and records", "0\n123456780\n", 0, 1, ""},
		{"0 and no records", "0\n", 0, 0, ""},
		{"0 without its line end", "0", 0, 0, ""},
		{"0, then blank lines", "\n 0 \n\n# nothing\n", 0, 0, ""},
		{"1 and no records", "1\n", 1, 0, "empty"},
		{"no bytes", "", -1, 0, "empty"},
		{"a byte order mark", "\ufeff", -1, 0, "empty"},
		{"blank lines", "\n\n", -1, 0, "empty"},
		{"comments", "# nothing\n", -1, 0, "empty"},
		{"a word for the count", "\ntwo\n123456780\n", -1, 0, "job.in:2: a file of eight starts with the number of its records"},
		{"a negative count", "-2\n123456780\n", -1, 0, "job.in:1: "},
		{"a count beyond all", "99999999999999999999\n123456780\n", -1, 0, "job.in:1: "},
		{"no count", "1 2 3\n4 5 6\n7 8 0\n", 1, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for how, r := range readers(c.text) {
				_, cutter, err := cut(r, p)
				if n, ok := cutter.Announced(); ok != (c.announced >= 0) || ok && n != c.announced || cutter.Records() != c.records {
					t.Errorf("%s: %d announced, %v, %d records", how, n, ok, cutter.Records())
				}
				if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) || errors.Is(err, job.ErrEmpty) != (c.err == "empty") {
					t.Errorf("%s: %v", how, err)
				}
			}
		})
	}
	for how, r := range readers(" \n# x\n") {
		if _, _, err := cut(r, chunked(t, "swap", 2)); err != job.ErrEmpty {
			t.Errorf("without a count, %s: %v", how, err)
		}
	}
	for how, r := range readers(" \n\n") {
		if _, _, err := cut(r, nil); err != job.ErrEmpty {
			t.Errorf("jsonl, %s: %v", how, err)
		}
	}
}

// A chunk ends before its payload is too large.
func TestChunkBytes(t *testing.T) {
	p := chunked(t, "swap", 1<<16)
	record := "1 2 3 4 5 6 7 8 9 " + strings.Repeat(" ", 1000) + "\n"
	text := strings.Repeat(record, 1000)
	var want []*job.Chunk
	for how, r := range readers(text) {
		chunks, _, err := cut(r, p)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkChunks(text, p, builtins(t), chunks); err != nil {
			t.Errorf("%s: %v", how, err)
		}
		for _, c := range chunks[:len(chunks)-1] {
			if c.Last || len(c.Payload)+len(record) <= limit.Chunk {
				t.Errorf("%s: a chunk of %d bytes, last %v", how, len(c.Payload), c.Last)
			}
		}
		if !chunks[len(chunks)-1].Last {
			t.Errorf("%s: the last does not say so", how)
		}
		if want == nil {
			want = chunks
		} else if !reflect.DeepEqual(chunks, want) {
			t.Errorf("%s: other chunks", how)
		}
	}
}

// Records that are too long do not travel; those before and after do, whatever
// is between them.
func TestLongRecords(t *testing.T) {
	const line, rows, home = "1 2 3 4 5 6 7 8 9\n", "1 2 3\n4 5 6\n7 8 9\n", "0\n1 2 3 4 5 6 7 8\n"
	const pair = "1 1 1 1\n1 1 1 1 1 1 1 1\n\n"
	long := strings.Repeat("1 ", limit.Record/2+1)
	blanks := strings.Repeat(" \n", limit.Record)
	spaces := strings.Repeat(" ", 2*limit.Record)
	half := strings.Repeat(" ", limit.Record*3/4)
	comment := "# " + strings.Repeat("5 ", limit.Record) + "\n"
	type record struct {
		line    int
		tooLong bool
	}
	for _, c := range []struct {
		name, puzzle string // "" is jsonl
		text         string
		want         []record
	}{
		{"a long line among lines", "swap", line + long + "\n" + line, []record{{1, false}, {2, true}, {3, false}}},
		{"two long lines", "swap", line + long + "\n" + long + "\n" + line, []record{{1, false}, {2, true}, {3, true}, {4, false}}},
		{"a long line at the end", "swap", line + long, []record{{1, false}, {2, true}}},
		{"a line just short enough", "swap", line + strings.Repeat("1", limit.Record-1) + "\n" + line, []record{{1, false}, {2, false}, {3, false}}},
		{"a line just too long", "swap", line + strings.Repeat("1", limit.Record) + "\n" + line, []record{{1, false}, {2, true}, {3, false}}},
		{"a long line in a record of three", "swap", rows + "1 2 3\n" + long + "\n7 8 9\n" + rows, []record{{1, false}, {4, true}, {7, false}}},
		{"a long first line in a record of three", "swap", rows + long + "\n4 5 6\n\n# x\n7 8 9\n" + rows, []record{{1, false}, {4, true}, {9, false}}},
		{"a long last line in a record of three", "swap", rows + "1 2 3\n4 5 6\n" + long + "\n" + rows, []record{{1, false}, {4, true}, {7, false}}},
		{"a long line in a graph", "graph", home + "1\n1 2 " + long + "\n1 2 3 4 5 6 7 8\n" + home, []record{{1, false}, {3, true}, {6, false}}},
		{"a long number of edges", "graph", home + long + "\n1 2\n\n" + home, []record{{1, false}, {3, true}, {6, false}}},
		{"counted, to the next blank line", "swap", "123456789 " + line + "1 2 " + spaces + " 3\n4 5 6\n\n" + line, []record{{1, false}, {1, false}, {2, true}, {5, false}}},
		{"many blank lines", "swap", blanks + line + blanks + line + line + blanks, []record{{limit.Record + 1, false}, {2*limit.Record + 2, false}, {2*limit.Record + 3, false}}},
		{"many blank lines in a record", "swap", rows + "1 2 3\n" + blanks + "4 5 6\n7 8 9\n" + rows, []record{{1, false}, {4, true}, {limit.Record + 7, false}}},
		{"many spaces before a record", "swap", line + spaces + line + line, []record{{1, false}, {2, false}, {3, false}}},
		{"many spaces before a long record", "swap", line + half + "123456789" + half + "\n" + line, []record{{1, false}, {2, false}, {3, false}}},
		{"many spaces and commas before a first record", "swap", "\n" + strings.ReplaceAll(half, " ", ",\t") + "1 2 3\n4 5 6" + half + "\n7 8 9\n" + rows, []record{{2, false}, {5, false}}},
		{"many spaces before a record that is too long", "swap", line + half + long + "\n" + line, []record{{1, false}, {2, true}, {3, false}}},
		{"many spaces before a count and a record", "eight", half + "2" + half + half + "0 1 2\n3 4 5\n6 7 8" + half + "\n" + rows, []record{{1, false}, {4, false}}},
		{"a long record among others apart", "swap", rows + "\n1 2 3\n" + long + "\n7 8 9\n7 8 9\n\n" + rows, []record{{1, false}, {5, true}, {10, false}}},
		{"a record apart after many blank lines", "swap", rows + blanks + "1 2 3\n4 5 6\n\n" + rows, []record{{1, false}, {limit.Record + 4, false}, {limit.Record + 7, false}}},
		{"a long comment after a record apart", "swap", rows + "\n" + rows + comment + "\n" + rows, []record{{1, false}, {5, true}, {10, false}}},
		{"boards apart, one of them long", "rotegame", pair + pair + "\n1\n" + long + "\n\n2\n\n" + pair, []record{{1, false}, {8, true}, {13, false}}},
		{"many spaces after a record", "swap", line + "123456789" + spaces + "\n" + line, []record{{1, false}, {2, true}, {3, false}}},
		{"a long blank line after an unknown end", "graph", home + "x\n" + spaces + "\n" + home, []record{{1, false}, {3, true}, {5, false}}},
		{"an unknown end, a blank line", "graph", home + "x\n1 2\n \n" + home, []record{{1, false}, {3, false}, {6, false}}},
		{"a long comment", "swap", comment + line + comment + line, []record{{2, false}, {4, false}}},
		{"many blank lines and a count", "eight", blanks + "2\n" + blanks + rows + rows, []record{{2*limit.Record + 2, false}, {2*limit.Record + 5, false}}},
		{"a long comment and a count", "eight", comment + "2\n" + comment + rows + rows, []record{{4, false}, {7, false}}},
		{"a first record too long to tell its lines: values are counted", "swap", "1 2 3\n" + blanks + "4 5 6 7 8 9\n\n1 2 3\n" + rows, []record{{1, true}, {limit.Record + 2, false}, {limit.Record + 5, false}}},
		{"a long comment in a record", "swap", rows + "1 2 3\n" + comment + "4 5 6\n7 8 9\n" + rows, []record{{1, false}, {4, true}, {8, false}}},
		{"jsonl", "", "{}\n" + "[" + long + "]\n" + "{}\n\n{}", []record{{1, false}, {2, true}, {3, false}, {5, false}}},
		{"jsonl, many spaces before a long line", "", "{}\n" + half + "[" + half + "]\n{}\n", []record{{1, false}, {2, false}, {3, false}}},
		{"jsonl, many spaces before a first line", "", half + " \n\t" + half + "[" + half + "]\n{}\n", []record{{2, false}, {3, false}}},
		{"jsonl, a line of text's white space", "", blanks + ",\n" + blanks + "{}\n#\n", []record{{limit.Record + 1, false}, {2*limit.Record + 2, false}, {2*limit.Record + 3, false}}},
		{"jsonl, many blank lines", "", blanks + "{}\n" + blanks + "{}\n", []record{{limit.Record + 1, false}, {2*limit.Record + 2, false}}},
	} {
		t.Run(c.puzzle+": "+c.name, func(t *testing.T) {
			var p *puzzle.Puzzle
			if c.puzzle != "" {
				p = chunked(t, c.puzzle, 100)
			}
			var same []*job.Chunk
			for how, r := range readers(c.text) {
				chunks, cutter, err := cut(r, p)
				if err != nil {
					t.Fatalf("%s: %v", how, err)
				}
				var got []record
				for _, c := range chunks {
					if c.FirstRecord != len(got)+1 || len(c.Payload) > limit.Chunk {
						t.Errorf("%s: first record %d, %d bytes; want %d", how, c.FirstRecord, len(c.Payload), len(got)+1)
					}
					if c.TooLong != "" {
						kept := 0
						if p == nil {
							kept = limit.Record
						}
						if c.Records != 1 || len(c.Payload) != kept {
							t.Errorf("%s: %d records, %d bytes; want %d", how, c.Records, len(c.Payload), kept)
						}
						got = append(got, record{c.FirstLine, true})
						continue
					}
					r, err := job.NewReader(c, builtins(t))
					if err != nil {
						t.Fatal(err)
					}
					for rec := (job.Record{}); r.Next(&rec); {
						got = append(got, record{rec.Line, false})
					}
				}
				if !slices.Equal(got, c.want) || cutter.Records() != len(c.want) {
					t.Errorf("%s: %v, %d records; want %v", how, got, cutter.Records(), c.want)
				}
				if same == nil {
					same = chunks
				} else if !reflect.DeepEqual(chunks, same) {
					t.Errorf("%s: other chunks", how)
				}
			}
		})
	}
}

// A line of jsonl that is too long keeps its id, where its first bytes say it.
func TestLongLines(t *testing.T) {
	const before, after = `{"id":1,"x":"`, `","id":2}`
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct{ name, line, id string }{
		{"the id comes first", before + x(10<<20) + `"}`, "1"},
		{"a line just too long", before + x(limit.Record-len(before)-2) + `"}`, "1"},
		{"an id just within", `{"x":"` + x(limit.Record-len(`{"x":"","id":2}`)) + after + " ", "2"},
		{"an id just beyond", `{"x":"` + x(limit.Record-len(`{"x":"","id":2}`)+2) + after, ""},
		{"half of the id within", `{"x":"` + x(limit.Record-len(`{"x":"","id":2`)) + `","id":23}`, ""},
		{"the id comes last", `{"x":"` + x(10<<20) + after, ""},
		{"an id twice, the second beyond", before + x(10<<20) + after, "1"},
		{"an id that is too long", `{"id":"` + x(10<<20) + `"}`, ""},
		{"letters of many bytes", `{"id":1,"x":"` + strings.Repeat("\u00e9é世", limit.Record) + `"}`, "1"},
		{"a question, then spaces", `{"id":1,"puzzle":"eight2","start":"12X453786"}` + strings.Repeat(" ", 10<<20), "1"},
		{"spaces before the line", strings.Repeat(" ", 10<<20) + before + x(10<<20) + `"}`, "1"},
		{"no object", x(10 << 20), ""},
		{"a pit of lists", `{"id":1,"x":` + strings.Repeat("[", 10<<20), "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			const good, answer = `{"id":0,"puzzle":"eight","start":"102345678"}` + "\n", `{"id":0,"line":%d,"status":"solved","distance":1}` + "\n"
			id := ""
			if c.id != "" {
				id = `"id":` + c.id + `,`
			}
			out := run(t, "", good+c.line+"\n"+good)
			want := fmt.Sprintf(answer, 1) + `{` + id + `"line":2,"status":"invalid","reason":"a record of more than 131072 bytes"}` + "\n" + fmt.Sprintf(answer, 3)
			if out.err != nil || out.output != want || out.counts.Records != 3 {
				t.Errorf("%v, %d records\n%s\nwant\n%s", out.err, out.counts.Records, out.output, want)
			}
		})
	}
}

// A slow producer's whole records go on their way when it pauses.
func TestQuiet(t *testing.T) {
	const rows = "1 2 3\n4 5 6\n7 8 9\n"
	for _, c := range []struct {
		name, puzzle string
		reads        []string // ErrQuiet comes after each
		records      []int    // of each chunk
	}{
		{"a record at a time", "swap", []string{"123456789\n", "123456789\n"}, []int{1, 1}},
		{"two, and half of the next", "swap", []string{"123456789\n123456789\n1234", "56789\n123456789\n"}, []int{2, 2}},
		{"half a record", "swap", []string{"1234", "56789\n"}, []int{1}},
		{"nothing for long", "swap", []string{"", "", "123456789\n", "", ""}, []int{1}},
		{"half of three lines", "swap", []string{"1 2 3\n4 5 6\n7 8 9\n1 2 3\n", "4 5 6\n7 8 9\n"}, []int{1, 1}},
		{"the count alone", "eight", []string{"2\n", "123456780\n", "123456780\n"}, []int{1, 1}},
		{"more than a chunk", "swap", []string{strings.Repeat("123456789\n", 5)}, []int{3, 2}},
		{"apart", "swap", []string{rows + "\n", rows + "\n", rows}, []int{1, 1, 1}},
		{"apart, the blank line comes with the next record", "swap", []string{rows, "\n" + rows, "\n" + rows}, []int{1, 1, 1}},
		{"apart, no blank line after the last for now", "swap", []string{rows + "\n" + rows, "\n" + rows + "# more\n"}, []int{2, 1}},
		{"apart, half of the next", "swap", []string{rows + "\n1 2 3\n", "4 5 6\n7 8 9\n\n"}, []int{1, 1}},
		{"apart, the first broken", "swap", []string{"1 2 3\n7 8 9\n\n" + rows + "\n", rows}, []int{2, 1}},
		{"counted", "swap", []string{"123456789 123456789 ", "123456789 12345", "6789\n"}, []int{2, 1, 1}},
		{"jsonl", "", []string{"{}\n{}\n{", "}\n", "\n"}, []int{2, 1}},
	} {
		t.Run(c.puzzle+": "+c.name, func(t *testing.T) {
			var p *puzzle.Puzzle
			if c.puzzle != "" {
				p = chunked(t, c.puzzle, 3)
			}
			chunks, cutter, err := cut(&producer{reads: slices.Clone(c.reads)}, p)
			if err != nil {
				t.Fatal(err)
			}
			var records []int
			for _, c := range chunks {
				records = append(records, c.Records)
			}
			if !slices.Equal(records, c.records) {
				t.Errorf("chunks of %v records, want %v", records, c.records)
			}
			if p != nil {
				if err := checkChunks(strings.Join(c.reads, ""), p, builtins(t), chunks); err != nil {
					t.Error(err)
				}
			}
			if n, ok := cutter.Announced(); ok && n != cutter.Records() {
				t.Errorf("%d announced, %d records", n, cutter.Records())
			}
		})
	}
}

// producer is a reader that pauses after each of its reads.
type producer struct {
	reads []string
	pause bool
}

func (p *producer) Read(b []byte) (int, error) {
	switch {
	case p.pause:
		p.pause = false
		return 0, job.ErrQuiet
	case len(p.reads) == 0:
		return 0, io.EOF
	}
	n := copy(b, p.reads[0])
	if p.reads[0] = p.reads[0][n:]; p.reads[0] == "" {
		p.reads, p.pause = p.reads[1:], true
	}
	return n, nil
}

// An error of the reader comes through, with the file's name.
// A payload stays as it was, whatever is read after it, and no one can append to
// what comes after it.
func TestPayloadsStay(t *testing.T) {
	p := chunked(t, "swap", limit.ChunkRecords)
	var text strings.Builder
	for text.Len() < 4*limit.Chunk {
		text.WriteString("1 2 3\n4 5 6\n7 8 9\n")
		if text.Len()%1000 < 18 {
			text.WriteString("# " + strings.Repeat("c", limit.Record) + "\n")
		}
	}
	cutter := job.NewCutter(strings.NewReader(text.String()), job.Spec{}, p)
	var kept []*job.Chunk
	var copies [][]byte
	for {
		c, err := cutter.Next(t.Context())
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if cap(c.Payload) > len(c.Payload) && len(c.Payload) >= limit.Chunk/4 {
			t.Errorf("chunk %d: room for %d bytes after its %d", c.Number, cap(c.Payload)-len(c.Payload), len(c.Payload))
		}
		kept, copies = append(kept, c), append(copies, bytes.Clone(c.Payload))
	}
	if len(kept) < 4 {
		t.Fatalf("%d chunks", len(kept))
	}
	for i, c := range kept {
		if !bytes.Equal(c.Payload, copies[i]) {
			t.Errorf("chunk %d was changed after it was cut", i)
		}
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("the disk is broken")
	for _, text := range []string{"", "123456789\n", strings.Repeat("123456789\n", 10)} {
		_, _, err := cut(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), chunked(t, "swap", 3))
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "job.in") {
			t.Errorf("after %d bytes: %v", len(text), err)
		}
	}
}

// Cutting ends with its context.
func TestCutIsCancelled(t *testing.T) {
	gone := errors.New("no more")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(gone)
	c := job.NewCutter(strings.NewReader("123456789\n"), job.Spec{}, chunked(t, "swap", 3))
	if chunk, err := c.Next(ctx); err != gone {
		t.Errorf("got %v, %v", chunk, err)
	}
}

func TestCutJSONL(t *testing.T) {
	text := "\ufeff{\"a\": 1}\n\n \t\n[\"\ufeff#\"]\r\n# no comment\n,\n" + strings.Repeat("{}\n", 600) + "  {}"
	var same []*job.Chunk
	for how, r := range readers(text) {
		chunks, _, err := cut(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		var records []int
		var payload []byte
		for _, c := range chunks {
			records = append(records, c.Records)
			payload = append(payload, c.Payload...)
		}
		if !slices.Equal(records, []int{256, 256, 93}) {
			t.Errorf("%s: chunks of %v records", how, records)
		}
		if want := strings.TrimPrefix(text, "\ufeff"); string(bytes.ReplaceAll(payload, []byte("  {}"), []byte("{}"))) != strings.ReplaceAll(want, "  {}", "{}") {
			t.Errorf("%s: payloads of %d bytes; want %d", how, len(payload), len(want))
		}
		if same == nil {
			same = chunks
		} else if !reflect.DeepEqual(chunks, same) {
			t.Errorf("%s: other chunks", how)
		}
	}
}

// BenchmarkCut cuts files of the ways in which people write boards.
func BenchmarkCut(b *testing.B) {
	const line, rows = "1 2 3 4 5 6 7 8 9\n", "1 2 3\n4 5 6\n7 8 9\n"
	p := chunked(b, "swap", 10_000)
	for _, c := range []struct{ name, record string }{{"lines", line}, {"rows", rows}, {"apart", rows + "\n"}} {
		b.Run(c.name, func(b *testing.B) {
			text := strings.Repeat(c.record, 100_000)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, cutter, err := cut(strings.NewReader(text), p); err != nil || cutter.Records() != 100_000 {
					b.Fatal(cutter.Records(), err)
				}
			}
		})
	}
}
