package gitstore

import (
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"hash"
	"strconv"
	"sync"

	"github.com/pjbgf/sha1cd"
)

// Type is the type of an object.
type Type uint8

// The types, numbered as in packs.
const (
	Commit Type = 1
	Tree   Type = 2
	Blob   Type = 3
	Tag    Type = 4
)

func (t Type) String() string {
	switch t {
	case Commit:
		return "commit"
	case Tree:
		return "tree"
	case Blob:
		return "blob"
	case Tag:
		return "tag"
	}
	return "object of type " + strconv.Itoa(int(t))
}

// hasher is kept for reuse: the state of sha1cd takes half a kilobyte.
type hasher struct {
	hash.Hash
	buf [64]byte
}

func pool(make func() hash.Hash) *sync.Pool {
	return &sync.Pool{New: func() any { return &hasher{Hash: make()} }}
}

var (
	sha1Hashers      = pool(sha1.New)
	detectingHashers = pool(sha1cd.New)
	sha256Hashers    = pool(sha256.New)
)

// verify holds data against id.
//
// SHA-1 comes with collision detection, as Git's own does, for all but trees: an audit hashes gigabytes of trees,
// detection halves its speed, and the blocks of a collision (128 bytes nearly free of form) cannot stand in a
// tree whose names hold no control characters, as DecodeTree demands.
func verify(id ID, t Type, data []byte) error {
	pool := detectingHashers
	switch {
	case id.size == sha256.Size:
		pool = sha256Hashers
	case t == Tree:
		pool = sha1Hashers
	}
	h := pool.Get().(*hasher)
	defer pool.Put(h)
	h.Reset()
	head := append(append(h.buf[:0], t.String()...), ' ')
	h.Write(append(strconv.AppendInt(head, int64(len(data)), 10), 0))
	h.Write(data)
	var got []byte
	if detecting, ok := h.Hash.(sha1cd.CollisionResistantHash); ok {
		sum, collision := detecting.CollisionResistantSum(h.buf[:0])
		if collision {
			return fmt.Errorf("%w: its bytes are half of a SHA-1 collision", ErrCorrupt)
		}
		got = sum
	} else {
		got = h.Sum(h.buf[:0])
	}
	if BytesID(got) != id {
		return fmt.Errorf("%w: its bytes hash to %x", ErrCorrupt, got)
	}
	return nil
}
