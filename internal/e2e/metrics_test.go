//go:build unix

package e2e

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"antipode/internal/cache/redistest"
)

// watched starts a worker that serves metrics, and returns where. It does not wait
// until the worker is ready.
func watched(t *testing.T, url string, args ...string) (w *process, web string) {
	t.Helper()
	t.Setenv("ANTIPODE_HTTP_LISTEN", "127.0.0.1:0")
	w = start(t, "worker", append([]string{"--nats", url, "--slots", "1"}, args...)...)
	w.awaits(t, `"serving metrics and health"`)
	found := regexp.MustCompile(`"address":"([^"]+)"`).FindStringSubmatch(w.Log())
	if found == nil {
		t.Fatalf("no address: %s", w.Log())
	}
	return w, "http://" + found[1]
}

// get returns an answer's status and text, over a connection of its own.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// scrape is what /metrics said: series with their values.
type scrape map[string]float64

func scraped(t *testing.T, web string) scrape {
	t.Helper()
	status, text := get(t, web+"/metrics")
	if status != http.StatusOK {
		t.Fatalf("/metrics: %d: %s", status, text)
	}
	s := scrape{}
	for line := range strings.Lines(text) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		if !strings.Contains(line, "}") {
			series, value, _ = strings.Cut(strings.TrimSpace(line), " ")
		}
		if v, err := strconv.ParseFloat(value, 64); err == nil && !strings.HasPrefix(line, "#") {
			s[series] = v
		}
	}
	return s
}

// sum adds up the series of a metric that have all these labels, each as name=value.
func (s scrape) sum(metric string, labels ...string) (sum float64) {
next:
	for series, v := range s {
		name, rest, _ := strings.Cut(series, "{")
		for _, l := range labels {
			label, value, _ := strings.Cut(l, "=")
			if !strings.Contains(","+rest, fmt.Sprintf(",%s=%q", label, value)) {
				continue next
			}
		}
		if name == metric {
			sum += v
		}
	}
	return sum
}

// has tells whether a metric has any series.
func (s scrape) has(metric string) bool {
	for series := range s {
		if series == metric || strings.HasPrefix(series, metric+"{") {
			return true
		}
	}
	return false
}

// checkSums compares sums of a scrape.
func (s scrape) checkSums(t *testing.T, want map[string]int) {
	t.Helper()
	for what, n := range want {
		words := strings.Fields(what)
		if got := s.sum(words[0], words[1:]...); got != float64(n) {
			t.Errorf("%s: %v, want %d", what, got, n)
		}
	}
}

// What a worker counts is what submit got.
func TestMetricsOfJobs(t *testing.T) {
	port := freePort(t)
	natsServer(t, port, t.TempDir())
	url := address(port)
	_, web := watched(t, url, "--redis", redistest.Start(t).Addr)
	settled := func(chunks float64) {
		t.Helper()
		eventually(t, fmt.Sprint(chunks, " chunks are counted"), func() bool { return scraped(t, web).sum("antipode_chunks_total") == chunks })
	}

	const boards, bulk = 25_000, 2 // chunks: 18 bytes a board, and 256 KiB in the first
	rng := rand.New(rand.NewPCG(7, 8))
	var in strings.Builder
	fmt.Fprintln(&in, boards)
	for range boards {
		for i, v := range rng.Perm(9) {
			fmt.Fprint(&in, v, map[bool]string{true: "\n", false: " "}[i%3 == 2])
		}
	}
	answers, _ := submit(t, 0, "--nats", url, jobFile(t, "eight-many.txt", in.String()))
	unreachable := 0
	for line := range strings.Lines(answers) {
		if line == "-1\n" {
			unreachable++
		}
	}
	rings := ringBoards(41, 16)
	for range 2 { // then from the cache
		submit(t, 0, "--nats", url, jobFile(t, "rotegame-rings.txt", ringText(rings)))
	}
	submit(t, 1, "--nats", url, jobFile(t, "swap.txt", "2 1 3 7 5 9 8 4 6\n1 1 1\n"))
	definition := jobFile(t, "mine.yaml", "cells: 3\nabout: Three.\nmoves:\n  - {name: turn, cycles: (1 2 3)}\nrecord: {parts: [start, goal]}\nanswer: {want: moves}\n")
	submit(t, 0, "--nats", url, "--puzzle", definition, jobFile(t, "mine", "1 2 3 2 3 1\n1 2 3 2 1 3\n"))
	submit(t, 1, "--nats", url, jobFile(t, "lines.jsonl", `{"puzzle":"swap","start":"213759846"}`+"\n"+`{"id":1}`+"\n"))

	settled(bulk + 2 + 1 + 1 + 1)
	s := scraped(t, web)
	s.checkSums(t, map[string]int{
		"antipode_records_total":                                 boards + 2*len(rings) + 2 + 2 + 2,
		"antipode_records_total puzzle=eight status=solved":      boards - unreachable,
		"antipode_records_total puzzle=eight status=unreachable": unreachable,
		"antipode_records_total puzzle=rotegame":                 2 * len(rings),
		"antipode_records_total puzzle=rotegame method=cache":    len(rings),
		"antipode_records_total puzzle=swap status=solved":       2,
		"antipode_records_total puzzle=swap status=invalid":      1,
		"antipode_records_total puzzle=given status=solved":      1,
		"antipode_records_total puzzle=given status=unreachable": 1,
		"antipode_records_total puzzle=jsonl status=invalid":     1,
		"antipode_records_total status=failed":                   0,
		"antipode_chunks_total lane=bulk outcome=answered":       bulk,
		"antipode_chunks_total lane=express outcome=answered":    5,
		"antipode_chunks_total puzzle=eight":                     bulk,
		"antipode_chunks_total puzzle=rotegame":                  2,
		"antipode_chunks_total puzzle=given":                     1,
		"antipode_chunks_total puzzle=jsonl":                     1,
		"antipode_stage_seconds_count stage=wait lane=bulk":      bulk,
		"antipode_stage_seconds_count stage=answer":              bulk + 5,
		"antipode_stage_seconds_count stage=store":               bulk + 5,
		"antipode_cache_hits_total place=process":                len(rings),
		"antipode_redis_breaker state=closed":                    1,
		"antipode_nats_connected":                                1,
		"antipode_redeliveries_total":                            0,
		"antipode_dead_letters_total":                            0,
		"antipode_chunks_held":                                   0,
		"antipode_queue_chunks":                                  0,
		"antipode_slots state=bound":                             2,
	})
	if misses := s.sum("antipode_cache_misses_total"); misses < float64(len(rings)) {
		t.Errorf("%v misses", misses)
	}
	eventually(t, "answers are in Redis", func() bool { return scraped(t, web).sum("antipode_cache_writes_total") >= float64(len(rings)) })
	if s.sum("antipode_tables") == 0 || s.sum("antipode_table_bytes") == 0 || s.sum("antipode_build_info") != 1 || s.sum("go_goroutines") == 0 {
		t.Errorf("%v", s)
	}
}

