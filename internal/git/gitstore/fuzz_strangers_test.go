package gitstore

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/packtest"
)

// OSS-Fuzz builds each of these targets from this file, without the other tests.

// FuzzPack reads every object of a pack that has any bytes between its head and its checksum, at any offsets.
func FuzzPack(f *testing.F) {
	id := packtest.HashOf(gitobject.Blob, bytes.Repeat([]byte("text "), 30)) // the whole object of the seed in testdata
	f.Fuzz(func(t *testing.T, body []byte, a, b, c uint16) {
		pack := append([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x03"), body...)
		sum := sha1.Sum(pack)
		pack = append(pack, sum[:]...)
		ids := []gitobject.ID{id, packtest.HashOf(gitobject.Blob, []byte("o")), packtest.HashOf(gitobject.Blob,
			[]byte("r"))}
		x := must.Get(parseIndex(packtest.IndexBytes([]packtest.Entry{{ID: ids[0], Offset: int64(a)},
			{ID: ids[1], Offset: int64(b)}, {ID: ids[2], Offset: int64(c)}}, sum[:]), 20))(t)
		p := packOf(pack, x)
		s := &Store{cloneFormat: cloneFormat{idSize: 20}}
		for _, id := range ids {
			at, _ := x.find(id)
			o, err := s.readPacked(p, at, id, 1<<16)
			if err == nil && packtest.HashOf(o.kind, o.data) != id {
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

// FuzzCommit: a commit that is accepted holds what it says.
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
	})
}

const (
	emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	person    = "A U Thor <a@example.org> 1700000000 +0100"
	plain     = "tree " + emptyTree + "\nauthor " + person + "\ncommitter " + person + "\n"
	pgp       = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n wsBcBAABCAAQBQJ\n -----END PGP SIGNATURE-----\n"
)
