package metrics

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"go.uber.org/goleak"

	"antipode/internal/cache"
	"antipode/internal/job"
	"antipode/internal/puzzle"
	"antipode/internal/queue"
	"antipode/internal/solver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait for something that must come.
const patience = time.Minute

// newMetrics returns the metrics of a worker that has the puzzles of the program,
// and a Redis that is given up.
func newMetrics(t *testing.T) (*Metrics, *puzzle.Set) {
	t.Helper()
	set, err := puzzle.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return New(Sources{
		Puzzles: set.Names(),
		Cache: func() cache.Stats {
			return cache.Stats{LocalHits: 1, RedisHits: 2, Misses: 3, Refusing: true, Breaker: "open"}
		},
		Solver: func() solver.Held {
			return solver.Held{Tables: solver.Share{Count: 4, Bytes: 5}, Searches: solver.Share{Count: 6, Bytes: 7}}
		},
		Stopping: func() bool { return false },
	}), set
}

// result is one whose records two methods answered.
func result(p *puzzle.Puzzle) *job.Result {
	res := &job.Result{Asking: time.Millisecond, Searching: 2 * time.Millisecond}
	for status := range job.Statuses {
		res.Tally.Add(p, &job.Answer{Status: job.Status(status), Method: "table"})
	}
	res.Tally.Add(p, &job.Answer{Status: job.Failed})
	return res
}

// full are metrics in which everything has happened, and NATS is there.
func full(t *testing.T) *Metrics {
	t.Helper()
	m, set := newMetrics(t)
	eight, err := set.Get("eight")
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range queue.Ends {
		m.Observe(queue.Outcome{Lane: queue.Bulk, End: end, Chunk: &job.Chunk{Spec: job.Spec{Puzzle: "eight"}}, Delivered: 1, Waited: time.Second})
	}
	for _, method := range []string{"contents", "reachability", "bidirectional", "deepening", "cache"} {
		res := &job.Result{}
		res.Tally.Add(eight, &job.Answer{Method: method})
		m.Question("answered", time.Millisecond, res)
	}
	m.Observe(queue.Outcome{
		Lane: queue.Express, End: queue.Answered, Chunk: &job.Chunk{Spec: job.Spec{Puzzle: "eight"}}, Result: result(eight), Delivered: 2,
		Dead: true, Answering: time.Second, Storing: time.Second,
	})
	m.Connected(connect(t, startServer(t)))
	return m
}

// family is one of the product's own metrics.
type family struct {
	kind   string
	labels []string           // names, in order
	values []string           // of all labels
	series map[string]float64 // by its labels' values; of a histogram its count
}

func families(t *testing.T, m *Metrics) map[string]family {
	t.Helper()
	all, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]family{}
	for _, f := range all {
		if strings.HasPrefix(f.GetName(), "go_") || strings.HasPrefix(f.GetName(), "process_") {
			continue
		}
		one := family{kind: strings.ToLower(f.GetType().String()), series: map[string]float64{}}
		for _, s := range f.Metric {
			var key []string
			one.labels = nil
			for _, l := range s.Label {
				one.labels = append(one.labels, l.GetName())
				key = append(key, l.GetValue())
			}
			one.values = append(one.values, key...)
			one.series[strings.Join(key, " ")] = s.GetCounter().GetValue() + s.GetGauge().GetValue() + float64(s.GetHistogram().GetSampleCount())
		}
		own[f.GetName()] = one
	}
	return own
}

func TestNamesAreAsPrometheusWants(t *testing.T) {
	all, err := full(t).registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(all).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// docs/metrics.md lists all metrics with their types and labels, and explains all
// values of labels.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	row := regexp.MustCompile("(?m)^\\| `(antipode_[a-z_]+)` \\| ([a-z]+) \\| ([`a-z ]*)\\|")
	for _, found := range row.FindAllStringSubmatch(string(text), -1) {
		documented[found[1]] = fmt.Sprint(found[2], strings.Fields(strings.ReplaceAll(found[3], "`", "")))
	}
	registered := map[string]string{}
	for name, f := range families(t, full(t)) {
		registered[name] = fmt.Sprint(f.kind, f.labels)
		for _, v := range f.values {
			if name != "antipode_build_info" && v != "eight" && !strings.Contains(string(text), "`"+v+"`") {
				t.Errorf("%s: the label value %q is not explained", name, v)
			}
		}
	}
	if !maps.Equal(documented, registered) {
		t.Errorf("documented\n%s\nregistered\n%s", lines(documented), lines(registered))
	}
}

