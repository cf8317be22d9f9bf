package puzzle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// MaxDefinition is the largest definition that is read, in bytes.
const MaxDefinition = 16 << 10

// MaxValue is the largest value that may stand on a board.
const MaxValue = 255

// definition is a puzzle's YAML form; builtin/*.yaml are examples of every key.
type definition struct {
	About  string     `yaml:"about"`  // one sentence
	Width  int        `yaml:"width"`  // with height: a board of rows, cells numbered row by row from 1
	Height int        `yaml:"height"` //
	Cells  int        `yaml:"cells"`  // instead of both: a board that is a graph
	Blank  *blankDef  `yaml:"blank"`  // one of the two kinds of move
	Moves  []moveDef  `yaml:"moves"`  // the other
	Values *valuesDef `yaml:"values"` // default: each of 1..cells once, or 0..cells-1 with a blank
	Goal   []int      `yaml:"goal"`   // the goal of a record that has none
	Record recordDef  `yaml:"record"`
	Answer answerDef  `yaml:"answer"`
	Chunk  int        `yaml:"chunk"` // records
	// Example is a job file, for people.
	Example string `yaml:"example"`
}

type blankDef struct {
	Moves []string  `yaml:"moves"` // of d l r u, in order
	Edges *edgesDef `yaml:"edges"` // instead
}

type edgesDef struct {
	perRecord bool
	list      [][2]uint8 // from 0
}

type moveDef struct {
	Name   string `yaml:"name"`
	Cycles string `yaml:"cycles"` // as (1 2 3)(4 5): what stands on cell 1 goes to cell 2
}

type valuesDef struct {
	From   int  `yaml:"from"`
	To     int  `yaml:"to"`
	Repeat bool `yaml:"repeat"`
}

type recordDef struct {
	Count bool     `yaml:"count"` // a file starts with the number of its records
	Parts []string `yaml:"parts"` // of edges, start, goal, places
}

type answerDef struct {
	Want      string `yaml:"want"`
	Separator string `yaml:"separator"`
	Case      bool   `yaml:"case"`
}

// UnmarshalYAML reads "record", or a list of pairs of vertices from 1.
func (e *edgesDef) UnmarshalYAML(b []byte) error {
	var word string
	if yaml.Unmarshal(b, &word) == nil && word == "record" {
		e.perRecord = true
		return nil
	}
	var pairs [][]int
	if err := yaml.Unmarshal(b, &pairs); err != nil {
		return errors.New("blank.edges: want the word record, or a list of pairs of vertices")
	}
	for _, p := range pairs {
		if len(p) != 2 || min(p[0], p[1]) < 1 || max(p[0], p[1]) > MaxCells {
			return fmt.Errorf("blank.edges: %v is not a pair of vertices 1 to %d", p, MaxCells)
		}
		e.list = append(e.list, [2]uint8{uint8(p[0] - 1), uint8(p[1] - 1)})
	}
	return nil
}

// Parse reads a definition. Its errors name the definition and the key.
func Parse(name string, text []byte) (*Puzzle, error) {
	p, err := parse(name, text)
	if err != nil {
		return nil, fmt.Errorf("puzzle %s: %w", name, err)
	}
	return p, nil
}

func parse(name string, text []byte) (*Puzzle, error) {
	if len(text) > MaxDefinition {
		return nil, fmt.Errorf("definition of %d bytes; %d are possible", len(text), MaxDefinition)
	}
	d, err := decode(text)
	if err != nil {
		return nil, err
	}
	p := &Puzzle{
		Name: name, About: d.About, Example: d.Example,
		Width: d.Width, Height: d.Height, cells: d.Cells,
		Count: d.Record.Count, Case: d.Answer.Case, Separator: d.Answer.Separator,
		ChunkRecords: d.Chunk,
	}
	for _, set := range []func(*definition) error{p.setBoard, p.setMoves, p.setValues, p.setGoal, p.setRecord, p.setAnswer} {
		if err := set(d); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// decode decodes the YAML text. A panic of the YAML package, of which some are
// known, is an error.
func decode(text []byte) (d *definition, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("not YAML that can be read: %v", p)
		}
	}()
	if err := refuse(text); err != nil {
		return nil, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict())
	d = new(definition)
	if err := decoder.Decode(d); err == io.EOF {
		return nil, errors.New("empty definition")
	} else if err != nil {
		return nil, err
	}
	if decoder.Decode(new(definition)) != io.EOF {
		return nil, errors.New("more than one YAML document")
	}
	return d, nil
}

