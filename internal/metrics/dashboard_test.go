package metrics

import (
	"encoding/json"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const (
	jobName      = "antipode" // the job that Prometheus scrapes workers as
	configs      = "../../configs/"
	provisioning = "/etc/grafana/provisioning/" // where configs/grafana is mounted
)

var severities = []string{"critical", "warning"}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	if err := yaml.Unmarshal(read(t, file), into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// rule is an alarm of configs/prometheus/alerts.yml.
type rule struct {
	Alert, Expr         string
	Labels, Annotations map[string]string
}

func readRules(t *testing.T) (rules []rule) {
	t.Helper()
	var file struct{ Groups []struct{ Rules []rule } }
	readYAML(t, configs+"prometheus/alerts.yml", &file)
	for _, g := range file.Groups {
		rules = append(rules, g.Rules...)
	}
	return rules
}

// What alarms ask for is there; docs/metrics.md has a row for each; each says what to
// do about it, and is tested.
func TestAlerts(t *testing.T) {
	e, rules := expose(t), readRules(t)
	tests := string(read(t, configs+"prometheus/alerts_test.yml"))
	is, documented := map[string]string{}, map[string]string{}
	for _, r := range rules {
		is[r.Alert] = r.Labels["severity"]
		for _, problem := range e.check(r.Expr, "") {
			t.Errorf("%s: %s", r.Alert, problem)
		}
		if !slices.Contains(severities, r.Labels["severity"]) {
			t.Errorf("%s: severity %q", r.Alert, r.Labels["severity"])
		}
		if r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
			t.Errorf("%s has no summary, or no description", r.Alert)
		}
		if !strings.Contains(tests, `alertname="`+r.Alert+`", alertstate="firing"`) {
			t.Errorf("%s: alerts_test.yml has no case in which it fires", r.Alert)
		}
	}
	row := regexp.MustCompile("(?m)^\\| `(Antipode[A-Za-z]+)` \\| ([a-z]+) \\|")
	for _, found := range row.FindAllStringSubmatch(string(read(t, "../../docs/metrics.md")), -1) {
		documented[found[1]] = found[2]
	}
	if len(is) == 0 || !maps.Equal(is, documented) {
		t.Errorf("documented\n%s\nrules\n%s", lines(documented), lines(is))
	}
}

// dashboard is what the tests look at of configs/grafana/dashboards/antipode.json.
type dashboard struct {
	UID, Title string
	Time       struct{ From, To string }
	Templating struct {
		List []struct {
			Name, Type string
			Current    struct{ Value string }
		}
	}
	Panels []panel
}

type panel struct {
	ID          int
	Type, Title string
	Description string
	GridPos     struct{ X, Y, W, H int }
	Datasource  struct{ UID string }
	FieldConfig struct{ Defaults struct{ Unit string } }
	Targets     []struct{ RefID, Expr, LegendFormat string }
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	if err := json.Unmarshal(read(t, configs+"grafana/dashboards/antipode.json"), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// What the dashboard asks for is there.
func TestDashboardQueries(t *testing.T) {
	e := expose(t)
	asked := map[string]bool{}
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			for _, metric := range names(target.Expr) {
				asked[metric] = true
			}
			for _, problem := range e.check(target.Expr, target.LegendFormat) {
				t.Errorf("panel %q: %s: %s", p.Title, target.Expr, problem)
			}
			if target.LegendFormat == "" {
				t.Errorf("panel %q: %s: no legend", p.Title, target.Expr)
			}
		}
	}
	for metric := range families(t, full(t)) {
		if !asked[metric] && !asked[metric+"_bucket"] && metric != "antipode_build_info" {
			t.Errorf("no panel shows %s", metric)
		}
	}
}

// units are Grafana's names of those that the panels use.
var units = []string{"short", "none", "s", "bytes", "percentunit", "recps", "reqps", "cps", "wps"}

// The dashboard can be shown: nobody has to see it for that.
func TestDashboardPanels(t *testing.T) {
	d := readDashboard(t)
	if d.UID != "antipode" || d.Title != "Antipode" || !strings.HasPrefix(d.Time.From, "now-") || d.Time.To != "now" {
		t.Errorf("uid %q, title %q, time %v", d.UID, d.Title, d.Time)
	}
	ids, cells := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.ID == 0 {
			t.Errorf("panel %q: id %d is taken", p.Title, p.ID)
		}
		ids[p.ID] = true
		if g := p.GridPos; g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > 24 {
			t.Errorf("panel %q: does not fit: %v", p.Title, g)
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := cells[[2]int{x, y}]; other != "" {
					t.Fatalf("panel %q stands on %q", p.Title, other)
				}
				cells[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		refs := map[string]bool{}
		for _, target := range p.Targets {
			refs[target.RefID] = target.RefID != ""
		}
		if len(p.Targets) == 0 || len(refs) != len(p.Targets) || refs[""] {
			t.Errorf("panel %q: its queries are called %v", p.Title, refs)
		}
		if !slices.Contains([]string{"timeseries", "stat"}, p.Type) || !slices.Contains(units, p.FieldConfig.Defaults.Unit) ||
			p.Description == "" || p.Datasource.UID != "${datasource}" {
			t.Errorf("panel %q: type %q, unit %q, description %q, data source %q", p.Title, p.Type, p.FieldConfig.Defaults.Unit, p.Description, p.Datasource.UID)
		}
	}
}

// Prometheus, its data source in Grafana and the dashboard find each other.
func TestProvisioning(t *testing.T) {
	var prometheus struct {
		Global struct {
			Interval string `yaml:"scrape_interval"`
		}
		Rules   []string `yaml:"rule_files"`
		Scrapes []struct {
			Job string `yaml:"job_name"`
		} `yaml:"scrape_configs"`
	}
	readYAML(t, configs+"prometheus/prometheus.yml", &prometheus)
	if len(prometheus.Scrapes) != 1 || prometheus.Scrapes[0].Job != jobName || !slices.Equal(prometheus.Rules, []string{"alerts.yml"}) {
		t.Errorf("prometheus.yml: %+v", prometheus)
	}
	var sources struct {
		Datasources []struct {
			UID, Type string
			JSONData  struct {
				TimeInterval string `yaml:"timeInterval"`
			} `yaml:"jsonData"`
		}
	}
	readYAML(t, configs+"grafana/datasources/prometheus.yaml", &sources)
	if len(sources.Datasources) != 1 || sources.Datasources[0].Type != "prometheus" || sources.Datasources[0].JSONData.TimeInterval != prometheus.Global.Interval {
		t.Fatalf("data sources: %+v; scrape_interval %s", sources, prometheus.Global.Interval)
	}
	variables := readDashboard(t).Templating.List
	if len(variables) != 1 || variables[0].Name != "datasource" || variables[0].Type != "datasource" || variables[0].Current.Value != sources.Datasources[0].UID {
		t.Errorf("variables %+v, data sources %+v", variables, sources)
	}
	var providers struct {
		Providers []struct {
			Type    string
			Options struct{ Path string }
		}
	}
	readYAML(t, configs+"grafana/dashboards/dashboards.yaml", &providers)
	if len(providers.Providers) != 1 || path.Clean(providers.Providers[0].Options.Path)+"/" != provisioning+"dashboards/" {
		t.Errorf("providers: %+v", providers)
	}
}
