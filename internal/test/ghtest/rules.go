package ghtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

func (s *Server) protection(r *request) {
	text, ok := s.classic[r.path[1]]
	switch {
	case !r.access.Admin:
		r.refuse()
	case !ok:
		r.fail(http.StatusNotFound, "Branch not protected")
	default:
		r.send(http.StatusOK, text)
	}
}

// classicChecks answers with the required checks of a branch's classic protection.
func (s *Server) classicChecks(r *request) {
	var all map[string]any
	if text := s.classic[r.path[1]]; text != nil {
		if err := json.Unmarshal(text, &all); err != nil {
			panic(err)
		}
	}
	switch {
	case !r.access.Admin:
		r.refuse()
	case all["required_status_checks"] == nil:
		r.fail(http.StatusNotFound, "Required status checks not enabled")
	case r.Method == "DELETE":
		delete(all, "required_status_checks")
		r.w.WriteHeader(http.StatusNoContent)
	case r.Method == "PATCH":
		var sent map[string]any
		if !r.decode(&sent) {
			return
		}
		all["required_status_checks"] = sent
		r.send(http.StatusOK, sent)
	default:
		r.send(http.StatusOK, all["required_status_checks"])
	}
	if text, err := json.Marshal(all); err == nil && all != nil {
		s.classic[r.path[1]] = text
	}
}

func (s *Server) keepRuleset(r map[string]any) int64 {
	id := s.newID()
	r["id"] = id
	if r["source_type"] == nil {
		r["source_type"] = "Repository"
		r["source"] = s.full()
	}
	s.rulesets = append(s.rulesets, r)
	return id
}

// branchRules answers with the rules in force for a branch, one by one, as GitHub does: without the actors that bypass
// them.
func (s *Server) branchRules(r *request) {
	var list []map[string]any
	for _, set := range s.rulesets {
		if set["enforcement"] != "active" || set["target"] != "branch" || !s.covers(set, r.path[2]) {
			continue
		}
		rules, _ := set["rules"].([]any)
		for _, rule := range rules {
			rule := rule.(map[string]any)
			one := map[string]any{"type": rule["type"], "ruleset_id": set["id"],
				"ruleset_source_type": set["source_type"], "ruleset_source": set["source"]}
			if p, ok := rule["parameters"]; ok {
				one["parameters"] = p
			}
			list = append(list, one)
		}
	}
	page(s, r, list)
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

func (s *Server) rulesetList(r *request) {
	if r.Method == "POST" {
		set, ok := s.readRuleset(r, 0)
		if !ok {
			return
		}
		s.keepRuleset(set)
		r.send(http.StatusCreated, r.shown(set, true))
		return
	}
	var list []map[string]any
	for _, set := range s.rulesets {
		if set["source_type"] == "Repository" || r.URL.Query().Get("includes_parents") != "false" {
			list = append(list, r.shown(set, false))
		}
	}
	page(s, r, list)
}

func (s *Server) ruleset(r *request) {
	i := slices.IndexFunc(s.rulesets, func(set map[string]any) bool { return fmt.Sprint(set["id"]) == r.path[1] })
	if i < 0 {
		r.notFound()
		return
	}
	if r.Method == "PUT" {
		old := s.rulesets[i]
		if old["source_type"] != "Repository" {
			r.notFound()
			return
		}
		set, ok := s.readRuleset(r, old["id"].(int64))
		if !ok {
			return
		}
		set["id"], set["source_type"], set["source"] = old["id"], old["source_type"], old["source"]
		s.rulesets[i] = set
	}
	r.send(http.StatusOK, r.shown(s.rulesets[i], true))
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

// readRuleset reads a ruleset that may be written; id is that of the one it replaces, 0 for a new one.
func (s *Server) readRuleset(r *request, id int64) (map[string]any, bool) {
	if !r.access.Admin {
		r.refuse()
		return nil, false
	}
	var set map[string]any
	if !r.decode(&set) {
		return nil, false
	}
	invalid := func(format string, args ...any) (map[string]any, bool) {
		r.fail(http.StatusUnprocessableEntity, "Validation Failed", fmt.Sprintf(format, args...))
		return nil, false
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
	return set, true
}

// collaborators are shown to those who may write.
func (s *Server) collaborators(r *request) {
	if !r.access.Admin {
		r.refuse()
		return
	}
	var all []map[string]any
	for _, a := range s.Accounts {
		kind := "User"
		if a.Bot {
			kind = "Bot"
		}
		all = append(all, map[string]any{"login": a.Login, "type": kind,
			"permissions": map[string]bool{"pull": true, "push": !a.Read}})
	}
	page(s, r, all)
}

func (s *Server) team(r *request) {
	members, known := s.Teams[r.path[1]+"/"+r.path[3]]
	if !known {
		r.notFound()
		return
	}
	var all []map[string]string
	for _, login := range members {
		all = append(all, map[string]string{"login": login, "type": "User"})
	}
	page(s, r, all)
}

// workflowToken answers with what the token of a workflow may do, or sets it.
func (s *Server) workflowToken(r *request) {
	type settings struct {
		Default string `json:"default_workflow_permissions"`
		Approve *bool  `json:"can_approve_pull_request_reviews"`
	}
	switch {
	case !r.access.Admin:
		r.refuse()
	case r.Method == "GET":
		have := settings{"read", &s.WorkflowsApprove}
		if s.WorkflowsWrite {
			have.Default = "write"
		}
		r.send(http.StatusOK, have)
	default:
		var sent settings
		if !r.decode(&sent) {
			return
		}
		if sent.Default != "" {
			s.WorkflowsWrite = sent.Default == "write"
		}
		if sent.Approve != nil {
			s.WorkflowsApprove = *sent.Approve
		}
		r.w.WriteHeader(http.StatusNoContent)
	}
}
