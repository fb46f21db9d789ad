package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Join joins the outcomes of ranges that are of the same check and subject, for a report.
type Join struct {
	rep *verdict.Report
	all []verdict.Result
	at  map[[2]string]int // check and subject -> index in all

	unreached map[string]*unreached // by the id of the check
	denied    *verdict.Rule         // the first that is inconclusive because the resolver denies all names; nil: none
	judged    map[string]string     // path -> SHA-256 of the record as it would land
	kind      string                // what the ranges change; "" if nothing yet
	decided   bool                  // all the changes are routine
}

// unreached are the records that the run's budget left no time for.
type unreached struct {
	count int
	first string // path
}

// NewJoin returns a Join without results.
func NewJoin(rep *verdict.Report) *Join {
	return &Join{rep: rep, at: map[[2]string]int{}, unreached: map[string]*unreached{},
		judged: map[string]string{}, decided: true}
}

// changes notes a change of that kind, and whether it is routine.
func (j *Join) changes(kind string, routine bool) {
	if j.kind != "" && j.kind != kind {
		kind = "mixed"
	}
	j.kind, j.decided = kind, j.decided && routine
}

// settled sets what the report says about the changes as a whole.
func (j *Join) settled() {
	sound := j.rep.Verdict == verdict.Passed && len(j.rep.Assumed)+len(j.rep.NotRun) == 0
	for r := range j.rep.Results.All() {
		for _, f := range r.Findings {
			sound = sound && f.Severity == verdict.Notice
		}
	}
	routine := sound && j.kind != "" && j.decided
	j.rep.Kind, j.rep.Routine = cmp.Or(j.kind, "mixed"), &routine
}

// Done gives the report what was joined.
func (j *Join) Done() {
	j.rep.Results.Add(j.all...)
	j.all = nil
	for _, path := range slices.Sorted(maps.Keys(j.judged)) {
		j.rep.Judged = append(j.rep.Judged, verdict.Digest{Name: path, SHA256: j.judged[path]})
	}
}

// takes notes the digest of a record that is about to be judged. What a later range makes of the path counts.
func (j *Join) takes(s *checks.Subject) {
	switch {
	case s.Unchanged():
	case s.Record == nil || s.Record.Document == nil:
		delete(j.judged, s.Path)
	default:
		j.judged[s.Path] = plain.SHA256(s.Record.Document.Data)
	}
	j.changes(s.ChangeKind(), s.Routine())
}

func (j *Join) subject(s *checks.Subject, judged []verdict.Judgement) error {
	if !s.Unchanged() {
		j.rep.Counts.Records++
	}
	j.Note(s.Path, judged)
	for _, one := range judged {
		if err := j.Add(*one.Rule, s.Path, one.Outcome); err != nil {
			return err
		}
	}
	return nil
}

// SuffixList warns of a replay under another Public Suffix List than the recorded run's, if a check needs one.
func (j *Join) SuffixList(cfg Config) error {
	for _, c := range checks.All {
		if !c.Domains || !cfg.Selected(c.ID) {
			continue
		}
		var out verdict.Outcome
		if !cfg.Recorded.Differs(&out) {
			return nil
		}
		return j.Add(c.Rule(), checks.RegistrySubject, out)
	}
	return nil
}

// Registry judges the registry as a whole.
func (j *Join) Registry(run *checks.Run) error {
	results, err := verdict.Judge(ofRegistry, func(id string) bool {
		return !run.Asks.AsIs || !checks.ByID(id).PerCommit
	}, run, checks.RegistrySubject)
	j.Merge(results...)
	return err
}

// ofRegistry are the checks that judge the registry as a whole.
var ofRegistry = func() (out []verdict.Entry[*checks.Run]) {
	for _, c := range checks.All {
		if c.RunRegistry != nil {
			out = append(out, verdict.Entry[*checks.Run]{Rule: c.Rule(), Judge: func(run *checks.Run) (
				verdict.Outcome, error) {
				return judgeRegistry(run, c)
			}})
		}
	}
	return out
}()

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

// Note counts the record for each check that the budget left no time for, and notes whether the resolver denies all
// names. [Join.Common] reports both once, so a finding about the resolver loses its fix.
func (j *Join) Note(path string, judged []verdict.Judgement) {
	for _, one := range judged {
		for i := range one.Findings {
			if f := &one.Findings[i]; f.Code == evidence.CodeDeniesAll {
				if f.Fix = ""; f.Severity == verdict.Doubt {
					j.denied = cmp.Or(j.denied, one.Rule)
				}
			}
		}
		if one.Doubtful != checks.NotReached {
			continue
		}
		if j.unreached[one.ID] == nil {
			j.unreached[one.ID] = &unreached{first: path}
		}
		j.unreached[one.ID].count++
	}
}

// Common says about the records noted since it was called last that the resolver denies all names, and for how many of
// them the budget left a check no time.
func (j *Join) Common() error {
	if j.denied != nil {
		out := verdict.Outcome{Findings: []verdict.Finding{{Severity: verdict.Doubt, Code: evidence.CodeDeniesAll,
			Message: evidence.DeniedToo, Fix: evidence.DeniesAll.Fix}}}
		if err := j.Add(*j.denied, checks.RegistrySubject, out); err != nil {
			return err
		}
	}
	for _, c := range checks.All {
		u := j.unreached[c.ID]
		if u == nil {
			continue
		}
		what := u.first + " was not judged"
		if u.count > 1 {
			what = fmt.Sprintf("%d records were not judged, the first is %s", u.count, u.first)
		}
		if err := j.Add(c.Rule(), checks.RegistrySubject, BudgetSpent(what)); err != nil {
			return err
		}
	}
	clear(j.unreached)
	return nil
}

// BudgetSpent returns the outcome of what the run's budget left no time for.
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
		f.Finding.Message += "; the base tree has it already"
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
			Message: fmt.Sprintf("the base tree has %d more faults of this kind", n)}}}
		if err := j.Add(c.Rule(), checks.RegistrySubject, out); err != nil {
			return err
		}
	}
	return nil
}

// Add joins the outcome of the check of that rule on a subject. The error wraps verdict.ErrUnsaid.
func (j *Join) Add(rule verdict.Rule, subject string, o verdict.Outcome) error {
	r, err := o.Result(rule, subject)
	if err == nil {
		j.Merge(r)
	}
	return err
}

// Merge adds results, each to the one of the same check and subject where there is one.
func (j *Join) Merge(results ...verdict.Result) {
	for _, r := range results {
		key := [2]string{r.Check, r.Subject}
		if i, found := j.at[key]; found {
			j.all[i].Join(r)
			continue
		}
		j.at[key] = len(j.all)
		j.all = append(j.all, r)
	}
}

// MaxCommits is how many commits a report names at most.
const MaxCommits = 200

// NameCommits describes the commits that the report names, in the order of their ids. It leaves out one that cannot be
// read: what that means was judged elsewhere.
func NameCommits(rep *verdict.Report, repo *registry.Repository) {
	ids := []string{rep.Base, rep.Head, rep.MergeBase}
	if rep.History != nil {
		ids = append(ids, rep.History.Checkpoint)
	}
	for r := range rep.Results.All() {
		if len(ids) >= MaxCommits {
			break
		}
		for _, f := range r.Findings {
			if len(ids) < MaxCommits {
				ids = append(ids, f.Commit)
			}
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if id == "" {
			continue
		}
		c, err := repo.CommitObject(id)
		if err != nil {
			continue
		}
		rep.Commits = append(rep.Commits, verdict.NewCommit(id, c.When, c.Message))
	}
}
