package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
)

// Prune takes required checks from the repository's own rulesets and from the classic protection of a branch, and
// nothing else. A ruleset of an organisation or an enterprise is left as it is. The result is what was changed, one
// line each. An error wraps an *Error and says what was changed before it.
func (c *Client) Prune(ctx context.Context, branch string,
	stale func(repoconfig.RequiredCheck) bool) (done []string, err error) {
	var ids []int64
	for r, err := range c.branchRules(ctx, branch) {
		if err != nil {
			return nil, err
		}
		if r.Type == "required_status_checks" && r.SourceType == "Repository" && !slices.Contains(ids, r.ID) {
			ids = append(ids, r.ID)
		}
	}
	note := func(changed string, err error) error {
		if changed != "" {
			done = append(done, changed)
		}
		return err
	}
	for _, id := range ids {
		if err := note(c.pruneRuleset(ctx, id, stale)); err != nil {
			return done, after(done, err)
		}
	}
	if err := note(c.pruneClassic(ctx, branch, stale)); err != nil {
		return done, after(done, err)
	}
	return done, nil
}

// pruneRuleset writes a ruleset back without the stale checks: every other member as it was. One that shows nobody who
// bypasses it cannot be written back whole.
func (c *Client) pruneRuleset(ctx context.Context, id int64,
	stale func(repoconfig.RequiredCheck) bool) (string, error) {
	path := fmt.Sprintf("rulesets/%d", id)
	var set map[string]any
	if _, err := c.Call(ctx, fmt.Sprintf("reading the ruleset %d", id), http.MethodGet, path, nil, &set); err != nil {
		return "", err
	}
	op := fmt.Sprintf("taking required checks from the ruleset %q", set["name"])
	if _, shown := set["bypass_actors"]; !shown {
		return "", &Error{Op: op, Kind: ErrForbidden}
	}
	var removed []any
	rules := []any{} // a list, also where nothing is left: the forge takes no null
	list, _ := set["rules"].([]any)
	for _, v := range list {
		rule, _ := v.(map[string]any)
		parameters, _ := rule["parameters"].(map[string]any)
		checks, isList := parameters["required_status_checks"].([]any)
		if rule["type"] == "required_status_checks" && isList {
			var kept []any
			for _, one := range checks {
				if stale(requiredCheck(one)) {
					removed = append(removed, one)
				} else {
					kept = append(kept, one)
				}
			}
			if parameters["required_status_checks"] = kept; len(kept) == 0 {
				continue // a rule that requires nothing is refused
			}
		}
		rules = append(rules, v)
	}
	if len(removed) == 0 {
		return "", nil
	}
	body := map[string]any{"rules": rules}
	for _, member := range []string{"name", "target", "enforcement", "bypass_actors", "conditions"} {
		body[member] = set[member]
	}
	if _, err := c.Call(ctx, op, http.MethodPut, path, body, nil); err != nil {
		return "", err
	}
	return fmt.Sprintf("ruleset %q: removed required checks; to restore: \"required_status_checks\": %s", set["name"],
		compact(removed)), nil
}

// compact spells a value in JSON, in one line.
func compact(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func requiredCheck(v any) repoconfig.RequiredCheck {
	one, _ := v.(map[string]any)
	context, _ := one["context"].(string)
	app, _ := one["integration_id"].(float64)
	return repoconfig.RequiredCheck{Context: context, AppID: int64(app)}
}

func (c *Client) pruneClassic(ctx context.Context, branch string,
	stale func(repoconfig.RequiredCheck) bool) (string, error) {
	path := "branches/" + url.PathEscape(branch) + "/protection/required_status_checks"
	var now struct {
		Strict bool           `json:"strict"`
		Checks []classicCheck `json:"checks"`
	}
	_, err := c.Call(ctx, "reading the required checks of the branch protection", http.MethodGet, path, nil, &now)
	if unreadable(err) {
		return "", nil // it does not exist, or Standing has said that it cannot be read
	}
	if err != nil {
		return "", err
	}
	var kept, removed []classicCheck
	for _, one := range now.Checks {
		if stale(one.required()) {
			removed = append(removed, one)
		} else {
			kept = append(kept, one)
		}
	}
	if len(removed) == 0 {
		return "", nil
	}
	method, body := http.MethodPatch, any(map[string]any{"strict": now.Strict, "checks": kept})
	if len(kept) == 0 {
		method, body = http.MethodDelete, nil
	}
	if _, err := c.Call(ctx, "taking required checks from the branch protection", method, path, body, nil); err != nil {
		return "", err
	}
	return fmt.Sprintf("classic branch protection: removed required checks; to restore: \"checks\": %s",
		compact(removed)), nil
}
