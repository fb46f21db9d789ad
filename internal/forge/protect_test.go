package forge

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

const (
	robot  = "robot-token"
	person = "person-token"
	admin  = "admin-token"
)

func start(t *testing.T) *ghtest.Server {
	t.Helper()
	s := ghtest.Start("acme", "registry")
	t.Cleanup(s.Close)
	s.Grant(robot, ghtest.Access{Login: "github-actions[bot]", App: true, Comment: true})
	s.Grant(person, ghtest.Access{Login: "maintainer", Comment: true})
	s.Grant(admin, ghtest.Access{Login: "administrator", Comment: true, Admin: true})
	return s
}

func client(t *testing.T, s *ghtest.Server, token string) *Client {
	t.Helper()
	c := must.Get(New(Options{BaseURL: s.URL, Token: token, Repository: "acme/registry"}))(t)
	return c
}

func example(t *testing.T) repoconfig.Protection {
	t.Helper()
	data := must.Read(t, "../../docs/repo-config.example.yml")
	f := must.Get(repoconfig.Parse(data))(t)
	return f.Protection
}

const full = `{"name":"main","target":"branch","enforcement":"active","bypass_actors":[],
	"conditions":{"ref_name":{"include":["~DEFAULT_BRANCH"],"exclude":[]}},
	"rules":[{"type":"deletion"},{"type":"non_fast_forward"},
	{"type":"pull_request","parameters":{"required_approving_review_count":1,"dismiss_stale_reviews_on_push":true,"require_code_owner_review":true,"require_last_push_approval":true,"required_review_thread_resolution":false,"allowed_merge_methods":["merge","squash"]}},
	{"type":"required_status_checks","parameters":{"strict_required_status_checks_policy":true,"required_status_checks":[{"context":"oap-gate","integration_id":15368}]}}]}`

const fullClassic = `{"required_status_checks":{"strict":true,"contexts":["oap-gate"],"checks":[{"context":"oap-gate","app_id":15368}]},
	"required_pull_request_reviews":{"required_approving_review_count":1,"dismiss_stale_reviews":true,"require_code_owner_reviews":true,"require_last_push_approval":true},
	"enforce_admins":{"enabled":true},"required_signatures":{"enabled":false},"required_linear_history":{"enabled":false},
	"allow_force_pushes":{"enabled":false},"allow_deletions":{"enabled":false}}`

