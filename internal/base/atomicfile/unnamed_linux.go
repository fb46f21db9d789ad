package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// createUnnamed is Create by a file that has no name until it is whole (open(2), O_TMPFILE). Not every file system has
// it, and it takes /proc.
func createUnnamed(dir *os.Root, name string, data []byte, mode fs.FileMode) error {
	directory, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer directory.Close()
	f, err := dir.OpenFile(".", os.O_WRONLY|unix.O_TMPFILE, mode)
	if err != nil {
		return err
	}
	err = fillSynced(f, data)
	if err == nil {
		err = unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", f.Fd()),
			int(directory.Fd()), name, unix.AT_SYMLINK_FOLLOW)
	}
	if err != nil {
		err = &fs.PathError{Op: "create", Path: name, Err: err}
	}
	return errors.Join(err, f.Close())
}
