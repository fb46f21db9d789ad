package opengap

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/openagentprotocol-OAP/oap-gate/internal/capped"
)

// Limits of what is read of an agent's folder.
const (
	MaxEntries = 10_000   // files, folders and links
	MaxFile    = 1 << 20  // bytes of one file
	MaxText    = 32 << 20 // bytes of all files that are read
	maxDepth   = 64       // folders within folders
	maxLinks   = 40       // links that lead to links
	maxReads   = 20_000   // files that are read, some of them by several links
	maxSteps   = 100_000  // parts of paths that are resolved
)

// ErrTooLarge means that an agent's folder has more than is read.
var ErrTooLarge = errors.New("the folder is larger than an agent's")

// folder is the tree of an agent, as it was when it was opened. What .git names is left out.
type folder struct {
	root    *os.Root
	entries []entry // by path
	bytes   int     // of the files that were read so far
	reads   int     // of files so far
	steps   int     // of resolving paths so far
}

// entry is a file, folder or link; its path is relative, with slashes.
type entry struct {
	path string
	kind fs.FileMode // type bits alone
}

// openFolder lists the tree. The error wraps ErrTooLarge, or is what the system says.
func openFolder(dir string) (*folder, error) {
	root, err := capped.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the agent's folder: %w", err)
	}
	f := &folder{root: root}
	if err := f.list(".", 0); err != nil {
		root.Close()
		return nil, fmt.Errorf("reading the agent's folder: %w", err)
	}
	slices.SortFunc(f.entries, func(a, b entry) int { return cmp.Compare(a.path, b.path) })
	return f, nil
}

func (f *folder) list(dir string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: folders are nested deeper than %d", ErrTooLarge, maxDepth)
	}
	d, err := f.root.Open(dir)
	if err != nil {
		return err
	}
	var below []string
	for done := false; !done; {
		some, err := d.ReadDir(256) // not all at once: a folder may have millions
		done = errors.Is(err, io.EOF)
		if err != nil && !done {
			return errors.Join(err, d.Close())
		}
		for _, e := range some {
			if e.Name() == ".git" {
				continue
			}
			if len(f.entries) == MaxEntries {
				return errors.Join(fmt.Errorf("%w: it has more than %d files and folders", ErrTooLarge, MaxEntries),
					d.Close())
			}
			one := entry{path.Join(dir, e.Name()), e.Type()}
			f.entries = append(f.entries, one)
			if one.kind.IsDir() {
				below = append(below, one.path)
			}
		}
	}
	if err := d.Close(); err != nil {
		return err
	}
	for _, name := range below {
		if err := f.list(name, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// errNotPlain means that what should be a file is none, or a link that leads to none within the folder.
var errNotPlain = errors.New("it is no plain file")

// file gives the text of a file of the folder. A link is followed where it stays within. The error is fs.ErrNotExist,
// errNotPlain, capped.ErrTooLarge, ErrTooLarge for the whole folder, or what the system says.
func (f *folder) file(name string) ([]byte, error) {
	if !within(name) {
		return nil, fs.ErrNotExist
	}
	if f.reads++; f.reads > maxReads {
		return nil, fmt.Errorf("%w: more than %d files are to be read", ErrTooLarge, maxReads)
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO is not waited for
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, fs.ErrNotExist
	case err != nil:
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotPlain
	}
	text, err := capped.ReadAll(file, MaxFile)
	if errors.Is(err, capped.ErrTooLarge) {
		return nil, fmt.Errorf("it has more than %d bytes: %w", MaxFile, err)
	}
	if f.bytes += len(text); f.bytes > MaxText {
		return nil, fmt.Errorf("%w: its texts have more than %d bytes", ErrTooLarge, MaxText)
	}
	return text, err
}

// within reports whether a name can be one of the folder. Other than for fs.ValidPath it need not be UTF-8: git keeps
// such names.
func within(name string) bool { return fs.ValidPath(strings.ToValidUTF8(name, "_")) }

// isDir reports whether a folder of that name is in the folder, be it by links that stay within.
func (f *folder) isDir(name string) bool {
	info := f.stat(name)
	return info != nil && info.IsDir()
}

// isFile reports whether a plain file of that name is there, be it by links that stay within.
func (f *folder) isFile(name string) bool {
	info := f.stat(name)
	return info != nil && info.Mode().IsRegular()
}

func (f *folder) stat(name string) fs.FileInfo {
	if !within(name) {
		return nil
	}
	info, err := f.root.Stat(name)
	if err != nil {
		return nil
	}
	return info
}

// in are the entries right below a folder, which may be named by links that stay within.
func (f *folder) in(dir string) ([]entry, error) {
	under, all, err := f.below(dir)
	var right []entry
	for _, e := range all {
		if !strings.Contains(strings.TrimPrefix(e.path, under), "/") {
			right = append(right, e)
		}
	}
	return right, err
}

// below are the entries of a folder and of those in it, and what all their paths begin with.
func (f *folder) below(dir string) (under string, all []entry, err error) {
	at, outside, err := f.resolve(dir)
	switch {
	case err != nil || outside:
		return "", nil, err
	case at == ".":
		return "", f.entries, nil
	}
	first, _ := f.find(at + "/")
	end, _ := f.find(at + "0") // which follows "/"
	return at + "/", f.entries[first:end], nil
}

// find is where a path stands among the entries, or would.
func (f *folder) find(name string) (int, bool) {
	return slices.BinarySearchFunc(f.entries, name,
		func(e entry, name string) int { return cmp.Compare(e.path, name) })
}

// resolve is a path without the links on its way, and whether it leads out of the folder. A link with an absolute
// target does, since a clone stands elsewhere; so does a circle of links, which leads nowhere. What is not there leads
// to no other place.
func (f *folder) resolve(name string) (at string, outside bool, err error) {
	rest, here := strings.Split(name, "/"), []string(nil)
	for links := 0; len(rest) > 0; {
		next := rest[0]
		rest = rest[1:]
		if next == "" || next == "." {
			continue
		}
		if next == ".." {
			if len(here) == 0 {
				return "", true, nil
			}
			here = here[:len(here)-1]
			continue
		}
		if f.steps++; f.steps > maxSteps {
			return "", false, fmt.Errorf("%w: its links lead over more than %d folders", ErrTooLarge, maxSteps)
		}
		if here = append(here, next); len(here) > maxDepth+1 {
			continue // nothing is nested as deep
		}
		link := strings.Join(here, "/")
		if i, found := f.find(link); !found || f.entries[i].kind != fs.ModeSymlink {
			continue
		}
		target, err := f.root.Readlink(link)
		if err != nil {
			return "", false, err
		}
		if links++; links > maxLinks || path.IsAbs(target) {
			return "", true, nil
		}
		here, rest = here[:len(here)-1], append(strings.Split(target, "/"), rest...)
	}
	return path.Join(".", path.Join(here...)), false, nil
}
