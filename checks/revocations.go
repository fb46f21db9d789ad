package checks

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/checks/internal/listed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var revocations = &Check{
	ID:      "revocations",
	Title:   "a revocation is signed by its owner or by three witnesses, and nothing revoked is listed",
	Cite:    "RFC 0026 section 5",
	Row:     "No tampering",
	Why:     "a stranger's revocation would silence an honest implementation permanently",
	Fix:     "sign the revocation with a key of the listing's tool_did, or have three independent witnesses sign it",
	Kinds:   []registry.Kind{registry.KindListing, registry.KindRevocation},
	Owns:    evidence.RevocationProof,
	partial: true,
	reads:   []string{"/revoked_receipt_sha256", "/revoked_at", "/revoked_by_did"},
	applies: func(s *Subject) string {
		if s.Kind != registry.KindRevocation || s.Added() {
			return ""
		}
		if r, err := s.repair(); err != nil || r == replacement || r == recovery {
			return "" // an error comes again where it can be reported
		}
		return "no new revocation"
	},
	again:       func(s *Subject) bool { return s.Kind == registry.KindRevocation },
	inHistory:   true,
	After:       wellFormed,
	Run:         runRevocations,
	RunRegistry: runRevocationsRegistry,
	Codes: []Code{
		{"signature-form", "the revocation's signature is a text instead of an object", signatureForm},
		{"revokes-nothing", "no merged listing has the revocation's slug", "name the slug of a merged listing"},
		{"never-pinned", "the listing never pinned the Receipt that is revoked",
			"set revoked_receipt_sha256 to the hash that the listing pins, and sign again"},
		{"revoked-in-future", "revoked_at is ahead of now, or of the commit that lands it",
			"set it to now, and sign again"},
		{"revoked-before-issue", "revoked_at is before the revoked listing was issued",
			"set it to the time of the revocation, and sign again"},
		{"revocation-is-receipt", "the revocation has members of a Receipt, so that one signature may serve for both",
			"remove them, and sign again"},
		{"no-such-reason", "reason is not one that the standard knows",
			"use one of " + strings.Join(Reasons, ", ") + ", and sign again"},
		{"witness-not-counted", "a witness of the revocation does not count",
			"have a listed, independent witness sign"},
		{"owner-open", "the owner's DID Document could not be fetched; nothing was decided", "try again"},
		{"not-authorised", "neither the owner nor three independent witnesses signed the revocation",
			"sign it with a key of tool_did, or have three witnesses sign"},
		{"receipt-revoked", "the pinned Receipt is revoked",
			"sign a new Receipt and pin it; a revoked one never comes back"},
		{"not-in-force", "the base tree holds listings that are expired or revoked",
			"nothing to do; they block nobody"},
		{recoveryUnverified, "a restored revocation does not verify now; it is in force without the file",
			"leave the file out, or have a maintainer push it"},
		unreadableTime, notCanonical, tooManyWitnesses, witnessOpen, did.PublishedKey,
	},
}

// recoveryUnverified is the code of a restored revocation that does not verify.
const recoveryUnverified = "recovery-unverified"

// signatureForm shows the form that the older "ed25519:…" text gave way to.
const signatureForm = `write it as an object: "signature": {"alg": "EdDSA", "value": "<base64url of 64 bytes>", "by": "<verification method id>"}`

