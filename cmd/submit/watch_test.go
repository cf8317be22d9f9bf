package main

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"antipode/internal/job"
	"antipode/internal/queue"
)

// noon is when tests take place.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.Local)

// hostile is what a stranger may call a file, or say.
const hostile = "\x1b[2J\x1b]0;x\a\u202egnp.\u200d漢字漢字 e\u0301 \u009b31m\r\n|"

// atChunk is a job with so many of 1000 records in ten chunks.
func atChunk(id string, chunks int) *queue.Progress {
	p := &queue.Progress{Owner: "public", Job: id, Entry: &queue.Entry{File: "eight-big.txt", Puzzle: "eight", Started: noon.Add(-time.Minute), Records: 1000, Chunks: 10}}
	p.Answered, p.Queued, p.Last = chunks, 10-chunks, noon.Add(-time.Second)
	p.Counts.Records, p.Counts.ByStatus[job.Solved] = 100*chunks, 100*chunks
	return p
}

// busy is a frame of several workers and jobs.
func busy(workers, jobs int) *frame {
	f := &frame{
		View: queue.View{Time: noon, Server: "nats://127.0.0.1:4222", Ready: true, Dead: 3, Lanes: map[queue.Lane]queue.Depth{queue.Bulk: {Pending: 1200, Unacked: 4}}},
		cfg:  queue.WatchConfig{Owner: "public"}, rate: 12345, history: []float64{0, 1, 5, 10}, workers: map[string]float64{}, jobs: map[string]float64{},
	}
	for n := range workers {
		id := fmt.Sprint("worker", n)
		f.Workers = append(f.Workers, queue.Presence{Name: "host-" + id, ID: id, Version: "1.2.3", Slots: 2, Tables: []string{"eight", "swap"}, Doing: &queue.Doing{
			Express: 1, Held: []queue.Held{{Lane: queue.Bulk, Puzzle: "rotegame", Seconds: 75}, {Lane: queue.Bulk, Seconds: 0.25}}, Counts: job.Counts{Records: 4321},
		}})
		f.workers[id] = 6000
	}
	for n := range jobs {
		p := atChunk(fmt.Sprintf("5QZJ2NKXH4T7RA6WEMCB3YV%03d", n), n%11)
		p.Counts.ByStatus[job.Failed] = n
		f.Jobs = append(f.Jobs, p)
		f.jobs[p.Job] = 10
	}
	return f
}

// hostileFrame has strangers' words wherever there are some.
func hostileFrame() *frame {
	f := busy(2, 3)
	f.Server, f.Trouble, f.cfg.Owner = hostile, hostile, hostile
	f.Workers[0].Name, f.Workers[0].Version, f.Workers[0].Tables, f.Workers[0].Doing.Held[0].Puzzle = hostile, hostile, []string{hostile}, hostile
	for _, p := range f.Jobs {
		p.Job, p.Entry.File, p.Entry.Puzzle = hostile, hostile, hostile
	}
	return f
}

func frames() map[string]*frame {
	one, gone, away, reading := busy(2, 1), busy(0, 0), busy(1, 1), busy(1, 0)
	one.cfg.Job, gone.cfg.Job = one.Jobs[0].Job, "J"
	away.Away = noon.Add(-time.Hour)
	reading.Ready = false
	hostileOne := hostileFrame()
	hostileOne.cfg.Job = hostile
	huge := busy(1, 1)
	huge.rate, huge.Dead, huge.More = math.MaxFloat64, math.MaxInt, math.MaxInt-1
	huge.Lanes[queue.Bulk] = queue.Depth{Pending: math.MaxUint64, Unacked: math.MaxInt}
	huge.Jobs[0].Counts.Records, huge.Jobs[0].Counts.ByStatus[job.Invalid] = math.MaxInt, math.MaxInt
	bare := &queue.Progress{Job: "bare", Queued: 1}
	unknown := busy(0, 0)
	unknown.Jobs, unknown.Workers = []*queue.Progress{bare}, []queue.Presence{{Name: "old", Slots: 3}}
	return map[string]*frame{
		"nothing yet": {}, "nobody": busy(0, 0), "some": busy(2, 3), "many": busy(100, 256), "hostile": hostileFrame(), "hostile job": hostileOne,
		"one job": one, "a job that is gone": gone, "away": away, "reading": reading, "huge": huge, "unknown": unknown,
	}
}

