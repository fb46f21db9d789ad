package checks

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// reissueID is the id of reissue, to which layout leaves a slug that changes. Go refuses to initialise two variables
// that name each other, and reissue comes after layout.
const reissueID = "reissue"

var reissue = &Check{
	ID:    reissueID,
	Title: "a merged listing changes only by its owner's newly signed Receipt",
	Cite:  "RFC 0026 section 4",
	Row:   "No tampering",
	Why:   "otherwise anyone could edit anyone's listing, or bring an older Receipt back",
	Fix:   reissueWay,
	Kinds: []registry.Kind{registry.KindListing},
	Uses:  []evidence.Kind{evidence.DIDDocument, evidence.ReceiptText, evidence.Receipt, evidence.DomainAge},
	applies: func(s *Subject) string {
		if s.Run.Asks.AsIs {
			return "judged in the history"
		}
		if !s.modified() {
			return "no merged listing changes here"
		}
		return ""
	},
	inHistory: true,
	After:     wellFormed,
	Run:       runReissue,
	Codes: []Code{
		{"base-unreadable", "the merged listing cannot be read, so that nothing shows whose it is",
			"restore the content that it had as a record, or remove the file, in a pull request of its own"},
		{"slug-changed", "slug changes",
			"keep it: a DID keeps its slug, so another slug needs another DID"},
		{"did-changed", "tool_did changes",
			"keep it; list another DID under a new slug, and revoke the old Receipt as superseded"},
		{"receipt-unchanged",
			"the listing changes and pins the same Receipt as before",
			"sign a new Receipt and pin it"},
		{"receipt-not-signed",
			"the new Receipt is not signed by the listing's owner",
			"sign it with a key of tool_did"},
		{"name-not-signed", "name changes to another one than the Receipt signs",
			"keep it, or set it to the Receipt's implementation.name"},
		{"suffix-not-kept", "the level moves to a suffix that the new Receipt does not leave to this listing",
			"keep the merged suffix, or have the Receipt claim only the other one"},
		{"receipt-not-newer", "the new Receipt is not later than the merged one",
			"attest again, and pin the newer Receipt"},
		{"provisional-set",
			"provisional is set again, though the domain is old enough or its age could not be determined",
			"leave provisional out"},
		{"unsigned-change", "a member changes that the Receipt's signature does not cover",
			"have the owner confirm the change"},
		validityMissing, levelNotHighest,
	},
}

// reissueWay is the one way to change a merged listing.
const reissueWay = "sign a new Receipt (witnesses sign again at L4 and L5) and pin it, or wait for the next renewal"

func runReissue(s *Subject) (verdict.Outcome, error) {
	var out verdict.Outcome
	l, base := s.Listing, s.baseListing
	if base == nil {
		f := out.Errorf(s, "", "base-unreadable",
			"the base tree's listing cannot be read, so nothing shows whose it is")
		p, err := s.prospect(s.Change.Head)
		switch {
		case err != nil:
			return out, err
		case p.last != nil:
			f.WithFix("restore it first, in a pull request of its own: git checkout %s -- %s", p.commit,
				plain.ShellWord(s.Path))
		case p.broken && p.kept == "":
			f.WithFix("remove the file in a pull request of its own, then list the implementation again: git rm %s",
				plain.ShellWord(s.Path))
		default:
			f.WithFix("list the implementation under a new slug")
		}
		return out, nil
	}
	if l.Slug != base.Slug {
		out.Errorf(s, "/slug", "slug-changed", "slug changes from %q to %q", base.Slug, l.Slug).
			WithFix("%s", notYours(s, "keep the slug: a DID keeps its slug, so another slug needs another DID"))
	}
	if l.ToolDID != base.ToolDID {
		out.Errorf(s, "/tool_did", "did-changed", "tool_did changes from %q to %q", base.ToolDID, l.ToolDID).
			WithFix("%s", notYours(s, "keep tool_did; an implementation that changes its DID lists itself under a "+
				"new slug and revokes the old Receipt (superseded)"))
	}
	if l.ReceiptSHA256 == base.ReceiptSHA256 {
		out.Errorf(s, "/conformance_receipt_sha256", "receipt-unchanged",
			"the listing changes, but pins the same Receipt as before").Fix = notYours(s, reissueWay)
	}
	otherMembers(&out, s)
	if s.Run.Offline {
		if err := later(&out, s, l.Issued, "issued_at"); err != nil {
			return out, err
		}
		out.Verified = "signature not judged: offline"
		return out, nil
	}
	return signed(out, s)
}

