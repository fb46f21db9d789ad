package checks

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/folder"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/manifest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var manifestDID = &Check{
	ID:      "manifest-did",
	Title:   "the Manifest is this implementation's",
	Cite:    "RFC 0026 section 6",
	Row:     "Manifest matches DID",
	Why:     "a copied Manifest on a stranger's host keeps the right DID, so the host must be the owner's too",
	Fix:     "set the Manifest's tool.did to tool_did, and serve Manifest and Receipt on the owner's host",
	Domains: true,
	Kinds:   []registry.Kind{registry.KindListing},
	reads:   []string{"/tool_did", "/manifest_uri", "/conformance_receipt_uri"},
	Needs:   needs(evidence.Manifest),
	Uses:    []evidence.Kind{evidence.ReceiptText, evidence.Receipt},
	After:   wellFormed,
	Run:     runManifestDID,
	Codes: []Code{
		policyUnreadable, evidence.SuffixListCode,
		{"manifest-did-differs", "the Manifest is that of another DID", "set tool.did in the Manifest to tool_did"},
		{"manifest-receipt-differs", "the Manifest names another Receipt than the listing",
			"set conformance.receipt_uri in the Manifest to the listing's"},
		{receiptURIDiffers, "conformance.receipt_uri and conformance_receipt_uri of the Manifest are different",
			"set both members to the URL of the signed Receipt, or remove conformance_receipt_uri"},
		{manifestContradicts, "the Manifest claims a level or a suite version that the Receipt does not have",
			"set claimed_levels and suite_version of the Manifest's conformance to those of the Receipt"},
		{"manifest-host", "the Manifest is on a host that is not shown to be the owner's",
			"serve it in the domain of tool_did"},
		{"target-folder", "the Manifest is at the root of a host of which the DID names a directory",
			"serve it in that directory"},
		{"receipt-host", "the Receipt is on a host that is not shown to be the owner's",
			"serve it in the domain of tool_did, or name it in the Manifest's conformance.receipt_uri"},
	},
}

func runManifestDID(s *Subject) (verdict.Outcome, error) {
	var out verdict.Outcome
	m, l := s.Facts.Manifest.Value, s.Listing
	if !did.Same(m.ToolDID, l.ToolDID) {
		message := cmp.Or(m.NoDID(),
			fmt.Sprintf("the Manifest's tool.did is %q, the listing's tool_did is %q", m.ToolDID, l.ToolDID))
		out.Errorf(s, "/tool_did", "manifest-did-differs", "%s", message).
			WithFix("%s", s.didFix(fmt.Sprintf("set tool.did in the Manifest to %q", l.ToolDID)))
	}
	if m.ReceiptURI != "" && m.ReceiptURI != l.ReceiptURI && m.OtherURI == "" {
		_, name := m.ReceiptMember()
		out.Warnf(s, "/conformance_receipt_uri", "manifest-receipt-differs",
			"the Manifest names the Receipt %q, the listing %q", m.ReceiptURI, l.ReceiptURI).
			WithFix("set %s in the Manifest to the listing's", name)
	}
	var r *receipt.Receipt
	if s.Facts.Receipt.State == evidence.Obtained {
		r = s.Facts.Receipt.Value
	}
	out.Move(s, "/manifest_uri", ManifestReceipt(m, r, receipt.TrustedSuites))
	manifestOwned, receiptOwned := s.Run.InDomain(l.ManifestURI, l.ToolDID), s.Run.InDomain(l.ReceiptURI, l.ToolDID) ||
		m.ReceiptURI == l.ReceiptURI
	if d, err := did.Parse(l.ToolDID); err == nil && d.HasPath() {
		sharedHost(&out, s, m)
		return out.OrPass(), nil
	}
	if manifestOwned && receiptOwned {
		out.Verified = "tool.did is the listing's, hosted by its owner"
		return out, nil
	}
	if lacks(&out, s, evidence.ReceiptText, evidence.Receipt) {
		return out, nil
	}
	target := s.Facts.Receipt.Value.TargetURI
	if !manifestOwned && !SameHost(l.ManifestURI, target) {
		out.Errorf(s, "/manifest_uri", "manifest-host", "manifest_uri is on host %q, neither in the domain of %s nor "+
			"the host %q of the Receipt's signed target.uri",
			host(l.ManifestURI), l.ToolDID, host(target)).WithFix("serve the Manifest on a host of the owner's")
	}
	if !receiptOwned && !SameHost(l.ReceiptURI, target) {
		out.Errorf(s, "/conformance_receipt_uri", "receipt-host",
			"conformance_receipt_uri is on host %q, neither in the domain of %s, nor the host %q of the Receipt's "+
				"signed target.uri, nor named by the Manifest",
			host(l.ReceiptURI), l.ToolDID, host(target)).WithFix("serve the Receipt on a host of the owner's, or " +
			"name it in the Manifest's conformance.receipt_uri")
	}
	return out.OrPass(), nil
}

