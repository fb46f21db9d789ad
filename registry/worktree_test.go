package registry

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func (c *clone) remove(path string) {
	c.T.Helper()
	must.OK(c.T, os.RemoveAll(filepath.Join(c.Dir, path)))
}

func (c *clone) symlink(target, path string) {
	c.T.Helper()
	c.remove(path)
	must.OK(c.T, os.MkdirAll(filepath.Dir(filepath.Join(c.Dir, path)), 0o777))
	must.OK(c.T, os.Symlink(target, filepath.Join(c.Dir, path)))
}

// TestTreeRange compares a tree, on top of a branch, with a base that moved on. Its objects are in a directory of their
// own.
func TestTreeRange(t *testing.T) {
	c := newClone(t)
	fork := c.Commit(pathA, `{"slug": "a"}`)
	c.Commit(pathB, `{"slug": "b"}`)
	c.Git("checkout", "-q", "-b", "pr", fork)
	own := c.Commit(pathC, `{"slug": "c"}`)
	c.Write(pathC, `{"slug": "cc"}`)
	c.Write("revocations/x.json", `{"slug": "x"}`)
	objects := filepath.Join(t.TempDir(), "objects")
	must.OK(t, os.MkdirAll(filepath.Join(objects, "info"), 0o777))
	alternates := filepath.Join(c.Dir, ".git", "objects")
	must.OK(t, os.WriteFile(filepath.Join(objects, "info", "alternates"), []byte(alternates+"\n"), 0o666))
	written := func(args ...string) string {
		cmd := c.Command(args...)
		cmd.Env = append(cmd.Env, "GIT_OBJECT_DIRECTORY="+objects)
		out := must.Get(cmd.Output())(t)
		return strings.TrimSpace(string(out))
	}
	written("add", "-A")
	tree := written("write-tree")
	if _, err := c.open().TreeRange(ctx, "main", tree); err == nil {
		t.Error("a tree that the clone lacks is read")
	}
	r := c.open()
	must.OK(t, r.AddObjects(objects))
	g := must.Get(r.TreeRange(ctx, "main", tree))(t)
	got := spellRange(g, map[string]string{fork: "fork", own: "own", "": "disk"})
	if want := `merge bases: fork
view fork..disk: [A implementations/c.json] [A revocations/x.json]
lands: [A implementations/c.json] [A revocations/x.json]
commit own: [A implementations/c.json]
commit disk: [M implementations/c.json] [A revocations/x.json]
`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	checkResult(t, g)
	slugs, err := collect(Scan(ctx, g.Result, KindListing, func(r *Record) string { return ParseListing(r).Slug }))
	if err != nil || strings.Join(slugs, " ") != "a b cc" {
		t.Errorf("slugs %q, %v", slugs, err)
	}
}

// TestTreeRangeIsStrict checks that a tree which is not a commit's is read as strictly as one.
func TestTreeRangeIsStrict(t *testing.T) {
	c := newClone(t)
	c.Commit(pathA, "1")
	blob := c.GitInput("x", "hash-object", "-w", "--stdin")
	for name, tree := range map[string]string{
		"a control character in a name": c.GitInput("100644 blob "+blob+"\t\"a\\033.json\"\n", "mktree"),
		"a commit":                      c.Head(),
		"a file":                        blob,
		"nothing":                       strings.Repeat("1", 40),
		"not an id":                     "HEAD^{tree}",
	} {
		if _, err := c.open().TreeRange(ctx, "HEAD", tree); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

func TestAddObjects(t *testing.T) {
	c := newClone(t)
	c.Commit(pathA, "1")
	file := filepath.Join(t.TempDir(), "file")
	must.OK(t, os.WriteFile(file, nil, 0o666))
	r := c.open()
	must.OK(t, r.AddObjects(filepath.Join(t.TempDir(), "none"), file))
	_, err := r.Commit(ctx, strings.Repeat("1", 40))
	wantError(t, err, gitstore.ErrNotFound)
	if _, err := r.Tree(ctx, "HEAD"); err != nil {
		t.Error(err)
	}
	var many []string
	for range 100 {
		many = append(many, t.TempDir())
	}
	wantError(t, r.AddObjects(many...), gitobject.ErrTooLarge)
}

// FuzzIndex checks that no index makes the search for a directory in it panic, and that what git wrote is found.
func FuzzIndex(f *testing.F) {
	c := newClone(f)
	c.Commit(pathA, "1", pathB, "2", "docs/x/y", "3")
	c.Write("docs/z/new", "4")
	c.Git("add", "-N", "docs/z/new") // an extended flag: version 3
	data := must.Read(f, filepath.Join(c.Dir, ".git", "index"))
	for _, dir := range []string{"docs/x", "docs/z", "implementations"} {
		found, err := (&trackedDirectory{root: c.Dir, parts: strings.Split(dir, "/")}).inIndex(data, 20)
		if err != nil || !found || binary.BigEndian.Uint32(data[4:]) != 3 {
			f.Errorf("%s: %v, %v", dir, found, err)
		}
	}
	f.Add(data)
	f.Add(data[:60])
	f.Fuzz(func(t *testing.T, data []byte) {
		d := trackedDirectory{root: c.Dir, parts: []string{"none"}}
		if found, err := d.inIndex(data, 20); found && err != nil {
			t.Errorf("found, and %v", err)
		}
	})
}
