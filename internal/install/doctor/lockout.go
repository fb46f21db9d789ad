package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// judgeReviewers finds reviews that the branch would require and nobody could give, and owners that the forge ignores.
// It reports whether the wanted protections must not be applied for it.
func (v *inspection) judgeReviewers(ctx context.Context, c *forge.Client, may Changes) (bool, error) {
	want, writers := v.wanted(), "the accounts that may write"
	if want.Approvals == 0 && !want.CodeOwnerReview && !want.LastPushApproval {
		return false, nil
	}
	severity := verdict.Error
	switch {
	case may.AllowLockOut:
		severity = verdict.Warning
	case may.Apply:
		writers += ", so that nothing was changed (--allow-lock-out overrides it)"
	}
	accounts, err := c.Accounts(ctx)
	hidden := errors.Is(err, forge.ErrForbidden) || errors.Is(err, forge.ErrNotFound)
	switch {
	case hidden && !may.AllowLockOut:
		v.hide(writers, err.Error())
	case err != nil && !hidden:
		return false, err
	case !hidden && len(accounts) < 2:
		v.add(severity, "lock-out", v.config.Pos("protection.approvals"), "",
			"%s may write to %s (%s), and the branch requires a review by another one than the author",
			plain.Count(len(accounts), "account"), v.forge, strings.Join(accounts, ", "))
	}
	locked := !hidden && len(accounts) < 2
	ignored, alone, err := v.judgeCodeOwners(ctx, c, may.Commit)
	if err != nil {
		return false, err
	}
	if want.CodeOwnerReview && alone != "" && !locked {
		locked = true
		v.add(severity, "lock-out", v.config.Pos("protection.code_owner_review"),
			"name a second maintainer or a team in CODEOWNERS, or override it with --allow-lock-out",
			"the only code owner of the gate's files is @%s, whose token this is: nobody could approve this account's "+
				"changes of them", alone)
	}
	return ignored || !may.AllowLockOut && (locked || hidden), nil
}

// judgeCodeOwners finds the lines of CODEOWNERS that the forge ignores. If the token's user is the only owner of the
// files that decide about pull requests, it returns the login.
func (v *inspection) judgeCodeOwners(ctx context.Context, c *forge.Client,
	commit string) (ignored bool, alone string, err error) {
	name, data, err := v.ownersFile()
	if err != nil || data == nil {
		return false, "", nil // judgeOwners reports it
	}
	lines, err := c.OwnerErrors(ctx, commit)
	if err != nil {
		return false, "", err
	}
	rules := parseOwners(string(data))
	for _, l := range lines {
		i := slices.IndexFunc(rules, func(r ownerRule) bool { return r.text == strings.TrimSpace(l.Source) })
		if i < 0 {
			continue // the line is of an older file than this one
		}
		ignored = true
		v.add(verdict.Error, "owner-unknown", strict.Pos{Path: name, Line: rules[i].line, Column: 1}, "",
			"the forge ignores the line %q: %s", l.Source, l.Kind)
	}
	var owners []string
	for _, file := range registryGuard.files {
		if r := lastMatch(rules, file); r != nil {
			owners = append(owners, r.owners...)
		}
	}
	slices.Sort(owners)
	people, all, err := c.Owners(ctx, slices.Compact(owners))
	if err != nil || !all || len(people) != 1 {
		return ignored, "", err
	}
	login, err := c.Login(ctx)
	if err != nil || !strings.EqualFold(login, people[0]) {
		return ignored, "", err
	}
	return ignored, people[0], nil
}