func runRevocations(s *Subject) (verdict.Outcome, error) {
	if s.Kind == registry.KindListing {
		return revokedPin(s)
	}
	var out verdict.Outcome
	v := s.Revocation
	switch {
	case v.SignatureText == "":
	case refused(s, "/signature"):
		return verdict.Outcome{Skipped: schema.ID + " failed", DeferredTo: schema.ID}, nil
	default:
		out.Errorf(s, "/signature", "signature-form", "signature is the text %q; expected an object",
			plain.Cut(v.SignatureText, 40)).Fix = signatureForm
		return out, nil
	}
	owners, by, err := s.owners()
	if err != nil || by == nil && !neverPinned(&out, s) {
		return out, err
	}
	reason(&out, s)
	if v.Revoked.IsZero() {
		out.Errorf(s, "/revoked_at", "unreadable-time", "revoked_at is %q; expected an RFC 3339 time", v.RevokedAt).
			WithFix("write it like 2026-05-12T13:24:00Z, and sign again")
	} else if err := notAhead(&out, s, "revoked_at", "revoked-in-future", v.Revoked); err != nil {
		return out, err
	} else if by != nil && v.Revoked.Before(by.issued) {
		out.Warnf(s, "/revoked_at", "revoked-before-issue",
			"revoked_at is %s, before the revoked listing was issued at %s", stamp(v.Revoked), stamp(by.issued)).
			WithFix("set revoked_at to the time of the revocation, and sign again")
	}
	noReceipt(&out, s)
	bytes, err := signature.CanonicalWithout(s.Record.Document.Root, "signature", "peer_witness_signatures")
	if err != nil {
		out.Errorf(s, "", "not-canonical", "the revocation has no canonical form: %v", err).
			WithFix("write it so that RFC 8785 can canonicalise it")
		return out, nil
	}
	if s.Run.Offline {
		out.Verified = "signatures not judged: offline"
		return out, nil
	}
	if by == nil {
		return out, nil // nobody has authority over a Receipt that nobody listed
	}
	return authority(out, s, owners, by.did, bytes)
}

// owners returns the versions of the base branch's listings that the revocation names: only the DIDs of these may
// revoke. The present holder of a slug has no power over the Receipt of another one. The version that revokes is that
// of revoked_by_did, else the first, if any.
func (s *Subject) owners() (all []version, by *version, err error) {
	v := s.Revocation
	all, err = s.Run.past().owners(s.Run.Context, pin{Slug: v.Slug, SHA256: v.ReceiptSHA256}, asOf{})
	for i := range all {
		if did.Same(all[i].did, v.RevokedByDID) || by == nil {
			by = &all[i]
		}
	}
	return all, by, err
}

// neverPinned reports a revocation of a Receipt that its slug never pinned. It returns whether the slug is listed.
func neverPinned(o *verdict.Outcome, s *Subject) bool {
	l := s.Run.Base.BySlug(s.Revocation.Slug)
	if l == nil {
		o.Errorf(s, "/slug", "revokes-nothing", "no commit of the base listed slug %q with the Receipt %s",
			s.Revocation.Slug, plain.Cut(s.Revocation.ReceiptSHA256, 80)).
			WithFix("a revocation names the slug of a merged listing, and a Receipt that it pinned")
		return false
	}
	o.Errorf(s, "/revoked_receipt_sha256", "never-pinned", "%s neither pins %s nor has ever pinned it", l.Path,
		s.Revocation.ReceiptSHA256).
		WithFix("set revoked_receipt_sha256 to the hash that the listing pins, name the file by it, "+
			"and sign again: %s", l.ReceiptSHA256)
	return true
}

// noReceipt checks that the signed bytes are not a Receipt's: peer witnesses sign Receipts of strangers, who may write
// the members of a revocation into them if the base tree's schema allows others.
func noReceipt(o *verdict.Outcome, s *Subject) {
	for _, name := range []string{"implementation", "claimed_levels", "signatures"} {
		if strict.Member(s.Record.Document.Root, name) != nil {
			o.Errorf(s, "/"+name, "revocation-is-receipt",
				"the revocation has the member %q of a Receipt, so that a signature of it may be a peer witness's",
				name).
				WithFix("leave it out and sign again")
			return
		}
	}
}

// Reasons are those that RFC 0026, section 5, and the RFCs that extend it know.
var Reasons = []string{"key_compromise", "manifest_non_conformance", "superseded", "voluntary_withdrawal",
	"dispute_resolved_against",
	"failed_safety_eval", "frontier_capability_misuse"}

func reason(o *verdict.Outcome, s *Subject) {
	if !slices.Contains(Reasons, s.Revocation.Reason) && !refused(s, "/reason") {
		o.Errorf(s, "/reason", "no-such-reason", "reason is %q, which RFC 0026 section 5 does not know",
			plain.Cut(s.Revocation.Reason, 60)).
			WithFix("use one of %s, and sign again", strings.Join(Reasons, ", "))
	}
}

