package checks

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	jsonschema "github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var receiptClaims = &Check{
	ID:    "receipt-claims",
	Title: "the Receipt says what the listing says",
	Cite:  "RFC 0019 sections 6 and 7, RFC 0025",
	Row:   "Receipt signature",
	Why:   "a Receipt of another implementation, level or outcome proves nothing about this one",
	Fix:   "attest again, so that the Receipt names this DID and level and counts no failed test",
	Kinds: []registry.Kind{registry.KindListing},
	Owns:  evidence.Receipt,
	Needs: needs(evidence.ReceiptText),
	Uses:  []evidence.Kind{evidence.Manifest},
	reads: []string{"/tool_did", "/conformance_level"},
	After: wellFormed,
	Run:   runReceiptClaims,
	Codes: slices.Concat([]Code{
		{"rounded-number", "a number of the Receipt has more digits than a double holds, so that readers round it",
			"write numbers that a double holds exactly"},
		{ReceiptDIDDiffers, "the Receipt is that of another DID", "pin the Receipt that was issued for tool_did"},
		{"name-not-signed", "the listing's name is not the one that the Receipt signs",
			"set name to the Receipt's implementation.name"},
		{"tests-failed", "the Receipt counts failed tests", "fix what fails and attest again"},
		{"no-tests-passed", "the Receipt counts no passed test", "run the suite and attest again"},
		{"results-incoherent", "the Receipt's numbers of passed, failed and skipped tests are not its total",
			attestResults},
		{"tests-skipped", "the Receipt counts tests that were skipped",
			"run the tests that were skipped, and attest again"},
		{"receipt-schema", "the Receipt violates the Receipt schema",
			"attest again with a runner that follows the schema"},
		{"no-such-level", "conformance_level is not a level of the standard",
			"set it to the highest level that the Receipt claims"},
		{"tier-not-claimed", "the Receipt claims L5, and the listing a tier of it that a Receipt cannot name yet",
			"nothing to do until the Receipt schema has tiers"},
		{"level-not-claimed", "the Receipt does not claim the listing's level",
			"set conformance_level to a level that it claims, or attest at this one"},
		{"profile", "the level needs the Receipt's profile non-commercial", "attest with this profile"},
		{"revenue-source", "the level needs revenue.source in the Receipt", "attest with revenue.source"},
		{"non-commercial", "the level goes with non_commercial: true, which is not set", "set non_commercial to true"},
		{"placeholder", "the Receipt holds a placeholder where a signature must be", "sign it with a real key"},
		{SuiteNotTrusted, "the Receipt is of another suite, or of a version that is not trusted",
			"attest again with a suite of 1.x; verify trusts the versions that --trusted-suites names"},
		{TargetDiffers, "the suite ran against a host that is not shown to be the implementation's",
			"attest against the deployment that is engaged"},
		levelNotHighest,
	}, receipt.Codes, strict.Codes),
}

// maxViolations is how many violations of the receipt schema are named.
const maxViolations = 20

// ReceiptDIDDiffers is the code of a Receipt that is another DID's.
const ReceiptDIDDiffers = "receipt-did-differs"

func runReceiptClaims(s *Subject) (verdict.Outcome, error) {
	var out verdict.Outcome
	const at = "/conformance_receipt_uri"
	got := s.Facts.Receipt
	if report(&out, s, at, got, "the Receipt is not strict JSON: "+got.Message,
		"publish the Receipt as one strict JSON text (RFC 7493) and pin the new bytes") != nil {
		return out, nil
	}
	r, l := got.Value, s.Listing
	schema := ReceiptSchema(r, slices.DeleteFunc(r.Violations(), isPlaceholder)) // which Placeholders reports
	s.listAgain(&schema)
	out.Move(s, at, schema)
	if !did.Same(r.ImplementationDID, l.ToolDID) {
		out.Errorf(s, "/tool_did", ReceiptDIDDiffers,
			"the Receipt's implementation.did is %q, the listing's tool_did is %q", r.ImplementationDID, l.ToolDID).
			WithFix("%s", s.didFix("list the Receipt that was issued for "+l.ToolDID))
	}
	signedName(&out, s, r)
	out.Move(s, at, ReceiptSuite(r, receipt.TrustedSuites, verdict.Warning))
	out.Move(s, at, s.Run.ReceiptTarget(r, l.ManifestURI))
	claimedLevel(&out, s, r)
	results := ReceiptResults(r)
	out.Move(s, at, results)
	out.Move(s, at, Placeholders(r))
	if !out.Has(verdict.Error) {
		out.Verified = "claims " + string(l.Level) + " for this DID, " + results.Verified
	}
	return out.OrPass(), nil
}

