// Package registry reads what Git says about a registry: its records at a commit, what a pull request does
// to them, and its history. It needs no network, no clock and no policy.
//
// Everything is decoded strictly, and any error reading an object is returned: nothing here takes an object
// that is missing or malformed for an empty one.
//
// Only the names in testdata/api/registry.txt are promised to programs outside of this module.
package registry

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitfsck"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
)

// Errors that are about commits and not about one object. They come wrapped in an error that says
// the remedy.
var (
	// ErrUnrelated: base and head have no common ancestor.
	ErrUnrelated = errors.New("unrelated histories")
	// ErrNotAncestor: a commit is not on the first-parent chain of another.
	ErrNotAncestor = errors.New("not on the first-parent chain")
	// errNotFile: a path that must be a regular file is something else.
	errNotFile = errors.New("not a regular file")
	// ErrLimit: more paths, directories in one another or merge bases than are looked at.
	ErrLimit = errors.New("over the limit")
)

// Repository is an open clone. It is safe for concurrent use.
type Repository struct {
	store       *gitstore.Store
	closed      atomic.Bool
	outer       string
	directories directoryCache
	composed    composed
	texts       texts

	mu      sync.Mutex
	commits map[gitobject.ID]*commit
	sighted map[gitobject.ID]time.Time
}

// commit is what the package needs of a commit object.
type commit struct {
	id      gitobject.ID
	tree    gitobject.ID
	parents []gitobject.ID
	when    time.Time
	dated   bool           // else when is 1970
	fault   *gitfsck.Fault // why git refuses it
	landed  landing        // guarded by Repository.mu
}

// Open opens the clone that dir is in: a work tree, a bare clone, a linked work tree, or the clone of a mirror. The
// first directory upwards that has a .git, or is itself a repository, decides; a registry.git, named or in a mirror's
// directory, is read itself or not at all. Errors say what to do; one of the code NestedRepository refuses a repository
// that another one tracks.
func Open(dir string) (*Repository, error) {
	if IsMirror(dir) {
		dir = filepath.Join(dir, MirrorClone)
	}
	open := gitstore.Open
	if abs, err := filepath.Abs(dir); err == nil && filepath.Base(abs) == MirrorClone {
		open = gitstore.OpenAt
	}
	store, err := open(dir)
	if err != nil {
		return nil, err
	}
	r := newRepository(store)
	if directory := store.Directory(); directory != "" {
		if r.outer, err = Outer(directory); err != nil {
			return nil, errors.Join(err, store.Close())
		}
	}
	return r, nil
}

// OpenAt opens the clone at dir, never one above it, for a caller that made dir or has asked Outer.
func OpenAt(dir string) (*Repository, error) {
	store, err := gitstore.OpenAt(dir)
	if err != nil {
		return nil, err
	}
	return newRepository(store), nil
}

func newRepository(store *gitstore.Store) *Repository {
	return &Repository{
		store:       store,
		directories: directoryCache{directories: map[gitobject.ID]*directory{}, latest: map[string]*directory{}},
		commits:     map[gitobject.ID]*commit{},
	}
}

// Outer returns the root of the work tree in which the repository is untracked, empty if it is in none.
func (r *Repository) Outer() string { return r.outer }

// Close releases the files that r holds open. A second call does nothing.
func (r *Repository) Close() error {
	if r.Usable() != nil || !r.closed.CompareAndSwap(false, true) {
		return nil
	}
	return r.store.Close()
}

// Usable returns an error unless r was opened and is not closed.
func (r *Repository) Usable() error {
	switch {
	case r == nil || r.store == nil:
		return remedy.Errorf("open it with registry.Open", "the repository is not open; expected a clone of a registry")
	case r.closed.Load():
		return remedy.Errorf("open the repository again", "the repository is closed")
	}
	return nil
}

// Resolve gives the id of the commit that rev names: a ref, an id, HEAD, with suffixes such as ~2.
func (r *Repository) Resolve(rev string) (string, error) {
	id, err := r.store.Resolve(rev)
	if err != nil {
		return "", unknown(rev, err)
	}
	return id.String(), nil
}

// unknown says what to do about a commit that was named by its id and is not there.
func unknown(rev string, err error) error {
	if _, hex := gitobject.ParseID(rev); hex == nil && errors.Is(err, gitstore.ErrNotFound) {
		return remedy.Errorf("fetch it with `git fetch origin "+rev+"`, or name a commit of this clone",
			"resolving revision %q: %w", rev, gitstore.ErrNotFound)
	}
	return err
}

// Store returns the store of the clone's objects and refs, which also knows its directories and remotes.
func (r *Repository) Store() *gitstore.Store { return r.store }

