package governance

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// TestEvidence has for each way to look like evidence its honest twin next to it.
func TestEvidence(t *testing.T) {
	const (
		test   = "test-suite/behavior/a.test.js"
		begins = "// a test\nconst a = 1;\nassert(a);\n"
		rule   = "# Core\n\nA Tool MUST answer.\n"
		core   = "spec/v1.0/core.md"
	)
	two := rule + "\nA Tool MUST bow.\n"
	for _, c := range []struct {
		name string
		base files
		head files
		says string // of a pass, in what was verified; of a failure, the path and the word
	}{
		{"a new test", nil, files{"test-suite/b.js": "bow()"}, "evidence: 1 file, 1 new line: test-suite/b.js"},
		{"code", nil, files{"reference/b.ts": "bow()\nbow(2)\n"}, "evidence: 1 file, 2 new lines: reference/b.ts"},
		{"in capitals", nil, files{"reference/b.PY": "bow()"}, "evidence: 1 file"},
		{"two files", nil, files{"reference/b.go": "bow()", "reference/c.go": "bow()\nbow(2)"},
			"evidence: 2 files, 2 new lines: reference/b.go, reference/c.go"},
		{"a name that is not plain", nil, files{"reference/b c.go": "bow()"}, "1 new line: 'reference/b c.go'"},
		{"a directory beside", nil, files{"referenced/x.js": "bow()", "test-suite.js": "bow()"}, "no-evidence"},

		{"deleted", nil, files{test: gone}, `"` + test + `" (deleted)`},
		{"emptied", nil, files{test: ""}, `"` + test + `" (no new line)`},
		{"a link", nil, files{"reference/x.js": "mode 120000 server.js"}, "(not a file)"},
		{"a submodule", nil, files{"reference/x.js": "mode 160000 " + strings.Repeat("ab", 20)}, "(not a file)"},
		{"a mode", nil, files{test: "mode 100755 " + begins}, "(no new line)"},
		{"a mode and a line", nil, files{test: "mode 100755 " + begins + "bow()"}, "1 new line"},

		{"Markdown", nil, files{"reference/b.md": "bow()"}, "(no code)"},
		{"a picture", nil, files{"reference/b.svg": "<svg/>"}, "(no code)"},
		{"a readme", nil, files{"reference/readme": "bow()"}, "(no code)"},
		{"a script without extension", nil, files{"reference/bow": "#!/bin/sh\nbow\n"}, "1 new line: reference/bow"},
		{"a lock", nil, files{"reference/pnpm-lock.yaml": "a: 1", "reference/go.sum": "b"}, "(no code)"},
		{"a dot file", nil, files{"reference/.bow.js": "bow()"}, "(no code)"},
		{"a manifest", nil, files{"reference/x/package.json": `{"a": 1}`, "test-suite/Package.json": `{"a": 1}`},
			`(no code), "test-suite/Package.json" (no code)`},
		{"a configuration", nil, files{"test-suite/tsconfig.build.json": "{1}"},
			`"test-suite/tsconfig.build.json" (no code)`},
		{"YAML in the reference", nil, files{"reference/x.yml": "bow: 1"}, "(no code)"},
		{"YAML in the tests", nil, files{"test-suite/x.yml": "# a bow\nbow: 1"}, "1 new line: test-suite/x.yml"},
		{"YAML in the tests, a comment", nil, files{"test-suite/x.yml": "# a bow\n"}, "(no new line)"},
		{"a definition of messages", nil, files{"test-suite/x.proto": "message Bow {}"}, "(no code)"},
		{"JSON in the reference", nil, files{"reference/x.json": `{"bow": 1}`}, "(no code)"},
		{"JSON in the tests", nil, files{"test-suite/x.json": `{"bow": 1}`}, "1 new line"},
		{"JSON in the tests, a comment", nil, files{"test-suite/x.json": "{\n# bow\n}"}, "1 new line"},
		{"levels elsewhere", nil, files{"test-suite/a/Levels.json": "{1}"}, "(no code)"},
		{"levels", nil, files{levels: `{"levels": {"L2": ["behavior/a.test.js"]}}`}, `"` + levels + `" (no code)`},

		{"binary", nil, files{"reference/x.js": strings.Repeat("x", 7999) + "\x00"}, "(binary)"},
		{"a NUL later", nil, files{"reference/x.js": strings.Repeat("x", 8000) + "\x00"}, "1 new line"},
		{"UTF-16", nil, files{"reference/x.js": "b\x00o\x00w\x00"}, "(binary)"},

		{"renamed", nil, files{test: gone, "test-suite/b.js": begins},
			`"test-suite/b.js" (no new line), "` + test + `" (deleted)`},
		{"renamed and changed", nil, files{test: gone, "test-suite/b.js": begins + "bow()"}, "1 new line"},
		{"copied", nil, files{"reference/b.js": begins}, "(no new line)"},
		{"copied from a text", files{"reference/x.md": "```\nbow()\n```\n"}, files{"reference/b.js": "bow()\n"},
			"(no new line)"},
		{"two in one", files{"test-suite/b.js": "bow()\n"}, files{test: begins + "bow()\n"}, "(no new line)"},
		{"reordered", nil, files{test: "assert(a);\nconst a = 1;\n"}, "(no new line)"},
		{"indented", nil, files{test: "\t const a  =  1;\r\n\r\n  assert( a );"}, "(no new line)"},
		{"CR at line ends", nil, files{test: strings.ReplaceAll(begins, "\n", "\r")}, "(no new line)"},
		{"a line separator at line ends", nil, files{test: strings.ReplaceAll(begins, "\n", "\u2028")},
			"(no new line)"},
		{"a byte order mark", nil, files{test: "\ufeff" + begins}, "(no new line)"},
		{"a character that is not seen", nil, files{test: strings.Replace(begins, "assert", "as\u200bsert", 1)},
			"(no new line)"},
		{"brackets", nil, files{test: begins + "{\n};\n"}, "(no new line)"},
		{"a value", nil, files{test: strings.Replace(begins, "1", "2", 1)}, "1 new line"},

		{"a comment", nil, files{test: begins + "// bow()\n"}, "(no new line)"},
		{"a comment behind a byte order mark", nil, files{test: "\ufeff// bow()\n" + begins}, "(no new line)"},
		{"a comment with a number sign", nil, files{"test-suite/b.py": "# bow()\n#!bow\n#include bow\n"},
			"(no new line)"},
		{"the line of an interpreter", nil, files{"test-suite/b.py": "#!/usr/bin/env python3\n"}, "(no new line)"},
		{"an inclusion", nil, files{"test-suite/b.c": "# include <bow.h>\n#include \"a.h\"\n"}, "2 new lines"},
		{"both comments of PHP", nil, files{"test-suite/b.php": "// bow()\n# bow()\n"}, "(no new line)"},
		{"a number sign of JavaScript", nil, files{"test-suite/b.js": "class A { #bow = 1 }"}, "1 new line"},
		{"a comment behind a tab", nil, files{"test-suite/b.lua": "\t--bow()"}, "(no new line)"},
		{"a comment of another language", files{"test-suite/b.js": "// bow()"}, files{"test-suite/b.sql": "// bow()"},
			"(no new line)"},
		{"a comment of SQL", nil, files{"test-suite/b.sql": "-- bow()\n"}, "(no new line)"},
		{"a block comment", nil, files{test: "/* bow()\nbow(1)\n * bow(2) */\n/**/\n/*/ bow(3)\n*/\n" + begins},
			"(no new line)"},
		{"code after a block comment", nil, files{test: "/* bow()\n*/\nbow(1)\n" + begins}, "1 new line"},
		{"a block comment that does not end", nil, files{test: "/* \nbow(1)\n"}, "(no new line)"},
		{"out of a block comment", files{test: "/*\nbow(1)\n*/\n"}, files{test: "bow(1)\n"}, "(no new line)"},
		{"a comment behind a line", nil, files{test: strings.Replace(begins, ");", "); // bow()", 1)},
			"(no new line)"},
		{"a comment behind a new line", nil, files{test: begins + "bow(); // bow()\n"}, "1 new line"},
		{"an address in a string", files{test: `open("http://a.example");`},
			files{test: `open("http://b.example");`}, "1 new line"},
		{"a comment in a string", files{test: `says("a // b");`}, files{test: `says("a // c");`}, "(no new line)"},
		{"a docstring", nil, files{"test-suite/b.py": "\"\"\"Bow.\"\"\"\n"}, "1 new line"},

		{"deleted beside a new rule", files{"test-suite/b.js": "bow()"}, files{"test-suite/b.js": gone},
			`"test-suite/b.js" (deleted)`},
		{"deleted with its rule", files{core: two, "test-suite/b.js": "bow()"},
			files{core: rule, rfc: "", "test-suite/b.js": gone},
			"evidence: 1 file, 1 withdrawn line: test-suite/b.js"},
		{"shortened with its rule", files{core: two, test: begins + "bow()"}, files{core: rule, rfc: "", test: begins},
			"evidence: 1 file, 1 withdrawn line: " + test},
		{"deleted with a rule that loses a NOT", files{core: rule + "\nIt MUST NOT bow.\n", "test-suite/b.js": "bow()"},
			files{core: rule + "\nIt MUST bow.\n", rfc: "", "test-suite/b.js": gone}, "(deleted)"},
		{"deleted with its text", files{core: two, "test-suite/b.js": "bow()"},
			files{core: gone, rfc: "", "test-suite/b.js": gone}, "1 withdrawn line"},
		{"without its comment", files{core: two}, files{core: rule, rfc: "", test: "const a = 1;\nassert(a);\n"},
			"(no new line)"},
		{"renamed beside a rule that goes", files{core: two},
			files{core: rule, rfc: "", test: gone, "test-suite/b.js": begins}, "(deleted)"},
		{"deleted beside a rule that moves", files{core: two, "test-suite/b.js": "bow()"},
			files{core: rule, "spec/v1.0/b.md": "A Tool MUST bow.\n", rfc: "", "test-suite/b.js": gone}, "(deleted)"},
		{"deleted beside a rule that changes", files{core: two, "test-suite/b.js": "bow()"},
			files{core: rule + "\nA Tool MAY bow.\n", rfc: "", "test-suite/b.js": gone}, "(deleted)"},
		{"deleted beside rules in another order", files{core: two, "test-suite/b.js": "bow()"},
			files{core: "# Core\n\nA Tool MUST bow.\n\nA Tool MUST answer.\n", rfc: "", "test-suite/b.js": gone},
			"(deleted)"},
		{"deleted with a rule that goes into a comment", files{core: two, "test-suite/b.js": "bow()"},
			files{core: rule + "\n<!-- A Tool MUST bow. -->\n", rfc: "", "test-suite/b.js": gone}, "1 withdrawn line"},
		{"deleted beside a rule in a fence", files{core: two, "test-suite/b.js": "bow()"},
			files{core: rule + "\n```\nA Tool MUST bow.\n```\n", rfc: "", "test-suite/b.js": gone}, "(deleted)"},
		{"deleted beside a rule that is struck out", files{core: two, "test-suite/b.js": "bow()"},
			files{core: rule + "\n~~A Tool MUST bow.~~\n", rfc: "", "test-suite/b.js": gone}, "(deleted)"},
		{"deleted beside another text", files{core: rule + "\nA Tool.\n", "test-suite/b.js": "bow()"},
			files{core: rule, rfc: "", "test-suite/b.js": gone}, "(deleted)"},
		{"deleted with its rule and a schema", files{core: two, "test-suite/b.js": "bow()"},
			files{core: rule, rfc: "", schemaA: gone, "test-suite/b.js": gone}, "(deleted)"},
		{"code deleted with its rule", files{core: two, "reference/b.js": "bow()"},
			files{core: rule, rfc: "", "reference/b.js": gone}, "(deleted)"},
		{"a text deleted with its rule", files{core: two, "test-suite/b.md": "bow()"},
			files{core: rule, rfc: "", "test-suite/b.md": gone}, "(deleted)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.base == nil {
				c.base = files{}
			}
			if _, ok := c.base[test]; !ok {
				c.base[test] = begins
			}
			switch text, ok := c.head[rfc]; {
			case !ok:
				c.head[rfc] = editsRFC
			case text == "":
				delete(c.head, rfc)
			}
			p := propose(t, c.base, c.head)
			p.Words = worded(t, "")
			got, r := found(t, p, "implementability")
			if !strings.Contains(c.says, "(") && c.says != "no-evidence" {
				if len(got) > 0 || !strings.Contains(r.Reason, c.says) {
					t.Errorf("%q, verified %q, want %q", got, r.Reason, c.says)
				}
				return
			}
			code := "evidence-does-not-count"
			if c.says == "no-evidence" {
				code = c.says
			}
			if !strings.HasPrefix(strings.Join(got, "\n"), "error "+code) ||
				code != c.says && !strings.Contains(r.Findings[0].Message, c.says) {
				t.Errorf("%q, want %s %q: %+v", got, code, c.says, r)
			}
		})
	}
}

