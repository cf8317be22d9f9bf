package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"antipode/internal/cache"
	"antipode/internal/job"
	"antipode/internal/limit"
	"antipode/internal/natsd"
	"antipode/internal/puzzle"
	"antipode/internal/solver"
	"antipode/internal/worker"
)

// newWorker returns a worker whose definitions come from a queue.
func newWorker(t testing.TB, q *Queue) *worker.Worker {
	t.Helper()
	set, err := puzzle.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	w := &worker.Worker{
		Name: "test-worker", Puzzles: set, Mode: worker.Searched, Definition: q.Definition,
		Solver: solver.New(solver.Config{Searches: 4, Memory: 1 << 28, TableMemory: 64 << 20}),
	}
	if w.Cache, err = cache.Open(cache.Config{Bytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	return w
}

// serviceOf is what a worker is served with.
func serviceOf(w *worker.Worker) ServeConfig {
	return ServeConfig{Answer: w.Answer, Fail: w.Fail, Worker: w.Name, Bulk: 1, Express: 1,
		Service: &Service{Version: "1.2.3", Puzzles: w.Puzzles.Names(), Tables: w.Tabled, Check: w.Check}}
}

// present serves a queue until the test ends, and waits until it is seen.
func present(t *testing.T, q *Queue, cfg ServeConfig) {
	t.Helper()
	presentTo(t, q, q, cfg)
}

// presentTo is present where another sees it.
func presentTo(t *testing.T, other, q *Queue, cfg ServeConfig) {
	t.Helper()
	take, stop := context.WithCancel(context.Background())
	done := serving(q, take, take, cfg)
	t.Cleanup(func() {
		stop()
		await(t, done, "the end of Serve")
	})
	seen(t, other)
}

func presentUntil(t *testing.T, q *Queue, take, hold context.Context, cfg ServeConfig) (done chan struct{}) {
	t.Helper()
	done = serving(q, take, hold, cfg)
	seen(t, q)
	return done
}

func serving(q *Queue, take, hold context.Context, cfg ServeConfig) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		defer close(done)
		q.Serve(take, hold, cfg)
	}()
	return done
}

func seen(t *testing.T, q *Queue) {
	t.Helper()
	eventually(t, "a worker is seen", func() bool { return len(workersOf(t, q)) > 0 })
}

