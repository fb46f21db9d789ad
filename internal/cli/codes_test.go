package cli_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// coded are the packages that give findings their codes, from the root of the module. Each protocol is one.
var coded = append(protocols(), []string{
	"checks", "internal/judge", "internal/judge/checkcmd", "registry", "internal/cli/table", "internal/oap/did",
	"internal/install/doctor", "internal/forge/automerge", "internal/oap/domainage",
	"internal/evidence", "internal/evidence/bundle", "internal/evidence/live", refusals, "internal/oap/manifest",
	"internal/mirror", "internal/mirror/prove", "internal/mirror/publish", "internal/mirror/mirrorstate",
	"internal/oap/proof", "internal/conformance/opengap/trial", "internal/conformance/aaep/judge",
	"internal/conformance/aaep/claim", "internal/conformance/aaep/client", "internal/conformance/aaep/server",
	"internal/author", "internal/author/authorcmd", "internal/frame", "internal/mirror/mirrorcmd",
	"internal/verify/verifycmd", "internal/oap/receipt", "internal/report", "internal/strict/schema",
	"internal/governance", "internal/strict", "internal/verify",
	vocabulary, errorsWithCodes,
}...)

// protocols returns the packages of the companion protocols.
func protocols() (all []string) {
	dirs, _ := filepath.Glob(filepath.Join("..", "conformance", "*"))
	for _, dir := range dirs {
		if name := filepath.Base(dir); filepath.Ext(name) == "" && !strings.HasSuffix(name, "cmd") {
			all = append(all, "internal/conformance/"+name)
		}
	}
	return all
}

// vocabulary, errorsWithCodes and refusals are the packages whose functions take a code wherever they are called.
const (
	vocabulary      = "internal/verdict"
	errorsWithCodes = "internal/base/remedy"
	refusals        = "internal/evidence/sources"
)

// TestEveryCodeIsExplained holds, by the source alone, that each code that a finding may be given has a meaning and a
// fix, and that none is explained that no finding is given.
func TestEveryCodeIsExplained(t *testing.T) {
	root := filepath.Join("..", "..")
	known := map[string]bool{}
	for _, c := range clitest.Codes() {
		known[c.ID] = true
		if c.Meaning == "" || c.Fix == "" {
			t.Errorf("the code %q has no meaning or no fix", c.ID)
		}
	}
	s := &source{fset: token.NewFileSet(), consts: map[string]string{}, types: map[string]ast.Expr{}}
	for _, dir := range coded {
		must.OK(t, s.parse(root, dir))
	}
	given, prefixes := map[string]bool{}, map[string]bool{}
	for _, e := range s.emitted() {
		given[e.code] = given[e.code] || !e.prefix
		prefixes[e.code] = prefixes[e.code] || e.prefix
		explained := known[e.code]
		if e.prefix {
			explained = slices.ContainsFunc(clitest.Codes(), func(c strict.Code) bool {
				return strings.HasPrefix(c.ID, e.code)
			})
		}
		if !explained {
			t.Errorf("%s: nothing explains the code %q; add\n\t{%q, \"what it means\", \"what would pass\"},\nto %s",
				e.at, e.code, e.code, s.tables(e.dir, e.file))
		}
	}
	if len(given) < 100 {
		t.Fatalf("only %d codes were found in the source: the search misses most", len(given))
	}
	for id := range known {
		begun := false
		for p := range prefixes {
			begun = begun || prefixes[p] && strings.HasPrefix(id, p)
		}
		if !given[id] && !begun {
			t.Errorf("no finding has the code %q, which is explained: drop it from its table", id)
		}
	}
}

