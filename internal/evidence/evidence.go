// Package evidence collects what the web says about a record.
//
// Everything that is not in Git enters through Source, the clock too. Package live has the Source that asks the web,
// package bundle the one that answers from a recorded run.
package evidence

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/manifest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Protocol says how a request is made.
type Protocol string

// The protocols. RDAP and WHOIS requests name a registrable domain instead of a URL.
const (
	HTTPS Protocol = "https"
	RDAP  Protocol = "rdap"
	WHOIS Protocol = "whois"
	// File requests name a document that the operator has at hand: manifest, receipt or did-document.
	File Protocol = "file"
	// Archive requests name the SHA-256 of a document, for the archive.
	Archive Protocol = "archive"
	// DNS requests are of the addresses of a host; only Control is looked up so. The answer has no body.
	DNS Protocol = "dns"
	// Named requests are of the server that the operator named, which may be plain and private.
	Named Protocol = "named"
)

// Request names one document. Two equal requests are fetched once in a run; sources take a target in any
// spelling and observe it in its canonical one.
type Request struct {
	Protocol Protocol `json:"protocol"`
	Target   string   `json:"target"` // a URL, the domain asked for, the name of a document at hand, or a SHA-256 in hex
	MaxBytes int64    `json:"max_bytes"`
}

// Document returns the request for a document of at most so many bytes.
func Document(url string, most int64) Request { return Request{HTTPS, url, most} }

// String returns the target as the report names it: a URL, or rdap:DOMAIN, whois:DOMAIN, file:NAME or archive:SHA256.
func (r Request) String() string {
	if r.Protocol == HTTPS || r.Protocol == Named {
		return r.Target
	}
	return string(r.Protocol) + ":" + r.Target
}

// State is how the search for a piece of evidence ended.
type State uint8

// The states. What another try may change is Unavailable; what is definitely not there is Absent; what is
// there and wrong is Invalid.
const (
	Unsought State = iota
	Obtained
	Absent
	Invalid
	Unavailable
)

// Open reports whether another try may give another state.
func (s State) Open() bool { return s == Unavailable || s == Unsought }

// String returns the state's word in the report.
func (s State) String() string {
	words := [...]string{"unsought", "obtained", "absent", "invalid", "unavailable"}
	if int(s) >= len(words) {
		return fmt.Sprintf("unknown state %d", s)
	}
	return words[s]
}

// Observation is what one request gave. It is never an error: failure is an observation, with a State, a
// Code and a Message for people.
type Observation struct {
	Request
	State        State
	Code         string // why it is not Obtained, such as "http-status"; see the Code constants
	Message      string // the same for people; may hold foreign text
	Fix          string // what helps, if only the source knows it
	Status       int    // HTTP status of the last response; 0 without one
	FinalURL     string // last hop, if that is not Target: after redirects, or the RDAP or WHOIS server
	Address      string // IP address and port that answered last
	SHA256       string // hex, of Body
	Body         []byte // only of an Obtained answer; must not be changed
	Attempts     int
	Milliseconds int64
	CachedAt     time.Time // when the origin last confirmed a cached answer; zero: not from a cache
	RetryAfter   int64     // seconds for which the server wants to be left alone, if that ended the attempts; 0: none
	Date         time.Time // Date header of the last response, UTC; zero: none that is a date
}

// A Retry is what may decide evidence that is open.
type Retry struct {
	Fix string
	At  time.Time // before it another try is in vain, as the server says; zero: it did not say
}

// Retry returns what may decide an observation that is open. If nobody was asked, or if another try changes nothing,
// the fix is that of the code.
func (o Observation) Retry(now time.Time) Retry {
	i := slices.IndexFunc(Codes, func(c strict.Code) bool { return c.ID == o.Code })
	switch {
	case o.RetryAfter > 0:
		at := now.Add(time.Duration(min(o.RetryAfter, 24*60*60)) * time.Second).UTC()
		return Retry{"try again after " + at.Format("2006-01-02T15:04:05.999Z07:00"), at}
	case o.Fix != "":
		return Retry{Fix: o.Fix}
	case i >= 0 && (o.State == Unsought || lasts(o.Code)):
		return Retry{Fix: Codes[i].Fix}
	}
	return Retry{Fix: "try again; nothing was decided"}
}

