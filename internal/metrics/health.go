package metrics

import (
	"fmt"

	"antipode/internal/queue"
)

// Prepared tells that the worker's tables are there.
func (m *Metrics) Prepared() { m.prepared.Store(true) }

// Connected tells which queue the worker serves.
func (m *Metrics) Connected(q *queue.Queue) { m.queue.Store(q) }

// unready says why the worker is not ready, nothing where it is. Redis is no part of
// it: a worker answers without.
func (m *Metrics) unready() (reasons []string) {
	if m.sources.Stopping() {
		reasons = append(reasons, "stopping: no more chunks are taken")
	}
	if !m.prepared.Load() {
		reasons = append(reasons, "tables are being built")
	}
	q := m.queue.Load()
	if q == nil {
		return append(reasons, "there is no connection to NATS yet")
	}
	s := q.Stats()
	if !s.Connected {
		return append(reasons, "NATS is away")
	}
	for _, lane := range []queue.Lane{queue.Bulk, queue.Express} {
		if n := s.Lanes[lane]; n.All == 0 || n.Bound < n.All {
			reasons = append(reasons, fmt.Sprintf("lane %s: %d of %d slots take chunks", lane, n.Bound, n.All))
		}
	}
	return reasons
}
