package cli_test

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

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/programs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// emptyPhrase is the beginning of a fix that says nothing.
var emptyPhrase = regexp.MustCompile(`^(correct it|see|leave them out|give one of them)\b`)

// retried has the codes of causes that another try can change; only the fix of such a one begins with "try again".
var retried = []string{"cosigner-open", "audit-open", "owner-open", "domain-age-unsure", "peer-unavailable",
	"budget-spent", "authors-unknown", "labels-unknown"}

// TestFixesSaySomething reads every fix of every catalogue, and every one in the source.
func TestFixesSaySomething(t *testing.T) {
	read := 0
	hold := func(id, fix string) {
		if read++; emptyPhrase.MatchString(fix) {
			t.Errorf("%s: the fix is %q", id, fix)
		}
	}
	for _, p := range programs.All {
		for _, s := range p.Subjects {
			for _, r := range s.Rules {
				hold(r.ID, r.Fix)
				for _, c := range r.Codes {
					hold(r.ID+" "+c.ID, c.Fix)
					if strings.HasPrefix(c.Fix, "try again") && !slices.Contains(retried, c.ID) {
						t.Errorf("%s %s: the fix is %q", r.ID, c.ID, c.Fix)
					}
				}
			}
		}
	}
	var empty []string
	for _, root := range []string{"internal", "checks", "registry"} {
		err := filepath.WalkDir(filepath.Join("..", "..", root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			must.OK(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if fix, given := fixOf(call); given && fix == "" {
						empty = append(empty, filepath.ToSlash(path))
					} else if given {
						hold(path, fix)
					}
				}
				return true
			})
			return nil
		})
		must.OK(t, err)
	}
	if read < 1000 || !slices.Equal(empty, []string{"../../internal/frame/io.go"}) { // which reports a crash
		t.Errorf("%d fixes were read, without a text in %q; expected all of them, and one", read, empty)
	}
}

// fixOf returns the beginning of the fix that a call gives to an error or a finding, if it is a text of the source.
func fixOf(call *ast.CallExpr) (fix string, given bool) {
	name, at := "", 0
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
		if of, ok := f.X.(*ast.Ident); ok && of.Name == "remedy" {
			name = "remedy." + name
		}
	}
	switch name {
	case "remedy.With", "remedy.Coded":
		at = 1
	case "remedy.Errorf", "WithFix", "refusef", "inconclusivef":
	default:
		return "", false
	}
	arg := call.Args[at]
	for sum, ok := arg.(*ast.BinaryExpr); ok; sum, ok = arg.(*ast.BinaryExpr) {
		arg = sum.X
	}
	lit, given := arg.(*ast.BasicLit)
	if given {
		fix, _ = strconv.Unquote(lit.Value)
	}
	return fix, given
}
