package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

// sources are the places that settings come from, laid over one another.
type sources struct {
	viper *viper.Viper
	file  string                 // "" is none
	flags map[string]*pflag.Flag // by key
}

func newSources(known []leaf, flags *pflag.FlagSet, bind Flags, file string) (*sources, error) {
	s := &sources{viper: viper.New(), file: file, flags: make(map[string]*pflag.Flag)}
	if err := s.readFile(known); err != nil {
		return nil, err
	}
	s.viper.AllowEmptyEnv(true)
	for _, l := range known {
		// The default makes viper know the key. Each key has its variable
		// bound by name: AutomaticEnv would let ANTIPODE_CACHE hide all of
		// cache.*.
		s.viper.SetDefault(l.key, l.value)
		if err := s.viper.BindEnv(l.key, variable(l.key)); err != nil {
			return nil, fmt.Errorf("bind %s: %w", variable(l.key), err)
		}
	}
	for name, key := range bind {
		flag := flags.Lookup(name)
		if flag == nil || !isKnown(known, key) {
			return nil, fmt.Errorf("flag --%s for %s: no such flag or setting", name, key)
		}
		s.flags[key] = flag
		if err := s.viper.BindPFlag(key, flag); err != nil {
			return nil, fmt.Errorf("bind --%s: %w", name, err)
		}
	}
	return s, nil
}

// variable returns the name of the environment variable that sets a key.
func variable(key string) string {
	return "ANTIPODE_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
}

func isKnown(known []leaf, key string) bool {
	return slices.ContainsFunc(known, func(l leaf) bool { return l.key == key })
}

// readFile reads the file, if there is one, and refuses keys that are not
// known. It runs before anything else is bound, while viper's keys are the
// file's.
func (s *sources) readFile(known []leaf) error {
	if s.file == "" {
		return nil
	}
	text, err := os.ReadFile(s.file)
	if err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	s.viper.SetConfigType("yaml")
	if err := s.viper.ReadConfig(bytes.NewReader(text)); err != nil {
		return fmt.Errorf("read the configuration %s: %w", s.file, err)
	}
	var unknown []string
	for _, key := range s.viper.AllKeys() {
		empty := s.viper.Get(key) == nil
		inside := func(l leaf) bool { return strings.HasPrefix(l.key, key+".") }
		if !isKnown(known, key) && !(empty && slices.ContainsFunc(known, inside)) {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	var keys []string
	for _, l := range known {
		keys = append(keys, l.key)
	}
	return fmt.Errorf("%s has unknown settings: %s; correct or remove them; the settings are %s",
		s.file, strings.Join(unknown, ", "), strings.Join(keys, ", "))
}

// decode writes every setting into the struct that out points to. A value that
// cannot be read is a problem, and leaves its field alone.
func (s *sources) decode(out any) (problems, error) {
	strict := func(c *mapstructure.DecoderConfig) { c.WeaklyTypedInput = false }
	err := s.viper.UnmarshalExact(out, strict, viper.DecodeHook(readValue))
	var wrong problems
	for _, e := range flatten(err) {
		var field *mapstructure.DecodeError
		var want wantError
		if !errors.As(e, &field) || !errors.As(e, &want) {
			return nil, fmt.Errorf("decode the configuration: %w", e)
		}
		wrong.add(field.Name(), string(want))
	}
	return wrong, nil
}

// flatten returns the errors that were joined to make err.
func flatten(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok:
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, flatten(e)...)
	}
	return all
}

// explain turns a problem into an error that says what to do about it. Values
// that may hold a password are not shown.
func (s *sources) explain(p problem) error {
	if p.key == "cache.secret" || p.key == "nats.url" {
		return fmt.Errorf("%s from %s: want %s", p.key, s.origin(p.key), p.want)
	}
	value := s.viper.Get(p.key)
	if text, ok := value.(string); ok {
		value = fmt.Sprintf("%q", text)
	}
	return fmt.Errorf("%s is %v, from %s: want %s", p.key, value, s.origin(p.key), p.want)
}

// origin says where the value of a key came from.
func (s *sources) origin(key string) string {
	if f := s.flags[key]; f != nil && f.Changed {
		return "--" + f.Name
	}
	if _, ok := os.LookupEnv(variable(key)); ok {
		return variable(key)
	}
	if s.viper.InConfig(key) {
		return s.file
	}
	return "the defaults"
}
