// Package receipt reads Conformance Receipts (RFC 0019 section 7) and verifies their signatures. It judges
// nothing: it gives what the checks judge.
package receipt

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/memo"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
)

// MaxBytes is how large a Receipt may be.
const MaxBytes = 1 << 20

// MaxWitnesses is how many peer_witnesses are looked at.
const MaxWitnesses = 32

// CodeShape is the code of the strict.Error for a Receipt that is JSON and no object.
const CodeShape = "receipt-no-object"

// Codes explains CodeShape.
var Codes = []strict.Code{{CodeShape, "the Receipt is JSON, but not an object",
	"serve the Receipt that the runner wrote"}}

// Receipt is a Conformance Receipt, as far as its members have the right types: one that is missing or of
// another type is empty here, and the receipt schema says so.
type Receipt struct {
	url  string
	text []byte

	memo *memo.Memo        // nil: each call computes its result again
	sum  [sha256.Size]byte // of text, where there is a memo

	ID                 string // receipt_id
	ImplementationDID  string
	ImplementationName string
	TargetURI          string
	SuiteName          string
	SuiteVersion       string
	// ClaimedLevels are as written, levels that do not exist included; of more than 64 each that exists, once.
	ClaimedLevels []level.Level
	Profile       string
	RevenueSource string

	Results Results // results_summary

	NotBefore, NotAfter Time // of validity

	Signatures       []Signature
	PeerWitnesses    []PeerWitness
	PeerWitnessCount int // elements of peer_witnesses, also those that are not objects

	ExternalAudit  ExternalAudit
	RegistryAnchor bool // the member registry_anchor is there, whatever is in it
	// AnchorCommit and AnchorPath are what registry_anchor names.
	AnchorCommit, AnchorPath string

	// Rounded is the JSON Pointer of the first number that an IEEE 754 double rounds; see signature.Rounded.
	Rounded string
}

// Time is a time with its text. It is zero if the text is not a strict RFC 3339 time.
type Time struct {
	time.Time
	Text string
}

// Signature is one entry of signatures.
type Signature struct{ By, Alg, Value string }

// PeerWitness is one entry of peer_witnesses. Its other members are unsigned and so never looked at.
type PeerWitness struct{ DID, Alg, Signature string }

// Known is a member of a Receipt and the value that it has elsewhere, such as in the listing.
type Known struct {
	Path  []string
	Value any
}

// ExternalAudit is the declared security audit of RFC 0026 section 10.
type ExternalAudit struct {
	Present    bool // external_audit is there and an object
	Framework  string
	AuditorDID string
	ValidUntil string
	// Until is the first moment at which the audit has expired: valid_until, or the end of that day in UTC if it is a
	// date. It is zero if valid_until is neither.
	Until time.Time
}

// Parse reads the Receipt that was served at url, and keeps data. The error is always a *strict.Error.
func Parse(url string, data []byte) (*Receipt, error) {
	root, err := decode(url, data)
	if err != nil {
		return nil, err
	}
	r := &Receipt{
		url:                url,
		text:               data,
		ID:                 strict.Copy(root, "receipt_id"),
		ImplementationDID:  strict.Copy(root, "implementation", "did"),
		ImplementationName: strict.Copy(root, "implementation", "name"),
		TargetURI:          strict.Copy(root, "target", "uri"),
		SuiteName:          strict.Copy(root, "suite", "name"),
		SuiteVersion:       strict.Copy(root, "suite", "version"),
		Profile:            strict.Copy(root, "profile"),
		RevenueSource:      strict.Copy(root, "revenue", "source"),
		NotBefore:          timeOf(strict.Copy(root, "validity", "not_before")),
		NotAfter:           timeOf(strict.Copy(root, "validity", "not_after")),
		ExternalAudit:      auditOf(root["external_audit"]),
		AnchorCommit:       strict.Copy(root, "registry_anchor", "commit_sha"),
		AnchorPath:         strict.Copy(root, "registry_anchor", "file_path"),
		Rounded:            signature.Rounded(root),
	}
	_, r.RegistryAnchor = root["registry_anchor"]
	r.Results = resultsOf(root["results_summary"])
	r.entries(root)
	return r, nil
}

