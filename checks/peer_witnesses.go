package checks

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var peerWitnesses = &Check{
	ID:    "peer-witnesses",
	Title: "an L4 Receipt carries the signature of one peer witness, an L5 Receipt those of three independent ones",
	Cite:  "RFC 0026 sections 6 and 10, RFC 0019 section 7.1",
	Row:   "Peer witnesses (L4+)",
	Why:   "at L4 and above, implementations that passed the same tests must confirm the claim",
	Fix:   "have listed L4 or L5 implementations sign the Receipt; for L5 three of different publishers and domains",
	Kinds: []registry.Kind{registry.KindListing},
	Owns:  evidence.Witnesses,
	reads: []string{"/tool_did", "/conformance_level"},
	Needs: func(s *Subject) []evidence.Kind {
		all := []evidence.Kind{evidence.ReceiptText, evidence.Receipt, evidence.DIDDocument}
		if s.Listing.Level.Base() == 5 {
			all = append(all, evidence.Manifest)
		}
		return all
	},
	applies: func(s *Subject) string {
		if level := s.Listing.Level.Base(); level < 0 || level >= 4 {
			return ""
		}
		return "L0 to L3 need no witness"
	},
	After:       wellFormed,
	Run:         runPeerWitnesses,
	RunRegistry: runPeerWitnessesRegistry,
	Codes: slices.Concat([]Code{
		policyUnreadable,
		{"witness-same-domain", "a witness shares the candidate's domain", "have somebody on another domain sign"},
		{"witness-not-independent", "a witness counts for L4 and is not shown to be independent, as L5 asks",
			"have an independent witness sign"},
		{"publisher-missing", "the Manifest names no publisher, so that nothing shows that the witnesses are others",
			"add publisher.did or publisher.legal_name"},
		{"too-few-witnesses", "fewer witnesses count than the level needs",
			"have more listed L4 or L5 implementations sign"},
		{"cosigner-is-candidate", "a maintainer who must co-sign is the candidate itself", "correct the policy file"},
		{"cosigner-open", "the DID Document of a maintainer who must co-sign could not be fetched", "try again"},
		{"cosigner-document", "the DID Document of a maintainer who must co-sign cannot be used",
			"have the maintainer serve one"},
		{"cosignature-missing", "a maintainer who must co-sign did not",
			"have each of the maintainers sign the Receipt"},
		{"cosignature-stale", "a maintainer's signature no longer verifies; it may have when it was merged",
			"have each of the maintainers sign the Receipt"},
		{"policy-broken", "the policy file cannot be read, so it exempts nobody",
			"fix it; oap-gate schema gate-policy shows what is allowed"},
		notCanonical, tooManyWitnesses, witnessOpen, did.PublishedKey,
	}, witnessCodes),
}

// bootstrapEnd is when the exemption of RFC 0026 section 10 ends: twelve months after its acceptance.
var bootstrapEnd = time.Date(2027, 5, 4, 0, 0, 0, 0, time.UTC)

func runPeerWitnesses(s *Subject) (verdict.Outcome, error) {
	var out verdict.Outcome
	const at = "/conformance_level"
	if s.Listing.Level.Base() < 0 {
		return noSuchLevel(s), nil
	}
	r := s.Facts.Receipt.Value
	if r.PeerWitnessCount > evidence.MaxWitnesses {
		out.Errorf(s, at, "too-many-witnesses", "the Receipt has %d peer_witnesses, at most %d are read",
			r.PeerWitnessCount, evidence.MaxWitnesses).
			WithFix("keep the entries of listed witnesses; no signature covers peer_witnesses")
		return out, nil
	}
	if _, err := r.WitnessedBytes(); err != nil {
		out.Errorf(s, at, "not-canonical", "the Receipt has no canonical form: %v", err).
			WithFix("publish a Receipt that RFC 8785 can canonicalise")
		return out, nil
	}
	all, err := s.witnesses()
	if errors.Is(err, errNotReached) {
		return verdict.Outcome{Doubtful: NotReached}, nil
	}
	if err != nil {
		return out, err
	}
	if s.Listing.Level.Base() == 5 {
		out = level5(out, s, all)
	} else {
		out = level4(out, s, all)
	}
	for _, w := range all {
		if w.weight == counts {
			out.Witnesses = append(out.Witnesses, w.slug)
		}
	}
	return out, nil
}

