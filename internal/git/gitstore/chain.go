package gitstore

import (
	"container/list"
	"fmt"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
)

// Caps on what one read may cost.
const (
	// maxBase is the size that the base of a delta, or a delta, may have; the caller's limit if that is larger. Git
	// makes no delta against a base of more than 32 times the size, so what a gate reads stays below it.
	maxBase = 16 << 20
	// maxWork is the sum of the sizes in a delta chain.
	maxWork = 2 << 30
	// maxObject is the largest object that is read, whatever the limit.
	maxObject = 1<<31 - 1
)

// link is a delta of a chain and its place. Its bytes are nil if it is to be read when its turn comes.
type link struct {
	gitobject.Entry
	place place
	delta []byte
}

// scratch is the memory of one read, kept for the next.
type scratch struct {
	chain    []link // each the delta of the next
	retained []byte // where the first deltas of the chain are
	total    int64  // bytes of deltas held, in chunks that held was before too
	delta    []byte // one that is not held
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

const (
	maxKept   = 1 << 20 // total of all deltas in a chain except the first
	keptChunk = 64 << 10
)

func (s *scratch) release() {
	clear(s.chain)
	s.chain, s.retained, s.total = s.chain[:0], s.retained[:0], 0
	if cap(s.retained) > maxKept {
		s.retained = nil
	}
	if cap(s.delta) > maxKept {
		s.delta = nil
	}
	scratches.Put(s)
}

// hold is room for a delta that stays until the chain is applied.
func (s *scratch) hold(n int64) []byte {
	if int64(cap(s.retained)-len(s.retained)) < n {
		s.retained = make([]byte, 0, max(n, keptChunk))
	}
	start := len(s.retained)
	s.retained = s.retained[:start+int(n)]
	s.total += n
	return s.retained[start:]
}

// object reads the object at an offset, at most limit bytes of it, and leaves it, if it is a tree, and the bases that
// it is made from in the cache. It is not verified. Deltas are applied from the base up, one at a time, so that a read
// holds one base, one result, the first delta and one other, and a MiB of small ones.
func (p *pack) object(at, limit int64, c *cache) (cached, error) {
	target := place{p, at}
	if got, ok := c.get(target); ok {
		return got, gitobject.Within(int64(len(got.data)), limit)
	}
	r, e, err := p.start(at)
	if err != nil {
		return cached{}, err
	}
	defer r.Release()
	if e.Kind < gitobject.OffsetDelta {
		o, err := readWhole(r, e, target, limit)
		if err == nil && o.kind == gitobject.Tree {
			c.put(o)
		}
		return o, err
	}
	s := scratches.Get().(*scratch)
	defer s.release()
	first, err := readDelta(r, s.hold, e, max(limit, maxBase))
	if err != nil {
		return cached{}, err
	}
	_, size, _, err := gitobject.DeltaSizes(first)
	if err != nil {
		return cached{}, err
	}
	if err := gitobject.Within(size, limit); err != nil {
		return cached{}, err
	}
	s.chain = append(s.chain, link{e, target, first})
	base, err := p.bottom(s, max(limit, maxBase), c)
	if err != nil {
		return cached{}, err
	}
	return p.apply(s, base, max(limit, maxBase), c)
}

// bottom follows the chain down to an object that is whole, or cached.
func (p *pack) bottom(s *scratch, limit int64, c *cache) (cached, error) {
	for {
		next := place{p, s.chain[len(s.chain)-1].Base}
		if got, ok := c.get(next); ok {
			return got, nil
		}
		base, err := p.follow(s, next, limit)
		if err != nil {
			return cached{}, fmt.Errorf("base of a delta: %w", err)
		}
		if base.kind != 0 {
			c.put(base)
			return base, nil
		}
	}
}

// follow reads the entry on which the chain continues: a whole base, or another delta for the chain.
func (p *pack) follow(s *scratch, next place, limit int64) (cached, error) {
	r, e, err := p.start(next.offset)
	if err != nil {
		return cached{}, err
	}
	defer r.Release()
	if e.Kind < gitobject.OffsetDelta {
		return readWhole(r, e, next, limit)
	}
	if len(s.chain) == gitobject.MaxChain {
		return cached{}, fmt.Errorf("%w: a chain of more than %d deltas", gitobject.ErrTooLarge, gitobject.MaxChain)
	}
	l := link{Entry: e, place: next}
	if s.total+e.Size <= maxKept {
		if l.delta, err = readDelta(r, s.hold, e, limit); err != nil {
			return cached{}, err
		}
	}
	s.chain = append(s.chain, l)
	return cached{}, nil
}

// apply goes up the chain from its base to its first.
func (p *pack) apply(s *scratch, base cached, limit int64, c *cache) (cached, error) {
	work := int64(0)
	for i := len(s.chain) - 1; i >= 0; i-- {
		l := s.chain[i]
		if l.delta == nil {
			var err error
			if l.delta, err = p.again(s, l, limit); err != nil {
				return cached{}, err
			}
		}
		_, size, _, err := gitobject.DeltaSizes(l.delta)
		if err == nil {
			err = gitobject.Within(size, limit)
		}
		if work += size + int64(len(l.delta)); err == nil && work > maxWork {
			err = fmt.Errorf("%w: a chain of deltas makes more than %d bytes", gitobject.ErrTooLarge, int64(maxWork))
		}
		if err != nil {
			return cached{}, err
		}
		data, err := gitobject.ApplyDelta(base.data, l.delta)
		if err != nil {
			return cached{}, err
		}
		base = cached{place: l.place, kind: base.kind, data: data}
		if i > 0 || base.kind == gitobject.Tree {
			c.put(base)
		}
	}
	return base, nil
}

// again reads a delta that was not held.
func (p *pack) again(s *scratch, l link, limit int64) ([]byte, error) {
	r, e, err := p.start(l.place.offset)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	return readDelta(r, func(n int64) []byte {
		if int64(cap(s.delta)) < n {
			s.delta = make([]byte, n)
		}
		return s.delta[:n]
	}, e, limit)
}

// readWhole reads an object that is not a delta.
func readWhole(r *gitobject.Inflater, e gitobject.Entry, at place, limit int64) (cached, error) {
	if err := gitobject.Within(e.Size, limit); err != nil {
		return cached{}, err
	}
	o := cached{place: at, kind: e.Kind, data: make([]byte, e.Size)}
	return o, r.Stream(o.data)
}

// readDelta reads a delta into the room given for it.
func readDelta(r *gitobject.Inflater, room func(int64) []byte, e gitobject.Entry, limit int64) ([]byte, error) {
	if err := gitobject.Within(e.Size, limit); err != nil {
		return nil, fmt.Errorf("delta: %w", err)
	}
	out := room(e.Size)
	return out, r.Stream(out)
}

// maxCache is what the cache holds: enough for the trees of a delta chain in a flat directory of 30,000 files.
const maxCache = 64 << 20

// cache keeps objects of packs that others are deltas of, and trees, which the next tree of a history is often a
// delta of. It is one list under one lock: shards of it would be smaller than a large tree.
type cache struct {
	mu      sync.Mutex
	entries map[place]*list.Element
	recent  list.List // of *cached, the latest used first
	size    int
}

// place is the position of an object: its pack and its offset.
type place struct {
	pack   *pack
	offset int64
}

// cached is an object. Its id is the one that data was verified against; zero before that.
type cached struct {
	place place
	kind  gitobject.Type
	data  []byte
	id    gitobject.ID
}

const cacheOverhead = 256 // bytes that an entry takes in addition to its data

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
