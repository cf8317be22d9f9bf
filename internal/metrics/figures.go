package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"antipode/internal/cache"
	"antipode/internal/queue"
	"antipode/internal/solver"
)

// figures collects what is read when somebody asks.
type figures struct {
	metrics *Metrics
	all     []figure
}

// figure is one of them. Read gives its values, each with its labels.
type figure struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(s *snapshot, give give)
}

// give takes one value, and the values of its labels in order.
type give func(value float64, labels ...string)

// snapshot is what all figures of one scrape are read from.
type snapshot struct {
	ready  bool
	queue  queue.Stats // zero before there is a connection
	depths map[queue.Lane]queue.Depth
	cache  cache.Stats
	held   solver.Held
}

func (m *Metrics) snapshot() *snapshot {
	s := &snapshot{ready: len(m.unready()) == 0, cache: m.sources.Cache(), held: m.sources.Solver()}
	if q := m.queue.Load(); q != nil {
		s.queue = q.Stats()
		s.depths = m.depths.of(q)
	}
	return s
}

func newFigures(m *Metrics) *figures {
	f := &figures{metrics: m}
	f.ofQueue()
	f.ofCache()
	f.ofSolver()
	return f
}

func (f *figures) add(kind prometheus.ValueType, name, help string, labels []string, read func(*snapshot, give)) {
	f.all = append(f.all, figure{prometheus.NewDesc(name, help, labels, nil), kind, read})
}

// gauge adds a figure without labels.
func (f *figures) gauge(name, help string, read func(*snapshot) float64) {
	f.add(prometheus.GaugeValue, name, help, nil, func(s *snapshot, give give) { give(read(s)) })
}

// counter adds one that only rises.
func (f *figures) counter(name, help string, read func(*snapshot) float64) {
	f.add(prometheus.CounterValue, name, help, nil, func(s *snapshot, give give) { give(read(s)) })
}

func (f *figures) ofQueue() {
	f.gauge("antipode_ready", "1 while the worker takes chunks of both lanes, as /readyz says.", func(s *snapshot) float64 { return oneIf(s.ready) })
	f.gauge("antipode_chunks_held", "Chunks that the worker is at.", func(s *snapshot) float64 { return float64(s.queue.Held) })
	f.gauge("antipode_nats_connected", "1 while there is a connection to NATS.", func(s *snapshot) float64 { return oneIf(s.queue.Connected) })
	f.counter("antipode_nats_reconnects_total", "How often NATS came back.", func(s *snapshot) float64 { return float64(s.queue.Reconnects) })
	f.counter("antipode_drains_total", "Stops in which chunks were handed back.", func(s *snapshot) float64 { return float64(s.queue.Drains) })
	f.add(prometheus.GaugeValue, "antipode_slots", "Slots, by whether they take chunks.", []string{"lane", "state"}, func(s *snapshot, give give) {
		for lane, n := range s.queue.Lanes {
			give(float64(n.Bound), string(lane), "bound")
			give(float64(n.All-n.Bound), string(lane), "unbound")
		}
	})
	f.add(prometheus.GaugeValue, "antipode_queue_chunks", "Chunks in the queue, of all workers; missing while NATS does not say.", []string{"lane", "state"}, func(s *snapshot, give give) {
		for lane, d := range s.depths {
			give(float64(d.Pending), string(lane), "pending")
			give(float64(d.Unacked), string(lane), "unacknowledged")
		}
	})
}

