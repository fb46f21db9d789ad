package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// subject of each result: an installation is judged as a whole.
const subject = "registry"

// Changes are those that Protect may make at the forge.
type Changes struct {
	Apply bool // add what is missing
	Prune bool // and remove required checks that no job of a workflow reports

	AllowLockOut bool   // apply also if a required review can never be given
	Commit       string // the head of the work tree; empty: not known
}

// Protect compares the protections at the forge with those of the file and, if it may, adds what is missing: see
// [forge.Protect]. It changes nothing if a required review could never be given. tree is the clone, whose workflows say
// what is reported. A forge that does not answer for now is a finding; any other error of it is returned.
func Protect(ctx context.Context, c *forge.Client, file *repoconfig.File, tree fs.FS,
	may Changes) (*verdict.Report, error) {
	v := &inspection{tree: tree, branch: "main", config: file}
	if err := v.readWorkflows(); err != nil {
		return nil, err
	}
	v.findings, v.examined = nil, []string{repoconfig.Path} // what it found is not about the protections
	err := v.askForge(ctx, c)
	if err == nil {
		err = v.protect(ctx, c, may)
	}
	switch {
	case forge.Temporary(err):
		v.unanswered(err)
	case err != nil:
		return nil, err
	}
	return v.report("protect", "protections")
}

// protect compares the protections and, if it may, applies them, unless a required review could never be given.
func (v *inspection) protect(ctx context.Context, c *forge.Client, may Changes) error {
	stop, err := v.judgeReviewers(ctx, c, may)
	if !may.Apply && forge.Temporary(err) {
		v.unanswered(err)
		err = nil
	}
	if err != nil || stop && may.Apply {
		return err
	}
	differences, fix := forge.Plan(v.standing, v.wanted()), applyFix
	if may.Apply {
		done, err := forge.Protect(ctx, c, v.standing, v.wanted())
		if err != nil {
			return err
		}
		v.standing, v.applied, differences = done.Standing, done.Applied, done.Differences
		fix = "read the settings of the branch at the forge, which did not take the change"
		if done.Organization != nil {
			v.add(verdict.Error, "organization-setting", strict.Pos{}, "",
				"the settings of workflows are not changed: %v", done.Organization)
			differences = slices.DeleteFunc(differences, forge.Difference.OfWorkflows)
		}
	}
	v.differences(differences, fix)
	if may.Apply && may.Prune && !v.unreadable {
		gone, err := c.Prune(ctx, v.branch, v.stale)
		if v.applied = append(v.applied, gone...); err != nil {
			return err
		}
	} else {
		v.addStale()
	}
	// A job asks the forge to merge later.
	switch off := v.has(mergeRole) && v.standing.AutoMerge != nil && !*v.standing.AutoMerge; {
	case off && may.Apply:
		allowed, err := c.AllowAutoMerge(ctx)
		if err != nil {
			return err
		}
		v.applied = append(v.applied, allowed)
	case off:
		v.add(verdict.Warning, "auto-merge-off", strict.Pos{}, "", "")
	}
	return nil
}

// stale reports whether a required check is one that nobody wants and that no job reports, so that a pull request would
// wait for it permanently. A workflow that could not be read may have the job.
func (v *inspection) stale(r repoconfig.RequiredCheck) bool {
	return !v.unreadable && (r.AppID == 0 || r.AppID == forge.ActionsApp) && !v.reports(r.Context) &&
		!requires(v.wanted(), r.Context)
}

// addStale warns of the stale checks that the forge requires.
func (v *inspection) addStale() {
	said := map[string]bool{}
	for _, layer := range v.standing.Layers {
		for _, r := range layer.Protection.RequiredChecks {
			if !said[r.Context] && v.stale(r) {
				said[r.Context] = true
				v.add(verdict.Warning, "stale-context", strict.Pos{}, "", "the branch requires the check %q, which no "+
					"job of a workflow here reports: pull requests would wait for it permanently", r.Context)
			}
		}
	}
}

// reports reports whether a job of a workflow may have that name: one that is computed, or of a matrix or a called
// workflow, is only known in part.
func (v *inspection) reports(context string) bool {
	for _, w := range v.workflows {
		for _, j := range w.jobs {
			name := computed().ReplaceAllString(regexp.QuoteMeta(j.context()), ".*")
			if regexp.MustCompile(`^` + name + `(?: \(.*\)| / .*)?$`).MatchString(context) {
				return true
			}
		}
	}
	return false
}

// report gives each of the rules with these ids, all where none is named, its result.
func (v *inspection) report(mode string, ids ...string) (*verdict.Report, error) {
	if v.hidden != nil {
		v.add(verdict.Doubt, "not-readable", v.config.Pos("protection"), "", "the token cannot read %s; not shown: %s",
			strings.Join(v.hidden, "; and "), strings.Join(v.reasons, "; "))
	}
	slices.Sort(v.examined)
	r := &verdict.Report{Version: 1, Mode: mode, Installation: &verdict.Installation{Repository: v.forge,
		Branch: v.branch, Files: v.examined, Applied: v.applied,
		Diffs: v.diffs}}
	if v.standing != nil {
		r.Installation.Unread = v.standing.Unread
	}
	results, err := verdict.Judge(catalogue, func(id string) bool { return len(ids) == 0 || slices.Contains(ids, id) },
		v, subject)
	if err != nil {
		return nil, err
	}
	r.Results.Add(results...)
	for _, rule := range slices.Sorted(maps.Keys(v.findings)) { // rather than a finding that nobody hears of
		unsaid := v.findings[rule][0]
		return nil, fmt.Errorf("the finding %q is of none of the reported rules: %s", unsaid.Code, unsaid.Message)
	}
	r.Settle(Rules)
	return r, nil
}

// catalogue are the rules as the runner takes them: what was found is of the rule that has the finding's code.
var catalogue = verdict.Entries(Rules, func(rule verdict.Rule, v *inspection) (verdict.Outcome, error) {
	var out verdict.Outcome
	found := v.findings[rule.ID]
	delete(v.findings, rule.ID)
	if !slices.ContainsFunc(found, func(f verdict.Finding) bool { return f.Severity != verdict.Notice }) {
		out = v.unblamed(rule.ID)
	}
	out.Findings = found
	if rule.ID == "protections" {
		out.Verified = v.compared
	}
	return out, nil
})

// judged are the jobs that a rule looks at, by their roles.
var judged = map[string][]role{
	"gate-job":        {checkRole, governsRole},
	"gate-checkout":   {checkRole, governsRole, auditRole},
	"job-permissions": roles,
	"comment-job":     {commentRole},
	"action-step":     roles,
	"filled-in":       roles,
}

// unblamed returns the outcome of a rule without a finding.
func (v *inspection) unblamed(rule string) verdict.Outcome {
	roles := judged[rule]
	switch {
	case (roles != nil || rule == "required-checks" || rule == "other-workflows") && v.unreadable:
		return verdict.Skip("not every workflow could be read")
	case rule == "protections" && v.compared == "":
		return verdict.Skip("the forge was not asked: give --forge, and a token in GITHUB_TOKEN")
	case rule == "required-checks" && v.config == nil:
		return verdict.Skip("the repo-config that names them was not read")
	case rule == "required-checks" && len(v.gates()) == 0:
		return verdict.Skip("no workflow that was read runs the gate on pull_request")
	case roles != nil && !v.has(roles...):
		return verdict.Skip("no such job was read")
	}
	return verdict.Pass("")
}
