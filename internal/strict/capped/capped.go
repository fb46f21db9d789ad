// Package capped reads what may have no end.
package capped

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrTooLarge means that there is more to read than was allowed.
var ErrTooLarge = errors.New("too large")

// ErrNotPlain means that a directory, a FIFO or a device has the name of a file.
var ErrNotPlain = errors.New("it is not a plain file")

// tooLarge is ErrTooLarge with the limit, in bytes.
type tooLarge int64

func (most tooLarge) Error() string {
	for _, unit := range []string{"bytes", "KiB"} {
		if most%1024 != 0 {
			return fmt.Sprintf("it exceeds %d %s", int64(most), unit)
		}
		most /= 1024
	}
	return fmt.Sprintf("it exceeds %d MiB", int64(most))
}

func (tooLarge) Is(err error) bool { return err == ErrTooLarge }

// ReadAll reads up to the end. Of more than limit bytes the first, one more than limit, come with
// ErrTooLarge.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		return data, tooLarge(limit)
	}
	return data, err
}

// Open opens a file to read, whatever it is: a FIFO that nobody writes to is empty, and does not wait.
func Open(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) }

// OpenRoot opens a directory as os.OpenRoot does, which waits where it is a FIFO.
func OpenRoot(dir string) (*os.Root, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, &os.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	return os.OpenRoot(dir)
}

// ReadFile reads a file, whatever it is, as ReadAll does; see Open. A device may have no end.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return ReadAll(f, limit)
	}
	// One piece of memory of the size that the file has: pieces that are put together take twice as much.
	whole := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead)) // with room to find the end
	if _, err := whole.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, err
	}
	if int64(whole.Len()) > limit { // it grew meanwhile
		return whole.Bytes(), tooLarge(limit)
	}
	return whole.Bytes(), nil
}

// ReadPlain reads a plain file in a root, as ReadAll does. A link is followed where it stays within. The error is
// ErrNotPlain if something else has the name: a FIFO is not waited for.
func ReadPlain(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return ReadOpened(f, limit)
}

// ReadOpened reads a plain file, as ReadPlain does, and closes it.
func ReadOpened(f fs.File, limit int64) ([]byte, error) {
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotPlain
	}
	if err != nil {
		return nil, err
	}
	return ReadAll(f, limit)
}
