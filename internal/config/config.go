// Package config reads the settings of the two programs: one struct a program,
// every value checked.
//
// A setting has one name, its key:
//
//	nats.url             in errors and documentation
//	ANTIPODE_NATS_URL    in the environment
//	nats: {url: …}       in the configuration file, which is YAML
//
// The first of these that sets it wins: a flag that was given, the environment,
// the file, the default. A variable that is set and empty means empty. A key
// without a value in the file means the default; a key that no setting has is
// an error.
package config

import (
	"errors"
	"os"
	"reflect"

	"github.com/spf13/pflag"
)

// FileVariable is the environment variable that names the configuration file
// when no flag does.
const FileVariable = "ANTIPODE_CONFIG"

// Flags says which flag sets which key: flag names to keys. A flag counts only
// when it was given; its own default is never read.
type Flags map[string]string

// load lays everything that is set over cfg, which holds the defaults.
func load[T any](cfg T, flags *pflag.FlagSet, bind Flags, file string, check func(T) problems) (T, error) {
	if file == "" {
		file = os.Getenv(FileVariable)
	}
	s, err := newSources(leaves("", reflect.ValueOf(cfg)), flags, bind, file)
	if err != nil {
		return cfg, err
	}
	wrong, err := s.decode(&cfg)
	if err != nil {
		return cfg, err
	}
	var errs []error
	for _, p := range append(wrong, check(cfg)...) {
		errs = append(errs, s.explain(p))
	}
	return cfg, errors.Join(errs...)
}

// leaf is one setting: its key and its default.
type leaf struct {
	key   string
	value any
}

// leaves lists the settings in a struct, in order. A field that is a struct is
// a section: its tag is the first part of its settings' keys.
func leaves(section string, v reflect.Value) []leaf {
	var all []leaf
	for i := range v.NumField() {
		key := section + v.Type().Field(i).Tag.Get("mapstructure")
		if f := v.Field(i); f.Kind() == reflect.Struct {
			all = append(all, leaves(key+".", f)...)
		} else {
			all = append(all, leaf{key, f.Interface()})
		}
	}
	return all
}
