package registry

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitfsck"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
)

// Refused is an object that git refuses to receive if transfer.fsckObjects is set.
type Refused struct {
	Commit string // that holds it; empty: the base tree if Base is set, else the files on disk
	Base   bool
	Path   string // path of the file; empty: the commit itself is refused
	ID     string // of git, such as badEmail
	Detail string // the fault, with quoted texts of the object

	entry fileKey // the file, if there is one
}

// fileKey is what git judges of a file: what it reads it as, and the entry.
type fileKey struct {
	kind  fileKind
	entry Entry
}

// fileKind is what git reads a file as, by its name. Git's ids of faults begin with it.
type fileKind string

const (
	otherFile      fileKind = ""
	modulesFile    fileKind = "gitmodules"
	attributesFile fileKind = "gitattributes"
)

func fileKindOf(name string) fileKind {
	switch {
	case gitfsck.IsModules(name):
		return modulesFile
	case gitfsck.IsAttributes(name):
		return attributesFile
	}
	return otherFile
}

// named returns the first part of a path that git reads, and what git reads it as; otherFile if git reads no part.
func named(path string) (prefix string, kind fileKind) {
	for start := 0; start <= len(path); {
		end := len(path)
		if at := strings.IndexByte(path[start:], '/'); at >= 0 {
			end = start + at
		}
		if kind := fileKindOf(path[start:end]); kind != otherFile {
			return path[:end], kind
		}
		start = end + 1
	}
	return "", otherFile
}

// refusals finds what git refuses of commits, reading each file once.
type refusals struct {
	repo  *Repository
	known map[fileKey]*gitfsck.Fault
}

// of returns what git refuses of a commit, given the changes that it makes of each of its parents. The error is
// ErrMalformed if a file is not a blob; records is false if the records are read anyway.
func (w *refusals) of(c *commit, parents []*commit, changes []Change, records bool) ([]Refused, error) {
	commit := c.id.String() // empty for the files on disk
	var out []Refused
	if c.fault != nil {
		out = append(out, Refused{Commit: commit, ID: c.fault.ID, Detail: c.fault.Detail})
	}
	last := ""
	for _, change := range changes {
		if change.Head == nil {
			continue
		}
		path, kind := named(change.Path)
		onDisk := c.id.IsZero() // a file there is a blob
		if kind == otherFile && !onDisk && (records || KindOf(change.Path) == Governance) {
			if err := w.isBlob(*change.Head); err != nil {
				return nil, fmt.Errorf("reading %q: %w", change.Path, err)
			}
		}
		if kind == otherFile || path == last {
			continue
		}
		entry := *change.Head
		if path != change.Path {
			var retained bool
			var err error
			if entry, retained, err = w.directory(c, parents, path); err != nil {
				return nil, err
			}
			if retained {
				continue
			}
			last = path
		}
		fault, err := w.file(fileKey{kind, entry})
		if err != nil {
			return nil, fmt.Errorf("reading %q: %w", path, err)
		}
		if fault != nil {
			out = append(out, Refused{Commit: commit, Path: path, ID: fault.ID, Detail: fault.Detail,
				entry: fileKey{kind, entry}})
		}
	}
	return out, nil
}

// isBlob requires that the object of a file is a blob. A blob that a partial clone left out is taken for one.
func (w *refusals) isBlob(e Entry) error {
	if e.Mode == ModeSubmodule || e.Mode == ModeTree {
		return nil
	}
	t, err := w.repo.store.Type(e.ID)
	if err == nil && t != gitobject.Blob {
		err = errWrongType(e.ID, t, gitobject.Blob)
	}
	if errors.Is(err, gitstore.ErrPartial) {
		return nil
	}
	return err
}

