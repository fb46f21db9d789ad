package doctor

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestPrune checks that required checks which nothing reports are shown, taken away where that was asked for, and that
// no other is: not one of another app, of a matrix, of the file, or of an organisation's ruleset.
func TestPrune(t *testing.T) {
	const required = `{"name":%q,"source_type":%q,"target":"branch","enforcement":"active","bypass_actors":[],
"conditions":{"ref_name":{"include":["~DEFAULT_BRANCH"],"exclude":[]}},"rules":[{"type":"deletion"},{"type":"required_status_checks",
"parameters":{"strict_required_status_checks_policy":true,"required_status_checks":[%s]}}]}`
	ruleset := func(name, source string, contexts ...string) string {
		return strings.NewReplacer(`"name":%q`, `"name":"`+name+`"`, `"source_type":%q`, `"source_type":"`+source+`"`,
			"%s",
			strings.Join(contexts, ",")).Replace(required)
	}
	s := ghtest.Start("acme", "registry")
	defer s.Close()
	s.Grant("admin", ghtest.Access{Login: "administrator", Admin: true})
	s.AddRuleset(ruleset("main", "Repository", `{"context":"validate"}`,
		`{"context":"oap-gate","integration_id":15368}`,
		`{"context":"DCO","integration_id":1861}`, `{"context":"test (1.26)"}`, `{"context":"call / inner"}`,
		`{"context":"on linux"}`))
	s.AddRuleset(ruleset("old", "Repository", `{"context":"lint","integration_id":15368}`))
	s.AddRuleset(ruleset("org", "Organization", `{"context":"gone"}`))
	s.AddRuleset(strings.Replace(ruleset("alone", "Repository", `{"context":"lint"}`), `{"type":"deletion"},`, "", 1))
	s.SetClassic("main",
		`{"required_status_checks":{"strict":true,"contexts":["validate","test (1.26)"],"checks":[{"context":"validate","app_id":null},
{"context":"test (1.26)","app_id":15368}]},"enforce_admins":{"enabled":true}}`)
	client := must.Get(forge.New(forge.Options{BaseURL: s.URL, Token: "admin", Repository: "acme/registry"}))(t)
	tree := fstest.MapFS{".github/workflows/ci.yml": &fstest.MapFile{Data: []byte("name: CI\non: " +
		"pull_request\njobs:\n  test:\n    strategy: {matrix: {go: ['1.26']}}\n    steps: []\n  call:\n    uses: " +
		"./x.yml\n  os:\n    name: on ${{ matrix.os }}\n    steps: []\n")}}
	file := &repoconfig.File{Config: repoconfig.Config{Version: 1, Protection: repoconfig.Protection{
		RequiredChecks: []repoconfig.RequiredCheck{{Context: "oap-gate", AppID: 15368}}}}}
	look := func(may Changes) (stale []string, applied []string) {
		t.Helper()
		r := must.Get(Protect(t.Context(), client, file, tree, may))(t)
		for result := range r.Results.All() {
			for _, f := range result.Findings {
				if f.Code == "stale-context" {
					stale = append(stale, strings.Split(f.Message, `"`)[1])
				}
			}
		}
		return stale, r.Installation.Applied
	}
	if stale, _ := look(Changes{}); !slices.Equal(stale, []string{"validate", "lint", "gone"}) {
		t.Errorf("shown %q", stale)
	}
	if stale, applied := look(Changes{Apply: true}); len(stale) != 3 || len(applied) != 0 {
		t.Errorf("without --prune: %q, %q", stale, applied)
	}
	const removed = `removed required checks; to restore: `
	want := []string{`ruleset "main": ` + removed + `"required_status_checks": [{"context":"validate"}]`,
		`ruleset "old": ` + removed + `"required_status_checks": [{"context":"lint","integration_id":15368}]`,
		`ruleset "alone": ` + removed + `"required_status_checks": [{"context":"lint"}]`,
		"classic branch protection: " + removed + `"checks": [{"context":"validate"}]`}
	if _, applied := look(Changes{Apply: true, Prune: true}); !slices.Equal(applied, want) {
		t.Errorf("applied %q", applied)
	}
	if stale, _ := look(Changes{}); !slices.Equal(stale, []string{"gone"}) {
		t.Errorf("left %q", stale)
	}
	writes := len(s.Writes())
	if _, applied := look(Changes{Apply: true, Prune: true}); len(applied) != 0 || len(s.Writes()) != writes {
		t.Errorf("again: %q, %q", applied, s.Writes()[writes:])
	}
	for i, want := range []string{`"DCO"`, `"deletion"`, `"gone"`, `"rules":[]`} {
		if !strings.Contains(s.Rulesets()[i], want) {
			t.Errorf("ruleset %d lost %s: %s", i, want, s.Rulesets()[i])
		}
	}
}
