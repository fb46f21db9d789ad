package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// maxDiskFile caps a file of the work tree that has to be hashed.
const maxDiskFile = 256 << 20

// disk reads a work tree. Symbolic links are never followed.
type disk struct {
	dir   string
	root  *os.Root
	like  gitstore.ID // says the hash function
	index fs.FileInfo // info of the index file; nil if there is no index
	conv  *converter
	mu    sync.Mutex
	dirs  map[string]bool // directories looked at: real ones are true
}

// errChanged: a file is not what it was a moment ago.
var errChanged = errors.New("changed while it was read")

// stat returns the info of a path if every parent is a directory, or nil if nothing is there.
func (d *disk) stat(path string) (fs.FileInfo, error) {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		ok, err := d.isDirectory(path[:i])
		if err != nil || !ok {
			return nil, err
		}
	}
	info, err := d.root.Lstat(filepath.FromSlash(path))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, errDisk(path, err)
	}
	return info, nil
}

func (d *disk) isDirectory(path string) (bool, error) {
	d.mu.Lock()
	known, ok := d.dirs[path]
	d.mu.Unlock()
	if ok {
		return known, nil
	}
	info, err := d.stat(path)
	if err != nil {
		return false, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dirs[path] = info != nil && info.IsDir()
	return d.dirs[path], nil
}

// list calls f for every path at or below path that is not a directory, or is a clone of its own.
func (d *disk) list(path string, depth int, f func(path string) error) error {
	if depth > maxDepth {
		return errDepth(path)
	}
	info, err := d.stat(path)
	if err != nil || info == nil {
		return err
	}
	if !info.IsDir() || d.isClone(path) {
		return f(path)
	}
	names, err := d.names(path)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := d.list(path+"/"+name, depth+1, f); err != nil {
			return err
		}
	}
	return nil
}

// names returns the names in a directory; "." is the work tree.
func (d *disk) names(path string) ([]string, error) {
	directory, err := d.root.Open(filepath.FromSlash(path))
	if err != nil {
		return nil, errDisk(path, err)
	}
	defer directory.Close()
	names, err := directory.Readdirnames(maxPaths + 1)
	if err != nil && err != io.EOF {
		return nil, errDisk(path, err)
	}
	if len(names) > maxPaths {
		return nil, errPaths(path)
	}
	if d.conv.settings.Precompose {
		for i, name := range names {
			names[i] = norm.NFC.String(name)
		}
	}
	return names, nil
}

