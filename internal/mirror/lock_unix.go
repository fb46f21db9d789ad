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

// clients returns how many clients may be connected at once. A client may have a connection and a file open. Half of
// the files that this process may open remain for the runs.
func clients() int {
	var files syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files) != nil {
		return maxClients
	}
	return int(max(1, min(uint64(files.Cur)/4, maxClients)))
}
