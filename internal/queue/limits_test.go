package queue

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"antipode/internal/job"
	"antipode/internal/limit"
)

// headers reads a chunk of so many headers.
func headers(pairs ...string) (*job.Chunk, error) {
	h := nats.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return decodeChunk(received{"antipode.v1.jobs.bulk.me.job.7", h, nil})
}

// Each limit on a chunk's message from both sides: what is just within it is read,
// and what is just beyond is refused with the header and the limit. The chunk keeps
// its name.
func TestLimitsOfHeaders(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct{ header, within, beyond, want string }{
		{hPuzzle, x(limit.PuzzleHeader), x(limit.PuzzleHeader + 1), "longer than 2048 bytes"},
		{hPuzzle, "swap", x(1 << 20), "longer than 2048 bytes"},
		{hFile, x(limit.FileHeader), x(limit.FileHeader + 1), "longer than 1024 bytes"},
		{hFile, "f", x(1 << 20), "longer than 1024 bytes"},
		{hRecords, "1", "0", `"0" is not a number from 1 to 65536`},
		{hRecords, fmt.Sprint(limit.ChunkRecords), fmt.Sprint(limit.ChunkRecords + 1), `"65537" is not a number from 1 to 65536`},
		{hRecords, "1", strings.Repeat("1", 1<<20), "is not a number from 1 to 65536"},
		{hFirstLine, "9223372036854775807", "9223372036854775808", "is not a number from 1 to 9223372036854775807"},
		{hFirstRecord, "9223372036854775807", "9223372036854775808", "is not a number from 1 to 9223372036854775807"},
		{hBudgetStates, "9223372036854775807", "9223372036854775808", "is not a number from 1 to 9223372036854775807"},
		{hBudgetTime, "2562047h47m16.854775807s", "2562047h47m16.854775808s", "is no time"},
		{hFormat, fmt.Sprint("text/", limit.Lines), fmt.Sprint("text/", limit.Lines+1), "N up to 33"},
		{hFormat, fmt.Sprint("text/9/apart/", limit.Blocks), fmt.Sprint("text/9/apart/", limit.Blocks+1), "B up to 3"},
		{hFormat, "jsonl", x(1 << 20), "N up to 33"},
		{hOutput, "jsonl", x(1 << 20), "text and jsonl are possible"},
		{hWant, "moves", x(1 << 20), "distance and moves are possible"},
		{hExplain, "true", x(1 << 20), "true is possible"},
	} {
		if _, err := headers(c.header, c.within); err != nil {
			t.Errorf("%s of %d bytes: %v", c.header, len(c.within), err)
		}
		chunk, err := headers(c.header, c.beyond)
		if err == nil || !strings.HasPrefix(err.Error(), "header "+c.header+": ") || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 500 {
			t.Errorf("%s of %d bytes: %v; want %s", c.header, len(c.beyond), err, c.want)
		}
		if chunk == nil || chunk.Name() != "job/7" || len(chunk.Puzzle)+len(chunk.File) > 500 {
			t.Errorf("%s of %d bytes: %+v", c.header, len(c.beyond), chunk)
		}
	}
}

// Each limit on the tokens of a subject from both sides.
func TestLimitsOfSubjects(t *testing.T) {
	subject := func(owner, id int, number int64) received {
		return received{subject: fmt.Sprintf("antipode.v1.jobs.bulk.%s.%s.%d", strings.Repeat("o", owner), strings.Repeat("j", id), number)}
	}
	if c, err := decodeChunk(subject(limit.Token, limit.Token, limit.Number)); err != nil || c.Number != limit.Number || len(c.Owner) != 64 || len(c.Job) != 64 {
		t.Errorf("%+v, %v", c, err)
	}
	for _, m := range []received{subject(limit.Token+1, 1, 1), subject(1, limit.Token+1, 1), subject(1, 1, limit.Number+1), subject(0, 1, 1), subject(1, 0, 1), subject(1, 1, -1)} {
		if c, err := decodeChunk(m); c != nil || !errors.Is(err, errNameless) {
			t.Errorf("%s: %+v, %v", m.subject, c, err)
		}
	}
}

