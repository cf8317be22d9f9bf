package queue

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// poll asks every so often for what cannot be followed. What fails is asked again.
func (w *watching) poll(ctx context.Context) error {
	tick := time.NewTicker(w.cfg.Every)
	defer tick.Stop()
	p := poller{created: map[string]time.Time{}}
	for {
		if w.q.nc.IsConnected() {
			if err := p.round(ctx, w); err != nil && ctx.Err() == nil {
				w.q.log.Debug("not asked", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// poller knows what was asked when.
type poller struct {
	surveyed time.Time
	queued   time.Time            // when JOBS may be asked again
	created  map[string]time.Time // when streams were, by their clock
}

func (p *poller) round(ctx context.Context, w *watching) error {
	idle, err := p.lanes(ctx, w)
	if err == nil {
		err = p.jobs(ctx, w, idle)
	}
	if time.Since(p.surveyed) < surveyTime {
		return err
	}
	p.surveyed = time.Now()
	dead, unknown := w.q.DeadLetters(ctx)
	if unknown == nil {
		w.tell(ctx, func(k *watched) { k.dead = dead })
	}
	return errors.Join(err, unknown, p.compare(ctx, w))
}

// lanes asks how deep they are.
func (p *poller) lanes(ctx context.Context, w *watching) (idle bool, err error) {
	lanes, idle := map[Lane]Depth{}, true
	for _, lane := range []Lane{Bulk, Express} {
		d, err := w.q.Depth(ctx, lane)
		if err != nil {
			return false, err
		}
		lanes[lane] = d
		idle = idle && d == Depth{}
	}
	w.tell(ctx, func(k *watched) { k.lanes = lanes })
	return idle, nil
}

// jobs finds out how many chunks of which job JOBS holds, where lanes are not idle.
func (p *poller) jobs(ctx context.Context, w *watching, idle bool) error {
	queued := map[string]int{}
	if !idle {
		if time.Now().Before(p.queued) {
			return nil
		}
		began, found := time.Now(), map[string]*Progress{}
		err := w.q.queued(ctx, w.cfg.Owner, w.one(), func(id string) *Progress {
			if found[id] == nil {
				found[id] = &Progress{}
			}
			return found[id]
		})
		p.queued = time.Now().Add(max(surveyTime, costShare*time.Since(began)))
		if err != nil {
			return err
		}
		for id, f := range found {
			queued[id] = f.Queued
		}
	}
	w.tell(ctx, func(k *watched) { k.queued = queued })
	return nil
}

// compare has the jobs read anew where what they are read from is not what it was: a
// consumer hears nothing of a stream that was removed, or emptied.
func (p *poller) compare(ctx context.Context, w *watching) error {
	for _, name := range []string{resultsStream, kvStream} {
		s, err := w.q.js.Stream(ctx, name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			w.anew()
			continue
		}
		if err != nil {
			return err
		}
		info := s.CachedInfo()
		if was, known := p.created[name]; known && !was.Equal(info.Created) {
			w.anew()
		}
		p.created[name] = info.Created
		w.tell(ctx, func(k *watched) {
			if k.jobs != nil && k.jobs.read[name] > 0 && k.jobs.read[name] < info.State.FirstSeq { // all of that is gone
				w.anew()
			}
		})
	}
	return nil
}

// anew has the jobs read anew.
func (w *watching) anew() {
	select {
	case w.again <- struct{}{}:
	default:
	}
}

// one is the job that is watched, as a token of a subject.
func (w *watching) one() string {
	if w.cfg.Job == "" {
		return "*"
	}
	return w.cfg.Job
}
