package install

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
)

// settings are the names that a page of repository settings has for members of a repo-config. A setting that allows
// something has the opposite value of the member that blocks it.
var settings = []struct {
	name   func() *regexp.Regexp
	member string
	allows bool
}{
	{plain.Pattern(`^((allow )?force[- ]push(es|ing)?)$`), "block_force_push", true},
	{plain.Pattern(`^((allow )?(history rewriting|rewriting history))$`), "block_force_push", true},
	{plain.Pattern(`^((allow )?(branch )?deletions?)$`), "block_deletion", true},
	{plain.Pattern(`^((allow )?direct push(es|ing)?)$`), "require_pull_request", true},
	{plain.Pattern(`^(require (a )?pull requests?( reviews?)?( before merging)?)$`), "require_pull_request", false},
	{plain.Pattern(`^((required )?approv(als|ing reviews))$`), "approvals", false},
	{plain.Pattern(`^(dismiss stale .*)$`), "dismiss_stale_reviews", false},
	{plain.Pattern(`^(require (a )?reviews? from code owners)$`), "code_owner_review", false},
	{plain.Pattern(`^(require approval of the most recent .*push)$`), "last_push_approval", false},
	{plain.Pattern(`^(require (branches|the branch) to be up to date.*)$`), "up_to_date", false},
	{plain.Pattern(`^((require )?(a )?merge queue)$`), "merge_queue", false},
	{plain.Pattern(`^((require )?signed commits)$`), "signed_commits", false},
	{plain.Pattern(`^((require )?linear history)$`), "linear_history", false},
	{plain.Pattern(`^((allow )?rebase merging)$`), "block_rebase_merging", true},
}

var (
	listItem = plain.Pattern(`^([ \t]*)[-*+][ \t]+(.+)$`)
	aside    = plain.Pattern(`\([^()]*\)`)
	isOn     = plain.Pattern(`^(yes|on|true|enabled|required|allowed)\b`)
	isOff    = plain.Pattern(`^(no|off|false|disabled|never|none|not (used|required|allowed|enabled))\b`)
)

// Otherwise returns the settings of a page of prose that a repo-config sets otherwise, in the order of the page, as
// "Require signed commits: yes → signed_commits: false". It reads list items of the form NAME: VALUE whose name and
// value it knows, and the names below the item of the required checks.
func Otherwise(prose []byte, config repoconfig.Protection) []string {
	var out, checks []string
	required := -1 // indentation of the item of the required checks, while its items are read
	for row := range bytes.Lines(prose) {
		m := listItem().FindStringSubmatch(strings.TrimRight(string(row), " \t\r\n"))
		if m == nil {
			continue
		}
		if required >= 0 && len(m[1]) > required {
			checks = append(checks, strings.Trim(m[2], "`"))
			continue
		}
		required = -1
		name, value, found := strings.Cut(m[2], ":")
		if !found {
			continue
		}
		name = aside().ReplaceAllString(strings.Trim(name, "*_ "), "")
		name = strings.ToLower(strings.Join(strings.Fields(name), " "))
		if name == "required status checks" {
			required = len(m[1])
			continue
		}
		if member := differs(name, strings.ToLower(strings.Trim(value, "*_ \t")), config); member != "" {
			out = append(out, m[2]+" → "+member)
		}
	}
	var have []string
	for _, c := range config.RequiredChecks {
		have = append(have, c.Context)
	}
	if len(checks) > 0 && !slices.Equal(checks, have) {
		out = append(out, fmt.Sprintf("Required status checks: %s → required_checks: %s", strings.Join(checks, ", "),
			strings.Join(have, ", ")))
	}
	return out
}

// differs returns the member that a config sets otherwise than the setting of a page, with its value; empty if it sets
// the same, or if the setting is not known.
func differs(name, value string, config repoconfig.Protection) string {
	for _, s := range settings {
		if !s.name().MatchString(name) {
			continue
		}
		digits := value[:len(value)-len(strings.TrimLeft(value, "0123456789"))]
		if n, err := strconv.Atoi(digits); err == nil && !s.allows {
			if n == config.Approvals {
				return ""
			}
			return fmt.Sprintf("approvals: %d", config.Approvals)
		}
		on := isOn().MatchString(value)
		if !on && !isOff().MatchString(value) {
			return ""
		}
		for _, have := range config.Switches() {
			if have.Name == s.member && *have.On != (on != s.allows) {
				return fmt.Sprintf("%s: %t", s.member, *have.On)
			}
		}
	}
	return ""
}
