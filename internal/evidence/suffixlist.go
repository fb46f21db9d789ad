package evidence

import (
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// SuffixList returns the embedded Public Suffix List.
func SuffixList() *verdict.SuffixList {
	return &verdict.SuffixList{Date: domainage.ListDate, SHA256: domainage.ListSHA256}
}

// CodeSuffixList marks a replay under another Public Suffix List than the recorded run's.
const CodeSuffixList = "suffix-list-differs"

// SuffixListCode explains CodeSuffixList.
var SuffixListCode = strict.Code{CodeSuffixList, "the bundle was recorded with another Public Suffix List, so that " +
	"other hosts may share a registrable domain", suffixListFix}

const suffixListFix = "replay it with the build that the bundle names, or record a new bundle with --record"

// Recorded is what a bundle that is replayed says about the build that recorded it.
type Recorded struct{ List *verdict.SuffixList } // nil: the bundle names none

// SuffixList returns what a report names: the embedded list, or nil in the replay of a bundle that names none. A nil
// Recorded is a live run.
func (r *Recorded) SuffixList() *verdict.SuffixList {
	if r != nil && r.List == nil {
		return nil
	}
	return SuffixList()
}

// Differs adds a warning where the bundle names another list than the embedded one, and reports whether it did.
func (r *Recorded) Differs(o *verdict.Outcome) bool {
	if r == nil || r.List == nil || *r.List == *SuffixList() {
		return false
	}
	o.Warnf(verdict.At{}, "", CodeSuffixList,
		"the bundle names the Public Suffix List of %.40s (SHA-256 %.64s); expected that of this build, of %s (SHA-256 %s)",
		r.List.Date, r.List.SHA256, domainage.ListDate, domainage.ListSHA256).WithFix(suffixListFix)
	return true
}