// A chunk of a worker that was killed is counted as redelivered by the one that
// answers it.
func TestRedeliveryIsCounted(t *testing.T) {
	t.Setenv("ANTIPODE_TABLES_MEMORY", "0") // so that a chunk of searches takes its time
	port := freePort(t)
	natsServer(t, port, t.TempDir())
	url := address(port)
	victim, web := watched(t, url)
	job := start(t, "submit", "--nats", url, jobFile(t, "rotegame-rings.txt", ringText(ringBoards(42, ringChunk/2))), "--out", filepath.Join(t.TempDir(), "out"))
	eventually(t, "the victim holds the chunk", func() bool { return scraped(t, web).sum("antipode_chunks_held") == 1 })
	victim.kill(syscall.SIGKILL)
	_, web = watched(t, url)
	job.ends(t, 0)
	eventually(t, "the chunk is counted", func() bool { return scraped(t, web).sum("antipode_chunks_total") == 1 })
	scraped(t, web).checkSums(t, map[string]int{
		"antipode_redeliveries_total lane=express":  1,
		"antipode_redeliveries_total":               1,
		"antipode_chunks_total outcome=answered":    1,
		"antipode_records_total puzzle=rotegame":    ringChunk / 2,
		"antipode_stage_seconds_count stage=wait":   0,
		"antipode_stage_seconds_count stage=search": 1,
	})
}

// readyz waits until a worker says that it is ready, or why not; /livez is 200 all
// along.
func readyz(t *testing.T, web, want string) {
	t.Helper()
	code := http.StatusServiceUnavailable
	if want == "ready" {
		code = http.StatusOK
	}
	last := ""
	eventually(t, want, func() bool {
		status, text := get(t, web+"/readyz")
		if text != last {
			t.Logf("/readyz: %d: %s", status, text)
			last = text
		}
		return status == code && text == want+"\n"
	})
	if status, _ := get(t, web+"/livez"); status != http.StatusOK {
		t.Errorf("/livez: %d", status)
	}
}

// A worker says what it waits for: NATS, its end; tables, in internal/metrics. A Redis
// that is not there is nothing to wait for; nor is a NATS server that does not
// answer, to a scrape.
func TestReadiness(t *testing.T) {
	t.Setenv("ANTIPODE_TABLES_MEMORY", "0") // so that a chunk of searches takes its time
	port := freePort(t)
	url := address(port)
	w, web := watched(t, url, "--redis", fmt.Sprintf("127.0.0.1:%d", freePort(t)))
	readyz(t, web, "there is no connection to NATS yet")
	server := natsServer(t, port, t.TempDir())
	readyz(t, web, "ready")
	scraped(t, web).checkSums(t, map[string]int{"antipode_ready": 1, "antipode_redis_breaker state=open": 1, "antipode_redis_breaker": 1})

	server.Signal(syscall.SIGSTOP)
	time.Sleep(2 * time.Second) // what the server said before is out of date
	began := time.Now()
	if s := scraped(t, web); s.has("antipode_queue_chunks") || !s.has("antipode_ready") || time.Since(began) > 10*time.Second {
		t.Errorf("after %s: %v", time.Since(began), s)
	}
	server.Signal(syscall.SIGCONT)
	eventually(t, "the queue's depth is there again", func() bool { return scraped(t, web).has("antipode_queue_chunks") })

	start(t, "submit", "--nats", url, jobFile(t, "rotegame-rings.txt", ringText(ringBoards(43, ringChunk/2))), "--out", filepath.Join(t.TempDir(), "out"))
	eventually(t, "a chunk is held", func() bool { return scraped(t, web).sum("antipode_chunks_held") == 1 })
	w.Signal(syscall.SIGTERM)
	w.awaits(t, "finishing what is held")
	readyz(t, web, "stopping: no more chunks are taken\nlane bulk: 0 of 1 slots take chunks")
	if status := w.kill(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d", status)
	}
}
