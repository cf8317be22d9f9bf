package puzzle

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"antipode/internal/limit"
)

// source is the text of a definition as errors speak of it.
type source struct {
	file  string
	lines map[string]int // of each key that is given, from 1
}

// decoder is a value with a way of its own to be read.
type decoder interface {
	decode(s *source, key string, n ast.Node) error
}

// readSource reads the YAML text into the struct that out points to, and keeps
// where each key stands. It is stricter than a YAML decoder: nothing that is
// written is bent to what is wanted, and every key has a value.
func readSource(file string, text []byte, out any) (s *source, err error) {
	s = &source{file: file, lines: map[string]int{}}
	defer func() { // some panics of the YAML package are known
		if p := recover(); p != nil {
			err = s.notYAML(p)
		}
	}()
	if len(text) > limit.Definition {
		return nil, s.wrong("", "%d bytes; %d are possible", len(text), limit.Definition)
	}
	// The scanner miscounts lines that end with \r\n.
	plain := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(text), "\ufeff"))
	for i, line := range strings.Split(plain, "\n") {
		if !utf8.ValidString(line) {
			s.lines[""] = i + 1
			return nil, s.wrong("", "not UTF-8; save it in that encoding")
		}
	}
	tokens := lexer.Tokenize(plain)
	if err := s.refuse(tokens); err != nil {
		return nil, err
	}
	root, err := s.parse(tokens)
	if err != nil {
		return nil, err
	}
	return s, s.decode("", root, out)
}

// refuse looks for what no definition needs and a stranger's could hurt with: a
// few hundred bytes of aliases to aliases stand for gigabytes, and the time to
// parse grows with the square of the nesting.
func (s *source) refuse(tokens token.Tokens) error {
	brackets, dashes := 0, 0 // open; in a row
	for _, t := range tokens {
		s.lines[""] = t.Position.Line
		if t.Type != token.SequenceEntryType {
			dashes = 0
		}
		switch t.Type {
		case token.SequenceEntryType:
			dashes++
		case token.AliasType, token.AnchorType, token.TagType, token.DirectiveType, token.MergeKeyType:
			return s.wrong("", "%s; aliases, anchors, tags, directives and merges are not read: write it out, or in quotes if it is text", quote([]byte(t.Value)))
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets = max(brackets-1, 0)
		}
		if brackets+dashes > limit.Nesting {
			return s.wrong("", "lists in lists; %d are possible", limit.Nesting)
		}
	}
	delete(s.lines, "")
	return nil
}

// parse returns the one YAML document that the tokens are.
func (s *source) parse(tokens token.Tokens) (root ast.Node, err error) {
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	var at yaml.Error
	switch {
	case errors.As(err, &at) && at.GetToken() != nil:
		return nil, s.notYAMLAt(at, tokens)
	case err != nil:
		return nil, s.notYAML(err)
	}
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case root != nil:
			s.lines[""] = doc.Body.GetToken().Position.Line
			return nil, s.wrong("", "a second YAML document; a file holds one")
		default:
			root = doc.Body
		}
	}
	if root == nil {
		return nil, s.wrong("", "empty; give at least a board, its moves and a goal")
	}
	s.lines[""] = root.GetToken().Position.Line
	return root, nil
}

func (s *source) notYAML(reason any) error {
	return s.wrong("", "not YAML: %s; look at the quotes, brackets and indentation", quote(fmt.Append(nil, reason)))
}

// notYAMLAt reports an error of syntax under the last key of the definition
// before it.
func (s *source) notYAMLAt(at yaml.Error, tokens token.Tokens) error {
	line, key := at.GetToken().Position.Line, ""
	for _, t := range tokens {
		if t.Next != nil && t.Next.Type == token.MappingValueType && t.Position.Column == 1 && t.Position.Line <= line {
			key = t.Value
		}
	}
	s.lines[shown(key)] = line
	message, _, _ := strings.Cut(at.GetMessage(), ": ") // pieces of the text may follow
	return s.wrong(shown(key), "not YAML: %s; look at the quotes, brackets and indentation there and above", strings.ReplaceAll(message, "\t", "\\t"))
}

// has tells whether a key is given.
func (s *source) has(key string) bool { return s.lines[key] != 0 }