// maxNesting is how deep lists and maps of a definition may stand in each other.
const maxNesting = 16

// refuse looks for what no definition needs and a stranger's could hurt with: a
// few hundred bytes of aliases to aliases stand for gigabytes, and the time to
// parse grows with the square of the nesting.
func refuse(text []byte) error {
	depth := 0
	for _, c := range text {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		}
		if depth > maxNesting {
			return fmt.Errorf("more than %d open brackets", maxNesting)
		}
	}
	for _, t := range lexer.Tokenize(string(text)) {
		if t.Type == token.AliasType || t.Type == token.TagType {
			return fmt.Errorf("[%d:%d] aliases and tags are not read", t.Position.Line, t.Position.Column)
		}
	}
	return nil
}

func (p *Puzzle) setBoard(d *definition) error {
	if grid := d.Width != 0 || d.Height != 0; grid {
		if d.Cells != 0 || d.Width < 1 || d.Height < 1 || d.Width > MaxCells || d.Height > MaxCells {
			return errors.New("give width and height, or cells")
		}
		p.cells = d.Width * d.Height
	}
	if p.cells < 2 || p.cells > MaxCells {
		return fmt.Errorf("a board of %d cells; 2 to %d are possible", p.cells, MaxCells)
	}
	return nil
}

func (p *Puzzle) setMoves(d *definition) (err error) {
	switch {
	case (d.Blank == nil) == (d.Moves == nil):
		return errors.New("give one kind of move: blank, or moves")
	case d.Moves != nil:
		if p.space, err = newPermutations(p.cells, d.Moves); err != nil {
			return fmt.Errorf("moves: %w", err)
		}
		return nil
	case (d.Blank.Moves == nil) == (d.Blank.Edges == nil):
		return errors.New("blank: give moves, or edges")
	}
	p.blank = true
	switch {
	case d.Blank.Moves != nil:
		if p.space, err = newGrid(d.Width, d.Height, d.Blank.Moves); err != nil {
			return fmt.Errorf("blank.moves: %w", err)
		}
	case !d.Blank.Edges.perRecord:
		if p.space, err = NewGraph(p.cells, d.Blank.Edges.list); err != nil {
			return fmt.Errorf("blank.edges: %w", err)
		}
	}
	return nil
}

// maxName is the longest name of a move, in bytes.
const maxName = 32

func newPermutations(cells int, defs []moveDef) (*Space, error) {
	moves := make([]Move, len(defs))
	seen := map[string]bool{}
	for i, m := range defs {
		switch {
		case m.Name == "":
			return nil, fmt.Errorf("move %d has no name", i+1)
		case len(m.Name) > maxName || strings.ContainsFunc(m.Name, unicode.IsControl):
			return nil, fmt.Errorf("%q is no name: %d bytes without control characters are possible", m.Name, maxName)
		case seen[m.Name]:
			return nil, fmt.Errorf("%s: two moves of that name", m.Name)
		}
		seen[m.Name] = true
		from, err := parseCycles(m.Cycles, cells)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		moves[i] = Move{m.Name, from}
	}
	return NewPermutations(cells, moves)
}

// newGrid returns the space of a blank that walks a board of rows by the named
// ways, of d l r u.
func newGrid(width, height int, names []string) (*Space, error) {
	if width == 0 {
		return nil, errors.New("they need a board of width and height")
	}
	ways := make([][]int, len(names))
	for m, name := range names {
		ways[m] = make([]int, width*height)
		for c := range ways[m] {
			x, y := c%width, c/width
			switch name {
			case "d":
				y++
			case "l":
				x--
			case "r":
				x++
			case "u":
				y--
			default:
				return nil, fmt.Errorf("%q is none of d l r u", name)
			}
			if x < 0 || x >= width || y < 0 || y >= height {
				ways[m][c] = -1
			} else {
				ways[m][c] = y*width + x
			}
		}
	}
	return NewBlank(width*height, names, ways)
}

