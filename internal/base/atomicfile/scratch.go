package atomicfile

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
)

// scratch is what temporary files stand for that are to replace none.
const scratch = "scratch"

// Scratch is a file for what memory does not hold. It has no name where the system lets an open file lose it, so that
// nothing is left of it whenever the process ends; elsewhere a later Scratch in the same directory removes it.
type Scratch struct {
	file  *os.File
	named bool
}

// NewScratch makes one in a directory; empty: that of the system. It removes the stale ones there.
func NewScratch(dir string) (*Scratch, error) {
	dir = cmp.Or(dir, os.TempDir())
	f, err := os.OpenFile(filepath.Join(dir, temporary(scratch)), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, named(err, dir)
	}
	s := &Scratch{file: f, named: os.Remove(f.Name()) != nil}
	if info, err := f.Stat(); err == nil {
		sweep(dir, func(of string) bool { return of == scratch }, info.ModTime())
	}
	return s, nil
}

// Write writes behind what was written.
func (s *Scratch) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	return n, s.of(err)
}

// ReadAt reads what was written.
func (s *Scratch) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.file.ReadAt(p, off)
	return n, s.of(err)
}

// of names the directory where an error has the random name of the file.
func (s *Scratch) of(err error) error {
	if err == nil {
		return nil
	}
	return named(err, filepath.Dir(s.file.Name()))
}

// Close removes it.
func (s *Scratch) Close() error {
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}
