package job_test

import (
	"bytes"
	"strings"
	"testing"

	"antipode/internal/job"
)

// Records of JSON, puzzles mixed, and their right answers.
func TestJSONL(t *testing.T) {
	const eight = `{"puzzle": "eight", "start": `
	for _, c := range []struct{ name, in, out string }{
		{"rows", eight + `[[1,4,2],[3,0,5],[6,7,8]]}`, `{"line":1,"status":"solved","distance":2}`},
		{"a list", eight + `[1,4,2,3,0,5,6,7,8]}`, `{"line":1,"status":"solved","distance":2}`},
		{"a word", eight + `"1423X5678"}`, `{"line":1,"status":"solved","distance":2}`},
		{"text", eight + `"1 4 2\n3 0 5 # x\n6 7 8"}`, `{"line":1,"status":"solved","distance":2}`},
		{"moves", eight + `"142305678", "want": "moves"}`, `{"line":1,"status":"solved","distance":2,"moves":["u","l"]}`},
		{"a goal", eight + `"12X453786", "goal": [[1,2,3],[4,5,6],[7,8,0]]}`, `{"line":1,"status":"solved","distance":2}`},
		{"home, with moves", eight + `"012345678", "want": "moves"}`, `{"line":1,"status":"solved","distance":0,"moves":[]}`},
		{"unreachable", eight + `"021345678", "want": "moves"}`, `{"line":1,"status":"unreachable"}`},
		{"eight2 wants moves, and has a goal", `{"puzzle": "eight2", "start": "12X453786"}`, `{"line":1,"status":"solved","distance":2,"moves":["d","d"]}`},
		{"distance only", `{"puzzle": "eight2", "start": "12X453786", "goal": "12345678X", "want": "distance"}`, `{"line":1,"status":"solved","distance":2}`},
		{"swap", `{"puzzle": "swap", "start": [2,1,3,7,5,9,8,4,6]}`, `{"line":1,"status":"solved","distance":4}`},
		{"rotegame", `{"puzzle": "rotegame", "start": [1,2,3,4,5,6,7,8,9,10,11,12], "goal": [[5,2,4,8],[9,1,3,12],[10,6,11,7]]}`, `{"line":1,"status":"solved","distance":2,"moves":["1","2"]}`},
		{"other contents", `{"puzzle": "rotegame", "start": [1,1,1,1,1,1,1,1,1,1,1,2]}`, `{"line":1,"status":"unreachable"}`},
		{"graph", `{"puzzle": "graph", "edges": [[1,2],[1,3],[1,9],[2,9],[3,9]], "start": [0,3,1,4,5,6,7,8,2]}`, `{"line":1,"status":"solved","distance":5}`},
		{"a graph without edges", `{"puzzle": "graph", "edges": [], "start": [1,2,3,4,5,6,7,8,0]}`, `{"line":1,"status":"solved","distance":0}`},
		{"ids of all kinds", "{\"id\": 7, \"puzzle\": \"eight\", \"start\": \"012345678\"}\n" +
			"{\"id\": \"a \\\"b\\\" \\n\", \"puzzle\": \"eight\", \"start\": \"012345678\"}\n" +
			"{\"id\": {\"x\": [1, null]}, \"puzzle\": \"eight\", \"start\": \"012345678\"}\n" +
			"{\"id\": null, \"puzzle\": \"eight\", \"start\": \"012345678\"}\n",
			"{\"id\":7,\"line\":1,\"status\":\"solved\",\"distance\":0}\n" +
				"{\"id\":\"a \\\"b\\\" \\n\",\"line\":2,\"status\":\"solved\",\"distance\":0}\n" +
				"{\"id\":{\"x\": [1, null]},\"line\":3,\"status\":\"solved\",\"distance\":0}\n" +
				"{\"id\":null,\"line\":4,\"status\":\"solved\",\"distance\":0}"},
		{"lines are counted, blank ones too", "\n" + eight + "\"012345678\"}\n\n \t\r\n" + eight + "\"102345678\"}\r\n", "{\"line\":2,\"status\":\"solved\",\"distance\":0}\n{\"line\":5,\"status\":\"solved\",\"distance\":1}"},
		{"a byte order mark", "\ufeff" + eight + "\"012345678\"}", `{"line":1,"status":"solved","distance":0}`},
		{"null for a goal that is left out", eight + `"102345678", "goal": null}`, `{"line":1,"status":"solved","distance":1}`},
		{"escapes in names and values", `{"\u0069d": "\u0041", "p\u0075zzle": "\u0065ight", "st\u0061rt": "10\u00323\u00345678"}`, `{"id":"\u0041","line":1,"status":"solved","distance":1}`},
		{"half a surrogate pair", `{"id": "\ud800", "puzzle": "eight", "start": "102345678 # \udfff"}`, `{"id":"\ud800","line":1,"status":"solved","distance":1}`},
		{"spaces everywhere", " { \t\"id\" : 1 , \"puzzle\" : \"eight\" , \"start\" : [ [ 1 , 0 , 2 ] , [ 3 , 4 , 5 ] , [ 6 , 7 , 8 ] ] } \r\n", `{"id":1,"line":1,"status":"solved","distance":1}`},
		{"an id of 1 KiB", `{"id": "` + strings.Repeat("x", 1022) + `", "puzzle": "eight", "start": "102345678"}`, `{"id":"` + strings.Repeat("x", 1022) + `","line":1,"status":"solved","distance":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out := run(t, "", c.in); out.err != nil || out.output != c.out+"\n" {
				t.Errorf("%v\n%s\nwant\n%s", out.err, out.output, c.out)
			}
		})
	}
}

func TestFaultyJSON(t *testing.T) {
	const eight = `{"id": 5, "puzzle": "eight", `
	const board = `"start": [1,4,2,3,0,5,6,7,8]`
	for _, c := range []struct {
		name, in, id string // "" where there is none
		want         string // in the reason
	}{
		{"no object", `142305678`, "", "142305678 stands where a JSON object is wanted"},
		{"text", `1 4 2 3 0 5 6 7 8`, "", "1 4 2 3 0 5 6 7 8 stands where a JSON object"},
		{"null", `null`, "", "null stands where a JSON object"},
		{"half an object", `{"id": 5, "puzzle": "eight"`, "5", "breaks off where a comma or a closing brace is wanted"},
		{"a list", `[1,2,3]`, "", "[1,2,3] stands where a JSON object"},
		{"a string", `"eight"`, "", `"eight" stands where a JSON object`},
		{"two objects", eight + board + `} {}`, "5", "{} stands where the end of the line"},
		{"an object and a bracket", eight + board + `}}`, "5", "} stands where the end of the line"},
		{"an unknown field", eight + board + `, "gaol": [1]}`, "5", `unknown field "gaol"; there are id, puzzle, start, goal, edges, want`},
		{"no puzzle", `{"id": 5, ` + board + `}`, "5", "puzzle: missing"},
		{"an unknown puzzle", `{"id": 5, "puzzle": "nine", ` + board + `}`, "5", "nine"},
		{"a number for the puzzle", `{"id": 5, "puzzle": 8, ` + board + `}`, "5", "puzzle: 8 is not a string"},
		{"no start", eight + `"want": "moves"}`, "5", "start: missing"},
		{"a start of null", eight + `"start": null}`, "5", "start: null is no board; want rows of numbers"},
		{"a number for the start", eight + `"start": 142305678}`, "5", "start: 142305678 is no board; want rows"},
		{"an object for the start", eight + `"start": {"rows": 3}}`, "5", `start: {"rows": 3} is no board; want rows`},
		{"eight values", eight + `"start": [1,4,2,3,0,5,6,7]}`, "5", "start: 8 values"},
		{"ten values", eight + `"start": [1,4,2,3,0,5,6,7,8,8]}`, "5", "start: 10 values"},
		{"no values", eight + `"start": []}`, "5", "start: 0 values"},
		{"no rows", eight + `"start": [[]]}`, "5", "start: "},
		{"rows of different lengths", eight + `"start": [[1,4,2],[3,0],[5,6,7,8]]}`, "5", "start: rows of different lengths"},
		{"rows of another board", eight + `"start": [[1,4,2,3,0,5,6,7,8]]}`, "5", "start: "},
		{"columns for rows", `{"id": 5, "puzzle": "rotegame", "start": [[1,2,3],[4,5,6],[7,8,9],[10,11,12]]}`, "5", "start: "},
		{"boards of boards", eight + `"start": [[[1,4,2],[3,0,5],[6,7,8]]]}`, "5", "start: [1,4,2] is not a whole number from 0 to 8"},
		{"a value twice", eight + `"start": [1,1,2,3,0,5,6,7,8]}`, "5", "start: 1 stands on it twice"},
		{"out of range", eight + `"start": [1,4,2,3,0,5,6,7,9]}`, "5", "start: 9 is not a whole number from 0 to 8"},
		{"beyond a byte", eight + `"start": [1,4,2,3,256,5,6,7,8]}`, "5", "start: 256 is not a whole number from 0 to 8"},
		{"a negative value", eight + `"start": [1,4,2,3,-1,5,6,7,8]}`, "5", "start: -1 is not a whole number from 0 to 8"},
		{"a fraction", eight + `"start": [1,4,2,3,0.5,5,6,7,8]}`, "5", "start: 0.5 is not a whole number"},
		{"null for a value", eight + `"start": [1,4,2,3,null,5,6,7,8]}`, "5", "start: null is not a whole number"},
		{"null for a value in a row", eight + `"start": [[1,4,2],[3,null,5],[6,7,8]]}`, "5", "start: null is not a whole number"},
		{"null for a row", eight + `"start": [[1,4,2],null,[6,7,8]]}`, "5", "start: null is not a row"},
		{"a word in the list", eight + `"start": [1,4,2,3,"X",5,6,7,8]}`, "5", `start: "X" is not a whole number`},
		{"a board as text that is none", eight + `"start": "1 4 2\n3 0"}`, "5", "start: the board has 5 values"},
		{"a board as text and more", eight + `"start": "142305678 1"}`, "5", "too much"},
		{"a faulty goal", eight + board + `, "goal": [1,2,3]}`, "5", "goal: 3 values"},
		{"an unknown want", eight + board + `, "want": "all"}`, "5", `"all"`},
		{"edges of a puzzle that has its own", eight + board + `, "edges": [[1,2]]}`, "5", "edges: eight has its own"},
		{"no edges", `{"id": 5, "puzzle": "graph", "start": [1,2,3,4,5,6,7,8,0]}`, "5", "edges: missing"},
		{"an edge of three", `{"id": 5, "puzzle": "graph", "edges": [[1,2,3]], "start": [1,2,3,4,5,6,7,8,0]}`, "5", "edges: [1,2,3] is not a pair"},
		{"an edge from 0", `{"id": 5, "puzzle": "graph", "edges": [[0,1]], "start": [1,2,3,4,5,6,7,8,0]}`, "5", "edges: [0,1] is not a pair"},
		{"an edge to 10", `{"id": 5, "puzzle": "graph", "edges": [[1,10]], "start": [1,2,3,4,5,6,7,8,0]}`, "5", "edges: [1,10] is not a pair of vertices, which are numbers from 1 to 9"},
		{"a list for edges", `{"id": 5, "puzzle": "graph", "edges": [1,2], "start": [1,2,3,4,5,6,7,8,0]}`, "5", "edges: 1 is not a pair"},

		{"a field in other letters", `{"Start": [1], "id": 5, "puzzle": "eight", ` + board + `}`, "5", `unknown field "Start"`},
		{"an id in other letters", `{"ID": 5, "puzzle": "eight", ` + board + `}`, "", `unknown field "ID"`},
		{"a field of no letters", `{"": 5, "id": 5}`, "5", `unknown field ""`},
		{"a field of other letters", `{"d\u00e9but": 1, "id": 5}`, "5", `unknown field "d\\u00e9but"`},
		{"a long field", `{"` + strings.Repeat("x", 1000) + `": 1, "id": 5}`, "5", `xx..."; there are`},
		{"a start twice", eight + board + `, "start": [0,1,2,3,4,5,6,7,8]}`, "5", "start: given twice"},
		{"a start twice, once escaped", eight + board + `, "st\u0061rt": null}`, "5", "start: given twice"},
		{"a goal twice, first null", eight + board + `, "goal": null, "goal": "012345678"}`, "5", "goal: given twice"},
		{"an id twice", `{"id": 5, "id": 6, "puzzle": "eight", ` + board + `}`, "5", "id: given twice"},
		{"an id twice, first null", `{"id": null, "id": 6, "puzzle": "eight", ` + board + `}`, "null", "id: given twice"},
		{"a puzzle of null", `{"id": 5, "puzzle": null, ` + board + `}`, "5", "puzzle: null is not a string"},
		{"an empty puzzle", `{"id": 5, "puzzle": "", ` + board + `}`, "5", `unknown puzzle ""; there are eight, `},
		{"a puzzle of other letters", `{"id": 5, "puzzle": "\u00e9ight\n", ` + board + `}`, "5", `unknown puzzle "\\u00e9ight\\n"`},
		{"a list for the puzzle", `{"id": 5, "puzzle": ["eight"], ` + board + `}`, "5", `puzzle: ["eight"] is not a string`},
		{"a want of null", eight + board + `, "want": null}`, "5", "want: null is not a string"},
		{"true for the want", eight + board + `, "want": true}`, "5", "want: true is not a string"},
		{"an empty want", eight + board + `, "want": ""}`, "5", `want: ""; distance or moves are possible`},
		{"a want of other letters", eight + board + `, "want": "\u2192"}`, "5", `want: "\\u2192"; distance`},
		{"edges of null", `{"id": 5, "puzzle": "graph", "edges": null, "start": [1,2,3,4,5,6,7,8,0]}`, "5", "edges: null is not a list of pairs"},
		{"false for the goal", eight + board + `, "goal": false}`, "5", "goal: false is no board"},
		{"an exponent", eight + `"start": [1,4,2,3,0e0,5,6,7,8]}`, "5", "start: 0e0 is not a whole number"},
		{"a whole fraction", eight + `"start": [1.0,4,2,3,0,5,6,7,8]}`, "5", "start: 1.0 is not a whole number"},
		{"a huge number", eight + `"start": [1,4,2,3,18446744073709551616,5,6,7,8]}`, "5", "start: 18446744073709551616 is not a whole number"},
		{"a number beyond all", eight + `"start": [1,4,2,3,1` + strings.Repeat("0", 1000) + `,5,6,7,8]}`, "5", "0000... is not a whole number"},
		{"numbers as strings", eight + `"start": ["1","4","2","3","0","5","6","7","8"]}`, "5", `start: "1" is not a whole number`},
		{"numbers as strings, in rows", eight + `"start": [["1","4","2"],["3","0","5"],["6","7","8"]]}`, "5", `start: "1" is not a whole number`},
		{"rows as strings", eight + `"start": ["142","305","678"]}`, "5", `start: "142" is not a whole number`},
		{"a number after rows", eight + `"start": [[1,4,2],[3,0,5],6,7,8]}`, "5", "start: 6 is not a row"},
		{"a row after numbers", eight + `"start": [1,4,2,[3,0,5],[6,7,8]]}`, "5", "start: [3,0,5] is not a whole number"},
		{"objects in a board", eight + `"start": [{"1": [[{}]]}]}`, "5", `start: {"1": [[{}]]} is not a whole number`},
		{"a value for each and more", eight + `"start": [` + strings.Repeat("1,", 30000) + `1]}`, "5", "start: 30001 values; the board has 9 cells"},
		{"a board as a long word", eight + `"start": "` + strings.Repeat("1", 100) + `"}`, "5", "... is not a value of the board"},
		{"numbers as strings for an edge", `{"id": 5, "puzzle": "graph", "edges": [["1","2"]], "start": [1,2,3,4,5,6,7,8,0]}`, "5", `edges: ["1","2"] is not a pair of vertices, which are numbers`},
		{"half an edge", `{"id": 5, "puzzle": "graph", "edges": [[1,2],[3]], "start": [1,2,3,4,5,6,7,8,0]}`, "5", "edges: [3] is not a pair"},
		{"a fraction in an edge", `{"id": 5, "puzzle": "graph", "edges": [[1,1.5]], "start": [1,2,3,4,5,6,7,8,0]}`, "5", "edges: [1,1.5] is not a pair"},
		{"edges as text", `{"id": 5, "puzzle": "graph", "edges": "1 2", "start": [1,2,3,4,5,6,7,8,0]}`, "5", `edges: "1 2" is not a list of pairs`},

		{"a trailing comma", eight + board + `,}`, "5", "} stands where the name of a field in double quotes is wanted"},
		{"two commas", `{"id": 5,, "puzzle": "eight"}`, "5", `, "puzzle": "eight"} stands where the name`},
		{"a trailing comma in the board", eight + `"start": [1,4,2,3,0,5,6,7,8,]}`, "5", "start: [1,4,2,3,0,5,6,7,8,]} stands where a JSON value is wanted"},
		{"a name without quotes", `{"id": 5, puzzle: "eight"}`, "5", "puzzle: "},
		{"single quotes", `{'id': 5}`, "", "'id': 5} stands where"},
		{"no colon", `{"id": 5, "puzzle" "eight"}`, "5", `"eight"} stands where a colon is wanted`},
		{"no comma", `{"id": 5 "puzzle": "eight"}`, "5", `"puzzle": "eight"} stands where a comma`},
		{"no value", `{"id": 5, "puzzle": }`, "5", "puzzle: } stands where a JSON value is wanted"},
		{"a word of no meaning", `{"id": 5, "puzzle": eight}`, "5", "puzzle: eight} stands where a JSON value is wanted"},
		{"a number that is none", eight + `"start": [01]}`, "5", "start: [01]} stands where a JSON value"},
		{"brackets that do not match", eight + `"start": [1}]}`, "5", "start: [1}]} stands where"},
		{"a tab in a string", eight + "\"start\": \"1\t2\"}", "5", "start: "},
		{"an escape that is none", eight + `"start": "\q"}`, "5", "start: "},
		{"two values, the first a number", `5 {"id": 5}`, "", `5 {"id": 5} stands where a JSON object`},
		{"a list of records", `[{"id": 5}]`, "", `[{"id": 5}] stands where a JSON object`},

		{"it breaks off in a string", eight + `"start": "1423`, "5", `start: the line breaks off within "1423`},
		{"it breaks off in an escape", eight + `"start": "1423\`, "5", `start: the line breaks off within "1423`},
		{"it breaks off in a list", eight + `"start": [1,4`, "5", "start: the line breaks off within [1,4"},
		{"it breaks off in a name", `{"id": 5, "puz`, "5", `the line breaks off within "puz`},
		{"it breaks off before a value", `{"id": 5, "puzzle":`, "5", "puzzle: the line breaks off where a JSON value is wanted"},
		{"it breaks off before a name", `{"id": 5,`, "5", "the line breaks off where the name"},
		{"it breaks off before a colon", `{"id": 5, "puzzle"`, "5", "the line breaks off where a colon"},
		{"it breaks off in the id", `{"id": [5, 6`, "", "id: the line breaks off within [5, 6"},
		{"it breaks off after the id", `{"id": 5`, "5", "the line breaks off where a comma"},
		{"nothing but a brace", `{`, "", "the line breaks off where the name"},

		{"the fault comes before the id", `{"puzzle": 8, "start": [{}], "goal": -1, "gaol": 1, "gaol": 2, "id": {"a": [5]}`, `{"a": [5]}`, `unknown field "gaol"`},
		{"broken before the id", `{"puzzle": [01], "id": 5}`, "", "puzzle: [01], "},
		{"an id that is none", `{"id": [5,], "puzzle": "eight"}`, "", "id: [5,], "},
		{"an id that is too long", `{"id": "` + strings.Repeat("x", 1023) + `", "puzzle": "eight", ` + board + `}`, "", "id: more than 1024 bytes"},

		{"not UTF-8 in the puzzle", "{\"id\": 5, \"puzzle\": \"\xff\", " + board + `}`, "5", "the line is not UTF-8"},
		{"not UTF-8 in the board", "{\"id\": 5, \"puzzle\": \"eight\", \"start\": \"102345678 # \xe9\"}", "5", "the line is not UTF-8"},
		{"not UTF-8 before the id", "{\"\xff\": 1, \"id\": 5}", "5", "the line is not UTF-8"},
		{"not UTF-8 after all", eight + board + "}\xff", "5", "the line is not UTF-8"},
		{"not UTF-8 in the id", "{\"id\": \"a\xff\", \"puzzle\": \"eight\", " + board + `}`, "", "the line is not UTF-8"},
		{"a surrogate in UTF-8", "{\"id\": 5, \"puzzle\": \"\xed\xa0\x80\", " + board + `}`, "5", "the line is not UTF-8"},

		{"a pit of lists", strings.Repeat("[", 100_000), "", "[[... stands where a JSON object"},
		{"a pit of lists for the start", eight + `"start": ` + strings.Repeat("[", 100_000), "5", "start: the line breaks off within [["},
		{"deep lists", eight + `"start": ` + strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000) + `}`, "5", "start: [["},
		{"lists less deep", eight + `"start": ` + strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000) + `}`, "5", "start: [["},
		{"deep objects before the id", `{"x": ` + strings.Repeat(`{"x":`, 9_000) + "1" + strings.Repeat("}", 9_000) + `, "id": 5}`, "5", `unknown field "x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := run(t, "", c.in+"\n"+eight+board+"}\n")
			first, second, _ := strings.Cut(out.output, "\n")
			prefix := `{"line":1,"status":"invalid","reason":"`
			if c.id != "" {
				prefix = `{"id":` + c.id + `,"line":1,"status":"invalid","reason":"`
			}
			reason, ok := strings.CutPrefix(first, prefix)
			if !ok || !strings.Contains(strings.ReplaceAll(reason, `\"`, `"`), c.want) || strings.HasPrefix(reason, ":") {
				t.Errorf("%s; want %s", first, c.want)
			}
			if len(reason) > 250 || strings.ContainsFunc(first, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("not a short line of ASCII: %q", first)
			}
			if second != `{"id":5,"line":2,"status":"solved","distance":2}`+"\n" {
				t.Errorf("the next: %s", second)
			}
		})
	}
}

