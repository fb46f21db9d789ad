package cli_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/programs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install/doctor"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
)

// TestContract compares testdata/contract.txt with the names that users and scripts rely on. It has one sorted line per
// name. A new name adds a line; a line that changes or disappears is a change of the public contract.
func TestContract(t *testing.T) {
	names := slices.Concat(ruleNames(), actionNames(t), environmentNames(t), schemaMembers(t))
	for _, p := range programs.All {
		names = append(names, commandNames(cli.Command(p, frame.IO{}))...)
	}
	for _, v := range []verdict.Verdict{verdict.Passed, verdict.Failed, verdict.Errored, verdict.Inconclusive} {
		names = append(names, fmt.Sprintf("exit %d: %s", v.ExitStatus(), v))
	}
	slices.Sort(names)
	made := strings.Join(slices.Compact(names), "\n") + "\n"
	path := filepath.Join("..", "..", "testdata", "contract.txt")
	if *update {
		must.OK(t, os.WriteFile(path, []byte(made), 0o644))
	}
	text := must.Read(t, path)
	for _, line := range missing(made, string(text)) {
		t.Errorf("testdata/contract.txt lacks %q; run: go test ./internal/cli -run TestContract -update", line)
	}
	for _, line := range missing(string(text), made) {
		t.Errorf("the program no longer has %q: this changes the public contract", line)
	}
}

// missing returns the lines of a that b lacks.
func missing(a, b string) []string {
	return slices.DeleteFunc(slices.Collect(strings.Lines(a)), func(line string) bool {
		return strings.HasPrefix(b, line) || strings.Contains(b, "\n"+line)
	})
}

func TestContractNoticesARename(t *testing.T) {
	old, renamed := "check alpha\ncheck beta\n", "check alpha\ncheck gamma\n"
	if got := missing(old, renamed); !slices.Equal(got, []string{"check beta\n"}) {
		t.Errorf("got %q", got)
	}
	if got := missing(renamed, old); !slices.Equal(got, []string{"check gamma\n"}) {
		t.Errorf("got %q", got)
	}
	if got := missing(old, old); len(got) > 0 {
		t.Errorf("got %q for equal texts", got)
	}
}

// ruleNames returns the ids of all checks and steps, and all codes.
func ruleNames() (names []string) {
	steps := verdict.IDs(verify.Rules())
	for _, p := range programs.All {
		for _, s := range p.Subjects {
			for _, rule := range s.Rules {
				if !slices.Contains(steps, rule.ID) {
					names = append(names, "check "+rule.ID)
				}
			}
		}
	}
	for _, id := range verdict.IDs(mirror.Catalogue()) { // a check and a step may share an id
		names = append(names, "check "+id)
	}
	for _, id := range steps {
		names = append(names, "step "+id)
	}
	for _, c := range clitest.Codes() {
		names = append(names, "code "+c.ID)
	}
	return names
}

// commandNames returns a command, its flags, and those of all commands below it.
func commandNames(c *cobra.Command) (names []string) {
	names = append(names, "command "+c.CommandPath())
	c.Flags().VisitAll(func(f *pflag.Flag) {
		name := fmt.Sprintf("flag %s --%s", c.CommandPath(), f.Name)
		if f.Shorthand != "" {
			name += ", -" + f.Shorthand
		}
		names = append(names, name)
	})
	for _, sub := range c.Commands() {
		names = append(names, commandNames(sub)...)
	}
	return names
}

// actionNames returns the inputs, with their defaults, and the outputs of action.yml.
func actionNames(t *testing.T) (names []string) {
	text := must.Read(t, filepath.Join("..", "..", "action.yml"))
	var action struct {
		Inputs map[string]struct {
			Default string `yaml:"default"`
		} `yaml:"inputs"`
		Outputs map[string]any `yaml:"outputs"`
	}
	must.OK(t, yaml.Unmarshal(text, &action))
	for name, in := range action.Inputs {
		line := "input " + name
		if in.Default != "" {
			line += ": default " + in.Default
		}
		names = append(names, line)
	}
	for name := range action.Outputs {
		names = append(names, "output "+name)
	}
	return names
}