// Commit reads one commit. Touched is not filled in.
func (r *Repository) Commit(_ context.Context, id string) (*Commit, error) {
	c, err := r.resolve(id)
	if err != nil {
		return nil, err
	}
	return c.public(), nil
}

func (c *commit) public() *Commit {
	p := &Commit{ID: c.id.String(), When: c.when} // no ID for the files on disk
	for _, id := range c.parents {
		p.Parents = append(p.Parents, id.String())
	}
	return p
}

// resolve reads the commit that rev names.
func (r *Repository) resolve(rev string) (*commit, error) {
	id, err := gitobject.ParseID(rev)
	if err != nil {
		if id, err = r.store.Resolve(rev); err != nil {
			return nil, err
		}
	}
	c, err := r.commit(id)
	return c, unknown(rev, err)
}

func (r *Repository) commit(id gitobject.ID) (*commit, error) {
	r.mu.Lock()
	c := r.commits[id]
	r.mu.Unlock()
	if c != nil {
		return c, nil
	}
	decoded, err := r.commitObject(id)
	if err != nil {
		return nil, err
	}
	c = &commit{id: id, tree: decoded.Tree, parents: decoded.Parents, when: time.Unix(decoded.When, 0).UTC(),
		dated: decoded.Dated, fault: decoded.Fault}
	r.mu.Lock()
	r.commits[id] = c
	r.mu.Unlock()
	return c, nil
}

const maxCommitBytes = 4 << 20

// parents reads the parents of c. A commit at the boundary of a shallow clone has parents that the clone
// does not hold, and that is an error here.
func (r *Repository) parents(c *commit) ([]*commit, error) {
	if len(c.parents) > 0 && r.store.IsShallow(c.id) {
		return nil, errShallow(c)
	}
	parents := make([]*commit, len(c.parents))
	for i, id := range c.parents {
		p, err := r.commit(id)
		if err != nil {
			return nil, fmt.Errorf("parent of %s: %w", c.id, err)
		}
		parents[i] = p
	}
	return parents, nil
}

func errShallow(c *commit) error {
	return remedy.Errorf("git fetch --unshallow (in Actions: fetch-depth: 0)",
		"this clone is shallow: reading the parents of commit %s: %w", c.id, gitstore.ErrShallow)
}

// object reads an object of one type, of at most limit bytes, which may be one that is only in memory.
func (r *Repository) object(id gitobject.ID, want gitobject.Type, limit int64) ([]byte, error) {
	if o, found := r.composed.get(id); found && o.kind == want {
		return o.data, gitobject.Within(int64(len(o.data)), limit)
	}
	return readObject(r.store, id, want, limit)
}

func readObject(store *gitstore.Store, id gitobject.ID, want gitobject.Type, limit int64) ([]byte, error) {
	got, data, err := store.Read(id, limit)
	if err != nil {
		return nil, err
	}
	if got != want {
		return nil, errWrongType(id, got, want)
	}
	return data, nil
}

// errOtherType is wrapped by the error of an object that is not of the type that its name in a tree or commit demands.
var errOtherType = fmt.Errorf("%w: an object of another type", gitstore.ErrMalformed)

func errWrongType(id gitobject.ID, got, want gitobject.Type) error {
	return remedy.Errorf("compare with another clone: what names this object is malformed",
		"reading object %s: %w: it is a %s; expected a %s", id, errOtherType, got, want)
}

// blob reads a file's content.
func (r *Repository) blob(id gitobject.ID, limit int64) ([]byte, error) {
	if text, ok := r.texts.take(id); ok {
		return text, nil
	}
	text, err := r.object(id, gitobject.Blob, limit)
	if err == nil {
		r.texts.put(id, text)
	}
	return text, err
}

// CommitObject reads one commit as its bytes have it, for its signature.
func (r *Repository) CommitObject(id string) (*gitstore.CommitObject, error) {
	parsed, err := gitobject.ParseID(id)
	if err != nil {
		return nil, err
	}
	return r.commitObject(parsed)
}

func (r *Repository) commitObject(id gitobject.ID) (*gitstore.CommitObject, error) {
	raw, err := r.object(id, gitobject.Commit, maxCommitBytes)
	if err != nil {
		return nil, fmt.Errorf("reading history: %w", err)
	}
	c, err := gitstore.DecodeCommit(raw)
	if err == nil && c.Tree.Size() != id.Size() {
		err = fmt.Errorf("%w: ids of another hash function", gitstore.ErrMalformed)
	}
	if err != nil {
		return nil, remedy.Errorf("leave the commit out: no git writes it so", "reading commit %s: %w", id, err)
	}
	return c, nil
}
