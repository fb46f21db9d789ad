package cli_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestCodesAreNotText checks that no package but checks, in a check's own file, compares the code of a finding with a
// text: a code that others ask for is a constant beside its check.
func TestCodesAreNotText(t *testing.T) {
	const root = "../.."
	files := token.NewFileSet()
	read := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || path == filepath.Join(root, "checks")):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		read++
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if at := textOfCode(n); at.IsValid() {
				t.Errorf("%s compares a code with a text", files.Position(at))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 100 {
		t.Errorf("%d files were read: the test shows nothing", read)
	}
}

// textOfCode is where a node compares a member Code with a text, no place where it does not.
func textOfCode(n ast.Node) token.Pos {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		compares := n.Op == token.EQL || n.Op == token.NEQ
		if compares && (namesCode(n.X) && isLiteral(n.Y) || isLiteral(n.X) && namesCode(n.Y)) {
			return n.OpPos
		}
	case *ast.SwitchStmt:
		if !namesCode(n.Tag) {
			break
		}
		for _, clause := range n.Body.List {
			for _, e := range clause.(*ast.CaseClause).List {
				if isLiteral(e) {
					return e.Pos()
				}
			}
		}
	}
	return token.NoPos
}

func namesCode(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Code"
}

// isLiteral reports whether e is a text that is not empty.
func isLiteral(e ast.Expr) bool {
	l, ok := e.(*ast.BasicLit)
	return ok && l.Kind == token.STRING && len(l.Value) > 2
}
