package gitstore

import (
	"fmt"
	"sort"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
)

// rope is a large tree as what it takes from others and what is its own. The versions of a tree in a history, each
// a delta of another, are almost the same bytes: so they are in memory, and in the processor's cache, once.
type rope []piece

// piece is some bytes of a tree, or of a delta, which stay as they are.
type piece struct {
	of       []byte
	from, to int   // the part of these bytes
	end      int64 // in the object
}

const (
	// leastPieces is from how many bytes on a tree is worth taking to pieces.
	leastPieces = 64 << 10
	// maxPieces is the number from which on an object is better in one.
	maxPieces = 4096
)

var errManyPieces = fmt.Errorf("%w: more than %d pieces", gitobject.ErrTooLarge, maxPieces)

func (p rope) size() int64 {
	if len(p) == 0 {
		return 0
	}
	return p[len(p)-1].end
}

// add puts bytes at the end, to the last piece where they follow it in what it is of.
func (p rope) add(of []byte, from, to int) (rope, error) {
	end := p.size() + int64(to-from)
	if last := len(p) - 1; last >= 0 && p[last].to == from && &p[last].of[0] == &of[0] {
		p[last].to, p[last].end = to, end
		return p, nil
	}
	if len(p) == maxPieces {
		return nil, errManyPieces
	}
	return append(p, piece{of, from, to, end}), nil
}

// apply makes an object of its base. The delta becomes part of it. The caller caps the declared size of the result.
func (p rope) apply(delta []byte) (rope, error) {
	d, err := gitobject.InstructionsFor(p.size(), delta)
	if err != nil {
		return nil, err
	}
	out := make(rope, 0, len(p)+4)
	for {
		inserted, from, n, err := d.Next()
		switch {
		case err != nil:
			return nil, err
		case n == 0:
			return out, nil
		case inserted != nil:
			at := cap(delta) - cap(inserted)
			out, err = out.add(delta, at, at+len(inserted))
		default:
			out, err = out.take(p, from, n)
		}
		if err != nil {
			return nil, err
		}
	}
}

// take adds n bytes of an object, which has them, at from.
func (p rope) take(of rope, from, n int64) (rope, error) {
	i := sort.Search(len(of), func(i int) bool { return of[i].end > from })
	for n > 0 {
		left := of[i].end - from
		some := min(left, n)
		at := of[i].to - int(left)
		var err error
		if p, err = p.add(of[i].of, at, at+int(some)); err != nil {
			return nil, err
		}
		from, n, i = from+some, n-some, i+1
	}
	return p, nil
}

// bytes returns the bytes of each piece.
func (p rope) bytes() [][]byte {
	all := make([][]byte, len(p))
	for i, one := range p {
		all[i] = one.of[one.from:one.to]
	}
	return all
}

// same reports whether two pieces begin with the same memory.
func same(a, b piece) bool { return &a.of[0] == &b.of[0] && a.from == b.from }

// alike returns how many bytes at the start, and how many at the end, two objects share because they are in the same
// memory.
func alike(a, b rope) (prefix, suffix int) {
	for i := 0; i < min(len(a), len(b)) && same(a[i], b[i]); i++ {
		prefix += min(a[i].to, b[i].to) - a[i].from
		if a[i].to != b[i].to {
			break
		}
	}
	most := int(min(a.size(), b.size())) - prefix
	for i, j := len(a)-1, len(b)-1; i >= 0 && j >= 0 && &a[i].of[0] == &b[j].of[0] && a[i].to == b[j].to; i, j = i-1,
		j-1 {
		suffix += a[i].to - max(a[i].from, b[j].from)
		if a[i].from != b[j].from {
			break
		}
	}
	return prefix, min(suffix, most)
}

// Object is what Each reads.
type Object struct {
	Type   gitobject.Type
	data   []byte // nil where it is in pieces of others
	pieces rope   // set if the object is a large tree
}

// Alike returns how many bytes at the start, and how many at the end, are known to equal those of another object. The
// objects may have more in common. The two ranges do not overlap in either object.
func (o Object) Alike(other Object) (prefix, suffix int) { return alike(o.pieces, other.pieces) }

// PatchBuffer is memory that a large object reuses from the object before it. Bytes that both have at the same place
// are not copied.
type PatchBuffer struct {
	bytes  []byte
	pieces rope // what bytes are
}

// Put gives the bytes of an object. They must not be changed; the next Put does.
func (r *PatchBuffer) Put(o Object) []byte {
	if o.data != nil || len(o.pieces) == 0 {
		return o.data
	}
	size := int(o.pieces.size())
	if cap(r.bytes) < size {
		r.bytes, r.pieces = make([]byte, size+size/64), nil
	}
	r.bytes = r.bytes[:size]
	had, at := r.pieces, int64(0)
	for _, p := range o.pieces {
		for at < p.end {
			for len(had) > 0 && had[0].end <= at {
				had = had[1:]
			}
			end := p.end
			sameDelta := false
			if len(had) > 0 {
				end = min(end, had[0].end)
				sameDelta = &had[0].of[0] == &p.of[0] && had[0].end-int64(had[0].to) == p.end-int64(p.to)
			}
			if !sameDelta {
				copy(r.bytes[at:end], p.of[p.to-int(p.end-at):])
			}
			at = end
		}
	}
	r.pieces = o.pieces
	return r.bytes
}
