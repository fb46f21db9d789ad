package mirrorcmd_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestMirrorMoved moves a registry to another URL: the mirror goes on there only if the history does.
func TestMirrorMoved(t *testing.T) {
	m := newMirrored(t)
	old, root := m.server.URL+"/origin.git", filepath.Dir(m.origin)
	first := m.git(m.work, "rev-parse", "HEAD")
	as := func(want int, url, text, verified string, more ...string) string {
		t.Helper()
		args := m.args(append(more, "--color", "never")...)
		args[1] = m.server.URL + url
		out := clitest.Run(t, want, text, args...)
		if verified != "" {
			m.stands(verified)
		}
		return out
	}
	before := filepath.Join(t.TempDir(), "none")
	none := m.args("--moved-from", old)
	none[2] = before
	clitest.Run(t, 2, "is not a mirror of", none...)
	if _, err := os.Lstat(before); err == nil {
		t.Error("a directory that is not a mirror was made")
	}
	m.run(0, first)
	name, _, _ := strings.Cut(string(must.Read(t, m.file("checkpoint"))), "\n")

	// Another history, also one that --accepted takes: nothing moves.
	m.git(root, "clone", "-q", "--bare", m.origin, "copied.git")
	m.git(m.work, "checkout", "-q", "--orphan", "other")
	m.git(m.work, "commit", "-q", "-m", "m")
	m.git(m.work, "push", "-q", "-f", "../copied.git", "HEAD:main")
	other := m.git(m.work, "rev-parse", "HEAD")
	m.git(m.work, "checkout", "-q", "main")
	taken, line := filepath.Join(t.TempDir(), "accepted"), other+" consistency/history-rewritten the old one was lost\n"
	must.OK(t, os.WriteFile(taken, []byte(line), 0o666))
	files := func() string {
		return string(must.Read(t, m.file("registry.git/config"))) +
			strings.Join(m.all("registry.git/objects/pack/*"), " ") +
			strings.Join(m.all("registry.git/refs/*/*"), " ") + string(must.Read(t, m.file("checkpoint"))) +
			string(must.Read(t, m.file("registry.git/refs/remotes/origin/main")))
	}
	was := files()
	as(1, "/copied.git", "[history-rewritten]", first, "--moved-from", old)
	as(1, "/copied.git", "[history-rewritten]", first, "--moved-from", old, "--accepted", taken)
	as(2, "/copied.git", "fix: name another directory; if the registry moved, give --moved-from "+old, first)
	as(2, "/copied.git", "is the mirror of", first, "--moved-from", m.server.URL+"/another.git")
	if got := files(); got != was || len(m.state().Moved) > 0 {
		t.Errorf("the mirror has %s and %v\nexpected %s", got, m.state().Moved, was)
	}

	// The old history and more.
	second := m.push("README.md", "# on\n")
	must.OK(t, os.Rename(m.origin, filepath.Join(root, "moved.git")))
	config := string(must.Read(t, m.file("registry.git/config")))
	moves := func(url string, flags ...string) {
		t.Helper()
		as(0, url, "origin-moved", second, flags...)
		got, _, _ := strings.Cut(string(must.Read(t, m.file("checkpoint"))), "\n")
		moved := m.state().Moved
		if got != name || len(moved) != 1 || moved[0].From != old || moved[0].To != m.server.URL+"/moved.git" {
			t.Errorf("the checkpoint is of %s; expected %s, and one move: %v", got, name, moved)
		}
		if text := string(must.Read(t, m.file("registry.git/config"))); !strings.Contains(text, "/moved.git") {
			t.Errorf("the clone has\n%s", text)
		}
	}
	moves("/moved.git", "--moved-from", m.server.URL+"/origin")
	moves("/moved.git", "--moved-from", old)
	moves("/moved.git")
	m.write("registry.git/config", config) // it was killed before the clone took the URL
	moves("/moved.git", "--moved-from", old)
	m.write("registry.git/config", "x") // damaged
	moves("/moved.git")
	m.metrics() // with the label of the old URL
	as(2, "/origin.git", "is the mirror of", second)
	if rep := m.report(); rep.Origin != name {
		t.Errorf("the report is of %s; expected %s", rep.Origin, name)
	}

	// The old URL redirects.
	git := m.server.Config.Handler
	m.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rest, is := strings.CutPrefix(r.URL.String(), "/old.git/"); is {
			http.Redirect(w, r, "/moved.git/"+rest, http.StatusMovedPermanently)
			return
		}
		git.ServeHTTP(w, r)
	})
	args := m.args("--color", "never")
	args[1], args[2] = m.server.URL+"/old.git", filepath.Join(t.TempDir(), "mirror")
	clitest.Run(t, 0, "the origin redirects to another repository, \""+m.server.URL+"/moved.git\"", args...)
	clitest.Run(t, 0, "fix: oap-gate mirror "+m.server.URL+"/moved.git DIR --moved-from "+args[1], args...)
}
