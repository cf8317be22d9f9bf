package job

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"antipode/internal/limit"
	"antipode/internal/puzzle"
)

// endless repeats a text for so many bytes, and notes how much its Cutter holds.
type endless struct {
	text   string
	left   int
	cutter *Cutter
	most   int // bytes of the largest buffer
}

func (e *endless) Read(p []byte) (int, error) {
	e.most = max(e.most, cap(e.cutter.buf))
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n+len(e.text) <= len(p) {
		n += copy(p[n:], e.text)
	}
	e.left -= n
	return n, nil
}

// A file that is one endless line, or none, takes no more memory than another.
func TestEndlessLines(t *testing.T) {
	const size, most = 4 << 20, 2 << 20
	set, err := puzzle.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	const tooLong, empty, many = "one record that is too long", "no records", "many records"
	for _, c := range []struct{ text, ofText, ofJSONL string }{
		{"1", tooLong, tooLong},
		{"1 ", many, tooLong}, // values are counted
		{"1\r", many, tooLong},
		{"\x00", tooLong, tooLong},
		{"\xff", tooLong, tooLong},
		{" ", empty, empty},
		{"\t", empty, empty},
		{"\r", empty, empty},
		{"\v", empty, tooLong},
		{",", empty, tooLong},
		{"# ", empty, tooLong},
		{"\n", empty, empty},
		{"\r\n", empty, empty},
		{"#\n", empty, many},
		{`{"id":`, tooLong, tooLong},
		{`[`, tooLong, tooLong},
		{`"`, tooLong, tooLong},
	} {
		for _, name := range []string{"swap", "graph", ""} {
			spec, want := Spec{File: "endless", Format: Format{JSONL: name == ""}}, c.ofJSONL
			var p *puzzle.Puzzle
			if name != "" {
				want = c.ofText
				if p, err = set.Get(name); err != nil {
					t.Fatal(err)
				}
			}
			r := &endless{text: c.text, left: size}
			cutter := NewCutter(r, spec, p)
			r.cutter = cutter
			got := empty
			for {
				chunk, err := cutter.Next(context.Background())
				if err == io.EOF || errors.Is(err, ErrEmpty) {
					break
				}
				switch {
				case err != nil:
					t.Fatal(err)
				case len(chunk.Payload) > limit.Chunk:
					t.Fatalf("%q, %q: a payload of %d bytes", name, c.text, len(chunk.Payload))
				case chunk.TooLong == "":
					got = many
				case len(chunk.Payload) > limit.Record || !strings.Contains(chunk.TooLong, "131072 bytes"):
					t.Fatalf("%q, %q: %d bytes are kept; %s", name, c.text, len(chunk.Payload), chunk.TooLong)
				default:
					got = tooLong
				}
			}
			if got != want || want == tooLong && cutter.Records() != 1 {
				t.Errorf("%q, %q: %s, %d; want %s", name, c.text, got, cutter.Records(), want)
			}
			if r.most > most {
				t.Errorf("%q, %q: a buffer of %d bytes", name, c.text, r.most)
			}
		}
	}
}
