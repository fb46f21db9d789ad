package mirrorcmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestAuditOfChangingClone audits a clone while git repacks, prunes and fetches: the verdict is the right one, or
// there is none.
func TestAuditOfChangingClone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	upstream := must.Get(fixture.Generate(filepath.Join(dir, "upstream"), fixture.Bulk{Listings: 40, Commits: 120}))(t)
	git := func(where string, args ...string) error {
		cmd := exec.Command("git",
			append([]string{"-C", where, "-c", "user.name=Registry", "-c", "user.email=registry@example.org"},
				args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %q: %w: %s", args, err, out)
		}
		return nil
	}
	clone := filepath.Join(dir, "clone")
	must.OK(t, git(dir, "clone", "-q", "--bare", "--no-local", upstream.Dir, clone))
	// A branch with one bad commit, whose verdict is known whatever main becomes.
	must.OK(t, git(upstream.Dir, "checkout", "-q", "-b", "bad"))
	must.OK(t, git(upstream.Dir, "rm", "-q", "implementations/impl-000007.json"))
	must.OK(t, git(upstream.Dir, "commit", "-q", "-m", "tamper"))
	must.OK(t, git(upstream.Dir, "checkout", "-q", "main"))
	must.OK(t, git(clone, "fetch", "-q", "origin", "bad:bad"))

	stop := make(chan struct{})
	changed := make(chan error)
	go func() {
		changed <- func() error {
			for i := 0; ; i++ {
				for _, step := range [][]string{
					{upstream.Dir, "commit", "-q", "--allow-empty", "-m", "more"},
					{clone, "fetch", "-q", "origin", "main:main"},
					{clone, "repack", "-q", "-a", "-d", "-f"},
					{upstream.Dir, "commit", "-q", "--allow-empty", "-m", "more"},
					{clone, "fetch", "-q", "origin", "main:main"},
					{clone, "gc", "-q", "--prune=now"},
				} {
					select {
					case <-stop:
						return nil
					default:
					}
					if err := git(step[0], step[1:]...); err != nil {
						return err
					}
				}
			}
		}()
	}()
	judged := map[int]int{}
	report := filepath.Join(dir, "report.json")
	for i := range 16 {
		rev, right := "main", 0
		if i%2 == 1 {
			rev, right = "bad", 1
		}
		code, out := clitest.Program(t, "audit", "--offline", "--repo", clone, "--rev", rev, "--at",
			"2026-06-01T12:00:00Z",
			"--report", "json="+report)
		judged[code]++
		switch {
		case code == 2:
			t.Logf("no verdict: %s", out)
		case code != right:
			t.Errorf("the verdict on %s is %d, want %d: %s", rev, code, right, out)
		case right == 1 && (!strings.Contains(out, "implementations/impl-000007.json: error: history: append-only") ||
			!strings.Contains(string(must.Read(t, report)), `"commits": 122`)):
			t.Errorf("the wrong thing is found: %s", out)
		}
	}
	close(stop)
	must.OK(t, <-changed)
	if judged[0] == 0 || judged[1] == 0 {
		t.Errorf("exit statuses %v: one of the two verdicts was never given", judged)
	}
}
