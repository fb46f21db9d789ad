package gate

import (
	"fmt"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Join adds the outcomes of one range to a report that may hold those of earlier ones.
type Join struct {
	rep *verdict.Report
	at  map[[2]string]int // check and subject -> index in the results
}

// NewJoin is one for a report, with what that holds already.
func NewJoin(rep *verdict.Report) *Join {
	j := &Join{rep: rep, at: map[[2]string]int{}}
	for i, r := range rep.Results {
		j.at[[2]string{r.Check, r.Subject}] = i
	}
	return j
}

func (j *Join) subject(s *checks.Subject, judged []Judgement) error {
	if !s.Unchanged() {
		j.rep.Counts.Records++
	}
	for _, one := range judged {
		if err := j.Add(one.Check.Rule(), s.Path, one.Outcome); err != nil {
			return err
		}
	}
	return nil
}

// Registry judges the registry as a whole.
func (j *Join) Registry(run *checks.Run) error {
	for _, c := range checks.All {
		if c.RunRegistry == nil || run.Audit && c.PerCommit {
			continue
		}
		out, err := judgeRegistry(run, c)
		if err != nil {
			return err
		}
		if err := j.Add(c.Rule(), checks.RegistrySubject, out); err != nil {
			return err
		}
	}
	return nil
}

func judgeRegistry(run *checks.Run, c *checks.Check) (verdict.Outcome, error) {
	switch {
	case !run.Selected(c.ID):
		return verdict.Skip(checks.LeftOut), nil
	case !run.Reaches(c.ID, checks.RegistrySubject):
		return BudgetSpent("the registry as a whole was not judged"), nil
	}
	out, err := c.RunRegistry(run)
	if run.Offline && c.Online() && len(out.Findings) == 0 {
		out.Skipped = checks.Offline // a pass would contradict what the report counts as not run
	}
	return out, err
}

// NotReached says of each check how many of the run's records the budget left no time for.
func (j *Join) NotReached(run *checks.Run, judged [][]Judgement) error {
	count, first := map[*checks.Check]int{}, map[*checks.Check]string{}
	for i, all := range judged {
		for _, one := range all {
			if one.Doubtful != checks.NotReached {
				continue
			}
			if count[one.Check]++; count[one.Check] == 1 {
				first[one.Check] = run.Subjects[i].Path
			}
		}
	}
	for _, c := range checks.All {
		what := first[c] + " was not judged"
		switch n := count[c]; {
		case n == 0:
			continue
		case n > 1:
			what = fmt.Sprintf("%d records were not judged, the first is %s", n, first[c])
		}
		if err := j.Add(c.Rule(), checks.RegistrySubject, BudgetSpent(what)); err != nil {
			return err
		}
	}
	return nil
}

// BudgetSpent is the outcome of what the run's budget left no time for.
func BudgetSpent(what string) verdict.Outcome {
	return verdict.Outcome{Doubtful: checks.NotReached,
		Findings: []verdict.Finding{{Severity: verdict.Doubt, Code: evidence.CodeBudget,
			Message: what + ": the run's budget was spent before",
			Fix:     "run it again, with a longer --budget or fewer records at once"}}}
}

// maxStanding is how many faults that stand in the base tree are shown; the rest is counted.
const maxStanding = 100

func (j *Join) standing(run *checks.Run) error {
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
		out := verdict.Outcome{Findings: []verdict.Finding{f.Finding}}
		if err := j.Add(checks.ByID(f.Check).Rule(), f.Path, out); err != nil {
			return err
		}
	}
	for _, c := range checks.All {
		n := hidden[c.ID]
		if n == 0 {
			continue
		}
		out := verdict.Outcome{Findings: []verdict.Finding{{Severity: verdict.Warning, Code: "standing-faults",
			Message: fmt.Sprintf("%d more faults of this kind stand in the base tree", n)}}}
		if err := j.Add(c.Rule(), checks.RegistrySubject, out); err != nil {
			return err
		}
	}
	return nil
}

// Add adds the outcome of the check of that rule on a subject. The error wraps verdict.ErrUnsaid.
func (j *Join) Add(rule verdict.Rule, subject string, o verdict.Outcome) error {
	r, err := o.Result(rule, subject)
	if err == nil {
		j.Merge(r)
	}
	return err
}

// Merge adds a result, to the one of the same check and subject where there is one.
func (j *Join) Merge(r verdict.Result) {
	key := [2]string{r.Check, r.Subject}
	if i, found := j.at[key]; found {
		j.rep.Results[i].Join(r)
		return
	}
	j.at[key] = len(j.rep.Results)
	j.rep.Results = append(j.rep.Results, r)
}
