package mirrorcmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestMirrorLog publishes the log in the mirror's directory, also after a rewrite that is accepted.
func TestMirrorLog(t *testing.T) {
	m := newMirrored(t)
	key := filepath.Join(t.TempDir(), "log.key")
	code, out := clitest.Program(t, "key", "new", key, "--origin", "registry.example/log")
	if code != 0 {
		t.Fatal(out)
	}
	verifier, _, _ := strings.Cut(out, "\n")
	log := []string{"--log-sign-key", key}
	size := func() int64 {
		s := must.Get(proof.ParseSigned(must.Read(t, filepath.Join(m.dir, "log", "checkpoint"))))(t)
		return s.Size
	}
	first := m.git(m.work, "rev-parse", "HEAD")
	m.run(0, first, log...)
	begun := size()
	if !bytes.Contains(must.Read(t, filepath.Join(m.dir, "report.json")), []byte(`"check": "log"`)) {
		t.Error("the report does not have the log")
	}
	before := m.push("README.md", "# changed\n")
	m.run(0, before, log...)
	m.git(m.work, "reset", "-q", "--hard", first)
	taken := m.push("README.md", "# another past\n")
	m.run(1, before, log...)
	if got := size(); got != begun+1 {
		t.Errorf("before the rewrite is accepted the log has %d entries, want %d", got, begun+1)
	}
	file := filepath.Join(t.TempDir(), "accepted")
	line := taken + " consistency/history-rewritten the maintainers said so\n"
	must.OK(t, os.WriteFile(file, []byte(line), 0o666))
	m.run(0, taken, append(log, "--accepted", file)...)
	if got := size(); got != begun+2 {
		t.Errorf("after the rewrite the log has %d entries, want %d", got, begun+2)
	}
	tip := m.push("README.md", "# on\n")
	m.run(0, tip, append(log, "--accepted", file)...)
	// The mirror's own clone gives a proof from its log.
	to := filepath.Join(t.TempDir(), "proof")
	for _, args := range [][]string{
		{"prove", "eve", "--repo", m.dir, "--log", filepath.Join(m.dir, "log"), "--out", to},
		{"prove", "eve", "--check", to, "--log-key", verifier, "--any-age", "--at", "2026-06-01T12:00:00Z"},
	} {
		if code, out := clitest.Program(t, args...); code != 0 {
			t.Errorf("%q: exit status %d\n%s", args, code, out)
		}
	}
	clitest.Run(t, 2, "", m.args("--witness-policy", file)...)
}
