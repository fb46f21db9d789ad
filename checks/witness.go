package checks

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/manifest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// weight says how much one witness's signature counts.
type weight uint8

const (
	counts  weight = iota
	unsure         // it may count; some document could not be fetched
	broken         // it would count, but its signature does not verify
	ignored        // it does not count, whatever its signature
)

// witness is what one entry of peer_witnesses or peer_witness_signatures is worth.
type witness struct {
	did    string
	slug   string // slug of the listing by which it may witness
	weight weight
	code   string
	why    string         // where it does not simply count
	may    evidence.Retry // what decides whether it counts, where that is open
	// revoked says that it counted when the listing was merged, and that its Receipt was revoked for cause since.
	revoked bool

	material  []string // of its DID Document
	domain    domainage.Domain
	path      bool   // a did:web with a path
	near      string // registrable domain that it shares with the candidate of an L4 listing
	publisher *manifest.Manifest
	published domainage.Domain // the publisher's
	// dependence says why the witness cannot be counted as independent; doubt why that is not known.
	dependence, doubt string
}

// Witnessing is what the signature of one witness is worth.
type Witnessing struct {
	Counts    bool           // it counts
	Open      bool           // it may count; another try decides
	Unsigned  bool           // it would count if it verified
	Code, Why string         // why it does not count, or may not
	May       evidence.Retry // decides it, if it is Open
	Near      string         // registrable domain that it shares with the candidate; the signature counts all the same
}

// worth returns what a witness's signature is worth. L5 and a forced revocation require a witness that is independent
// of the candidate and has a publisher.
func (w *witness) worth(independent bool) Witnessing {
	switch {
	case w.weight != counts:
		return Witnessing{Open: w.weight == unsure, Unsigned: w.weight == broken, Code: w.code, Why: w.why,
			May: w.may}
	case independent && w.dependence != "":
		return Witnessing{Code: "witness-not-independent", Why: w.dependence}
	case independent && w.doubt != "":
		return Witnessing{Open: true, Code: WitnessOpen, Why: w.doubt, May: w.may}
	}
	return Witnessing{Counts: true, Near: w.near}
}

// Witnessing returns what each entry of the Receipt's peer_witnesses is worth to the listing, whose level is L4 or L5.
// Without the candidate's own documents each is Open.
func (s *Subject) Witnessing() ([]Witnessing, error) {
	r := s.Facts.Receipt
	if r.State != evidence.Obtained {
		return nil, fmt.Errorf("weighing the peer witnesses of %s: %s", s.Listing.ToolDID, r.Message)
	}
	out := make([]Witnessing, len(r.Value.PeerWitnesses))
	for _, k := range peerWitnesses.Needs(s) {
		if found := s.Facts.Of(k); found.State != evidence.Obtained {
			for i := range out {
				out[i] = Witnessing{Open: true, Code: WitnessOpen, May: found.Retry(s.Run.Now),
					Why: fmt.Sprintf("needs the %s: %s", k, found.Message)}
			}
			return out, nil
		}
	}
	all, err := s.witnesses()
	for i := range all {
		out[i] = all[i].worth(s.Listing.Level.Base() == 5)
	}
	return out, err
}

// witnesses weighs each entry of the Receipt's peer_witnesses for the level of the listing.
func (s *Subject) witnesses() ([]witness, error) {
	r := s.Facts.Receipt.Value
	me := witness{did: s.Listing.ToolDID, material: s.Facts.DIDDocument.Value.Material, domain: ownDomain(s)}
	me.publishedBy(s, s.Facts.Manifest.Value)
	st := newStatement("peer-witnesses", me.did, r.WitnessedBy, s.Facts.Witnesses)
	st.material = me.material
	all := make([]witness, len(r.PeerWitnesses))
	for i, p := range r.PeerWitnesses {
		w, err := weigh(s, st, p.DID, p.Alg, p.Signature)
		switch {
		case err != nil:
			return nil, err
		case s.Listing.Level.Base() != 5:
			if me.domain.Registrable != "" && me.domain.Registrable == w.domain.Registrable {
				w.near = w.domain.Registrable
			}
		case w.dependence == "" && w.weight != ignored:
			switch why := dependent(&me, &w); {
			case why == "":
			case s.Run.Asks.documentsDiffer && related(&me, &w) == "":
				w.doubt = cmp.Or(w.doubt, "it is not independent of the candidate now: "+why)
				w.may = cmp.Or(w.may, anotherWitness)
			default:
				w.dependence = "it is not independent of the candidate: " + why
			}
		}
		all[i] = w
	}
	return all, nil
}

