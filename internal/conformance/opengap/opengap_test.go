package opengap

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// files are those of a directory by their paths; in an edit of another, the text gone takes one away.
type files map[string]string

const gone = "\x00"

// agent04 is an agent of dialect 0.4 of which nothing is wrong.
var agent04 = files{
	"agent.yaml": `opengap: "0.4"
name: helper
version: 1.0.0
description: Answers questions about orders.
model:
  provider: anthropic
  name: some-model
`,
	"skills/orders.py": "from gitagent import skill\n\n@skill(name=\"orders\", description=\"Looks up an " +
		"order.\")\ndef find_order(id):\n    return id\n",
	"tests/test_orders.py": "from skills.orders import find_order\n\ndef test_it():\n    find_order(1)\n",
	".gitignore":           ".env\n*.pyc\n__pycache__/\n",
	"README.md":            "# helper\n",
}

// agent01 is an agent of dialect 0.1 of which nothing is wrong.
var agent01 = files{
	"agent.yaml": "spec_version: \"0.1.0\"\nname: helper\nversion: 1.0.0\ndescription: " +
		"Answers.\nskills: [look-up]\ntools: [find]\nagents: {other: {}}\n",
	"SOUL.md":                  "# Soul\n\nI answer.\n",
	"skills/look-up/SKILL.md":  "---\nname: look-up\ndescription: Looks up.\n---\n# Look up\n",
	"tools/find.yaml":          "name: find\n",
	"agents/other/agent.yaml":  "name: other\n",
	"skills/draft/README.md":   "not yet\n",
	"skills/.keep":             "",
	"examples/notes/agents.md": "",
}

func (f files) edit(edit files) files {
	out := maps.Clone(f)
	for name, text := range edit {
		if out[name] = text; text == gone {
			delete(out, name)
		}
	}
	return out
}

func (f files) write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range f {
		name = filepath.Join(dir, filepath.FromSlash(name))
		must.OK(t, os.MkdirAll(filepath.Dir(name), 0o777))
		if target, is := strings.CutPrefix(text, "->"); is {
			must.OK(t, os.Symlink(target, name))
		} else if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// told are the findings, as "file:line check code", with the severity behind where it is no error.
func told(t testing.TB, dir string, o Options) []string {
	t.Helper()
	o.Dir = dir
	if o.Dialect == "" {
		o.Dialect = Auto
	}
	o.Python = onPath(t)
	j := must.Get(Judge(o))(t)
	out := []string{}
	for _, r := range j.Results {
		for _, f := range r.Findings {
			at := f.Path
			if f.Line > 0 {
				at = fmt.Sprintf("%s:%d", f.Path, f.Line)
			}
			one := at + " " + r.Check + " " + f.Code
			if f.Severity != verdict.Error {
				one += " " + f.Severity.String()
			}
			out = append(out, one)
		}
	}
	slices.Sort(out)
	return out
}

type row struct {
	name string
	edit files
	want []string
}

func try(t *testing.T, base files, rows []row) {
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			got := told(t, base.edit(c.edit).write(t), Options{})
			if want := append([]string{}, c.want...); !slices.Equal(got, want) {
				t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
			}
		})
	}
}

// with is agent04's agent.yaml with a text in the place of another.
func with(old, new string) files {
	if !strings.Contains(agent04["agent.yaml"], old) {
		panic(old)
	}
	return files{"agent.yaml": strings.Replace(agent04["agent.yaml"], old, new, 1)}
}

// more is agent04's agent.yaml with something after it.
func more(text string) files { return files{"agent.yaml": agent04["agent.yaml"] + text} }

// python is agent04 with another skill, whose body is what follows the import.
func python(text string) files { return files{"skills/orders.py": text} }

const decorated = "from gitagent import skill\n@skill(description='x')\ndef find_order(id): return id\n"

func TestManifest(t *testing.T) {
	try(t, agent04, []row{
		{"honest", nil, nil},
		{"not there", files{"agent.yaml": gone}, []string{"agent.yaml gap-manifest no-manifest"}},
		{"other extension", files{"agent.yaml": gone, "agent.yml": agent04["agent.yaml"]},
			[]string{"agent.yaml gap-manifest no-manifest"}},
		{"key twice", more("name: other\n"), []string{"agent.yaml:8 gap-manifest manifest-unreadable"}},
		{"anchor", more("a: &a 1\n"), []string{"agent.yaml:8 gap-manifest manifest-unreadable"}},
		{"two documents", more("---\na: 1\n"), []string{"agent.yaml:8 gap-manifest manifest-unreadable"}},
		{"list", files{"agent.yaml": "- opengap\n"}, []string{"agent.yaml:1 gap-manifest manifest-unreadable"}},
		{"empty", files{"agent.yaml": ""}, []string{"agent.yaml gap-manifest manifest-unreadable"}},
		{"directory", files{"agent.yaml": gone, "agent.yaml/x": ""},
			[]string{"agent.yaml gap-manifest manifest-unreadable"}},
		{"link out", files{"agent.yaml": "->/etc/hostname"}, []string{"agent.yaml gap-manifest manifest-unreadable"}},
		{"link within", files{"agent.yaml": "->a/b.yaml", "a/b.yaml": agent04["agent.yaml"]}, nil},
		{"too large", more("# " + strings.Repeat("x", MaxFile)),
			[]string{"agent.yaml gap-manifest manifest-unreadable"}},
	})
}

// TestSilentRule requires an error that names a rule that says nothing.
func TestSilentRule(t *testing.T) {
	defer func(was []verdict.Entry[verdict.Outcome]) { catalogue = was }(catalogue)
	catalogue = append([]verdict.Entry[verdict.Outcome]{{Rule: verdict.Rule{ID: "gap-manifest"},
		Judge: func(verdict.Outcome) (verdict.Outcome, error) { return verdict.Outcome{}, nil }}}, catalogue...)
	_, err := Judge(Options{Dir: agent04.write(t), Dialect: Auto})
	if want := "check gap-manifest said nothing of agent.yaml"; !errors.Is(err, verdict.ErrUnsaid) ||
		err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}

func TestVersion(t *testing.T) {
	const gap, is = `opengap: "0.4"`, "agent.yaml:1 gap-version "
	try(t, agent04, []row{
		{"0.1", with(gap, `opengap: '0.1'`), nil},
		{"0.10 without quotes", with(gap, "opengap: 0.10"), []string{is + "version-not-text"}},
		{"0.4 without quotes", with(gap, "opengap: 0.4"), []string{is + "version-not-text"}},
		{"whole number", with(gap, "opengap: 1"), []string{is + "version-not-text"}},
		{"list", with(gap, `opengap: ["0.4"]`), []string{is + "version-not-text"}},
		{"null", with(gap, "opengap: ~"), []string{is + "missing-field"}},
		{"empty", with(gap, `opengap: ""`), []string{is + "version-form"}},
		{"three parts", with(gap, "opengap: 0.4.0"), []string{is + "version-form"}},
		{"with a v", with(gap, "opengap: v0.4"), []string{is + "version-form"}},
		{"blank before", with(gap, `opengap: " 0.4"`), []string{is + "version-form"}},
		{"later", with(gap, `opengap: "0.5"`), []string{is + "version-unknown warning"}},
		{"0.10", with(gap, `opengap: "0.10"`), []string{is + "version-unknown warning"}},
		{"not there", with(gap+"\n", ""), []string{is + "missing-field"}},
	})
}