// environmentNames returns the environment variables that the program reads by name, as its source calls them.
func environmentNames(t *testing.T) (names []string) {
	productFiles(t, func(_ *token.FileSet, file *ast.File) {
		if slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` }) {
			return // it helps tests, which no program runs
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 && readsEnvironment(call.Fun) {
				if lit, ok := call.Args[0].(*ast.BasicLit); ok {
					name, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Error(err)
					}
					names = append(names, "environment "+name)
				}
			}
			return true
		})
	})
	if len(names) < 10 {
		t.Errorf("found only %q", names)
	}
	return names
}

// productFiles parses each file of the product.
func productFiles(t *testing.T, do func(*token.FileSet, *ast.File)) {
	t.Helper()
	root, fset := filepath.Join("..", ".."), token.NewFileSet()
	for _, dir := range []string{"cmd", "registry", "checks", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err == nil {
				do(fset, file)
			}
			return err
		})
		must.OK(t, err)
	}
}

// readsEnvironment reports whether a call of f reads an environment variable.
func readsEnvironment(f ast.Expr) bool {
	switch f := f.(type) {
	case *ast.Ident:
		return strings.EqualFold(f.Name, "getenv")
	case *ast.SelectorExpr:
		return strings.EqualFold(f.Sel.Name, "getenv") || f.Sel.Name == "LookupEnv"
	}
	return false
}

// schemaMembers returns each member of each printed schema, with the values that it may have if they are listed.
func schemaMembers(t *testing.T) (names []string) {
	for name, text := range clitest.Schemas() {
		var schema map[string]any
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatalf("schema %s: %v", name, err)
		}
		found := memberNames("json "+name+" ", schema, follow(schema, schema))
		if len(found) == 0 {
			t.Errorf("schema %s has no members", name)
		}
		names = append(names, found...)
	}
	return names
}

// memberNames returns the members below one schema, each with the path to it. References lead to root's definitions.
func memberNames(path string, root, schema map[string]any) (names []string) {
	for member, sub := range asObject(schema["properties"]) {
		names = append(names, memberLine(path+member, root, asObject(sub)))
		names = append(names, memberNames(path+member+".", root, follow(root, asObject(sub)))...)
	}
	if items := follow(root, asObject(schema["items"])); items != nil {
		at := strings.TrimSuffix(path, ".") + "[]"
		if enumerated(items) != "" {
			names = append(names, memberLine(at, root, items))
		}
		names = append(names, memberNames(at+".", root, items)...)
	}
	if more := follow(root, asObject(schema["additionalProperties"])); more != nil {
		names = append(names, memberNames(path+"*.", root, more)...)
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := schema[keyword].([]any)
		for _, sub := range list {
			names = append(names, memberNames(path, root, follow(root, asObject(sub)))...)
		}
	}
	return names
}

// memberLine returns the line of one member, with the values that it may have.
func memberLine(path string, root, schema map[string]any) string {
	if values := enumerated(follow(root, schema)); values != "" {
		return path + ": " + values
	}
	return path
}

// follow returns the definition to which a schema refers, or the schema.
func follow(root, schema map[string]any) map[string]any {
	ref, _ := schema["$ref"].(string)
	for _, keyword := range []string{"$defs", "definitions"} {
		if name, ok := strings.CutPrefix(ref, "#/"+keyword+"/"); ok {
			return asObject(asObject(root[keyword])[name])
		}
	}
	return schema
}

func asObject(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

// enumerated returns the values of enum or const, sorted.
func enumerated(schema map[string]any) string {
	values, _ := schema["enum"].([]any)
	if v, ok := schema["const"]; ok {
		values = append(values, v)
	}
	texts := map[string]bool{}
	for _, v := range values {
		texts[cmp.Or(fmt.Sprint(v), `""`)] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(texts)), " ")
}

// TestRuleIDs checks that explain, SARIF and the text format can tell a rule of the installation from a check and a
// code.
func TestRuleIDs(t *testing.T) {
	taken := verdict.IDs(mirror.Catalogue())
	for _, c := range clitest.Codes() {
		taken = append(taken, c.ID)
	}
	for _, rule := range doctor.Rules {
		if slices.Contains(taken, rule.ID) {
			t.Errorf("the rule %s has the name of a check, of a code or of another rule", rule.ID)
		}
		taken = append(taken, rule.ID)
	}
}
