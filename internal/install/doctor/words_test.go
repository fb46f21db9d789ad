package doctor

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
)

// TestWords reads what a step does from the words of a command line, those of earlier releases too.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		step string
		want role
	}{
		{"run: oap-gate forge protect --apply", protectRole},
		{"run: oap-gate protect --apply", protectRole},
		{"run: go run example.org/cmd/oap-gate@v1 forge rerun", rerunRole},
		{"run: oap-gate forge comment r.json", commentRole},
		{"run: oap-gate remind", remindRole},
		{"run: oap-gate forge check", noRole},
		{"run: oap-gate audit --offline", auditRole},
		{"run: oap-gate audit merge *.json", otherRole},
		{"{uses: 'docker://example.org/oap-gate:1', with: {args: audit merge x.json}}", otherRole},
		{"{uses: 'docker://example.org/oap-gate:1', with: {args: audit --offline}}", auditRole},
		{"{uses: 'docker://example.org/oap-gate:1', with: {args: forge protect --apply}}", protectRole},
		{"{uses: 'docker://example.org/oap-gate:1', with: {args: forge}}", otherRole},
		{"{uses: 'docker://example.org/oap-gate:1', with: {args: remind --apply}}", remindRole},
	} {
		root, err := strictyaml.ParseResolved("w.yml", []byte(c.step), maxWorkflow, maxNodes)
		if err != nil {
			t.Fatal(err)
		}
		var v inspection
		if got, called := v.roleOf(nil, field{path: "w.yml", value: root}, false); got != c.want ||
			called != (got != noRole) {
			t.Errorf("%s: role %q, by a command line: %t; want %q", c.step, got, called, c.want)
		}
	}
}