// Whatever is to be seen, no line is wider than the terminal, and there are no more
// lines than it has; nothing of what strangers say reaches it but what can be read.
func TestViewFits(t *testing.T) {
	for name, f := range frames() {
		for _, width := range []int{1, 5, 20, 40, 60, 80, 200, 300} {
			for _, height := range []int{1, 2, 3, 5, 6, 9, 15, 24, 60, 500} {
				text := render(f, hostile, true, width, height)
				lines := strings.Split(text, "\n")
				if len(lines) > height {
					t.Errorf("%s, %d×%d: %d lines", name, width, height, len(lines))
				}
				for _, line := range lines {
					if w := ansi.StringWidth(line); w > width {
						t.Errorf("%s, %d×%d: %d columns: %q", name, width, height, w, line)
					}
					if plain := ansi.Strip(line); strings.ContainsAny(plain, "\x1b\a\r\u202e\u200d\u0301\u009b") || strings.Contains(line, "[2J") && !strings.Contains(line, "?[2J") {
						t.Errorf("%s, %d×%d: %q", name, width, height, line)
					}
				}
			}
		}
	}
	if text := render(busy(1, 1), "", true, 0, 10); text != "" {
		t.Errorf("without a width: %q", text)
	}
}

// shows demands that a view has words, or has them not.
func shows(t *testing.T, f *frame, width, height int, want, not []string) {
	t.Helper()
	text := ansi.Strip(render(f, "", true, width, height))
	for _, word := range want {
		if !strings.Contains(text, word) {
			t.Errorf("%d×%d: no %q in\n%s", width, height, word, text)
		}
	}
	for _, word := range not {
		if strings.Contains(text, word) {
			t.Errorf("%d×%d: %q in\n%s", width, height, word, text)
		}
	}
}

func TestViewShows(t *testing.T) {
	all := []string{"connected", "nats://127.0.0.1:4222", "12:00:00", "12,345/s", "▁", "bulk 1,200 + 4", "3 letters", "WORKERS 2", "host-worker0", "2/3", "6,000/s",
		"rotegame 1m15s, json lines 0.2s", "4,321", "1.2.3", "JOBS 3", "5QZJ2NKXH4T7RA6WEMCB3YV002", "running", "queued", "20%", "200/1,000", "1m20s", "2 failed", "eight-big.txt", "q leaves"}
	shows(t, busy(2, 3), 200, 40, all, []string{"more", "away", "Ctrl-C"})
	// What matters least goes first.
	shows(t, busy(2, 3), 80, 24, []string{"connected", "host-worker0", "rotegame 1m15s", "5QZJ2NKX", "running", "█", "20%", "200/1,000", "2 failed"}, []string{"eight-big"})
	shows(t, busy(2, 3), 40, 24, []string{"connected", "host-worker0", "5QZJ2NKX", "20%", "2 failed"}, []string{"░", "1.2.3"})
	shows(t, busy(2, 3), 20, 24, []string{"Antipode", "12,345/s", "host-wor", "5QZJ2NKX", "20%"}, []string{"failed", "6,000/s  "})
	// What finds no room is counted.
	for height := 7; height < 60; height++ {
		text := ansi.Strip(render(busy(100, 256), "", true, 80, height))
		workers, jobs, _ := strings.Cut(text, "JOBS 256")
		for list, all := range map[string]int{workers: 100, jobs: 256} {
			rows := strings.Count(list, "\nhost-") + strings.Count(list, "\n5QZJ")
			more := strings.Contains(list, fmt.Sprintf("\n… %d more\n", all-rows))
			heads := strings.Contains(list, "\nworker ") || strings.Contains(list, "\njob ")
			if heads && !more || more && rows == 0 || rows == 0 && height > 12 {
				t.Errorf("of height %d, with %d of %d:\n%s", height, rows, all, text)
			}
		}
	}
	more := busy(1, 256)
	more.More = 1000
	shows(t, more, 80, 500, []string{"JOBS 1256", "… 1,000 more"}, nil)
	shows(t, busy(100, 256), 80, 7, []string{"Antipode", "JOBS 256", "5QZJ2NKX", "q leaves"}, []string{"more"})
	shows(t, busy(100, 256), 80, 9, []string{"WORKERS 100", "JOBS 256", "5QZJ2NKX", "… 255 more"}, nil)
	shows(t, busy(100, 256), 80, 4, []string{"Antipode", "3 letters"}, []string{"leaves"})
	shows(t, busy(0, 0), 80, 24, []string{"WORKERS 0", "JOBS 0"}, []string{"more"})

	shows(t, frames()["away"], 80, 24, []string{"NATS is away for 1h", "host-worker0", "5QZJ2NKX"}, []string{"connected"})
	shows(t, frames()["reading"], 80, 24, []string{"reading", "connected"}, []string{"JOBS"})
	shows(t, frames()["unknown"], 80, 24, []string{"?/3", "bare", "queued", "0/?"}, nil)
	one := frames()["one job"]
	one.Jobs[0] = atChunk("J", 4)
	one.Jobs[0].Counts.ByStatus[job.Exceeded] = 7
	shows(t, one, 80, 24, []string{"workers  2, 4 of 6 slots busy", "40.0%", "7 exceeded", "chunks", "4 answered, 6 queued, of 10", "400 of 1000", "eight-big.txt", "running"}, []string{"JOBS"})
	shows(t, frames()["a job that is gone"], 80, 24, []string{"does not know the job J"}, nil)
	if text := render(busy(1, 1), "watch out\x1b[2J", false, 80, 24); !strings.Contains(text, "watch out?[2J") || !strings.Contains(text, "Ctrl-C leaves") {
		t.Errorf("what was said is not in\n%s", text)
	}
}

