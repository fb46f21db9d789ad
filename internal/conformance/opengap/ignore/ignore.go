// Package ignore matches paths against the patterns of gitignore(5) files as git does.
//
// Names are matched by path.Match, whose patterns differ from git's in [!a], [[:digit:]], escapes and names that are
// not UTF-8. So a pattern is translated first: each byte of it and of a name becomes a character outside of ASCII,
// which path.Match does not take for syntax. The remaining syntax is "*", "?", and sets of characters spelled as
// ranges. A pattern is cut at each "**" that matches directories, and the names between two cuts are matched one by
// one.
//
// The caller decides which files hold patterns, and does not look below an ignored directory.
//
// Known difference from git: an untracked directory that has a .git of any kind counts as one path, where git may look
// into it.
package ignore

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// Verdict is what patterns say about a path.
type Verdict uint8

// The verdicts. Undecided leaves it to patterns of less priority; without any the path is not ignored.
const (
	Undecided Verdict = iota
	Ignored
	Included
)

// Patterns are the patterns of one file, in its order. If several match, the last one counts.
type Patterns []pattern

type pattern struct {
	negated bool
	dir     bool   // it matches only directories
	path    bool   // it is matched against the path, else against the path's last name
	start   string // encoded, what the path begins with; the parts are about the rest
	parts   []part // the parts between "**", which matches any number of names
}

// part is a row of patterns of names.
type part []string

// Parse reads the text of a file.
func Parse(text []byte) Patterns {
	var patterns Patterns
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		line, _, _ = bytes.Cut(line, []byte{0})
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if p, ok := parse(trimSpaces(string(line))); ok {
			patterns = append(patterns, p)
		}
	}
	return patterns
}

// trimSpaces drops the blanks at the end of a line unless a backslash precedes them.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			if i++; i == len(line) {
				return line
			}
		} else if line[i] == ' ' {
			continue
		}
		end = i + 1
	}
	return line[:end]
}

// parse reads one pattern; false where it can match no path.
func parse(text string) (pattern, bool) {
	var p pattern
	text, p.negated = strings.CutPrefix(text, "!")
	text, p.dir = strings.CutSuffix(text, "/")
	p.path = strings.Contains(text, "/")
	text = strings.TrimPrefix(text, "/")
	// git compares the part before the first wildcard by itself and continues from there, so that a "**" there begins
	// the pattern and matches directories, whatever precedes it.
	if i := strings.IndexAny(text, `*?[\`); p.path && i > 0 && strings.HasPrefix(text[i:], "**") {
		p.start, text = encode(text[:i]), text[i:]
	}
	t := translation{text: text, path: p.path}
	names, ok := t.names()
	if !ok {
		return p, false
	}
	var row part
	for _, name := range append(names, anyDirectories) {
		if name != anyDirectories {
			row = append(row, name)
			continue
		}
		p.parts, row = append(p.parts, row), nil
	}
	return p, true
}

// Match returns what the patterns decide about the path at, which is relative to the directory of their file and has
// slashes.
func (ps Patterns) Match(at string, isDir bool) Verdict {
	if len(ps) == 0 {
		return Undecided
	}
	at = encode(at)
	name := at[strings.LastIndexByte(at, '/')+1:]
	for i := len(ps) - 1; i >= 0; i-- {
		p := &ps[i]
		if p.dir && !isDir || !p.matches(at, name) {
			continue
		}
		if p.negated {
			return Included
		}
		return Ignored
	}
	return Undecided
}

// Scope has the patterns of one file, and the directory that they hold for: empty, or ending in a slash.
type Scope struct {
	Directory string
	Patterns  Patterns
}

// Ignores reports whether the patterns ignore the path at, which is relative to the root and in the directory of each
// scope. The last scope that decides counts.
func Ignores(scopes []Scope, at string, isDir bool) bool {
	for _, s := range slices.Backward(scopes) {
		if v := s.Patterns.Match(strings.TrimPrefix(at, s.Directory), isDir); v != Undecided {
			return v == Ignored
		}
	}
	return false
}

func (p *pattern) matches(at, name string) bool {
	if !p.path {
		return p.parts[0].matches([]string{name})
	}
	rest, ok := strings.CutPrefix(at, p.start)
	if !ok {
		return false
	}
	if p.start != "" {
		rest = encode("") + rest
	}
	names := strings.Split(rest, "/")
	first, last := p.parts[0], p.parts[len(p.parts)-1]
	if len(p.parts) == 1 {
		return len(names) == len(first) && first.matches(names)
	}
	if len(names) < len(first)+max(len(last), 1) || !first.matches(names[:len(first)]) ||
		!last.matches(names[len(names)-len(last):]) {
		return false
	}
	names = names[len(first) : len(names)-len(last)]
	for _, part := range p.parts[1 : len(p.parts)-1] {
		for ; ; names = names[1:] {
			if len(names) < len(part) {
				return false
			}
			if part.matches(names[:len(part)]) {
				break
			}
		}
		names = names[len(part):]
	}
	return len(last) > 0 || len(names) > 0
}

// matches reports whether the part matches as many names as it has.
func (p part) matches(names []string) bool {
	for i, pattern := range p {
		if is, err := path.Match(pattern, names[i]); err != nil || !is {
			return false
		}
	}
	return true
}
