//go:build unix

package e2e

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"antipode/internal/cache"
	"antipode/internal/cache/redistest"
	"antipode/internal/job"
	"antipode/internal/natsd"
	"antipode/internal/plain"
)

// Redis goes in the middle of a job, comes back empty, and is silent for a
// while: the answers are the same.
func TestRedisGoesInTheMiddle(t *testing.T) {
	server, err := natsd.Start(natsd.Config{Port: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop() })
	redis := redistest.Start(t)
	boards := ringBoards(21, 128)
	text := ringText(boards)
	without, counts := newSite(t, server.URL(), "", "").run(t, "rotegame-rings", strings.NewReader(text))
	checkRings(t, boards, without)
	if counts.Cached != 0 {
		t.Errorf("without Redis: %+v", counts)
	}
	s := newSite(t, server.URL(), redis.Addr, "")
	halves := strings.SplitAfter(text, "\n")
	half := len(halves) / 12 * 6
	for _, step := range []struct {
		name   string
		happen func()
	}{{"goes", redis.Stop}, {"comes back", redis.Start}, {"is silent", redis.Pause}, {"speaks again", redis.Resume}} {
		in := &interrupted{first: strings.Join(halves[:half], ""), happen: step.happen, second: strings.Join(halves[half:], "")}
		got, counts := s.run(t, "rotegame-rings", in)
		if got != without || counts.Records != len(boards) || counts.ByStatus[job.Solved] != len(boards) {
			t.Errorf("Redis %s: %+v, the same answers: %t", step.name, counts, got == without)
		}
		s.stop()
		s = newSite(t, server.URL(), redis.Addr, "") // with an empty cache of its own
	}
}

// interrupted is a job file in the middle of which something happens.
type interrupted struct {
	first, second string
	happen        func()
}

func (r *interrupted) Read(p []byte) (int, error) {
	if r.first == "" && r.happen != nil {
		r.happen()
		r.happen = nil
		r.first, r.second = r.second, ""
	}
	n := copy(p, r.first)
	r.first = r.first[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Planted moves that lead to the goal, and are not the shortest, are believed by
// a worker without a secret, which trusts its Redis, and by none with one. Moves
// that miss the goal are believed by nobody, nor is that there are none where it is
// proven that there are.
func TestPlantedAnswers(t *testing.T) {
	server, err := natsd.Start(natsd.Config{Port: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop() })
	const record, truth = "9 9 9 9\n1 2 3 4\n5 6 7 8\n1 9 9 4\n5 9 9 8\n6 2 7 3\n", "2\n1 2\n"
	around := append(slices.Repeat([]uint8{0}, 8), 0, 1) // once round the left ring, then the truth
	for _, c := range []struct {
		name           string
		planter, asker string // their secrets
		answer         cache.Answer
		want           string
		cached         int
	}{
		{"the truth", "", "", cache.Answer{Moves: []uint8{0, 1}}, truth, 1},
		{"a longer way", "", "", cache.Answer{Moves: around}, "10\n1 1 1 1 1 1 1 1 1 2\n", 1},
		{"a longer way, unsigned", "", "hush", cache.Answer{Moves: around}, truth, 0},
		{"a longer way, under another secret", "guess", "hush", cache.Answer{Moves: around}, truth, 0},
		{"a longer way, signed for one who has no secret", "hush", "", cache.Answer{Moves: around}, truth, 0},
		{"the truth, signed", "hush", "hush", cache.Answer{Moves: []uint8{0, 1}}, truth, 1},
		{"unreachable, unsigned", "", "hush", cache.Answer{Status: job.Unreachable}, truth, 0},
		{"unreachable, though it is proven that moves lead there", "", "", cache.Answer{Status: job.Unreachable}, truth, 0},
		{"no moves", "", "", cache.Answer{}, truth, 0},
		{"moves that miss the goal", "", "", cache.Answer{Moves: []uint8{1, 0}}, truth, 0},
		{"moves that miss the goal, signed", "hush", "hush", cache.Answer{Moves: []uint8{1}}, truth, 0},
		{"moves that are none", "", "", cache.Answer{Moves: []uint8{200}}, truth, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			redis := redistest.Start(t)
			s := newSite(t, server.URL(), redis.Addr, c.asker)
			plant(t, s, redis.Addr, c.planter, record, c.answer)
			got, counts := s.run(t, "rotegame-planted", strings.NewReader(record))
			if got != c.want || counts.Cached != c.cached {
				t.Errorf("answer %q, %d from the cache; want %q, %d", got, counts.Cached, c.want, c.cached)
			}
			// What replaced a lie is the truth for the next worker, too.
			s.stop()
			next, counts := newSite(t, server.URL(), redis.Addr, c.asker).run(t, "rotegame-planted", strings.NewReader(record))
			if next != got || counts.Cached != 1 {
				t.Errorf("next: answer %q, %d from the cache", next, counts.Cached)
			}
		})
	}
}

// plant puts an answer into Redis as a worker with the secret would.
func plant(t *testing.T, s *site, redis, secret, record string, a cache.Answer) {
	t.Helper()
	r, err := job.NewReader(&job.Chunk{Spec: job.Spec{Puzzle: "rotegame"}, Payload: []byte(record)}, s.puzzles)
	if err != nil {
		t.Fatal(err)
	}
	var rec job.Record
	r.Next(&rec)
	r.Read(&rec)
	key := cache.Key{Fingerprint: rec.Question.Space.Fingerprint(), Start: rec.Question.Start, Goal: rec.Question.Goal}
	c, err := cache.Open(cache.Config{Redis: redis, Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	c.Remember([]cache.Entry{{Key: key, Answer: a}})
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := c.Stats().Written; n != 1 {
		t.Fatalf("%d answers planted: %+v", n, c.Stats())
	}
}

// The answers are the shortest, and of these the first in the order of moves, as
// far as a search that shares no code with the product can see.
func TestRingsAreShortest(t *testing.T) {
	rings := plain.Rotegame()
	boards := ringBoards(31, 16)
	answers, _ := submit(t, 0, jobFile(t, "rotegame-some.txt", ringText(boards)))
	checkRings(t, boards, answers)
	lines := strings.Split(answers, "\n")
	solved := []uint8{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	near := rings.Distances(solved, 16)
	for i, pair := range boards {
		start := make([]uint8, 12) // the question to the solved board that is the same
		for cell, v := range pair[0] {
			start[cell] = uint8(slices.Index(pair[1][:], v) + 1)
		}
		var n int
		fmt.Sscan(lines[2*i], &n)
		if near.Within(start, n-1) {
			t.Errorf("answer %d: %d moves, and there is a shorter way", i+1, n)
		}
		if first := strings.Join(rings.Words(near.First(start, n)), " "); lines[2*i+1] != first {
			t.Errorf("answer %d: moves %s, want %s", i+1, lines[2*i+1], first)
		}
	}
}
