package cache

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/cache/redistest"
	"antipode/internal/tlstest"
)

const hush = "hush-hush"

// With the right user or password Redis is used; with the wrong one it is given
// up, and the log has nothing of it.
func TestRedisWithPasswords(t *testing.T) {
	server := redistest.Start(t, "--requirepass", hush, "--user", "antipode", "on", ">"+hush, "~*", "+@all")
	for name, access := range map[string]Access{"default user": {Password: hush}, "named user": {User: "antipode", Password: hush}} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Redis: server.Addr, Access: access}
			written(t, cfg, Entry{near, twelve})
			c := openCache(t, cfg)
			until(t, c, "in use", inUse)
		})
	}
	for name, access := range map[string]Access{"none": {}, "wrong": {Password: hush + "2"}, "wrong user": {User: "other", Password: hush}} {
		t.Run(name, func(t *testing.T) {
			var log logged
			debug := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			c, err := open(Config{Redis: server.Addr, Access: access, Logger: debug}, lenient())
			if err != nil {
				t.Fatal(err)
			}
			until(t, c, "given up", givenUp)
			if err := c.Close(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
			if log.count(slog.LevelWarn) == 0 || bytes.Contains(log.text.Bytes(), []byte(hush)) {
				t.Errorf("log: %s", &log.text)
			}
		})
	}
}

// Over TLS both sides show a certificate of the same authority.
func TestRedisOverTLS(t *testing.T) {
	authority := tlstest.New(t)
	server, client, other := authority.Pair(t, "server"), authority.Pair(t, "client"), tlstest.New(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	redistest.Start(t, "--tls-port", port, "--tls-cert-file", server.Cert, "--tls-key-file", server.Key, "--tls-ca-cert-file", authority.CA)
	access := func(ca string, pair tlstest.Pair) (a Access) {
		a.TLS.CA, a.TLS.Cert, a.TLS.Key = ca, pair.Cert, pair.Key
		return a
	}
	good := Config{Redis: redisTLS + l.Addr().String(), Access: access(authority.CA, client)}
	written(t, good, Entry{near, twelve})
	until(t, openCache(t, good), "in use", inUse)
	for name, bad := range map[string]Config{
		"no certificate":       {Redis: good.Redis, Access: access(authority.CA, tlstest.Pair{})},
		"another's":            {Redis: good.Redis, Access: access(authority.CA, other.Pair(t, "client"))},
		"a server of nobody's": {Redis: good.Redis, Access: access(other.CA, client)},
		"no TLS":               {Redis: strings.TrimPrefix(good.Redis, redisTLS)},
	} {
		t.Run(name, func(t *testing.T) { until(t, openCache(t, bad), "given up", givenUp) })
	}
}

// Files that are no certificates are refused at the start.
func TestCertificatesThatAreRefused(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{empty, empty + ".none"} {
		var ca, cert Access
		ca.TLS.CA = file
		cert.TLS.Cert, cert.TLS.Key = file, file
		for _, access := range []Access{ca, cert} {
			if _, err := Open(Config{Redis: "rediss://127.0.0.1:1", Access: access}); err == nil || !strings.Contains(err.Error(), file) {
				t.Errorf("%s: error %v", file, err)
			}
		}
	}
}
