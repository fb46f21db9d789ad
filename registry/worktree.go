package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
)

// AddObjects has r read the objects of further directories too, after the clone's own: those of a tree that git wrote,
// or of a push that has not landed. Each object is compared with its id. Nothing of r may be in use.
func (r *Repository) AddObjects(dirs ...string) error { return r.store.AddObjects(dirs...) }

// TreeRange reads what a tree would do to base if it were committed on top of HEAD. The tree is named by its id.
func (r *Repository) TreeRange(ctx context.Context, base, tree string) (*Range, error) {
	b, err := r.resolve(base)
	if err != nil {
		return nil, fmt.Errorf("reading base %q: %w", base, err)
	}
	h, err := r.resolve("HEAD")
	if err != nil {
		return nil, fmt.Errorf("reading HEAD: %w", err)
	}
	root, err := gitobject.ParseID(tree)
	if err != nil {
		return nil, err
	}
	return r.between(ctx, b, h, &Tree{repo: r, root: root})
}

// TextRange reads what a new text of a file would do to base if only it were committed on top of it, wherever that
// text is.
func (r *Repository) TextRange(ctx context.Context, base, path string, text []byte) (*Range, error) {
	b, err := r.resolve(base)
	if err != nil {
		return nil, fmt.Errorf("reading base %q: %w", base, err)
	}
	id, err := r.composed.add(object{gitobject.Blob, text}, b.id)
	if err != nil {
		return nil, err
	}
	root, err := r.compose(b.tree, []Change{{Path: path, Head: &Entry{ModeFile, id}}})
	if err != nil {
		return nil, err
	}
	return r.between(ctx, b, b, &Tree{repo: r, root: root})
}

// composed holds the objects that no commit holds yet: directories as they would be once a range has landed, and new
// texts of files. They have the ids that Git would give them, so that comparing and reading trees needs no second way.
type composed struct {
	mu      sync.RWMutex
	objects map[gitobject.ID]object
}

type object struct {
	kind gitobject.Type
	data []byte
}

func (c *composed) get(id gitobject.ID) (object, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	o, found := c.objects[id]
	return o, found
}

// add keeps an object, and returns its id, by the hash function of the id like.
func (c *composed) add(o object, like gitobject.ID) (gitobject.ID, error) {
	id, err := gitobject.IDOf(o.kind, o.data, like.Size())
	if err != nil {
		return id, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.objects == nil {
		c.objects = map[gitobject.ID]object{}
	}
	c.objects[id] = o
	return id, nil
}

// compose returns the tree with the changes applied: each path gets its Head, whatever was there before. If a file and
// a directory have one name, the one that the changes add remains. A directory that loses its last entry is removed, as
// in Git. Changes are in path order.
func (r *Repository) compose(tree gitobject.ID, changes []Change) (gitobject.ID, error) {
	id, _, err := r.composeDirectory("", tree, tree, changes, 0)
	return id, err
}

// composeDirectory edits one directory; the zero id is a directory that is not there. The paths of the edits begin in
// it. It reports whether any entry is left.
func (r *Repository) composeDirectory(path string, id, like gitobject.ID, edits []Change,
	depth int) (gitobject.ID, bool, error) {
	if depth > maxDepth {
		return gitobject.ID{}, false, errDepth(path)
	}
	old, err := r.directory(id, path)
	if err != nil {
		return gitobject.ID{}, false, err
	}
	below := map[string][]Change{} // by the name in this directory
	var names []string
	for _, e := range edits {
		name, rest, _ := strings.Cut(e.Path, "/")
		if below[name] == nil {
			names = append(names, name)
		}
		below[name] = append(below[name], Change{Path: rest, Head: e.Head})
	}
	var fresh []item
	for _, name := range names {
		e, keep, err := r.composeEntry(join(path, name), name, old, like, below[name], depth)
		if err != nil {
			return gitobject.ID{}, false, err
		}
		if keep {
			fresh = append(fresh, item{[]byte(name), e})
		}
	}
	raw := spell(old, below, fresh)
	id, err = r.composed.add(object{gitobject.Tree, raw}, like)
	return id, len(raw) > 0, err
}

// composeEntry returns the entry of one name after the edits to it and to the paths below it.
func (r *Repository) composeEntry(path, name string, in *directory, like gitobject.ID, edits []Change,
	depth int) (Entry, bool, error) {
	entry, there := in.find(name)
	if edits[0].Path == "" {
		if head := edits[0].Head; head != nil {
			return *head, true, nil
		}
		there = there && entry.Mode == ModeTree && !isEmptyTree(entry.ID)
		edits = edits[1:]
	}
	adds := slices.ContainsFunc(edits, func(e Change) bool { return e.Head != nil })
	isTree := there && entry.Mode == ModeTree
	if len(edits) == 0 || (!isTree && !adds) {
		return entry, there, nil
	}
	var id gitobject.ID
	if isTree {
		id = entry.ID
	}
	id, keep, err := r.composeDirectory(path, id, like, edits, depth+1)
	return Entry{ModeTree, id}, keep, err
}

func isEmptyTree(id gitobject.ID) bool { return gitobject.Verify(id, gitobject.Tree, nil) == nil }

// spell returns the tree object of old without the edited names and with the fresh entries.
func spell(old *directory, edited map[string][]Change, fresh []item) []byte {
	slices.SortFunc(fresh, compareItems)
	raw := make([]byte, 0, len(old.raw)+80*len(fresh))
	add := func(i item) {
		raw = fmt.Appendf(raw, "%o %s\x00", uint32(i.entry.Mode), i.name)
		raw = append(raw, i.entry.ID.Bytes()...)
	}
	for n := range old.len() {
		e := old.at(n)
		if edited[string(e.name)] != nil {
			continue
		}
		for len(fresh) > 0 && compareItems(fresh[0], e) < 0 {
			add(fresh[0])
			fresh = fresh[1:]
		}
		raw = append(raw, old.span(n)...)
	}
	for _, i := range fresh {
		add(i)
	}
	return raw
}
