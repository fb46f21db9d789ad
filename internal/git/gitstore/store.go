// Package gitstore reads the objects of a Git clone, loose, packed, and of alternates, by SHA-1 or SHA-256. It decides
// nothing about their content but that they are what their ids say.
//
// The project has its own reader because go-git's serves honest repositories: its storer does not check bytes against
// ids; a missing or malformed sub-tree counts as empty; an unsorted tree shows no change, and a duplicate entry is
// hidden; a merge base is wrong, without an error, if a parent is missing; a foreign pack is resolved in memory without
// a limit; and SHA-256 and the extensions that a sparse checkout leaves behind are refused. The git command obeys the
// configuration of the clone. In this program go-git speaks the protocol, in package peer, and matches ignore
// patterns. Both go-git and the git command are the reference in the tests.
package gitstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
)

// Store is the object store of a clone, and its refs. It is safe for concurrent use, and reads a clone that git
// changes meanwhile: packs and refs that come are found, packs that go are read to the end.
//
// It reads neither grafts nor replacements (refs/replace) nor GIT_ variables, and runs no program: what is judged
// is what the ids say.
type Store struct {
	location
	cloneFormat
	boundary map[gitobject.ID]bool
	dirs     []string // object directories, the clone's own first
	further  []string // object directories of AddObjects
	missing  []string // alternates that are not there
	common   *os.Root
	git      *os.Root

	cache cache
	packs atomic.Pointer[[]*pack]
	hot   atomic.Pointer[pack] // where the last object was found
	scan  sync.Mutex           // held while packs changes
	gone  []*pack              // removed by git; still open for their readers
}

// Open opens the clone at dir, or above it: a work tree, a linked work tree, a bare clone. The first directory that has
// a .git, or is itself a repository, decides. Errors: ErrNotRepository; ErrUnsupported for a format that is not read;
// ErrCorrupt; ErrTooLarge.
func Open(dir string) (*Store, error) { return openStore(dir, true) }

// OpenAt opens the clone at dir as Open does, and never one above it.
func OpenAt(dir string) (*Store, error) { return openStore(dir, false) }

// IsRepository reports whether dir itself is a work tree or a repository, readable or not.
func IsRepository(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil || isGitDir(dir)
}

func openStore(dir string, above bool) (*Store, error) {
	s := &Store{}
	if err := s.open(dir, above); err != nil {
		_ = s.Close() // the error that matters is the first
		return nil, wrap(err, "opening repository", dir, "")
	}
	return s, nil
}

func (s *Store) open(dir string, above bool) (err error) {
	if s.location, err = find(dir, above); err != nil {
		return err
	}
	if s.cloneFormat, err = readConfig(s.commonDir); err != nil {
		return err
	}
	if s.boundary, err = readShallow(s.commonDir, s.idSize); err != nil {
		return err
	}
	if s.dirs, s.missing, err = objectDirs(filepath.Join(s.commonDir, "objects")); err != nil {
		return err
	}
	if s.git, err = os.OpenRoot(s.gitDir); err != nil {
		return err
	}
	if s.common, err = os.OpenRoot(s.commonDir); err != nil {
		return err
	}
	return s.rescan(nil)
}

// AddObjects has s read the objects of further directories too, after the clone's own. Each object is compared with its
// id, so they do not change what an id means. One that is not there counts as a missing alternate. Nothing of s may be
// in use.
func (s *Store) AddObjects(dirs ...string) (err error) {
	s.further = append(s.further, dirs...)
	s.dirs, s.missing, err = objectDirs(filepath.Join(s.commonDir, "objects"), s.further...)
	if err != nil {
		return wrap(err, "reading object directories of", s.gitDir, "name fewer in GIT_ALTERNATE_OBJECT_DIRECTORIES")
	}
	return s.rescan(s.packs.Load())
}

func wrap(err error, op, object, remedy string) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return err
	}
	return &Error{Op: op, Object: object, Remedy: remedy, Err: err}
}

// Close frees the files. Nothing of s may be in use.
func (s *Store) Close() error {
	var errs []error
	for _, root := range []*os.Root{s.git, s.common} {
		if root != nil {
			errs = append(errs, root.Close())
		}
	}
	packs := s.gone
	if now := s.packs.Load(); now != nil {
		packs = append(packs, *now...)
	}
	for _, p := range packs {
		errs = append(errs, p.close())
	}
	if err := errors.Join(errs...); err != nil {
		return wrap(err, "closing repository", s.gitDir, "")
	}
	return nil
}

