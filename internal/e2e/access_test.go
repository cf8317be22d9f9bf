//go:build unix

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"antipode/internal/cache/redistest"
)

// guarded starts a nats-server with the roles of configs/nats.conf.
func guarded(t *testing.T) (url string) {
	t.Helper()
	t.Setenv("ANTIPODE_WORKER_PASSWORD", "work-hush")
	t.Setenv("ANTIPODE_OPERATOR_PASSWORD", "operate-hush")
	conf, err := os.ReadFile("../../configs/nats.conf")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(conf), "store_dir: /data", "store_dir: "+t.TempDir(), 1)
	port := freePort(t)
	p := start(t, "nats-server", "-c", jobFile(t, "nats.conf", text), "-a", "127.0.0.1", "-p", fmt.Sprint(port), "-m", fmt.Sprint(freePort(t)))
	p.awaits(t, "Server is ready")
	return address(port)
}

// The roles of the stack: submit needs no credentials, a worker does; each that
// may not do what it is to do ends at once, with the reason.
func TestRoles(t *testing.T) {
	url := guarded(t)
	records := jobFile(t, "swap.txt", "2 1 3 7 5 9 8 4 6\n")
	if _, said := submit(t, 3, "--nats", url, records); !strings.Contains(said, "there is no stream JOBS; start a worker first") {
		t.Errorf("before any worker: %s", said)
	}
	anonymous := start(t, "worker", "--nats", url)
	anonymous.ends(t, 1)
	if !strings.Contains(anonymous.Log(), "does not permit") {
		t.Errorf("a worker without credentials, first: %s", anonymous.Log())
	}
	wrong := start(t, "worker", "--nats", url, "--config", jobFile(t, "worker.yaml", "nats: {user: worker, password: other-hush}"))
	wrong.ends(t, 1)
	if !strings.Contains(wrong.Log(), "NATS at "+url+" refuses the credentials: nats: authorization violation") {
		t.Errorf("a worker with a wrong password: %s", wrong.Log())
	}

	settings := jobFile(t, "worker.yaml", "nats: {user: worker, password_file: "+jobFile(t, "password", "work-hush\n")+"}")
	w := startWorker(t, url, "--config", settings)
	// permitted runs submit, to which nothing is to be refused, not even what it can do
	// without.
	permitted := func(args ...string) string {
		t.Helper()
		got, said := submit(t, 0, args...)
		if strings.Contains(said, "permit") {
			t.Errorf("submit %v: %s", args, said)
		}
		return got
	}
	for file, want := range examples(t) {
		if got := permitted("--nats", url, file); got != want {
			t.Errorf("%s: %s", file, got)
		}
	}
	boards, want := topspinBoards(t, 20)
	if got := permitted("--nats", url, "--puzzle", topspin, jobFile(t, "boards.txt", boards)); got != want {
		t.Errorf("a given puzzle: %s", got)
	}
	for _, args := range [][]string{{records}, {"--detach", records}} {
		if _, said := submit(t, 3, append([]string{"--nats", url, "--owner", "other"}, args...)...); !strings.Contains(said, "does not permit") {
			t.Errorf("another owner: %s", said)
		}
	}
	id := strings.Fields(permitted("--nats", url, "--detach", records))[0]
	eventually(t, "the job is answered", func() bool {
		return strings.Contains(permitted("status", "--nats", url, id), "answered")
	})
	if got := permitted("resume", "--nats", url, id, records); got != "4\n" {
		t.Errorf("resumed: %s", got)
	}
	permitted("status", "--nats", url)
	permitted("cancel", "--nats", url, id)
	permitted("dead", "list", "--nats", url)
	if _, said := submit(t, 3, "dead", "list", "--all-owners", "--nats", url); !strings.Contains(said, "does not permit") {
		t.Errorf("dead letters of all: %s", said)
	}
	t.Setenv("ANTIPODE_NATS_USER", "operator")
	t.Setenv("ANTIPODE_NATS_PASSWORD", "operate-hush")
	permitted("dead", "list", "--all-owners", "--nats", url)
	if status := w.kill(syscall.SIGTERM); status != 0 {
		t.Errorf("the worker ends with %d: %s", status, w.Log())
	}
	if strings.Contains(w.Log(), "permit") {
		t.Errorf("the worker was refused something: %s", w.Log())
	}

	// Where all is there, a worker without credentials finds out when it pulls.
	os.Unsetenv("ANTIPODE_NATS_USER") // t.Setenv restores it
	os.Unsetenv("ANTIPODE_NATS_PASSWORD")
	anonymous = start(t, "worker", "--nats", url)
	anonymous.ends(t, 1)
	if !strings.Contains(anonymous.Log(), "does not permit") {
		t.Errorf("a worker without credentials: %s", anonymous.Log())
	}
}

// hush is part of all secrets of the next test.
const hush = "qXz7hush"

