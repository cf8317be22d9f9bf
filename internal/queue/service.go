package queue

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"antipode/internal/job"
	"antipode/internal/limit"
	"antipode/internal/puzzle"
)

// Service is what a worker is to others: a NATS micro service that tells who
// works, and answers single questions.
type Service struct {
	Version string   // SemVer, without v
	Puzzles []string // names of those that come with the program
	Tables  []string // of them, those that have their tables when Serve begins
	// Check tells whether a chunk is one question, and if not, why. With an error
	// that cannot be told now.
	Check func(ctx context.Context, c *job.Chunk) (refusal string, err error)
	// Observe, if not nil, hears of every question: answered, refused, busy or
	// unavailable; how long after its receipt; and its result, nil without an
	// answer. Several goroutines call it at once.
	Observe func(outcome string, took time.Duration, res *job.Result)
}

const (
	serviceName = "antipode"
	solvePrefix = "antipode.v1.solve."
	solveGroup  = "workers" // of them one gets a question
)

// The metadata of the service. Lists have spaces between.
const (
	metaWorker  = "worker"
	metaPuzzles = "puzzles"
	metaTables  = "tables"
	metaSlots   = "slots" // bulk
)

// noAnswer is why a question has none, as micro services tell it.
type noAnswer struct{ outcome, code, reason string }

var (
	errBusy     = &noAnswer{"busy", "429", "busy: " + strconv.Itoa(limit.Questions) + " questions wait for this worker; ask again"}
	errStopping = &noAnswer{"unavailable", "503", "stopping: this worker answers no more; ask again"}
)

// noQuestion refuses what will never be answered.
func noQuestion(reason string) *noAnswer { return &noAnswer{"refused", "400", reason} }

// question is one that waits.
type question struct {
	chunk    *job.Chunk
	reply    string
	received time.Time
}

// asked is the service of one Serve.
type asked struct {
	*server
	waiting chan question

	mu   sync.Mutex
	over bool // no slot takes what comes now; guarded by mu

	answered, refused atomic.Int64 // by slots
	busy              atomic.Int64 // nanoseconds that slots worked
}

// serveQuestions answers questions until take ends, and those that came before
// until hold ends; later ones it refuses.
//
// It has as many slots of its own as the express lane: a slot of that holds an
// iterator, which may bring it a chunk while it is at a question; that chunk
// would lie in it until its ack wait is over.
func (s *server) serveQuestions(take, hold context.Context) {
	a := &asked{server: s, waiting: make(chan question, limit.Questions)}
	service, err := a.register()
	if err != nil {
		s.log.Warn("single questions are not answered, and nobody sees this worker", "error", err)
		return
	}
	var slots sync.WaitGroup
	for range s.cfg.Express {
		slots.Go(func() { a.slot(hold) })
	}
	<-take.Done()
	a.say(service.Stop(), "the service stops")
	a.settleDown()
	a.end()
	slots.Wait()
}

func (a *asked) register() (micro.Service, error) {
	about := a.cfg.Service
	service, err := micro.AddService(a.nc, micro.Config{
		Name: serviceName, Version: about.Version, Description: "Shortest-path questions about permutation puzzles",
		Metadata: map[string]string{
			metaWorker:  a.cfg.Worker,
			metaPuzzles: strings.Join(about.Puzzles, " "),
			metaTables:  strings.Join(about.Tables, " "),
			metaSlots:   strconv.Itoa(a.cfg.Bulk),
		},
		StatsHandler: func(*micro.Endpoint) any { return a.stats() },
	})
	if err != nil {
		return nil, err
	}
	err = service.AddEndpoint("solve", micro.HandlerFunc(a.receive),
		micro.WithEndpointSubject(solvePrefix+"*"), micro.WithEndpointQueueGroup(solveGroup))
	if err != nil {
		return nil, errors.Join(err, service.Stop())
	}
	return service, nil
}

// stats is what slots did. The library's own figures are of receive, which only
// passes on.
func (a *asked) stats() any {
	return struct {
		Answered int64   `json:"answered"`
		Refused  int64   `json:"refused"`
		Seconds  float64 `json:"seconds"`
		Waiting  int     `json:"waiting"`
	}{a.answered.Load(), a.refused.Load(), time.Duration(a.busy.Load()).Seconds(), len(a.waiting)}
}

// drainTime bounds what a server may take to say that it has sent all.
const drainTime = time.Second

// settleDown waits until what the server had sent has been received.
func (a *asked) settleDown() {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if !a.nc.IsConnected() || a.nc.FlushWithContext(ctx) != nil {
		return // nothing comes any more
	}
	received := make(chan struct{})
	if a.nc.Barrier(func() { close(received) }) != nil {
		return
	}
	select {
	case <-received:
	case <-ctx.Done():
	}
}

// end lets the slots end once nothing waits.
func (a *asked) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	close(a.waiting)
}

