package apitest

import (
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestCheckFails adds one offender of each kind to a package that is right, and expects it to be named.
func TestCheckFails(t *testing.T) {
	inner := types.NewPackage(module+"internal/inner", "inner")
	hidden := types.NewNamed(types.NewTypeName(token.NoPos, inner, "Hidden", nil), types.NewStruct(nil, nil), nil)
	shown := types.NewNamed(types.NewTypeName(token.NoPos, inner, "Shown", nil), types.NewStruct(nil, nil), nil)
	function := func(pkg *types.Package, name string, result types.Type) *types.Func {
		return types.NewFunc(token.NoPos, pkg, name, types.NewSignatureType(nil, nil, nil, nil,
			types.NewTuple(types.NewVar(token.NoPos, pkg, "", types.NewPointer(result))), false))
	}
	known := map[*types.TypeName]bool{shown.Obj(): true}
	pkg := types.NewPackage(module+"gate", "gate")
	pkg.Scope().Insert(function(pkg, "Good", shown))
	promised := Lines(pkg)
	if problems := append(Compare(Lines(pkg), promised, true), Leaks(pkg, promised, known)...); problems != nil {
		t.Fatalf("the package without an offender: %q", problems)
	}

	gone := append([]string{"func Gone func()"}, promised...)
	if problems := Compare(Lines(pkg), gone, false); len(problems) != 1 || !strings.Contains(problems[0], "Gone") {
		t.Errorf("a promised name that is gone: %q", problems)
	}
	pkg.Scope().Insert(function(pkg, "Leaky", hidden))
	if problems := Compare(Lines(pkg), promised, true); len(problems) != 1 || !strings.Contains(problems[0], "Leaky") {
		t.Errorf("a name that is not listed: %q", problems)
	}
	if problems := Compare(Lines(pkg), promised, false); problems != nil {
		t.Errorf("a further name of a package that promises some: %q", problems)
	}
	own := "package user\nimport api \"" + module + "gate\"\nvar v = api.Leaky().Field"
	file := must.Get(parser.ParseFile(token.NewFileSet(), "user.go", own, parser.SkipObjectResolution))(t)
	uses := Uses{map[string]bool{}, map[string]bool{}}
	if unused := Unused(Lines(pkg), promised, uses); len(unused) != 1 || !strings.Contains(unused[0], "Leaky") {
		t.Errorf("a name that is neither promised nor used: %q", unused)
	}
	uses.add(file, "gate")
	if unused := Unused(append(Lines(pkg), "field Hidden.Field int"), promised, uses); unused != nil {
		t.Errorf("names that another package uses: %q", unused)
	}
	if unused := Unused([]string{"field Hidden.Other int", "method Hidden.String func() string"}, nil, uses); len(
		unused) != 1 || !strings.Contains(unused[0], "Other") {
		t.Errorf("a field that nobody uses, and a method that an interface reaches: %q", unused)
	}
	leaks := Leaks(pkg, Lines(pkg), known)
	if len(leaks) != 1 || !strings.Contains(leaks[0], "Leaky leaks inner.Hidden") {
		t.Errorf("a leak: %q", leaks)
	}
}
