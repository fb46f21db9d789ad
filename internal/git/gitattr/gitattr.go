// Package gitattr reads gitattributes(5) files as git does when it stores a file: which attributes a path has.
//
// Which files have attributes, and where, is the caller's business.
package gitattr

import (
	"bytes"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/ignore"
)

// maxLine is the length from which on git ignores a line, in bytes.
const maxLine = 2048

// Value is what a path has of an attribute. The zero Value is unspecified.
type Value struct {
	Set   bool   // it is specified: true, false or a text
	False bool   // -name
	Text  string // name=text; empty for true and false
}

// True reports whether the attribute is set to true.
func (v Value) True() bool { return v.Set && !v.False && v.Text == "" }

// File is the rules of one file of attributes, for the paths below one directory.
type File struct {
	Dir   string // with a slash at its end; empty for the root
	Size  int    // bytes of the text
	rules []rule
}

type rule struct {
	macro    string // the name that it defines; empty for a pattern
	patterns ignore.Patterns
	states   []state
}

type state struct {
	name  string
	value Value
}

// builtIn are the macros that git has.
var builtIn = Parse("", []byte("[attr]binary -diff -merge -text\n"), true, false)

// Parse reads the text of an attributes file in a directory. It reads macros if macros is true. If fold is true,
// patterns ignore letter case. Like git, it ignores a malformed line.
func Parse(dir string, text []byte, macros, fold bool) *File {
	f := &File{Dir: dir, Size: len(text)}
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		line, _, _ = bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte{0})
		if r, ok := parseLine(string(line), macros, fold); ok {
			f.rules = append(f.rules, r)
		}
	}
	return f
}

const blanks = " \t\r\n"

// parseLine reads one line; false where it has no rule.
func parseLine(line string, macros, fold bool) (rule, bool) {
	name := strings.TrimLeft(line, blanks)
	if name == "" || name[0] == '#' || len(line) >= maxLine {
		return rule{}, false
	}
	rest, quoted := "", false
	if name[0] == '"' {
		if text, after, ok := unquote(name); ok {
			name, rest, quoted = text, after, true
		}
	}
	if !quoted {
		if end := strings.IndexAny(name, blanks); end >= 0 {
			name, rest = name[:end], name[end:]
		}
	}
	var r rule
	states, ok := parseStates(rest)
	if !ok {
		return r, false
	}
	r.states = states
	if macro, is := strings.CutPrefix(name, "[attr]"); is && macro != "" {
		macro, _, _ = strings.Cut(strings.TrimLeft(macro, blanks), " ")
		r.macro = macro
		return r, macros && isName(macro)
	}
	if strings.HasPrefix(name, "!") {
		return r, false
	}
	r.patterns, ok = ignore.One(name, fold)
	return r, ok
}

// parseStates reads the attributes of a line.
func parseStates(text string) ([]state, bool) {
	var states []state
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune(blanks, c) }) {
		name, value, hasValue := strings.Cut(word, "=")
		s := state{value: Value{Set: true, Text: value}}
		switch {
		case name == "":
		case name[0] == '-':
			name, s.value = name[1:], Value{Set: true, False: true}
		case name[0] == '!':
			name, s.value = name[1:], Value{}
		case hasValue && value == "":
			s.value.Text = Empty
		}
		if s.name = name; !isName(name) {
			return nil, false
		}
		states = append(states, s)
	}
	return states, true
}

// Empty is the text of "name=", which is neither true nor any text that means something to git.
const Empty = "\x00"

func isName(name string) bool {
	if name == "" || name[0] == '-' {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c != '-' && c != '.' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') &&
			(c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// unquote reads a text in double quotes, as C spells it, and returns what follows.
func unquote(text string) (string, string, bool) {
	var out []byte
	for i := 1; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			return string(out), text[i+1:], true
		case c != '\\':
			out = append(out, c)
			continue
		}
		if i++; i == len(text) {
			break
		}
		if at := strings.IndexByte(`abfnrtv\"`, text[i]); at >= 0 {
			out = append(out, "\a\b\f\n\r\t\v\\\""[at])
			continue
		}
		if i+2 >= len(text) || text[i] > '3' {
			return "", "", false
		}
		n := 0
		for _, d := range []byte(text[i : i+3]) {
			if d < '0' || d > '7' {
				return "", "", false
			}
			n = n<<3 | int(d-'0')
		}
		out, i = append(out, byte(n)), i+2
	}
	return "", "", false
}

// Of returns the attributes of a file by their names, those that are specified. The files of attributes come in the
// order of their priority, the lowest first.
func Of(files []*File, path string, fold bool) map[string]Value {
	l := lookup{values: map[string]Value{}, macros: map[string]*rule{}}
	each := func(f func(*File, *rule)) {
		for i := len(files) - 1; i >= -1; i-- {
			file := builtIn
			if i >= 0 {
				file = files[i]
			}
			for j := len(file.rules) - 1; j >= 0; j-- {
				f(file, &file.rules[j])
			}
		}
	}
	each(func(_ *File, r *rule) {
		if r.macro != "" && l.macros[r.macro] == nil {
			l.macros[r.macro] = r
		}
	})
	each(func(f *File, r *rule) {
		if rest, below := strings.CutPrefix(path, f.Dir); below && r.macro == "" &&
			r.patterns.Match(rest, false, fold) != ignore.Undecided {
			l.fill(r)
		}
	})
	return l.values
}

type lookup struct {
	values map[string]Value // decided; one that is not Set was made unspecified
	macros map[string]*rule
}

// fill takes what a rule says about the attributes that no rule of more priority spoke of.
func (l *lookup) fill(r *rule) {
	for i := len(r.states) - 1; i >= 0; i-- {
		s := r.states[i]
		if _, decided := l.values[s.name]; decided {
			continue
		}
		l.values[s.name] = s.value
		if macro := l.macros[s.name]; macro != nil && s.value.True() {
			l.fill(macro)
		}
	}
}
