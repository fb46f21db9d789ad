package gitfsck

import (
	"strings"
	"unicode/utf8"
)

// IsModules reports whether some file system would open .gitmodules by the name of a tree entry.
func IsModules(name string) bool {
	if !suspect(name) {
		return false
	}
	if isHFS(name, ".gitmodules") {
		return true
	}
	// To NTFS a backslash is a slash. Git looks at the part before the first one together with the rest.
	for part, more := name, true; more; _, part, more = strings.Cut(part, `\`) {
		if isNTFS(part, "gitmodules", "gi7eba") {
			return true
		}
	}
	return false
}

// IsAttributes reports whether some file system would open .gitattributes by the name of a tree entry.
func IsAttributes(name string) bool {
	return suspect(name) && (isHFS(name, ".gitattributes") || isNTFS(name, "gitattributes", "gi7d29"))
}

// suspect reports whether a name needs a closer look, which hardly any does.
func suspect(name string) bool {
	return name != "" && (name[0] == '.' || name[0] >= utf8.RuneSelf || strings.ContainsAny(name, `~\`))
}

// isHFS reports whether HFS+ takes a name for another one, of ASCII.
func isHFS(name, like string) bool {
	read := HFS(name)
	return len(read) == len(like) && foldASCII(read, like)
}

// HFS returns what git reads of a name on HFS+: without the code points that HFS+ ignores, up to the first byte that is
// not UTF-8.
func HFS(name string) string {
	var b strings.Builder
	for len(name) > 0 {
		c, size := utf8.DecodeRuneInString(name)
		if c == utf8.RuneError && size <= 1 || c == 0xfffe || c == 0xffff {
			break
		}
		name = name[size:]
		if c >= 0x200c && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x206a && c <= 0x206f || c == 0xfeff {
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

// isNTFS reports whether NTFS reads a name as a dot followed by like: in any letter case, as its short name, or, if
// other files have those short names, as the one that begins with hash. Dots, spaces and a stream may follow.
func isNTFS(name, like, hash string) bool {
	rest, found := cutFold(name, "."+like)
	if number, short := cutFold(name, like[:6]+"~"); short && number != "" && number[0] >= '1' && number[0] <= '4' {
		rest, found = number[1:], true
	}
	if !found {
		rest, found = cutHash(name, hash)
	}
	rest, _, _ = strings.Cut(rest, ":")
	return found && strings.Trim(rest, " .") == ""
}

// cutFold is strings.CutPrefix in any letter case, for a prefix of ASCII.
func cutFold(name, prefix string) (rest string, found bool) {
	if len(name) < len(prefix) || !foldASCII(name[:len(prefix)], prefix) {
		return name, false
	}
	return name[len(prefix):], true
}

func foldASCII(a, b string) bool {
	lower := func(c byte) byte {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		return c
	}
	for i := range len(b) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

// cutHash cuts a short name of eight characters: some of the hash, a tilde, a number that does not begin with 0.
func cutHash(name, hash string) (rest string, found bool) {
	if len(name) < 8 {
		return name, false
	}
	head, number, found := strings.Cut(name[:8], "~")
	if !found || len(head) > len(hash) || !foldASCII(head, hash[:len(head)]) || number == "" || number[0] == '0' ||
		strings.Trim(number, "0123456789") != "" {
		return name, false
	}
	return name[8:], true
}
