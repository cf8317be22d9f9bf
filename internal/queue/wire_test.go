package queue

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"antipode/internal/job"
	"antipode/internal/limit"
	"antipode/internal/puzzle"
)

// received is a message as it comes.
type received struct {
	subject string
	header  nats.Header
	data    []byte
}

func (m received) Subject() string      { return m.subject }
func (m received) Headers() nats.Header { return m.header }
func (m received) Data() []byte         { return m.data }

func sent(m *nats.Msg) received { return received{m.Subject, m.Header, m.Data} }

func TestChunksOverTheWire(t *testing.T) {
	least := job.Chunk{
		Spec:   job.Spec{Owner: "public", Job: "0", File: "chunk"},
		Number: 0, FirstLine: 1, FirstRecord: 1, Records: 1, Payload: []byte{},
	}
	most := job.Chunk{
		Spec: job.Spec{
			Owner: strings.Repeat("o", 64), Job: job.NewID(), Puzzle: "rotegame",
			Format: job.Format{Framing: puzzle.Framing{Lines: 6}, Known: true}, JSON: true, Want: "distance", File: "Ordner mit Ümläuten/日本.txt",
			Budget: job.Budget{States: 1 << 40, Time: 1500 * time.Millisecond},
		},
		Number: limit.Number, FirstLine: 1 << 40, FirstRecord: 1 << 40, Records: limit.ChunkRecords, Payload: []byte("9 9 9\n\x00\xff"),
	}
	chunks := []job.Chunk{least, most}
	for _, format := range []job.Format{{}, {JSONL: true}, {Known: true}, {Known: true, Framing: puzzle.Framing{Lines: limit.Lines, Blocks: 1}}} {
		for _, asJSON := range []bool{false, true} {
			c := least
			c.Format, c.JSON = format, asJSON
			chunks = append(chunks, c)
		}
	}
	for _, c := range chunks {
		for _, lane := range []Lane{Bulk, Express} {
			m := sent(encodeChunk(lane, &c))
			want := "antipode.v1.jobs." + string(lane) + "." + c.Owner + "." + c.Job + "." + fmt.Sprint(c.Number)
			if m.subject != want {
				t.Errorf("subject %s, want %s", m.subject, want)
			}
			got, err := decodeChunk(m)
			if err != nil {
				t.Errorf("%+v: %v", c, err)
				continue
			}
			if !reflect.DeepEqual(*got, c) {
				t.Errorf("got %+v, want %+v", *got, c)
			}
		}
	}
}

// A chunk needs no headers.
func TestBareChunk(t *testing.T) {
	got, err := decodeChunk(received{"antipode.v1.jobs.bulk.me.job.7", nil, []byte("1 2 3")})
	want := &job.Chunk{Spec: job.Spec{Owner: "me", Job: "job", File: "chunk"}, Number: 7, FirstLine: 1, FirstRecord: 1, Payload: []byte("1 2 3")}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestSubjectsThatNameNoChunk(t *testing.T) {
	for _, subject := range []string{
		"", "antipode", "antipode.v1.jobs.", "antipode.v1.jobs.bulk", "antipode.v1.jobs.bulk.me.job", "antipode.v1.jobs.bulk.me.job.1.2",
		"antipode.v1.jobs.bulk.me.job.", "antipode.v1.jobs.bulk.me.job.x", "antipode.v1.jobs.bulk.me.job.-1", "antipode.v1.jobs.bulk.me.job.+1",
		"antipode.v1.jobs.bulk.me.job.01", "antipode.v1.jobs.bulk.me.job.1e3", "antipode.v1.jobs.bulk.me.job.2147483648", "antipode.v1.jobs.bulk.me.job.99999999999999999999",
		"antipode.v1.jobs.bulk..job.1", "antipode.v1.jobs.bulk.me..1", "antipode.v1.jobs.bulk.m*.job.1", "antipode.v1.jobs.bulk.me.>.1",
		"antipode.v1.jobs.bulk.$JS.job.1", "antipode.v1.jobs.bulk.mé.job.1", "antipode.v1.jobs.bulk.me.job\n.1", "antipode.v1.jobs.bulk.me.../../etc.1",
		"antipode.v1.jobs.bulk." + strings.Repeat("m", 65) + ".job.1", "antipode.v1.jobs.bulk.me." + strings.Repeat("j", 65) + ".1",
		"antipode.v2.jobs.bulk.me.job.1", "antipode.v1.results.me.job.1.1",
	} {
		if c, err := decodeChunk(received{subject: subject}); !errors.Is(err, errNameless) || c != nil {
			t.Errorf("%q: %+v, %v", subject, c, err)
		}
	}
}

func TestHeadersThatAreRefused(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, c := range []struct{ key, value, want string }{
		{hRecords, "0", "1 to 65536"},
		{hRecords, "65537", "1 to 65536"},
		{hRecords, "-1", "1 to 65536"},
		{hRecords, " 1", "1 to 65536"},
		{hRecords, "1_0", "1 to 65536"},
		{hRecords, "0x10", "1 to 65536"},
		{hRecords, "1\n2", `"1\n2"`},
		{hRecords, long, "not a number"},
		{hFirstLine, "0", "not a number"},
		{hFirstLine, "1.5", "not a number"},
		{hFirstLine, "9223372036854775808", "not a number"},
		{hFirstRecord, "none", "not a number"},
		{hFirstRecord, "٣", "not a number"},
		{hBudgetStates, "0", "not a number"},
		{hBudgetStates, "1e9", "not a number"},
		{hBudgetTime, "0s", "no time"},
		{hBudgetTime, "-1s", "no time"},
		{hBudgetTime, "10", "no time"},
		{hBudgetTime, "soon", "no time"},
		{hBudgetTime, long, "no time"},
		{hFile, strings.Repeat("f", limit.FileHeader+1), "longer than"},
		{hFile, "a\tb", "control"},
		{hFile, "a\x1b[31mb", "control"},
		{hFormat, "csv", "text/N"},
		{hFormat, "text/-1", "text/N"},
		{hFormat, "text/99", "text/N"},
		{hFormat, "text/03", "text/N"},
		{hFormat, long, "text/N"},
		{hOutput, "xml", "text and jsonl"},
		{hOutput, long, "text and jsonl"},
		{hWant, "everything", "distance and moves"},
		{hWant, long, "distance and moves"},
	} {
		m := received{"antipode.v1.jobs.bulk.me.job.7", nats.Header{c.key: {c.value}}, []byte("1 2 3")}
		chunk, err := decodeChunk(m)
		if err == nil || errors.Is(err, errNameless) || !strings.Contains(err.Error(), c.key) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %.50q: error %v, want one with %q", c.key, c.value, err, c.want)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("%s %.50q: an error of %d bytes", c.key, c.value, len(err.Error()))
		}
		if chunk == nil || chunk.Name() != "job/7" || chunk.Owner != "me" {
			t.Errorf("%s %.50q: %+v has lost its name", c.key, c.value, chunk)
		}
	}
}

