package main

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize"

	"antipode/internal/job"
	"antipode/internal/queue"
)

// The colours are the terminal's own, so that they suit it.
var (
	bold  = ansi.NewStyle().Bold()
	faint = ansi.NewStyle().Faint()
	good  = ansi.NewStyle().ForegroundColor(ansi.Green)
	warn  = ansi.NewStyle().ForegroundColor(ansi.Yellow)
	alarm = ansi.NewStyle().ForegroundColor(ansi.Red).Bold()
)

// render makes the view of a frame: at most height lines of at most width columns.
func render(f *frame, said string, keys bool, width, height int) string {
	if width < 1 || height < 1 {
		return ""
	}
	lines := top(f, said, width)
	foot := []string{faint.Styled(leaving(keys))}
	if height < 6 {
		foot = nil
	}
	room := height - len(foot)
	if rest := room - len(lines); f.Ready && rest > 0 {
		if f.cfg.Job != "" {
			lines = append(lines, oneJobView(f, width, rest)...)
		} else {
			lines = append(lines, lists(f, width, rest)...)
		}
	}
	lines = lines[:min(len(lines), room)]
	for len(foot) > 0 && len(lines) < room {
		lines = append(lines, "")
	}
	lines = append(lines, foot...)
	for i, line := range lines {
		lines[i] = cut(line, width)
	}
	return strings.Join(lines, "\n")
}

func leaving(keys bool) string {
	if keys {
		return "q leaves"
	}
	return "Ctrl-C leaves"
}

// top is what is always seen: the server, the rate, the queue, what went wrong.
func top(f *frame, said string, width int) []string {
	if f.Time.IsZero() {
		return []string{bold.Styled("Antipode") + " connecting"}
	}
	rate := "rate " + bold.Styled(perSecond(f.rate))
	lines := []string{headline(f, width), rate + "  " + spark(f.history, width-ansi.StringWidth(rate)-2), queueLine(f)}
	if f.Dead > 0 {
		lines = append(lines, warn.Styled(fmt.Sprintf("dead   %s letters", humanize.Comma(int64(f.Dead))))+faint.Styled("  submit dead list"))
	}
	switch {
	case f.Trouble != "" && f.Away.IsZero():
		lines = append(lines, alarm.Styled("jobs   "+clean(f.Trouble)))
	case said != "":
		lines = append(lines, warn.Styled(clean(said)))
	}
	if !f.Ready && f.Away.IsZero() {
		lines = append(lines, "reading jobs …")
	}
	return lines
}

func headline(f *frame, width int) string {
	state := good.Styled("connected")
	if !f.Away.IsZero() {
		state = alarm.Styled("NATS is away") + " for " + short(f.Time.Sub(f.Away))
	}
	return ends(bold.Styled("Antipode")+" "+state+"  "+faint.Styled(clean(f.Server)), f.Time.Format(time.TimeOnly), width)
}

func queueLine(f *frame) string {
	text := "queue"
	for _, lane := range []queue.Lane{queue.Bulk, queue.Express} {
		d := f.Lanes[lane]
		text += fmt.Sprintf("  %s %s + %s", lane, humanize.Comma(int64(d.Pending)), humanize.Comma(int64(d.Unacked)))
	}
	return text + faint.Styled("  chunks that wait + are with workers")
}

// lists are the workers and the jobs, as many as there is room for.
func lists(f *frame, width, room int) []string {
	workers, jobs := workersList(f), jobsList(f)
	gap := 0
	if room >= 10 {
		gap = 1
	}
	room -= 2 * gap
	blank, top := make([]string, gap), workers.lines(width, max(room-jobs.height(), room*2/5))
	return slices.Concat(blank, top, blank, jobs.lines(width, room-len(top)))
}

// listing is a table with a title.
type listing struct {
	title   string
	columns []column
	rows    [][]string // the first is the heads
	more    int        // rows that are left out already
}

// height is the lines of all of it.
func (l *listing) height() int {
	n := 1 + len(l.rows)
	if len(l.rows) == 1 {
		n = 1
	}
	if l.more > 0 {
		n++
	}
	return n
}

// lines are at most n of it. Where there is no room for all, the heads go first, and the
// last line says how many rows are left out.
func (l *listing) lines(width, n int) []string {
	rows, more := l.rows, l.more
	if n >= l.height() {
		n = l.height()
	} else if n > 1 {
		fit := n - 1 // without the title
		if n >= 3 {
			fit-- // and what is left out
		}
		if n >= 4 {
			fit--
		}
		more += len(rows) - 1 - fit
		rows = rows[:1+fit]
	}
	if n < 2 {
		return []string{l.title}[:max(n, 0)]
	}
	lines := table(rows, l.columns, width)
	if n < 4 && n < l.height() {
		lines = lines[1:]
	}
	lines = append([]string{l.title}, lines...)
	if more > 0 && n >= 3 {
		lines = append(lines, faint.Styled(fmt.Sprintf("… %s more", humanize.Comma(int64(more)))))
	}
	return lines
}

func workersList(f *frame) *listing {
	held, slots := slotsOf(f.Workers)
	title := bold.Styled(fmt.Sprintf("WORKERS %d", len(f.Workers)))
	if slots > 0 {
		title += fmt.Sprintf("  %d of %d slots busy", held, slots)
	}
	rows := [][]string{{"worker", "busy", "rate", "works on", "answered", "version", "tables"}}
	for _, p := range f.Workers {
		rows = append(rows, workerRow(f, p))
	}
	return &listing{title: title, rows: rows, columns: []column{
		{least: 8, keep: 9, spare: 1}, {keep: 8}, {keep: 7, right: true}, {least: 12, keep: 6, spare: 2}, {keep: 3, right: true}, {keep: 2}, {least: 10, keep: 1, spare: 3},
	}}
}

