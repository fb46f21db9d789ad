package doctor

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// protect applies the documented repo-config to a forge from a tree.
func protect(t *testing.T, s *ghtest.Server, token string, f tree, may Changes) *verdict.Report {
	t.Helper()
	file := must.Get(repoconfig.Parse([]byte(f[repoconfig.Path])))(t)
	c := must.Get(forge.New(forge.Options{BaseURL: s.URL, Token: token, Repository: "acme/registry"}))(t)
	r := must.Get(Protect(t.Context(), c, file, os.DirFS(f.write(t)), may))(t)
	return r
}

// A required review that nobody could give stops the run before it changes anything; two who could pass without a word.
func TestLockOut(t *testing.T) {
	owner := func(owner string) func(*ghtest.Server, tree) {
		return func(_ *ghtest.Server, f tree) {
			f[".github/CODEOWNERS"] = "/.github/ " + owner + "\n/schemas/ " + owner + "\n"
		}
	}
	hide := func(s *ghtest.Server, _ tree) {
		s.Fail(ghtest.Failure{Path: "/repos/acme/registry/collaborators", Status: 403, Message: "Forbidden"})
	}
	alone := []ghtest.Account{{Login: "administrator"}, {Login: "robot", Bot: true}, {Login: "guest", Read: true}}
	for _, c := range []struct {
		name   string
		set    func(*ghtest.Server, tree)
		may    Changes
		want   string // codes, but for the protections that are missing
		status int    // of --apply
		writes int
	}{
		{"two accounts", func(*ghtest.Server, tree) {}, Changes{}, "", 0, 2},
		{"one account", func(s *ghtest.Server, _ tree) { s.Accounts = alone }, Changes{},
			"error lock-out repo-config.yml", 1, 0},
		{"one account, and it is known", func(s *ghtest.Server, _ tree) { s.Accounts = alone },
			Changes{AllowLockOut: true}, "warning lock-out repo-config.yml", 0, 2},
		{"one account, and no review is required", func(s *ghtest.Server, f tree) {
			s.Accounts = alone
			f[repoconfig.Path] = "version: 1\nprotection:\n  block_force_push: true\n"
		}, Changes{}, "", 0, 1},
		{"the accounts are hidden", hide, Changes{}, "inconclusive not-readable repo-config.yml", 3, 0},
		{"the accounts are hidden, and it is known", hide, Changes{AllowLockOut: true}, "", 0, 2},
		{"an owner whom the forge does not know", func(s *ghtest.Server, f tree) {
			owner("@nobody/none")(s, f)
			s.OwnerErrors = []map[string]any{{"line": 1, "column": 11, "kind": "Unknown owner",
				"source": "/.github/ @nobody/none", "path": ".github/CODEOWNERS"}}
		}, Changes{}, "error owner-unknown CODEOWNERS", 1, 0},
		{"... is no lock-out", func(s *ghtest.Server, f tree) {
			owner("@nobody/none")(s, f)
			s.OwnerErrors = []map[string]any{{"line": 1, "column": 11, "kind": "Unknown owner",
				"source": "/.github/ @nobody/none", "path": ".github/CODEOWNERS"}}
		}, Changes{AllowLockOut: true}, "error owner-unknown CODEOWNERS", 1, 0},
		{"an error of an older file", func(s *ghtest.Server, f tree) {
			s.OwnerErrors = []map[string]any{{"line": 1, "column": 11, "kind": "Unknown owner",
				"source": "/.github/ @nobody/none", "path": ".github/CODEOWNERS"}}
		}, Changes{}, "", 0, 2},
		{"the only code owner runs it", owner("@administrator"), Changes{}, "error lock-out repo-config.yml", 1, 0},
		{"the only code owner is another", owner("@maintainer"), Changes{}, "", 0, 2},
		{"a team of two", func(s *ghtest.Server, f tree) {
			s.Teams = map[string][]string{"acme/maintainers": {"administrator", "maintainer"}}
			owner("@acme/maintainers")(s, f)
		}, Changes{}, "", 0, 2},
		{"a team of one", func(s *ghtest.Server, f tree) {
			s.Teams = map[string][]string{"acme/maintainers": {"Administrator"}}
			owner("@acme/maintainers")(s, f)
		}, Changes{}, "error lock-out repo-config.yml", 1, 0},
		{"a team that is hidden", owner("@acme/secret"), Changes{}, "", 0, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := ghtest.Start("acme", "registry")
			defer s.Close()
			s.Grant("admin", ghtest.Access{Login: "administrator", Admin: true})
			f := documented(t)
			c.set(s, f)
			codes := func(r *verdict.Report) string {
				var out []string
				for line := range strings.SplitSeq(short(f, r), "\n") {
					line, _, _ = strings.Cut(line, " <")
					if line != "" && !strings.Contains(line, "protection-missing") {
						out = append(out, strings.Replace(line, ".github/", "", 1))
					}
				}
				return strings.Join(out, "\n")
			}
			if got := codes(protect(t, s, "admin", f, c.may)); got != c.want || len(s.Writes()) != 0 {
				t.Errorf("--dry-run: %q, want %q; wrote %q", got, c.want, s.Writes())
			}
			apply := c.may
			apply.Apply = true
			r := protect(t, s, "admin", f, apply)
			if got := codes(r); got != c.want || len(s.Writes()) != c.writes || r.Verdict.ExitStatus() != c.status {
				t.Errorf("--apply: %q, want %q; status %d, want %d; wrote %q", got, c.want, r.Verdict.ExitStatus(),
					c.status, s.Writes())
			}
		})
	}
}

