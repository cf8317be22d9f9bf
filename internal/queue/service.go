package queue

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"antipode/internal/job"
)

// Service is what a worker is to others: a NATS micro service that tells who
// works, and answers single questions.
type Service struct {
	Version string          // SemVer, without v
	Puzzles []string        // names of those that come with the program
	Tables  func() []string // of them, those that have their tables now
	// Check tells whether a chunk is one question, and if not, why. With an error
	// that cannot be told now.
	Check func(ctx context.Context, c *job.Chunk) (refusal string, err error)
	// Observe, if not nil, hears of every question: answered, refused, busy or
	// unavailable; how long after its receipt; and its result, nil without an
	// answer. Several goroutines call it at once.
	Observe func(outcome string, took time.Duration, res *job.Result)
}

const (
	serviceName  = "antipode"
	serviceAbout = "Shortest-path questions about permutation puzzles"
	endpointName = "solve"
	solvePrefix  = "antipode.v1.solve."
	solveGroup   = "workers" // of them one gets a question
)

// The metadata of the service. Lists have spaces between.
const (
	metaWorker  = "worker"
	metaPuzzles = "puzzles"
	metaTables  = "tables"
	metaSlots   = "slots" // bulk
)

// presence answers who asks for services. It speaks the protocol of micro itself:
// the library's service answers on any subject that a message names, and its
// figures would be of the receipt of questions alone.
type presence struct {
	*server
	id      string
	started time.Time
	subs    []*nats.Subscription

	mu    sync.Mutex
	stats micro.EndpointStats // guarded by mu
}

// appear makes the worker seen.
func (s *server) appear() (*presence, error) {
	p := &presence{server: s, id: job.NewID(), started: time.Now().UTC()}
	p.stats = micro.EndpointStats{Name: endpointName, Subject: solvePrefix + "*", QueueGroup: solveGroup}
	for verb, value := range map[micro.Verb]func() any{micro.PingVerb: p.ping, micro.InfoVerb: p.info, micro.StatsVerb: p.figures} {
		for _, of := range [][2]string{{}, {serviceName}, {serviceName, p.id}} {
			if err := p.listen(verb, of[0], of[1], value); err != nil {
				p.vanish()
				return nil, err
			}
		}
	}
	return p, nil
}

func (p *presence) listen(verb micro.Verb, name, id string, value func() any) error {
	subject, err := micro.ControlSubject(verb, name, id)
	if err != nil {
		return err
	}
	sub, err := p.nc.Subscribe(subject, func(m *nats.Msg) {
		if !mayReply(m.Reply) {
			return
		}
		text, err := json.Marshal(value())
		if err == nil {
			err = m.Respond(text)
		}
		p.say(err, "who works here")
	})
	if err == nil {
		p.subs = append(p.subs, sub)
	}
	return err
}

// vanish ends what appear began.
func (p *presence) vanish() {
	for _, sub := range p.subs {
		if err := sub.Unsubscribe(); !errors.Is(err, nats.ErrConnectionClosed) {
			p.say(err, "this worker is gone")
		}
	}
}

// mayReply tells whether an answer may be published on a subject that a message
// named: not on those of Antipode or of the server, where a worker may do more
// than who asks.
func mayReply(subject string) bool {
	return subject != "" && subject[0] != '$' && !strings.HasPrefix(subject, "antipode.")
}

func (p *presence) identity() micro.ServiceIdentity {
	about := p.cfg.Service
	return micro.ServiceIdentity{Name: serviceName, ID: p.id, Version: about.Version, Metadata: map[string]string{
		metaWorker:  p.cfg.Worker,
		metaPuzzles: strings.Join(about.Puzzles, " "),
		metaTables:  strings.Join(about.Tables(), " "),
		metaSlots:   strconv.Itoa(p.cfg.Bulk),
	}}
}

func (p *presence) ping() any {
	return micro.Ping{ServiceIdentity: p.identity(), Type: micro.PingResponseType}
}

func (p *presence) info() any {
	return micro.Info{ServiceIdentity: p.identity(), Type: micro.InfoResponseType, Description: serviceAbout,
		Endpoints: []micro.EndpointInfo{{Name: endpointName, Subject: solvePrefix + "*", QueueGroup: solveGroup}}}
}

func (p *presence) figures() any {
	p.mu.Lock()
	stats := p.stats
	p.mu.Unlock()
	stats.Data = p.doing.encode(p.cfg.Bulk, p.cfg.Express)
	return micro.Stats{ServiceIdentity: p.identity(), Type: micro.StatsResponseType, Started: p.started, Endpoints: []*micro.EndpointStats{&stats}}
}

// count counts a question, which took so long from its receipt; no is nil where it
// was answered.
func (p *presence) count(no *noAnswer, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.NumRequests++
	p.stats.ProcessingTime += took
	p.stats.AverageProcessingTime = p.stats.ProcessingTime / time.Duration(p.stats.NumRequests)
	if no != nil {
		p.stats.NumErrors++
		p.stats.LastError = no.code + ":" + no.text()
	}
}
