package mirror

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// take takes the lock of a file, which the system releases with the process. It is of a byte that no text reaches,
// since others could not read what is locked.
func take(f *os.File) (taken bool, err error) {
	at := &windows.Overlapped{OffsetHigh: 1}
	err = windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// clients returns how many clients may be connected at once.
func clients() int { return maxClients }
