package ghtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// AddRuleset adds a ruleset as GitHub shows it, without checks; id, source_type and source are filled in where missing.
func (s *Server) AddRuleset(text string) (id int64) {
	var set map[string]any
	if err := json.Unmarshal([]byte(text), &set); err != nil {
		panic(fmt.Sprintf("ruleset %s: %v", text, err))
	}
	s.with(func() { id = s.keepRuleset(set) })
	return id
}

// SetClassic sets the classic protection of a branch as GitHub shows it.
func (s *Server) SetClassic(branch, text string) {
	var all map[string]any
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		panic(fmt.Sprintf("protection %s: %v", text, err))
	}
	s.with(func() { s.classic[branch] = all })
}

// Rulesets returns all rulesets as JSON, oldest first.
func (s *Server) Rulesets() (all []string) {
	s.with(func() {
		for _, r := range s.rulesets {
			b, _ := json.Marshal(r)
			all = append(all, string(b))
		}
	})
	return all
}

func (s *Server) protection(r *request) answer {
	if all := s.classic[r.PathValue("branch")]; all != nil {
		return ok(all)
	}
	return fail(http.StatusNotFound, "Branch not protected")
}

// classicChecks answers with the required checks of a branch's classic protection, or changes them.
func (s *Server) classicChecks(r *request) answer {
	const member = "required_status_checks"
	all := s.classic[r.PathValue("branch")]
	switch {
	case all[member] == nil:
		return fail(http.StatusNotFound, "Required status checks not enabled")
	case r.Method == "DELETE":
		delete(all, member)
		return answer{status: http.StatusNoContent}
	case r.Method == "PATCH":
		var sent map[string]any
		if !r.decode(&sent) {
			return noJSON
		}
		all[member] = sent
	}
	return ok(all[member])
}

func (s *Server) keepRuleset(r map[string]any) int64 {
	id := s.newID()
	r["id"] = id
	if r["source_type"] == nil {
		r["source_type"], r["source"] = "Repository", s.full()
	}
	s.rulesets = append(s.rulesets, r)
	return id
}

// branchRules answers with the rules in force for a branch, one by one, as GitHub does: without the actors that bypass
// them.
func (s *Server) branchRules(r *request) answer {
	var list []map[string]any
	for _, set := range s.rulesets {
		if set["enforcement"] != "active" || set["target"] != "branch" || !s.covers(set, r.PathValue("branch")) {
			continue
		}
		rules, _ := set["rules"].([]any)
		for _, rule := range rules {
			one := maps.Clone(rule.(map[string]any))
			one["ruleset_id"], one["ruleset_source_type"] = set["id"], set["source_type"]
			one["ruleset_source"] = set["source"]
			list = append(list, one)
		}
	}
	return page(s, r, list)
}

func (s *Server) covers(set map[string]any, branch string) bool {
	names := func(which string) []string {
		conditions, _ := set["conditions"].(map[string]any)
		ref, _ := conditions["ref_name"].(map[string]any)
		list, _ := ref[which].([]any)
		var out []string
		for _, v := range list {
			out = append(out, fmt.Sprint(v))
		}
		return out
	}
	matches := func(list []string) bool {
		return slices.ContainsFunc(list, func(p string) bool {
			return p == "~ALL" || p == "~DEFAULT_BRANCH" && branch == s.DefaultBranch || p == "refs/heads/"+branch
		})
	}
	return matches(names("include")) && !matches(names("exclude"))
}

// shown returns a ruleset as the sender may see it: only administrators see who may bypass it.
func (r *request) shown(set map[string]any, full bool) map[string]any {
	out := map[string]any{}
	for k, v := range set {
		if k == "bypass_actors" && !r.access.Admin || !full &&
			(k == "rules" || k == "conditions" || k == "bypass_actors") {
			continue
		}
		out[k] = v
	}
	return out
}

func (s *Server) listRulesets(r *request) answer {
	var list []map[string]any
	for _, set := range s.rulesets {
		if set["source_type"] == "Repository" || r.FormValue("includes_parents") != "false" {
			list = append(list, r.shown(set, false))
		}
	}
	return page(s, r, list)
}

func (s *Server) newRuleset(r *request) answer {
	set, refusal := s.readRuleset(r, 0)
	if set == nil {
		return refusal
	}
	s.keepRuleset(set)
	return created(r.shown(set, true))
}

func (s *Server) rulesetAt(r *request) int {
	return slices.IndexFunc(s.rulesets, func(set map[string]any) bool { return set["id"] == r.number("id") })
}

func (s *Server) ruleset(r *request) answer {
	i := s.rulesetAt(r)
	if i < 0 {
		return notFound
	}
	return ok(r.shown(s.rulesets[i], true))
}