// What the job wants goes before what the puzzle wants, what the record wants
// before both.
func TestWant(t *testing.T) {
	const start = `"start": "102345678"`
	for _, c := range []struct{ job, record, want string }{
		{"", "", `"distance":1}`},
		{"", `, "want": "moves"`, `"distance":1,"moves":["l"]}`},
		{"moves", "", `"distance":1,"moves":["l"]}`},
		{"moves", `, "want": "distance"`, `"distance":1}`},
		{"distance", `, "want": "moves"`, `"distance":1,"moves":["l"]}`},
	} {
		ch := &job.Chunk{Spec: job.Spec{Format: job.Format{JSONL: true}, JSON: true, Want: c.job}, FirstLine: 1, FirstRecord: 1,
			Payload: []byte(`{"puzzle": "eight", ` + start + c.record + `}`)}
		var out outcome
		out.add(t, ch, builtins(t))
		if want := `{"line":1,"status":"solved",` + c.want + "\n"; out.output != want {
			t.Errorf("job %q, record %q: %s; want %s", c.job, c.record, out.output, want)
		}
	}
	text := &job.Chunk{Spec: job.Spec{Puzzle: "eight", Want: "moves"}, FirstLine: 1, FirstRecord: 1, Payload: []byte("102345678\n")}
	var out outcome
	if out.add(t, text, builtins(t)); out.output != "1\nl\n" {
		t.Errorf("text: %q", out.output)
	}
	text.Want = "all"
	if _, err := job.NewReader(text, builtins(t)); err == nil {
		t.Error("a job may want all")
	}
	text.Want, text.Puzzle = "", "nine"
	if _, err := job.NewReader(text, builtins(t)); err == nil {
		t.Error("a job of an unknown puzzle")
	}
}