func workersOf(t *testing.T, q *Queue) []Presence {
	t.Helper()
	all, err := q.Workers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// ask asks a question, with headers as in a chunk, "Want: moves".
func ask(t testing.TB, q *Queue, name, record string, headers ...string) (answer string, code string) {
	t.Helper()
	m := nats.NewMsg(solvePrefix + name)
	m.Data = []byte(record)
	for _, h := range headers {
		key, value, _ := strings.Cut(h, ": ")
		m.Header.Set(key, value)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	reply, err := q.nc.RequestMsgWithContext(ctx, m)
	if err != nil {
		t.Fatalf("%s %.100q: %v", name, record, err)
	}
	if code := reply.Header.Get("Nats-Service-Error-Code"); code != "" {
		return reply.Header.Get("Nats-Service-Error"), code
	}
	return string(reply.Data), ""
}

// byJob answers a record by the way of jobs.
func byJob(t *testing.T, q *Queue, name, record string) (answer string) {
	t.Helper()
	spec := newSpec()
	spec.Puzzle, spec.JSON, spec.Format = name, true, job.Format{JSONL: strings.Contains(record, "{")}
	chunk := &job.Chunk{Spec: spec, FirstLine: 1, FirstRecord: 1, Records: 1, Payload: []byte(record), Last: true}
	completes(t, running(t, q, Run{Spec: spec, Next: inTurn([]*job.Chunk{chunk}), Write: func(_ *job.Chunk, r *job.Result) error {
		answer = strings.TrimSuffix(string(r.Payload), "\n")
		return nil
	}}))
	return answer
}

const graphText = "5\n1 2\n1 3\n1 9\n2 9\n3 9\n3 9 2 4 5 6 7 8\n"

// A question of each puzzle, as text and as JSON, is answered as in a job.
func TestQuestions(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	present(t, q, serviceOf(newWorker(t, q)))
	for _, c := range []struct{ puzzle, record, want string }{
		{"eight", "1 4 2 3 0 5 6 7 8", `{"line":1,"status":"solved","distance":2}`},
		{"eight", "1 4 2\n3 0 5\n6 7 8\n", `{"line":1,"status":"solved","distance":2}`},
		{"eight", "# a board\n1423X5678", `{"line":2,"status":"solved","distance":2}`},
		{"eight", `{"start":[[1,4,2],[3,0,5],[6,7,8]],"want":"moves"}`, `{"line":1,"status":"solved","distance":2,"moves":["u","l"]}`},
		{"eight", "\n" + `{"puzzle":"eight","id":[7],"start":"142305678"}` + "\n", `{"id":[7],"line":2,"status":"solved","distance":2}`},
		{"eight2", "12X453786 12345678X", `{"line":1,"status":"solved","distance":2,"moves":["d","d"]}`},
		{"eight2", `{"start":"12X453786","goal":"12345678X"}`, `{"line":1,"status":"solved","distance":2,"moves":["d","d"]}`},
		{"swap", "2 1 3 7 5 9 8 4 6", `{"line":1,"status":"solved","distance":4}`},
		{"swap", `{"start":[2,1,3,7,5,9,8,4,6]}`, `{"line":1,"status":"solved","distance":4}`},
		{"rotegame", "9 9 9 9\n1 2 3 4\n5 6 7 8\n1 9 9 4\n5 9 9 8\n6 2 7 3", `{"line":1,"status":"solved","distance":2,"moves":["1","2"]}`},
		{"rotegame", `{"start":[[9,9,9,9],[1,2,3,4],[5,6,7,8]],"goal":[1,9,9,4,5,9,9,8,6,2,7,3]}`, `{"line":1,"status":"solved","distance":2,"moves":["1","2"]}`},
		{"graph", graphText, `{"line":1,"status":"solved","distance":5}`},
		{"graph", `{"edges":[[1,2],[1,3],[1,9],[2,9],[3,9]],"start":[0,3,1,4,5,6,7,8,2]}`, `{"line":1,"status":"solved","distance":5}`},
		{"eight", "2 1 0 3 4 5 6 7 8", `{"line":1,"status":"unreachable"}`},
		{"eight", "1 4 2 3 0 5 6 7", `{"line":1,"status":"invalid","reason":"the board has 8 values`},
		{"eight", `{"id":1,"start":[1]}`, `{"id":1,"line":1,"status":"invalid","reason":"start: 1 values; the board has 9 cells"}`},
	} {
		got, code := ask(t, q, c.puzzle, c.record)
		if job := byJob(t, q, c.puzzle, c.record); got != job || code != "" {
			t.Errorf("%s %q: %s %s; as a job %s", c.puzzle, c.record, code, got, job)
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %q: %s, want %s", c.puzzle, c.record, got, c.want)
		}
	}
}

// fifteen is the definition of a puzzle without tables.
const fifteen = "width: 4\nheight: 4\nblank: {moves: [d, l, r, u]}\ngoal: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0]\nrecord: {parts: [start]}\n"

// What a chunk's headers say of its records holds for a question.
func TestQuestionHeaders(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	present(t, q, serviceOf(newWorker(t, q)))
	if err := q.Define(t.Context(), []byte(fifteen)); err != nil {
		t.Fatal(err)
	}
	if err := q.Define(t.Context(), []byte("cells: 2\n")); err != nil {
		t.Fatal(err)
	}
	ref := "Puzzle: fifteen@" + puzzle.Hash([]byte(fifteen))
	const eight, own, hard = "1 4 2 3 0 5 6 7 8", "1 2 3 4 5 6 7 8 9 10 11 12 0 13 14 15", "0 12 9 13 15 11 10 14 3 7 2 5 4 8 6 1"
	for _, c := range []struct {
		puzzle, record string
		headers        []string
		code, want     string
	}{
		{"eight", eight, []string{"Want: moves"}, "", `"distance":2,"moves":["u","l"]}`},
		{"eight", eight, []string{"Want: distance"}, "", `"distance":2}`},
		{"eight", eight, []string{"Want: "}, "", `"distance":2}`},
		{"eight", eight, []string{"Want: both"}, "400", `header Want: "both"; distance and moves are possible`},
		{"eight", eight, []string{"Explain: true"}, "", `"cached":`},
		{"eight", eight, []string{"Explain: false"}, "400", `header Explain: "false"; true is possible`},
		{"eight", eight, []string{"Puzzle: eight"}, "", `"distance":2}`},
		{"eight", eight, []string{"Puzzle: swap"}, "400", `header Puzzle: "swap" is not of the subject's puzzle, eight`},
		{"eight", eight, []string{"Puzzle: eight swap"}, "400", `header Puzzle: "eight swap" names no puzzle`},
		{"eight", eight, []string{"Puzzle: " + strings.Repeat("x", limit.PuzzleHeader+1)}, "400", "header Puzzle: longer than 2048 bytes"},
		{"eight", eight, []string{ref}, "400", "is not of the subject's puzzle, eight"},
		{"fifteen", own, []string{ref}, "", `"distance":3}`},
		{"fifteen", own, []string{ref, "Want: moves"}, "", `"distance":3,"moves":["r","r","r"]}`},
		{"fifteen", `{"start":"` + own + `"}`, []string{ref}, "", `"distance":3}`},
		{"fifteen", `{"puzzle":"fifteen","start":"` + own + `"}`, []string{ref}, "", `"distance":3}`},
		{"fifteen", `{"puzzle":"eight","start":"142305678"}`, []string{ref}, "400", "the record names the puzzle eight, the subject fifteen"},
		{"fifteen", own, nil, "400", `unknown puzzle "fifteen"; there are eight, eight2, graph, rotegame, swap`},
		{"fifteen", own, []string{"Puzzle: fifteen@" + strings.Repeat("0", 64)}, "400", "no such definition in the bucket"},
		{"fifteen", own, []string{"Puzzle: fifteen@0"}, "400", `header Puzzle: "fifteen@0" names no puzzle`},
		{"broken", "1 2", []string{"Puzzle: broken@" + puzzle.Hash([]byte("cells: 2\n"))}, "400", "moves"},
		{"fifteen", hard, []string{ref, "Budget-States: 1000"}, "", `"status":"exceeded","lower_bound":`},
		{"fifteen", hard, []string{ref, "Budget-Time: 1ms"}, "", `"status":"exceeded","lower_bound":`},
		{"eight", eight, []string{"Budget-States: 0"}, "400", `header Budget-States: "0" is not a number`},
		{"eight", eight, []string{"Budget-States: -1"}, "400", `header Budget-States: "-1" is not a number`},
		{"eight", eight, []string{"Budget-States: 1e3"}, "400", `header Budget-States: "1e3" is not a number`},
		{"eight", eight, []string{"Budget-Time: 0s"}, "400", `header Budget-Time: "0s" is no time`},
		{"eight", eight, []string{"Budget-Time: 5"}, "400", `header Budget-Time: "5" is no time`},
		{"eight", eight, []string{"Want: x", "Explain: y"}, "400", `header Explain: "y"; true is possible; header Want: "x"; distance`},
		// Those of a chunk that make no sense here are not looked at.
		{"eight", eight, []string{"Format: x", "Output: text", "File: x\ty", "First-Line: 5", "First-Record: x", "Records: 7"}, "", `{"line":1,"status":"solved","distance":2}`},
		{"eight", eight, []string{"want: moves", "X: y"}, "", `"distance":2}`},
	} {
		got, code := ask(t, q, c.puzzle, c.record, c.headers...)
		if code != c.code || !strings.Contains(got, c.want) {
			t.Errorf("%s with %.100q: %s %s; want %s %s", c.puzzle, c.headers, code, got, c.code, c.want)
		}
	}
}

// Whatever is no question is refused in so many words, and the next is answered.
func TestHostileQuestions(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	present(t, q, serviceOf(newWorker(t, q)))
	const eight = "1 4 2 3 0 5 6 7 8"
	deep := strings.Repeat("[", 60_000) + strings.Repeat("]", 60_000)
	for _, c := range []struct{ name, puzzle, record, code, want string }{
		{"empty", "eight", "", "400", "no record"},
		{"blank", "eight", " \n\t\n", "400", "no record"},
		{"a comment", "eight", "# nothing", "400", "no record"},
		{"two records", "eight", eight + "\n" + eight, "400", "more than one record"},
		{"two records on a line", "eight", eight + " " + eight, "400", "more than one record"},
		{"two objects", "eight", `{"start":"142305678"}` + "\n{}", "400", "more than one line; a question is one JSON object"},
		{"an object on two lines", "eight", "{\"start\":\n\"142305678\"}", "400", "more than one line"},
		{"two objects on a line", "eight", `{"start":"142305678"}{}`, "", `"status":"invalid"`},
		{"half an object", "eight", `{"start"`, "", `"status":"invalid"`},
		{"a list", "eight", `[1,4,2]`, "", `"status":"invalid"`},
		{"another puzzle", "eight", `{"puzzle":"swap","start":"213456789"}`, "400", "the record names the puzzle swap, the subject eight"},
		{"an unknown puzzle in the record", "eight", `{"puzzle":"nine","start":"213456789"}`, "", `"status":"invalid"`},
		{"an unknown puzzle", "nine", eight, "400", `unknown puzzle "nine"`},
		{"a puzzle that is no token", "eight@x", eight, "400", `subject: "eight@x" names no puzzle`},
		{"a puzzle that is none", strings.Repeat("x", 65), eight, "400", "names no puzzle"},
		{"binary", "eight", "\x00\xff\xfe\x01{\x00", "", `"status":"invalid"`},
		{"binary JSON", "eight", "{\x00\xff\"\xfe", "", `"status":"invalid"`},
		{"deep JSON", "eight", `{"start":` + deep + `}`, "", `"status":"invalid"`},
		{"deep JSON of no end", "eight", `{"start":` + strings.Repeat(`{"a":`, 20_000), "", `"status":"invalid"`},
		{"as long as may be", "eight", eight + "#" + strings.Repeat("x", limit.Record-len(eight)-1), "", `"distance":2}`},
		{"longer", "eight", eight + "#" + strings.Repeat("x", limit.Record-len(eight)), "400", "131073 bytes; a record has at most 131072"},
		{"a megabyte", "eight", strings.Repeat("1 ", 1<<19), "400", "1048576 bytes; a record has at most 131072"},
		{"many values", "eight", strings.Repeat("1 ", 60_000), "400", "more than one record"},
		{"many edges", "graph", "30000\n" + strings.Repeat("1 2\n", 30_000), "", `"status":"invalid"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, code := ask(t, q, c.puzzle, c.record)
			if code != c.code || !strings.Contains(got, c.want) {
				t.Errorf("%s %.300s; want %s %s", code, got, c.code, c.want)
			}
			if len(got) > 600 || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("not a short line of ASCII: %q", got)
			}
			if got, code := ask(t, q, "eight", eight); got != `{"line":1,"status":"solved","distance":2}` || code != "" {
				t.Errorf("the next: %s %s", code, got)
			}
		})
	}
}

// An answer goes to no subject where a worker may do more than who asks.
func TestAnswersGoToInboxes(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	present(t, q, serviceOf(newWorker(t, q)))
	for _, reply := range []string{
		"antipode.v1.jobs.bulk.public.x.0", "antipode.v1.results.public.x.0.1", "$KV.antipode.cancel.public.x", "$JS.API.STREAM.DELETE.JOBS",
	} {
		for _, subject := range []string{solvePrefix + "eight", "$SRV.PING", "$SRV.INFO.antipode", "$SRV.STATS.antipode"} {
			if err := q.nc.PublishRequest(subject, reply, []byte("1 4 2 3 0 5 6 7 8")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := q.nc.Publish(solvePrefix+"eight", []byte("1 4 2 3 0 5 6 7 8")); err != nil {
		t.Fatal(err)
	}
	ask(t, q, "eight", "1 4 2 3 0 5 6 7 8") // after those, in the one slot
	workersOf(t, q)
	for _, stream := range []string{jobsStream, resultsStream, deadStream, "KV_" + bucket} {
		if n := messages(t, q, stream); n != 0 {
			t.Errorf("%d messages in %s", n, stream)
		}
	}
}

// A submitter of its role asks a worker of its role, and sees it.
func TestRolesAsk(t *testing.T) {
	url := roleServer(t)
	worker, submit := asWorker(url), asSubmit(url)
	worker.Logger, submit.Logger = violations(t), violations(t)
	w := connectAs(t, worker)
	q := connectAs(t, submit)
	presentTo(t, q, w, serviceOf(newWorker(t, w)))
	if err := q.Define(t.Context(), []byte(fifteen)); err != nil {
		t.Fatal(err)
	}
	const board = "1 2 3 4 5 6 7 8 9 10 11 12 0 13 14 15"
	got, code := ask(t, q, "fifteen", board, "Puzzle: fifteen@"+puzzle.Hash([]byte(fifteen)))
	if want := `{"line":1,"status":"solved","distance":3}`; got != want {
		t.Errorf("%s %s, want %s", code, got, want)
	}
	if _, err := connectAs(t, asWorker(url)).Workers(t.Context()); !errors.As(err, new(*RefusedError)) {
		t.Errorf("a worker asks who works: %v, want a refusal", err)
	}
}

// replies subscribes to the answers of questions that are not waited for.
type replies struct {
	sub   *nats.Subscription
	inbox string
}

func newReplies(t *testing.T, q *Queue) replies {
	t.Helper()
	r := replies{inbox: q.nc.NewInbox()}
	var err error
	if r.sub, err = q.nc.SubscribeSync(r.inbox); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r replies) ask(t *testing.T, q *Queue, n int) {
	t.Helper()
	for i := range n {
		if err := q.nc.PublishRequest(solvePrefix+"swap", r.inbox, fmt.Appendf(nil, "%d", i)); err != nil {
			t.Fatal(err)
		}
	}
}

// next returns so many answers, or the codes of errors, sorted.
func (r replies) next(t *testing.T, n int) (all []string) {
	t.Helper()
	for range n {
		m, err := r.sub.NextMsg(patience)
		if err != nil {
			t.Fatalf("%d of %d answers: %v", len(all), n, err)
		}
		if code := m.Header.Get("Nats-Service-Error-Code"); code != "" {
			all = append(all, code+" "+m.Header.Get("Nats-Service-Error"))
		} else {
			all = append(all, string(m.Data))
		}
	}
	slices.Sort(all)
	return all
}

// slow is a service whose answers a test holds back.
func slow(held chan<- *job.Chunk, release <-chan struct{}) ServeConfig {
	return ServeConfig{
		Worker: "slow", Express: 1,
		Answer: func(ctx context.Context, c *job.Chunk, _ *atomic.Int64) (*job.Result, func(context.Context), error) {
			held <- c
			select {
			case <-release:
				return echoed(c), nil, nil
			case <-ctx.Done():
				return nil, nil, context.Cause(ctx)
			}
		},
		Service: &Service{Version: "1.2.3", Tables: func() []string { return nil }, Check: func(context.Context, *job.Chunk) (string, error) { return "", nil }},
	}
}

// repeated is n times the same text.
func repeated(n int, text string) []string { return slices.Repeat([]string{text}, n) }

// Beyond those that may wait a question is refused at once; the others are answered.
func TestBusy(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	held, release := make(chan *job.Chunk, 2*limit.Questions), make(chan struct{})
	present(t, q, slow(held, release))
	r := newReplies(t, q)
	r.ask(t, q, 1)
	await(t, held, "a question in the slot")
	r.ask(t, q, limit.Questions+3)
	if got := r.next(t, 3); !slices.Equal(got, repeated(3, "429 busy: 64 questions wait for this worker; ask again")) {
		t.Errorf("refused: %q", got)
	}
	close(release)
	for _, got := range r.next(t, 1+limit.Questions) {
		if !strings.HasPrefix(got, "answer to ") {
			t.Errorf("answer %q", got)
		}
	}
}

// Every question is observed, with what became of it.
func TestQuestionsAreObserved(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	held, release := make(chan *job.Chunk, 2*limit.Questions), make(chan struct{})
	cfg := slow(held, release)
	cfg.Service.Check = func(_ context.Context, c *job.Chunk) (string, error) {
		return map[string]string{"none": "no question"}[string(c.Payload)], nil
	}
	var mu sync.Mutex
	seen := map[string]int{}
	cfg.Service.Observe = func(outcome string, took time.Duration, res *job.Result) {
		mu.Lock()
		defer mu.Unlock()
		seen[outcome]++
		if took < 0 || took > patience || (res != nil) != (outcome == "answered") {
			t.Errorf("%s after %s, %v", outcome, took, res)
		}
	}
	hold, stop := context.WithCancel(context.Background())
	done := presentUntil(t, q, hold, hold, cfg)
	ask(t, q, "swap", "none")
	ask(t, q, "swap", "", "Want: both")
	r := newReplies(t, q)
	r.ask(t, q, 1)
	await(t, held, "a question in the slot")
	r.ask(t, q, limit.Questions+2)
	r.next(t, 2)
	release <- struct{}{}
	r.next(t, 1)
	await(t, held, "the next question")
	stop()
	await(t, done, "the end of Serve")
	want := map[string]int{"refused": 2, "busy": 2, "answered": 1, "unavailable": limit.Questions}
	if !maps.Equal(seen, want) {
		t.Errorf("observed %v, want %v", seen, want)
	}
}

// What was asked before a stop is answered; after it nobody is there.
func TestStopAnswersWhatWaits(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	work := connect(t, q.nc.ConnectedUrl(), lenient())
	held, release := make(chan *job.Chunk, 4), make(chan struct{})
	take, stop := context.WithCancel(context.Background())
	done := presentUntil(t, work, take, context.Background(), slow(held, release))
	r := newReplies(t, q)
	r.ask(t, q, 4)
	await(t, held, "a question in the slot")
	stop()
	eventually(t, "nobody is there", func() bool { return len(workersOf(t, q)) == 0 })
	if _, err := q.nc.Request(solvePrefix+"swap", nil, patience); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("a question after the stop: %v, want %v", err, nats.ErrNoResponders)
	}
	close(release)
	await(t, done, "the end of Serve")
	want := []string{"answer to 0", "answer to 1", "answer to 2", "answer to 3"}
	if got := r.next(t, 4); !slices.Equal(got, want) {
		t.Errorf("answers %q", got)
	}
}

// When hold ends, what is held and what waits is refused.
func TestStopRefusesWhatIsHeld(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	held := make(chan *job.Chunk, 4)
	hold, stop := context.WithCancel(context.Background())
	done := presentUntil(t, q, hold, hold, slow(held, nil))
	r := newReplies(t, q)
	r.ask(t, q, 4)
	await(t, held, "a question in the slot")
	stop()
	await(t, done, "the end of Serve")
	if got := r.next(t, 4); !slices.Equal(got, repeated(4, "503 stopping: this worker answers no more; ask again")) {
		t.Errorf("answers %q", got)
	}
}

// What cannot be had now may be asked again; what was learned is kept.
func TestNotNow(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	var remembered atomic.Int64
	present(t, q, ServeConfig{
		Worker: "w", Express: 1,
		Answer: func(_ context.Context, c *job.Chunk, _ *atomic.Int64) (*job.Result, func(context.Context), error) {
			return echoed(c), func(context.Context) { remembered.Add(1) }, nil
		},
		Service: &Service{Version: "1.2.3", Tables: func() []string { return nil }, Check: func(_ context.Context, c *job.Chunk) (string, error) {
			if string(c.Payload) == "1" {
				return "", errors.New("no bucket")
			}
			return "", nil
		}},
	})
	if got, code := ask(t, q, "swap", "1"); got != "no bucket" || code != "503" {
		t.Errorf("%s %s", code, got)
	}
	if got, _ := ask(t, q, "swap", "2"); got != "answer to 2" {
		t.Error(got)
	}
	eventually(t, "what was learned is kept", func() bool { return remembered.Load() == 1 })
}

// A worker whose server was killed and comes back is there again, and answers.
func TestServiceComesBack(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	server, err := natsd.Start(natsd.Config{Port: -1, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop() })
	work, q := connect(t, server.URL(), lenient()), connect(t, server.URL(), lenient())
	present(t, work, serviceOf(newWorker(t, work)))
	port := portOf(t, server.URL())
	for range 2 {
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
		if server, err = natsd.Start(natsd.Config{Port: port, Store: store}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the worker is there again", func() bool {
			all, err := q.Workers(t.Context())
			return err == nil && len(all) == 1
		})
		if got, code := ask(t, q, "eight", "1 4 2 3 0 5 6 7 8"); got != `{"line":1,"status":"solved","distance":2}` {
			t.Errorf("%s %s", code, got)
		}
	}
}

// A worker stops in time while its server is away.
func TestServiceStopsWithoutServer(t *testing.T) {
	server, err := natsd.Start(natsd.Config{Port: -1})
	if err != nil {
		t.Fatal(err)
	}
	q := connect(t, server.URL(), lenient())
	take, stop := context.WithCancel(context.Background())
	done := presentUntil(t, q, take, take, slow(nil, nil))
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server is away", func() bool { return !q.nc.IsConnected() })
	stop()
	await(t, done, "the end of Serve")
}

// Many ask at once, and each gets its own answer.
func TestQuestionsSideBySide(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	cfg := serviceOf(newWorker(t, q))
	cfg.Express = 2
	present(t, q, cfg)
	boards := map[string]string{"012345678": "0", "102345678": "1", "142305678": "2", "312045678": "1"}
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			for range 50 {
				for board, distance := range boards {
					want := `{"id":"` + board + `","line":1,"status":"solved","distance":` + distance + `}`
					if got, code := ask(t, q, "eight", `{"id":"`+board+`","start":"`+board+`"}`); got != want {
						t.Errorf("%s: %s %s", board, code, got)
					}
				}
			}
		})
	}
	asking.Wait()
}

// BenchmarkQuestion is the time of one question that a table answers, over TCP,
// with the server in this process.
func BenchmarkQuestion(b *testing.B) {
	server, err := natsd.Start(natsd.Config{Port: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Stop()
	q, err := Open(b.Context(), Config{URL: server.URL(), Name: b.Name(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer q.Close(b.Context())
	w := newWorker(b, q)
	if _, err := w.Prepare(b.Context()); err != nil {
		b.Fatal(err)
	}
	take, stop := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		q.Serve(take, take, serviceOf(w))
	}()
	defer func() { stop(); <-done }()
	for all := []Presence(nil); len(all) == 0; {
		if all, err = q.Workers(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	var times []time.Duration
	for b.Loop() {
		began := time.Now()
		ask(b, q, "eight", "8 7 6 5 4 3 2 1 0")
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	b.ReportMetric(times[len(times)/2].Seconds()*1e3, "median-ms")
}
