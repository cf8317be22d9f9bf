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

	"antipode/internal/job"
)

// clean makes words of strangers fit for a cell: besides what job.Printable does, nothing
// in them takes no column.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.M, r) {
			return '?'
		}
		return r
	}, job.Printable(s))
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

// table lays rows out in a width; the first is the heads.
func table(rows [][]string, columns []column, width int) []string {
	gap := 2
	if width < 60 {
		gap = 1
	}
	widths := share(naturals(rows, len(columns)), columns, width, gap)
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

// naturals are how wide columns would be; 0 where nothing is in one.
func naturals(rows [][]string, columns int) []int {
	widths := make([]int, columns)
	for c := range widths {
		for _, row := range rows[1:] {
			if cell := row[c]; cell != "" && cell != "-" {
				widths[c] = max(widths[c], ansi.StringWidth(cell))
			}
		}
		if widths[c] > 0 {
			widths[c] = max(widths[c], ansi.StringWidth(rows[0][c]))
		}
	}
	return widths
}

// share gives columns their widths, with gaps between: first the least that each can do
// with, where those go for which there is no room, then what is left.
func share(natural []int, columns []column, width, gap int) []int {
	widths, left, order := make([]int, len(columns)), width+gap, make([]int, len(columns))
	for c, column := range columns {
		order[c] = c
		if widths[c] = natural[c]; column.least > 0 {
			widths[c] = min(natural[c], column.least)
		}
		if widths[c] > 0 {
			left -= widths[c] + gap
		}
	}
	slices.SortFunc(order, func(a, b int) int { return columns[a].keep - columns[b].keep })
	for _, c := range order[:len(order)-1] {
		if left < 0 && widths[c] > 0 {
			left += widths[c] + gap
			widths[c] = 0
		}
	}
	slices.SortFunc(order, func(a, b int) int { return columns[a].spare - columns[b].spare })
	for _, c := range order {
		if spare := min(left, natural[c]-widths[c]); widths[c] > 0 && spare > 0 {
			widths[c] += spare
			left -= spare
		}
	}
	return widths
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