// The lengths in characters of a name that a listing may have.
const minName, maxName = 2, 80

// signedName checks that the listing has the name that the Receipt signs. Nothing else shows that the proposer of a
// first listing is the owner. A name that is merged already is a warning, since a re-issue may be signed under it.
func signedName(o *verdict.Outcome, s *Subject, r *receipt.Receipt) {
	now, signed := s.Listing.Name, r.ImplementationName
	changed := s.baseListing != nil && s.baseListing.Name != now
	switch {
	case now == signed,
		refused(s, "/name") && s.Run.Selected(schema.ID), // which reports it
		signed == "" && o.Has(verdict.Error),             // ReceiptSchema reports it as missing
		changed && s.Run.Selected(reissueID):             // which reports it
		return
	}
	f := o.Add(s, errorIf(s.isNew() || changed), "/name", "name-not-signed",
		"name is %q; expected the Receipt's implementation.name %q", now, plain.Cut(signed, 200))
	if n := utf8.RuneCountInString(signed); n < minName || n > maxName {
		f.WithFix("%s", s.nameFix())
		return
	}
	f.WithFix("set name to %q, or sign a Receipt with the name %q", signed, now)
}

// ReceiptSchema reports a Receipt's violations of the receipt schema, and warns of a number that readers round.
// Pointers are into the Receipt.
func ReceiptSchema(r *receipt.Receipt, violations []jsonschema.Violation) verdict.Outcome {
	var out verdict.Outcome
	const fix = "attest again with a runner that follows the receipt schema"
	for i, v := range violations {
		if i == maxViolations {
			out.Errorf(verdict.At{}, "", "receipt-schema", "the Receipt violates its schema in %s",
				plain.Count(len(violations)-i, "more place"))
			break
		}
		f := out.Errorf(verdict.At{}, v.Pointer, "receipt-schema", "the Receipt violates its schema %s", v).WithFix(fix)
		if len(violations) == 1 && v.Pointer == "" && len(r.Signatures) == 0 {
			f.WithFix(SignAgain)
		}
	}
	if r.Rounded != "" {
		out.Warnf(verdict.At{}, r.Rounded, "rounded-number",
			"the Receipt's number at %q has more digits than a double holds; it is read as JavaScript reads it",
			plain.Cut(r.Rounded, 200)).
			WithFix("write numbers that a double holds exactly")
	}
	return out
}

// ReceiptResults checks that a Receipt counts no failed test and at least one that passed, and that its numbers add up.
// Verified says how many passed. Pointers are into the Receipt.
func ReceiptResults(r *receipt.Receipt) verdict.Outcome {
	var out verdict.Outcome
	const at = "/results_summary"
	// The schema refuses what is missing, negative or no integer.
	n := r.Results
	if n.Failed > 0 {
		out.Errorf(verdict.At{}, at+"/failed", "tests-failed",
			"results_summary.failed is %d; expected 0", n.Failed).WithFix("fix what fails and attest again")
	}
	if n.Passed == 0 {
		out.Errorf(verdict.At{}, at+"/passed", "no-tests-passed",
			"results_summary.passed is 0; expected at least 1").WithFix("run the suite and attest again")
	}
	if !n.Counted() {
		return out
	}
	skipped, ok := n.Left()
	switch {
	case !ok && n.Skipped == receipt.NoCount:
		out.Errorf(verdict.At{}, at+"/total", "results-incoherent",
			"results_summary has total %d, passed %d and failed %d; expected passed + failed to be at most total",
			n.Total, n.Passed, n.Failed).WithFix(attestResults)
	case !ok:
		out.Errorf(verdict.At{}, at+"/total", "results-incoherent", "results_summary has total %d, passed %d, "+
			"failed %d and skipped %d; expected passed + failed + skipped to be total",
			n.Total, n.Passed, n.Failed, n.Skipped).WithFix(attestResults)
	case skipped > 0:
		out.Verified = fmt.Sprintf("%d of %d tests passed, %d skipped", n.Passed, n.Total, skipped)
		out.Warnf(verdict.At{}, at, "tests-skipped", "%s; expected each test to run", out.Verified).
			WithFix("run the tests that were skipped, and attest again")
	default:
		out.Verified = fmt.Sprintf("%d of %d tests passed", n.Passed, n.Total)
	}
	return out
}

const attestResults = "attest again with the results_summary that the suite wrote"