// What can be read is read, whatever cannot; and all that cannot is said.
func TestSomeHeadersAreRefused(t *testing.T) {
	chunk, err := decodeChunk(received{"antipode.v1.jobs.bulk.me.job.7", nats.Header{
		hRecords: {"3"}, hFirstRecord: {"x"}, hFirstLine: {"y"}, hPuzzle: {"swap"}, hFormat: {"jsonl"},
	}, nil})
	if err == nil || !strings.Contains(err.Error(), hFirstRecord) || !strings.Contains(err.Error(), hFirstLine) {
		t.Errorf("error %v", err)
	}
	if chunk.Records != 3 || chunk.Puzzle != "swap" || !chunk.Format.JSONL || chunk.FirstRecord != 1 || chunk.FirstLine != 1 {
		t.Errorf("chunk %+v", chunk)
	}
}

func TestLongNamesOfPuzzlesAreClipped(t *testing.T) {
	chunk, err := decodeChunk(received{"antipode.v1.jobs.bulk.me.job.7", nats.Header{hPuzzle: {strings.Repeat("p", 5000)}}, nil})
	if err == nil || !strings.Contains(err.Error(), hPuzzle) || len(chunk.Puzzle) > 200 {
		t.Errorf("%d bytes, %v", len(chunk.Puzzle), err)
	}
}

func TestResultsOverTheWire(t *testing.T) {
	c := &job.Chunk{Spec: job.Spec{Owner: "me", Job: "job"}, Number: 12}
	r := &job.Result{Seconds: 0.25, Worker: "w-1"}
	r.Counts = job.Counts{Records: 15, ByStatus: [job.Statuses]int{5, 4, 3, 2, 1}, Cached: 2}
	const size = 8<<10 - headerRoom // of a part, with a payload of 8 KiB
	for _, n := range []int{0, 1, size - 1, size, size + 1, 3 * size, 3*size + 1} {
		r.Payload = bytes.Repeat([]byte{'a'}, n)
		msgs := encodeResult(c, r, 8<<10)
		if want := max(1, (n+size-1)/size); len(msgs) != want {
			t.Errorf("%d bytes: %d parts, want %d", n, len(msgs), want)
		}
		var payload []byte
		for i, m := range msgs {
			p, err := decodePart("me", "job", sent(m))
			if err != nil {
				t.Fatal(err)
			}
			if p.chunk != 12 || p.n != i+1 || p.parts != len(msgs) {
				t.Errorf("%d bytes: part %+v", n, p)
			}
			if m.Size() > 8<<10 {
				t.Errorf("a message of %d bytes", m.Size())
			}
			payload = append(payload, p.result.Payload...)
			p.result.Payload = r.Payload
			if !reflect.DeepEqual(p.result, *r) {
				t.Errorf("got %+v, want %+v", p.result, *r)
			}
		}
		if !bytes.Equal(payload, r.Payload) {
			t.Errorf("%d bytes: the parts are %d bytes", n, len(payload))
		}
	}
}

