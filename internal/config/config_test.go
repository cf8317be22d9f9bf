package config

import (
	"cmp"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"antipode/internal/secret"
)

// fileWith writes a configuration file.
func fileWith(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestNothingSetIsTheDefaults(t *testing.T) {
	w, err := LoadWorker(nil, nil, "")
	if err != nil || w != DefaultWorker() {
		t.Errorf("worker: error %v, %+v", err, w)
	}
	s, err := LoadSubmit(nil, nil, "")
	if err != nil || s != DefaultSubmit() {
		t.Errorf("submit: error %v, %+v", err, s)
	}
}

func TestFlagBeatsEnvironmentBeatsFileBeatsDefault(t *testing.T) {
	file := fileWith(t, "{slots: 2, memory: 2GiB, budget: {states: 2, time: 2s}, log: {level: warn}}")
	t.Setenv("ANTIPODE_SLOTS", "3")
	t.Setenv("ANTIPODE_MEMORY", "3GiB")
	t.Setenv("ANTIPODE_BUDGET_TIME", "3s")
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.Int("slots", 99, "")
	flags.String("mem", "99GiB", "")
	flags.Duration("time", 99*time.Second, "")
	flags.String("level", "error", "")
	bind := Flags{"slots": "slots", "mem": "memory", "time": "budget.time", "level": "log.level"}
	if err := flags.Parse([]string{"--slots=4", "--mem=4GiB"}); err != nil {
		t.Fatal(err)
	}

	want := DefaultWorker()
	want.Slots = 4                     // flag
	want.Memory = 4 << 30              // flag
	want.Budget.Time = 3 * time.Second // environment: the flag was not given
	want.Budget.States = 2             // file
	want.Log.Level = slog.LevelWarn    // file: the flag was not given
	got, err := LoadWorker(flags, bind, file)
	if err != nil || got != want {
		t.Errorf("error %v\n got %+v\nwant %+v", err, got, want)
	}
}

func TestFileFromTheEnvironment(t *testing.T) {
	t.Setenv(FileVariable, fileWith(t, "slots: 5"))
	if w, err := LoadWorker(nil, nil, ""); err != nil || w.Slots != 5 {
		t.Errorf("error %v, slots %d, want 5", err, w.Slots)
	}
	if w, err := LoadWorker(nil, nil, fileWith(t, "slots: 6")); err != nil || w.Slots != 6 {
		t.Errorf("error %v, slots %d, want those of the file that was named", err, w.Slots)
	}
}

// Every setting can be set by its variable alone. Some need another beside them.
func TestEveryKeyFromTheEnvironment(t *testing.T) {
	hush := fileWith(t, "hush\n")
	values := map[string]string{
		"nats.url": "nats://elsewhere:4222", "nats.replicas": "5", "nats.wait": "7s",
		"nats.user": "seven", "nats.password": "hush", "nats.password_file": hush, "nats.token": "hush", "nats.token_file": hush,
		"nats.nkey": "elsewhere", "nats.creds": "elsewhere", "nats.tls.ca": "elsewhere", "nats.tls.cert": "elsewhere", "nats.tls.key": "elsewhere",
		"redis.addr": "elsewhere:6379", "redis.user": "seven", "redis.password": "hush", "redis.password_file": hush,
		"redis.tls.ca": "elsewhere", "redis.tls.cert": "elsewhere", "redis.tls.key": "elsewhere",
		"cache.mode": "all", "cache.memory": "7MiB", "cache.ttl": "7h", "cache.secret": "seven", "cache.secret_file": hush,
		"slots": "7", "memory": "77MiB", "tables.memory": "77MB", "tables.dir": "elsewhere",
		"budget.states": "777", "budget.time": "77s", "drain": "700ms",
		"http.listen": ":7777", "log.level": "debug", "log.format": "json",
		"owner": "seven", "window.chunks": "70", "window.bytes": "7MiB",
	}
	beside := map[string]string{
		"nats.user": "nats.password", "nats.password": "nats.user", "nats.password_file": "nats.user",
		"nats.tls.cert": "nats.tls.key", "nats.tls.key": "nats.tls.cert",
		"redis.user": "redis.password", "redis.tls.cert": "redis.tls.key", "redis.tls.key": "redis.tls.cert",
	}
	set := func(t *testing.T, key string) {
		t.Helper()
		if _, ok := values[key]; !ok {
			t.Fatalf("no value for %s", key)
		}
		t.Setenv(variable(key), values[key])
		if other := beside[key]; other != "" {
			t.Setenv(variable(other), values[other])
		}
	}
	check := func(t *testing.T, l leaf, load func() (any, error)) {
		set(t, l.key)
		after, err := load()
		if err != nil {
			t.Fatal(err)
		}
		key := cmp.Or(l.secret, l.key)
		for _, got := range leavesOf(after) {
			if got.key == key && got.value == l.value || got.key == l.secret && got.value != secret.Text("hush") {
				t.Errorf("%s is still %v", key, got.value)
			}
		}
	}
	for _, l := range leavesOf(DefaultWorker()) {
		t.Run("worker "+l.key, func(t *testing.T) {
			check(t, l, func() (any, error) { return LoadWorker(nil, nil, "") })
		})
	}
	for _, l := range leavesOf(DefaultSubmit()) {
		t.Run("submit "+l.key, func(t *testing.T) {
			check(t, l, func() (any, error) { return LoadSubmit(nil, nil, "") })
		})
	}
}

func leavesOf(settings any) []leaf { return leaves("", reflect.ValueOf(settings)) }

func TestEmptyVariableMeansEmpty(t *testing.T) {
	file := fileWith(t, "redis: {addr: elsewhere:6379}\ncache: {secret: hush}")
	t.Setenv("ANTIPODE_REDIS_ADDR", "")
	t.Setenv("ANTIPODE_CACHE_SECRET", "")
	if w, err := LoadWorker(nil, nil, file); err != nil || w.Redis.Addr != "" || w.Cache.Secret != "" {
		t.Errorf("error %v, redis %q, secret %q", err, w.Redis.Addr, w.Cache.Secret)
	}
}

// A variable named like a section is no setting, and hides none.
func TestVariableOfASectionHidesNothing(t *testing.T) {
	t.Setenv("ANTIPODE_CACHE", "none")
	w, err := LoadWorker(nil, nil, fileWith(t, "cache: {mode: all}"))
	if err != nil || w.Cache.Mode != CacheAll || w.Cache.Memory != DefaultWorker().Cache.Memory {
		t.Errorf("error %v, cache %+v", err, w.Cache)
	}
}

func TestFilesThatAreRead(t *testing.T) {
	for name, text := range map[string]string{
		"empty":               "",
		"comments":            "# nothing\n",
		"section of comments": "cache:\n  # mode: all\n",
		"key without value":   "cache:\n  mode:\n",
		"capitals":            "Cache: {Mode: searched}",
		"dots":                "cache.mode: searched",
		"bare zero":           "cache: {memory: 67108864, ttl: 720h}\ndrain: 20s",
	} {
		t.Run(name, func(t *testing.T) {
			if w, err := LoadWorker(nil, nil, fileWith(t, text)); err != nil || w != DefaultWorker() {
				t.Errorf("error %v, %+v", err, w)
			}
		})
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"not yaml", "slots: [", "test.yaml"},
		{"key twice", "slots: 1\nslots: 2", "slots"},
		{"unknown key", "cache: {moed: all, secret: hush}", "cache.moed"},
		{"unknown section", "cashe: {mode: all}", "cashe.mode"},
		{"unknown empty section", "cashe:", "cashe"},
		{"word for a section", "cache: all", "unknown settings: cache;"},
		{"section for a word", "slots: {bulk: 1}", "slots.bulk"},
		{"all unknown keys", "a: 1\nb: 2", "a, b"},
		{"another program's key", "owner: me", "owner"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			// A variable that is set must not hide what is wrong.
			t.Setenv("ANTIPODE_CACHE_MODE", "all")
			_, err := LoadWorker(nil, nil, fileWith(t, test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "test.yaml") {
				t.Errorf("error %v, want one that names the file and %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "hush") {
				t.Errorf("error tells the secret: %v", err)
			}
		})
	}
	if _, err := LoadWorker(nil, nil, filepath.Join(t.TempDir(), "none.yaml")); err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("missing file: error %v", err)
	}
}

func TestFlagsThatDoNotExist(t *testing.T) {
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.Int("slots", 0, "")
	for _, bind := range []Flags{{"slot": "slots"}, {"slots": "slot"}} {
		if _, err := LoadWorker(flags, bind, ""); err == nil {
			t.Errorf("bound %v", bind)
		}
	}
}
