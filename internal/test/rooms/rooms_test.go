// Package rooms checks the structure of the module: which package may import which, the sentence of each room, and the
// bounds on its lines. It imports nothing of the module, so that it runs seconds after a cold start.
package rooms

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// root is the directory of the module.
var root = filepath.Join("..", "..", "..")

const module = "github.com/openagentprotocol-OAP/oap-gate/"

// rooms are the directories of internal/ and the public packages, each with its level and the sentence of its package
// comment. A command, *cmd, is of level 9 wherever it is.
var rooms = map[string]struct {
	level    int
	sentence string // empty: the room is public, or has no one purpose
}{
	"base":        {1, "contains packages that import nothing of the project"},
	"strict":      {2, "reads JSON, YAML and schemas with one meaning"},
	"oap":         {3, "parses and signs the documents of the protocol"},
	"git":         {3, "reads a hostile Git repository"},
	"verdict":     {3, "defines finding, outcome, rule, report and the runner of a catalogue"},
	"forge":       {4, "reads and changes settings and comments at the forge"},
	"registry":    {4, ""},
	"evidence":    {5, "collects what the web says about a record"},
	"checks":      {6, ""},
	"report":      {6, "writes a report in each format"},
	"gate":        {10, ""},
	"judge":       {7, "gates a range of a registry by all checks"},
	"frame":       {7, "gives a command its flags, streams, inputs and exit status"},
	"mirror":      {8, "audits and mirrors a whole registry"},
	"verify":      {8, "judges one implementation by RFC 0019 section 6"},
	"author":      {8, "drafts, corrects, signs and lists records"},
	"governance":  {8, "checks a proposal against the gates of RFC 0019"},
	"conformance": {8, "checks an implementation against a companion protocol"},
	"install":     {8, "installs the gate and inspects the installation"},
	"cli":         {10, "lists the products and runs the command line"},
	"cmd":         {11, ""},
	"docs":        {0, ""}, // texts alone
	"test":        {12, "builds worlds for tests and benchmarks"},
	"bench":       {13, ""},
}

// levels are those of packages that stand elsewhere than their room.
var levels = map[string]int{
	"internal/author/listing":     7, // verify and install read rows with it
	"internal/mirror/mirrorstate": 7, // verify and list read a mirror's directory with it
	"internal/oap/signing":        5, // it refuses to write a key into a registry
}

const mostFrameNames = 62

// pkg is a package as go list tells it, without its tests.
type pkg struct {
	path    string // below the module
	imports []string
	files   []string // of Go
}

// room is the room of a package, its first directory if it is public.
func (p pkg) room() string { return roomOf(p.path) }

func roomOf(path string) string {
	parts := strings.Split(path, "/")
	if parts[0] == "internal" && len(parts) > 1 {
		return parts[1]
	}
	return parts[0]
}

func isCommand(path string) bool {
	return strings.HasPrefix(path, "internal/") && strings.HasSuffix(path, "cmd")
}

func levelOf(path string) int {
	if isCommand(path) {
		return 9
	}
	if level, special := levels[path]; special {
		return level
	}
	return rooms[roomOf(path)].level
}

// listed are the packages of the module in dir.
func listed(t *testing.T, dir string) (all []pkg) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,Imports,GoFiles", "./...")
	cmd.Dir = dir
	out := must.Get(cmd.Output())(t)
	d := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p struct {
			ImportPath, Dir  string
			Imports, GoFiles []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		one := pkg{path: strings.TrimPrefix(p.ImportPath, module), imports: p.Imports}
		for _, f := range p.GoFiles {
			one.files = append(one.files, filepath.Join(p.Dir, f))
		}
		all = append(all, one)
	}
}