// signed judges what the new Receipt says under its signature.
func signed(o verdict.Outcome, s *Subject) (verdict.Outcome, error) {
	if missing, is := unobtained(s, evidence.ReceiptText, evidence.Receipt, evidence.DIDDocument); is {
		if missing.Skipped != "" && o.Has(verdict.Error) {
			return o, nil
		}
		missing.Findings = append(o.Findings, missing.Findings...)
		return missing, nil
	}
	r := s.Facts.Receipt.Value
	v := receipt.VerifyImplementation(r, s.Facts.DIDDocument.Value, s.Listing.ToolDID)
	if !v.Verified() {
		if s.Run.Selected(receiptSignature.ID) {
			if !o.Has(verdict.Error) {
				return verdict.Outcome{Skipped: receiptSignature.ID + " failed", DeferredTo: receiptSignature.ID}, nil
			}
			return o, nil
		}
		o.Errorf(s, "/conformance_receipt_sha256", "receipt-not-signed",
			"the new Receipt carries no signature of %s that verifies", s.Listing.ToolDID).Fix = notYours(s, reissueWay)
		return o, nil
	}
	if r.NotBefore.IsZero() && !s.Run.Selected(receiptValidity.ID) {
		o.Errorf(s, "/conformance_receipt_sha256", "validity-missing",
			"the new Receipt's validity.not_before is %q, so nothing shows that it is newer",
			plain.Cut(r.NotBefore.Text, 60)).Fix = reissueWay
	}
	if err := later(&o, s, r.NotBefore.Time, "the new Receipt's validity.not_before"); err != nil {
		return o, err
	}
	if s.Listing.Name != s.baseListing.Name && s.Listing.Name != r.ImplementationName {
		o.Errorf(s, "/name", "name-not-signed", "name changes from %q to %q, the Receipt signs %q", s.baseListing.Name,
			s.Listing.Name, r.ImplementationName).
			WithFix("keep the name, or set it to the Receipt's implementation.name")
	}
	signedLevel(&o, s, r.ClaimedLevels)
	if err := provisionalSet(&o, s); err != nil {
		return o, err
	}
	if !o.Has(verdict.Error) && !o.Has(verdict.Doubt) && !r.NotBefore.IsZero() {
		o.Verified = "signed by " + v.Key + ", newer than the merged listing"
	}
	return o.OrPass(), nil
}

// later checks that the new Receipt is newer than the base listing by more than one second.
func later(o *verdict.Outcome, s *Subject, at time.Time, what string) error {
	if at.IsZero() || s.Listing.ReceiptSHA256 == s.baseListing.ReceiptSHA256 {
		return nil // receipt-validity or schema says that the time cannot be read; the same Receipt is refused anyway
	}
	issued := s.baseListing.Issued
	if issued.IsZero() || issued.After(s.Run.Now.Add(Skew)) {
		var err error
		if issued, err = broughtAt(s); err != nil {
			return err
		}
	}
	if !at.After(issued.Add(time.Second)) {
		o.Errorf(s, "/issued_at", "receipt-not-newer", "%s is %s, the merged listing was issued at %s; a re-issue "+
			"must be later", what, stamp(at), stamp(issued)).
			WithFix("%s; its validity.not_before must be after %s", reissueWay, stamp(issued.Add(time.Second)))
	}
	return nil
}

