//go:build unix

package peer

import (
	"os/exec"
	"syscall"
)

// killWithChildren makes the end of the context kill git together with the programs that speak to the network for
// it: these would wait for a silent peer on their own.
func killWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
