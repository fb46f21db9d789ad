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

// groupFindings returns the wanted findings, the most severe first in what is left of the room. counts are how many
// there are of each severity, wanted or not.
func groupFindings(r *verdict.Report, counts [4]int, all iter.Seq[placed], left *budget,
	wanted func(placed) bool) []severityGroup {
	var groups []severityGroup
	shown := 0
	for s, title := range groupTitles {
		if counts[s] == 0 {
			continue
		}
		g := severityGroup{Severity: verdict.Severity(s), Title: title}
		var rows []findingRow
		for f := range all {
			if f.Severity != g.Severity || !wanted(f) {
				continue
			}
			row := findingRow{f, f.check, place(f), noted(r, f.Commit)}
			if g.Count++; row.fits(left) {
				rows = append(rows, row)
			}
		}
		if g.Count > 0 {
			g.More, g.Chunks = g.Count-len(rows), chunks(rows, &shown)
			groups = append(groups, g)
		}
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
	for results := range bySubject(r.Report) {
		block := commitBlock{Title: cmp.Or(titles[results[0].Subject], line(results[0].Subject)),
			Results: titledResults(&rows, results, known)}
		block.Findings = groupFindings(&verdict.Report{}, r.severities, func(yield func(placed) bool) {
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
	ThisRun  string // what became of the checkpoint
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
	v := &historyView{History: r.History, Age: sinceHead(r.Report), Verified: noted(r.Report, r.History.Checkpoint),
		ThisRun: checkpointFile(r.Report)}
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
	v.Findings = groupFindings(r.Report, r.severities, r.findings(), &left,
		func(f placed) bool { return slices.Contains(ofHistory, f.check) })
	return v
}