// broughtAt returns the first-parent time of the commit that gave the base listing its content.
func broughtAt(s *Subject) (time.Time, error) {
	if l := s.Run.Base.followed; l != nil {
		b, err := l.Origin(s.Run.Context, s.Path)
		return b.When, err
	}
	v, err := s.Run.Brought(s.Path)
	return v.When, err
}

func provisionalSet(o *verdict.Outcome, s *Subject) error {
	if !s.Listing.Provisional || s.baseListing.Provisional {
		return nil
	}
	age, _, err := judgeAge(s)
	switch age {
	case ageOld:
		o.Errorf(s, "/provisional", "provisional-set", "provisional is set again on a domain that is old enough").
			WithFix("leave provisional out")
	case ageUnsure:
		o.Doubtf(s, "/provisional", "provisional-set",
			"provisional is set again, and the domain's age could not be determined").WithFix(
			"try again, or leave provisional out")
	}
	return err
}

// otherMembers shows the changed members that no signature speaks of, and a changed level: the Receipt claims it, but
// does not say that the owner proposes it.
func otherMembers(o *verdict.Outcome, s *Subject) {
	judged := []string{"slug", "tool_did", "conformance_receipt_sha256", "name", "provisional", "issued_at",
		"expires_at"}
	now, then, changed := s.changedMembers()
	for _, n := range changed {
		if !slices.Contains(judged, n) {
			o.Warnf(s, "/"+strict.Escape(n), "unsigned-change",
				"%s changes from %s to %s; the signature shows that the Receipt is the owner's, not who proposes this",
				n, shown(then, n), shown(now, n)).WithFix("have the owner confirm the change")
		}
	}
}

func shown(m map[string]any, name string) string {
	v, there := m[name]
	if !there {
		return "nothing"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "something unreadable"
	}
	return plain.Cut(string(text), 200)
}

// signedLevel checks that the level is the one that the new Receipt leaves to the merged listing: a proposer of a
// re-issue must not choose among the levels that the owner signed.
func signedLevel(o *verdict.Outcome, s *Subject, claimed []level.Level) {
	const at = "/conformance_level"
	now, then := s.Listing.Level, s.baseListing.Level
	want := Kept(claimed, then)
	switch {
	case now == want:
	case want.Base() < 0:
		o.Errorf(s, at, "level-not-highest", "conformance_level is %q; the Receipt claims %s, which is not a level of "+
			"a listing", now, levelList(claimed)).WithFix("attest at one of L0 to L5")
	case now.Base() != want.Base():
		o.Errorf(s, at, "level-not-highest", "conformance_level is %q, the highest that the Receipt claims is %q", now,
			want).
			WithFix("set conformance_level to %q", want)
	case claims(claimed, now) || !s.Run.Selected(receiptClaims.ID): // else receipt-claims reports it
		o.Errorf(s, at, "suffix-not-kept", "conformance_level is %q, the merged listing's is %q and the Receipt "+
			"claims %s; the suffix is not the proposer's to choose", now, then, levelList(claimed)).WithFix(
			"set conformance_level to %q", want)
	}
}

// Kept returns the highest level that a Receipt claims: with the suffix of the merged listing if it claims that, else
// without a suffix if it claims that, else the first one.
func Kept(claimed []level.Level, then level.Level) level.Level {
	top := highest(claimed)
	if top.Base() < 0 {
		return top
	}
	plain := level.Level(fmt.Sprintf("L%d", top.Base()))
	if _, suffix, found := strings.Cut(string(then), "-"); found && then.Base() >= 0 {
		if same := plain + "-" + level.Level(suffix); same.Base() >= 0 && claims(claimed, same) {
			return same
		}
	}
	if claims(claimed, plain) {
		return plain
	}
	return top
}

// highest returns the highest Conformance Level among those that a Receipt claims; of equal ones the first.
func highest(claimed []level.Level) level.Level {
	var top level.Level
	for _, l := range claimed {
		if l.Base() > top.Base() {
			top = l
		}
	}
	return top
}
