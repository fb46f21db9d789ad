package evidence

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"runtime"
	"sync"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/crash"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/memo"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/manifest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// MaxWitnesses is how many peer witnesses of one document are looked at.
const MaxWitnesses = receipt.MaxWitnesses

// Set is a set of kinds of evidence.
type Set uint16

// With returns the set with k in it.
func (s Set) With(k Kind) Set { return s | 1<<k }

// Has reports whether k is in the set.
func (s Set) Has(k Kind) bool { return s&(1<<k) != 0 }

// Wanted says what to seek about one record, and what the registry knows that decides it.
type Wanted struct {
	Kinds Set
	// Listed returns the base tree's listing of a DID at L4 or L5, or nil for any other DID. Nothing is fetched for a
	// DID that it does not know.
	Listed func(did string) *registry.Listing
	// Maintainers are the DIDs whose co-signatures the bootstrap rule asks for; empty where it does not apply.
	Maintainers []string
	// Archive asks the archive for a pinned document that its origin does not give.
	Archive bool
	// ReferenceServer reports whether a DID is one whose own witnesses are sought too, where it is a witness.
	ReferenceServer func(did string) bool
	// Clock is the time by which the keys of a listing's own DID Document are judged, Judged that for all others: when
	// the record was proposed.
	Clock, Judged time.Time
	// Revoked is the base tree's listing that a revocation names.
	Revoked *registry.Listing
	// Declarations are anchors whose Cross Match Receipts are searched for one that names the failover coordinator
	// of a workflow anchor; empty where nothing hangs on it.
	Declarations []*registry.Anchor
	// MaxDocuments is how many documents one record may lead to, its own included; those of witnesses and maintainers
	// beyond it are not sought. 0: any number.
	MaxDocuments int
	// Suffixes are the public suffixes that the registry's policy adds; nil: none.
	Suffixes *domainage.Suffixes
	// Memo holds what this run has decoded; nil: each document is decoded for each record that leads to it.
	Memo *memo.Memo
}

// Collect seeks all that is wanted about one record: a *registry.Listing, *registry.Revocation or
// *registry.Anchor. It is the one place that knows which document leads to which other.
func Collect(ctx context.Context, s Source, record any, w Wanted) *Facts {
	f := &Facts{}
	c := NewCollector(ctx, s, w.Memo)
	c.archive = w.Archive
	switch r := record.(type) {
	case *registry.Listing:
		c.listing(f, r, w)
	case *registry.Revocation:
		if w.Kinds.Has(RevocationProof) {
			c.revocation(f, r, w)
		}
	case *registry.Anchor:
		if w.Kinds.Has(AnchorProof) {
			c.anchor(f, r, w)
		}
	}
	c.Wait()
	return f
}

// Collector seeks single pieces of evidence, some of them concurrently.
type Collector struct {
	ctx     context.Context
	s       Source
	archive bool
	memo    *memo.Memo
	wait    sync.WaitGroup
	crashed crash.Carrier
}

// NewCollector returns a collector; a nil memo remembers nothing that was decoded.
func NewCollector(ctx context.Context, s Source, known *memo.Memo) *Collector {
	return &Collector{ctx: ctx, s: s, memo: known}
}

// Wait returns when all that is sought has ended.
func (c *Collector) Wait() {
	c.wait.Wait()
	c.crashed.Rethrow()
}

// start runs f concurrently with the rest.
func (c *Collector) start(f func()) {
	c.wait.Go(func() {
		defer c.crashed.Catch(nil)
		f()
	})
}

// Seek runs f concurrently with the rest, if what it seeks is sought.
func (c *Collector) Seek(sought bool, f func()) {
	if sought {
		c.start(f)
	}
}

func (c *Collector) listing(f *Facts, l *registry.Listing, w Wanted) {
	c.Seek(w.Kinds.Has(DIDDocument), func() { f.DIDDocument, f.DIDFallback = c.DIDDocument(l.ToolDID, w.Clock) })
	c.Seek(w.Kinds.Has(Manifest), func() { f.Manifest = c.manifest(l.ManifestURI) })
	c.Seek(w.Kinds.Has(DomainAge), func() { f.DomainAge = c.domainAge(l, w.Suffixes) })
	c.Seek(w.Kinds.Has(ReceiptText) || w.Kinds.Has(Receipt) || w.Kinds.Has(Witnesses), func() {
		f.ReceiptText, f.Receipt = c.receipt(l)
		if w.Kinds.Has(Witnesses) && f.Receipt.State == Obtained {
			c.Vouchers(f, w, l.Level.Base() == 5)
		}
	})
}

