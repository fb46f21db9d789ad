package opengap

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Script is what a Python interpreter runs to read files. It begins with a line of its own; then each request, a line
// LENGTH PATH and the bytes of the file, has one line as its answer.
//
//go:embed facts.py
var Script string

// Python is an interpreter that runs Script.
type Python interface {
	// Ask sends a request, which may be empty, and returns the next line. The error says why no line came.
	Ask(request []byte) (line []byte, err error)
	Close()
}

// facts are what Python says of a file. A path is what an import binds a name to: "a.b" for `from a import b`; "a." for
// `import a`, which binds a module; with dots in front if the import is relative.
type facts struct {
	Functions []*decoratedFunction // at column 0
	Imports   map[string][]string  // the paths of the names that imports bind at the end; "*" has those of all stars
	Required  []spot               // modules that are imported at column 0
	Named     []string             // all that is imported anywhere, without dots in front
	Texts     []string             // short texts other than docstrings
	Tests     []string             // names of def test… and class Test…
	Environ   []spot               // environment variables; without a text: computed
	Paths     []spot               // paths that it opens, or makes of others; absolute ones are below pathRoot

	Fault string // why the file does not compile, or was not read; empty: it was
	Line  int    // where it is at fault
}

// spot is a text in a line.
type spot struct {
	Text         *string
	Line, Column int
}

// decoratedFunction is a statement def or async def. It is not exported if its name is deleted or bound again.
type decoratedFunction struct {
	Name, Doc  string
	Line       int
	Exported   bool
	Decorators []decorator
}

// decorator is a name as it is spelled, and the paths that it has there.
type decorator struct {
	Name  string
	Paths []string
	Said  []spot // the argument description, or none; without a text: computed
}

// fault says why a file was not read as Python.
type fault struct {
	at            verdict.At
	code, message string
}

// parsed is a file that was read as Python, or its fault.
type parsed struct {
	facts
	fault *fault
	size  int
}

// parse reads a file as Python, once.
func (a *agent) parse(name string) *parsed {
	if p := a.parsed[name]; p != nil {
		return p
	}
	text, err := a.file(name)
	p := &parsed{size: len(text)}
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("it is a link to what is not there")
	}
	p.fault = &fault{at: verdict.At{Path: name}, code: "not-python"}
	if err != nil {
		p.fault.message = err.Error()
	} else {
		a.ask(p, name, text)
	}
	if p.fault.message == "" {
		p.fault = nil
	}
	a.parsed[name] = p
	return p
}

// ask has Python read a file, and sets the message of its fault if there is one.
func (a *agent) ask(p *parsed, name string, text []byte) {
	if a.python == nil && a.noPython == nil {
		a.python, a.noPython = a.start()
	}
	if a.noPython != nil {
		p.fault.code, p.fault.message = "no-python", a.noPython.Error()
		return
	}
	p.fault.code = "not-read"
	if a.ended == nil {
		var line []byte
		line, a.ended = a.python.Ask(fmt.Appendf(nil, "%d %s\n%s", len(text),
			strings.ReplaceAll(strings.ToValidUTF8(name, "?"), "\n", "?"), text))
		if a.ended == nil {
			a.ended = json.Unmarshal(line, &p.facts)
		}
	}
	switch {
	case a.ended != nil:
		p.fault.message = fmt.Sprintf("Python ended before it had read the file: %v", a.ended)
	case strings.HasPrefix(p.Fault, "MemoryError"), strings.HasPrefix(p.Fault, "RecursionError"):
		p.fault.message = "Python gave up on the file: " + p.Fault
	case p.Fault != "":
		p.fault.at.Line, p.fault.at.Column = p.Line, min(p.Line, 1)
		p.fault.code, p.fault.message = "not-python", fmt.Sprintf("Python %s: %s", a.version, p.Fault)
		if wanted := a.requiredPython(); wanted != "" {
			p.fault.code = "python-older"
			p.fault.message += "; pyproject.toml requires Python " + wanted
		}
	}
}

// pathRoot is the agent's directory as Script spells it.
var pathRoot = strings.Repeat("/\x01", 70) + "/agent"