// forbidden says why a package may not have an import; empty: it may.
func forbidden(from, to string) string {
	ours, isOurs := strings.CutPrefix(to, module)
	terminal := strings.Contains(to, "/spf13/") || strings.HasSuffix(to, "x/term")
	room := roomOf(from)
	switch {
	case terminal && room != "cli" && room != "frame" && room != "bench" && !isCommand(from):
		return "only cli, frame and commands may use the terminal"
	case to == "os/exec" && room != "test" && room != "bench" && from != "internal/conformance/conformancecmd" &&
		from != "internal/base/usergit":
		return "only tests, benchmarks, usergit and the command of a subscriber may start a program"
	case !isOurs || roomOf(ours) == room && !isCommand(ours):
		return ""
	case isCommand(ours) && room != "cli" && room != "bench" && room != "test":
		return "only cli may import a command"
	case room == "frame" && slices.Contains([]string{"checks", "gate", "judge"}, roomOf(ours)):
		return "frame may not know what a command judges"
	case roomOf(ours) == "test" && room != "bench":
		return "only the benchmarks may import test"
	case roomOf(ours) != "test" && levelOf(ours) >= levelOf(from):
		return fmt.Sprintf("level %d may not import level %d", levelOf(from), levelOf(ours))
	}
	return ""
}

// TestRooms checks the rooms of the program: no import runs upward, only commands use the terminal, frame stays small,
// each room has its sentence and keeps its bound, and no code of a finding is compared.
func TestRooms(t *testing.T) {
	t.Run("bounds", keepBounds)
	for _, problem := range inRooms(t, root) {
		t.Error(problem)
	}
}

// inRooms returns what is wrong with the rooms of the module in dir.
func inRooms(t *testing.T, dir string) (problems []string) {
	t.Helper()
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	said := map[string]bool{}
	for _, p := range listed(t, dir) {
		room, known := rooms[p.room()]
		if !known {
			wrong("%s is in no room: add it to the table, or move it", p.path)
		}
		for _, to := range p.imports {
			if why := forbidden(p.path, to); why != "" {
				wrong("%s imports %s: %s", p.path, strings.TrimPrefix(to, module), why)
			}
		}
		for _, file := range p.files {
			text := must.Read(t, file)
			if p.path == "internal/"+p.room() &&
				strings.Contains(string(text), "// Package "+p.room()+" "+room.sentence+".\n") {
				said[p.room()] = true
			}
			if names := dialers(t, file); len(names) > 0 && p.path != "internal/evidence/live" && p.room() != "forge" &&
				p.room() != "bench" && p.room() != "test" {
				wrong("%s names %q: only evidence/live and forge connect to the network", p.path, names)
			}
			for _, expr := range comparedCodes(t, file, nil) {
				if !codesOfOthers[filepath.Base(file)+": "+expr] {
					wrong("%s: %s: a finding says by its Value or by the result what code acts on, not by its code",
						p.path, expr)
				}
			}
		}
	}
	guide := must.Read(t, filepath.Join(root, "CONTRIBUTING.md"))
	within := 0
	for name, room := range rooms {
		line := fmt.Sprintf("\n    %2d %-12s %s", room.level, name, room.sentence)
		if room.level > 0 && !strings.Contains(string(guide), line) {
			wrong("the map of CONTRIBUTING.md lacks %q", line[1:])
		}
		if room.sentence == "" {
			continue
		}
		within++
		if !said[name] {
			wrong("internal/%s: no package comment begins \"Package %s %s.\" on a line of its own", name, name,
				room.sentence)
		}
	}
	if within > 18 {
		wrong("%d rooms, want at most 18", within)
	}
	for _, linked := range linkedBy(t, dir, "./gate") {
		if why := notInGate(linked); why != "" {
			wrong("gate links %s: %s", strings.TrimPrefix(linked, module), why)
		}
	}
	for _, linked := range linkedBy(t, dir, "./internal/judge") {
		other := strings.Contains(strings.Split(linked, "/")[0], ".") && !strings.HasPrefix(linked, module)
		may := func(m string) bool { return strings.HasPrefix(linked+"/", m+"/") }
		if other && !slices.ContainsFunc(kernelModules, may) {
			wrong("the kernel links %s: what decides a verdict needs no other module", linked)
		}
		if linked == "os/exec" {
			wrong("the kernel links os/exec: what decides a verdict starts no program")
		}
	}
	if names := exported(t, filepath.Join(dir, "internal", "frame")); len(names) > mostFrameNames {
		wrong("frame exports %d names, at most %d are wanted: %q", len(names), mostFrameNames, names)
	}
	return problems
}