// statement is a signed text that witnesses vouch for.
type statement struct {
	check     string                                 // that weighs them
	candidate string                                 // DID that may not witness for itself
	owners    []string                               // further such DIDs: those that listed a revoked Receipt
	material  []string                               // keys of the candidate; empty if nobody asks for them
	signed    func(keys []did.Key, text string) bool // reports whether text is a signature of it by one of keys
	facts     map[string]*evidence.Witness
	parties   map[string]*party  // by the spelling of the DID
	named     map[string]witness // what the text of a DID shows
}

func newStatement(check, candidate string, signed func([]did.Key, string) bool,
	facts map[string]*evidence.Witness) statement {
	return statement{check: check, candidate: candidate, signed: signed, facts: facts, parties: map[string]*party{},
		named: map[string]witness{}}
}

// A party is what is known about one DID that witnesses, whatever the number of its entries.
type party struct {
	v         *voucher
	code, why string // why it may not witness
	// own is the verification of its own Receipt, shares whether it shares a key with the candidate.
	own    func() receipt.Verification
	shares func() bool
	// independent is a witness with what L5 asks of it beyond L4.
	independent func() (witness, error)
	signed      map[string]bool // what is known of its signatures
}

// errNotReached means that the run's budget was spent on the way.
var errNotReached = errors.New(NotReached)

// party returns what is known about a DID. Each is weighed once, while the budget lasts.
func (st *statement) party(s *Subject, id string) (*party, error) {
	key := did.Spelling(id)
	if p := st.parties[key]; p != nil {
		return p, nil
	}
	if !s.Run.Reaches(st.check, s.Path) {
		return nil, errNotReached
	}
	p := &party{signed: map[string]bool{}}
	var err error
	if p.v, p.code, p.why, err = s.vouches(id); err != nil {
		return nil, err
	}
	if known := st.facts[id]; known != nil {
		p.own = sync.OnceValue(func() receipt.Verification {
			return receipt.VerifyImplementation(known.Receipt.Value, known.DIDDocument.Value, id)
		})
		p.shares = sync.OnceValue(func() bool { return shareKey(known.DIDDocument.Value.Material, st.material) })
		p.independent = sync.OnceValues(func() (witness, error) {
			w := witness{did: id}
			return w, independence(s, &w, known, id)
		})
	}
	if st.parties != nil {
		st.parties[key] = p
	}
	return p, nil
}

// by reports whether text is a signature of the statement by a party, whose keys are tried once for each text.
func (st *statement) by(p *party, text string) bool {
	signed, known := p.signed[text]
	if !known {
		signed = st.signed(p.own().Keys, text)
		p.signed[text] = signed
	}
	return signed
}

// name returns a witness by the text of its DID; it is ignored if that is not one that may witness for the statement.
func (st *statement) name(s *Subject, id string) witness {
	w := witness{did: id}
	d, err := did.Parse(id)
	if err != nil || d.Method != "web" {
		w.weight, w.code, w.why = ignored, "witness-not-web", "it is not a did:web (RFC 0019 section 7.1)"
		return w
	}
	w.path = d.HasPath()
	if w.domain, err = s.Run.Base.Policy.Suffixes.Registrable(d.Host()); err != nil && w.domain.ICANN == "" {
		w.dependence = err.Error()
	} else if w.path {
		w.dependence = "its did:web has a path, so that it may share its host"
	}
	if did.Alike(id, st.candidate) || slices.ContainsFunc(st.owners, func(o string) bool { return did.Alike(id, o) }) {
		w.weight, w.code, w.why = ignored, "witness-is-candidate", "an implementation cannot witness for itself"
	}
	return w
}

