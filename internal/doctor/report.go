package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/repoconfig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// subject of each result: an installation is judged as a whole.
const subject = "registry"

// Protect compares the protections at the forge with those of the file and, with apply, adds what is missing: see
// [forge.Protect]. A forge that does not answer for now is a finding; any other error of it is returned.
func Protect(ctx context.Context, c *forge.Client, file *repoconfig.File, apply bool) (*verdict.Report, error) {
	v := &visit{branch: "main", forge: c.Repository, config: file, examined: []string{repoconfig.Path}}
	done, err := forge.Protect(ctx, c, file.Config.Protection, apply)
	switch {
	case forge.Passing(err):
		v.unanswered(err)
		return v.report("protect", "protections")
	case err != nil:
		return nil, err
	}
	v.branch, v.applied, v.unread = done.Branch, done.Applied, done.Unread
	fix := applyFix
	if apply {
		fix = ""
	}
	v.differences(done.Differences, fix, func(d forge.Difference) string {
		return fmt.Sprintf("%s: have %s; want %s", d.Path, d.Have, d.Want)
	})
	for _, kind := range done.NotChecked {
		v.add(verdict.Notice, "rule-not-checked", strict.Pos{}, "", "not checked: rules of type %s", kind)
	}
	return v.report("protect", "protections")
}

// report gives each of the rules with these ids, all where none is named, its result.
func (v *visit) report(mode string, ids ...string) (*verdict.Report, error) {
	slices.SortStableFunc(v.findings, func(a, b verdict.Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	v.findings = slices.Compact(v.findings)
	slices.Sort(v.examined)
	r := &verdict.Report{Version: 1, Mode: mode, Installation: &verdict.Installation{Repository: v.forge, Branch: v.branch,
		Files: v.examined, Applied: v.applied, Unread: v.unread}}
	said := 0
	for _, rule := range Rules {
		if len(ids) > 0 && !slices.Contains(ids, rule.ID) {
			continue
		}
		var out verdict.Outcome
		for _, f := range v.findings {
			if slices.ContainsFunc(rule.Codes, func(c strict.Code) bool { return c.ID == f.Code }) {
				out.Findings = append(out.Findings, f)
			}
		}
		said += len(out.Findings)
		if !out.Has(verdict.Error) && !out.Has(verdict.Doubt) && !out.Has(verdict.Warning) {
			findings := out.Findings
			out = v.unblamed(rule.ID)
			out.Findings = findings
		}
		if rule.ID == "protections" {
			out.Verified = v.compared
		}
		result, err := out.Result(rule, subject)
		if err != nil {
			return nil, err
		}
		r.Results = append(r.Results, result)
	}
	if said != len(v.findings) { // rather than a finding that nobody hears of
		return nil, fmt.Errorf("%d findings, of which %d have a code of one of the rules", len(v.findings), said)
	}
	r.Settle(Rules)
	return r, nil
}

// judged are the jobs that a rule looks at, by their roles.
var judged = map[string][]role{
	"gate-job":        {checkRole, governsRole},
	"gate-checkout":   {checkRole, governsRole, auditRole},
	"job-permissions": {checkRole, governsRole, auditRole, commentRole, protectRole, conformsRole, otherRole},
	"comment-job":     {commentRole},
	"action-step":     {checkRole, governsRole, auditRole, commentRole, protectRole, conformsRole, otherRole},
	"filled-in":       {checkRole, governsRole, auditRole, commentRole, protectRole, conformsRole, otherRole},
}

// unblamed is the outcome of a rule that nothing speaks against.
func (v *visit) unblamed(rule string) verdict.Outcome {
	roles := judged[rule]
	jobs := 0
	for _, w := range v.workflows {
		for _, j := range w.jobs {
			if slices.Contains(roles, j.role()) {
				jobs++
			}
		}
	}
	switch {
	case (roles != nil || rule == "required-checks") && v.unreadable:
		return verdict.Skip("not every workflow could be read")
	case rule == "protections" && v.compared == "":
		return verdict.Skip("the forge was not asked: give --forge, and a token in GITHUB_TOKEN")
	case rule == "required-checks" && v.config == nil:
		return verdict.Skip("the repo-config that names them was not read")
	case rule == "required-checks" && len(v.gates()) == 0:
		return verdict.Skip("no workflow that was read runs the gate on pull_request")
	case roles != nil && jobs == 0:
		return verdict.Skip("no such job was read")
	}
	return verdict.Pass("")
}