// said gives a proposal an empty body.
func said(t *testing.T, p *Proposal) *Proposal {
	t.Helper()
	p.Words = worded(t, "")
	return p
}

// TestFirstChange checks on which line of a file a change that lacks evidence is shown.
func TestFirstChange(t *testing.T) {
	const begins = "# RFC\n\nA Tool MUST answer.\n\nEnd.\n"
	for _, c := range []struct {
		name, old, new string
		line           int
	}{
		{"a word", begins, strings.Replace(begins, "answer", "bow", 1), 3},
		{"a line at the end", begins, begins + "A Tool MUST bow.\n", 6},
		{"a line at the beginning", begins, "A Tool MUST bow.\n" + begins, 1},
		{"without the end", begins, begins[:len("# RFC\n\n")], 2},
		{"without a line end", begins, strings.TrimSuffix(begins, "\n"), 5},
		{"a new file", gone, begins, 1},
		{"a deleted file", begins, gone, 0},
		{"an emptied file", begins, "", 0},
		{"a link", begins, "mode 120000 README.md", 0},
	} {
		p := propose(t, files{"rfcs/RFC-0000.md": c.old}, files{"rfcs/RFC-0000.md": c.new})
		at, err := p.Views[0].firstChange(p.Views[0].Changes[0])
		if err != nil || at.Line != c.line || at.Path != "rfcs/RFC-0000.md" {
			t.Errorf("%s: line %d of %s, want %d; %v", c.name, at.Line, at.Path, c.line, err)
		}
	}
}

