package gitstore

import (
	"cmp"
	"context"
	"crypto/sha1"
	"runtime"
	"slices"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/crash"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
)

// Each reads objects and gives them to f in the order of ids, one at a time. It is for large objects of which each is a
// delta of the next or the one before, as the trees of a history are: one goroutine makes them, while others verify
// those made before. For objects that have little to do with each other, several goroutines calling Read are faster.
// The error is the first in the order of ids, f's own included, as of Read; or ctx's.
func (s *Store) Each(ctx context.Context, ids []gitobject.ID, limit int64, f func(i int, o Object) error) error {
	ctx, cancel := context.WithCancel(ctx)
	made, order := make(chan *pending), make(chan *pending, 1)
	var running sync.WaitGroup
	var crashed crash.Carrier
	defer crashed.Rethrow()
	defer running.Wait()
	defer cancel()
	running.Go(func() {
		defer crashed.Catch(cancel)
		defer close(made)
		defer close(order)
		var l latest
		for _, id := range ids {
			p := s.unverified(id, limit, &l)
			for _, to := range []chan *pending{order, made} {
				select {
				case to <- p:
				case <-ctx.Done():
					return
				}
			}
		}
	})
	for range runtime.GOMAXPROCS(0) {
		running.Go(func() {
			defer crashed.Catch(cancel)
			for p := range made {
				s.finish(p, limit)
				close(p.done)
			}
		})
	}
	i := 0
	for p := range order {
		select {
		case <-p.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if p.err != nil {
			return p.err
		}
		if err := f(i, Object{p.object.kind, p.object.data, p.pieces}); err != nil {
			return err
		}
		i++
	}
	return ctx.Err()
}

// pending is an object on its way through Each.
type pending struct {
	id     gitobject.ID
	object cached // without data where it is in pieces of others
	pieces rope   // set if the object is a large tree
	err    error
	done   chan struct{} // closed when the object is verified, or err says why not
}

// latest are the large trees made last, the newest at the end, of which git makes the next a delta; and those that they
// go back to, which are in memory with them. They keep in memory what the cache may hold, or the last one.
type latest []builtTree

// maxLatest is how many are kept: git looks at ten by default.
const maxLatest = 16

// builtTree is a large tree.
type builtTree struct {
	place  place
	pieces rope
	root   []byte // the tree in one piece that it goes back to
	deltas int64  // bytes of the deltas that its pieces keep in memory
}

func (l *latest) put(m builtTree) {
	all := append(*l, m)
	size, kept := 0, len(all)
	roots := map[*byte]bool{} // the roots of those kept, and whether a kept tree is the root itself
	for kept > 0 && len(all)-kept < maxLatest {
		t := all[kept-1]
		if _, counted := roots[&t.root[0]]; !counted {
			size += len(t.root)
		}
		if size > maxCache && kept < len(all) {
			break
		}
		roots[&t.root[0]] = roots[&t.root[0]] || t.isRoot()
		kept--
	}
	older := slices.DeleteFunc(slices.Clone(all[:kept]), func(t builtTree) bool {
		among, needed := roots[&t.root[0]]
		if !needed || among || !t.isRoot() {
			return true
		}
		roots[&t.root[0]] = true
		return false
	})
	*l = append(older, all[kept:]...)
}

// isRoot reports whether the tree is the one in one piece that others go back to.
func (t builtTree) isRoot() bool {
	return len(t.pieces) == 1 && same(t.pieces[0], piece{of: t.root}) && t.pieces.size() == int64(len(t.root))
}

func (l *latest) get(at place) builtTree {
	for _, t := range *l {
		if t.place == at {
			return t
		}
	}
	return builtTree{}
}

// unverified makes an object from the first pack that has it. Whatever goes wrong is left to finish.
func (s *Store) unverified(id gitobject.ID, limit int64, l *latest) *pending {
	o := &pending{id: id, err: errAbsent, done: make(chan struct{})}
	for _, p := range *s.packs.Load() {
		at, ok := p.index.find(id)
		if !ok {
			continue
		}
		if o.err = p.ready(); o.err != nil {
			return o
		}
		o.object.place, o.object.kind = place{p, at}, gitobject.Tree
		var m builtTree
		if m, o.err = p.inPieces(at, limit, l); len(m.pieces) == 1 {
			o.object.data = m.pieces.bytes()[0]
		}
		if o.err == nil && m.pieces == nil {
			o.object, o.err = p.object(at, limit, &s.cache)
			if o.err == nil && o.object.kind == gitobject.Tree && len(o.object.data) >= leastPieces {
				m = whole(o.object.data)
			}
		}
		if o.pieces = m.pieces; o.pieces != nil {
			m.place = o.object.place
			l.put(m)
		}
		return o
	}
	return o
}

// whole returns a large tree in one piece.
func whole(tree []byte) builtTree {
	return builtTree{pieces: rope{{tree, 0, len(tree), int64(len(tree))}}, root: tree}
}

// leastChained is from how many bytes on a tree is made in pieces of one that is several deltas away. The bases of a
// smaller one are in the cache, and it is sooner made of them than each time of all its deltas. Tests make it smaller.
var leastChained int64 = 8 << 20

// inPieces builds a large tree by applying deltas to one that is in one piece or was built before. The result has no
// pieces if the object is not a large tree. It is one piece if many pieces, or the deltas that they refer to, would
// take more memory than they save.
func (p *pack) inPieces(at, limit int64, l *latest) (builtTree, error) {
	var chain [][]byte // each the delta of the next
	retained := int64(0)
	tree := l.get(place{p, at})
	for next := at; tree.pieces == nil; {
		r, e, err := p.start(next)
		if err != nil {
			return builtTree{}, err
		}
		switch {
		case e.Kind < gitobject.OffsetDelta && (len(chain) == 0 || e.Kind != gitobject.Tree || e.Size < leastPieces ||
			e.Size > limit),
			p.index.idSize != sha1.Size, len(chain) == gitobject.MaxChain:
			r.Release()
			return builtTree{}, nil
		case e.Kind < gitobject.OffsetDelta:
			o, err := readWhole(r, e, place{p, next}, limit)
			r.Release()
			if err != nil {
				return builtTree{}, err
			}
			tree = whole(o.data)
			tree.place = o.place
			l.put(tree)
			continue
		}
		if retained += e.Size; retained > maxKept {
			r.Release()
			return builtTree{}, nil
		}
		delta, err := readDelta(r, func(n int64) []byte { return make([]byte, n) }, e, maxKept)
		r.Release()
		if err != nil {
			return builtTree{}, err
		}
		chain, next = append(chain, delta), e.Base
		tree = l.get(place{p, next})
		if _, size, _, err := gitobject.DeltaSizes(delta); tree.pieces == nil && (err != nil || size < leastChained) {
			return builtTree{}, err
		}
	}
	for _, delta := range slices.Backward(chain) {
		var err error
		if tree, err = tree.apply(delta, limit); err != nil || tree.pieces == nil {
			return builtTree{}, err
		}
	}
	return tree, nil
}

// apply returns the tree that delta makes of t. The result has no pieces if that is not a large tree.
func (t builtTree) apply(delta []byte, limit int64) (builtTree, error) {
	_, size, _, err := gitobject.DeltaSizes(delta)
	if err != nil || size < leastPieces || size > limit {
		return builtTree{}, err
	}
	pieces, err := t.pieces.apply(delta)
	deltas := t.deltas + int64(len(delta))
	if err == errManyPieces || err == nil && deltas > maxKept {
		var data []byte
		if data, err = gitobject.ApplyDelta(slices.Concat(t.pieces.bytes()...), delta); err == nil {
			return whole(data), nil
		}
	}
	return builtTree{pieces: pieces, root: t.root, deltas: deltas}, err
}

// finish verifies an object. If it is wrong, finish reads it again as Read does.
func (s *Store) finish(p *pending, limit int64) {
	switch {
	case p.err != nil || p.object.id == p.id:
	case p.object.data != nil:
		p.object, p.err = s.verified(p.object, p.id)
	default:
		p.err = p.verifyPieces()
	}
	if p.err != nil {
		p.pieces = nil
		p.object.kind, p.object.data, p.err = s.Read(p.id, limit)
	}
}

// verifyPieces checks that an object in pieces hashes to its id.
func (p *pending) verifyPieces() error {
	h := gitobject.Hash(p.object.kind, p.pieces.size(), p.id.Size())
	defer h.Release()
	for _, one := range p.pieces {
		h.Write(one.of[one.from:one.to])
	}
	if id, err := h.ID(); err != nil || id != p.id {
		return gitobject.ErrCorrupt
	}
	return nil
}

// Order sorts ids in the order in which they are read fastest: as the packs have them, where a delta is near its base,
// and the base still in the cache. It reads nothing; ids that no pack has come last.
func (s *Store) Order(ids []gitobject.ID) []gitobject.ID {
	type spot struct {
		i, pack int
		offset  int64
	}
	packs := *s.packs.Load()
	spots := make([]spot, len(ids))
	for i, id := range ids {
		spots[i] = spot{i: i, pack: len(packs)}
		for n, p := range packs {
			if at, ok := p.index.find(id); ok {
				spots[i].pack, spots[i].offset = n, at
				break
			}
		}
	}
	slices.SortFunc(spots, func(a, b spot) int {
		return cmp.Or(a.pack-b.pack, cmp.Compare(a.offset, b.offset), a.i-b.i)
	})
	order := make([]gitobject.ID, len(ids))
	for i, s := range spots {
		order[i] = ids[s.i]
	}
	return order
}
