package process

import (
	"os/exec"
	"syscall"
)

// bind lets a program die with this process, however this one ends.
func bind(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
