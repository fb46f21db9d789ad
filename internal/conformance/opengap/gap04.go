package opengap

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/opengap/ignore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const (
	gitignoreName = ".gitignore"
	maxShown      = 300 // characters of names in a message
)

// judge04 holds the directory against the criteria of dialect 0.4; unclear says that it may be of another one.
func (a *agent) judge04(unclear bool) {
	out := a.judgeManifest()
	if unclear && a.manifest == nil {
		out.Findings[0].Message += bothDialects
	}
	a.say("gap-manifest", manifestName, out)
	if a.manifest == nil {
		for _, rule := range rules04[1:] {
			a.say(rule.ID, manifestName, verdict.Skip("agent.yaml could not be read"))
		}
		return
	}
	dir, known := a.directoryOf("skills")
	a.document()
	subject := manifestName
	var skills []*skill
	if known && !leadsOut(dir) {
		a.skillsDir = path.Clean(dir)
		a.declared = a.dependencies()
		subject, skills = a.skillsDir, a.skills(a.skillsDir)
	}
	tested := a.tested(skills)
	a.say("gap-version", manifestName, a.judgeVersion(unclear))
	a.say("gap-fields", manifestName, a.judgeFields())
	a.say("gap-outside", manifestName, a.judgePaths())
	a.say("gap-environment", manifestName, a.judgeVariables())
	a.say("gap-description", manifestName, a.judgeDescription())
	a.say("gap-gitignore", gitignoreName, a.judgeGitignore())
	a.judgeLinks()
	if len(skills) == 0 {
		a.say("gap-skills", subject, withoutSkills(a.manifest, dir, known))
		a.say("gap-tests", subject, verdict.Skip("there are no skills to test"))
	}
	for _, s := range skills {
		a.say("gap-skills", s.file, s.judge())
		for _, of := range []struct {
			rule string
			verdict.Outcome
		}{
			{"gap-outside", s.judgeOutside()},
			{"gap-environment", s.variables.OrPass()},
			{"gap-tests", s.judgeTests(tested, a.recommended)},
			{"gap-description", s.judgeDescriptions()},
		} {
			if f := s.unread(); f != nil && !of.Has(verdict.Error) {
				of.Doubtful = "the skill was not read, as gap-skills says"
			}
			a.say(of.rule, s.file, of.Outcome)
		}
	}
}

// bothDialects ends the first error where nothing says which of the dialects is meant.
const bothDialects = "; an agent of dialect 0.4 has opengap in agent.yaml, " +
	"one of dialect 0.1 has spec_version there and a SOUL.md"

var versionForm = plain.Pattern(`^[0-9]+\.[0-9]+$`)

func (a *agent) judgeVersion(unclear bool) verdict.Outcome {
	const at = "/opengap"
	var out verdict.Outcome
	v := a.manifest.Value(at)
	switch {
	case v == nil || v.Tag == "!!null":
		f := out.Errorf(a.manifest, at, "missing-field", "opengap is not there")
		if unclear {
			f.Message += bothDialects
		}
	case !form.IsText(v):
		out.Errorf(a.manifest, at, "version-not-text",
			"YAML reads opengap as %s, not as text; as a number 0.10 would be 0.1", form.Show(form.Plain(v)))
	case !versionForm().MatchString(v.Value):
		out.Errorf(a.manifest, at, "version-form", "opengap is %q, the form is MAJOR.MINOR", v.Value)
	case !slices.Contains([]string{"0.1", "0.2", "0.3", "0.4"}, v.Value):
		out.Warnf(a.manifest, at, "version-unknown", "opengap is %q, versions 0.1 to 0.4 are published", v.Value)
	default:
		return verdict.Pass("opengap is %q", v.Value)
	}
	return out
}

func (a *agent) judgeFields() verdict.Outcome {
	var out verdict.Outcome
	for _, field := range []string{"/name", "/version", "/model/provider", "/model/name"} {
		text, ok := needText(a.manifest, &out, verdict.Error, field)
		if ok && field == "/version" && !form.IsSemVer(text) {
			out.Warnf(a.manifest, field, "version-not-semver", "version is %q; expected a Semantic Version 2.0.0", text)
		}
	}
	limits04().Judge(a.manifest.Values(), manifestName, func(pointer, _, message, fix string) {
		v := a.manifest.Value(pointer)
		if strings.Count(pointer, "/") > 1 && v.Tag != "!!null" && !(form.IsText(v) &&
			variable().MatchString(v.Value)) &&
			!(pointer == "/memory/enabled" && v.Style == 0 && boolean().MatchString(v.Value)) {
			out.Errorf(a.manifest, pointer, "wrong-type", "%s", message).Fix = fix
		}
	})
	return out.OrPass()
}

