package gitstore

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"sort"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
)

// maxIndex is the size of the largest pack index that is read: 32 million objects.
const maxIndex = 1 << 30

// index is a pack index of version 2: sorted ids and where in the pack their objects start.
type index struct {
	idSize  int
	fanout  [256]uint32 // number of ids whose first byte is at most the subscript
	names   []byte      // ids, sorted
	offsets []byte      // 4 bytes each; with the top bit, a subscript of large
	large   []byte      // 8 bytes each
	pack    []byte      // checksum of the pack
}

var errIndexVersion = fmt.Errorf("a pack index of another version than 2 is %w", gitobject.ErrUnsupported)

// parseIndex reads a pack index, gitformat-pack(5). It checks sizes, fan-out and checksum. It does not check that the
// ids are sorted, or that the offsets are those of their objects: each object that is read is compared with its id.
func parseIndex(data []byte, idSize int) (*index, error) {
	head := len(gitobject.IndexMagic) + 256*4
	if len(data) < head+2*idSize {
		return nil, fmt.Errorf("%w: %d bytes", gitobject.ErrCorrupt, len(data))
	}
	if !bytes.HasPrefix(data, gitobject.IndexMagic) {
		v1 := 256*4 + int64(binary.BigEndian.Uint32(data[255*4:]))*int64(4+idSize) + 2*int64(idSize)
		if bytes.HasPrefix(data, gitobject.IndexMagic[:4]) || int64(len(data)) == v1 {
			return nil, errIndexVersion
		}
		return nil, fmt.Errorf("%w: no pack index", gitobject.ErrCorrupt)
	}
	x := &index{idSize: idSize}
	last := uint32(0)
	for i := range x.fanout {
		n := binary.BigEndian.Uint32(data[len(gitobject.IndexMagic)+4*i:])
		if n < last {
			return nil, fmt.Errorf("%w: the fan-out falls at %#02x", gitobject.ErrCorrupt, i)
		}
		x.fanout[i], last = n, n
	}
	n := int64(last)
	body := data[head : len(data)-2*idSize]
	rest := int64(len(body)) - n*int64(idSize+4+4)
	if rest < 0 || rest%8 != 0 || rest/8 > n {
		return nil, fmt.Errorf("%w: %d bytes for %d objects", gitobject.ErrCorrupt, len(data), n)
	}
	x.names, body = body[:n*int64(idSize)], body[n*int64(idSize+4):] // CRCs are for git's own repacking
	x.offsets, x.large = body[:4*n], body[4*n:]
	x.pack = data[len(data)-2*idSize : len(data)-idSize]
	h := NewHash(idSize)
	h.Write(data[:len(data)-idSize])
	if !bytes.Equal(h.Sum(nil), data[len(data)-idSize:]) {
		return nil, fmt.Errorf("%w: its checksum is wrong", gitobject.ErrCorrupt)
	}
	return x, nil
}

// readIndex reads the pack index in a file.
func readIndex(file string, idSize int) (*index, error) {
	data, err := readCapped(file, maxIndex)
	if err != nil {
		return nil, err
	}
	return parseIndex(data, idSize)
}

// NewHash returns the hash function of ids of that size.
func NewHash(idSize int) hash.Hash {
	if idSize == sha256.Size {
		return sha256.New()
	}
	return sha1.New()
}

func (x *index) count() int { return int(x.fanout[255]) }

func (x *index) name(i int) []byte { return x.names[i*x.idSize : (i+1)*x.idSize] }

// seek returns the subscript of the first id that is not below prefix, which is not empty.
func (x *index) seek(prefix []byte) int {
	low := 0
	if prefix[0] > 0 {
		low = int(x.fanout[prefix[0]-1])
	}
	n := int(x.fanout[prefix[0]]) - low
	return low + sort.Search(n, func(i int) bool {
		return bytes.Compare(x.name(low+i), prefix) >= 0
	})
}

// find returns the offset of an object.
func (x *index) find(id gitobject.ID) (int64, bool) {
	if id.Size() != x.idSize {
		return 0, false
	}
	i := x.seek(id.Bytes())
	if i == x.count() || !bytes.Equal(x.name(i), id.Bytes()) {
		return 0, false
	}
	return x.offset(i), true
}

// offset returns the offset of the i-th object, or -1, which is in no pack, if the index has none.
func (x *index) offset(i int) int64 {
	at := binary.BigEndian.Uint32(x.offsets[4*i:])
	if at < 1<<31 {
		return int64(at)
	}
	j := int64(at&^(1<<31)) * 8
	if j+8 > int64(len(x.large)) {
		return -1
	}
	if far := binary.BigEndian.Uint64(x.large[j:]); far < 1<<63 {
		return int64(far)
	}
	return -1
}
