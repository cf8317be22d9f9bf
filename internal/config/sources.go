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
	known []leaf
	viper *viper.Viper
	file  string                 // "" is none
	flags map[string]*pflag.Flag // by key
	files map[string]string      // by the key of a secret, the key that names the file it is from
}

func newSources(known []leaf, flags *pflag.FlagSet, bind Flags, file string) (*sources, error) {
	s := &sources{known: known, viper: viper.New(), file: file, flags: make(map[string]*pflag.Flag), files: make(map[string]string)}
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
		if strings.Contains(err.Error(), "cannot unmarshal") { // the rest shows what the file holds
			return fmt.Errorf("read the configuration %s: it holds no settings; want 'key: value'", s.file)
		}
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
	d, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{Result: out, ErrorUnused: true, DecodeHook: readValue})
	if err != nil {
		return nil, fmt.Errorf("decode the configuration: %w", err)
	}
	err = d.Decode(s.settings())
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

// settings are the values as the struct has them: without the names of files that
// hold secrets.
func (s *sources) settings() map[string]any {
	all := s.viper.AllSettings()
	for _, l := range s.known {
		if l.secret == "" {
			continue
		}
		section, path := all, strings.Split(l.key, ".")
		for _, name := range path[:len(path)-1] {
			section, _ = section[name].(map[string]any)
		}
		delete(section, path[len(path)-1])
	}
	return all
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
	value := s.viper.Get(p.key)
	text, isText := value.(string)
	if p.hide || s.isSecret(p.key) || strings.Contains(text, "@") {
		var from []string
		for _, key := range append([]string{p.key}, p.others...) {
			from = append(from, key+" from "+s.origin(key))
		}
		return fmt.Errorf("%s: want %s", strings.Join(from, ", "), p.want)
	}
	if isText {
		value = fmt.Sprintf("%q", text)
	}
	return fmt.Errorf("%s is %v, from %s: want %s", p.key, value, s.origin(p.key), p.want)
}

// isSecret reports whether a key is a secret's.
func (s *sources) isSecret(key string) bool {
	return slices.ContainsFunc(s.known, func(l leaf) bool { return l.secret == key })
}

// origin says where the value of a key came from.
func (s *sources) origin(key string) string {
	_, name := s.source(key)
	return name
}

// source is origin, with what kind of thing that is.
func (s *sources) source(key string) (kind, name string) {
	if file, ok := s.files[key]; ok {
		return "the file of", file
	}
	if f := s.flags[key]; f != nil && f.Changed {
		return "flag", "--" + f.Name
	}
	if _, ok := os.LookupEnv(variable(key)); ok {
		return "variable", variable(key)
	}
	if s.viper.InConfig(key) {
		return "file", s.file
	}
	return "", "the defaults"
}