// authority checks that an owner signed, or a quorum of witnesses did. Each path is judged only by its own documents,
// so that a revoked implementation cannot obstruct its revocation.
func authority(o verdict.Outcome, s *Subject, owners []version, owner string,
	bytes []byte) (verdict.Outcome, error) {
	v := s.Revocation
	selfDoubt, selfWhy := "", ""
	self := did.Same(v.RevokedByDID, owner)
	switch doc := s.Facts.DIDDocument; {
	case len(v.Witnesses) >= quorum:
		selfWhy = fmt.Sprintf("with %d peer_witness_signatures it is judged as a forced one", len(v.Witnesses))
	case !self:
		selfWhy = fmt.Sprintf("revoked_by_did is %q, the listing's tool_did is %q", plain.Cut(v.RevokedByDID, 200),
			owner)
	case doc.State.Open():
		selfDoubt = located(doc)
	case doc.State != evidence.Obtained:
		selfWhy = owner + ": " + located(doc)
	case v.Signature.Alg == "EdDSA" && receipt.VerifyBy(doc.Value.Keys, bytes, v.Signature.Value):
		o.Verified = "signed by the revoked implementation"
		return o, nil
	default:
		selfWhy = "signature verifies under no Ed25519 key of " + owner
	}
	const at = "/signature"
	var all []witness
	if len(v.Witnesses) > evidence.MaxWitnesses {
		o.Errorf(s, "/peer_witness_signatures", "too-many-witnesses",
			"there are %d peer_witness_signatures, at most %d are read", len(v.Witnesses), evidence.MaxWitnesses).
			WithFix("keep the entries of listed witnesses")
		return o, nil
	}
	signed := func(keys []did.Key, text string) bool { return receipt.VerifyBy(keys, bytes, text) }
	st := newStatement("revocations", owner, signed, s.Facts.Witnesses)
	for _, one := range owners {
		st.owners = append(st.owners, one.did)
	}
	for _, w := range v.Witnesses {
		weighed, err := weigh(s, st, w.WitnessDID, w.Alg, w.Value)
		if errors.Is(err, errNotReached) {
			return verdict.Outcome{Doubtful: NotReached}, nil
		}
		if err != nil {
			return o, err
		}
		all = append(all, weighed)
	}
	sure, possible := tally(all, s.Run.Asks.documentsDiffer)
	for i := range all {
		pointer := fmt.Sprintf("/peer_witness_signatures/%d", i)
		name := fmt.Sprintf("witness %q", plain.Cut(all[i].did, 200))
		switch is := all[i].worth(true); {
		case is.Counts:
		case is.Code == did.CodePublished:
			o.Errorf(s, pointer, is.Code, "%s is listed, but %s", name, is.Why).
				WithFix("remove that entry: no signature covers peer_witness_signatures").Rests(verdict.World)
		case is.Open:
			retry(o.Warnf(s, pointer, WitnessOpen, "%s could not be judged: %s", name, is.Why), is.May).
				Rests(verdict.World).WithValue(AnotherTry)
		default:
			o.Warnf(s, pointer, "witness-not-counted", "%s does not count: %s", name, is.Why).
				WithFix("have a listed, independent witness sign").Rests(verdict.World)
		}
	}
	recovers, err := s.Recovers()
	switch {
	case err != nil:
		return o, err
	case sure >= quorum:
		o.Verified = "signed by three independent witnesses"
	case recovers && (self || len(v.Witnesses) >= quorum):
		signer := owner
		if len(v.Witnesses) >= quorum {
			signer = "three independent witnesses"
		}
		o.Doubtf(s, at, recoveryUnverified, "the commit %s had this file; its signature does not verify by a key of "+
			"%s now. The revocation is in force without the file", short(s.outlook.commit), signer).
			WithFix("leave the file out: nothing depends on it, or have a maintainer push it").
			Rests(verdict.World).WithValue(MoreSignatures)
	case selfDoubt != "":
		retry(o.Doubtf(s, at, "owner-open", "the DID Document of %s could not be fetched: %s", owner, selfDoubt),
			s.Facts.DIDDocument.Retry(s.Run.Now)).Rests(verdict.World).WithValue(MoreSignatures)
	case possible >= quorum:
		why, may := firstOpen(all)
		retry(o.Doubtf(s, "/peer_witness_signatures", WitnessOpen,
			"%d of %d independent witnesses count; others could not be judged: %s", sure, quorum, why), may).
			Rests(verdict.World).WithValue(MoreSignatures)
	default:
		message := fmt.Sprintf("not signed by the owner (%s), and %s; a forced revocation needs %d independent "+
			"witnesses", selfWhy,
			plain.Count(sure, "witness")+plain.Plural(sure, " counts", " count"), quorum)
		if why := firstDependence(all); why != "" {
			message += "; " + why
		}
		n, err := eligible(s.Run, st.owners)
		if err != nil {
			return o, err
		}
		if n < quorum {
			message += fmt.Sprintf("; the base tree lists %d that could sign", n)
		}
		fix := "sign the canonical JSON without signature and peer_witness_signatures with a key of " + owner
		if s.Facts.DIDDocument.State != evidence.Obtained && self {
			fix = "serve the DID Document of " + owner + " with the key that signed"
		}
		code := "not-authorised"
		if s.Facts.DIDDocument.Code == did.CodePublished {
			code = did.CodePublished
			fix = "make a new key with oap-gate key new FILE, publish its public part instead, and sign by it"
		}
		f := o.Errorf(s, at, code, "%s", message).
			WithFix("%s, or have three independent witnesses sign it", fix).WithValue(MoreSignatures)
		if self && readable(v.Signature.Alg, v.Signature.Value) {
			f.Rests(verdict.World) // it may have verified under an earlier key
		}
	}
	return o, nil
}

