// Package apitest compares the exported names of the public packages with the files of testdata/api.
package apitest

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

const module = "github.com/openagentprotocol-OAP/oap-gate/"

// public are the packages that a program outside may import.
var public = []string{"gate", "registry", "checks"}

// environment is that of the test before its TestMain, which may take the build cache away.
var environment = os.Environ()

var update = flag.Bool("update", false, "write testdata/api again")

// Check compares the package of that name with its file: each line of the file must be among the package's names. A
// whole package promises each of its names and fields, so that the file must list them all; of methods, and of other
// packages, the file says which are promised. No promised name may have a type of internal/ in it for which no public
// package has an alias.
func Check(t *testing.T, name string, whole bool) {
	t.Helper()
	all := load(t)
	lines := Lines(all[name])
	file := filepath.Join("..", "testdata", "api", name+".txt")
	text, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	promised := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if *update {
		names := map[string]bool{}
		for _, line := range promised {
			names[nameOf(line)] = true
		}
		promised = slices.DeleteFunc(slices.Clone(lines),
			func(l string) bool { return !names[nameOf(l)] && !required(l, whole) })
		must.OK(t, os.WriteFile(file, []byte(strings.Join(promised, "\n")+"\n"), 0o644))
	}
	for _, problem := range Compare(lines, promised, whole) {
		t.Errorf("%s: %s", file, problem)
	}
	for _, line := range Unused(lines, promised, usesOf(t, name)) {
		t.Errorf("%s: %q is neither promised in %s nor used by another package: do not export it", name, line, file)
	}
	for _, leak := range Leaks(all[name], promised, aliases(all)) {
		t.Errorf("%s: %s", name, leak)
	}
}

// nameOf returns the name of which a line is: the first two words, such as "field Report.Verdict".
func nameOf(line string) string {
	kind, rest, _ := strings.Cut(line, " ")
	name, _, _ := strings.Cut(rest, " ")
	name, _, _ = strings.Cut(name, "(")
	return kind + " " + name
}

// Compare returns what is wrong with the promised lines of a package that has these lines.
func Compare(lines, promised []string, whole bool) (problems []string) {
	for _, line := range promised {
		if !slices.Contains(lines, line) {
			problems = append(problems, fmt.Sprintf("%q was promised, and is not in the package", line))
		}
	}
	for _, line := range lines {
		if required(line, whole) && !slices.Contains(promised, line) {
			problems = append(problems, fmt.Sprintf("%q is exported, and not listed: run the test with -update", line))
		}
	}
	return problems
}

// Uses are the names that the files of other packages use: those of the package itself, and all that they select from
// a value or set in a literal, whatever its type.
type Uses struct{ Names, Members map[string]bool }

// byInterface are the methods by which other modules reach a type, without naming them.
var byInterface = []string{"Error", "Is", "JSONSchemaAlias", "MarshalJSON", "MarshalText", "String", "Unwrap",
	"UnmarshalJSON", "UnmarshalText"}

// Unused returns the lines of a package that are neither promised nor among the uses. A type of another name, and a
// constant of a type of the package, are used with it.
func Unused(lines, promised []string, uses Uses) (unused []string) {
	names := map[string]bool{}
	for _, line := range promised {
		names[nameOf(line)] = true
	}
	for _, line := range lines {
		kind, name, _ := strings.Cut(nameOf(line), " ")
		of, member, isMember := strings.Cut(name, ".")
		used := names[nameOf(line)] || uses.Names[of]
		switch {
		case isMember:
			used = names[nameOf(line)] || uses.Members[member] || slices.Contains(byInterface, member)
		case kind == "type":
			word := regexp.MustCompile(`\b` + of + `\b`)
			used = used || slices.ContainsFunc(lines, func(l string) bool {
				return word.MatchString(strings.TrimPrefix(l, nameOf(l)))
			})
		case kind == "const":
			last := line[strings.LastIndex(line, " ")+1:]
			used = used || slices.Contains(lines, "type "+last)
		}
		if !used {
			unused = append(unused, line)
		}
	}
	return unused
}

// usesOf reads the Go files of the module outside of a package.
func usesOf(t *testing.T, pkg string) Uses {
	t.Helper()
	all := Uses{map[string]bool{}, map[string]bool{}}
	root := ".."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (path == filepath.Join(root, pkg) || path != root && strings.HasPrefix(d.Name(), ".") ||
			d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			all.add(file, pkg)
		}
		return err
	})
	must.OK(t, err)
	return all
}