func lines(of map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(of)) {
		fmt.Fprintln(&b, name, of[name])
	}
	return b.String()
}

func check(t *testing.T, m *Metrics, name string, want map[string]float64) {
	t.Helper()
	if got := families(t, m)[name].series; !maps.Equal(got, want) {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}

func TestObserve(t *testing.T) {
	m, set := newMetrics(t)
	swap, err := set.Get("swap")
	if err != nil {
		t.Fatal(err)
	}
	chunk := &job.Chunk{Spec: job.Spec{Puzzle: "swap"}}
	m.Observe(queue.Outcome{Lane: queue.Bulk, End: queue.PutOff, Chunk: chunk, Delivered: 1, Answering: time.Second})
	for range 2 {
		m.Observe(queue.Outcome{Lane: queue.Bulk, End: queue.Answered, Chunk: chunk, Result: result(swap), Delivered: 2, Answering: time.Second, Storing: time.Second})
	}
	m.Observe(queue.Outcome{Lane: queue.Express, End: queue.Nameless, Delivered: 1, Dead: true})
	m.Observe(queue.Outcome{Lane: queue.Express, End: queue.HandedBack})
	check(t, m, "antipode_chunks_total", map[string]float64{"bulk put-off swap": 1, "bulk answered swap": 2, "express nameless unknown": 1, "express handed-back unknown": 1})
	check(t, m, "antipode_redeliveries_total", map[string]float64{"bulk": 2, "express": 0})
	check(t, m, "antipode_dead_letters_total", map[string]float64{"": 1})
	check(t, m, "antipode_stage_seconds", map[string]float64{"bulk wait": 1, "express wait": 1, "bulk answer": 3, "bulk store": 2, "bulk cache": 2, "bulk search": 2})
	check(t, m, "antipode_records_total", map[string]float64{"table swap solved": 2, "table swap unreachable": 2, "table swap invalid": 2,
		"table swap exceeded": 2, "table swap failed": 2, "none swap failed": 2})
	check(t, m, "antipode_cache_hits_total", map[string]float64{"process": 1, "redis": 2})
	check(t, m, "antipode_redis_breaker", map[string]float64{"closed": 0, "half-open": 0, "open": 1})
	check(t, m, "antipode_table_bytes", map[string]float64{"table": 5, "stored": 0, "patterns": 0})
	check(t, m, "antipode_redis_refusing", map[string]float64{"": 1})
	check(t, m, "antipode_searches", map[string]float64{"": 6})
	check(t, m, "antipode_search_bytes", map[string]float64{"": 7})
	check(t, m, "antipode_queue_chunks", map[string]float64{})
}

// However strangers call their puzzles, there are few labels.
func TestLabelsAreBounded(t *testing.T) {
	m, set := newMetrics(t)
	eight, err := set.Get("eight")
	if err != nil {
		t.Fatal(err)
	}
	definition := []byte("cells: 3\nmoves:\n  - {name: turn, cycles: (1 2 3)}\nrecord: {parts: [start, goal]}\n")
	want := map[string]float64{"bulk answered given": 100, "bulk answered unknown": 100, "bulk answered jsonl": 1, "bulk answered eight": 1}
	answered := func(ref string, jsonl bool, p *puzzle.Puzzle) {
		t.Helper()
		res := &job.Result{}
		res.Tally.Add(p, &job.Answer{Status: job.Failed})
		m.Observe(queue.Outcome{Lane: queue.Bulk, End: queue.Answered, Chunk: &job.Chunk{Spec: job.Spec{Puzzle: ref, Format: job.Format{JSONL: jsonl}}}, Result: res, Delivered: 2})
	}
	for i := range 100 {
		p, err := puzzle.Given("eight", "eight.yaml", fmt.Appendf(definition, "about: %d\n", i))
		if err != nil {
			t.Fatal(err)
		}
		answered(p.Ref(), false, p)
		answered(fmt.Sprint("no-such-", i), false, nil)
	}
	answered("", true, nil)
	answered("eight", false, eight)
	check(t, m, "antipode_chunks_total", want)
	check(t, m, "antipode_records_total", map[string]float64{"none given failed": 100, "none unknown failed": 100, "none jsonl failed": 1, "none eight failed": 1})
}