// noSuchLevel leaves a level that does not exist, such as L5-NC, to receipt-claims: its duties are not known.
func noSuchLevel(s *Subject) verdict.Outcome {
	return deferTo(s, receiptClaims.ID, "/conformance_level", "no-such-level",
		fmt.Sprintf("conformance_level is %q, which does not exist", s.Listing.Level))
}

func level4(o verdict.Outcome, s *Subject, all []witness) verdict.Outcome {
	const at = "/conformance_level"
	counted, open, may := 0, "", evidence.Retry{}
	for _, w := range all {
		switch w.weight {
		case counts:
			counted++
			if w.near != "" {
				o.Warnf(s, at, "witness-same-domain", "witness %s shares the domain %s with the candidate", w.did,
					w.near).
					WithFix("have a witness on another domain sign").Rests(verdict.World)
			}
		case unsure:
			open, may = w.did+": "+w.why, w.may
		}
	}
	entries(&o, s, all)
	var exempt verdict.Outcome
	bootstrap(&exempt, s)
	switch {
	case o.Has(verdict.Error):
	case counted > 0:
		o.Verified = "the signature of " + plain.Count(counted, "witness") + " verified"
	case open != "" && exempt.Has(verdict.Error):
		retry(o.Doubtf(s, at, WitnessOpen, "no witness counts yet, and one may: %s", open), may).Rests(verdict.World)
	case exempt.Has(verdict.Error) && len(revokedSince(all)) > 0:
		lostWitnesses(&o, s, all)
	default:
		o.Findings, o.Verified = append(o.Findings, exempt.Findings...), exempt.Verified
	}
	return o
}

func level5(o verdict.Outcome, s *Subject, all []witness) verdict.Outcome {
	const at = "/conformance_level"
	m := s.Facts.Manifest.Value
	if !did.Same(m.ToolDID, s.Listing.ToolDID) {
		return deferTo(s, manifestDID.ID, "/tool_did", "manifest-did-differs",
			fmt.Sprintf("the Manifest's tool.did is %q, so it does not say who publishes %s", plain.Cut(m.ToolDID, 200),
				s.Listing.ToolDID))
	}
	if why := m.Unnamed(); why != "" {
		o.Errorf(s, "/manifest_uri", "publisher-missing",
			"the Manifest %s, so nothing shows that the witnesses are independent of it", why).
			WithFix("set tool.publisher.did and tool.publisher.legal_name in the Manifest")
		return o
	}
	entries(&o, s, all)
	sure, possible := tally(all, s.Run.Asks.documentsDiffer)
	switch {
	case o.Has(verdict.Error):
	case sure >= quorum:
		o.Verified = "the signatures of three independent witnesses verified"
	case possible >= quorum:
		why, may := firstOpen(all)
		retry(o.Doubtf(s, at, WitnessOpen, "%d of the %d independent witnesses that L5 needs count; others could not "+
			"be judged: %s", sure, quorum, why), may).Rests(verdict.World)
	case possible+len(revokedSince(all)) >= quorum:
		lostWitnesses(&o, s, all)
	default:
		f := o.Errorf(s, at, "too-few-witnesses", "%s; L5 requires %d",
			plain.Count(sure, "independent witness")+plain.Plural(sure, " counts", " count"), quorum)
		if why := firstDependence(all); why != "" {
			f.Message += ": " + why
		}
		f.WithFix("have three listed L4 or L5 implementations of different publishers, keys and registered " +
			"domains sign")
	}
	return o
}

