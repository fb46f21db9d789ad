package opengap

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/pytoken"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// wanted are the calls and subscriptions that a skill is searched for.
var wanted = map[string]bool{"os.environ[": true, "os.environ.get(": true, "os.getenv(": true, "open(": true,
	"io.open(": true, "Path(": true, "pathlib.Path(": true}

// parsed is a file that was read as Python; fault says why it was not.
type parsed struct {
	*pytoken.Module
	exported map[string]*pytoken.Function
	fault    *fault
	size     int
}

// fault is why a file is not read as Python.
type fault struct {
	at      verdict.At
	message string
	unread  bool // it may be Python all the same
}

// parse reads a file as Python, once.
func (a *agent) parse(name string) (*parsed, error) {
	if p := a.parsed[name]; p != nil {
		return p, nil
	}
	text, err := a.file(name)
	if errors.Is(err, ErrTooLarge) {
		return nil, err
	}
	p := &parsed{Module: &pytoken.Module{}, exported: map[string]*pytoken.Function{}, size: len(text)}
	if err == nil {
		*p.Module, err = pytoken.Read(text, wanted)
	}
	for _, f := range p.Functions {
		if f.Exported {
			p.exported[f.Name] = f
		}
	}
	var e *pytoken.Error
	switch {
	case errors.As(err, &e):
		p.fault = &fault{verdict.At{Path: name, Line: e.Line, Column: e.Column}, e.Message, e.Unread}
	case errors.Is(err, fs.ErrNotExist):
		p.fault = &fault{verdict.At{Path: name}, "it is a link to what is not there", false}
	case err != nil:
		p.fault = &fault{verdict.At{Path: name}, err.Error(), false}
	}
	a.parsed[name] = p
	return p, nil
}

// module returns the file of a module, as a file of the agent calls it: from its own folder if the name begins with a
// dot, else from the agent's folder or that of the skills. It is empty if the agent has no such module.
func (a *agent) module(from, name string) (string, error) {
	rest := strings.TrimLeft(name, ".")
	under := []string{".", a.skillsDir}
	if level := len(name) - len(rest); level > 0 {
		dir := path.Dir(from)
		for ; level > 1 && dir != "."; level-- {
			dir = path.Dir(dir)
		}
		under = []string{dir}
		if level > 1 {
			return "", nil
		}
	}
	for _, dir := range under {
		base := path.Join(dir, strings.ReplaceAll(rest, ".", "/"))
		file, known := a.modules[base]
		for _, name := range []string{base + "/__init__.py", base + ".py"} {
			if known || file != "" {
				break
			}
			at, outside, err := a.resolve(name)
			if err != nil {
				return "", err
			}
			if _, found := a.find(at); found && !outside {
				file = at
			}
		}
		if a.modules[base] = file; file != "" {
			return file, nil
		}
	}
	return "", nil
}

// maxFiles is how many modules of the agent an import is followed over.
const maxFiles = 5

// spot is a path of an import, and the file that it is in.
type spot struct{ file, path string }

// follow calls visit with each module and its member that a path in a file leads to, the nearest first, until visit
// returns true. file is that of the module, empty if it is not the agent's.
func (a *agent) follow(from spot, visit func(module, member, file string) (bool, error)) error {
	seen := map[spot]bool{}
	here := []spot{from}
	for n := range maxFiles + 1 {
		var next []spot
		for _, s := range here {
			i := strings.LastIndexByte(s.path, '.')
			if seen[s] || i < 0 {
				continue
			}
			seen[s] = true
			if a.steps++; a.steps > maxSteps {
				return fmt.Errorf("%w: its imports lead over more than %d modules", ErrTooLarge, maxSteps)
			}
			module, member := s.path[:i], s.path[i+1:]
			if strings.Trim(module, ".") == "" {
				module += "."
			}
			file, err := "", error(nil)
			if n < maxFiles {
				file, err = a.module(s.file, module)
			}
			if err != nil {
				return err
			}
			if done, err := visit(module, member, file); err != nil || done || file == "" {
				if err != nil || done {
					return err
				}
				continue
			}
			p, err := a.parse(file)
			if err != nil {
				return err
			}
			for _, path := range p.Imports[member] {
				next = append(next, spot{file, path})
			}
			for _, star := range p.Stars {
				next = append(next, spot{file, pytoken.Join(star, member)})
			}
		}
		here = next
	}
	return nil
}

