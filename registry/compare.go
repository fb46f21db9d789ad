package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
)

// compare lists the paths whose entries differ between two trees, in byte order. Nothing is taken for
// renamed: a file that moved is a deletion and an addition, and so is a file that became a directory.
func (r *Repository) compare(ctx context.Context, base, head gitobject.ID) ([]Change, error) {
	c := comparison{ctx: ctx, directory: r.directory, middle: differing}
	return c.trees("", base, head)
}

type comparison struct {
	ctx       context.Context
	directory func(id gitobject.ID, path string) (*directory, error)
	middle    func(base, head *directory) middle // where two directories differ
	changes   []Change
}

// trees compares two trees at path, which is empty or a directory of the root.
func (c *comparison) trees(path string, base, head gitobject.ID) ([]Change, error) {
	depth := 0
	if path != "" {
		depth = 1
	}
	if err := c.directories(path, base, head, depth); err != nil {
		return nil, err
	}
	sortChanges(c.changes)
	return c.changes, nil
}

// directories compares two tree objects; the zero id means that the directory does not exist.
func (c *comparison) directories(path string, base, head gitobject.ID, depth int) error {
	if base == head {
		return nil
	}
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if depth > maxDepth {
		return errDepth(path)
	}
	b, err := c.directory(base, path)
	if err != nil {
		return err
	}
	h, err := c.directory(head, path)
	if err != nil {
		return err
	}
	if path != "" {
		if err := c.empty(path, Entry{ModeTree, base}, b, Entry{ModeTree, head}, h); err != nil {
			return err
		}
	}
	m := c.middle(b, h)
	for i, j := m.first, m.first; i < m.baseEnd || j < m.headEnd; {
		var old, new item
		inBase, inHead := i < m.baseEnd, j < m.headEnd
		if inBase {
			old = b.at(i)
		}
		if inHead {
			new = h.at(j)
		}
		if inBase && inHead {
			order := compareItems(old, new)
			inBase, inHead = order <= 0, order >= 0
		}
		either := new
		var change Change // with entries without their names, which would keep the directories' bytes in memory
		if inBase {
			base := old.entry
			either, change.Base = old, &base
			i++
		}
		if inHead {
			head := new.entry
			change.Head = &head
			j++
		}
		change.Path = join(path, string(either.name))
		if either.entry.Mode == ModeTree { // as both are, if there are two
			err = c.directories(change.Path, change.Base.id(), change.Head.id(), depth+1)
		} else {
			err = c.add(change)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// middle is the part in which two directories differ: it begins with the same entry in both, and ends before baseEnd in
// one and headEnd in the other. What is outside is equal entry by entry.
type middle struct{ first, baseEnd, headEnd int }

func differing(b, h *directory) middle {
	same := commonPrefix(b.raw, h.raw)
	// Entries that end within the common bytes are the same in both.
	first := sort.Search(min(b.len(), h.len()), func(i int) bool { return int(b.starts[i+1]) > same })
	bEnd, hEnd := b.len(), h.len()
	tail := commonSuffix(b.raw, h.raw)
	from := sort.Search(b.len(), func(i int) bool { return int(b.starts[i]) >= len(b.raw)-tail })
	// The same bytes are the same entries only from a place on where both have an entry begin.
	if n := b.len() - from; n > 0 && h.len() >= n &&
		len(h.raw)-int(h.starts[h.len()-n]) == len(b.raw)-int(b.starts[from]) {
		n = min(n, b.len()-first, h.len()-first)
		bEnd, hEnd = b.len()-n, h.len()-n
	}
	return middle{first, bEnd, hEnd}
}

// block is how many bytes are compared at a time, by the machine's fast way; towards the end fewer, down to one.
const block = 4096

func commonPrefix(a, b []byte) int {
	n, end := 0, min(len(a), len(b))
	for size := block; size > 0; size /= 8 {
		for n+size <= end && bytes.Equal(a[n:n+size], b[n:n+size]) {
			n += size
		}
	}
	return n
}

func commonSuffix(a, b []byte) int {
	n, end := 0, min(len(a), len(b))
	for size := block; size > 0; size /= 8 {
		for n+size <= end && bytes.Equal(a[len(a)-n-size:len(a)-n], b[len(b)-n-size:len(b)-n]) {
			n += size
		}
	}
	return n
}

// empty reports a directory without entries that came or went. Git never writes one, and no path below it
// would show it.
func (c *comparison) empty(path string, base Entry, b *directory, head Entry, h *directory) error {
	change := Change{Path: path}
	if !base.ID.IsZero() && b.len() == 0 {
		change.Base = &base
	}
	if !head.ID.IsZero() && h.len() == 0 {
		change.Head = &head
	}
	if change.Base == nil && change.Head == nil {
		return nil
	}
	return c.add(change)
}

func (e *Entry) id() gitobject.ID {
	if e == nil {
		return gitobject.ID{}
	}
	return e.ID
}

func (c *comparison) add(change Change) error {
	if SameEntry(change.Base, change.Head) {
		return nil
	}
	if len(c.changes) >= maxPaths {
		return errPaths(change.Path)
	}
	c.changes = append(c.changes, change)
	return nil
}

// Limits on the trees of a clone. A tree of a few objects can name more paths than any machine can list.
const (
	maxTreeBytes = 64 << 20 // one tree object
	maxDepth     = 64       // directories in one another
	maxPaths     = 1 << 20  // paths of one tree, or of one comparison
)

// directory is one tree object, strictly decoded: its bytes, and where in them each entry begins.
type directory struct {
	raw    []byte
	starts []uint32 // one more than there are entries: the last is the end
	idSize int
	flat   bool // none of the entries is a directory
}

// item is one entry of a directory. Its name is part of the directory's bytes.
type item struct {
	name  []byte
	entry Entry
}

// parseDirectory decodes the bytes of a tree object.
func parseDirectory(raw []byte, idSize int) (*directory, error) {
	f := &directory{raw: raw, idSize: idSize, flat: true, starts: make([]uint32, 0, len(raw)/48+1)}
	entries := gitstore.DecodeTree(raw, idSize)
	for entries.Next() {
		f.starts = append(f.starts, uint32(entries.Start))
		f.flat = f.flat && Mode(entries.Entry.Mode) != ModeTree
	}
	f.starts = append(f.starts, uint32(len(raw)))
	return f, entries.Err()
}

// parseLike is parseDirectory for bytes that are mostly those of a directory known to be in order, as one version of
// a directory and the next. Only what differs is decoded, with the entry before and the entry after it; an
// audit would else spend most of its time on names that it has seen. Where that does not settle it, nil. The
// middle is where the two differ. Prefix and suffix are how many bytes are known to be alike at the start and at the
// end. The room is where the starts are put if it is large enough; like must not have it.
func parseLike(raw []byte, like *directory, prefix, suffix int, room []uint32) (*directory, middle) {
	if like == nil || !like.flat || len(like.raw) == 0 {
		return nil, middle{}
	}
	old := like.starts
	alike := prefix + commonPrefix(raw[prefix:], like.raw[prefix:])
	first := sort.Search(like.len(), func(i int) bool { return int(old[i+1]) > alike })
	grown := len(raw) - len(like.raw)
	from := max(len(like.raw)-suffix-commonSuffix(raw[:len(raw)-suffix], like.raw[:len(like.raw)-suffix]),
		int(old[first]), int(old[first])-grown)
	last := sort.Search(like.len(), func(i int) bool { return int(old[i]) >= from })
	begin, end := int(old[max(first-1, 0)]), len(raw)
	if last < like.len() {
		end = int(old[last+1]) + grown
	}
	part, err := parseDirectory(raw[begin:end], like.idSize)
	if err != nil || !part.flat {
		return nil, middle{}
	}
	f := &directory{raw: raw, idSize: like.idSize, flat: true}
	f.starts = slices.Grow(room[:0], max(first-1, 0)+len(part.starts)+like.len()-last)
	f.starts = append(f.starts, old[:max(first-1, 0)]...)
	for _, at := range part.starts[:part.len()] {
		f.starts = append(f.starts, at+uint32(begin))
	}
	if last < like.len() && (len(f.starts) == 0 || int(f.starts[len(f.starts)-1]) != int(old[last])+grown) {
		return nil, middle{} // no entry begins where the end that is known does
	}
	for _, at := range old[min(last+1, like.len()):] {
		f.starts = append(f.starts, uint32(int(at)+grown))
	}
	same := like.len() - min(last+1, like.len())
	return f, middle{max(first-1, 0), like.len() - same, f.len() - same}
}

func (f *directory) len() int { return len(f.starts) - 1 }

// span returns the bytes of an entry: mode, space, name, NUL, id.
func (f *directory) span(i int) []byte { return f.raw[f.starts[i]:f.starts[i+1]] }

func (f *directory) at(i int) item {
	span := f.span(i)
	mode := Mode(0)
	n := 0
	for ; span[n] != ' '; n++ {
		mode = mode<<3 | Mode(span[n]-'0')
	}
	end := len(span) - f.idSize
	return item{name: span[n+1 : end-1], entry: Entry{Mode: mode, ID: gitobject.BytesID(span[end:])}}
}

// find returns the entry of that name, which may be a file or a directory.
func (f *directory) find(name string) (Entry, bool) {
	for _, mode := range []Mode{ModeFile, ModeTree} {
		want := item{name: []byte(name), entry: Entry{Mode: mode}}
		i := sort.Search(f.len(), func(i int) bool { return compareItems(f.at(i), want) >= 0 })
		if i < f.len() {
			if found := f.at(i); string(found.name) == name {
				return found.entry, true
			}
		}
	}
	return Entry{}, false
}

// compareItems is gitstore.CompareEntries.
func compareItems(a, b item) int {
	return gitstore.CompareEntries(gitstore.TreeEntry{Mode: uint32(a.entry.Mode), Name: a.name},
		gitstore.TreeEntry{Mode: uint32(b.entry.Mode), Name: b.name})
}

// directoryCache keeps decoded tree objects: the newest, up to a number of bytes.
type directoryCache struct {
	mu          sync.Mutex
	directories map[gitobject.ID]*directory
	order       []gitobject.ID
	size        int
	latest      map[string]*directory // by data directory: the version read last
}

// maxCached is room for two versions of a directory with 1,000,000 files, base and head.
const maxCached = 112 << 20

func (c *directoryCache) get(id gitobject.ID) *directory {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.directories[id]
}

// like returns the version of a data directory that was read last, if any.
func (c *directoryCache) like(path string) *directory {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.latest[path]
}

// isDataDirectory reports whether path is one of the four directories themselves, which grow large and have many
// versions.
func isDataDirectory(path string) bool { return path != "" && KindOf(path).Directory() == path }

func (c *directoryCache) put(id gitobject.ID, path string, f *directory) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.flat && isDataDirectory(path) {
		c.latest[path] = f
	}
	if c.directories[id] != nil {
		return
	}
	c.directories[id] = f
	c.order = append(c.order, id)
	c.size += f.size()
	for c.size > maxCached && len(c.order) > 1 {
		c.size -= c.directories[c.order[0]].size()
		delete(c.directories, c.order[0])
		c.order = c.order[1:]
	}
}

// clear lets all go.
func (c *directoryCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.order, c.size = nil, 0
	clear(c.directories)
	clear(c.latest)
}

func (f *directory) size() int { return len(f.raw) + 4*cap(f.starts) + 200 }

// nothing is a directory that is not there.
var nothing = &directory{starts: []uint32{0}}

// directory reads the tree object of that id, which path names for errors. The zero id is a directory that is not
// there.
func (r *Repository) directory(id gitobject.ID, path string) (*directory, error) {
	if id.IsZero() {
		return nothing, nil
	}
	if f := r.directories.get(id); f != nil {
		return f, nil
	}
	raw, err := r.object(id, gitobject.Tree, maxTreeBytes)
	if err != nil {
		return nil, fmt.Errorf("reading directory %.300q: %w", path, err)
	}
	f, _ := parseLike(raw, r.directories.like(path), 0, 0, nil)
	if f == nil {
		if f, err = parseDirectory(raw, id.Size()); err != nil {
			return nil, malformed(id, path, err)
		}
	}
	r.directories.put(id, path, f)
	return f, nil
}

// malformed says which object err is about, and what to do.
func malformed(id gitobject.ID, path string, err error) error {
	fix := "write the tree again with git: check the files out, `git add` them and commit"
	if errors.Is(err, gitstore.ErrEntryName) {
		fix = "rename it with `git mv` and squash the branch into one commit; if the base branch has the name, reset " +
			"that branch to the last commit without it" // no audit has gone beyond that
	}
	return remedy.Errorf(fix, "reading directory %.300q, tree %s: %w", path, id, err)
}
