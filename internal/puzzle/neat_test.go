package puzzle

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// generally reads the record that buf starts with as Next and ReadText do.
func generally(p *Puzzle, buf []byte, framing Framing, q *Question) (f Frame, found Found, err error) {
	if f, found = p.Next(buf, framing, true); found == FoundOne {
		err = p.ReadText(buf[f.Start:f.End], q)
	}
	return f, found, err
}

// checkNeat compares what a Neat says of each record of buf with what Next and
// ReadText say, and returns how many were neat.
func checkNeat(t *testing.T, p *Puzzle, buf []byte, framing Framing) (neat int) {
	t.Helper()
	n := p.NewNeat(framing)
	if n == nil {
		return 0
	}
	for {
		var q, want Question
		size, lines := n.Read(buf, &q)
		f, found, err := generally(p, buf, framing, &want)
		if size > 0 {
			neat++
			switch {
			case found != FoundOne || err != nil:
				t.Fatalf("%s %+v %q: neat, but %v, %v", p.Name, framing, buf, found, err)
			case f != Frame{0, size, 0, lines}:
				t.Fatalf("%s %+v %q: %d bytes and %d lines, want %+v", p.Name, framing, buf, size, lines, f)
			case q.Space.Fingerprint() != want.Space.Fingerprint():
				t.Fatalf("%s %+v %q: another space", p.Name, framing, buf)
			}
			if q.Space = want.Space; q != want {
				t.Fatalf("%s %+v %q: %+v, want %+v", p.Name, framing, buf, q, want)
			}
		}
		if found != FoundOne {
			return neat
		}
		buf = buf[f.End:]
	}
}

// neatKinds are puzzles and framings of neat records, and how one of them is written.
func neatKinds(t testing.TB) []neatKind {
	perm := func(rng *rand.Rand, symbols ...string) []string {
		rng.Shuffle(len(symbols), func(i, j int) { symbols[i], symbols[j] = symbols[j], symbols[i] })
		return symbols
	}
	rows := func(v []string, width int) string {
		var b strings.Builder
		for i := 0; i < len(v); i += width {
			b.WriteString(strings.Join(v[i:i+width], " ") + "\n")
		}
		return b.String()
	}
	some := func(rng *rand.Rand, cells, to int) []string {
		v := make([]string, cells)
		for i := range v {
			v[i] = fmt.Sprint(1 + rng.IntN(to))
		}
		return v
	}
	eight := func(rng *rand.Rand) []string { return perm(rng, strings.Split("012345678", "")...) }
	word := func(rng *rand.Rand) string {
		return strings.Join(perm(rng, strings.Split("X12345678", "")...), "") + "\n"
	}
	vertices := func(rng *rand.Rand) []string { return perm(rng, strings.Split("123456789", "")...)[:8] }
	pieces := make([]string, 16)
	for i := range pieces {
		pieces[i] = fmt.Sprint(i)
	}
	fifteen := parsed(t, strings.NewReplacer("width: 2\nheight: 2", "width: 4\nheight: 4", "[1, 2, 3, 0]", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0]").Replace(slide2x2))
	return []neatKind{
		{"eight", builtin(t, "eight"), Framing{Lines: 3}, func(rng *rand.Rand) string { return rows(eight(rng), 3) }},
		{"eight on a line", builtin(t, "eight"), Framing{Lines: 1}, func(rng *rand.Rand) string { return rows(eight(rng), 9) }},
		{"eight, words", builtin(t, "eight"), Framing{Lines: 1}, word},
		{"eight, apart", builtin(t, "eight"), Framing{Lines: 3, Blocks: 1}, func(rng *rand.Rand) string { return rows(eight(rng), 3) + "\n" }},
		{"swap", builtin(t, "swap"), Framing{Lines: 3}, func(rng *rand.Rand) string { return rows(perm(rng, strings.Split("123456789", "")...), 3) }},
		{"eight2", builtin(t, "eight2"), Framing{Lines: 2}, func(rng *rand.Rand) string { return word(rng) + word(rng) }},
		{"eight2 in rows", builtin(t, "eight2"), Framing{Lines: 6}, func(rng *rand.Rand) string { return rows(eight(rng), 3) + rows(eight(rng), 3) }},
		{"rotegame", builtin(t, "rotegame"), Framing{Lines: 6}, func(rng *rand.Rand) string { return rows(some(rng, 24, 100), 4) }},
		{"rings, values alike", parsed(t, rings), Framing{Lines: 2}, func(rng *rand.Rand) string {
			v := some(rng, 6, 255)
			s := rows(v, 6)
			return s + rows(perm(rng, v...), 6)
		}},
		{"slide, repeating", parsed(t, repeatSlide), Framing{Lines: 2}, func(rng *rand.Rand) string {
			return rows(perm(rng, append(some(rng, 5, 3), "X")...), 6) + rows(perm(rng, append(some(rng, 5, 3), "0")...), 6)
		}},
		{"fifteen", fifteen, Framing{Lines: 4}, func(rng *rand.Rand) string { return rows(perm(rng, pieces...), 4) }},
		{"graph", builtin(t, "graph"), Framing{Lines: 2}, func(rng *rand.Rand) string {
			edges := some(rng, 2*rng.IntN(13), 9)
			return fmt.Sprintln(len(edges)/2) + rows(edges, 2) + rows(vertices(rng), 8)
		}},
		{"one graph", builtin(t, "graph"), Framing{Lines: 2}, func(rng *rand.Rand) string {
			return "12\n8 5\n9 6\n4 5\n4 1\n2 5\n8 9\n2 1\n3 6\n8 7\n6 5\n7 4\n2 3\n" + rows(vertices(rng), 8)
		}},
	}
}

type neatKind struct {
	name    string
	puzzle  *Puzzle
	framing Framing
	record  func(*rand.Rand) string
}

// Records as programs write them are neat, all of them.
func TestNeat(t *testing.T) {
	for _, k := range neatKinds(t) {
		t.Run(k.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 9))
			var text []byte
			for range 300 {
				text = append(text, k.record(rng)...)
			}
			if n := checkNeat(t, k.puzzle, text, k.framing); n != 300 {
				t.Errorf("%d of 300 records are neat", n)
			}
		})
	}
}

