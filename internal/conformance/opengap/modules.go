package opengap

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/pytoken"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// wanted are the calls and subscriptions that a skill is searched for.
var wanted = map[string]bool{"os.environ[": true, "os.environ.get(": true, "os.getenv(": true, "open(": true,
	"io.open(": true, "Path(": true, "pathlib.Path(": true}

// parsed is a file that was read as Python; fault says why it was not.
type parsed struct {
	pytoken.Module
	fault *pytoken.Error
	size  int
}

// parse reads a file as Python, once.
func (a *agent) parse(name string) *parsed {
	if p := a.parsed[name]; p != nil {
		return p
	}
	text, err := a.file(name)
	p := &parsed{size: len(text)}
	if err == nil {
		p.Module, err = pytoken.Read(name, text, wanted)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("it is a link to what is not there")
	}
	if err != nil && !errors.As(err, &p.fault) {
		p.fault = &pytoken.Error{Pos: strict.Pos{Path: name}, Message: err.Error()}
	}
	a.parsed[name] = p
	return p
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
func (a *agent) decorated(file string, f *pytoken.Function) (by *pytoken.Decorator, best origin) {
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