func (s *Server) editRuleset(r *request) answer {
	i := s.rulesetAt(r)
	if i < 0 || s.rulesets[i]["source_type"] != "Repository" {
		return notFound
	}
	set, refusal := s.readRuleset(r, s.rulesets[i]["id"].(int64))
	if set == nil {
		return refusal
	}
	for _, kept := range []string{"id", "source_type", "source"} {
		set[kept] = s.rulesets[i][kept]
	}
	s.rulesets[i] = set
	return ok(r.shown(set, true))
}

// Parameters that GitHub demands of a rule when it is written; the types are all those that may be written.
var ruleParameters = map[string][]string{
	"creation": nil, "update": nil, "deletion": nil, "non_fast_forward": nil, "required_linear_history": nil,
	"required_signatures":  nil,
	"required_deployments": {"required_deployment_environments"},
	"pull_request": {"dismiss_stale_reviews_on_push", "require_code_owner_review",
		"require_last_push_approval", "required_approving_review_count", "required_review_thread_resolution"},
	"required_status_checks": {"required_status_checks", "strict_required_status_checks_policy"},
	"merge_queue": {"check_response_timeout_minutes", "grouping_strategy", "max_entries_to_build",
		"max_entries_to_merge", "merge_method", "min_entries_to_merge", "min_entries_to_merge_wait_minutes"},
	"workflows":              {"workflows"},
	"commit_message_pattern": {"operator", "pattern"},
	"code_scanning":          {"code_scanning_tools"},
	"copilot_code_review":    nil,
}

// readRuleset reads a ruleset that may be written; id is that of the one it replaces, 0 for a new one. A nil ruleset is
// refused.
func (s *Server) readRuleset(r *request, id int64) (map[string]any, answer) {
	var set map[string]any
	if !r.decode(&set) {
		return nil, noJSON
	}
	invalid := func(format string, args ...any) (map[string]any, answer) {
		return nil, fail(http.StatusUnprocessableEntity, "Validation Failed", fmt.Sprintf(format, args...))
	}
	name, _ := set["name"].(string)
	if name == "" {
		return invalid("Name can't be blank")
	}
	for _, other := range s.rulesets {
		if other["name"] == name && other["id"] != id && other["source_type"] == "Repository" {
			return invalid("Name must be unique")
		}
	}
	if e := set["enforcement"]; e != "active" && e != "disabled" && e != "evaluate" {
		return invalid("Enforcement is not included in the list")
	}
	rules, _ := set["rules"].([]any)
	for _, v := range rules {
		rule, _ := v.(map[string]any)
		kind, _ := rule["type"].(string)
		demanded, known := ruleParameters[kind]
		if !known {
			return invalid("Invalid rule '%s': ", kind)
		}
		if kind == "merge_queue" && !s.Organization {
			return invalid("Invalid rules: 'Merge queue'")
		}
		parameters, _ := rule["parameters"].(map[string]any)
		for _, p := range demanded {
			if _, ok := parameters[p]; !ok {
				return invalid("Invalid parameter for rule '%s': missing %s", kind, p)
			}
		}
	}
	for k := range set {
		if !strings.Contains(" name target enforcement bypass_actors conditions rules ", " "+k+" ") {
			return invalid("Unknown property %s", k)
		}
	}
	return set, answer{}
}

// collaborators are shown to those who may write.
func (s *Server) collaborators(r *request) answer {
	var all []map[string]any
	for _, a := range s.Accounts {
		one := account(a.Login, a.Bot)
		one["permissions"] = map[string]bool{"pull": true, "push": !a.Read}
		all = append(all, one)
	}
	return page(s, r, all)
}

func (s *Server) ownerErrors(*request) answer {
	return ok(map[string]any{"errors": append([]map[string]any{}, s.OwnerErrors...)})
}

func (s *Server) team(r *request) answer {
	members, known := s.Teams[r.PathValue("org")+"/"+r.PathValue("team")]
	if !known {
		return notFound
	}
	var all []map[string]any
	for _, login := range members {
		all = append(all, account(login, false))
	}
	return page(s, r, all)
}

// workflowSettings are what the token of a workflow may do.
type workflowSettings struct {
	Default string `json:"default_workflow_permissions"`
	Approve bool   `json:"can_approve_pull_request_reviews"`
}

func (s *Server) workflowToken(*request) answer {
	return ok(workflowSettings{map[bool]string{true: "write", false: "read"}[s.WorkflowsWrite], s.WorkflowsApprove})
}

func (s *Server) setWorkflowToken(r *request) answer {
	sent := s.workflowToken(r).body.(workflowSettings) // what is not sent stays
	if !r.decode(&sent) {
		return noJSON
	}
	s.WorkflowsWrite, s.WorkflowsApprove = sent.Default == "write", sent.Approve
	return answer{status: http.StatusNoContent}
}
