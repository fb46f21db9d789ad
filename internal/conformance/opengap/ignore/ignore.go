// Package ignore matches paths against the patterns of gitignore(5) files as git does.
//
// A pattern becomes a regular expression, so that no pattern takes long. git compares bytes: each byte of a pattern
// and of a path becomes one character first.
//
// The caller decides which files hold patterns, and does not look below an ignored directory.
//
// Known difference from git: an untracked directory that has a .git of any kind counts as one path, where git may look
// into it.
package ignore

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

// A Scope has the patterns of one file, and the directory that they hold for: empty, or ending in a slash.
type Scope struct {
	Directory string
	Patterns  []Pattern
	Size      int // bytes of the file; comparing a path takes a time in proportion to it
}

// A Pattern is one line of a file.
type Pattern struct {
	negated bool
	dir     bool // it matches only directories
	path    bool // it is matched against the path, else against the path's last name
	form    *regexp.Regexp
}

// line is a pattern without the blanks at its end: whether it is negated, its text, and whether it is of directories.
var line = plain.Pattern(`(?s)^(!?)((?:\\.|[^\\])*?)(/?) *$`)

// Parse reads the text of a file.
func Parse(text []byte) (patterns []Pattern) {
	for of := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		of, _, _ = bytes.Cut(bytes.TrimSuffix(bytes.TrimSuffix(of, []byte("\n")), []byte("\r")), []byte{0})
		m := line().FindStringSubmatch(characters(string(of)))
		if m == nil || len(of) == 0 || of[0] == '#' {
			continue
		}
		text := strings.TrimPrefix(m[2], "/")
		// git compares the part before the first wildcard by itself and continues from there, so that a "**" there
		// begins the pattern and matches directories, whatever precedes it.
		begin := len(text)
		if i := strings.IndexAny(text, `*?[\`); i >= 0 {
			begin = i
		}
		if form, ok := translate(text[begin:]); ok {
			patterns = append(patterns, Pattern{negated: m[1] != "", dir: m[3] != "", path: strings.Contains(m[2], "/"),
				form: regexp.MustCompile(`(?s)^` + regexp.QuoteMeta(text[:begin]) + form + `$`)})
		}
	}
	return patterns
}

// characters makes one character of each byte.
func characters(text string) string {
	var b strings.Builder
	for i := range len(text) {
		b.WriteRune(rune(text[i]))
	}
	return b.String()
}

// Ignores reports whether the patterns ignore the path at, which is relative to the root, has slashes, and is in the
// directory of each scope. The last pattern of the last scope that matches counts.
func Ignores(scopes []Scope, at string, isDir bool) bool {
	for _, s := range slices.Backward(scopes) {
		path := characters(strings.TrimPrefix(at, s.Directory))
		name := path[strings.LastIndexByte(path, '/')+1:]
		for _, p := range slices.Backward(s.Patterns) {
			subject := name
			if p.path {
				subject = path
			}
			if (isDir || !p.dir) && p.form.MatchString(subject) {
				return !p.negated
			}
		}
	}
	return false
}

// translate spells the text of a pattern as a regular expression; false if it can match no path.
func translate(text string) (string, bool) {
	var form strings.Builder
	for at := 0; at < len(text); {
		c, size := utf8.DecodeRuneInString(text[at:])
		before := at
		at += size
		switch c {
		case '*':
			at = len(text) - len(strings.TrimLeft(text[at:], "*"))
			rest := text[at:]
			switch whole := at-before > 1 && (before == 0 || text[before-1] == '/'); {
			case whole && strings.HasPrefix(rest, "/"):
				form.WriteString("(?:.*/)?")
				at++
			case whole && (rest == "" || strings.HasPrefix(rest, `\/`)):
				form.WriteString(".*")
			default:
				form.WriteString("[^/]*")
			}
		case '?':
			form.WriteString("[^/]")
		case '[':
			set, rest, ok := set(text[at:])
			if !ok {
				return "", false
			}
			form.WriteString(set)
			at = len(text) - len(rest)
		case '\\':
			if at == len(text) {
				return "", false
			}
			c, size = utf8.DecodeRuneInString(text[at:])
			at += size
			fallthrough
		default:
			form.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return form.String(), true
}

// item is what a bracket expression has: a class, a character, or a range of characters.
var item = plain.Pattern(`(?s)^(?:\[:([^\]]*):\]|(\\.|[^\\])(?:-(\\.|[^\\\]]))?)`)

// classes are the names of character classes that git knows.
var classes = strings.Fields("alnum alpha blank cntrl digit graph lower print punct space upper xdigit")

// set reads a bracket expression from behind its "[", and returns it for a regular expression with what follows it;
// false if it does not end, or names no class.
func set(text string) (form, rest string, ok bool) {
	rest = text
	negated := strings.HasPrefix(text, "!") || strings.HasPrefix(text, "^")
	if negated {
		rest = text[1:]
	}
	var has [256]bool
	for first := true; first || !strings.HasPrefix(rest, "]"); first = false {
		m := item().FindStringSubmatch(rest)
		switch {
		case m == nil, m[2] == "" && !slices.Contains(classes, m[1]):
			return "", "", false
		case m[2] == "":
			class := regexp.MustCompile("[[:" + m[1] + ":]]")
			for c := range 128 { // of white space git knows neither VT nor FF
				has[c] = has[c] || class.MatchString(string(rune(c))) && (m[1] != "space" || c != '\v' && c != '\f')
			}
		default:
			low, _ := utf8.DecodeLastRuneInString(m[2])
			high, _ := utf8.DecodeLastRuneInString(cmp.Or(m[3], m[2]))
			for c := low; c <= high; c++ {
				has[c] = true
			}
		}
		rest = rest[len(m[0]):]
	}
	begin := 0
	for c := 1; c <= len(has); c++ {
		switch is := c < len(has) && c != '/' && has[c] != negated; {
		case is && begin == 0:
			begin = c
		case !is && begin > 0:
			form += fmt.Sprintf(`\x{%x}-\x{%x}`, begin, c-1)
			begin = 0
		}
	}
	if form == "" {
		return "", "", false
	}
	return "[" + form + "]", rest[1:], true
}