// weigh judges one entry by everything that RFC 0026 section 6 and 10 ask of a witness.
func weigh(s *Subject, st statement, id, alg, text string) (witness, error) {
	w, known := st.named[id]
	if !known {
		if w = st.name(s, id); st.named != nil {
			st.named[id] = w
		}
	}
	if w.weight == ignored {
		return w, nil
	}
	var may evidence.Retry
	worth := func(as weight, code, format string, args ...any) (witness, error) {
		if w.slug != "" && (s.Run.Asks.documentsDiffer || code == codeKeyGone ||
			code == codeEvidence && s.Witnessed != nil) {
			as = unsure // it could witness; what its documents say today was not asked when the record was merged
		}
		w.weight, w.code, w.why = as, code, fmt.Sprintf(format, args...)
		w.may = cmp.Or(may, evidence.Retry{Fix: verdict.Rule{Codes: witnessCodes}.FixOf(code)})
		return w, nil
	}
	p, err := st.party(s, id)
	if err != nil {
		return w, err
	}
	v := p.v
	switch {
	case v == nil && p.code == WitnessOpen:
		may.Fix = Restore
		return worth(unsure, p.code, "%s", p.why)
	case v == nil:
		return worth(ignored, p.code, "%s", p.why)
	case v.revoked != nil:
		w.revoked = true
		return worth(ignored, codeWitnessRevoked, "its Receipt was revoked since by %s, for another reason than that "+
			"it was superseded or withdrawn", plain.Cut(v.revoked.path, 300))
	case alg != "EdDSA":
		return worth(ignored, "witness-algorithm", "its alg is %q; expected EdDSA", plain.Cut(alg, 40))
	}
	if s.Run.Asks.documentsDiffer {
		if _, err := signature.Text(text); err != nil {
			return worth(broken, witnessSignature, "its signature can never have verified: %v", err)
		}
	}
	w.slug = v.Slug
	found := st.facts[id]
	if found == nil || p.own == nil {
		return worth(unsure, "witness-not-sought", "its documents were not sought")
	}
	if found.DIDDocument.Code == did.CodePublished {
		return worth(broken, did.CodePublished, "in its DID Document, %s", found.DIDDocument.Message)
	}
	how, why, later := documents(found, s.Run.Now)
	if may = later; how != counts {
		return worth(how, codeEvidence, "%s", why)
	}
	own, doc := found.Receipt.Value, found.DIDDocument.Value
	if !slices.Contains(own.ClaimedLevels, v.Level) &&
		!(v.Level.Base() == 5 && slices.Contains(own.ClaimedLevels, "L5")) {
		return worth(ignored, "witness-level", "its own Receipt does not claim %s", v.Level)
	}
	if !did.Same(own.ImplementationDID, id) {
		return worth(ignored, "witness-receipt", "its own Receipt is that of %q", plain.Cut(own.ImplementationDID, 200))
	}
	verified := p.own()
	switch {
	case !verified.Verified() && s.Witnessed != nil:
		return worth(ignored, codeKeyGone, "its own Receipt carries no signature that verifies by a key that "+
			"it serves now")
	case !verified.Verified():
		return worth(ignored, "witness-receipt", "its own Receipt carries no signature of it that verifies")
	}
	if !own.NotAfter.IsZero() && !v.by.When.Before(own.NotAfter.Time) {
		return worth(ignored, "witness-expired", "its own Receipt's validity ended on %s", stamp(own.NotAfter.Time))
	}
	const forged = "its signature does not verify by a key that verifies its own Receipt"
	signed := st.by(p, text)
	if !signed && s.Witnessed != nil {
		// The keys that verify its Receipt may be those of then: none that is gone since made this signature.
		then, err := s.Witnessed.Tree.Listing(s.Run.Context, v.Path)
		switch {
		case err != nil:
			return w, err
		case then == nil || then.ReceiptSHA256 != v.ReceiptSHA256 || len(verified.Unverified) > 0:
			return worth(unsure, codeKeyGone, forged+" now")
		case s.Run.Asks.documentsDiffer:
			w.weight, w.code, w.why = ignored, witnessSignature, forged
			return w, nil
		}
	}
	w.material = doc.Material
	if p.shares() {
		return worth(ignored, "witness-key-shared", "it shares a key with the candidate")
	}
	if !signed {
		return worth(broken, witnessSignature, forged)
	}
	independent, err := p.independent()
	if err != nil {
		return w, err
	}
	w.publisher, w.published = independent.publisher, independent.published
	w.doubt, w.may = independent.doubt, independent.may
	w.dependence = cmp.Or(w.dependence, independent.dependence)
	if s.Run.Asks.documentsDiffer && w.dependence != "" && !w.path {
		w.dependence, w.doubt, w.may = "", w.dependence, anotherWitness
	}
	return w, nil
}

// documents reports whether a witness's own documents are there, and what decides that if it is open. What is
// definitely wrong with one of them outweighs what another try may change.
func documents(known *evidence.Witness, now time.Time) (weight, string, evidence.Retry) {
	d, r := known.DIDDocument, known.Receipt
	how, why, may := document("DID Document", d, d.State.Open(), now)
	other, also, later := document("Receipt", r, r.State.Open() || r.Code == evidence.CodeHashMismatch ||
		r.Code == evidence.CodeTooLarge || oddStatus(r.From), now)
	if other > how {
		return other, also, later
	}
	return how, why, may
}

