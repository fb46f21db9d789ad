// Package domainage finds registrable domains and reads their registration dates out of RDAP and WHOIS
// replies. It is pure: replies come in as bytes, and nothing here looks at a clock or a network.
package domainage

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/idna"
)

// ErrNotDNSName means that a text is not a DNS name: an IP address, an empty or over-long label, or a
// character that no host name may hold.
var ErrNotDNSName = errors.New("not a DNS name")

// Domain says who owns a host according to the Public Suffix List. All names are lower-case A-labels without a trailing
// dot.
type Domain struct {
	Host string
	// Registrable is one label below the public suffix, the list's private section included: the part that
	// one owner holds. A host that is itself a public suffix is its own.
	Registrable string
	// ICANN is one label below the suffix of only the ICANN section. It differs from Registrable below a
	// private suffix: for a.b.vercel.app it is vercel.app, for which somebody pays a registrar.
	ICANN string
	// Suffix is the public suffix, the private section included.
	Suffix string
	// PrivateSuffix reports that Suffix is in the private section: a platform hands out the names below it. It is
	// false for the platform's own name, which somebody registered.
	PrivateSuffix bool
}

// Registrable finds the registrable domains of a host name. It reads only the embedded list.
func Registrable(host string) (Domain, error) { return (*Suffixes)(nil).Registrable(host) }

// Registrable returns the registrable domains of a host name, which may be in Unicode, in any letter case and end in a
// dot. A top-level domain that no list knows is its own suffix.
//
// The error wraps ErrNotDNSName. If only an A-label of the name is wrong, Registrable returns the domain together with
// the error, because the owner does not depend on that label.
func (s *Suffixes) Registrable(host string) (Domain, error) {
	name, unsound := Host(host)
	if name == "" {
		return Domain{}, unsound
	}
	suffix, private := s.suffix(name)
	d := Domain{Host: name, Suffix: suffix, Registrable: below(name, suffix), ICANN: below(name, icannSuffix(name))}
	d.PrivateSuffix = private && d.Registrable != d.ICANN
	return d, unsound
}

// below returns the part of name that is one label longer than suffix, or name if it is not longer than suffix.
func below(name, suffix string) string {
	rest, ok := strings.CutSuffix(name, "."+suffix)
	if !ok {
		return name
	}
	return rest[strings.LastIndexByte(rest, '.')+1:] + "." + suffix
}

// Host returns the one spelling of a DNS host name: lower-case A-labels without a trailing dot. It refuses, with
// ErrNotDNSName, everything that a resolver could take for an IP address, such as 127.1 or 0x7f000001. If an A-label of
// an ASCII name decodes to nothing, Host returns the spelling together with the error.
func Host(name string) (string, error) {
	ascii := strings.ToLower(strings.TrimSuffix(name, "."))
	var unsound error
	if !isASCII(ascii) || strings.Contains(ascii, "xn--") {
		labels, err := idna.Lookup.ToASCII(ascii)
		if err != nil || hasMixedLabel(ascii) {
			unsound = fmt.Errorf("reading host %q: %w", name, ErrNotDNSName)
		} else {
			ascii = labels
		}
	}
	if len(ascii) > 253 {
		return "", fmt.Errorf("reading host %q: %w", name, ErrNotDNSName)
	}
	labels := strings.Split(ascii, ".")
	for _, label := range labels {
		if !IsLabel(label) {
			return "", fmt.Errorf("reading host %q: %w", name, ErrNotDNSName)
		}
	}
	if IsNumber(labels[len(labels)-1]) {
		return "", fmt.Errorf("reading host %q: an IP address: %w", name, ErrNotDNSName)
	}
	return ascii, unsound
}

// hasMixedLabel reports whether a label is Punycode by its prefix and still has characters beyond ASCII. Package idna
// reads xn--äa- as äa, where others refuse it.
func hasMixedLabel(host string) bool {
	isDot := func(r rune) bool { return strings.ContainsRune(".\u3002\uff0e\uff61", r) }
	return slices.ContainsFunc(strings.FieldsFunc(host, isDot), func(label string) bool {
		return strings.Contains(label, "xn--") && !isASCII(label)
	})
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}

// IsLabel holds for the letters, digits and inner hyphens of RFC 1123 section 2.1, and for underscores: those
// are in no host name, but resolve, and stand in listings that their owners must be able to renew. Hyphens in
// the third and fourth place, which IDNA keeps for itself, stand in host names of real networks.
func IsLabel(s string) bool {
	if s == "" || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// IsNumber follows the URL standard's "ends in a number": getaddrinfo reads such a host as an IPv4 address.
func IsNumber(label string) bool {
	if strings.Trim(label, "0123456789") == "" {
		return true
	}
	hex, ok := strings.CutPrefix(label, "0x")
	return ok && strings.Trim(hex, "0123456789abcdef") == ""
}