// eligible counts the listings that could sign a forced revocation of these DIDs, up to the quorum.
func eligible(r *Run, owners []string) (int, error) {
	n := 0
	for w := range r.Base.Listings() {
		if w.Level.Base() < 4 || slices.ContainsFunc(owners, func(id string) bool { return did.Alike(id, w.ToolDID) }) {
			continue
		}
		l, _, _, err := r.MayWitness(w.ToolDID)
		if err != nil {
			return n, err
		}
		if l != nil && l.Path == w.Path {
			if n++; n == quorum {
				break
			}
		}
	}
	return n, nil
}

// RevokedListing returns what is known of the listing that a revocation names and whose DID wrote it, or nil: its DID
// and the Receipt.
func (s *Subject) RevokedListing() (*registry.Listing, error) {
	_, by, err := s.owners()
	if by == nil || !did.Same(by.did, s.Revocation.RevokedByDID) {
		return nil, err
	}
	return &registry.Listing{Slug: s.Revocation.Slug, ToolDID: by.did, ReceiptSHA256: by.sha256}, nil
}

// revokedPin checks that a listing that the range adds or changes is not revoked in what would land, under whatever
// slug its Receipt was.
func revokedPin(s *Subject) (verdict.Outcome, error) {
	var out verdict.Outcome
	p, err := s.Run.landing()
	if err != nil {
		return out, err
	}
	l := s.Listing
	by, err := p.revokedBy(s.Run.Context, l.ToolDID, strings.ToLower(l.ReceiptSHA256), l.Issued, asOf{})
	if err != nil || by == nil {
		return verdict.Pass("the pinned Receipt is not revoked"), err
	}
	which := "the pinned Receipt"
	if !slices.Contains(by.Pins, pin{Slug: listed.SlugOf(s.Path), SHA256: l.ReceiptSHA256}) {
		which += ", or a later one of the same implementation,"
	}
	out.Errorf(s, "/conformance_receipt_sha256", "receipt-revoked", "%s is revoked by %s", which,
		plain.Cut(by.path, 300)).
		WithFix("sign a new Receipt and pin it; a revoked one never comes back").Rests(verdict.Lapsed)
	return out, nil
}

// runRevocationsRegistry counts the present listings that have expired or are revoked; it blocks nobody. It does not
// count what this range revokes, because the gate may refuse that.
func runRevocationsRegistry(r *Run) (verdict.Outcome, error) {
	var out verdict.Outcome
	expired, revoked := 0, 0
	for l := range r.Base.Listings() {
		by, err := r.past().revokedBy(r.Context, l.ToolDID, strings.ToLower(l.ReceiptSHA256), l.Issued, asOf{})
		switch {
		case err != nil:
			return out, err
		case by != nil:
			revoked++
		case !r.Now.Before(l.Expires):
			expired++
		}
	}
	if expired+revoked > 0 {
		out.Noticef(verdict.At{}, "", "not-in-force",
			"the base tree holds %s, %d expired and %d revoked; they block nobody",
			plain.Count(r.Base.Len(), "listing"), expired, revoked)
	}
	return out.OrPass(), nil
}
