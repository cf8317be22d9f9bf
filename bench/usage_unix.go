//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// peakMB returns the most memory that a process that has ended was resident
// with, in megabytes. On Linux a process starts with what its parent's peak was:
// this one keeps small, and measures nothing inside itself.
func peakMB(p *os.ProcessState) (mb float64, ok bool) {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	unit := 1024.0
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	return float64(usage.Maxrss) * unit / 1e6, true
}

// processorTime returns what this process has used of the processors.
func processorTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // of oneself, which cannot fail
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
