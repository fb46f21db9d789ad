package listing

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/revocation"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Errors of writing. [fs.ErrExist] and [fs.ErrNotExist] are those of the paths themselves.
var (
	// ErrSlug means that a text is not a slug, so that it cannot be part of a path.
	ErrSlug = errors.New("not a slug: 2 to 64 characters from a-z, 0-9 and -, not beginning with -")
	// ErrPlace: a path is not one of a record, something else than plain directories and files is on the way, or the
	// file is larger than a record can be.
	ErrPlace = errors.New("there is no record")
	// ErrChanged: a file is not what it was when it was read.
	ErrChanged = errors.New("it changed meanwhile")
)

// Path returns the path of the listing of a slug: implementations/SLUG.json. The error is ErrSlug.
func Path(slug string) (string, error) { return recordPath(registry.KindListing, slug, "") }

// RevocationPath returns the path of the revocation of a Receipt: revocations/SLUG-SHA256.json. The error is ErrSlug,
// or ErrPlace if the hash is not 64 lower-case hexadecimal digits.
func RevocationPath(slug, sha256 string) (string, error) {
	if !plain.IsSHA256(sha256) {
		return "", fmt.Errorf("%w: the hash %q is not 64 lower-case hexadecimal digits", ErrPlace, sha256)
	}
	return recordPath(registry.KindRevocation, slug, "-"+sha256)
}

func recordPath(kind registry.Kind, slug, rest string) (string, error) {
	if !revocation.IsSlug(slug) {
		fix := "give a slug such as my-agent"
		meant := strings.TrimSuffix(strings.ReplaceAll(strings.ToLower(path.Base(slug)), "_", "-"), ".json")
		if revocation.IsSlug(meant) && !strings.Contains(slug, ":") {
			fix = "did you mean " + meant + "?"
		}
		return "", remedy.Errorf(fix, "%q is %w", slug, ErrSlug)
	}
	return kind.Directory() + "/" + slug + rest + ".json", nil
}

// isRecordPath reports whether a path is one that a record can have.
func isRecordPath(path string) bool {
	kind := registry.KindOf(path)
	return kind != registry.Governance && checks.RecordSlug(kind, path) != ""
}

// Tree is the work tree of a clone, in whose four data directories records are written, and nowhere else. Paths are
// those of the registry, with slashes; no symbolic link is followed, in the directory nor for the file.
type Tree struct{ root *os.Root }

// OpenTree opens the work tree at dir.
func OpenTree(dir string) (*Tree, error) {
	root, err := capped.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Tree{root}, nil
}

// Close releases the directory that t holds open.
func (t *Tree) Close() error { return t.root.Close() }

// Read reads a file of a data directory, whatever its name, of at most 64 KiB. The error is [fs.ErrNotExist] or
// ErrPlace, or that of the disk.
func (t *Tree) Read(path string) (text []byte, err error) {
	err = t.in(path, func(dir *os.Root, name string) (err error) {
		text, _, err = read(dir, name, maxRecord)
		return err
	})
	return text, err
}

// Create writes a new record: whole, or not at all. It never overwrites: the error is [fs.ErrExist] if the path exists,
// and ErrPlace if a record cannot have that path.
func (t *Tree) Create(path string, text []byte) error {
	if !isRecordPath(path) {
		return fmt.Errorf("%q: %w", path, ErrPlace)
	}
	// Git holds no empty directory, so that a fresh clone may lack one.
	directory := registry.KindOf(path).Directory()
	if err := t.root.Mkdir(directory, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return at(path, err)
	}
	return t.in(path, func(dir *os.Root, name string) error { return atomicfile.Create(dir, name, text, 0o644) })
}

// Replace gives a file of a data directory another text. The error is ErrChanged where it does not hold was any more.
func (t *Tree) Replace(path string, was, text []byte) error {
	return t.in(path, func(dir *os.Root, name string) error { return Overwrite(dir, name, maxRecord, was, text) })
}

