package checks

import (
	"fmt"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var receiptSignature = &Check{
	ID:    "receipt-signature",
	Title: "a key of the DID Document signed the Receipt",
	Cite:  "RFC 0026 section 6",
	Row:   "Receipt signature",
	Why:   "without the owner's signature anyone could have written the Receipt",
	Fix:   SignAgain,
	Kinds: []registry.Kind{registry.KindListing},
	Needs: needs(evidence.ReceiptText, evidence.Receipt, evidence.DIDDocument),
	reads: []string{"/tool_did"},
	After: wellFormed,
	Run:   runReceiptSignature,
	Codes: []Code{
		{"signature-not-verified", "a signature of the Receipt verifies under no key of the DID Document: it must be " +
			"over the RFC 8785 canonical JSON without signatures and peer_witnesses", SignAgain},
		{"not-signed", "no EdDSA signature of the Receipt is by tool_did", SignAgain},
		{"key-id-mismatch", "the signature names another key than the one that verifies it",
			"add that id for the key to the DID Document, or sign again with --key-id"},
		{"key-not-for-assertion", "the key that signed is not in the DID Document's assertionMethod",
			"add it to assertionMethod"},
		did.PublishedKey,
		{"signed-without-anchor", "the signature covers the Receipt as it was before registry_anchor was added",
			"nothing to do"},
	},
}

// listedMembers returns the signed members of a Receipt that the listing repeats.
func listedMembers(s *Subject) []receipt.Known {
	l := s.Listing
	return []receipt.Known{
		{Path: []string{"implementation", "did"}, Value: l.ToolDID},
		{Path: []string{"implementation", "name"}, Value: l.Name},
		{Path: []string{"claimed_levels"}, Value: []any{string(l.Level)}},
		{Path: []string{"validity", "not_before"}, Value: l.IssuedAt},
		{Path: []string{"validity", "not_after"}, Value: l.ExpiresAt},
	}
}

func runReceiptSignature(s *Subject) (verdict.Outcome, error) {
	signed := ReceiptSignature(s.Facts.Receipt.Value, s.Facts.DIDDocument.Value, s.Listing.ToolDID, s.Run.Explain,
		listedMembers(s))
	s.listAgain(&signed)
	out := verdict.Outcome{Passed: signed.Passed, Verified: signed.Verified}
	out.Move(s, "/conformance_receipt_uri", signed)
	return out, nil
}

// SignAgain is the fix of a Receipt that its owner has to sign.
const SignAgain = "oap-gate sign FILE --key KEY, then publish it"

// listAgain adds to the fixes of a Receipt that its owner has to sign what lists the new one.
func (s *Subject) listAgain(o *verdict.Outcome) {
	for i := range o.Findings {
		if f := &o.Findings[i]; f.Fix == SignAgain {
			f.Fix += ", then " + s.again()
		}
	}
}

// An Explainer says which mistake would make a signature by that name verify, or "". Known members of the Receipt help
// it.
type Explainer func(r *receipt.Receipt, d *did.Document, by string, known []receipt.Known) string

// ReceiptSignature checks that a key of a DID's document signed a Receipt, and that every signature of the DID
// verifies. If one does not, explain may say why, where there is one. Pointers are into the Receipt.
func ReceiptSignature(r *receipt.Receipt, doc *did.Document, tool string, explain Explainer,
	known []receipt.Known) verdict.Outcome {
	var out verdict.Outcome
	const at = "/signatures"
	v := receipt.VerifyImplementation(r, doc, tool)
	for i, bad := range v.Unverified {
		f := out.Errorf(verdict.At{}, at, "signature-not-verified",
			"the Receipt's signature by %q verifies under no Ed25519 key of the DID Document: %s",
			plain.Cut(bad.By, 200), bad.Why)
		f.WithFix(SignAgain)
		if i > 0 || explain == nil {
			continue // one is enough to learn from, and each costs
		}
		if why := explain(r, doc, bad.By, known); why != "" {
			f.Message += "; " + plain.Cut(why, 600)
		}
	}
	if !v.Verified() && len(v.Unverified) == 0 {
		out.Errorf(verdict.At{}, at, "not-signed", "no EdDSA entry in the Receipt's signatures is by %s", tool).
			WithFix(SignAgain)
	}
	if !v.Verified() {
		return out
	}
	if v.Mismatch {
		out.Warnf(verdict.At{}, at, "key-id-mismatch", "by names %q, the signature verifies under %q",
			plain.Cut(v.By, 200), plain.Cut(v.Key, 200)).WithFix("%s", keyIDFix(doc, v))
	}
	if !v.Assertion {
		out.Warnf(verdict.At{}, at, "key-not-for-assertion",
			"key %q is not in the DID Document's assertionMethod", plain.Cut(v.Key, 200)).
			WithFix("add the key to assertionMethod")
	}
	if v.WithoutAnchor {
		out.Noticef(verdict.At{}, at, "signed-without-anchor",
			"the signature covers the Receipt without registry_anchor, which was added later")
	}
	if !out.Has(verdict.Error) {
		out.Verified = "signed by " + plain.Cut(v.Key, 200) + ", over " + v.Form()
	}
	return out.OrPass()
}

// keyIDFix returns the fix of a signature whose by names another key than the one that verifies it: the DID Document
// gets the id, unless another key has it, or the Receipt gets a signature with the id of its key.
func keyIDFix(doc *did.Document, v receipt.Verification) string {
	sign := "remove this signature and run oap-gate sign FILE --key-id " + plain.ShellWord(plain.Cut(v.Key, 200))
	_, fragment, found := strings.Cut(v.By, "#")
	if _, taken := doc.Key(v.By); !found || fragment == "" || taken {
		return sign
	}
	return fmt.Sprintf("add the id %s for this key to verificationMethod and assertionMethod of did.json, or %s",
		plain.Cut(doc.DID+"#"+fragment, 200), sign)
}