// What is nearly neat is read as Next and ReadText read it, or left to them.
func TestNearlyNeat(t *testing.T) {
	const alphabet = "0123456789 \n\n\r\t,#Xx_.-a\x00\xff"
	for _, k := range neatKinds(t) {
		t.Run(k.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(2, 9))
			neat := 0
			for range 3000 {
				var text []byte
				for range 4 {
					text = append(text, k.record(rng)...)
				}
				for edits := 1 + rng.IntN(3); edits > 0 && len(text) > 0; edits-- {
					at, c := rng.IntN(len(text)), alphabet[rng.IntN(len(alphabet))]
					switch rng.IntN(4) {
					case 0:
						text[at] = c
					case 1:
						text = append(text[:at], text[at+1:]...)
					case 2:
						text = append(text[:at], append([]byte{c}, text[at:]...)...)
					case 3:
						text = text[:at+1]
					}
				}
				framing := k.framing
				if rng.IntN(4) == 0 {
					framing = Framing{Lines: rng.IntN(8), Blocks: rng.IntN(3)}
				}
				if framing.Valid() {
					neat += checkNeat(t, k.puzzle, text, framing)
				}
			}
			if neat == 0 {
				t.Error("none is neat")
			}
		})
	}
}

// The space of the last edges serves records that bring the same edges, and none
// that bring others.
func TestNeatRemembersEdges(t *testing.T) {
	p := builtin(t, "graph")
	n := p.NewNeat(Framing{Lines: 2})
	read := func(text string) *Space {
		t.Helper()
		var q Question
		if size, _ := n.Read([]byte(text), &q); size != len(text) {
			t.Fatalf("%q: %d bytes read", text, size)
		}
		return q.Space
	}
	first := read("2\n1 2\n3 9\n3 9 2 4 5 6 7 8\n")
	if read("2\n1 2\n3 9\n1 2 3 4 5 6 7 8\n") != first {
		t.Error("the same edges, another space")
	}
	for _, text := range []string{
		"2\n1 2\n3 8\n1 2 3 4 5 6 7 8\n",
		"1\n1 2\n1 2 3 4 5 6 7 8\n",
		"3\n1 2\n3 8\n4 5\n1 2 3 4 5 6 7 8\n",
		"0\n1 2 3 4 5 6 7 8\n",
	} {
		if read(text) == first {
			t.Errorf("%q: the space of other edges", text)
		}
		var q Question
		if err := p.ReadText([]byte(text), &q); err != nil || read(text).Fingerprint() != q.Space.Fingerprint() {
			t.Errorf("%q: another space than it has, or %v", text, err)
		}
	}
}

// FuzzNeat: what a Neat says, Next and ReadText say.
func FuzzNeat(f *testing.F) {
	kinds := neatKinds(f)
	rng := rand.New(rand.NewPCG(3, 9))
	for i, k := range kinds {
		text := k.record(rng) + k.record(rng)
		f.Add(i, k.framing.Lines, k.framing.Blocks, []byte(text))
		f.Add(i, k.framing.Lines, k.framing.Blocks, []byte(strings.ReplaceAll(text, "\n", "\r\n")))
		f.Add(i, k.framing.Lines, k.framing.Blocks, []byte("# comment\n\n"+text))
		f.Add(i, k.framing.Lines, 1, []byte(strings.ReplaceAll(text, " ", "  ")))
	}
	f.Fuzz(func(t *testing.T, kind, lines, blocks int, text []byte) {
		if framing := (Framing{lines, blocks}); kind >= 0 && kind < len(kinds) && framing.Valid() {
			checkNeat(t, kinds[kind].puzzle, text, framing)
		}
	})
}

// BenchmarkRead measures finding and reading a record of a chunk, neatly and
// generally.
func BenchmarkRead(b *testing.B) {
	for _, k := range neatKinds(b) {
		rng := rand.New(rand.NewPCG(4, 9))
		var text []byte
		const records = 4096
		for range records {
			text = append(text, k.record(rng)...)
		}
		report := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*records), "ns/record")
		}
		b.Run(k.name+"/neat", func(b *testing.B) {
			for b.Loop() {
				n := k.puzzle.NewNeat(k.framing)
				var q Question
				for rest := text; len(rest) > 0; {
					size, _ := n.Read(rest, &q)
					if size == 0 {
						b.Fatalf("%q", rest[:40])
					}
					rest = rest[size:]
				}
			}
			report(b)
		})
		b.Run(k.name+"/general", func(b *testing.B) {
			for b.Loop() {
				var q Question
				for rest := text; len(rest) > 0; {
					f, _, err := generally(k.puzzle, rest, k.framing, &q)
					if err != nil {
						b.Fatal(err)
					}
					rest = rest[f.End:]
				}
			}
			report(b)
		})
	}
}