// TestAutoMergeOff checks that auto-merge is allowed once, and only for a registry that has auto-merge.yml.
func TestAutoMergeOff(t *testing.T) {
	s := ghtest.Start("acme", "registry")
	defer s.Close()
	s.Grant("admin", ghtest.Access{Login: "administrator", Admin: true})
	s.Grant("reader", ghtest.Access{Login: "reader"})
	f := documented(t)
	without := short(f, protect(t, s, "admin", f, Changes{Apply: true}))
	f[".github/workflows/auto-merge.yml"] = filled.Replace(text(t, docsDir+"workflows/auto-merge.yml"))
	const off = "warning auto-merge-off "
	client := must.Get(forge.New(forge.Options{BaseURL: s.URL, Token: "admin", Repository: "acme/registry"}))(t)
	before := len(s.Writes())
	if got := short(f, look(t, f, client)); without != "" || got != off {
		t.Errorf("without the file: %q; doctor says %q", without, got)
	}
	if got := short(f, protect(t, s, "admin", f, Changes{})); got != off || len(s.Writes()) != before {
		t.Errorf("the dry run says %q and wrote %q", got, s.Writes()[before:])
	}
	if got := short(f, protect(t, s, "reader", f, Changes{})); strings.Contains(got, "auto-merge") {
		t.Errorf("a token that does not see the setting: %q", got)
	}
	for range 2 {
		r := protect(t, s, "admin", f, Changes{Apply: true})
		if got := short(f, r); got != "" || len(s.Writes()) != before+1 {
			t.Errorf("protect --apply says %q and wrote %q", got, s.Writes()[before:])
		}
	}
	if got := short(f, look(t, f, client)); got != "" || !s.AllowAutoMerge {
		t.Errorf("after --apply doctor says %q", got)
	}
}

// oldChecks is a ruleset that requires the check of an old workflow, and one that no job reports.
const oldChecks = `{"name":"main","target":"branch","enforcement":"active","bypass_actors":[],"conditions":{"ref_name":
{"include":["~DEFAULT_BRANCH"],"exclude":[]}},"rules":[{"type":"required_status_checks","parameters":{
"strict_required_status_checks_policy":false,"required_status_checks":[{"context":"validate"},{"context":"gone"}]}}]}`

// One run with --apply --prune requires the gate before it removes a check.
func TestPruneComesLast(t *testing.T) {
	s := ghtest.Start("acme", "registry")
	defer s.Close()
	s.Grant("admin", ghtest.Access{Login: "administrator", Admin: true})
	s.AddRuleset(oldChecks)
	if r := protect(t, s, "admin", documented(t), Changes{Apply: true, Prune: true}); r.Verdict != verdict.Passed {
		t.Errorf("the verdict is %s", r.Verdict)
	}
	writes := s.Writes()
	created := slices.IndexFunc(writes, func(w string) bool { return strings.HasPrefix(w, "POST ") })
	pruned := slices.IndexFunc(writes, func(w string) bool { return strings.HasPrefix(w, "PUT ") })
	if created < 0 || pruned < created {
		t.Errorf("the requests are %q", writes)
	}
	if sets := s.Rulesets(); strings.Contains(sets[0], "validate") || !strings.Contains(sets[1], `"oap-gate"`) {
		t.Errorf("the rulesets are %q", sets)
	}
}

