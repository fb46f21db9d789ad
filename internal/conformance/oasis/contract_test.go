package oasis

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// contractFindings is what the contract check says: "severity code pointer", sorted.
func contractFindings(t *testing.T, c *Contract) []string {
	t.Helper()
	results := must.Get(Judge(Saved(c, "answer.json", []byte(answerJSON), 1), "answer.json"))(t)
	all := []string{}
	for _, f := range results[0].Findings {
		all = append(all, strings.TrimSpace(f.Severity.String()+" "+f.Code+" "+f.Pointer))
	}
	slices.Sort(all)
	return all
}

func TestContracts(t *testing.T) {
	replaced := func(text string, pairs ...string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if !strings.Contains(text, pairs[i]) {
				t.Fatalf("the text has no %q", pairs[i])
			}
		}
		return strings.NewReplacer(pairs...).Replace(text)
	}
	yaml := func(pairs ...string) [2]string {
		return [2]string{replaced(requirementsYAML, pairs...), contractMarkdown}
	}
	markdown := func(pairs ...string) [2]string {
		return [2]string{requirementsYAML, replaced(contractMarkdown, pairs...)}
	}
	unreadable := []string{"error contract-unreadable"}
	for _, test := range []struct {
		name  string
		files [2]string
		want  []string
	}{
		{"honest", yaml(), []string{}},
		{"constraints in another spelling", yaml(">=1.0.0-rc1.5, <2.0.0", ">= 1.0.0-rc1.5 <2.0.0"), []string{}},
		{"what is not asked for is required", yaml("{type: string, required: true, expected",
			"{type: string, expected"),
			[]string{}},
		{"a fence of another kind", markdown("```json\n{\n", "~~~~ JSON x\n{\n", "  }\n}\n```\n", "  }\n}\n~~~~\n"),
			[]string{}},
		{"a $schema in the text", markdown("# Greenhouse", "# \"$schema\""), []string{}},
		{"draft 2020-12", markdown("http://json-schema.org/draft-07/schema#",
			"https://json-schema.org/draft/2020-12/schema"), []string{}},
		{"unknown keywords", markdown(`"type": "object",`,
			`"type": "object", "x-note": {"definitions": {}}, "$comment": "x",`), []string{}},
		{"a property with the name of a keyword", markdown(`"pests": {"type"`,
			`"definitions": {"type": "boolean"}, "pests": {"type"`), []string{}},
		{"a value with the name of a keyword", markdown(`"pests": {"type"`,
			`"pests": {"default": {"dependencies": {}}, "type"`), []string{}},
		{"if, then, else", markdown(`"type": "object",`,
			`"type": "object", "if": {"required": ["pests"]}, "then": true, "else": true,`), []string{}},

		{"not YAML", yaml("requirements:", "requirements: ["), unreadable},
		{"a key twice", yaml("profile_version: 2.1.0", "profile_version: 2.1.0\nprofile_version: 2.1.0"), unreadable},
		{"a requirement twice", yaml("  pests:", "  climate:"), unreadable},
		{"an anchor", yaml("[soil, air]", "&a [soil, air]"), unreadable},
		{"an alias", yaml("[soil, air]", "*a"), unreadable},
		{"a tag", yaml("expected: glass", "expected: !!python/name:os.system glass"), unreadable},
		{"a list", [2]string{"- profile", contractMarkdown}, unreadable},
		{"nothing", [2]string{"", contractMarkdown}, unreadable},
		{"two documents", [2]string{requirementsYAML + "---\n" + requirementsYAML, contractMarkdown}, unreadable},
		{"deep", [2]string{"a: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), contractMarkdown},
			unreadable},
		{"a bomb", [2]string{"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c " +
			"[*b,*b,*b,*b,*b,*b,*b,*b]\n" + requirementsYAML, contractMarkdown}, unreadable},
		{"larger than is read", [2]string{requirementsYAML + "#" + strings.Repeat("x", maxContract), contractMarkdown},
			unreadable},
		{"more requirements than are read", [2]string{requirementsYAML + manyRequirements(maxRequirements),
			contractMarkdown},
			[]string{"error contract-unreadable /requirements"}},
		{"no profile", yaml("profile: oasis-profile-greenhouse\n", ""), []string{"error contract-unreadable /profile"}},
		{"no version", yaml("profile_version: 2.1.0\n", ""), []string{"error contract-unreadable /profile_version"}},
		{"a version that is a list", yaml("profile_version: 2.1.0\n", "profile_version: [2]\n"),
			[]string{"error contract-unreadable /profile_version"}},
		{"no dependency", yaml("oasis_core_dependency", "dependency"),
			[]string{"error contract-unreadable /oasis_core_dependency"}},
		{"a dependency that is none", yaml(">=1.0.0-rc1.5, <2.0.0", "1.x"),
			[]string{"error contract-unreadable /oasis_core_dependency"}},
		{"no requirements", [2]string{requirementsYAML[:strings.Index(requirementsYAML, "requirements:")],
			contractMarkdown},
			[]string{"error contract-unreadable /requirements"}},
		{"no requirement", [2]string{requirementsYAML[:strings.Index(requirementsYAML,
			"requirements:")] + "requirements: {}\n", contractMarkdown},
			[]string{"error contract-unreadable /requirements"}},

		{"an unknown type", yaml("{type: string,", "{type: colour,"),
			[]string{"error contract-unknown-type /requirements/climate/type"}},
		{"no type", yaml("{type: string,", "{"), []string{"error contract-unknown-type /requirements/climate/type"}},
		{"no expected value", yaml(", expected: glass", ""), []string{"error contract-unknown-type " +
			"/requirements/climate/expected"}},
		{"an expected value of another type", yaml("expected: glass", "expected: 1"),
			[]string{"error contract-unknown-type /requirements/climate/expected"}},
		{"yes for true", yaml("heating: {type: boolean, required: true, expected: true",
			"heating: {type: boolean, required: true, expected: \"true\""),
			[]string{"error contract-unknown-type /requirements/heating/expected"}},
		{"a list that is none", yaml("[soil, air]", "soil"), []string{"error contract-unknown-type " +
			"/requirements/sources/expected"}},
		{"an entry that is no text", yaml("[soil, air]", "[soil, 1]"),
			[]string{"error contract-unknown-type /requirements/sources/expected/1"}},
		{"a constraint that is none", yaml("cores: {type: semver_list, required: true, expected: \">=1.0.0-rc1.5\"",
			"cores: {type: semver_list, required: true, expected: any"),
			[]string{"error contract-unknown-type /requirements/cores/expected"}},
		{"an unknown operator", yaml("comparison_operator: gte", "comparison_operator: ge"),
			[]string{"error contract-unknown-type /requirements/tiers/expected/comparison_operator"}},
		{"no operator", yaml("comparison_operator: gte, ", ""), []string{"error contract-unknown-type " +
			"/requirements/tiers/expected/comparison_operator"}},
		{"no comparison", yaml("expected: {comparison_operator: gte, value: requested}", "expected: 1"),
			[]string{"error contract-unknown-type /requirements/tiers/expected/comparison_operator"}},
		{"no value", yaml(", value: requested", ""), []string{"error contract-unknown-type " +
			"/requirements/tiers/expected/value"}},
		{"a value that is none", yaml("value: requested", "value: demanded"),
			[]string{"error contract-unknown-type /requirements/tiers/expected/value"}},
		{"required is no boolean", yaml("required: false", "required: maybe"),
			[]string{"error contract-unknown-type /requirements/pests/required"}},
		{"a requirement that is no mapping", yaml("{type: boolean, required: false, expected: false}", "yes please"),
			[]string{"error contract-unknown-type /requirements/pests/type"}},

		{"the schema lacks a key", markdown(`    "heating": {"type": "boolean"},`+"\n", ""),
			[]string{"error contract-contradicts /requirements/heating"}},
		{"an open schema lacks a key", markdown(`    "heating": {"type": "boolean"},`+"\n", "",
			`"additionalProperties": false`, `"additionalProperties": true`), []string{}},
		{"a pattern has the key", markdown(`"heating": {"type": "boolean"},`, "", `"properties": {`,
			`"patternProperties": {"^heat": true}, "properties": {`), []string{}},
		{"the schema lacks an optional key", markdown(`,`+"\n"+`    "pests": {"type": "boolean"}`, ""), []string{}},
		{"an enum excludes the text", markdown(`["glass", "foil"]`, `["foil"]`),
			[]string{"error contract-contradicts /requirements/climate"}},
		{"an enum excludes an entry", markdown(`["soil", "air", "water"]`, `["soil", "water"]`),
			[]string{"error contract-contradicts /requirements/sources"}},
		{"two contradictions", markdown(`["soil", "air", "water"]`, `["soil"]`, `["glass", "foil"]`, `[]`),
			[]string{"error contract-contradicts /requirements/climate",
				"error contract-contradicts /requirements/sources"}},
		{"another type", markdown(`"heating": {"type": "boolean"}`, `"heating": {"type": "string"}`),
			[]string{"error contract-contradicts /requirements/heating"}},
		{"a version that is no list", markdown(`"cores": {"type": "array"`, `"cores": {"type": "string"`),
			[]string{"error contract-contradicts /requirements/cores"}},
		{"an enum that no number satisfies", markdown(`{"type": "integer", "minimum": 1}`, `{"enum": [10, 11]}`),
			[]string{"error contract-contradicts /requirements/beds"}},
		{"an enum that one number satisfies", markdown(`{"type": "integer", "minimum": 1}`, `{"enum": [5, 11]}`),
			[]string{}},
		{"more entries than are expected", markdown(`"uniqueItems": true`, `"minItems": 3`), []string{}},

		{"another version", markdown("version:** 2.1.0", "version:** 2.0.0"), []string{"warning contract-version"}},
		{"another version below the header", markdown("---\n", "---\n**Profile version:** 1.0.0\n"), []string{}},
		{"no version in the header", markdown("**Profile version:** 2.1.0", ""), []string{}},
		{"a key that the YAML lacks", markdown(`["climate", "tiers"]`, `["climate", "roof"]`),
			[]string{"warning contract-key /requirements"}},

		{"no block", [2]string{requirementsYAML, "# Greenhouse\n"}, unreadable},
		{"two blocks", [2]string{requirementsYAML, contractMarkdown + contractMarkdown}, unreadable},
		{"a block without its end", markdown("}\n```\n", "}\n"), unreadable},
		{"a block of another language", markdown("```json\n{\n  \"$schema\"", "```yaml\n{\n  \"$schema\""), unreadable},
		{"a block that is no JSON", markdown(`"type": "object",`, `"type": "object"`), unreadable},
		{"a block with a member twice", markdown(`"type": "object",`, `"type": "object", "type": "object",`),
			[]string{"error contract-unreadable /type"}},
		{"another draft", markdown("draft-07", "draft-04"), []string{"error contract-unreadable /$schema"}},
		{"$schema is a number", markdown(`"http://json-schema.org/draft-07/schema#"`, "7"),
			[]string{"error contract-unreadable /$schema"}},
		{"no schema", markdown(`"type": "object",`, `"type": "things",`), []string{"error contract-unreadable /type"}},
		{"a list in items", markdown(`"items": {"type": "string"}`, `"items": [{"type": "string"}]`),
			[]string{"error contract-unreadable /properties/cores/items"}},
		{"additionalItems", markdown(`"minItems": 1`, `"additionalItems": false`),
			[]string{"error contract-unreadable /properties/cores/additionalItems"}},
		{"definitions", markdown(`"type": "object",`, `"definitions": {},`),
			[]string{"error contract-unreadable /definitions"}},
		{"dependencies", markdown(`"type": "object",`, `"dependencies": {},`),
			[]string{"error contract-unreadable /dependencies"}},
		{"a keyword of 2019-09", markdown(`"type": "object",`, `"unevaluatedProperties": false,`),
			[]string{"error contract-unreadable /unevaluatedProperties"}},
		{"a $ref beside another keyword", markdown(`"heating": {"type": "boolean"}`,
			`"heating": {"type": "boolean", "$ref": "#/properties/pests"}`),
			[]string{"error contract-unreadable /properties/heating/$ref"}},
		{"a $ref alone", markdown(`"heating": {"type": "boolean"}`, `"heating": {"$ref": "#/properties/pests"}`),
			[]string{}},
		{"a $ref to elsewhere", markdown(`"heating": {"type": "boolean"}`, `"heating": {"$ref": "file:///etc/passwd"}`),
			[]string{"error contract-unreadable"}},
		{"below anyOf", markdown(`"type": "object",`, `"anyOf": [true, {"items": []}],`),
			[]string{"error contract-unreadable /anyOf/1/items"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := contractFindings(t, contract(t, test.files[0], test.files[1]))
			if test.name == "a $ref to elsewhere" && len(got) == 1 { // where it stands is the schema library's to say
				got[0] = strings.Join(strings.Fields(got[0])[:2], " ")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func manyRequirements(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  k%d: {type: boolean, expected: true}\n", i)
	}
	return b.String()
}

// A contract that contradicts itself fails the run, and leaves out no more than the keys that it names.
func TestUnmeetableKeysAreLeftOut(t *testing.T) {
	c := contract(t, requirementsYAML, strings.Replace(contractMarkdown, `    "heating": {"type": "boolean"},`+"\n", "",
		1))
	in := Saved(c, "a", edited(t, object{"/requirements/climate": "foil", "/requirements/roof": 1,
		"/requirements/heating": false}), 1)
	want := []string{"contract contract-contradicts /requirements/heating",
		"requirements requirement-unmet /requirements/climate",
		"schema requirements-schema /requirements/roof"}
	if diff := cmp.Diff(want, judged(t, in)); diff != "" {
		t.Error(diff)
	}
}

func TestNoRequirementLeftIsNoPass(t *testing.T) {
	yaml := requirementsYAML[:strings.Index(requirementsYAML, "  climate")] + "  climate: {type: colour}\n"
	in := Saved(contract(t, yaml, contractMarkdown), "a", []byte(answerJSON), 1)
	if got := verdicts(t, in)["requirements"]; got != verdict.Skipped {
		t.Errorf("the only requirement has no meaning, and the check of requirements is %s", got)
	}
}

// Findings stand where the text is, in the Markdown too.
func TestPlaces(t *testing.T) {
	c := contract(t, requirementsYAML, strings.Replace(contractMarkdown, `"minItems": 1`, `"additionalItems": 1`, 1))
	results := must.Get(Judge(Saved(c, "a", []byte(answerJSON), 1), "a"))(t)
	f := results[0].Findings[0]
	lines := strings.Split(contractMarkdown, "\n")
	if filepath.Base(f.Path) != ContractFile || !strings.Contains(lines[f.Line-1], `"cores"`) {
		t.Errorf("the finding stands at %s", f.Pos)
	}
}

func TestDirectories(t *testing.T) {
	write := func(dir, name, text string) {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	full := func() string {
		dir := t.TempDir()
		write(dir, RequirementsFile, requirementsYAML)
		write(dir, ContractFile, contractMarkdown)
		return dir
	}
	gone := func(f Files) {
		t.Helper()
		if _, err := Read(f); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%+v: %v, want that it is not there", f, err)
		}
	}
	gone(Files{Dir: filepath.Join(t.TempDir(), "none")})
	gone(Files{Dir: t.TempDir()})
	gone(Files{Dir: full(), Schema: "none.json"})

	for name, replace := range map[string]func(path string) error{
		"a link out of the directory": func(p string) error {
			return os.Symlink(filepath.Join(full(), filepath.Base(p)),
				p)
		},
		"a link to a device":        func(p string) error { return os.Symlink("/dev/zero", p) },
		"a relative link out of it": func(p string) error { return os.Symlink("../../../../../../etc/passwd", p) },
		"a FIFO":                    func(p string) error { return mkfifo(p, 0o666) },
		"a directory":               func(p string) error { return os.Mkdir(p, 0o777) },
		"a file that is larger": func(p string) error {
			return os.WriteFile(p, make([]byte, maxContract+1),
				0o666)
		},
		"a file that is no text":      func(p string) error { return os.WriteFile(p, []byte{0xff, 0xfe, 0}, 0o666) },
		"a link that leads to itself": func(p string) error { return os.Symlink(filepath.Base(p), p) },
	} {
		for _, file := range []string{RequirementsFile, ContractFile} {
			dir := full()
			path := filepath.Join(dir, file)
			must.OK(t, os.Remove(path))
			must.OK(t, replace(path))
			c, err := Read(Files{Dir: dir})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got := contractFindings(t, c); len(got) != 1 || got[0] != "error contract-unreadable" {
				t.Errorf("%s in place of %s: %q", name, file, got)
			}
		}
	}

	dir := full()
	must.OK(t, os.Rename(filepath.Join(dir, ContractFile), filepath.Join(dir, "real.md")))
	must.OK(t, os.Symlink("real.md", filepath.Join(dir, ContractFile)))
	c, err := Read(Files{Dir: dir})
	if err != nil || len(contractFindings(t, c)) != 0 {
		t.Errorf("a link within the directory: %v, %q", err, contractFindings(t, c))
	}
}

func TestFilesOneByOne(t *testing.T) {
	dir := t.TempDir()
	at := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.OK(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	schema := contractMarkdown[strings.LastIndex(contractMarkdown, "```json\n")+8 : strings.LastIndex(contractMarkdown,
		"```")]
	for _, f := range []Files{
		{Requirements: at("r.yaml", requirementsYAML), Schema: at("s.json", schema)},
		{Requirements: at("r.yaml", requirementsYAML), Schema: at("s.md", contractMarkdown)},
	} {
		c := must.Get(Read(f))(t)
		if got := contractFindings(t, c); len(got) != 0 {
			t.Errorf("%+v: %q", f, got)
		}
	}
}
