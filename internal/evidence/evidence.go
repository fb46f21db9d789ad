// Package evidence fetches what the world says about a registry's records: documents over HTTPS, domain
// age over RDAP and WHOIS. Everything that is not in Git enters through Source, the clock too.
package evidence

import (
	"context"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/manifest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/receipt"
)

// Protocol says how a request is made.
type Protocol string

// The protocols. RDAP and WHOIS requests name a registrable domain in place of a URL.
const (
	HTTPS Protocol = "https"
	RDAP  Protocol = "rdap"
	WHOIS Protocol = "whois"
	// Archive requests name the SHA-256 of a document, for the archive.
	Archive Protocol = "archive"
)

// Request names one document. Two equal requests are fetched once in a run; sources take a target in any
// spelling and observe it in its canonical one.
type Request struct {
	Protocol Protocol `json:"protocol"`
	Target   string   `json:"target"` // a URL, the domain asked for, or a SHA-256 in hex
	MaxBytes int64    `json:"max_bytes"`
}

// String is the target as the report names it: a URL, or rdap:DOMAIN, whois:DOMAIN or archive:SHA256.
func (r Request) String() string {
	if r.Protocol == HTTPS {
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

// String is the state's word in the report.
func (s State) String() string {
	return [...]string{"unsought", "obtained", "absent", "invalid", "unavailable"}[s]
}

// Observation is what one request gave. It is never an error: failure is an observation, with a State, a
// Code and a Message for people.
type Observation struct {
	Request
	State        State
	Code         string // why it is not Obtained, such as "http-status"; see the Code constants
	Message      string // the same for people; may hold foreign text
	Status       int    // HTTP status of the last response; 0 where there was none
	FinalURL     string // of the last hop where that is not Target: after redirects, or the server that RDAP or WHOIS asked
	Address      string // IP address and port that answered last
	SHA256       string // hex, of Body
	Body         []byte // of an Obtained answer alone; must not be changed
	Attempts     int
	Milliseconds int64
	CachedAt     time.Time // when the origin last confirmed a cached answer; zero: not from a cache
}

// Codes of observations that are not Obtained.
const (
	CodeHTTPStatus     = "http-status"        // a status other than 200
	CodeTimeout        = "timeout"            // no full answer within the time of one request
	CodeBudget         = "budget-spent"       // the run's budget ended first
	CodeConnect        = "connect-failed"     // refused, unreachable, reset or ended before the answer was whole
	CodeResolver       = "resolver-failed"    // the resolver did not answer
	CodeNoHost         = "no-such-host"       // NXDOMAIN or no address
	CodeTLS            = "tls-not-verified"   // the certificate chain does not verify
	CodeForbidden      = "forbidden-address"  // an address that is not public
	CodeScheme         = "scheme-not-https"   // the URL or a redirect is not https
	CodeURL            = "url-not-usable"     // no absolute URL with a DNS name as host
	CodeTooLarge       = "body-too-large"     // more than MaxBytes after decoding
	CodeRedirects      = "too-many-redirects" // more than 5
	CodeEncoding       = "content-encoding"   // compressed in a way that cannot be undone
	CodeProtocol       = "protocol-error"     // not TLS or not HTTP, headers that are broken or larger than 64 KiB
	CodeTotal          = "total-too-large"    // the run's documents together exceed what is kept in memory
	CodeNoRegistration = "no-registration"    // RDAP 404, or no server for the suffix
	CodeOffline        = "offline"            // nothing was asked
	CodeNotArchived    = "not-archived"       // the archive does not hold it
	CodeNotRecorded    = "not-recorded"       // the bundle holds no such request
)

// Source answers requests. Live, recorded and test sources are the same to the rest. It is safe for
// concurrent use and observes each request once, whatever the number of callers.
type Source interface {
	Observe(ctx context.Context, r Request) Observation
	// Now is the time by which dates are judged.
	Now() time.Time
	// Observations are all that were made so far, sorted by request.
	Observations() []Observation
	// Reaches reports whether the run's budget lasts for judging a subject by a check. It is asked once for each
	// pair; a recorded source answers as the run did that was recorded.
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
