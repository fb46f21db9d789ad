package forge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"

	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
)

// Standing is what protects the default branch at the forge, source by source, in the words of a repo-config.
type Standing struct {
	Branch string // the default branch
	Layers []Layer
	// QueueRebases reports whether a merge queue lands pull requests by rebasing.
	QueueRebases bool
	// QueueSkips reports whether a merge queue also lands a pull request whose checks failed, if those of the last one
	// of its group passed. These judge on top of what failed, and do not repeat it.
	QueueSkips bool
	// Unread are the parts that the token may not see, each with the reason.
	Unread []string
	// NotChecked are the types of rules that are not judged here, sorted.
	NotChecked []string

	// AutoMerge reports whether a pull request may be merged by the forge later; nil: the token may not see it.
	AutoMerge *bool
	// Workflows is what a workflow's token may do; nil: it could not be read, for the reason in WorkflowsUnread.
	Workflows       *WorkflowToken
	WorkflowsUnread string

	id int64 // id of the repository
}

// Layer is one source of protections. Sources add up: the strictest counts.
type Layer struct {
	Name       string // as `ruleset "main"`
	Protection repoconfig.Protection
	Bypass     []string // accounts that may bypass it, sorted
	Hidden     bool     // the token may not see who bypasses it
	Workflows  []string // paths of workflows of this repository that it demands to pass: a fork cannot edit them
}

