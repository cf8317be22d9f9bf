package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"antipode/internal/job"
	"antipode/internal/limit"
)

// Presence is what a worker tells of itself.
type Presence struct {
	Name    string // a token
	Version string // SemVer
	Puzzles []string
	Tables  []string // of them, those that have all their tables
	Slots   int      // bulk
	ID      string   // of the process: what Doing counts begins anew with another
	Doing   *Doing   // nil where it does not say
}

const (
	// gatherFirst is how long the first worker may take to answer, gatherNext each
	// one after it: a worker whose cores are all searching answers late.
	gatherFirst = 2 * time.Second
	gatherNext  = 300 * time.Millisecond
)

// Workers asks who works, and returns who answered until it was quiet for a while,
// by name. Nobody there is no error. A RefusedError says that this user may not ask.
func (q *Queue) Workers(ctx context.Context) ([]Presence, error) {
	var all []Presence
	err := q.gather(ctx, func(data []byte) {
		if p, ok := readPresence(data); ok {
			all = append(all, p)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("ask which workers there are: %w", err)
	}
	slices.SortFunc(all, func(a, b Presence) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// gather asks the services, and gives each answer.
func (q *Queue) gather(ctx context.Context, give func([]byte)) error {
	subject, err := micro.ControlSubject(micro.StatsVerb, serviceName, "")
	if err != nil {
		return err
	}
	ctx, done := q.during(ctx, subject)
	defer done()
	inbox := q.nc.NewInbox()
	sub, err := q.nc.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer sub.Unsubscribe()
	if err := q.nc.PublishRequest(subject, inbox, nil); err != nil {
		return err
	}
	wait, end := gatherFirst, time.Now().Add(callTimeout)
	for range limit.Workers {
		msg, err := nextWithin(ctx, sub, min(wait, time.Until(end)))
		switch {
		case errors.Is(err, nats.ErrNoResponders):
			return nil
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			return nil // quiet
		case err != nil:
			return because(ctx, err)
		}
		give(msg.Data)
		wait = gatherNext
	}
	return nil
}

func nextWithin(ctx context.Context, sub *nats.Subscription, d time.Duration) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return sub.NextMsgWithContext(ctx)
}

// readPresence reads an answer. What is none of a worker is left out: anybody may
// answer, and the words are printed.
func readPresence(data []byte) (p Presence, ok bool) {
	var stats micro.Stats
	if len(data) > limit.Presence || json.Unmarshal(data, &stats) != nil || stats.Name != serviceName || !job.IsToken(stats.Metadata[metaWorker]) {
		return p, false
	}
	p.Name, p.ID = stats.Metadata[metaWorker], clip(stats.ID)
	p.Version = job.Printable(clip(stats.Version))
	p.Puzzles, p.Tables = readNames(stats.Metadata[metaPuzzles]), readNames(stats.Metadata[metaTables])
	p.Slots, _ = strconv.Atoi(stats.Metadata[metaSlots])
	if len(stats.Endpoints) > 0 && stats.Endpoints[0] != nil {
		p.Doing = readDoing(stats.Endpoints[0].Data)
	}
	return p, p.Slots >= 0 && p.Slots <= limit.Number
}

// readNames reads names of puzzles with spaces between, and leaves more than a worker
// has out.
func readNames(list string) []string {
	names := slices.DeleteFunc(strings.Fields(list), func(name string) bool { return !job.IsToken(name) })
	return slices.Clone(names[:min(len(names), limit.KeptDefinitions)])
}
