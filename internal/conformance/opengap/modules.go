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
		file, known := a.modules[base]
		for _, name := range []string{base + "/__init__.py", base + ".py"} {
			if known || file != "" {
				break
			}
			if at, outside := a.resolve(name); !outside && a.has(at) {
				file = at
			}
		}
		if a.modules[base] = file; file != "" {
			return file
		}
	}
	return ""
}

// maxFiles is how many modules of the agent an import is followed over.
const maxFiles = 5

// spot is a path of an import, and the file that it is in.
type spot struct{ file, path string }

// follow calls visit with each module and its member that some paths lead to, the nearest first, until visit returns
// true. The member is * for all that do not begin with _; file is that of the module, empty if it is not the agent's.
func (a *agent) follow(here []spot, visit func(module, member, file string) bool) {
	seen := map[spot]bool{}
	for n := range maxFiles + 1 {
		var next []spot
		for _, s := range here {
			i := strings.LastIndexByte(s.path, '.')
			if seen[s] || i < 0 {
				continue
			}
			seen[s] = true
			if a.steps++; a.steps > maxSteps {
				a.fail(fmt.Errorf("%w: its imports lead over more than %d modules", ErrTooLarge, maxSteps))
				return
			}
			module, member, file := s.path[:i], s.path[i+1:], ""
			if strings.Trim(module, ".") == "" {
				module += "."
			}
			if n < maxFiles {
				file = a.module(s.file, module)
			}
			if visit(module, member, file) {
				return
			}
			if file == "" {
				continue
			}
			imports := a.parse(file).Imports
			for _, name := range slices.Sorted(maps.Keys(imports)) {
				if name != member && (member != "*" || strings.HasPrefix(name, "_")) {
					continue
				}
				for _, path := range imports[name] {
					next = append(next, spot{file, path})
				}
			}
			for _, star := range imports["*"] {
				next = append(next, spot{file, strings.TrimSuffix(star, "*") + member})
			}
		}
		here = next
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
		var from []spot
		for _, path := range d.Paths {
			from = append(from, spot{file, path})
		}
		a.follow(from, func(module, member, file string) bool {
			root, _, _ := strings.Cut(module, ".")
			switch {
			case member != "skill":
			case (root == "gitagent" || root == "opengap") && a.module("", root) == "":
				is = genuine
			case file == "" && a.declared[distribution(root)]:
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
		key, _, _ := strings.Cut(bare, "=")
		key = strings.TrimSpace(key)
		switch {
		case !open && strings.HasPrefix(bare, "["):
			section = strings.Trim(bare, "[] ")
		case strings.HasPrefix(section, "tool.poetry") && strings.HasSuffix(section, "dependencies"):
			declare(key)
		case open, slices.Contains(listed, section) && (section != "project" || key == "dependencies"):
			for _, text := range quoted().FindAllString(line, -1) {
				declare(strings.Trim(text, `"'`))
			}
			open = (open || strings.Contains(bare, "[")) && !strings.Contains(bare, "]")
		}
	}
	return all
}