func with(text string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			panic("nothing to replace: " + pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

func lines(p *Protected) (out []string) {
	for _, d := range p.Differences {
		out = append(out, fmt.Sprintf("%s %s: %s -> %s", d.State, strings.TrimPrefix(d.Path, "protection."), d.Have,
			d.Want))
	}
	for _, u := range p.Unread {
		out = append(out, "unread "+u)
	}
	for _, n := range p.NotChecked {
		out = append(out, "not checked "+n)
	}
	return out
}

func TestProtectShows(t *testing.T) {
	const allMissing = `missing block_force_push: false -> true
missing block_deletion: false -> true
missing require_pull_request: false -> true
missing code_owner_review: false -> true
missing dismiss_stale_reviews: false -> true
missing last_push_approval: false -> true
missing up_to_date: false -> true
missing block_rebase_merging: false -> true
missing approvals: 0 -> 1
missing required_checks[oap-gate]: not required -> required, from app 15368`
	var queue repoconfig.Queue
	for _, c := range []struct {
		name  string
		token string
		set   func(*ghtest.Server)
		want  string
	}{
		{"nothing stands", admin, func(s *ghtest.Server) {}, allMissing},
		{"a ruleset holds all", admin, func(s *ghtest.Server) { s.AddRuleset(full) }, ""},
		{"classic protection holds all", admin,
			func(s *ghtest.Server) { s.SetClassic("main", fullClassic); s.AllowRebase = false }, ""},
		{"one rule on each page", admin, func(s *ghtest.Server) { s.AddRuleset(full); s.PageCap = 1 }, ""},
		{"the branch has a slash", admin, func(s *ghtest.Server) {
			s.DefaultBranch = "release/v1"
			s.SetClassic("release/v1", fullClassic)
			s.AddRuleset(full)
		}, ""},
		{"ruleset is not in force", admin,
			func(s *ghtest.Server) { s.AddRuleset(with(full, `"active"`, `"evaluate"`)) }, allMissing},
		{"ruleset excludes the branch", admin,
			func(s *ghtest.Server) { s.AddRuleset(with(full, `"exclude":[]`, `"exclude":["refs/heads/main"]`)) },
			allMissing},
		{"ruleset can be bypassed", admin, func(s *ghtest.Server) {
			s.AddRuleset(
				with(`{"name":"main","target":"branch","enforcement":"active","bypass_actors":[{"actor_id":5,"actor_type":"RepositoryRole","bypass_mode":"always"}],"conditions":{"ref_name":{"include":["~ALL"],"exclude":[]}},"rules":[{"type":"deletion"}]}`))
			s.AddRuleset(with(full, `{"type":"deletion"},`, ""))
		}, `missing block_deletion: false; ruleset "main" holds it, but can be bypassed by "RepositoryRole" 5 (always) -> true`},
		{"administrators bypass the classic protection", admin, func(s *ghtest.Server) {
			s.SetClassic("main", with(fullClassic, `"enforce_admins":{"enabled":true}`,
				`"enforce_admins":{"enabled":false}`))
			s.AddRuleset(with(full, `{"type":"deletion"},`, ""))
		}, `missing block_deletion: false; classic branch protection holds it, but can be bypassed by administrators -> true`},
		{"classic reviews can be bypassed", admin, func(s *ghtest.Server) {
			s.SetClassic("main", with(fullClassic, `"dismiss_stale_reviews"`,
				`"bypass_pull_request_allowances":{"users":[{}],"teams":[],"apps":[{}]},"dismiss_stale_reviews"`))
			s.AddRuleset(with(full, `{"type":"deletion"},`, ""))
		}, `missing block_deletion: false; classic branch protection holds it, but can be bypassed by 1 users, 0 teams and 1 apps (pull requests) -> true`},
		{"each protects a part", admin, func(s *ghtest.Server) {
			s.SetClassic("main", with(fullClassic, `"allow_deletions":{"enabled":false}`,
				`"allow_deletions":{"enabled":true}`))
			s.AddRuleset(
				`{"name":"x","target":"branch","enforcement":"active","bypass_actors":[],"conditions":{"ref_name":{"include":["~ALL"]}},"rules":[{"type":"deletion"}]}`)
			s.AllowRebase = false
		}, ""},
		{"weaker", admin, func(s *ghtest.Server) {
			s.AddRuleset(with(full, `"required_approving_review_count":1`, `"required_approving_review_count":0`,
				`"require_code_owner_review":true`, `"require_code_owner_review":false`,
				`"strict_required_status_checks_policy":true`, `"strict_required_status_checks_policy":false`,
				`,"integration_id":15368`, ""))
		}, `missing code_owner_review: false -> true
missing up_to_date: false -> true
missing approvals: 0 -> 1
missing required_checks[oap-gate]: required, from any app -> required, from app 15368`},
		{"stricter is kept", admin, func(s *ghtest.Server) {
			s.AddRuleset(with(full, `{"type":"deletion"}`,
				`{"type":"deletion"},{"type":"required_linear_history"},{"type":"required_signatures"}`,
				`"required_approving_review_count":1`, `"required_approving_review_count":2`,
				`[{"context":"oap-gate"`, `[{"context":"lint"},{"context":"oap-gate"`))
		}, `stricter signed_commits: true -> false
stricter linear_history: true -> false
stricter approvals: 2 -> 1
stricter required_checks[lint]: required, from any app -> not required`},
		{"a merge queue stands in for up to date", admin, func(s *ghtest.Server) {
			s.AddRuleset(with(full, `"strict_required_status_checks_policy":true`,
				`"strict_required_status_checks_policy":false`, `{"type":"deletion"}`,
				`{"type":"deletion"},{"type":"merge_queue","parameters":{"merge_method":"SQUASH"}}`))
		}, "stricter merge_queue: true -> false"},
		{"the queue rebases", admin, func(s *ghtest.Server) {
			s.AddRuleset(with(full, `{"type":"deletion"}`,
				`{"type":"deletion"},{"type":"merge_queue","parameters":{"merge_method":"REBASE"}}`))
		}, "stricter merge_queue: true -> false\nmissing block_rebase_merging: false -> true"},
		{"the queue lands what failed", admin, func(s *ghtest.Server) {
			s.AddRuleset(with(full, `{"type":"deletion"}`,
				`{"type":"deletion"},{"type":"merge_queue","parameters":{"grouping_strategy":"HEADGREEN"}}`))
		}, "missing up_to_date: false; the merge queue also lands what failed, if the last of its group passed " +
			"(grouping_strategy HEADGREEN) -> true"},
		{"a queue of other numbers", admin, func(s *ghtest.Server) {
			s.AddRuleset(with(full, `{"type":"deletion"}`,
				`{"type":"deletion"},{"type":"merge_queue","parameters":{"max_entries_to_build":9}}`))
			build, wait := 20, 5
			queue = repoconfig.Queue{Build: &build, Wait: &wait}
		}, "stricter merge_queue: true -> false\nmissing queue.build: 9 -> 20\nmissing queue.wait: not set -> 5"},
		{"the queue lands what passed", admin, func(s *ghtest.Server) {
			s.AddRuleset(with(full, `{"type":"deletion"}`,
				`{"type":"deletion"},{"type":"merge_queue","parameters":{"grouping_strategy":"ALLGREEN"}}`))
		}, "stricter merge_queue: true -> false"},
		{"rules of a newer forge", admin, func(s *ghtest.Server) {
			s.AddRuleset(with(full, `{"type":"deletion"}`,
				`{"type":"deletion"},{"type":"required_agent_review","parameters":[1]},{"type":"code_quality"},{"type":"code_quality"}`))
		}, "not checked code_quality\nnot checked required_agent_review"},
		{"a token that cannot administer", robot, func(s *ghtest.Server) { s.AddRuleset(full) },
			`unknown block_force_push: false; ruleset "main" holds it, and only administrators see who may bypass it -> true
unknown block_deletion: false; ruleset "main" holds it, and only administrators see who may bypass it -> true
unknown require_pull_request: false; ruleset "main" holds it, and only administrators see who may bypass it -> true
unknown code_owner_review: false; ruleset "main" holds it, and only administrators see who may bypass it -> true
unknown dismiss_stale_reviews: false; ruleset "main" holds it, and only administrators see who may bypass it -> true
unknown last_push_approval: false; ruleset "main" holds it, and only administrators see who may bypass it -> true
unknown up_to_date: false; ruleset "main" holds it, and only administrators see who may bypass it -> true
unknown block_rebase_merging: false; ruleset "main" holds it, and only administrators see who may bypass it -> true
unknown approvals: 0; ruleset "main" holds it, and only administrators see who may bypass it -> 1
unknown required_checks[oap-gate]: not required; ruleset "main" holds it, and only administrators see who may bypass it -> required, from app 15368
unread repository settings: only administrators see the ways of merging
unread classic branch protection: reading the branch protection: the token may not do this (403 "Resource not accessible by integration")`},
		{"the classic protection cannot be read, and need not be", admin, func(s *ghtest.Server) {
			s.AddRuleset(full)
			s.Fail(ghtest.Failure{Path: "/repos/acme/registry/branches", Status: 403, Message: "Upgrade to GitHub Pro"})
		}, `unread classic branch protection: reading the branch protection: the token may not do this (403 "Upgrade to GitHub Pro")`},
		{"rulesets are not known there", admin, func(s *ghtest.Server) {
			s.SetClassic("main", with(fullClassic, `"allow_deletions":{"enabled":false}`,
				`"allow_deletions":{"enabled":true}`))
			s.AllowRebase = false
			s.Fail(ghtest.Failure{Path: "/repos/acme/registry/rules/", Status: 404, Message: "Not Found"})
		}, `unknown block_deletion: false; not all could be read -> true
unread rulesets: reading the rules: it does not exist, or this token may not see it (404 "Not Found")`},
		{"old forge, contexts alone", admin, func(s *ghtest.Server) {
			s.SetClassic("main", with(fullClassic, `[{"context":"oap-gate","app_id":15368}]`, "[]"))
			s.AllowRebase = false
		}, "missing required_checks[oap-gate]: required, from any app -> required, from app 15368"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t)
			queue = repoconfig.Queue{}
			c.set(s)
			wanted := example(t)
			wanted.Queue = queue
			p := must.Get(protect(t, client(t, s, c.token), wanted, false))(t)
			if got := strings.Join(lines(p), "\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if w := s.Writes(); len(w) > 0 {
				t.Errorf("a dry run wrote: %q", w)
			}
		})
	}
}

