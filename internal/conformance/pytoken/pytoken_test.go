package pytoken

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

var asked = map[string]bool{"os.environ[": true, "os.environ.get(": true, "os.getenv(": true, "open(": true,
	"pathlib.Path(": true}

func spell(all []Argument) string {
	var out []string
	for _, a := range all {
		value := "?"
		if a.IsText {
			value = fmt.Sprintf("%q", a.Value)
		} else if a.IsNone {
			value = "None"
		}
		out = append(out, a.Keyword+"="+value)
	}
	return "(" + strings.Join(out, " ") + ")"
}

// said spells what a module has: the functions, with ! if they are not exported, and their decorators that have paths;
// then the uses.
func said(text string) string {
	m, err := Read("a.py", []byte(text), asked)
	if err != nil {
		return strings.TrimPrefix(err.Error(), "a.py:")
	}
	var out []string
	for _, f := range m.Functions {
		one := fmt.Sprintf("%d:%d %s", f.Pos.Line, f.Pos.Column, f.Name)
		if m.Exports[f.Name] != f {
			one += "!"
		}
		for _, d := range f.Decorators {
			if d.Paths != nil {
				one += " " + strings.Join(d.Paths, "|") + spell(d.Arguments)
			}
		}
		if f.Doc != "" {
			one += fmt.Sprintf(" %q", f.Doc)
		}
		out = append(out, one)
	}
	for _, u := range m.Uses {
		out = append(out, fmt.Sprintf("%d:%d %s%s", u.Pos.Line, u.Pos.Column, u.Name, spell(u.Arguments)))
	}
	return strings.Join(out, "; ")
}

type row struct{ name, text, want string }

func try(t *testing.T, rows []row) {
	for _, c := range rows {
		for name, text := range map[string]string{c.name: c.text,
			c.name + ", CR LF": strings.ReplaceAll(c.text, "\n", "\r\n")} {
			t.Run(name, func(t *testing.T) {
				if got := said(text); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
			})
		}
	}
}

