package pytoken

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// python is a CPython whose formatted strings are those of PEP 701, empty where none is at hand.
func python() string {
	for _, name := range []string{"python3", "python3.14", "python3.13", "python3.12"} {
		if exec.Command(name, "-c", "import sys; sys.exit(sys.version_info < (3, 12))").Run() == nil {
			return name
		}
	}
	return ""
}

type seen struct {
	Functions [][]any `json:"functions"`
	Uses      [][]any `json:"uses"`
}

// look says what this package sees, in the words of testdata/cpython.py.
func look(text string) (*seen, error) {
	s, err := Scan([]byte(text))
	if err != nil {
		return nil, err
	}
	m, err := s.Module(everything, func(name string) bool {
		return slices.Contains([]string{"os.environ", "os.environ.get", "os.getenv", "open", "pathlib.Path"}, name)
	})
	if err != nil {
		return nil, err
	}
	arguments := func(all []Argument) []any {
		out := []any{}
		for _, a := range all {
			var text any
			if a.Text {
				text = a.Value
			}
			out = append(out, []any{a.Keyword, text, a.None})
		}
		return out
	}
	out := &seen{[][]any{}, [][]any{}}
	for _, f := range m.Functions {
		var doc any
		if f.HasDoc {
			doc = f.Doc
		}
		out.Functions = append(out.Functions, []any{f.Name, doc, arguments(f.Arguments)})
	}
	for _, u := range m.Uses {
		line, column := s.Position(u.At)
		out.Uses = append(out.Uses, []any{u.Name, u.Subscript, float64(line), float64(column), arguments(u.Arguments)})
	}
	slices.SortStableFunc(out.Uses, func(a, b []any) int {
		return cmp.Or(cmp.Compare(a[2].(float64), b[2].(float64)), cmp.Compare(a[3].(float64), b[3].(float64)),
			cmp.Compare(a[0].(string), b[0].(string)))
	})
	return out, nil
}

// source writes modules by chance.
type writer struct{ *rand.Rand }

func (w writer) one(of ...string) string { return of[w.IntN(len(of))] }

func (w writer) text() string {
	body := w.one("a", "", " ", "it''s", `\n`, `\\`, "@skill", "# x", "{{", "é", `\
`, "}}")
	prefix := w.one("", "", "", "r", "u", "R", "f", "rf", "b", "F")
	quote := w.one("'", `"`, "'''", `"""`)
	if strings.ContainsAny(prefix, "bB") || strings.Contains(body, quote) {
		body = strings.ReplaceAll(strings.ReplaceAll(body, "é", "e"), "'", "")
	}
	if strings.ContainsAny(prefix, "fF") {
		if w.IntN(2) == 0 {
			body += "{" + w.one("x", "x!r", "x:>{y}", `d["k"]`, "os.environ['FIELD']", "f'{z}'", "(lambda: 1)",
				"{1: 2}[1]",
				"x=", "x != y", "'a' 'b'") + "}"
		}
	} else if len(quote) == 3 && w.IntN(2) == 0 {
		body += "\n@skill\ndef hidden(): pass\n"
	}
	return prefix + quote + body + quote
}

func (w writer) expression(depth int) string {
	if depth > 3 {
		return w.one("x", "1", "None", "1.5e-3", "...", w.text())
	}
	e := func() string { return w.expression(depth + 1) }
	switch w.IntN(14) {
	case 0, 1, 2:
		return w.text()
	case 3:
		return w.text() + " " + w.text()
	case 4:
		return "(" + w.one("", "\n  ", " # )\n ") + e() + w.one("", ",") + ")"
	case 5:
		return "[" + e() + ", " + e() + "]"
	case 6:
		return "{" + e() + ": " + e() + "}"
	case 7:
		return w.one("os.environ[", "environ[", "o.environ[", "x[") + e() + w.one("", "", ", "+e()) + "]"
	case 8:
		return w.one("os.getenv(", "os.environ.get(", "getenv(", "open(", "Path(", "P(", "x.open(", "f(",
			"os . getenv (") +
			w.one("", e(), e()+", "+e(), "key="+e(), "*"+e(), "**"+e(), e()+", default=None,", "lambda x=1: x, "+e(),
				"x == "+e()) + ")"
	case 9:
		return e() + " " + w.one("+", "if x else", "and", "%", "\\\n  or", "not in") + " " + e()
	case 10:
		return "lambda skill=" + e() + ": " + e()
	case 11:
		return e() + ".strip()"
	case 12:
		return "(" + w.one("x", "skill") + " := " + e() + ")"
	}
	return w.one("x", "1", "skill", "None", "skill.x", "gitagent", "1if x else 2", "x[1:2]")
}

func (w writer) imports() string {
	return w.one("from gitagent import skill", "from gitagent import skill as s", "import gitagent",
		"import gitagent as g",
		"from gitagent import (\n  Agent,  # x\n  skill as s,\n)", "from gitagent import *", "from other import skill",
		"import other as skill",
		"import gitagent.x", "import gitagent.skill as s", "import os, gitagent as s", "from .gitagent import skill",
		"from . import gitagent",
		"import os", "import os as o", "from os import environ, getenv", "from pathlib import Path, PurePath as P",
		"from pathlib import Path as P",
		"from gitagent.x import skill", "import os.path", "from gitagent import skill; import os",
		"from __future__ import annotations")
}

func (w writer) decorator() string {
	name := w.one("skill", "skill", "skill", "s", "gitagent.skill", "g.skill", "skill.x", "other", "gitagent . skill",
		"gitagent.x.skill", "x.skill")
	arguments := w.one("", "", "()", "(name='a')", "(description="+w.expression(2)+")",
		"(\n  name='a',\n  description="+w.expression(2)+",\n)",
		"("+w.expression(2)+", **x)", "().x", "()()", "[0]")
	return "@" + name + arguments + w.one("", "  # x", " ")
}

