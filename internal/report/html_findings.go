package report

import (
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/gate"
)

// severityGroup is the findings of one severity. More counts those that have no room.
type severityGroup struct {
	Severity, Title string
	Count, More     int
	Chunks          []chunk[findingRow]
}

type findingRow struct {
	placed
	Check, Place string
	Noted        string // of the commit
}

// severities, worst first. A severity that is none of ours comes last.
var severities = []struct{ word, title string }{
	{"error", "Errors"}, {"inconclusive", "Inconclusive"}, {"warning", "Warnings"}, {"notice", "Notices"}, {"", "Others"},
}

// ofHistory are the checks whose findings stand beside the history.
var ofHistory = []string{"history", "commit-signatures", "consistency"}

func severityGroups(r *gate.Report) []severityGroup {
	return groupFindings(r, findingsRoom, func(f placed) bool { return !slices.Contains(ofHistory, f.check) })
}

func groupFindings(r *gate.Report, left room, wanted func(placed) bool) []severityGroup {
	bySeverity := map[string][]findingRow{}
	for _, f := range findings(r) {
		if wanted(f) {
			s := known(f.Severity)
			bySeverity[s] = append(bySeverity[s], findingRow{f, f.check, place(f), noted(r, f.Commit)})
		}
	}
	var groups []severityGroup
	shown := 0
	for _, s := range severities {
		rows := bySeverity[s.word]
		if len(rows) == 0 {
			continue
		}
		kept := rows
		for i, row := range rows {
			if !left.take(360, row.Place, row.Check, row.Code, row.Message, row.Fix, row.Cite, row.Commit, row.Noted, row.Pointer) {
				kept = rows[:i]
				break
			}
		}
		groups = append(groups, severityGroup{s.word, s.title, len(rows), len(rows) - len(kept), chunks(kept, &shown)})
	}
	return groups
}

func known(severity string) string {
	for _, s := range severities {
		if s.word == severity {
			return severity
		}
	}
	return ""
}

// historyView is the history with the results of the checks on it.
type historyView struct {
	*gate.History
	Age      string
	Verified string // of the last verified tip
	Judged   bool
	Peers    []gate.Peer
	PeersCut int
	Results  []gate.Result
	Findings []severityGroup
}

func newHistory(r *gate.Report) *historyView {
	if r.History == nil {
		return nil
	}
	v := &historyView{History: r.History, Age: duration(r.EvaluatedAt.Sub(r.History.HeadTime)),
		Verified: noted(r, r.History.Checkpoint)}
	left := historyRoom / 2
	for _, peer := range r.History.Peers {
		if !left.take(220, peer.Name, peer.Name, peer.Tip, peer.State) {
			break
		}
		v.Peers = append(v.Peers, peer)
	}
	v.PeersCut = len(r.History.Peers) - len(v.Peers)
	for _, result := range r.Results {
		if slices.Contains(ofHistory, result.Check) && result.Subject == wholeRegistry && left.take(160, result.Check, result.Reason) {
			v.Results = append(v.Results, result)
		}
	}
	n := r.History.Signatures
	v.Judged = n.Good+n.Bad+n.Unsigned+n.UnknownKey+n.ExpiredKey > 0
	v.Findings = groupFindings(r, historyRoom/2, func(f placed) bool { return slices.Contains(ofHistory, f.check) })
	return v
}
