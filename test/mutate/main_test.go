package main

import (
	"errors"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
)

const small = `package small

func Small(n int) bool {
	return n < 10
}
`

const smallTest = `package small

import "testing"

func TestSmall(t *testing.T) {
	for n, want := range map[int]bool{CASES} {
		if Small(n) != want {
			t.Errorf("Small(%d) is %v", n, !want)
		}
	}
}
`

// seed returns a repository with the package small and tests of these cases.
func seed(t *testing.T, cases string) string {
	t.Helper()
	needs.Program(t, "git", "sh")
	dir := t.TempDir()
	must.OK(t, os.Mkdir(filepath.Join(dir, "small"), 0o777))
	must.OK(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module seeded\n\ngo 1.24\n"), 0o666))
	git(t, dir, "init", "--quiet")
	rewrite(t, dir, "small.go", small)
	rewrite(t, dir, "small_test.go", strings.Replace(smallTest, "CASES", cases, 1))
	return dir
}

// rewrite commits a file of the package small.
func rewrite(t *testing.T, dir, name, text string) {
	t.Helper()
	must.OK(t, os.WriteFile(filepath.Join(dir, "small", name), []byte(text), 0o666))
	git(t, dir, "add", ".")
	git(t, dir, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message="+name)
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v: %s", args, err, out)
	}
	return string(out)
}

// mutateSmall runs the mutator on the package in dir, or on files of it, and returns what it prints.
func mutateSmall(t *testing.T, dir, changed string, files ...string) (bool, string) {
	t.Helper()
	t.Chdir(dir)
	var out strings.Builder
	m := mutator{root: ".", changed: changed, least: least, log: func(s string) { out.WriteString(s + "\n") }}
	if files == nil {
		files = []string{"./small"}
	}
	ok := must.Get(m.run(t.Context(), files))(t)
	if status := git(t, dir, "status", "--short"); status != "" {
		t.Errorf("git status --short prints %q", status)
	}
	return ok, out.String()
}

// TestSeeded checks the mutator on a package of five lines.
func TestSeeded(t *testing.T) {
	const none = "small/small.go:4:9: unreached: Small true \"n < 10\"\n"
	const edge = "small/small.go:4:9: unreached: Small edge \"n < 10\"\n"
	for _, c := range []struct {
		name, cases string
		ok          bool
		want        string
	}{
		{"the condition without a test", `3: true`, false,
			none + edge + "small: 3 mutants, 0 accepted, 1 of 3 others killed, 2 survive, 2 of these unreached\n"},
		{"no test of the bound", `3: true, 30: false`, false,
			edge + "small: 3 mutants, 0 accepted, 2 of 3 others killed, 1 survive, 1 of these unreached\n"},
		{"a test of both sides", `9: true, 10: false`, true,
			"small: 3 mutants, 0 accepted, 3 of 3 others killed, 0 survive, 0 of these unreached\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if ok, out := mutateSmall(t, seed(t, c.cases), ""); ok != c.ok || out != c.want {
				t.Errorf("%v:\n%s\nexpected %v:\n%s", ok, out, c.ok, c.want)
			}
		})
	}
}

// TestChanged checks that -changed tries the mutants of the lines that differ, and no others.
func TestChanged(t *testing.T) {
	dir := seed(t, `9: true, 10: false`)
	if ok, out := mutateSmall(t, dir, "HEAD"); !ok || out != "" {
		t.Errorf("no line differs: %v: %s", ok, out)
	}
	if ok, out := mutateSmall(t, dir, "HEAD~1"); !ok || out != "" { // without small_test.go
		t.Errorf("only a test differs: %v: %s", ok, out)
	}
	rewrite(t, dir, "small.go", small+"\nfunc Large(n int) bool { return n > 99 }\n")
	ok, out := mutateSmall(t, dir, "HEAD~1")
	if ok || !strings.Contains(out, "Large edge") || strings.Contains(out, "Small") ||
		!strings.Contains(out, "3 mutants") {
		t.Errorf("%v: %s", ok, out)
	}
}

