package opengap

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/pytoken"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// skill is a .py file of the folder of skills, or a package there.
type skill struct {
	file      string // where its findings are placed: of a package the __init__.py
	module    string
	functions []function
	why       string       // why a function of the file is not among them
	variables []literal    // each where it is first
	computed  []verdict.At // where the name of a variable is computed
	outside   []literal    // paths that are absolute or have .. in them, each where it is first
	faults    []*fault     // of files that cannot be read as Python
	noted     map[string]bool
}

// function is a skill-decorated function.
type function struct {
	name     string
	at       verdict.At
	describe description
	origin   origin
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

// skills are those in a folder, by their names. The error wraps ErrTooLarge, or is what the system says.
func (a *agent) skills(dir string) ([]*skill, error) {
	var all []*skill
	entries, err := a.in(dir)
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
		case a.isDir(e.path):
			s.file = path.Join(e.path, "__init__.py")
			if a.stat(s.file) == nil {
				continue
			}
		case strings.HasSuffix(name, ".py"):
			s.module = strings.TrimSuffix(name, ".py")
		default:
			continue
		}
		if err := a.readSkill(s, e.path); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// readSkill reads the file of a skill, or all modules of its package, whose folder dir is.
func (a *agent) readSkill(s *skill, dir string) error {
	own, err := a.search(s, s.file)
	if err != nil {
		return err
	}
	for _, f := range own.Functions {
		if err := a.export(s, s.file, f); err != nil {
			return err
		}
	}
	if s.file == dir {
		return nil
	}
	under, all, err := a.below(dir)
	if err != nil {
		return err
	}
	init := under + "__init__.py"
	for _, e := range all {
		if strings.HasSuffix(e.path, ".py") && e.path != init {
			if _, err := a.search(s, e.path); err != nil {
				return err
			}
		}
	}
	var imports, stars []spot
	for _, name := range slices.Sorted(maps.Keys(own.Imports)) {
		for _, path := range own.Imports[name] {
			imports = append(imports, spot{init, path})
		}
	}
	for _, star := range own.Stars {
		stars = append(stars, spot{init, star})
	}
	offered, err := a.offered(stars)
	if err != nil {
		return err
	}
	for _, i := range append(imports, offered...) {
		err := a.follow(i, func(_, member, file string) (bool, error) {
			if !strings.HasPrefix(file, under) {
				return false, nil
			}
			p, err := a.parse(file)
			if err != nil || p.exported[member] == nil {
				return false, err
			}
			return true, a.export(s, file, p.exported[member])
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// offered returns what some modules offer to who imports *, and so on with those that they import * from.
func (a *agent) offered(modules []spot) (all []spot, err error) {
	seen := map[string]bool{}
	for range maxFiles {
		var next []spot
		for _, m := range modules {
			file, err := a.module(m.file, m.path)
			if err != nil {
				return nil, err
			}
			if file == "" || seen[file] {
				continue
			}
			seen[file] = true
			p, err := a.parse(file)
			if err != nil {
				return nil, err
			}
			names := slices.AppendSeq(slices.Collect(maps.Keys(p.exported)), maps.Keys(p.Imports))
			slices.Sort(names)
			for _, name := range names {
				if !strings.HasPrefix(name, "_") {
					all = append(all, spot{m.file, pytoken.Join(m.path, name)})
				}
			}
			for _, star := range p.Stars {
				next = append(next, spot{file, star})
			}
		}
		modules = next
	}
	return all, nil
}

// export notes that a skill exports a function of a file, if the decorator of a skill is on it.
func (a *agent) export(s *skill, file string, f *pytoken.Function) error {
	by, from, err := a.decorated(file, f)
	if err != nil {
		return err
	}
	switch {
	case by == nil:
		for _, d := range f.Decorators {
			if path := strings.Join(d.Paths, ", "); strings.HasSuffix("."+d.Name, ".skill") && path == "" {
				s.why = fmt.Sprintf("; @%s is not imported at column 0 or in a block of the module", d.Name)
			} else if strings.HasSuffix("."+d.Name, ".skill") || strings.HasSuffix(path, ".skill") {
				s.why = fmt.Sprintf("; @%s is imported as %s", d.Name, path)
			}
		}
	case !f.Exported:
		s.why = fmt.Sprintf("; %s is deleted or bound again after its definition", f.Name)
	case !s.noted["function "+file+" "+f.Name]:
		s.noted["function "+file+" "+f.Name] = true
		at := verdict.At{Path: file, Line: f.Line, Column: f.Column}
		s.functions = append(s.functions, function{f.Name, at, describe(f, by), from})
	}
	return nil
}

// search reads a file of a skill, and notes what it refers to.
func (a *agent) search(s *skill, name string) (*parsed, error) {
	again := a.parsed[name] != nil
	p, err := a.parse(name)
	if err != nil {
		return nil, err
	}
	if again { // the limits hold for skills that are links to one folder, too
		err = a.charge(p.size)
	}
	if p.fault != nil {
		s.faults = append(s.faults, p.fault)
	}
	for _, u := range p.Uses {
		s.use(u, verdict.At{Path: name, Line: u.Line, Column: u.Column})
	}
	return p, err
}

// use notes the variables and the paths that a call or subscription names.
func (s *skill) use(u pytoken.Use, at verdict.At) {
	for i, a := range u.Arguments {
		switch {
		case !strings.HasPrefix(u.Name, "os."):
			if a.IsText && leadsOut(a.Value) {
				s.outside = s.note(s.outside, "path", literal{a.Value, at})
			}
		case i > 0 && a.Keyword == "" || a.Keyword != "" && a.Keyword != "key":
		case a.IsText:
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
func describe(f *pytoken.Function, by *pytoken.Decorator) description {
	for _, a := range by.Arguments {
		switch {
		case a.Keyword == "**":
			return unknown
		case a.Keyword != "description" || a.IsNone:
		case strings.TrimSpace(a.Value) != "":
			return described
		case a.IsText:
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
