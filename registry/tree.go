package registry

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// Tree is a registry at one commit, on disk, or as it would be once a range has landed. Directories are read
// when they are asked for.
type Tree struct {
	repo   *Repository
	commit string
	root   gitobject.ID
}

// NamedEntry is an entry with its path.
type NamedEntry struct {
	Path string
	Entry
}

// Tree returns the tree of a commit, named by its id or a revision.
func (r *Repository) Tree(_ context.Context, commit string) (*Tree, error) {
	c, err := r.resolve(commit)
	if err != nil {
		return nil, err
	}
	return r.treeOf(c), nil
}

func (r *Repository) treeOf(c *commit) *Tree {
	return &Tree{repo: r, commit: c.id.String(), root: c.tree}
}

// Commit returns the id of the commit whose tree this is; "" for the files on disk and for a tree that no commit has
// yet.
func (t *Tree) Commit() string { return t.commit }

// Entry returns the entry at path: a file, or a directory with mode ModeTree. The bool is false if nothing is there.
// Two directories whose entries are equal have the same files.
func (t *Tree) Entry(path string) (Entry, bool, error) {
	at := Entry{Mode: ModeTree, ID: t.root}
	for done, rest := 0, path; rest != ""; {
		name, more, deeper := strings.Cut(rest, "/")
		if at.Mode != ModeTree || name == "" || (deeper && more == "") {
			return Entry{}, false, nil
		}
		f, err := t.repo.directory(at.ID, path[:done])
		if err != nil {
			return Entry{}, false, err
		}
		var ok bool
		if at, ok = f.find(name); !ok {
			return Entry{}, false, nil
		}
		rest = more
		done = len(path) - len(rest)
	}
	return at, true, nil
}

// Record reads the file at path as a record; nil if nothing is there. A file that is not regular, too large or not
// strict JSON is a Record with Err; an error means that an object could not be read.
func (t *Tree) Record(ctx context.Context, path string) (*Record, error) {
	e, ok, err := t.Entry(path)
	if err != nil || !ok {
		return nil, err
	}
	return t.repo.Record(ctx, path, e)
}

// Listing returns the Record at path as a listing, or nil if the path has no readable record.
func (t *Tree) Listing(ctx context.Context, path string) (*Listing, error) {
	rec, err := t.Record(ctx, path)
	if err != nil || rec == nil || rec.Document == nil {
		return nil, err
	}
	return ParseListing(rec), nil
}