func (w writer) definition(indent string, depth int) string {
	var b strings.Builder
	for range w.IntN(3) {
		b.WriteString(indent + w.decorator() + "\n" + w.one("", "", "\n", "# x\n"))
	}
	head := w.one("def f(x)", "async def g(x: int = 1) -> (lambda: 1)", "def skill(y)", "def h(\n    x, # :\n)",
		"class C", "def k[T: int](x)", "class s(x)")
	b.WriteString(indent + head + ":" + w.one("", " ", " # x"))
	if w.IntN(4) == 0 && !strings.HasSuffix(b.String(), "x") {
		return b.String() + w.one(w.text(), "pass", w.text()+"; x = 1", "import os as o; x", "("+w.text()+")") + "\n"
	}
	b.WriteString("\n" + w.one("", "", "\n", indent+"    # x\n", "# x\n"))
	if w.IntN(2) == 0 {
		b.WriteString(indent + "    " + w.one(w.text(), w.text()+" "+w.text(), "("+w.text()+")", "("+w.text()+",)",
			w.text()+"; x") + "\n")
	}
	for range 1 + w.IntN(2) {
		b.WriteString(w.statement(indent+"    ", depth+1))
	}
	return b.String()
}

func (w writer) statement(indent string, depth int) string {
	switch w.IntN(10) {
	case 0, 1:
		if indent == "" || w.IntN(2) == 0 {
			return indent + strings.ReplaceAll(w.imports(), "from gitagent import *", "from gitagent import skill") +
				"\n"
		}
		return indent + "import os\n"
	case 2, 3, 4:
		if depth < 3 {
			return w.definition(indent, depth)
		}
	case 5:
		if depth < 3 {
			head := w.one("if x:", "for x in y:", "while x: # x", "with x as y:", "if (x :=\n 1):", "if lambda: x:",
				"for skill in x:", "match x:\n"+indent+"  case [1]:")
			return indent + head + "\n" + w.statement(indent+"     ", depth+1)
		}
	case 6:
		if depth < 3 {
			return indent + "try:\n" + w.statement(indent+"\t",
				depth+1) + indent + "except E as skill:\n" + w.statement(indent+" ", depth+1)
		}
	case 7:
		return indent + w.one("if x: ", "else_ = 1; ", "while x: ") + w.one(w.imports(), "x = 1; import os",
			"x: int = 1; y") + "\n"
	case 8:
		return indent + w.one("skill = ", "x = y = ", "skill: int = ", "skill: int; x = ", "x, (skill, s) = ",
			"x.skill = ",
			"x[skill] = ", "skill += ", "s = gitagent = ",
			"del skill; x = ", "del (s), x[skill]; y = ", "x == ", "f(skill=1)[0] = ",
			"type skill = ") + w.expression(0) + w.one("", ";", "  # x") + "\n"
	}
	return indent + w.expression(0) + "\n" + w.one("", "\n", "   # x\n", "\f\n")
}

func (w writer) module() string {
	var b strings.Builder
	b.WriteString(w.one("", "", "\ufeff", "# x\n", "'''doc'''\n"))
	for range w.IntN(4) {
		b.WriteString(w.one(w.imports(), "from gitagent import skill", "import gitagent",
			"from gitagent import skill as s") + "\n")
	}
	for range 1 + w.IntN(4) {
		if w.IntN(2) == 0 {
			b.WriteString(w.definition("", 0))
		} else {
			b.WriteString(w.statement("", 0))
		}
	}
	text := b.String()
	switch w.IntN(8) {
	case 0:
		text = strings.ReplaceAll(text, "\n", "\r\n")
	case 1:
		text = strings.TrimSuffix(text, "\n")
	case 2, 3: // something is lost, doubled or put in
		if len(text) > 2 {
			i := 1 + w.IntN(len(text)-2)
			text = text[:i] + w.one("", text[i:i+1]+text[i:i+1], "'", "(", "{", "\\", "\n", "\t", ":", ";", "@", "f'",
				"#",
				"}", "=", " ") + text[i+1:]
		}
	}
	return strings.ToValidUTF8(text, "")
}

// TestCPython holds that what CPython reads is read here, with the same functions under the decorator, their arguments
// and
// docstrings, and the same uses; what CPython refuses may pass.
func TestCPython(t *testing.T) {
	name := python()
	if name == "" {
		t.Skip("NOT RUN: no CPython 3.12 or later is on the path, so that nothing was compared with it")
	}
	count := 3000
	if testing.Short() {
		count = 300
	}
	w := writer{rand.New(rand.NewPCG(1, uint64(count)))}
	var texts []string
	var in bytes.Buffer
	for range count {
		text := w.module()
		line, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
		fmt.Fprintf(&in, "%s\n", line)
	}
	command := exec.Command(name, "testdata/cpython.py")
	command.Stdin = &in
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	read, functions, uses, wrong := 0, 0, 0, 0
	for _, text := range texts {
		if !lines.Scan() {
			t.Fatal("CPython says less than it was asked")
		}
		var want *seen
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			continue
		}
		read++
		functions += len(want.Functions)
		uses += len(want.Uses)
		got, err := look(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			if wrong++; wrong <= 5 {
				t.Errorf("of\n%s\n%v\ngot  %v\nwant %v", text, err, got, want)
			}
		}
	}
	t.Logf("CPython reads %d of %d texts, with %d functions and %d uses; %d differ", read, count, functions, uses,
		wrong)
	if read < count/4 || functions < count/20 || uses < count/20 {
		t.Errorf("CPython reads %d of %d texts, with %d functions and %d uses: too few to compare", read, count,
			functions,
			uses)
	}
}
