//go:build unix

package mirror

import (
	"errors"
	"os"
	"syscall"
)

// take takes the lock of a file, which the system releases with the process.
func take(f *os.File) (taken bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