func TestFields(t *testing.T) {
	try(t, agent04, []row{
		{"no name", with("name: helper\n", ""), []string{"agent.yaml:1 gap-fields missing-field"}},
		{"blank name", with("name: helper", `name: " "`), []string{"agent.yaml:2 gap-fields missing-field"}},
		{"number as a name", with("name: helper", `name: 7`), []string{"agent.yaml:2 gap-fields missing-field"}},
		{"number as a version", with("version: 1.0.0", `version: 1.0`),
			[]string{"agent.yaml:3 gap-fields missing-field"}},
		{"short version", with("version: 1.0.0", `version: "1.0"`),
			[]string{"agent.yaml:3 gap-fields version-not-semver warning"}},
		{"version with v", with("version: 1.0.0", `version: v1.0.0`),
			[]string{"agent.yaml:3 gap-fields version-not-semver warning"}},
		{"version with zero in front", with("version: 1.0.0", `version: 01.0.0`),
			[]string{"agent.yaml:3 gap-fields version-not-semver warning"}},
		{"pre-release", with("version: 1.0.0", `version: 1.0.0-rc.1+b-7.x`), nil},
		{"short pre-release", with("version: 1.0.0", `version: 1.0-a.b`),
			[]string{"agent.yaml:3 gap-fields version-not-semver warning"}},
		{"model as text", with("model:\n  provider: anthropic\n  name: some-model\n", "model: some-model\n"),
			[]string{"agent.yaml:5 gap-fields missing-field", "agent.yaml:5 gap-fields missing-field"}},
		{"no model", with("model:\n  provider: anthropic\n  name: some-model\n", ""),
			[]string{"agent.yaml:1 gap-fields missing-field", "agent.yaml:1 gap-fields missing-field"}},
		{"null provider", with("provider: anthropic", "provider:"), []string{"agent.yaml:6 gap-fields missing-field"}},
		{"directory of skills is no text", more("skills: {path: 5}\n"),
			[]string{"agent.yaml:8 gap-fields wrong-type"}},
		{"no limits", more("memory: {enabled: '${ON}', max_history: -1}\nexecution: {max_iterations: 1.5, timeout: " +
			".inf}  # ON\n"), []string{"agent.yaml:8 gap-fields wrong-type", "agent.yaml:9 gap-fields wrong-type",
			"agent.yaml:9 gap-fields wrong-type"}},
		{"limits", more("memory: {enabled: no, max_history: 0}\nexecution: {max_iterations: 1, timeout: 0.5}\n"), nil},
		{"no directory of skills", more("skills: {path: ~}\n"), nil},
	})
}

func TestSkills(t *testing.T) {
	const none = "skills/orders.py gap-skills no-skill"
	try(t, agent04, []row{
		{"as", python("from gitagent import skill as s\n@s\ndef f(): 'x'\n"), nil},
		{"module as", python("import gitagent as g\n@g.skill(description='x')\nasync def f(): pass\n"), nil},
		{"over lines",
			python("from gitagent import (\n  skill,\n)\n@skill(\n  name='a',  # )\n  description='''b''',\n)\ndef " +
				"f(): pass\n"), nil},
		{"in a string", python("from gitagent import skill\n'''\n@skill\ndef f(): pass\n'''\n"), []string{none}},
		{"in a comment", python("from gitagent import skill\n#@skill\ndef f(): pass\n"), []string{none}},
		{"nested", python("from gitagent import skill\ndef g():\n  @skill\n  def f(): 'x'\n  return f\n"),
			[]string{none}},
		{"method", python("from gitagent import skill\nclass G:\n  @skill\n  def f(self): 'x'\n"), []string{none}},
		{"under a condition", python("from gitagent import skill\nif False:\n  @skill\n  def f(): 'x'\n"),
			[]string{none}},
		{"relative import", python("from .gitagent import skill\n@skill\ndef f(): 'x'\n"), []string{none}},
		{"no import", python("@skill\ndef f(): 'x'\n"), []string{none}},
		{"another decorator of it", python("import gitagent\n@gitagent.hook\ndef f(): 'x'\n"), []string{none}},
		{"shadowed", python("from gitagent import skill\nskill = print\n@skill\ndef f(): 'x'\n"), []string{none}},
		{"empty file", python(""), []string{none}},
		{"unended string", python(decorated + "x = 'y\n"), []string{"skills/orders.py:4 gap-skills not-python"}},
		{"unended brackets", python(decorated + "x = (\n"), []string{"skills/orders.py:4 gap-skills not-python"}},
		{"nested brackets without end", python(strings.Repeat("[(", MaxFile/2)),
			[]string{"skills/orders.py:1 gap-skills not-python"}},
		{"unended strings", python(strings.Repeat("'\n", MaxFile/2)),
			[]string{"skills/orders.py:1 gap-skills not-python"}},
		{"no UTF-8", python("x = '\xff'\n"), []string{"skills/orders.py:1 gap-skills not-python"}},
		{"too large", python(decorated + strings.Repeat("#", MaxFile)),
			[]string{"skills/orders.py gap-skills not-python"}},
		{"link out", files{"skills/orders.py": "->../../x.py"},
			[]string{"skills/orders.py gap-outside path-outside", "skills/orders.py gap-skills not-python"}},
		{"link within", files{"skills/orders.py": "->../lib/o.py", "lib/o.py": decorated}, nil},
		{"link to nothing", files{"skills/orders.py": "->../lib/o.py"},
			[]string{"skills/orders.py gap-skills not-python"}},
		{"directory of that name", files{"skills/orders.py": gone, "skills/orders.py/x": ""},
			[]string{"agent.yaml:1 gap-skills without-skills notice"}},
		{"none", files{"skills/orders.py": gone}, []string{"agent.yaml:1 gap-skills without-skills notice"}},
		{"none are those with _", files{"skills/orders.py": gone, "skills/_orders.py": "", "skills/__init__.py": "",
			"skills/_p/__init__.py": ""},
			[]string{"agent.yaml:1 gap-skills without-skills notice"}},
		{"others are none", files{"skills/notes.txt": "", "skills/p/module.py": "x", "skills/README.md": ""}, nil},
		{"one of two", files{"skills/pay.py": "x = 1\n", "tests/pay_test.py": "class TestPay: pay"},
			[]string{"skills/pay.py gap-skills no-skill"}},
		{"other directory", more("skills:\n  path: lib/skills\n").edit(files{"skills/orders.py": gone,
			"lib/skills/orders.py": "x = 1\n"}),
			[]string{"lib/skills/orders.py gap-skills no-skill"}},
		{"other directory with a slash", more("skills:\n  path: ./lib/\n").edit(files{"skills/orders.py": "x",
			"lib/orders.py": decorated}), nil},
		{"the directory itself", more("skills:\n  path: .\n").edit(files{"skills/orders.py": "x",
			"orders.py": decorated}), nil},
		{"directory by a link", files{"skills/orders.py": gone, "skills": "->lib", "lib/orders.py": "x = 1\n"},
			[]string{"lib/orders.py gap-skills no-skill"}},
		{"directory by a variable", more("skills:\n  path: ${SKILLS}  # SKILLS is a directory\n"),
			[]string{"agent.yaml:9 gap-skills path-not-known inconclusive"}},
		{"directory by a variable in a default", more("skills:\n  path: ${A:-${B}}  # A and B are directories\n"),
			[]string{"agent.yaml:9 gap-skills path-not-known inconclusive"}},
		{"directory by a variable that does not end", more("skills:\n  path: ${SKILLS\n"),
			[]string{"agent.yaml:9 gap-skills path-not-known inconclusive"}},
		{"directory by a default in a default",
			more("skills:\n  path: ${A:-${B:-lib}}  # A and B\n").edit(files{"lib/orders.py": "x = 1\n"}),
			[]string{"lib/orders.py gap-skills no-skill"}},
		{"directory by a variable with a default",
			more("skills:\n  path: ${SKILLS:-lib/}  # SKILLS is a directory\n").edit(files{"lib/orders.py": "x = 1\n"}),
			[]string{"lib/orders.py gap-skills no-skill"}},
	})
}