// origin is what is known of a decorator.
type origin uint8

const (
	other    origin = iota
	declared        // it is the skill of a package that the agent declares
	genuine         // it is the skill of gitagent or opengap
)

// origin returns what is known of the decorator with a path in a file.
func (a *agent) origin(s spot) (origin, error) {
	key := s
	if !strings.HasPrefix(s.path, ".") {
		key.file = ""
	}
	best, known := a.origins[key]
	if known {
		return best, nil
	}
	err := a.follow(s, func(module, member, file string) (bool, error) {
		root, _, _ := strings.Cut(module, ".")
		switch {
		case member != "skill":
		case root == "gitagent" || root == "opengap":
			best = genuine
		case file == "" && a.declared[distribution(root)]:
			best = max(best, declared)
		}
		return best == genuine, nil
	})
	a.origins[key] = best
	return best, err
}

// decorated returns the decorator of a function in a file that makes a skill of it, or nil.
func (a *agent) decorated(file string, f *pytoken.Function) (by *pytoken.Decorator, best origin, err error) {
	for i := range f.Decorators {
		for _, path := range f.Decorators[i].Paths {
			o, err := a.origin(spot{file, path})
			if err != nil {
				return nil, other, err
			}
			if o > best {
				by, best = &f.Decorators[i], o
			}
		}
	}
	return by, best, nil
}

var (
	requirement = plain.Pattern(`^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:[\[=<>!~;@(#]|$)`)
	quoted      = plain.Pattern(`"[^"]*"|'[^']*'|#.*`)
)

// distribution returns the name of a package as the names of packages compare.
func distribution(name string) string {
	return strings.NewReplacer("-", "_", ".", "_").Replace(strings.ToLower(name))
}

// dependencies returns the packages that requirements*.txt and pyproject.toml declare.
func (a *agent) dependencies() (map[string]bool, error) {
	all := map[string]bool{}
	declare := func(text string) {
		if m := requirement().FindStringSubmatch(text); m != nil {
			all[distribution(m[1])] = true
		}
	}
	entries, err := a.in(".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		project := e.path == "pyproject.toml"
		if !project && (!strings.HasPrefix(e.path, "requirements") || !strings.HasSuffix(e.path, ".txt")) {
			continue
		}
		text, err := a.file(e.path)
		if errors.Is(err, ErrTooLarge) {
			return nil, err
		}
		lines := strings.Split(string(text), "\n")
		if !project {
			for _, line := range lines {
				declare(line)
			}
			continue
		}
		section, list := "", false // a list of requirements is open
		for _, line := range lines {
			bare := strings.TrimSpace(quoted().ReplaceAllString(line, ""))
			key, _, _ := strings.Cut(bare, "=")
			key = strings.TrimSpace(key)
			switch {
			case !list && strings.HasPrefix(bare, "["):
				section = strings.Trim(bare, "[] ")
				continue
			case !list && strings.HasPrefix(section, "tool.poetry") && strings.HasSuffix(section, "dependencies"):
				declare(key)
				continue
			case !list && section == "project" && key != "dependencies",
				!slices.Contains([]string{"project", "project.optional-dependencies", "dependency-groups"}, section):
				continue
			}
			for _, text := range quoted().FindAllString(line, -1) {
				declare(strings.Trim(text, `"'`))
			}
			list = (list || strings.Contains(bare, "[")) && !strings.Contains(bare, "]")
		}
	}
	return all, nil
}
