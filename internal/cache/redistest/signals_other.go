//go:build !unix

package redistest

import "syscall"

// Pause and Resume fail their test where there are no such signals.
const (
	stopSignal     = syscall.Signal(-1)
	continueSignal = syscall.Signal(-1)
)
