package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Proof is what a proof of a listing shows, for a run without a clone.
type Proof struct {
	shown   *proof.Result
	refusal *proof.Refusal    // nil: it shows a valid listing
	listing *registry.Listing // nil: it shows no listing
}

// ReadProof checks a proof file. A proof that does not hold is not an error: the steps say so.
func ReadProof(data []byte, o proof.Options) (*Proof, error) {
	slug := ""
	f, err := proof.ParseFile(data)
	if err == nil {
		slug = strings.TrimSuffix(strings.TrimPrefix(f.Names[0].Name, "implementations/"), ".json")
	}
	p := &Proof{}
	if p.shown, err = proof.Check(data, slug, o); err != nil {
		refusal, ok := errors.AsType[*proof.Refusal](err)
		if !ok {
			return nil, err
		}
		p.refusal = refusal
	}
	if p.shown.Listing.Slug == "" {
		return p, nil
	}
	doc, err := strict.Parse(proof.ListingPath(slug), f.Content, strict.RegistryFile)
	if err != nil {
		return nil, err
	}
	p.listing = registry.ParseListing(&registry.Record{Path: doc.Path, Kind: registry.KindListing, Document: doc})
	return p, nil
}

// lookProven takes the addresses of a slug from the proof.
func (w *work) lookProven() {
	p := w.cfg.Proof
	if p.listing == nil || p.listing.Slug != w.target.Slug {
		w.facts = &evidence.Facts{}
		return
	}
	w.pinned = p.listing
	w.target.ManifestURI, w.target.DID = p.listing.ManifestURI, p.listing.ToolDID
}

// unproven reports whether the target is a slug of which the proof shows no listing, so that there is nothing to fetch.
func (w *work) unproven() bool { return w.cfg.Proof != nil && w.target.Slug != "" && w.pinned == nil }

// proven adds why the proof does not show a listing of the target that pins the served bytes. It reports whether there
// is nothing of it.
func (w *work) proven(o *verdict.Outcome) bool {
	p := w.cfg.Proof
	sum := w.facts.ReceiptText.Value.SHA256
	differs := func(format string, args ...any) bool {
		o.Errorf(verdict.At{}, "", "proof-subject", format, args...).
			WithFix("ask for a proof of the implementation that is verified, made after its Receipt was listed")
		return false
	}
	switch {
	case p.refusal != nil && p.refusal.Undated:
		o.Doubtf(verdict.At{}, "", p.refusal.Code, "%s", p.refusal.Message).WithFix("%s", p.refusal.Fix())
		return false
	case p.refusal != nil:
		o.Errorf(verdict.At{}, "", p.refusal.Code, "%s", p.refusal.Message).WithFix("%s", p.refusal.Fix())
		return false
	case w.target.Slug != "" && w.pinned == nil:
		return differs("the proof shows the listing of %q; expected %q", p.listing.Slug, w.target.Slug)
	case w.did != "" && !did.Same(w.did, p.listing.ToolDID):
		return differs("the proof shows the listing of %.200q; expected %.200q", p.listing.ToolDID, w.did)
	case sum != "" && sum != p.listing.ReceiptSHA256 && w.facts.Receipt.State == evidence.Obtained &&
		w.facts.Receipt.Value.NotBefore.Time.Sub(p.listing.Issued) > time.Second:
		o.Doubtf(verdict.At{}, "", "proof-subject", "the proof is older than the served Receipt: the listing in it "+
			"pins %s, issued at %s", p.listing.ReceiptSHA256, stamp(p.listing.Issued)).
			WithFix("ask for a proof made after the renewal is merged, or use --registry DIR")
		return false
	case sum != "" && sum != p.listing.ReceiptSHA256:
		return differs("the listing in the proof pins %s; the served bytes have %s", p.listing.ReceiptSHA256, sum)
	}
	return true
}

func judgeRevocationByProof(w *work) (verdict.Outcome, error) {
	var out verdict.Outcome
	if !w.proven(&out) {
		return out, nil
	}
	if out, missing := w.needs(aReceipt...); missing {
		return out, nil
	}
	l, asOf := w.cfg.Proof.listing, "an unknown time" // at which the quorum vouched for the log
	if at := w.cfg.Proof.shown.AsOf; !at.IsZero() {
		asOf = stamp(at)
	}
	f := out.Warnf(verdict.At{}, "", "by-proof", "no revocation of %s-%s as of %s; older pins, other slugs of this "+
		"DID and unreadable files of revocations/ were not looked at", l.Slug, l.ReceiptSHA256, asOf)
	f.Commit = w.cfg.Proof.shown.Entry.Commit
	f.WithFix(nameClone)
	return out, nil
}

func judgeAnchorByProof(w *work) (verdict.Outcome, error) {
	var out verdict.Outcome
	if !w.proven(&out) {
		return out, nil
	}
	if missing, is := w.needs(aReceipt...); is {
		return missing, nil
	}
	l, commit := w.cfg.Proof.listing, w.cfg.Proof.shown.Entry.Commit
	if slices.ContainsFunc(w.claimed, func(claimed level.Level) bool { return l.Level.Base() < claimed.Base() }) {
		out.Warnf(verdict.At{}, "", "not-anchored", "the listing in the proof is at %s, the Receipt claims more",
			l.Level).WithFix("oap-gate renew %s", plain.ShellWord(l.Slug))
	}
	if l.Provisional {
		out.Warnf(verdict.At{}, "", "provisional",
			"the listing in the proof is provisional: the domain is young, or of unknown age").
			WithFix("wait until the listing is issued again without it, or has been there for 30 days")
	}
	out.Verified = fmt.Sprintf("%s, in the registry at commit %s", proof.ListingPath(l.Slug), commit)
	return out, nil
}

// byProof reports whether the steps of the registry are judged by a proof.
func (w *work) byProof() bool { return w.cfg.Proof != nil && !w.cfg.Require }

// proofCodes explains what a proof may be refused for.
var proofCodes = slices.Concat([]strict.Code{
	{ID: "by-proof",
		Meaning: "a proof shows that the Receipt was not revoked at its time, and nothing about other pins",
		Fix:     nameClone},
}, slices.DeleteFunc(slices.Clone(proof.Codes), func(c strict.Code) bool { return c.ID == "revoked" }))
