package job

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"antipode/internal/limit"
	"antipode/internal/puzzle"
)

// checkPlain compares what plain finds with what the puzzle finds, record by
// record.
func checkPlain(p *puzzle.Puzzle, buf []byte, lines, most, room int) error {
	records, end := plain(buf, lines, most, room)
	if records > most || end > room {
		return fmt.Errorf("%d records, %d bytes; at most %d and %d", records, end, most, room)
	}
	at := 0
	for n := range records {
		f, found := p.Next(buf[at:], puzzle.Framing{Lines: lines}, false)
		if found != puzzle.FoundOne || f.Start != 0 || f.Line != 0 || f.Lines != lines || f.End > limit.Record {
			return fmt.Errorf("record %d at %d: %+v, found %d", n+1, at, f, found)
		}
		at += f.End
	}
	if at != end {
		return fmt.Errorf("%d records end at %d, not at %d", records, at, end)
	}
	return nil
}

func swap(t testing.TB) *puzzle.Puzzle {
	set, err := puzzle.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	p, err := set.Get("swap")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Plain finds all records of a neat file, and stops before what is not plain.
func TestPlain(t *testing.T) {
	const rows = "1 2 3\n4 5 6\n7 8 9\n"
	long := strings.Repeat("1", limit.Record)
	for _, c := range []struct {
		text        string
		lines       int
		most, room  int
		records, to int
	}{
		{rows + rows, 3, 9, 99, 2, 36},
		{rows + rows, 3, 1, 99, 1, 18},
		{rows + rows, 3, 9, 36, 2, 36},
		{rows + rows, 3, 9, 35, 1, 18},
		{rows + rows, 1, 9, 99, 6, 36},
		{rows + rows, 4, 9, 99, 1, 24},
		{rows + rows[:17], 3, 9, 99, 1, 18},
		{rows + "\n" + rows, 3, 9, 99, 1, 18},
		{rows + "1 2 3\n# 4\n5 6\n7\n", 3, 9, 99, 1, 18},
		{rows + "1 2 3\n\v\n5 6\n7\n", 3, 9, 99, 1, 18},
		{rows + "x # 3\ny\nZ\n", 3, 9, 99, 2, 28},
		{" " + rows, 3, 9, 99, 0, 0},
		{"", 3, 9, 99, 0, 0},
		{"a\r\nb\r\n", 2, 9, 99, 1, 6},
		{"1\n" + long[1:] + "\n2\n", 1, 9, 1 << 20, 3, limit.Record + 4},
		{"1\n" + long + "\n2\n", 1, 9, 1 << 20, 1, 2},
	} {
		name := c.text[:min(len(c.text), 50)]
		if records, to := plain([]byte(c.text), c.lines, c.most, c.room); records != c.records || to != c.to {
			t.Errorf("%q, %d lines, at most %d to %d: %d to %d; want %d to %d", name, c.lines, c.most, c.room, records, to, c.records, c.to)
		}
		if err := checkPlain(swap(t), []byte(c.text), c.lines, c.most, c.room); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func FuzzPlain(f *testing.F) {
	p := swap(f)
	f.Add([]byte("1 2 3\n4 5 6\n7 8 9\n9 8 7\n6 5 4\n3 2 1\n"), uint8(3), uint8(7), uint16(100))
	f.Add([]byte("ab\n\ncd\n#\n \n\v\n\x8a\n\n0\n"), uint8(1), uint8(7), uint16(100))
	f.Add(bytes.Repeat([]byte("1\n\v\n"), 9), uint8(2), uint8(7), uint16(100))
	f.Fuzz(func(t *testing.T, buf []byte, lines, most uint8, room uint16) {
		if err := checkPlain(p, buf, int(lines)%limit.Lines+1, int(most)+1, int(room)); err != nil {
			t.Fatalf("%q: %v", buf, err)
		}
	})
}
