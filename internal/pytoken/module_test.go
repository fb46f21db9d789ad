package pytoken

import (
	"fmt"
	"strings"
	"testing"
)

// said spells what a module has: its functions with their arguments and docstrings, its imports by from, its uses.
func said(t *testing.T, text string) string {
	t.Helper()
	s, err := Scan([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Module(everything, func(name string) bool {
		return name == "os.environ" || name == "os.environ.get" || name == "os.getenv" || name == "open" ||
			name == "pathlib.Path"
	})
	if err != nil {
		return err.Error()
	}
	arguments := func(all []Argument) string {
		var out []string
		for _, a := range all {
			switch {
			case a.Text:
				out = append(out, fmt.Sprintf("%s=%q", a.Keyword, a.Value))
			case a.None:
				out = append(out, a.Keyword+"=None")
			default:
				out = append(out, fmt.Sprintf("%s=?%s", a.Keyword, a.Value))
			}
		}
		return "(" + strings.Join(out, " ") + ")"
	}
	var out []string
	for _, f := range m.Functions {
		line, column := s.Position(f.At)
		one := fmt.Sprintf("%d:%d %s%s", line, column, f.Name, arguments(f.Arguments))
		if f.HasDoc {
			one += fmt.Sprintf(" %q", f.Doc)
		}
		out = append(out, one)
	}
	for _, u := range m.Uses {
		line, column := s.Position(u.At)
		bracket := ""
		if u.Subscript {
			bracket = "[]"
		}
		out = append(out, fmt.Sprintf("%d:%d %s%s%s", line, column, u.Name, bracket, arguments(u.Arguments)))
	}
	return strings.Join(out, "; ")
}

func TestFunctions(t *testing.T) {
	const from = "from gitagent import skill\n"
	for _, c := range []struct{ name, text, want string }{
		{"called", from + "@skill(name='a', description=\"b\")\ndef f(): pass", `3:5 f(name="a" description="b")`},
		{"bare", from + "@skill\nasync def f(x: int = 1) -> (lambda: 1):\n  'doc'", `3:11 f() "doc"`},
		{"as", "from gitagent import Agent, skill as s\n@s\ndef f(): 'a' \"b\"; x", `3:5 f() "ab"`},
		{"in brackets over lines",
			"from gitagent import (  # x\n  Agent,\n  skill as s,\n)\n@s(\n  # y\n  description=(\n 'a'\n " +
				"'b'),\n)\ndef f():\n  x",
			`11:5 f(description="ab")`},
		{"module", "import os, gitagent\n@gitagent.skill()\ndef f():\n  # x\n  \"\"\"doc\n  \"\"\"\n",
			`3:5 f() "doc\n  "`},
		{"module as", "import gitagent as g\n@ g . skill # x\ndef f(): pass", "3:5 f()"},
		{"module by a module in it", "import gitagent.hooks\n@gitagent.skill\ndef f(): pass", "3:5 f()"},
		{"among decorators", from + "@a\n@skill\n@b.c(1)\ndef f(): pass", "5:5 f()"},
		{"two", from + "@skill\ndef f(): pass\n@skill\ndef g(): pass", "3:5 f(); 5:5 g()"},
		{"import in a try", "try:\n  from gitagent import skill\nexcept ImportError:\n  skill = None\n@skill\ndef " +
			"f(): pass", "6:5 f()"},
		{"import on a line with others", "import os; from gitagent import skill; x = 1\n@skill\ndef f(): pass",
			"3:5 f()"},
		{"import under if, in its line", "if x: from gitagent import skill\n@skill\ndef f(): pass", "3:5 f()"},
		{"name in another normal form", "from gitagent import \uff53kill\n@skill\ndef f(): pass", "3:5 f()"},
		{"type parameters", from + "@skill\ndef f[T: int](x: T): 'doc'", `3:5 f() "doc"`},
		{"spread arguments", from + "@skill(*a, **b)\ndef f(): pass", "3:5 f(=? **=?)"},
		{"computed arguments",
			from + "@skill('a', d, description=None, x=f'{y}z', z=b'w', w=f'v', v='u'.strip(), u=f('t'), t=('s', " +
				"'r'))\ndef f(): pass",
			`3:5 f(="a" =? description=None x=?z z=? w="v" v=? u=? t=?)`},
		{"assigned elsewhere", from + "x.skill = y[skill] = f(skill=1)\n@skill\ndef f(): pass", "4:5 f()"},
		{"annotated only", from + "x: skill = 1\ny = lambda skill=1: 2\n@skill\ndef f(): pass", "5:5 f()"},

		{"in a string", from + "'''\n@skill\ndef f(): pass\n'''", ""},
		{"in a comment", from + "# @skill\ndef f(): pass", ""},
		{"of another package", "from other import skill\n@skill\ndef f(): pass", ""},
		{"relative import", "from .gitagent import skill\nfrom . import gitagent\n@skill\ndef f(): " +
			"pass\n@gitagent.skill\ndef g(): pass", ""},
		{"of a module below", "from gitagent.x import skill\nimport gitagent.skill as s\n@s\n@skill\ndef f(): pass",
			""},
		{"without import", "@skill\n@gitagent.skill\ndef f(): pass", ""},
		{"import after it", "@skill\ndef f(): pass\n" + from, ""},
		{"everything", "from gitagent import *\n@skill\ndef f(): pass", ""},
		{"rebound by import", from + "from other import skill\n@skill\ndef f(): pass", ""},
		{"rebound by import as", from + "import other as skill\n@skill\ndef f(): pass", ""},
		{"rebound by assignment", from + "a, (skill, b) = c = 1\n@skill\ndef f(): pass", ""},
		{"rebound by annotated assignment", from + "skill: int = 1\n@skill\ndef f(): pass", ""},
		{"rebound by definition", from + "def skill(f): return f\n@skill\ndef f(): pass", ""},
		{"rebound by class", from + "class skill: pass\n@skill\ndef f(): pass", ""},
		{"deleted", from + "del (skill)\n@skill\ndef f(): pass", ""},
		{"nested", from + "def g():\n  @skill\n  def f(): pass", ""},
		{"method", from + "class A:\n  @skill\n  def f(self): pass", ""},
		{"under a condition", from + "if x:\n  @skill\n  def f(): pass", ""},
		{"class", from + "@skill\nclass A: pass", ""},
		{"member of it", from + "@skill.x\n@skill().y\n@skill()()\n@x.skill\ndef f(): pass", ""},
		{"import in a function", "def g():\n  from gitagent import skill\n@skill\ndef f(): pass", ""},
		{"called, not a decorator", from + "skill\ndef f(): pass\nskill(f)", ""},
		{"no definition", from + "@skill\nx = 1", "2:1: a decorator stands before what is no definition"},
		{"no definition at the end", from + "@skill", "2:1: a decorator stands before what is no definition"},
		{"no definition in a block", "class A:\n  @x\ny", "2:3: a decorator stands before what is no definition"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := said(t, c.text); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestDocstrings(t *testing.T) {
	const head = "from gitagent import skill\n@skill\n"
	for _, c := range []struct{ body, want string }{
		{"def f(): 'a'", `3:5 f() "a"`},
		{"def f(): ''", `3:5 f() ""`},
		{"def f():\n  ('a'\n 'b')", `3:5 f() "ab"`},
		{"def f():\n  r'\\n' u'\\n'", `3:5 f() "\\n\n"`},
		{"def f():\n  '\\x41\\u00e9\\101\\q\\\n'", `3:5 f() "AéA\\q"`},
		{"def f():\n  '\\N{DIGIT ONE}\\xzz'", `3:5 f() "` + "\ufffd\ufffd" + `"`},
		{"def f():\n  f'a'", "3:5 f()"},
		{"def f():\n  b'a'", "3:5 f()"},
		{"def f():\n  'a', 'b'", "3:5 f()"},
		{"def f():\n  'a'.x", "3:5 f()"},
		{"def f():\n  ('a',)", "3:5 f()"},
		{"def f():\n  x\n  'a'", "3:5 f()"},
		{"def f()\n'a'", "3:5 f()"},
	} {
		if got := said(t, head+c.body); got != c.want {
			t.Errorf("%q: got %s, want %s", c.body, got, c.want)
		}
	}
}

func TestUses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"import os\nx = os.environ['A']", `2:5 os.environ[](="A")`},
		{"def f(): return os.environ.get('A', 'b')", `1:17 os.environ.get(="A" ="b")`},
		{"os.getenv(key='A', default=None)", `1:1 os.getenv(key="A" default=None)`},
		{"f'{os.environ[\"A\"]:{os.getenv(\"B\")}}'", `1:4 os.environ[](="A"); 1:21 os.getenv(="B")`},
		{"from os import environ as e, getenv\ne['A']; getenv('B')", `2:1 os.environ[](="A"); 2:9 os.getenv(="B")`},
		{"def f():\n  import os as o\n  o . getenv ('A')", `3:3 os.getenv(="A")`},
		{"from pathlib import Path\nPath('..', 'a')/open(x)", `2:1 pathlib.Path(=".." ="a"); 2:17 open(=?)`},
		{"open(open('a'), f'b{c}')", `1:1 open(=? =?b); 1:6 open(="a")`},
		{"x.os.environ['A']; x().open('b'); y.open('c'); def_.os", ""},
		{"'os.getenv(\"A\")' # os.getenv('B')", ""},
		{"def open(x): pass\nclass open(object): pass", ""},
		{"from gzip import open\nopen('a')", ""},
		{"not open('a') if open('b') else open", `1:5 open(="a"); 1:18 open(="b")`},
	} {
		if got := said(t, c.text); got != c.want {
			t.Errorf("%q: got %s, want %s", c.text, got, c.want)
		}
	}
}

func TestImports(t *testing.T) {
	s, err := Scan([]byte("from .a import b as c, d\nfrom ...e.f import *\nif x: from . import (g)\ndef h(): from i " +
		"import j\nfrom . . import k"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Module(everything, func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(m.Imports)
	if want := "[{1 a b c} {1 a d d} {3 e.f * *} {1  g g} {2  k k}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
