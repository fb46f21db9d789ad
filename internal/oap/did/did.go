// Package did reads DIDs and DID Documents: what a did:web or did:key resolves to, and the Ed25519 keys that
// a document holds. It fetches nothing.
package did

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
)

// MaxLength is how many bytes a DID may have.
const MaxLength = 2048

// DID is a decentralized identifier (https://www.w3.org/TR/did-core/#did-syntax) without path, query or
// fragment. DIDs are equal where their Spelling is.
type DID struct {
	Text   string // as written
	Method string // lower case
	ID     string // all after the method, without the escapes that nothing needs, the others in upper case

	host, port string // a did:web's; port is empty if it has none
	path       string // a did:web's, with a leading slash; may be empty
}

// Parse reads a DID of any method, which may be in upper case. A did:web is held to its method too: a fully qualified
// DNS name, no IP address, at most a port after it as %3A, and path segments that name one place on every server.
func Parse(s string) (DID, error) {
	if len(s) > MaxLength {
		return DID{}, fmt.Errorf("text has %d bytes, a DID may have %d", len(s), MaxLength)
	}
	rest, found := strings.CutPrefix(s, "did:")
	method, id, _ := strings.Cut(rest, ":")
	if !found || !isMethod(method) || !isID(id) {
		return DID{}, fmt.Errorf("%q is not a DID; expected did:METHOD:ID without path, query or fragment", s)
	}
	for part := range strings.SplitSeq(id, ":") {
		if plain := respelt(part); plain != part && (plain == "." || plain == "..") {
			return DID{}, fmt.Errorf("%q has the segment %q, an escape that leads to another place", s, part)
		}
	}
	d := DID{Text: s, Method: strings.ToLower(method), ID: respelt(id)}
	if d.Method != "web" {
		return d, nil
	}
	if err := d.parseWeb(); err != nil {
		return DID{}, fmt.Errorf("reading %q: %w", s, err)
	}
	return d, nil
}

func isMethod(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
}

// isID holds for colon-separated parts of which only the last must not be empty.
func isID(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ':', isPlain(c):
		case c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			i += 2
		default:
			return false
		}
	}
	return s != "" && s[len(s)-1] != ':'
}

// isPlain reports whether c needs no escape in a DID: the unreserved characters of RFC 3986 except ~, which DIDs lack.
func isPlain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '-' || c == '_'
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// wellKnown is the path at which a did:web without one has its document, so that to name it names nothing else.
const wellKnown = ".well-known"

// parseWeb follows https://w3c-ccg.github.io/did-method-web/#read-resolve.
func (d *DID) parseWeb() error {
	first, path, hasPath := strings.Cut(d.ID, ":")
	host, port, found := strings.Cut(strings.ToLower(first), "%3a")
	if found {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
			return fmt.Errorf("port is %q; expected a number from 1 to 65535", port)
		}
	}
	d.host, d.port = strings.TrimSuffix(host, "."), port
	if err := checkHost(d.host); err != nil {
		return err
	}
	if !hasPath || path == wellKnown {
		return nil
	}
	for s := range strings.SplitSeq(path, ":") {
		if err := checkSegment(s); err != nil {
			return err
		}
		d.path += "/" + s
	}
	return nil
}

func checkHost(host string) error {
	if len(host) > 253 {
		return fmt.Errorf("host has %d characters, a DNS name has at most 253", len(host))
	}
	for l := range strings.SplitSeq(host, ".") {
		if !domainage.IsLabel(l) {
			return fmt.Errorf("host is %q with the label %q, a label has 1 to 63 letters, digits and inner hyphens",
				host, l)
		}
	}
	last := strings.LastIndexByte(host, '.')
	if domainage.IsNumber(host[last+1:]) {
		return fmt.Errorf("host is %q, which is an IP address or read as one; expected a DNS name", host)
	}
	if last < 0 {
		return fmt.Errorf("host is %q; expected a fully qualified DNS name with a dot", host)
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
	if strings.ContainsAny(decoded, "/\\?#%") ||
		strings.ContainsFunc(decoded, func(r rune) bool { return r < ' ' || r == 0x7f }) || !utf8.ValidString(decoded) {
		return fmt.Errorf("path segment is %q, escapes of / \\ ? # %% and of control characters are not allowed", s)
	}
	return nil
}

// respelt undoes the percent escapes of characters that need none, and writes the others in upper case.
func respelt(s string) string {
	return escapes(s, func(c byte, escape string) string {
		if isPlain(c) {
			return string(rune(c))
		}
		return strings.ToUpper(escape)
	})
}

// unescape undoes the percent escapes.
func unescape(s string) string {
	return escapes(s, func(c byte, _ string) string { return string([]byte{c}) })
}

// escapes replaces each percent escape by the result of instead. Parse has checked their syntax.
func escapes(s string, instead func(c byte, escape string) string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out.WriteByte(s[i])
			continue
		}
		n, _ := strconv.ParseUint(s[i+1:i+3], 16, 8)
		out.WriteString(instead(byte(n), s[i:i+3]))
		i += 2
	}
	return out.String()
}

// Host returns the DNS name of a did:web in lower case, without port and trailing dot; "" for other methods.
func (d DID) Host() string { return d.host }

// HasPath reports whether a did:web has a path below its host.
func (d DID) HasPath() bool { return d.path != "" }

// URLs returns where the DID Document of a did:web is served. primary is defined by the method; fallback, for a DID
// with a path, is the place where publishers put it by mistake, else "". Both are "" for another method.
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

// Spelling returns the one spelling of a DID: its method in lower case, no escape of a character that needs none, other
// escapes in upper case, and for a did:web a lower-case host without trailing dot, port 443 or a lone :.well-known.
func (d DID) Spelling() string {
	id := d.ID
	if d.Method == "web" {
		id = d.host
		if d.port != "" && d.port != "443" {
			id += "%3A" + d.port
		}
		id += strings.ReplaceAll(d.path, "/", ":")
	}
	return "did:" + d.Method + ":" + id
}

// Same reports whether two texts name one DID. It decides what equality grants, so letter case counts everywhere except
// where the method says otherwise. A text that is not a DID is only equal to itself.
func Same(a, b string) bool { return a == b || Spelling(a) == Spelling(b) }

// Alike reports whether two texts may name one DID, for what equality denies: letter case does not count, since many
// servers ignore it.
func Alike(a, b string) bool { return a == b || Fold(a) == Fold(b) }

// Fold returns a text that is equal for all DIDs that are Alike.
func Fold(text string) string {
	s := Spelling(text)
	lower := strings.ToLower(s)
	if lower == s {
		return s
	}
	return strings.ToLower(Spelling(lower)) // once more: only in lower case a path may be .well-known
}

// Spelling returns the one spelling of the DID in text. It returns any other text unchanged.
func Spelling(text string) string {
	if host, found := strings.CutPrefix(text, "did:web:"); found && isSpelled(host) {
		return text // as in most listings: Parse takes several times as long
	}
	d, err := Parse(text)
	if err != nil {
		return text
	}
	if s := d.Spelling(); s != text {
		return s
	}
	return text // not a copy: an index of many texts keeps none of them twice
}

// isSpelled reports whether a did:web of this host and no more has no other spelling, if it is one.
func isSpelled(host string) bool {
	for i := range len(host) {
		if c := host[i]; !isPlain(c) || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return !strings.HasSuffix(host, ".")
}