func TestDecorators(t *testing.T) {
	const from = "from gitagent import skill\n"
	try(t, []row{
		{"called", from + "@skill(name='a', description=\"b\")\ndef f(): pass",
			`3:5 f gitagent.skill(name="a" description="b")`},
		{"bare", from + "@skill\nasync def f(x: int = 1) -> (lambda: 1):\n  'doc'", `3:11 f gitagent.skill() "doc"`},
		{"as", "from gitagent import Agent, skill as s\n@s\ndef f(): 'a' \"b\"; x", `3:5 f gitagent.skill() "ab"`},
		{"in brackets over lines",
			"from gitagent import (  # x\n  Agent,\n  skill as s,\n)\n@s(\n  # y)\n  description=(\n" +
				" 'a'\n 'b'),\n)\ndef f():\n  x", `11:5 f gitagent.skill(description="ab")`},
		{"joined lines", "from gitagent \\\n  import skill\n@ \\\n skill\ndef f(): pass", `5:5 f gitagent.skill()`},
		{"module", "import os, gitagent\n@gitagent.skill()\ndef f():\n  # x\n  \"\"\"doc\n  \"\"\"\n",
			`3:5 f gitagent.skill() "doc\n  "`},
		{"module as", "import gitagent as g\n@ g . skill # x\ndef f(): pass", "3:5 f gitagent.skill()"},
		{"module of a module", "import gitagent.hooks\n@gitagent.hooks.skill\ndef f(): pass",
			"3:5 f gitagent.hooks.skill()"},
		{"module itself", "import a.skill as s\n@s\ndef f(): pass", "3:5 f a.skill.()"},
		{"relative", "from . import base\nfrom ..a . b import c\nfrom.d import e\n@base.skill\n@c\n@e\ndef f(): pass",
			"7:5 f .base.skill() ..a.b.c() .d.e()"},
		{"among decorators", from + "@a\n@skill\n@b.c(1)\ndef f(): pass", "5:5 f gitagent.skill()"},
		{"fallback",
			"try:\n  from gitagent import skill\nexcept ImportError:\n  def skill(f): return f\n@skill\ndef f(): pass",
			"6:5 f gitagent.skill()"},
		{"fallback by import",
			"try:\n  from gitagent import skill\nexcept ImportError:\n  from b import skill\n@skill\ndef f(): 1",
			"6:5 f gitagent.skill|b.skill()"},
		{"fallback after", "from a import skill\nif x: from b import skill; y\n@skill\ndef f(): 1",
			"4:5 f a.skill|b.skill()"},
		{"with others", "import os; from gitagent import skill; x = 1\n@skill\ndef f(): pass",
			"3:5 f gitagent.skill()"},
		{"arguments",
			from + "@skill('a', d, description=None, x=f'{y}z', z=b'w', w=f'v{{', v='u'.strip(), t=('s', 'r'), " +
				"**b, q='a' + \"b\", p=a == b, o=lambda n=1: 2)\ndef f(): pass",
			`3:5 f gitagent.skill(="a" =? description=None x=? z=? w="v{" v=? t=? **=? q="ab" p=? o=?)`},
		{"member of it", from + "@skill.x\n@skill().y\n@skill()()\n@skill[0]\n@x.skill\ndef f(): pass",
			"7:5 f gitagent.skill.x()"},
		{"import after it", "@skill\ndef f(): pass\n" + from, "2:5 f"},
		{"import in a function", "def g():\n  if x:\n    from gitagent import skill\n@skill\ndef f(): pass", "5:5 f"},
		{"import in a function in a block",
			"if x:\n  def g():\n    from gitagent import skill\n@skill\ndef f(): pass", "5:5 f"},
		{"import after a function in a block",
			"if x:\n  def g(): pass\n  from gitagent import skill\n@skill\ndef f(): pass",
			"5:5 f gitagent.skill()"},
		{"import in one line with a function", "def g(): from gitagent import skill\n@skill\ndef f(): pass", "3:5 f"},
		{"relative without blanks", "from.a import b\nfrom..import c\nfrom.. d import e\n@b\n@c\n@e\ndef f(): pass",
			"7:5 f .a.b() ..c() ..d.e()"},
		{"import after a function in a function",
			"def g():\n  def h(): pass\n  from gitagent import skill\n@skill\ndef f(): pass", "5:5 f"},
		{"class before it", from + "@skill\nclass A: pass\ndef f(): pass", ""},
		{"in a block before it", from + "if x:\n  @skill\ndef f(): pass", ""},
		{"indented after it", from + "@skill\n  def f(): pass", ""},
		{"of a name that is a keyword elsewhere", "@x\ndef type(): 1\ntype = 1", "2:5 type!"},
		{"no name", "@\n@(a)\n@'a'\ndef f(): pass", "4:5 f"},
		{"everything", "from gitagent import *\n@skill\ndef f(): pass", "3:5 f"},
		{"in a string", from + "'''\n@skill\ndef f(): pass\n'''", ""},
		{"in a formatted string", from + "f'''\n@skill\ndef f(): pass\n{\n1}'''", ""},
		{"in a comment", from + "# @skill\ndef f(): pass", ""},
		{"in brackets", from + "(\n@skill\n)\ndef f(): pass", ""},
		{"nested", from + "def g():\n  @skill\n  def f(): pass", ""},
		{"nested by a joined line", from + "def g():\n    \\\n@skill\n    \\\ndef f(): pass", ""},
		{"nested by a joined line at column 0", from + "def g():\n\\\n    @skill\n\\\n    def f(): pass", ""},
		{"method", from + "class A:\n\t@skill\n\tdef f(self): pass", ""},
		{"under a condition", from + "if x:\n  @skill\n  def f(): pass", ""},
		{"class", from + "@skill\nclass A: pass", ""},
		{"form feed", from + "\f\n\f@skill\n\fdef f(): pass", "4:6 f gitagent.skill()"},
	})
}

