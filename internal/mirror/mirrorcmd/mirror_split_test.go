package mirrorcmd_test

import (
	"path/filepath"
	"testing"
)

// TestMirrorsOfASplitView gives two mirrors that name each other other histories: the first one to see the other's
// fails, and the other one does not pass again; if both have moved, both fail.
func TestMirrorsOfASplitView(t *testing.T) {
	m := newMirrored(t)
	first := m.git(m.work, "rev-parse", "HEAD")
	root := filepath.Dir(m.origin)
	a, b := filepath.Join(root, "a"), filepath.Join(root, "b")
	run := func(dir string, want int, verified, said string, peers ...string) {
		t.Helper()
		m.dir = dir
		var more []string
		for _, p := range peers {
			more = append(more, "--peer", m.server.URL+"/"+filepath.Base(p)+"/registry.git")
		}
		m.says(said, want, verified, more...)
	}
	serve := func(tip string) { m.git(m.work, "push", "-q", "-f", "origin", tip+":main") }
	run(a, 0, first, "")
	run(b, 0, first, "", a)
	one := m.push("README.md", "# one\n")
	run(a, 0, one, "peer-behind", b)
	m.git(m.work, "reset", "-q", "--hard", first)
	other := m.push("README.md", "# other\n")
	run(b, 1, first, "split view", a)
	serve(one)
	run(a, 3, one, "peers-too-few", b)
	serve(other)
	run(b, 0, other, "") // as a run at the same time as that of the other mirror
	run(b, 1, other, "split view", a)
	serve(one)
	run(a, 1, one, "split view", b)
}