// rule is one rule as the forge gives it. go-github's own type loses the rules that it does not know, and of the rules
// of a newer forge that it knows it fails to decode the whole list.
type rule struct {
	Type       string          `json:"type"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

type branchRule struct {
	rule
	SourceType string `json:"ruleset_source_type"`
	ID         int64  `json:"ruleset_id"`
}

// Standing reads the protections of the default branch. What the token may not see is named in Unread; an error is an
// *Error.
func (c *Client) Standing(ctx context.Context) (*Standing, error) {
	repo, err := c.settings(ctx)
	if err != nil {
		return nil, err
	}
	s := &Standing{Branch: repo.DefaultBranch, AutoMerge: repo.AllowAutoMerge, id: repo.ID}
	switch {
	case repo.AllowRebase == nil:
		s.Unread = append(s.Unread, "repository settings: only administrators see the ways of merging")
	case !*repo.AllowRebase:
		s.Layers = append(s.Layers,
			Layer{Name: "repository settings", Protection: repoconfig.Protection{BlockRebaseMerging: true}})
	}
	for _, read := range []func(context.Context, *Client) error{s.readRulesets, s.readClassic, s.readWorkflowToken} {
		if err := read(ctx, c); err != nil {
			return nil, err
		}
	}
	slices.Sort(s.NotChecked)
	s.NotChecked = slices.Compact(s.NotChecked)
	return s, nil
}

// settings are those of the repository.
type settings struct {
	ID             int64  `json:"id"`
	DefaultBranch  string `json:"default_branch"`
	AllowRebase    *bool  `json:"allow_rebase_merge"` // nil: the token may not see it
	AllowAutoMerge *bool  `json:"allow_auto_merge"`
}

func (c *Client) settings(ctx context.Context) (s settings, err error) {
	op := "reading the repository " + c.Repository
	if _, err := c.Call(ctx, op, http.MethodGet, "", nil, &s); err != nil {
		return s, err
	}
	if s.DefaultBranch == "" {
		return s, &Error{Op: op, Kind: ErrUnavailable, Err: errors.New("the answer names no default branch")}
	}
	return s, nil
}

// DefaultBranch returns the default branch of the repository. The error is an *Error.
func (c *Client) DefaultBranch(ctx context.Context) (string, error) {
	s, err := c.settings(ctx)
	return s.DefaultBranch, err
}

// branchRules returns the rules in force on a branch.
func (c *Client) branchRules(ctx context.Context, branch string) iter.Seq2[branchRule, error] {
	return List[branchRule](ctx, c, "reading the rules", "rules/branches/"+url.PathEscape(branch))
}

// readRulesets reads the rules in force, which the forge has resolved over repository, organisation and enterprise, and
// who bypasses each ruleset that they come from.
func (s *Standing) readRulesets(ctx context.Context, c *Client) error {
	byID := map[int64]*Layer{}
	for r, err := range c.branchRules(ctx, s.Branch) {
		switch {
		case unreadable(err):
			s.Unread = append(s.Unread, "rulesets: "+err.Error())
			return nil
		case err != nil:
			return err
		}
		layer := cmp.Or(byID[r.ID], &Layer{})
		byID[r.ID] = layer
		if err := s.addRule(layer, r.rule); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		layer := byID[id]
		if err := c.readBypass(ctx, id, layer); err != nil {
			return err
		}
		s.Layers = append(s.Layers, *layer)
	}
	return nil
}

func unreadable(err error) bool { return errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound) }

type bypassActor struct {
	ID   *int64 `json:"actor_id"`
	Type string `json:"actor_type"`
	Mode string `json:"bypass_mode"`
}

func (a bypassActor) String() string {
	text := strconv.Quote(a.Type)
	if a.ID != nil && *a.ID != 0 {
		text += " " + strconv.FormatInt(*a.ID, 10)
	}
	if a.Mode != "" {
		text += " (" + a.Mode + ")"
	}
	return text
}

func (c *Client) readBypass(ctx context.Context, id int64, layer *Layer) error {
	layer.Name = fmt.Sprintf("ruleset %d", id)
	var set struct {
		Name   string         `json:"name"`
		Bypass *[]bypassActor `json:"bypass_actors"` // left out where the token may not see it
	}
	_, err := c.Call(ctx, "reading ruleset "+strconv.FormatInt(id, 10), http.MethodGet, "rulesets/"+
		strconv.FormatInt(id, 10), nil, &set)
	switch {
	case unreadable(err):
		layer.Hidden = true
		return nil
	case err != nil:
		return err
	}
	layer.Name = fmt.Sprintf("ruleset %q", set.Name)
	layer.Hidden = set.Bypass == nil
	if set.Bypass != nil {
		for _, a := range *set.Bypass {
			layer.Bypass = append(layer.Bypass, a.String())
		}
	}
	sort.Strings(layer.Bypass)
	return nil
}

// parameters are those of all kinds of rules that have any.
type parameters struct {
	Count       int      `json:"required_approving_review_count"`
	Stale       bool     `json:"dismiss_stale_reviews_on_push"`
	CodeOwner   bool     `json:"require_code_owner_review"`
	LastPush    bool     `json:"require_last_push_approval"`
	MergeMethod []string `json:"allowed_merge_methods"`

	Strict bool `json:"strict_required_status_checks_policy"`
	Checks []struct {
		Context string `json:"context"`
		AppID   int64  `json:"integration_id"`
	} `json:"required_status_checks"`

	Method   string `json:"merge_method"`
	Grouping string `json:"grouping_strategy"`
	Build    *int   `json:"max_entries_to_build"`
	Merge    *int   `json:"max_entries_to_merge"`
	Wait     *int   `json:"min_entries_to_merge_wait_minutes"`
	Timeout  *int   `json:"check_response_timeout_minutes"`

	Workflows []struct {
		Path       string `json:"path"`
		Repository int64  `json:"repository_id"`
	} `json:"workflows"`
}

// addRule adds what one rule demands to a Layer.
func (s *Standing) addRule(l *Layer, r rule) error {
	p, v := &l.Protection, parameters{}
	switch r.Type {
	case "pull_request", "required_status_checks", "merge_queue", "workflows":
		err := json.Unmarshal(r.Parameters, &v)
		if len(r.Parameters) == 0 {
			err = errors.New("it has no parameters")
		}
		if err != nil {
			return &Error{Op: "reading the rules", Kind: ErrUnavailable, Err: fmt.Errorf("rule %q: %w", r.Type, err)}
		}
	}
	switch r.Type {
	case "non_fast_forward":
		p.BlockForcePush = true
	case "deletion":
		p.BlockDeletion = true
	case "required_signatures":
		p.SignedCommits = true
	case "required_linear_history":
		p.LinearHistory = true
	case "pull_request":
		*p = join(*p, repoconfig.Protection{RequirePullRequest: true, Approvals: v.Count, DismissStaleReviews: v.Stale,
			CodeOwnerReview: v.CodeOwner, LastPushApproval: v.LastPush,
			BlockRebaseMerging: len(v.MergeMethod) > 0 && !slices.Contains(v.MergeMethod, "rebase")})
	case "required_status_checks":
		for _, one := range v.Checks {
			p.RequiredChecks = append(p.RequiredChecks, repoconfig.RequiredCheck(one))
		}
		p.UpToDate = p.UpToDate || v.Strict && len(v.Checks) > 0
	case "merge_queue":
		p.Queue = repoconfig.Queue{Build: v.Build, Merge: v.Merge, Wait: v.Wait, Timeout: v.Timeout}
		p.MergeQueue = true
		s.QueueRebases = s.QueueRebases || v.Method == "REBASE"
		s.QueueSkips = s.QueueSkips || v.Grouping == "HEADGREEN"
	case "workflows":
		for _, one := range v.Workflows {
			if one.Repository == s.id { // another repository may have a file of the same path
				l.Workflows = append(l.Workflows, one.Path)
			}
		}
	default:
		s.NotChecked = append(s.NotChecked, r.Type)
	}
	return nil
}

// noClassic is what the forge says where a branch has no classic protection; any other 404 means that it does not show
// it.
const noClassic = "Branch not protected"

type toggle struct {
	Enabled bool `json:"enabled"`
}

// classicCheck is a required check of the classic protection.
type classicCheck struct {
	Context string `json:"context"`
	AppID   *int64 `json:"app_id,omitempty"` // -1: any app
}

func (k classicCheck) required() repoconfig.RequiredCheck {
	out := repoconfig.RequiredCheck{Context: k.Context}
	if k.AppID != nil {
		out.AppID = max(*k.AppID, 0)
	}
	return out
}

// readClassic reads the branch protection that GitHub had before rulesets.
func (s *Standing) readClassic(ctx context.Context, c *Client) error {
	var v struct {
		Checks *struct {
			Strict   bool           `json:"strict"`
			Contexts []string       `json:"contexts"`
			Checks   []classicCheck `json:"checks"`
		} `json:"required_status_checks"`
		Reviews *struct {
			Count     int  `json:"required_approving_review_count"`
			Stale     bool `json:"dismiss_stale_reviews"`
			CodeOwner bool `json:"require_code_owner_reviews"`
			LastPush  bool `json:"require_last_push_approval"`
			Bypass    *struct {
				Users []json.RawMessage `json:"users"`
				Teams []json.RawMessage `json:"teams"`
				Apps  []json.RawMessage `json:"apps"`
			} `json:"bypass_pull_request_allowances"`
		} `json:"required_pull_request_reviews"`
		Admins     toggle `json:"enforce_admins"`
		Signatures toggle `json:"required_signatures"`
		Linear     toggle `json:"required_linear_history"`
		ForcePush  toggle `json:"allow_force_pushes"`
		Deletion   toggle `json:"allow_deletions"`
	}
	_, err := c.Call(ctx, "reading the branch protection", http.MethodGet, "branches/"+url.PathEscape(s.Branch)+
		"/protection", nil, &v)
	var e *Error
	switch {
	case errors.As(err, &e) && e.Kind == ErrNotFound && e.message == noClassic:
		return nil
	case unreadable(err):
		s.Unread = append(s.Unread, "classic branch protection: "+err.Error())
		return nil
	case err != nil:
		return err
	}
	layer := Layer{Name: "classic branch protection", Protection: repoconfig.Protection{
		BlockForcePush: !v.ForcePush.Enabled, BlockDeletion: !v.Deletion.Enabled,
		SignedCommits: v.Signatures.Enabled, LinearHistory: v.Linear.Enabled,
	}}
	p := &layer.Protection
	if !v.Admins.Enabled {
		layer.Bypass = append(layer.Bypass, "administrators")
	}
	if r := v.Reviews; r != nil {
		p.RequirePullRequest, p.Approvals = true, r.Count
		p.DismissStaleReviews, p.CodeOwnerReview, p.LastPushApproval = r.Stale, r.CodeOwner, r.LastPush
		if b := r.Bypass; b != nil && len(b.Users)+len(b.Teams)+len(b.Apps) > 0 {
			layer.Bypass = append(layer.Bypass, fmt.Sprintf("%d users, %d teams and %d apps (pull requests)",
				len(b.Users), len(b.Teams), len(b.Apps)))
		}
	}
	if k := v.Checks; k != nil {
		for _, one := range k.Checks {
			p.RequiredChecks = append(p.RequiredChecks, one.required())
		}
		if len(k.Checks) == 0 { // a forge from before checks could be bound to an app
			for _, context := range k.Contexts {
				p.RequiredChecks = append(p.RequiredChecks, repoconfig.RequiredCheck{Context: context})
			}
		}
		p.UpToDate = k.Strict && len(p.RequiredChecks) > 0
	}
	s.Layers = append(s.Layers, layer)
	return nil
}
