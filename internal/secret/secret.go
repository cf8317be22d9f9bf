// Package secret keeps passwords and tokens out of logs and errors.
package secret

import (
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
)

// Text is a password, a token, or another secret; "" is none. However it is
// printed, logged or encoded, it shows no more than whether there is one. Who
// needs what it holds converts it: string(t).
type Text string

// Mask stands wherever a secret would.
const Mask = "xxxxx"

func (t Text) String() string {
	if t == "" {
		return ""
	}
	return Mask
}

// Format prints the mask under every verb, %q and %x among them.
func (t Text) Format(f fmt.State, _ rune) { io.WriteString(f, t.String()) }

// MarshalText is for JSON and YAML.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// LogValue is for slog.
func (t Text) LogValue() slog.Value { return slog.StringValue(t.String()) }

// Redact returns addresses, one or several with commas between them, without the
// user, password or token in front of their '@'. An address need not have a
// scheme.
func Redact(addresses string) string {
	list := strings.Split(addresses, ",")
	for i, s := range list {
		list[i] = redact(strings.TrimSpace(s))
	}
	return strings.Join(list, ",")
}

// unreadable stands for an address in which nobody knows what is the password.
const unreadable = "an address that cannot be read"

func redact(address string) string {
	full := address
	if !strings.Contains(full, "://") {
		full = "nats://" + full // otherwise 'user:password@host' has the scheme 'user'
	}
	u, err := url.Parse(full)
	switch {
	case err != nil:
		return unreadable
	case u.User != nil:
		u.User = url.User(Mask)
		return u.String()
	case strings.Contains(address, "@"):
		return unreadable
	}
	return address
}
