package registry

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

const absent = "0123456789012345678901234567890123456789"

// hostile is a clone with an honest base commit.
func hostile(t *testing.T) (c *clone, base, blob string) {
	c = newClone(t)
	base = c.Commit(pathA, `{"slug": "a"}`, "README.md", "r")
	return c, base, c.object("blob", "{}")
}

// TestHostileTree proposes trees that Git does not write. Whatever way the tree is read, the error says so;
// none of them counts as empty, and nothing of them is hidden.
func TestHostileTree(t *testing.T) {
	tests := []struct {
		name string
		// directory spells the tree object of implementations/.
		directory func(c *clone, blob string) string
		want      error
	}{
		{"unsorted", func(_ *clone, blob string) string {
			return entryText("100644", "b.json", blob) + entryText("100644", "a.json", blob)
		}, gitstore.ErrMalformed},
		{"duplicate", func(_ *clone, blob string) string {
			return entryText("100644", "a.json", blob) + entryText("100644", "a.json", blob)
		}, gitstore.ErrMalformed},
		{"file and directory of one name, apart", func(c *clone, blob string) string {
			sub := c.object("tree", entryText("100644", "x", blob))
			return entryText("100644", "a", blob) + entryText("100644", "a-b", blob) + entryText("40000", "a", sub)
		}, gitstore.ErrMalformed},
		{"cut short", func(_ *clone, blob string) string {
			return entryText("100644", "a.json", blob)[:20]
		}, gitstore.ErrMalformed},
		{"zero-padded mode", func(_ *clone, blob string) string {
			return entryText("0100644", "a.json", blob)
		}, gitstore.ErrMalformed},
		{"mode 777", func(_ *clone, blob string) string {
			return entryText("100777", "a.json", blob)
		}, gitstore.ErrMalformed},
		{"slash in a name", func(_ *clone, blob string) string {
			return entryText("100644", "a/b.json", blob)
		}, gitstore.ErrMalformed},
		{"empty name", func(_ *clone, blob string) string {
			return entryText("100644", "", blob)
		}, gitstore.ErrMalformed},
		{"parent directory", func(_ *clone, blob string) string {
			return entryText("100644", "..", blob)
		}, gitstore.ErrMalformed},
		{"dot git", func(_ *clone, blob string) string {
			return entryText("100644", ".GIT", blob)
		}, gitstore.ErrMalformed},
		{"control character", func(_ *clone, blob string) string {
			return entryText("100644", "a\x1b[2J.json", blob)
		}, gitstore.ErrMalformed},
		{"line feed", func(_ *clone, blob string) string {
			return entryText("100644", "a\n::error::x.json", blob)
		}, gitstore.ErrMalformed},
		{"missing sub-tree", func(_ *clone, _ string) string {
			return entryText("40000", "sub", absent)
		}, gitstore.ErrNotFound},
		{"a blob for a sub-tree", func(_ *clone, blob string) string {
			return entryText("40000", "sub", blob)
		}, gitstore.ErrMalformed},
		{"missing blob", func(_ *clone, _ string) string {
			return entryText("100644", "b.json", absent)
		}, gitstore.ErrNotFound},
		{"a tree for a blob", func(c *clone, blob string) string {
			return entryText("100644", "b.json", c.object("tree", entryText("100644", "x", blob)))
		}, gitstore.ErrMalformed},
		{"too deep", func(c *clone, blob string) string {
			tree := entryText("100644", "x", blob)
			for range maxDepth {
				tree = entryText("40000", "d", c.object("tree", tree))
			}
			return tree
		}, ErrLimit},
		{"more paths than can be listed", func(c *clone, blob string) string {
			var tree string
			for i := range 32 {
				tree += entryText("100644", fmt.Sprintf("f%02d", i), blob)
			}
			for range 4 {
				id := c.object("tree", tree)
				tree = ""
				for i := range 32 {
					tree += entryText("40000", fmt.Sprintf("d%02d", i), id)
				}
			}
			return tree
		}, ErrLimit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, base, blob := hostile(t)
			directory := c.object("tree", tt.directory(c, blob))
			head := c.commitTree(c.object("tree", entryText("40000", "implementations", directory)), base)
			r := c.open()
			tree, err := r.Tree(ctx, head)
			must.OK(t, err)
			_, err = collect(Scan(ctx, tree, KindListing, func(*Record) int { return 0 }))
			wantError(t, err, tt.want)
			if strings.HasPrefix(tt.name, "missing blob") || strings.HasPrefix(tt.name, "a tree for a blob") {
				return // what the blob holds is nobody's business until it is read
			}
			_, err = r.Range(ctx, base, head)
			wantError(t, err, tt.want)
			wantError(t, tree.Walk(func(string, Entry) error { return nil }), tt.want)
		})
	}
}