func TestDecorators(t *testing.T) {
	const (
		none    = "skills/orders.py gap-skills no-skill"
		unknown = "skills/orders.py:3 gap-skills decorator-unknown warning"
		use     = "@skill\ndef find_order(): 'x'\n"
	)
	from := func(module string, edit files) files {
		return python("from " + module + " import skill\n" + use).edit(edit)
	}
	chain := func(n int) files { // n modules of the agent, the last of which imports it
		edit := files{}
		for i := range n {
			edit[fmt.Sprintf("lib/m%d.py", i)] = fmt.Sprintf("from .m%d import skill", i+1)
		}
		edit[fmt.Sprintf("lib/m%d.py", n-1)] = "from gitagent import skill"
		return from("lib.m0", edit)
	}
	try(t, agent04, []row{
		{"opengap", from("opengap", nil), nil},
		{"module of opengap", from("opengap.a.b", nil), nil},
		{"another package", from("gitagents", nil), []string{none}},
		{"another member", python("from gitagent import tool as skill\n" + use), []string{none}},
		{"local", python("def skill(f): return f\n" + use), []string{none}},
		{"fallback",
			python("try:\n    from gitagent import skill\nexcept ImportError:\n    def skill(f): return f\n" + use),
			nil},
		{"rebound", python("from gitagent import skill\nskill = print\n" + use), []string{none}},
		{"deleted", python(decorated + "del find_order\n"), []string{none}},
		{"rebound function", python(decorated + "find_order = None\n"), []string{none}},
		{"wrapped function", python(decorated + "find_order = cache(find_order)\n"), nil},
		{"del in a string",
			python(decorated + "X = f\"\"\"{'(['}\ndel find_order\n\"\"\"\nY = f\"{X['a']}\" '(['\n"), nil},

		{"re-exported", from("lib.base", files{"lib/base.py": "from gitagent import skill"}), nil},
		{"re-exported by the skills' directory",
			from("_base", files{"skills/_base.py": "from opengap import skill"}), nil},
		{"re-exported beside it", from("._base", files{"skills/_base.py": "from gitagent import skill"}), nil},
		{"re-exported above it", from("..lib", files{"lib.py": "from gitagent import skill"}), nil},
		{"re-exported far above it", from("...lib", files{"lib.py": "from gitagent import skill"}), []string{none}},
		{"re-exported by a package", from("lib", files{"lib/__init__.py": "from .base import tool as skill",
			"lib/base.py": "from gitagent import skill as tool"}), nil},
		{"re-exported by *", from("lib", files{"lib/__init__.py": "from .base import *",
			"lib/base.py": "from gitagent import skill"}), nil},
		{"of a module that is imported", python("from lib import base\n@base.skill\ndef f(): 'x'\n").edit(
			files{"lib/base.py": "from gitagent import skill", "tests/test_a.py": "def test_f(): f"}), nil},
		{"re-exported over five files", chain(5), nil},
		{"re-exported over six files", chain(6), []string{none}},
		{"re-exported in a circle", from("a", files{"a.py": "from b import skill", "b.py": "from a import skill"}),
			[]string{none}},
		{"defined by the agent in a module of that name",
			from("gitagent", files{"gitagent.py": "def skill(f): return f"}), []string{none}},
		{"defined by the agent in a submodule of that name", from("opengap.a", files{"skills/opengap/__init__.py": "",
			"skills/opengap/a.py": "skill = print"}), []string{"skills/opengap/__init__.py gap-skills no-skill",
			"skills/opengap/__init__.py gap-tests no-test", none}},
		{"defined by the agent in a directory of that name", from("gitagent.a",
			files{"gitagent/a.py": "def skill(f): return f"}), []string{none}},
		{"re-exported in a directory of that name", from("gitagent.a",
			files{"gitagent/a.py": "from gitagent import skill"}), nil},
		{"a directory of that name that is no module", from("gitagent", files{"gitagent/README.md": "x"}), nil},
		{"defined by the agent", from("lib.base", files{"lib/base.py": "def skill(f): return f"}), []string{none}},
		{"rebound by the agent", from("lib.base", files{"lib/base.py": "from gitagent import skill\nskill = print"}),
			[]string{none}},
		{"re-exported by an ignored file", from("lib.base", files{"lib/base.py": "from gitagent import skill",
			".gitignore": agent04[".gitignore"] + "lib/\n"}), []string{none}},
		{"re-exported by a file outside", from("lib.base", files{"lib": "->/usr/lib"}),
			[]string{"lib gap-outside path-outside", none}},

		{"declared", from("my_sdk.tools", files{"requirements-dev.txt": "# x\n-r other.txt\nMy-SDK[a]>=1  # y\n"}),
			[]string{unknown}},
		{"declared in a project", from("sdk", files{"pyproject.toml": "[project]\nname = \"x\"\ndependencies = [\n" +
			"  \"a\", # \"b\"\n  'sdk[x] >= 1; python_version < \"4\"',\n]\n"}), []string{unknown}},
		{"declared as an option",
			from("sdk", files{"pyproject.toml": "[project.optional-dependencies]\na = [\"sdk\"]\n"}),
			[]string{unknown}},
		{"declared for poetry",
			from("sdk", files{"pyproject.toml": "[tool.poetry.group.a.dependencies]\nsdk = \"^1\"\n"}),
			[]string{unknown}},
		{"not declared", from("sdk", files{"requirements.txt": "sdks\nhttps://sdk.example/sdk.whl\n# sdk\n",
			"pyproject.toml": "[project]\nname = \"sdk\"\nkeywords = [\"sdk\"]\ndependencies = [\"a\"] # [\"sdk\"]\n" +
				"[tool.x]\nsdk = [\"sdk\"]\n"}), []string{none}},
		{"another member of what is declared", python("from sdk import tool as skill\n" + use).edit(
			files{"requirements.txt": "sdk"}), []string{none}},
		{"defined by the agent and declared", from("sdk", files{"sdk.py": "skill = print", "requirements.txt": "sdk"}),
			[]string{none}},

		{"other encoding", python("# coding: utf-7\n" + decorated), nil},
		{"bound by :=", python(decorated + "(find_order := 1)\n"), []string{none}},
	})
}

// TestWhyNoSkill checks that the finding names the import.
func TestWhyNoSkill(t *testing.T) {
	for text, want := range map[string]string{
		"from other import skill\n@skill\ndef f(): 1":                     "; @skill is imported as other.skill",
		"import other\n@other.skill\ndef f(): 1":                          "; @other.skill is imported as other.skill",
		"def skill(f): return f\n@skill\ndef f(): 1":                      "; @skill is not imported",
		"from gitagent import skill\n@skill\ndef f(): 1\ndel f":           "; f is deleted or bound again",
		"from gitagent import skill\n@other\ndef f(): 1\n@b.c\ndef g():1": "opengap",
	} {
		j := must.Get(Judge(Options{Python: onPath(t), Dir: agent04.edit(python(text)).write(t), Dialect: Auto}))(t)
		for _, r := range j.Results {
			if r.Check == "gap-skills" && !strings.Contains(r.Findings[0].Message, want) {
				t.Errorf("%q: %s", text, r.Findings[0].Message)
			}
		}
	}
}

// TestWhyNoSkillOfPackage checks that the last of a package's imports by name is the one that the finding names.
func TestWhyNoSkillOfPackage(t *testing.T) {
	edit := files{"skills/orders.py": gone, "skills/orders/__init__.py": "from .m import a, b, c, d, e, f, g, h"}
	for name := 'a'; name <= 'h'; name++ {
		edit["skills/orders/m.py"] += fmt.Sprintf("import x%c\n@x%[1]c.skill\ndef %[1]c(): 1\n", name)
	}
	j := must.Get(Judge(Options{Python: onPath(t), Dir: agent04.edit(edit).write(t), Dialect: Auto}))(t)
	for _, r := range j.Results {
		if r.Check == "gap-skills" && !strings.HasSuffix(r.Findings[0].Message, "; @xh.skill is imported as xh.skill") {
			t.Error(r.Findings[0].Message)
		}
	}
}

