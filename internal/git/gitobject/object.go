// Package gitobject defines Git's objects, their types and ids, and decodes how packs store them: entries, zlib streams
// and deltas. It opens no file and reads no index; packages gitstore and indexpack do.
package gitobject

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
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

// A Hasher computes the id of an object. It is kept for reuse: the state of sha1cd takes half a kilobyte.
type Hasher struct {
	hash.Hash
	buf  [64]byte
	pool *sync.Pool
}

func pool(make func() hash.Hash) *sync.Pool {
	p := new(sync.Pool)
	p.New = func() any { return &Hasher{Hash: make(), pool: p} }
	return p
}

var (
	sha1Hashers      = pool(sha1.New)
	detectingHashers = pool(sha1cd.New)
	sha256Hashers    = pool(sha256.New)
)

// Hash begins an object of that many bytes, whose id has idSize bytes. The caller releases the Hasher.
//
// For all objects except trees, SHA-1 comes with collision detection, as in Git itself. An audit hashes gigabytes of
// trees, and detection halves the speed. The blocks of a collision (128 bytes of nearly free form) cannot occur in a
// tree whose names have no control characters, as gitstore.DecodeTree requires.
func Hash(t Type, size int64, idSize int) *Hasher {
	pool := detectingHashers
	switch {
	case idSize == sha256.Size:
		pool = sha256Hashers
	case t == Tree:
		pool = sha1Hashers
	}
	h := pool.Get().(*Hasher)
	h.Reset()
	head := append(append(h.buf[:0], t.String()...), ' ')
	h.Write(append(strconv.AppendInt(head, size, 10), 0))
	return h
}

// Release lets another Hash use the memory of h.
func (h *Hasher) Release() { h.pool.Put(h) }

// ID returns the id of the object that was written.
func (h *Hasher) ID() (ID, error) {
	if detecting, ok := h.Hash.(sha1cd.CollisionResistantHash); ok {
		sum, collision := detecting.CollisionResistantSum(h.buf[:0])
		if collision {
			return ID{}, fmt.Errorf("%w: its bytes are half of a SHA-1 collision", ErrCorrupt)
		}
		return BytesID(sum), nil
	}
	return BytesID(h.Sum(h.buf[:0])), nil
}

// IDOf returns the id that an object of these bytes has.
func IDOf(t Type, data []byte, idSize int) (ID, error) {
	h := Hash(t, int64(len(data)), idSize)
	defer h.Release()
	h.Write(data)
	return h.ID()
}

// Verify checks that an object hashes to its id.
func Verify(id ID, t Type, data []byte) error {
	got, err := IDOf(t, data, id.Size())
	if err == nil && got != id {
		err = fmt.Errorf("%w: its bytes hash to %s", ErrCorrupt, got)
	}
	return err
}

// ID is an object id: SHA-1, or SHA-256 in clones that use it. The zero ID names no object.
type ID struct {
	sum  [32]byte
	size uint8
}

// ParseID reads 40 or 64 lower-case hexadecimal digits.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 40 && len(s) != 64 {
		return id, fmt.Errorf("object id %q: want 40 or 64 hexadecimal digits", s)
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return id, fmt.Errorf("object id %q: want lower-case hexadecimal digits", s)
		}
	}
	n, _ := hex.Decode(id.sum[:], []byte(s)) // only digits are left
	id.size = uint8(n)
	return id, nil
}

// BytesID returns the id of 20 or 32 raw bytes, as in tree entries. It returns the zero ID for any other length.
func BytesID(raw []byte) ID {
	var id ID
	if len(raw) == 20 || len(raw) == 32 {
		id.size = uint8(copy(id.sum[:], raw))
	}
	return id
}

// IsZero reports whether id names no object.
func (id ID) IsZero() bool { return id.size == 0 }

// Bytes returns the 20 or 32 raw bytes.
func (id ID) Bytes() []byte { return id.sum[:id.size] }

// Compare compares the bytes of two ids.
func (id ID) Compare(other ID) int { return bytes.Compare(id.Bytes(), other.Bytes()) }

func (id ID) String() string { return hex.EncodeToString(id.sum[:id.size]) }

// Size returns the number of raw bytes: 20, 32, or 0 for the zero ID.
func (id ID) Size() int { return int(id.size) }
