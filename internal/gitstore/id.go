// Package gitstore reads the objects of a Git clone, loose, packed, and of alternates, by SHA-1 or SHA-256. It decides
// nothing about their content but that they are what their ids say.
//
// It is a reader of its own because others lack what a gate needs: go-git's storer does not hold bytes against ids,
// hashes each tree to cache it all the same, refuses SHA-256 and the extensions that a sparse checkout leaves behind;
// and the git command obeys the clone's configuration. Both are the reference in the tests.
package gitstore

import (
	"encoding/hex"
	"fmt"
)

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
	n, err := hex.Decode(id.sum[:], []byte(s))
	if err != nil {
		return ID{}, fmt.Errorf("object id %q: %w", s, err)
	}
	id.size = uint8(n)
	return id, nil
}

// BytesID is the id of 20 or 32 raw bytes, as tree entries hold it; the zero ID for any other length.
func BytesID(raw []byte) ID {
	var id ID
	if len(raw) == 20 || len(raw) == 32 {
		id.size = uint8(copy(id.sum[:], raw))
	}
	return id
}

// IsZero reports whether id names no object.
func (id ID) IsZero() bool { return id.size == 0 }

// Bytes are the raw bytes: 20 or 32.
func (id ID) Bytes() []byte { return id.sum[:id.size] }

func (id ID) String() string { return hex.EncodeToString(id.sum[:id.size]) }

// Size is the number of raw bytes: 20, 32, or 0 for the zero ID.
func (id ID) Size() int { return int(id.size) }
