package puzzle

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// keysOf lists the keys of a definition's struct, [] standing for each part of a
// list.
func keysOf(key string, t reflect.Type) (keys []string) {
	switch t.Kind() {
	case reflect.Pointer:
		return keysOf(key, t.Elem())
	case reflect.Slice:
		return keysOf(key+"[]", t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if tag := t.Field(i).Tag.Get("yaml"); tag != "" {
				at := inside(key, tag)
				keys = append(append(keys, at), keysOf(at, t.Field(i).Type)...)
			}
		}
	}
	return keys
}

// docs/puzzles.md names every key, and no other; its examples are definitions.
func TestDocumentedKeys(t *testing.T) {
	text, err := os.ReadFile("../../docs/puzzles.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]+`) \\| (?:text|number|list|map|true)").FindAllStringSubmatch(string(text), -1) {
		for _, key := range strings.Split(row[1], ", ") {
			documented[strings.Trim(key, "`")] = true
		}
	}
	for _, key := range keysOf("", reflect.TypeFor[definition]()) {
		if !documented[key] {
			t.Errorf("%s is not documented", key)
		}
		delete(documented, key)
	}
	for key := range documented {
		t.Errorf("%s is documented, and no key", key)
	}
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(examples) == 0 {
		t.Error("no examples")
	}
	for _, e := range examples {
		parsed(t, e[1])
	}
}