func TestIgnored(t *testing.T) {
	ignored := func(patterns string, edit files) files {
		return edit.edit(files{".gitignore": agent04[".gitignore"] + patterns})
	}
	bad := files{"build/skills/x.py": "(", "build/agent.yaml": "[", "build/link": "->/etc", "build/.gitignore": "!*"}
	try(t, agent04, []row{
		{"link", ignored("build/\n", bad), nil},
		{"link by a file below", bad.edit(files{"build/.gitignore": "link"}), nil},
		{"link that is not ignored", ignored("build/*\n!build/link\n", bad),
			[]string{"build/link gap-outside path-outside"}},
		{"skills", ignored("skills/\n", python("x = 1")), []string{"skills/orders.py gap-skills no-skill"}},
		{"skill", ignored("*.py\n", python("x = 1")), []string{"skills/orders.py gap-skills no-skill"}},
		{"everything", ignored("*\n", python("x = 1")), []string{"skills/orders.py gap-skills no-skill"}},
		{"skills by a file of theirs", python("x = 1").edit(files{"skills/.gitignore": "*"}),
			[]string{"skills/orders.py gap-skills no-skill"}},
		{"directory of the skills", ignored("lib/\n", files{"skills/orders.py": gone, "lib/s/orders.py": "x = 1",
			"agent.yaml": agent04["agent.yaml"] + "skills: {path: lib/s}\n", "lib/link": "->/etc"}),
			[]string{"lib/s/orders.py gap-skills no-skill"}},
		{"where a link to the skills leads", ignored("lib/\nli\n", files{"skills/orders.py": gone,
			"skills": "->li/../lib", "li": "->x", "x/y": "", "lib/orders.py": "x = 1"}),
			[]string{"lib/orders.py gap-skills no-skill"}},
		{"where links to the skills lead", ignored("lib/\nli\n", files{"skills/orders.py": gone,
			"skills": "->li", "li": "->lib", "lib/orders.py": "x = 1"}),
			[]string{"lib/orders.py gap-skills no-skill"}},
		{"skill by a link", ignored("lib/\n", files{"skills/orders.py": "->../lib/x.py", "lib/x.py": decorated}),
			[]string{"skills/orders.py gap-skills not-python"}},
		{"hooks", ignored("hooks/\n", files{"hooks/link": "->/etc"}), []string{"hooks/link gap-outside path-outside"}},
		{"README", with("some-model", "${MODEL}").edit(ignored("README.md\n", files{"README.md": "MODEL"})), nil},
		{"tests", ignored("tests/\n", files{}), nil},
		{"requirements", ignored("requirements.txt\n", python("from sdk import skill\n@skill\ndef f(): 'x'").edit(
			files{"requirements.txt": "sdk"})), []string{"skills/orders.py gap-skills no-skill"}},
	})
}

func TestPackages(t *testing.T) {
	pack := func(edit files) files { return files{"skills/orders.py": gone}.edit(edit) }
	const none = "skills/orders/__init__.py gap-skills no-skill"
	try(t, agent04, []row{
		{"in __init__", pack(files{"skills/orders/__init__.py": decorated, "skills/orders/helper.py": "x = 1\n"}), nil},
		{"empty", pack(files{"skills/orders/__init__.py": ""}), []string{none}},
		{"in another module", pack(files{"skills/orders/__init__.py": "", "skills/orders/impl.py": decorated}),
			[]string{none}},
		{"imported", pack(files{"skills/orders/__init__.py": "from .impl import find_order as f\n",
			"skills/orders/impl.py": decorated}), nil},
		{"all imported", pack(files{"skills/orders/__init__.py": "from ._impl import *\n",
			"skills/orders/_impl.py": decorated}), nil},
		{"imported by its whole name",
			pack(files{"skills/orders/__init__.py": "from skills.orders.impl import find_order\n",
				"skills/orders/impl.py": decorated}), nil},
		{"imported from below", pack(files{"skills/orders/__init__.py": "from .a.b import find_order\n",
			"skills/orders/a/b.py": decorated}), nil},
		{"imported from a package below", pack(files{"skills/orders/__init__.py": "from .a import find_order\n",
			"skills/orders/a/__init__.py": decorated}), nil},
		{"imported over two files", pack(files{"skills/orders/__init__.py": "from .a import find_order\n",
			"skills/orders/a/__init__.py": "from .b import find_order\n", "skills/orders/a/b.py": decorated}), nil},
		{"all imported over two files", pack(files{"skills/orders/__init__.py": "from .a import *\n",
			"skills/orders/a/__init__.py": "from .b import *\n", "skills/orders/a/b.py": decorated}), nil},
		{"imported by a path from the skills' directory",
			pack(files{"skills/orders/__init__.py": "from orders.impl import find_order\n",
				"skills/orders/impl.py": decorated}), nil},
		{"imported and deleted", pack(files{"skills/orders/__init__.py": "from .impl import find_order\ndel find_order",
			"skills/orders/impl.py": decorated}), []string{none}},
		{"deleted and imported", pack(files{"skills/orders/__init__.py": "from .impl import find_order\n",
			"skills/orders/impl.py": decorated + "del find_order"}), []string{none}},
		{"all imported but what has _", pack(files{"skills/orders/__init__.py": "from .impl import *\n",
			"skills/orders/impl.py": "from gitagent import skill\n@skill\ndef _f(): 'x'"}), []string{none}},
		{"decorator of its own module", pack(files{
			"skills/orders/__init__.py": "from .b import skill\n@skill\ndef f(): 'x'",
			"skills/orders/b.py":        "from gitagent import skill"}), nil},
		{"another imported", pack(files{"skills/orders/__init__.py": "from .impl import other\n",
			"skills/orders/impl.py": decorated}), []string{none}},
		{"imported from elsewhere", pack(files{"skills/orders/__init__.py": "from ..impl import find_order\n",
			"skills/orders/impl.py": decorated}), []string{none}},
		{"module that is no Python",
			pack(files{"skills/orders/__init__.py": decorated, "skills/orders/impl.py": "x = (\n"}),
			[]string{"skills/orders/impl.py:1 gap-skills not-python"}},
		{"by a link", pack(files{"skills/orders": "->../lib/o", "lib/o/__init__.py": "from .impl import find_order",
			"lib/o/impl.py": decorated}), nil},
		{"variable in another module", pack(files{"skills/orders/__init__.py": decorated,
			"skills/orders/a/b.py": "import os\nos.getenv('A_B')\n"}),
			[]string{"skills/orders/a/b.py:2 gap-environment undocumented-variable"}},
	})
}

func TestNamesThatAreNoUTF8(t *testing.T) {
	if err := os.WriteFile(filepath.Join(t.TempDir(), "\xe9"), nil, 0o600); err != nil {
		t.Skip("this file system takes no such name: ", err)
	}
	try(t, agent04, []row{
		{"skill", files{"skills/caf\xe9.py": "x = 1\n"},
			[]string{"skills/caf\xe9.py gap-skills no-skill", "skills/caf\xe9.py gap-tests no-test"}},
		{"package", files{"skills/caf\xe9/__init__.py": "x = (\n"},
			[]string{"skills/caf\xe9/__init__.py gap-tests no-test",
				"skills/caf\xe9/__init__.py:1 gap-skills not-python"}},
	})
}

