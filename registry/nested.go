package registry

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// NestedRepository is the code of a repository whose directory is in the work tree of another one. A pull request can
// add such a directory, and a program that opens it reads what the pull request says instead of the clone.
const NestedRepository = "nested-repository"

// MirrorClone is the name of the clone in a mirror's directory.
const MirrorClone = "registry.git"

// IsMirror reports whether dir is the directory of a mirror: it has a registry.git, and is itself neither a work tree
// nor a repository.
func IsMirror(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, MirrorClone))
	return err == nil && !gitstore.IsRepository(dir)
}

// MirrorFolder returns the directory of the mirror that the repository is the clone of, empty if it is of none. A link
// or a linked work tree may lead to the clone.
func (r *Repository) MirrorFolder() string {
	own, _ := filepath.EvalSymlinks(filepath.Dir(r.store.ObjectDir())) // empty after an error
	for _, directory := range []string{r.store.Directory(), own} {
		if dir := filepath.Dir(directory); filepath.Base(directory) == MirrorClone && IsMirror(dir) {
			return dir
		}
	}
	return ""
}

// Outer returns the root of the work tree in which a directory is that is itself a repository, empty if it is in none.
// The error has the code NestedRepository if the repository of that work tree tracks the directory, or if that cannot
// be seen. The directory need not exist yet.
func Outer(directory string) (string, error) {
	lexical, err := filepath.Abs(directory)
	if err != nil {
		return "", err
	}
	resolved, err := resolve(lexical)
	if err != nil {
		return "", err
	}
	outer := ""
	for _, directory := range []string{lexical, resolved} {
		root, err := workTreeAround(directory)
		if err != nil {
			return "", err
		}
		if root == "" {
			continue
		}
		if err := untrackedIn(root, directory); err != nil {
			return "", err
		}
		outer = root
	}
	return outer, nil
}

// resolve follows the symbolic links of a path whose last parts need not exist.
func resolve(path string) (string, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(path) == path {
		return resolved, err
	}
	above, err := resolve(filepath.Dir(path))
	return filepath.Join(above, filepath.Base(path)), err
}

