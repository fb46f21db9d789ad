// Package ignore matches paths against the patterns of gitignore(5) files as git does.
//
// Names are matched by go-git's gitignore, whose patterns differ from git's in a large part of the syntax: [!a],
// [[:digit:]], escapes, two asterisks next to other characters, a final "/**", a byte order mark, names that are not
// UTF-8. So a pattern is translated first: each byte of it and of a name becomes a character outside of ASCII, so that
// go-git takes none of them for syntax. The remaining syntax is "*", "?", and sets of characters spelled as ranges. A
// pattern is cut at each "**" that matches directories, and go-git matches the names between two cuts.
//
// The caller decides which files hold patterns, and does not look below an ignored directory.
//
// Known differences from git. Only the last hides a file that git would add:
//
//   - An untracked directory that has a .git of any kind counts as one path, where git may look into it.
//   - A core.excludesFile in another user's home, or under GIT_CONFIG_PARAMETERS, is not read: its patterns hide
//     nothing.
//   - If only a system configuration other than /etc/gitconfig sets core.excludesFile, the default
//     ~/.config/git/ignore is read instead: a file that only the latter ignores is hidden.
package ignore

import (
	"bytes"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// Verdict is what patterns say of a path.
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
	dir     bool   // it matches folders alone
	path    bool   // it is matched against the path, else against the path's last name
	start   string // encoded, what the path begins with; the parts are about the rest
	parts   []part // the parts between "**", which matches any number of names
}

// part is a row of names.
type part struct {
	names int
	match gitignore.Pattern // nil where there are no names
}

// Parse reads the text of a file. With fold, case does not count, as under core.ignoreCase.
func Parse(text []byte, fold bool) Patterns {
	var patterns Patterns
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		line, _, _ = bytes.Cut(line, []byte{0})
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if p, ok := parse(trimSpaces(string(line)), fold); ok {
			patterns = append(patterns, p)
		}
	}
	return patterns
}

// One parses one pattern that is not a line of a file, as an attribute's is: no blank and no "#" is dropped. It returns
// false where the pattern can match no path.
func One(text string, fold bool) (Patterns, bool) {
	p, ok := parse(text, fold)
	return Patterns{p}, ok
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
func parse(text string, fold bool) (pattern, bool) {
	var p pattern
	text, p.negated = strings.CutPrefix(text, "!")
	text, p.dir = strings.CutSuffix(text, "/")
	p.path = strings.Contains(text, "/")
	text = strings.TrimPrefix(text, "/")
	// git compares the part before the first wildcard by itself and continues from there, so that a "**" there begins
	// the pattern and matches directories, whatever precedes it.
	if i := strings.IndexAny(text, `*?[\`); p.path && i > 0 && strings.HasPrefix(text[i:], "**") {
		p.start, text = encode(text[:i], fold), text[i:]
	}
	t := translation{text: text, path: p.path, fold: fold}
	names, ok := t.names()
	if !ok {
		return p, false
	}
	var row []string
	for _, name := range append(names, anyFolders) {
		if name != anyFolders {
			row = append(row, name)
			continue
		}
		one := part{names: len(row)}
		if len(row) > 0 {
			one.match = gitignore.ParsePattern("/"+strings.Join(row, "/"), nil)
		}
		p.parts, row = append(p.parts, one), nil
	}
	return p, true
}

// Match returns what the patterns decide about a path, which is relative to the directory of their file and has
// slashes.
func (ps Patterns) Match(path string, isDir, fold bool) Verdict {
	if len(ps) == 0 {
		return Undecided
	}
	path = encode(path, fold)
	name := path[strings.LastIndexByte(path, '/')+1:]
	for i := len(ps) - 1; i >= 0; i-- {
		p := &ps[i]
		if p.dir && !isDir || !p.matches(path, name) {
			continue
		}
		if p.negated {
			return Included
		}
		return Ignored
	}
	return Undecided
}

func (p *pattern) matches(path, name string) bool {
	if !p.path {
		return p.parts[0].matches([]string{name})
	}
	rest, ok := strings.CutPrefix(path, p.start)
	if !ok {
		return false
	}
	if p.start != "" {
		rest = encode("", false) + rest
	}
	names := strings.Split(rest, "/")
	first, last := p.parts[0], p.parts[len(p.parts)-1]
	if len(p.parts) == 1 {
		return len(names) == first.names && first.matches(names)
	}
	if len(names) < first.names+max(last.names, 1) || !first.matches(names[:first.names]) ||
		!last.matches(names[len(names)-last.names:]) {
		return false
	}
	names = names[first.names : len(names)-last.names]
	for _, part := range p.parts[1 : len(p.parts)-1] {
		for ; ; names = names[1:] {
			if len(names) < part.names {
				return false
			}
			if part.matches(names[:part.names]) {
				break
			}
		}
		names = names[part.names:]
	}
	return last.names > 0 || len(names) > 0
}

func (p part) matches(names []string) bool {
	return p.match == nil || p.match.Match(names, false) == gitignore.Exclude
}
