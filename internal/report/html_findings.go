package report

import (
	"cmp"
	"iter"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// severityGroup is the findings of one severity. More counts those that have no room.
type severityGroup struct {
	Severity    verdict.Severity
	Title       string
	Count, More int
	Chunks      []chunk[findingRow]
}

type findingRow struct {
	placed
	Check, Place string
	Noted        string // date and subject of the commit
}

// groupTitles of the findings of each severity.
var groupTitles = [...]string{verdict.Error: "Errors", verdict.Doubt: "Inconclusive", verdict.Warning: "Warnings",
	verdict.Notice: "Notices"}

// ofHistory are the checks whose findings are shown with the history.
var ofHistory = []string{"history", "commit-signatures", "consistency"}

func groupFindings(r *verdict.Report, all iter.Seq[placed], left *budget, wanted func(placed) bool) []severityGroup {
	// Each severity keeps as many as would fit if no other existed.
	var found [len(groupTitles)]struct {
		rows  []findingRow
		count int
		room  budget
	}
	for s := range found {
		found[s].room = *left
	}
	for f := range all {
		if !wanted(f) {
			continue
		}
		of, row := &found[f.Severity], findingRow{f, f.check, place(f), noted(r, f.Commit)}
		if of.count++; row.fits(&of.room) {
			of.rows = append(of.rows, row)
		}
	}
	var groups []severityGroup
	shown := 0
	for s, of := range found {
		if of.count == 0 {
			continue
		}
		kept := of.rows
		for i, row := range kept {
			if !row.fits(left) {
				kept = kept[:i]
				break
			}
		}
		if len(of.rows) < of.count {
			*left = 0
		}
		groups = append(groups, severityGroup{verdict.Severity(s), groupTitles[s], of.count, of.count - len(kept),
			chunks(kept, &shown)})
	}
	return groups
}

// commitBlock is one commit of a history of which each was judged by itself.
type commitBlock struct {
	Title    string
	Results  []titled
	Findings []severityGroup
}

// commitBlocks returns a block for each commit, in the order of the history.
func commitBlocks(r *Counted, rules []verdict.Rule) []commitBlock {
	titles := commitTitles(r.Report)
	rows, findings, known := resultsRoom, findingsRoom, byID(rules)
	var all []commitBlock
	for results := range r.Results.BySubject() {
		block := commitBlock{Title: cmp.Or(titles[results[0].Subject], line(results[0].Subject)),
			Results: titledResults(&rows, results, known)}
		block.Findings = groupFindings(&verdict.Report{}, func(yield func(placed) bool) {
			for _, result := range results {
				for f := range findingsOf(result) {
					if f.Commit = ""; !yield(f) { // the title names it
						return
					}
				}
			}
		}, &findings, func(placed) bool { return true })
		all = append(all, block)
	}
	return all
}

func (row findingRow) fits(left *budget) bool {
	return left.take(360, row.Place, row.Check, row.Code, row.Message, row.Fix, row.Cite, row.Commit, row.Noted,
		row.Pointer)
}

// historyView is the history with the results of the checks on it.
type historyView struct {
	*verdict.History
	Age      string
	Verified string // the last verified tip
	Judged   bool
	Peers    []verdict.Peer
	PeersCut int
	Results  []verdict.Result
	Findings []severityGroup
}

func newHistory(r *Counted) *historyView {
	if r.History == nil {
		return nil
	}
	v := &historyView{History: r.History, Age: sinceHead(r.Report), Verified: noted(r.Report, r.History.Checkpoint)}
	left := historyRoom / 2
	for _, peer := range r.History.Peers {
		if !left.take(220, peer.Name, peer.Name, peer.Tip, peer.State) {
			break
		}
		v.Peers = append(v.Peers, peer)
	}
	v.PeersCut = len(r.History.Peers) - len(v.Peers)
	for _, result := range r.whole {
		if left.take(160, result.Check, result.Reason) {
			v.Results = append(v.Results, result)
		}
	}
	n := r.History.Signatures
	v.Judged = n.Good+n.Bad+n.Unsigned+n.UnknownKey+n.ExpiredKey+n.RevokedKey > 0
	left = historyRoom / 2
	v.Findings = groupFindings(r.Report, r.findings(), &left,
		func(f placed) bool { return slices.Contains(ofHistory, f.check) })
	return v
}
