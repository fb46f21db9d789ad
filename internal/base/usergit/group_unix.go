//go:build unix

package usergit

import (
	"os"
	"syscall"
)

// ofItsOwn gives a process a group of its own: a filter is a child of git, and ends with it.
func ofItsOwn() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// end ends a process and its group.
func end(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