// Worktree returns the root of the work tree, or "" for a bare clone. It ignores the setting core.worktree and returns
// the directory that contains .git.
func (s *Store) Worktree() string { return s.worktree }

// GitDir returns the Git directory: the one of this work tree, if it is linked.
func (s *Store) GitDir() string { return s.gitDir }

// CommonDir returns the Git directory of all work trees.
func (s *Store) CommonDir() string { return s.commonDir }

// Directory returns the directory that is itself the repository, "" if a .git led to it.
func (s *Store) Directory() string { return s.directory }

// ObjectDir returns the directory of the clone's own objects, or "" if it does not exist.
func (s *Store) ObjectDir() string {
	if len(s.dirs) == 0 {
		return ""
	}
	return s.dirs[0]
}

// ObjectDirs returns the directories that objects are read from, the clone's own first.
func (s *Store) ObjectDirs() []string { return s.dirs }

// RemoteURL returns the URL of the remote origin as the configuration spells it, with credentials, or "" if none is
// set.
func (s *Store) RemoteURL() string { return s.remotes["origin"] }

// HasRemote reports whether the configuration gives a remote of that name a URL.
func (s *Store) HasRemote(name string) bool { return s.remotes[name] != "" }

// Shallow reports whether the clone has a shallow boundary.
func (s *Store) Shallow() bool { return len(s.boundary) > 0 }

// IsShallow reports whether the parents of a commit were left out when the clone was made.
func (s *Store) IsShallow(id gitobject.ID) bool { return s.boundary[id] }

// IDSize returns the number of bytes of an id in tree entries: 20, or 32 in a SHA-256 clone.
func (s *Store) IDSize() int { return s.idSize }

// Read gives the type and bytes of an object that id is the hash of. The bytes are shared with later readers: they
// must not be changed. An object of more than limit bytes is ErrTooLarge and is not inflated; so is one made by a delta
// from a base of more than 16 MiB and limit. Other errors: ErrCorrupt, and for an object that is not there ErrPartial,
// ErrShallow or ErrNotFound.
func (s *Store) Read(id gitobject.ID, limit int64) (gitobject.Type, []byte, error) {
	var o cached
	limit = min(max(limit, 0), maxObject)
	err := s.lookup(id, func(p *pack, at int64) error {
		var err error
		o, err = s.readPacked(p, at, id, limit)
		return err
	}, func(dir string) error {
		t, data, err := readLoose(dir, id, limit)
		if err == nil {
			err = gitobject.Verify(id, t, data)
		}
		o = cached{kind: t, data: data}
		return err
	})
	if err != nil {
		return 0, nil, s.failed(err, id)
	}
	return o.kind, o.data, nil
}

// Type gives the type of an object as its head has it, without reading the rest. Errors are as for Read, without
// ErrTooLarge.
func (s *Store) Type(id gitobject.ID) (t gitobject.Type, err error) {
	err = s.lookup(id, func(p *pack, at int64) (err error) {
		t, err = p.kind(at)
		return err
	}, func(dir string) (err error) {
		t, err = looseType(dir, id)
		return err
	})
	if err != nil {
		return 0, s.failed(err, id)
	}
	return t, nil
}

func (s *Store) readPacked(p *pack, at int64, id gitobject.ID, limit int64) (cached, error) {
	o, err := p.object(at, limit, &s.cache)
	if err != nil || o.id == id {
		return o, err
	}
	return s.verified(o, id)
}

// verified checks that an object of a pack hashes to its id, and notes that in the cache.
func (s *Store) verified(o cached, id gitobject.ID) (cached, error) {
	if err := gitobject.Verify(id, o.kind, o.data); err != nil {
		return o, err
	}
	if o.id = id; o.kind == gitobject.Tree {
		s.cache.put(o)
	}
	return o, nil
}

var errAbsent = errors.New("absent")

