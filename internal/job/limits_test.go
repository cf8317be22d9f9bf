package job_test

import (
	"fmt"
	"strings"
	"testing"

	"antipode/internal/job"
	"antipode/internal/limit"
)

// Each limit on a job file from both sides: what is just within it is answered,
// and what is just beyond is refused in its place, with the limit.
func TestLimits(t *testing.T) {
	const line, rows = "1 2 3 4 5 6 7 8 9\n", "1 2 3\n4 5 6\n7 8 9\n"
	// to makes a record as long as asked for.
	to := func(n int, start, filler, end string) string {
		return start + strings.Repeat(filler, n-len(start)-len(end)) + end
	}
	const swapLine = `{"puzzle":"swap","start":[1,2,3,4,5,6,7,8,9]`
	edges := func(n int) string { return fmt.Sprint(n, "\n", strings.Repeat("1 9\n", n), "9 2 3 4 5 6 7 8\n") }
	edgesLine := func(n int) string {
		return `{"puzzle":"graph","edges":[` + strings.Repeat("[1,9],", n-1) + `[1,9]],"start":[0,2,3,4,5,6,7,8,1]}`
	}
	ring := strings.Repeat("7 ", 11)
	for _, c := range []struct {
		name, puzzle   string
		within, answer string
		beyond, want   string
	}{
		{"a line of text", "swap", line + to(limit.Record, line[:17], " ", "\n") + line, "0\n0\n0\n",
			line + to(limit.Record+1, line[:17], " ", "\n") + line, "0\ninvalid: job.in:2: a record of more than 131072 bytes\n0\n"},
		{"a line of text with a comment", "swap", line + to(limit.Record, line[:17]+"#", "x", "\n") + line, "0\n0\n0\n",
			line + to(limit.Record+1, line[:17]+"#", "x", "\n") + line, "0\ninvalid: job.in:2: a record of more than 131072 bytes\n0\n"},
		{"a record of lines", "swap", rows + to(limit.Record, rows[:12], " ", rows[11:]) + rows, "0\n0\n0\n",
			rows + to(limit.Record+1, rows[:12], " ", rows[11:]) + rows, "0\ninvalid: job.in:4: a record of more than 131072 bytes\n0\n"},
		{"a line of jsonl", "", to(limit.Record, swapLine, " ", "}\n") + swapLine + "}", `{"line":1,"status":"solved","distance":0}` + "\n" + `{"line":2,"status":"solved","distance":0}` + "\n",
			to(limit.Record+1, swapLine, " ", "}\n") + swapLine + "}", `{"line":1,"status":"invalid","reason":"a record of more than 131072 bytes"}` + "\n" + `{"line":2,"status":"solved","distance":0}` + "\n"},
		{"edges of text", "graph", edges(limit.Edges), "1\n", edges(limit.Edges+1) + "\n" + edges(1), "invalid: job.in:1: \"1025\" is not a number of edges, 0 to 1024\n1\n"},
		{"edges of jsonl", "", edgesLine(limit.Edges), `{"line":1,"status":"solved","distance":1}` + "\n",
			edgesLine(limit.Edges + 1), `{"line":1,"status":"invalid","reason":"edges: more than 1024"}` + "\n"},
		{"an id", "", `{"id":"` + to(limit.ID-2, "", "i", "") + `",` + swapLine[1:] + "}", `{"id":"` + to(limit.ID-2, "", "i", "") + `","line":1,"status":"solved","distance":0}` + "\n",
			`{"id":"` + to(limit.ID-1, "", "i", "") + `",` + swapLine[1:] + "}", `{"line":1,"status":"invalid","reason":"id: more than 1024 bytes"}` + "\n"},
		{"a deep id", "", `{"id":` + strings.Repeat("[", limit.ID/2) + strings.Repeat("]", limit.ID/2) + "," + swapLine[1:] + "}",
			`{"id":` + strings.Repeat("[", limit.ID/2) + strings.Repeat("]", limit.ID/2) + `,"line":1,"status":"solved","distance":0}` + "\n",
			`{"id":` + strings.Repeat("[", limit.ID/2+1) + strings.Repeat("]", limit.ID/2+1) + "," + swapLine[1:] + "}", `{"line":1,"status":"invalid","reason":"id: more than 1024 bytes"}` + "\n"},
		{"a value", "rotegame", ring + "100\n" + ring + "100\n", "0\n\n",
			ring + "101\n" + ring + "100\n", "invalid: job.in:1: board: 101 is out of range; a board holds 12 numbers from 1 to 100\n\n"},
		{"the least value", "rotegame", ring + "1\n" + ring + "1\n", "0\n\n",
			ring + "0\n" + ring + "1\n", "invalid: job.in:1: board: 0 is out of range; a board holds 12 numbers from 1 to 100\n\n"},
		{"a value beyond a byte", "rotegame", ring + "1\n" + ring + "1\n", "0\n\n",
			ring + "256\n" + ring + "257\n", "invalid: job.in:1: \"256\" is not a value of the board; a board holds 12 numbers from 1 to 100\n\n"},
		{"a vertex", "graph", "1\n1 9\n9 2 3 4 5 6 7 8\n", "1\n", "1\n1 10\n9 2 3 4 5 6 7 8\n", "invalid: job.in:2: \"10\" is not a vertex 1 to 9\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for text, want := range map[string]string{c.within: c.answer, c.beyond: c.want} {
				if out := run(t, c.puzzle, text); out.err != nil || out.output != want {
					t.Errorf("%d bytes: %v\n%.500s\nwant\n%.500s", len(text), out.err, out.output, want)
				}
			}
		})
	}
}

