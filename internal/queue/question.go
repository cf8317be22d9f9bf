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

// noAnswer is why a question has none, as micro services tell it.
type noAnswer struct{ outcome, code, reason string }

var (
	errBusy     = &noAnswer{"busy", "429", "busy: " + strconv.Itoa(limit.Questions) + " questions wait for this worker; ask again"}
	errStopping = &noAnswer{"unavailable", "503", "stopping: this worker answers no more; ask again"}
)

// noQuestion refuses what will never be answered.
func noQuestion(reason string) *noAnswer { return &noAnswer{"refused", "400", reason} }

// text is the reason as a header can hold it.
func (n *noAnswer) text() string {
	reason := strings.ReplaceAll(n.reason, "\n", "; ")
	return strings.ToValidUTF8(reason[:min(len(reason), limit.Reason)], "?")
}

// question is one that was received.
type question struct {
	chunk    *job.Chunk
	reply    string
	received time.Time
}

// asked is the questions of one Serve.
type asked struct {
	*presence
	waiting chan question

	mu   sync.Mutex
	over bool // no slot takes what comes now; guarded by mu
}

// serveQuestions answers questions until take ends, and those that came before
// until hold ends; later ones it refuses.
//
// It has as many slots of its own as the express lane: a slot of that holds an
// iterator, which may bring it a chunk while it is at a question; that chunk
// would lie in it until its ack wait is over.
func (s *server) serveQuestions(take, hold context.Context) {
	p, err := s.appear()
	if err != nil {
		s.log.Warn("single questions are not answered, and nobody sees this worker", "error", err)
		return
	}
	a := &asked{presence: p, waiting: make(chan question, limit.Questions)}
	sub, err := s.nc.QueueSubscribe(solvePrefix+"*", solveGroup, a.receive)
	if err != nil {
		s.log.Warn("single questions are not answered", "error", err)
		p.vanish()
		return
	}
	received := make(chan struct{})
	sub.SetClosedHandler(func(string) { close(received) })
	var slots sync.WaitGroup
	for range s.cfg.Express {
		slots.Go(func() { a.slot(hold) })
	}
	<-take.Done()
	p.vanish()
	a.say(sub.Drain(), "no more questions")
	select {
	case <-received:
	case <-time.After(drainTime):
	}
	a.end()
	slots.Wait()
}

// drainTime bounds what a server may take to say that it has sent all.
const drainTime = time.Second

// end lets the slots end once nothing waits.
func (a *asked) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	close(a.waiting)
}

// receive is called by the subscription for one message after another. It must not
// wait.
func (a *asked) receive(m *nats.Msg) {
	if !mayReply(m.Reply) {
		a.log.Debug("a question without a subject for its answer", "subject", clip(m.Subject), "reply", clip(m.Reply))
		return
	}
	q := question{reply: m.Reply, received: time.Now()}
	var err error
	if q.chunk, err = decodeQuestion(m.Subject, m.Header, m.Data); err != nil {
		a.refuse(q, noQuestion(err.Error()))
	} else if no := a.enqueue(q); no != nil {
		a.refuse(q, no)
	}
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
		a.answer(hold, q)
	}
}

// answer answers a question, or says why not.
func (a *asked) answer(hold context.Context, q question) {
	var res *job.Result
	var remember func(context.Context)
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
		a.reply(q, &nats.Msg{Data: bytes.TrimSuffix(res.Payload, []byte("\n"))}, nil, res)
		if remember != nil {
			remember(hold)
		}
	}
}

// refuse says why a question has no answer.
func (a *asked) refuse(q question, no *noAnswer) {
	a.reply(q, &nats.Msg{Header: nats.Header{micro.ErrorCodeHeader: {no.code}, micro.ErrorHeader: {no.text()}}}, no, nil)
}

// reply sends what became of a question, and counts it.
func (a *asked) reply(q question, m *nats.Msg, no *noAnswer, res *job.Result) {
	took := time.Since(q.received)
	a.count(no, took)
	if observe := a.cfg.Service.Observe; observe != nil {
		outcome := "answered"
		if no != nil {
			outcome = no.outcome
		}
		observe(outcome, took, res)
	}
	m.Subject = q.reply
	a.say(a.nc.PublishMsg(m), "what became of a question")
}
