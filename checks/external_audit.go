package checks

import (
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var externalAudit = &Check{
	ID:    "external-audit",
	Title: "an L5 Receipt declares an external security audit in force",
	Cite:  "RFC 0026 section 10",
	Why:   "L5 needs somebody outside the circle of witnesses to have looked",
	Fix:   "attest again with external_audit: framework, auditor_did and a valid_until in the future",
	Kinds: []registry.Kind{registry.KindListing},
	Needs: needs(evidence.ReceiptText, evidence.Receipt),
	Reads: []string{"/conformance_level"},
	Applies: func(s *Subject) string {
		if level := s.Listing.Level.Base(); level < 0 || level == 5 {
			return ""
		}
		return "only L5 needs an external audit"
	},
}

func init() { externalAudit.Run = runExternalAudit }

var auditFrameworks = []string{"SOC2-Type-II", "ISO-27001", "ISO-42001", "equivalent"}

func runExternalAudit(s *Subject) Outcome {
	var out Outcome
	const at = "/conformance_level"
	if s.Listing.Level.Base() < 0 {
		return externalAudit.noSuchLevel(s)
	}
	r := s.Facts.Receipt.Value
	a := r.ExternalAudit
	if !a.Present {
		out.errorf(s, at, "audit-missing", "the Receipt has no external_audit, level %s needs one", s.Listing.Level).
			fix("attest again with external_audit")
		return out
	}
	if !slices.Contains(auditFrameworks, a.Framework) {
		out.errorf(s, at, "audit-framework", "external_audit.framework is %q, one of %q is needed", cutRunes(a.Framework, 60), auditFrameworks).
			fix("name the framework, or %q", "equivalent")
	}
	if _, err := did.Parse(a.AuditorDID); err != nil {
		out.errorf(s, at, "audit-auditor", "external_audit.auditor_did is %q, a DID is needed", cutRunes(a.AuditorDID, 200)).fix("name the auditor by its DID")
	} else if did.Alike(a.AuditorDID, s.Listing.ToolDID) || did.Alike(a.AuditorDID, r.ImplementationDID) {
		out.errorf(s, at, "audit-by-itself", "external_audit.auditor_did %q is the implementation itself", a.AuditorDID).fix("have somebody else audit it")
	} else if slices.ContainsFunc(r.PeerWitnesses, func(w receipt.PeerWitness) bool { return did.Alike(w.DID, a.AuditorDID) }) {
		out.errorf(s, at, "audit-by-witness", "external_audit.auditor_did %q is a peer witness of this Receipt too", a.AuditorDID).
			fix("have somebody audit it who is no witness")
	}
	switch {
	case a.Until.IsZero():
		out.errorf(s, at, "audit-date", "external_audit.valid_until is %q, an RFC 3339 time or a date is needed", cutRunes(a.ValidUntil, 60)).
			fix("write it like 2027-01-31")
	case !s.Run.Now.Before(a.Until):
		out.errorf(s, at, "audit-expired", "external_audit.valid_until is %q, which ended at %s; it is %s", cutRunes(a.ValidUntil, 60), stamp(a.Until), stamp(s.Run.Now)).fix("renew the audit and attest again")
	}
	if !out.has(Error) {
		out.noticef(s, at, "audit-declared", "an external audit (%s) is declared, not verified", a.Framework)
	}
	return out
}
