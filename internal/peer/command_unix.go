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

// limitMemory bounds what git and the programs that speak for it may allocate, at 1 GiB each: git keeps all refs that a
// peer names in memory, and a peer may name refs without end. Mapped files do not count. Where the system knows no such
// limit, or has no shell, git runs without it.
func limitMemory(cmd *exec.Cmd) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		return
	}
	cmd.Args = append([]string{sh, "-c", `ulimit -d 1048576 2>/dev/null; exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = sh
}