// lostWitnesses reports that a merged listing has too few witnesses since some of them were revoked.
func lostWitnesses(o *verdict.Outcome, s *Subject, all []witness) {
	o.Errorf(s, "/conformance_level", codeWitnessRevoked, "%s needs more witnesses: %s", s.Listing.Level,
		revokedSince(all)[0]).
		WithFix("have the implementation sign a new Receipt with other witnesses, and renew its listing").
		WithValue(codeWitnessRevoked).Rests(verdict.Lapsed)
}

// entries reports each witness that does not count, and why.
func entries(o *verdict.Outcome, s *Subject, all []witness) {
	const at = "/conformance_receipt_uri"
	for i := range all {
		w := &all[i]
		name, only5 := fmt.Sprintf("peer witness %q", plain.Cut(w.did, 200)), w.weight == counts
		is := w.worth(s.Listing.Level.Base() == 5)
		verb, may := "does not count", evidence.Retry{Fix: "remove the entry, or have a listed witness sign"}
		switch {
		case is.Counts:
			continue
		case is.Unsigned:
			o.Errorf(s, at, is.Code, "%s is listed, but %s", name, is.Why).
				WithFix("remove that entry from peer_witnesses (no signature covers it), publish, and pin the " +
					"new bytes")
			continue
		case is.Open && only5:
			verb, may = "may not count towards L5", is.May
		case is.Open:
			verb, may = "could not be judged", is.May
		case only5:
			verb, may = "does not count towards L5", anotherWitness
		}
		retry(o.Warnf(s, at, is.Code, "%s %s: %s", name, verb, is.Why), may).Rests(verdict.World)
	}
}

// firstOpen returns why not all witnesses are decided, and what decides it.
func firstOpen(all []witness) (why string, may evidence.Retry) {
	for i := range all {
		if is := all[i].worth(true); is.Open {
			return all[i].did + ": " + is.Why, is.May
		}
	}
	return firstDependence(all), anotherWitness
}

func firstDependence(all []witness) string {
	for i := range all {
		for j := i + 1; j < len(all); j++ {
			if all[i].weight == counts && all[j].weight == counts &&
				all[i].dependence == "" && all[j].dependence == "" {
				if why := dependent(&all[i], &all[j]); why != "" {
					return fmt.Sprintf("%s and %s are not independent: %s", all[i].did, all[j].did, why)
				}
			}
		}
	}
	return ""
}

// bootstrapMaintainers returns the DIDs whose co-signatures a listing needs under the bootstrap rule. It returns nil if
// the rule does not cover the listing.
func (s *Subject) bootstrapMaintainers() []string {
	l, by := s.Listing, s.judge()
	p := by.Policy
	if l.Level.Base() != 4 || p.ReferenceServer == "" || !did.Same(l.ToolDID, p.ReferenceServer) ||
		!by.When.Before(bootstrapEnd) {
		return nil
	}
	return p.Maintainers
}

// bootstrap judges a listing at L4 without a witness by RFC 0026 section 10.
func bootstrap(o *verdict.Outcome, s *Subject) {
	const at = "/conformance_level"
	maintainers := s.bootstrapMaintainers()
	if len(maintainers) == 0 {
		o.Errorf(s, at, "too-few-witnesses", "no peer witness counts; L4 requires one: RFC 0026 section 10 exempts "+
			"only the reference server that %s names, before %s",
			policyFile, stamp(bootstrapEnd)).WithFix("have a listed L4 or L5 implementation sign the Receipt")
		return
	}
	for _, m := range maintainers {
		if did.Alike(m, s.Listing.ToolDID) {
			o.Errorf(s, at, "cosigner-is-candidate", "maintainer %s is the candidate itself", m).
				WithFix("correct %s", policyFile)
			return
		}
		doc := s.Facts.Maintainers[m]
		switch {
		case doc.State.Open():
			retry(o.Doubtf(s, at, "cosigner-open", "the DID Document of maintainer %s could not be fetched: %s", m,
				doc.Message), doc.Retry(s.Run.Now)).Rests(verdict.World)
		case doc.State != evidence.Obtained:
			o.Errorf(s, at, "cosigner-document", "maintainer %s: %s", m, doc.Message).
				WithFix("have the maintainer serve a DID Document").Rests(verdict.World)
		case !receipt.VerifyCosigner(s.Facts.Receipt.Value, m, doc.Value):
			unsigned(o, s, m).WithFix("have every maintainer sign the bytes that the implementation signs")
		}
	}
	if !o.Has(verdict.Error) && !o.Has(verdict.Doubt) {
		o.Verified = "exempt under RFC 0026 section 10: co-signed by " + plain.Count(len(maintainers), "maintainer")
	}
}