// directory returns the entry of a directory in a commit, and reports whether a parent has a directory there too.
func (w *refusals) directory(c *commit, parents []*commit, path string) (e Entry, retained bool, err error) {
	for _, p := range parents {
		e, _, err := w.repo.treeOf(p).Entry(path)
		if err != nil || e.Mode == ModeTree {
			return e, true, err
		}
	}
	e, _, err = (&Tree{repo: w.repo, root: c.tree}).Entry(path)
	return e, false, err
}

// file judges an entry under a name that git reads.
func (w *refusals) file(key fileKey) (*gitfsck.Fault, error) {
	fault := func(id, detail string) *gitfsck.Fault {
		return &gitfsck.Fault{ID: string(key.kind) + id, Detail: detail}
	}
	switch key.entry.Mode {
	case ModeSymlink:
		if key.kind == attributesFile {
			return nil, nil // git warns
		}
		return fault("Symlink", "the file is a symbolic link"), nil
	case ModeSubmodule: // git judges the object that it names, once the clone has that: a later commit can bring it
		return fault("Blob", "the file is a submodule"), nil
	case ModeTree:
		return fault("Blob", "the file is a directory"), nil
	}
	if f, known := w.known[key]; known {
		return f, nil
	}
	text, err := w.repo.blob(key.entry.ID, gitfsck.MaxFile)
	var found *gitfsck.Fault
	switch {
	case errors.Is(err, gitobject.ErrTooLarge):
		found = gitfsck.Large(string(key.kind))
	case errors.Is(err, errOtherType):
		found = fault("Blob", "the file is not a blob")
	case err != nil:
		return nil, err
	case key.kind == modulesFile:
		found = gitfsck.Modules(text)
	default:
		found = gitfsck.Attributes(text)
	}
	if w.known == nil {
		w.known = map[fileKey]*gitfsck.Fault{}
	}
	w.known[key] = found
	return found, nil
}

