// Command mutate changes one thing in a package at a time, and prints each change that no test notices.
//
//	go run ./test/mutate [-changed REF] [-max N] PACKAGE|FILE...
//
// A FILE is a Go file; mutate tries only its mutants. It copies the files that Git knows into a temporary directory and
// rewrites the package there, so that every mutant is compiled in and the variable MUTANT chooses one. It runs each
// test of the package once to see which mutants change a value in it, and then, for each mutant, only those tests. A
// panic and a time-out count as killed, as does a process that needs more than 1 GiB.
//
//	true, false  a leaf of a boolean expression always or never holds; a loop's condition only never
//	edge         < and <=, or > and >=, are exchanged
//	drop         an assignment, an increment or a call is left out
//	nil          an error is returned as nil
//	not          a returned true or false is the other
//
// accepted.txt, next to this file, lists the survivors that stay. The exit status is 1 if a package kills a smaller
// share of the other mutants than least returns, or if a line of accepted.txt is wrong, and 2 if mutate fails. With
// -changed, the survivors that least allows are rounded up to a whole number.
package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

//go:embed accepted.txt
var acceptedText string

// least returns the percentage of a package's mutants that tests must kill, without those that are accepted.
func least(pkg string) int {
	if slices.Contains([]string{"internal/oap/did", "internal/oap/signature", "internal/git/checkpoint"}, pkg) {
		return 100
	}
	return 95
}

// mostAccepted is the percentage of a package's mutants that accepted.txt may list.
const mostAccepted = 15

// A mutant is one change of one package.
type mutant struct {
	file, function, operator, text string
	line, column, number           int
	tests                          []*test // those in which it changes a value
	killed, accepted               bool
}

// A test is a test function.
type test struct {
	name  string
	usual time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	m := mutator{root: ".", accepted: acceptedText, least: least, log: func(s string) { fmt.Println(s) }}
	flag.StringVar(&m.changed, "changed", "", "only mutants in lines that differ from commit `REF`")
	flag.IntVar(&m.max, "max", 0, "an evenly spread sample of `N` mutants of each package")
	flag.Parse()
	ok, err := m.run(ctx, flag.Args())
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "error:", err)
		stop()
		os.Exit(2)
	case !ok:
		os.Exit(1)
	}
}

type mutator struct {
	root, accepted, changed string
	max                     int
	files                   map[string][]string // by the directory of a package: the files to mutate; without: all
	least                   func(pkg string) int
	log                     func(string)
	temp                    string // holds the copy, the binary, and what tests write
	binary, dir             string // the tests of the package, and where they run
}

// run mutates each package and reports whether tests kill enough.
func (m *mutator) run(ctx context.Context, args []string) (ok bool, err error) {
	if len(args) == 0 {
		return false, errors.New("mutate requires a PACKAGE or a FILE, such as ./internal/oap/did")
	}
	packages := []string{"list", "-f", "{{.Module.Dir}}\t{{.Dir}}"}
	m.files = map[string][]string{}
	for _, arg := range args {
		if strings.HasSuffix(arg, ".go") {
			path, err := filepath.Abs(arg)
			if err == nil {
				_, err = os.Stat(path)
			}
			if err != nil {
				return false, err
			}
			arg = filepath.Dir(path)
			m.files[arg] = append(m.files[arg], filepath.Base(path))
		}
		packages = append(packages, arg)
	}
	entries, err := parseAccepted(m.accepted)
	if err != nil {
		return false, err
	}
	if m.temp, err = os.MkdirTemp("", "mutate-"); err != nil {
		return false, err
	}
	defer os.RemoveAll(m.temp)
	list, err := m.output(ctx, m.root, "go", packages...)
	if err != nil {
		return false, err
	}
	ok = true
	for line := range strings.Lines(list) {
		module, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		pkg, err := filepath.Rel(module, dir)
		if err != nil {
			return false, err
		}
		m.root = module
		enough, err := m.mutate(ctx, filepath.ToSlash(pkg), entries)
		if err != nil {
			return false, fmt.Errorf("mutating %s: %w", pkg, err)
		}
		ok = ok && enough
	}
	return ok, nil
}