// entries returns what Git would store for each candidate.
func (d *disk) entries(ctx context.Context, list []candidate) (map[string]*Entry, error) {
	entries := make([]*Entry, len(list))
	err := inParallel(ctx, len(list), neighbours, func(from, to int) (err error) {
		for i := from; i < to && err == nil; i++ {
			entries[i], err = d.committed(list[i])
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	files := make(map[string]*Entry, len(list))
	for i, c := range list {
		files[c.path] = entries[i]
	}
	return files, nil
}

// committed returns what Git would store for the path. It returns nil if Git would store nothing, as for a deleted
// file, a FIFO or a device.
func (d *disk) committed(c candidate) (*Entry, error) {
	if kept := c.tracked; kept != nil && !c.named && (kept.keep || kept.sparse && !d.conv.settings.PresentCounts ||
		!d.conv.inSparse(c.path)) {
		return kept.committed(), nil
	}
	info, err := d.stat(c.path)
	if err != nil {
		return nil, err
	}
	if info == nil {
		if c.tracked != nil && c.tracked.sparse {
			return c.tracked.committed(), nil
		}
		return nil, nil
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return d.file(c, info)
	case mode.Type() == fs.ModeSymlink:
		target, err := d.root.Readlink(filepath.FromSlash(c.path))
		if err != nil {
			return nil, errDisk(c.path, err)
		}
		d.conv.remember(c.path, plan{link: true})
		return &Entry{Mode: ModeSymlink, ID: hashObject(gitstore.Blob, []byte(target), d.like)}, nil
	case mode.IsDir() && d.isClone(c.path):
		return d.submodule(c.path), nil
	case mode.IsDir() && c.tracked != nil && c.tracked.entry.Mode == ModeSubmodule:
		return &c.tracked.entry, nil // not checked out
	}
	return nil, nil
}

// committed returns what Git stores only because of the entry: nil if it has no content yet.
func (e *indexEntry) committed() *Entry {
	if e.toAdd {
		return nil
	}
	return &e.entry
}

// file returns the entry of a regular file. It does not read a file that is as Git checked it out, so that large files
// and those that a filter changed cost nothing and are not changes.
func (d *disk) file(c candidate, info fs.FileInfo) (*Entry, error) {
	e := &Entry{Mode: d.fileMode(c, info)}
	clean, racy := d.isClean(c.tracked, e.Mode, info)
	if clean && !racy {
		return &c.tracked.entry, nil
	}
	id, p, err := d.hash(c)
	if clean && errors.Is(err, errFilter) {
		return &c.tracked.entry, nil // nobody can see more of it
	}
	if err != nil {
		return nil, err
	}
	e.ID = id
	if !p.settled && unsettled && c.tracked != nil && !c.tracked.toAdd && id != c.tracked.entry.ID {
		same, err := d.sameButLineEnds(c)
		if err != nil || same {
			e.ID = c.tracked.entry.ID
			d.conv.forget(c.path)
		}
		return e, err
	}
	return e, nil
}

// unsettled is true on a system without a common way to end lines: git for it reads a configuration there that is not
// read here. Tests change it.
var unsettled = runtime.GOOS == "windows"

// sameButLineEnds reports whether a file and its entry in the index differ only in CR.
func (d *disk) sameButLineEnds(c candidate) (bool, error) {
	if c.tracked.entry.Mode != ModeFile && c.tracked.entry.Mode != ModeExecutable {
		return false, nil
	}
	was, err := d.conv.repo.object(c.tracked.entry.ID, gitstore.Blob, maxDiskFile)
	if err != nil {
		return false, fmt.Errorf("reading file %q: %w", c.path, err)
	}
	now, err := d.text(c.path, maxDiskFile)
	if err != nil {
		return false, err
	}
	without := func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }
	return bytes.Equal(without(was), without(now)), nil
}

// isClean reports whether a tracked file is by its mode, size, times and inode as it was when Git wrote the index. It
// is racy if it is as new as the index itself: then it may have been changed after.
func (d *disk) isClean(tracked *indexEntry, mode Mode, info fs.FileInfo) (clean, racy bool) {
	if tracked == nil || d.index == nil || tracked.toAdd || tracked.entry.Mode != mode {
		return false, false
	}
	when := info.ModTime()
	if tracked.size != uint32(info.Size()) || tracked.seconds != uint32(when.Unix()) {
		return false, false
	}
	if tracked.size == 0 && tracked.entry.ID != hashObject(gitstore.Blob, nil, d.like) {
		return false, false // git so marks a file that it could not be sure of
	}
	if d.conv.settings.CheckStat && (tracked.nanosecs != 0 && tracked.nanosecs != uint32(when.Nanosecond()) ||
		!sameFile(tracked, info, d.conv.settings.TrustCTime)) {
		return false, false
	}
	return true, !when.Before(d.index.ModTime().Truncate(time.Second))
}

// fileMode returns the mode that Git gives a regular file. If the file system does not keep modes, this is the mode of
// its index entry.
func (d *disk) fileMode(c candidate, info fs.FileInfo) Mode {
	set, tracked := d.conv.settings, c.tracked
	switch {
	case !set.Symlinks && tracked != nil && tracked.entry.Mode == ModeSymlink:
		return ModeSymlink
	case !set.FileMode && tracked != nil && tracked.entry.Mode == ModeExecutable:
		return ModeExecutable
	case set.FileMode && info.Mode()&0o100 != 0:
		return ModeExecutable
	}
	return ModeFile
}

// isClone reports whether a directory is a clone of its own, which Git stores as a submodule. A .git that leads to no
// repository does not count: git then adds the other files of the directory.
func (d *disk) isClone(path string) bool {
	return gitstore.IsClone(filepath.Join(d.dir, filepath.FromSlash(path)))
}

// submodule returns the entry of a clone inside the work tree. One without a commit gets the id of an empty one.
func (d *disk) submodule(path string) *Entry {
	e := &Entry{Mode: ModeSubmodule, ID: hashObject(gitstore.Commit, nil, d.like)}
	store, err := gitstore.Open(filepath.Join(d.dir, filepath.FromSlash(path)))
	if err != nil {
		return e
	}
	defer store.Close()
	if id, err := store.Resolve("HEAD"); err == nil && id.Size() == d.like.Size() {
		e.ID = id
	}
	return e
}

// raw returns the id of a regular file's bytes as they are on disk.
func (d *disk) raw(path string) (gitstore.ID, error) {
	f, size, err := d.open(path)
	if err != nil {
		return gitstore.ID{}, err
	}
	defer f.Close()
	if size > maxDiskFile {
		return gitstore.ID{}, fmt.Errorf("%w: %d bytes, at most %d are read", gitstore.ErrTooLarge, size, maxDiskFile)
	}
	h := newHash(gitstore.Blob, size, d.like)
	n, err := io.Copy(h, io.LimitReader(f, size+1))
	if err == nil && n != size {
		err = errChanged
	}
	return gitstore.BytesID(h.Sum(nil)), err
}

// open opens a regular file. O_NONBLOCK prevents a FIFO that replaced the file since from blocking the run.
func (d *disk) open(path string) (*os.File, int64, error) {
	f, err := d.root.OpenFile(filepath.FromSlash(path), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errChanged
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// read returns what Git would store of a file that hashed to id, of at most limit bytes.
func (d *disk) read(path string, id gitstore.ID, limit int64) ([]byte, error) {
	p, _ := d.conv.plan(path)
	text, most := d.text, limit
	switch {
	case p.link:
		text = d.target
	case p.changes:
		most = maxDiskFile
	}
	data, err := text(path, most)
	if err == nil && p.changes {
		data, err = d.conv.stored(p, nil, data)
	}
	switch {
	case err != nil:
		return nil, err
	case hashObject(gitstore.Blob, data, id) != id:
		return nil, errDisk(path, errChanged)
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("reading %q: %w", path, gitstore.ErrTooLarge)
	}
	return data, nil
}

// target returns the target of a symbolic link, of at most limit bytes.
func (d *disk) target(path string, limit int64) ([]byte, error) {
	target, err := d.root.Readlink(filepath.FromSlash(path))
	if err == nil && int64(len(target)) > limit {
		err = gitstore.ErrTooLarge
	}
	if err != nil {
		return nil, errDisk(path, err)
	}
	return []byte(target), nil
}

// text returns the content of a regular file of at most limit bytes.
func (d *disk) text(path string, limit int64) ([]byte, error) {
	f, size, err := d.open(path)
	if err != nil {
		return nil, errDisk(path, err)
	}
	defer f.Close()
	if size > limit {
		return nil, remedy.Errorf("run `git fsck`; if it complains, clone the registry again",
			"reading %q: %w: %d bytes, at most %d are read", path, gitstore.ErrTooLarge, size, limit)
	}
	data, err := capped.ReadAll(f, size)
	if errors.Is(err, capped.ErrTooLarge) {
		err = errChanged
	}
	if err != nil {
		return nil, errDisk(path, err)
	}
	return data, nil
}

func errDisk(path string, err error) error {
	return remedy.Errorf("make the file readable and leave it alone meanwhile, or take it out of the work tree",
		"reading file %q: %w", path, err)
}
