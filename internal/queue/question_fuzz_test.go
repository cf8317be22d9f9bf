package queue

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"antipode/internal/limit"
	"antipode/internal/puzzle"
)

// FuzzQuestion: whatever a request says, reading it ends with one question of the
// subject's puzzle, or with a reason that fits a header.
func FuzzQuestion(f *testing.F) {
	hash := puzzle.Hash(nil)
	f.Add("antipode.v1.solve.swap", "", "", "", "", "", []byte("2 1 3 4 5 6 7 8 9"))
	f.Add("antipode.v1.solve.mine", "mine@"+hash, "moves", "100", "1.5s", "true", []byte(` {"start": "21"}`))
	f.Add("antipode.v1.solve.mine", "other@"+hash, "all", "-1", "soon", "yes", []byte{})
	f.Add("antipode.v1.solve.*", "a b", "", "", "", "", []byte("\x00"))
	f.Fuzz(func(t *testing.T, subject, ref, want, states, budget, explain string, payload []byte) {
		h := nats.Header{}
		for key, value := range map[string]string{hPuzzle: ref, hWant: want, hBudgetStates: states, hBudgetTime: budget, hExplain: explain} {
			h.Set(key, value)
		}
		c, err := decodeQuestion(subject, h, payload)
		if err != nil {
			if text := noQuestion(err.Error()).text(); c != nil || text == "" || len(text) > limit.Reason || strings.ContainsAny(text, "\r\n") {
				t.Errorf("%+v, %q", c, text)
			}
			return
		}
		name, _, err := puzzle.ParseRef(c.Puzzle)
		if err != nil || solvePrefix+name != subject && name != subject || c.Records != 1 || !c.JSON || len(c.Payload) > limit.Record {
			t.Errorf("%s: %+v, %v", subject, c, err)
		}
	})
}
