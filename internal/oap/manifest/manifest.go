// Package manifest reads OAP Manifests, as far as the gate asks about them.
package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/fold"
)

// MaxBytes is how large a Manifest may be.
const MaxBytes = 1 << 20

// CodeShape is the code of the strict.Error for a Manifest that is JSON and no object.
const CodeShape = "manifest-no-object"

// Codes explains CodeShape.
var Codes = []strict.Code{{CodeShape, "the Manifest is JSON, but not an object",
	"serve the Manifest itself at manifest_uri"}}

// Manifest is an OAP Manifest, as far as its members have the right types: one that is missing or of another
// type is empty here.
type Manifest struct {
	ToolDID   string    // tool.did
	misplaced bool      // tool.did is missing, and tool_did is at the top level
	Publisher Publisher // tool.publisher
	// RevocationStatus is governance.revocation_status_url (RFC 0019 section 10).
	RevocationStatus string

	// Attested reports whether conformance is an object or conformance_receipt_uri is there (RFC 0026 section 12).
	Attested   bool
	ReceiptURI string // conformance.receipt_uri, else conformance_receipt_uri
	OtherURI   string // conformance_receipt_uri, if conformance.receipt_uri is another text
	atRoot     bool   // ReceiptURI is conformance_receipt_uri

	// ClaimedLevels are those of conformance, each once, at most 64.
	ClaimedLevels []level.Level
	SuiteVersion  string // conformance.suite_version

	// ConventionDiscoveryV2 is the member of ad_hoc_teamwork of that name (RFC 0027).
	ConventionDiscoveryV2 bool
	FallbackPolicy        FallbackPolicy
}

// Publisher says who answers for an implementation, by its own word.
type Publisher struct {
	DID, LegalName string
	Registry       Registry
}

// Registry is a publisher's entry in a register of companies.
type Registry struct{ Type, ID, Country string }

// FallbackPolicy is ad_hoc_teamwork.aht_fallback_policy with the time-out next to it.
type FallbackPolicy struct {
	Class       string // policy_class
	Assumptions int    // elements of assumptions; 0 if it is not an array
	HasTimeout  bool   // ad_hoc_teamwork.unilateral_timeout_ms is there and a number
}

// URI returns where the host of a did:web without a path serves its Manifest; "" for another DID.
func URI(id string) string {
	d, err := did.Parse(id)
	if err != nil || d.Method != "web" || d.HasPath() {
		return ""
	}
	return "https://" + d.Host() + "/.well-known/oap-tool.json"
}

// Parse reads the Manifest that was served at url. The error is always a *strict.Error.
func Parse(url string, data []byte) (*Manifest, error) {
	doc, err := strict.Parse(url, data, strict.Remote(MaxBytes))
	if err != nil {
		return nil, err
	}
	root, ok := doc.Root.(map[string]any)
	if !ok {
		return nil, &strict.Error{Pos: doc.Pos(""), Code: CodeShape,
			Message: "the text is not a JSON object; a Manifest is one"}
	}
	publisher := strict.Member(root, "tool", "publisher")
	m := &Manifest{
		ToolDID: strict.Copy(root, "tool", "did"),
		Publisher: Publisher{
			DID:       strict.Copy(publisher, "did"),
			LegalName: strict.Copy(publisher, "legal_name"),
			Registry: Registry{
				Type:    strict.Copy(publisher, "registry", "type"),
				ID:      number(publisher, "registry", "id"),
				Country: strict.Copy(publisher, "registry", "country"),
			},
		},
		RevocationStatus: strict.Copy(root, "governance", "revocation_status_url"),
		FallbackPolicy:   policyOf(root["ad_hoc_teamwork"]),
	}
	m.misplaced = m.ToolDID == "" && strict.Copy(root, "tool_did") != ""
	m.attested(root)
	m.ConventionDiscoveryV2, _ = strict.Member(root, "ad_hoc_teamwork", "convention_discovery_v2").(bool)
	return m, nil
}

// NoDID says why a Manifest has no tool.did if that is because it has tool_did at the top level; else it returns "".
func (m *Manifest) NoDID() string {
	if m.misplaced {
		return "the Manifest has tool_did at the top level; expected tool.did"
	}
	return ""
}

