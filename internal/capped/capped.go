// Package capped reads what may have no end.
package capped

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// ErrTooLarge means that there is more to read than was allowed.
var ErrTooLarge = errors.New("too large")

// ReadAll reads up to the end. Of more than limit bytes the first, one more than limit, come with
// ErrTooLarge.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		return data, ErrTooLarge
	}
	return data, err
}

// ReadFile reads a file, whatever it is, as ReadAll does: a FIFO that nobody writes to is empty, and a device may have
// no end.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}