// The five steps of a migration end with a protected branch that takes the pull request without a bypass, and the
// branch requires a check all the time.
func TestMigration(t *testing.T) {
	s := ghtest.Start("acme", "registry")
	defer s.Close()
	s.Grant("admin", ghtest.Access{Login: "administrator", Admin: true})
	s.AddRuleset(oldChecks)
	required := func() (contexts []string) {
		for _, text := range s.Rulesets() {
			var set struct {
				Rules []struct {
					Parameters struct {
						Checks []struct{ Context string } `json:"required_status_checks"`
					}
				}
			}
			must.OK(t, json.Unmarshal([]byte(text), &set))
			for _, r := range set.Rules {
				for _, one := range r.Parameters.Checks {
					contexts = append(contexts, one.Context)
				}
			}
		}
		slices.Sort(contexts)
		return contexts
	}
	mergeable := func(green ...string) bool {
		return !slices.ContainsFunc(required(), func(c string) bool { return !slices.Contains(green, c) })
	}
	stale := func(r *verdict.Report) (names []string) {
		for _, f := range found(r) {
			if f.Code == "stale-context" {
				names = append(names, strings.Split(f.Message, `"`)[1])
			}
		}
		return names
	}

	f := documented(t)
	// Before: the old workflow is there, and red; of what the branch requires only what nobody reports is stale.
	f[".github/workflows/validate.yml"] = "on: pull_request\njobs:\n  validate:\n    steps: []\n"
	got := stale(protect(t, s, "admin", f, Changes{}))
	if !slices.Equal(got, []string{"gone"}) || mergeable("oap-gate") {
		t.Fatalf("before: %q", got)
	}
	// 1 and 2: on the branch the old workflow is removed, and oap-gate is green there; nothing changed at the forge.
	delete(f, ".github/workflows/validate.yml")
	// 3: the dry run from that branch, and doctor.
	if got := stale(protect(t, s, "admin", f, Changes{})); !slices.Equal(got, []string{"gone", "validate"}) {
		t.Errorf("--dry-run: %q", got)
	}
	c := must.Get(forge.New(forge.Options{BaseURL: s.URL, Token: "admin", Repository: "acme/registry"}))(t)
	if got := stale(look(t, f, c)); !slices.Equal(got, []string{"gone", "validate"}) || len(s.Writes()) != 0 {
		t.Errorf("doctor --forge: %q", got)
	}
	// 4: what is required comes before what is not goes, so that one of them is required at every moment.
	if r := protect(t, s, "admin", f, Changes{Apply: true}); r.Verdict.ExitStatus() != 0 ||
		!slices.Equal(required(), []string{"gone", "oap-gate", "validate"}) {
		t.Errorf("--apply: %q", required())
	}
	before := len(s.Writes())
	r := protect(t, s, "admin", f, Changes{Apply: true, Prune: true})
	if !slices.Equal(required(), []string{"oap-gate"}) || len(s.Writes()) != before+1 ||
		!strings.Contains(strings.Join(r.Installation.Applied, "\n"), `{"context":"validate"}`) {
		t.Errorf("--apply --prune: %q, %q", required(), r.Installation.Applied)
	}
	// 5: merged without a bypass, and doctor has no error.
	if !mergeable("oap-gate") || len(required()) == 0 {
		t.Errorf("the branch requires %q", required())
	}
	if r := look(t, f, c); r.Verdict.ExitStatus() != 0 {
		t.Errorf("doctor --forge: %s", short(f, r))
	}
}

// All that a weak token cannot read is one finding, which names it and the permission that the token lacks.
func TestWeakToken(t *testing.T) {
	s := ghtest.Start("acme", "registry")
	defer s.Close()
	s.Grant("weak", ghtest.Access{Login: "github-actions[bot]", App: true})
	c := must.Get(forge.New(forge.Options{BaseURL: s.URL, Token: "weak", Repository: "acme/registry"}))(t)
	r := look(t, documented(t), c)
	all := found(r)
	if r.Verdict != verdict.Inconclusive || len(all) != 1 || all[0].Code != "not-readable" {
		t.Fatalf("the verdict is %s, the findings are %+v", r.Verdict, all)
	}
	if !strings.HasPrefix(all[0].Message, `the token cannot read 10 protections of branch "main": `) ||
		!strings.Contains(all[0].Message, "required_checks[oap-gate]") ||
		!strings.Contains(all[0].Fix, "Administration: read") {
		t.Errorf("%s, fix: %s", all[0].Message, all[0].Fix)
	}
}