// limits04 is the table of the members of agent.yaml that have a type.
var limits04 = sync.OnceValue(func() *form.Shape {
	return form.Table("", `
skills.path text
hooks.path text
flows.path text
memory.path text
memory.enabled boolean
memory.max_history integer from 0
execution.max_iterations integer from 1
execution.timeout number above 0`)
})

// boolean are the words that readers of YAML 1.1, such as PyYAML, take for true and false.
var boolean = plain.Pattern(`^(?i:yes|no|on|off)$`)

func (a *agent) judgeDescription() verdict.Outcome {
	var out verdict.Outcome
	needText(a.manifest, &out, a.recommended, "/description")
	return out.OrPass()
}

var (
	// variable is a reference to an environment variable in a value of agent.yaml, up to its default, which may have
	// others.
	variable  = plain.Pattern(`\$\{([A-Za-z_][A-Za-z0-9_]*)(?:\}|:-)`)
	defaulted = plain.Pattern(`\$\{[A-Za-z_][A-Za-z0-9_]*:-`)
	bare      = plain.Pattern(`\$\{([A-Za-z_][A-Za-z0-9_]*)`)
)

// judgeVariables judges the variables that the values of agent.yaml refer to, each at its first place.
func (a *agent) judgeVariables() (out verdict.Outcome) {
	seen := map[string]bool{}
	form.Walk(a.manifest.Root, func(n, key *yaml.Node, _ string) {
		if n.Kind != yaml.ScalarNode {
			return
		}
		for _, m := range variable().FindAllStringSubmatch(n.Value[:strings.LastIndexByte(n.Value, '}')+1], -1) {
			if !seen[m[1]] {
				a.judgeVariable(&out, literal{m[1], a.manifest.At(key)})
			}
			seen[m[1]] = true
		}
	})
	return out.OrPass()
}

// words are the words of texts. A word is of letters, digits, _ and -; what is between hyphens is a word, too.
type words map[string]bool

func (w words) add(text string) {
	for whole := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		w[whole] = true
		for part := range strings.SplitSeq(whole, "-") {
			w[part] = true
		}
	}
}

// document reads the words of the README and of the comments of agent.yaml.
func (a *agent) document() {
	a.documented = words{}
	a.documented.add(comments(a.manifest))
	for _, e := range a.in(".") {
		if !strings.HasPrefix(strings.ToUpper(e.path), "README") || a.mode(e.path).IsDir() {
			continue
		}
		text, err := a.file(e.path)
		if err != nil {
			a.undocumented += fmt.Sprintf("; %s was not read: %v", e.path, err)
		}
		a.documented.add(string(text))
	}
}

// judgeVariable checks that a variable is documented.
func (a *agent) judgeVariable(out *verdict.Outcome, v literal) {
	if !a.documented[v.text] {
		out.Errorf(v.at, "", "undocumented-variable", "the environment variable %q is neither in a README* of the "+
			"directory nor in a comment of agent.yaml%s", v.text, a.undocumented).
			WithFix("say in README.md, or in a comment of agent.yaml, what %s is", v.text)
	}
}

// directoryOf returns the path that agent.yaml names for skills, hooks, flows or memory; by default it has that name.
// It returns false if a variable without a default decides.
func (a *agent) directoryOf(what string) (dir string, known bool) {
	v := a.manifest.Value("/" + what + "/path")
	if v == nil || !form.IsText(v) || strings.TrimSpace(v.Value) == "" {
		return what, true
	}
	return resolved(v.Value)
}

// kept returns the paths that no .gitignore excludes, since a skill could hide from its check.
func (a *agent) kept() []string {
	keep := []string{manifestName, "tests"}
	for _, what := range []string{"skills", "hooks", "flows", "memory"} {
		if a.manifest == nil {
			break
		}
		if dir, _ := a.directoryOf(what); !leadsOut(dir) {
			keep = append(keep, dir)
		}
	}
	return keep
}