// mutate tries the mutants of one package, prints the survivors, and reports whether tests kill enough.
func (m *mutator) mutate(ctx context.Context, pkg string, entries []*entry) (bool, error) {
	var lines map[string]map[int]bool
	if m.changed != "" {
		var err error
		if lines, err = m.changedLines(ctx, pkg); err != nil || len(lines) == 0 {
			return true, err
		}
	}
	copied := filepath.Join(m.temp, "copy")
	if err := os.RemoveAll(copied); err != nil {
		return false, err
	}
	if err := m.copyTo(ctx, copied); err != nil {
		return false, err
	}
	mutants, err := m.rewrite(ctx, filepath.Join(copied, pkg))
	if err != nil {
		return false, err
	}
	tests, err := m.build(ctx, copied, pkg)
	if err != nil {
		return false, err
	}
	if err := m.record(ctx, tests, mutants); err != nil {
		return false, err
	}
	tried := m.choose(pkg, mutants, lines)
	if err := m.try(ctx, tried); err != nil {
		return false, err
	}
	return m.judge(pkg, tried, entries), ctx.Err()
}

// copyTo copies the files of the work tree that Git tracks or would add.
func (m *mutator) copyTo(ctx context.Context, dir string) error {
	list, err := m.output(ctx, m.root, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		from, to := filepath.Join(m.root, name), filepath.Join(dir, name)
		info, err := os.Stat(from)
		if errors.Is(err, os.ErrNotExist) { // deleted, and not yet committed
			continue
		}
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		content, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, content, info.Mode().Perm())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rewrite compiles every mutant into the package in dir.
func (m *mutator) rewrite(ctx context.Context, dir string) ([]*mutant, error) {
	list, err := m.output(ctx, dir, "go", "list", "-f", `{{.Name}}{{range .GoFiles}} {{.}}{{end}}`)
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(list)
	var mutants []*mutant
	for _, file := range fields[1:] {
		path := filepath.Join(dir, file)
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		r := rewriter{file: file, source: source, set: token.NewFileSet(), mutants: mutants}
		tree, err := parser.ParseFile(r.set, file, source, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range tree.Decls {
			r.declaration(decl)
		}
		if err := os.WriteFile(path, r.rewritten(), 0o666); err != nil {
			return nil, err
		}
		mutants = r.mutants
	}
	chooser := fmt.Sprintf(chooserText, fields[0], len(mutants)+1)
	return mutants, os.WriteFile(filepath.Join(dir, "mutant_chooser.go"), []byte(chooser), 0o666)
}

// chooserText is the file that a rewritten package gets. A mutant is reached where it changes a value.
const chooserText = `package %s

import (
	"cmp"
	"os"
	"strconv"
	"sync/atomic"
)

var (
	mutantChosen, _ = strconv.Atoi(os.Getenv("MUTANT"))
	mutantSeen      [%d]atomic.Bool
	mutantLog       = func() *os.File {
		if os.Getenv("MUTANT_LOG") == "" {
			return nil
		}
		f, err := os.OpenFile(os.Getenv("MUTANT_LOG"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			panic(err)
		}
		return f
	}()
)

func mutantIs(n int, changes bool) bool {
	if n == 0 || !changes {
		return false
	}
	if mutantLog != nil && !mutantSeen[n].Swap(true) {
		mutantLog.WriteString("\n" + strconv.Itoa(n) + "\n")
	}
	return n == mutantChosen
}

func mutantLeaf[B ~bool](always, never int, v B) B {
	if mutantIs(always, !bool(v)) || mutantIs(never, bool(v)) {
		return !v
	}
	return v
}

func mutantLess[T cmp.Ordered](n int, a, b T) bool         { return a < b || mutantIs(n, a == b) }
func mutantLessEqual[T cmp.Ordered](n int, a, b T) bool    { return a <= b && !mutantIs(n, a == b) }
func mutantGreater[T cmp.Ordered](n int, a, b T) bool      { return a > b || mutantIs(n, a == b) }
func mutantGreaterEqual[T cmp.Ordered](n int, a, b T) bool { return a >= b && !mutantIs(n, a == b) }

func mutantKeeps(n int) bool { return !mutantIs(n, true) }

func mutantNot(n int, v bool) bool { return v != mutantIs(n, true) }

func mutantNil(n int, err error) error {
	if mutantIs(n, err != nil) {
		return nil
	}
	return err
}
`

// A rewriter collects the changes of one file as insertions, so that every line keeps its number.
type rewriter struct {
	file     string
	source   []byte
	set      *token.FileSet
	function string
	returns  []int // for the functions around: how many results there are if the last is an error, or 0
	mutants  []*mutant
	edits    []edit
}

type edit struct {
	at, skip, order int
	text            string
}

// add adds a mutant of the code in node and returns its number.
func (r *rewriter) add(operator string, node ast.Node) int {
	at := r.set.Position(node.Pos())
	text := strings.Join(strings.Fields(string(r.source[at.Offset:r.set.Position(node.End()).Offset])), " ")
	if long := []rune(text); len(long) > 100 {
		text = string(long[:100]) + "..."
	}
	r.mutants = append(r.mutants, &mutant{file: r.file, function: r.function, operator: operator, text: text,
		line: at.Line, column: at.Column, number: len(r.mutants) + 1})
	return len(r.mutants)
}

// wrap puts text before and after a node. The text of an outer node goes outside that of an inner one, which wrap gets
// later.
func (r *rewriter) wrap(node ast.Node, before, after string) {
	order := len(r.edits) + 1
	r.edits = append(r.edits, edit{at: r.set.Position(node.Pos()).Offset, order: order, text: before},
		edit{at: r.set.Position(node.End()).Offset, order: -order, text: after})
}

func (r *rewriter) rewritten() []byte {
	slices.SortStableFunc(r.edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order))
	})
	var out bytes.Buffer
	at := 0
	for _, e := range r.edits {
		out.Write(r.source[at:e.at])
		out.WriteString(e.text)
		at = e.at + e.skip
	}
	out.Write(r.source[at:])
	return out.Bytes()
}

