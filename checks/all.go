package checks

import (
	"slices"

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

// The checks of an audit, which judge the registry as a whole beside what All judges.
var (
	History = &Check{
		ID:    "history",
		Title: "every first-parent commit obeys the rules of a pull request, as far as Git shows",
		Cite:  "RFC 0026 sections 7 and 8",
		Why:   "a mirror trusts neither the forge nor the maintainers",
		Fix:   "tell the maintainers which commit is at fault, and keep the copy that you verified before it",
		Codes: []Code{
			{"dated-before-parent", "a commit is dated before its first parent",
				"ask the maintainers who made the commit"},
			acceptedUnused,
		},
	}
	CommitSignatures = &Check{
		ID:    "commit-signatures",
		Title: "commits carry signatures by known keys",
		Cite:  "RFC 0026 section 8",
		Why:   "the forge is not the only one who could write a commit",
		Fix:   "ask who made the commit; complete the keyring or the allowed signers",
		Codes: []Code{
			{"signature-bad", "the commit's signature does not verify", "ask the maintainers who made the commit"},
			{"signature-unsigned", "the commit is not signed", "ask the maintainers who made the commit"},
			{"signature-unknown-key", "the commit is signed by a key that is in no given key file",
				"complete the keyring or the allowed signers"},
			{"signature-expired-key", "the commit is signed by a key that had expired",
				"ask the maintainers who made the commit"},
			acceptedUnused,
		},
	}
	Consistency = &Check{
		ID:    "consistency",
		Title: "the history continues what was verified before, and what other copies hold",
		Cite:  "RFC 0026 sections 7 and 8",
		Why:   "a rewritten history, or another one for other eyes, is the attack that a log exists to show",
		Fix:   "keep both copies, and tell the maintainers and the other mirrors",
		Codes: []Code{
			historyRewritten,
			{"head-in-future", "the head is dated ahead of now, so that nothing shows its age",
				"set the clock, or ask the maintainers who made the commit"},
			{"head-too-old", "the head is older than --max-age allows",
				"fetch the registry again, from more than one place"},
			{"peer-unavailable", "another copy of the registry could not be read; nothing was decided",
				"try again, or name another copy"},
			{"split-view", "two copies of the registry hold different histories",
				"keep both copies, and tell the maintainers and the other mirrors"},
			{"peer-behind", "another copy is behind this one", "nothing to do"},
			{"peer-ahead", "another copy is ahead of this one", "fetch the registry again"},
			acceptedUnused,
		},
	}
)

// Audit are the checks that only an audit has, in the order of the report, before All.
var Audit = []*Check{History, CommitSignatures, Consistency}

// ByID is the check of that id, nil where there is none.
func ByID(id string) *Check {
	for _, c := range slices.Concat(Audit, All) {
		if c.ID == id {
			return c
		}
	}
	return nil
}

var acceptedUnused = Code{"accepted-unused", "a line of --accepted is of no finding",
	"look whether its commit, check and code are right, or take the line out"}

var historyRewritten = Code{"history-rewritten", "the branch no longer holds a commit that it held before",
	"keep both copies, and tell the maintainers; the branch must be restored, and force pushes forbidden"}

// Rules are what the catalogue says of each check, in the order of a report.
func Rules() []verdict.Rule {
	var out []verdict.Rule
	for _, c := range slices.Concat(Audit, All) {
		out = append(out, c.Rule())
	}
	return out
}
