package opengap

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// skill is a .py file of the directory of skills, or a package there.
type skill struct {
	file       string // where its findings are placed; a package's __init__.py
	module     string
	functions  []function
	why        string          // why a function of the file is not among them
	undeclared []literal       // modules that nothing declares, each where it is first
	faults     []*fault        // of files that were not read as Python
	outside    verdict.Outcome // findings on paths that leave the directory
	variables  verdict.Outcome // findings on variables
	described  verdict.Outcome // findings on descriptions
	noted      map[[2]string]bool
}

// function is a skill-decorated function.
type function struct {
	name   string
	at     verdict.At
	origin origin
}

// names returns the names of the functions.
func (s *skill) names() (all []string) {
	for _, f := range s.functions {
		all = append(all, f.name)
	}
	return all
}

// literal is a text in the source.
type literal struct {
	text string
	at   verdict.At
}

// skills returns the skills in a directory, by their names.
func (a *agent) skills(dir string) (all []*skill) {
	for _, e := range a.in(dir) {
		name := path.Base(e.path)
		s := &skill{file: e.path, module: strings.TrimSuffix(name, ".py"), noted: map[[2]string]bool{}}
		isDir := a.mode(e.path).IsDir()
		if isDir {
			s.file, s.module = path.Join(e.path, initName), name
		}
		if strings.HasPrefix(name, "_") || !strings.HasSuffix(s.file, ".py") ||
			isDir && a.mode(s.file) == fs.ModeIrregular {
			continue
		}
		a.readSkill(s, e.path)
		all = append(all, s)
	}
	return all
}

const initName = "__init__.py"

// readSkill reads the file of a skill, or all modules of its package, whose directory dir is.
func (a *agent) readSkill(s *skill, dir string) {
	own := a.search(s, s.file)
	for _, f := range own.Functions {
		a.export(s, s.file, f)
	}
	if s.file == dir {
		return
	}
	under, all := a.below(dir)
	for _, e := range all {
		if strings.HasSuffix(e.path, ".py") && e.path != under+initName {
			a.search(s, e.path)
		}
	}
	var imports []string
	for _, name := range slices.Sorted(maps.Keys(own.Imports)) {
		imports = append(imports, own.Imports[name]...)
	}
	a.follow(under+initName, imports, func(_, member, in string) bool {
		if !strings.HasPrefix(in, under) {
			return false
		}
		for _, f := range a.parse(in).Functions {
			if f.Name == member || member == "*" && !strings.HasPrefix(f.Name, "_") {
				a.export(s, in, f)
			}
		}
		return false
	})
	slices.SortFunc(s.functions, func(a, b function) int {
		return cmp.Or(cmp.Compare(a.at.Path, b.at.Path), cmp.Compare(a.at.Line, b.at.Line), cmp.Compare(a.name, b.name))
	})
}

// export notes that a skill exports a function of a file, if the decorator of a skill is on it.
func (a *agent) export(s *skill, file string, f *decoratedFunction) {
	by, from := a.decorated(file, f)
	switch {
	case by == nil:
		for _, d := range f.Decorators {
			if is := strings.Join(d.Paths, ", "); strings.HasSuffix("."+d.Name, ".skill") && is == "" {
				s.why = fmt.Sprintf("; @%s is not imported at column 0 or in a block of the module", d.Name)
			} else if strings.HasSuffix("."+d.Name, ".skill") || strings.HasSuffix(is, ".skill") {
				s.why = fmt.Sprintf("; @%s is imported as %s", d.Name, is)
				s.undeclared = slices.DeleteFunc(s.undeclared, func(l literal) bool { // one cause, one finding
					return slices.ContainsFunc(d.Paths, func(p string) bool { return strings.HasPrefix(p, l.text+".") })
				})
			}
		}
	case !f.Exported:
		s.why = fmt.Sprintf("; %s is deleted or bound again after its definition", f.Name)
	case s.first("function "+file, f.Name):
		one := function{f.Name, verdict.At{Path: file, Line: f.Line, Column: 1}, from}
		s.functions = append(s.functions, one)
		a.describe(&s.described, one, by, f.Doc)
	}
}

// search reads a file of a skill, and notes what it refers to.
func (a *agent) search(s *skill, name string) *parsed {
	if again := a.parsed[name]; again != nil { // the limits hold for skills that are links to one directory, too
		a.charge(again.size)
	}
	p := a.parse(name)
	if p.fault != nil {
		s.faults = append(s.faults, p.fault)
	}
	at := func(of spot) verdict.At { return verdict.At{Path: name, Line: of.Line, Column: of.Column} }
	for _, v := range p.Environ {
		switch {
		case v.Text == nil:
			s.variables.Noticef(at(v), "", "computed-name",
				"the name of an environment variable is computed here, so that it was not judged")
		case s.first("variable", *v.Text):
			a.judgeVariable(&s.variables, literal{*v.Text, at(v)})
		}
	}
	for _, v := range p.Paths {
		if shown, out := leaves(*v.Text); out && s.first("path", shown) {
			s.outside.Warnf(at(v), "", "path-in-code", "it uses the path %q, which leaves the agent's directory", shown)
		}
	}
	for _, v := range a.undeclared(p) {
		if s.first("module", *v.Text) {
			s.undeclared = append(s.undeclared, literal{*v.Text, at(v)})
		}
	}
	return p
}

// unread returns the fault that left the skill undecided, or nil.
func (s *skill) unread() *fault {
	if i := slices.IndexFunc(s.faults, func(f *fault) bool { return f.code != "not-python" }); i >= 0 {
		return s.faults[i]
	}
	return nil
}

// first reports whether it is asked for the first time about a text of a kind.
func (s *skill) first(kind, text string) bool {
	known := s.noted[[2]string{kind, text}]
	s.noted[[2]string{kind, text}] = true
	return !known
}

// describe judges the description of a function: the decorator's argument, else the docstring.
func (a *agent) describe(out *verdict.Outcome, f function, by *decorator, doc string) {
	switch {
	case len(by.Said) > 0 && by.Said[0].Text == nil:
		out.Noticef(f.at, "", "computed-description", "the description of %s is computed, so that it was not judged",
			f.name)
	case len(by.Said) > 0 && strings.TrimSpace(*by.Said[0].Text) == "":
		out.Add(f.at, a.recommended, "", "no-description", "the description of %s is empty", f.name)
	case len(by.Said) == 0 && strings.TrimSpace(doc) == "":
		out.Add(f.at, a.recommended, "", "no-description", "%s has neither a description= nor a docstring", f.name)
	}
}

// leadsOut reports whether a path is absolute, here or on Windows, or has .. in it.
func leadsOut(name string) bool {
	name = strings.ReplaceAll(name, `\`, "/")
	drive := len(name) > 2 && name[1] == ':' && name[2] == '/'
	return drive || strings.HasPrefix(name, "/") || slices.Contains(strings.Split(name, "/"), "..")
}