// Vouchers fetches the documents of those whose signatures a Receipt has in addition to the implementation's own.
func (c *Collector) Vouchers(f *Facts, w Wanted, independence bool) {
	left := math.MaxInt
	if w.MaxDocuments > 0 {
		left = w.MaxDocuments - 2 - resolutions("did:web:a.example:b") // the record's own
	}
	f.Maintainers = make(map[string]Result[*did.Document], len(w.Maintainers))
	var mu sync.Mutex
	for _, d := range w.Maintainers {
		if left -= resolutions(d); left < 0 {
			left = 0
			continue
		}
		c.start(func() {
			doc, _ := c.DIDDocument(d, w.Judged)
			mu.Lock()
			defer mu.Unlock()
			f.Maintainers[d] = doc
		})
	}
	f.Witnesses = c.witnesses(peers(f.Receipt.Value), w, independence, left)
}

// resolutions returns the maximum number of documents that are requested to resolve a DID.
func resolutions(text string) int {
	if d, err := did.Parse(text); err == nil && d.HasPath() {
		return 2
	}
	return 1
}

func (c *Collector) revocation(f *Facts, r *registry.Revocation, w Wanted) {
	if w.Revoked != nil && did.Same(r.RevokedByDID, w.Revoked.ToolDID) {
		c.start(func() { f.DIDDocument, f.DIDFallback = c.DIDDocument(w.Revoked.ToolDID, w.Judged) })
	}
	var dids []string
	for _, p := range r.Witnesses {
		dids = append(dids, p.WitnessDID)
	}
	f.Witnesses = c.witnesses(dids, w, true, math.MaxInt)
}

// witnesses seeks the documents of the listed among dids, at most that many documents. Where independence
// matters that includes their Manifests, and the reference server's own witnesses.
func (c *Collector) witnesses(dids []string, w Wanted, independence bool, documents int) map[string]*Witness {
	found := make(map[string]*Witness)
	if len(dids) > MaxWitnesses {
		return found
	}
	listed := make(map[string]*registry.Listing)
	servers := 0
	for _, d := range dids {
		l := w.Listed(d)
		if l == nil || found[d] != nil {
			continue
		}
		cost := 1 + resolutions(l.ToolDID)
		if independence {
			cost++
		}
		if cost > documents {
			continue
		}
		documents -= cost
		if found[d], listed[d] = (&Witness{}), l; independence && documents < math.MaxInt/2 && w.ReferenceServer(d) {
			servers++
		}
	}
	if servers > 0 {
		documents /= servers
	}
	for d, known := range found {
		l := listed[d]
		c.start(func() { known.DIDDocument, _ = c.DIDDocument(l.ToolDID, w.Judged) })
		c.Seek(independence, func() { known.Manifest = c.manifest(l.ManifestURI) })
		c.start(func() {
			_, known.Receipt = c.receipt(l)
			if independence && known.Receipt.State == Obtained && len(known.Receipt.Value.PeerWitnesses) > 0 &&
				w.ReferenceServer(d) {
				known.Witnesses = c.witnesses(peers(known.Receipt.Value), w, false, documents)
			}
		})
	}
	return found
}

func peers(r *receipt.Receipt) []string {
	var dids []string
	for _, p := range r.PeerWitnesses {
		dids = append(dids, p.DID)
	}
	return dids
}

// DIDDocument resolves a DID as of a time, and returns the document's URL if that is not the DID's own.
func (c *Collector) DIDDocument(text string, at time.Time) (Result[*did.Document], string) {
	d, err := did.Parse(text)
	if err != nil {
		return Result[*did.Document]{State: Invalid, Code: CodeDIDSyntax, Message: err.Error()}, ""
	}
	switch d.Method {
	case "key":
		doc, err := did.Local(d)
		if published, ok := errors.AsType[*did.DocumentError](err); ok {
			return Result[*did.Document]{State: Invalid, Code: published.Code, Message: published.Message}, ""
		}
		if err != nil {
			return Result[*did.Document]{State: Invalid, Code: CodeDIDSyntax, Message: err.Error()}, ""
		}
		return Result[*did.Document]{State: Obtained, Value: doc}, ""
	case "web":
	default:
		return Result[*did.Document]{State: Invalid, Code: CodeDIDMethod,
			Message: fmt.Sprintf("DID method %q, only web and key can be resolved", d.Method)}, ""
	}
	primary, fallback := d.URLs()
	o := Ask(c.ctx, c.s, Request{HTTPS, primary, MaxDIDDocument})
	from, used := []Observation{o}, ""
	if o.Status == 404 && o.State == Absent && fallback != "" {
		if second := Ask(c.ctx, c.s, Request{HTTPS, fallback, MaxDIDDocument}); second.State != Absent {
			from, used, o = append(from, second), fallback, second
		}
	}
	r := c.Document(d, o, at)
	r.From = from
	return r, used
}

