package checks

import (
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// All are the checks in catalogue order, which is the order of the report. An id is public and never
// renamed.
var All = []*Check{
	layout,
	schema,
	appendOnly,
	reissue,
	nameSimilarity,
	didResolution,
	manifestReachability,
	manifestDID,
	receiptFetch,
	receiptClaims,
	receiptSignature,
	receiptValidity,
	peerWitnesses,
	externalAudit,
	domainAge,
	fallbackPolicy,
	revocations,
	workflowAnchors,
}

// wellFormed are those after which a check comes that judges what a record says.
var wellFormed = []*Check{appendOnly, layout, schema}

// ByID returns the check of that id, or nil.
func ByID(id string) *Check {
	for _, c := range All {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// CodeHistoryRewritten marks a base, or a verified tip, that the history has lost.
const CodeHistoryRewritten = "history-rewritten"

// HistoryRewritten explains that code.
var HistoryRewritten = Code{CodeHistoryRewritten, "the branch no longer holds a commit that it held before",
	"keep both copies, and tell the maintainers; the branch must be restored, and force pushes forbidden"}

// A Rule is what the catalogue says about one check, one sentence each.
type Rule = verdict.Rule

// Rules returns what the catalogue says about each check, in the order of a report.
func Rules() []Rule { return verdict.Rules(OfRecords) }

// OfRecords are the checks of All as the runner of a catalogue takes them.
var OfRecords = func() []verdict.Entry[*Subject] {
	var out []verdict.Entry[*Subject]
	for _, c := range All {
		out = append(out, verdict.Entry[*Subject]{Rule: c.Rule(), Judge: c.Judge})
	}
	return out
}()