// TestFew checks that -changed spares one survivor of a few mutants, and none where all must be killed.
func TestFew(t *testing.T) {
	for _, c := range []struct {
		killed, survive, least int
		changed                string
		ok                     bool
	}{
		{4, 1, 95, "HEAD", true}, {4, 1, 95, "", false}, {3, 2, 95, "HEAD", false}, {19, 1, 95, "", true},
		{39, 2, 95, "HEAD", true}, {37, 3, 95, "HEAD", false}, {4, 1, 100, "HEAD", false}, {0, 0, 95, "", true},
	} {
		m := mutator{changed: c.changed, least: func(string) int { return c.least }, log: func(string) {}}
		var tried []*mutant
		for i := range c.killed + c.survive {
			tried = append(tried, &mutant{killed: i < c.killed})
		}
		if ok := m.judge("p", tried, nil); ok != c.ok {
			t.Errorf("%+v: %v", c, ok)
		}
	}
}

// TestFile checks that a run on a file tries its mutants and no others, and that a file must exist.
func TestFile(t *testing.T) {
	dir := seed(t, `9: true, 10: false`)
	rewrite(t, dir, "large.go", "package small\n\nfunc Large(n int) bool { return n > 99 }\n")
	for file, want := range map[string]string{
		"small/small.go": "small: 3 mutants, 0 accepted, 3 of 3 others killed, 0 survive, 0 of these unreached\n",
		"small/large.go": "small: 3 mutants, 0 accepted, 0 of 3 others killed, 3 survive, 3 of these unreached\n",
	} {
		if ok, out := mutateSmall(t, dir, "", file); ok != (file == "small/small.go") || !strings.HasSuffix(out, want) {
			t.Errorf("%s: %v: %s", file, ok, out)
		}
	}
	m := mutator{root: "."}
	if _, err := m.run(t.Context(), []string{"./small/gone.go"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that does not exist: %v", err)
	}
}

// TestSample checks that a sample is spread evenly.
func TestSample(t *testing.T) {
	var all []*mutant
	for i := range 10 {
		all = append(all, &mutant{line: i})
	}
	for most, want := range map[int]string{0: "0123456789", 3: "036", 10: "0123456789", 99: "0123456789"} {
		m, got := mutator{max: most}, ""
		for _, u := range m.choose("p", all, nil) {
			got += strconv.Itoa(u.line)
		}
		if got != want {
			t.Errorf("%d: %s; expected %s", most, got, want)
		}
	}
}

// TestJudge checks what the shares and the lines of accepted.txt must be.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name, accepted  string
		killed, of, min int
		ok              bool
		want            string
	}{
		{"all", "", 100, 100, 100, true, ""},
		{"one survives", "", 99, 100, 100, false, "survives"},
		{"95 of 100", "", 95, 100, 95, true, "survives"},
		{"94 of 100", "", 94, 100, 95, false, "survives"},
		{"15 of 100 accepted", `p F drop "x" speed it is late`, 85, 100, 100, true, "15 accepted"},
		{"16 of 100 accepted", `p F drop "x" speed it is late`, 84, 100, 100, false, "expected at most 15 %"},
		{"a function accepted", `p F * "*" wording it words a message`, 99, 100, 100, true, "1 accepted"},
		{"accepted and killed", `p F drop "x" speed it is late`, 100, 100, 100, false, "kill them all"},
		{"accepted and gone", `p G drop "x" speed it is late`, 100, 100, 100, false, "matches 0 mutants"},
		{"another package's", `q F drop "x" speed it is late`, 100, 100, 100, true, ""},
	} {
		entries := must.Get(parseAccepted(c.accepted))(t)
		var tried []*mutant
		for i := range c.of {
			tried = append(tried, &mutant{function: "F", operator: "drop", text: "x", killed: i < c.killed,
				tests: []*test{{}}})
		}
		var out strings.Builder
		m := mutator{least: func(string) int { return c.min }, log: func(s string) { out.WriteString(s + "\n") }}
		if ok := m.judge("p", tried, entries); ok != c.ok || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %v: %s", c.name, ok, out.String())
		}
	}
}