func TestProtectApplies(t *testing.T) {
	weak := `{"name":"oap-gate","target":"branch","enforcement":"disabled","bypass_actors":[{"actor_id":1,"actor_type":"Team"}],
		"conditions":{"ref_name":{"include":["refs/heads/release"],"exclude":["refs/heads/main"]}},
		"rules":[{"type":"required_signatures"},{"type":"commit_message_pattern","parameters":{"operator":"regex","pattern":"x"}},
		{"type":"pull_request","parameters":{"required_approving_review_count":3,"dismiss_stale_reviews_on_push":false,"require_code_owner_review":false,"require_last_push_approval":false,"required_review_thread_resolution":true,"allowed_merge_methods":["squash"]}},
		{"type":"required_status_checks","parameters":{"strict_required_status_checks_policy":false,"do_not_enforce_on_create":true,"required_status_checks":[{"context":"lint"},{"context":"oap-gate"}]}}]}`
	for _, c := range []struct {
		name    string
		set     func(*ghtest.Server, *repoconfig.Protection)
		applied []string
		left    string
		writes  []string
	}{
		{"nothing stands", func(*ghtest.Server, *repoconfig.Protection) {},
			[]string{"repository settings: rebase merging is off", `ruleset "oap-gate": created`}, "",
			[]string{"PATCH /repos/acme/registry", "POST /repos/acme/registry/rulesets"}},
		{"all stands elsewhere", func(s *ghtest.Server, _ *repoconfig.Protection) {
			s.SetClassic("main", fullClassic)
			s.AllowRebase = false
		}, nil, "", nil},
		{"rebasing alone", func(s *ghtest.Server, _ *repoconfig.Protection) { s.SetClassic("main", fullClassic) },
			[]string{"repository settings: rebase merging is off"}, "",
			[]string{"PATCH /repos/acme/registry"}},
		{"a bypass stands beside", func(s *ghtest.Server, _ *repoconfig.Protection) {
			s.AddRuleset(with(full, `"bypass_actors":[]`, `"bypass_actors":[{"actor_type":"OrganizationAdmin"}]`))
		}, []string{"repository settings: rebase merging is off", `ruleset "oap-gate": created`}, "",
			[]string{"PATCH /repos/acme/registry", "POST /repos/acme/registry/rulesets"}},
		{"its own ruleset was weakened", func(s *ghtest.Server, _ *repoconfig.Protection) { s.AddRuleset(weak) },
			[]string{"repository settings: rebase merging is off", `ruleset "oap-gate": updated`},
			"stricter signed_commits: true -> false\nstricter approvals: 3 -> 1\nstricter required_checks[lint]: " +
				"required, from any app -> not required\nnot checked commit_message_pattern",
			[]string{"PATCH /repos/acme/registry", "PUT /repos/acme/registry/rulesets/1"}},
		{"everything", func(s *ghtest.Server, p *repoconfig.Protection) {
			s.Organization = true
			p.SignedCommits, p.LinearHistory, p.MergeQueue = true, true, true
		}, []string{"repository settings: rebase merging is off", `ruleset "oap-gate": created`}, "",
			[]string{"PATCH /repos/acme/registry", "POST /repos/acme/registry/rulesets"}},
		{"its own queue rebases", func(s *ghtest.Server, p *repoconfig.Protection) {
			s.Organization, s.AllowRebase, p.MergeQueue = true, false, true
			s.AddRuleset(with(full, `"name":"main"`, `"name":"oap-gate"`, `{"type":"deletion"}`,
				`{"type":"deletion"},{"type":"merge_queue","parameters":{"merge_method":"REBASE","max_entries_to_build":9,"check_response_timeout_minutes":60,"grouping_strategy":"HEADGREEN","max_entries_to_merge":5,"min_entries_to_merge":1,"min_entries_to_merge_wait_minutes":5}}`))
		}, []string{"repository settings: rebase merging is off", `ruleset "oap-gate": updated`}, "",
			[]string{"PATCH /repos/acme/registry", "PUT /repos/acme/registry/rulesets/1"}},
		{"its own queue has other numbers", func(s *ghtest.Server, p *repoconfig.Protection) {
			s.Organization, s.AllowRebase, p.MergeQueue = true, false, true
			build, wait := 20, 0
			p.Queue = repoconfig.Queue{Build: &build, Wait: &wait}
			s.AddRuleset(with(full, `"name":"main"`, `"name":"oap-gate"`, `{"type":"deletion"}`,
				`{"type":"deletion"},{"type":"merge_queue","parameters":{"merge_method":"SQUASH","max_entries_to_build":9,"check_response_timeout_minutes":33,"grouping_strategy":"ALLGREEN","max_entries_to_merge":7,"min_entries_to_merge":1,"min_entries_to_merge_wait_minutes":5}}`))
			t.Cleanup(func() {
				if set := strings.Join(s.Rulesets(), ""); !strings.Contains(set, `"max_entries_to_build":20`) ||
					!strings.Contains(set, `"min_entries_to_merge_wait_minutes":0`) ||
					!strings.Contains(set, `"check_response_timeout_minutes":33`) ||
					!strings.Contains(set, `"max_entries_to_merge":7`) {
					t.Errorf("the queue is %s", set)
				}
			})
		}, []string{`ruleset "oap-gate": updated`}, "", []string{"PUT /repos/acme/registry/rulesets/1"}},
		{"an organisation's ruleset of that name", func(s *ghtest.Server, _ *repoconfig.Protection) {
			s.AllowRebase = false
			s.AddRuleset(with(full, `"name":"main"`, `"name":"oap-gate","source_type":"Organization","source":"acme"`,
				`{"type":"deletion"},`, ""))
		}, []string{`ruleset "oap-gate": created`}, "", []string{"POST /repos/acme/registry/rulesets"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, wanted := start(t), example(t)
			s.PageCap = 1
			c.set(s, &wanted)
			p := must.Get(protect(t, client(t, s, admin), wanted, true))(t)
			if !slices.Equal(p.Applied, c.applied) || !slices.Equal(s.Writes(), c.writes) {
				t.Errorf("applied %q by %q\nwant %q by %q", p.Applied, s.Writes(), c.applied, c.writes)
			}
			if got := strings.Join(lines(p), "\n"); got != c.left {
				t.Errorf("left\n%s\nwant\n%s", got, c.left)
			}
			again, err := protect(t, client(t, s, admin), wanted, true)
			if err != nil || len(again.Applied) > 0 || len(s.Writes()) != len(c.writes) {
				t.Errorf("second run: %+v, %v", again, err)
			}
		})
	}
}