// splitRefused takes out of Refused what is in the history of base.
func (g *Range) splitRefused(ctx context.Context, base *commit) error {
	if len(g.Refused) == 0 {
		return nil
	}
	files := slices.ContainsFunc(g.Refused, func(f Refused) bool { return f.Path != "" })
	commits := map[string]bool{}
	retained := map[fileKey]bool{}
	err := g.repo.ancestors(ctx, base, unseen(map[gitobject.ID]bool{}), func(c *commit, parents []*commit) error {
		commits[c.id.String()] = true
		if !files {
			return nil
		}
		changes, err := g.repo.changesOf(ctx, c, parents)
		for _, change := range changes {
			if path, kind := named(change.Path); kind != otherFile && change.Head != nil {
				entry := *change.Head
				if path != change.Path {
					entry = Entry{Mode: ModeTree}
				}
				retained[fileKey{kind, entry}] = true
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	g.Refused = slices.DeleteFunc(g.Refused, func(f Refused) bool {
		old := commits[f.Commit] && f.Path == "" || f.Path != "" && retained[f.entry]
		if old {
			g.refusedBefore = append(g.refusedBefore, f)
		}
		return old
	})
	return nil
}

// Limits on what is read of base only to warn.
const (
	maxNewest  = 256   // commits
	maxEntries = 10000 // read of the base tree outside the data directories
)

// RefusedBefore returns what git refuses of base, as far as it is cheap to know: what Refused leaves out for that
// reason, files of the base tree, and those of its newest commits.
func (g *Range) RefusedBefore(ctx context.Context) ([]Refused, error) {
	out := slices.Clone(g.refusedBefore)
	add := func(f Refused) {
		same := func(o Refused) bool { return o.Path == f.Path && (f.Path != "" || o.Commit == f.Commit) }
		if !slices.ContainsFunc(out, same) {
			out = append(out, f)
		}
	}
	b, err := g.repo.resolve(g.Base.commit)
	if err != nil {
		return nil, err
	}
	queue, queued := commitQueue{b}, map[gitobject.ID]bool{b.id: true}
	for n := 0; len(queue) > 0 && n < maxNewest; n++ {
		c := heap.Pop(&queue).(*commit)
		if c.fault != nil {
			add(Refused{Commit: c.id.String(), ID: c.fault.ID, Detail: c.fault.Detail})
		}
		parents, err := g.repo.parents(c)
		if err != nil {
			if errors.Is(err, gitstore.ErrShallow) {
				break
			}
			return nil, err
		}
		for _, p := range parents {
			if !queued[p.id] {
				queued[p.id] = true
				heap.Push(&queue, p)
			}
		}
	}
	files, err := g.namedFiles(b)
	if err != nil {
		return nil, err
	}
	found, err := g.refusals.of(&commit{tree: b.tree}, nil, files, false)
	for _, f := range found {
		f.Base = true
		add(f)
	}
	return out, err
}

// namedFiles returns the files of the base tree under names that git reads, as changes that add them. In the data
// directories, which are large, it only looks for the usual spelling.
func (g *Range) namedFiles(b *commit) ([]Change, error) {
	var out []Change
	root, err := g.repo.directory(b.tree, "")
	if err != nil {
		return nil, err
	}
	note := func(path string, e Entry) {
		if _, kind := named(path); kind != otherFile {
			out = append(out, Change{Path: path, Head: &e})
		}
	}
	entries := 0
	for i := range root.len() {
		child := root.at(i)
		path := string(child.name)
		switch {
		case child.entry.Mode != ModeTree:
			note(path, child.entry)
		case isDataDirectory(path):
			for _, name := range []string{".gitattributes", ".gitmodules"} {
				if e, found, err := g.Base.Entry(path + "/" + name); err != nil {
					return nil, err
				} else if found {
					note(path+"/"+name, e)
				}
			}
		default:
			err := g.Base.WalkFolder(path, func(path string, e Entry) error {
				if entries++; entries > maxEntries {
					return errStopped
				}
				note(path, e)
				return nil
			})
			if err != nil && err != errStopped {
				return nil, err
			}
		}
	}
	return out, nil
}

// A RefusalWalk finds what git refuses of the commits that successive steps of a history bring, those of merged side
// branches included.
type RefusalWalk struct {
	refusals
	before string // the commit after which the steps begin; empty: with the root
	seen   map[gitobject.ID]bool
}

// NewRefusalWalk begins after a commit whose history was judged before; empty: with the root.
func (r *Repository) NewRefusalWalk(before string) *RefusalWalk {
	return &RefusalWalk{refusals: refusals{repo: r}, before: before, seen: map[gitobject.ID]bool{}}
}

// Step returns what git refuses of the commits that a step brings. Steps come in the order of the history.
func (w *RefusalWalk) Step(ctx context.Context, s *Step) ([]Refused, error) {
	c, err := w.repo.resolve(s.Commit.ID)
	if err != nil {
		return nil, err
	}
	if len(c.parents) < 2 {
		w.seen[c.id] = true
		var parents []*commit
		if parents, err = w.repo.parents(c); err != nil {
			return nil, err
		}
		return w.of(c, parents, s.Changes, false)
	}
	if w.before != "" { // what a side branch brings is known only by what was there before
		old, err := w.repo.resolve(w.before)
		if err != nil {
			return nil, err
		}
		w.before = ""
		err = w.repo.ancestors(ctx, old, unseen(w.seen), func(*commit, []*commit) error { return nil })
		if err != nil {
			return nil, err
		}
	}
	var out []Refused
	err = w.repo.ancestors(ctx, c, unseen(w.seen), func(c *commit, parents []*commit) error {
		changes, err := w.repo.changesOf(ctx, c, parents)
		if err != nil {
			return fmt.Errorf("reading what commit %s changes: %w", c.id, err)
		}
		if changes, err = w.repo.unlikeOthers(ctx, c, parents, changes); err != nil {
			return err
		}
		found, err := w.of(c, parents, changes, true)
		out = append(out, found...)
		return err
	})
	return out, err
}