// workTreeAround returns the nearest parent directory that has a .git. It returns "" if no parent has one, or if the
// directory is in a .git itself.
func workTreeAround(directory string) (string, error) {
	for at := directory; filepath.Dir(at) != at; {
		if filepath.Base(at) == ".git" {
			return "", nil
		}
		at = filepath.Dir(at)
		_, err := os.Lstat(filepath.Join(at, ".git"))
		if err == nil {
			return at, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", nil
}

// untrackedIn checks that the repository of a work tree does not track a directory in it.
func untrackedIn(root, directory string) error {
	rel, err := filepath.Rel(root, directory)
	if err != nil {
		return err
	}
	f := trackedDirectory{root: root, parts: strings.Split(filepath.ToSlash(rel), "/")}
	tracked, err := f.tracked()
	if err != nil {
		return remedy.Coded(NestedRepository, "name a clone outside of "+root,
			"opening repository %q: it is in the work tree of %q, and nobody can see whether that tracks it: %w",
			directory, root, err)
	}
	if tracked {
		return remedy.Coded(NestedRepository, "name "+root+" itself, or a clone outside of it",
			"opening repository %q: the repository of %q tracks it; expected a clone that no other repository tracks",
			directory, root)
	}
	return nil
}

// trackedDirectory looks for a directory of a work tree in what its repository tracks.
type trackedDirectory struct {
	root  string
	parts []string // parts of the directory's path from the root
	store *gitstore.Store
}

// tracked reports whether the index or the tree of HEAD lists a path of the directory.
func (f *trackedDirectory) tracked() (bool, error) {
	store, err := gitstore.OpenAt(f.root)
	if err != nil {
		return false, err
	}
	defer store.Close()
	f.store = store
	data, err := capped.ReadFile(filepath.Join(store.GitDir(), "index"), maxIndex)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err == nil {
		if found, err := f.inIndex(data, store.IDSize()); err != nil || found {
			return found, err
		}
	}
	head, err := store.Resolve("HEAD")
	if errors.Is(err, gitstore.ErrNotFound) { // no commit yet
		return false, nil
	}
	if err != nil {
		return false, err
	}
	data, err = readObject(store, head, gitobject.Commit, maxOuterObject)
	if err != nil {
		return false, err
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	tree, err := gitobject.ParseID(strings.TrimPrefix(string(line), "tree "))
	if err != nil {
		return false, err
	}
	return f.inTree("", tree)
}

// firstParts returns a path cut after n parts.
func firstParts(path string, n int) string {
	for i := range len(path) {
		if path[i] == '/' {
			if n--; n == 0 {
				return path[:i]
			}
		}
	}
	return path
}

// maxIndex is room for a million entries.
const maxIndex = 256 << 20

var errIndex = errors.New("malformed index")

// inIndex reports whether the bytes of an index, gitformat-index(5), list a path of the directory. It reads versions 2
// and 3. Any other version and a split index are errors.
func (f *trackedDirectory) inIndex(data []byte, idSize int) (bool, error) {
	if len(data) < 12+idSize || string(data[:4]) != "DIRC" {
		return false, errIndex
	}
	version, rest, last := binary.BigEndian.Uint32(data[4:]), data[12:len(data)-idSize], ""
	if version != 2 && version != 3 {
		return false, fmt.Errorf("reading the index: %w: version %d", gitobject.ErrUnsupported, version)
	}
	for range binary.BigEndian.Uint32(data[8:]) {
		name := 40 + idSize + 2
		if len(rest) < name+2 {
			return false, errIndex
		}
		mode, id := Mode(binary.BigEndian.Uint32(rest[24:])), gitobject.BytesID(rest[40:40+idSize])
		if rest[name-2]&0x40 != 0 { // two more bytes of flags
			name += 2
		}
		length := bytes.IndexByte(rest[name:], 0)
		size := name + length + 8 - (name+length)%8
		if length < 0 || size > len(rest) {
			return false, errIndex
		}
		path := strings.TrimSuffix(string(rest[name:name+length]), "/") // a sparse index has directories
		rest = rest[size:]
		head := firstParts(path, len(f.parts))
		n := strings.Count(head, "/") + 1
		if head == last || !f.is(head, n) {
			continue
		}
		found, err := f.leads(head, n, mode, id)
		if err != nil || found {
			return found, err
		}
		if mode != ModeTree {
			last = head
		}
	}
	for len(rest) > 0 { // extensions
		if len(rest) < 8 || string(rest[:4]) == "link" ||
			uint64(binary.BigEndian.Uint32(rest[4:])) > uint64(len(rest)-8) {
			return false, fmt.Errorf("reading the index: it is split, or has extensions that are %w",
				gitobject.ErrUnsupported)
		}
		rest = rest[8+binary.BigEndian.Uint32(rest[4:]):]
	}
	return false, nil
}

// leads reports whether an entry, at the first n parts of the directory's path, lists a path of the directory: the
// directory, a symbolic link on the way to it, or a tree on the way, which a sparse index keeps as one entry.
func (f *trackedDirectory) leads(path string, n int, mode Mode, id gitobject.ID) (bool, error) {
	switch {
	case n == len(f.parts), mode == ModeSymlink:
		return true, nil
	case mode == ModeTree:
		return f.inTree(path, id)
	}
	return false, nil
}

// is reports whether a path is that of the first n parts of the directory, also in another spelling that the file
// system takes for the same.
func (f *trackedDirectory) is(path string, n int) bool {
	want := strings.Join(f.parts[:n], "/")
	if path == want || !strings.EqualFold(norm.NFC.String(path), norm.NFC.String(want)) {
		return path == want
	}
	a, err := os.Lstat(filepath.Join(f.root, filepath.FromSlash(path)))
	if err != nil {
		return false
	}
	b, err := os.Lstat(filepath.Join(f.root, filepath.FromSlash(want)))
	return err == nil && os.SameFile(a, b)
}

// inTree reports whether a tree, of the directory at a path that leads to the looked for, lists a path of that. The
// tree may be of any repository: other malformed entries of it do not matter here.
func (f *trackedDirectory) inTree(path string, id gitobject.ID) (bool, error) {
	data, err := readObject(f.store, id, gitobject.Tree, maxOuterObject)
	if err != nil {
		return false, err
	}
	n := 1
	if path != "" {
		n = strings.Count(path, "/") + 2
	}
	for len(data) > 0 {
		mode, rest, isEntry := bytes.Cut(data, []byte(" "))
		name, rest, isNamed := bytes.Cut(rest, []byte("\x00"))
		if !isEntry || !isNamed || len(rest) < id.Size() {
			return false, fmt.Errorf("reading tree %s: %w", id, gitstore.ErrMalformed)
		}
		entry := gitobject.BytesID(rest[:id.Size()])
		data = rest[id.Size():]
		at := join(path, string(name))
		if !f.is(at, n) {
			continue
		}
		m, err := strconv.ParseUint(string(mode), 8, 32)
		if err != nil {
			return false, fmt.Errorf("reading tree %s: %w: mode %q", id, gitstore.ErrMalformed, mode)
		}
		found, err := f.leads(at, n, Mode(m), entry)
		if err != nil || found {
			return found, err
		}
	}
	return false, nil
}

// maxOuterObject caps a commit or a tree of the outer repository in bytes.
const maxOuterObject = 64 << 20