// Document reads a DID's document as of a time.
func (c *Collector) Document(d did.DID, o Observation, at time.Time) Result[*did.Document] {
	of := document{"DID Document of " + d.Text + " at " + at.UTC().Format(time.RFC3339Nano), o.Target, o.SHA256}
	return decoded(c, of, o, func() (*did.Document, error) {
		return did.ParseDocument(o.Target, o.Body, d, at)
	})
}

func (c *Collector) manifest(url string) Result[*manifest.Manifest] {
	return c.Manifest(Request{HTTPS, url, MaxManifest})
}

// Manifest fetches and reads a Manifest.
func (c *Collector) Manifest(r Request) Result[*manifest.Manifest] {
	o := Ask(c.ctx, c.s, r)
	return decoded(c, document{"Manifest", r.Target, o.SHA256}, o, func() (*manifest.Manifest, error) {
		return manifest.Parse(r.Target, o.Body)
	})
}

// receipt fetches the Receipt that a listing pins; it is decoded only where the hash is the pinned one.
func (c *Collector) receipt(l *registry.Listing) (Result[Pinned], Result[*receipt.Receipt]) {
	return c.Receipt(Request{HTTPS, l.ReceiptURI, MaxReceipt}, l.ReceiptSHA256)
}

// Receipt fetches the Receipt of a hash, which is decoded only if it has that hash.
func (c *Collector) Receipt(at Request, sum string) (Result[Pinned], Result[*receipt.Receipt]) {
	text := c.pinned(at, sum)
	if text.Code == CodeHashMismatch {
		text.Value.Minified, _ = decode(c, document{"minified", "", text.Value.SHA256}, text.Value.Body,
			func() ([]string, error) {
				return receipt.Minified(text.Value.Body), nil
			})
	}
	of := document{"Receipt", at.Target, text.Value.SHA256}
	return text, decodedText(c, of, text, func() (*receipt.Receipt, error) {
		r, err := receipt.Parse(at.Target, text.Value.Body)
		if err == nil {
			r.RememberIn(c.memo)
		}
		return r, err
	})
}

// pinned gets the document of that hash. None has the empty one: a base schema may let a record do without.
func (c *Collector) pinned(r Request, sum string) Result[Pinned] {
	o := Ask(c.ctx, c.s, r)
	if c.archive && sum != "" && (o.State == Absent || o.State == Unavailable) {
		if kept := c.s.Observe(c.ctx, Request{Archive, sum, r.MaxBytes}); kept.State == Obtained {
			return Result[Pinned]{State: Obtained, From: []Observation{o, kept},
				Value: Pinned{Body: kept.Body, SHA256: sum, Gone: o.Message}}
		}
	}
	if o.State != Obtained {
		return fault[Pinned](o)
	}
	p := Pinned{Body: o.Body, SHA256: o.SHA256}
	if p.SHA256 != sum {
		return Result[Pinned]{State: Invalid, Value: p, Code: CodeHashMismatch, From: []Observation{o},
			Message: fmt.Sprintf("the served bytes have SHA-256 %s; the registry pins %s", p.SHA256,
				cmp.Or(sum, "none"))}
	}
	return Result[Pinned]{State: Obtained, Value: p, From: []Observation{o}}
}

// domainAge asks RDAP and, where that gives no date, WHOIS. Under a private suffix nothing is asked: the
// platform's age says nothing about its customer.
func (c *Collector) domainAge(l *registry.Listing, suffixes *domainage.Suffixes) Result[Registration] {
	host := ""
	if d, err := did.Parse(l.ToolDID); err == nil && d.Method == "web" {
		host = d.Host()
	} else if err == nil {
		host = hostOf(l.ManifestURI)
	}
	domain, err := suffixes.Registrable(host)
	if err != nil {
		return Result[Registration]{State: Invalid, Code: "no-registrable-domain", Message: err.Error()}
	}
	reg := Registration{Domain: domain}
	if domain.PrivateSuffix {
		return Result[Registration]{State: Obtained, Value: reg}
	}
	reg.RDAP = c.registration(Request{RDAP, domain.Registrable, MaxRDAP}, domainage.FromRDAP)
	if reg.RDAP.State == Unsought { // WHOIS is not asked either
		return Result[Registration]{State: Unsought, Value: reg, Code: reg.RDAP.Code, Message: reg.RDAP.Message,
			From: reg.RDAP.From}
	}
	if reg.RDAP.State != Obtained {
		reg.WHOIS = c.registration(Request{WHOIS, domain.Registrable, MaxWHOIS}, domainage.FromWHOIS)
	}
	return Result[Registration]{State: Obtained, Value: reg, From: append(reg.RDAP.From, reg.WHOIS.From...)}
}

