// Package sources contains what every evidence.Source has in common: how a request is spelled and refused, and the time
// that a run has. Its own Source asks nobody.
package sources

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
)

// A Refusal is the reason why a source has no evidence, as an Observation reports it.
type Refusal struct {
	State   evidence.State
	Code    string
	Message string
	Fix     string // empty: what reports it knows the fix
}

func (r *Refusal) Error() string { return r.Message }

// maxMessage caps a message in bytes: it may quote what a server sent, such as a certificate's many names.
const maxMessage = 1000

// Refuse returns a Refusal whose message has at most 1000 bytes, all of them UTF-8.
func Refuse(state evidence.State, code, format string, args ...any) *Refusal {
	message := fmt.Sprintf(format, args...)
	if len(message) > maxMessage {
		message = message[:maxMessage] + "…"
	}
	return &Refusal{State: state, Code: code, Message: strings.ToValidUTF8(message, "\uFFFD")}
}

// WithFix sets the fix.
func (r *Refusal) WithFix(format string, args ...any) *Refusal {
	r.Fix = Refuse(r.State, r.Code, format, args...).Message
	return r
}

// Observation returns the observation of a refused request.
func (r *Refusal) Observation(of evidence.Request) evidence.Observation {
	return evidence.Observation{Request: of, State: r.State, Code: r.Code, Message: r.Message, Fix: r.Fix}
}

// Canonical returns a request in the one spelling under which it is observed, recorded and looked up. A target
// that is not usable stays as it is, except for bytes that are not UTF-8.
func Canonical(r evidence.Request) evidence.Request {
	switch r.Protocol {
	case evidence.Archive, evidence.File:
		return r
	case evidence.Named: // in the operator's spelling
	case evidence.HTTPS:
		if u, err := DocumentURL(r.Target); err == nil {
			r.Target = u.String()
			return r
		}
	default:
		if host, err := domainage.Host(r.Target); err == nil {
			r.Target = host
			return r
		}
	}
	r.Target = strings.ToValidUTF8(r.Target, "\uFFFD")
	return r
}

// Sorted returns observations in the order of their requests, as bundles and reports have them.
func Sorted(all []evidence.Observation) []evidence.Observation {
	return slices.SortedFunc(slices.Values(all), func(a, b evidence.Observation) int {
		return cmp.Or(cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Target, b.Target),
			cmp.Compare(a.MaxBytes, b.MaxBytes))
	})
}

// DocumentURL reads the URL of a document: https, absolute, with a DNS name as its host, without user
// information. It drops the fragment and spells host and port in one way.
func DocumentURL(text string) (*url.URL, *Refusal) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, Refuse(evidence.Invalid, evidence.CodeURL, "%q is not a URL", text)
	}
	return Usable(u)
}

// Usable returns a URL in the spelling of DocumentURL.
func Usable(u *url.URL) (*url.URL, *Refusal) {
	if u.Scheme != "https" {
		return nil, Refuse(evidence.Invalid, evidence.CodeScheme, "%q has the scheme %q, expected https", u.Redacted(),
			u.Scheme)
	}
	if u.User != nil {
		return nil, Refuse(evidence.Invalid, evidence.CodeURL, "%q holds a user name, expected none", u.Redacted())
	}
	host, err := domainage.Host(u.Hostname())
	if u.Opaque != "" || err != nil {
		return nil, Refuse(evidence.Invalid, evidence.CodeURL, "%q has the host %q, expected a DNS name", u,
			u.Hostname())
	}
	port := u.Port()
	if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n == 0) {
		return nil, Refuse(evidence.Invalid, evidence.CodeURL, "%q has the port %q, expected 1 to 65535", u, port)
	} else if port != "" && n != 443 {
		host += ":" + strconv.FormatUint(n, 10)
	}
	c := *u
	c.Host, c.Fragment, c.RawFragment = host, "", ""
	c.RawQuery = escapeQuery(c.RawQuery)
	if n := len(c.String()); n > maxURL {
		return nil, Refuse(evidence.Invalid, evidence.CodeURL, "the URL has %d bytes, expected at most %d", n,
			maxURL)
	}
	return &c, nil
}

// escapeQuery escapes the bytes that url.Parse accepts in a query and that a request line must not have.
func escapeQuery(query string) string {
	var b strings.Builder
	for _, c := range []byte(query) {
		if c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// TooLarge refuses a document that exceeds its cap.
func TooLarge(limit int64) *Refusal {
	return Refuse(evidence.Invalid, evidence.CodeTooLarge, "the body is larger than %d bytes", limit)
}

// The documents that may be at hand.
const (
	FileManifest    = "manifest"
	FileReceipt     = "receipt"
	FileDIDDocument = "did-document"
)

// maxURL caps a URL in bytes.
const maxURL = 8 << 10

// IsHTTPS reports whether a text is an https URL that names a host, and is no longer than a URL may be.
func IsHTTPS(uri string) bool {
	if len(uri) > maxURL {
		return false
	}
	u, err := url.Parse(uri)
	return err == nil && u.Scheme == "https" && u.Hostname() != ""
}
