//go:build !poison

package worker

import "antipode/internal/job"

// poison is nothing, other than in tests that are built with the tag poison.
func poison(*job.Record) {}
