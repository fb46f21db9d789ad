// Package pytoken reads from Python source what a module imports and exports, the decorators of its functions, and the
// texts in some calls. It runs nothing and judges no grammar.
package pytoken

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
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
	Pos        strict.Pos
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
	Pos       strict.Pos
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

type reader struct {
	*source
	Module
	wanted   map[string]bool
	spelled  map[string]string // the wanted name of a name, as imports anywhere in the text call it
	imported map[string]bool   // the names that those imports bind

	decorators []Decorator // above the line
	within     int         // the column of the outermost definition that the line is in, or -1
}

const identifier = `[\w\x{80}-\x{10ffff}]+`

var (
	definition = plain.Pattern(`^(?:async +)?(?:(def)|class) +(` + identifier + `)`)
	test       = plain.Pattern(`^(?:async +)?(?:def +test|class +Test)`)
	compound   = plain.Pattern(`^(?:async +)?(if|elif|else|for|while|try|except|finally|with)\b`)
	importing  = plain.Pattern(`^(from\b.*?)?\bimport\b(.*)$`)
	lambda     = plain.Pattern(`\blambda\b[^()\[\]{}]*$`)
	target     = plain.Pattern(`^(?:type +)?[ *(\[]*(` + identifier + `)[ )\]]*[-+*/%&|^@<>]*$`)
	// trailing are the brackets of subscripts and calls in a target, which may have brackets in them.
	trailing = plain.Pattern(`([\w\x{80}-\x{10ffff})\]]) *(?:[(\[](?:[^()\[\]]|[(\[][^()\[\]]*[)\]])*[)\]] *)+`)
	mention  = plain.Pattern(`(\. *)?(` + identifier + `)( *=)?`)
	dotted   = plain.Pattern(`^` + identifier + `(?: *\. *` + identifier + `)*`)
	// called is a name before a bracket. The first group says that it is a member of something, or is defined.
	called = plain.Pattern(`(\. *|\bdef +|\bclass +)?(` + identifier + `(?: *\. *` + identifier + `)*) *[(\[]`)
	// binds are the targets of the statements that begin with a word and bind or delete names.
	binds = map[string]func() *regexp.Regexp{
		"for":  plain.Pattern(`^(?:async +)?for\b(.*?)\bin\b`),
		"with": plain.Pattern(`\bas\b *([(\[](?:[^()\[\]]|[(\[][^()\[\]]*[)\]])*|[^,()]+)`),
		"del":  plain.Pattern(`^del\b(.*)`),
	}
)

// Read reads a text, and looks for calls and subscriptions by their names with a bracket, such as "os.getenv(" or
// "os.environ[". A name has what imports anywhere in the text call it. The error is an *Error.
func Read(path string, data []byte, wanted map[string]bool) (Module, error) {
	s, err := scan(path, data)
	if err != nil {
		return Module{}, err
	}
	r := &reader{source: s, wanted: wanted, spelled: map[string]string{}, imported: map[string]bool{}, within: -1}
	r.Exports, r.Imports = map[string]*Function{}, map[string][]string{}
	r.split(0, len(r.code), "\n", r.line)
	r.uses()
	return r.Module, nil
}