// TestRoomsFails adds one offender of each kind to a copy of the module, and expects each to be named.
func TestRoomsFails(t *testing.T) {
	dir := t.TempDir()
	copyModule(t, root, dir)
	var names strings.Builder
	for i := range mostFrameNames {
		fmt.Fprintf(&names, "const Name%d = %d\n", i, i)
	}
	for path, text := range map[string]string{
		"internal/verify/offender.go":   "package verify\nimport _ \"" + module + "internal/governance\"\n",
		"internal/git/peer/offender.go": "package peer\nimport _ \"github.com/spf13/pflag\"\n",
		"internal/evidence/offender.go": "package evidence\nimport (\n_ \"os/exec\"\n\"net\"\n)\nvar d net.Dialer\n",
		"internal/mirror/offender.go":   "package mirror\nvar same = f.Code == \"head-too-old\"\n",
		"internal/frame/offender.go":    "package frame\n" + names.String(),
		"internal/util/util.go":         "package util\n",
		"internal/base/doc.go":          "// Package base has all kinds of things.\npackage base\n",
		"registry/offender.go":          "package registry\nimport _ \"github.com/go-git/go-git/v5/plumbing\"\n",
		"gate/offender.go":              "package gate\nimport _ \"" + module + "internal/report\"\n",
	} {
		path = filepath.Join(dir, path)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
		must.OK(t, err)
	}
	got := inRooms(t, dir)
	for _, want := range []string{
		"internal/verify imports internal/governance: level 8 may not import level 8",
		"internal/git/peer imports github.com/spf13/pflag: only cli, frame and commands may use the terminal",
		"internal/evidence imports os/exec: only tests",
		`internal/evidence names ["net.Dialer"]: only evidence/live`,
		`internal/mirror: f.Code == "head-too-old": a finding says by its Value`,
		fmt.Sprintf("at most %d are wanted", mostFrameNames),
		"internal/util is in no room",
		`internal/base: no package comment begins "Package base contains`,
		"gate links internal/report: a program that gates needs no writer",
		"the kernel links github.com/go-git/go-git/v5/plumbing: ",
	} {
		if !slices.ContainsFunc(got, func(p string) bool { return strings.Contains(p, want) }) {
			t.Errorf("nothing says %q; the problems are %q", want, got)
		}
	}
}

// copyModule copies what go list and the build of a module read, without its tests.
func copyModule(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if rel == ".git" || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !d.Type().IsRegular() || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), text, 0o644)
	})
	must.OK(t, err)
}

// kernelModules are what the packages that decide a verdict may link: keys and signatures, JSON and YAML of one
// meaning, compression and hashes of objects, schemas, domain names, and the parser of WHOIS replies.
var kernelModules = []string{"filippo.io/edwards25519", "github.com/go-json-experiment/json",
	"github.com/gowebpki/jcs", "github.com/klauspost/compress", "github.com/likexian/gokit",
	"github.com/likexian/whois-parser", "github.com/mr-tron/base58", "github.com/pjbgf/sha1cd",
	"github.com/santhosh-tekuri/jsonschema/v6", "github.com/weppos/publicsuffix-go", "go.yaml.in/yaml/v4",
	"golang.org/x/crypto/cryptobyte", "golang.org/x/net/idna", "golang.org/x/sync",
	"golang.org/x/sys", "golang.org/x/text"}

// linkedBy returns the packages that a package of the module in dir links.
func linkedBy(t *testing.T, dir, path string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", path)
	cmd.Dir = dir
	out := must.Get(cmd.Output())(t)
	return strings.Fields(string(out))
}