func (r *rewriter) declaration(decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if r.function = d.Name.Name; d.Recv != nil {
			receiver := d.Recv.List[0].Type
			if star, ok := receiver.(*ast.StarExpr); ok {
				receiver = star.X
			}
			name, _, _ := strings.Cut(string(r.source[r.set.Position(receiver.Pos()).Offset:r.set.Position(
				receiver.End()).Offset]), "[")
			r.function = name + "." + r.function
		}
		if d.Body != nil {
			r.body(d.Type, d.Body)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR {
				r.function = v.Names[0].Name
				for _, value := range v.Values {
					r.walk(value)
				}
			}
		}
	}
}

func (r *rewriter) body(of *ast.FuncType, body *ast.BlockStmt) {
	results := 0
	if of.Results != nil {
		if last, ok := of.Results.List[len(of.Results.List)-1].Type.(*ast.Ident); ok && last.Name == "error" {
			results = of.Results.NumFields()
		}
	}
	r.returns = append(r.returns, results)
	r.walk(body)
	r.returns = r.returns[:len(r.returns)-1]
}

// walk finds the mutants of a node that is not a leaf of a boolean expression itself.
func (r *rewriter) walk(node ast.Node) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			r.body(n.Type, n.Body)
			return false
		case *ast.ArrayType: // its length is a constant
			return false
		case *ast.DeclStmt:
			if d, ok := n.Decl.(*ast.GenDecl); ok && d.Tok == token.CONST {
				return false
			}
		case *ast.IfStmt:
			if n.Init != nil {
				r.walk(n.Init)
			}
			r.condition(n.Cond, true)
			r.walk(n.Body)
			if n.Else != nil {
				r.walk(n.Else)
			}
			return false
		case *ast.ForStmt:
			for _, part := range []ast.Stmt{n.Init, n.Post} {
				if part != nil {
					r.walk(part)
				}
			}
			if n.Cond != nil {
				r.condition(n.Cond, false)
			}
			r.walk(n.Body)
			return false
		case *ast.SwitchStmt:
			if n.Tag == nil {
				r.cases(n)
				return false
			}
		case *ast.BlockStmt:
			r.drops(n.List)
		case *ast.CaseClause:
			r.drops(n.Body)
		case *ast.CommClause:
			r.drops(n.Body)
		case *ast.ReturnStmt:
			r.results(n)
			return false
		case ast.Expr:
			if boolean(n) {
				r.condition(n, true)
				return false
			}
		}
		return true
	})
}