// registration reads one source's reply. A reply that does not answer leaves the question open.
func (c *Collector) registration(r Request,
	parse func(string, []byte) (domainage.Registration, error)) Result[domainage.Registration] {
	o := Ask(c.ctx, c.s, r)
	if o.State = ThirdParty.State(o); o.State != Obtained {
		return fault[domainage.Registration](o)
	}
	reg, err := decode(c, document{string(r.Protocol), r.Target, o.SHA256}, o.Body,
		func() (domainage.Registration, error) {
			return parse(r.Target, o.Body)
		})
	if err == nil {
		err = reg.Checked(c.s.Now())
	}
	out := Result[domainage.Registration]{State: Obtained, Value: reg, From: []Observation{o}}
	if err != nil {
		out.Value.At = time.Time{}
		out.State, out.Code, out.Message = Unavailable, "not-an-answer", err.Error()
		if domainage.Answered(err) {
			out.State, out.Code = Invalid, "no-date"
		}
	}
	return out
}

// decoded returns what parse makes of an observation; a document that it refuses is Invalid.
func decoded[T any](c *Collector, d document, o Observation, parse func() (T, error)) Result[T] {
	text := fault[Pinned](o)
	text.Value.Body = o.Body
	return decodedText(c, d, text, parse)
}

// decodedText is decoded for a text that was obtained in another way.
func decodedText[T any](c *Collector, d document, text Result[Pinned], parse func() (T, error)) Result[T] {
	if text.State != Obtained {
		return Result[T]{State: text.State, Code: text.Code, Message: text.Message, Fix: text.Fix, From: text.From}
	}
	v, err := decode(c, d, text.Value.Body, parse)
	if err != nil {
		fix := ""
		if e, ok := errors.AsType[*did.DocumentError](err); ok {
			fix = e.Fix
		}
		if bytes.HasPrefix(text.Value.Body, []byte("\x1f\x8b")) {
			fix = "send Content-Encoding: gzip, or serve the plain file"
		}
		if bytes.HasPrefix(text.Value.Body, []byte("\ufeff")) {
			fix = `save the file without byte order mark (UTF-8, not "UTF-8 with BOM")`
		}
		return Result[T]{State: Invalid, Code: documentCode(err), Message: err.Error(), Fix: fix, From: text.From}
	}
	return Result[T]{State: Obtained, Value: v, From: text.From}
}

var decoding = make(chan struct{}, min(runtime.GOMAXPROCS(0), 4))

// EnterDecoding waits for a place to decode a document and returns the function that leaves it: few documents are
// decoded at once.
func EnterDecoding() (leave func()) {
	decoding <- struct{}{}
	return func() { <-decoding }
}

// document names a text and what it is read as, from the URL that errors name.
type document struct{ kind, url, sha256 string }

// decode reads a document, unless this run has done so.
func decode[T any](c *Collector, d document, body []byte, parse func() (T, error)) (T, error) {
	type read struct {
		value T
		err   error
	}
	defer EnterDecoding()()
	weigh := func(r read) int {
		if sized, ok := any(r.value).(interface{ Size() int }); ok && r.err == nil {
			return sized.Size()
		}
		return 2 * len(body) // with its text, which its source holds too
	}
	r := memo.Get(c.memo, d, weigh, func() read {
		defer memo.Decoding(len(body))()
		v, err := parse()
		return read{v, err}
	})
	return r.value, r.err
}

// documentCode returns the code of a decoder's error.
func documentCode(err error) string {
	if e, ok := errors.AsType[*did.DocumentError](err); ok {
		return e.Code
	}
	if e, ok := errors.AsType[*strict.Error](err); ok {
		return e.Code
	}
	return "document-invalid"
}

// hostOf returns the host name of a URL, or "" if the text is not a URL.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// Observed adds to a report what its source was asked.
func Observed(rep *verdict.Report, src Source) {
	for _, o := range src.Observations() {
		rep.Evidence = append(rep.Evidence, o.Evidence())
	}
	rep.EvidenceSHA256 = Digest(rep.Evidence)
}
