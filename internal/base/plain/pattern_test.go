package plain

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPatterns checks that no package of this module compiles an expression or a template when a program starts, and
// that each expression of a [Pattern] compiles: it would panic at its first use else.
func TestPatterns(t *testing.T) {
	const root = "../.."
	patterns := 0
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return err
		case dir != root && strings.HasPrefix(d.Name(), "."), d.Name() == "testdata":
			return fs.SkipDir
		}
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			return err
		}
		positions := token.NewFileSet()
		var files []*ast.File
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(positions, name, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			files = append(files, f)
		}
		at := func(n ast.Node) string { return positions.Position(n.Pos()).String() }
		texts := texts(files)
		for _, f := range files {
			for _, n := range initial(f) {
				if call := called(n); slices.Contains([]string{"regexp.MustCompile", "regexp.Compile",
					"template.Must", "template.New"}, call) {
					t.Errorf("%s: %s runs when the program starts; use plain.Pattern or sync.OnceValue", at(n), call)
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if c := called(n); c != "plain.Pattern" && (c != "Pattern" || f.Name.Name != "plain") {
					return true
				}
				patterns++
				text, known := constant(n.(*ast.CallExpr).Args[0], texts)
				if _, err := regexp.Compile(text); err != nil || !known {
					t.Errorf("%s: want a constant expression that compiles: %v", at(n), err)
				}
				return true
			})
		}
		return nil
	})
	if err != nil || patterns < 50 {
		t.Errorf("%d patterns found, %v", patterns, err)
	}
}

// initial are the nodes of a file that are evaluated when the program starts: those of package variables and of func
// init, but for functions that are only defined there.
func initial(f *ast.File) []ast.Node {
	var nodes []ast.Node
	var visit func(ast.Node)
	visit = func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.FuncLit); ok {
					visit(f.Body)
				}
			}
			nodes = append(nodes, n)
			return true
		})
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			visit(d)
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "init" {
				visit(d.Body)
			}
		}
	}
	return nodes
}

// called is the name of the function that a node calls, with its package; empty for other nodes.
func called(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return ""
	}
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if pkg, ok := f.X.(*ast.Ident); ok {
			return pkg.Name + "." + f.Sel.Name
		}
	}
	return ""
}

// texts are the constants of a package that are texts, or made of such, by name.
func texts(files []*ast.File) map[string]ast.Expr {
	out := map[string]ast.Expr{}
	for _, f := range files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				s := s.(*ast.ValueSpec)
				for i, v := range s.Values {
					out[s.Names[i].Name] = v
				}
			}
		}
	}
	return out
}

// constant is the text of a constant expression; false where it is none.
func constant(e ast.Expr, texts map[string]ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		a, left := constant(e.X, texts)
		b, right := constant(e.Y, texts)
		return a + b, left && right && e.Op == token.ADD
	case *ast.Ident:
		if e, known := texts[e.Name]; known {
			return constant(e, texts)
		}
	}
	return "", false
}