func decode(url string, data []byte) (map[string]any, error) {
	limits := strict.Remote(MaxBytes)
	limits.Values = 0 // a Receipt lists as many tests as were run
	doc, err := strict.Parse(url, data, limits)
	if err != nil {
		return nil, err
	}
	root, ok := doc.Root.(map[string]any)
	if !ok {
		return nil, &strict.Error{Pos: doc.Pos(""), Code: CodeShape,
			Message: "the text is not a JSON object; a Receipt is one"}
	}
	return root, nil
}

// RememberIn has r keep in m what is worked out of it, for all Receipts of the same text. It must be called before r is
// shared, and r not be changed after.
func (r *Receipt) RememberIn(m *memo.Memo) { r.memo, r.sum = m, sha256.Sum256(r.text) }

// Size returns about how many bytes of memory r takes.
func (r *Receipt) Size() int {
	return 2*len(r.text) + 48*(len(r.Signatures)+len(r.PeerWitnesses)) + 16*len(r.ClaimedLevels)
}

// Text returns the Receipt as it was served. The caller must not change it.
func (r *Receipt) Text() []byte { return r.text }

// root decodes the Receipt at each call: many Receipts may wait to be judged, and decoding can take some hundred times
// the size of the text. The caller has waited by memo.Decoding.
func (r *Receipt) root() map[string]any {
	root, err := decode(r.url, r.text)
	if err != nil {
		panic(err) // Parse has read the same text
	}
	return root
}

// maxLevels is how many claimed levels are kept as they are written: kept, some hundred thousand would take many times
// the memory of their text, and there are fewer that exist.
const maxLevels = 64

func (r *Receipt) entries(root map[string]any) {
	levels, _ := root["claimed_levels"].([]any)
	for _, l := range levels {
		s, ok := l.(string)
		claimed := level.Level(s)
		if ok && (len(r.ClaimedLevels) < maxLevels || claimed.Exists() && !slices.Contains(r.ClaimedLevels, claimed)) {
			r.ClaimedLevels = append(r.ClaimedLevels, level.Level(strings.Clone(s)))
		}
	}
	// Entries without any of their members decide nothing. Kept, they would take many times the memory of their text.
	signatures, _ := root["signatures"].([]any)
	for _, s := range signatures {
		if e := (Signature{strict.Copy(s, "by"), strict.Copy(s, "alg"), strict.Copy(s, "value")}); e != (Signature{}) {
			r.Signatures = append(r.Signatures, e)
		}
	}
	witnesses, _ := root["peer_witnesses"].([]any)
	r.PeerWitnessCount = len(witnesses)
	for _, w := range witnesses {
		if _, ok := w.(map[string]any); !ok {
			continue
		}
		e := PeerWitness{strict.Copy(w, "witness_did"), strict.Copy(w, "alg"), strict.Copy(w, "signature")}
		if e != (PeerWitness{}) || len(witnesses) <= MaxWitnesses {
			r.PeerWitnesses = append(r.PeerWitnesses, e)
		}
	}
}

func timeOf(text string) Time {
	t, _ := strict.Time(text)
	return Time{t, text}
}

func auditOf(v any) ExternalAudit {
	if _, ok := v.(map[string]any); !ok {
		return ExternalAudit{}
	}
	a := ExternalAudit{
		Present:    true,
		Framework:  strict.Copy(v, "framework"),
		AuditorDID: strict.Copy(v, "auditor_did"),
		ValidUntil: strict.Copy(v, "valid_until"),
	}
	if t, ok := strict.Time(a.ValidUntil); ok {
		a.Until = t
	} else if day, err := time.Parse(time.DateOnly, a.ValidUntil); err == nil {
		a.Until = day.AddDate(0, 0, 1)
	}
	return a
}

// Results are the numbers of tests that a Receipt counts. One that is missing or not a whole number is NoCount, one
// beyond int64 is the nearest int64.
type Results struct{ Total, Passed, Failed, Skipped int64 }

// NoCount is a number of tests that a Receipt does not give.
const NoCount = math.MinInt64

func resultsOf(v any) Results {
	count := func(name string) int64 {
		if n, ok := whole(strict.Member(v, name)); ok {
			return n
		}
		return NoCount
	}
	return Results{count("total"), count("passed"), count("failed"), count("skipped")}
}

// Counted reports whether the receipt schema allows the numbers: skipped may be missing, none is negative.
func (r Results) Counted() bool {
	return r.Total >= 0 && r.Passed >= 0 && r.Failed >= 0 && (r.Skipped >= 0 || r.Skipped == NoCount)
}

