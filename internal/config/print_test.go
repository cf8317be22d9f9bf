package config

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// What is printed is a configuration file in the order of the shipped one; read
// again it gives the same settings.
func TestPrintCanBeReadAgain(t *testing.T) {
	t.Setenv("ANTIPODE_TABLES_DIR", `/a "b": #c`)
	t.Setenv("ANTIPODE_NATS_USER", "null")
	t.Setenv("ANTIPODE_NATS_PASSWORD", "xxxxx") // as it is masked
	t.Setenv("ANTIPODE_LOG_LEVEL", "warn")
	t.Setenv("ANTIPODE_MEMORY", "1073741825")
	var text bytes.Buffer
	if err := PrintWorker(&text, nil, nil, ""); err != nil {
		t.Fatal(err)
	}
	want, err := LoadWorker(nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	file := fileWith(t, text.String())
	for _, name := range []string{"TABLES_DIR", "NATS_USER", "NATS_PASSWORD", "LOG_LEVEL", "MEMORY"} {
		os.Unsetenv("ANTIPODE_" + name) // t.Setenv restores it
	}
	if got, err := LoadWorker(nil, nil, file); err != nil || got != want {
		t.Errorf("error %v\n got %+v\nwant %+v\n%s", err, got, want, &text)
	}
	shipped, err := os.ReadFile(filepath.Join("..", "..", "configs", "worker.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := keysInOrder(text.String()), keysInOrder(string(shipped)); !slices.Equal(got, want) {
		t.Errorf("order\n got %q\nwant %q", got, want)
	}
}

func TestPrintOfDefaultsIsTheShippedFile(t *testing.T) {
	var text bytes.Buffer
	if err := PrintSubmit(&text, nil, nil, ""); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(text.String(), "  # default\n"); lines != len(leavesOf(DefaultSubmit())) {
		t.Errorf("%d of %d lines are defaults:\n%s", lines, len(leavesOf(DefaultSubmit())), &text)
	}
	shipped, err := os.ReadFile(filepath.Join("..", "..", "configs", "submit.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	comments := regexp.MustCompile(`(?m)^ *#.*\n|  # default$|^\n`)
	bare := func(text string) string { return comments.ReplaceAllString(text, "") }
	if got, want := bare(text.String()), bare(string(shipped)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPrintSaysWhereFrom(t *testing.T) {
	hush := fileWith(t, "hush")
	file := fileWith(t, "nats: {user: me, password_file: "+hush+"}\nredis: {password: hush}\nslots: 3\nmemory:\n")
	t.Setenv("ANTIPODE_NATS_URL", "nats://queue:4222,tls://other:4222")
	t.Setenv("ANTIPODE_CACHE_SECRET", "hush")
	t.Setenv("ANTIPODE_REDIS_ADDR", "")
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.String("drain", "", "")
	if err := flags.Parse([]string{"--drain=5s"}); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := PrintWorker(&text, flags, Flags{"drain": "drain"}, file); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"nats:\n  url: nats://queue:4222,tls://other:4222  # variable ANTIPODE_NATS_URL\n  replicas: 1  # default\n  user: me  # file " + file + "\n",
		"  password: xxxxx  # the file of nats.password_file\n  password_file: " + hush + "  # file " + file + "\n",
		"  tls:\n    ca: \"\"  # default\n",
		"  addr: \"\"  # variable ANTIPODE_REDIS_ADDR\n",
		"  password: xxxxx  # file " + file + "\n  password_file: \"\"  # default\n",
		"  secret: xxxxx  # variable ANTIPODE_CACHE_SECRET\n",
		"\nslots: 3  # file " + file + "\n",
		"\nmemory: 1GiB  # default\n",
		"\ndrain: 5s  # flag --drain\n",
	} {
		if !strings.Contains(text.String(), line) {
			t.Errorf("no %q in\n%s", line, &text)
		}
	}
	if strings.Contains(text.String(), "hush") {
		t.Errorf("the secret is shown:\n%s", &text)
	}
}

func TestPrintMasksAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"nats://me:hush@queue:4222,nats://hush@other:4222": "  url: nats://xxxxx@queue:4222,nats://xxxxx@other:4222  #",
		"me:hush@queue":             "  url: nats://xxxxx@queue  #",
		"nats://me:hu%sh@queue:422": `  url: "an address that cannot be read"  #`,
	} {
		t.Setenv("ANTIPODE_NATS_URL", address)
		var text bytes.Buffer
		if err := PrintSubmit(&text, nil, nil, ""); err != nil || !strings.Contains(text.String(), want) || strings.Contains(strings.ReplaceAll(text.String(), "chunks", ""), "hu") {
			t.Errorf("%s: error %v\n%s", address, err, &text)
		}
	}
}
