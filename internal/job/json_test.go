package job_test

import (
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
		{"null for what is left out", eight + `"102345678", "goal": null, "want": null, "edges": null, "id": null}`, `{"id":null,"line":1,"status":"solved","distance":1}`},
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
		name, in string
		id       bool   // it can be read
		want     string // in the reason
	}{
		{"not JSON", `142305678`, false, "JSON"},
		{"half an object", `{"id": 5, "puzzle": "eight"`, false, "JSON"},
		{"a list", `[1,2,3]`, false, "JSON array"},
		{"a string", `"eight"`, false, "JSON string"},
		{"two objects", eight + board + `} {}`, true, "more than one"},
		{"an object and a bracket", eight + board + `}}`, true, "more than one"},
		{"an unknown field", eight + board + `, "gaol": [1]}`, true, "gaol"},
		{"no puzzle", `{"id": 5, ` + board + `}`, true, "puzzle: missing"},
		{"an unknown puzzle", `{"id": 5, "puzzle": "nine", ` + board + `}`, true, "nine"},
		{"a number for the puzzle", `{"id": 5, "puzzle": 8, ` + board + `}`, true, "puzzle"},
		{"no start", eight + `"want": "moves"}`, true, "start: missing"},
		{"a start of null", eight + `"start": null}`, true, "start: missing"},
		{"a number for the start", eight + `"start": 142305678}`, true, "start: want rows"},
		{"an object for the start", eight + `"start": {"rows": 3}}`, true, "start: want rows"},
		{"eight values", eight + `"start": [1,4,2,3,0,5,6,7]}`, true, "start: 8 values"},
		{"ten values", eight + `"start": [1,4,2,3,0,5,6,7,8,8]}`, true, "start: 10 values"},
		{"no values", eight + `"start": []}`, true, "start: 0 values"},
		{"no rows", eight + `"start": [[]]}`, true, "start: "},
		{"rows of different lengths", eight + `"start": [[1,4,2],[3,0],[5,6,7,8]]}`, true, "start: rows of different lengths"},
		{"rows of another board", eight + `"start": [[1,4,2,3,0,5,6,7,8]]}`, true, "start: "},
		{"columns for rows", `{"id": 5, "puzzle": "rotegame", "start": [[1,2,3],[4,5,6],[7,8,9],[10,11,12]]}`, true, "start: "},
		{"boards of boards", eight + `"start": [[[1,4,2],[3,0,5],[6,7,8]]]}`, true, "start: want rows"},
		{"a value twice", eight + `"start": [1,1,2,3,0,5,6,7,8]}`, true, "start: 1 stands on it twice"},
		{"out of range", eight + `"start": [1,4,2,3,0,5,6,7,9]}`, true, "start: 9 is out of range"},
		{"beyond a byte", eight + `"start": [1,4,2,3,256,5,6,7,8]}`, true, "start: 256 is out of range"},
		{"a negative value", eight + `"start": [1,4,2,3,-1,5,6,7,8]}`, true, "start: -1 is out of range"},
		{"a fraction", eight + `"start": [1,4,2,3,0.5,5,6,7,8]}`, true, "start: want rows"},
		{"null for a value", eight + `"start": [1,4,2,3,null,5,6,7,8]}`, true, "start: want rows"},
		{"null for a value in a row", eight + `"start": [[1,4,2],[3,null,5],[6,7,8]]}`, true, "start: want rows"},
		{"null for a row", eight + `"start": [[1,4,2],null,[6,7,8]]}`, true, "start: "},
		{"a word in the list", eight + `"start": [1,4,2,3,"X",5,6,7,8]}`, true, "start: want rows"},
		{"a board as text that is none", eight + `"start": "1 4 2\n3 0"}`, true, "start: the board has 5 values"},
		{"a board as text and more", eight + `"start": "142305678 1"}`, true, "too much"},
		{"a faulty goal", eight + board + `, "goal": [1,2,3]}`, true, "goal: 3 values"},
		{"an unknown want", eight + board + `, "want": "all"}`, true, `"all"`},
		{"edges of a puzzle that has its own", eight + board + `, "edges": [[1,2]]}`, true, "edges: eight has its own"},
		{"no edges", `{"id": 5, "puzzle": "graph", "start": [1,2,3,4,5,6,7,8,0]}`, true, "edges: missing"},
		{"an edge of three", `{"id": 5, "puzzle": "graph", "edges": [[1,2,3]], "start": [1,2,3,4,5,6,7,8,0]}`, true, "edges: [1 2 3]"},
		{"an edge from 0", `{"id": 5, "puzzle": "graph", "edges": [[0,1]], "start": [1,2,3,4,5,6,7,8,0]}`, true, "edges: [0 1]"},
		{"an edge to 10", `{"id": 5, "puzzle": "graph", "edges": [[1,10]], "start": [1,2,3,4,5,6,7,8,0]}`, true, "edges: [1 10]"},
		{"a list for edges", `{"id": 5, "puzzle": "graph", "edges": [1,2], "start": [1,2,3,4,5,6,7,8,0]}`, true, "edges"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := run(t, "", c.in+"\n"+eight+board+"}\n")
			first, second, _ := strings.Cut(out.output, "\n")
			prefix := `{"line":1,"status":"invalid","reason":"`
			if c.id {
				prefix = `{"id":5,"line":1,"status":"invalid","reason":"`
			}
			reason, ok := strings.CutPrefix(first, prefix)
			if !ok || !strings.Contains(strings.ReplaceAll(reason, `\"`, `"`), c.want) || strings.HasPrefix(reason, ":") {
				t.Errorf("%s; want %s", first, c.want)
			}
			if second != `{"id":5,"line":2,"status":"solved","distance":2}`+"\n" {
				t.Errorf("the next: %s", second)
			}
		})
	}
	long := run(t, "", `{"id": "`+strings.Repeat("x", 2000)+`", "puzzle": "eight", `+board+`}`)
	if !strings.Contains(long.output, `{"line":1,"status":"invalid","reason":"id: more than`) {
		t.Errorf("a long id: %s", long.output)
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