// sharedHost judges where the documents of a did:web with a path lie: its neighbors serve documents on the same host.
func sharedHost(o *verdict.Outcome, s *Subject, m *manifest.Manifest) {
	l := s.Listing
	at, _ := folder.Home(l.ToolDID)
	dir, named, found := folder.Of(l.ManifestURI)
	receiptAt, err := folder.Locate(l.ReceiptURI)
	receiptOwned := m.ReceiptURI == l.ReceiptURI || err == nil && receiptAt.SameOrigin(at) && receiptAt.Below(at.Path)
	root := found && len(dir.Path) == 0 && s.Run.InDomain(l.ManifestURI, l.ToolDID)
	if !root && !(found && folder.Owns(dir, named, folder.Location{}, at)) {
		if lacks(o, s, evidence.ReceiptText, evidence.Receipt) {
			return
		}
		target := s.Facts.Receipt.Value.TargetURI
		ran, err := folder.Locate(target)
		root = found && len(dir.Path) == 0 && SameHost(l.ManifestURI, target)
		if !root && (err != nil || !found || !folder.Owns(dir, named, ran, at)) {
			o.Errorf(s, "/manifest_uri", "manifest-host",
				"manifest_uri is %q; expected a Manifest in the directory %s of "+
					"%s, or in that of the Receipt's signed target.uri %q: others may serve documents on this host",
				l.ManifestURI, at, l.ToolDID, target).
				WithFix("serve the Manifest at %s, and set manifest_uri to it",
					strings.TrimSuffix(at.String(), "/")+"/.well-known/oap-tool.json")
		}
	}
	if root {
		o.Warnf(s, "/manifest_uri", "target-folder", "manifest_uri is at the root of %s, which %s shares with others",
			host(l.ManifestURI), l.ToolDID).
			WithFix("serve the Manifest at %s", strings.TrimSuffix(at.String(), "/")+"/.well-known/oap-tool.json")
	}
	if !receiptOwned {
		o.Errorf(s, "/conformance_receipt_uri", "receipt-host", "conformance_receipt_uri is %q, neither below %s, the "+
			"directory of %s, nor named by the Manifest", l.ReceiptURI, at, l.ToolDID).
			WithFix("serve the Receipt in that directory, or name it in the Manifest's conformance.receipt_uri")
	}
	if len(o.Findings) == 0 {
		o.Verified = "tool.did is the listing's, hosted by its owner"
	}
}

// The codes of ManifestReceipt.
const (
	receiptURIDiffers   = "receipt-uri-differs"
	manifestContradicts = "manifest-contradicts"
)

// ManifestReceipt checks that a Manifest names one Receipt, and warns if its conformance block claims a level or a
// suite version that the Receipt does not have. A lower level than one of the Receipt's contradicts nothing. A suite
// version of the Receipt that is not trusted is ReceiptSuite's to report. Without a Receipt, r is nil. Pointers are
// into the Manifest.
func ManifestReceipt(m *manifest.Manifest, r *receipt.Receipt, trusted receipt.Suites) verdict.Outcome {
	var out verdict.Outcome
	if m.OtherURI != "" {
		out.Errorf(verdict.At{}, "/conformance_receipt_uri", receiptURIDiffers,
			"the Manifest's conformance.receipt_uri is %.200q and its conformance_receipt_uri is %.200q; expected one URL",
			m.ReceiptURI, m.OtherURI).
			WithFix("set both members to the URL of the signed Receipt, or remove conformance_receipt_uri")
	}
	if r == nil {
		return out
	}
	base := func(l level.Level) level.Level {
		name, _, _ := strings.Cut(string(l), "-")
		return level.Level(name)
	}
	unclaimed := slices.DeleteFunc(slices.Clone(m.ClaimedLevels), func(l level.Level) bool {
		return slices.ContainsFunc(r.ClaimedLevels, func(claimed level.Level) bool {
			mine, signed := base(l), base(claimed)
			return mine == signed || mine.Base() >= 0 && mine.Base() < signed.Base()
		})
	})
	if len(unclaimed) > 0 {
		out.Warnf(verdict.At{}, "/conformance/claimed_levels", manifestContradicts,
			"conformance.claimed_levels of the Manifest has %s; expected levels that the Receipt claims: %s",
			levelList(unclaimed), levelList(r.ClaimedLevels)).
			WithFix("remove %s from conformance.claimed_levels in the Manifest, or attest at that level",
				levelList(unclaimed))
	}
	// One that is not trusted is reported as such.
	if m.SuiteVersion != "" && m.SuiteVersion != r.SuiteVersion && trusted.Trust(r.SuiteVersion) {
		out.Warnf(verdict.At{}, "/conformance/suite_version", manifestContradicts,
			"conformance.suite_version of the Manifest is %.100q; expected the Receipt's suite.version %.100q",
			m.SuiteVersion, r.SuiteVersion).
			WithFix("set conformance.suite_version in the Manifest to %.100q", r.SuiteVersion)
	}
	return out
}

// host returns a URL's host name in lower case without a trailing dot, or "" if the text is not a URL.
func host(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}

// SameHost reports whether two URLs have one host.
func SameHost(a, b string) bool { return host(a) != "" && host(a) == host(b) }

// webHost returns the host of a did:web, or "" for any other text.
func webHost(text string) string {
	d, err := did.Parse(text)
	if err != nil {
		return ""
	}
	return d.Host() // "" for another method
}

// InDomain reports whether a URL is in the registrable domain (private section, with the policy's suffixes) of a
// did:web's host.
func (r *Run) InDomain(uri, tool string) bool {
	mine, err := r.Base.Policy.Suffixes.Registrable(webHost(tool))
	if err != nil {
		return false
	}
	theirs, err := r.Base.Policy.Suffixes.Registrable(host(uri))
	return err == nil && mine.Registrable == theirs.Registrable
}
