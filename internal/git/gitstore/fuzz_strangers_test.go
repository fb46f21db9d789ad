package gitstore

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"testing"
)

// OSS-Fuzz builds each of these targets from this file, without the other tests.

// FuzzPack reads every object of a pack that has any bytes between its head and its checksum, at any offsets.
func FuzzPack(f *testing.F) {
	id := hashOf(Blob, bytes.Repeat([]byte("text "), 30)) // the whole object of the seed in testdata
	f.Fuzz(func(t *testing.T, body []byte, a, b, c uint16) {
		pack := append([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x03"), body...)
		sum := sha1.Sum(pack)
		pack = append(pack, sum[:]...)
		ids := []ID{id, hashOf(Blob, []byte("o")), hashOf(Blob, []byte("r"))}
		x, err := parseIndex(indexBytes([]packed{{ids[0], int64(a)}, {ids[1], int64(b)}, {ids[2], int64(c)}}, sum[:]),
			20)
		if err != nil {
			t.Fatal(err)
		}
		p := packOf(pack, x)
		s := &Store{cloneFormat: cloneFormat{idSize: 20}}
		for _, id := range ids {
			at, _ := x.find(id)
			o, err := s.readPacked(p, at, id, 1<<16)
			if err == nil && hashOf(o.kind, o.data) != id {
				t.Errorf("%s: read a %s of %d bytes that has another hash", id, o.kind, len(o.data))
			}
		}
	})
}

// packOf is a pack in memory.
func packOf(data []byte, x *index) *pack {
	p := &pack{index: x, file: inMemory{bytes.NewReader(data)}, end: int64(len(data) - x.idSize)}
	p.opened.Store(true)
	return p
}

type inMemory struct{ io.ReaderAt }

func (inMemory) Close() error { return nil }

// FuzzCommit: a commit that is accepted holds what it says, and payload and signature together are the commit.
func FuzzCommit(f *testing.F) {
	for _, headers := range []string{"", pgp, pgp + pgp, "encoding x\n" + pgp, "mergetag x\n y\n",
		"gpgsig-sha256 x\n y\n" + pgp} {
		f.Add([]byte(plain + headers + "\nmessage\n"))
	}
	f.Add([]byte(strings.Replace(plain, "author", "parent "+emptyTree+"\nauthor", 1) + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := DecodeCommit(data)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("error %v is of no kind", err)
			}
			return
		}
		if !bytes.HasPrefix(data, []byte("tree "+c.Tree.String()+"\n")) || !bytes.HasSuffix(data, c.Message) ||
			c.When < 0 || c.When > maxWhen {
			t.Errorf("%q gives %+v", data, c)
		}
		if len(c.Payload)+len(c.Signature) > len(data) || (c.Payload == nil) != (c.Signed == Unsigned ||
			c.Signed == SeveralSignatures) {
			t.Errorf("%q gives payload %q, signature %q, signed %v", data, c.Payload, c.Signature, c.Signed)
		}
		if c.Payload != nil {
			if again, err := DecodeCommit(c.Payload); err != nil || again.Signed != Unsigned || again.Tree != c.Tree {
				t.Errorf("payload %q gives %+v, %v", c.Payload, again, err)
			}
		}
	})
}

const (
	emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	person    = "A U Thor <a@example.org> 1700000000 +0100"
	plain     = "tree " + emptyTree + "\nauthor " + person + "\ncommitter " + person + "\n"
	pgp       = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n wsBcBAABCAAQBQJ\n -----END PGP SIGNATURE-----\n"
)

type packed struct {
	id     ID
	offset int64
}

func hashOf(kind Type, data []byte) ID {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	return BytesID(h.Sum(nil))
}

func indexBytes(entries []packed, pack []byte) []byte {
	sort.Slice(entries, func(i, j int) bool {
		return bytes.Compare(entries[i].id.Bytes(), entries[j].id.Bytes()) < 0
	})
	var fanout [256]uint32
	var names, crcs, offsets, large []byte
	for _, e := range entries {
		for i := int(e.id.Bytes()[0]); i < 256; i++ {
			fanout[i]++
		}
		names = append(names, e.id.Bytes()...)
		crcs = append(crcs, 0, 0, 0, 0)
		if e.offset >= 0 && e.offset < 1<<31 {
			offsets = binary.BigEndian.AppendUint32(offsets, uint32(e.offset))
			continue
		}
		offsets = binary.BigEndian.AppendUint32(offsets, 1<<31|uint32(len(large)/8))
		large = binary.BigEndian.AppendUint64(large, uint64(e.offset))
	}
	out := bytes.Clone(indexMagic)
	for _, n := range fanout {
		out = binary.BigEndian.AppendUint32(out, n)
	}
	for _, part := range [][]byte{names, crcs, offsets, large, pack} {
		out = append(out, part...)
	}
	sum := sha1.Sum(out)
	return append(out, sum[:]...)
}
