package outside

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/pytoken"
)

// pythonText returns a string literal of Python.
func pythonText(rnd *rand.Rand) string {
	inner := func(quotes, breaks bool) string {
		var out strings.Builder
		for range rnd.IntN(4) {
			text := one(rnd, "a", "é", " ", "#", "@x", "def f(): ", `\n`, `\\`, `\x41`, `\u00e9`, `\101`, `\'`, `\"`,
				"(", "]", "{}", "\\\n", "'", `"`, "\n", "\n@x\ndef g(): pass\n")
			if (quotes || !strings.ContainsAny(strings.TrimPrefix(text, `\`), `'"`)) && (breaks || text[0] != '\n') ||
				text[0] == '\\' {
				out.WriteString(text)
			}
		}
		return out.String()
	}
	switch rnd.IntN(6) {
	case 0, 1:
		quote := one(rnd, "'", `"`)
		return quote + inner(false, false) + quote
	case 2:
		return `"""` + inner(false, true) + `"""`
	case 3:
		return `'''` + strings.ReplaceAll(inner(true, true), "'", "") + `a'''`
	case 4:
		return one(rnd, "r", "R", "u", "U") + "'" + one(rnd, "a", "a b", "", "#") + "'"
	}
	return "'" + inner(false, false) + "' " + one(rnd, "", "  ") + `"b"`
}

func pythonValue(rnd *rand.Rand, depth int) string {
	if depth == 0 {
		return one(rnd, "x", "1", "None", pythonText(rnd), "a.b", "b'c'", "f'{x}'", `f"{x!r:>{y}}"`, "0x1f", "...")
	}
	v := func() string { return pythonValue(rnd, depth-1) }
	return fmt.Sprintf(one(rnd, "[%s, %s]", "(%s,\n %s)", "f(%s, k=%s)", "{%s: %s}", "(lambda x=%s: %s)",
		"%s if x else %s", "[\n%s for y in %s # (\n]", "%s == %s", "x[%s:%s]",
		"not %s and %s", "(%s) \\\n  + %s", "{**a, 1: %s, 2: %s}"), v(), v())
}

// pythonFunction returns a definition, indented by so many blanks.
func pythonFunction(rnd *rand.Rand, depth int) string {
	pad := strings.Repeat(" ", depth)
	var out strings.Builder
	for range rnd.IntN(3) {
		out.WriteString(pad + "@" + one(rnd, "skill", "a.b", "a . b", "skill()", "a.b.c(1)",
			"skill("+pythonValue(rnd, 1)+")", "tool(name="+pythonText(rnd)+",\n  k=1)") +
			one(rnd, "", "  # @y", " ") + "\n")
		if rnd.IntN(6) == 0 {
			out.WriteString(one(rnd, "\n", "# x\n", pad+"# def g():\n"))
		}
	}
	out.WriteString(pad + one(rnd, "def ", "async def ", "def  ") + one(rnd, "f", "test_a", "g1", "_h", "é") +
		one(rnd, "()", "(x, *y, **z)", "(x: int = 1) -> {1: 2}", "(x=lambda: 1,\n y=[1, 2])", " ( )") +
		one(rnd, ":", " :"))
	doc := one(rnd, pythonText(rnd), "("+pythonText(rnd)+")", "x = "+pythonText(rnd), "pass", "return 1", "f'{x}'",
		"b'c'", pythonText(rnd)+"; pass", "1; 'a'")
	if rnd.IntN(4) == 0 {
		return out.String() + " " + doc + "\n"
	}
	out.WriteString("\n" + one(rnd, "", "\n", "  # x\n") + pad + "  " + doc + "\n")
	if rnd.IntN(4) == 0 {
		out.WriteString(pythonFunction(rnd, depth+2))
	}
	return out.String()
}

// pythonModule returns a module that each version of Python 3 since 3.8 reads.
func pythonModule(rnd *rand.Rand) string {
	var out strings.Builder
	out.WriteString(one(rnd, "", "", "\ufeff", "# -*- coding: utf-8 -*-\n", "#!/usr/bin/env python3\n"))
	for range 1 + rnd.IntN(5) {
		switch rnd.IntN(7) {
		case 0:
			out.WriteString(one(rnd, "import a\n", "from a import (b,\n  c as skill)\n", "from . import x\n",
				"import a.b as c; x = 1\n"))
		case 1:
			out.WriteString("x = " + pythonValue(rnd, rnd.IntN(3)) + one(rnd, "\n", "; y = 1\n", "  # x\n"))
		case 2:
			out.WriteString(one(rnd, "class A:\n", "@skill\nclass TestA(B):\n", "if x:\n", "for x in y:\n",
				"try:\n  pass\nfinally:\n") + pythonFunction(rnd, 2))
		case 3:
			out.WriteString(pythonText(rnd) + "\n")
		default:
			out.WriteString(pythonFunction(rnd, 0))
		}
	}
	text := out.String()
	if rnd.IntN(5) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// saidModule is what a reader says about a module.
type saidModule struct {
	Functions []saidFunction // those of the module itself that have decorators
	Tests     bool           // there is a def test… or a class Test…
}

type saidFunction struct {
	Line       int
	Name, Doc  string
	Decorators []string
}

// pythonReader defines said(bytes), which returns what ast says about a module, or None if it is not Python.
const pythonReader = `import ast, json, os, sys, sysconfig
def name(d):
    d, parts = d.func if isinstance(d, ast.Call) else d, []
    while isinstance(d, ast.Attribute):
        d, parts = d.value, [d.attr] + parts
    return '.'.join([d.id] + parts) if isinstance(d, ast.Name) else '?'
def said(text):
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    functions, tests = [], False
    for node in ast.walk(tree):
        function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        tests = tests or (function and node.name.startswith('test')
            or isinstance(node, ast.ClassDef) and node.name.startswith('Test'))
        if function and node in tree.body and node.decorator_list:
            functions.append({'Line': node.lineno, 'Name': node.name, 'Doc': ast.get_docstring(node, clean=False) or '',
                'Decorators': [name(d) for d in node.decorator_list]})
    return {'Functions': functions, 'Tests': bool(tests)}
`

// pythonSaid returns what the product says about a module.
func pythonSaid(text []byte) (saidModule, error) {
	m, err := pytoken.Read("a.py", text, nil)
	out := saidModule{Functions: []saidFunction{}, Tests: m.HasTests}
	for _, f := range m.Functions {
		g := saidFunction{Line: f.Pos.Line, Name: f.Name, Doc: f.Doc}
		for _, d := range f.Decorators {
			g.Decorators = append(g.Decorators, d.Name)
		}
		out.Functions = append(out.Functions, g)
	}
	return out, err
}

// A module that Python refuses is out of scope: the product's reader judges no grammar.
var pythonModules = &judge{name: "generated: modules, ast of CPython", of: programVersion(1, "python3", "--version"),
	random: true, cases: 1000, sound: true, needs: []string{"python3"}, run: func(r *run) {
		rnd := random()
		var texts []string
		for range 1000 {
			texts = append(texts, pythonModule(rnd))
		}
		var theirs []*saidModule
		python(r, pythonReader+"print(json.dumps([said(text.encode()) for text in json.load(sys.stdin)]))", texts,
			&theirs)
		for i, text := range texts {
			if theirs[i] == nil {
				r.skip(text)
				continue
			}
			want := answer{value: fmt.Sprintf("%+v", *theirs[i])}
			r.compare(fmt.Sprintf("%d %s", i, text), want, func() (string, error) {
				got, err := pythonSaid([]byte(text))
				return fmt.Sprintf("%+v", got), err
			})
		}
	}}

// The files differ from version to version, so that they are one case.
var pythonLibrary = &judge{name: "the standard library of CPython, ast of CPython",
	of: programVersion(1, "python3", "--version"), cases: 1, sound: true, needs: []string{"python3"},
	run: func(r *run) {
		var theirs map[string]*saidModule
		python(r, pythonReader+`directory = sysconfig.get_path('stdlib')
files = sorted(os.path.join(directory, f) for f in os.listdir(directory) if f.endswith('.py'))
print(json.dumps({f: said(open(f, 'rb').read()) for f in files}))`, nil, &theirs)
		if len(theirs) < 50 {
			r.Errorf("the library has %d modules; expected at least 50", len(theirs))
		}
		r.compare("the modules that are read otherwise", answer{value: "[]"}, func() (string, error) {
			other := []string{}
			for _, file := range slices.Sorted(maps.Keys(theirs)) {
				text, err := os.ReadFile(file)
				if err != nil {
					return "", err
				}
				got, err := pythonSaid(text)
				if want := theirs[file]; want != nil && (err != nil || fmt.Sprint(got) != fmt.Sprint(*want)) {
					other = append(other, fmt.Sprintf("%s: %v, %v, not %v", filepath.Base(file), got, err, *want))
				}
			}
			return fmt.Sprint(other), nil
		})
	}}