func TestMissingTree(t *testing.T) {
	c, base, _ := hostile(t)
	r := c.open()
	for _, tree := range []string{absent, c.Git("rev-parse", base)} {
		head := c.commitTree(tree, base)
		if _, err := r.Range(ctx, base, head); err == nil {
			t.Errorf("a commit of tree %s: no error", tree)
		}
	}
	head := c.commitTree(c.Git("rev-parse", base+"^{tree}"), base, absent)
	_, err := r.Range(ctx, base, head)
	wantError(t, err, gitstore.ErrNotFound)
	_, err = r.Range(ctx, base, absent)
	wantError(t, err, gitstore.ErrNotFound)
}

// TestOddEntries checks that what is no plain file is listed, and is a record that says why it is not read.
func TestOddEntries(t *testing.T) {
	c, base, blob := hostile(t)
	large := filepath.Join(t.TempDir(), "large")
	must.OK(t, os.WriteFile(large, make([]byte, 8<<20), 0o666))
	bomb := c.Git("hash-object", "-w", large)
	empty := c.object("tree", "")
	directory := c.object("tree", entryText("100755", "exec.json", blob)+
		entryText("100644", "large.json", bomb)+
		entryText("120000", "link.json", c.object("blob", "../README.md"))+
		entryText("160000", "module", absent)+
		entryText("40000", "nothing", empty)+
		entryText("40000", "sub", c.object("tree", entryText("100644", "deep.json", blob))))
	head := c.commitTree(c.object("tree", entryText("40000", "implementations", directory)), base)
	g := c.rangeOf(base, head)
	if got, want := spellChanges(g.Changes), `D README.md
D implementations/a.json
A implementations/exec.json
A implementations/large.json
A implementations/link.json
A implementations/module
A implementations/nothing
A implementations/sub/deep.json`; got != want {
		t.Errorf("changes:\n%s\nwant\n%s", got, want)
	}
	got := must.Get(collect(Scan(ctx, g.Result, KindListing, func(r *Record) string {
		code := ""
		if r.Err != nil {
			code = r.Err.Code
		}
		return fmt.Sprintf("%s %s %s", r.Entry.Mode.Octal(), r.Path, code)
	})))(t)
	if got, want := strings.Join(got, "\n"), `100755 implementations/exec.json 
100644 implementations/large.json file-too-large
120000 implementations/link.json not-a-file
160000 implementations/module not-a-file
040000 implementations/nothing not-a-file
100644 implementations/sub/deep.json `; got != want {
		t.Errorf("records:\n%s\nwant\n%s", got, want)
	}
	for path, want := range map[string]error{
		"implementations/link.json":  errNotFile,
		"implementations/module":     errNotFile,
		"implementations/sub":        errNotFile,
		"implementations":            errNotFile,
		"implementations/large.json": gitobject.ErrTooLarge,
	} {
		if _, err := g.Head.File(ctx, path, 1<<20); !errors.Is(err, want) {
			t.Errorf("File(%s): %v, want %v", path, err, want)
		}
	}
	back, err := c.open().Range(ctx, head, base)
	wantErrorOrEmpty(t, back, err)
}