// A record may leave out the puzzle where its chunk names one, and no more.
func TestPuzzleOfTheChunk(t *testing.T) {
	const eight, bare = `{"puzzle": "eight", "start": "102345678"}`, `{"start": "213456789"}`
	const solved, missing = `{"line":1,"status":"solved","distance":1}`, `{"line":1,"status":"invalid","reason":"puzzle: missing"}`
	for _, c := range []struct{ chunk, record, want string }{
		{"swap", bare, solved},
		{" swap ", bare, solved},
		{"swap", eight, solved}, // the record's own comes first
		{"swap", `{"puzzle": null, "start": "213456789"}`, `{"line":1,"status":"invalid","reason":"puzzle: null is not a string"}`},
		{"swap eight", bare, missing},
		{"", bare, missing},
		{"nine", bare, missing},
		{"nine", eight, solved},
	} {
		ch := &job.Chunk{Spec: job.Spec{Puzzle: c.chunk, Format: job.Format{JSONL: true}, JSON: true}, FirstLine: 1, FirstRecord: 1, Payload: []byte(c.record)}
		var out outcome
		if out.add(t, ch, builtins(t)); out.output != c.want+"\n" {
			t.Errorf("chunk of %q: %s: %s; want %s", c.chunk, c.record, out.output, c.want)
		}
	}
}

// A typical line.
func BenchmarkReadJSON(b *testing.B) {
	line := []byte(`{"id":"a","puzzle":"eight","start":[1,4,2,3,0,5,6,7,8]}`)
	set := builtins(b)
	c := &job.Chunk{Spec: job.Spec{Format: job.Format{JSONL: true}, JSON: true}, FirstLine: 1, FirstRecord: 1, Payload: bytes.Repeat(append(line, '\n'), 256)}
	b.ReportAllocs()
	for b.Loop() {
		r, err := job.NewReader(c, set)
		if err != nil {
			b.Fatal(err)
		}
		for rec := (job.Record{}); r.Next(&rec); {
			if r.Read(&rec); rec.Invalid != nil {
				b.Fatal(rec.Invalid)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(256*b.N), "ns/line")
}
