package config

import (
	"strings"
	"testing"
)

func TestValuesThatAreRefused(t *testing.T) {
	tests := []struct{ key, value, want string }{
		{"nats.url", "", "a value"},
		{"nats.replicas", "0", "1, 3 or 5"},
		{"nats.replicas", "2", "1, 3 or 5"},
		{"nats.replicas", "7", "1, 3 or 5"},
		{"nats.replicas", "", "a whole number"},
		{"redis.addr", "localhost", "host:port"},
		{"redis.addr", ":6379", "host:port"},
		{"redis.addr", "redis://cache:6379", "rediss://host:port"},
		{"redis.addr", "rediss://cache", "rediss://host:port"},
		{"http.listen", "8080", "host:port or :port"},
		{"http.listen", "localhost:", "host:port or :port"},
		{"http.listen", ":http", "host:port or :port"},
		{"http.listen", ":65536", "host:port or :port"},
		{"cache.mode", "some", "one of searched, all, none"},
		{"cache.mode", "", "one of searched, all, none"},
		{"cache.memory", "64 megs", "a size such as 256MiB"},
		{"cache.memory", "-1", "a size such as 256MiB"},
		{"cache.memory", "20EiB", "a size such as 256MiB"},
		{"cache.ttl", "30", "a time with its unit"},
		{"cache.ttl", "1ms", "1s to"},
		{"cache.ttl", "-1h", "1s to"},
		{"slots", "many", "a whole number"},
		{"slots", "", "a whole number"},
		{"slots", "1.5", "a whole number"},
		{"slots", "1025", "0 to 1024"},
		{"slots", "-1", "0 to 1024"},
		{"memory", "1", "16MiB to 16384GiB"},
		{"tables.memory", "1000TiB", "0 to 16384GiB"},
		{"budget.states", "0", "1 to"},
		{"budget.time", "0s", "1ms to 24h0m0s"},
		{"drain", "-1s", "0s to 24h0m0s"},
		{"log.level", "loud", "one of debug, info, warn, error"},
		{"log.format", "xml", "one of auto, text, json"},
	}
	for _, test := range tests {
		t.Run(test.key+"="+test.value, func(t *testing.T) {
			t.Setenv(variable(test.key), test.value)
			_, err := LoadWorker(nil, nil, "")
			refused(t, err, test.key, test.value, variable(test.key), test.want)
		})
	}
}

func TestSubmitValuesThatAreRefused(t *testing.T) {
	tests := []struct{ key, value, want string }{
		{"nats.wait", "-1s", "1s to 24h0m0s"},
		{"owner", "", "1 to 64 letters"},
		{"owner", "a.b", "1 to 64 letters"},
		{"owner", "a b", "1 to 64 letters"},
		{"owner", strings.Repeat("a", 65), "1 to 64 letters"},
		{"window.chunks", "0", "1 to 65536"},
		{"window.bytes", "1kB", "1MiB to 16384GiB"},
		{"budget.states", "-1", "0 to"},
		{"budget.time", "-1s", "0s to 24h0m0s"},
		{"slots", "1025", "0 to 1024"},
		{"memory", "1MiB", "16MiB to"},
		{"tables.memory", "much", "a size such as"},
	}
	for _, test := range tests {
		t.Run(test.key+"="+test.value, func(t *testing.T) {
			t.Setenv(variable(test.key), test.value)
			_, err := LoadSubmit(nil, nil, "")
			refused(t, err, test.key, test.value, variable(test.key), test.want)
		})
	}
}

// YAML gives values types of their own; what it cannot mean is refused, not
// bent.
func TestYAMLValuesThatAreRefused(t *testing.T) {
	tests := []struct{ key, value, want string }{
		{"slots", "1.5", "a whole number"},
		{"slots", "true", "a whole number"},
		{"slots", "[1]", "a whole number"},
		{"budget.time", "30", "a time with its unit"},
		{"memory", "1.5", "a size such as"},
		{"memory", "-1", "16MiB to"},
		{"cache.mode", "0123", "text, in quotes"},
		{"cache.mode", "[all]", "text, in quotes"},
		{"cache.secret", "12345", "text, in quotes"},
		{"log.level", "4", "one of debug"},
	}
	for _, test := range tests {
		t.Run(test.key, func(t *testing.T) {
			_, err := LoadWorker(nil, nil, fileWith(t, test.key+": "+test.value))
			refused(t, err, test.key, "", "test.yaml", test.want)
			if err != nil && strings.Contains(err.Error(), "12345") {
				t.Errorf("error tells the secret: %v", err)
			}
		})
	}
}

func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error does not say %q: %v", w, err)
		}
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	t.Setenv("ANTIPODE_SLOTS", "many")
	t.Setenv("ANTIPODE_DRAIN", "-1s")
	_, err := LoadWorker(nil, nil, fileWith(t, "{memory: 1, cache: {mode: some}}"))
	refused(t, err, "slots", "drain", "memory", "cache.mode")
	if err != nil {
		if lines := strings.Count(err.Error(), "\n") + 1; lines != 4 {
			t.Errorf("%d problems, want 4:\n%v", lines, err)
		}
	}
}

func TestSizeText(t *testing.T) {
	for text, size := range map[string]Size{
		"0": 0, "1": 1, "1023": 1023, "1KiB": 1 << 10, "1025": 1025, "1536KiB": 3 << 19, "64MiB": 64 << 20, "1GiB": 1 << 30, "2048GiB": 2 << 40,
	} {
		var got Size
		if err := got.UnmarshalText([]byte(text)); err != nil || got != size {
			t.Errorf("%s reads as %d (error %v), want %d", text, got, err, size)
		}
		if size.String() != text {
			t.Errorf("%d is written %s, want %s", int64(size), size, text)
		}
	}
}