func (f *figures) ofCache() {
	f.add(prometheus.CounterValue, "antipode_cache_hits_total", "Questions that the cache answered.", []string{"place"}, func(s *snapshot, give give) {
		give(float64(s.cache.LocalHits), "process")
		give(float64(s.cache.RedisHits), "redis")
	})
	f.counter("antipode_cache_misses_total", "Questions that the cache did not answer.", func(s *snapshot) float64 { return float64(s.cache.Misses) })
	f.counter("antipode_cache_writes_total", "Answers written to Redis.", func(s *snapshot) float64 { return float64(s.cache.Written) })
	f.counter("antipode_cache_drops_total", "Answers meant for Redis that were not written.", func(s *snapshot) float64 { return float64(s.cache.Dropped) })
	f.counter("antipode_cache_bad_values_total", "Values in Redis that were no answers, or not under the secret.", func(s *snapshot) float64 { return float64(s.cache.Bad) })
	f.add(prometheus.CounterValue, "antipode_redis_faults_total", "Calls of Redis that failed, were slow, or were not made.", []string{"fault"}, func(s *snapshot, give give) {
		give(float64(s.cache.Errors), "error")
		give(float64(s.cache.Slow), "slow")
		give(float64(s.cache.Skipped), "skipped")
	})
	f.gauge("antipode_redis_refusing", "1 while Redis is read and takes no writes.", func(s *snapshot) float64 { return oneIf(s.cache.Refusing) })
	f.add(prometheus.GaugeValue, "antipode_redis_breaker", "1 for the breaker's state; missing without Redis.", []string{"state"}, func(s *snapshot, give give) {
		if s.cache.Breaker == "" {
			return
		}
		for _, state := range []string{"closed", "half-open", "open"} {
			give(oneIf(s.cache.Breaker == state), state)
		}
	})
}

func (f *figures) ofSolver() {
	shares := func(read func(solver.Share) float64) func(*snapshot, give) {
		return func(s *snapshot, give give) {
			give(read(s.held.Tables), "table")
			give(read(s.held.Stored), "stored")
			give(read(s.held.Patterns), "patterns")
		}
	}
	f.add(prometheus.GaugeValue, "antipode_tables", "Tables built, tables from files, pattern databases.", []string{"kind"}, shares(func(s solver.Share) float64 { return float64(s.Count) }))
	f.add(prometheus.GaugeValue, "antipode_table_bytes", "Their sizes.", []string{"kind"}, shares(func(s solver.Share) float64 { return float64(s.Bytes) }))
	f.gauge("antipode_searches", "Searches under way.", func(s *snapshot) float64 { return float64(s.held.Searches.Count) })
	f.gauge("antipode_search_bytes", "What searches hold, and keep for the next.", func(s *snapshot) float64 { return float64(s.held.Searches.Bytes) })
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// Describe lists the figures.
func (f *figures) Describe(ch chan<- *prometheus.Desc) {
	for _, one := range f.all {
		ch <- one.desc
	}
}

// Collect reads all figures.
func (f *figures) Collect(ch chan<- prometheus.Metric) {
	s := f.metrics.snapshot()
	for _, one := range f.all {
		one.read(s, func(value float64, labels ...string) {
			ch <- prometheus.MustNewConstMetric(one.desc, one.kind, value, labels...)
		})
	}
}

const (
	depthTime = time.Second     // that asking for the depth of both lanes may take
	depthAge  = 2 * time.Second // that an answer, or that there was none, is good for
)

// depths remembers the depths of the lanes, so that the server is not asked more
// often than its answers change.
type depths struct {
	mu    sync.Mutex // held while the server is asked
	asked time.Time
	known map[queue.Lane]queue.Depth // those that the server told when it was asked
}

// of returns the depths that are known, without asking while NATS is away. It does
// not wait longer than depthTime, nor others than that once more.
func (d *depths) of(q *queue.Queue) map[queue.Lane]queue.Depth {
	if !q.Stats().Connected {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.asked.IsZero() && time.Since(d.asked) < depthAge {
		return d.known
	}
	ctx, cancel := context.WithTimeout(context.Background(), depthTime)
	defer cancel()
	d.known = map[queue.Lane]queue.Depth{}
	for _, lane := range []queue.Lane{queue.Bulk, queue.Express} {
		if depth, err := q.Depth(ctx, lane); err == nil {
			d.known[lane] = depth
		}
	}
	d.asked = time.Now()
	return d.known
}
