package main

import (
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/goccy/go-yaml"
	"github.com/nats-io/nats-server/v2/server"

	"antipode/internal/config"
	"antipode/internal/worker"
)

// service is what docker-compose.yml says of one.
type service struct {
	Environment map[string]string `yaml:"environment"`
	Limit       string            `yaml:"mem_limit"`
	Grace       string            `yaml:"stop_grace_period"`
}

var (
	// compose is a variable with its default.
	compose = regexp.MustCompile(`\$\{([A-Z_]+)(:-([^}]*))?\}`)
	// example is one that .env.example shows.
	example = regexp.MustCompile(`(?m)^#?([A-Z_]+)=(.*)$`)
)

// composed reads docker-compose.yml as it is where nothing is set but the passwords,
// unless that is "".
func composed(t *testing.T, password string) map[string]service {
	t.Helper()
	var file struct {
		Services map[string]service `yaml:"services"`
	}
	text := compose.ReplaceAllStringFunc(read(t, "../../docker-compose.yml"), func(variable string) string {
		if password != "" && strings.Contains(variable, "_PASSWORD") {
			return password
		}
		return compose.FindStringSubmatch(variable)[3]
	})
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	return file.Services
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A container of a worker has the memory that its settings let it take, and the time
// to finish what it holds. Every variable of it is a setting: others are ignored.
func TestComposedWorker(t *testing.T) {
	s := composed(t, "")["worker"]
	for name, value := range s.Environment {
		t.Setenv(name, value)
	}
	cfg, err := config.LoadWorker(nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	settings := strings.Builder{}
	if err := config.PrintWorker(&settings, nil, nil, ""); err != nil {
		t.Fatal(err)
	}
	for name := range s.Environment {
		if !strings.Contains(settings.String(), "variable "+name+"\n") {
			t.Errorf("%s is no setting of worker", name)
		}
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	boundHeap(cfg)
	limit, err := humanize.ParseBytes(strings.Replace(s.Limit, "m", "MiB", 1))
	if most := int64(cfg.Memory) + debug.SetMemoryLimit(-1); err != nil || most > int64(limit) {
		t.Errorf("mem_limit is %s, %v; a worker of %d slots may take %s", s.Limit, err, worker.Slots(cfg.Slots), humanize.IBytes(uint64(most)))
	}
	if grace, err := time.ParseDuration(s.Grace); err != nil || grace < cfg.Drain+2*closeTime {
		t.Errorf("stop_grace_period is %s, %v; a worker needs %s, and to close its connections", s.Grace, err, cfg.Drain)
	}
}

// A password is one for the server, too, whatever it looks like: in a variable that its
// configuration names, 123 would be a number, and what follows a comma another setting.
func TestComposedPasswords(t *testing.T) {
	for _, password := range []string{"123", "1k", "true", "four words, and 1 number #{"} {
		for name, value := range composed(t, password)["nats"].Environment {
			t.Setenv(name, value)
		}
		t.Setenv("ANTIPODE_ROUTES", "[]") // addresses, where not everything will do
		got, err := server.ProcessConfigFile("../../configs/nats-cluster.conf")
		if err != nil {
			t.Errorf("password %q: %v", password, err)
			continue
		}
		told := map[string]string{"route": got.Cluster.Password}
		for _, user := range got.Users {
			told[user.Username] = user.Password
		}
		if want := map[string]string{"worker": password, "operator": password, "public": "", "route": password}; !maps.Equal(told, want) {
			t.Errorf("passwords %q, want %q", told, want)
		}
	}
}

// .env.example has every variable of docker-compose.yml that is for its user to set,
// with its default; configs/cluster.env has the others.
func TestEnvExample(t *testing.T) {
	shown := map[string]string{}
	for _, name := range []string{"../../.env.example", "../../configs/cluster.env"} {
		for _, m := range example.FindAllStringSubmatch(read(t, name), -1) {
			shown[m[1]] = m[2]
		}
	}
	if !strings.HasPrefix(read(t, "../../configs/cluster.env"), "\n") {
		t.Error("cluster.env is appended to a file whose last line may lack its end")
	}
	used := map[string]bool{"COMPOSE_PROFILES": true}
	for _, m := range compose.FindAllStringSubmatch(read(t, "../../docker-compose.yml"), -1) {
		if m[1] == "PWD" { // the shell's
			continue
		}
		used[m[1]] = true
		value, ok := shown[m[1]]
		if !ok {
			t.Errorf("%s is in neither file", m[1])
		}
		if strings.HasPrefix(m[1], "ANTIPODE_WORKER_") && value != "" && value != m[3] || strings.HasSuffix(m[1], "_PORT") && value != m[3] {
			t.Errorf("%s is shown as %q, and is %q where it is not set", m[1], value, m[3])
		}
	}
	for name := range shown {
		if !used[name] {
			t.Errorf("%s is not read by docker-compose.yml", name)
		}
	}
	if len(used) < 10 {
		t.Error(fmt.Sprint("read only ", used))
	}
}