// document reports whether one of a witness's own documents is there. If it is open, another try may change that, or
// the witness, if its host answered.
func document[T any](name string, found evidence.Result[T], open bool, now time.Time) (how weight, why string,
	may evidence.Retry) {
	switch {
	case found.State.Open():
		may = found.Retry(now)
		fallthrough
	case open:
		return unsure, "its own " + name + ": " + located(found), may
	case found.State != evidence.Obtained:
		return ignored, "its own " + name + ": " + located(found), may
	}
	return counts, "", may
}

// oddStatus reports whether the last answer had a status that neither returns a document nor says that there is no
// document: neither 200 nor 4xx.
func oddStatus(from []evidence.Observation) bool {
	if len(from) == 0 || from[len(from)-1].Code != evidence.CodeHTTPStatus {
		return false
	}
	status := from[len(from)-1].Status
	return status < 400 || status > 499
}

// WitnessOpen is the code of a witness that may count.
const WitnessOpen = "witness-open"

// Restore is the fix of a file at the head that cannot be read and may be about a record.
const Restore = "have a pull request to the registry remove the file, or restore its last content that was a record"

// anotherWitness is what decides about a witness that is not independent now, and was not asked when it signed.
var anotherWitness = evidence.Retry{Fix: "have an independent witness sign"}

// witnessSignature is the code of a witness whose signature does not verify.
const (
	witnessSignature   = "witness-signature"
	codeWitnessRevoked = "witness-revoked"
	codeKeyGone        = "witness-key-gone"
	codeEvidence       = "witness-evidence"
)

// WitnessRevoked reports whether an outcome says that the witnesses of a merged listing no longer suffice, since
// their Receipts were revoked.
func WitnessRevoked(o verdict.Outcome) bool {
	return slices.ContainsFunc(o.Findings, func(f verdict.Finding) bool { return f.Value == codeWitnessRevoked })
}

// revokedSince returns the witnesses of a merged listing whose Receipts were revoked since.
func revokedSince(all []witness) (lost []string) {
	for _, w := range all {
		if w.revoked {
			lost = append(lost, w.did+": "+w.why)
		}
	}
	return lost
}

// Values of the findings on a revocation that its author does not settle alone.
const (
	MoreSignatures = "the signatures of others"
	AnotherTry     = "another try"
)

var (
	notCanonical = Code{"not-canonical", "the text has no canonical form, so that nothing shows what was signed",
		"write it so that RFC 8785 can canonicalise it"}
	tooManyWitnesses = Code{"too-many-witnesses", "there are more witness signatures than are read",
		"keep those of listed witnesses"}
	witnessOpen = Code{WitnessOpen, "a witness may count, but its documents could not be fetched, or a file that may " +
		"revoke it cannot be read", "have the witness serve its documents, or the file restored, and try again"}
	witnessNotListed = Code{"witness-not-listed", "the base tree has no listing at L4 or L5 of the witness",
		"have a listed witness sign; an entry of peer-witnesses/ copies a merged listing"}
	witnessLevel = Code{"witness-level", "the witness is not at L4 or L5", "wait until it is, or have another sign"}
)

// witnessCodes are those of one witness that does not count.
var witnessCodes = []Code{
	{"witness-not-web", "the witness is not a did:web", "have a did:web witness sign"},
	{"witness-is-candidate", "the candidate witnesses for itself", "have another implementation sign"},
	{"witness-algorithm", "the witness's signature is not EdDSA", "have the witness sign with Ed25519"},
	{witnessSignature, "the witness's signature does not verify",
		"remove it, or have the witness sign these very bytes"},
	{"witness-not-sought", "the witness's documents were not fetched",
		"keep fewer peer witnesses: no signature covers them"},
	{codeEvidence, "one of the witness's own documents cannot be used",
		"have the witness fix it, or have another sign"},
	{"witness-receipt", "the witness's own Receipt is another's, or is not signed by the witness",
		"have the witness fix it, or have another sign"},
	{"witness-expired", "the witness's own listing or Receipt has expired",
		"have the witness renew its listing, or have another sign"},
	{"witness-provisional", "the witness's own listing is provisional", "have another sign"},
	{codeWitnessRevoked, "the witness's own Receipt is revoked", "have another sign"},
	{codeKeyGone, "the key by which the witness may have signed is no longer served",
		"have the witness serve that key again, or have another sign"},
	{"witness-key-shared", "the witness shares a key with the candidate", "have an independent witness sign"},
	witnessNotListed, witnessLevel,
}
