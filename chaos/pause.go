//go:build unix

package main

import (
	"context"
	"syscall"
	"time"
)

// pollTime is between two looks at what gives no sign of its own.
const pollTime = 20 * time.Millisecond

// pause waits, unless ctx ends before; then it returns why.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// These silence a process without ending it, and let it go on.
const (
	stopSignal     = syscall.SIGSTOP
	continueSignal = syscall.SIGCONT
)
