package proof

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
)

// Codes explains the codes of a Refusal.
var Codes = []strict.Code{
	{ID: "proof-malformed", Meaning: "the file is not in the one form that a proof of a listing has",
		Fix: "write the proof again with oap-gate prove, and pass its bytes on unchanged"},
	{ID: "proof-unsigned", Meaning: "no log of the policy signed the log checkpoint under its own name",
		Fix: "name the key of the log that made the proof, or ask for a proof from a log of the policy"},
	{ID: "proof-quorum", Meaning: "too few witnesses of the policy cosigned the log checkpoint, or a cosignature is " +
		"wrong", Fix: "ask for a proof with a log checkpoint that the quorum of the policy cosigned"},
	{ID: "proof-not-current", Meaning: "the proof is not of the newest entry of the log, so that a later revocation " +
		"could be missing", Fix: "ask for a proof of the newest entry"},
	{ID: "proof-subject", Meaning: "the proof is about another listing, or what it shows is not a valid listing of " +
		"the slug", Fix: "ask for the proof of this slug, and for a registry in which its listing is valid"},
	{ID: "proof-files", Meaning: "the shown files are not those of one state of the registry",
		Fix: "write the proof again with oap-gate prove, and pass its bytes on unchanged"},
	{ID: "proof-root", Meaning: "the shown entry is not in the log that was signed",
		Fix: "write the proof again with oap-gate prove, and pass its bytes on unchanged"},
	{ID: "not-listed", Meaning: "the registry does not list the slug",
		Fix: "ask the implementation for its slug, or to be listed"},
	{ID: codeRefused, Meaning: "the file is not a listing by the registry's own rules: its schema, who had the DID " +
		"first, or at most 90 days", Fix: "ask the implementation to correct its listing, and for a new proof"},
	{ID: "revoked", Meaning: "the registry has, or had, a revocation of the Receipt that the listing pins",
		Fix: "do not rely on the implementation until it is listed with a new Receipt"},
	{ID: "not-yet-valid", Meaning: "issued_at of the listing is in the future", Fix: "wait until issued_at"},
	{ID: "expired", Meaning: "expires_at of the listing is in the past",
		Fix: "ask the implementation to renew its listing, and for a new proof"},
	{ID: "proof-undated", Meaning: "the policy requires no cosignature, so that nobody vouches for the time of the " +
		"proof", Fix: "name witnesses in the policy, or accept a proof of any age with --any-age"},
	{ID: "proof-old", Meaning: "the quorum cosigned the log checkpoint longer ago than the maximum age",
		Fix: "ask for a new proof, or accept an older one with --max-age"},
}

const codeRefused = "listing-refused"

// Refusal is why a proof does not show a valid listing.
type Refusal struct {
	Code    string
	Message string
	Undated bool // nothing is wrong with the proof, but it may be too old to rely on
}

func (r *Refusal) Error() string { return r.Message }

// Fix returns what to do about it.
func (r *Refusal) Fix() string {
	return Codes[slices.IndexFunc(Codes, func(c strict.Code) bool { return c.ID == r.Code })].Fix
}