// add adds what a file uses of a package.
func (u Uses) add(file *ast.File, pkg string) {
	local := ""
	for _, i := range file.Imports {
		if i.Path.Value == `"`+module+pkg+`"` {
			if local = pkg; i.Name != nil {
				local = i.Name.Name
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			u.Members[n.Sel.Name] = true
			if x, ok := n.X.(*ast.Ident); ok && x.Name == local {
				u.Names[n.Sel.Name] = true
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok {
				u.Members[key.Name] = true
			}
		}
		return true
	})
}

// required reports whether a line must be in the file.
func required(line string, whole bool) bool { return whole && !strings.HasPrefix(line, "method ") }

// Lines returns the exported names of a package with their types, a line each, those of fields and methods among them.
func Lines(pkg *types.Package) (lines []string) {
	in := func(p *types.Package) string {
		if p == pkg {
			return ""
		}
		return p.Name()
	}
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		kind := strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", o), "*types."))
		tn, isType := o.(*types.TypeName)
		if !isType {
			lines = append(lines, kind+" "+name+" "+types.TypeString(o.Type(), in))
			continue
		}
		of := types.Unalias(o.Type())
		line := "type " + name
		if tn.IsAlias() {
			line += " = " + types.TypeString(of, in)
		}
		lines = append(lines, line)
		members(of, func(o types.Object) {
			kind := "method "
			if _, isField := o.(*types.Var); isField {
				kind = "field "
			}
			lines = append(lines, kind+name+"."+o.Name()+" "+types.TypeString(o.Type(), in))
		})
	}
	slices.Sort(lines)
	return lines
}

// members passes the exported fields and methods of a type to each.
func members(of types.Type, each func(types.Object)) {
	if s, ok := of.Underlying().(*types.Struct); ok {
		for i := range s.NumFields() {
			if f := s.Field(i); f.Exported() {
				each(f)
			}
		}
	}
	set := types.NewMethodSet(types.NewPointer(of))
	for i := range set.Len() {
		if m := set.At(i).Obj(); m.Exported() && len(set.At(i).Index()) == 1 {
			each(m)
		}
	}
}

// aliases returns the types of internal/ that a public package gives a name.
func aliases(all map[string]*types.Package) map[*types.TypeName]bool {
	known := map[*types.TypeName]bool{}
	for _, pkg := range all {
		for _, name := range pkg.Scope().Names() {
			if tn, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && tn.IsAlias() && tn.Exported() {
				if named, ok := types.Unalias(tn.Type()).(*types.Named); ok {
					known[named.Obj()] = true
				}
			}
		}
	}
	return known
}

// Leaks returns the promised names of a package in whose types a type of internal/ appears that is not among the known.
func Leaks(pkg *types.Package, promised []string, known map[*types.TypeName]bool) (leaks []string) {
	names := map[string]bool{}
	for _, line := range promised {
		names[nameOf(line)] = true
	}
	check := func(name string, t types.Type) {
		seen := map[types.Type]bool{}
		walk(t, seen, func(tn *types.TypeName) {
			if tn.Pkg() != nil && strings.HasPrefix(tn.Pkg().Path(), module+"internal/") && !known[tn] {
				leaks = append(leaks, fmt.Sprintf("%s leaks %s.%s, for which no public package has an alias", name,
					tn.Pkg().Name(), tn.Name()))
			}
		})
	}
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		tn, isType := o.(*types.TypeName)
		switch {
		case !o.Exported():
		case !isType:
			kind := strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", o), "*types."))
			if names[kind+" "+name] {
				check(name, o.Type())
			}
		default:
			members(types.Unalias(tn.Type()), func(m types.Object) {
				if names["field "+name+"."+m.Name()] || names["method "+name+"."+m.Name()] {
					check(name+"."+m.Name(), m.Type())
				}
			})
		}
	}
	return leaks
}

// walk passes each named type in t to each, without going into it.
func walk(t types.Type, seen map[types.Type]bool, each func(*types.TypeName)) {
	if seen[t] {
		return
	}
	seen[t] = true
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		each(t.Obj())
		for i := range t.TypeArgs().Len() {
			walk(t.TypeArgs().At(i), seen, each)
		}
	case *types.Pointer:
		walk(t.Elem(), seen, each)
	case *types.Slice:
		walk(t.Elem(), seen, each)
	case *types.Array:
		walk(t.Elem(), seen, each)
	case *types.Chan:
		walk(t.Elem(), seen, each)
	case *types.Map:
		walk(t.Key(), seen, each)
		walk(t.Elem(), seen, each)
	case *types.Signature:
		walk(t.Params(), seen, each)
		walk(t.Results(), seen, each)
	case *types.Tuple:
		for i := range t.Len() {
			walk(t.At(i).Type(), seen, each)
		}
	case *types.Struct:
		for i := range t.NumFields() {
			walk(t.Field(i).Type(), seen, each)
		}
	case *types.Interface:
		for i := range t.NumMethods() {
			walk(t.Method(i).Type(), seen, each)
		}
	}
}

// load reads the public packages as the compiler exports them.
func load(t *testing.T) map[string]*types.Package {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}
	for _, name := range public {
		args = append(args, "./"+name)
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Env = "..", environment
	out, err := cmd.Output()
	must.OK(t, err)
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, errors.New("no export data of " + path)
		}
		return os.Open(files[path])
	})
	all := map[string]*types.Package{}
	for _, name := range public {
		if all[name], err = from.Import(module + name); err != nil {
			t.Fatal(err)
		}
	}
	return all
}
