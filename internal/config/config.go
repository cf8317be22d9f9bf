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
//
// A secret can come from a file that its key with _file after it names:
// nats.password_file, ANTIPODE_NATS_PASSWORD_FILE.
package config

import (
	"errors"
	"os"
	"reflect"
	"slices"

	"github.com/spf13/pflag"

	"antipode/internal/secret"
)

// FileVariable is the environment variable that names the configuration file
// when no flag does.
const FileVariable = "ANTIPODE_CONFIG"

// Flags says which flag sets which key: flag names to keys. A flag counts only
// when it was given; its own default is never read.
type Flags map[string]string

// load lays everything that is set over cfg, which holds the defaults.
func load[T any](cfg T, flags *pflag.FlagSet, bind Flags, file string, check func(T) problems) (T, error) {
	cfg, _, err := read(cfg, flags, bind, file, check)
	return cfg, err
}

// read is load, and also says where everything came from.
func read[T any](cfg T, flags *pflag.FlagSet, bind Flags, file string, check func(T) problems) (T, *sources, error) {
	if file == "" {
		file = os.Getenv(FileVariable)
	}
	s, err := newSources(leaves("", reflect.ValueOf(cfg)), flags, bind, file)
	if err != nil {
		return cfg, nil, err
	}
	twice, err := s.readSecrets()
	if err != nil {
		return cfg, nil, err
	}
	wrong, err := s.decode(&cfg)
	if err != nil {
		return cfg, nil, err
	}
	var errs []error
	for _, p := range slices.Concat(twice, wrong, check(cfg)) {
		errs = append(errs, s.explain(p))
	}
	return cfg, s, errors.Join(errs...)
}

// leaf is one setting: its key and its default.
type leaf struct {
	key    string
	value  any
	secret string // the key of the secret that is in the file which this one names; "" for all others
}

// leaves lists the settings in a struct, in order. A field that is a struct is
// a section: its tag is the first part of its settings' keys, unless it is
// embedded. A secret has a second key, of which the struct knows nothing.
func leaves(section string, v reflect.Value) []leaf {
	var all []leaf
	for i := range v.NumField() {
		field, f := v.Type().Field(i), v.Field(i)
		key := section + field.Tag.Get("mapstructure")
		switch {
		case field.Anonymous:
			all = append(all, leaves(section, f)...)
		case f.Kind() == reflect.Struct:
			all = append(all, leaves(key+".", f)...)
		default:
			all = append(all, leaf{key: key, value: f.Interface()})
			if f.Type() == reflect.TypeFor[secret.Text]() {
				all = append(all, leaf{key: key + fileSuffix, value: "", secret: key})
			}
		}
	}
	return all
}
