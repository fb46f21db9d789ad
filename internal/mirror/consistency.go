package mirror

import (
	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

var consistency = verdict.Rule{
	ID:    "consistency",
	Title: "the history continues what was verified before, and what other copies hold",
	Cite:  "RFC 0026 sections 7 and 8",
	Why:   "a log exists to show that a history was rewritten, or that two readers have different ones",
	Fix:   "keep both copies, and tell the maintainers and the other mirrors",
	Codes: []checks.Code{
		checks.HistoryRewritten,
		{ID: codeServedOlder, Meaning: "the origin serves a commit before the one that the mirror verified last",
			Fix: "run again later; if it stays so, ask the maintainers whether they reset the branch"},
		{ID: "checkpoint-behind", Meaning: "a mirror's checkpoint is of a commit before that of its branch",
			Fix: "none needed if a backup of the checkpoint was put back"},
		{ID: "clone-repaired", Meaning: "a file or an object of the mirror's clone was damaged and is repaired",
			Fix: "check the disk if it happens again"},
		{ID: "rewritten-not-kept", Meaning: "a tip before a rewrite is not kept: the mirror has as many as it may",
			Fix: "look at what the origin served"},
		{ID: codeOriginMoved, Meaning: "the origin redirects to another repository, or the mirror took a new URL",
			Fix: "take the new URL from the old registry or its Maintainers, and give --moved-from"},
		checks.CommitBackdated,
		{ID: "head-in-future", Meaning: "the head is dated ahead of now, so that nothing shows its age",
			Fix: "set the clock, or ask the maintainers who made the commit"},
		{ID: "head-too-old", Meaning: "the head is older than --max-age allows",
			Fix: "fetch the registry again, from more than one place"},
		{ID: codeUnavailable, Meaning: "another copy of the registry could not be read",
			Fix: "try again, or name another copy"},
		{ID: "peers-too-few", Meaning: "fewer peers than --peers-needed answered and hold the tip that was " +
			"verified before; the branch does not move",
			Fix: "run the mirror again once the peers have fetched the registry"},
		{ID: "split-view", Meaning: "two copies of the registry hold different histories",
			Fix: "keep both copies, and tell the maintainers and the other mirrors"},
		{ID: "peer-behind", Meaning: "another copy is behind this one", Fix: "nothing to do"},
		{ID: "peer-ahead", Meaning: "another copy is ahead of this one", Fix: "fetch the registry again"},
		acceptedUnused,
	},
}

const codeOriginMoved = "origin-moved"

// judgeConsistency returns what comparing with a checkpoint and with peers found, before the walk.
func judgeConsistency(a *audit) (verdict.Outcome, error) {
	switch {
	case len(a.cfg.Consistency) > 0:
		return verdict.Outcome{Findings: a.cfg.Consistency}, nil
	case a.cfg.Checkpoint == "" && len(a.cfg.Peers) == 0:
		return verdict.Skip("no --checkpoint to compare with, and no --peer"), nil
	}
	return verdict.Pass("the checkpoint and every peer lie on this history"), nil
}