// resolved returns a path with the defaults of its variables, and false if a variable has no default.
func resolved(text string) (name string, known bool) {
	text = defaulted().ReplaceAllString(text, "")
	name = bare().ReplaceAllString(text, "$1")
	return strings.ReplaceAll(name, "}", ""), name == text
}

// pathMember is the JSON Pointer of a member that has a path, or a list of them.
var pathMember = plain.Pattern(`^/(?:skills|hooks|flows|memory)/path(?:/|$)|_file(?:/|$)`)

// judgePaths holds the paths of agent.yaml.
func (a *agent) judgePaths() verdict.Outcome {
	var out verdict.Outcome
	checked := 0
	form.Walk(a.manifest.Root, func(n, key *yaml.Node, pointer string) {
		if !pathMember().MatchString(pointer) || !form.IsText(n) || enough(&out) {
			return
		}
		checked++
		name, _ := resolved(n.Value)
		if leadsOut(name) || leadsOut(n.Value) {
			out.Errorf(a.manifest.At(key), pointer, "path-outside", "%s is %q, which is absolute or has .. in it",
				strings.ReplaceAll(pointer[1:], "/", "."), n.Value)
		}
	})
	out.Verified = fmt.Sprintf("%d paths of agent.yaml", checked)
	return out.OrPass()
}

// judgeLinks reports each symbolic link that leaves the directory.
func (a *agent) judgeLinks() {
	for _, e := range a.entries {
		if e.kind != fs.ModeSymlink {
			continue
		}
		if _, outside := a.resolve(e.path); !outside {
			continue
		}
		var out verdict.Outcome
		out.Errorf(verdict.At{Path: e.path}, "", "path-outside",
			"the symbolic link leads to %q, out of the agent's directory", a.link(e.path)).
			WithFix("put what it leads to into the directory, or make the link relative")
		a.say("gap-outside", e.path, out)
	}
}

// withoutSkills returns the outcome for an agent without skills.
func withoutSkills(m *form.File, dir string, known bool) verdict.Outcome {
	const at = "/skills/path"
	switch {
	case !known:
		var out verdict.Outcome
		out.Doubtf(m, at, "path-not-known",
			"skills.path is %q: a variable without a default decides where the skills are", m.Value(at).Value)
		return out
	case leadsOut(dir):
		return verdict.Skip("the directory of skills is not in the agent's directory")
	}
	out := verdict.Skip("there are no skills in %s", dir)
	out.Noticef(m, at, "without-skills",
		"there are no skills in %s: no .py file and no package whose name does not begin with _", dir)
	return out
}

func (s *skill) judge() verdict.Outcome {
	var out verdict.Outcome
	own := false // the fault is of the skill's file
	for _, f := range s.faults {
		own = own || f.at.Path == s.file || f.code != "not-python"
		switch f.code {
		case "not-python":
			out.Errorf(f.at, "", f.code, "it is not Python: %s", f.message).
				WithFix("rewrite the statement, which python3 -m py_compile %s names too; or name a later Python with "+
					"--python FILE", plain.ShellWord(f.at.Path))
		default:
			out.Doubtf(f.at, "", f.code, "it was not read as Python: %s", f.message)
		}
	}
	if len(s.functions) == 0 && !own {
		out.Errorf(verdict.At{Path: s.file}, "", "no-skill",
			"the file exports no function with the decorator skill of gitagent or opengap%s", s.why)
	}
	out.Verified = plain.Cut(strings.Join(s.names(), ", "), maxShown)
	for _, f := range s.functions {
		if f.origin == declared {
			out.Warnf(f.at, "", "decorator-unknown",
				"the decorator of %s is the skill of a package that the agent declares; it was not seen", f.name)
			break
		}
	}
	return out
}

func (s *skill) judgeOutside() verdict.Outcome {
	for _, l := range s.undeclared {
		s.outside.Warnf(l.at, "", "import-undeclared", "it imports %q, which is neither of Python's standard library "+
			"nor a module of the agent, and no requirements*.txt, pyproject.toml, setup.cfg, setup.py or Pipfile names it",
			l.text)
	}
	return s.outside.OrPass()
}

// testNames is what the tests of an agent name.
type testNames struct {
	by     map[string]string // the first file that names something, by the name
	unread *fault            // why a test was not read
}