// notInGate says why a program that uses the package gate may not link a package, empty if it may.
func notInGate(path string) string {
	if roomOf(strings.TrimPrefix(path, module)) == "report" {
		return "a program that gates needs no writer"
	}
	for _, m := range []string{"google/go-github", "spf13/cobra", "fatih/color", "vbauerster/mpb",
		"sethvargo/go-githubactions", "invopop/jsonschema"} {
		if strings.HasPrefix(path, "github.com/"+m) {
			return "a program that gates needs neither terminal nor forge nor schema generator"
		}
	}
	return ""
}

// dialers are the names in a file by which it connects to the network itself.
func dialers(t *testing.T, path string) (names []string) {
	file := must.Get(parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution))(t)
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && (x.Name == "net" && s.Sel.Name == "Dialer" ||
				x.Name == "http" && s.Sel.Name == "Transport") {
				names = append(names, x.Name+"."+s.Sel.Name)
			}
		}
		return true
	})
	return names
}

// codesOfOthers are comparisons of codes that are not those of findings: of HTTP/2, and of a line of --accepted.
var codesOfOthers = map[string]bool{
	"classify.go: e.Code != http2ProtocolError":          true,
	"accepted.go: l.Code == checks.CodeHistoryRewritten": true,
}

// comparedCodes returns the expressions of a file that compare a member Code with a text or a constant. The codes of
// evidence and of DID Documents are not those of findings.
func comparedCodes(t *testing.T, path string, text any) (found []string) {
	t.Helper()
	file := must.Get(parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution))(t)
	imported := map[string]bool{}
	for _, i := range file.Imports {
		imported[strings.Trim(i.Path.Value[strings.LastIndex(i.Path.Value, "/")+1:], `"`)] = true
	}
	isCode := func(x ast.Expr) bool {
		s, ok := x.(*ast.SelectorExpr)
		return ok && s.Sel.Name == "Code"
	}
	constant := func(x ast.Expr) bool {
		switch x := x.(type) {
		case *ast.BasicLit:
			return x.Value != `""`
		case *ast.Ident:
			return file.Name.Name != "evidence" || !strings.HasPrefix(x.Name, "Code")
		case *ast.SelectorExpr:
			of, ok := x.X.(*ast.Ident)
			return ok && of.Name != "evidence" && of.Name != "did" && imported[of.Name] && x.Sel.Name != "Code"
		}
		return false
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			equal := n.Op == token.EQL || n.Op == token.NEQ
			if equal && (isCode(n.X) && constant(n.Y) || isCode(n.Y) && constant(n.X)) {
				found = append(found, types.ExprString(n))
			}
		case *ast.SwitchStmt:
			if n.Tag == nil || !isCode(n.Tag) {
				return true
			}
			if slices.ContainsFunc(n.Body.List, func(c ast.Stmt) bool {
				return slices.ContainsFunc(c.(*ast.CaseClause).List, constant)
			}) {
				found = append(found, "switch "+types.ExprString(n.Tag))
			}
		case *ast.CallExpr:
			of, ok := n.Fun.(*ast.SelectorExpr)
			if ok && slices.Contains([]string{"Contains", "HasPrefix", "HasSuffix", "Index"}, of.Sel.Name) &&
				slices.ContainsFunc(n.Args, isCode) {
				found = append(found, types.ExprString(n))
			}
		}
		return true
	})
	return found
}

// TestComparedCodes shows that each way to compare a finding's code is refused, and what is not.
func TestComparedCodes(t *testing.T) {
	for text, want := range map[string]string{
		`f.Code == "x"`:                       `f.Code == "x"`,
		`checks.WitnessOpen != f.Code`:        `checks.WitnessOpen != f.Code`,
		`f.Code == codeHangs`:                 `f.Code == codeHangs`,
		`slices.Contains(open, f.Code)`:       `slices.Contains(open, f.Code)`,
		`strings.HasPrefix(f.Code, "x")`:      `strings.HasPrefix(f.Code, "x")`,
		`f.Code == ""`:                        "",
		`f.Code == l.Code`:                    "",
		`r.Code == evidence.CodeHashMismatch`: "",
		`block.Kind == markdown.Code`:         "",
		`f.Value == checks.MoreSignatures`:    "",
	} {
		src := "package x\nimport (\n\"a/checks\"\n\"a/evidence\"\n\"a/markdown\"\n)\nvar v = " + text
		if got := strings.Join(comparedCodes(t, "x.go", src), ", "); got != want {
			t.Errorf("%s: refused are %q, want %q", text, got, want)
		}
	}
	src := "package x\nfunc f() {\n\tswitch f.Code {\n\tcase \"x\":\n\t}\n}"
	if got := comparedCodes(t, "x.go", src); len(got) != 1 {
		t.Errorf("a switch: refused are %q", got)
	}
}

