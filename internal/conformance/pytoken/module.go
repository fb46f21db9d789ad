// Package pytoken reads from Python source what a module imports and exports, the decorators of its functions, and the
// texts in some calls. It runs nothing and judges no grammar.
package pytoken

import (
	"slices"
	"strings"

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
	wanted map[string]bool
	// spelled has each wanted name by what imports anywhere in the text call it, and an empty one for what they bind.
	spelled map[string]string

	decorators []Decorator // above the line
	within     int         // the column of the outermost definition that the line is in, or -1
}

// Read reads a text, and looks for calls and subscriptions by their names with a bracket, such as "os.getenv(" or
// "os.environ[". A name has what imports anywhere in the text call it. The error is an *Error.
func Read(path string, data []byte, wanted map[string]bool) (Module, error) {
	s, err := scan(path, data)
	if err != nil {
		return Module{}, err
	}
	r := &reader{source: s, wanted: wanted, spelled: map[string]string{}, within: -1}
	r.Exports, r.Imports = map[string]*Function{}, map[string][]string{}
	for i := range r.lines {
		r.line(i)
	}
	for _, l := range r.lines {
		r.uses(l.tokens)
	}
	return r.Module, nil
}

// line reads the logical line with an index.
func (r *reader) line(i int) {
	code, column := r.lines[i].tokens, r.lines[i].column
	if column <= r.within {
		r.within = -1
	}
	direct := column == 0
	if direct && code[0].text == "@" && len(code) > 1 {
		r.decorators = append(r.decorators, r.decorator(code[1:]))
		return
	}
	if code[0].text == "async" && len(code) > 1 {
		code = code[1:]
	}
	head, body, _ := cut(code, ":")
	switch keyword := code[0].text; keyword {
	case "def", "class":
		if len(head) > 1 {
			r.define(keyword, head[1], r.doc(body, i+1), direct)
		}
		if r.within < 0 {
			r.within = column
		}
		code, direct = body, false
	case "if", "elif", "else", "for", "while", "try", "except", "finally", "with":
		if direct {
			r.forget(bound(keyword, head[1:])...)
		}
		code, direct = body, false
	}
	for _, statement := range split(code, ";") {
		switch keyword := strings.TrimRight(statement[0].text, "."); {
		case keyword == "import", keyword == "from":
			r.imports(statement, direct)
		case direct && keyword == "del":
			r.forget(targets(statement[1:])...)
		case direct:
			r.assign(statement)
		}
	}
	r.decorators = nil
}

// decorator reads what follows an @. It has no paths if it is more than a name with dots that is called or not.
func (r *reader) decorator(code []token) (d Decorator) {
	d.Name = code[0].text
	if call := code[1:]; len(call) > 0 {
		arguments := inner(call)
		if call[0].text != "(" || len(arguments) == len(call) {
			return d
		}
		d.Arguments = readArguments(arguments)
	}
	head, rest, _ := strings.Cut(d.Name, ".")
	for _, path := range r.Imports[head] {
		d.Paths = append(d.Paths, join(path, rest))
	}
	return d
}

// join returns the path of a name in what a path leads to.
func join(path, rest string) string {
	if rest == "" {
		return path
	}
	return strings.TrimSuffix(path, ".") + "." + rest
}

// doc returns the docstring of a definition that has a body in its line, or else in the line with an index.
func (r *reader) doc(body []token, next int) (doc string) {
	if len(body) == 0 && next < len(r.lines) && r.lines[next].column > 0 {
		body = r.lines[next].tokens
	}
	first, _, _ := cut(body, ";")
	doc, _ = value(first, false)
	return doc
}

// define reads a definition that begins with a keyword and a name, direct if it is at column 0.
func (r *reader) define(keyword string, name token, doc string, direct bool) {
	r.HasTests = r.HasTests || keyword == "def" && strings.HasPrefix(name.text, "test") ||
		keyword == "class" && strings.HasPrefix(name.text, "Test")
	if direct {
		r.forget(name.text)
	}
	if direct && keyword == "def" && r.decorators != nil {
		f := &Function{r.pos(name.at), name.text, doc, r.decorators}
		r.Functions, r.Exports[f.Name] = append(r.Functions, f), f
	}
}