// leaves reports whether a path of Script leaves the agent's directory, and returns it as people know it.
func leaves(name string) (shown string, out bool) {
	name = strings.ReplaceAll(name, `\`, "/")
	at := path.Clean(name)
	if !path.IsAbs(name) {
		at = path.Join(pathRoot, name)
	}
	if strings.HasPrefix(at, "/\x01") {
		rest, err := filepath.Rel(pathRoot, at)
		name = filepath.ToSlash(rest)
		return name, err != nil || leadsOut(name)
	}
	return name, leadsOut(name)
}

// greeting is the first line of Script.
type greeting struct {
	Version []int
	Stdlib  []string
}

// start starts Python. The error says why it did not start.
func (a *agent) start() (Python, error) {
	if a.open == nil {
		return nil, errors.New("no Python was named")
	}
	python, err := a.open()
	if err != nil {
		return nil, err
	}
	line, err := python.Ask(nil)
	var hello greeting
	if err == nil {
		err = json.Unmarshal(line, &hello)
	}
	if err != nil || len(hello.Version) != 3 || slices.Compare(hello.Version, []int{3, 8}) < 0 {
		python.Close()
		return nil, fmt.Errorf("it is not Python 3.8 or later: it says %q", plain.Cut(string(line), 80))
	}
	a.version = fmt.Sprintf("%d.%d.%d", hello.Version[0], hello.Version[1], hello.Version[2])
	a.stdlib = map[string]bool{}
	for _, name := range hello.Stdlib {
		a.stdlib[name] = true
	}
	return python, nil
}

var (
	requiresPython = plain.Pattern(`(?m)^requires-python\s*=\s*["']([^"']*)["']`)
	atLeast        = plain.Pattern(`(?:>=?|~=|===?)\s*([0-9]+(?:\.[0-9]+)*)`)
)

// requiredPython returns the requires-python of pyproject.toml if the Python that reads is older than it asks for.
func (a *agent) requiredPython() string {
	text, _ := a.file("pyproject.toml")
	m := requiresPython().FindSubmatch(text)
	if m == nil {
		return ""
	}
	for _, least := range atLeast().FindAllSubmatch(m[1], -1) {
		if semver.Compare("v"+a.version, "v"+string(least[1])) < 0 {
			return plain.Cut(string(m[1]), 40)
		}
	}
	return ""
}

// module returns the file of a module, as a file of the agent calls it: from its own directory if the name begins with
// a dot, else from the agent's directory or that of the skills. It is empty if the agent has no such module.
func (a *agent) module(from, name string) string {
	rest := strings.TrimLeft(name, ".")
	under := []string{".", a.skillsDir}
	if level := len(name) - len(rest); level > 0 {
		dir := path.Join(path.Dir(from), strings.Repeat("../", min(level-1, maxDepth+1)))
		if under = []string{dir}; strings.HasPrefix(dir, "..") {
			return ""
		}
	}
	for _, dir := range under {
		base := path.Join(dir, strings.ReplaceAll(rest, ".", "/"))
		if _, known := a.modules[base]; !known {
			a.modules[base] = ""
			for _, name := range []string{base + ".py", base + "/" + initName} { // Python prefers the package
				at, _ := a.resolve(name)
				if _, found := a.find(at); found {
					a.modules[base] = at
				}
			}
		}
		if file := a.modules[base]; file != "" {
			return file
		}
	}
	return ""
}

// maxFiles is how many modules of the agent an import is followed over.
const maxFiles = 5

// follow calls visit with each module and its member that some paths in a file lead to, the nearest first, until visit
// returns true. The member is * for all that do not begin with _; in is the module's file, empty if it is not the
// agent's.
func (a *agent) follow(file string, paths []string, visit func(module, member, in string) bool) {
	type spot struct{ file, path string }
	seen, here := map[spot]int{}, []spot(nil) // how many files lead to each spot; those to visit
	lead := func(file string, paths []string, files int) {
		for _, path := range paths {
			if _, known := seen[spot{file, path}]; !known && strings.Contains(path, ".") {
				seen[spot{file, path}] = files
				here = append(here, spot{file, path})
			}
		}
	}
	for lead(file, paths, 0); len(here) > 0; here = here[1:] {
		if a.steps++; a.steps > maxSteps {
			a.fail(fmt.Errorf("%w: its imports lead over more than %d modules", ErrTooLarge, maxSteps))
			return
		}
		s, files := here[0], seen[here[0]]
		i := strings.LastIndexByte(s.path, '.')
		module, member, in := s.path[:i], s.path[i+1:], ""
		if strings.Trim(module, ".") == "" {
			module += "."
		}
		if files < maxFiles {
			in = a.module(s.file, module)
		}
		if visit(module, member, in) {
			return
		}
		if in == "" {
			continue
		}
		imports := a.parse(in).Imports
		for _, name := range slices.Sorted(maps.Keys(imports)) {
			if name == member || member == "*" && !strings.HasPrefix(name, "_") {
				lead(in, imports[name], files+1)
			}
		}
		for _, star := range imports["*"] {
			lead(in, []string{strings.TrimSuffix(star, "*") + member}, files+1)
		}
	}
}

// origin is what is known about a decorator.
type origin uint8

const (
	other    origin = iota
	declared        // it is the skill of a package that the agent declares
	genuine         // it is the skill of gitagent or opengap
)

// decorated returns the decorator of a function in a file that makes a skill of it, or nil.
func (a *agent) decorated(file string, f *decoratedFunction) (by *decorator, best origin) {
	for i, d := range f.Decorators {
		is := other
		a.follow(file, d.Paths, func(module, member, in string) bool {
			root, _, _ := strings.Cut(module, ".")
			switch {
			case member != "skill":
			case (root == "gitagent" || root == "opengap") && a.module("", root) == "" && a.module("", module) == "":
				is = genuine
			case in == "" && a.declared[distribution(root)]:
				is = max(is, declared)
			}
			return is == genuine
		})
		if is > best {
			by, best = &f.Decorators[i], is
		}
	}
	return by, best
}

var (
	requirement = plain.Pattern(`^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:[\[=<>!~;@(#]|$)`)
	quoted      = plain.Pattern(`"[^"]*"|'[^']*'|#.*`)
	dependency  = plain.Pattern(`^dependencies\s*=`)
	listed      = []string{"project", "project.optional-dependencies", "dependency-groups"}
)

// distribution returns the name of a package as the names of packages compare.
func distribution(name string) string {
	return strings.NewReplacer("-", "_", ".", "_").Replace(strings.ToLower(name))
}

// undeclared returns the modules that a file imports at column 0, and that neither Python nor the agent has, and no
// file that declares packages names.
func (a *agent) undeclared(p *parsed) (all []spot) {
	for _, r := range p.Required {
		root := *r.Text // empty for a relative import
		if root == "" || len(a.stdlib) == 0 || a.stdlib[root] || root == "gitagent" || root == "opengap" ||
			a.has(root) {
			continue
		}
		if a.declarations == "" {
			a.declarations = "\n"
			for _, e := range a.in(".") {
				if slices.Contains([]string{"pyproject.toml", "setup.cfg", "setup.py", "Pipfile"}, e.path) ||
					strings.HasPrefix(e.path, "requirements") && strings.HasSuffix(e.path, ".txt") {
					text, _ := a.file(e.path) // what cannot be read declares nothing
					a.declarations += distribution(string(text)) + "\n"
				}
			}
		}
		if !strings.Contains(a.declarations, distribution(root)) {
			all = append(all, r)
		}
	}
	return all
}

// has reports whether a name is a module or a directory of the agent.
func (a *agent) has(root string) bool {
	return a.module("", root) != "" || a.mode(root).IsDir() || a.mode(path.Join(a.skillsDir, root)).IsDir()
}

// dependencies returns the packages that requirements*.txt and pyproject.toml declare.
func (a *agent) dependencies() map[string]bool {
	all := map[string]bool{}
	declare := func(text string) {
		if m := requirement().FindStringSubmatch(text); m != nil {
			all[distribution(m[1])] = true
		}
	}
	for _, e := range a.in(".") {
		if strings.HasPrefix(e.path, "requirements") && strings.HasSuffix(e.path, ".txt") {
			text, _ := a.file(e.path) // what cannot be read declares nothing
			for line := range strings.Lines(string(text)) {
				declare(line)
			}
		}
	}
	text, _ := a.file("pyproject.toml")
	section, open := "", false // a list of requirements is open
	for line := range strings.Lines(string(text)) {
		bare := strings.TrimSpace(quoted().ReplaceAllString(line, ""))
		switch {
		case !open && strings.HasPrefix(bare, "["):
			section = strings.Trim(bare, "[] ")
		case strings.HasPrefix(section, "tool.poetry") && strings.HasSuffix(section, "dependencies"):
			declare(bare)
		case open, slices.Contains(listed, section) && (section != "project" || dependency().MatchString(bare)):
			for _, text := range quoted().FindAllString(line, -1) {
				declare(strings.Trim(text, `"'`))
			}
			open = (open || strings.Contains(bare, "[")) && !strings.Contains(bare, "]")
		}
	}
	return all
}
