package limit

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// constants returns the exported constants of this package.
func constants(t *testing.T) map[string]int64 {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "limit.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := new(types.Config).Check("limit", files, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int64{}
	for _, name := range pkg.Scope().Names() {
		c, ok := pkg.Scope().Lookup(name).(*types.Const)
		if !ok {
			t.Errorf("%s is no constant", name)
			continue
		}
		if all[name], ok = constant.Int64Val(c.Val()); !ok {
			t.Errorf("%s does not fit", name)
		}
	}
	return all
}

// docs/limits.md has a row for every limit, with its number, and no other.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string][]string{}
	for _, row := range regexp.MustCompile("(?m)^\\|[^|]*\\| ([^|]*) \\|.*\\| `([A-Za-z]+)` \\|$").FindAllStringSubmatch(string(text), -1) {
		documented[row[2]] = append(documented[row[2]], row[1])
	}
	all := constants(t)
	if len(all) < 20 {
		t.Errorf("%d constants", len(all))
	}
	for name, n := range all {
		if documented[name] == nil {
			t.Errorf("%s is not documented", name)
		}
		for _, got := range documented[name] {
			if !says(got, n) {
				t.Errorf("%s is documented as %s, and is %d", name, got, n)
			}
		}
		delete(documented, name)
	}
	for name := range documented {
		t.Errorf("%s is documented, and no limit", name)
	}
}

// says tells whether a text is a number, or so many bytes.
func says(text string, n int64) bool {
	if kib, ok := strings.CutSuffix(text, " KiB"); ok {
		return kib == strconv.FormatInt(n/1024, 10) && n%1024 == 0
	}
	return strings.ReplaceAll(strings.TrimSuffix(text, " bytes"), ",", "") == strconv.FormatInt(n, 10)
}

// Where one limit is made of others, it holds them.
func TestLimitsAgree(t *testing.T) {
	for name, ok := range map[string]bool{
		"a record fits a chunk":                            Record <= Chunk,
		"the edges and boards of a record fit it":          Edges*len("16 16\n")+2*Cells*len("255 ")+len("1024\n") <= Record,
		"the refs of a job fit their header":               JobDefinitions*(Token+len("@")+64+len(" ")) <= PuzzleHeader,
		"a file's name fits its header":                    FileShown+len("…") <= FileHeader,
		"all moves fit a definition":                       Moves*len("  - {name: 255, cycles: (1 2)}\n") <= Definition,
		"an example fits a definition":                     Example+About <= Definition,
		"a worker keeps what one job brings":               JobDefinitions <= KeptDefinitions,
		"a chunk that cannot end is given up by its tries": Tries < Deliveries,
	} {
		if !ok {
			t.Errorf("not so: %s", name)
		}
	}
}