// TestKilled checks that a run that is killed leaves the work tree as it was: a test kills its parent, the mutator.
func TestKilled(t *testing.T) {
	mutate := filepath.Join(t.TempDir(), "mutate")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", mutate, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	dir := seed(t, `9: true`)
	text := "package small\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestSmall(t *testing.T) {\n" +
		"\tSmall(9)\n\tp, _ := os.FindProcess(os.Getppid())\n\tp.Kill()\n}\n"
	rewrite(t, dir, "small_test.go", text)
	cmd := exec.CommandContext(t.Context(), mutate, "./small")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != -1 {
		t.Errorf("%v: %s; expected that it is killed", err, out)
	}
	if status := git(t, dir, "status", "--short"); status != "" {
		t.Errorf("git status --short prints %q", status)
	}
}

// TestOperators checks which mutants each form has, and that what the rewriter writes is Go.
func TestOperators(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"if a && !(b || c < d) { f() }", `true "a" false "a" true "b" false "b" true "c < d" false "c < d" ` +
			`edge "c < d" drop "f()"`},
		{"for i := 0; i < n; i++ { x = i }", `false "i < n" edge "i < n" drop "x = i"`},
		{"for { panic(a) }", ``},
		{"switch { case a == b: x++ }", `true "a == b" false "a == b" drop "x++"`},
		{"switch a { case b: x++ }", `drop "x++"`},
		{"select { case <-a: f() }", `drop "f()"`},
		{"x := a; _ = x; const c = 1 < 2; var _ [len(p)]int", ``},
		{"return true, err", `not "return true, err" nil "return true, err"`},
		{"return g()", ``},
		{"return a >= b, nil", `true "a >= b" false "a >= b" edge "a >= b"`},
		{"h(func() error { return err })", `drop "h(func() error { return err })" nil "return err"`},
	} {
		source := "package p\n\nfunc (t *T[K]) F() (bool, error) {\n" + c.code + "\n}\n"
		r := rewriter{file: "p.go", source: []byte(source), set: token.NewFileSet()}
		tree := must.Get(parser.ParseFile(r.set, "p.go", source, parser.SkipObjectResolution))(t)
		for _, decl := range tree.Decls {
			r.declaration(decl)
		}
		var found []string
		for _, u := range r.mutants {
			if u.function != "T.F" {
				t.Errorf("the function is %q", u.function)
			}
			found = append(found, u.operator+` "`+u.text+`"`)
		}
		if got := strings.Join(found, " "); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.code, got, c.want)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "p.go", r.rewritten(), 0); err != nil {
			t.Errorf("%s\n%s", err, r.rewritten())
		}
	}
}

// TestAccepted checks that a line of accepted.txt has a class and a reason, and that none accepts a bound.
func TestAccepted(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`p F true "a \"b\"" equivalent the caller refuses it`, ""},
		{`p F * "*" wording it words a message`, ""},
		{`p F edge "a < b" equivalent equal values give the same`, ""},
		{`p F edge "a < b" wording it words a message`, "expected a test of it"},
		{`p F * "*" equivalent it words a message`, `expected * "*" wording`},
		{`p F true "a" equivalent`, "expected PACKAGE FUNCTION OPERATOR"},
		{`p F true "a" because it is late`, "expected PACKAGE FUNCTION OPERATOR"},
		{`p F swap "a" speed it is late`, "expected PACKAGE FUNCTION OPERATOR"},
		{`p F true "\q" speed it is late`, "reading"},
	} {
		_, err := parseAccepted(c.line)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v; expected %q", c.line, err, c.want)
		}
	}
	if _, err := parseAccepted(acceptedText); err != nil {
		t.Error(err)
	}
}
