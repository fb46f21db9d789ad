package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
)

// RulesetName is the one ruleset that Protect writes. It uses a ruleset of its own, and not the classic branch
// protection, for three reasons. Sources of protection add up, so writing one never weakens another, while a write of
// the classic protection replaces it whole. Anybody may read rulesets. And only rulesets support merge queues.
const RulesetName = "oap-gate"

// Protected is what Protect found and did.
type Protected struct {
	*Standing                 // after what was written
	Applied      []string     // changes that were written, one line each
	Differences  []Difference // after what was written
	Organization error        // wraps ErrOrganization if the settings of workflows cannot be changed here; else nil
}

// Protect adds to the protections that stand what is missing of the wanted ones: to the ruleset RulesetName, and the
// ban of rebasing to the repository's settings. It loosens nothing. Where nothing is missing it writes nothing; after
// it wrote, it reads again, so that Differences are what is left. An error wraps an *Error and says what was changed
// before it.
func Protect(ctx context.Context, c *Client, standing *Standing, wanted repoconfig.Protection) (*Protected, error) {
	done := &Protected{Standing: standing, Differences: Plan(standing, wanted)}
	if !slices.ContainsFunc(done.Differences, func(d Difference) bool { return d.State != Stricter }) {
		return done, nil
	}
	var err error
	done.Applied, err = c.apply(ctx, done.Differences, wanted)
	if errors.Is(err, ErrOrganization) {
		done.Organization, err = err, nil
	}
	if err == nil {
		done.Standing, err = c.Standing(ctx)
	}
	if err != nil {
		return nil, after(done.Applied, err)
	}
	done.Differences = Plan(done.Standing, wanted)
	return done, nil
}

// after says what an error has left changed.
func after(done []string, err error) error {
	if len(done) == 0 {
		return err
	}
	return fmt.Errorf("%w (changed before that: %s)", err, strings.Join(done, "; "))
}

func (c *Client) apply(ctx context.Context, differences []Difference,
	wanted repoconfig.Protection) (done []string, err error) {
	setting := func(d Difference) bool { return d.Path == "protection.block_rebase_merging" && d.State != Stricter }
	if slices.ContainsFunc(differences, setting) {
		change := map[string]bool{"allow_rebase_merge": false}
		if _, err := c.Call(ctx, "switching rebase merging off", http.MethodPatch, "", change, nil); err != nil {
			return nil, err
		}
		done = append(done, "repository settings: rebase merging is off")
	}
	ofRules := func(d Difference) bool { return d.State != Stricter && !setting(d) && !d.OfWorkflows() }
	if slices.ContainsFunc(differences, ofRules) ||
		wanted.MergeQueue && slices.ContainsFunc(differences, setting) {
		if done, err = c.applyRuleset(ctx, wanted, done); err != nil {
			return done, err
		}
	}
	if slices.ContainsFunc(differences, Difference.OfWorkflows) {
		if err := c.restrictWorkflows(ctx); err != nil {
			return done, err
		}
		done = append(done, "workflow settings: the token reads by default and cannot approve")
	}
	return done, nil
}

// AllowAutoMerge lets a pull request be merged by the forge later, and returns what it changed.
func (c *Client) AllowAutoMerge(ctx context.Context) (string, error) {
	_, err := c.Call(ctx, "allowing auto-merge", http.MethodPatch, "", map[string]bool{"allow_auto_merge": true}, nil)
	return "repository settings: auto-merge is allowed", err
}

// applyRuleset raises the ruleset RulesetName to what is wanted, and adds to done what it changed.
func (c *Client) applyRuleset(ctx context.Context, wanted repoconfig.Protection, done []string) ([]string, error) {
	set, err := c.ownRuleset(ctx)
	if err != nil {
		return done, err
	}
	if err := set.strengthen(wanted); err != nil {
		return done, err
	}
	op, method, path := "creating", http.MethodPost, "rulesets"
	if set.ID != 0 {
		op, method, path = "updating", http.MethodPut, path+"/"+strconv.FormatInt(set.ID, 10)
	}
	if _, err := c.Call(ctx, fmt.Sprintf("%s the ruleset %q", op, RulesetName), method, path, set.body(),
		nil); err != nil {
		return done, err
	}
	return append(done, fmt.Sprintf("ruleset %q: %s", RulesetName, map[string]string{"creating": "created",
		"updating": "updated"}[op])), nil
}

// ruleset is what is read of a ruleset and written back; what this package does not know stays as it was.
type ruleset struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	Target     string `json:"target"`
	SourceType string `json:"source_type"`
	Conditions struct {
		RefName struct {
			Include []string `json:"include"`
		} `json:"ref_name"`
	} `json:"conditions"`
	Rules []rule `json:"rules"`
}

// ownRuleset returns the repository's ruleset of the name RulesetName, or a new one.
func (c *Client) ownRuleset(ctx context.Context) (*ruleset, error) {
	found := &ruleset{Name: RulesetName, Target: "branch"}
	for r, err := range List[ruleset](ctx, c, "listing the rulesets", "rulesets?includes_parents=false") {
		if err != nil {
			return nil, err
		}
		if r.Name == RulesetName && r.SourceType == "Repository" {
			found = &r
			break
		}
	}
	if found.ID == 0 {
		return found, nil
	}
	op := fmt.Sprintf("reading the ruleset %q", RulesetName)
	var full ruleset
	if _, err := c.Call(ctx, op, http.MethodGet, "rulesets/"+strconv.FormatInt(found.ID, 10), nil, &full); err != nil {
		return nil, err
	}
	if full.ID != found.ID || full.Target != "branch" {
		return nil,
			&Error{Op: op, Kind: ErrRefused,
				Err: fmt.Errorf("it is for %q; expected \"branch\": rename it at the forge", full.Target)}
	}
	return &full, nil
}