func workerRow(f *frame, p queue.Presence) []string {
	busy, rate, at, answered := fmt.Sprintf("?/%d", p.Slots), "-", "", "-"
	if d := p.Doing; d != nil {
		busy = fmt.Sprintf("%d/%d", len(d.Held), p.Slots+d.Express)
		rate = perSecond(f.workers[p.ID])
		answered = humanize.Comma(int64(d.Counts.Records))
		at = holds(d.Held)
	}
	return []string{clean(p.Name), busy, rate, at, answered, clean(p.Version), clean(orNone(strings.Join(p.Tables, " ")))}
}

// holds says what slots work on, and for how long, the longest first.
func holds(held []queue.Held) string {
	if len(held) == 0 {
		return faint.Styled("idle")
	}
	var all []string
	for _, h := range held {
		name := h.Puzzle
		if name == "" {
			name = "json lines"
		}
		all = append(all, clean(name)+" "+brief(time.Duration(h.Seconds*float64(time.Second))))
	}
	return strings.Join(all, ", ")
}

func jobsList(f *frame) *listing {
	title := bold.Styled(fmt.Sprintf("JOBS %d", len(f.Jobs)+f.More)) + "  of " + clean(f.cfg.Owner)
	if len(f.Jobs) == 0 {
		title += " in the last three days"
	}
	rows := [][]string{{"job", "state", "", "", "records", "rate", "left", "flaws", "age", "file"}}
	for _, p := range f.Jobs {
		part, known := done(p)
		bar, percent := "", ""
		if known {
			bar, percent = progressBar(part, 10), fmt.Sprintf("%.0f%%", 100*part)
		}
		rows = append(rows, []string{clean(p.Job), coloured(p.State()), bar, percent, counted(p), now(f, p), remaining(f, p), flaws(p), age(p), clean(path.Base(filepath.ToSlash(file(p))))})
	}
	return &listing{title: title, rows: rows, more: f.More, columns: []column{
		{least: 9, keep: 10, spare: 2}, {keep: 8}, {keep: 3}, {keep: 9, right: true}, {keep: 6, right: true}, {keep: 5, right: true},
		{keep: 4, right: true}, {keep: 7}, {keep: 1, right: true}, {least: 10, keep: 2, spare: 1},
	}}
}

// oneJobView is all that is known of a job; workers in a line.
func oneJobView(f *frame, width, room int) []string {
	held, slots := slotsOf(f.Workers)
	lines := []string{fmt.Sprintf("workers  %d, %d of %d slots busy", len(f.Workers), held, slots)}
	if len(f.Jobs) == 0 {
		return append(lines, warn.Styled("NATS does not know the job "+clean(f.cfg.Job)+" any more"))
	}
	p := f.Jobs[0]
	if part, known := done(p); known {
		percent := fmt.Sprintf(" %.1f%%", 100*part)
		lines = append(lines, progressBar(part, max(1, min(60, width-len(percent))))+percent)
	}
	moment := []string{now(f, p), remaining(f, p), flaws(p)}
	if moment[1] != "" {
		moment[1] += " left"
	}
	lines = append(lines, strings.Join(slices.DeleteFunc(moment, func(s string) bool { return s == "" }), ", "))
	if room > 12 {
		lines = append([]string{""}, append(lines, "")...)
	}
	var text bytes.Buffer
	describe(&text, p)
	for line := range strings.Lines(text.String()) {
		lines = append(lines, clean(strings.TrimRight(line, "\n")))
	}
	return lines[:min(len(lines), room)]
}

// done is the part of a job that is done.
func done(p *queue.Progress) (part float64, known bool) {
	switch e := p.Entry; {
	case p.Finished():
		return 1, true
	case e == nil || e.Records <= 0:
		return 0, false
	default:
		return min(1, float64(p.Counts.Records)/float64(e.Records)), true
	}
}

// counted is records with marks of thousands, in few columns.
func counted(p *queue.Progress) string {
	done, all := p.Counts.Records, "?"
	if e := p.Entry; e != nil && e.Records > 0 {
		all = humanize.Comma(int64(e.Records))
		if p.Finished() {
			done = e.Records
		}
	}
	return humanize.Comma(int64(done)) + "/" + all
}

func now(f *frame, p *queue.Progress) string {
	if p.Over() {
		return ""
	}
	return perSecond(f.jobs[p.Job])
}

func remaining(f *frame, p *queue.Progress) string {
	if left := f.left(p); left > 0 {
		return brief(left)
	}
	return ""
}

// flaws are the records that have no answer, by why.
func flaws(p *queue.Progress) string {
	var all []string
	for _, status := range []job.Status{job.Failed, job.Exceeded, job.Invalid} {
		if n := p.Counts.ByStatus[status]; n > 0 {
			all = append(all, fmt.Sprintf("%s %s", humanize.Comma(int64(n)), status))
		}
	}
	if all == nil {
		return ""
	}
	return warn.Styled(strings.Join(all, " "))
}

func coloured(state string) string {
	switch state {
	case queue.StateRunning:
		return good.Styled(state)
	case queue.StateCancelled:
		return warn.Styled(state)
	}
	return state
}