// parseCycles reads a product of disjoint cycles over n cells numbered from 1
// and returns for each cell the cell from which it takes what stands there.
func parseCycles(s string, n int) ([]uint8, error) {
	from := make([]uint8, n)
	for i := range from {
		from[i] = uint8(i)
	}
	var moved uint32
	rest := strings.TrimSpace(s)
	for rest != "" {
		body, after, ok := strings.Cut(rest, ")")
		if !ok || !strings.HasPrefix(body, "(") {
			return nil, fmt.Errorf("cycles %q: want (1 2 3)(4 5)", s)
		}
		rest = strings.TrimSpace(after)
		fields := strings.Fields(body[1:])
		cycle := make([]int, len(fields))
		for i, f := range fields {
			c, err := strconv.Atoi(f)
			if err != nil || c < 1 || c > n {
				return nil, fmt.Errorf("cycles %q: %s is not a cell 1 to %d", s, f, n)
			}
			if moved>>c&1 == 1 {
				return nil, fmt.Errorf("cycles %q: cell %d stands there twice", s, c)
			}
			moved |= 1 << c
			cycle[i] = c - 1
		}
		for i, c := range cycle {
			from[cycle[(i+1)%len(cycle)]] = uint8(c)
		}
	}
	return from, nil
}

func (p *Puzzle) setValues(d *definition) error {
	v := d.Values
	switch {
	case v == nil && p.blank:
		v = &valuesDef{From: 1, To: p.cells - 1}
	case v == nil:
		v = &valuesDef{From: 1, To: p.cells}
	}
	least := 0
	pieces := p.cells
	if p.blank { // its value is 0
		least = 1
		pieces--
	}
	if v.From < least || v.To > MaxValue || v.From > v.To {
		return fmt.Errorf("values: from %d to %d; %d to %d are possible", v.From, v.To, least, MaxValue)
	}
	if !v.Repeat && v.To-v.From+1 != pieces {
		return fmt.Errorf("values: from %d to %d is not one value for each of %d pieces; say repeat: true if values may repeat", v.From, v.To, pieces)
	}
	p.from, p.to, p.repeat = v.From, v.To, v.Repeat
	return nil
}

func (p *Puzzle) setGoal(d *definition) error {
	if d.Goal == nil {
		return nil
	}
	if len(d.Goal) != p.cells {
		return fmt.Errorf("goal: %d values for %d cells", len(d.Goal), p.cells)
	}
	var b Board
	for i, v := range d.Goal {
		if v < 0 || v > MaxValue {
			return fmt.Errorf("goal: %d is not a value", v)
		}
		b[i] = uint8(v)
	}
	if reason := p.checkBoard(&b); reason != "" {
		return fmt.Errorf("goal: %s", reason)
	}
	p.goal = &labelling{}
	p.goal.take(&b, p)
	p.goalBoard = b
	return nil
}

func (p *Puzzle) setRecord(d *definition) error {
	switch strings.Join(d.Record.Parts, " ") {
	case "start":
		p.parts = []part{startPart}
	case "start goal":
		p.parts = []part{startPart, goalPart}
	case "edges start":
		p.parts = []part{edgesPart, startPart}
	case "edges places":
		p.parts = []part{edgesPart, placesPart}
	case "edges start goal":
		p.parts = []part{edgesPart, startPart, goalPart}
	default:
		return fmt.Errorf("record.parts: %v; want start, or start and goal, with edges before them where each record brings its graph, or edges and places", d.Record.Parts)
	}
	if edges := p.parts[0] == edgesPart; edges != (p.space == nil) {
		return errors.New("record.parts: edges go with blank.edges: record")
	}
	if p.goal == nil && !p.BringsGoal() {
		return errors.New("goal: missing, and records bring none")
	}
	if p.repeat && p.parts[len(p.parts)-1] == placesPart {
		return errors.New("record.parts: places need values that do not repeat")
	}
	return nil
}

func (p *Puzzle) setAnswer(d *definition) (err error) {
	if p.Want, err = ParseWant(d.Answer.Want); err != nil {
		return fmt.Errorf("answer.%w", err)
	}
	if strings.ContainsAny(d.Answer.Separator, "\r\n") || len(d.Answer.Separator) > maxName {
		return fmt.Errorf("answer.separator: has a line end, or more than %d bytes", maxName)
	}
	if d.Chunk < 1 || d.Chunk > MaxChunkRecords {
		return fmt.Errorf("chunk: %d records; 1 to %d are possible", d.Chunk, MaxChunkRecords)
	}
	return nil
}
