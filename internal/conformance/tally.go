package conformance

import (
	"cmp"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Catalogue returns the entries of rules whose judgment is what was found.
func Catalogue(rules []verdict.Rule) []verdict.Entry[verdict.Outcome] {
	return verdict.Entries(rules, func(rule verdict.Rule, found verdict.Outcome) (verdict.Outcome, error) {
		return Fixed(rule, found), nil
	})
}

// Fixed gives each finding without a fix that of its code, unless none is needed.
func Fixed(rule verdict.Rule, found verdict.Outcome) verdict.Outcome {
	for i, f := range found.Findings {
		if fix := rule.FixOf(f.Code); !strings.HasPrefix(fix, "none needed") {
			found.Findings[i].Fix = cmp.Or(f.Fix, fix)
		}
	}
	return found
}

// Tally collects the results of a catalogue whose rules are judged on any number of subjects, in the order in which a
// run comes by them.
type Tally struct {
	Catalogue []verdict.Entry[verdict.Outcome]
	Results   []verdict.Result
	Err       error // that of the first outcome that says nothing
}

// Add adds the result of the rule of that id on a subject.
func (t *Tally) Add(id, subject string, found verdict.Outcome) {
	i := slices.IndexFunc(t.Catalogue, func(e verdict.Entry[verdict.Outcome]) bool { return e.ID == id })
	results, err := verdict.Judge(t.Catalogue[i:i+1], nil, found, subject)
	t.Results, t.Err = append(t.Results, results...), cmp.Or(t.Err, err)
}