// TestUnexplainedCodeIsFound checks that the search sees each way in which the source gives a finding its code.
func TestUnexplainedCodeIsFound(t *testing.T) {
	root := t.TempDir()
	text := `package p
const late = "by-constant"
func (o *Outcome) errorf(s *Subject, pointer, code, format string, args ...any) {}
type line struct{ pointer, code string }
func of() string { if true { return late }; return "by-function" }
func named() (owner, code string) { return "x", "by-result" }
func f(o *Outcome, s *Subject, k string) {
	o.errorf(s, "/x", "by-argument", "text %s", k)
	o.errorf(s, "/x", "by-prefix-"+k, "text")
	o.errorf(s, "/x", of(), "text")
	_ = Finding{Code: "by-member"}
	code := "by-variable"
	w.why, w.code = "x", "by-assignment"
	worth := func(as int, code string) {}
	worth(1, "by-closure")
	for range []struct{ pointer, code string }{{"/x", "by-row"}} {}
	_ = []line{{"/x", "by-named-row"}}
	for range []Code{{"explained", "not given", ""}} {}
}
`
	must.OK(t, os.WriteFile(filepath.Join(root, "p.go"), []byte(text), 0o666))
	s := &source{fset: token.NewFileSet(), consts: map[string]string{}, types: map[string]ast.Expr{}}
	must.OK(t, s.parse(root, "."))
	var got []string
	for _, e := range s.emitted() {
		got = append(got, e.code)
	}
	slices.Sort(got)
	want := []string{"by-argument", "by-assignment", "by-closure", "by-constant", "by-function", "by-member",
		"by-named-row", "by-prefix-", "by-result", "by-row", "by-variable"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// source is the syntax of the packages that give codes.
type source struct {
	fset   *token.FileSet
	files  []file
	consts map[string]string   // texts of constants, by package and name
	types  map[string]ast.Expr // types by package and name
}

type file struct {
	dir, path string
	*ast.File
}

func (s *source) parse(root, dir string) error {
	return filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && path != filepath.Join(root, dir) {
				return fs.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(s.fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		s.files = append(s.files, file{dir, path, f})
		ast.Inspect(f, func(n ast.Node) bool {
			if t, ok := n.(*ast.TypeSpec); ok {
				s.types[f.Name.Name+"."+t.Name.Name] = t.Type
			}
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Names) == len(v.Values) {
				for i, name := range v.Names {
					if text, ok := literal(v.Values[i]); ok {
						s.consts[f.Name.Name+"."+name.Name] = text
					}
				}
			}
			return true
		})
		return nil
	})
}

// emission is a place of the source where a finding is given a code, or the beginning of one.
type emission struct {
	code, dir, file, at string
	prefix              bool
	mild                bool // the finding is not an error
}

// emitted finds the codes: what is given as a parameter, result, variable, row or member called code, as a text, a
// constant, a sum of a text and something else, or by a function of the package that gives nothing else.
func (s *source) emitted() []emission {
	var out []emission
	for _, f := range s.files {
		takes := s.parameters(f.dir) // where a function of the package takes a code
		mild := false
		add := func(x ast.Expr) {
			for _, e := range s.texts(f, x, true) {
				e.dir, e.file, e.mild = f.dir, f.path, mild
				if e.at == "" {
					e.at = s.fset.Position(x.Pos()).String()
				}
				out = append(out, e)
			}
		}
		results := func(fn *ast.FuncType, body *ast.BlockStmt) {
			i := index(fn.Results, "code")
			if i < 0 || body == nil {
				return
			}
			for _, r := range returns(body) {
				if i < len(r.Results) {
					add(r.Results[i])
				}
			}
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if i, ok := takes[called(n)]; ok && i < len(n.Args) {
					mild = isMild(n)
					add(n.Args[i])
					mild = false
				}
			case *ast.KeyValueExpr:
				if name, ok := n.Key.(*ast.Ident); ok && (name.Name == "Code" || name.Name == "code") {
					add(n.Value)
				}
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					if isCode(to) && len(n.Lhs) == len(n.Rhs) {
						add(n.Rhs[i])
					}
				}
			case *ast.FuncDecl:
				results(n.Type, n.Body)
			case *ast.FuncLit:
				results(n.Type, n.Body)
			case *ast.CompositeLit:
				list, _ := n.Type.(*ast.ArrayType)
				if list == nil {
					break
				}
				elt := list.Elt
				if name, ok := elt.(*ast.Ident); ok {
					elt = s.types[f.Name.Name+"."+name.Name]
				}
				row, _ := elt.(*ast.StructType)
				if row == nil {
					break
				}
				if i := index(row.Fields, "code"); i >= 0 {
					for _, e := range n.Elts {
						if e, ok := e.(*ast.CompositeLit); ok && i < len(e.Elts) {
							add(e.Elts[i])
						}
					}
				}
			}
			return true
		})
	}
	return out
}