// lasts reports whether another try alone changes nothing.
func lasts(code string) bool {
	return slices.Contains([]string{CodeDeniesAll, CodeChallenge, CodeIPv6, CodeBudget, CodeTotal}, code)
}

// Evidence returns the observation as a report has it: without the body, and without the port of the address.
func (o Observation) Evidence() verdict.Evidence {
	e := verdict.Evidence{URL: o.String(), Status: o.Status, Bytes: len(o.Body), Attempts: o.Attempts,
		Milliseconds: o.Milliseconds,
		Address:      o.Address, State: o.State.String(), Code: o.Code, Message: o.Message}
	if at, err := netip.ParseAddrPort(o.Address); err == nil {
		e.Address = at.Addr().String()
	}
	if o.FinalURL != o.Target {
		e.FinalURL = o.FinalURL
	}
	if o.State == Obtained {
		e.SHA256 = o.SHA256
	}
	if !o.CachedAt.IsZero() {
		at := o.CachedAt.UTC()
		e.CachedAt = &at
	}
	return e
}

// Codes of observations that are not Obtained.
const (
	CodeHTTPStatus     = "http-status"         // a status other than 200
	CodeTimeout        = "timeout"             // no full answer within the time of one request
	CodeBudget         = "budget-spent"        // the run's budget ended first
	CodeChallenge      = "host-challenges"     // the server answers programs with a challenge for browsers
	CodeIPv6           = "ipv6-only"           // the host has only IPv6 addresses, and no connection was made
	CodeConnect        = "connect-failed"      // refused, unreachable, reset or ended before the answer was whole
	CodeResolver       = "resolver-failed"     // the resolver did not answer
	CodeNoHost         = "no-such-host"        // NXDOMAIN or no address
	CodeDeniesAll      = "resolver-denies-all" // the resolver denies a name that exists, too
	CodeTLS            = "tls-not-verified"    // the certificate chain does not verify
	CodeForbidden      = "forbidden-address"   // an address that is not public
	CodeScheme         = "scheme-not-https"    // the URL or a redirect is not https
	CodeURL            = "url-not-usable"      // no absolute URL with a DNS name as host
	CodeTooLarge       = "body-too-large"      // more than MaxBytes after decoding
	CodeRedirects      = "too-many-redirects"  // more than 5
	CodeEncoding       = "content-encoding"    // compressed in a way that cannot be undone
	CodeProtocol       = "protocol-error"      // not TLS or not HTTP, headers that are broken or larger than 64 KiB
	CodeTotal          = "total-too-large"     // the run's documents together exceed what is kept in memory
	CodeNoRegistration = "no-registration"     // RDAP 404, or no server for the suffix
	CodeOffline        = "offline"             // nothing was asked
	CodeNotArchived    = "not-archived"        // the archive does not hold it
	CodeNotRecorded    = "not-recorded"        // the bundle holds no such request
	CodeNotGiven       = "not-given"           // the documents at hand do not hold it; nothing else is fetched
	CodeLocal          = "local"               // the host is local, so that its registration date was not looked up
)

// DeniesAll explains CodeDeniesAll.
var DeniesAll = strict.Code{ID: CodeDeniesAll,
	Meaning: "this machine's resolver denies public names; nothing was decided",
	Fix:     "use a resolver that knows public names"}

