package queue

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"antipode/internal/limit"
)

// WatchConfig says what is watched, and how often it is shown.
type WatchConfig struct {
	Owner string
	Job   string // "" is all of the owner
	Every time.Duration
}

// View is what a Watch knows at a moment.
type View struct {
	Time    time.Time
	Server  string    // without a password
	Away    time.Time // since when the server is away; zero where it is there
	Trouble string    // why the jobs are not followed now; "" where they are
	Ready   bool      // all that the server has was read once
	Workers []Presence
	Lanes   map[Lane]Depth
	Dead    int         // letters
	Jobs    []*Progress // that matter most: those with work to do first, then the latest
	More    int         // jobs besides these
}

const (
	maxShown = 256 // jobs of a View
	// silent is how long a worker that does not answer is still shown: one whose cores
	// are all searching answers late.
	silent = 5 * time.Second
	// atFirst is the time between the first views, until all was read, or Every has passed.
	atFirst = 100 * time.Millisecond
	// surveyTime is the time between two looks at streams as a whole; between two at
	// the subjects of JOBS, of which there may be many, it is costShare times what one
	// took, at the least surveyTime.
	surveyTime = 2 * time.Second
	costShare  = 20
)

// Watch follows the server, its workers and an owner's jobs, and shows them every so
// often until show returns an error, which it returns, or ctx ends. It goes on while the
// server is away. What the server has of the jobs is read once, then only what is new.
// A RefusedError says that this user may not do something that takes.
func (q *Queue) Watch(ctx context.Context, cfg WatchConfig, show func(View) error) error {
	return q.Ask(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithCancelCause(ctx)
		w := &watching{q: q, cfg: cfg, news: make(chan func(*watched)), again: make(chan struct{}, 1)}
		var tasks sync.WaitGroup
		defer tasks.Wait()
		defer cancel(nil)
		for _, task := range []func(context.Context) error{w.follow, w.poll, w.roll} {
			tasks.Go(func() {
				if err := task(ctx); err != nil {
					cancel(err)
				}
			})
		}
		return w.show(ctx, show)
	})
}

// watching is one Watch: the goroutine that shows owns what is known, others tell it.
type watching struct {
	q     *Queue
	cfg   WatchConfig
	news  chan func(*watched)
	again chan struct{} // the jobs are to be read anew
}

// watched is what is known.
type watched struct {
	away    time.Time // since when
	back    time.Time // when the server was found back
	server  string
	trouble string
	workers map[string]sighting // by id
	lanes   map[Lane]Depth
	dead    int
	jobs    *ledger        // nil until it was read once
	queued  map[string]int // chunks in JOBS, by job; nil until that is known
}

type sighting struct {
	Presence
	last time.Time
}

// tell has the owner of what is known take something in.
func (w *watching) tell(ctx context.Context, news func(*watched)) {
	select {
	case w.news <- news:
	case <-ctx.Done():
	}
}

func (w *watching) show(ctx context.Context, show func(View) error) error {
	tick := time.NewTicker(min(w.cfg.Every, atFirst))
	defer tick.Stop()
	known := &watched{workers: map[string]sighting{}}
	for n := 0; ; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case news := <-w.news:
			news(known)
		case now := <-tick.C:
			w.connection(known, now)
			v := w.view(known, now)
			if n++; v.Ready || n == int(w.cfg.Every/atFirst) {
				tick.Reset(w.cfg.Every)
			}
			if err := show(v); err != nil {
				return err
			}
		}
	}
}

// connection notes whether the server is there.
func (w *watching) connection(k *watched, now time.Time) {
	switch there := w.q.nc.IsConnected(); {
	case !there && k.away.IsZero():
		k.away = now
	case there && !k.away.IsZero():
		k.away, k.back = time.Time{}, now
	}
	if server := w.q.nc.ConnectedUrlRedacted(); server != "" {
		k.server = server
	}
}

func (w *watching) view(k *watched, now time.Time) View {
	v := View{Time: now, Server: k.server, Away: k.away, Trouble: k.trouble, Lanes: maps.Clone(k.lanes), Dead: k.dead, Ready: k.jobs != nil && k.queued != nil}
	for id, s := range k.workers {
		if k.away.IsZero() && now.Sub(s.last) > silent+2*w.cfg.Every && now.Sub(k.back) > silent {
			delete(k.workers, id)
			continue
		}
		v.Workers = append(v.Workers, s.Presence)
	}
	slices.SortFunc(v.Workers, func(a, b Presence) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	if k.jobs != nil {
		v.Jobs, v.More = k.jobs.shown(k.queued, now)
	}
	return v
}

// roll asks every worker every so often what it does, and hears whoever answers.
func (w *watching) roll(ctx context.Context) error {
	subject, err := micro.ControlSubject(micro.StatsVerb, serviceName, "")
	if err != nil {
		return err
	}
	inbox := w.q.nc.NewInbox()
	sub, err := w.q.nc.SubscribeSync(inbox) // which keeps 64 MB for us, a channel any number of bytes
	if err != nil {
		return err
	}
	defer sub.Unsubscribe()
	for ctx.Err() == nil {
		until := time.Now().Add(w.cfg.Every)
		if w.q.nc.IsConnected() {
			if err := w.q.nc.PublishRequest(subject, inbox, nil); err != nil {
				w.q.log.Debug("workers are not asked", "error", err)
			}
		}
		w.hear(ctx, sub, until)
	}
	return nil
}

// hear takes in until then who answers, or that there is nobody who could.
func (w *watching) hear(ctx context.Context, sub *nats.Subscription, until time.Time) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	for ctx.Err() == nil {
		switch m, err := sub.NextMsgWithContext(ctx); {
		case err == nil:
			w.heard(ctx, m.Data)
		case errors.Is(err, nats.ErrNoResponders):
			w.tell(ctx, func(k *watched) { clear(k.workers) })
		case !errors.Is(err, nats.ErrSlowConsumer): // after which the rest follows
			<-ctx.Done()
		}
	}
}

// heard takes a worker's answer in.
func (w *watching) heard(ctx context.Context, data []byte) {
	p, ok := readPresence(data)
	if !ok {
		return
	}
	w.tell(ctx, func(k *watched) {
		if _, known := k.workers[p.ID]; known || len(k.workers) < limit.Workers {
			k.workers[p.ID] = sighting{p, time.Now()}
		}
	})
}
