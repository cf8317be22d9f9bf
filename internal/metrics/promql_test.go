package metrics

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// exposed are the metrics that a query may name: by name their labels, and by label
// the values that it is known to have; nil where any value may be.
type exposed map[string]map[string][]string

// target are the labels that Prometheus gives to every series that it scrapes.
var target = map[string][]string{"job": {jobName}, "instance": nil}

// expose returns what a worker exposes in which everything has happened, under the
// names that queries use.
func expose(t *testing.T) exposed {
	t.Helper()
	all, err := full(t).registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	e := exposed{"up": {}, "ALERTS": {"alertname": nil, "alertstate": {"pending", "firing"}, "severity": severities}}
	for _, f := range all {
		labels := map[string][]string{}
		for _, s := range f.Metric {
			for _, l := range s.Label {
				labels[l.GetName()] = append(labels[l.GetName()], l.GetValue())
			}
		}
		if f.GetType().String() != "HISTOGRAM" {
			e[f.GetName()] = labels
			continue
		}
		e[f.GetName()+"_sum"], e[f.GetName()+"_count"] = labels, labels
		e[f.GetName()+"_bucket"] = map[string][]string{"le": nil}
		for name, values := range labels {
			e[f.GetName()+"_bucket"][name] = values
		}
	}
	return e
}

// values returns the known values of a metric's label, and whether it has that label.
func (e exposed) values(metric, label string) ([]string, bool) {
	if values, is := target[label]; is {
		return values, true
	}
	values, is := e[metric][label]
	return values, is
}

// words are those of PromQL that the project's queries use.
var words = strings.Fields("absent and by changes count group_left histogram_quantile increase last_over_time max offset on or rate round sum time unless vector")

var (
	selector  = regexp.MustCompile(`([a-zA-Z_:][a-zA-Z0-9_:]*)\s*\{([^}]*)\}`)
	matcher   = regexp.MustCompile(`^\s*([a-z_]+)\s*(=~|!~|!=|=)\s*(?:"([^"]*)"|'([^']*)')\s*$`)
	grouping  = regexp.MustCompile(`\b(by|on|group_left)\s*\(([^)]*)\)`)
	window    = regexp.MustCompile(`\[[^\]]*\]|\boffset\s+[0-9a-z]+`)
	aggregate = regexp.MustCompile(`\b(sum|max|count|round)\b`)
	name      = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)
	legend    = regexp.MustCompile(`\{\{([^}]*)\}\}`)
)

// names returns the metrics of an expression, and whatever else is no word.
func names(expr string) []string {
	bare := window.ReplaceAllString(grouping.ReplaceAllString(selector.ReplaceAllString(expr, "$1"), ""), "")
	return slices.DeleteFunc(name.FindAllString(bare, -1), func(word string) bool { return slices.Contains(words, word) })
}

// check says what is wrong with an expression, and with the legend of its series.
func (e exposed) check(expr, title string) (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	all := names(expr)
	if len(all) == 0 {
		complain("no metric")
	}
	for _, metric := range all {
		elsewhere := runtime.GOOS != "linux" && strings.HasPrefix(metric, "process_") // what there is differs by system
		if _, is := e[metric]; !is && !elsewhere {
			complain("no metric %s", metric)
		}
	}
	for _, found := range selector.FindAllStringSubmatch(expr, -1) {
		for _, one := range strings.Split(found[2], ",") {
			if problem := e.match(found[1], one); problem != "" {
				complain("%s", problem)
			}
		}
	}
	shown := map[string]bool{} // labels that the result may have
	for _, at := range grouping.FindAllStringSubmatchIndex(expr, -1) {
		inner := names(expr)
		if expr[at[2]:at[3]] == "by" {
			inner = names(argument(expr[at[1]:]))
		}
		for _, label := range strings.FieldsFunc(expr[at[4]:at[5]], func(r rune) bool { return r == ',' || r == ' ' }) {
			shown[label] = true
			if !slices.ContainsFunc(inner, func(metric string) bool { _, is := e.values(metric, label); return is }) {
				complain("%v have no label %s", inner, label)
			}
		}
	}
	for _, found := range legend.FindAllStringSubmatch(title, -1) {
		is := shown[found[1]]
		if !aggregate.MatchString(expr) {
			_, is = e.values(all[0], found[1])
		}
		if !is {
			complain("the legend names %s, which the series have not", found[1])
		}
	}
	return wrong
}

// argument returns what stands in the first parentheses of a text.
func argument(text string) string {
	depth := 0
	for i, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return text[:i]
			}
		}
	}
	return text
}

// match says what is wrong with a matcher of a metric, "" where nothing is.
func (e exposed) match(metric, text string) string {
	m := matcher.FindStringSubmatch(text)
	if m == nil {
		return fmt.Sprintf("%s is no matcher", text)
	}
	known, is := e.values(metric, m[1])
	if !is {
		return fmt.Sprintf("%s has no label %s", metric, m[1])
	}
	wanted := []string{m[3] + m[4]}
	if strings.HasSuffix(m[2], "~") {
		wanted = strings.Split(wanted[0], "|")
	}
	for _, want := range wanted {
		like, err := regexp.Compile("^(?:" + want + ")$")
		if err != nil {
			return err.Error()
		}
		if known != nil && !slices.ContainsFunc(known, like.MatchString) {
			return fmt.Sprintf("%s of %s is never %s", m[1], metric, want)
		}
	}
	return ""
}

// What is wrong with queries is found.
func TestQueriesAreChecked(t *testing.T) {
	e := expose(t)
	for _, q := range []struct{ expr, legend string }{
		{"antipode_raedy == 0", ""}, {"raedy == 0", ""}, {"sum(rate(antipode_stage_seconds[5m]))", ""}, {"rate(antipode_ready_sum[5m])", ""},
		{"antipode_queue_chunks{state='waiting'}", ""}, {"antipode_queue_chunks{status='pending'}", ""}, {"antipode_records_total{status=~'failed|exceded'}", ""},
		{"antipode_chunks_total{outcome!='answred'}", ""}, {`up{job="workers"}`, ""}, {"sum by (lane) (antipode_ready)", ""},
		{"sum by (place) (antipode_cache_misses_total) / on (lane) sum by (place) (antipode_cache_hits_total)", ""},
		{"histogram_quantile(0.5, sum by (le) (antipode_question_seconds_sum))", ""}, {"antipode_ready", "{{lane}}"},
		{"sum by (lane) (antipode_slots)", "{{state}}"}, {"sum(antipode_slots)", "{{lane}}"}, {"vector(0)", ""}, {"process_resident_bytes", ""},
	} {
		if len(e.check(q.expr, q.legend)) == 0 && (runtime.GOOS == "linux" || !strings.HasPrefix(q.expr, "process_")) {
			t.Errorf("%s, %q: nothing is wrong", q.expr, q.legend)
		}
	}
}
