package registry

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestFolderHistory compares the history of a directory with those of its files in all of the tree.
func TestFolderHistory(t *testing.T) {
	g := newClone(t)
	g.Write("other/x.json", "x")
	g.Commit()
	g.Write("revocations/a.json", "1")
	g.Write("revocations/sub/b.json", "1")
	g.Write("revocations/README.md", "1")
	g.Commit()
	g.Write("other/x.json", "y")
	g.Commit()
	g.Write("revocations/a.json", "2")
	g.Commit()
	g.Git("rm", "-rq", "revocations")
	g.Git("commit", "-qm", "away")
	g.Write("revocations", "a file")
	g.Commit()
	g.Git("rm", "-rq", "revocations")
	g.Write("revocations/a.json", "1")
	g.Commit()
	r := g.open()
	now := time.Now()
	keep := func(path string) bool { return strings.HasSuffix(path, ".json") }
	all := must.Get(r.FolderHistory(ctx, "HEAD", "revocations", now, keep))(t)
	if len(all) != 6 {
		t.Fatalf("%d versions, want 6: %+v", len(all), all)
	}
	for _, path := range []string{"revocations/a.json", "revocations/sub/b.json"} {
		var got []Version
		for _, v := range all {
			if v.Path == path {
				got = append(got, v.Version)
			}
		}
		whole := must.Get(r.FolderHistory(ctx, "HEAD", "", now, func(p string) bool { return p == path }))(t)
		same := func(a Version, b PathVersion) bool {
			return a.Commit == b.Commit && a.When.Equal(b.When) && SameEntry(a.Entry, b.Entry)
		}
		if !slices.EqualFunc(got, whole, same) {
			t.Errorf("%s: %+v, want %+v", path, got, whole)
		}
	}
	if none, err := r.FolderHistory(ctx, "HEAD", "peer-witnesses", now, keep); err != nil || len(none) > 0 {
		t.Errorf("no such directory: %+v, %v", none, err)
	}
}
