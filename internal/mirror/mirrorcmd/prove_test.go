package mirrorcmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// proven is a clone with a listing, and what its log published.
type proven struct {
	clone *gittest.Clone
	dir   string
	key   string
}

func newProven(t *testing.T) *proven {
	t.Helper()
	p := &proven{clone: gittest.New(t), dir: t.TempDir()}
	p.clone.Commit("README.md", "registry\n")
	p.clone.Commit("implementations/tool.json", `{"slug":"tool","name":"Tool","tool_did":"did:web:tool.example",`+
		`"manifest_uri":"https://tool.example/m.json","conformance_level":"L1",`+
		`"conformance_receipt_uri":"https://tool.example/r.json","conformance_receipt_sha256":"`+
		strings.Repeat("ab", 32)+`","issued_at":"2026-05-01T00:00:00Z","expires_at":"2026-07-01T00:00:00Z"}`+"\n")
	policy := must.Get(clitest.WriteLog(p.clone.Dir, p.dir, time.Unix(0, 0)))(t)
	p.key = strings.Fields(policy)[1]
	return p
}

// run runs the program, which must end with an exit status.
func (p *proven) run(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, told bytes.Buffer
	if code := clitest.Main(args, frame.IO{Stdout: &out, Stderr: &told, Getenv: clitest.NoEnvironment}); code != want {
		t.Errorf("%q: exit status %d, want %d\n%s%s", args, code, want, out.String(), told.String())
	}
	return out.String(), told.String()
}

func TestProve(t *testing.T) {
	p := newProven(t)
	file := filepath.Join(p.dir, "tool.tlog-proof")
	const at = "2026-05-07T00:00:00Z"
	write := []string{"prove", "tool", "--repo", p.clone.Dir, "--log", p.dir, "--out", file, "--at", at}
	check := []string{"prove", "tool", "--check", file, "--log-key", p.key, "--any-age", "--at", at}
	if _, told := p.run(t, 0, write...); !strings.Contains(told, "listed and unrevoked") {
		t.Errorf("told %q", told)
	}
	first := must.Read(t, file)
	if out, _ := p.run(t, 0, check...); !strings.Contains(out, "\npass: ") {
		t.Errorf("checked as\n%s", out)
	}
	out, _ := p.run(t, 0, "list", "--since", "1", "--repo", p.clone.Dir)
	if !strings.HasPrefix(out, `{"index":1,`) || strings.Count(out, "\n") != 2 {
		t.Errorf("changes\n%s", out)
	}
	p.run(t, 2, "list", "--since", "3", "--repo", p.clone.Dir)
	p.run(t, 2, "list", "--since", "-1", "--repo", p.clone.Dir)
	// A later revocation is not in the published log. The proof stays the same, from a packed clone too.
	p.clone.Commit("revocations/tool-"+strings.Repeat("ab", 32)+".json", "{}\n")
	p.clone.Git("repack", "-q", "-a", "-d")
	p.run(t, 0, write...)
	if again, err := os.ReadFile(file); err != nil || !bytes.Equal(again, first) {
		t.Errorf("a packed clone gives another proof, %v", err)
	}
	// A proof replaces only a proof: the file may be the log checkpoint, or the log's key.
	for _, name := range []string{"checkpoint", "large"} {
		kept := filepath.Join(p.dir, name)
		if name == "large" {
			must.OK(t, os.WriteFile(kept, bytes.Repeat([]byte("x"), proof.MaxFile+1), 0o666))
		}
		before := must.Read(t, kept)
		over := slices.Clone(write)
		over[slices.Index(over, file)] = kept
		_, told := p.run(t, 2, over...)
		if !strings.Contains(told, "[output-refused]\nfix: choose another file, or remove "+kept+"\n") {
			t.Errorf("told %q", told)
		}
		if after, err := os.ReadFile(kept); err != nil || !bytes.Equal(after, before) {
			t.Errorf("%s is another now, %v", name, err)
		}
	}
	// A slug that is not listed is proven too.
	write[1], check[1] = "other", "other"
	if _, told := p.run(t, 0, write...); !strings.Contains(told, "does not list other") {
		t.Errorf("told %q", told)
	}
	if out, _ := p.run(t, 1, check...); !strings.Contains(out, "[not-listed]\n") {
		t.Errorf("checked as\n%s", out)
	}
	// Another history: nothing is written.
	must.OK(t, os.Remove(file))
	p.clone.Git("checkout", "-q", "-b", "fork", "main~2")
	p.clone.Commit("implementations/tool.json", "{}\n")
	if _, told := p.run(t, 1, append(write, "--rev", "fork")...); !strings.Contains(told, "[log-differs]\nfix: ") {
		t.Errorf("told %q", told)
	}
	p.run(t, 2, append(write, "--rev", "fork~1")...)
	p.run(t, 2, append(write, "--rev", "none")...)
	if _, err := os.Stat(file); err == nil {
		t.Error("a proof was written")
	}
}

// TestChangesEscaped requires the name of a file to be harmless in a log, and to be read as it is.
func TestChangesEscaped(t *testing.T) {
	t.Parallel()
	const name = "implementations/\u009b31m##[error]x\u202e.json"
	c := empty(t)
	c.Commit(name, "{}")
	code, out := clitest.Program(t, "list", "--since", "1", "--repo", c.Dir, "--rev", "main")
	var change struct{ Path string }
	line, _, _ := strings.Cut(out, "\n")
	if err := json.Unmarshal([]byte(line), &change); err != nil || code != 0 || change.Path != name ||
		strings.ContainsAny(out, "\u009b\u202e[") {
		t.Errorf("exit status %d, %v: %q", code, err, out)
	}
}
