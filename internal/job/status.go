package job

import "fmt"

// Status says what became of a record. Every record that can be read gets one.
type Status uint8

// The five statuses. The first two are final: equal questions get them from
// every worker, by every method, and they may be cached.
const (
	// Solved: Moves are a shortest way, and among the shortest the first in
	// the order of the puzzle's moves.
	Solved Status = iota
	// Unreachable: proven that no moves lead from the start to the goal.
	Unreachable
	// Invalid: the record could not be read; Reason and Line say why.
	Invalid
	// Exceeded: a budget ran out; the distance is at least LowerBound.
	Exceeded
	// Failed: the service could not answer; Reason says why.
	Failed
)

// Statuses is the number of statuses.
const Statuses = 5

var statusNames = [Statuses]string{"solved", "unreachable", "invalid", "exceeded", "failed"}

// String returns the word that stands for the status on the wire, in output
// and in logs.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("status(%d)", uint8(s))
}

// Final reports whether the status is a fact about the question, rather than
// about a record's text, a budget or the service. Only final answers are kept.
func (s Status) Final() bool { return s == Solved || s == Unreachable }