// tested looks in the tests for the names of the skills: as the name of a test, as an import, or as a whole text.
func (a *agent) tested(skills []*skill) testNames {
	t := testNames{by: map[string]string{}}
	var all []string
	for _, s := range skills {
		all = append(append(all, s.names()...), s.module)
	}
	_, entries := a.below("tests")
	for _, e := range entries {
		name, isPython := strings.CutSuffix(path.Base(e.path), ".py")
		if !isPython || !strings.HasPrefix(name, "test_") && !strings.HasSuffix(name, "_test") ||
			!a.mode(e.path).IsRegular() || len(skills) == 0 {
			continue
		}
		p := a.parse(e.path)
		if p.fault != nil && p.fault.code != "not-python" {
			t.unread = p.fault
		}
		if len(p.Tests) == 0 {
			continue
		}
		var names []string
		for _, test := range p.Tests {
			names = append(names, longest(all, test)...)
		}
		for _, dotted := range p.Named {
			if parts := strings.Split(dotted, "."); !a.stdlib[parts[0]] {
				names = append(names, parts...)
			}
		}
		for _, text := range p.Texts {
			text = strings.TrimSuffix(strings.ReplaceAll(text, "/", "."), ".py")
			names = append(names, strings.TrimPrefix(text, strings.ReplaceAll(a.skillsDir, "/", ".")+"."))
		}
		for _, name := range names {
			t.by[name] = cmp.Or(t.by[name], e.path)
		}
	}
	return t
}

// longest returns the longest of the names that the name of a test begins with: test_two and TestTwo are of two.
func longest(names []string, test string) (all []string) {
	rest := strings.TrimPrefix(test[len("test"):], "_")
	for _, name := range names {
		camel, word := "", strings.ReplaceAll(name, "-", "_")
		for part := range strings.SplitSeq(word, "_") {
			camel += strings.ToUpper(part[:min(len(part), 1)]) + part[min(len(part), 1):]
		}
		after, snake := strings.CutPrefix(rest, word)
		is := snake && (after == "" || after[0] == '_')
		if after, begins := strings.CutPrefix(rest, camel); begins {
			is = is || after == "" || !(after[0] >= 'a' && after[0] <= 'z')
		}
		switch {
		case !is || len(all) > 0 && len(name) < len(all[0]):
		case len(all) > 0 && len(name) == len(all[0]):
			all = append(all, name)
		default:
			all = []string{name}
		}
	}
	return all
}

func (s *skill) judgeTests(tested testNames, severity verdict.Severity) verdict.Outcome {
	names := append([]string{s.module}, s.names()...)
	for _, name := range names {
		if file := tested.by[name]; file != "" {
			return verdict.Pass("%s has a test and names %s; whether it tests it nobody can see", file, name)
		}
	}
	var out verdict.Outcome
	if f := tested.unread; f != nil {
		out.Doubtful = fmt.Sprintf("%s was not read as Python: %s", f.at.Path, f.message)
		return out
	}
	out.Add(verdict.At{Path: s.file}, severity, "", "no-test",
		"no file tests/**/test_*.py or tests/**/*_test.py has a test that is called after %s, imports it or has it as a text",
		plain.Cut(strings.Join(names, " or "), maxShown)).
		WithFix("add tests/test_%s.py with a def test_%s, and import the skill there", s.module, s.module)
	return out
}

func (s *skill) judgeDescriptions() verdict.Outcome {
	if len(s.functions) == 0 {
		return verdict.Skip("there is no skill-decorated function to describe")
	}
	return s.described.OrPass()
}

func (a *agent) judgeGitignore() verdict.Outcome {
	text, err := a.file(gitignoreName)
	why := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		why = ": there is no .gitignore"
	case err != nil:
		why = fmt.Sprintf(": it was not read: %v", err)
	}
	scopes := []ignore.Scope{{Patterns: ignore.Parse(text)}}
	ignored := func(name string, isDir bool) bool { return ignore.Ignores(scopes, name, isDir) }
	var out verdict.Outcome
	for _, secret := range []struct {
		pattern string
		ignored bool
	}{
		{".env", ignored(".env", false)},
		{"*.pyc", ignored("x.pyc", false) && ignored("_0.cpython-312.pyc", false)},
		{"__pycache__", ignored("__pycache__", true) || ignored("__pycache__/0", false)}, // all that is in it is enough
	} {
		if !secret.ignored {
			out.Add(verdict.At{Path: gitignoreName}, a.recommended, "", "not-ignored", "it does not exclude %s%s",
				secret.pattern, why).WithFix("add the line %s", secret.pattern)
		}
	}
	return out.OrPass()
}
