package mirrorcmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestProofCases compares the exit statuses and codes of prove --check with those that are kept outside of the
// repository.
func TestProofCases(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "data", "proofs", "cases.json"))
	if os.IsNotExist(err) {
		t.Skip("SKIPPED: cases.json is not here")
	}
	t.Parallel()
	var cases []struct {
		Name, Slug, Policy, Code, Proof string
		At                              time.Time
		MaxAge                          string `json:"max_age"`
		AnyAge                          bool   `json:"any_age"`
		Exit                            int
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) == 0 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	dir := t.TempDir()
	policy, proof := filepath.Join(dir, "policy"), filepath.Join(dir, "proof")
	for _, c := range cases {
		for file, text := range map[string]string{policy: c.Policy, proof: c.Proof} {
			must.OK(t, os.WriteFile(file, []byte(text), 0o666))
		}
		args := []string{"prove", c.Slug, "--check", proof, "--witness-policy", policy, "--at",
			c.At.Format(time.RFC3339), "--format", "json"}
		if c.MaxAge != "" {
			args = append(args, "--max-age", c.MaxAge)
		}
		if c.AnyAge {
			args = append(args, "--any-age")
		}
		var out, failed bytes.Buffer
		code := clitest.Main(args, frame.IO{Stdout: &out, Stderr: &failed, Getenv: clitest.NoEnvironment})
		var report struct{ Code string }
		if out.Len() > 0 {
			if err := json.Unmarshal(out.Bytes(), &report); err != nil {
				t.Fatalf("%s: %v\n%s", c.Name, err, out.String())
			}
		}
		if code != c.Exit || report.Code != c.Code {
			t.Errorf("%s: exit status %d, code %q; want %d, %q\n%s", c.Name, code, report.Code, c.Exit, c.Code,
				failed.String())
		}
	}
}
