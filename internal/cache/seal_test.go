package cache

import (
	"errors"
	"strings"
	"testing"

	"antipode/internal/cache/redistest"
	"antipode/internal/job"
	"antipode/internal/limit"
)

func TestName(t *testing.T) {
	k := Key{Fingerprint: [16]byte{0xab, 15: 0x01}, Start: 0x876543210, Goal: 0xfedcba9876543210}
	const want = "antipode:1:ab000000000000000000000000000001:0000000876543210:fedcba9876543210"
	if got := k.name(); got != want {
		t.Errorf("name %s, want %s", got, want)
	}
	if len(want) != nameLen {
		t.Errorf("nameLen %d, want %d", nameLen, len(want))
	}
}

func TestValueText(t *testing.T) {
	if got, want := pack(twelve), "s\x00\x01\x02\x03\xff\x05\x06\x07\x08\x09\x0a\x0b"; got != want {
		t.Errorf("packed %q, want %q", got, want)
	}
	if got, want := pack(never), "u"; got != want {
		t.Errorf("packed %q, want %q", got, want)
	}
	// HMAC-SHA-256("key", name "n" + value "U"), first 16 bytes, by openssl.
	const want = "U" + "\x53\xd1\x8a\xda\x99\x02\x8e\x6c\x5e\x92\xc0\x39\x66\x05\x18\xd6"
	if got := newSeal("key").close("n", "u"); got != want {
		t.Errorf("sealed %q, want %q", got, want)
	}
}

// What stands in Redis under near, and what a program makes of it.
func TestValuesNotBelieved(t *testing.T) {
	const secret = "a secret"
	sealed := newSeal(secret).close(near.name(), pack(twelve))
	tests := []struct {
		name    string
		secret  string
		value   string
		deleted bool // else it is left for whoever can read it, or overwritten
	}{
		{"another path, same MAC", secret, "S\x01" + sealed[len(sealed)-macLen:], false},
		{"one bit changed", secret, sealed[:3] + "\x06" + sealed[4:], false},
		{"copied from another key", secret, newSeal(secret).close(far.name(), pack(twelve)), false},
		{"another secret", secret, newSeal("guess").close(near.name(), pack(twelve)), false},
		{"no MAC", secret, pack(twelve), false},
		{"MAC cut off", secret, sealed[:len(sealed)-macLen], true},
		{"no room for a MAC", secret, "S0123456789abcde", true},
		{"MAC, but no secret here", "", sealed, false},
		{"empty", "", "", true},
		{"empty, secret", secret, "", true},
		{"text", "", "hello", true},
		{"text, secret", secret, "hello", true},
		{"unreachable with moves", "", "u\x00", true},
		{"too many moves", "", "s" + strings.Repeat("\x00", limit.CachedMoves+1), true},
		{"high byte", "", "\xf3\x00", true},
	}
	server := redistest.Start(t)
	rdb := client(t, server)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := rdb.Set(t.Context(), near.name(), test.value, 0).Err(); err != nil {
				t.Fatal(err)
			}
			c, err := open(Config{Bytes: 1 << 20, Redis: server.Addr, Secret: test.secret}, lenient())
			if err != nil {
				t.Fatal(err)
			}
			want(t, c, []Key{near}, nil)
			if err := c.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if s := c.Stats(); s.Bad != 1 || s.Misses != 1 || s.RedisHits != 0 {
				t.Errorf("stats %+v", s)
			}
			if left := rdb.Exists(t.Context(), near.name()).Val() == 1; left == test.deleted {
				t.Errorf("value left in redis: %v, want %v", left, !test.deleted)
			}
		})
	}
}

func TestBadValueIsReplaced(t *testing.T) {
	server := redistest.Start(t)
	cfg := Config{Redis: server.Addr, Secret: "a secret"}
	if err := client(t, server).Set(t.Context(), near.name(), pack(here), 0).Err(); err != nil {
		t.Fatal(err)
	}
	written(t, cfg, Entry{near, twelve})
	want(t, openCache(t, cfg), []Key{near}, &twelve)
}

func TestAnotherVersionIsNotRead(t *testing.T) {
	server := redistest.Start(t)
	name := strings.Replace(near.name(), "antipode:"+version+":", "antipode:0:", 1)
	if err := client(t, server).Set(t.Context(), name, pack(twelve), 0).Err(); err != nil {
		t.Fatal(err)
	}
	c := openCache(t, Config{Redis: server.Addr})
	want(t, c, []Key{near}, nil)
	if s := c.Stats(); s.Bad != 0 || s.Misses != 1 {
		t.Errorf("stats %+v", s)
	}
}

// A value that opens is one that the same seal writes; nothing panics, and
// without the secret nothing that carries a MAC opens.
func FuzzDecode(f *testing.F) {
	name := near.name()
	for _, secret := range []string{"", "a secret"} {
		for _, a := range []Answer{here, twelve, never} {
			f.Add(secret, newSeal(secret).close(name, pack(a)))
		}
	}
	f.Add("", "")
	f.Add("", "u\x00")
	f.Add("a secret", "S0123456789abcdef")
	f.Add("", "s"+strings.Repeat("\x00", limit.CachedMoves+1))
	f.Fuzz(func(t *testing.T, secret, value string) {
		seal := newSeal(secret)
		packed, err := seal.open(name, value)
		if err != nil {
			if !errors.Is(err, errGarbage) && !errors.Is(err, errForeign) {
				t.Fatalf("open(%q): neither garbage nor foreign: %v", value, err)
			}
			return
		}
		a := unpack(packed)
		if !a.keepable() {
			t.Fatalf("open(%q) gave %v with %d moves", value, a.Status, len(a.Moves))
		}
		if a.Status == job.Unreachable && len(a.Moves) > 0 {
			t.Fatalf("open(%q): unreachable in %d moves", value, len(a.Moves))
		}
		if again := seal.close(name, pack(a)); again != value {
			t.Fatalf("open(%q), closed again, is %q", value, again)
		}
	})
}