// texts are the codes that an expression may be.
func (s *source) texts(f file, x ast.Expr, follow bool) []emission {
	if text, ok := literal(x); ok && text != "" {
		return []emission{{code: text}}
	}
	switch x := x.(type) {
	case *ast.Ident:
		if text := s.consts[f.Name.Name+"."+x.Name]; text != "" {
			return []emission{{code: text}}
		}
	case *ast.SelectorExpr:
		if pkg, ok := x.X.(*ast.Ident); ok && s.consts[pkg.Name+"."+x.Sel.Name] != "" {
			return []emission{{code: s.consts[pkg.Name+"."+x.Sel.Name]}}
		}
	case *ast.BinaryExpr:
		if text, ok := literal(x.X); ok {
			return []emission{{code: text, prefix: true}}
		}
	case *ast.CallExpr:
		var out []emission
		for _, g := range s.files {
			for _, d := range g.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !follow || !ok || g.dir != f.dir || fn.Name.Name != called(x) || fn.Body == nil {
					continue
				}
				for _, r := range returns(fn.Body) {
					if len(r.Results) == 1 {
						for _, e := range s.texts(g, r.Results[0], false) {
							e.at = s.fset.Position(r.Pos()).String()
							out = append(out, e)
						}
					}
				}
			}
		}
		return out
	}
	return nil
}

// parameters tells at which place the functions of a package, and those of the vocabulary, take a code, by name.
func (s *source) parameters(dir string) map[string]int {
	out := map[string]int{}
	for _, f := range s.files {
		if f.dir != dir && f.dir != vocabulary && f.dir != errorsWithCodes && f.dir != refusals {
			continue
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if i := index(n.Type.Params, "code"); i >= 0 {
					out[n.Name.Name] = i
				}
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					if fn, ok := n.Rhs[min(i, len(n.Rhs)-1)].(*ast.FuncLit); ok {
						if name, ok := to.(*ast.Ident); ok && index(fn.Type.Params, "code") >= 0 {
							out[name.Name] = index(fn.Type.Params, "code")
						}
					}
				}
			}
			return true
		})
	}
	return out
}

// tables says where codes are explained: in the file itself, else anywhere in its package.
func (s *source) tables(dir, path string) string {
	var here, near []string
	for _, f := range s.files {
		if f.dir != dir {
			continue
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			var at token.Pos
			name := "Codes"
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == name {
					at = n.Pos()
				}
			case *ast.ValueSpec:
				if strings.HasSuffix(strings.ToLower(n.Names[0].Name), "codes") {
					at, name = n.Pos(), n.Names[0].Name
				}
			}
			if at != token.NoPos {
				entry := fmt.Sprintf("%s at %s", name, s.fset.Position(at))
				near = append(near, entry)
				if f.path == path {
					here = append(here, entry)
				}
			}
			return true
		})
	}
	switch {
	case len(here) > 0:
		return strings.Join(here, " or ")
	case len(near) > 0:
		return "that of the check that reports it: " + strings.Join(near, ", ")
	}
	return "the Codes of the check that reports it, in package checks (of History or Consistency: checks/all.go)"
}

func literal(x ast.Expr) (string, bool) {
	if lit, ok := x.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		text, err := strconv.Unquote(lit.Value)
		return text, err == nil
	}
	return "", false
}

func called(x *ast.CallExpr) string {
	switch f := x.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok && (x.Name == "fmt" || x.Name == "remedy" && f.Sel.Name == "Errorf") {
			return "" // its Errorf is not that of an outcome
		}
		return f.Sel.Name
	}
	return ""
}

// isMild reports whether a call makes a finding that is not an error, by its name or by an argument.
func isMild(call *ast.CallExpr) bool {
	names := []string{called(call)}
	for _, arg := range call.Args {
		switch arg := arg.(type) {
		case *ast.Ident:
			names = append(names, arg.Name)
		case *ast.SelectorExpr:
			names = append(names, arg.Sel.Name)
		}
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.Contains([]string{"Warnf", "warnf", "Noticef", "noticef", "Doubtf", "doubtf", "Unavailable",
			"Unsought", "Warning", "Notice", "Doubt"}, name)
	})
}

func isCode(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name == "code"
	case *ast.SelectorExpr:
		return x.Sel.Name == "code" || x.Sel.Name == "Code"
	}
	return false
}

// index is the place of a name among parameters, results or members, -1 where it is not there.
func index(list *ast.FieldList, name string) int {
	if list == nil {
		return -1
	}
	i := 0
	for _, f := range list.List {
		for _, n := range f.Names {
			if n.Name == name {
				return i
			}
			i++
		}
	}
	return -1
}

// returns are the return statements of a function, those of functions in it left out.
func returns(body *ast.BlockStmt) []*ast.ReturnStmt {
	var out []*ast.ReturnStmt
	ast.Inspect(body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok {
			out = append(out, r)
		}
		_, inner := n.(*ast.FuncLit)
		return !inner
	})
	return out
}
