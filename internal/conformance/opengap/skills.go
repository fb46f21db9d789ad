package opengap

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/pytoken"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// decorator is what a skill stands under.
var decorator = pytoken.Member{Module: "gitagent", Name: "skill"}

// opened are the calls whose texts are paths, and environment those whose first text is the name of a variable.
var (
	opened      = []string{"open", "io.open", "Path", "pathlib.Path"}
	environment = []string{"os.environ", "os.environ.get", "os.getenv"}
)

// skill is a .py file of the folder of skills, or a package there.
type skill struct {
	file      string // where its findings are placed: of a package the __init__.py
	module    string
	functions []function
	variables []literal    // each where it is first
	computed  []verdict.At // where the name of a variable is computed
	outside   []literal    // paths that are absolute or have .. in them, each where it is first
	faults    []fault      // files that cannot be read as Python
	noted     map[string]bool
}

// function is a skill-decorated function.
type function struct {
	name     string
	at       verdict.At
	describe description
}

// description is what is known of the description of a skill.
type description uint8

const (
	described description = iota
	empty                 // the decorator's argument says nothing
	absent                // there is neither an argument nor a docstring
	unknown               // it is computed
)

// literal is a text in the source.
type literal struct {
	text string
	at   verdict.At
}

// fault is why a file is not read as Python.
type fault struct {
	at      verdict.At
	message string
}

// skills are those in a folder, by their names. The error wraps ErrTooLarge, or is what the system says.
func (f *folder) skills(dir string) ([]*skill, error) {
	var all []*skill
	entries, err := f.in(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := path.Base(e.path)
		if strings.HasPrefix(name, "_") {
			continue
		}
		s := &skill{file: e.path, module: name, noted: map[string]bool{}}
		switch {
		case f.isDir(e.path):
			s.file = path.Join(e.path, "__init__.py")
			if f.stat(s.file) == nil {
				continue
			}
		case strings.HasSuffix(name, ".py"):
			s.module = strings.TrimSuffix(name, ".py")
		default:
			continue
		}
		if err := s.readAll(f, e.path); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// readAll reads the file of a skill, or all modules of its package, whose folder dir is.
func (s *skill) readAll(f *folder, dir string) error {
	module, err := s.read(f, s.file)
	if err != nil || s.file == dir {
		if module != nil {
			s.functions = module.functions
		}
		return err
	}
	under, all, err := f.below(dir)
	if err != nil {
		return err
	}
	modules := map[string]map[string]function{} // what they define, by their names from the package on
	for _, e := range all {
		name, isPython := strings.CutSuffix(strings.TrimPrefix(e.path, under), ".py")
		if !isPython || name == "__init__" {
			continue
		}
		m, err := s.read(f, e.path)
		if err != nil {
			return err
		}
		if m != nil {
			modules[strings.ReplaceAll(strings.TrimSuffix(name, "/__init__"), "/", ".")] = m.named()
		}
	}
	if module != nil {
		s.functions = append(module.functions,
			reexported(module.imports, modules, strings.ReplaceAll(dir, "/", "."))...)
	}
	return nil
}

// reexported are the functions that the __init__.py of a package imports from its modules.
func reexported(imports []pytoken.Import, modules map[string]map[string]function, whole string) (all []function) {
	for _, i := range imports {
		name, ours := i.Module, i.Level == 1
		if i.Level == 0 {
			name, ours = strings.CutPrefix(i.Module, whole+".")
		}
		defined := modules[name]
		if !ours || len(defined) == 0 {
			continue
		}
		if i.Name != "*" {
			if f, ok := defined[i.Name]; ok {
				all = append(all, f)
				delete(defined, i.Name)
			}
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(defined)) {
			if !strings.HasPrefix(name, "_") {
				all = append(all, defined[name])
				delete(defined, name)
			}
		}
	}
	return all
}

// parsed is what one file exports.
type parsed struct {
	functions []function
	imports   []pytoken.Import
}

// named are the functions by their names; of those that share one, the last counts.
func (p *parsed) named() map[string]function {
	all := map[string]function{}
	for _, f := range p.functions {
		all[f.name] = f
	}
	return all
}

// read reads a file of a skill and notes what it refers to; nil where it is no Python.
func (s *skill) read(f *folder, name string) (*parsed, error) {
	text, err := f.file(name)
	switch {
	case errors.Is(err, ErrTooLarge):
		return nil, err
	case errors.Is(err, fs.ErrNotExist):
		s.faults = append(s.faults, fault{verdict.At{Path: name}, "it is a link to what is not there"})
		return nil, nil
	case err != nil:
		s.faults = append(s.faults, fault{verdict.At{Path: name}, err.Error()})
		return nil, nil
	}
	source, err := pytoken.Scan(text)
	var module *pytoken.Module
	if err == nil {
		module, err = source.Module(decorator, func(name string) bool {
			return slices.Contains(opened, name) || slices.Contains(environment, name)
		})
	}
	if err != nil {
		at, message := verdict.At{Path: name}, err.Error()
		var e *pytoken.Error
		if errors.As(err, &e) {
			at.Line, at.Column, message = e.Line, e.Column, e.Message
		}
		s.faults = append(s.faults, fault{at, message})
		return nil, nil
	}
	where := func(offset int32) verdict.At {
		line, column := source.Position(offset)
		return verdict.At{Path: name, Line: line, Column: column}
	}
	for _, u := range module.Uses {
		s.use(u, where(u.At))
	}
	p := &parsed{imports: module.Imports}
	for _, f := range module.Functions {
		p.functions = append(p.functions, function{f.Name, where(f.At), describe(f)})
	}
	return p, nil
}

// use notes the variables and the paths that a call or subscription names.
func (s *skill) use(u pytoken.Use, at verdict.At) {
	if slices.Contains(opened, u.Name) {
		for _, a := range u.Arguments {
			if a.Text && leadsOut(a.Value) && !u.Subscript {
				s.outside = s.note(s.outside, "path", literal{a.Value, at})
			}
		}
		return
	}
	if u.Subscript != (u.Name == "os.environ") {
		return
	}
	for i, a := range u.Arguments {
		switch {
		case i > 0 && a.Keyword == "" || a.Keyword != "" && a.Keyword != "key":
		case a.Text:
			s.variables = s.note(s.variables, "variable", literal{a.Value, at})
		default:
			s.computed = append(s.computed, at)
		}
	}
}

// note adds a text where it is the first of its kind in the skill.
func (s *skill) note(to []literal, kind string, l literal) []literal {
	if key := kind + " " + l.text; !s.noted[key] {
		s.noted[key] = true
		to = append(to, l)
	}
	return to
}

// describe tells what is known of a function's description: the decorator's argument, else the docstring.
func describe(f pytoken.Function) description {
	for _, a := range f.Arguments {
		switch {
		case a.Keyword == "**":
			return unknown
		case a.Keyword != "description" || a.None:
		case strings.TrimSpace(a.Value) != "":
			return described
		case a.Text:
			return empty
		default:
			return unknown
		}
	}
	if strings.TrimSpace(f.Doc) != "" {
		return described
	}
	return absent
}

// leadsOut reports whether a path is absolute, here or on Windows, or has .. in it.
func leadsOut(name string) bool {
	name = strings.ReplaceAll(name, `\`, "/")
	drive := len(name) > 2 && name[1] == ':' && name[2] == '/'
	return drive || strings.HasPrefix(name, "/") || slices.Contains(strings.Split(name, "/"), "..")
}
