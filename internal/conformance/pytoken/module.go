// Package pytoken reads from Python source what a module imports and exports, the decorators of its functions, and the
// texts in some calls. It runs nothing and judges no grammar.
package pytoken

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

// Module is what a text says about itself as a module. A path is what an import binds a name to: "a.b" for
// `from a import b`; "a.b." for `import a.b as c`, which binds a module; with dots in front if the import is relative.
type Module struct {
	Functions []*Function          // the functions at column 0 that have decorators
	Exports   map[string]*Function // those whose names are neither deleted nor bound again at column 0
	Imports   map[string][]string  // the paths of the names that imports bind at the end; "*" has those of all stars
	Uses      []Use
	HasTests  bool // it has a def test… or a class Test…
}

// Function is a statement def or async def.
type Function struct {
	Pos
	Name, Doc  string
	Decorators []Decorator
}

// Decorator is a name as it is spelled, and the paths that it has there.
type Decorator struct {
	Name      string
	Paths     []string
	Arguments []Argument
}

// Use is a call or subscription that was asked for.
type Use struct {
	Pos
	Name      string
	Arguments []Argument
}

// Argument is one argument: a text, None, or computed.
type Argument struct {
	Keyword        string // ** for those of a mapping
	Value          string
	IsText, IsNone bool
}

// maxPaths is how many paths one name may have.
const maxPaths = 16

// scope is where a statement is.
type scope uint8

const (
	direct scope = iota // at column 0
	block               // in a block of the module, such as that of an if
	inner               // in a function or class
)

type reader struct {
	*source
	Module
	wanted   map[string]bool
	spelled  map[string]string // the wanted name of a name, as imports anywhere in the text call it
	imported map[string]bool   // the names that those imports bind
}

const identifier = `[\w\x{80}-\x{10ffff}]+`

var (
	keyword = plain.Pattern(`^(?:async +)?(def|class|if|elif|else|for|while|try|except|finally|with)\b *(` +
		identifier + `)?`)
	importing = plain.Pattern(`^(from\b.*?)?\bimport\b(.*)$`)
	lambda    = plain.Pattern(`\blambda\b`)
	target    = plain.Pattern(`^(?:type +)?[ *(\[]*(` + identifier + `)[ )\]]*[-+*/%&|^@<>]*$`)
	mention   = plain.Pattern(`(\. *)?(` + identifier + `)( *=*)`)
	dotted    = plain.Pattern(`^` + identifier + `(?: *\. *` + identifier + `)*`)
	// called is a name before a bracket. The first group says that it is a member of something, or is defined.
	called = plain.Pattern(`(\. *|\bdef +|\bclass +)?(` + identifier + `(?: *\. *` + identifier + `)*) *[(\[]`)
	// binds are the targets of the statements that begin with a word and bind or delete names.
	binds = map[string]func() *regexp.Regexp{
		"for":  plain.Pattern(`^(?:async +)?for\b(.*?)\bin\b`),
		"with": plain.Pattern(`\bas\b *([(\[][^()\[\]]*|[^,()]+)`),
		"del":  plain.Pattern(`^del\b(.*)`),
	}
)