// say runs a program to its end, or until it has said a text, and returns all it
// said.
func say(t *testing.T, until string, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, name), args...)
	cmd.Env = append(os.Environ(), env...)
	said := &saying{until: until, stop: func() { cmd.Process.Signal(syscall.SIGTERM) }}
	cmd.Stdout, cmd.Stderr = said, said
	cmd.Run()
	if ctx.Err() != nil {
		t.Errorf("%s %v did not end: %s", name, args, said.text)
	}
	return string(said.text)
}

// saying is what a program says; it is told to stop when it has said a text.
type saying struct {
	text  []byte
	until string // "" is never
	stop  func()
}

func (s *saying) Write(p []byte) (int, error) {
	s.text = append(s.text, p...)
	if s.until != "" && strings.Contains(string(s.text), s.until) {
		s.until = ""
		s.stop()
	}
	return len(p), nil
}

// However secrets are set, and whatever goes wrong with them, no program prints
// one: not in its log, its errors, or its configuration.
func TestSecretsAreNotPrinted(t *testing.T) {
	password := jobFile(t, "password", hush+"-file\n")
	records := jobFile(t, "swap.txt", "2 1 3 7 5 9 8 4 6\n")
	refusing := guarded(t) // knows none of them
	redis := redistest.Start(t, "--requirepass", "something-else")
	away := address(freePort(t))
	host := strings.TrimPrefix(refusing, "nats://")
	ways := map[string]struct {
		settings string   // of a file
		env      []string // variables
		nats     []string // arguments
	}{
		"settings": {"nats: {user: me, password: " + hush + "-a}\nredis: {password: " + hush + "-b}\ncache: {secret: " + hush + "-c}", nil, nil},
		"variables": {"", []string{"ANTIPODE_NATS_USER=me", "ANTIPODE_NATS_PASSWORD=" + hush + "-d",
			"ANTIPODE_REDIS_USER=me", "ANTIPODE_REDIS_PASSWORD=" + hush + "-e", "ANTIPODE_CACHE_SECRET=" + hush + "-f"}, nil},
		"files":                      {"nats: {token_file: " + password + "}", []string{"ANTIPODE_REDIS_PASSWORD_FILE=" + password, "ANTIPODE_CACHE_SECRET_FILE=" + password}, nil},
		"token":                      {"", []string{"ANTIPODE_NATS_TOKEN=" + hush + "-g"}, nil},
		"URL":                        {"", nil, []string{"--nats", "nats://me:" + hush + "-h@" + host}},
		"URLs":                       {"", nil, []string{"--nats", "nats://" + hush + "-i@" + host + ",me:" + hush + "-j@" + host}},
		"a URL that cannot be read":  {"", nil, []string{"--nats", "nats://me:%" + hush + "@" + host}},
		"an address for Redis":       {"", []string{"ANTIPODE_REDIS_ADDR=redis://:" + hush + "@" + redis.Addr}, nil},
		"a secret and a file":        {"", []string{"ANTIPODE_CACHE_SECRET=" + hush, "ANTIPODE_CACHE_SECRET_FILE=" + password, "ANTIPODE_NATS_TOKEN=" + hush, "ANTIPODE_NATS_TOKEN_FILE=" + password}, nil},
		"user and token":             {"", []string{"ANTIPODE_NATS_USER=me", "ANTIPODE_NATS_PASSWORD=" + hush, "ANTIPODE_NATS_TOKEN=" + hush}, nil},
		"a secret as the file":       {hush, nil, nil},
		"a secret in a wrong place":  {"nats: {password: {" + hush + ": 1}}", nil, nil},
		"a secret of a wrong kind":   {"nats: {token: [" + hush + "]}", nil, nil},
		"a password file as an nkey": {"nats: {nkey: " + password + "}", nil, nil},
		"a password file as creds":   {"nats: {creds: " + password + "}", nil, nil},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			var all strings.Builder
			for _, server := range []string{refusing, away} {
				env := append([]string{"ANTIPODE_NATS_URL=" + server}, way.env...)
				var args []string
				if way.settings != "" {
					args = append(args, "--config", jobFile(t, "settings.yaml", way.settings))
				}
				args = append(args, way.nats...)
				worker := append([]string{"ANTIPODE_LOG_LEVEL=debug", "ANTIPODE_REDIS_ADDR=" + redis.Addr}, env...)
				all.WriteString(say(t, "", worker, "worker", append([]string{"config"}, args...)...))
				all.WriteString(say(t, "waiting for NATS", worker, "worker", args...))
				submits := append([]string{"ANTIPODE_NATS_WAIT=1s"}, env...)
				all.WriteString(say(t, "", submits, "submit", append([]string{"config"}, args...)...))
				all.WriteString(say(t, "", submits, "submit", append(args, records)...))
				all.WriteString(say(t, "", submits, "submit", append(append([]string{"status"}, args...), "J")...))
			}
			said := strings.ReplaceAll(all.String(), "nats.password."+strings.ToLower(hush), "") // the name of a setting that is none
			if i := strings.Index(strings.ToLower(said), strings.ToLower(hush)); i >= 0 {
				t.Errorf("printed: …%s…", said[max(0, i-200):min(len(said), i+100)])
			}
			if len(said) < 200 {
				t.Errorf("hardly anything was said: %s", said)
			}
		})
	}
}
