// Package atomicfile replaces files atomically: a reader sees the old text or the new one, whenever the writer or the
// machine stops. A later write removes the temporary files that a killed writer left.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// A temporary file is created in the directory of the file that it will replace, as .NAME.RANDOM.oap-gate.tmp. No name
// is ever used twice, so removing a stale file cannot remove one of another writer.
const suffix = ".oap-gate.tmp"

// stale is the age from which on a temporary file has no writer any more. That a process is gone could be asked too,
// but a process of another container that shares the directory would seem so.
const stale = time.Hour

// Write replaces the file at path and removes stale temporary files of the same path. The data is on disk before the
// file has that name. A new file has the mode, less the umask. If Write fails, the old file remains.
func Write(path string, data []byte, mode fs.FileMode) error {
	return WriteFunc(path, mode, bytesOf(data))
}

// WriteFunc writes the data that fill writes, as Write does. The data need not be in memory as a whole. If fill or the
// write fails, the old file remains.
func WriteFunc(path string, mode fs.FileMode, fill func(io.Writer) error) error {
	return write(path, fill, mode, true, func(now time.Time) {
		sweep(filepath.Dir(path), func(name string) bool { return name == filepath.Base(path) }, now)
	})
}

// Probe gives the reason why Write could not write to path, nil where it could. It leaves nothing behind.
func Probe(path string) error {
	f, err := create(path, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// SyncDirectory makes durable what was renamed in a directory.
func SyncDirectory(dir string) error {
	if runtime.GOOS == "windows" { // which cannot
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Unsynced writes files that may be lost or broken when the machine stops, into directories of so many that they are
// listed once alone: the first write into a directory removes all stale temporary files there. The zero value is ready.
type Unsynced struct {
	mu    sync.Mutex
	swept map[string]bool
}

// Write replaces a file.
func (u *Unsynced) Write(path string, data []byte, mode fs.FileMode) error {
	return write(path, bytesOf(data), mode, false, func(now time.Time) {
		dir := filepath.Dir(path)
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.swept == nil {
			u.swept = map[string]bool{}
		}
		if !u.swept[dir] {
			u.swept[dir] = true
			sweep(dir, func(name string) bool { return name != "" }, now)
		}
	})
}

func bytesOf(data []byte) func(io.Writer) error {
	return func(w io.Writer) error { _, err := w.Write(data); return err }
}

// namedWriter writes to a temporary file, and names in its errors the one that it is to replace.
type namedWriter struct {
	file *os.File
	path string
}

func (w namedWriter) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	return n, named(err, w.path)
}

// create creates the file that gets the name of path. What has that name and is not a file, such as a device, is not
// replaced.
func create(path string, mode fs.FileMode) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &fs.PathError{Op: "replace", Path: path, Err: errors.New("it is not a regular file")}
	}
	name := filepath.Join(filepath.Dir(path), temporary(filepath.Base(path)))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		at.Path = filepath.Dir(path) // the name is drawn at random, and two runs must say the same
	}
	return f, err
}

// write writes a temporary file in the directory of path and renames it. The time that it passes to sweep is the file
// system's.
func write(path string, fill func(io.Writer) error, mode fs.FileMode, sync bool, sweep func(now time.Time)) error {
	f, err := create(path, mode)
	if err != nil {
		return err
	}
	err = fill(namedWriter{f, path})
	if err == nil && sync {
		err = f.Sync()
	}
	info, unknown := f.Stat()
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if unknown == nil {
		sweep(info.ModTime())
	}
	return nil
}

// sweep removes the stale temporary files in a directory that were written for the selected names. It ignores errors,
// because the caller's file is already written.
func sweep(dir string, of func(name string) bool, now time.Time) {
	if directory, err := os.Open(dir); err == nil {
		sweepOpen(directory, of, now, func(name string) error { return os.Remove(filepath.Join(dir, name)) })
	}
}

func sweepOpen(directory *os.File, of func(name string) bool, now time.Time, remove func(name string) error) {
	defer directory.Close()
	for {
		entries, err := directory.ReadDir(1024)
		for _, e := range entries {
			if !of(nameOf(e.Name())) {
				continue
			}
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > stale {
				_ = remove(e.Name())
			}
		}
		if err != nil || len(entries) == 0 {
			return
		}
	}
}

// IsTemporary reports whether a file of that name is one that a writer is filling, or has left.
func IsTemporary(name string) bool { return nameOf(name) != "" }

// nameOf returns the name of the file that a temporary file was to replace. It returns "" for a name that create does
// not generate.
func nameOf(temporary string) string {
	rest, hidden := strings.CutPrefix(temporary, ".")
	rest, ours := strings.CutSuffix(rest, suffix)
	dot := max(0, strings.LastIndexByte(rest, '.'))
	name, random := rest[:dot], strings.TrimPrefix(rest[dot:], ".")
	if !hidden || !ours || len(random) != len(rand.Text()) ||
		strings.Trim(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
		return ""
	}
	return name
}

// Create writes a file in a directory under a name that nothing has there yet, else the error is [fs.ErrExist]: a link
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

// Replace replaces a file of a directory and removes stale temporary files of the same name. The data is on disk before
// the file has that name. If Replace fails, the old file remains.
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
		return nil // the file was written, and another process has removed it
	}
	if directory, err := dir.Open("."); err == nil {
		sweepOpen(directory, func(of string) bool { return of == name }, info.ModTime(), dir.Remove)
	}
	return nil
}

// temporary returns a new temporary name for the file called name.
func temporary(name string) string { return "." + name + "." + rand.Text() + suffix }

// fillSynced writes a file to disk.
func fillSynced(f *os.File, data []byte) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}

// named returns err with the file's own name in it. A temporary name is random, and two runs must print the same.
func named(err error, name string) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: at.Op, Path: name, Err: at.Err}
	}
	if at, ok := errors.AsType[*os.LinkError](err); ok {
		return &fs.PathError{Op: at.Op, Path: name, Err: at.Err}
	}
	return err
}
