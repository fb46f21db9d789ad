package registry

import (
	"bytes"
	"fmt"
	"sort"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/internal/gitstore"
)

// Limits on the trees of a clone. A tree of a few objects can name more paths than any machine can list.
const (
	maxTreeBytes = 64 << 20 // one tree object
	maxDepth     = 64       // folders in one another
	maxPaths     = 1 << 20  // paths of one tree, or of one comparison
)

// folder is one tree object, strictly decoded: its bytes, and where in them each entry begins.
type folder struct {
	raw    []byte
	starts []uint32 // one more than there are entries: the last is the end
	idSize int
}

// item is one entry of a folder. Its name is part of the folder's bytes.
type item struct {
	name  []byte
	entry Entry
}

// parseFolder decodes the bytes of a tree object.
func parseFolder(raw []byte, idSize int) (*folder, error) {
	f := &folder{raw: raw, idSize: idSize, starts: make([]uint32, 0, len(raw)/48+1)}
	entries := gitstore.DecodeTree(raw, idSize)
	for entries.Next() {
		f.starts = append(f.starts, uint32(entries.Start))
	}
	f.starts = append(f.starts, uint32(len(raw)))
	return f, entries.Err()
}

func (f *folder) len() int { return len(f.starts) - 1 }

// span is the bytes of an entry: mode, space, name, NUL, id.
func (f *folder) span(i int) []byte { return f.raw[f.starts[i]:f.starts[i+1]] }

func (f *folder) at(i int) item {
	span := f.span(i)
	mode := Mode(0)
	n := 0
	for ; span[n] != ' '; n++ {
		mode = mode<<3 | Mode(span[n]-'0')
	}
	end := len(span) - f.idSize
	return item{name: span[n+1 : end-1], entry: Entry{Mode: mode, ID: gitstore.BytesID(span[end:])}}
}

// find is the entry of that name, be it a file or a folder.
func (f *folder) find(name string) (Entry, bool) {
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

// compareItems orders as Git does: by the bytes of the names, that of a folder as if it ended in a slash.
// Paths put together from entries in this order are in byte order themselves.
func compareItems(a, b item) int {
	n := min(len(a.name), len(b.name))
	if c := bytes.Compare(a.name[:n], b.name[:n]); c != 0 {
		return c
	}
	return int(a.after(n)) - int(b.after(n))
}

// after is the byte that follows the first n of a name in Git's order.
func (i item) after(n int) byte {
	switch {
	case n < len(i.name):
		return i.name[n]
	case i.entry.Mode == ModeTree:
		return '/'
	}
	return 0
}

// folderCache keeps decoded tree objects: the newest, up to a number of bytes.
type folderCache struct {
	mu      sync.Mutex
	folders map[gitstore.ID]*folder
	order   []gitstore.ID
	size    int
}

// maxCached is room for several versions of a folder with 100,000 files.
const maxCached = 48 << 20

func (c *folderCache) get(id gitstore.ID) *folder {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.folders[id]
}

func (c *folderCache) put(id gitstore.ID, f *folder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.folders[id] != nil {
		return
	}
	c.folders[id] = f
	c.order = append(c.order, id)
	c.size += f.size()
	for c.size > maxCached && len(c.order) > 1 {
		c.size -= c.folders[c.order[0]].size()
		delete(c.folders, c.order[0])
		c.order = c.order[1:]
	}
}

func (f *folder) size() int { return len(f.raw) + 4*cap(f.starts) + 200 }

// folder reads the tree object of that id, which path names for errors.
func (r *Repository) folder(id gitstore.ID, path string) (*folder, error) {
	if f := r.composed.folder(id); f != nil {
		return f, nil
	}
	if f := r.folders.get(id); f != nil {
		return f, nil
	}
	raw, err := r.object(id, gitstore.Tree, maxTreeBytes)
	if err != nil {
		return nil, fmt.Errorf("reading folder %q: %w", path, err)
	}
	f, err := parseFolder(raw, r.store.IDSize())
	if err != nil {
		return nil, malformed(id, path, err)
	}
	r.folders.put(id, f)
	return f, nil
}

// malformed says which object err is about, and what to do.
func malformed(id gitstore.ID, path string, err error) error {
	return &gitstore.Error{Op: fmt.Sprintf("reading folder %q, tree", path), Object: id.String(), Err: err,
		Remedy: "write the tree anew with git: check the files out, `git add` them and commit"}
}
