package mirror

import (
	"cmp"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
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
func (a *audit) soften(s *checks.Subject, status string, j *judge.Judgement) {
	inForce := status == verdict.StatusValid || status == ""
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
		case f.Severity == verdict.Notice || j.Check.First:
		case becomes == past:
			f.Severity = verdict.Notice
			missing = "the listing is no longer in force, and the evidence no longer holds or is not available"
		case becomes == vouched && s.Then != nil:
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

// status returns what is known about a listing before its evidence is judged.
func (a *audit) status(run *checks.Run, s *checks.Subject) string {
	switch {
	case s.Kind != registry.KindListing || s.Listing == nil:
		return ""
	case run.Revoked(s.Path, s.Listing.ReceiptSHA256) != "":
		return verdict.StatusRevoked
	case !s.Listing.Expires.IsZero() && !run.Now.Before(s.Listing.Expires):
		return verdict.StatusExpired
	}
	return verdict.StatusValid
}

func listed(run *checks.Run, s *checks.Subject, status string, judged []judge.Judgement) verdict.Listing {
	// The record's own strings are parts of its text, which would stay with them.
	all := s.Listing.Slug + s.Listing.Name + s.Listing.ToolDID + string(s.Listing.Level)
	next := func(s string) (part string) {
		part, all = all[:len(s)], all[len(s):]
		return part
	}
	l := verdict.Listing{Slug: next(s.Listing.Slug), Name: next(s.Listing.Name), ToolDID: next(s.Listing.ToolDID),
		Level: next(string(s.Listing.Level)), Status: status,
		RevokedBy: run.Revoked(s.Path, s.Listing.ReceiptSHA256), Archived: s.Facts.ReceiptText.Value.Gone != ""}
	if t := s.Listing.Issued; !t.IsZero() {
		l.IssuedAt = &t
	}
	if t := s.Listing.Expires; !t.IsZero() {
		l.ExpiresAt = &t
	}
	for _, j := range judged {
		l.Witnesses = append(l.Witnesses, j.Witnesses...)
	}
	if status != verdict.StatusValid {
		return l
	}
	worst := verdict.Passed
	for _, j := range judged {
		if v, err := j.Verdict(); err == nil && v.Worse(worst) { // an outcome that says nothing ends the audit
			worst = v
		}
	}
	switch {
	case worst == verdict.Failed:
		l.Status = verdict.StatusInvalid
	case worst == verdict.Inconclusive:
		l.Status = verdict.StatusUnreachable
	case registry.Provisional(s.Listing.Provisional, s.Stood, run.Now):
		l.Status = verdict.StatusProvisional
	case s.Listing.Expires.Sub(run.Now) < verdict.Soon:
		l.Status = verdict.StatusExpiring
	}
	return l
}
