package config

import (
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"antipode/internal/secret"
)

// PrintWorker writes the settings that LoadWorker would return, as YAML in the
// order of configs/worker.yaml: a setting a line, with where it came from as a
// comment. Secrets, and users and passwords in addresses, are masked.
func PrintWorker(w io.Writer, flags *pflag.FlagSet, bind Flags, file string) error {
	cfg, s, err := read(DefaultWorker(), flags, bind, file, Worker.check)
	if err != nil {
		return err
	}
	return s.print(w, leaves("", reflect.ValueOf(cfg)))
}

// PrintSubmit is PrintWorker for the settings of submit.
func PrintSubmit(w io.Writer, flags *pflag.FlagSet, bind Flags, file string) error {
	cfg, s, err := read(DefaultSubmit(), flags, bind, file, Submit.check)
	if err != nil {
		return err
	}
	return s.print(w, leaves("", reflect.ValueOf(cfg)))
}

func (s *sources) print(w io.Writer, settings []leaf) error {
	var section []string
	for _, l := range settings {
		path := strings.Split(l.key, ".")
		at := len(path) - 1
		for i, name := range path[:at] {
			if i < len(section) && section[i] == name {
				continue
			}
			section = append(section[:i:i], name)
			if _, err := fmt.Fprintf(w, "%s%s:\n", strings.Repeat("  ", i), name); err != nil {
				return err
			}
		}
		section = section[:at]
		value := l.value
		if l.secret != "" { // the struct has no field for the name of a file
			value = s.viper.Get(l.key)
		}
		if _, err := fmt.Fprintf(w, "%s%s: %s  # %s\n", strings.Repeat("  ", at), path[at], scalar(l.key, value), s.comment(l.key)); err != nil {
			return err
		}
	}
	return nil
}

// comment says where a value came from, on one line.
func (s *sources) comment(key string) string {
	kind, name := s.source(key)
	switch {
	case kind == "":
		return "default"
	case strings.ContainsFunc(name, unicode.IsControl): // the name of a file may hold anything
		name = strconv.Quote(name)
	}
	return kind + " " + name
}

// plain is text that YAML reads as itself without quotes.
var plain = regexp.MustCompile(`^[A-Za-z/.][A-Za-z0-9_./:@,+-]*[A-Za-z0-9_/]$`)

// scalar writes a value as YAML, masked where it may hold a secret.
func scalar(key string, value any) string {
	switch v := value.(type) {
	case slog.Level:
		return strings.ToLower(v.String())
	case string:
		if isAddress(key) {
			v = secret.Redact(v)
		}
		if !plain.MatchString(v) || isWord(v) {
			return strconv.Quote(v)
		}
		return v
	case secret.Text:
		if v == "" {
			return `""`
		}
	}
	return fmt.Sprint(value)
}

// isWord reports whether YAML takes a text for something else.
func isWord(v string) bool {
	switch strings.ToLower(v) {
	case "true", "false", "yes", "no", "on", "off", "null", ".nan", ".inf":
		return true
	}
	return false
}

// isAddress reports whether a setting may have a password in its text.
func isAddress(key string) bool {
	return strings.HasSuffix(key, ".url") || strings.HasSuffix(key, ".addr")
}
