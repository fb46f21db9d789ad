package gitstore

import (
	"container/list"
	"sync"
)

// maxCache is what the cache holds: enough for the trees of a delta chain in a flat folder of 30,000 files.
const maxCache = 64 << 20

// cache keeps objects of packs that others are deltas of, and trees, which the next tree of a history is often a
// delta of. It is one list under one lock: shards of it would be smaller than a large tree.
type cache struct {
	mu      sync.Mutex
	entries map[place]*list.Element
	recent  list.List // of *cached, the latest used first
	size    int
}

// place is where an object stands.
type place struct {
	pack   *pack
	offset int64
}

// cached is an object. Its id is the one that data was verified against; zero before that.
type cached struct {
	place place
	kind  Type
	data  []byte
	id    ID
}

const cacheOverhead = 256 // bytes that an entry takes beside its data

func (c *cache) get(p place) (cached, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[p]
	if !ok {
		return cached{}, false
	}
	c.recent.MoveToFront(e)
	return *e.Value.(*cached), true
}

func (c *cache) put(o cached) {
	size := len(o.data) + cacheOverhead
	if size > maxCache/2 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[place]*list.Element{}
	}
	if e, ok := c.entries[o.place]; ok {
		if o.id.Size() > 0 {
			e.Value.(*cached).id = o.id
		}
		return
	}
	c.entries[o.place] = c.recent.PushFront(&o)
	for c.size += size; c.size > maxCache; {
		last := c.recent.Back()
		old := c.recent.Remove(last).(*cached)
		delete(c.entries, old.place)
		c.size -= len(old.data) + cacheOverhead
	}
}