// TestEvidenceFixes follows the fix of each finding about evidence, to a pass.
func TestEvidenceFixes(t *testing.T) {
	copied := files{rfc: editsRFC, "test-suite/b.js": "s\n"}
	for _, c := range []struct {
		code, fix string
		before    files
		follow    func(files)
	}{
		{"no-evidence", "add a test under test-suite/", files{rfc: editsRFC},
			func(f files) { f["test-suite/b.js"] = "assert(soon())\n" }},
		{"no-evidence", "or the behavior under reference/", files{rfc: editsRFC},
			func(f files) { f["reference/server.js"] = "s\nsoon()\n" }},
		{"no-evidence", "or move the text to papers/", files{rfc: editsRFC},
			func(f files) { f["papers/soon.md"] = editsRFC; delete(f, rfc) }},
		{"evidence-does-not-count", "add a test under test-suite/", copied,
			func(f files) { f["test-suite/b.js"] = "s\nassert(soon())\n" }},
	} {
		f := maps.Clone(c.before)
		_, r := found(t, said(t, propose(t, nil, f)), "implementability")
		if len(r.Findings) != 1 || r.Findings[0].Code != c.code || !strings.Contains(r.Findings[0].Fix, c.fix) {
			t.Errorf("%s, %s: %+v", c.code, c.fix, r.Findings)
			continue
		}
		c.follow(f)
		if _, r := found(t, said(t, propose(t, nil, f)), "implementability"); r.Verdict != verdict.Passed {
			t.Errorf("%s, %s: after the fix %s: %+v", c.code, c.fix, r.Verdict, r.Findings)
		}
	}
}

