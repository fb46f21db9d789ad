package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
)

// join adds the outcomes of one range to a report that may hold those of earlier ones: of several results of
// one check on one subject the worst verdict stands, with the findings of all.
type join struct {
	rep *Report
	at  map[string]int // check and subject -> index in the results
}

func newJoin(rep *Report) *join {
	j := &join{rep, map[string]int{}}
	for i, r := range rep.Results {
		j.at[r.Check+"\x00"+r.Subject] = i
	}
	return j
}

func (j *join) subject(s *checks.Subject, judged []judgement) {
	if !s.Unchanged() {
		j.rep.Counts.Records++
	}
	for _, one := range judged {
		j.add(one.check, s.Path, one.Outcome)
	}
}

func (j *join) registry(run *checks.Run) {
	for _, c := range checks.All {
		if c.RunRegistry == nil || run.Audit && c.PerCommit() {
			continue
		}
		if !run.Selected(c.ID) {
			j.add(c, checks.RegistrySubject, checks.Outcome{Skipped: checks.LeftOut})
			continue
		}
		if !run.Reaches(c.ID, checks.RegistrySubject) {
			j.add(c, checks.RegistrySubject, budgetSpent("the registry as a whole was not judged"))
			continue
		}
		out := c.RunRegistry(run)
		if run.Offline && c.Online() && len(out.Findings) == 0 {
			out.Skipped = checks.Offline // a pass would contradict what the report counts as not run
		}
		j.add(c, checks.RegistrySubject, out)
	}
}

// notReached says of each check how many of the run's records the budget left no time for.
func (j *join) notReached(run *checks.Run, judged [][]judgement) {
	count, first := map[*checks.Check]int{}, map[*checks.Check]string{}
	for i, all := range judged {
		for _, one := range all {
			if one.Doubtful != checks.NotReached {
				continue
			}
			if count[one.check]++; count[one.check] == 1 {
				first[one.check] = run.Subjects[i].Path
			}
		}
	}
	for _, c := range checks.All {
		switch n := count[c]; {
		case n == 1:
			j.add(c, checks.RegistrySubject, budgetSpent(first[c]+" was not judged"))
		case n > 1:
			j.add(c, checks.RegistrySubject, budgetSpent(fmt.Sprintf("%d records were not judged, the first is %s", n, first[c])))
		}
	}
}

// budgetSpent is the outcome of what the run's budget left no time for.
func budgetSpent(what string) checks.Outcome {
	return checks.Outcome{Doubtful: checks.NotReached, Findings: []checks.Finding{{Severity: checks.Doubt, Code: evidence.CodeBudget,
		Message: what + ": the run's budget was spent before", Fix: "run it again, with a longer --budget or fewer records at once"}}}
}

// maxStanding is how many faults that stand in the base tree are shown; the rest is counted.
const maxStanding = 100

func (j *join) standing(run *checks.Run) {
	shown := 0
	hidden := map[string]int{}
	for _, f := range run.Base.Faults {
		if !run.Selected(f.Check) {
			continue
		}
		if shown == maxStanding {
			hidden[f.Check]++
			continue
		}
		shown++
		f.Finding.Severity = checks.Warning
		f.Finding.Message += "; it stands so in the base tree"
		j.add(checks.ByID(f.Check), f.Path, checks.Outcome{Findings: []checks.Finding{f.Finding}})
	}
	for _, c := range checks.All {
		if n := hidden[c.ID]; n > 0 {
			j.add(c, checks.RegistrySubject, checks.Outcome{Findings: []checks.Finding{{Severity: checks.Warning, Code: "standing-faults",
				Message: fmt.Sprintf("%d more faults of this kind stand in the base tree", n)}}})
		}
	}
}

func (j *join) add(c *checks.Check, subject string, o checks.Outcome) {
	r := Result{Check: c.ID, Subject: subject, Verdict: outcomeVerdict(o), Reason: cmp.Or(o.Skipped, o.Doubtful, o.Verified)}
	for _, f := range o.Findings {
		r.Findings = append(r.Findings, findingOf(c, f))
	}
	j.merge(r)
}

// merge adds a result, to the one of the same check and subject where there is one.
func (j *join) merge(r Result) {
	key := r.Check + "\x00" + r.Subject
	i, found := j.at[key]
	if !found {
		sortFindings(r.Findings)
		j.at[key] = len(j.rep.Results)
		j.rep.Results = append(j.rep.Results, r)
		return
	}
	have := &j.rep.Results[i]
	if worse(r.Verdict, have.Verdict) {
		have.Verdict, have.Reason = r.Verdict, r.Reason
	}
	for _, f := range r.Findings {
		if !slices.Contains(have.Findings, f) {
			have.Findings = append(have.Findings, f)
		}
	}
	sortFindings(have.Findings)
}

func worse(a, b Verdict) bool {
	ranks := []Verdict{Skip, Pass, Warn, Inconclusive, Fail}
	return slices.Index(ranks, a) > slices.Index(ranks, b)
}

func outcomeVerdict(o checks.Outcome) Verdict {
	v := Pass
	if o.Skipped != "" {
		v = Skip
	}
	if o.Doubtful != "" {
		v = Inconclusive
	}
	for _, f := range o.Findings {
		switch f.Severity {
		case checks.Error:
			return Fail
		case checks.Doubt:
			v = Inconclusive
		case checks.Warning:
			if v == Pass || v == Skip {
				v = Warn
			}
		}
	}
	return v
}

func findingOf(c *checks.Check, f checks.Finding) Finding {
	return Finding{Severity: f.Severity.String(), Code: f.Code, Message: f.Message, Fix: f.Fix, Cite: c.Cite,
		File: f.Pos.Path, Line: f.Pos.Line, Column: f.Pos.Column, Pointer: f.Pointer, Commit: f.Commit}
}

func sortFindings(all []Finding) {
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
