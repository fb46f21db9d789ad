package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestComplete asks for what a shell asks for, and holds some of the words that it must get and how it goes on.
func TestComplete(t *testing.T) {
	repo := must.Get(fixture.NewRepo(t.TempDir()))(t)
	directory := filepath.Join(repo.Dir, "implementations")
	must.OK(t, os.MkdirAll(directory, 0o777))
	for _, name := range []string{"nova.json", "aurora.json", "README.md", "$(touch x).json", "a`b.json", "UP.json"} {
		must.OK(t, os.WriteFile(filepath.Join(directory, name), nil, 0o666))
	}
	for _, c := range []struct {
		args  string // what stands behind oap-gate; the last word is the one begun, _ an empty one
		want  string // words among those offered, or all of them where they begin with =
		files string // the directive that follows
	}{
		{"renew --repo DIR _", "= aurora nova", ":4"},
		{"revoke --repo DIR _", "= aurora nova", ":4"},
		{"revoke --repo DIR nova _", "=", ":4"},
		{"witness --repo DIR _", "= aurora nova", ":0"},
		{"renew --repo DIR/nowhere _", "=", ":4"},
		{"audit merge _", "= json", ":8"},
		{"list --status _", "valid provisional expiring expired revoked", ":4"},
		{"list --status valid,_", "valid,expired", ":4"},
		{"list --level _", "L2+ L5-FINANCE", ":4"},
		{"list --format _", "= text json csv", ":4"},
		{"check --format _", "= text json github", ":4"},
		{"oap-conform aaep --format _", "text json", ":4"},
		{"oap-spec schema diff --format _", "= text json", ":4"},
		{"check --only _", "schema domain-age", ":4"},
		{"audit --skip schema,_", "schema,history", ":4"},
		{"oap-spec governance --only _", "implementability", ":4"},
		{"check --report _", "json= sarif= junit=", ":6"},
		{"check --report json=_", "=", ":0"},
		{"check --governance _", "= review deny", ":4"},
		{"revoke --reason _", "key_compromise", ":4"},
		{"explain _", "schema receipt-hash-mismatch no-gate", ":4"},
		{"schema _", "listing repo-config", ":4"},
	} {
		words := strings.Fields(strings.ReplaceAll(c.args, "DIR", repo.Dir))
		last := len(words) - 1
		words[last] = strings.TrimSuffix(words[last], "_")
		var out bytes.Buffer
		if strings.HasPrefix(words[0], "oap-") {
			words = slices.Insert(words, 1, "__complete")
		} else {
			words = slices.Insert(words, 0, "__complete")
		}
		code := clitest.Main(words, frame.IO{Stdout: &out, Stderr: &bytes.Buffer{},
			Getenv: clitest.NoEnvironment})
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		var offered []string
		for _, line := range lines[:len(lines)-1] {
			word, _, _ := strings.Cut(line, "\t")
			offered = append(offered, word)
		}
		want, exact := strings.CutPrefix(c.want, "=")
		missing := slices.DeleteFunc(strings.Fields(want), func(w string) bool { return slices.Contains(offered, w) })
		if len(missing) > 0 || exact && len(offered) != len(strings.Fields(want)) ||
			code != 0 || lines[len(lines)-1] != c.files {
			t.Errorf("%s: exit status %d, without %q:\n%s", c.args, code, missing, &out)
		}
	}
}