func TestApplyKeepsWhatItDoesNotKnow(t *testing.T) {
	s := start(t)
	s.AddRuleset(
		`{"name":"oap-gate","target":"branch","enforcement":"active","bypass_actors":[],"conditions":{"ref_name":{"include":["refs/heads/release"],"exclude":[]}},
		"rules":[{"type":"code_scanning","parameters":{"code_scanning_tools":[{"tool":"x","n":12345678901234567}]}},
		{"type":"pull_request","parameters":{"required_approving_review_count":3,"dismiss_stale_reviews_on_push":false,"require_code_owner_review":false,"require_last_push_approval":false,"required_review_thread_resolution":true,"allowed_merge_methods":["squash"]}}]}`)
	if _, err := protect(t, client(t, s, admin), example(t), true); err != nil {
		t.Fatal(err)
	}
	got := s.Rulesets()[0]
	for _, want := range []string{`"include":["refs/heads/release","~DEFAULT_BRANCH"]`, `"code_scanning_tools":[{`,
		`"tool":"x"`, `"allowed_merge_methods":["squash"]`,
		`"required_review_thread_resolution":true`, `"required_approving_review_count":3`,
		`"require_code_owner_review":true`, `"bypass_actors":[]`} {
		if !strings.Contains(got, want) {
			t.Errorf("lost %s in\n%s", want, got)
		}
	}
}

