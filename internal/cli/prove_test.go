package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/openagentprotocol-OAP/oap-gate/internal/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/prove"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// proven is a clone with a listing, and what its log published.
type proven struct {
	clone      *gittest.Clone
	dir        string
	key        string
	checkpoint string
}

func newProven(t *testing.T) *proven {
	t.Helper()
	p := &proven{clone: gittest.New(t), dir: t.TempDir()}
	p.clone.Commit("README.md", "registry\n")
	p.clone.Commit("implementations/tool.json", `{"slug":"tool","name":"Tool","tool_did":"did:web:tool.example",`+
		`"manifest_uri":"https://tool.example/m.json","conformance_level":"L1",`+
		`"conformance_receipt_uri":"https://tool.example/r.json","conformance_receipt_sha256":"`+
		strings.Repeat("ab", 32)+`","issued_at":"2026-05-01T00:00:00Z","expires_at":"2026-07-01T00:00:00Z"}`+"\n")
	repo, err := registry.Open(p.clone.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	h := prove.NewHistory(repo)
	if err := h.Extend(t.Context(), "main", 0); err != nil {
		t.Fatal(err)
	}
	root, err := h.Log.Root(2)
	if err != nil {
		t.Fatal(err)
	}
	private, public, err := note.GenerateKey(bytes.NewReader(make([]byte, 32)), "log.example")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	text := proof.Checkpoint{Origin: "log.example", Size: 2, Root: root}.Text()
	data, err := note.Sign(&note.Note{Text: text}, signer)
	if err != nil {
		t.Fatal(err)
	}
	p.key, p.checkpoint = public, filepath.Join(p.dir, "checkpoint")
	if err := os.WriteFile(p.checkpoint, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return p
}

// run runs the program, which must end with an exit status.
func (p *proven) run(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, told bytes.Buffer
	if code := Main(args, IO{Stdout: &out, Stderr: &told, Getenv: noEnvironment}); code != want {
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
	first, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if out, _ := p.run(t, 0, check...); !strings.Contains(out, "\npass: ") {
		t.Errorf("checked as\n%s", out)
	}
	// A later revocation is not in the published log. The proof stays the same, from a packed clone too.
	p.clone.Commit("revocations/tool-"+strings.Repeat("ab", 32)+".json", "{}\n")
	p.clone.Git("repack", "-q", "-a", "-d")
	p.run(t, 0, write...)
	if again, err := os.ReadFile(file); err != nil || !bytes.Equal(again, first) {
		t.Errorf("a packed clone gives another proof, %v", err)
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
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
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
