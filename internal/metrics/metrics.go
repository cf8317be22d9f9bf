// Package metrics counts what a worker does, and serves the counts and the
// worker's health over HTTP. It alone knows Prometheus.
//
//	metrics.go  what is counted as it happens
//	figures.go  what is read when somebody asks
//	health.go   whether the worker is ready
//	server.go   /metrics, /livez and /readyz
package metrics

import (
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"antipode/internal/cache"
	"antipode/internal/job"
	"antipode/internal/puzzle"
	"antipode/internal/queue"
	"antipode/internal/solver"
	"antipode/internal/version"
)

// Sources are what a worker's metrics are read from. All may be asked at any time.
type Sources struct {
	Puzzles  []string // names of those that come with the program
	Cache    func() cache.Stats
	Solver   func() solver.Held
	Stopping func() bool // the worker was told to stop
}

// Metrics counts what one worker does. Its methods may be called by many goroutines
// at once.
type Metrics struct {
	sources  Sources
	builtin  map[string]bool
	registry *prometheus.Registry
	prepared atomic.Bool
	queue    atomic.Pointer[queue.Queue] // nil before there is a connection
	depths   depths

	chunks       *prometheus.CounterVec
	redeliveries *prometheus.CounterVec
	dead         prometheus.Counter
	records      *prometheus.CounterVec
	stages       *prometheus.HistogramVec
	questions    *prometheus.CounterVec
	answering    prometheus.Histogram
}

// New returns the metrics of a worker that has done nothing.
func New(s Sources) *Metrics {
	m := &Metrics{sources: s, builtin: map[string]bool{}, registry: prometheus.NewRegistry()}
	for _, name := range s.Puzzles {
		m.builtin[name] = true
	}
	m.chunks = counters("antipode_chunks_total", "Deliveries of chunks, by what became of them.", "lane", "puzzle", "outcome")
	m.redeliveries = counters("antipode_redeliveries_total", "Deliveries of chunks that had been delivered before.", "lane")
	m.dead = prometheus.NewCounter(prometheus.CounterOpts{Name: "antipode_dead_letters_total", Help: "Copies of messages that this worker put into DEAD."})
	m.records = counters("antipode_records_total", "Records whose answers this worker stored.", "puzzle", "status", "method")
	m.stages = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "antipode_stage_seconds", Help: "What a chunk took at each stage of its way.", Buckets: buckets(),
	}, []string{"lane", "stage"})
	m.questions = counters("antipode_questions_total", "Single questions, by what became of them.", "outcome")
	m.answering = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "antipode_question_seconds", Help: "From the receipt of a single question to its answer.", Buckets: buckets(),
	})
	build, _, _ := strings.Cut(version.String(), ", "+runtime.Version())
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "antipode_build_info", Help: "1; its labels say which build this is.", ConstLabels: prometheus.Labels{"version": build, "go": runtime.Version()},
	})
	info.Set(1)
	for _, lane := range []queue.Lane{queue.Bulk, queue.Express} {
		m.redeliveries.WithLabelValues(string(lane)) // so that the first counts as a rise from 0
	}
	m.registry.MustRegister(m.chunks, m.redeliveries, m.dead, m.records, m.stages, m.questions, m.answering, info, newFigures(m),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// buckets are bounds in seconds, from a look at a table to a night in the queue.
func buckets() []float64 {
	return []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200}
}

// Observe counts a delivery that was settled.
func (m *Metrics) Observe(o queue.Outcome) {
	lane := string(o.Lane)
	m.chunks.WithLabelValues(lane, m.chunkPuzzle(o.Chunk), string(o.End)).Inc()
	if o.Delivered > 1 {
		m.redeliveries.WithLabelValues(lane).Inc()
	}
	if o.Dead {
		m.dead.Inc()
	}
	if o.Delivered == 1 { // what comes again waited for more than its turn
		m.stages.WithLabelValues(lane, "wait").Observe(o.Waited.Seconds())
	}
	m.stage(lane, "answer", o.Answering)
	m.stage(lane, "store", o.Storing)
	if o.Result != nil {
		m.stage(lane, "cache", o.Result.Asking)
		m.stage(lane, "search", o.Result.Searching)
		m.count(o.Result, o.Chunk.Format.JSONL)
	}
}

// Question counts a single question, with one of few words for what became of it,
// and its result, nil where there is none.
func (m *Metrics) Question(outcome string, took time.Duration, res *job.Result) {
	m.questions.WithLabelValues(outcome).Inc()
	if res != nil {
		m.answering.Observe(took.Seconds())
		m.count(res, false)
	}
}

// stage counts the time of a stage that was come to.
func (m *Metrics) stage(lane, stage string, took time.Duration) {
	if took > 0 {
		m.stages.WithLabelValues(lane, stage).Observe(took.Seconds())
	}
}

// count counts the records of a result.
func (m *Metrics) count(res *job.Result, jsonl bool) {
	for _, row := range res.Tally.Rows {
		for status, n := range row.ByStatus {
			if n > 0 {
				m.records.WithLabelValues(m.recordPuzzle(row.Puzzle, jsonl), job.Status(status).String(), method(row.Method)).Add(float64(n))
			}
		}
	}
}

// The labels for puzzles are the names of those that come with the program, and
// these: strangers choose all other names.
const (
	givenPuzzles  = "given"   // its definition came with a job
	mixedPuzzles  = "jsonl"   // records of JSON, which name theirs
	unknownPuzzle = "unknown" // there is none of that name
)

func (m *Metrics) chunkPuzzle(c *job.Chunk) string {
	switch {
	case c == nil:
		return unknownPuzzle
	case c.Format.JSONL:
		return mixedPuzzles
	case strings.Contains(c.Puzzle, "@"):
		return givenPuzzles
	case m.builtin[c.Puzzle]:
		return c.Puzzle
	}
	return unknownPuzzle
}

func (m *Metrics) recordPuzzle(p *puzzle.Puzzle, jsonl bool) string {
	switch {
	case p == nil && jsonl:
		return mixedPuzzles
	case p == nil:
		return unknownPuzzle
	case m.builtin[p.Ref()]:
		return p.Name
	}
	return givenPuzzles
}

// method is the label of a method; "none" where a record was not answered.
func method(name string) string {
	if name == "" {
		return "none"
	}
	return name
}
