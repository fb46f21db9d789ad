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

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/links"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/opengap/ignore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// Limits of what is read of an agent's directory.
const (
	MaxFiles   = 10_000   // files and links that belong to the agent
	MaxFile    = 1 << 20  // bytes of one file
	MaxText    = 32 << 20 // bytes of all files that are read
	maxEntries = 100_000  // files, links and directories
	maxDepth   = 64       // directories within directories
	maxReads   = 20_000   // files that are read, some of them by several links
	maxSteps   = 200_000  // parts of paths that are resolved, and imports that are followed
	maxIgnore  = 64 << 10 // bytes of .gitignore files
	maxMatches = 80 << 20 // bytes of patterns that paths are compared with
)

// ErrTooLarge means that an agent's directory has more than is read.
var ErrTooLarge = errors.New("the directory is larger than an agent's")

// directory is the tree of an agent, as it was when it was listed, without what .git names and a .gitignore excludes.
type directory struct {
	root    *os.Root
	keep    []string // what belongs to the agent whatever a .gitignore says
	entries []entry  // by path
	links   map[string]string
	bytes   int // total of the files read so far
	reads   int // of files so far
	steps   int // of resolving paths so far
	ignored int // bytes of .gitignore files so far
	matches int // bytes of patterns that paths were compared with so far
	err     error
}

// entry is a file, directory or link; its path is relative, with slashes.
type entry struct {
	path string
	kind fs.FileMode // only the type bits
}

// fail notes why the directory is not judged, unless something was the reason before. Nothing is read from then on.
func (f *directory) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// list lists the tree; what keep names belongs to it in any case.
func (f *directory) list(keep []string) {
	for _, name := range keep {
		f.keep = append(f.keep, path.Clean(name))
		if at, outside := f.resolve(name); !outside {
			f.keep = append(f.keep, at)
		}
	}
	f.walk(".", 0, nil, false)
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
		f.fail(fmt.Errorf("%w: it has more than %d files; the directory with most of them is %q, with %d", ErrTooLarge,
			MaxFiles, most, files[most]))
	}
}

func (f *directory) walk(dir string, depth int, scopes []ignore.Scope, excluded bool) {
	if depth > maxDepth {
		f.fail(fmt.Errorf("%w: directories are nested deeper than %d", ErrTooLarge, maxDepth))
		return
	}
	if name := path.Join(dir, gitignoreName); !excluded && f.mode(name).IsRegular() {
		text, _ := f.read(name) // what cannot be read excludes nothing
		if f.ignored += len(text); f.ignored > maxIgnore {
			f.fail(fmt.Errorf("%w: its .gitignore files have more than %d bytes", ErrTooLarge, maxIgnore))
			return
		}
		scopes = append(slices.Clip(scopes),
			ignore.Scope{Directory: strings.TrimPrefix(dir+"/", "./"), Patterns: ignore.Parse(text), Size: len(text)})
	}
	d, err := f.root.Open(dir)
	if err != nil {
		f.fail(err)
		return
	}
	defer d.Close()
	for f.err == nil && len(f.entries) <= maxEntries {
		some, err := d.ReadDir(256) // not all at once: a directory may have millions
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			f.fail(err)
		}
		for _, e := range some {
			one := entry{path.Join(dir, e.Name()), e.Type()}
			if e.Name() == ".git" {
				continue
			}
			out := f.excludes(scopes, one, excluded)
			if out && !slices.ContainsFunc(f.keep, func(k string) bool { return strings.HasPrefix(k, one.path+"/") }) {
				continue
			}
			f.entries = append(f.entries, one)
			if e.IsDir() {
				f.walk(one.path, depth+1, scopes, out)
			}
		}
	}
}

// excludes reports whether an entry is not part of the agent, in a directory that is or is not.
func (f *directory) excludes(scopes []ignore.Scope, e entry, excluded bool) bool {
	name := path.Base(e.path)
	if name == gitignoreName || name == e.path && strings.HasPrefix(strings.ToUpper(name), "README") ||
		slices.ContainsFunc(f.keep, func(k string) bool {
			return k == "." || k == e.path || strings.HasPrefix(e.path, k+"/")
		}) {
		return false
	}
	for _, s := range scopes {
		f.matches += s.Size
	}
	if f.matches > maxMatches {
		f.fail(fmt.Errorf("%w: its .gitignore files have too many patterns", ErrTooLarge))
		return true
	}
	return excluded || ignore.Ignores(scopes, e.path, e.kind.IsDir())
}

// file gives the text of a file of the agent. A link is followed where it stays within. The error is fs.ErrNotExist,
// capped.ErrNotPlain, capped.ErrTooLarge, or what the system says.
func (f *directory) file(name string) ([]byte, error) {
	at, outside := f.resolve(name)
	if _, found := f.find(at); !found && !outside {
		return nil, fs.ErrNotExist
	}
	return f.read(name)
}

// read gives the text of a file as file does, whether it belongs to the agent or not.
func (f *directory) read(name string) ([]byte, error) {
	if f.err != nil {
		return nil, fs.ErrNotExist
	}
	text, err := capped.ReadPlain(f.root, name, MaxFile)
	if errors.Is(err, syscall.ENOTDIR) {
		err = fs.ErrNotExist
	}
	f.charge(len(text))
	return text, err
}

// charge counts a file that is read.
func (f *directory) charge(size int) {
	f.reads++
	f.bytes += size
	if f.reads > maxReads {
		f.fail(fmt.Errorf("%w: more than %d files are to be read", ErrTooLarge, maxReads))
	}
	if f.bytes > MaxText {
		f.fail(fmt.Errorf("%w: its texts have more than %d bytes", ErrTooLarge, MaxText))
	}
}

// mode returns the mode of what has a name, fs.ModeIrregular if nothing has it. Links that stay within the agent's
// directory are followed.
func (f *directory) mode(name string) fs.FileMode {
	info, err := f.root.Stat(name)
	if err != nil {
		return fs.ModeIrregular
	}
	return info.Mode()
}

// in returns the entries right below a directory. Links that stay within the agent's directory are followed.
func (f *directory) in(dir string) []entry {
	under, all := f.below(dir)
	return slices.DeleteFunc(slices.Clone(all), func(e entry) bool {
		return strings.Contains(strings.TrimPrefix(e.path, under), "/")
	})
}

// below returns the entries of a directory and of those in it, and what all their paths begin with. There is no entry
// if it leads out.
func (f *directory) below(dir string) (under string, all []entry) {
	at, _ := f.resolve(dir)
	if at == "." {
		return "", f.entries
	}
	first, _ := f.find(at + "/")
	end, _ := f.find(at + "0") // which follows "/"
	return at + "/", f.entries[first:end]
}

// find returns the index of a path among the entries, or where it would be.
func (f *directory) find(name string) (int, bool) {
	return slices.BinarySearchFunc(f.entries, name, func(e entry, name string) int { return cmp.Compare(e.path, name) })
}

// resolve returns a path without the links on its way, and reports whether it leads out of the directory.
func (f *directory) resolve(name string) (at string, outside bool) {
	return links.Resolve(name, f.link)
}

// link returns the target of a link; empty if there is no link of that name.
func (f *directory) link(name string) string {
	if f.steps++; f.steps > maxSteps {
		f.fail(fmt.Errorf("%w: its links lead over more than %d directories", ErrTooLarge, maxSteps))
		return ""
	}
	if _, known := f.links[name]; !known {
		f.links[name], _ = f.root.Readlink(name) // what cannot be read is not a link
	}
	return f.links[name]
}