// Left returns how many tests were skipped, and whether the numbers add up: passed, failed and skipped are total. Where
// skipped is missing, it is what is left of total. The numbers must be Counted.
func (r Results) Left() (skipped int64, ok bool) {
	left := r.Total - r.Passed // none is negative: neither difference overflows
	if left < 0 || r.Total == math.MaxInt64 {
		return 0, false
	}
	left -= r.Failed
	if left < 0 || r.Skipped != NoCount && r.Skipped != left {
		return 0, false
	}
	return left, true
}

// whole reads a number that JSON Schema calls an integer: 42, 42.0 and 4.2e1 are one.
func whole(v any) (int64, bool) {
	token, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(token), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(token), 64)
	switch {
	case err != nil || f != math.Trunc(f):
		return 0, false
	case f >= math.MaxInt64:
		return math.MaxInt64, true
	case f <= math.MinInt64:
		return math.MinInt64, true
	}
	return int64(f), true
}

// Violations returns the violations of the receipt schema.
func (r *Receipt) Violations() []schema.Violation {
	all := remembered(r, "violations", func(all []schema.Violation) int {
		size := 0
		for _, v := range all {
			size += len(v.Pointer) + len(v.Keyword) + len(v.Message)
		}
		return size
	}, func() []schema.Violation {
		defer memo.Decoding(len(r.text))()
		return schema.Builtin("receipt").Validate(r.root())
	})
	return slices.Clone(all)
}

// SignedBytes returns what the implementation and its co-signers sign: the canonical JSON without signatures and
// peer_witnesses.
func (r *Receipt) SignedBytes() ([]byte, error) {
	return r.canonicalWithout("signatures", "peer_witnesses")
}

// SignedBytesWithoutAnchor returns SignedBytes without registry_anchor too, which an implementation may have
// added when its signed Receipt was merged.
func (r *Receipt) SignedBytesWithoutAnchor() ([]byte, error) {
	return r.canonicalWithout("signatures", "peer_witnesses", "registry_anchor")
}

// WitnessedBytes returns what a peer witness signs: the canonical JSON without peer_witnesses, with the signatures (RFC
// 0019 section 7.1).
func (r *Receipt) WitnessedBytes() ([]byte, error) { return r.canonicalWithout("peer_witnesses") }

// canonicalWithout gives bytes that must not be changed.
func (r *Receipt) canonicalWithout(members ...string) ([]byte, error) {
	type canonical struct {
		text []byte
		err  error
	}
	weigh := func(c canonical) int { return cap(c.text) }
	c := remembered(r, "canonical without "+strings.Join(members, " "), weigh, func() canonical {
		defer memo.Decoding(len(r.text))()
		text, err := signature.CanonicalWithout(r.root(), members...)
		return canonical{text, err}
	})
	return c.text, c.err
}

// worked names something that is worked out of a Receipt: by its text and what.
type worked struct {
	sum  [sha256.Size]byte
	what string
}

func remembered[V any](r *Receipt, what string, weigh func(V) int, work func() V) V {
	return memo.Get(r.memo, worked{r.sum, what}, weigh, work)
}

// Placeholder reports whether s is a signature reserved for development (RFC 0019 section 7.3), in any letter
// case and whatever blanks stand around it.
func Placeholder(s string) bool {
	s = strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
	s = strings.ToLower(
		strings.ToUpper(s)) // upper case first: it joins letters, such as ſ and s, that lower case leaves apart
	return slices.ContainsFunc([]string{"placeholder_not_for_production", "unsigned-reference", "placeholder:"},
		func(reserved string) bool { return strings.HasPrefix(s, reserved) })
}

// Minified returns the SHA-256, in hex, of a JSON text without its white space: with strings and numbers as written,
// and as JavaScript writes them. It returns nil if the text is not JSON. Pinning one of these instead of the served
// bytes is the usual mistake.
func Minified(text []byte) []string {
	var compact bytes.Buffer
	if json.Compact(&compact, text) != nil {
		return nil
	}
	sums := []string{plain.SHA256(compact.Bytes())}
	rewritten := jsontext.Value(bytes.Clone(text))
	if rewritten.Format(jsontext.CanonicalizeRawInts(true), jsontext.CanonicalizeRawFloats(true)) == nil {
		sums = append(sums, plain.SHA256(rewritten))
	}
	return sums
}
