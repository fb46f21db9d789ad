package publish

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// files returns the files of the log's directory, without partial tiles: they depend on the sizes that a log had.
func (p *published) files() map[string]string {
	p.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, ".p") {
			return err
		}
		data, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, p.dir)] = string(data)
		return err
	})
	must.OK(p.t, err)
	return out
}

// varied adds commits with all that a tree entry can be: files that are strict JSON, files that are not, files that no
// check reads, an executable file, links and submodules, at several depths, some of them changed or removed later.
func varied(c *gittest.Clone) {
	revocation := `{"slug":"b","revoked_receipt_sha256":"` + strings.Repeat("cd", 32) + `"}`
	c.Commit("implementations/README.md", "x\n", "implementations/b.json", "{\"a\":1}\n", "revocations/.gitkeep", "",
		"peer-witnesses/b.json", "not JSON\n", "implementations/d/README.md", "y\n")
	c.Commit("revocations/b-"+strings.Repeat("ab", 32)+".json", "{}\n", "implementations/b.json", "{\"a\":2}\n")
	c.Git("rm", "-q", "-r", "revocations")
	c.Git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",implementations/sub")
	c.Commit("workflow-anchors/e.json", "{}", "implementations/big.json", "\""+strings.Repeat("x", 2<<20)+"\"")
	c.Git("update-index", "--chmod=+x", "workflow-anchors/e.json")
	c.Commit("revocations/deep/one.json", revocation, "implementations/d/nested.json", "{}\n")
	c.Commit()
	c.Git("rm", "-q", "implementations/b.json", "revocations/deep/one.json")
	c.Commit("implementations/README.md", "z\n")
}

// TestContinued requires the same files of a log, byte for byte, whether the log reads the history or an audit does,
// from any earlier size, and whatever happened to the file of the map.
func TestContinued(t *testing.T) {
	p := newPublished(t, 0)
	p.policy = ""
	varied(p.clone)
	chain := strings.Fields(p.clone.Git("rev-list", "--first-parent", "--reverse", "main"))
	var earlier []string // the directory at each size
	for _, commit := range chain {
		if _, err := p.try(commit); err != nil {
			t.Fatal(err)
		}
		earlier = append(earlier, t.TempDir())
		must.OK(t, os.CopyFS(earlier[len(earlier)-1], os.DirFS(p.dir)))
	}
	first, want := "", p.files()
	same := func(name, dir string, audited *string, change func(file string) error) {
		t.Helper()
		p.dir, p.audited = t.TempDir(), audited
		must.OK(t, os.CopyFS(p.dir, os.DirFS(dir)))
		if change != nil {
			must.OK(t, change(filepath.Join(p.dir, mapFile)))
		}
		p.run()
		if !maps.Equal(p.files(), want) {
			t.Errorf("%s: other files", name)
		}
	}
	same("a new log, as the log reads the history", t.TempDir(), nil, nil)
	same("a new log, as an audit reads it", t.TempDir(), &first, nil)
	for i := range chain {
		for _, from := range []int{0, i} {
			same(fmt.Sprintf("size %d, audited from %d", i+1, from+1), earlier[i], &chain[from], nil)
		}
		same(fmt.Sprintf("size %d, audited from the root", i+1), earlier[i], &first, nil)
	}
	size := len(chain) - 2
	for name, change := range map[string]func(file string) error{
		"missing":   os.Remove,
		"empty":     func(file string) error { return os.WriteFile(file, nil, 0o666) },
		"truncated": func(file string) error { return os.Truncate(file, int64(len(mapTitle)+64)) },
		"earlier": func(file string) error {
			data, err := os.ReadFile(filepath.Join(earlier[1], mapFile))
			if err != nil {
				return err
			}
			return os.WriteFile(file, data, 0o666)
		},
		"another": func(file string) error {
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			data[len(data)-1] ^= 1
			return os.WriteFile(file, data, 0o666)
		},
	} {
		for _, audited := range []*string{nil, &first, &chain[size-1]} {
			same("a map that is "+name, earlier[size-1], audited, change)
		}
	}
}

// TestReadsWhatIsNew removes the trees and files of earlier commits, which a log that continues does not need.
func TestReadsWhatIsNew(t *testing.T) {
	p := newPublished(t, 0)
	p.policy = ""
	varied(p.clone)
	p.run()
	before := p.clone.Git("rev-list", "--objects", "--in-commit-order", "main~1", "--not", "main")
	p.clone.Commit("implementations/new.json", "{}\n")
	objects := p.clone.Git("rev-list", "--objects", "--no-object-names", "main~3", "^main~1^{tree}")
	commits := p.clone.Git("rev-list", "main")
	kept := p.clone.Git("rev-list", "--objects", "--no-object-names", "--no-walk", "main", "main~1")
	removed := 0
	for _, id := range strings.Fields(objects + "\n" + before) {
		if strings.Contains(commits, id) || strings.Contains(kept, id) {
			continue
		}
		if err := os.Remove(filepath.Join(p.clone.Dir, ".git", "objects", id[:2], id[2:])); err == nil {
			removed++
		}
	}
	if removed < 5 {
		t.Fatalf("%d objects removed", removed)
	}
	p.run()
	if s := p.read("signed"); s.Size != 9 {
		t.Errorf("size %d", s.Size)
	}
	must.OK(t, os.Remove(filepath.Join(p.dir, mapFile)))
	if _, err := p.try("main"); err == nil {
		t.Error("nothing was missing without the map: the test shows nothing")
	}
}

// TestContinuedRewrite requires a log to continue over an accepted rewrite from the file of the map as from the clone.
func TestContinuedRewrite(t *testing.T) {
	p := newPublished(t, 0)
	p.policy = ""
	varied(p.clone)
	p.run()
	p.clone.Git("branch", "old")
	p.clone.Git("checkout", "-q", "-B", "main", "main~3")
	p.clone.Commit("implementations/c.json", "{}\n")
	p.accepted = p.clone.Git("rev-parse", "main")
	p.clone.Commit("revocations/c-"+strings.Repeat("ab", 32)+".json", "{}\n")
	from := p.clone.Git("rev-parse", "main~3")
	first, dir := "", p.dir
	var want map[string]string
	for i, audited := range []*string{nil, &first, &from} {
		for _, withMap := range []bool{true, false} {
			p.dir, p.audited = t.TempDir(), audited
			must.OK(t, os.CopyFS(p.dir, os.DirFS(dir)))
			if !withMap {
				must.OK(t, os.Remove(filepath.Join(p.dir, mapFile)))
			}
			p.run()
			got := p.files()
			if want == nil {
				want = got
			}
			if !maps.Equal(got, want) || !bytes.Contains([]byte(got["/signed"]), []byte("\n10\n")) {
				t.Errorf("way %d, with the map %v: other files\n%s", i, withMap, got["/signed"])
			}
			p.clone.Commit()
			p.run()
			p.clone.Git("reset", "-q", "--hard", "main~1")
		}
	}
}
