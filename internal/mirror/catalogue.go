package mirror

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/publish"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// own are the checks that only an audit has, in the order of the report, before those of records. They judge the
// history, once it was walked.
var own = []verdict.Entry[*audit]{
	selected(history, judgeHistory),
	selected(commitSignatures, judgeSignatures),
	selected(consistency, judgeConsistency),
}

// selected returns the entry of a check that is skipped where a flag leaves it out.
func selected(rule verdict.Rule, judge func(*audit) (verdict.Outcome, error)) verdict.Entry[*audit] {
	return verdict.Entry[*audit]{Rule: rule, Judge: func(a *audit) (verdict.Outcome, error) {
		if !a.cfg.Selected(rule.ID) {
			return verdict.Skip(checks.LeftOut), nil
		}
		return judge(a)
	}}
}

// Rules returns what the catalogue says about the checks that only an audit has.
func Rules() []verdict.Rule { return append(verdict.Rules(own), publish.Rule) }

// Selectable returns the ids of the checks that an audit may select, and a fix for the id of the log.
func Selectable() (ids []string, others map[string]string) {
	return verdict.IDs(slices.Concat(verdict.Rules(own), checks.Rules())), map[string]string{publish.Rule.ID: "leave " +
		"it out of --only and --skip: only audit --log DIR and mirror --log-sign-key FILE run it"}
}

// OfAudit returns a fix for the id of each check that only an audit has.
func OfAudit() map[string]string {
	_, fixes := Selectable()
	for _, c := range own {
		fixes[c.ID] = "run oap-gate audit for it"
	}
	return fixes
}

// AddLog adds what the publication of the log found to the report of an audit.
func AddLog(rep *verdict.Report, o verdict.Outcome) error {
	r, err := o.Result(publish.Rule, checks.RegistrySubject)
	if err != nil {
		return err
	}
	interrupted := rep.Verdict == verdict.Inconclusive && slices.Contains(rep.Assumed, verdict.Interrupted)
	rep.Append(Catalogue(), r)
	if interrupted && rep.Verdict == verdict.Passed {
		rep.Verdict = verdict.Inconclusive
	}
	return rep.Results.Err()
}

// RulesText returns a function that says by which rules a build judges: the version of the program and of the policy
// file, the checks in the order of a report, the built-in schemas with the SHA-256 of what the command schema prints,
// and the SHA-256 of the Public Suffix List.
func RulesText(tool verdict.Tool) func() string {
	return func() string {
		var b strings.Builder
		fmt.Fprintf(&b, "tool %s\npolicy %s\n", tool.Version, checks.PolicyVersion)
		for _, rule := range Catalogue() {
			fmt.Fprintf(&b, "check %s\n", rule.ID)
		}
		for _, name := range schema.Names {
			fmt.Fprintf(&b, "schema %s %s\n", name, plain.SHA256(schemas.Text(name)))
		}
		fmt.Fprintf(&b, "psl %s\n", domainage.ListSHA256)
		return b.String()
	}
}

// Codes explains the codes of the errors that end a run of a mirror without a verdict.
var Codes = []checks.Code{
	{ID: "checkpoint-damaged", Meaning: "the checkpoint contradicts itself, lacks the required signature, or names a " +
		"commit that the clone lacks", Fix: goodCopy},
	{ID: "checkpoint-diverged", Meaning: "neither the checkpoint's commit nor that of the mirror's branch descends " +
		"from the other", Fix: "keep both, and compare them with another mirror"},
	{ID: "clone-damaged", Meaning: "an object that the branch needs is damaged or missing, and could not be fetched " +
		"again", Fix: anotherClone},
	{ID: "origin-unavailable", Meaning: "the origin cannot be reached, or no longer shows the registry",
		Fix: tryLater},
	{ID: "pack-corrupt", Meaning: "the bytes of the origin's pack do not hash to its trailer; the mirror is as it was",
		Fix: damagedFix},
	{ID: "origin-vanished", Meaning: "the origin no longer has the branch that was verified", Fix: vanished},
	{ID: "address-refused", Meaning: "the origin has an address that is neither public nor named by the operator",
		Fix: refusedAddress},
	{ID: "local-write", Meaning: "a file of the mirror's directory could not be written",
		Fix: "free space on its disk, and let the user who runs oap-gate write to the directory"},
}

var acceptedUnused = checks.Code{ID: "accepted-unused", Meaning: "a line of --accepted matches no finding",
	Fix: "correct its commit, check and code, or remove the line"}

// Catalogue returns every check of an audit, in the order of a report.
func Catalogue() []verdict.Rule { return slices.Concat(Rules(), checks.Rules()) }
