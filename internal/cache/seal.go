package cache

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
)

const (
	// macLen is how many bytes of HMAC-SHA-256 a sealed value carries.
	macLen = 16
	// small is the bit that tells a small letter from its capital.
	small = 'a' - 'A'
)

// errForeign says that a value may be an answer, but not to this question or
// not from a program with the same secret.
var errForeign = errors.New("not written under this secret")

// seal turns packed answers into the values that Redis holds, and back.
//
//	without a secret   s moves                 u
//	with a secret      S moves mac             U mac
//
// The MAC covers the key's name and the value before it, so no value can be
// moved to another key. The capital says that a MAC follows: without it a
// program without the secret would take the MAC for moves.
//
// A seal is for one goroutine.
type seal struct {
	mac hash.Hash // nil without a secret
}

func newSeal(secret string) seal {
	if secret == "" {
		return seal{}
	}
	return seal{mac: hmac.New(sha256.New, []byte(secret))}
}

// close returns the value to store under a name.
func (s seal) close(name, packed string) string {
	if s.mac == nil {
		return packed
	}
	body := string([]byte{packed[0] &^ small}) + packed[1:]
	return body + string(s.sum(name, body))
}

// open returns the packed answer in a value that was stored under a name, or an
// error that wraps errGarbage or errForeign.
func (s seal) open(name, value string) (string, error) {
	if value == "" || value[0]&small != 0 {
		if err := check(value); err != nil {
			return "", err
		}
		if s.mac != nil {
			return "", fmt.Errorf("no mac: %w", errForeign)
		}
		return value, nil
	}
	if len(value) < 1+macLen {
		return "", fmt.Errorf("no room for a mac: %w", errGarbage)
	}
	body, mac := value[:len(value)-macLen], value[len(value)-macLen:]
	packed := string([]byte{body[0] | small}) + body[1:]
	if err := check(packed); err != nil {
		return "", err
	}
	if s.mac == nil {
		return "", fmt.Errorf("a mac, and no secret to check it by: %w", errForeign)
	}
	if !hmac.Equal([]byte(mac), s.sum(name, body)) {
		return "", fmt.Errorf("wrong mac: %w", errForeign)
	}
	return packed, nil
}

func (s seal) sum(name, body string) []byte {
	s.mac.Reset()
	s.mac.Write([]byte(name))
	s.mac.Write([]byte(body))
	return s.mac.Sum(nil)[:macLen]
}
