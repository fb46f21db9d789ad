// Package did reads DIDs and DID Documents: what a did:web or did:key resolves to, and the Ed25519 keys that
// a document holds. It fetches nothing.
package did

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxLength is how many bytes a DID may have.
const MaxLength = 2048

// DID is a decentralized identifier (https://www.w3.org/TR/did-core/#did-syntax) without path, query or
// fragment. DIDs are equal where their Text is.
type DID struct {
	Text   string
	Method string // lower case
	ID     string // all after the method, as written

	host, port string // of a did:web, see Host and Port
	path       string // of a did:web, with a slash in front; empty where it has none
}

var syntax = regexp.MustCompile(`^did:([a-z0-9]+):((?:(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2})*:)*(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2})+)$`)

// Parse reads a DID of any method. A did:web is held to its method too: a fully qualified DNS name, no IP
// address, at most a port after it as %3A, and path segments that name one place on every server.
func Parse(s string) (DID, error) {
	if len(s) > MaxLength {
		return DID{}, fmt.Errorf("text has %d bytes, a DID may have %d", len(s), MaxLength)
	}
	m := syntax.FindStringSubmatch(s)
	if m == nil {
		return DID{}, fmt.Errorf("%q is no DID, which is did:METHOD:ID without path, query or fragment", s)
	}
	d := DID{Text: s, Method: m[1], ID: m[2]}
	if d.Method != "web" {
		return d, nil
	}
	if err := d.parseWeb(); err != nil {
		return DID{}, fmt.Errorf("reading %q: %w", s, err)
	}
	return d, nil
}

// parseWeb follows https://w3c-ccg.github.io/did-method-web/#read-resolve.
func (d *DID) parseWeb() error {
	segments := strings.Split(d.ID, ":")
	host, port, found := strings.Cut(strings.ToLower(segments[0]), "%3a")
	if found {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
			return fmt.Errorf("port is %q, a number from 1 to 65535 must stand there", port)
		}
	}
	d.host, d.port = strings.TrimSuffix(host, "."), port
	if err := checkHost(d.host); err != nil {
		return err
	}
	for _, s := range segments[1:] {
		if err := checkSegment(s); err != nil {
			return err
		}
		d.path += "/" + s
	}
	return nil
}

// label is lax in one thing: an underscore is in no host name, but in listings that stand already, which
// their owners must be able to renew. Spelling reports it.
var label = regexp.MustCompile(`^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$`)

// number is a last label by which URL parsers take the whole host for an IPv4 address.
var number = regexp.MustCompile(`^(?:[0-9]+|0x[0-9a-f]*)$`)

func checkHost(host string) error {
	labels := strings.Split(host, ".")
	if len(host) > 253 {
		return fmt.Errorf("host has %d characters, a DNS name has at most 253", len(host))
	}
	for _, l := range labels {
		if !label.MatchString(l) {
			return fmt.Errorf("host is %q with the label %q, a label has 1 to 63 letters, digits and inner hyphens", host, l)
		}
	}
	if number.MatchString(labels[len(labels)-1]) {
		return fmt.Errorf("host is %q, which is an IP address or read as one, a DNS name is needed", host)
	}
	if len(labels) == 1 {
		return fmt.Errorf("host is %q, a fully qualified DNS name with a dot is needed", host)
	}
	return nil
}

// checkSegment refuses what servers and URL parsers read in more than one way: dot segments, and escapes of
// the characters that structure a URL.
func checkSegment(s string) error {
	if s == "" {
		return errors.New("a path segment is empty")
	}
	decoded := unescape(s)
	if decoded == "." || decoded == ".." {
		return fmt.Errorf("path segment is %q, which leads to another place", s)
	}
	if strings.ContainsAny(decoded, "/\\?#%") || strings.ContainsFunc(decoded, func(r rune) bool { return r < ' ' || r == 0x7f }) || !utf8.ValidString(decoded) {
		return fmt.Errorf("path segment is %q, escapes of / \\ ? # %% and of control characters are not allowed", s)
	}
	return nil
}

// unescape undoes the percent escapes, whose syntax Parse has checked.
func unescape(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out.WriteByte(s[i])
			continue
		}
		n, _ := strconv.ParseUint(s[i+1:i+3], 16, 8)
		out.WriteByte(byte(n))
		i += 2
	}
	return out.String()
}

// Host is the DNS name of a did:web in lower case, without port and trailing dot; else empty.
func (d DID) Host() string { return d.host }

// Port is the port of a did:web, empty where it names none.
func (d DID) Port() string { return d.port }

// HasPath tells whether a did:web has a path below its host.
func (d DID) HasPath() bool { return d.path != "" }

// URLs are where the DID Document of a did:web is served: by the method and, for a DID with a path, in the
// second place where publishers put it by mistake, else empty. Both are empty for another method.
func (d DID) URLs() (primary, fallback string) {
	if d.Method != "web" {
		return "", ""
	}
	base := "https://" + d.host
	if d.port != "" && d.port != "443" {
		base += ":" + d.port
	}
	if d.path == "" {
		return base + "/.well-known/did.json", ""
	}
	return base + d.path + "/did.json", base + d.path + "/.well-known/did.json"
}

// Spelling gives the one spelling of a did:web among those that lead to the same document: a lower-case
// host without trailing dot, %3A in upper case, no port 443; and tells whether the DID is in it. A host with
// an underscore has no spelling; the name with hyphens is given in its place. A DID of another method is in
// its spelling.
func (d DID) Spelling() (want string, ok bool) {
	if d.Method != "web" {
		return d.Text, true
	}
	labels := strings.Split(d.host, ".")
	for i, l := range labels {
		if hyphened := strings.Trim(strings.ReplaceAll(l, "_", "-"), "-"); hyphened != "" {
			labels[i] = hyphened
		}
	}
	want = "did:web:" + strings.Join(labels, ".")
	if d.port != "" && d.port != "443" {
		want += "%3A" + d.port
	}
	want += strings.ReplaceAll(d.path, "/", ":")
	return want, want == d.Text && !strings.Contains(d.host, "_")
}
