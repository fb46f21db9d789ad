package gate

import (
	"cmp"
	"fmt"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// join joins the outcomes of ranges that are of the same check and subject, for a report.
type join struct {
	rep *verdict.Report
	all []verdict.Result
	at  map[[2]string]int // check and subject -> index in all
	err error             // the first outcome in which nothing was said
}

func newJoin(rep *verdict.Report) *join { return &join{rep: rep, at: map[[2]string]int{}} }

// done gives the report what was joined.
func (j *join) done() error {
	j.rep.Results.Add(j.all...)
	j.all = nil
	return j.err
}

func (j *join) subject(s *checks.Subject, judged []judgement) {
	if !s.Unchanged() {
		j.rep.Counts.Records++
	}
	for _, one := range judged {
		j.add(one.check, s.Path, one.Outcome)
	}
}

func (j *join) registry(run *checks.Run) error {
	for _, c := range checks.All {
		if c.RunRegistry == nil || run.Audit && c.PerCommit {
			continue
		}
		if !run.Selected(c.ID) {
			j.add(c, checks.RegistrySubject, verdict.Outcome{Skipped: checks.LeftOut})
			continue
		}
		if !run.Reaches(c.ID, checks.RegistrySubject) {
			j.add(c, checks.RegistrySubject, budgetSpent("the registry as a whole was not judged"))
			continue
		}
		out, err := c.RunRegistry(run)
		if err != nil {
			return err
		}
		if run.Offline && c.Online() && len(out.Findings) == 0 {
			out.Skipped = checks.Offline // a pass would contradict what the report counts as not run
		}
		j.add(c, checks.RegistrySubject, out)
	}
	return nil
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
			j.add(c, checks.RegistrySubject,
				budgetSpent(fmt.Sprintf("%d records were not judged, the first is %s", n, first[c])))
		}
	}
}

// budgetSpent is the outcome of what the run's budget left no time for.
func budgetSpent(what string) verdict.Outcome {
	return verdict.Outcome{Doubtful: checks.NotReached,
		Findings: []verdict.Finding{{Severity: verdict.Doubt, Code: evidence.CodeBudget,
			Message: what + ": the run's budget was spent before",
			Fix:     "run it again, with a longer --budget or fewer records at once"}}}
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
		f.Finding.Severity = verdict.Warning
		f.Finding.Message += "; it stands so in the base tree"
		j.add(checks.ByID(f.Check), f.Path, verdict.Outcome{Findings: []verdict.Finding{f.Finding}})
	}
	for _, c := range checks.All {
		if n := hidden[c.ID]; n > 0 {
			j.add(c, checks.RegistrySubject,
				verdict.Outcome{Findings: []verdict.Finding{{Severity: verdict.Warning, Code: "standing-faults",
					Message: fmt.Sprintf("%d more faults of this kind stand in the base tree", n)}}})
		}
	}
}

func (j *join) add(c *checks.Check, subject string, o verdict.Outcome) {
	r, err := o.Result(c.Rule(), subject)
	if err != nil {
		j.err = cmp.Or(j.err, err)
		return
	}
	j.merge(r)
}

// alone gives the report an outcome that no other is to be joined with.
func (j *join) alone(c *checks.Check, subject string, o verdict.Outcome) {
	r, err := o.Result(c.Rule(), subject)
	if err != nil {
		j.err = cmp.Or(j.err, err)
		return
	}
	j.rep.Results.Add(r)
}

// merge adds a result, to the one of the same check and subject where there is one.
func (j *join) merge(r verdict.Result) {
	key := [2]string{r.Check, r.Subject}
	if i, found := j.at[key]; found {
		j.all[i].Join(r)
		return
	}
	j.at[key] = len(j.all)
	j.all = append(j.all, r)
}
