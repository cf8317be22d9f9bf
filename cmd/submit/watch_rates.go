package main

import (
	"time"

	"antipode/internal/queue"
)

// meter tells how fast a count grows. Counts grow by chunks, which may take part of a
// millisecond or a minute: it looks from one growth to another.
type meter struct {
	marks []mark // when it had grown, the first one when it was seen first; at most one a tick
	now   time.Time
}

type mark struct {
	at time.Time
	n  int
}

const (
	meterOver = 5 * time.Second // that a rate is of, at the least, where there is as much
	meterSpan = 2 * time.Minute // of marks
)

func (m *meter) add(now time.Time, n int) {
	m.now = now
	last := len(m.marks) - 1
	switch {
	case last >= 0 && n == m.marks[last].n:
	case last >= 0 && n < m.marks[last].n: // it began anew
		m.marks = append(m.marks[:0], mark{now, n})
	default:
		m.marks = append(m.marks, mark{now, n})
	}
	for len(m.marks) > 2 && now.Sub(m.marks[1].at) > meterSpan {
		m.marks = m.marks[1:]
	}
}

// unknown is a rate of what is not seen for long enough to say.
const unknown = -1

// rate is the growth a second, 0 where it does not grow, or unknown.
func (m *meter) rate() float64 {
	last := len(m.marks) - 1
	if last < 1 {
		if m.now.Sub(m.marks[0].at) < meterOver {
			return unknown
		}
		return 0
	}
	from := last - 1
	for from > 0 && m.marks[last].at.Sub(m.marks[from].at) < meterOver {
		from--
	}
	span, idle := m.marks[last].at.Sub(m.marks[from].at), m.now.Sub(m.marks[last].at)
	if idle > max(2*span, meterOver) {
		return 0
	}
	if span+idle < meterOver/10 {
		return unknown
	}
	if idle > span/2 { // the next growth is late
		span += idle
	}
	return float64(m.marks[last].n-m.marks[from].n) / span.Seconds()
}

// rest begins anew: what is counted stood still for a reason that is not its pace.
func (m *meter) rest() { m.marks = append(m.marks[:0], mark{m.now, m.marks[len(m.marks)-1].n}) }

// grown tells whether the count grew just now.
func (m *meter) grown() bool { return m.marks[len(m.marks)-1].at.Equal(m.now) }

// rates are those of all that is seen.
type rates struct {
	workers, jobs map[string]*meter // by id
	history       []float64         // of all workers together, one a tick
}

func newRates() *rates {
	return &rates{workers: map[string]*meter{}, jobs: map[string]*meter{}}
}

// maxHistory is more ticks than a terminal has columns.
const maxHistory = 300

// frame is what is shown at a moment.
type frame struct {
	queue.View
	cfg     queue.WatchConfig
	rate    float64 // records a second of all workers
	history []float64
	workers map[string]float64 // rates, by id
	jobs    map[string]float64
}

// frame takes a view in, and adds the rates.
func (r *rates) frame(v queue.View, cfg queue.WatchConfig) frame {
	f := frame{View: v, cfg: cfg, workers: map[string]float64{}, jobs: map[string]float64{}, rate: unknown}
	for _, p := range v.Workers {
		if p.Doing == nil {
			continue
		}
		m, rate := measure(r.workers, p.ID, v.Time, p.Doing.Counts.Records), 0.0
		if len(p.Doing.Held) > 0 || m.grown() {
			rate = m.rate()
		} else { // it has nothing to do
			m.rest()
		}
		f.workers[p.ID] = rate
		if rate >= 0 {
			f.rate = max(f.rate, 0) + rate
		}
	}
	for _, p := range v.Jobs {
		m := measure(r.jobs, p.Job, v.Time, p.Counts.Records)
		if p.Answered == 0 || m.now.Sub(m.marks[len(m.marks)-1].at) > meterSpan/2 { // others come first
			m.rest()
		}
		if !p.Over() {
			f.jobs[p.Job] = m.rate()
		}
	}
	forget(r.workers, v.Time)
	forget(r.jobs, v.Time)
	r.history = append(r.history, max(f.rate, 0))
	r.history = r.history[max(0, len(r.history)-maxHistory):]
	f.history = r.history
	return f
}

func measure(meters map[string]*meter, id string, now time.Time, n int) *meter {
	m := meters[id]
	if m == nil {
		m = &meter{}
		meters[id] = m
	}
	m.add(now, n)
	return m
}

// forget drops the meters of what is not seen any more.
func forget(meters map[string]*meter, now time.Time) {
	for id, m := range meters {
		if m.now != now {
			delete(meters, id)
		}
	}
}

// left is how long a job will take at its rate; 0 is not known.
func (f *frame) left(p *queue.Progress) time.Duration {
	rate := f.jobs[p.Job]
	if rate <= 0 || p.Entry == nil || p.Entry.Records <= p.Counts.Records {
		return 0
	}
	return time.Duration(min(float64(p.Entry.Records-p.Counts.Records)/rate, 1e8) * float64(time.Second))
}