// ClearExecutable makes a file of a data directory one that nobody may execute, and reports whether somebody could.
func (t *Tree) ClearExecutable(path string) (could bool, err error) {
	err = t.in(path, func(dir *os.Root, name string) error {
		text, mode, err := read(dir, name, maxRecord)
		if could = err == nil && mode&0o111 != 0; could {
			err = atomicfile.Replace(dir, name, text, mode&0o666)
		}
		return err
	})
	return could, err
}

// Move gives a file of a data directory the name of a record. The file must have the text was, else the error is
// ErrChanged. If the new name exists, the error is [fs.ErrExist].
func (t *Tree) Move(from, to string, was []byte) error {
	if now, err := t.Read(from); err != nil {
		return err
	} else if !bytes.Equal(now, was) {
		return at(from, ErrChanged)
	}
	if err := t.Create(to, was); err != nil {
		return err
	}
	return t.in(from, func(dir *os.Root, name string) error { return dir.Remove(name) })
}

// maxRecord is the size of a record in bytes.
var maxRecord = int64(strict.RegistryFile.Bytes)

// in has do work in the directory of a path, with the file's name there. The error names the path.
func (t *Tree) in(path string, do func(dir *os.Root, name string) error) error {
	dir, name, err := t.directory(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	return at(path, do(dir, name))
}

// Overwrite gives a plain file of at most limit bytes another text. The error is ErrChanged where it does not hold was
// any more, and ErrPlace where it is not such a file.
func Overwrite(dir *os.Root, name string, limit int64, was, text []byte) error {
	now, mode, err := read(dir, name, limit)
	if err == nil && !bytes.Equal(now, was) {
		err = ErrChanged
	}
	if err != nil {
		return err
	}
	return atomicfile.Replace(dir, name, text, mode)
}

// directory opens the directory of a path of a data directory, and returns the file's name in it. Each directory on the
// way must be a plain one.
func (t *Tree) directory(path string) (*os.Root, string, error) {
	parts := strings.Split(path, "/")
	if len(parts) < 2 || registry.KindOf(path) == registry.Governance || !fs.ValidPath(path) ||
		strings.ContainsAny(path, "\\\x00") {
		return nil, "", fmt.Errorf("%q: %w", path, ErrPlace)
	}
	dir, last := t.root, len(parts)-1
	for _, name := range parts[:last] {
		inner, err := plainDirectory(dir, name)
		if dir != t.root {
			dir.Close()
		}
		if err != nil {
			return nil, "", at(path, err)
		}
		dir = inner
	}
	return dir, parts[last], nil
}

// plainDirectory opens a directory of dir that is not a link.
func plainDirectory(dir *os.Root, name string) (*os.Root, error) {
	looked, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !looked.IsDir() {
		return nil, fmt.Errorf("%w: %s is not a plain directory", ErrPlace, name)
	}
	inner, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := inner.Stat(".")
	if err == nil && !os.SameFile(looked, opened) {
		err = ErrChanged
	}
	if err != nil {
		inner.Close()
		return nil, err
	}
	return inner, nil
}

// read reads a plain file of at most limit bytes, and its permissions.
func read(dir *os.Root, name string, limit int64) ([]byte, fs.FileMode, error) {
	looked, err := dir.Lstat(name)
	if err != nil {
		return nil, 0, err
	}
	if !looked.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%w: it is not a plain file", ErrPlace)
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err == nil && !os.SameFile(looked, opened) {
		err = ErrChanged
	}
	if err != nil {
		return nil, 0, err
	}
	text, err := capped.ReadAll(f, limit)
	if errors.Is(err, capped.ErrTooLarge) {
		err = fmt.Errorf("%w: it has more than %d bytes", ErrPlace, limit)
	}
	return text, opened.Mode().Perm(), err
}

// at names the path that an error is about, as the registry has it.
func at(path string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return fmt.Errorf("%q: %w", path, err)
}