// line reads a logical line.
func (r *reader) line(i, j int) {
	column := r.column(i)
	if column <= r.within {
		r.within = -1
	}
	direct, inner := column == 0, r.within >= 0
	if direct && r.code[i] == '@' {
		r.decorators = append(r.decorators, r.decorator(r.trim(i+1, j)))
		return
	}
	body, code := i, r.code[i:j]
	if m := definition().FindSubmatchIndex(code); m != nil {
		name := string(code[m[4]:m[5]])
		body = r.find(i, j, ":") + 1
		r.HasTests = r.HasTests || test().Match(code)
		if direct {
			r.forget(name)
		}
		if direct && m[2] >= 0 && r.decorators != nil {
			r.Exports[name] = &Function{r.pos(i + m[4]), name, r.doc(body, j), r.decorators}
			r.Functions = append(r.Functions, r.Exports[name])
		}
		if !inner {
			r.within = column
		}
		direct, inner = false, true
	} else if m := compound().FindSubmatch(code); m != nil {
		body = r.find(i, j, ":") + 1
		if direct {
			r.unbind(string(m[1]), r.code[i:body-1])
		}
		direct = false
	}
	r.statements(body, j, direct, inner)
	r.decorators = nil
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

// doc returns the docstring of a definition whose body begins at i, in a line that ends at j, or in the next line.
func (r *reader) doc(i, j int) (doc string) {
	if i >= j {
		i = len(r.code) - len(bytes.TrimLeft(r.code[j:], " \n"))
	}
	if i < j || r.column(i) > 0 {
		doc, _ = r.literal(i, r.find(i, len(r.code), ";\n"), "")
	}
	return doc
}

// statements reads simple statements, which are at column 0, or in a function or class, or in a block of the module.
func (r *reader) statements(i, j int, direct, inner bool) {
	r.split(i, j, ";", func(i, j int) {
		if m := importing().FindSubmatch(r.code[i:j]); m != nil {
			r.imports(spaceless(bytes.TrimPrefix(m[1], []byte("from"))), string(m[2]), direct, inner)
		} else if direct {
			r.unbind("del", r.code[i:j])
			r.assign(i, j)
		}
	})
}

// imports reads the names that are imported from a module, or the modules if it is empty.
func (r *reader) imports(module, names string, direct, inner bool) {
	for item := range strings.SplitSeq(strings.Trim(names, " (),"), ",") {
		member, name, renamed := strings.Cut(strings.TrimSpace(item), " as ")
		member, name = strings.ReplaceAll(member, " ", ""), strings.TrimSpace(name)
		path := join(module, member)
		if module == "" {
			if !renamed {
				member, _, _ = strings.Cut(member, ".")
			}
			path = member + "."
		}
		if !renamed {
			name = member
		}
		r.imported[name] = true
		for use := range r.wanted {
			if rest, is := strings.CutPrefix(use, strings.TrimSuffix(path, ".")); is && !isNamePart(rune(rest[0])) {
				r.spelled[name+rest] = use
			}
		}
		if direct && name != "*" {
			r.forget(name)
		}
		if !inner && len(r.Imports[name]) < maxPaths {
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

// unbind forgets the names that a statement that begins with a word binds or deletes.
func (r *reader) unbind(word string, code []byte) {
	if pattern := binds[word]; pattern != nil {
		for _, m := range pattern().FindAllSubmatch(code, -1) {
			r.forget(r.targets(m[1])...)
		}
	}
}

// targets returns the names among some targets that mean something.
func (r *reader) targets(code []byte) (names []string) {
	code = trailing().ReplaceAll(code, []byte("$1."))
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
	for k := r.find(i, j, "="); k < j && !lambda().Match(r.code[end:k]); k = r.find(k+1, j, "=") {
		end = k
	}
	names := r.targets(r.code[i:r.find(i, end, ":")])
	if len(names) == 0 {
		return
	}
	named := map[string]bool{}
	for _, m := range mention().FindAllSubmatch(r.code[end+1:j], -1) {
		named[string(m[2])] = named[string(m[2])] || len(m[1])+len(m[3]) == 0
	}
	r.forget(slices.DeleteFunc(names, func(name string) bool { return named[name] })...)
}

// arguments reads the arguments in [i, j).
func (r *reader) arguments(i, j int) (all []Argument) {
	r.split(i, j, ",", func(i, j int) {
		var a Argument
		if k := r.find(i, j, "="); k < j {
			a.Keyword = strings.TrimSpace(string(r.code[i:k]))
			i, _ = r.trim(k+1, j)
		} else if bytes.HasPrefix(r.code[i:j], []byte("**")) {
			a.Keyword = "**"
		}
		a.Value, a.IsText = r.literal(i, j, "\x01+")
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
