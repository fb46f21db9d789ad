package listing

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// work makes a work tree with one listing, links in and on the way to its data directories, and a file beside them.
func work(t *testing.T) (string, *Tree) {
	t.Helper()
	dir := t.TempDir()
	for _, directory := range []string{"implementations", "elsewhere"} {
		must.OK(t, os.Mkdir(filepath.Join(dir, directory), 0o755))
	}
	for path, text := range map[string]string{"implementations/eve.json": "old\n", "elsewhere/ada.json": "outside\n",
		"README.md": "text\n"} {
		must.OK(t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644))
	}
	for link, to := range map[string]string{"workflow-anchors": "elsewhere",
		"implementations/link.json":  "../README.md",
		"implementations/loose.json": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skipf("this system has no symbolic links: %v", err)
		}
	}
	tree := must.Get(OpenTree(dir))(t)
	t.Cleanup(func() { tree.Close() })
	return dir, tree
}

// files are the texts of all files of a directory, and where its links lead.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if to, err := os.Readlink(path); err == nil {
			all[path] = "-> " + to
			return nil
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	})
	must.OK(t, err)
	return all
}

func TestRefusedPaths(t *testing.T) {
	dir, tree := work(t)
	before := files(t, dir)
	hash := strings.Repeat("a", 64)
	for _, tt := range []struct {
		path string
		want error
	}{
		{"implementations/../x.json", ErrPlace}, {"../x.json", ErrPlace}, {"implementations/x/y.json", ErrPlace},
		{"implementations/X.json", ErrPlace}, {"implementations/x.json", ErrPlace},
		{"implementations/ab.txt", ErrPlace},
		{"implementations/-a.json", ErrPlace}, {"implementations/" + strings.Repeat("a", 65) + ".json", ErrPlace},
		{"README.md", ErrPlace}, {"implementations/README.md", ErrPlace}, {"implementations/.gitkeep", ErrPlace},
		{"revocations/eve.json", ErrPlace}, {"revocations/eve-" + hash[1:] + ".json", ErrPlace},
		{"revocations/-" + hash + ".json", ErrPlace}, {"/etc/xx.json", ErrPlace}, {"implementations", ErrPlace},
		{"workflow-anchors/wf.json", ErrPlace}, {"workflow-anchors/ada.json", ErrPlace},
		{"implementations/eve.json", fs.ErrExist}, {"implementations/link.json", fs.ErrExist},
		{"implementations/loose.json", fs.ErrExist},
	} {
		if err := tree.Create(tt.path, []byte("new")); !errors.Is(err, tt.want) {
			t.Errorf("creating %q: %v, want %v", tt.path, err, tt.want)
		}
	}
	for path, want := range map[string]error{
		"implementations/link.json": ErrPlace, "implementations/loose.json": ErrPlace,
		"workflow-anchors/ada.json": ErrPlace,
		"implementations/none.json": fs.ErrNotExist, "peer-witnesses/none.json": fs.ErrNotExist, "README.md": ErrPlace,
		"implementations/../README.md": ErrPlace, `implementations/..\README.md`: ErrPlace,
		"implementations/..": ErrPlace,
	} {
		if _, err := tree.Read(path); !errors.Is(err, want) {
			t.Errorf("reading %q: %v, want %v", path, err, want)
		}
		if err := tree.Replace(path, []byte("text\n"), []byte("new")); !errors.Is(err, want) {
			t.Errorf("replacing %q: %v, want %v", path, err, want)
		}
		if err := tree.Move(path, "implementations/new.json", []byte("text\n")); !errors.Is(err, want) {
			t.Errorf("moving %q: %v, want %v", path, err, want)
		}
	}
	if err := tree.Replace("implementations/eve.json", []byte("other\n"), []byte("new")); !errors.Is(err, ErrChanged) {
		t.Errorf("replacing what changed: %v", err)
	}
	err := tree.Move("implementations/eve.json", "implementations/link.json", []byte("old\n"))
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("moving onto a link: %v", err)
	}
	if after := files(t, dir); !maps.Equal(before, after) {
		t.Errorf("before %q\nafter %q", before, after)
	}
}

func TestWrite(t *testing.T) {
	dir, tree := work(t)
	want := files(t, dir)
	revocation := must.Get(RevocationPath("eve", strings.Repeat("a", 64)))(t)
	if err := tree.Create(revocation, []byte("new\n")); err != nil { // its directory is not there yet
		t.Error(err)
	}
	want[filepath.Join(dir, revocation)] = "new\n"
	if err := tree.Replace("implementations/eve.json", []byte("old\n"), []byte("renewed\n")); err != nil {
		t.Error(err)
	}
	if err := tree.Move("implementations/eve.json", "implementations/eve-2.json", []byte("renewed\n")); err != nil {
		t.Error(err)
	}
	delete(want, filepath.Join(dir, "implementations/eve.json"))
	want[filepath.Join(dir, "implementations/eve-2.json")] = "renewed\n"
	if got := files(t, dir); !maps.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	for _, slug := range []string{"", "a", "../x", "a/b", "A1", "a.b", "-a", "a b", "$(id)", "a\n",
		strings.Repeat("a", 65), "ä1"} {
		if path, err := Path(slug); !errors.Is(err, ErrSlug) {
			t.Errorf("the slug %q became the path %q, %v", slug, path, err)
		}
	}
	if _, err := RevocationPath("eve", "../x"); !errors.Is(err, ErrPlace) {
		t.Errorf("a hash became a path: %v", err)
	}
}