func TestPartsThatAreRefused(t *testing.T) {
	good := func() received {
		return sent(encodeResult(&job.Chunk{Spec: job.Spec{Owner: "me", Job: "job"}, Number: 1}, &job.Result{}, 1<<20)[0])
	}
	if _, err := decodePart("me", "job", good()); err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{
		"", "antipode.v1.results.me.job.", "antipode.v1.results.me.job.1", "antipode.v1.results.me.job.1.2", "antipode.v1.results.me.job.1.1.1",
		"antipode.v1.results.me.job.x.1", "antipode.v1.results.me.job.-1.1", "antipode.v1.results.me.job.01.1", "antipode.v1.results.me.other.1.1", "antipode.v1.results.you.job.1.1",
	} {
		m := good()
		m.subject = subject
		if p, err := decodePart("me", "job", m); err == nil {
			t.Errorf("%q: read as %+v", subject, p)
		}
	}
	for _, c := range []struct{ key, value string }{
		{hRecords, ""}, {hRecords, "-1"}, {hRecords, "many"}, {hCached, ""}, {hCached, "2147483648"},
		{"Solved", ""}, {"Unreachable", "x"}, {"Invalid", "0x1"}, {"Exceeded", "+1"}, {"Failed", "1.0"},
		{hPart, ""}, {hPart, "1"}, {hPart, "1/"}, {hPart, "/1"}, {hPart, "2/1"}, {hPart, "0/1"}, {hPart, "1/0"}, {hPart, "2/2"},
		{hPart, "1/1025"}, {hPart, "1/99999999999999999999"}, {hPart, "1/1/1"}, {hPart, strings.Repeat("1", 5000)},
	} {
		m := good()
		m.header.Set(c.key, c.value)
		if p, err := decodePart("me", "job", m); err == nil || len(err.Error()) > 1000 {
			t.Errorf("%s %.50q: read as %+v, error %.1500v", c.key, c.value, p, err)
		}
	}
}

// FuzzHeaders: whatever a message says, reading it ends with a value or an
// error, and what was read can be sent.
func FuzzHeaders(f *testing.F) {
	for _, c := range []*job.Chunk{
		{Spec: newSpec(), FirstLine: 1, FirstRecord: 1, Records: 1},
		{Spec: job.Spec{Owner: "o", Job: "j", Format: job.Format{JSONL: true}, Want: "moves", File: "f", Budget: job.Budget{States: 1, Time: 1}}, FirstLine: 9, FirstRecord: 9, Records: 9},
	} {
		m := encodeChunk(Bulk, c)
		f.Add(m.Subject, m.Header.Get(hPuzzle), m.Header.Get(hFormat), m.Header.Get(hOutput), m.Header.Get(hWant), m.Header.Get(hFile),
			m.Header.Get(hFirstLine), m.Header.Get(hRecords), m.Header.Get(hBudgetStates), m.Header.Get(hBudgetTime), "1/1", "")
	}
	f.Add("antipode.v1.results.me.job.1.1", "", "", "", "", "", "", "1", "1", "1", "1/2", "ff")
	f.Fuzz(func(t *testing.T, subject, name, format, output, want, file, line, records, states, budget, nth, sum string) {
		h := nats.Header{}
		for key, value := range map[string]string{
			hPuzzle: name, hFormat: format, hOutput: output, hWant: want, hFile: file, hFirstLine: line, hFirstRecord: line,
			hRecords: records, hBudgetStates: states, hBudgetTime: budget, hPart: nth, hSum: sum, hCached: records, hSeconds: budget, hWorker: name,
			"Solved": records, "Unreachable": line, "Invalid": line, "Exceeded": states, "Failed": states,
		} {
			h.Set(key, value)
		}
		m := received{subject, h, []byte(name)}
		if c, err := decodeChunk(m); errors.Is(err, errNameless) != (c == nil) {
			t.Errorf("chunk %+v, error %v", c, err)
		} else if err == nil {
			again, err := decodeChunk(sent(encodeChunk(Bulk, withCount(c))))
			if err != nil || !reflect.DeepEqual(again, withCount(c)) {
				t.Errorf("%+v came back as %+v, %v", c, again, err)
			}
		}
		p, err := decodePart("me", "job", m)
		if err == nil && (p.n < 1 || p.n > p.parts || p.parts > limit.Parts || p.chunk < 0 || slices.Min(p.result.ByStatus[:]) < 0) {
			t.Errorf("part %+v", p)
		}
	})
}

// withCount gives a chunk that does not say how many records it has one.
func withCount(c *job.Chunk) *job.Chunk {
	if c.Records == 0 {
		d := *c
		d.Records = 1
		return &d
	}
	return c
}