// If a file of the installation is missing, the fix is the line that writes it.
func TestMissingFilesAreInstalled(t *testing.T) {
	for path, code := range map[string]string{".github/workflows/check.yml": "no-gate",
		".github/CODEOWNERS": "fork-can-edit-gate", repoconfig.Path: "no-repo-config"} {
		f := documented(t)
		delete(f, path)
		all := found(look(t, f, nil))
		const line = "oap-gate init --release VERSION --commit SHA --owner "
		i := slices.IndexFunc(all, func(f verdict.Finding) bool { return f.Code == code })
		if i < 0 || !strings.HasPrefix(all[i].Fix, line) {
			t.Errorf("without %s: %+v", path, all)
		}
	}
}

// TestWorkflowToken checks the forge's switches for the token of a workflow: they are set once, by one request.
func TestWorkflowToken(t *testing.T) {
	const path = "/repos/acme/registry/actions/permissions/workflow"
	for _, c := range []struct {
		name   string
		edit   func(*ghtest.Server)
		doctor string // the findings of doctor --forge, apart from the ones of the branch
		apply  string // of protect --apply
		writes int    // of the settings
	}{
		{"both are open", func(s *ghtest.Server) { s.WorkflowsApprove, s.WorkflowsWrite = true, true },
			"error workflow-token-writes \nerror workflows-may-approve ", "", 1},
		{"both are closed", func(*ghtest.Server) {}, "", "", 0},
		{"one is open", func(s *ghtest.Server) { s.WorkflowsWrite = true }, "error workflow-token-writes ", "", 1},
		{"hidden", func(s *ghtest.Server) { s.Fail(ghtest.Failure{Path: path, Status: 403, Message: "no"}) },
			"inconclusive not-readable repo-config.yml <protection:>", "inconclusive not-readable repo-config.yml " +
				"<protection:>", 0},
		{"of another type", func(s *ghtest.Server) { s.Fail(ghtest.Failure{Path: path, Status: 200, Body: "[]"}) },
			"inconclusive not-readable repo-config.yml <protection:>", "inconclusive not-readable repo-config.yml " +
				"<protection:>", 0},
		{"of another value", func(s *ghtest.Server) {
			s.Fail(ghtest.Failure{Path: path, Status: 200, Body: `{"default_workflow_permissions": "all"}`})
		}, "inconclusive not-readable repo-config.yml <protection:>", "inconclusive not-readable repo-config.yml " +
			"<protection:>", 0},
		{"the organization decides", func(s *ghtest.Server) {
			s.WorkflowsApprove = true
			s.Fail(ghtest.Failure{Method: "PUT", Path: path, Status: 409, Message: "organization"})
		}, "error workflows-may-approve ", "error organization-setting ", 1},
	} {
		s := ghtest.Start("acme", "registry")
		s.Grant("admin", ghtest.Access{Login: "administrator", Admin: true})
		f := documented(t)
		protect(t, s, "admin", f, Changes{Apply: true})
		before := len(s.Writes())
		c.edit(s)
		client := must.Get(forge.New(forge.Options{BaseURL: s.URL, Token: "admin", Repository: "acme/registry"}))(t)
		if got := short(f, look(t, f, client)); got != c.doctor {
			t.Errorf("%s: doctor says\n%s\nwant\n%s", c.name, got, c.doctor)
		}
		if got := short(f, protect(t, s, "admin", f, Changes{})); len(s.Writes()) != before ||
			c.doctor != "" && got == "" {
			t.Errorf("%s: the dry run says %q and wrote %q", c.name, got, s.Writes()[before:])
		}
		if got := short(f, protect(t, s, "admin", f, Changes{Apply: true})); got != c.apply {
			t.Errorf("%s: protect --apply says\n%s\nwant\n%s", c.name, got, c.apply)
		}
		if writes := s.Writes()[before:]; len(writes) != c.writes {
			t.Errorf("%s: the requests are %q", c.name, writes)
		}
		if protect(t, s, "admin", f, Changes{Apply: true}); c.apply == "" && len(s.Writes()) != before+c.writes {
			t.Errorf("%s: a second run wrote %q", c.name, s.Writes()[before:])
		}
		s.Close()
	}
}
