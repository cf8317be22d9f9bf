package secret

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

const hush = "h?ush, me"

// However a secret is printed, only that there is one is seen.
func TestTextIsNeverShown(t *testing.T) {
	type section struct {
		User     string
		Password Text
	}
	s := section{"me", hush}
	var said bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10s", "%T"} {
		fmt.Fprintf(&said, verb+"\n", s.Password)
		fmt.Fprintf(&said, verb+"\n", s)
		fmt.Fprintf(&said, verb+"\n", &s)
		fmt.Fprintf(&said, verb+"\n", []Text{s.Password})
	}
	fmt.Fprintln(&said, s.Password, errors.New("no "+s.Password.String()))
	for _, h := range []slog.Handler{slog.NewTextHandler(&said, nil), slog.NewJSONHandler(&said, nil)} {
		slog.New(h).With("with", s.Password).Info("hello", "password", s.Password, "section", s, "list", []any{s})
	}
	text, err := json.Marshal([]any{s, s.Password})
	if err != nil {
		t.Fatal(err)
	}
	said.Write(text)
	for _, form := range []string{hush, fmt.Sprintf("%x", hush), fmt.Sprintf("%X", hush), "ush"} {
		if strings.Contains(said.String(), form) {
			t.Errorf("%q is shown: %s", form, &said)
		}
	}
	if strings.Count(said.String(), Mask) < 40 {
		t.Errorf("the mask is not everywhere: %s", &said)
	}
	if none := fmt.Sprintf("%v%s%q", Text(""), Text(""), Text("")); none != "" {
		t.Errorf("no secret is printed as %q", none)
	}
	if string(s.Password) != hush {
		t.Error("what it holds is lost")
	}
}

func TestRedact(t *testing.T) {
	for address, want := range map[string]string{
		"":                                  "",
		"nats://127.0.0.1:4222":             "nats://127.0.0.1:4222",
		"queue:4222":                        "queue:4222",
		"nats://me:hush@queue:4222":         "nats://xxxxx@queue:4222",
		"me:hush@queue:4222":                "nats://xxxxx@queue:4222",
		"hush@queue":                        "nats://xxxxx@queue",
		"tls://hush@a:1, nats://b:hush@c:2": "tls://xxxxx@a:1,nats://xxxxx@c:2",
		"redis://:hush@cache:6379/0":        "redis://xxxxx@cache:6379/0",
		"nats://me:hu%sh@queue:4222":        unreadable,
		"nats://me:hu/sh@queue:4222":        unreadable,
		"nats://me:1/hush@queue:4222":       unreadable,
		"nats://a:1,me:hush@queue":          "nats://a:1,nats://xxxxx@queue",
	} {
		if got := Redact(address); got != want {
			t.Errorf("%s becomes %s, want %s", address, got, want)
		}
	}
}
