package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize"
)

// clean makes words of strangers fit for a terminal: nothing in them moves the cursor,
// changes the order of what is read, or takes no column.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || unicode.Is(unicode.M, r) {
			return '?'
		}
		return r
	}, s)
}

// cut cuts a line to a width.
func cut(line string, width int) string { return ansi.Truncate(line, width, "…") }

// ends are two words at the ends of a line; the second goes where there is no room.
func ends(left, right string, width int) string {
	gap := width - ansi.StringWidth(left) - ansi.StringWidth(right)
	if right == "" {
		return cut(left, width)
	}
	if gap < 2 {
		room := width - ansi.StringWidth(right) - 1
		if room < 20 {
			return cut(left, width)
		}
		return ends(cut(left, room-1), right, width)
	}
	return left + strings.Repeat(" ", gap) + right
}

// column says how a column of a table gives way.
type column struct {
	keep  int  // which stays longest: the least goes first
	least int  // columns of the terminal that it can be cut to; 0: it is not cut
	spare int  // of those, which gets room that is left: the least comes first
	right bool // numbers
}

// table lays rows out in a width; the first is the heads. Columns that are empty or find
// no room are left out, then those that can be cut are.
func table(rows [][]string, columns []column, width int) []string {
	gap := 2
	if width < 60 {
		gap = 1
	}
	natural := make([]int, len(columns))
	for c := range columns {
		empty := true
		for i, row := range rows {
			natural[c] = max(natural[c], ansi.StringWidth(row[c]))
			empty = empty && (i == 0 || row[c] == "" || row[c] == "-")
		}
		if empty {
			natural[c] = 0
		}
	}
	widths, total := make([]int, len(columns)), -gap
	for c := range columns {
		if widths[c] = natural[c]; columns[c].least > 0 {
			widths[c] = min(natural[c], columns[c].least)
		}
		if widths[c] > 0 {
			total += widths[c] + gap
		}
	}
	order := make([]int, len(columns))
	for c := range order {
		order[c] = c
	}
	slices.SortFunc(order, func(a, b int) int { return columns[a].keep - columns[b].keep })
	for _, c := range order[:len(order)-1] {
		if total > width && widths[c] > 0 {
			total -= widths[c] + gap
			widths[c] = 0
		}
	}
	slices.SortFunc(order, func(a, b int) int { return columns[a].spare - columns[b].spare })
	for _, c := range order {
		if spare := min(width-total, natural[c]-widths[c]); widths[c] > 0 && spare > 0 {
			widths[c] += spare
			total += spare
		}
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		var cells []string
		for c, cell := range row {
			if widths[c] > 0 {
				cells = append(cells, padded(cell, widths[c], columns[c].right))
			}
		}
		lines[i] = strings.TrimRight(strings.Join(cells, strings.Repeat(" ", gap)), " ")
	}
	lines[0] = faint.Styled(lines[0])
	return lines
}

func padded(cell string, width int, right bool) string {
	cell = cut(cell, width)
	space := strings.Repeat(" ", max(0, width-ansi.StringWidth(cell)))
	if right {
		return space + cell
	}
	return cell + space
}

// progressBar is a bar of so many columns.
func progressBar(done float64, width int) string {
	full := int(done * float64(width))
	return good.Styled(strings.Repeat("█", full)) + faint.Styled(strings.Repeat("░", width-full))
}

// spark is the last of a series, a column each, the highest being full.
func spark(series []float64, width int) string {
	const levels = "▁▂▃▄▅▆▇█"
	width = min(width, 60)
	if width < 4 {
		return ""
	}
	series = series[max(0, len(series)-width):]
	most := slices.Max(append(slices.Clone(series), 0))
	if most == 0 {
		return ""
	}
	var text strings.Builder
	for _, v := range series {
		if v <= 0 {
			text.WriteByte(' ')
			continue
		}
		level := int(math.Ceil(v/most*8)) - 1
		text.WriteString(string([]rune(levels)[max(0, min(level, 7))]))
	}
	return text.String()
}

// perSecond is a rate with three figures or more.
func perSecond(rate float64) string {
	switch {
	case rate < 0:
		return "-"
	case rate == 0:
		return "0/s"
	case rate < 10:
		return fmt.Sprintf("%.2g/s", rate)
	}
	return humanize.Comma(int64(math.Round(rate))) + "/s"
}

// brief is a time in five columns or fewer, as 1.5s, 12s, 3m20s, 5h20m, 3d.
func brief(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", max(d, 0).Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0fs", d.Seconds())
	case d < 100*time.Minute:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