// Each limit on a result's message from both sides.
func TestLimitsOfParts(t *testing.T) {
	message := func(n, parts int, key string, value int64) received {
		c := &job.Chunk{Spec: job.Spec{Owner: "me", Job: "job"}, Number: 1}
		m := sent(encodeResult(c, &job.Result{}, 1<<20)[0])
		m.subject = resultSubject(c, n)
		m.header.Set(hPart, fmt.Sprint(n, "/", parts))
		m.header.Set(key, fmt.Sprint(value))
		return m
	}
	for _, good := range []received{message(limit.Parts, limit.Parts, hRecords, limit.Number), message(1, limit.Parts, "Failed", limit.Number)} {
		if p, err := decodePart("me", "job", good); err != nil || p.parts != limit.Parts {
			t.Errorf("%v: %+v, %v", good.header, p, err)
		}
	}
	for _, bad := range []struct {
		m    received
		want string
	}{
		{message(1, limit.Parts+1, hRecords, 1), `part "1/1025"`},
		{message(limit.Parts+1, limit.Parts+1, hRecords, 1), `part "1025/1025"`},
		{message(1, 1, hRecords, limit.Number+1), "from 0 to 2147483647"},
		{message(1, 1, hRecords, -1), "from 0 to 2147483647"},
		{message(1, 1, "Solved", limit.Number+1), "from 0 to 2147483647"},
	} {
		if p, err := decodePart("me", "job", bad.m); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%v: %+v, %v", bad.m.header, p, err)
		}
	}
}

// A chunk whose headers are as long as a server takes is given up like any other,
// although its copy has no room for what it died of.
func TestHugeHeaders(t *testing.T) {
	for name, key := range map[string]string{"one that is known": hFile, "one that is not": "X-Unknown"} {
		t.Run(name, func(t *testing.T) {
			q := connect(t, startServer(t).URL(), lenient())
			chunk := textChunk(1)
			m := encodeChunk(Bulk, chunk)
			m.Header.Set(hWant, "everything")
			size, err := 64<<10, errors.New("not sent")
			for ; err != nil && size > 32<<10; size -= 32 {
				m.Header.Set(key, strings.Repeat("x", size))
				_, err = q.js.PublishMsg(t.Context(), m)
			}
			if err != nil {
				t.Fatal(err)
			}
			serve(t, q, 1, 0, echo)
			settled(t, q)
			if got := lastOf(t, q, resultsStream, resultSubject(chunk, 1)); len(got.Data) == 0 || len(got.Data) > 1000 {
				t.Errorf("an answer of %d bytes", len(got.Data))
			}
			dead := lastOf(t, q, deadStream, deadSubject(chunk))
			if !strings.Contains(dead.Header.Get(hReason), hWant) || string(dead.Data) != string(chunk.Payload) {
				t.Errorf("copy of %d bytes, reason %q", len(dead.Data), dead.Header.Get(hReason))
			}
		})
	}
}

// counter lets every client in, and counts them.
type counter struct{ atomic.Int64 }

func (c *counter) Check(natsserver.ClientAuthentication) bool {
	c.Add(1)
	return true
}

// A process makes one connection to NATS, whatever its slots and jobs.
func TestConnections(t *testing.T) {
	clients := &counter{}
	url := customServer(t, func(o *natsserver.Options) { o.CustomClientAuthentication = clients })
	q := connect(t, url, lenient())
	serve(t, q, 8, 2, echo)
	spec := newSpec()
	w := &written{}
	completes(t, running(t, q, Run{Spec: spec, Window: Window{Chunks: 16, Bytes: 1 << 20}, Next: inTurn(numbered(spec, 100)), Write: w.write}))
	w.check(t, 100)
	if n := clients.Load(); n != limit.NATSConnections {
		t.Errorf("%d connections, want %d", n, limit.NATSConnections)
	}
}
