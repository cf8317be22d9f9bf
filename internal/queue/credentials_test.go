package queue

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"antipode/internal/tlstest"
)

func fileOf(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// keyPair makes keys; public and seed are as files and servers have them.
func keyPair(t *testing.T, create func() (nkeys.KeyPair, error)) (pair nkeys.KeyPair, public, seed string) {
	t.Helper()
	pair, err := create()
	if err != nil {
		t.Fatal(err)
	}
	if public, err = pair.PublicKey(); err != nil {
		t.Fatal(err)
	}
	text, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return pair, public, string(text)
}

// letsIn demands that a server lets in who has the access, and nobody else.
func letsIn(t *testing.T, url string, good Access, bad ...Access) {
	t.Helper()
	connectAs(t, Config{URL: url, Access: good})
	for _, a := range append(bad, Access{}) {
		if _, err := openAs(t, Config{URL: url, Access: a}); err == nil || !strings.Contains(err.Error(), "refuses the credentials") {
			t.Errorf("%+v: error %v", a, err)
		}
	}
}

func TestToken(t *testing.T) {
	url := customServer(t, func(o *natsserver.Options) { o.Authorization = "hush" })
	letsIn(t, url, Access{Token: "hush"}, Access{Token: "other"})
}

func TestNKey(t *testing.T) {
	_, public, seed := keyPair(t, nkeys.CreateUser)
	_, _, other := keyPair(t, nkeys.CreateUser)
	url := customServer(t, func(o *natsserver.Options) { o.Nkeys = []*natsserver.NkeyUser{{Nkey: public}} })
	letsIn(t, url, Access{NKey: fileOf(t, "me.nk", seed+"\n")}, Access{NKey: fileOf(t, "other.nk", other)})
}

// creds writes the file of a user whom an account signed.
func creds(t *testing.T, account nkeys.KeyPair) string {
	t.Helper()
	_, public, seed := keyPair(t, nkeys.CreateUser)
	token, err := jwt.NewUserClaims(public).Encode(account)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(token, []byte(seed))
	if err != nil {
		t.Fatal(err)
	}
	return fileOf(t, "me.creds", string(text))
}

func TestCreds(t *testing.T) {
	operator, public, _ := keyPair(t, nkeys.CreateOperator)
	account, accountKey, _ := keyPair(t, nkeys.CreateAccount)
	_, system, _ := keyPair(t, nkeys.CreateAccount)
	stranger, _, _ := keyPair(t, nkeys.CreateAccount)
	resolver := &natsserver.MemAccResolver{}
	for _, key := range []string{accountKey, system} {
		claims := jwt.NewAccountClaims(key)
		if key == accountKey {
			claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
		}
		token, err := claims.Encode(operator)
		if err == nil {
			err = resolver.Store(key, token)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	url := customServer(t, func(o *natsserver.Options) {
		o.TrustedOperators = []*jwt.OperatorClaims{jwt.NewOperatorClaims(public)}
		o.AccountResolver, o.SystemAccount = resolver, system
	})
	letsIn(t, url, Access{Creds: creds(t, account)}, Access{Creds: creds(t, stranger)})
}

// Over TLS both sides show a certificate of the same authority.
func TestTLS(t *testing.T) {
	authority, other := tlstest.New(t), tlstest.New(t)
	server, client := authority.Pair(t, "server"), authority.Pair(t, "client")
	url := customServer(t, func(o *natsserver.Options) {
		cfg, err := natsserver.GenTLSConfig(&natsserver.TLSConfigOpts{CertFile: server.Cert, KeyFile: server.Key, CaFile: authority.CA, Verify: true})
		if err != nil {
			t.Fatal(err)
		}
		o.TLSConfig, o.TLSVerify, o.TLSTimeout = cfg, true, patience.Seconds()
	})
	access := func(ca string, pair tlstest.Pair) (a Access) {
		a.TLS.CA, a.TLS.Cert, a.TLS.Key = ca, pair.Cert, pair.Key
		return a
	}
	connectAs(t, Config{URL: url, Access: access(authority.CA, client)})
	for name, bad := range map[string]struct {
		Access
		want string
	}{
		"no certificate":       {access(authority.CA, tlstest.Pair{}), "tls"},
		"another's":            {access(authority.CA, other.Pair(t, "client")), "NATS at"},
		"a server of nobody's": {access(other.CA, client), "unknown authority"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			q, err := Open(ctx, Config{URL: url, Access: bad.Access, Logger: logger(t)})
			if err == nil {
				hangUp(t, q)
			}
			if err == nil || !strings.Contains(err.Error(), bad.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// Files that are of no use are an error at once, which names them and tells
// nothing of what is in them.
func TestFilesOfAccess(t *testing.T) {
	_, _, account := keyPair(t, nkeys.CreateAccount)
	empty, secret := fileOf(t, "empty", ""), fileOf(t, "hush", "SUhush\nhush\n")
	none := filepath.Join(t.TempDir(), "none")
	tls := func(ca, cert string) (a Access) {
		a.TLS.CA, a.TLS.Cert, a.TLS.Key = ca, cert, cert
		return a
	}
	for _, a := range []Access{
		{NKey: none}, {NKey: empty}, {NKey: secret}, {NKey: fileOf(t, "account.nk", account)},
		{Creds: none}, {Creds: empty}, {Creds: secret},
		tls(none, ""), tls(empty, ""), tls(secret, ""), tls("", none), tls("", empty), tls("", secret),
	} {
		file := cmp.Or(a.NKey, a.Creds, a.TLS.CA, a.TLS.Cert)
		_, err := openAs(t, Config{URL: "nats://127.0.0.1:1", Access: a})
		if err == nil || !strings.Contains(err.Error(), file) || strings.Contains(strings.ReplaceAll(err.Error(), secret, ""), "hush") {
			t.Errorf("%+v: error %v", a, err)
		}
	}
}
