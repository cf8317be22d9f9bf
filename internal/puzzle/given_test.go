package puzzle

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"antipode/internal/limit"
)

// A given puzzle is known by its name and the SHA-256 of its definition, and is
// otherwise what the definition says.
func TestGiven(t *testing.T) {
	p, err := Given("mine", "dir/mine.yaml", []byte(swap2x2))
	if err != nil {
		t.Fatal(err)
	}
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(swap2x2)))
	if p.Name != "mine" || p.Ref() != "mine@"+hash || string(p.Definition()) != swap2x2 || Hash([]byte(swap2x2)) != hash {
		t.Errorf("%s, %s", p.Name, p.Ref())
	}
	if name, h, err := ParseRef(p.Ref()); name != "mine" || h != hash || err != nil {
		t.Errorf("%s, %s, %v", name, h, err)
	}
	built := parsed(t, swap2x2)
	if built.Ref() != "test" || built.Definition() != nil || built.Space().Fingerprint() != p.Space().Fingerprint() {
		t.Errorf("%s has another fingerprint, or a definition", built.Ref())
	}
	// A comment changes the hash, and not the mathematics.
	other, err := Given("mine", "mine.yaml", []byte("# mine\n"+swap2x2))
	if err != nil || other.Ref() == p.Ref() || other.Space().Fingerprint() != p.Space().Fingerprint() {
		t.Errorf("%v, %v", other, err)
	}
}

func TestGivenIsRefused(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"", swap2x2, `f.yaml: "" is no name of a puzzle`},
		{"a b", swap2x2, `f.yaml: "a b" is no name`},
		{"a@b", swap2x2, "is no name"},
		{"a/b", swap2x2, "is no name"},
		{"a\n", swap2x2, "is no name"},
		{"é", swap2x2, "is no name"},
		{strings.Repeat("a", 65), swap2x2, "is no name"},
		{"mine", "", "f.yaml:1: definition: empty"},
		{"mine", strings.Replace(swap2x2, "(1 3)", "(1 9)", 1), "f.yaml:7: moves[3].cycles: "},
		{"mine", swap2x2 + strings.Repeat("#", limit.Definition+1-len(swap2x2)), "f.yaml:1: definition: 16385 bytes; 16384 are possible"},
	} {
		p, err := Given(c.name, "f.yaml", []byte(c.text))
		if p != nil || err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q, %.20q: %v, want %s", c.name, c.text, err, c.want)
		}
	}
	for _, name := range []string{"a", "A-b_9", "-", strings.Repeat("a", 64)} {
		if _, err := Given(name, "f.yaml", []byte(swap2x2+strings.Repeat("#", limit.Definition-len(swap2x2)))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParseRef(t *testing.T) {
	hash := Hash(nil)
	for _, ref := range []string{"eight", "a", "A-b_9@" + hash, strings.Repeat("a", 64) + "@" + hash} {
		name, h, err := ParseRef(ref)
		want, wantHash, _ := strings.Cut(ref, "@")
		if err != nil || name != want || h != wantHash {
			t.Errorf("%s: %s, %s, %v", ref, name, h, err)
		}
	}
	for _, ref := range []string{
		"", "@", "a@", "@" + hash, "a@" + hash[1:], "a@" + hash + "0", "a@" + strings.ToUpper(hash), "a@" + hash + "\n", "a\n@" + hash,
		"a@@" + hash, "a@" + hash + "@", "a.b@" + hash, "../../etc/passwd@" + hash, "a b", "*@" + hash, "a@" + hash[:63] + "*",
		strings.Repeat("a", 65), strings.Repeat("\x00", 1<<20),
	} {
		name, h, err := ParseRef(ref)
		if name != "" || h != "" || err == nil || len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\n\x00") {
			t.Errorf("%.100q: %s, %s, %v", ref, name, h, err)
		}
	}
}

// Given puzzles take the place of those of their names in the new set, and not in
// the old one.
func TestSetWithGiven(t *testing.T) {
	set, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	given := func(name, comment string) *Puzzle {
		p, err := Given(name, name+".yaml", []byte("# "+comment+"\n"+swap2x2))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	eight, mine, again := given("eight", "1"), given("mine", "1"), given("mine", "2")
	with := set.With(eight, mine).With(again)
	for name, want := range map[string]*Puzzle{"eight": eight, eight.Ref(): eight, "mine": again, mine.Ref(): mine, again.Ref(): again} {
		if p, err := with.Get(name); p != want || err != nil {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	if want := []string{"eight", "eight2", "graph", "mine", "rotegame", "swap"}; !slices.Equal(with.Names(), want) {
		t.Errorf("names %v, want %v", with.Names(), want)
	}
	if p, err := set.Get("eight"); err != nil || p == eight {
		t.Errorf("the old set has the given puzzle: %v", err)
	}
	for _, name := range []string{"mine", mine.Ref()} {
		if _, err := set.Get(name); err == nil {
			t.Errorf("the old set has %s", name)
		}
	}
}

// The definitions that come with the program, given under other names, have the
// same mathematics and the same ways to read and print.
func TestBuiltinsGiven(t *testing.T) {
	set, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range set.Names() {
		text, err := os.ReadFile("builtin/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		p, err := Given("mine", "mine.yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		own, err := set.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if (p.Space() == nil) != (own.Space() == nil) || p.Space() != nil && p.Space().Fingerprint() != own.Space().Fingerprint() {
			t.Errorf("%s: another space", name)
		}
		if !slices.Equal(p.Parts(), own.Parts()) || p.Want != own.Want || p.Case != own.Case || p.Separator != own.Separator || p.Count != own.Count || p.ChunkRecords != own.ChunkRecords {
			t.Errorf("%s: %+v, want %+v", name, p, own)
		}
	}
}