func TestOutside(t *testing.T) {
	try(t, agent04, []row{
		{"above", more("skills: {path: ../skills}\n"), []string{"agent.yaml:8 gap-outside path-outside"}},
		{"absolute", more("hooks: {path: /opt/hooks}\n"), []string{"agent.yaml:8 gap-outside path-outside"}},
		{"through", more("flows: {path: a/../../b}\n"), []string{"agent.yaml:8 gap-outside path-outside"}},
		{"on Windows", more("memory: {path: 'C:\\memory'}\n"), []string{"agent.yaml:8 gap-outside path-outside"}},
		{"backslashes", more("memory: {path: '..\\memory'}\n"), []string{"agent.yaml:8 gap-outside path-outside"}},
		{"prompt", more("system_prompt_file: ../prompt.txt\n"), []string{"agent.yaml:8 gap-outside path-outside"}},
		{"prompt deeper", more("flows:\n  a:\n    - prompt_file: /prompt.txt\n"),
			[]string{"agent.yaml:10 gap-outside path-outside"}},
		{"list of files", more("data_file: [a, ../b]\n"), []string{"agent.yaml:8 gap-outside path-outside"}},
		{"file of a file", more("a_file: {b_file: ../a}\n"), []string{"agent.yaml:8 gap-outside path-outside"}},
		{"default of a variable", more("prompt_file: ${P:-../p}  # P\n"),
			[]string{"agent.yaml:8 gap-outside path-outside"}},
		{"variable", more("prompt_file: ${P}/p  # P\n"), nil},
		{"within",
			more("hooks: {path: hooks/}\nflows: {path: ./flows}\nmemory: {path: a..b}\nsystem_prompt_file: " +
				"prompts/...txt\n"), nil},
		{"text in a list", more("tags: [../a_file, b_file]\n"), nil},
		{"other members", more("homepage: /x\npath: ../x\nplugins: {path: ../x}\n"), nil},
		{"link above", files{"data": "->../data"}, []string{"data gap-outside path-outside"}},
		{"absolute link", files{"a/data": "->/etc"}, []string{"a/data gap-outside path-outside"}},
		{"link over links", files{"a/b/c": "->../..", "a/d": "->b/c/../x"}, []string{"a/d gap-outside path-outside"}},
		{"links in a circle", files{"a": "->b", "b": "->a"}, []string{"a gap-outside path-outside",
			"b gap-outside path-outside"}},
		{"links within", files{"a/b/c": "->../../README.md", "d": "->a/b", "e": "->nothing", "f": "->."}, nil},
		{"a long way to nothing", more("skills: {path: " + strings.Repeat("a/", maxSteps/2) + "}\n"),
			[]string{"agent.yaml:8 gap-skills without-skills notice"}},
		{"repository", files{".git/x": "->/etc", "a/.git": "->/etc"}, nil},
		{"in code", python(decorated + "open('../x'); open(file='/y')\nfrom pathlib import Path as P\nP('..', 'a')\n"),
			[]string{"skills/orders.py:4 gap-outside path-in-code warning",
				"skills/orders.py:4 gap-outside path-in-code warning",
				"skills/orders.py:6 gap-outside path-in-code warning"}},
		{"in code of others",
			python(decorated + "x.open('../x'); open(y + '/z'); Path(__file__).parent / '..'; open('a..b', " +
				"'r')\nprint('../x')\n"), nil},
	})
}

func TestEnvironment(t *testing.T) {
	use := func(name string) files { return python("import os\n" + decorated + name + "\n") }
	const undocumented = "skills/orders.py:5 gap-environment undocumented-variable"
	try(t, agent04, []row{
		{"value", with("some-model", "${MODEL}"), []string{"agent.yaml:7 gap-environment undocumented-variable"}},
		{"default", with("some-model", "${MODEL:-x}"), []string{"agent.yaml:7 gap-environment undocumented-variable"}},
		{"within a text, in a list", more("tags: ['a ${TAG} b']\n"),
			[]string{"agent.yaml:8 gap-environment undocumented-variable"}},
		{"block", more("prompt: |\n  a\n  ${PROMPT}\n  # PROMPT\n"),
			[]string{"agent.yaml:8 gap-environment undocumented-variable"}},
		{"default of a default", with("some-model", "${A:-${B}}"),
			[]string{"agent.yaml:7 gap-environment undocumented-variable",
				"agent.yaml:7 gap-environment undocumented-variable"}},
		{"no references", more("a: ['$X', '${}', '${1X}', '${X', '${X:?y}', '${X Y}']\n# ${COMMENTED}\n"), nil},
		{"twice", more("a: ${X}\nb: ${X}\n"), []string{"agent.yaml:8 gap-environment undocumented-variable"}},
		{"in README", with("some-model", "${MODEL}").edit(files{"README.md": "Set `MODEL` first.\n"}), nil},
		{"in readme", with("some-model", "${MODEL}").edit(files{"README.md": gone, "readme.rst": "MODEL=x\n"}), nil},
		{"in README without extension",
			with("some-model", "${MODEL}").edit(files{"README.md": gone, "README": "${MODEL}"}),
			nil},
		{"in a README below", with("some-model", "${MODEL}").edit(files{"docs/README.md": "MODEL"}),
			[]string{"agent.yaml:7 gap-environment undocumented-variable"}},
		{"in a README that links out", with("some-model", "${MODEL}").edit(files{"README.md": "->/etc/passwd"}),
			[]string{"README.md gap-outside path-outside", "agent.yaml:7 gap-environment undocumented-variable"}},
		{"in another letter case", with("some-model", "${MODEL}").edit(files{"README.md": "Model, model\n"}),
			[]string{"agent.yaml:7 gap-environment undocumented-variable"}},
		{"in a longer word", with("some-model",
			"${MODEL}").edit(files{"README.md": "MODELS MY_MODEL MODEL_ MODEL2 ÀMODEL\n"}),
			[]string{"agent.yaml:7 gap-environment undocumented-variable"}},
		{"in a comment", with("some-model", "${MODEL}  # MODEL: which one"), nil},
		{"in a comment line", with("model:", "#MODEL is\nmodel:").edit(nil), nil},
		{"not in a text with #", with("some-model", `"${MODEL} # MODEL"`),
			[]string{"agent.yaml:7 gap-environment undocumented-variable"}},

		{"subscription", use("os.environ['ORDERS']"), []string{undocumented}},
		{"get", use("os.environ.get('ORDERS', 'x')"), []string{undocumented}},
		{"getenv", use("os.getenv(key='ORDERS')"), []string{undocumented}},
		{"in a formatted string", use("f\"{os.environ['ORDERS']}\""), []string{undocumented}},
		{"from os", use("from os import environ as e; e['ORDERS']"), []string{undocumented}},
		{"documented", use("os.environ['ORDERS']").edit(files{"README.md": "ORDERS"}), nil},
		{"documented in agent.yaml", use("os.environ['ORDERS']").edit(more("# ORDERS\n")), nil},
		{"documented with hyphens", use("os.environ['my-orders']").edit(more("# my-orders\n")), nil},
		{"computed", use("os.environ[ORDERS]; os.getenv(f'{x}')"),
			[]string{"skills/orders.py:5 gap-environment computed-name notice",
				"skills/orders.py:5 gap-environment computed-name notice"}},
		{"a name that a function may bind anew", use("KEY = 'ORDERS'; os.environ[KEY]"),
			[]string{"skills/orders.py:5 gap-environment computed-name notice"}},
		{"in a string, in a comment", use("'os.getenv(\"ORDERS\")' # os.getenv('ORDERS')"), nil},
		{"in a test", files{"tests/test_orders.py": "import os, orders\ndef test_it(): os.environ['ORDERS']\n"}, nil},
	})
}

// TestComments checks what is a comment of YAML, and what only looks like one.
func TestComments(t *testing.T) {
	const text = `# IN1
a: x # IN2
b: x#out
c: "x # out
  # out \" # out"   # IN3
d: 'x '' # out' # IN4
e: ['', "#out", '#out'] # IN5
f: |  # IN6
  text
  # out

  # out
# IN7
g:
  - >-
    folded
    # out
   # IN8
  - |2

      # out
    # out
  # IN9
  -  # IN10
    h: {i: "j"} # IN11
    "k # out": l # IN12
m: plain
  more # IN13
n:
- |
  # out
- |

o: |+
  x

# IN14
'p': "" # IN15
q: ''	# IN16 # IN17
r: "x" #`
	m := must.Get(form.ReadMapping("agent.yaml", []byte(text), MaxFile, 0))(t)
	comments := comments(m)
	if strings.Contains(comments, "out") {
		t.Errorf("what is no comment is among them:\n%s", comments)
	}
	found := words{}
	found.add(comments)
	for i := 1; i <= 17; i++ {
		if !found[fmt.Sprintf("IN%d", i)] {
			t.Errorf("IN%d is not among the comments", i)
		}
	}
}