func TestBindings(t *testing.T) {
	const head, unbound, bound = "from gitagent import skill\n", "@skill\ndef f(): pass", " gitagent.skill()"
	for text, keeps := range map[string]bool{
		"from other import skill as x": true, "import skill.x as y": true, "x.skill = y[skill] = f(skill=1)": true,
		"x: skill = 1": true, "x = lambda skill=1: 2": true, "if x:\n  skill = 1": true, "def g():\n  skill = 1": true,
		"skill = partial(skill, a=1)": true, "skill == 1": true, "f(skill := 1)": true, "del x.skill, x[skill]": true,
		"for x in skill: pass": true, "with skill as x: pass": true, "skill: int": true, "x = {'skill': 1}": true,
		"'''\ndel skill\n'''": true, "x = f'{skill}'; # skill = 1": true, "x <= skill": true, "delskill = 1": true,

		"skill = None": false, "import other as skill": false, "import skill": false, "import skill.x": false,
		"a, (skill, b) = c = 1": false, "skill: int = 1": false, "a = skill = c": false, "*skill, a = x": false,
		"skill += 1": false, "skill <<= 1": false, "skill, = x": false, "def skill(f): return f": false,
		"class skill: pass": false, "del (skill)": false, "del a, skill": false, "for x, skill in y: pass": false,
		"with a as b, c(d, e) as skill: pass": false, "with (a as b, c as skill): pass": false,
		"with a as (b, skill), c: pass": false, "with a as (b, [c, skill], d), e: pass": false,
		"with a as (b, (c, d), skill): pass": false, "with a as (b, (c, d)), e as skill: pass": false,
		"with a as (b, (c, d)), skill: pass": true, "with a as skill[0]: pass": true,
		"x = 1; del skill": false, "skill = x.skill": false, "skill = f(skill=1)": false, "skill = 'skill'": false,
		"a[b, skill] = 1": true, "a[b(c, skill)] = 1": true, "a[b][c, skill], d = 1": true, "a(b, skill)[c] = 1": true,
		"for a[b, skill] in c: pass": true, "del a[b, skill]": true, "a[b], skill = c": false,
		"a[b], [c, skill] = d": false, "skill: [lambda a=1: 2] = 3": false, "a[lambda: 1], skill = b": false,
		"for a[b(skill=1)] in c: pass": true, "del(a, skill)": false, "a = [b, skill] = c": false,
		"ſkill = None": false, "del ｓkill": false, "import a as ſkill": false, "ſkıll = None": true,
		"def g(): x; skill = 1": true, "if x:\n  for skill in y: pass": true, "if x:\n  del skill": true,
		"skill = f(skill, skill=1)": true,
		"with ... as skill: pass":   false, "skill: lambda: 1 = 2": false, "x = lambda a, skill=1: 2": true,
		"(skill).x = 1": true, "x = '=', skill": true, "x = 1.\ndel skill": false, "skill = a = 'skill', b": false,
		"x = ...\ndel skill": false, "for x, a[0], (skill) in y: pass": false, "skill = skill.x(1)": true,
		"async def skill(): pass": false, "type skill = int": false, "from a import (b,\n  c as skill)": false,
	} {
		t.Run(text, func(t *testing.T) {
			got := said(head + text + "\n" + unbound)
			if is := strings.HasSuffix(got, bound); is != keeps {
				t.Errorf("the decorator is bound: %v (%s)", is, got)
			}
			got = said("import skill as s\n@s\ndef skill(): pass\n" + text)
			if is := strings.HasPrefix(got, "3:5 skill "); is != keeps && text != "from other import skill as x" {
				t.Errorf("the function is exported: %v (%s)", is, got)
			}
		})
	}
}