// cases finds the mutants of a switch whose cases are conditions.
func (r *rewriter) cases(s *ast.SwitchStmt) {
	if s.Init != nil {
		r.walk(s.Init)
	}
	for _, c := range s.Body.List {
		clause := c.(*ast.CaseClause)
		for _, condition := range clause.List {
			r.condition(condition, true)
		}
		r.drops(clause.Body)
		for _, stmt := range clause.Body {
			r.walk(stmt)
		}
	}
}

// boolean reports whether the form of an expression shows that its value is a boolean.
func boolean(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return boolean(e.X)
	case *ast.UnaryExpr:
		return e.Op == token.NOT
	case *ast.BinaryExpr:
		switch e.Op {
		case token.LAND, token.LOR, token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
			return true
		}
	}
	return false
}

// condition finds the mutants of a boolean expression. A loop's condition that always holds would not end.
func (r *rewriter) condition(e ast.Expr, always bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		r.condition(e.X, always)
		return
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			r.condition(e.X, always)
			return
		}
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			r.condition(e.X, always)
			r.condition(e.Y, always)
			return
		}
	}
	n := 0
	if always {
		n = r.add("true", e)
	}
	r.wrap(e, fmt.Sprintf("mutantLeaf(%d, %d, ", n, r.add("false", e)), ")")
	b, ok := e.(*ast.BinaryExpr)
	if !ok {
		if call, ok := e.(*ast.CallExpr); ok {
			r.walk(call)
		}
		return
	}
	names := map[token.Token]string{token.LSS: "Less", token.LEQ: "LessEqual", token.GTR: "Greater",
		token.GEQ: "GreaterEqual"}
	if name := names[b.Op]; name != "" {
		r.wrap(b, fmt.Sprintf("mutant%s(%d, ", name, r.add("edge", b)), ")")
		r.edits = append(r.edits, edit{at: r.set.Position(b.OpPos).Offset, skip: len(b.Op.String()), text: ","})
	}
	r.walk(b.X)
	r.walk(b.Y)
}

// drops finds the statements of a list that can be left out.
func (r *rewriter) drops(list []ast.Stmt) {
	for _, stmt := range list {
		switch s := stmt.(type) {
		case *ast.AssignStmt:
			blank := !slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool {
				name, ok := e.(*ast.Ident)
				return !ok || name.Name != "_"
			})
			if s.Tok == token.DEFINE || blank {
				continue
			}
		case *ast.IncDecStmt:
		case *ast.ExprStmt:
			call, ok := s.X.(*ast.CallExpr)
			if !ok {
				continue
			}
			if name, ok := call.Fun.(*ast.Ident); ok && name.Name == "panic" { // a function may end with it
				continue
			}
		default:
			continue
		}
		r.wrap(stmt, fmt.Sprintf("if mutantKeeps(%d) { ", r.add("drop", stmt)), " }")
	}
}

// results finds the mutants of a return statement. A call that returns all results at once has none.
func (r *rewriter) results(s *ast.ReturnStmt) {
	for i, result := range s.Results {
		name, _ := result.(*ast.Ident)
		if name != nil && (name.Name == "true" || name.Name == "false") {
			r.wrap(result, fmt.Sprintf("mutantNot(%d, ", r.add("not", s)), ")")
			continue
		}
		if i+1 == r.returns[len(r.returns)-1] && (name == nil || name.Name != "nil") {
			r.wrap(result, fmt.Sprintf("mutantNil(%d, ", r.add("nil", s)), ")")
		}
		r.walk(result)
	}
}

// build compiles the tests of a package and lists them.
func (m *mutator) build(ctx context.Context, copied, pkg string) ([]*test, error) {
	m.binary, m.dir = filepath.Join(m.temp, "package.test"), filepath.Join(copied, pkg)
	if err := os.RemoveAll(m.binary); err != nil {
		return nil, err
	}
	_, err := m.output(ctx, copied, "go", "test", "-c", "-trimpath", "-ldflags=-w", "-o", m.binary, "./"+pkg)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(m.binary); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	list, err := m.output(ctx, m.dir, m.binary, "-test.list", "^(Test|Fuzz|Example)")
	var tests []*test
	for _, name := range strings.Fields(list) {
		tests = append(tests, &test{name: name})
	}
	return tests, err
}