// NonCommercial checks that a Receipt has what a level of the Non-Commercial Profile requires (RFC 0025). A level of
// another profile requires nothing. Pointers are into the Receipt.
func NonCommercial(r *receipt.Receipt, l level.Level) verdict.Outcome {
	var out verdict.Outcome
	if !l.NonCommercial() {
		return out
	}
	if r.Profile != "non-commercial" {
		out.Errorf(verdict.At{}, "/profile", "profile", "level %s needs the profile %q, the Receipt's is %q", l,
			"non-commercial", r.Profile).WithFix("attest with profile non-commercial")
	}
	if r.RevenueSource == "" {
		out.Errorf(verdict.At{}, "/revenue/source", "revenue-source",
			"level %s requires revenue.source, which the Receipt lacks", l).WithFix("attest with revenue.source")
	}
	return out
}

// isPlaceholder reports whether it is the one use that the receipt schema makes of "not".
func isPlaceholder(v jsonschema.Violation) bool {
	return v.Keyword == "not" && (strings.HasPrefix(v.Pointer, "/signatures/") ||
		strings.HasPrefix(v.Pointer, "/peer_witnesses/"))
}

// claimedLevel holds the listing's level against the levels that the Receipt claims (RFC 0025 section 3).
func claimedLevel(o *verdict.Outcome, s *Subject, r *receipt.Receipt) {
	const at = "/conformance_level"
	l := s.Listing
	if l.Level.Base() < 0 {
		o.Errorf(s, at, "no-such-level", "conformance_level is %q; the levels are L0 to L5, L1-NC, L3-NC, L5-FINANCE "+
			"and L5-ORG", l.Level).
			WithFix("set conformance_level to the highest level that the Receipt claims")
		return
	}
	switch {
	case slices.Contains(r.ClaimedLevels, l.Level):
	case claims(r.ClaimedLevels, l.Level):
		o.Warnf(s, at, "tier-not-claimed", "the Receipt claims L5 but not %s; the receipt schema knows no such suffix",
			l.Level).
			WithFix("nothing to do until the receipt schema has tiers")
	default:
		o.Errorf(s, at, "level-not-claimed", "conformance_level is %q, the Receipt claims %s", l.Level,
			levelList(r.ClaimedLevels)).
			WithFix("set conformance_level to a level that the Receipt claims, or attest at %s", l.Level)
		return
	}
	if top := highest(r.ClaimedLevels); s.Added() && top.Base() > l.Level.Base() {
		o.Warnf(s, at, "level-not-highest", "conformance_level is %q, the Receipt claims %q too", l.Level, top).
			WithFix("set conformance_level to %q, or keep the lower claim", top)
	}
	o.Move(s, at, NonCommercial(r, l.Level))
	if l.Level.NonCommercial() && !l.NonCommercial {
		o.Warnf(s, "/non_commercial", "non-commercial", "level %s goes with non_commercial: true in the listing",
			l.Level).
			WithFix("set non_commercial to true").WithValue("true")
	}
}

// claims reports whether a level is among those that a Receipt claims. L5 includes its tiers, since the receipt schema
// has none.
func claims(claimed []level.Level, l level.Level) bool {
	return slices.Contains(claimed, l) || (l == "L5-FINANCE" || l == "L5-ORG") && slices.Contains(claimed, "L5")
}

func levelList(levels []level.Level) string {
	if len(levels) == 0 {
		return "none"
	}
	var out []string
	for _, l := range levels[:min(len(levels), 10)] {
		out = append(out, plain.Cut(string(l), 20))
	}
	return strings.Join(out, ", ")
}

// Placeholders checks that no signature of a Receipt is a placeholder (RFC 0019 section 7.3). Pointers are into the
// Receipt.
func Placeholders(r *receipt.Receipt) verdict.Outcome {
	var out verdict.Outcome
	found := 0
	report := func(pointer, where, value string) {
		if !receipt.Placeholder(value) {
			return
		}
		if found++; found <= maxViolations {
			out.Errorf(verdict.At{}, pointer, "placeholder",
				"the Receipt's %s is the placeholder %q (RFC 0019 section 7.3)",
				where, plain.Cut(strings.TrimSpace(value), 60)).WithFix("sign with a real key")
		}
	}
	for _, sig := range r.Signatures {
		report("/signatures", "signatures[].value", sig.Value)
	}
	for _, w := range r.PeerWitnesses {
		report("/peer_witnesses", "peer_witnesses[].signature", w.Signature)
	}
	if more := found - maxViolations; more > 0 {
		out.Errorf(verdict.At{}, "", "placeholder", "%s of the Receipt hold placeholders",
			plain.Count(more, "more signature")).WithFix("sign with a real key")
	}
	return out
}

var levelNotHighest = Code{"level-not-highest", "the Receipt claims a higher level than the listing",
	"set conformance_level to the highest claim"}