// A rate is that from one growth to another.
func TestMeter(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts []int // one a second
		want   float64
	}{
		{"seen once", []int{7}, unknown},
		{"not grown", []int{7, 7, 7, 7, 7, 7, 7}, 0},
		{"steady", []int{1000, 1010, 1020, 1030, 1040, 1050, 1060, 1070, 1080}, 10},
		{"of the last seconds", []int{0, 1000, 2000, 3000, 3010, 3020, 3030, 3040, 3050}, 10},
		{"chunks of four seconds", []int{0, 0, 0, 0, 40, 40, 40, 40, 80, 80, 80, 80, 120, 120}, 10},
		{"over", []int{0, 10, 20, 20, 20, 20, 20, 20, 20, 20, 20}, 0},
		{"late", []int{0, 10, 20, 30, 40, 50, 50, 50, 50, 50, 50}, 5},
		{"begun anew", []int{5000, 6000, 7000, 0, 10, 20, 30, 40, 50}, 10},
		{"too soon to say", []int{0, 0, 0, 500}, 500. / 3},
	} {
		m := &meter{}
		for i, n := range c.counts {
			m.add(noon.Add(time.Duration(i)*time.Second), n)
		}
		if got := m.rate(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	m := &meter{}
	for i := range 100_000 {
		m.add(noon.Add(time.Duration(i)*time.Second), i)
	}
	if len(m.marks) > 130 {
		t.Errorf("%d marks", len(m.marks))
	}
}

// The rates of a frame are those of who is there; a job's also tells how long it takes.
func TestRates(t *testing.T) {
	r := newRates()
	var f frame
	for i := range 10 {
		v := queue.View{Time: noon.Add(time.Duration(i) * time.Second), Workers: []queue.Presence{{ID: "old"}}, Jobs: []*queue.Progress{atChunk("J", i), atChunk("over", 10)}}
		for n, id := range []string{"a", "b", "gone"} {
			if id == "gone" && i > 5 {
				continue
			}
			v.Workers = append(v.Workers, queue.Presence{ID: id, Doing: &queue.Doing{Held: []queue.Held{{}}, Counts: job.Counts{Records: (n + 1) * 100 * i}}})
		}
		f = r.frame(v, queue.WatchConfig{})
	}
	if f.rate != 300 || f.workers["a"] != 100 || f.workers["b"] != 200 || f.jobs["J"] != 100 || len(f.history) != 10 || len(r.workers) != 2 || len(r.jobs) != 2 {
		t.Errorf("%+v", f)
	}
	if left := f.left(f.Jobs[0]); left != time.Second {
		t.Errorf("%s left, want a second for the last hundred", left)
	}
	if left := f.left(f.Jobs[1]); left != 0 {
		t.Errorf("%s left of what is over", left)
	}
}

// Who had nothing to do is not slow when there is something again.
func TestRateAfterARest(t *testing.T) {
	r := newRates()
	var f frame
	for i := range 400 {
		p, doing := atChunk("J", 0), &queue.Doing{}
		if i > 390 {
			p, doing = atChunk("J", i-390), &queue.Doing{Held: []queue.Held{{}}, Counts: job.Counts{Records: 100 * (i - 390)}}
		}
		f = r.frame(queue.View{Time: noon.Add(time.Duration(i) * time.Second), Workers: []queue.Presence{{ID: "a", Doing: doing}}, Jobs: []*queue.Progress{p}}, queue.WatchConfig{})
		if want := 100.; i > 390 && (f.rate != want || f.jobs["J"] != want) || i == 300 && f.rate != 0 {
			t.Errorf("after %d s: %v, of the job %v", i, f.rate, f.jobs["J"])
		}
	}
	// One that is done between two looks is seen.
	f = r.frame(queue.View{Time: noon.Add(400 * time.Second), Workers: []queue.Presence{{ID: "a", Doing: &queue.Doing{Counts: job.Counts{Records: 900}}}}}, queue.WatchConfig{})
	f = r.frame(queue.View{Time: noon.Add(401 * time.Second), Workers: []queue.Presence{{ID: "a", Doing: &queue.Doing{Counts: job.Counts{Records: 1_000_900}}}}}, queue.WatchConfig{})
	if f.rate != 1e6 {
		t.Errorf("a million in a second: %v", f.rate)
	}
}

// printed are the lines of frames that follow one another.
func printed(fs ...*frame) string {
	var text strings.Builder
	var l lines
	for _, f := range fs {
		l.print(&text, f)
	}
	return text.String()
}

// later is a frame so many seconds after noon.
func later(f frame, seconds int) *frame {
	f.Time = noon.Add(time.Duration(seconds) * time.Second)
	return &f
}

// Only what changed is printed, and something at least each half minute.
func TestLines(t *testing.T) {
	f := *busy(2, 0)
	f.Jobs = []*queue.Progress{atChunk("J", 4), atChunk("over", 10)}
	f.Jobs[0].Counts.ByStatus[job.Failed] = 2
	f.jobs["J"] = 10
	next := f
	next.Jobs = []*queue.Progress{atChunk("J", 5), f.Jobs[1]}
	next.Lanes = map[queue.Lane]queue.Depth{queue.Express: {Unacked: 1}}
	away := next
	away.Away = noon.Add(4 * time.Second)
	reading := frame{View: queue.View{Time: noon}}
	const server = "workers=2 slots=4/6 bulk=1200+4 express=0+0 rate=12345/s dead=3\n"
	const first = "job=J state=running records=400/1000 chunks=4 queued=6 solved=400 unreachable=0 invalid=0 exceeded=0 failed=2 rate=10/s left=60s file=\"eight-big.txt\"\n"
	const second = "workers=2 slots=4/6 bulk=0+0 express=0+1 rate=12345/s dead=3\n"
	const job5 = "job=J state=running records=500/1000 chunks=5 queued=5 solved=500 unreachable=0 invalid=0 exceeded=0 failed=0 rate=10/s left=50s file=\"eight-big.txt\"\n"
	want := "12:00:00 reading=jobs\n12:00:01 " + server + "12:00:01 " + first + "12:00:03 " + second + "12:00:03 " + job5 +
		"12:00:05 nats=away seconds=1\n12:00:35 nats=away seconds=31\n12:00:36 " + second + "12:01:06 " + second + "12:01:06 " + job5
	got := printed(&reading, later(f, 1), later(f, 2), later(next, 3), later(next, 4), later(away, 5), later(away, 6), later(away, 35), later(next, 36), later(next, 37), later(next, 66), later(next, 67))
	if got != want {
		t.Errorf("lines\n%s\nwant\n%s", got, want)
	}
	done := next
	done.Jobs = []*queue.Progress{atChunk("J", 10), f.Jobs[1], atChunk("new", 10)}
	got = printed(later(next, 0), later(done, 1))
	if !strings.Contains(got, "job=J state=answered") || !strings.Contains(got, "job=new state=answered") || strings.Contains(got, "job=over") {
		t.Errorf("lines\n%s", got)
	}
	one := done
	one.cfg.Job = "new"
	one.Jobs = done.Jobs[2:]
	if got := printed(later(one, 0)); !strings.Contains(got, "job=new state=answered") {
		t.Errorf("of a job that is over before: %s", got)
	}
	trouble := f
	trouble.Trouble = "what is \x1b[2Jwrong"
	got = printed(later(f, 0), later(trouble, 1), later(trouble, 2), later(f, 3))
	if want := "12:00:00 " + server + "12:00:00 " + first + `12:00:01 trouble="what is \x1b[2Jwrong"` + "\n"; got != want {
		t.Errorf("lines\n%s\nwant\n%s", got, want)
	}
	strange := hostileFrame()
	strange.Trouble = ""
	for n, p := range strange.Jobs {
		p.Job = fmt.Sprint("J", n) // a token, or it is no job
	}
	if got := printed(later(*strange, 0)); strings.Count(got, "\n") != 4 || strings.ContainsAny(got, "\x1b\a\r\u202e\u009b") {
		t.Errorf("lines %q", got)
	}
}

// The end of a job is the end of its watch, with the exit status of what became of it.
func TestWatchEnds(t *testing.T) {
	with := func(p *queue.Progress, change func(*queue.Progress)) *queue.Progress {
		change(p)
		return p
	}
	finish := func(p *queue.Progress) { p.Entry.Finished = noon }
	for _, c := range []struct {
		name    string
		jobs    []*queue.Progress // one a second
		over    int               // which of these is the end, -1 none
		status  int
		awayOne bool
	}{
		{"running", []*queue.Progress{atChunk("J", 0), atChunk("J", 3)}, -1, 0, false},
		{"answered", []*queue.Progress{atChunk("J", 3), atChunk("J", 10)}, 1, 0, false},
		{"answered, while the server is away", []*queue.Progress{atChunk("J", 10)}, -1, 0, true},
		{"finished", []*queue.Progress{with(atChunk("J", 10), finish)}, 0, 0, false},
		{"finished, the last answers come late", []*queue.Progress{with(atChunk("J", 9), finish), with(atChunk("J", 10), func(p *queue.Progress) {
			finish(p)
			p.Counts.ByStatus[job.Invalid]++
		})}, 1, 1, false},
		{"finished, its answers are gone", []*queue.Progress{with(atChunk("J", 0), finish), with(atChunk("J", 0), finish), with(atChunk("J", 0), finish),
			with(atChunk("J", 0), finish), with(atChunk("J", 0), finish), with(atChunk("J", 0), finish)}, 5, 0, false},
		{"some have failed", []*queue.Progress{with(atChunk("J", 10), func(p *queue.Progress) { p.Counts.ByStatus[job.Failed] = 1 })}, 0, 1, false},
		{"some were exceeded", []*queue.Progress{with(atChunk("J", 10), func(p *queue.Progress) { p.Counts.ByStatus[job.Exceeded] = 1 })}, 0, 1, false},
		{"some did not travel", []*queue.Progress{with(atChunk("J", 10), func(p *queue.Progress) { p.Entry.Records++ })}, 0, 1, false},
		{"cancelled", []*queue.Progress{with(atChunk("J", 3), func(p *queue.Progress) { p.Cancelled = true })}, 0, 3, false},
		{"never there", []*queue.Progress{nil}, 0, 2, false},
		{"lost for a while", []*queue.Progress{atChunk("J", 3), nil, nil, atChunk("J", 10)}, 3, 0, false},
	} {
		w := &watcher{submission: &submission{}, cfg: queue.WatchConfig{Owner: "public", Job: "J"}}
		over := -1
		for i, p := range c.jobs {
			v := queue.View{Time: noon.Add(time.Duration(i) * time.Second), Ready: true}
			if c.awayOne {
				v.Away = noon
			}
			if p != nil {
				v.Jobs = []*queue.Progress{p}
			}
			if w.over(v) {
				over = i
				break
			}
		}
		status := 0
		if exit := (*exitError)(nil); errors.As(w.end, &exit) {
			status = exit.status
		}
		if over != c.over || over >= 0 && status != c.status {
			t.Errorf("%s: over at %d with %d, want at %d with %d", c.name, over, status, c.over, c.status)
		}
	}
	w := &watcher{submission: &submission{}, cfg: queue.WatchConfig{Owner: "public", Job: "J"}}
	w.over(queue.View{Time: noon, Ready: true, Jobs: []*queue.Progress{atChunk("J", 3)}})
	if w.over(queue.View{Time: noon.Add(time.Second), Ready: true}) || !w.over(queue.View{Time: noon.Add(3 * time.Minute), Ready: true}) {
		t.Error("a job that NATS has lost is waited for, and not for ever")
	}
	if w := (&watcher{submission: &submission{}}); w.over(queue.View{Ready: true}) {
		t.Error("the watch of all jobs has no end")
	}
}
