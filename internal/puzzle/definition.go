package puzzle

import (
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"

	"antipode/internal/limit"
)

// definition is a puzzle's YAML form. Its tags are the keys that there are;
// docs/puzzles.md explains them, builtin/*.yaml are examples.
type definition struct {
	About  string     `yaml:"about"`  // one line
	Width  int        `yaml:"width"`  // with height: a board of rows, cells numbered row by row from 1
	Height int        `yaml:"height"` //
	Cells  int        `yaml:"cells"`  // instead of both: a board that is a graph
	Blank  *blankDef  `yaml:"blank"`  // one of the two kinds of move
	Moves  []moveDef  `yaml:"moves"`  // the other
	Values *valuesDef `yaml:"values"` // of the pieces
	Goal   []int      `yaml:"goal"`   // the goal of a record that has none
	Record recordDef  `yaml:"record"`
	Answer answerDef  `yaml:"answer"`
	Chunk  int        `yaml:"chunk"` // records
	// Example is a job file, for people.
	Example string `yaml:"example"`
}

type blankDef struct {
	Moves []wayDef  `yaml:"moves"`
	Edges *edgesDef `yaml:"edges"` // instead
	Names []string  `yaml:"names"` // of the vertices, with edges
}

// wayDef is one of the ways d l r u, by itself or with another name.
type wayDef struct {
	Name string `yaml:"name"`
	Way  string `yaml:"way"`
}

func (w *wayDef) decode(s *source, key string, n ast.Node) error {
	if _, isMap := n.(ast.MapNode); isMap {
		type keys wayDef // without this method
		return s.decode(key, n, (*keys)(w))
	}
	err := s.decode(key, n, &w.Way)
	w.Name = w.Way
	return err
}

// edgesDef is the word record, or a list of pairs of vertices from 1.
type edgesDef struct {
	perRecord bool
	list      [][]int
}

