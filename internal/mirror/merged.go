package mirror

import (
	"cmp"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// fate is what becomes in an audit of a finding of a record that was merged.
type fate uint8

const (
	remains fate = iota
	// fact is a warning, with Strict an error: no fault of the registry.
	fact
	// vouched is a notice if others vouched for the record when it was merged, as for a listing at L4 or L5, a
	// revocation or an anchor: it was judged then. Otherwise the finding remains: a listing's own documents must be
	// valid today.
	vouched
	// past is a notice, and the check is skipped: nobody relies on the record any more.
	past
)

// fates say so by what the finding rests on, and whether its record is in force.
var fates = [...]struct{ inForce, over fate }{
	verdict.Text:   {remains, past},
	verdict.World:  {vouched, past},
	verdict.Lapsed: {fact, fact},
}

// soften makes of a check's outcome what it means in an audit. What a check that runs First found stays, and so does a
// notice.
func (a *audit) soften(s *checks.Subject, inForce bool, j *verdict.Judgement) {
	missing := ""
	for i := range j.Findings {
		f := &j.Findings[i]
		becomes := fates[f.Basis].over
		if inForce {
			becomes = fates[f.Basis].inForce
		}
		switch {
		case becomes == fact:
			f.Severity = verdict.Warning
			if a.cfg.Strict {
				f.Severity = verdict.Error
			}
		case f.Severity == verdict.Notice || checks.ByID(j.ID).First:
		case becomes == past:
			f.Severity = verdict.Notice
			missing = "the listing is no longer in force, and the evidence no longer holds or is not available"
		case becomes == vouched && s.Merged != nil:
			if f.Severity != verdict.Warning {
				f.Fix, f.Message = "", f.Message+"; it was judged when it was merged, and stays in force"
			}
			f.Severity = verdict.Notice
		}
	}
	if !inForce && j.Doubtful != checks.NotReached {
		j.DeferredTo = ""
		if skipped := cmp.Or(j.Doubtful, missing); skipped != "" {
			j.Outcome = verdict.Outcome{Skipped: skipped, Findings: j.Findings, Witnesses: j.Witnesses}
		}
	}
}

// listed returns the row of a listing. One that is in force is invalid or unreachable by its documents.
func listed(s *checks.Subject, is *checks.State, judged []verdict.Judgement) verdict.Listing {
	slug := verdict.Abridged(strings.TrimSuffix(strings.TrimPrefix(s.Path, s.Kind.Directory()+"/"), ".json"))
	if s.Listing == nil {
		return verdict.Listing{Slug: slug, Status: is.Status, RefusedBy: is.RefusedBy}
	}
	// The record's own strings are parts of its text, which would stay with them.
	all := slug + s.Listing.Name + s.Listing.ToolDID + string(s.Listing.Level)
	next := func(s string) (part string) {
		part, all = all[:len(s)], all[len(s):]
		return part
	}
	l := verdict.Listing{Slug: next(slug), Name: next(s.Listing.Name), ToolDID: next(s.Listing.ToolDID),
		Level: next(string(s.Listing.Level)), Status: is.Status,
		RefusedBy: is.RefusedBy, RevokedBy: is.RevokedBy, Archived: s.Facts.ReceiptText.Value.Gone != ""}
	if t := s.Listing.Issued; !t.IsZero() {
		l.IssuedAt = &t
	}
	if t := s.Listing.Expires; !t.IsZero() {
		l.ExpiresAt = &t
	}
	for _, j := range judged {
		l.Witnesses = append(l.Witnesses, j.Witnesses...)
	}
	if !is.InForce() {
		return l
	}
	worst := verdict.Passed
	for _, j := range judged {
		if v, err := j.Verdict(); err == nil && v.Worse(worst) { // an outcome that says nothing ends the audit
			worst = v
		}
	}
	switch {
	case slices.ContainsFunc(judged, func(j verdict.Judgement) bool { return checks.WitnessRevoked(j.Outcome) }):
		l.Status, l.RefusedBy = verdict.StatusRefused, "witness-revoked"
	case worst == verdict.Failed:
		l.Status = verdict.StatusInvalid
	case worst == verdict.Inconclusive:
		l.Status = verdict.StatusUnreachable
	}
	return l
}
