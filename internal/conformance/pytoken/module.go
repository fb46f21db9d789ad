// Package pytoken reads from Python source what a module imports and exports, the decorators of its functions, and the
// texts in some calls. It runs nothing and judges no grammar.
package pytoken

import (
	"bytes"
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
	wanted map[string]bool
	names  map[string][]string // paths of all imports that may lead to the wanted names
}

const identifier = `[\w\x{80}-\x{10ffff}]+`

var (
	definition = plain.Pattern(`^(?:async +)?(def|class) +(` + identifier + `)`)
	compound   = plain.Pattern(`^(?:async +)?(if|elif|else|for|while|try|except|finally|with)\b`)
	importing  = plain.Pattern(`^(from\b.*?)?\bimport\b(.*)$`)
	deleting   = plain.Pattern(`^del\b`)
	in         = plain.Pattern(`\bin\b`)
	as         = plain.Pattern(`\bas\b *([(\[][^()\[\]]*|[^,()]+)`)
	target     = plain.Pattern(`^(?:type +)?[ *(\[]*(` + identifier + `)[ )\]]*[-+*/%&|^@<>]*$`)
	mention    = plain.Pattern(`(\. *)?(` + identifier + `)( *=*)`)
	dotted     = plain.Pattern(`^` + identifier + `(?: *\. *` + identifier + `)*`)
	called     = plain.Pattern(identifier + `(?: *\. *` + identifier + `)* *$`)
	notCalled  = plain.Pattern(`(?:\.|\bdef|\bclass)$`)
)

// Read reads a text, and looks for calls and subscriptions by their names with a bracket, such as "os.getenv(" or
// "os.environ[". A name has what imports anywhere in the text call it. The error is an *Error.
func Read(data []byte, wanted map[string]bool) (Module, error) {
	s, err := scan(data)
	if err != nil {
		return Module{}, err
	}
	r := &reader{source: s, wanted: wanted, names: map[string][]string{}}
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
		code := r.code[l.from:l.to]
		if code[0] == '@' {
			if here == direct {
				decorators = append(decorators, r.decorator(r.trim(l.from+1, l.to)))
			}
			continue
		}
		colon := r.find(l.from, l.to, ":")
		if m := definition().FindSubmatch(code); m != nil {
			name, kind := string(m[2]), string(m[1])
			r.HasTests = r.HasTests || strings.HasPrefix(name, map[string]string{"def": "test", "class": "Test"}[kind])
			if here == direct {
				r.forget(name)
			}
			if here == direct && kind == "def" && decorators != nil {
				at := l.from + len(m[0]) - len(m[2])
				r.Exports[name] = &Function{r.pos(at), name, r.doc(n, colon+1), decorators}
				r.Functions = append(r.Functions, r.Exports[name])
			}
			if within < 0 {
				within = l.column
			}
			r.statements(colon+1, l.to, inner)
		} else if m := compound().FindSubmatchIndex(code); m != nil {
			if here == direct {
				r.head(string(code[m[2]:m[3]]), string(r.code[l.from+m[3]:colon]))
			}
			r.statements(colon+1, l.to, max(here, block))
		} else {
			r.statements(l.from, l.to, here)
		}
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
	if open < j && (r.code[open] != '(' || r.end(open+1, j) != j-1) {
		return d
	}
	d.Arguments = r.arguments(open+1, j-1)
	head, rest, _ := strings.Cut(d.Name, ".")
	for _, path := range r.Imports[head] {
		d.Paths = append(d.Paths, Join(path, rest))
	}
	return d
}

func spaceless(code []byte) string { return strings.ReplaceAll(string(code), " ", "") }

// Join returns the path of a name in what a path leads to.
func Join(path, rest string) string {
	if rest == "" {
		return path
	}
	return strings.TrimSuffix(path, ".") + "." + rest
}

// doc returns the docstring of a definition in a line, whose body begins at i or in the next line.
func (r *reader) doc(n, i int) (doc string) {
	i, j := r.trim(min(i, r.lines[n].to), r.lines[n].to)
	if i == j && n+1 < len(r.lines) && r.lines[n+1].column > 0 {
		i, j = r.lines[n+1].from, r.lines[n+1].to
	}
	j = r.find(i, j, ";")
	if len(bytes.Trim(r.code[i:j], "\x02\x03 ()")) == 0 {
		doc, _ = r.literal(i, j)
	}
	return doc
}

