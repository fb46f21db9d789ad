package atomicfile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Create writes a file in a folder under a name that nothing has there yet, else the error is [fs.ErrExist]: a link
// that leads nowhere has it too. The file is on disk, whole, before it has that name.
func Create(dir *os.Root, name string, data []byte, mode fs.FileMode) error {
	if filepath.Base(name) != name || !filepath.IsLocal(name) || name == "." {
		return &fs.PathError{Op: "create", Path: name, Err: fs.ErrInvalid}
	}
	// A file without a name leaves nothing behind, whenever its writer is killed. Not every system has it.
	err := createUnnamed(dir, name, data, mode)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	beside := temporary(name)
	f, err := dir.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err == nil {
		err = errors.Join(fillSynced(f, data), f.Close())
		if err == nil {
			err = dir.Link(beside, name)
		}
		err = errors.Join(err, dir.Remove(beside))
	}
	return named(err, name)
}

// Replace replaces a file of a folder, which is on disk before it has that name, and removes the stale temporary files
// of the same name. On an error the old file stands.
func Replace(dir *os.Root, name string, data []byte, mode fs.FileMode) error {
	beside := temporary(name)
	if err := Create(dir, beside, data, mode); err != nil {
		return named(err, name)
	}
	if err := dir.Rename(beside, name); err != nil {
		return named(errors.Join(err, dir.Remove(beside)), name)
	}
	info, err := dir.Stat(name)
	if err != nil {
		return nil // it is written, and somebody else has taken it away
	}
	if folder, err := dir.Open("."); err == nil {
		sweepOpen(folder, func(of string) bool { return of == name }, info.ModTime(), dir.Remove)
	}
	return nil
}

// temporary is a name for what is to become the file of that name.
func temporary(name string) string { return "." + name + "." + rand.Text() + suffix }

// fillSynced writes a file to disk.
func fillSynced(f *os.File, data []byte) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}

// named is an error that names the file itself: a temporary name is drawn at random, and two runs must say the same.
func named(err error, name string) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: at.Op, Path: name, Err: at.Err}
	}
	if at, ok := errors.AsType[*os.LinkError](err); ok {
		return &fs.PathError{Op: at.Op, Path: name, Err: at.Err}
	}
	return err
}
