package checks

import (
	"fmt"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/manifest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var externalAudit = &Check{
	ID:      "external-audit",
	Title:   "an L5 Receipt declares an external security audit in force",
	Cite:    "RFC 0026 section 10",
	Row:     "Peer witnesses (L4+)",
	Why:     "at L5 somebody other than the witnesses must have examined the implementation",
	Fix:     "attest again with external_audit: framework, auditor_did and a valid_until in the future",
	Domains: true,
	Kinds:   []registry.Kind{registry.KindListing},
	Needs:   needs(evidence.ReceiptText, evidence.Receipt),
	Uses:    []evidence.Kind{evidence.DIDDocument, evidence.Manifest, evidence.Witnesses},
	reads:   []string{"/conformance_level"},
	applies: func(s *Subject) string {
		if level := s.Listing.Level.Base(); level < 0 || level == 5 {
			return ""
		}
		return "only L5 needs an external audit"
	},
	After: wellFormed,
	Run:   runExternalAudit,
	Codes: []Code{
		policyUnreadable, evidence.SuffixListCode,
		{"audit-missing", "the Receipt declares no external audit, which its level needs",
			"attest again with external_audit"},
		{"audit-framework", "the audit's framework is not an accepted one",
			"name one of the frameworks that the message lists, and attest again"},
		{"audit-auditor", "the auditor is named by no DID",
			"set external_audit.auditor_did to the auditor's DID, and attest again"},
		did.PublishedKey,
		{"audit-by-itself", "the auditor is the implementation itself or its publisher", "have somebody else audit it"},
		{"audit-by-witness", "the auditor is a peer witness of this Receipt too, or the publisher of one",
			"choose an auditor that is not a witness, or a witness that is not the auditor"},
		{"audit-own-key", "auditor_did encodes a key of the implementation's own DID Document",
			"have somebody else audit it"},
		{"audit-witness-key", "auditor_did encodes a key of a peer witness's DID Document",
			"choose an auditor that is not a witness, or a witness that is not the auditor"},
		{"audit-open", "a witness's DID Document, which may hold the auditor's key, could not be fetched", "try again"},
		{"audit-date", "external_audit.valid_until is not a date", "write it like 2026-12-31, and attest again"},
		{"audit-expired", "the audit has expired", "renew it and attest again"},
		{"audit-declared", "the audit is declared, and nobody verified it here", "nothing to do"},
	},
}

var auditFrameworks = []string{"SOC2-Type-II", "ISO-27001", "ISO-42001", "equivalent"}

func runExternalAudit(s *Subject) (verdict.Outcome, error) {
	var out verdict.Outcome
	const at = "/conformance_level"
	if s.Listing.Level.Base() < 0 {
		return noSuchLevel(s), nil
	}
	r := s.Facts.Receipt.Value
	a := r.ExternalAudit
	if !a.Present {
		out.Errorf(s, at, "audit-missing", "the Receipt has no external_audit, level %s needs one", s.Listing.Level).
			WithFix("attest again with external_audit")
		return out, nil
	}
	if !slices.Contains(auditFrameworks, a.Framework) {
		out.Errorf(s, at, "audit-framework", "external_audit.framework is %q; expected one of %q",
			plain.Cut(a.Framework, 60), auditFrameworks).
			WithFix("name the framework, or %q, and attest again", "equivalent")
	}
	key := auditor(&out, s, r)
	switch {
	case a.Until.IsZero():
		out.Errorf(s, at, "audit-date", "external_audit.valid_until is %q; expected an RFC 3339 time or a date",
			plain.Cut(a.ValidUntil, 60)).
			WithFix("write it like 2027-01-31, and attest again")
	case !s.Run.Now.Before(a.Until):
		out.Errorf(s, at, "audit-expired", "external_audit.valid_until is %q, which ended at %s; it is %s",
			plain.Cut(a.ValidUntil, 60), stamp(a.Until), stamp(s.Run.Now)).WithFix("renew the audit and attest again")
	}
	if key != "" && !auditorKey(&out, s, r, key) {
		return out, nil
	}
	if !out.Has(verdict.Error) && !out.Has(verdict.Doubt) {
		out.Noticef(s, at, "audit-declared", "an external audit (%s) is declared, not verified", a.Framework)
	}
	return out.OrPass(), nil
}

// auditor checks that the auditor is neither the candidate nor a witness, by DID and by registrable domain. It returns
// the key that the auditor's DID encodes, if any.
func auditor(o *verdict.Outcome, s *Subject, r *receipt.Receipt) (key string) {
	const at = "/conformance_level"
	text := r.ExternalAudit.AuditorDID
	d, err := did.Parse(text)
	if err == nil {
		key, err = did.Material(d)
	}
	if err != nil {
		o.Errorf(s, at, "audit-auditor", "external_audit.auditor_did is %q; expected a DID", plain.Cut(text, 200)).
			WithFix("name the auditor by its DID, and attest again")
		return ""
	}
	if where := did.Published(key); where != "" {
		o.Errorf(s, at, did.CodePublished,
			"external_audit.auditor_did %q is a published key: its private half is in %s", text, where).
			WithFix("name the auditor by a DID of its own, and attest again")
		return ""
	}
	itself, domain := "", within(s, d, ownDomain(s))
	if did.Alike(text, s.Listing.ToolDID) || did.Alike(text, r.ImplementationDID) {
		itself = "the implementation itself"
	} else if domain != "" {
		itself = "under " + domain + ", the implementation's own domain"
	} else if publisher := publisherIs(s, d, s.Facts.Manifest); publisher != "" {
		itself = publisher + " of the implementation itself"
	}
	if itself != "" {
		o.Errorf(s, at, "audit-by-itself", "external_audit.auditor_did %q is %s", text, itself).
			WithFix("have somebody else audit it")
		return ""
	}
	if witness := auditingWitness(s, r, d, key); witness != "" {
		o.Errorf(s, at, "audit-by-witness", "external_audit.auditor_did %q is %s", text, witness).
			WithFix("have it audited by someone who is not a witness")
		return ""
	}
	return key
}

// auditingWitness returns how an auditor, whose DID encodes that key if any, is a peer witness of the Receipt, or "".
func auditingWitness(s *Subject, r *receipt.Receipt, auditor did.DID, key string) string {
	for _, w := range r.PeerWitnesses {
		if did.Alike(w.DID, r.ExternalAudit.AuditorDID) {
			return "a peer witness of this Receipt too"
		}
		other, err := did.Parse(w.DID)
		if err != nil {
			continue
		}
		theirs, _ := s.Run.Base.Policy.Suffixes.Registrable(other.Host())
		if domain := within(s, auditor, theirs); domain != "" {
			return fmt.Sprintf("under %s, the domain of peer witness %q", domain, w.DID)
		}
		if encoded, _ := did.Material(other); key != "" && encoded == key {
			return fmt.Sprintf("the key of peer witness %q", w.DID)
		}
		if known := s.Facts.Witnesses[w.DID]; known != nil {
			if publisher := publisherIs(s, auditor, known.Manifest); publisher != "" {
				return fmt.Sprintf("%s of peer witness %q", publisher, w.DID)
			}
		}
	}
	return ""
}

// publisherIs returns how an auditor is the publisher that a Manifest names, or "". A Manifest that was not obtained
// names none: its owner then does not count towards L5.
func publisherIs(s *Subject, auditor did.DID, m evidence.Result[*manifest.Manifest]) string {
	if m.State != evidence.Obtained {
		return ""
	}
	publisher := m.Value.Publisher.DID
	theirs, _ := s.Run.Base.Policy.Suffixes.Registrable(webHost(publisher))
	if did.Alike(auditor.Text, publisher) {
		return "the publisher"
	}
	if domain := within(s, auditor, theirs); domain != "" {
		return "under " + domain + ", the domain of the publisher"
	}
	return ""
}

// within returns the registrable domain that a did:web has in common with another, or "" if they have none in common.
func within(s *Subject, d did.DID, other domainage.Domain) string {
	if d.Method != "web" {
		return ""
	}
	mine, _ := s.Run.Base.Policy.Suffixes.Registrable(d.Host())
	if mine.Registrable == other.Registrable {
		return mine.Registrable
	}
	return ""
}

// auditorKey checks that an auditor whose DID is a key does not use a key of the candidate's DID Document or of a
// witness's. It returns false if it cannot decide that, as the outcome then says.
func auditorKey(o *verdict.Outcome, s *Subject, r *receipt.Receipt, key string) bool {
	const at = "/conformance_level"
	text := r.ExternalAudit.AuditorDID
	if lacks(o, s, evidence.DIDDocument) {
		return false
	}
	if r.PeerWitnessCount > evidence.MaxWitnesses {
		*o = deferTo(s, peerWitnesses.ID, at, "too-many-witnesses",
			fmt.Sprintf("the Receipt has %d peer_witnesses, at most %d are read", r.PeerWitnessCount,
				evidence.MaxWitnesses))
		return false
	}
	if slices.Contains(s.Facts.DIDDocument.Value.Material, key) {
		o.Errorf(s, at, "audit-own-key", "external_audit.auditor_did %q is a key of the implementation itself", text).
			WithFix("have somebody else audit it")
		return true
	}
	for _, w := range r.PeerWitnesses {
		known := s.Facts.Witnesses[w.DID]
		if known == nil { // not listed: it is nobody's word
			continue
		}
		switch doc := known.DIDDocument; {
		case doc.State.Open():
			retry(o.Doubtf(s, at, "audit-open", "cannot compare external_audit.auditor_did %q with the keys of peer "+
				"witness %q: its DID Document could not be fetched: %s",
				text, w.DID, located(doc)), doc.Retry(s.Run.Now)).Rests(verdict.World)
		case doc.State == evidence.Obtained && slices.Contains(doc.Value.Material, key):
			o.Errorf(s, at, "audit-witness-key", "external_audit.auditor_did %q is a key of peer witness %q of this "+
				"Receipt", text, w.DID).
				WithFix("have it audited by someone who is not a witness").Rests(verdict.World)
			return true
		}
	}
	return true
}