// wrong makes an error about a key, "" being the whole definition. The line of a
// key that is missing is that of the nearest which holds it.
func (s *source) wrong(key, format string, args ...any) error {
	line, ok := s.lines[key]
	for at := key; !ok && at != ""; line, ok = s.lines[at] {
		at = at[:max(0, strings.LastIndexAny(at, ".["))]
	}
	if key == "" {
		key = "definition"
	}
	return fmt.Errorf("%s:%d: %s: %s", s.file, max(line, 1), key, fmt.Sprintf(format, args...))
}

// inside returns the key of a key in a map.
func inside(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

// item returns the key of part i of a list.
func item(key string, i int) string { return fmt.Sprintf("%s[%d]", key, i+1) }

// shown returns a key as it is, or in quotes where it could be mistaken.
func shown(name string) string {
	if q := quote([]byte(name)); q != `"`+name+`"` || strings.ContainsAny(name, ": ") {
		return q
	}
	return name
}

// what names a value in an error.
func what(n ast.Node) string {
	switch n.(type) {
	case ast.MapNode:
		return "a map"
	case *ast.SequenceNode:
		return "a list"
	case *ast.LiteralNode:
		return "a text of lines"
	}
	return quote([]byte(n.GetToken().Value))
}

// decode reads a value that stands under a key into the variable that out points
// to.
func (s *source) decode(key string, n ast.Node, out any) error {
	if t := n.GetToken(); t.Type == token.ImplicitNullType {
		return s.wrong(key, "no value; give one, or leave the key out")
	}
	if d, ok := out.(decoder); ok {
		return d.decode(s, key, n)
	}
	v := reflect.ValueOf(out).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return s.decode(key, n, v.Interface())
	case reflect.Struct:
		return s.decodeMap(key, n, v)
	case reflect.Slice:
		return s.decodeList(key, n, v)
	case reflect.Int:
		i, ok := number(n)
		if !ok {
			return s.wrong(key, "%s is not a whole number of at most nine digits; write digits alone, as 12", what(n))
		}
		v.SetInt(int64(i))
	case reflect.Bool:
		b, ok := n.(*ast.BoolNode)
		if !ok {
			return s.wrong(key, "%s is neither true nor false; write one of them", what(n))
		}
		v.SetBool(b.Value)
	default:
		text, ok := text(n)
		if !ok {
			return s.wrong(key, "%s is not read as text; put it in quotes", what(n))
		}
		v.SetString(text)
	}
	return nil
}

func (s *source) decodeList(key string, n ast.Node, v reflect.Value) error {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return s.wrong(key, "%s is not a list; write it in brackets, with commas", what(n))
	}
	v.Set(reflect.MakeSlice(v.Type(), len(list.Values), len(list.Values)))
	for i, value := range list.Values {
		at := item(key, i)
		s.lines[at] = value.GetToken().Position.Line
		if err := s.decode(at, value, v.Index(i).Addr().Interface()); err != nil {
			return err
		}
	}
	return nil
}

func (s *source) decodeMap(key string, n ast.Node, v reflect.Value) error {
	fields := map[string]reflect.Value{}
	var names []string
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("yaml")
		fields[name] = v.Field(i)
		names = append(names, name)
	}
	possible := strings.Join(names, ", ")
	m, ok := n.(ast.MapNode)
	if !ok {
		return s.wrong(key, "%s is not a map of keys; the keys here are %s", what(n), possible)
	}
	for entry := m.MapRange(); entry.Next(); {
		t := entry.Key().GetToken()
		at := inside(key, shown(t.Value))
		first := s.lines[at]
		s.lines[at] = t.Position.Line
		field, ok := fields[t.Value]
		switch {
		case !ok:
			return s.wrong(at, "no such key; the keys here are %s", possible)
		case first != 0:
			return s.wrong(at, "given again, after line %d; give it once", first)
		}
		if err := s.decode(at, entry.Value(), field.Addr().Interface()); err != nil {
			return err
		}
	}
	return nil
}

// number reads a whole number: YAML has many ways to write one, this is the one
// that every reader takes for the same.
func number(n ast.Node) (int, bool) {
	t := n.GetToken()
	i, ok := wordNumber([]byte(t.Value))
	return i, ok && strconv.Itoa(i) == t.Value && n.Type() == ast.IntegerType
}

// text reads a text. A whole number is one too, as the name 1; what YAML takes for
// something else is not.
func text(n ast.Node) (string, bool) {
	switch t := n.(type) {
	case *ast.StringNode:
		return t.Value, true
	case *ast.LiteralNode:
		return t.Value.Value, true
	}
	_, ok := number(n)
	return n.GetToken().Value, ok
}
