//go:build !unix

package peer

import "os/exec"

func killWithChildren(*exec.Cmd) {}

func limitMemory(*exec.Cmd) {}
