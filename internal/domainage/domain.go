// Package domainage finds registrable domains and reads their registration dates out of RDAP and WHOIS
// replies. It is pure: replies come in as bytes, and nothing here looks at a clock or a network.
package domainage

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// ErrNotDNSName means that a text is no DNS name: an IP address, an empty or over-long label, or a
// character that no host name may hold.
var ErrNotDNSName = errors.New("not a DNS name")

// ErrPublicSuffix means that a host is itself a public suffix, so that no registrable domain holds it.
var ErrPublicSuffix = errors.New("the host is itself a public suffix")

// Domain says to whom a host belongs by the Public Suffix List. All names are lower-case A-labels without
// a trailing dot.
type Domain struct {
	Host string
	// Registrable is one label below the public suffix, the list's private section included: the part that
	// one owner holds.
	Registrable string
	// ICANN is one label below the suffix of the ICANN section alone. It differs from Registrable below a
	// private suffix: for a.b.vercel.app it is vercel.app, for which somebody pays a registrar.
	ICANN string
	// Suffix is the public suffix, the private section included.
	Suffix string
	// PrivateSuffix tells that Suffix is of the private section: a platform hands names below it out.
	PrivateSuffix bool
}

// Registrable finds the registrable domains of a host name, which may be in Unicode, in any letter case
// and end in a dot. A top-level domain that the list does not know is its own suffix.
//
// The error wraps ErrNotDNSName, or ErrPublicSuffix; with the latter, Host, Suffix and, below a private
// suffix, ICANN are still set. So is all of a name that is wrong in an A-label alone: whose it is does not hang on
// that.
func Registrable(host string) (Domain, error) {
	name, unsound := Host(host)
	if name == "" {
		return Domain{}, unsound
	}
	suffix, private := publicSuffix(name)
	d := Domain{Host: name, Suffix: suffix, PrivateSuffix: private}
	d.Registrable = below(name, suffix)
	// A rule of the ICANN section never has as many labels as the private one that outranked it: climb.
	for private {
		_, parent, _ := strings.Cut(suffix, ".")
		suffix, private = publicSuffix(parent)
	}
	d.ICANN = below(name, suffix)
	if unsound != nil {
		return d, unsound
	}
	if d.Registrable == "" {
		return d, fmt.Errorf("finding the registrable domain of %q: %w", name, ErrPublicSuffix)
	}
	return d, nil
}

// publicSuffix gives the suffix of a name, and whether it is of the list's private section. The library is
// asked for the suffix again, since for a name with labels between two rules, such as
// dualstack.us-east-1.amazonaws.com, it tells the section of the wrong node.
func publicSuffix(name string) (suffix string, private bool) {
	suffix, _ = publicsuffix.PublicSuffix(name)
	_, icann := publicsuffix.PublicSuffix(suffix)
	return suffix, !icann && strings.Contains(suffix, ".")
}

// below is the part of name that is one label longer than suffix, empty where name is no longer than it.
func below(name, suffix string) string {
	rest, ok := strings.CutSuffix(name, "."+suffix)
	if !ok {
		return ""
	}
	return rest[strings.LastIndexByte(rest, '.')+1:] + "." + suffix
}

// Host gives the one spelling of a DNS host name: lower-case A-labels without a trailing dot. It refuses,
// with ErrNotDNSName, everything that a resolver could take for an IP address, such as 127.1 or 0x7f000001. Of an ASCII
// name of which an A-label stands for nothing it gives the spelling beside the error.
func Host(name string) (string, error) {
	ascii := strings.ToLower(strings.TrimSuffix(name, "."))
	var unsound error
	if !isASCII(ascii) || strings.Contains(ascii, "xn--") {
		labels, err := idna.Lookup.ToASCII(ascii)
		if err != nil {
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
		if !isLabel(label) {
			return "", fmt.Errorf("reading host %q: %w", name, ErrNotDNSName)
		}
	}
	if isNumber(labels[len(labels)-1]) {
		return "", fmt.Errorf("reading host %q: an IP address: %w", name, ErrNotDNSName)
	}
	return ascii, unsound
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}

// isLabel holds for the letters, digits and inner hyphens of RFC 1123 section 2.1, and for underscores: those
// are in no host name, but resolve, and stand in listings that their owners must be able to renew. Hyphens in
// the third and fourth place, which IDNA keeps for itself, stand in host names of real networks.
func isLabel(s string) bool {
	if s == "" || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// isNumber follows the URL standard's "ends in a number": getaddrinfo reads such a host as an IPv4 address.
func isNumber(label string) bool {
	if strings.Trim(label, "0123456789") == "" {
		return true
	}
	hex, ok := strings.CutPrefix(label, "0x")
	return ok && strings.Trim(hex, "0123456789abcdef") == ""
}