func (e *edgesDef) decode(s *source, key string, n ast.Node) error {
	if _, isList := n.(*ast.SequenceNode); isList {
		return s.decode(key, n, &e.list)
	}
	var word string
	if err := s.decode(key, n, &word); err != nil || word != "record" {
		return s.wrong(key, "%s cannot be; the word record is possible, or a list of pairs of vertices as [[1, 2], [2, 3]]", what(n))
	}
	e.perRecord = true
	return nil
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

// Parse reads a definition. Each of its errors is one line that says where and
// what is possible there; file is what it calls the text.
//
//	topspin.yaml:7: moves[2].cycles: cell 13 is none of the 12 cells; cells are numbered from 1
//
// In such keys the parts of a list are counted from 1, as cells are.
func Parse(name, file string, text []byte) (*Puzzle, error) {
	d := &definition{Answer: answerDef{Want: "distance", Separator: " "}, Chunk: 256}
	s, err := readSource(file, text, d)
	if err != nil {
		return nil, err
	}
	p := &Puzzle{
		Name: name, About: strings.TrimSuffix(d.About, "\n"), Example: d.Example,
		Width: d.Width, Height: d.Height, cells: d.Cells,
		Count: d.Record.Count, Case: d.Answer.Case, Separator: d.Answer.Separator,
		ChunkRecords: d.Chunk,
	}
	for _, set := range []func(*definition, *source) error{
		p.setBoard, p.setMoves, p.setValues, p.setGoal, p.setRecord, p.setAnswer, p.setTexts,
	} {
		if err := set(d, s); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Puzzle) setBoard(d *definition, s *source) error {
	switch grid := s.has("width") || s.has("height"); {
	case grid && s.has("cells"):
		return s.wrong("cells", "beside width and height; give either")
	case !grid && !s.has("cells"):
		return s.wrong("", "no board; give width and height, or cells")
	case !grid:
		if d.Cells < 2 || d.Cells > MaxCells {
			return s.wrong("cells", "%d cells; 2 to %d are possible", d.Cells, MaxCells)
		}
		return nil
	}
	for _, side := range []struct {
		key string
		n   int
	}{{"width", d.Width}, {"height", d.Height}} {
		switch {
		case !s.has(side.key):
			return s.wrong(side.key, "missing; a board of rows has width and height")
		case side.n < 1 || side.n > MaxCells:
			return s.wrong(side.key, "%d cells; 1 to %d are possible", side.n, MaxCells)
		}
	}
	p.cells = d.Width * d.Height
	if p.cells < 2 || p.cells > MaxCells {
		return s.wrong("height", "%d rows of %d are a board of %d cells; 2 to %d are possible", d.Height, d.Width, p.cells, MaxCells)
	}
	return nil
}

func (p *Puzzle) setValues(d *definition, s *source) error {
	pieces, least := p.cells, 0
	if p.blank { // its value is 0
		pieces, least = p.cells-1, 1
	}
	v := valuesDef{}
	if d.Values != nil {
		v = *d.Values
	}
	if !s.has("values.from") {
		v.From = 1
	}
	if !s.has("values.to") {
		v.To = v.From + pieces - 1
	}
	switch {
	case v.From < least || v.From > limit.Value:
		return s.wrong("values.from", "%d; %d to %d are possible", v.From, least, limit.Value)
	case v.To < v.From || v.To > limit.Value:
		return s.wrong("values.to", "%d; %d to %d are possible", v.To, v.From, limit.Value)
	case !v.Repeat && v.To-v.From+1 != pieces:
		return s.wrong("values", "%d to %d is not one value for each of %d pieces; give as many, or repeat: true", v.From, v.To, pieces)
	}
	p.from, p.to, p.repeat = v.From, v.To, v.Repeat
	return nil
}

func (p *Puzzle) setGoal(d *definition, s *source) error {
	if d.Goal == nil {
		return nil
	}
	if len(d.Goal) != p.cells {
		return s.wrong("goal", "%d values for %d cells; give the value on each cell, in order", len(d.Goal), p.cells)
	}
	var b Board
	for i, v := range d.Goal {
		if v > limit.Value {
			return s.wrong(item("goal", i), "%d is out of range; %s", v, p.wanted())
		}
		b[i] = uint8(v)
	}
	if reason := p.checkBoard(&b); reason != "" {
		return s.wrong("goal", "%s", reason)
	}
	p.goal = &labelling{}
	p.goal.take(&b, p)
	p.goalBoard = b
	return nil
}

func (p *Puzzle) setRecord(d *definition, s *source) error {
	forms := map[string][]part{"start": {startPart}, "start, goal": {startPart, goalPart}}
	possible, parts := "[start] and [start, goal]", "start"
	if p.space == nil { // records bring their edges
		forms = map[string][]part{
			"edges, start":       {edgesPart, startPart},
			"edges, start, goal": {edgesPart, startPart, goalPart},
			"edges, places":      {edgesPart, placesPart},
		}
		possible, parts = "[edges, start], [edges, start, goal] and [edges, places]", "edges, start"
	}
	if d.Record.Parts != nil {
		parts = strings.Join(d.Record.Parts, ", ")
	}
	var ok bool
	if p.parts, ok = forms[parts]; !ok {
		return s.wrong("record.parts", "%s cannot be; with these moves %s can", quote([]byte(parts)), possible)
	}
	switch {
	case p.goal == nil && !p.BringsGoal():
		return s.wrong("goal", "missing; give it, or let records bring theirs by record.parts")
	case p.repeat && slices.Contains(p.parts, placesPart):
		return s.wrong("record.parts", "places need values that do not repeat; [edges, start] can be")
	}
	return nil
}

func (p *Puzzle) setAnswer(d *definition, s *source) (err error) {
	if p.Want, err = ParseWant(d.Answer.Want); err != nil {
		return s.wrong("answer.want", "%s; distance or moves are possible", quote([]byte(d.Answer.Want)))
	}
	if strings.ContainsAny(d.Answer.Separator, "\r\n") || len(d.Answer.Separator) > limit.MoveName {
		return s.wrong("answer.separator", "a line end, or too long; one line of %d bytes is possible", limit.MoveName)
	}
	if d.Chunk < 1 || d.Chunk > limit.ChunkRecords {
		return s.wrong("chunk", "%d records; 1 to %d are possible", d.Chunk, limit.ChunkRecords)
	}
	return nil
}

// setTexts checks the texts that are for people: they go to terminals.
func (p *Puzzle) setTexts(_ *definition, s *source) error {
	isControl := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	switch {
	case len(p.About) > limit.About || strings.ContainsFunc(p.About, unicode.IsControl):
		return s.wrong("about", "%d bytes; one line of %d without control characters is possible", len(p.About), limit.About)
	case len(p.Example) > limit.Example || strings.ContainsFunc(p.Example, isControl):
		return s.wrong("example", "%d bytes; %d without control characters are possible", len(p.Example), limit.Example)
	}
	return nil
}