// File returns the content of the file at path, of any kind, or nil if nothing is there. The content is shared and must
// not be changed. A symbolic link, submodule or directory is an error; for a file of more than max bytes it is
// gitstore.ErrTooLarge.
func (t *Tree) File(_ context.Context, path string, max int64) ([]byte, error) {
	e, ok, err := t.Entry(path)
	if err != nil || !ok {
		return nil, err
	}
	if e.Mode != ModeFile && e.Mode != ModeExecutable {
		return nil, remedy.Errorf(fmt.Sprintf("make %.300q a regular file", path),
			"reading %.300q: %w: it is a %s", path, errNotFile, e.Mode)
	}
	data, err := t.repo.blob(e.ID, max)
	if err != nil {
		return nil, fmt.Errorf("reading %.300q: %w", path, err)
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// Blob returns the content of the blob of an entry, also of one that is only on disk. It is shared and must not be
// changed. One of more than max bytes is gitstore.ErrTooLarge.
func (r *Repository) Blob(e Entry, max int64) ([]byte, error) { return r.blob(e.ID, max) }

// Walk calls f for every path of the tree, in byte order of the paths. A directory comes only where it has no
// entries, which Git itself never writes, and then as if its path ended in a slash. More than 1,048,576 paths or
// 64 directories in one another are ErrLimit. An error of f ends the walk and is returned.
func (t *Tree) Walk(f func(path string, e Entry) error) error {
	w := walk{repo: t.repo, visit: f}
	return w.directory("", t.root, 0)
}

// WalkFolder walks the paths below one directory, as Walk does. It never calls f if path is not a directory.
func (t *Tree) WalkFolder(path string, f func(path string, e Entry) error) error {
	e, ok, err := t.Entry(path)
	if err != nil || !ok || e.Mode != ModeTree {
		return err
	}
	w := walk{repo: t.repo, visit: f}
	return w.directory(path, e.ID, 1)
}

type walk struct {
	repo  *Repository
	visit func(path string, e Entry) error
	paths int
}

func (w *walk) directory(path string, id gitobject.ID, depth int) error {
	if depth > maxDepth {
		return errDepth(path)
	}
	f, err := w.repo.directory(id, path)
	if err != nil {
		return err
	}
	if f.len() == 0 && path != "" {
		return w.leaf(path, Entry{Mode: ModeTree, ID: id})
	}
	if path != "" {
		path += "/"
	}
	for i := range f.len() {
		child := f.at(i)
		p := path + string(child.name)
		if child.entry.Mode == ModeTree {
			err = w.directory(p, child.entry.ID, depth+1)
		} else {
			err = w.leaf(p, child.entry)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) leaf(path string, e Entry) error {
	if w.paths++; w.paths > maxPaths {
		return errPaths(path)
	}
	return w.visit(path, e)
}

func join(directory, name string) string {
	if directory == "" {
		return name
	}
	return directory + "/" + name
}

func errDepth(path string) error {
	return remedy.Errorf(fmt.Sprintf("remove the directories nested more than %d deep", maxDepth),
		"reading directory %.80q: %w: more than %d directories in one another", path, ErrLimit, maxDepth)
}

func errPaths(path string) error {
	return remedy.Errorf(fmt.Sprintf("split the change, or take files away: at most %d paths are looked at", maxPaths),
		"reading %.80q: %w: more than %d paths", path, ErrLimit, maxPaths)
}

// Entries returns the entries in the data directory of k, directly or deeper, README.md and .gitkeep included, in the
// order of Walk. If a symbolic link, a submodule or a file has the name of the directory, it is the only entry,
// under that path. If nothing has that name, there are no entries. An error is yielded last, without an entry.
func (t *Tree) Entries(k Kind) iter.Seq2[NamedEntry, error] {
	return func(yield func(NamedEntry, error) bool) {
		path := k.Directory()
		if path == "" {
			return
		}
		e, ok, err := t.Entry(path)
		if err == nil && !ok {
			return
		}
		if err != nil || e.Mode != ModeTree {
			yield(NamedEntry{path, e}, err)
			return
		}
		w := walk{repo: t.repo, visit: func(path string, e Entry) error {
			if !yield(NamedEntry{path, e}, nil) {
				return errStopped
			}
			return nil
		}}
		if err := w.directory(path, e.ID, 1); err != nil && err != errStopped {
			yield(NamedEntry{}, err)
		}
	}
}

// errStopped ends a walk whose caller needs no more of it.
var errStopped = errors.New("stopped")

// codeNotFile means that a symbolic link, submodule or directory is where a file is expected.
const codeNotFile = "not-a-file"

// Codes explains the code of a Record's Err that package strict does not have.
var Codes = []strict.Code{{codeNotFile, "a symbolic link, a submodule or a directory is where a record must be",
	"replace it by a plain file of mode 100644"}}

// Record reads an entry as a record. See Tree.Record.
func (r *Repository) Record(_ context.Context, path string, e Entry) (*Record, error) {
	rec := &Record{Path: path, Kind: KindOf(path), Entry: e}
	if e.Mode != ModeFile && e.Mode != ModeExecutable {
		rec.Err = &strict.Error{Pos: Pos{Path: path}, Code: codeNotFile,
			Message: fmt.Sprintf("a %s is here; expected a regular file (mode %s)", e.Mode, ModeFile.Octal())}
		return rec, nil
	}
	data, err := r.blob(e.ID, int64(strict.RegistryFile.Bytes))
	if errors.Is(err, gitobject.ErrTooLarge) {
		rec.Err = &strict.Error{Pos: Pos{Path: path}, Code: strict.CodeTooLarge,
			Message: fmt.Sprintf("the file is larger than the %d bytes that are allowed",
				strict.RegistryFile.Bytes)}
		return rec, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %.300q: %w", path, err)
	}
	rec.Document, err = strict.Parse(path, data, strict.RegistryFile)
	if err != nil && !errors.As(err, &rec.Err) {
		return nil, fmt.Errorf("reading %.300q: %w", path, err)
	}
	return rec, nil
}

// Bytes returns the content of an entry, which is a file or the target of a symbolic link. A submodule has none. If the
// content exceeds most bytes, the error is gitstore.ErrTooLarge.
func (r *Repository) Bytes(e Entry, most int64) ([]byte, error) {
	switch e.Mode {
	case ModeFile, ModeExecutable, ModeSymlink:
		return r.blob(e.ID, most)
	}
	return nil, nil
}

// Sides are the records before and after a change; nil if there is no record.
type Sides struct{ Base, Head *Record }

// Records reads both sides of each change and gives them to take with the number of the change, several at a time.
// Errors are those of Record, or ctx's.
func (r *Repository) Records(ctx context.Context, changes []Change, take func(i int, s Sides)) error {
	side := func(path string, e *Entry) (*Record, error) {
		if e == nil {
			return nil, nil
		}
		return r.Record(ctx, path, *e)
	}
	return inParallel(ctx, len(changes), neighbours, func(from, to int) (err error) {
		for i, c := range changes[from:to] {
			var s Sides
			if s.Head, err = side(c.Path, c.Head); err != nil {
				return err
			}
			if s.Base, err = side(c.Path, c.Base); err != nil {
				return err
			}
			take(from+i, s)
		}
		return nil
	})
}

// KeepTexts keeps the text of each record that is read from now on for its next reader, as an audit needs after the
// history at the head, until the returned function is called. Once the texts take more than room bytes, none are kept:
// records are read again in the order in which they were read first, so each would have been evicted before its turn.
func (r *Repository) KeepTexts(room int) (drop func()) {
	set := func(kept map[gitobject.ID][]byte) {
		r.texts.mu.Lock()
		defer r.texts.mu.Unlock()
		r.texts.kept, r.texts.room = kept, room
	}
	set(map[gitobject.ID][]byte{})
	return func() { set(nil) }
}

// textOverhead is what a text takes in addition to its bytes.
const textOverhead = 128

// texts are those of blobs. Without a map none are kept.
type texts struct {
	mu   sync.Mutex
	kept map[gitobject.ID][]byte
	room int // bytes
}

// take is for the second who reads a text, which is kept no longer.
func (t *texts) take(id gitobject.ID) ([]byte, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, ok := t.kept[id]
	if ok {
		delete(t.kept, id)
		t.room += len(text) + textOverhead
	}
	return text, ok
}

func (t *texts) put(id gitobject.ID, text []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept == nil {
		return
	}
	if t.room -= len(text) + textOverhead; t.room < 0 {
		t.kept = nil
		return
	}
	t.kept[id] = text
}
