package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"antipode/internal/limit"
	"antipode/internal/secret"
)

// fileSuffix makes the key of a secret that of a file which holds it:
// nats.password_file, ANTIPODE_NATS_PASSWORD_FILE.
const fileSuffix = "_file"

// readSecrets puts what files with secrets hold in the place of the secrets.
func (s *sources) readSecrets() (problems, error) {
	var wrong problems
	for _, l := range s.known {
		if l.secret == "" {
			continue
		}
		name, ok := s.viper.Get(l.key).(string)
		if !ok {
			wrong.add(l.key, "the name of a file, in quotes where it looks like something else")
		}
		if name == "" {
			continue
		}
		switch s.viper.Get(l.secret) {
		case "", secret.Text(""):
		default:
			wrong.conflict("one of them", l.secret, l.key)
			continue
		}
		text, err := readSecret(name)
		if err != nil {
			return nil, fmt.Errorf("%s, from %s: %w", l.key, s.origin(l.key), err)
		}
		s.viper.Set(l.secret, text)
		s.files[l.secret] = l.key
	}
	return wrong, nil
}

// readSecret returns what a file holds, without the end of its last line. No
// error shows any of it.
func readSecret(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit.Secret+1))
	if err != nil {
		return "", err
	}
	if len(text) > limit.Secret {
		return "", fmt.Errorf("%s is larger than %d KiB: a secret is a line", name, limit.Secret>>10)
	}
	line := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if line == "" {
		return "", errors.New(name + " is empty")
	}
	return line, nil
}
