//go:build !unix

package main

import (
	"os"
	"time"
)

// peakMB is not known on this system.
func peakMB(*os.ProcessState) (mb float64, ok bool) { return 0, false }

var began = time.Now()

// processorTime is not known on this system; without other work on the machine
// it is the time of the wall.
func processorTime() time.Duration { return time.Since(began) }
