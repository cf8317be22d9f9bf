package config

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/viper"
)

// The files that are shipped hold every key, its default, and a comment.

func TestShippedWorkerFile(t *testing.T) {
	file := filepath.Join("..", "..", "configs", "worker.yaml")
	if w, err := LoadWorker(nil, nil, file); err != nil || w != DefaultWorker() {
		t.Errorf("error %v\n got %+v\nwant %+v", err, w, DefaultWorker())
	}
	isComplete(t, file, leavesOf(DefaultWorker()))
}

func TestShippedSubmitFile(t *testing.T) {
	file := filepath.Join("..", "..", "configs", "submit.yaml")
	if s, err := LoadSubmit(nil, nil, file); err != nil || s != DefaultSubmit() {
		t.Errorf("error %v\n got %+v\nwant %+v", err, s, DefaultSubmit())
	}
	isComplete(t, file, leavesOf(DefaultSubmit()))
}

// keysInOrder lists the keys of a file whose sections are indented by two blanks.
func keysInOrder(text string) (keys []string) {
	var path []string
	for _, m := range regexp.MustCompile(`(?m)^( *)([a-z_]+):( \S)?`).FindAllStringSubmatch(text, -1) {
		path = append(path[:len(m[1])/2], m[2])
		if m[3] != "" {
			keys = append(keys, strings.Join(path, "."))
		}
	}
	return keys
}

func isComplete(t *testing.T, file string, known []leaf) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	v := viper.New()
	v.SetConfigType("yaml")
	if err := v.ReadConfig(bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, l := range known {
		want = append(want, l.key)
		if v.Get(l.key) == nil {
			t.Errorf("%s has no value", l.key)
		}
	}
	if got := keysInOrder(string(text)); !slices.Equal(got, want) {
		t.Errorf("order\n got %q\nwant %q", got, want)
	}
	got := v.AllKeys()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("keys\n got %q\nwant %q", got, want)
	}

	setting := regexp.MustCompile(`^ *[a-z_]+: \S`)
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if setting.MatchString(line) && !strings.HasPrefix(strings.TrimSpace(lines[i-1]), "# ") {
			t.Errorf("line %d has no comment above it: %s", i+1, line)
		}
	}
}
