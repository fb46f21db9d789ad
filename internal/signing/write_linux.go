package signing

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// unnamed writes a file that has no name until it is whole, so that a writer that is killed leaves no private key
// behind. The error is errors.ErrUnsupported where the file system or the surroundings know no such files.
func unnamed(dir, name string, text []byte) error {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return errors.ErrUnsupported
	}
	f := os.NewFile(uintptr(fd), filepath.Join(dir, name))
	defer f.Close()
	if _, err := f.Write(text); err != nil {
		return fmt.Errorf("writing the key: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("writing the key: %w", err)
	}
	from := fmt.Sprintf("/proc/self/fd/%d", fd)
	err = unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, filepath.Join(dir, name), unix.AT_SYMLINK_FOLLOW)
	switch {
	case errors.Is(err, unix.EEXIST):
		return fmt.Errorf("writing the key: %w", &os.PathError{Op: "create", Path: filepath.Join(dir, name), Err: os.ErrExist})
	case err != nil:
		return errors.ErrUnsupported
	}
	return nil
}