func TestLambda(t *testing.T) {
	for text, want := range map[string]string{"a = lambda_b = 1": "2:5 lambda_b!",
		"a = lambda lambda_b=1: 2": "2:5 lambda_b"} {
		if got := said("@x\ndef lambda_b(): 1\n" + text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestDocstrings(t *testing.T) {
	for body, want := range map[string]string{
		"def f(): 'a'": `2:5 f "a"`, "def f(): ''": "2:5 f", "def f():\n  ('a'\n 'b')": `2:5 f "ab"`,
		"def f():\n  r'\\n' u'\\n'":                              `2:5 f "\\n\n"`,
		"def f():\n  '\\x41\\u00e9\\101\\0\\q\\'\\\n'":           `2:5 f "AéA\x00\\q'"`,
		"def f():\n  '\\777\\400'":                               `2:5 f "ǿĀ"`,
		"def f():\n\n  # x\n\n  '''a'''\n":                       `2:5 f "a"`,
		"def f[T: int](x: {1: 2} = lambda: 1) -> x[1:2]:\n  'a'": `2:5 f "a"`,
		"def f():\n  f'a'":                                       "2:5 f", "def f():\n  b'a'": "2:5 f",
		"def f():\n  'a', 'b'": "2:5 f",
		"def f():\n  'a'.x":    "2:5 f", "def f():\n  x\n  'a'": "2:5 f", "def f()\n'a'": "2:5 f",
		"def f(): x\n  'a'": "2:5 f", "def f():": "2:5 f",
		"def f():\n  x = 'a'": "2:5 f", "def f():\n  'a' + 'b'": "2:5 f",
	} {
		if got := said("@x\n" + body); got != want {
			t.Errorf("%q: got %s, want %s", body, got, want)
		}
	}
}

func TestUses(t *testing.T) {
	for text, want := range map[string]string{
		"import os\nx = os.environ['A']":                               `2:5 os.environ[(="A")`,
		"def f(): return os.environ.get('A', 'b')":                     `1:17 os.environ.get((="A" ="b")`,
		"os.getenv(key='A', default=None)":                             `1:1 os.getenv((key="A" default=None)`,
		"f'{os.environ[\"A\"]:{os.getenv(\"B\")}}'":                    `1:4 os.environ[(="A"); 1:21 os.getenv((="B")`,
		"t'{os.environ[\"A\"]}{[1]}'":                                  `1:4 os.environ[(="A")`,
		"f'{os.environ}{[\"A\"]}'":                                     "",
		"from os import environ as e, getenv\ne['A']; getenv('B')":     `2:1 os.environ[(="A"); 2:9 os.getenv((="B")`,
		"def f():\n  import os as o\n  o . getenv ('A')":               `3:3 os.getenv((="A")`,
		"def f():\n  import json as os\nos.getenv('A')\nimport os":     `3:1 os.getenv((="A")`,
		"from pathlib import Path\nPath('..', 'a')/open(x)":            `2:1 pathlib.Path((=".." ="a"); 2:17 open((=?)`,
		"open(open('a'), f'b{c}')":                                     `1:1 open((=? =?); 1:6 open((="a")`,
		"x.os.environ['A']; x().open('b'); y.open('c'); 'd'.open('e')": "",
		"'os.getenv(\"A\")' # os.getenv('B')":                          "",
		"def open(x): pass\nclass open(object): pass":                  "",
		"from gzip import open\nopen('a')":                             "",
		"open(f'\\N{DIGIT ONE}', f'{{a}}')":                            `1:1 open((=? ="{a}")`,
		"(os  \n  .environ\\\n['A'])\nx() . open('b')":                 `1:2 os.environ[(="A")`,
		"def f(): import os as o\no.getenv('A')":                       `2:1 os.getenv((="A")`,
		"import o as x, xs\nxs.getenv('A')":                            "",
		"open(None or 'a', '{{b}}')":                                   `1:1 open((=? ="{{b}}")`,
		"open(, 'a')":                                                  `1:1 open((="a")`,
		"open(f'{a, b:x}')":                                            `1:1 open((=?)`,
		"f'{a:{{open(\"b\")}}}'":                                       `1:8 open((="b")`,
		"f'\\{open(\"b\")}'":                                           `1:5 open((="b")`,
		"open （'a'）":                                                   "",
		"open(lambda a=1: 'b', ',', '(')":                              `1:1 open((=? ="," ="(")`,
		"not open('a') if open('b') else open":                         `1:5 open((="a"); 1:18 open((="b")`,
		"x = [\n  os.getenv(\n 'A'\n)]":                                `2:3 os.getenv((="A")`,
		"os\n('A')":                                                    "",
		"open\n('A')":                                                  "",
		"X = f\"{X[\"a\"] if X else \"}\"}\" f'{f\"{open('a')}\"}'":    `1:37 open((="a")`,
	} {
		if got := said(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestModule(t *testing.T) {
	m, err := Read("a.py", []byte("from .a import b as c, d\nfrom ...e.f import *\nfrom . import *\n"+
		"if x: from . import (g)\ndef h(): from i import j\nimport k.l, m.n as o\nclass Test: pass\ndel d"), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(m.Imports, m.HasTests)
	if want := "map[*:[...e.f.* .*] c:[.a.b] g:[.g] k:[k.] o:[m.n.]] true"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	m, err = Read("a.py", []byte(strings.Repeat("if x: from a import b\n", maxPaths+1)), nil)
	if got := len(m.Imports["b"]); err != nil || got != maxPaths {
		t.Errorf("a name has %d paths, %v", got, err)
	}
	for text, has := range map[string]bool{"def test_x(): 1": true, "class A:\n  async def test(self): 1": true,
		"class TestA: 1": true, "'''\ndef test_x(): 1\n'''": false, "# def test_x(): 1": false, "def atest(): 1": false,
		"def Test(): 1": false,
		"test = 1":      false, "class test: 1": false} {
		if m, err := Read("a.py", []byte(text), nil); err != nil || m.HasTests != has {
			t.Errorf("%q: HasTests is %v, %v", text, m.HasTests, err)
		}
	}
}

func TestScan(t *testing.T) {
	const unended = "a string or bracket does not end"
	try(t, []row{
		{"empty", "", ""},
		{"strings", `'a' "b" r'\' ' rb"c" U'd' BR'''e''' '''a` + "\n" + `'b''c\'''d''' ''`, ""},
		{"string over two lines", "'a\\\nb'", ""},
		{"formatted", `f'a{b}c' rf"{{a}}" f"a{b["c"]}d{f"{e}"}" f"{a:>{b}.2f}{c!r:x}" f"{a[1:2]}{(lambda x: 1)}"`, ""},
		{"formats and escapes", `f"{a!=b}" f"\{a}" f"\N{DIGIT ONE}{a}" rf"\{a}" f'''{a:'}''' f"{x=}" f"}}"`, ""},
		{"braces in strings", `'{' '}' '{{' r'{(' '\{' f'{a:\}' f'{{('`, ""},
		{"field over lines", "f'{a\n}' f'''{a # }\n}'''", ""},
		{"byte order mark", "\ufeffx", ""},
		{"byte order mark before a coding line", "\ufeff# coding: utf-7\nx", ""},
		{"Latin-1", "# coding: latin-1\n'\xe9'", ""},
		{"Latin-1 with ends of lines", "# -*- coding: iso-latin-1-unix -*-\n'\xe9'", ""},
		{"UTF-8 with ends of lines", "# coding: utf-8-DOS\n'é'", ""},
		{"Latin-1 in the second line", "#!\n# -*- coding: latin-1 -*-\n'\xe9'", ""},
		{"eight fields", strings.Repeat("f'{", 8) + strings.Repeat("}'", 8), ""},

		{"nine fields", "\n" + strings.Repeat("f'{", 9) + strings.Repeat("}'", 9),
			"2:27: more than 8 expressions in formatted strings nest"},
		{"many brackets", strings.Repeat("(", 200) + strings.Repeat(")", 200), ""},
		{"other encoding", "# coding: utf-7\n",
			`1:1: the encoding "utf-7" is not supported; expected UTF-8 or Latin-1`},
		{"encoding that begins as Latin-1 does", "# coding: latin-10-unix\n",
			`1:1: the encoding "latin-10" is not supported; expected UTF-8 or Latin-1`},
		{"Latin-1 after code", "x\n# coding: latin-1\n'\xe9'", "3:2: the byte 0xe9 is not text"},
		{"control characters", "x = '\x01\x02\x03'\n@x(\x03)", "2:4: the byte 0x03 is not Python"},
		{"null byte", "a\n\x00", "2:1: the byte 0x00 is not text"},
		{"no UTF-8", "'é\xe9'", "1:4: the byte 0xe9 is not text"},
		{"no UTF-8 after a replacement character", "'\ufffd'\n\xe9", "2:1: the byte 0xe9 is not text"},
		{"unended string", "a = 'b\n", "1:5: " + unended},
		{"unended at the end", "'a", "1:1: " + unended},
		{"unended triple", "a\n'''b\n'", "2:1: " + unended},
		{"unended by a backslash", `'a\`, "1:1: " + unended},
		{"unended by an escape", `'a\'`, "1:1: " + unended},
		{"unended formatted", "f'a{b}", "1:1: " + unended},
		{"unended formatted line", "f'a{b}\n'", "1:1: " + unended},
		{"unended field", "f'{b'", "1:4: " + unended},
		{"unended format", "f'{b:x'", "1:5: " + unended},
		{"quote in a format", "f'''{b:'''}'''", "1:7: " + unended},
		{"open bracket", "a(\n[b]", "1:2: " + unended},
		{"open brackets", strings.Repeat("[(", 1000), "1:2000: " + unended},
		{"wrong bracket", "a(b]", "1:4: " + unended},
		{"nothing to close", "a)", "1:2: " + unended},
	})
}

// FuzzRead checks that no text makes the package panic, and that ends of lines read alike.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"", "@skill\ndef f(): 'x'", "f'{a!r:{b}}'", "if a:\n\tb\n", "'''", "\\\n", "(((",
		"from a import (b as c, d)\nimport e.f as g\ndel b, c[d]", "t'{x}' f'{'", "# coding: latin-1\n\xe9",
		"@a.b(c=(\"d\" f'{e}'), **g)\nasync def h(): (\n\"doc\")", "os.environ['A'] = open(file='x')", "f'\\N{a'",
		"with a as b: pass\nfor c in d: e = f = g\n", "open （'a'）"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, err := Read("a.py", text, asked)
		var fault *Error
		if err != nil && (!errors.As(err, &fault) || fault.Pos.Line < 1 || fault.Pos.Column < 1) {
			t.Fatalf("error is %T: %v", err, err)
		}
		if one := strings.ReplaceAll(string(text), "\r", "\n"); !strings.Contains(string(text), "\r\n") {
			if a, b := said(one), said(strings.ReplaceAll(one, "\n", "\r\n")); a != b {
				t.Fatalf("with CR LF: %s, not %s", b, a)
			}
		}
	})
}
