//go:build !windows

package cli

import (
	"os"
	"path/filepath"
	"syscall"
)

// become replaces this process by the program of that name next to its own file, without arguments and with the same
// environment. It returns only if that fails.
func become(program string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	path := filepath.Join(filepath.Dir(self), program)
	return syscall.Exec(path, []string{path}, os.Environ())
}
