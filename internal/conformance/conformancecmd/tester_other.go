//go:build !unix

package conformancecmd

import "os/exec"

// ownGroup does nothing: the system has no process groups that a signal reaches.
func ownGroup(*exec.Cmd) {}

// terminate ends a command: the system has no signal that asks for it.
func terminate(cmd *exec.Cmd) { kill(cmd) }

// kill ends a command.
func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
