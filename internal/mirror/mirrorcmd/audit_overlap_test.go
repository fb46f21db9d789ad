package mirrorcmd_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestAuditOverlap checks that an audit that began before another moved the checkpoint does not move it back.
func TestAuditOverlap(t *testing.T) {
	w := clitest.Build(t, twoSteps)
	state := filepath.Join(t.TempDir(), "state")
	audit := func(more ...string) (int, string) {
		args := slices.Concat([]string{"audit", "--offline"}, w.Args(), []string{"--checkpoint", state, "--origin",
			"r.example"}, more)
		offline := func(a string) bool { return a == "--offline" && len(more) > 2 }
		return clitest.Program(t, slices.DeleteFunc(args, offline)...)
	}
	git, err := ghtest.ServeGit(filepath.Dir(w.Repo.Dir))
	if err != nil {
		t.Skip("NOT TESTED: ", err)
	}
	defer git.Close()
	var once sync.Once
	peer := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		once.Do(func() {
			if code, out := audit("--rev", "main"); code != 0 {
				t.Errorf("exit status %d: %s", code, out)
			}
		})
		git.Config.Handler.ServeHTTP(rw, r)
	}))
	defer peer.Close()
	code, out := audit("--rev", "main^", "--peer", peer.URL+"/"+filepath.Base(w.Repo.Dir)+"/.git")
	if code != 2 || !strings.Contains(out, "another audit moved the checkpoint") ||
		!strings.Contains(string(must.Read(t, state)), "\n2\n") {
		t.Errorf("exit status %d, and the checkpoint is %s\n%s", code, must.Read(t, state), out)
	}
}