func TestTests(t *testing.T) {
	const none = "skills/orders.py gap-tests no-test"
	test := func(name, text string) files {
		return files{"tests/test_orders.py": gone, name: text + "\ndef test_it(): pass\n"}
	}
	try(t, agent04, []row{
		{"module", test("tests/test_a.py", "import orders"), nil},
		{"function", test("tests/a_test.py", "from x import find_order"), nil},
		{"deeper", test("tests/a/b/test_c.py", "X = 'skills.orders'"), nil},
		{"name alone", test("tests/test_a.py", "orders"), []string{none}},
		{"module of Python of that name", files{"skills/orders.py": gone, "skills/json.py": decorated,
			"tests/test_orders.py": "import json\ndef test_it(): pass"}, []string{"skills/json.py gap-tests no-test"}},
		{"test of a longer name", files{"skills/find.py": "from gitagent import skill\n@skill\ndef find(): 'x'\n",
			"tests/test_orders.py": "def test_find_order(): pass"}, []string{"skills/find.py gap-tests no-test"}},
		{"linked", files{"tests/test_orders.py": gone, "tests/test_a.py": "->../a.py",
			"a.py": "def test_orders(): orders"}, nil},
		{"class", files{"tests/test_orders.py": "class TestOrders:\n    def check(self): orders\n"}, nil},
		{"no test in it", files{"tests/test_orders.py": "import orders\n\"\"\"\ndef test_it(): pass\n\"\"\""},
			[]string{none}},
		{"no Python", files{"tests/test_orders.py": "import orders\ndef test_it(: pass"}, []string{none}},
		{"not there", test("x", ""), []string{none}},
		{"other name", test("tests/orders.py", "orders"), []string{none}},
		{"other directory", test("test/test_orders.py", "orders"), []string{none}},
		{"file name alone", test("tests/test_orders.py", "import x"), []string{none}},
		{"longer word", test("tests/test_a.py", "orders2 test_orders find_orders"), []string{none}},
		{"other extension", test("tests/test_orders.txt", "orders"), []string{none}},
		{"directory", test("tests/test_orders.py/x", "orders"), []string{none}},
		{"module with a hyphen", files{"skills/orders.py": gone, "skills/look-up.py": decorated,
			"tests/test_orders.py": "X = 'skills/look-up.py'\ndef test_it(): pass"}, nil},
		{"package", files{"skills/orders.py": gone, "skills/orders/__init__.py": decorated,
			"tests/test_orders.py": "x"},
			[]string{"skills/orders/__init__.py gap-tests no-test"}},
		{"second function", python(decorated + "@skill(description='x')\ndef other(): pass\n").edit(
			files{"tests/test_orders.py": "def test_other(): pass"}), nil},
		{"function that is no skill",
			python(decorated + "def other(): pass\n").edit(files{"tests/test_orders.py": "def test_it(): other()"}),
			[]string{none}},
	})
}

func TestDescription(t *testing.T) {
	const none = "skills/orders.py:3 gap-description no-description"
	body := func(decorator, body string) files {
		return python("from gitagent import skill\n" + decorator + "\ndef find_order(id):" + body + "\n")
	}
	try(t, agent04, []row{
		{"of the agent", with("description: Answers questions about orders.\n", ""),
			[]string{"agent.yaml:1 gap-description missing-field"}},
		{"of the agent, blank", with("description: Answers questions about orders.", "description: ' '"),
			[]string{"agent.yaml:4 gap-description missing-field"}},
		{"of the agent, number", with("description: Answers questions about orders.", "description: 7"),
			[]string{"agent.yaml:4 gap-description missing-field"}},
		{"argument", body("@skill(description='x')", " pass"), nil},
		{"docstring", body("@skill", "\n  '''x'''"), nil},
		{"docstring with arguments", body("@skill(name='x')", " 'x'"), nil},
		{"neither", body("@skill", " pass"), []string{none}},
		{"name alone", body("@skill(name='x')", " pass"), []string{none}},
		{"empty argument, docstring", body("@skill(description='')", " 'x'"), []string{none}},
		{"blank argument", body("@skill(description=' ' '\\n')", " pass"), []string{none}},
		{"None, docstring", body("@skill(description=None)", " 'x'"), nil},
		{"None", body("@skill(description=None)", " pass"), []string{none}},
		{"blank docstring", body("@skill", " '  '"), []string{none}},
		{"comment for a docstring", body("@skill", "\n  # x\n  pass"), []string{none}},
		{"in brackets", body("@skill(description=('x'\n'y'))", " pass"), nil},
		{"formatted", body("@skill(description=f'x {y}')", " pass"),
			[]string{"skills/orders.py:3 gap-description computed-description notice"}},
		{"joined", body("@skill(description='' + 'x')", " pass"), nil},
		{"joined and blank", body("@skill(description='' + ' ')", " pass"), []string{none}},
		{"computed", body("@skill(description=TEXT)", " pass"),
			[]string{"skills/orders.py:3 gap-description computed-description notice"}},
		{"spread", body("@skill(**all)", " pass"),
			[]string{"skills/orders.py:3 gap-description computed-description notice"}},
		{"of the second", python(decorated + "@skill\ndef other(): pass\n"),
			[]string{"skills/orders.py:5 gap-description no-description"}},
	})
}

func TestGitignore(t *testing.T) {
	const none = ".gitignore gap-gitignore not-ignored"
	text := func(text string) files { return files{".gitignore": text} }
	try(t, agent04, []row{
		{"patterns", text(".env*\n*.py[cod]\n**/__pycache__/\n"), nil},
		{"at the root", text("/.env\n/*.pyc\n/__pycache__\n"), nil},
		{"in all directories", text("**/.env\n**/*.pyc\n**/__pycache__\n"), nil},
		{"carriage returns, blanks, comments", text("# x\r\n.env  \r\n*.py[co]\r\n__pycache__/**\r\n"), nil},
		{"everything but", text("*\n!skills/\n"), nil},
		{"examples kept", text(".env*\n!.env.example\n*.pyc\n__pycache__\n"), nil},
		{"taken back", text(".env\n*.pyc\n__pycache__\n!.env\n"), []string{none}},
		{"taken back and again", text(".env\n!.env\n.env\n*.pyc\n__pycache__\n"), nil},
		{"in a comment", text("#.env\n*.pyc\n__pycache__\n"), []string{none}},
		{"directory alone", text(".env/\n*.pyc\n__pycache__\n"), []string{none}},
		{"another file", text(".env.local\n*.pyc\n__pycache__\n"), []string{none}},
		{"one of them", text(".env\nx.pyc\n__pycache__\n"), []string{none}},
		{"directory of compiled files by their extension", text(".env\n*.pyc\n"), []string{none}},
		{"in another directory", text(".env\n*.pyc\nskills/__pycache__/\n"), []string{none}},
		{"empty", text(""), []string{none, none, none}},
		{"not there", text(gone), []string{none, none, none}},
		{"a directory", files{".gitignore": gone, ".gitignore/x": ""}, []string{none, none, none}},
		{"in a directory below", files{".gitignore": gone, "skills/.gitignore": agent04[".gitignore"]},
			[]string{none, none,
				none}},
	})
}

// TestRecommended checks that three checks warn, and the others do not, where the recommended ones are to warn.
func TestRecommended(t *testing.T) {
	dir := agent04.edit(files{"agent.yaml": "opengap: '0.4'\n", "tests/test_orders.py": gone,
		".gitignore":       ".env\n*.pyc\n",
		"skills/orders.py": "from gitagent import skill\n@skill\ndef f(): pass\n"}).write(t)
	want := []string{".gitignore gap-gitignore not-ignored warning",
		"agent.yaml:1 gap-description missing-field warning",
		"agent.yaml:1 gap-fields missing-field", "agent.yaml:1 gap-fields missing-field",
		"agent.yaml:1 gap-fields missing-field",
		"agent.yaml:1 gap-fields missing-field", "skills/orders.py gap-tests no-test warning",
		"skills/orders.py:3 gap-description no-description warning"}
	if got := told(t, dir, Options{Recommended: verdict.Warning}); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestDialect(t *testing.T) {
	both := files{"agent.yaml": "opengap: '0.4'\nspec_version: 0.1.0\n", "SOUL.md": "x"}
	for _, c := range []struct {
		name, asked string
		files       files
		want        string
	}{
		{"opengap", Auto, files{"agent.yaml": "opengap: '0.4'\n"}, "0.4 agent.yaml has opengap"},
		{"opengap of null", Auto, files{"agent.yaml": "opengap:\n", "SOUL.md": "x"}, "0.4 agent.yaml has opengap"},
		{"both", Auto, both, "0.4 agent.yaml has opengap"},
		{"both, asked", Dialect01, both, "0.1 as --dialect says"},
		{"spec_version", Auto, files{"agent.yaml": "spec_version: 0.1.0\n"},
			"0.1 agent.yaml has spec_version and no opengap"},
		{"soul", Auto, files{"agent.yaml": "name: x\n", "SOUL.md": "x"}, "0.1 there is a SOUL.md, and no opengap"},
		{"soul alone", Auto, files{"SOUL.md": "x"}, "0.1 there is a SOUL.md, and no opengap"},
		{"soul, asked", Dialect04, files{"SOUL.md": "x"}, "0.4 as --dialect says"},
		{"neither", Auto, files{"agent.yaml": "name: x\n"}, "0.4 neither agent.yaml nor a SOUL.md says which"},
		{"nothing", Auto, files{"x": ""}, "0.4 neither agent.yaml nor a SOUL.md says which"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := must.Get(Judge(Options{Python: onPath(t), Dir: c.files.write(t), Dialect: c.asked}))(t)
			if got := j.Dialect + " " + j.Because; got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			names := false
			for _, r := range j.Results {
				for _, f := range r.Findings {
					names = names || strings.Contains(f.Message, "spec_version")
				}
			}
			if names != (c.want == "0.4 neither agent.yaml nor a SOUL.md says which") {
				t.Errorf("a finding names both dialects: %v", names)
			}
		})
	}
}

