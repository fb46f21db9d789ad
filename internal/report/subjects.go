package report

import (
	"cmp"
	"iter"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// bySubject returns the results of each subject, which are together in the report that a run makes. A yielded slice is
// valid until the next one is yielded.
func bySubject(r *verdict.Report) iter.Seq[[]verdict.Result] {
	return func(yield func([]verdict.Result) bool) {
		var group []verdict.Result
		for result := range r.Results.All() {
			if len(group) > 0 && group[0].Subject != result.Subject {
				if !yield(group) {
					return
				}
				group = group[:0]
			}
			group = append(group, result)
		}
		if len(group) > 0 {
			yield(group)
		}
	}
}

// together returns results with those of a subject in one place, where its first one is.
func together(all []verdict.Result) []verdict.Result {
	first := map[string]int{}
	for i, result := range all {
		if _, there := first[result.Subject]; !there {
			first[result.Subject] = i
		}
	}
	slices.SortStableFunc(all, func(a, b verdict.Result) int {
		return cmp.Compare(first[a.Subject], first[b.Subject])
	})
	return all
}
