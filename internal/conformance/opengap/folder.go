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
	"github.com/openagentprotocol-OAP/oap-gate/internal/ignore"
)

// Limits of what is read of an agent's folder.
const (
	MaxFiles   = 10_000    // files and links that belong to the agent
	MaxFile    = 1 << 20   // bytes of one file
	MaxText    = 32 << 20  // bytes of all files that are read
	maxEntries = 100_000   // files, links and folders
	maxDepth   = 64        // folders within folders
	maxLinks   = 40        // links that lead to links
	maxPath    = 4096      // bytes of a path
	maxReads   = 20_000    // files that are read, some of them by several links
	maxSteps   = 200_000   // parts of paths that are resolved, and imports that are followed
	maxMatches = 5_000_000 // patterns of .gitignore that are tried
)

// ErrTooLarge means that an agent's folder has more than is read.
var ErrTooLarge = errors.New("the folder is larger than an agent's")

// folder is the tree of an agent, as it was when it was listed, without what .git names and a .gitignore excludes.
type folder struct {
	root    *os.Root
	keep    []string // what belongs to the agent whatever a .gitignore says
	entries []entry  // by path
	links   map[string]string
	bytes   int // of the files that were read so far
	reads   int // of files so far
	steps   int // of resolving paths so far
	matches int // of patterns so far
}

// entry is a file, folder or link; its path is relative, with slashes.
type entry struct {
	path string
	kind fs.FileMode // type bits alone
}

// scope is a .gitignore and the folder that it is in.
type scope struct {
	dir      string
	patterns ignore.Patterns
}

// list lists the tree; what keep names belongs to it in any case. The error wraps ErrTooLarge, or is what the system
// says.
func (f *folder) list(keep []string) error {
	for _, name := range keep {
		at, outside, err := f.resolve(name)
		if err != nil {
			return err
		}
		if f.keep = append(f.keep, path.Clean(name)); !outside {
			f.keep = append(f.keep, at)
		}
	}
	if err := f.walk(".", 0, nil, false); err != nil {
		return err
	}
	slices.SortFunc(f.entries, func(a, b entry) int { return cmp.Compare(a.path, b.path) })
	files, most := map[string]int{}, "."
	total := 0
	for _, e := range f.entries {
		if e.kind.IsDir() {
			continue
		}
		total++
		if top, _, below := strings.Cut(e.path, "/"); below {
			if files[top]++; files[top] > files[most] {
				most = top
			}
		}
	}
	if total > MaxFiles || len(f.entries) > maxEntries {
		return fmt.Errorf("%w: it has more than %d files; the folder with most of them is %q, with %d", ErrTooLarge,
			MaxFiles, most, files[most])
	}
	return nil
}

func (f *folder) walk(dir string, depth int, scopes []scope, excluded bool) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: folders are nested deeper than %d", ErrTooLarge, maxDepth)
	}
	if name := path.Join(dir, gitignoreName); !excluded && f.isFile(name) {
		text, err := f.read(name)
		if errors.Is(err, ErrTooLarge) {
			return err
		}
		scopes = append(slices.Clip(scopes), scope{dir, ignore.Parse(text, false)})
	}
	d, err := f.root.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	for len(f.entries) <= maxEntries {
		some, err := d.ReadDir(256) // not all at once: a folder may have millions
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, e := range some {
			one := entry{path.Join(dir, e.Name()), e.Type()}
			out, err := f.excludes(scopes, one, excluded)
			if err != nil {
				return err
			}
			above := slices.ContainsFunc(f.keep, func(k string) bool { return strings.HasPrefix(k, one.path+"/") })
			if e.Name() == ".git" || out && !above {
				continue
			}
			f.entries = append(f.entries, one)
			if e.IsDir() {
				if err := f.walk(one.path, depth+1, scopes, out); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// excludes reports whether an entry is not part of the agent, in a folder that is or is not.
func (f *folder) excludes(scopes []scope, e entry, excluded bool) (bool, error) {
	if e.path == path.Base(e.path) && strings.HasPrefix(strings.ToUpper(e.path), "README") ||
		path.Base(e.path) == gitignoreName || slices.ContainsFunc(f.keep, func(k string) bool {
		return k == "." || k == e.path || strings.HasPrefix(e.path, k+"/")
	}) {
		return false, nil
	}
	for _, s := range slices.Backward(scopes) {
		if f.matches += len(s.patterns); f.matches > maxMatches {
			return false, fmt.Errorf("%w: its .gitignore files have too many patterns", ErrTooLarge)
		}
		name := strings.TrimPrefix(e.path, s.dir+"/")
		if v := s.patterns.Match(name, e.kind.IsDir(), false); v != ignore.Undecided {
			return excluded || v == ignore.Ignored, nil
		}
	}
	return excluded, nil
}

// errNotPlain means that what should be a file is none, or a link that leads to none within the folder.
var errNotPlain = errors.New("it is no plain file")

// file gives the text of a file of the agent. A link is followed where it stays within. The error is fs.ErrNotExist,
// errNotPlain, capped.ErrTooLarge, ErrTooLarge for the whole folder, or what the system says.
func (f *folder) file(name string) ([]byte, error) {
	at, outside, err := f.resolve(name)
	if err != nil {
		return nil, err
	}
	if _, found := f.find(at); !found && !outside {
		return nil, fs.ErrNotExist
	}
	return f.read(name)
}

// read gives the text of a file as file does, whether it belongs to the agent or not.
func (f *folder) read(name string) ([]byte, error) {
	if !within(name) {
		return nil, fs.ErrNotExist
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
	if err := f.charge(len(text)); err != nil {
		return nil, err
	}
	return text, err
}

// charge counts a file that is read.
func (f *folder) charge(size int) error {
	f.reads++
	f.bytes += size
	switch {
	case f.reads > maxReads:
		return fmt.Errorf("%w: more than %d files are to be read", ErrTooLarge, maxReads)
	case f.bytes > MaxText:
		return fmt.Errorf("%w: its texts have more than %d bytes", ErrTooLarge, MaxText)
	}
	return nil
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
	if len(name) > maxPath {
		return name, false, nil
	}
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
		target, err := f.link(strings.Join(here, "/"))
		if err != nil {
			return "", false, err
		}
		if target == "" {
			continue
		}
		if links++; links > maxLinks || path.IsAbs(target) {
			return "", true, nil
		}
		here, rest = here[:len(here)-1], append(strings.Split(target, "/"), rest...)
	}
	return path.Join(".", path.Join(here...)), false, nil
}

// link is where a link leads; empty if there is none of that name.
func (f *folder) link(name string) (target string, err error) {
	target, known := f.links[name]
	if known {
		return target, nil
	}
	if info, missing := f.root.Lstat(name); missing == nil && info.Mode().Type() == fs.ModeSymlink {
		target, err = f.root.Readlink(name)
	}
	f.links[name] = target
	return target, err
}