// imports reads the names that are imported from a module, or the modules.
func (r *reader) imports(code []token, direct bool) {
	module, isFrom := strings.CutPrefix(code[0].text, "from")
	from, names, _ := cut(code, "import")
	if len(from) > 1 {
		module += from[1].text
	}
	for _, item := range split(inner(names), ",") {
		path, name := item[0].text, item[len(item)-1].text
		if len(item) == 1 { // it is not renamed
			name, _, _ = strings.Cut(path, ".")
			path = name
		}
		if isFrom {
			path = join(module, path)
		} else {
			path += "."
		}
		r.spelled[name] = ""
		for use := range r.wanted {
			rest := strings.TrimPrefix(use, strings.TrimSuffix(path, "."))
			if strings.IndexAny(rest, ".([") == 0 {
				r.spelled[name+rest] = use
			}
		}
		if direct && name != "*" {
			r.forget(name)
		}
		if r.within < 0 && len(r.Imports[name]) < maxPaths {
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

// bound returns the names that a compound statement binds.
func bound(keyword string, code []token) (names []string) {
	switch keyword {
	case "for":
		target, _, _ := cut(code, "in")
		return targets(target)
	case "with":
		for _, item := range split(inner(code), ",") {
			_, target, _ := cut(item, "as")
			names = append(names, targets(target)...)
		}
	}
	return names
}

// targets returns the names among some targets. A member or an item of something has none.
func targets(code []token) (names []string) {
	for parts := split(code, ","); len(parts) > 0; parts = parts[1:] {
		part := parts[0]
		if len(part) > 1 && (part[0].text == "*" || part[0].text == "type") {
			part = part[1:]
		}
		if in := inner(part); len(in) < len(part) {
			parts = append(parts, split(in, ",")...)
		} else if len(part) == 1 {
			names = append(names, part[0].text)
		}
	}
	return names
}

var assignments = []string{"=", "+=", "-=", "*=", "/=", "//=", "%=", "@=", "&=", "|=", "^=", ">>=", "<<=", "**="}

// assign forgets the names that a statement assigns to, if it is an assignment, unless its right side names them.
func (r *reader) assign(code []token) {
	var names []string
	for {
		left, right, found := cut(code, assignments...)
		target, _, _ := cut(left, ":")
		if _, _, isDefault := cut(target, "lambda"); !found || isDefault {
			break
		}
		names = append(names, targets(target)...)
		code = right
	}
	named := map[string]bool{}
	for i, t := range code {
		isKeyword := i+1 < len(code) && code[i+1].text == "="
		name, _, _ := strings.Cut(t.text, ".")
		named[name] = named[name] || !isKeyword
	}
	r.forget(slices.DeleteFunc(names, func(name string) bool { return named[name] })...)
}

// uses finds the calls and subscriptions that are wanted.
func (r *reader) uses(code []token) {
	for i := 1; i < len(code); i++ {
		name := code[i-1].text + code[i].text
		head, _, _ := strings.Cut(code[i-1].text, ".")
		if _, imported := r.spelled[head]; imported {
			name = r.spelled[name]
		}
		isDefined := i > 1 && (code[i-2].text == "def" || code[i-2].text == "class")
		if r.wanted[name] && code[i].inside > 0 && !isDefined {
			arguments := code[i+1 : i+code[i].inside]
			r.Uses = append(r.Uses, Use{r.pos(code[i-1].at), name, readArguments(arguments)})
		}
	}
}

// readArguments reads the arguments in a bracket.
func readArguments(code []token) (all []Argument) {
	for _, part := range split(code, ",") {
		var a Argument
		if keyword, rest, found := cut(part, "="); found && len(keyword) == 1 {
			a.Keyword, part = keyword[0].text, rest
		} else if part[0].text == "**" {
			a.Keyword = "**"
		}
		a.Value, a.IsText = value(part, true)
		a.IsNone = len(part) == 1 && part[0].text == "None"
		all = append(all, a)
	}
	return all
}

// inner returns what is in the bracket that some tokens are. Other tokens it returns as they are.
func inner(code []token) []token {
	if last := len(code) - 1; last > 0 && code[0].inside == last {
		return code[1:last]
	}
	return code
}

// cut returns what is before and after the first token that is one of some texts, outside of brackets.
func cut(code []token, texts ...string) (before, after []token, found bool) {
	for i := 0; i < len(code); i += 1 + code[i].inside {
		if slices.Contains(texts, code[i].text) {
			return code[:i], code[i+1:], true
		}
	}
	return code, nil, false
}

// split returns the parts between the tokens of a text, outside of brackets, that are not empty.
func split(code []token, text string) (parts [][]token) {
	for len(code) > 0 {
		var part []token
		if part, code, _ = cut(code, text); len(part) > 0 {
			parts = append(parts, part)
		}
	}
	return parts
}
