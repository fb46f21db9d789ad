package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

const (
	maxSymbolic   = 5 // symbolic refs in a chain, as in git
	maxRefFile    = 1 << 20
	maxPackedRefs = 256 << 20
	maxRefName    = 1024
)

// HasRef reports whether a full ref name such as refs/remotes/origin/HEAD, or HEAD, leads to an object id or to a
// damaged ref.
func (s *Store) HasRef(name string) bool {
	_, err := s.ref(name)
	return err == nil || errors.Is(err, gitobject.ErrCorrupt)
}

// Symbolic returns the full name of the ref that a symbolic ref names; empty if the ref is not symbolic.
func (s *Store) Symbolic(name string) string {
	if CheckRefName(name) != nil {
		return ""
	}
	_, next, _ := s.readRef(name)
	return next
}

// ref follows a full ref name to an id.
func (s *Store) ref(name string) (gitobject.ID, error) {
	asked := name
	for range maxSymbolic + 1 {
		if err := CheckRefName(name); err != nil {
			return gitobject.ID{}, err
		}
		id, next, err := s.readRef(name)
		if err == ErrNotFound && name != asked {
			err = fmt.Errorf("%w: %s names %s, which has no commit", ErrNotFound, asked, name)
		}
		if err != nil || next == "" {
			return id, err
		}
		name = next
	}
	return gitobject.ID{}, fmt.Errorf("%w: more than %d symbolic refs in a row", gitobject.ErrCorrupt, maxSymbolic)
}

// readRef returns the id or the symbolic ref in one ref.
func (s *Store) readRef(name string) (id gitobject.ID, symbolic string, err error) {
	text, err := s.readRefFile(name)
	if notThere(err) {
		id, err = packedIn(s.common, name, s.idSize)
		return id, "", err
	}
	if err != nil {
		return gitobject.ID{}, "", fmt.Errorf("ref %s: %w", name, err)
	}
	if target, ok := bytes.CutPrefix(text, []byte("ref:")); ok {
		return gitobject.ID{}, string(bytes.Trim(target, " \t\r\n")), nil
	}
	// FETCH_HEAD says more after the id.
	if i := bytes.IndexAny(text, " \t\r\n"); i >= 0 {
		text = text[:i]
	}
	if id, err = gitobject.ParseID(string(text)); err != nil || id.Size() != s.idSize {
		holds := fmt.Sprintf("%.80q", text)
		if n := len(text); n > 0 && len(bytes.Trim(text, "\x00")) == 0 { // a crash while it was written
			holds = fmt.Sprintf("%d NUL bytes", n)
		}
		return gitobject.ID{}, "", &Error{Op: "reading ref", Object: name,
			Remedy: "remove the file of the ref, and fetch",
			Err:    fmt.Errorf("%w: it holds %s; expected an object id", gitobject.ErrCorrupt, holds)}
	}
	return id, "", nil
}

// notThere reports whether err means that no file has the name: nothing does, a directory does, or a file does where
// the path requires a directory.
func notThere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, errDirectory)
}

var errDirectory = errors.New("a directory")

// readRefFile reads a ref's file. Symbolic links do not lead out of the Git directory.
func (s *Store) readRefFile(name string) ([]byte, error) {
	root := s.common
	if ofWorktree(name) {
		root = s.git
	}
	info, err := root.Stat(filepath.FromSlash(name))
	if err == nil && info.IsDir() {
		return nil, errDirectory
	}
	if err != nil {
		return nil, err
	}
	return readRooted(root, filepath.FromSlash(name), maxRefFile)
}

func readRooted(root *os.Root, name string, max int64) ([]byte, error) {
	data, err := capped.ReadPlain(root, name, max)
	return data, unread(name, max, err)
}

// ofWorktree reports whether each linked work tree has its own ref of that name.
func ofWorktree(name string) bool {
	return !strings.HasPrefix(name, "refs/") || strings.HasPrefix(name, "refs/bisect/") ||
		strings.HasPrefix(name, "refs/worktree/") || strings.HasPrefix(name, "refs/rewritten/")
}

// PackedRef returns the id that the packed-refs of the repository at dir has for a full ref name. The error is
// ErrNotFound if it has none.
func PackedRef(dir, name string, idSize int) (gitobject.ID, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return gitobject.ID{}, err
	}
	defer root.Close()
	return packedIn(root, name, idSize)
}

// packedIn looks a name up in packed-refs. It is read each time: git replaces it as it likes.
func packedIn(root *os.Root, name string, idSize int) (gitobject.ID, error) {
	text, err := readRooted(root, "packed-refs", maxPackedRefs)
	if errors.Is(err, fs.ErrNotExist) {
		return gitobject.ID{}, ErrNotFound
	}
	if err != nil {
		return gitobject.ID{}, fmt.Errorf("packed-refs: %w", err)
	}
	return findPacked(text, name, idSize)
}

func findPacked(text []byte, name string, idSize int) (gitobject.ID, error) {
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 || line[0] == '#' || line[0] == '^' {
			continue
		}
		digits, ref, ok := bytes.Cut(line, []byte{' '})
		if !ok || len(digits) != 2*idSize {
			return gitobject.ID{}, fmt.Errorf("%w: packed-refs holds the line %.80q", gitobject.ErrCorrupt, line)
		}
		if string(ref) == name {
			id, err := gitobject.ParseID(string(digits))
			if err != nil {
				err = fmt.Errorf("%w: packed-refs: %w", gitobject.ErrCorrupt, err)
			}
			return id, err
		}
	}
	return gitobject.ID{}, ErrNotFound
}

// CheckRefName accepts what git does, git-check-ref-format(1): below refs/, and names such as HEAD and FETCH_HEAD. The
// error wraps ErrName.
func CheckRefName(name string) error {
	refuse := func(why string) error {
		return fmt.Errorf("%w: ref %.80q %s", ErrName, name, why)
	}
	switch {
	case len(name) > maxRefName:
		return refuse(fmt.Sprintf("has more than %d bytes", maxRefName))
	case strings.Contains(name, ".."):
		return refuse("holds \"..\"")
	case strings.Contains(name, "@{"):
		return refuse("holds \"@{\"")
	case strings.HasSuffix(name, "."):
		return refuse("ends in \".\"")
	}
	for _, c := range []byte(name) {
		if c <= ' ' || c == 0x7f || strings.IndexByte(`~^:?*[\`, c) >= 0 {
			return refuse(fmt.Sprintf("holds %q", c))
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return refuse("has a part that is empty, begins with \".\" or ends in \".lock\"")
		}
	}
	if !strings.HasPrefix(name, "refs/") && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-") != "" {
		return refuse("is neither below refs/ nor of capitals")
	}
	return nil
}