// exported are the names that the package in dir exports, those of fields and methods among them.
func exported(t *testing.T, dir string) (names []string) {
	files := must.Get(filepath.Glob(filepath.Join(dir, "*.go")))(t)
	add := func(of string, id *ast.Ident) {
		if id.IsExported() {
			names = append(names, of+id.Name)
		}
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file := must.Get(parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution))(t)
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				of := ""
				if d.Recv != nil {
					of = receiver(d.Recv.List[0].Type) + "."
				}
				if of == "" || ast.IsExported(of) { // a method of another type is reached through an interface alone
					add(of, d.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.ValueSpec:
						for _, id := range s.Names {
							add("", id)
						}
					case *ast.TypeSpec:
						add("", s.Name)
						if st, ok := s.Type.(*ast.StructType); ok {
							for _, f := range st.Fields.List {
								for _, id := range f.Names {
									add(s.Name.Name+".", id)
								}
							}
						}
					}
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

// receiver is the name of the type that a method is of.
func receiver(x ast.Expr) string {
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	return x.(*ast.Ident).Name
}

// TestRoomsTwins checks that imports that must pass do, and that each rule refuses an offender.
func TestRoomsTwins(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     string // a part of the refusal; empty: it passes
	}{
		{"internal/mirror", module + "checks", ""},
		{"internal/mirror/mirrorcmd", module + "internal/mirror", ""},
		{"internal/mirror/mirrorcmd", "github.com/spf13/cobra", ""},
		{"internal/judge/checkcmd", module + "internal/mirror", ""},
		{"internal/verify", module + "internal/author/listing", ""},
		{"internal/oap/proof", module + "internal/oap/signature", ""},
		{"internal/cli", module + "internal/verify/verifycmd", ""},
		{"bench", module + "internal/test/fixture", ""},
		{"internal/frame", module + "internal/report", ""},
		{"internal/test/ghtest", "os/exec", ""},
		{"checks", module + "internal/mirror", "level 6 may not import level 8"},
		{"internal/mirror", module + "internal/verify", "level 8 may not import level 8"},
		{"internal/git/gitstore", module + "internal/oap/did", "level 3 may not import level 3"},
		{"internal/verify", module + "internal/author/authorcmd", "only cli may import a command"},
		{"internal/mirror/mirrorcmd", module + "internal/verify/verifycmd", "only cli may import a command"},
		{"internal/frame", module + "checks", "frame may not know"},
		{"internal/mirror", "github.com/spf13/pflag", "the terminal"},
		{"registry", "golang.org/x/term", "the terminal"},
		{"internal/verify", module + "internal/test/fixture", "may import test"},
		{"internal/evidence", "os/exec", "start a program"},
		{"internal/base/usergit", "os/exec", ""},
	} {
		if got := forbidden(c.from, c.to); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s imports %s: %q, want %q", c.from, c.to, got, c.want)
		}
	}
	for path, refused := range map[string]bool{module + "internal/mirror": false, module + "internal/report": true,
		"github.com/spf13/cobra": true, "github.com/weppos/publicsuffix-go/publicsuffix": false,
		"github.com/google/go-github/v81/github": true} {
		if got := notInGate(path); refused != (got != "") {
			t.Errorf("gate links %s: %q", path, got)
		}
	}
}