// lookup tries each copy of an object until one is good; then, since gc or fetch may have moved it, again with the
// packs that are there by then, and once more should gc be at it still.
func (s *Store) lookup(id gitobject.ID, packed func(*pack, int64) error, loose func(string) error) error {
	if id.Size() != s.idSize {
		return errAbsent
	}
	for range 3 {
		seen := s.packs.Load()
		if err := s.try(id, *seen, packed, loose); err != errAbsent {
			return err
		}
		if err := s.rescan(seen); err != nil {
			return err
		}
	}
	return errAbsent
}

func (s *Store) try(id gitobject.ID, packs []*pack, packed func(*pack, int64) error, loose func(string) error) error {
	first := errAbsent
	attempt := func(err error) bool {
		if err != nil && !errors.Is(err, fs.ErrNotExist) && first == errAbsent {
			first = err
		}
		return err == nil
	}
	inPack := func(p *pack) bool {
		at, ok := p.index.find(id)
		if !ok {
			return false
		}
		err := p.ready()
		if err == nil {
			err = packed(p, at)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", filepath.Base(p.path), err)
		}
		return attempt(err)
	}
	hot := s.hot.Load()
	if hot != nil && inPack(hot) {
		return nil
	}
	for _, p := range packs {
		if p != hot && inPack(p) {
			s.hot.Store(p)
			return nil
		}
	}
	for _, dir := range s.dirs {
		if attempt(loose(dir)) {
			return nil
		}
	}
	return first
}

// failed says what can be done about an object that cannot be read.
func (s *Store) failed(err error, id gitobject.ID) error {
	e := &Error{Op: "reading object", Object: id.String(), Err: err}
	switch {
	case errors.Is(err, gitobject.ErrCorrupt):
		e.Remedy = "run `git fsck`, then clone again"
	case err != errAbsent:
	case s.promisor:
		e.Err = ErrPartial
	case s.Shallow():
		e.Err = ErrShallow
	case len(s.missing) > 0:
		e.Err = ErrNotFound
		e.Remedy = fmt.Sprintf("put back %q, which objects/info/alternates or the environment names, or clone without "+
			"--shared and --reference", s.missing[0])
	default:
		e.Err, e.Remedy = ErrNotFound, "run `git fsck`, then clone again"
	}
	return e
}

// rescan lists the packs again unless another reader did so after seen was loaded.
func (s *Store) rescan(seen *[]*pack) error {
	s.scan.Lock()
	defer s.scan.Unlock()
	if s.packs.Load() != seen {
		return nil
	}
	known := map[string]*pack{}
	if seen != nil {
		for _, p := range *seen {
			known[p.path] = p
		}
	}
	var packs []*pack
	for _, dir := range s.dirs {
		paths, err := packPaths(dir)
		if err != nil {
			return err
		}
		for _, path := range paths {
			p := known[path]
			if p == nil {
				if p, err = loadPack(path, s.idSize); err != nil {
					return err
				}
			}
			if p != nil {
				packs = append(packs, p)
			}
			delete(known, path)
		}
	}
	for _, p := range known {
		s.gone = append(s.gone, p)
	}
	s.packs.Store(&packs)
	return nil
}

// maxPacks bounds the files that are open at once; git repacks at 50.
const maxPacks = 10_000

// packPaths returns the packs of an object directory that have an index, sorted by name.
func packPaths(objects string) ([]string, error) {
	dir := filepath.Join(objects, "pack")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".idx"); ok && strings.HasPrefix(name, "pack-") {
			paths = append(paths, filepath.Join(dir, name+".pack"))
		}
	}
	if len(paths) > maxPacks {
		return nil, &Error{Op: "reading", Object: dir, Remedy: "run `git gc`",
			Err: fmt.Errorf("%w: %d packs, at most %d are read", gitobject.ErrTooLarge, len(paths), maxPacks)}
	}
	return paths, nil
}

// loadPack reads the index of a pack. It returns nil if git removed the pack meanwhile.
func loadPack(path string, idSize int) (*pack, error) {
	file := strings.TrimSuffix(path, ".pack") + ".idx"
	x, err := readIndex(file, idSize)
	switch {
	case err == nil:
		return &pack{path: path, index: x}, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, gitobject.ErrUnsupported):
		return nil, wrap(err, "reading pack index", file, "run `git -c pack.indexVersion=2 repack -a -d`")
	}
	return nil, wrap(err, "reading pack index", file, "run `git fsck`, then clone again")
}