// body returns the ruleset as it is written: in force, for the default branch and its former branches, without
// exceptions, and bypassed by nobody.
func (r *ruleset) body() any {
	include := r.Conditions.RefName.Include
	if !slices.Contains(include, "~DEFAULT_BRANCH") && !slices.Contains(include, "~ALL") {
		include = append(include, "~DEFAULT_BRANCH")
	}
	return map[string]any{
		"name": r.Name, "target": "branch", "enforcement": "active", "bypass_actors": []any{},
		"conditions": map[string]any{"ref_name": map[string]any{"include": include, "exclude": []string{}}},
		"rules":      r.Rules,
	}
}

// strengthen adds what is wanted to the rules; it takes nothing away.
func (r *ruleset) strengthen(want repoconfig.Protection) error {
	for _, one := range []struct {
		on     bool
		kind   string
		change func(map[string]any) // of its parameters; nil: it has none
	}{
		{want.BlockDeletion, "deletion", nil},
		{want.BlockForcePush, "non_fast_forward", nil},
		{want.LinearHistory, "required_linear_history", nil},
		{want.SignedCommits, "required_signatures", nil},
		{want.RequirePullRequest, "pull_request", func(p map[string]any) {
			atLeast(p, "required_approving_review_count", int64(want.Approvals))
			raise(p, "dismiss_stale_reviews_on_push", want.DismissStaleReviews)
			raise(p, "require_code_owner_review", want.CodeOwnerReview)
			raise(p, "require_last_push_approval", want.LastPushApproval)
			raise(p, "required_review_thread_resolution", false)
		}},
		{len(want.RequiredChecks) > 0, "required_status_checks", func(p map[string]any) {
			raise(p, "strict_required_status_checks_policy", want.UpToDate && !want.MergeQueue)
			p["required_status_checks"] = addChecks(p["required_status_checks"], want.RequiredChecks)
		}},
		{want.MergeQueue, "merge_queue", func(p map[string]any) {
			for name, v := range queueDefaults {
				if _, ok := p[name]; !ok || v == "ALLGREEN" && p[name] == "HEADGREEN" ||
					v == "MERGE" && p[name] == "REBASE" && want.BlockRebaseMerging {
					p[name] = v
				}
			}
			for _, s := range want.Queue.Settings() {
				if *s.Value != nil {
					p[s.Parameter] = **s.Value
				}
			}
		}},
	} {
		if one.on {
			if err := r.edit(one.kind, one.change); err != nil {
				return err
			}
		}
	}
	return nil
}

// queueDefaults are those of the forge's own form.
var queueDefaults = map[string]any{
	"check_response_timeout_minutes":    60,
	"grouping_strategy":                 "ALLGREEN",
	"max_entries_to_build":              5,
	"max_entries_to_merge":              5,
	"merge_method":                      "MERGE",
	"min_entries_to_merge":              1,
	"min_entries_to_merge_wait_minutes": 5,
}

// edit changes the parameters of the rule of that kind, which is added where it is not there.
func (r *ruleset) edit(kind string, change func(map[string]any)) error {
	i := slices.IndexFunc(r.Rules, func(one rule) bool { return one.Type == kind })
	if i < 0 {
		r.Rules = append(r.Rules, rule{Type: kind})
		i = len(r.Rules) - 1
	}
	if change == nil {
		return nil
	}
	parameters := map[string]any{}
	if old := r.Rules[i].Parameters; len(old) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(old))
		decoder.UseNumber()
		if err := decoder.Decode(&parameters); err != nil || parameters == nil {
			return &Error{Op: fmt.Sprintf("reading rule %q of the ruleset %q", kind, RulesetName), Kind: ErrUnavailable,
				Err: errors.Join(err, errors.New("its parameters are not an object"))}
		}
	}
	change(parameters)
	text, err := json.Marshal(parameters)
	if err != nil {
		return fmt.Errorf("writing rule %q: %w", kind, err)
	}
	r.Rules[i].Parameters = text
	return nil
}

func raise(p map[string]any, name string, on bool) {
	have, _ := p[name].(bool)
	p[name] = have || on
}

func atLeast(p map[string]any, name string, n int64) {
	if have, ok := p[name].(json.Number); ok {
		if v, err := have.Int64(); err == nil {
			n = max(n, v)
		}
	}
	p[name] = n
}

// addChecks adds the wanted checks to the present ones. A present check for any app is bound to the wanted app.
func addChecks(standing any, want []repoconfig.RequiredCheck) []any {
	list, _ := standing.([]any)
	list = slices.Clone(list)
	for _, c := range want {
		entry := map[string]any{"context": c.Context}
		if c.AppID != 0 {
			entry["integration_id"] = c.AppID
		}
		index := func(exact bool) int {
			return slices.IndexFunc(list, func(v any) bool {
				one, _ := v.(map[string]any)
				app, bound := one["integration_id"].(json.Number)
				return one["context"] == c.Context && (c.AppID == 0 || !bound && !exact || bound &&
					app.String() == strconv.FormatInt(c.AppID, 10))
			})
		}
		if index(true) >= 0 {
			continue
		}
		if i := index(false); i < 0 {
			list = append(list, entry)
		} else {
			list[i] = entry
		}
	}
	return list
}
