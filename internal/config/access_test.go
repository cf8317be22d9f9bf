package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What contradicts itself is refused, with every key and its origin, and without
// what is in them.
func TestCredentialsThatAreRefused(t *testing.T) {
	tests := []struct {
		name string
		set  map[string]string
		want []string
	}{
		{"user alone", map[string]string{"nats.user": "hush"}, []string{"nats.user from ANTIPODE_NATS_USER: want nats.password with it"}},
		{"password alone", map[string]string{"nats.password": "hush"}, []string{"nats.password from ANTIPODE_NATS_PASSWORD: want nats.user with it"}},
		{"token and user", map[string]string{"nats.token": "hush", "nats.user": "me", "nats.password": "hush"},
			[]string{"nats.user from ANTIPODE_NATS_USER, nats.token from ANTIPODE_NATS_TOKEN: want one of them"}},
		{"nkey and creds", map[string]string{"nats.nkey": "hush", "nats.creds": "hush"}, []string{"nats.nkey", "nats.creds", "one of them"}},
		{"all in the URL and a token", map[string]string{"nats.url": "nats://me:hush@queue:4222", "nats.token": "hush"}, []string{"nats.url", "nats.token", "one of them"}},
		{"certificate alone", map[string]string{"nats.tls.cert": "hush"}, []string{"nats.tls.key with it"}},
		{"key alone", map[string]string{"nats.tls.key": "hush"}, []string{"nats.tls.cert with it"}},
		{"user of Redis alone", map[string]string{"redis.user": "hush"}, []string{"redis.password with it"}},
		{"certificate for Redis alone", map[string]string{"redis.tls.cert": "hush"}, []string{"redis.tls.key with it"}},
		{"key for Redis alone", map[string]string{"redis.tls.key": "hush"}, []string{"redis.tls.cert with it"}},
		{"TLS for a Redis without", map[string]string{"redis.tls.ca": "hush", "redis.addr": "cache:6379"}, []string{"redis.addr from ANTIPODE_REDIS_ADDR: want rediss:// before it"}},
		{"password in the address of Redis", map[string]string{"redis.addr": "rediss://:hush@cache:6379"}, []string{"redis.addr from ANTIPODE_REDIS_ADDR: want host:port"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for key, value := range test.set {
				t.Setenv(variable(key), value)
			}
			_, err := LoadWorker(nil, nil, "")
			refused(t, err, test.want...)
			if err != nil && strings.Contains(err.Error(), "hush") {
				t.Errorf("error tells the secret: %v", err)
			}
		})
	}
}

func TestCredentialsThatAreAccepted(t *testing.T) {
	for _, set := range []map[string]string{
		{"nats.user": "me", "nats.password": "hush"},
		{"nats.user": "", "nats.password": "", "nats.token": "hush"}, // empty is not set
		{"nats.url": "nats://me:hush@queue:4222"},
		{"nats.nkey": "seed", "nats.tls.ca": "ca.pem", "nats.tls.cert": "cert.pem", "nats.tls.key": "key.pem"},
		{"redis.password": "hush"},
		{"redis.addr": "rediss://cache:6379", "redis.tls.ca": "ca.pem"},
		{"redis.addr": "", "redis.tls.ca": "ca.pem"}, // of no use, and no harm
	} {
		for key, value := range set {
			t.Setenv(variable(key), value)
		}
		if _, err := LoadWorker(nil, nil, ""); err != nil {
			t.Errorf("%v: %v", set, err)
		}
		for key := range set {
			os.Unsetenv(variable(key)) // t.Setenv restores it
		}
	}
}

func TestSecretsFromFiles(t *testing.T) {
	for text, want := range map[string]string{
		"hush":                      "hush",
		"hush\n":                    "hush",
		"hush\r\n":                  "hush",
		"hush \n\n":                 "hush \n",
		strings.Repeat("h", 64<<10): strings.Repeat("h", 64<<10),
	} {
		t.Setenv("ANTIPODE_CACHE_SECRET_FILE", fileWith(t, text))
		if w, err := LoadWorker(nil, nil, ""); err != nil || string(w.Cache.Secret) != want {
			t.Errorf("%.20q: error %v, secret of %d bytes, want %d", text, err, len(w.Cache.Secret), len(want))
		}
	}
}

func TestSecretFilesThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	for name, test := range map[string]struct{ file, want string }{
		"missing":   {filepath.Join(dir, "none"), "no such file"},
		"a folder":  {dir, "is a directory"},
		"empty":     {fileWith(t, ""), "is empty"},
		"a newline": {fileWith(t, "\n"), "is empty"},
		"too large": {fileWith(t, strings.Repeat("hush", 16<<10)+"\n"), "larger than 64 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("ANTIPODE_NATS_TOKEN_FILE", test.file)
			_, err := LoadSubmit(nil, nil, "")
			refused(t, err, "nats.token_file, from ANTIPODE_NATS_TOKEN_FILE", test.want, test.file)
			if err != nil && strings.Contains(err.Error(), "hush") {
				t.Errorf("error tells the secret: %v", err)
			}
		})
	}
}

// A secret and a file with one are two secrets, wherever they come from; an empty
// one is none.
func TestSecretTwice(t *testing.T) {
	hush := fileWith(t, "hush")
	file := fileWith(t, "nats: {user: me, password_file: "+hush+"}")
	t.Setenv("ANTIPODE_NATS_PASSWORD", "hush")
	_, err := LoadWorker(nil, nil, file)
	refused(t, err, "nats.password from ANTIPODE_NATS_PASSWORD, nats.password_file from "+file+": want one of them")

	t.Setenv("ANTIPODE_NATS_PASSWORD", "")
	if w, err := LoadWorker(nil, nil, file); err != nil || string(w.NATS.Password) != "hush" {
		t.Errorf("empty variable: error %v, password %t", err, w.NATS.Password != "")
	}
	t.Setenv("ANTIPODE_NATS_PASSWORD", "other")
	t.Setenv("ANTIPODE_NATS_PASSWORD_FILE", "")
	if w, err := LoadWorker(nil, nil, file); err != nil || string(w.NATS.Password) != "other" {
		t.Errorf("empty variable of the file: error %v, password %t", err, w.NATS.Password != "")
	}
}

// A file that is a secret, and no configuration, is refused without showing it.
func TestSecretInTheWrongPlace(t *testing.T) {
	for _, text := range []string{"hush", "nats: {password: [hush]}", "nats: {password: {hush: 1, b: hush}}", "nats: hush", "cache: {secret: 1234hush, mode: hush@}"} {
		_, err := LoadWorker(nil, nil, fileWith(t, text))
		if err == nil {
			t.Errorf("%s: accepted", text)
		} else if strings.Contains(strings.ReplaceAll(err.Error(), "nats.password.hush", ""), "hush") {
			t.Errorf("%s: the error tells the secret: %v", text, err)
		}
	}
}