func refuse(code, format string, args ...any) error {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Result is what a proof shows, as far as it was verified.
type Result struct {
	Log       *Key  // the log of the policy that signed; nil: none yet
	Entry     Entry // zero until the log is known to have it
	Listing   Listing
	Revoked   bool
	Refused   bool
	AsOf      time.Time // at which the quorum vouched for the log; zero: the policy has no quorum
	Cosigned  int       // witnesses of the policy that did
	Witnesses int       // number of witnesses in the policy
}

// Listing is what a listing says about an implementation. It is zero until the listing is known to be valid.
type Listing struct {
	Slug, DID, Level, ManifestURI, ReceiptSHA256 string
	Provisional                                  bool
	Issued, Expires                              time.Time
}

// Options are the conditions of a check.
type Options struct {
	Policy *Policy // nil: signatures and age are not looked at
	Now    time.Time
	MaxAge time.Duration
	AnyAge bool
}

const (
	skew      = 5 * time.Minute // by which a time may be ahead of the clock
	maxWindow = 90 * plain.Day  // from issued_at to expires_at
)

// Check verifies that a proof file shows a valid listing of a slug without revocation. The error is a *Refusal of the
// first step that fails. The result has what the steps before it verified.
func Check(data []byte, slug string, o Options) (*Result, error) {
	r := &Result{}
	f, err := ParseFile(data)
	if err != nil {
		return r, refuse("proof-malformed", "the proof is malformed: %v", err)
	}
	if o.Policy != nil {
		if err := r.signatures(f.Signed, o); err != nil {
			return r, err
		}
	}
	if err := r.contents(f, slug); err != nil {
		return r, err
	}
	return r, r.validity(o)
}

// signatures checks the log's signature and the quorum.
func (r *Result) signatures(s *Signed, o Options) error {
	for _, log := range o.Policy.Logs {
		signature, err := log.Key.Signature(s)
		if err != nil {
			return refuse("proof-unsigned", "the log checkpoint has a wrong signature of the log %q", log.Key.name)
		}
		if signature != nil && log.Key.name == s.Origin && r.Log == nil {
			r.Log = log.Key
		}
	}
	if r.Log == nil {
		return refuse("proof-unsigned", "no log of the policy signed the log checkpoint of %q", s.Origin)
	}
	r.Witnesses = len(o.Policy.Witnesses)
	times := map[int]time.Time{}
	for i, w := range o.Policy.Witnesses {
		at, cosigned, err := w.Key.Cosigned(s)
		if err != nil {
			return refuse("proof-quorum", "the log checkpoint has a wrong cosignature of the witness %q", w.Key.name)
		}
		if cosigned && !at.After(o.Now.Add(skew)) {
			times[i] = at
		}
	}
	r.Cosigned = len(times)
	since := func(t time.Time) bool {
		return o.Policy.Missing(func(witness int) bool {
			at, is := times[witness]
			return is && !at.Before(t)
		}) == 0
	}
	if !since(time.Time{}) {
		return refuse("proof-quorum", "%s of %d cosigned the log checkpoint, which the quorum of the policy does not "+
			"accept", plain.Count(r.Cosigned, "witness"), r.Witnesses)
	}
	for _, at := range times {
		if o.Policy.quorum != nil && at.After(r.AsOf) && since(at) {
			r.AsOf = at
		}
	}
	return nil
}

// contents compares the parts of the proof with each other.
func (r *Result) contents(f *File, slug string) error {
	if f.Index != f.Signed.Size-1 {
		return refuse("proof-not-current", "the proof is of entry %d in a log of %d entries; expected the newest",
			f.Index, f.Signed.Size)
	}
	if f.Names[0].Name != ListingPath(slug) {
		return refuse("proof-subject", "the proof is about %q; expected %q", plain.Cut(f.Names[0].Name, 200),
			ListingPath(slug))
	}
	root, err := f.root()
	if err != nil {
		return refuse("proof-files", "the proof of a file does not hold: %v", err)
	}
	entry := f.Entry
	entry.Files = root
	if err := tlog.CheckRecord(tlog.RecordProof(f.Path), f.Signed.Size, f.Signed.Root, f.Index,
		tlog.RecordHash(entry.Text())); err != nil {
		return refuse("proof-root", "the entry of commit %s with these files is not in the log", entry.Commit)
	}
	r.Entry = entry
	if f.Names[0].Value == nil && len(f.Names) == 1 {
		return refuse("not-listed", "commit %s does not list %s", entry.Commit, slug)
	}
	listing, err := parseListing(f.Content)
	switch {
	case f.Names[0].Value == nil || len(f.Names) == 1:
		return refuse("proof-subject", "the proof must show the listing of %s and the name of its revocation", slug)
	case err != nil:
		return refuse("proof-subject", "the file is not a valid listing: %v", err)
	case listing.Slug != slug:
		return refuse("proof-subject", "the listing is of the slug %q; expected %q", listing.Slug, slug)
	case f.Names[1].Name != RevokedName(slug, listing.ReceiptSHA256):
		return refuse("proof-subject", "the proof shows %q; expected %q", plain.Cut(f.Names[1].Name, 200),
			RevokedName(slug, listing.ReceiptSHA256))
	}
	r.Listing = *listing
	revoked := f.Names[1].Value
	if r.Refused = revoked != nil && *revoked == sha256.Sum256(f.Content); r.Refused {
		return refuse(codeRefused, "the registry's own rules refuse the listing of %s", slug)
	}
	if r.Revoked = revoked != nil; r.Revoked {
		return refuse("revoked", "the Receipt %s of %s is revoked", listing.ReceiptSHA256, slug)
	}
	return nil
}

// parseListing reads the content of a listing, which must be valid under the built-in schema.
func parseListing(content []byte) (*Listing, error) {
	doc, err := strict.Parse("listing", content, strict.RegistryFile)
	if err != nil {
		return nil, err
	}
	if violations := schema.Builtin("listing").Validate(doc.Root); len(violations) > 0 {
		return nil, fmt.Errorf("%s: %s", violations[0].Pointer, violations[0].Message)
	}
	l := &Listing{Slug: strict.String(doc.Root, "slug"), DID: strict.String(doc.Root, "tool_did"),
		Level:         strict.String(doc.Root, "conformance_level"),
		ManifestURI:   strict.String(doc.Root, "manifest_uri"),
		ReceiptSHA256: strict.String(doc.Root, "conformance_receipt_sha256")}
	l.Provisional, _ = strict.Member(doc.Root, "provisional").(bool)
	var issued, expires bool
	l.Issued, issued = strict.Time(strict.String(doc.Root, "issued_at"))
	l.Expires, expires = strict.Time(strict.String(doc.Root, "expires_at"))
	if !issued || !expires {
		return nil, errors.New("issued_at or expires_at is not an RFC 3339 time")
	}
	return l, nil
}

// validity checks the times of the listing, and then the age of the proof.
func (r *Result) validity(o Options) error {
	age := o.Now.Sub(r.AsOf)
	if d := r.Listing.Expires.Sub(r.Listing.Issued).Truncate(time.Millisecond); d > maxWindow {
		r.Refused = true
		return refuse(codeRefused, "expires_at is %s after issued_at; expected at most %s", plain.Span(d),
			plain.Span(maxWindow))
	}
	switch {
	case o.Now.Before(r.Listing.Issued.Add(-skew)):
		r.Refused = true
		return refuse("not-yet-valid", "the listing is valid from %s on", r.Listing.Issued.Format(time.RFC3339))
	case !o.Now.Before(r.Listing.Expires):
		return refuse("expired", "the listing expired at %s", r.Listing.Expires.Format(time.RFC3339))
	case o.Policy == nil || o.AnyAge:
		return nil
	case r.AsOf.IsZero():
		return &Refusal{Code: "proof-undated", Undated: true,
			Message: "nobody vouches for the time of the proof: the policy has no quorum"}
	case age > o.MaxAge:
		return &Refusal{Code: "proof-old", Undated: true,
			Message: fmt.Sprintf("the quorum cosigned %s ago; expected at most %s", plain.Span(age),
				plain.Span(o.MaxAge))}
	}
	return nil
}