// TestHostileNames requires that an error about a path is short, although a name may have megabytes.
func TestHostileNames(t *testing.T) {
	c, _, blob := hostile(t)
	long := strings.Repeat("a", 100_000)
	malformed := c.object("tree", entryText("100644", "b", blob)+entryText("100644", "a", blob))
	root := c.object("tree", entryText("100644", long, absent)+entryText("120000", long+"b", blob)+
		entryText("40000", long+"c", absent)+entryText("40000", long+"d", malformed))
	tree := must.Get(c.open().Tree(ctx, c.commitTree(root)))(t)
	for path, want := range map[string]error{long: gitstore.ErrNotFound, long + "b": errNotFile,
		long + "c/x": gitstore.ErrNotFound, long + "d/x": gitstore.ErrMalformed} {
		_, err := tree.File(ctx, path, 10)
		fix := ""
		if e, ok := errors.AsType[remedy.Fixer](err); ok {
			fix = e.Fix()
		}
		if !errors.Is(err, want) || len(err.Error()) > 1000 || len(fix) > 1000 {
			t.Errorf("%.1200v, fix: %.1200s; expected %v", err, fix, want)
		}
	}
}

// TestMalformedFix requires that the fix of a tree that is refused for a name does not advise to add the file again.
func TestMalformedFix(t *testing.T) {
	c, _, blob := hostile(t)
	for _, tt := range []struct{ name, entries, want string }{
		{"control character", entryText("100644", "a\tb", blob), "git mv"},
		{"order", entryText("100644", "b", blob) + entryText("100644", "a", blob), "git add"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tree, err := c.open().Tree(ctx, c.commitTree(c.object("tree", tt.entries)))
			must.OK(t, err)
			_, err = tree.File(ctx, "b", 10)
			if e, ok := errors.AsType[remedy.Fixer](err); !ok || !strings.Contains(e.Fix(), tt.want) {
				t.Errorf("%v; expected a fix with %q", err, tt.want)
			}
		})
	}
}

// wantErrorOrEmpty requires that a range from a head back to its ancestor fails, or has no changes.
func wantErrorOrEmpty(t *testing.T, g *Range, err error) {
	t.Helper()
	if err != nil || len(g.Changes) > 0 {
		t.Errorf("range back: %v %v", g, err)
	}
}

// TestDataDirectoryIsNone checks that a data directory that is a link, a submodule or a file is not hidden.
func TestDataDirectoryIsNone(t *testing.T) {
	for _, mode := range []Mode{ModeSymlink, ModeSubmodule, ModeFile, ModeExecutable} {
		t.Run(mode.String(), func(t *testing.T) {
			c, base, blob := hostile(t)
			head := c.commitTree(c.object("tree", entryText(mode.Octal(), "implementations", blob)), base)
			g := c.rangeOf(base, head)
			if got, want := spellChanges(g.Changes),
				"D README.md\nA implementations\nD implementations/a.json"; got != want {
				t.Errorf("changes:\n%s\nwant\n%s", got, want)
			}
			if k := KindOf("implementations"); k != KindListing {
				t.Errorf("it counts as %s", k)
			}
			data, err := entriesOf(g.Head, KindListing)
			if err != nil || len(data) != 1 || data[0].Path != "implementations" || data[0].Mode != mode {
				t.Errorf("Data: %v, %v", data, err)
			}
			if e, ok, err := g.Head.Entry("implementations/a.json"); ok || err != nil {
				t.Errorf("Entry below it: %v, %v", e, err)
			}
		})
	}
}

// TestNames checks that names that only some file systems tell apart stay apart here.
func TestNames(t *testing.T) {
	c, base, blob := hostile(t)
	directory := c.object("tree", entryText("100644", "A.json", blob)+entryText("100644", "a.json", blob)+
		entryText("100644", "a\u0308.json", blob)+entryText("100644", "\u00e4.json", blob)+
		entryText("100644", "\xff.json", blob))
	g := c.rangeOf(base, c.commitTree(c.object("tree", entryText("40000", "implementations", directory)), base))
	data := must.Get(entriesOf(g.Result, KindListing))(t)
	var got []string
	for _, e := range data {
		got = append(got, strings.TrimPrefix(e.Path, "implementations/"))
	}
	if want := "A.json a.json a\u0308.json \u00e4.json \xff.json"; strings.Join(got, " ") != want {
		t.Errorf("names %q, want %q", got, want)
	}
}