// record runs each test once, without a mutant, to learn how long it takes and which mutants change a value in it.
func (m *mutator) record(ctx context.Context, tests []*test, mutants []*mutant) error {
	reached := make([][]byte, len(tests))
	err := parallel(ctx, len(tests), func(i int) error {
		log, begun := filepath.Join(m.temp, fmt.Sprintf("log-%d", i)), time.Now()
		out, failed := m.execute(ctx, tests[i:i+1], 10*time.Minute, "MUTANT_LOG="+log)
		if failed {
			return fmt.Errorf("%s fails without a mutant:\n%s", tests[i].name, out)
		}
		tests[i].usual = time.Since(begun)
		var err error
		if reached[i], err = os.ReadFile(log); errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return errors.Join(err, os.Remove(log))
	})
	for i, log := range reached {
		for _, number := range strings.Fields(string(log)) {
			// A test that limits or kills its own processes can cut a number short, so a mutant may seem reached.
			if n, err := strconv.Atoi(number); err == nil && n > 0 && n <= len(mutants) &&
				!slices.Contains(mutants[n-1].tests, tests[i]) {
				mutants[n-1].tests = append(mutants[n-1].tests, tests[i])
			}
		}
	}
	return err
}

// choose returns the mutants to try.
func (m *mutator) choose(pkg string, mutants []*mutant, lines map[string]map[int]bool) []*mutant {
	if only := m.files[filepath.Join(m.root, pkg)]; only != nil {
		mutants = slices.DeleteFunc(slices.Clone(mutants), func(u *mutant) bool {
			return !slices.Contains(only, u.file)
		})
	}
	if m.changed != "" {
		mutants = slices.DeleteFunc(slices.Clone(mutants), func(u *mutant) bool {
			return !lines[pkg+"/"+u.file][u.line]
		})
	}
	if m.max <= 0 || m.max >= len(mutants) {
		return mutants
	}
	var sample []*mutant
	for i := range m.max {
		sample = append(sample, mutants[i*len(mutants)/m.max])
	}
	return sample
}

var hunk = regexp.MustCompile(`^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)

// changedLines returns the lines of each file of a package that differ from the commit that the run names.
func (m *mutator) changedLines(ctx context.Context, pkg string) (map[string]map[int]bool, error) {
	diff, err := m.output(ctx, m.root, "git", "diff", "--unified=0", "--no-ext-diff", "--no-color", "--no-prefix",
		"--relative", m.changed, "--", pkg+"/*.go", ":!*_test.go")
	if err != nil {
		return nil, err
	}
	lines, file := map[string]map[int]bool{}, ""
	for line := range strings.Lines(diff) {
		if name, ok := strings.CutPrefix(line, "+++ "); ok {
			file = strings.TrimSpace(name)
			lines[file] = map[int]bool{}
		}
		if found := hunk.FindStringSubmatch(line); found != nil {
			first, _ := strconv.Atoi(found[1])
			count, err := strconv.Atoi(found[2])
			if err != nil { // it is left out if it is 1
				count = 1
			}
			for i := range count {
				lines[file][first+i] = true
			}
		}
	}
	return lines, nil
}

// try runs the tests that reach each mutant until one fails, the slow ones at last.
func (m *mutator) try(ctx context.Context, tried []*mutant) error {
	return parallel(ctx, len(tried), func(i int) error {
		u := tried[i]
		for _, slow := range []bool{false, true} {
			var tests []*test
			most := 5 * time.Second
			for _, t := range u.tests {
				if (t.usual > 5*time.Second) == slow {
					tests, most = append(tests, t), most+10*t.usual
				}
			}
			if len(tests) > 0 && !u.killed {
				_, u.killed = m.execute(ctx, tests, most, fmt.Sprintf("MUTANT=%d", u.number))
			}
		}
		return ctx.Err()
	})
}

// execute runs tests in one process and reports whether one fails.
func (m *mutator) execute(ctx context.Context, tests []*test, most time.Duration, env string) ([]byte, bool) {
	ctx, stop := context.WithTimeout(ctx, most+10*time.Second)
	defer stop()
	var names []string
	for _, t := range tests {
		names = append(names, t.name)
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", `ulimit -d 1048576; exec "$0" "$@"`, m.binary, "-test.run",
		"^("+strings.Join(names, "|")+")$", "-test.short", "-test.failfast", "-test.timeout", most.String())
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "TMPDIR="+m.temp, env)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	return out, err != nil
}

// judge prints the survivors that accepted.txt does not list, the lines of it that are wrong, and a summary. It reports
// whether tests kill enough and no line is wrong.
func (m *mutator) judge(pkg string, tried []*mutant, entries []*entry) bool {
	killed, accepted, unreached := 0, 0, 0
	for _, u := range tried {
		for _, e := range entries {
			if e.matches(pkg, u) {
				e.matched++
				if !u.killed {
					e.lived, u.accepted = e.lived+1, true
				}
			}
		}
		state := "survives"
		if len(u.tests) == 0 {
			state = "unreached"
		}
		switch {
		case u.killed:
			killed++
		case u.accepted:
			accepted++
		default:
			if len(u.tests) == 0 {
				unreached++
			}
			m.log(fmt.Sprintf("%s/%s:%d:%d: %s: %s %s %q", pkg, u.file, u.line, u.column, state, u.function, u.operator,
				u.text))
		}
	}
	others := len(tried) - accepted
	m.log(fmt.Sprintf("%s: %d mutants, %d accepted, %d of %d others killed, %d survive, %d of these unreached", pkg,
		len(tried), accepted, killed, others, others-killed, unreached))
	spared := others * (100 - m.least(pkg)) // in hundredths
	if m.changed != "" {
		spared += 99 // 5 % of a few is one
	}
	ok := (others-killed)*100 <= spared
	if m.changed != "" || m.max > 0 || len(m.files) > 0 {
		return ok
	}
	if accepted*100 > len(tried)*mostAccepted {
		m.log(fmt.Sprintf("accepted.txt lists %d of %d mutants of %s; expected at most %d %%", accepted, len(tried),
			pkg, mostAccepted))
		ok = false
	}
	for _, e := range entries {
		if e.pkg == pkg && e.lived == 0 {
			m.log(fmt.Sprintf("accepted.txt:%d matches %d mutants, and tests kill them all; expected a survivor",
				e.line, e.matched))
			ok = false
		}
	}
	return ok
}

// An entry is a line of accepted.txt.
type entry struct {
	pkg, function, operator, text, class string
	line, matched, lived                 int
}

func (e *entry) matches(pkg string, u *mutant) bool {
	return e.pkg == pkg && e.function == u.function &&
		(e.operator == "*" || e.operator == u.operator && e.text == u.text)
}

var entryForm = regexp.MustCompile(`^(\S+) (\S+) (true|false|edge|drop|nil|not|\*) ("(?:[^"\\]|\\.)*") ` +
	`(equivalent|speed|wording|system) (\S.*)$`)

