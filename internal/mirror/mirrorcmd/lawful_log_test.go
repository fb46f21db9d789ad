package mirrorcmd_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestLawfulLog compares the log checkpoints of a history, before and after a rewrite, with those that are kept outside
// of the repository. Before the rewrite is accepted nothing is signed.
func TestLawfulLog(t *testing.T) {
	shared := filepath.Join("..", "..", "..", "..", "shared", "data", "proofs")
	history, err := os.ReadFile(filepath.Join(shared, "lawful.fi"))
	if os.IsNotExist(err) {
		t.Skip("SKIPPED: lawful.fi is not here")
	}
	t.Parallel()
	var data struct {
		Key  string `json:"log_key_file"`
		Logs []struct {
			History, Checkpoint string
			Branches            []string
		}
	}
	must.OK(t, json.Unmarshal(must.Read(t, filepath.Join(shared, "log.json")), &data))
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	c := gittest.New(t)
	c.GitInput(string(history), "fast-import", "--quiet")
	for name, text := range map[string]string{"key": data.Key, "accepted": c.Git("rev-parse", "rewritten") +
		" consistency/history-rewritten the rewrite is known\n"} {
		must.OK(t, os.WriteFile(in(name), []byte(text), 0o600))
	}
	wanted := func(branches ...string) string {
		for _, l := range data.Logs {
			if l.History == "lawful.fi" && slices.Equal(l.Branches, branches) {
				return l.Checkpoint
			}
		}
		t.Fatalf("no log of %q", branches)
		return ""
	}
	audit := func(status int, want string, more ...string) {
		t.Helper()
		code, out := clitest.Program(t, append([]string{"audit", "--repo", c.Dir, "--offline", "--at",
			"2026-05-20T00:00:00Z", "--origin", "registry.example.org/oap", "--checkpoint", in("cp"), "--log",
			in("log"), "--log-sign-key", in("key"), "--rev"}, more...)...)
		if code != status {
			t.Fatalf("%q: exit status %d\n%s", more, code, out)
		}
		for _, name := range []string{"signed", "checkpoint"} {
			if got := string(must.Read(t, filepath.Join(in("log"), name))); got != want {
				t.Errorf("%q: %s is\n%s\nwant\n%s", more, name, got, want)
			}
		}
	}
	audit(0, wanted("main"), "main")
	audit(1, wanted("main"), "rewritten")
	audit(0, wanted("main", "rewritten"), "rewritten", "--accepted", in("accepted"))
}
