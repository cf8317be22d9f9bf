package natsd

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, cfg Config) *Server {
	t.Helper()
	s, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil { // a second time, in some tests
			t.Error(err)
		}
	})
	return s
}

func jetStream(t *testing.T, url string, opts ...nats.Option) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

var config = jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}

// A server without a port is reached from inside, and its store goes with it.
func TestInside(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	s := start(t, Config{})
	js := jetStream(t, "", nats.InProcessServer(s))
	if _, err := js.CreateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "s", []byte("x")); err != nil {
		t.Fatal(err)
	}
	js.Conn().Close()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A server with a port listens on this machine only.
func TestPort(t *testing.T) {
	s := start(t, Config{Port: -1})
	u, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	if ip := net.ParseIP(u.Hostname()); ip == nil || !ip.IsLoopback() {
		t.Errorf("listens on %s", s.URL())
	}
	if _, err := jetStream(t, s.URL()).AccountInfo(t.Context()); err != nil {
		t.Error(err)
	}
	other := start(t, Config{Port: -1})
	if other.URL() == s.URL() {
		t.Errorf("two servers on %s", s.URL())
	}
}

// What is stored in a folder that is kept is there the next time.
func TestStoreIsKept(t *testing.T) {
	dir := t.TempDir()
	s := start(t, Config{Port: -1, Store: dir})
	js := jetStream(t, s.URL())
	if _, err := js.CreateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "s", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	js.Conn().Close()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	again := start(t, Config{Port: -1, Store: dir})
	stream, err := jetStream(t, again.URL()).Stream(t.Context(), "S")
	if err != nil {
		t.Fatal(err)
	}
	if m, err := stream.GetMsg(t.Context(), 1); err != nil || string(m.Data) != "kept" {
		t.Errorf("%v, %v", m, err)
	}
}

// A server that cannot start says why, and nothing is left running.
func TestStartFails(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	t.Setenv("TMPDIR", filepath.Join(dir, "missing"))
	for _, c := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"no folder for temporary files", Config{}, "missing"},
		{"a file for a folder", Config{Store: file}, "not a directory"},
		{"a port that is taken", Config{Store: t.TempDir(), Port: taken.Addr().(*net.TCPAddr).Port}, "address already in use"},
	} {
		s, err := Start(c.cfg)
		if err == nil {
			s.Stop()
		}
		if err == nil || !strings.Contains(err.Error(), "embedded NATS: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}