// TestRecord checks that what a file says is read, and why it is not where it is not.
func TestRecord(t *testing.T) {
	c := newClone(t)
	head := c.Commit(
		"implementations/a.json",
		`{"slug": "a", "issued_at": "2026-05-04T10:34:47.660Z", "expires_at": "2026-05-04t10:34:47Z", "provisional": true, "name": 7}`,
		"implementations/bom.json", "\ufeff{}",
		"implementations/twice.json", "{\"slug\": 1,\n \"slug\": 2}",
		"implementations/size.json", `"`+strings.Repeat("x", 64<<10-2)+`"`,
		"implementations/over.json", `"`+strings.Repeat("x", 64<<10-1)+`"`,
		"implementations/README.md", "no JSON",
		"revocations/a.json",
		`{"slug": "a", "signature": "ed25519:x", "peer_witness_signatures": [{"witness_did": "did:web:w.example", "alg": "EdDSA", "value": "v", "by": "b"}, 7]}`,
		"workflow-anchors/a.json", `{"slug": "a", "workflow_id": "wf_1", "anchored_at": "2026-05-04T10:34:47Z"}`,
	)
	r := c.open()
	tree := must.Get(r.Tree(ctx, head))(t)
	codes := must.Get(collect(Scan(ctx, tree, KindListing, func(r *Record) string {
		if r.Err == nil {
			return r.Path
		}
		return fmt.Sprintf("%s %s", r.Err.Pos, r.Err.Code)
	})))(t)
	if got, want := strings.Join(codes, "\n"), `implementations/a.json
implementations/bom.json:1:1 byte-order-mark
implementations/over.json file-too-large
implementations/size.json
implementations/twice.json:2:2 duplicate-member`; got != want {
		t.Errorf("records:\n%s\nwant\n%s", got, want)
	}
	rec, err := tree.Record(ctx, "implementations/a.json")
	must.OK(t, err)
	l := ParseListing(rec)
	if l.Slug != "a" || l.Issued.Unix() != 1777890887 || !l.Expires.IsZero() || l.ExpiresAt == "" || !l.Provisional ||
		l.Name != "" {
		t.Errorf("listing %+v", l)
	}
	rec, err = tree.Record(ctx, "revocations/a.json")
	must.OK(t, err)
	v := ParseRevocation(rec)
	if v.SignatureText != "ed25519:x" || len(v.Witnesses) != 2 || v.Witnesses[0].By != "b" ||
		v.Witnesses[1].WitnessDID != "" {
		t.Errorf("revocation %+v", v)
	}
	rec = must.Get(tree.Record(ctx, "workflow-anchors/a.json"))(t)
	if a := ParseAnchor(rec); a.WorkflowID != "wf_1" || a.Anchored.IsZero() {
		t.Errorf("anchor %+v", a)
	}
	if rec, err := tree.Record(ctx, "implementations/none.json"); rec != nil || err != nil {
		t.Errorf("a record that is not there: %v, %v", rec, err)
	}
	for _, empty := range []*Record{nil, {}, {Err: &strict.Error{}}} {
		if ParseListing(empty).Slug+ParseRevocation(empty).Slug+ParseAnchor(empty).Slug != "" {
			t.Errorf("%v says something", empty)
		}
	}
	for _, path := range []string{"implementations/", "/implementations", "implementations//a.json", "README.md/x",
		"x"} {
		if _, ok, err := tree.Entry(path); ok || err != nil {
			t.Errorf("Entry(%q): %v, %v", path, ok, err)
		}
	}
}
