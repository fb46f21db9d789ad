//go:build !unix

package usergit

import (
	"os"
	"syscall"
)

func ofItsOwn() *syscall.SysProcAttr { return nil }

func end(p *os.Process) error { return p.Kill() }
