//go:build !linux

package process

import "os/exec"

// bind does nothing where the system cannot: a program outlives this process
// where this one is killed.
func bind(*exec.Cmd) {}