// unsigned says that the signature of a maintainer does not verify; in an audit it may have, under an earlier key.
func unsigned(o *verdict.Outcome, s *Subject, maintainer string) *verdict.Finding {
	signed := func(e receipt.Signature) bool {
		by, _, _ := strings.Cut(e.By, "#")
		return did.Same(by, maintainer) && readable(e.Alg, e.Value)
	}
	code, on := "cosignature-missing", verdict.Text
	if s.Run.Asks.documentsDiffer && slices.ContainsFunc(s.Facts.Receipt.Value.Signatures, signed) {
		code, on = "cosignature-stale", verdict.World
	}
	return o.Errorf(s, "/conformance_level", code, "the Receipt carries no EdDSA signature of maintainer %s that "+
		"verifies; section 10 requires all of them", maintainer).Rests(on)
}

// ownDomain returns the domain of the candidate's did:web; for another DID method, that of its Manifest's host, as in
// domain-age.
func ownDomain(s *Subject) domainage.Domain {
	name := cmp.Or(webHost(s.Listing.ToolDID), host(s.Listing.ManifestURI))
	// domain-age reports an error, which leaves what is known.
	domain, _ := s.Run.Base.Policy.Suffixes.Registrable(name)
	return domain
}

// runPeerWitnessesRegistry warns of a policy file that cannot be read, and refuses a change that would leave one: no
// listing could be judged by it.
func runPeerWitnessesRegistry(r *Run) (verdict.Outcome, error) {
	var out verdict.Outcome
	unread := func(p Policy, severity verdict.Severity, code, whose, fix string) {
		if p.Broken == nil {
			return
		}
		f := out.Add(verdict.At{Path: policyFile}, severity, "", code, "%s %s exempts nobody: %v", whose,
			policyFile, p.Broken)
		if at, ok := errors.AsType[*strictyaml.Error](p.Broken); ok {
			f.Pos, f.Message = at.Pos, whose+" policy exempts nobody: "+at.Message
		}
		f.WithFix("%s", fix)
	}
	const schema = "; its schema: oap-gate schema gate-policy"
	trees, err := r.passing(policyFile)
	if err != nil {
		return out, err
	}
	passing := len(trees)
	if changeOf(r.Range.Changes, policyFile) != nil {
		trees = append(trees, r.Range.Result)
	} else {
		unread(r.Base.Policy, verdict.Warning, "policy-broken", "the base tree's",
			"fix the file in a pull request of its own"+schema)
	}
	for i, t := range trees {
		p, err := ReadPolicy(r.Context, t)
		if err != nil {
			return out, err
		}
		from := len(out.Findings)
		if records, err := r.changesRecords(); err != nil {
			return out, err
		} else if !records {
			unread(p, verdict.Error, codePolicyUnreadable, "the proposed", "correct the file"+schema)
		} else { // append-only refuses the change of both kinds
			unread(p, verdict.Warning, "policy-broken", "the proposed",
				"fix the file in a pull request of its own"+schema)
		}
		if i < passing {
			r.inPassing(out.Findings[from:], t)
		}
	}
	return out.OrPass(), nil
}