// parseAccepted reads lines of the form PACKAGE FUNCTION OPERATOR "TEXT" CLASS REASON. A bound always gets a test, so
// an edge is only accepted as equivalent or for speed. The operator * accepts a function that only words messages.
func parseAccepted(text string) ([]*entry, error) {
	var entries []*entry
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := entryForm.FindStringSubmatch(line)
		if f == nil {
			return nil, fmt.Errorf("accepted.txt:%d is %q; expected PACKAGE FUNCTION OPERATOR \"TEXT\" CLASS REASON", n,
				line)
		}
		e := &entry{pkg: f[1], function: f[2], operator: f[3], class: f[5], line: n}
		var err error
		if e.text, err = strconv.Unquote(f[4]); err != nil {
			return nil, fmt.Errorf("accepted.txt:%d: reading %s: %w", n, f[4], err)
		}
		if e.operator == "*" && (e.class != "wording" || e.text != "*") {
			return nil, fmt.Errorf("accepted.txt:%d accepts a whole function; expected * \"*\" wording", n)
		}
		if e.operator == "edge" && e.class != "equivalent" && e.class != "speed" {
			return nil, fmt.Errorf("accepted.txt:%d accepts a bound as %s; expected a test of it", n, e.class)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// parallel calls f for 0 to n-1, as many at a time as there are processors, until one call fails.
func parallel(ctx context.Context, n int, f func(i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan int)
	var group sync.WaitGroup
	for range runtime.NumCPU() {
		group.Go(func() {
			for i := range next {
				if err := f(i); err != nil {
					stop(err)
				}
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	group.Wait()
	return context.Cause(ctx)
}

// output runs a program and returns what it prints.
func (m *mutator) output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var diag bytes.Buffer
	cmd.Stderr = &diag
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("running %s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err,
			bytes.TrimSpace(diag.Bytes()))
	}
	return string(out), nil
}