// attested reads what the Manifest says about its Receipt.
func (m *Manifest) attested(root map[string]any) {
	const atRoot = "conformance_receipt_uri"
	_, block := root["conformance"].(map[string]any)
	m.Attested = block || root[atRoot] != nil
	m.ReceiptURI = strict.Copy(root, "conformance", "receipt_uri")
	switch other := strict.Copy(root, atRoot); {
	case other == m.ReceiptURI, other == "":
	case m.ReceiptURI == "":
		m.ReceiptURI, m.atRoot = other, true
	default:
		m.OtherURI = other
	}
	m.SuiteVersion = strict.Copy(root, "conformance", "suite_version")
	levels, _ := strict.Member(root, "conformance", "claimed_levels").([]any)
	for _, l := range levels {
		text, ok := l.(string)
		if claimed := level.Level(text); ok && len(m.ClaimedLevels) < maxLevels &&
			!slices.Contains(m.ClaimedLevels, claimed) {
			m.ClaimedLevels = append(m.ClaimedLevels, level.Level(strings.Clone(text)))
		}
	}
}

const maxLevels = 64 // a Manifest keeps at most this many: fewer levels exist

// ReceiptMember returns the JSON Pointer of the member that ReceiptURI is, and its name for people. Where the Manifest
// names no Receipt, it is the member that should.
func (m *Manifest) ReceiptMember() (pointer, name string) {
	if m.atRoot {
		return "/conformance_receipt_uri", "conformance_receipt_uri"
	}
	return "/conformance/receipt_uri", "conformance.receipt_uri"
}

// number is strict.Copy, or the digits of a number, which counts by its value: 123.0 is 123.
func number(v any, names ...string) string {
	n, _ := strict.Member(v, names...).(json.Number)
	digits := strings.Clone(n.String())
	if f, err := n.Float64(); err == nil && math.Abs(f) < 1e30 {
		if value, ok := new(big.Rat).SetString(digits); ok && value.IsInt() {
			digits = value.Num().String()
		}
	}
	return cmp.Or(strict.Copy(v, names...), digits)
}

func policyOf(teamwork any) FallbackPolicy {
	policy := strict.Member(teamwork, "aht_fallback_policy")
	p := FallbackPolicy{Class: strict.Copy(policy, "policy_class")}
	assumptions, _ := strict.Member(policy, "assumptions").([]any)
	p.Assumptions = len(assumptions)
	_, p.HasTimeout = strict.Member(teamwork, "unilateral_timeout_ms").(json.Number)
	return p
}

// Unnamed says why a Manifest does not name its publisher by DID and legal name, or returns "" if it does. A text that
// is not a DID could differ in each implementation of one publisher.
func (m *Manifest) Unnamed() string {
	if folded(m.Publisher.DID) == "" || folded(m.Publisher.LegalName) == "" {
		return "names no publisher did or legal_name"
	}
	if _, err := did.Parse(m.Publisher.DID); err != nil {
		return fmt.Sprintf("names the publisher did %.200q, which is not a DID", m.Publisher.DID)
	}
	return ""
}

// SamePublisher reports whether two Manifests name one publisher, and by what: its DID, its legal name, or its
// entry in a register, whose type and country are compared where both give them. DIDs are compared by did.Alike, other
// texts after fold.Text and without punctuation and white space; what neither gives makes nothing equal.
func (m *Manifest) SamePublisher(o *Manifest) (bool, string) {
	a, b := m.Publisher, o.Publisher
	switch {
	case given(a.DID, b.DID) && did.Alike(a.DID, b.DID):
		return true, fmt.Sprintf("the publisher did %.200q", a.DID)
	case given(a.LegalName, b.LegalName) && folded(a.LegalName) == folded(b.LegalName):
		return true, fmt.Sprintf("the legal_name %.200q", a.LegalName)
	case a.Registry.same(b.Registry):
		return true, fmt.Sprintf("the registry entry %.200q", a.Registry.ID)
	}
	return false, ""
}

func (r Registry) same(o Registry) bool {
	differ := func(a, b string) bool { return given(a, b) && folded(a) != folded(b) }
	return given(r.ID, o.ID) && folded(r.ID) == folded(o.ID) && !differ(r.Type, o.Type) && !differ(r.Country, o.Country)
}

// given reports whether both texts have something in them.
func given(a, b string) bool { return folded(a) != "" && folded(b) != "" }

// folded drops punctuation, white space and what has no shape: a comma makes no second company, nor does a control
// character, or a mark of an annotation (U+FFF9 to U+FFFB), which Unicode does not count as default-ignorable.
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.IsSpace(r) || unicode.IsPunct(r) || 0xFFF9 <= r && r <= 0xFFFB {
			return -1
		}
		return r
	}, fold.Text(s))
}
