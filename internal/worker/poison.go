//go:build poison

package worker

import (
	"strings"

	"antipode/internal/job"
)

// poison is for tests of what a worker does when it is at fault itself. A record
// of JSON whose id starts with "panic" makes it panic; with "crash", end at once.
func poison(rec *job.Record) {
	switch id := strings.Trim(string(rec.ID), `"`); {
	case strings.HasPrefix(id, "panic"):
		panic("poison")
	case strings.HasPrefix(id, "crash"):
		go panic("poison") // which nobody can recover
		select {}
	}
}
