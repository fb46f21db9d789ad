package gitstore

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	objectcache "github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// Another reader of packs, go-git's, gives the same bytes for every object.
func TestReadAsGoGit(t *testing.T) {
	origin := newClone(t)
	origin.history(5)
	origin.Git("tag", "-a", "-m", "tag", "v1")
	origin.Git("repack", "-q", "-d")
	origin.Write("more", "more\n")
	origin.commit("more")
	shared := origin.cloneOf("--shared", origin.Dir)
	shared.history(2)
	for _, repack := range [][]string{
		nil, {"repack", "-q", "-d", "-l"}, {"gc", "-q", "--aggressive"},
		{"-c", "repack.useDeltaBaseOffset=false", "repack", "-q", "-a", "-d", "-f", "--depth=4095", "--window=50"},
	} {
		if repack != nil {
			shared.Git(repack...)
		}
		s := shared.open()
		other := filesystem.NewStorageWithOptions(osfs.New(filepath.Join(shared.Dir, ".git")),
			objectcache.NewObjectLRUDefault(),
			filesystem.Options{KeepDescriptors: true, AlternatesFS: osfs.New("/")})
		ids := strings.Fields(shared.Git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)"))
		if len(ids) < 50 {
			t.Fatalf("%d objects to compare", len(ids))
		}
		for _, id := range ids {
			kind, got, err := s.Read(mustID(t, id), 1<<20)
			wantKind, want := readGoGit(t, other, id)
			if err != nil || kind.String() != wantKind || !bytes.Equal(got, want) {
				t.Errorf("%s: read a %s of %d bytes, %v; go-git a %s of %d", id, kind, len(got), err, wantKind,
					len(want))
			}
		}
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	}
}

func readGoGit(t *testing.T, s *filesystem.Storage, id string) (kind string, data []byte) {
	t.Helper()
	o := must.Get(s.EncodedObject(plumbing.AnyObject, plumbing.NewHash(id)))(t)
	r, err := o.Reader()
	must.OK(t, err)
	defer r.Close()
	if data, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	return o.Type().String(), data
}