// Read reads a text, and looks for calls and subscriptions by their names with a bracket, such as "os.getenv(" or
// "os.environ[". A name has what imports anywhere in the text call it. The error is an *Error.
func Read(data []byte, wanted map[string]bool) (Module, error) {
	s, err := scan(data)
	if err != nil {
		return Module{}, err
	}
	r := &reader{source: s, wanted: wanted, spelled: map[string]string{}, imported: map[string]bool{}}
	r.Exports, r.Imports = map[string]*Function{}, map[string][]string{}
	within := -1 // the column of the outermost definition that the line is in
	var decorators []Decorator
	for n, l := range r.lines {
		here := block
		if l.column <= within {
			within = -1
		}
		if l.column == 0 {
			here = direct
		} else if within >= 0 {
			here = inner
		}
		if r.code[l.from] == '@' {
			if here == direct {
				decorators = append(decorators, r.decorator(r.trim(l.from+1, l.to)))
			}
			continue
		}
		m := keyword().FindSubmatchIndex(r.code[l.from:l.to])
		if m == nil {
			r.statements(l.from, l.to, here)
			decorators = nil
			continue
		}
		word, colon, body := string(r.code[l.from+m[2]:l.from+m[3]]), r.find(l.from, l.to, ":"), max(here, block)
		if (word == "def" || word == "class") && m[4] >= 0 {
			name, at := string(r.code[l.from+m[4]:l.from+m[5]]), r.pos(l.from+m[4])
			r.HasTests = r.HasTests || strings.HasPrefix(name, map[string]string{"def": "test", "class": "Test"}[word])
			if here == direct {
				r.forget(name)
			}
			if here == direct && word == "def" && decorators != nil {
				r.Exports[name] = &Function{at, name, r.doc(n, colon+1), decorators}
				r.Functions = append(r.Functions, r.Exports[name])
			}
			if within < 0 {
				within = l.column
			}
			body = inner
		} else if here == direct {
			r.forget(r.bound(word, r.code[l.from:colon])...)
		}
		r.statements(colon+1, l.to, body)
		decorators = nil
	}
	r.uses()
	return r.Module, nil
}

// decorator reads what follows an @. It has no paths if it is more than a name with dots that is called or not.
func (r *reader) decorator(i, j int) (d Decorator) {
	spelled := dotted().Find(r.code[i:j])
	open, _ := r.trim(i+len(spelled), j)
	d.Name = spaceless(spelled)
	if open < j && (r.code[open] != '(' || r.find(open+1, j, "") != j-1) {
		return d
	}
	d.Arguments = r.arguments(open+1, j-1)
	head, rest, _ := strings.Cut(d.Name, ".")
	for _, path := range r.Imports[head] {
		d.Paths = append(d.Paths, join(path, rest))
	}
	return d
}

func spaceless(code []byte) string { return strings.ReplaceAll(string(code), " ", "") }

// join returns the path of a name in what a path leads to.
func join(path, rest string) string {
	if rest == "" {
		return path
	}
	return strings.TrimSuffix(path, ".") + "." + rest
}

// doc returns the docstring of a definition in a line, whose body begins at i or in the next line.
func (r *reader) doc(n, i int) (doc string) {
	l := r.lines[n]
	if i >= l.to && n+1 < len(r.lines) && r.lines[n+1].column > 0 {
		l = r.lines[n+1]
		i = l.from
	}
	if j := r.find(i, l.to, ";"); i < j && len(bytes.Trim(r.code[i:j], "\x02\x03 ()")) == 0 {
		doc, _ = r.literal(i, j)
	}
	return doc
}

// statements reads simple statements.
func (r *reader) statements(i, j int, here scope) {
	r.split(i, j, ";", func(i, j int) {
		if m := importing().FindSubmatch(r.code[i:j]); m != nil {
			r.imports(spaceless(bytes.TrimPrefix(m[1], []byte("from"))), string(m[2]), here)
		} else if here == direct {
			r.forget(r.bound("del", r.code[i:j])...)
			r.assign(i, j)
		}
	})
}

// imports reads the names that are imported from a module, or the modules if it is empty.
func (r *reader) imports(module, names string, here scope) {
	for item := range strings.SplitSeq(strings.Trim(names, " (),"), ",") {
		member, name, renamed := strings.Cut(strings.TrimSpace(item), " as ")
		member, name = strings.ReplaceAll(member, " ", ""), strings.TrimSpace(name)
		path := join(module, member)
		switch {
		case module == "" && renamed:
			path = member + "."
		case module == "":
			name, _, _ = strings.Cut(member, ".")
			path = name + "."
		case !renamed:
			name = member
		}
		r.imported[name] = true
		for use := range r.wanted {
			if rest, is := strings.CutPrefix(use, strings.TrimSuffix(path, ".")); is && !isNamePart(rest[0]) {
				r.spelled[name+rest] = use
			}
		}
		if here == direct && name != "*" {
			r.forget(name)
		}
		if here != inner && len(r.Imports[name]) < maxPaths {
			r.Imports[name] = append(r.Imports[name], path)
		}
	}
}