// Codes explains why a document could not be fetched or used, in addition to the codes of packages strict, did, receipt
// and manifest.
var Codes = []strict.Code{
	{CodeHTTPStatus, "the server answered with a status other than 200",
		"serve the document with status 200 at this very URL"},
	{CodeTimeout, "the server gave no full answer within the time of one request",
		"have the server answer faster, then try again"},
	{CodeBudget, "the run's own time was over before the document was there; nothing was decided",
		"try again, or give more time with --budget"},
	{CodeChallenge, "the server answers programs with a challenge for browsers; nothing was decided",
		"exempt /.well-known/ and the Receipt's path from the firewall's challenge; a browser sees no fault"},
	{CodeIPv6, "the host has only IPv6 addresses, and this machine reaches none; nothing was decided",
		"add an A record, or run where IPv6 works (GitHub's runners have none)"},
	{CodeConnect, "no connection was made, or it broke before the answer was whole",
		"start the server, then try again"},
	{CodeResolver, "the DNS resolver gave no answer; nothing was decided",
		"check that this machine resolves names, then try again"},
	{CodeNoHost, "the host name does not exist in DNS or has no address",
		"correct the host name, or publish its address"},
	DeniesAll,
	{CodeTLS, "the server's certificate does not verify, or TLS could not be agreed on",
		"serve a certificate of a public authority for this host, with the whole chain"},
	{CodeForbidden, "the host leads to an address that the gate does not connect to: a private one, or a public one " +
		"of a server that was named as private",
		"serve the document at a public address"},
	{CodeScheme, "the URL or a redirect is not https", "use https throughout"},
	{CodeURL, "the text is not an absolute URL with a DNS name as host", "write it like https://host.example/path"},
	{CodeTooLarge, "the document has more bytes than are read of its kind", "serve a smaller document"},
	{CodeRedirects, "the server redirects more than five times", "name the final URL"},
	{CodeEncoding, "the answer is compressed in a way that cannot be undone", "serve it plain or with gzip"},
	{CodeProtocol, "the answer is not HTTP over TLS, or its headers are broken or too large",
		"serve it from a standard web server"},
	{CodeTotal, "the documents of one run take more memory than it may use", "split the change, then try again"},
	{CodeNoRegistration, "no registry answers for the domain, or it does not know it",
		"correct the domain, or register it"},
	{CodeOffline, "the run was offline, so that nothing was asked", "run without --offline"},
	{CodeNotArchived, "the archive does not hold the document", "fetch it from its origin, or name another archive"},
	{CodeNotRecorded, "the bundle holds no answer to this request", "record a new bundle with --record"},
	{CodeNotGiven, "documents were given as files, this one was not, and nothing else is fetched",
		"give the document too, or name the target by its URL"},
	{CodeLocal, "a directory plays the web server of the host; its registration date was not looked up",
		"run without --local once the host is public"},
	{CodeHashMismatch, "the served bytes have another SHA-256 than the registry pins",
		"serve the bytes that were pinned, or pin those that are served"},
	{CodeDIDSyntax, "the text is not a DID, or is a DID that cannot name anything",
		"use a did:web with a DNS name, or the did:key of an Ed25519 key"},
	{CodeDIDMethod, "the DID's method cannot be resolved: only web and key can", "use a did:web or a did:key"},
	{"too-many-anchors",
		"no anchor that was read declares this failover, and the coordinator has more anchors than are read",
		"serve the Receipt in the coordinator's own domain"},
	{"document-invalid", "the document is not of the format that is required", "serve a document of the right format"},
}

// DomainCodes explains why a domain has no age, in addition to Codes.
var DomainCodes = []strict.Code{
	{"no-registrable-domain", "the host has no domain of its own that somebody could have registered",
		"use a registered domain"},
	{"not-an-answer", "the registry's answer about the domain cannot be read; nothing was decided",
		"set provisional: true, or have the registry correct its answer"},
	{"no-date", "the registry's answer about the domain holds no date of registration",
		"ask the domain's registrar to publish the date, or list as provisional"},
}

// Source answers requests. Live, recorded and test sources are the same to the rest. It is safe for
// concurrent use and observes each request once, whatever the number of callers.
type Source interface {
	Observe(ctx context.Context, r Request) Observation
	// Now returns the time at which dates are evaluated.
	Now() time.Time
	// Observations returns all observations made so far, sorted by request.
	Observations() []Observation
	// Reaches reports whether the run's budget lasts for judging a subject by a check. A recorded source answers as the
	// run did that was recorded.
	Reaches(check, subject string) bool
	// NotReached are the checks, sorted, for which Reaches said no so far, by subject.
	NotReached() map[string][]string
}

// Caps of remote documents in bytes, after decoding.
const (
	MaxDIDDocument       = did.MaxBytes
	MaxManifest          = manifest.MaxBytes
	MaxReceipt           = receipt.MaxBytes
	MaxCrossMatchReceipt = 16 << 20
	MaxRDAP              = domainage.MaxRDAP
	MaxWHOIS             = domainage.MaxWHOIS
)
