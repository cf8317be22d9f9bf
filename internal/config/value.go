package config

import (
	"log/slog"
	"reflect"
	"strconv"
	"time"

	"antipode/internal/secret"
)

// wantError says what a setting accepts, as a noun phrase.
type wantError string

func (w wantError) Error() string { return "want " + string(w) }

// readValue turns what a flag, a variable or the file holds into a setting's
// type. Nothing is guessed: a bare number is no time, a fraction no count, and
// a number no text (YAML reads 0123 as 83). It is a mapstructure decode hook;
// sections, which it is called for too, pass through.
func readValue(_, to reflect.Type, v any) (any, error) {
	switch to {
	case reflect.TypeFor[int](), reflect.TypeFor[int64]():
		return readNumber(v)
	case reflect.TypeFor[Size]():
		return readSize(v)
	case reflect.TypeFor[time.Duration]():
		return readDuration(v)
	case reflect.TypeFor[slog.Level]():
		return readLevel(v)
	case reflect.TypeFor[string](), reflect.TypeFor[secret.Text]():
		switch v.(type) {
		case string, secret.Text: // a default has the field's type
		default:
			return nil, wantError("text, in quotes where it looks like something else")
		}
	}
	return v, nil
}

func readNumber(v any) (any, error) {
	switch v := v.(type) {
	case int, int64:
		return v, nil
	case string:
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return n, nil
		}
	}
	return nil, wantError("a whole number")
}

func readSize(v any) (any, error) {
	switch v := v.(type) {
	case Size:
		return v, nil
	case int:
		return Size(v), nil
	case string:
		var s Size
		if err := s.UnmarshalText([]byte(v)); err == nil {
			return s, nil
		}
	}
	return nil, wantError("a size such as 256MiB, or a number of bytes")
}

func readDuration(v any) (any, error) {
	switch v := v.(type) {
	case time.Duration:
		return v, nil
	case int:
		if v == 0 {
			return time.Duration(0), nil
		}
	case string:
		if d, err := time.ParseDuration(v); err == nil {
			return d, nil
		}
	}
	return nil, wantError("a time with its unit, such as 500ms, 30s or 1h30m")
}

func readLevel(v any) (any, error) {
	switch v := v.(type) {
	case slog.Level:
		return v, nil
	case string:
		var l slog.Level
		if err := l.UnmarshalText([]byte(v)); err == nil {
			return l, nil
		}
	}
	return nil, wantError("one of debug, info, warn, error")
}