// receive is called by the subscription for one message after another. It must not
// wait.
func (a *asked) receive(req micro.Request) {
	if !mayReply(req.Reply()) {
		a.log.Debug("a question without a subject for its answer", "subject", clip(req.Subject()), "reply", clip(req.Reply()))
		return
	}
	received := time.Now()
	chunk, err := decodeQuestion(req.Subject(), nats.Header(req.Headers()), req.Data())
	q, no := question{chunk, req.Reply(), received}, (*noAnswer)(nil)
	if err != nil {
		no = noQuestion(err.Error())
	} else {
		no = a.enqueue(q)
	}
	if no != nil {
		a.say(req.Error(no.code, no.text(), nil), "a question is refused")
		a.observe(no.outcome, q, nil)
	}
}

func (a *asked) observe(outcome string, q question, res *job.Result) {
	if observe := a.cfg.Service.Observe; observe != nil {
		observe(outcome, time.Since(q.received), res)
	}
}

// mayReply tells whether an answer may be published on a subject that a message
// named: not on those of Antipode or of the server, where a worker may do more
// than who asks.
func mayReply(subject string) bool {
	return subject != "" && subject[0] != '$' && !strings.HasPrefix(subject, "antipode.")
}

func (a *asked) enqueue(q question) *noAnswer {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return errStopping
	}
	select {
	case a.waiting <- q:
		return nil
	default:
		return errBusy
	}
}

// questionHeaders are the headers of a chunk that a question may have too.
var questionHeaders = []string{hPuzzle, hWant, hBudgetStates, hBudgetTime, hExplain}

// decodeQuestion makes a chunk of a question, as far as it can be told without its
// puzzle.
func decodeQuestion(subject string, headers nats.Header, payload []byte) (*job.Chunk, error) {
	name := strings.TrimPrefix(subject, solvePrefix)
	h := nats.Header{hFile: {"question"}, hRecords: {"1"}, hOutput: {"jsonl"}}
	for _, key := range questionHeaders {
		if v := headers.Get(key); v != "" {
			h.Set(key, v)
		}
	}
	c := &job.Chunk{Payload: payload, Last: true}
	if err := readHeaders(c, h); err != nil {
		return nil, err
	}
	switch ref, _, err := puzzle.ParseRef(cmp.Or(c.Puzzle, name)); {
	case len(payload) > limit.Record:
		return nil, fmt.Errorf("%d bytes; a record has at most %d", len(payload), limit.Record)
	case !job.IsToken(name):
		return nil, fmt.Errorf("subject: %q names no puzzle", clip(name))
	case err != nil:
		return nil, fmt.Errorf("header %s: %w", hPuzzle, err)
	case ref != name:
		return nil, fmt.Errorf("header %s: %q is not of the subject's puzzle, %s", hPuzzle, clip(c.Puzzle), name)
	case c.Puzzle == "":
		c.Puzzle = name
	}
	// No text record starts with a brace.
	c.Format.JSONL = bytes.HasPrefix(bytes.TrimLeft(payload, " \t\r\n"), []byte("{"))
	return c, nil
}

// slot answers one question after another.
func (a *asked) slot(hold context.Context) {
	for q := range a.waiting {
		if hold.Err() != nil {
			a.refuse(q, errStopping)
			continue
		}
		began := time.Now()
		a.answer(hold, q)
		a.busy.Add(int64(time.Since(began)))
	}
}

// answer answers a question, or says why not.
func (a *asked) answer(hold context.Context, q question) {
	var res *job.Result
	var remember func()
	no, err := a.cfg.Service.Check(hold, q.chunk)
	if err == nil && no == "" {
		res, remember, err = a.cfg.Answer(hold, q.chunk, new(atomic.Int64))
	}
	switch {
	case no != "":
		a.refuse(q, noQuestion(no))
	case errors.Is(err, ErrNoDefinition):
		a.refuse(q, noQuestion(err.Error()))
	case err != nil && hold.Err() != nil:
		a.refuse(q, errStopping)
	case err != nil:
		a.refuse(q, &noAnswer{"unavailable", "503", err.Error()})
	default:
		m := nats.NewMsg(q.reply)
		m.Data = bytes.TrimSuffix(res.Payload, []byte("\n"))
		a.say(a.nc.PublishMsg(m), "an answer")
		a.answered.Add(1)
		a.observe("answered", q, res)
		if remember != nil {
			remember()
		}
	}
}

// refuse sends a refusal from a slot. The request of the library is receive's.
func (a *asked) refuse(q question, no *noAnswer) {
	a.refused.Add(1)
	m := nats.NewMsg(q.reply)
	m.Header.Set(micro.ErrorCodeHeader, no.code)
	m.Header.Set(micro.ErrorHeader, no.text())
	a.say(a.nc.PublishMsg(m), "a question is refused")
	a.observe(no.outcome, q, nil)
}

// text is the reason as a header can hold it.
func (n *noAnswer) text() string {
	reason := strings.ReplaceAll(n.reason, "\n", "; ")
	return strings.ToValidUTF8(reason[:min(len(reason), limit.Reason)], "?")
}
