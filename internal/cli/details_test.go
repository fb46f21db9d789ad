package cli_test

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/oapgate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
)

// neverErrors are codes of the gate's checks and of verify whose findings are no errors, which the source decides by a
// state or a variable.
var neverErrors = []string{"budget-spent", "clone-old", "connect-failed", "local", "not-an-answer", "not-archived",
	"proof-old", "proof-undated", "resolver-failed", "schema", "standing-faults", "timeout",
	"total-too-large", "witness-not-independent", "witness-not-sought", "witness-open"}

// TestDetails requires causes and a command of each error code of the gate's checks and of verify, and of no other
// code. A code is one of an error unless each place of the source that reports it makes something milder.
func TestDetails(t *testing.T) {
	s := &source{fset: token.NewFileSet(), consts: map[string]string{}, types: map[string]ast.Expr{}}
	for _, dir := range coded {
		must.OK(t, s.parse(filepath.Join("..", ".."), dir))
	}
	mild, severe := map[string]bool{}, map[string]bool{}
	for _, e := range s.emitted() {
		if e.mild {
			mild[e.code] = true
		} else {
			severe[e.code] = true
		}
	}
	var ids []string
	for _, rules := range [][]verdict.Rule{checks.Rules(), verify.Rules()} {
		for _, rule := range rules {
			for _, c := range rule.Codes {
				ids = append(ids, c.ID)
			}
		}
	}
	wanted := 0
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		d, has := oapgate.Program.Details[id]
		want := (severe[id] || !mild[id]) && !slices.Contains(neverErrors, id)
		if want {
			wanted++
		}
		if has != want {
			t.Errorf("%s has causes and a command: %t, want %t", id, has, want)
		}
		if has && (d.Causes == "" || d.Show == "") {
			t.Errorf("%s lacks its causes or its command", id)
		}
	}
	if wanted < 150 {
		t.Errorf("only %d codes of errors were found", wanted)
	}
	for id := range oapgate.Program.Details {
		if !slices.Contains(ids, id) {
			t.Errorf("no finding has the code %s", id)
		}
	}
}
