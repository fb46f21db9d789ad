package gitfsck

import (
	"strconv"
	"strings"
)

// badURL reports whether git refuses the URL of a submodule: one that is relative and leads to another host, or one of
// HTTP or FTP that an URL library reads in another way than git does.
func badURL(value []byte) bool {
	url := string(value)
	if relative(url) {
		up := false
		rest := url
		for relative(rest) {
			up = up || rest[1] == '.'
			rest = rest[strings.IndexAny(rest, `/\`)+1:]
		}
		return strings.Contains(unescape(url), "\n") ||
			up && rest != "" && (rest[0] == ':' || rest[0] == '/')
	}
	for _, scheme := range []string{"http", "https", "ftp", "ftps"} {
		if rest, found := strings.CutPrefix(url, scheme+"::"); found {
			return badAddress(rest)
		}
		if strings.HasPrefix(url, scheme+"://") {
			return badAddress(url)
		}
	}
	return false
}

// relative reports whether an URL begins with "./" or "../", by a slash or a backslash.
func relative(url string) bool {
	rest, found := strings.CutPrefix(url, ".")
	rest = strings.TrimPrefix(rest, ".")
	return found && rest != "" && (rest[0] == '/' || rest[0] == '\\')
}

// unescape decodes the escapes of an URL, except of NUL, from its first colon on.
func unescape(url string) string {
	colon := max(strings.IndexByte(url, ':'), 0)
	out := []byte(url[:colon])
	for rest := url[colon:]; rest != ""; {
		if c, ok := escape(rest); ok && c != 0 {
			out, rest = append(out, c), rest[3:]
			continue
		}
		out, rest = append(out, rest[0]), rest[1:]
	}
	return string(out)
}

// escape returns the byte that text spells at its start as %XX.
func escape(text string) (byte, bool) {
	if len(text) < 3 || text[0] != '%' {
		return 0, false
	}
	n, err := strconv.ParseUint(text[1:3], 16, 8)
	return byte(n), err == nil
}

const (
	schemeBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-"
	hostBytes   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_[:]"
)

// badAddress reports whether an absolute URL cannot be normalized, or has a line end after it was decoded.
func badAddress(url string) bool {
	scheme, rest, found := strings.Cut(url, "://")
	if !found || scheme == "" || !isLetter(scheme[0]) || strings.Trim(scheme, schemeBytes) != "" ||
		strings.Contains(unescape(url), "\n") {
		return true
	}
	slash := strings.IndexAny(rest, "/?#")
	if slash < 0 {
		slash = len(rest)
	}
	authority, path := rest[:slash], rest[slash:]
	if user, host, found := strings.Cut(authority, "@"); found {
		if badEscapes(user) || strings.Contains(unescape(user), "\n") {
			return true
		}
		authority = host
	}
	return badHost(authority, strings.EqualFold(scheme, "file")) || badPath(path)
}

// badHost judges a host, and a port from 1 to 65535 or none after a colon.
func badHost(host string, file bool) bool {
	if host == "" || host[0] == ':' {
		return true // git accepts that for file: only, which the older versions refuse
	}
	if at := strings.LastIndexAny(host, ":]"); at > 0 && host[at] == ':' {
		port := strings.TrimLeft(host[at+1:], "0")
		n, err := strconv.ParseUint(port, 10, 16)
		if file || host[at+1:] != "" && (err != nil || n == 0 || strings.Trim(port, "0123456789") != "") {
			return true
		}
		host = host[:at]
	}
	return strings.Trim(host, hostBytes) != ""
}

// badPath judges path, query and fragment: broken escapes, and parts .. that lead above the root.
func badPath(path string) bool {
	if badEscapes(path) || strings.Contains(unescape(path), "\n") {
		return true
	}
	if end := strings.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
	}
	depth := 0
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		switch unescape(part) {
		case ".":
		case "..":
			if depth--; depth < 0 {
				return true
			}
		default:
			depth++
		}
	}
	return false
}

// badEscapes reports whether a % is not followed by two hexadecimal digits.
func badEscapes(text string) bool {
	for i := range len(text) {
		if _, ok := escape(text[i:]); text[i] == '%' && !ok {
			return true
		}
	}
	return false
}
