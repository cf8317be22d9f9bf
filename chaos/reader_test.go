//go:build unix

package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTallyPairs(t *testing.T) {
	const a, b, c = "Case 1: 2\nlu\n", "Case 2: -1\n\n", "Case 3: 1\nd\n"
	for name, tt := range map[string]struct {
		got  string
		want tally
	}{
		"the same":     {a + b + c, tally{}},
		"nothing":      {"", tally{lost: 3}},
		"one missing":  {a + c, tally{lost: 1}},
		"one twice":    {a + b + b + c, tally{doubled: 1}},
		"another":      {a + b + strings.Replace(c, "d", "u", 1), tally{lost: 1, wrong: 1}},
		"out of order": {a + c + b, tally{wrong: 1}},
		"a stranger":   {a + b + c + "Case 4: 0\n\n", tally{wrong: 1}},
	} {
		if got := tallyPairs([]byte(a+b+c), []byte(tt.got)); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

func TestPercentile(t *testing.T) {
	var took []time.Duration
	for i := range 200 {
		took = append(took, time.Duration(i+1))
	}
	slices.Reverse(took)
	for percent, want := range map[int]time.Duration{50: 100, 99: 198, 100: 200} {
		if got := percentile(took, percent); got != want {
			t.Errorf("%d %%: %d, want %d", percent, got, want)
		}
	}
}