// head forgets the names that the head of a block at column 0 binds.
func (r *reader) head(word, head string) {
	switch word {
	case "for":
		if m := in().FindStringIndex(head); m != nil {
			r.forget(r.targets(head[:m[0]])...)
		}
	case "with":
		for _, m := range as().FindAllStringSubmatch(head, -1) {
			r.forget(r.targets(m[1])...)
		}
	}
}

// statements reads simple statements.
func (r *reader) statements(i, j int, here scope) {
	r.split(i, j, ";", func(i, j int) {
		if m := importing().FindSubmatch(r.code[i:j]); m != nil {
			r.imports(spaceless(bytes.TrimPrefix(m[1], []byte("from"))), string(m[2]), here)
		} else if m := deleting().Find(r.code[i:j]); m != nil && here == direct {
			r.forget(r.targets(string(r.code[i+len(m) : j]))...)
		} else if here == direct {
			r.assign(i, j)
		}
	})
}

// imports reads the names that are imported from a module, or the modules if it is empty.
func (r *reader) imports(module, names string, here scope) {
	for item := range strings.SplitSeq(strings.Trim(names, " (),"), ",") {
		member, name, renamed := strings.Cut(strings.TrimSpace(item), " as ")
		member = strings.ReplaceAll(member, " ", "")
		path := Join(module, member)
		switch {
		case module == "" && renamed:
			path = member + "."
		case module == "":
			name, _, _ = strings.Cut(member, ".")
			path = name + "."
		case !renamed:
			name = member
		}
		name = strings.TrimSpace(name)
		known := r.names[name]
		for use := range r.wanted {
			if strings.HasPrefix(use, strings.TrimSuffix(path, ".")) && !slices.Contains(known, path) {
				known = append(known, path)
			}
		}
		r.names[name] = known
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

// targets returns the names among the targets of a statement that mean something.
func (r *reader) targets(code string) (names []string) {
	for t := range strings.FieldsFuncSeq(code, func(c rune) bool { return c == ',' || c == '=' }) {
		if m := target().FindStringSubmatch(t); m != nil && (r.Imports[m[1]] != nil || r.Exports[m[1]] != nil) {
			names = append(names, m[1])
		}
	}
	return names
}

// assign forgets the names that a statement assigns to, if it is an assignment, unless its right side names them.
func (r *reader) assign(i, j int) {
	first := r.equals(i, j)
	if first == j {
		return
	}
	last := first
	for k := first; k < j && !bytes.Contains(r.code[last:k], []byte("lambda")); k = r.equals(k+1, j) {
		last = k
	}
	end := last
	if colon := r.find(i, first, ":"); colon < first {
		end = colon
	}
	names := r.targets(string(r.code[i:end]))
	if len(names) == 0 {
		return
	}
	named := map[string]bool{}
	for _, m := range mention().FindAllSubmatch(r.code[last+1:j], -1) {
		if keyword := len(bytes.TrimLeft(m[3], " ")) == 1; len(m[1]) == 0 && !keyword {
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
	for i, c := range r.code {
		if c != '(' && c != '[' {
			continue
		}
		from := i
		for from > 0 && (isNamePart(r.code[from-1]) || r.code[from-1] == '.' || r.code[from-1] == ' ') {
			from--
		}
		m := called().FindIndex(r.code[from:i])
		if m == nil {
			continue
		}
		before := bytes.TrimRight(r.code[from:from+m[0]], " ")
		head, rest, _ := strings.Cut(spaceless(r.code[from+m[0]:i]), ".")
		paths, imported := r.names[head]
		if !imported {
			paths = []string{head}
		}
		for _, path := range paths {
			if name := Join(path, rest) + string(c); r.wanted[name] && !notCalled().Match(before) {
				r.Uses = append(r.Uses, Use{r.pos(from + m[0]), name, r.arguments(i+1, r.end(i+1, len(r.code)))})
				break
			}
		}
	}
}