func TestDialect01(t *testing.T) {
	manifest := func(old, new string) files {
		return files{"agent.yaml": strings.Replace(agent01["agent.yaml"], old, new, 1)}
	}
	skill := func(text string) files { return files{"skills/look-up/SKILL.md": text} }
	long := strings.Repeat("é", 65)
	try(t, agent01, []row{
		{"honest", nil, nil},
		{"no name", manifest("name: helper\n", ""), []string{"agent.yaml:1 gap01-manifest missing-field"}},
		{"capitals", manifest("name: helper", "name: Helper"), []string{"agent.yaml:2 gap01-manifest name-form"}},
		{"digit in front", manifest("name: helper", "name: 2helpers"),
			[]string{"agent.yaml:2 gap01-manifest name-form"}},
		{"underscore", manifest("name: helper", "name: a_b"), []string{"agent.yaml:2 gap01-manifest name-form"}},
		{"hyphens", manifest("name: helper", "name: a--b-"), nil},
		{"line feed", manifest("name: helper", `name: "a\n"`), []string{"agent.yaml:2 gap01-manifest name-form"}},
		{"number as a version", manifest("version: 1.0.0", "version: 1.0"),
			[]string{"agent.yaml:3 gap01-manifest missing-field"}},
		{"empty description", manifest("description: Answers.", "description: ''"),
			[]string{"agent.yaml:4 gap01-manifest missing-field"}},
		{"unknown fields", manifest("name: helper", "name: helper\nidentity: {}\n\"a/b\": 1"),
			[]string{"agent.yaml:3 gap01-manifest unknown-field", "agent.yaml:4 gap01-manifest unknown-field"}},
		{"known fields", manifest("name: helper",
			"name: helper\nauthor: x\nlicense: x\nmodel: {}\nextends: x\ndependencies: []\ndelegation: {}\n"+
				"runtime: {}\na2a: {}\ncompliance: {}\nregistries: []\ntags: []\nmcp_servers: {}\nmetadata: {}"), nil},
		{"key twice", manifest("name: helper", "name: helper\nname: other"),
			[]string{"agent.yaml:3 gap01-manifest manifest-unreadable"}},
		{"no manifest", files{"agent.yaml": gone}, []string{"agent.yaml gap01-manifest no-manifest"}},

		{"skill not there", manifest("[look-up]", "[look-up, other]"),
			[]string{"agent.yaml:5 gap01-references skill-not-there"}},
		{"skill that is a file", manifest("[look-up]", "[.keep]"),
			[]string{"agent.yaml:5 gap01-manifest member-value", "agent.yaml:5 gap01-references skill-not-there"}},
		{"skill elsewhere", manifest("[look-up]", "[../tools, ..]"),
			[]string{"agent.yaml:5 gap01-manifest member-value", "agent.yaml:5 gap01-manifest member-value",
				"agent.yaml:5 gap01-references skill-not-there",
				"agent.yaml:5 gap01-references skill-not-there"}},
		{"skill without text", manifest("[look-up]", "[draft]"),
			[]string{"agent.yaml:5 gap01-references skill-without-text warning"}},
		{"skill in another letter case", manifest("[look-up]", "[Look-Up]"),
			[]string{"agent.yaml:5 gap01-manifest member-value", "agent.yaml:5 gap01-references skill-not-there"}},
		{"skill that is no text", manifest("[look-up]", "[{look-up: 1}]"),
			[]string{"agent.yaml:5 gap01-manifest member-value"}},
		{"tool not there", manifest("[find]", "\n- find\n- seek"),
			[]string{"agent.yaml:8 gap01-references tool-not-there"}},
		{"agent not there", manifest("{other: {}}", "{other: {}, third: {}}"),
			[]string{"agent.yaml:7 gap01-references agent-not-there"}},
		{"agents in a list", manifest("{other: {}}", "[other, third]"),
			[]string{"agent.yaml:7 gap01-manifest member-value", "agent.yaml:7 gap01-references agent-not-there"}},
		{"agent as a file", manifest("other:", "third:").edit(files{"agents/third.md": "x"}), nil},
		{"agent as another file", manifest("other:", "third:").edit(files{"agents/third.yaml": "x"}),
			[]string{"agent.yaml:7 gap01-references agent-not-there"}},
		{"nothing named", manifest("skills: [look-up]\ntools: [find]\nagents: {other: {}}\n",
			"skills: []\ntools: []\n"), nil},
		{"nothing for a list", manifest("skills: [look-up]", "skills:"),
			[]string{"agent.yaml:5 gap01-manifest member-value"}},

		{"no soul", files{"SOUL.md": gone}, []string{"SOUL.md gap01-soul no-soul"}},
		{"soul in another letter case", files{"SOUL.md": gone, "soul.md": "x"}, []string{"SOUL.md gap01-soul no-soul"}},
		{"empty soul", files{"SOUL.md": " \n\n"}, []string{"SOUL.md gap01-soul empty-soul"}},
		{"soul of headings", files{"SOUL.md": "# Soul\r\n\r\n## Values\n   ### More ###\n"},
			[]string{"SOUL.md gap01-soul empty-soul"}},
		{"soul of underlined headings", files{"SOUL.md": "Soul\n====\n\nValues\n---\n"},
			[]string{"SOUL.md gap01-soul empty-soul"}},
		{"soul of a list", files{"SOUL.md": "# Soul\n- calm\n"}, nil},
		{"soul is a directory", files{"SOUL.md": gone, "SOUL.md/x": ""}, []string{"SOUL.md gap01-soul empty-soul"}},

		{"no front matter", skill("# Look up\n---\nname: look-up\ndescription: x\n---\n"),
			[]string{"skills/look-up/SKILL.md:1 gap01-skills no-front-matter"}},
		{"unended front matter", skill("---\nname: look-up\ndescription: x\n"),
			[]string{"skills/look-up/SKILL.md:1 gap01-skills no-front-matter"}},
		{"empty", skill(""), []string{"skills/look-up/SKILL.md:1 gap01-skills no-front-matter"}},
		{"empty front matter", skill("---\n---\n"), []string{"skills/look-up/SKILL.md gap01-skills no-front-matter"}},
		{"front matter with an anchor", skill("---\nname: look-up\ndescription: &x y\n---\n"),
			[]string{"skills/look-up/SKILL.md:3 gap01-skills no-front-matter"}},
		{"front matter with a key twice", skill("---\nname: look-up\nname: x\n---\n"),
			[]string{"skills/look-up/SKILL.md:3 gap01-skills no-front-matter"}},
		{"front matter of a list", skill("---\n- name\n---\n"),
			[]string{"skills/look-up/SKILL.md:2 gap01-skills no-front-matter"}},
		{"byte order mark", skill("\ufeff---\nname: look-up\ndescription: x\n---\n"), nil},
		{"carriage returns", skill("---  \r\nname: look-up\r\ndescription: x\r\n---\r\n"), nil},
		{"neither name nor description", skill("---\nlicense: MIT\n---\n"),
			[]string{"skills/look-up/SKILL.md:2 gap01-skills missing-field",
				"skills/look-up/SKILL.md:2 gap01-skills missing-field"}},
		{"empty name", skill("---\ndescription: x\nname: ''\n---\n"),
			[]string{"skills/look-up/SKILL.md:3 gap01-skills missing-field"}},
		{"other name", skill("---\nname: lookup\ndescription: x\n---\n"),
			[]string{"skills/look-up/SKILL.md:2 gap01-skills other-name warning"}},
		{"two hyphens", skill("---\nname: look--up\ndescription: x\n---\n"),
			[]string{"skills/look-up/SKILL.md:2 gap01-skills name-form",
				"skills/look-up/SKILL.md:2 gap01-skills other-name warning"}},
		{"hyphen in front", files{"skills/-a/SKILL.md": "---\nname: -a\ndescription: x\n---\n"},
			[]string{"skills/-a/SKILL.md:2 gap01-skills name-form"}},
		{"hyphen behind", files{"skills/a-/SKILL.md": "---\nname: a-\ndescription: x\n---\n"},
			[]string{"skills/a-/SKILL.md:2 gap01-skills name-form"}},
		{"long name", files{"skills/" + long + "/SKILL.md": "---\nname: " + long + "\ndescription: x\n---\n"},
			[]string{"skills/" + long + "/SKILL.md:2 gap01-skills name-form"}},
		{"name of 64 characters",
			files{"skills/" + long[2:] + "/SKILL.md": "---\nname: " + long[2:] + "\ndescription: x\n---\n"}, nil},
		{"description of 1,024 characters", skill("---\nname: look-up\ndescription: " + strings.Repeat("é",
			1024) + "\n---\n"), nil},
		{"long description", skill("---\nname: look-up\ndescription: " + strings.Repeat("x", 1025) + "\n---\n"),
			[]string{"skills/look-up/SKILL.md:3 gap01-skills long-description"}},
		{"skill that nobody names", files{"skills/new/SKILL.md": "x"},
			[]string{"skills/new/SKILL.md:1 gap01-skills no-front-matter"}},
	})
}

