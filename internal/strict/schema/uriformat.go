package schema

import (
	"net/netip"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

// charset has the ASCII characters that may be unescaped in a part of a URI.
type charset [256]bool

func newCharset(marks string) *charset {
	var c charset
	for i := range c {
		c[i] = isLetter(byte(i)) || isDigit(byte(i)) || strings.IndexByte(marks, byte(i)) >= 0
	}
	return &c
}

const subDelims = "-._~!$&'()*+,;="

// The parts of a URI, and those of a reference, where ajv-formats lets a quotation mark pass.
var (
	userinfoChars = newCharset(subDelims + ":")
	pathChars     = newCharset(subDelims + ":@/")
	queryChars    = newCharset(subDelims + ":@/?")
	pathQuoted    = newCharset(subDelims + ":@/\"")
	queryQuoted   = newCharset(subDelims + ":@/?\"")
)

// all reports whether s is made of the set and of percent-encoded bytes.
func (c *charset) all(s string) bool {
	for i := 0; i < len(s); i++ {
		if c[s[i]] {
			continue
		}
		if s[i] != '%' || i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
			return false
		}
		i += 2
	}
	return true
}

// isURI gives the verdict of the formats uri and uri-reference. Since their patterns let an authority follow
// one slash or none stand at all, host and port are bound only by the characters of a path; only an IP
// literal in brackets has a shape.
func isURI(s string, reference bool) bool {
	path, query := pathChars, queryChars
	if reference {
		path, query = pathQuoted, queryQuoted
	}
	s, fragment, _ := strings.Cut(s, "#")
	s, search, _ := strings.Cut(s, "?")
	if !query.all(search) || !query.all(fragment) {
		return false
	}
	n := schemeLength(s)
	if n == 0 && !reference {
		return false
	}
	rest := s[n:]
	return path.all(rest) && (reference || rest != "") || hasIPLiteral(rest, path)
}

// schemeLength returns the length of the scheme with its colon, or 0.
func schemeLength(s string) int {
	if s == "" || !isLetter(s[0]) {
		return 0
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c == ':':
			return i + 1
		case !isLetter(c) && !isDigit(c) && c != '+' && c != '-' && c != '.':
			return 0
		}
	}
	return 0
}

// hasIPLiteral reads one slash or two, an authority whose host is an IP literal, and a path.
func hasIPLiteral(s string, path *charset) bool {
	s, ok := strings.CutPrefix(s, "/")
	s = strings.TrimPrefix(s, "/")
	user, rest, ok2 := strings.Cut(s, "[")
	literal, rest, ok3 := strings.Cut(rest, "]")
	if !ok || !ok2 || !ok3 {
		return false
	}
	if user != "" {
		if user, ok = strings.CutSuffix(user, "@"); !ok || !userinfoChars.all(user) {
			return false
		}
	}
	if !isIPLiteral(literal) {
		return false
	}
	if port, ok := strings.CutPrefix(rest, ":"); ok {
		rest = port[countDigits(port):]
	}
	return rest == "" || rest[0] == '/' && path.all(rest)
}

func isIPFuture(s string) bool {
	version, address, ok := strings.Cut(s, ".")
	return ok && len(version) >= 2 && version[0]|0x20 == 'v' && allHex(version[1:]) && address != "" &&
		!strings.Contains(address, "%") && userinfoChars.all(address)
}

// isIPLiteral accepts an IPv6 address or a later version's. Unlike elsewhere, the numbers of an IPv4 address at its end
// may have leading zeros.
func isIPLiteral(s string) bool {
	i := strings.LastIndexByte(s, ':') + 1
	return looseIPv4().MatchString(s[i:]) && isIPv6(s[:i]+"0.0.0.0") || isIPv6(s) || isIPFuture(s)
}

// isIPv6 refuses a zone.
func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && a.Zone() == ""
}

func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4()
}

var looseIPv4 = plain.Pattern(`\A(?:` + octet + `\.){3}` + octet + `\z`)

const octet = `(?:[01]?[0-9]{1,2}|2[0-4][0-9]|25[0-5])`

// isURL gives the verdict of the format url: http, https or ftp, perhaps with a user name, and a public IPv4
// address or a name with a top-level domain. The case folding is Unicode's, as in ajv-formats.
func isURL(s string) bool {
	scheme := urlScheme().FindString(s)
	if scheme == "" {
		return false
	}
	s = s[len(scheme):]
	if isURLHost(s) {
		return true
	}
	for i, r := range s { // the part before any @ may be the user name
		if isWhite(r) {
			return false
		}
		if r == '@' && i > 0 && isURLHost(s[i+1:]) {
			return true
		}
	}
	return false
}

func isURLHost(s string) bool {
	return urlName().MatchString(s) || urlAddress().MatchString(s) && !privateAddress().MatchString(s)
}

const (
	urlLetters = `a-z\x{a1}-\x{ffff}`
	urlLabel   = `(?:[0-9` + urlLetters + `]+-)*[0-9` + urlLetters + `]+`
	urlEnd     = `(?::[0-9]{2,5})?(?:/[^\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]*)?\z`
)

var (
	urlScheme  = plain.Pattern(`\A(?i:https?|ftp)://`)
	urlName    = plain.Pattern(`\A(?i:` + urlLabel + `(?:\.` + urlLabel + `)*\.[` + urlLetters + `]{2,})` + urlEnd)
	urlAddress = plain.Pattern(
		`\A(?:[1-9][0-9]?|1[0-9]{2}|2[01][0-9]|22[0-3])(?:\.(?:1?[0-9]{1,2}|2[0-4][0-9]|25[0-5])){2}\.(?:[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-4])` + urlEnd)
	privateAddress = plain.Pattern(
		`\A(?:(?:10|127)(?:\.[0-9]{1,3}){3}|(?:169\.254|192\.168)(?:\.[0-9]{1,3}){2}|172\.(?:1[6-9]|2[0-9]|3[01])(?:\.[0-9]{1,3}){2})`)
)