// TestEvidenceHostile has files of code whose work would not end if it grew with the square of their size.
func TestEvidenceHostile(t *testing.T) {
	var distinct strings.Builder
	for i := 0; distinct.Len() < 1<<20; i++ {
		fmt.Fprintf(&distinct, "%x\n", i)
	}
	for name, text := range map[string]string{
		"distinct lines": distinct.String(), "comments": strings.Repeat("x // ", 1<<18),
		"lines with a comment": strings.Repeat("x //\n", 1<<18), "stars": strings.Repeat("*", 1<<20),
		"block comments": strings.Repeat("/*\n", 1<<18), "not seen": strings.Repeat("\u200b", 1<<18),
		"not UTF-8": strings.Repeat("\xff", 1<<20), "one word": strings.Repeat("x", 1<<20),
	} {
		p := said(t, propose(t, files{"reference/x.js": text}, files{rfc: editsRFC, "test-suite/y.js": text + "\n"}))
		if got, _ := found(t, p, "implementability"); len(got) != 1 ||
			!strings.HasPrefix(got[0], "error evidence-does-not-count") {
			t.Errorf("%s: a copy gives %q", name, got)
		}
	}
}

// TestEvidenceOfTheBase checks that a test is no evidence if the base has it by now, whatever the branch began from.
func TestEvidenceOfTheBase(t *testing.T) {
	for text, want := range map[string]int{"assert(soon())": 1, "assert(late())": 0} {
		repo := must.Get(fixture.NewBareRepo(t.TempDir()))(t)
		commit := func(f files) {
			t.Helper()
			must.OK(t, write(repo, f))
			repo.Commit("change", time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC))
		}
		commit(specified)
		repo.Branch("topic")
		commit(files{rfc: editsRFC, "test-suite/b.js": text})
		must.OK(t, repo.Checkout("main"))
		commit(files{"test-suite/b.js": "assert(soon())"})
		must.OK(t, repo.Sync())
		if got, _ := found(t, said(t, open(t, repo.Dir, "main", "topic")), "implementability"); len(got) != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// TestEvidenceOfRandomTests rewrites random tests in ways that test nothing more, and then adds one line that does.
func TestEvidenceOfRandomTests(t *testing.T) {
	lines := []string{"const a = 1;", "assert(a);", "// a test", "/* begins", "ends */", "* of a list", "", "}",
		`open("http://a.example");`, "#!/usr/bin/env node", "# a comment", "\tit('answers', () => {", "é = 'ü';", "/**/",
		"x = 1 // one", "-- a", "#include <a.h>", `"""A docstring."""`}
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 0))
		text := func() []string {
			var out []string
			for range 1 + r.IntN(12) {
				out = append(out, lines[r.IntN(len(lines))])
			}
			return out
		}
		one, two := text(), text()
		base := files{"test-suite/one.js": strings.Join(one, "\n"), "reference/two.py": strings.Join(two, "\n")}
		all := slices.Concat(one, two)
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:1+r.IntN(len(all))]
		for i, line := range all {
			switch r.IntN(4) {
			case 0:
				all[i] = "  \t" + strings.ReplaceAll(line, " ", "   ")
			case 1:
				all[i] = line + "\r"
			case 2:
				all[i] = line + "\n// " + line + "\n   "
			}
		}
		head := files{rfc: editsRFC, "test-suite/three.ts": strings.Join(all, "\n")}
		if r.IntN(2) == 0 {
			head["test-suite/one.js"] = gone
		}
		if got, _ := found(t, said(t, propose(t, base, head)), "implementability"); len(got) != 1 ||
			!strings.HasPrefix(got[0], "error evidence-does-not-count") {
			t.Errorf("seed %d: %q becomes %q, and that gives %q", seed, base, head, got)
		}
		head["test-suite/three.ts"] = "assert(bows());\n" + head["test-suite/three.ts"]
		if got, r := found(t, said(t, propose(t, base, head)), "implementability"); len(got) > 0 ||
			r.Reason != "evidence: 1 file, 1 new line: test-suite/three.ts" {
			t.Errorf("seed %d: %q becomes %q, and that gives %q %q", seed, base, head, got, r.Reason)
		}
	}
}