// TestManyFindings checks that of very many the errors are told, and that there are more.
func TestManyFindings(t *testing.T) {
	var b strings.Builder
	b.WriteString("name: a\nversion: 1.0.0\ndescription: x\nskills:\n")
	edit := files{"SOUL.md": "x"}
	for i := range maxFindings {
		fmt.Fprintf(&b, "- s%d\n", i)
		edit[fmt.Sprintf("skills/s%d/x", i)] = ""
	}
	b.WriteString("- not-there\n")
	edit["agent.yaml"] = b.String()
	j := must.Get(Judge(Options{Python: onPath(t), Dir: edit.write(t), Dialect: Auto}))(t)
	for _, r := range j.Results {
		if r.Check != "gap01-references" {
			continue
		}
		last := r.Findings[maxFindings-2] // the error is the first, and stands last in the file
		if len(r.Findings) != maxFindings || r.Verdict != verdict.Failed ||
			!strings.HasSuffix(last.Message, "(and more)") {
			t.Errorf("%d findings, %s: %s", len(r.Findings), r.Verdict, last.Message)
		}
	}
}

// TestCommand checks that the command of a fix is one, whatever a file is named.
func TestCommand(t *testing.T) {
	j, err := Judge(Options{Python: onPath(t), Dir: agent04.edit(files{"skills/a;b.py": "("}).write(t), Dialect: Auto})
	must.OK(t, err)
	var fixes []string
	for _, r := range j.Results {
		for _, f := range r.Findings {
			fixes = append(fixes, f.Fix)
		}
	}
	const want = "rewrite the statement, which python3 -m py_compile 'skills/a;b.py' names too; or name a later " +
		"Python with --python FILE"
	if !slices.Contains(fixes, want) {
		t.Errorf("%q", fixes)
	}
}

// TestHostile checks that odd directories end in an error or a finding, and that nothing outside of them is read.
func TestHostile(t *testing.T) {
	judge := func(t *testing.T, dir string) error {
		t.Helper()
		_, err := Judge(Options{Python: onPath(t), Dir: dir, Dialect: Auto})
		return err
	}
	t.Run("no directory", func(t *testing.T) {
		if err := judge(t, filepath.Join(t.TempDir(), "x")); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	})
	t.Run("10,001 files", func(t *testing.T) {
		dir := agent04.write(t)
		must.OK(t, os.Mkdir(filepath.Join(dir, "many"), 0o777))
		for i := range MaxFiles - len(agent04) {
			must.OK(t, os.Link(filepath.Join(dir, "README.md"), filepath.Join(dir, "many", fmt.Sprint(i))))
		}
		if err := judge(t, dir); err != nil {
			t.Errorf("of %d files: %v", MaxFiles, err)
		}
		must.OK(t, os.WriteFile(filepath.Join(dir, "one"), nil, 0o666))
		if err := judge(t, dir); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), `"many", with 9995`) {
			t.Error(err)
		}
		patterns := []byte(agent04[".gitignore"] + "many/\n")
		must.OK(t, os.WriteFile(filepath.Join(dir, ".gitignore"), patterns, 0o666))
		if err := judge(t, dir); err != nil {
			t.Errorf("ignored: %v", err)
		}
	})
	t.Run("deep directories", func(t *testing.T) {
		dir := agent04.write(t)
		must.OK(t, os.MkdirAll(filepath.Join(dir, strings.Repeat("a/", maxDepth+1)), 0o777))
		if err := judge(t, dir); !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
	})
	t.Run("long ways of links", func(t *testing.T) {
		edit := files{"a/x": ""}
		for i := range 300 {
			edit[fmt.Sprintf("%sl%d", strings.Repeat("d/", maxDepth), i)] = "->" + strings.Repeat("a/../", 800)
		}
		if err := judge(t, agent04.edit(edit).write(t)); !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
	})
	t.Run("packages that are the directory itself", func(t *testing.T) {
		edit := files{"__init__.py": "", "skills/orders.py": gone}
		for i := range 150 {
			edit[fmt.Sprintf("m%d.py", i)], edit[fmt.Sprintf("skills/l%d", i)] = "", "->.."
		}
		if err := judge(t, agent04.edit(edit).write(t)); !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
	})
	t.Run("too much text", func(t *testing.T) {
		edit := files{}
		for i := range MaxText/MaxFile + 1 {
			edit[fmt.Sprintf("tests/test_%d.py", i)] = strings.Repeat("#", MaxFile)
		}
		if err := judge(t, agent04.edit(edit).write(t)); !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
	})
	t.Run("long .gitignore files", func(t *testing.T) {
		patterns := agent04[".gitignore"]
		edit := files{"a/.gitignore": strings.Repeat("[!b]*\n", (maxIgnore-len(patterns))/6)}
		if err := judge(t, agent04.edit(edit).write(t)); err != nil {
			t.Error(err)
		}
		edit["b/.gitignore"] = "*.log\n"
		if err := judge(t, agent04.edit(edit).write(t)); !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
	})
	t.Run("FIFOs", func(t *testing.T) {
		for _, base := range []files{agent04, agent01} {
			for name := range base {
				dir := base.write(t)
				must.OK(t, os.Remove(filepath.Join(dir, name)))
				if err := mkfifo(filepath.Join(dir, name), 0o666); err != nil {
					t.Skip(err)
				}
				if err := judge(t, dir); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	})
	t.Run("devices by links", func(t *testing.T) {
		for _, base := range []files{agent04, agent01} {
			for name := range base {
				if err := judge(t, base.edit(files{name: "->/dev/zero"}).write(t)); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	})
	t.Run("YAML that grows", func(t *testing.T) {
		var b strings.Builder
		b.WriteString("opengap: '0.4'\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
		for i := range 20 {
			fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d,", i), 10))
		}
		got := told(t, agent04.edit(files{"agent.yaml": b.String()}).write(t), Options{Dialect: Dialect04})
		if want := []string{"agent.yaml:2 gap-manifest manifest-unreadable"}; !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
	})
}
