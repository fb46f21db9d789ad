package mirrorcmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
)

// TestPeerByURL checks that a peer is fetched and compared with wherever the clone is named from.
func TestPeerByURL(t *testing.T) {
	w := clitest.Build(t, "base: [{listing: eve}]\n")
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	root := t.TempDir()
	server, err := ghtest.ServeGit(root)
	if err != nil {
		t.Skip("NOT TESTED: ", err)
	}
	defer server.Close()
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("clone", "-q", "--bare", w.Repo.Dir, filepath.Join(root, "same.git"))
	git("clone", "-q", w.Repo.Dir, filepath.Join(root, "other"))
	author := []string{"-C", filepath.Join(root, "other"), "-c", "user.name=R", "-c", "user.email=r@example.org"}
	git(append(author, "commit", "-q", "--amend", "-m", "Other")...)
	for _, repo := range []string{w.Repo.Dir, ".", "..", filepath.Join("..", filepath.Base(w.Repo.Dir))} {
		t.Run(repo, func(t *testing.T) {
			if repo == ".." {
				t.Chdir(filepath.Join(w.Repo.Dir, "implementations"))
			} else {
				t.Chdir(w.Repo.Dir)
			}
			for peer, want := range map[string]struct {
				code int
				text string
			}{"same.git": {0, "consistency        pass"}, "other/.git": {1, "split view"}} {
				code, out := clitest.Program(t, "audit", "--repo", repo, "--only", "consistency", "--peer",
					server.URL+"/"+peer)
				if code != want.code || !strings.Contains(out, want.text) {
					t.Errorf("%s: exit status %d, want %d and %q\n%s", peer, code, want.code, want.text, out)
				}
			}
		})
	}
}
