package evidence

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
)

// refusal is why there is no evidence: what an Observation says about it. It is an error within this
// package alone.
type refusal struct {
	state   State
	code    string
	message string
}

func (r *refusal) Error() string { return r.message }

// maxMessage caps a message in bytes: it may quote what a server sent, such as a certificate's many names.
const maxMessage = 1000

func refuse(state State, code, format string, args ...any) *refusal {
	message := fmt.Sprintf(format, args...)
	if len(message) > maxMessage {
		message = message[:maxMessage] + "…"
	}
	return &refusal{state, code, strings.ToValidUTF8(message, "\uFFFD")}
}

// observation is what a refused request gave.
func (r *refusal) observation(of Request) Observation {
	return Observation{Request: of, State: r.state, Code: r.code, Message: r.message}
}

// canonical gives a request the one spelling under which it is observed, recorded and looked up. A target
// that is not usable stays as it is, but for bytes that are not UTF-8.
func (r Request) canonical() Request {
	switch r.Protocol {
	case Archive, File:
		return r
	case Named:
		r.Target = strings.ToValidUTF8(r.Target, "\uFFFD")
		return r
	case HTTPS:
		if u, err := documentURL(r.Target); err == nil {
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

// sorted puts observations in the order of their requests, as bundles and reports have them.
func sorted(all []Observation) []Observation {
	return slices.SortedFunc(slices.Values(all), func(a, b Observation) int {
		return cmp.Or(cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Target, b.Target),
			cmp.Compare(a.MaxBytes, b.MaxBytes))
	})
}

// documentURL reads the URL of a document: https, absolute, with a DNS name as its host, without user
// information. It drops the fragment and spells host and port in one way.
func documentURL(text string) (*url.URL, *refusal) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, refuse(Invalid, CodeURL, "%q is no URL", text)
	}
	return usable(u)
}

// maxURL caps a URL in bytes.
const maxURL = 8 << 10

func usable(u *url.URL) (*url.URL, *refusal) {
	if u.Scheme != "https" {
		return nil, refuse(Invalid, CodeScheme, "%q has the scheme %q, expected https", u.Redacted(), u.Scheme)
	}
	if u.User != nil {
		return nil, refuse(Invalid, CodeURL, "%q holds a user name, expected none", u.Redacted())
	}
	host, err := domainage.Host(u.Hostname())
	if u.Opaque != "" || err != nil {
		return nil, refuse(Invalid, CodeURL, "%q has the host %q, expected a DNS name", u, u.Hostname())
	}
	port := u.Port()
	if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n == 0) {
		return nil, refuse(Invalid, CodeURL, "%q has the port %q, expected 1 to 65535", u, port)
	} else if port != "" && n != 443 {
		host += ":" + strconv.FormatUint(n, 10)
	}
	c := *u
	c.Host, c.Fragment, c.RawFragment = host, "", ""
	c.RawQuery = escapeQuery(c.RawQuery)
	if n := len(c.String()); n > maxURL {
		return nil, refuse(Invalid, CodeURL, "the URL has %d bytes, expected at most %d", n, maxURL)
	}
	return &c, nil
}

// escapeQuery escapes what url.Parse lets stand in a query and a request line may not hold.
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