func (r *reader) forget(names ...string) {
	for _, name := range names {
		delete(r.Imports, name)
		delete(r.Exports, name)
	}
}

// bound returns the names that a statement that begins with a word binds or deletes, if they mean something.
func (r *reader) bound(word string, code []byte) (names []string) {
	if pattern := binds[word]; pattern != nil {
		for _, m := range pattern().FindAllSubmatch(code, -1) {
			names = append(names, r.targets(m[1])...)
		}
	}
	return names
}

// targets returns the names among some targets that mean something.
func (r *reader) targets(code []byte) (names []string) {
	for t := range bytes.FieldsFuncSeq(code, func(c rune) bool { return c == ',' || c == '=' }) {
		if m := target().FindSubmatch(t); m != nil {
			if name := string(m[1]); r.Imports[name] != nil || r.Exports[name] != nil {
				names = append(names, name)
			}
		}
	}
	return names
}

// assign forgets the names that a statement assigns to, if it is an assignment, unless its right side names them.
func (r *reader) assign(i, j int) {
	end := i // where the targets end
	for k := r.equals(i, j); k < j && !lambda().Match(r.code[end:k]); k = r.equals(k+1, j) {
		end = k
	}
	names := r.targets(r.code[i:r.find(i, end, ":")])
	if len(names) == 0 {
		return
	}
	named := map[string]bool{}
	for _, m := range mention().FindAllSubmatch(r.code[end+1:j], -1) {
		if argument := len(bytes.TrimLeft(m[3], " ")) == 1; len(m[1]) == 0 && !argument {
			named[string(m[2])] = true
		}
	}
	r.forget(slices.DeleteFunc(names, func(name string) bool { return named[name] })...)
}

// equals returns the first equals sign of an assignment or of a keyword in [i, j), as find does.
func (r *reader) equals(i, j int) int {
	for i = r.find(i, j, "="); i < j; i = r.find(i+1, j, "=") {
		double := func(c byte) bool { return i > 1 && r.code[i-1] == c && r.code[i-2] == c }
		if i+1 < len(r.code) && r.code[i+1] == '=' {
			i++ // past ==
		} else if i > 0 && (strings.IndexByte("!<>:", r.code[i-1]) < 0 || double('<') || double('>')) {
			return i
		}
	}
	return j
}

// arguments reads the arguments in [i, j).
func (r *reader) arguments(i, j int) (all []Argument) {
	r.split(i, j, ",", func(i, j int) {
		var a Argument
		if k := r.equals(i, j); k < j {
			a.Keyword = strings.TrimSpace(string(r.code[i:k]))
			i, _ = r.trim(k+1, j)
		} else if bytes.HasPrefix(r.code[i:j], []byte("**")) {
			a.Keyword = "**"
		}
		a.Value, a.IsText = r.literal(i, j)
		a.IsNone = string(r.code[i:j]) == "None"
		all = append(all, a)
	})
	return all
}

// uses finds the calls and subscriptions that are wanted.
func (r *reader) uses() {
	for _, m := range called().FindAllSubmatchIndex(r.code, -1) {
		name := spaceless(r.code[m[4]:m[1]])
		head, _, _ := strings.Cut(name[:len(name)-1], ".")
		if r.imported[head] {
			name = r.spelled[name]
		}
		if m[2] < 0 && r.wanted[name] {
			r.Uses = append(r.Uses, Use{r.pos(m[4]), name, r.arguments(m[1], r.find(m[1], len(r.code), ""))})
		}
	}
}