// A required check that stands twice, for any app and for the wanted one, is not written a second time for that one.
func TestRequiredCheckIsBoundOnce(t *testing.T) {
	decode := json.NewDecoder(
		strings.NewReader(`[{"context":"g"},{"context":"g","integration_id":15368},{"context":"h"}]`))
	decode.UseNumber()
	var standing any
	must.OK(t, decode.Decode(&standing))
	got, err := json.Marshal(addChecks(standing, []repoconfig.RequiredCheck{{Context: "g", AppID: 15368},
		{Context: "h", AppID: 15368}, {Context: "i"}}))
	if want := `[{"context":"g"},{"context":"g","integration_id":15368},{"context":"h","integration_id":15368},{"context":"i"}]`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func TestProtectFails(t *testing.T) {
	for _, c := range []struct {
		name  string
		token string
		apply bool
		set   func(*ghtest.Server, *repoconfig.Protection)
		kind  error
		want  string
	}{
		{"no such repository", "", false, func(s *ghtest.Server, _ *repoconfig.Protection) { s.Name = "other" },
			ErrNotFound,
			`reading the repository acme/registry: it does not exist, or this token may not see it (404 "Not Found")`},
		{"may not write", robot, true, func(*ghtest.Server, *repoconfig.Protection) {}, ErrForbidden,
			`switching rebase merging off: the token may not do this (403 "Resource not accessible by integration")`},
		{"may not write, not said so", person, true,
			func(s *ghtest.Server, _ *repoconfig.Protection) { s.AllowRebase = false }, ErrNotFound,
			`switching rebase merging off: it does not exist, or this token may not see it (404 "Not Found")`},
		{"only rebasing is on", admin, true, func(s *ghtest.Server, _ *repoconfig.Protection) { s.OnlyRebase = true },
			ErrRefused,
			`switching rebase merging off: the forge refuses what was sent (422 "Validation Failed", "Sorry, you need to allow at least one merge strategy. (no_merge_method)")`},
		{"merge queue without an organisation", admin, true,
			func(s *ghtest.Server, p *repoconfig.Protection) { s.AllowRebase = false; p.MergeQueue = true }, ErrRefused,
			`creating the ruleset "oap-gate": the forge refuses what was sent (422 "Validation Failed", "Invalid rules: 'Merge queue'")`},
		{"its name is taken by a tag ruleset", admin, true, func(s *ghtest.Server, _ *repoconfig.Protection) {
			s.AllowRebase = false
			s.AddRuleset(`{"name":"oap-gate","target":"tag","enforcement":"active","rules":[]}`)
		}, ErrRefused,
			`reading the ruleset "oap-gate": the forge refuses what was sent (it is for "tag"; expected "branch": rename it at the forge)`},
		{"half way", admin, true, func(s *ghtest.Server, _ *repoconfig.Protection) {
			s.Fail(ghtest.Failure{Method: "POST", Path: "/repos/acme/registry/rulesets", Status: 422,
				Message: "Validation Failed"})
		}, ErrRefused,
			`creating the ruleset "oap-gate": the forge refuses what was sent (422 "Validation Failed") (changed before that: repository settings: rebase merging is off)`},
		{"rate limit", admin, false, func(s *ghtest.Server, _ *repoconfig.Protection) {
			s.Fail(ghtest.Failure{Path: "/repos/acme/registry/branches", Status: 429, Message: "x"})
		}, ErrLimited,
			`reading the branch protection: the forge's rate limit is used up until 2100-01-01T00:00:00Z (429 "x")`},
		{"server error", admin, false, func(s *ghtest.Server, _ *repoconfig.Protection) {
			s.Fail(ghtest.Failure{Path: "/repos/acme/registry/rules/", Status: 500, Message: "x"})
		}, ErrUnavailable, `reading the rules: the forge cannot be reached or does not make sense (500 "x")`},
		{"rule without parameters", admin, false, func(s *ghtest.Server, _ *repoconfig.Protection) {
			s.AddRuleset(
				`{"name":"x","target":"branch","enforcement":"active","conditions":{"ref_name":{"include":["~ALL"]}},"rules":[{"type":"pull_request"}]}`)
		}, ErrUnavailable,
			`reading the rules: the forge cannot be reached or does not make sense (rule "pull_request": it has no parameters)`},
		{"parameters of another shape", admin, false, func(s *ghtest.Server, _ *repoconfig.Protection) {
			s.AddRuleset(
				`{"name":"x","target":"branch","enforcement":"active","conditions":{"ref_name":{"include":["~ALL"]}},"rules":[{"type":"merge_queue","parameters":[]}]}`)
		}, ErrUnavailable,
			`reading the rules: the forge cannot be reached or does not make sense (rule "merge_queue": json: cannot unmarshal array into Go value of type forge.parameters)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, wanted := start(t), example(t)
			c.set(s, &wanted)
			_, err := protect(t, client(t, s, c.token), wanted, c.apply)
			if message(err) != c.want || !errors.Is(err, c.kind) {
				t.Errorf("got  %s\nwant %s", message(err), c.want)
			}
		})
	}
}

// A write that the forge takes and does not keep shows in what is left.
func TestApplyReadsAgain(t *testing.T) {
	s := start(t)
	s.AllowRebase = false
	s.Fail(ghtest.Failure{Method: "POST", Path: "/repos/acme/registry/rulesets", Status: 201, Body: "{}"})
	p, err := protect(t, client(t, s, admin), example(t), true)
	if err != nil || !slices.ContainsFunc(p.Differences, func(d Difference) bool { return d.State == Missing }) {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestErrorsSayWhetherAnotherTryHelps(t *testing.T) {
	for kind, want := range map[error]bool{ErrLimited: true, ErrUnavailable: true, ErrUnresolved: true,
		ErrForbidden: false, ErrNotFound: false, ErrRefused: false, ErrUnauthorized: false} {
		if got := Temporary(fmt.Errorf("x: %w", &Error{Kind: kind})); got != want {
			t.Errorf("%v: %v", kind, got)
		}
	}
}

// protect reads the protections that stand and, with apply, adds what is missing.
func protect(t *testing.T, c *Client, wanted repoconfig.Protection, apply bool) (*Protected, error) {
	standing, err := c.Standing(t.Context())
	if err != nil {
		return nil, err
	}
	if apply {
		return Protect(t.Context(), c, standing, wanted)
	}
	return &Protected{Standing: standing, Differences: Plan(standing, wanted)}, nil
}