// The number that a file announces: what is none, or above the limit, is refused
// with the line and what is possible.
func TestLimitsOfTheCount(t *testing.T) {
	const board = "0 1 2 3 4 5 6 7 8\n"
	for _, count := range []int64{0, 1, 1 << 31, 1 << 32, limit.Count} {
		out := run(t, "eight", fmt.Sprint(count, "\n", board))
		if out.err != nil || out.output != "0\n" || int64(out.announced) != count {
			t.Errorf("%d: %+v", count, out)
		}
	}
	// What follows on the line is the first record.
	if out := run(t, "eight", "2 "+board+board); out.err != nil || out.output != "0\n0\n" {
		t.Errorf("a board on the line of the count: %+v", out)
	}
	if out := run(t, "eight", "1 board\n"+board); out.err != nil || !strings.HasPrefix(out.output, "invalid: job.in:1: \"board\" is not a value") {
		t.Errorf("text after the count: %+v", out)
	}
	for _, count := range []string{
		"-1", "1000000000000000001", "9223372036854775807", "9223372036854775808", strings.Repeat("9", 1000), strings.Repeat("9", 1<<20),
		"1e3", "1.0", "0x10", "1_000", "٣", "1boards", "\x00", "true",
	} {
		const want = "job.in:2: a file of eight starts with the number of its records, 0 to 1000000000000000000"
		if out := run(t, "eight", "\n"+count+"\n"+board); out.err == nil || out.err.Error() != want || out.announced != -1 || out.output != "" {
			t.Errorf("%.30q: %+v", count, out)
		}
	}
}

// The framing that a message may ask for.
func TestLimitsOfFormats(t *testing.T) {
	for _, good := range []string{fmt.Sprint("text/", limit.Lines), fmt.Sprint("text/", limit.Lines, "/apart/", limit.Blocks)} {
		if f, err := job.ParseFormat(good); err != nil || f.String() != good {
			t.Errorf("%s: %v, %v", good, f, err)
		}
	}
	for _, bad := range []string{fmt.Sprint("text/", limit.Lines+1), fmt.Sprint("text/2/apart/", limit.Blocks+1), "text/999999999999999999999"} {
		if f, err := job.ParseFormat(bad); err == nil || !strings.HasSuffix(err.Error(), "N up to 33, B up to 3") {
			t.Errorf("%s: %v, %v", bad, f, err)
		}
	}
}
