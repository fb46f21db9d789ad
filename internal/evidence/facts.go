package evidence

import (
	"fmt"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/manifest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
)

// Kind is a piece of evidence that checks need, each owned by exactly one check.
type Kind uint8

// The kinds of evidence.
const (
	DIDDocument     Kind = iota + 1 // document of the listing's tool_did
	Manifest                        // at manifest_uri
	ReceiptText                     // the pinned bytes at conformance_receipt_uri
	Receipt                         // the same, decoded
	DomainAge                       // age of the registrable domain of tool_did
	Witnesses                       // documents of the Receipt's peer witnesses and, for the bootstrap rule, of the maintainers
	RevocationProof                 // documents of those who signed a revocation
	AnchorProof                     // documents that a workflow anchor names
)

func (k Kind) String() string {
	words := [...]string{"", "DID Document", "Manifest", "Receipt", "decoded Receipt", "domain age",
		"witnesses' documents", "revocation's signers", "anchor's documents"}
	if int(k) >= len(words) {
		return fmt.Sprintf("evidence of the unknown kind %d", k)
	}
	return words[k]
}

// Result is one piece of evidence: its value if State is Obtained, else the reason why it has no value.
type Result[T any] struct {
	State   State
	Value   T
	Code    string
	Message string
	Fix     string // empty: the check that reports it knows the fix
	From    []Observation
}

// fault returns a result without a value, for the reason in o.
func fault[T any](o Observation) Result[T] {
	return Result[T]{State: o.State, Code: o.Code, Message: o.Message, Fix: o.Fix, From: []Observation{o}}
}

// Retry returns what may decide a result that is open.
func (r Result[T]) Retry(now time.Time) Retry {
	o := Observation{State: r.State, Code: r.Code, Fix: r.Fix}
	if n := len(r.From); n > 0 {
		o.RetryAfter = r.From[n-1].RetryAfter
	}
	return o.Retry(now)
}

// Pinned is a document that the registry pins by its hash.
type Pinned struct {
	Body   []byte
	SHA256 string
	// Minified are the SHA-256 of Body without its white space, where a Receipt is not the pinned one; see
	// receipt.Minified.
	Minified []string
	// Gone says why the origin did not give it, where the archive did.
	Gone string
}

// Witness is what is known about one listed implementation that signed as a peer witness.
type Witness struct {
	DIDDocument Result[*did.Document]
	Receipt     Result[*receipt.Receipt]   // Invalid with CodeHashMismatch where other bytes are served
	Manifest    Result[*manifest.Manifest] // sought only where independence matters
	Witnesses   map[string]*Witness        // only of the reference server: its own witnesses, by DID
}

// Registration is what RDAP and WHOIS say about a domain. A source that has no date is Absent.
type Registration struct {
	Domain      domainage.Domain
	RDAP, WHOIS Result[domainage.Registration]
}

// Facts is the evidence about one record.
type Facts struct {
	DIDDocument Result[*did.Document]
	// DIDFallback is the URL that answered where the DID's own did not.
	DIDFallback string
	Manifest    Result[*manifest.Manifest]
	ReceiptText Result[Pinned]
	Receipt     Result[*receipt.Receipt]
	DomainAge   Result[Registration]
	Witnesses   map[string]*Witness              // by DID
	Maintainers map[string]Result[*did.Document] // by DID; the bootstrap rule's co-signers
	Failover    Result[*did.Document]            // document of an anchor's failover coordinator
	CrossMatch  Result[CrossMatch]               // an anchor's
	Declared    Result[string]                   // URL at which an anchor's coordinator names its failover coordinator
}

// CodeHashMismatch marks a pinned document whose served bytes have another hash.
const CodeHashMismatch = "hash-mismatch"

// CodeDIDSyntax marks a text that is not a DID, or a DID of its method that cannot mean anything.
const CodeDIDSyntax = "did-syntax"

// CodeDIDMethod marks a DID whose method cannot be resolved.
const CodeDIDMethod = "did-method"

// Of returns a piece of evidence that checks need, without its value: its state, and why it is not Obtained. A kind
// that is several documents, or none that is known, has no state of its own: it is Unsought.
func (f *Facts) Of(k Kind) Result[struct{}] {
	switch k {
	case DIDDocument:
		return valueless(f.DIDDocument)
	case Manifest:
		return valueless(f.Manifest)
	case ReceiptText:
		return valueless(f.ReceiptText)
	case Receipt:
		return valueless(f.Receipt)
	case DomainAge:
		return valueless(f.DomainAge)
	}
	return Result[struct{}]{Message: "no state is known of the " + k.String()}
}

func valueless[T any](r Result[T]) Result[struct{}] {
	return Result[struct{}]{r.State, struct{}{}, r.Code, r.Message, r.Fix, r.From}
}

// Spent returns the part of the evidence that is kept once it was judged: whether the Receipt came from the archive.
func (f *Facts) Spent() *Facts {
	if f.ReceiptText.Value.Gone == "" {
		return &nothing
	}
	return &Facts{ReceiptText: Result[Pinned]{Value: Pinned{Gone: f.ReceiptText.Value.Gone}}}
}

// nothing is what is left of most: one for all, since an audit has many.
var nothing Facts
