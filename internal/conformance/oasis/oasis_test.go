package oasis

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// requirementsYAML, contractMarkdown and answerJSON are a contract of this project's own with each type of
// requirement, and an answer that satisfies it at tier 1.
const (
	requirementsYAML = `profile: oasis-profile-greenhouse
profile_version: 2.1.0
oasis_core_dependency: ">=1.0.0-rc1.5, <2.0.0"
requirements:
  climate: {type: string, required: true, expected: glass}
  tiers: {type: integer, required: true, expected: {comparison_operator: gte, value: requested}}
  beds: {type: integer, required: true, expected: {comparison_operator: lt, value: 10}}
  cores: {type: semver_list, required: true, expected: ">=1.0.0-rc1.5"}
  sources:
    type: array
    required: true
    expected: [soil, air]
  heating: {type: boolean, required: true, expected: true}
  pests: {type: boolean, required: false, expected: false}
`
	contractMarkdown = `# Greenhouse

**Profile version:** 2.1.0

---

` + "```json\n{\"example\": true}\n```\n\n```json\n" + `{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "additionalProperties": false,
  "required": ["climate", "tiers"],
  "properties": {
    "climate": {"type": "string", "enum": ["glass", "foil"]},
    "tiers": {"type": "integer", "enum": [1, 2, 3]},
    "beds": {"type": "integer", "minimum": 1},
    "cores": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    "sources": {"type": "array", "items": {"enum": ["soil", "air", "water"]}, "uniqueItems": true},
    "heating": {"type": "boolean"},
    "pests": {"type": "boolean"}
  }
}
` + "```\n"
	answerJSON = `{
  "provider": "grower",
  "provider_version": "0.3.0+build.7",
  "oasis_core_spec_versions": ["1.0.0-rc1", "1.0.0-rc1.12"],
  "profile": "oasis-profile-greenhouse",
  "profile_version": "2.1.0",
  "supported": true,
  "requirements": {
    "climate": "glass",
    "tiers": 2,
    "beds": 4,
    "cores": ["1.0.0-rc1.12"],
    "sources": ["air", "water", "soil"],
    "heating": true
  }
}`
)

// contract reads a contract whose files are these texts.
func contract(t *testing.T, yaml, markdown string) *Contract {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{RequirementsFile: yaml, ContractFile: markdown} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	c := must.Get(Read(Files{Dir: dir}))(t)
	return c
}

// judged is what Judge says about an answer, notices left out: "check code pointer", sorted.
func judged(t *testing.T, in *Input) []string {
	t.Helper()
	results := must.Get(Judge(in, "answer.json"))(t)
	all := []string{}
	for _, r := range results {
		for _, f := range r.Findings {
			if f.Severity != verdict.Notice {
				all = append(all, strings.TrimSpace(strings.TrimPrefix(r.Check, "oasis-")+" "+f.Code+" "+f.Pointer))
			}
			if f.Fix == "" && f.Severity != verdict.Notice {
				t.Errorf("%s %s has no fix", r.Check, f.Code)
			}
		}
	}
	slices.Sort(all)
	return all
}

func verdicts(t *testing.T, in *Input) map[string]verdict.Verdict {
	t.Helper()
	results := must.Get(Judge(in, "answer.json"))(t)
	all := map[string]verdict.Verdict{}
	for _, r := range results {
		all[strings.TrimPrefix(r.Check, "oasis-")] = r.Verdict
	}
	return all
}

// edited is the answer with the value at each pointer replaced, or taken away where it is nil.
func edited(t *testing.T, edits map[string]any) []byte {
	t.Helper()
	var answer map[string]any
	must.OK(t, json.Unmarshal([]byte(answerJSON), &answer))
	for pointer, v := range edits {
		in, key := answer, strings.TrimPrefix(pointer, "/")
		if rest, ok := strings.CutPrefix(key, "requirements/"); ok {
			in, key = answer["requirements"].(map[string]any), rest
		}
		if v == nil {
			delete(in, key)
		} else {
			in[key] = v
		}
	}
	text := must.Get(json.Marshal(answer))(t)
	return text
}

type array = []any
type object = map[string]any

func TestAnswers(t *testing.T) {
	c := contract(t, requirementsYAML, contractMarkdown)
	null := json.RawMessage("null")
	for _, test := range []struct {
		name string
		edit map[string]any
		tier int
		want []string
	}{
		{"honest", nil, 1, nil},
		{"honest, at its highest tier", nil, 2, nil},
		{"no gap", object{"/unmet_requirements": array{}}, 1, nil},
		{"an unknown member", object{"/note": "x"}, 1, nil},
		{"an optional key, satisfied", object{"/requirements/pests": false}, 1, nil},
		{"an integer by its value", object{"/requirements/beds": json.RawMessage("4.0")}, 1, nil},
		{"a release after the pre-releases", object{"/oasis_core_spec_versions": array{"1.1.0"},
			"/requirements/cores": array{"1.1.0"}}, 1, nil},
		{"no gaps, as a nil slice", object{"/unmet_requirements": null}, 1, nil},

		{"no provider", object{"/provider": nil}, 1, []string{"response missing-member /provider"}},
		{"no provider_version", object{"/provider_version": nil}, 1,
			[]string{"response missing-member /provider_version"}},
		{"no core versions", object{"/oasis_core_spec_versions": nil}, 1,
			[]string{"response missing-member /oasis_core_spec_versions"}},
		{"no profile", object{"/profile": nil}, 1, []string{"response missing-member /profile"}},
		{"no profile_version", object{"/profile_version": nil}, 1,
			[]string{"response missing-member /profile_version"}},
		{"no supported", object{"/supported": nil}, 1, []string{"response missing-member /supported"}},
		{"no requirements", object{"/requirements": nil}, 1, []string{"response missing-member /requirements"}},
		{"two are missing", object{"/provider": nil, "/supported": nil}, 1,
			[]string{"response missing-member /provider", "response missing-member /supported"}},

		{"provider is a number", object{"/provider": 1}, 1, []string{"response wrong-type /provider"}},
		{"provider is null", object{"/provider": null}, 1, []string{"response wrong-type /provider"}},
		{"provider_version is a number", object{"/provider_version": 1}, 1,
			[]string{"response wrong-type /provider_version"}},
		{"core versions are a text", object{"/oasis_core_spec_versions": "1.0.0"}, 1,
			[]string{"response wrong-type /oasis_core_spec_versions"}},
		{"a core version is a number", object{"/oasis_core_spec_versions": array{"1.0.0", 1}}, 1,
			[]string{"response wrong-type /oasis_core_spec_versions/1"}},
		{"profile is a list", object{"/profile": array{}}, 1, []string{"response wrong-type /profile"}},
		{"profile_version is true", object{"/profile_version": true}, 1,
			[]string{"response wrong-type /profile_version"}},
		{"supported is a text", object{"/supported": "true"}, 1, []string{"response wrong-type /supported"}},
		{"requirements are a list", object{"/requirements": array{}}, 1, []string{"response wrong-type /requirements"}},
		{"gaps are an object", object{"/unmet_requirements": object{}}, 1,
			[]string{"response wrong-type /unmet_requirements"}},
		{"a blank name", object{"/provider": " \u00a0"}, 1, []string{"response empty-text /provider"}},
		{"a gap without a word", object{"/unmet_requirements": array{object{"requirement": "", "reason": "\t"}}}, 1,
			[]string{"response empty-text /unmet_requirements/0/reason",
				"response empty-text /unmet_requirements/0/requirement",
				"supported supported-with-gaps /unmet_requirements"}},
		{"a gap is a text", object{"/unmet_requirements": array{"heating"}}, 1,
			[]string{"response wrong-type /unmet_requirements/0"}},
		{"a gap without its reason", object{"/unmet_requirements": array{object{"requirement": "heating"}}}, 1,
			[]string{"response missing-member /unmet_requirements/0/reason"}},
		{"a gap without its name", object{"/unmet_requirements": array{object{"reason": "cold"}}}, 1,
			[]string{"response missing-member /unmet_requirements/0/requirement"}},
		{"a reason is a number", object{"/unmet_requirements": array{object{"requirement": "heating", "reason": 1}}}, 1,
			[]string{"response wrong-type /unmet_requirements/0/reason"}},

		{"provider_version is short", object{"/provider_version": "0.3"}, 1,
			[]string{"response not-semver /provider_version"}},
		{"provider_version has a v", object{"/provider_version": "v0.3.0"}, 1,
			[]string{"response not-semver /provider_version"}},
		{"a leading zero", object{"/provider_version": "0.03.0"}, 1, []string{"response not-semver /provider_version"}},
		{"a core version is none", object{"/oasis_core_spec_versions": array{"latest", "1.0.0"}}, 1,
			[]string{"response not-semver /oasis_core_spec_versions/0"}},
		{"profile_version is none", object{"/profile_version": "2.1"}, 1,
			[]string{"profile profile-version /profile_version", "response not-semver /profile_version"}},
		{"an empty list", object{"/oasis_core_spec_versions": array{}}, 1,
			[]string{"core-version core-version /oasis_core_spec_versions",
				"response no-core-version /oasis_core_spec_versions"}},

		{"an older core", object{"/oasis_core_spec_versions": array{"1.0.0-rc1", "1.0.0-rc1.4"}}, 1,
			[]string{"core-version core-version /oasis_core_spec_versions"}},
		{"a core beyond the upper bound", object{"/oasis_core_spec_versions": array{"2.0.0"}}, 1,
			[]string{"core-version core-version /oasis_core_spec_versions"}},

		{"another profile", object{"/profile": "oasis-profile-Greenhouse"}, 1,
			[]string{"profile other-profile /profile"}},
		{"another version", object{"/profile_version": "2.1.1"}, 1,
			[]string{"profile profile-version /profile_version"}},
		{"the same version, in another spelling", object{"/profile_version": "2.1.0+a"}, 1,
			[]string{"profile profile-version /profile_version"}},

		{"an unknown key", object{"/requirements/roof": true}, 1,
			[]string{"schema requirements-schema /requirements/roof"}},
		{"an unknown key with a slash", object{"/requirements/a/b~": true}, 1,
			[]string{"schema requirements-schema /requirements/a~1b~0"}},
		{"an entry that is none of them", object{"/requirements/sources": array{"soil", "air", "moon"}}, 1,
			[]string{"schema requirements-schema /requirements/sources/2"}},
		{"two such entries", object{"/requirements/sources": array{"soil", "sun", "air", "moon"}}, 1,
			[]string{"schema requirements-schema /requirements/sources/1",
				"schema requirements-schema /requirements/sources/3"}},
		{"an entry twice", object{"/requirements/sources": array{"soil", "air", "air"}}, 1,
			[]string{"schema requirements-schema /requirements/sources"}},
		{"a tier that there is not", object{"/requirements/tiers": 4}, 1,
			[]string{"schema requirements-schema /requirements/tiers"}},
		{"a number below the minimum", object{"/requirements/beds": 0}, 1,
			[]string{"schema requirements-schema /requirements/beds"}},
		{"a version that is a number", object{"/requirements/cores": array{1, "1.0.0"}}, 1,
			[]string{"schema requirements-schema /requirements/cores/0"}},

		{"a required key is missing", object{"/requirements/climate": nil}, 1,
			[]string{"requirements requirement-missing /requirements/climate"}},
		{"a key is missing that the schema does not ask for", object{"/requirements/heating": nil}, 1,
			[]string{"requirements requirement-missing /requirements/heating"}},
		{"all are missing", object{"/requirements": object{}}, 1, []string{
			"requirements requirement-missing /requirements/beds",
			"requirements requirement-missing /requirements/climate",
			"requirements requirement-missing /requirements/cores",
			"requirements requirement-missing /requirements/heating",
			"requirements requirement-missing /requirements/sources",
			"requirements requirement-missing /requirements/tiers"}},
		{"another text", object{"/requirements/climate": "foil"}, 1,
			[]string{"requirements requirement-unmet /requirements/climate"}},
		{"a text of another type", object{"/requirements/climate": array{"glass"}}, 1,
			[]string{"requirements requirement-unmet /requirements/climate"}},
		{"false", object{"/requirements/heating": false}, 1, []string{"requirements requirement-unmet " +
			"/requirements/heating"}},
		{"the text true", object{"/requirements/heating": "true"}, 1,
			[]string{"requirements requirement-unmet /requirements/heating"}},
		{"1 for true", object{"/requirements/heating": 1}, 1, []string{"requirements requirement-unmet " +
			"/requirements/heating"}},
		{"an optional key, not satisfied", object{"/requirements/pests": true}, 1,
			[]string{"requirements requirement-unmet /requirements/pests"}},
		{"too low a tier", nil, 3, []string{"requirements requirement-unmet /requirements/tiers"}},
		{"a tier as text", object{"/requirements/tiers": "2"}, 1, []string{"requirements requirement-unmet " +
			"/requirements/tiers"}},
		{"a fraction", object{"/requirements/tiers": 2.5}, 1,
			[]string{"requirements requirement-unmet /requirements/tiers"}},
		{"not less", object{"/requirements/beds": 10}, 1,
			[]string{"requirements requirement-unmet /requirements/beds"}},
		{"a list that lacks one", object{"/requirements/sources": array{"soil", "moon"}}, 1,
			[]string{"requirements requirement-unmet /requirements/sources"}},
		{"an older version", object{"/requirements/cores": array{"1.0.0-rc1.4"}}, 1,
			[]string{"requirements requirement-unmet /requirements/cores"}},
		{"no version", object{"/requirements/cores": array{}}, 1, []string{"requirements requirement-unmet " +
			"/requirements/cores"}},
		{"a version that is no list", object{"/requirements/cores": "1.0.0"}, 1,
			[]string{"requirements requirement-unmet /requirements/cores"}},

		{"not supported, and why", object{"/supported": false, "/unmet_requirements": array{object{"requirement": "x",
			"reason": "y"}}}, 1,
			[]string{"supported not-supported /supported"}},
		{"not supported, no list", object{"/supported": false}, 1, []string{"supported not-supported-without-reason " +
			"/supported"}},
		{"not supported, an empty list", object{"/supported": false, "/unmet_requirements": array{}}, 1,
			[]string{"supported not-supported-without-reason /supported"}},
		{"supported, with a gap", object{"/unmet_requirements": array{object{"requirement": "x", "reason": "y"}}}, 1,
			[]string{"supported supported-with-gaps /unmet_requirements"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.want == nil {
				test.want = []string{}
			}
			in := Saved(c, "answer.json", edited(t, test.edit), test.tier)
			if diff := cmp.Diff(test.want, judged(t, in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What cannot be read is decided by one check, and nothing after it passes.
func TestOneCause(t *testing.T) {
	c := contract(t, requirementsYAML, contractMarkdown)
	for name, test := range map[string]struct {
		in     *Input
		failed string
		rest   []string
	}{
		"no JSON": {Saved(c, "a", []byte("<html>"), 1), "endpoint", []string{"response", "core-version", "profile",
			"schema", "requirements", "supported"}},
		"no object": {Saved(c, "a", []byte("[]"), 1), "response", []string{"core-version", "profile", "schema",
			"requirements", "supported"}},
		"a wrong type": {Saved(c, "a", edited(t, object{"/supported": 1}), 1), "response", []string{"core-version",
			"profile", "schema", "requirements", "supported"}},
		"no YAML": {Saved(contract(t, "x: [", contractMarkdown), "a", []byte(answerJSON), 1), "contract",
			[]string{"core-version", "profile", "requirements"}},
		"no constraint": {Saved(contract(t, strings.Replace(requirementsYAML, ">=1.0.0-rc1.5, <2.0.0", "~1", 1),
			contractMarkdown), "a", []byte(answerJSON), 1), "contract",
			[]string{"core-version", "profile", "requirements"}},
		"no schema": {Saved(contract(t, requirementsYAML, "# nothing"), "a", []byte(answerJSON), 1), "contract",
			[]string{"schema"}},
	} {
		got := verdicts(t, test.in)
		for check, v := range got {
			want := verdict.Passed
			switch {
			case check == test.failed:
				want = verdict.Failed
			case slices.Contains(test.rest, check), check == "endpoint":
				want = verdict.Skipped
			}
			if v != want {
				t.Errorf("%s: %s is %s, want %s", name, check, v, want)
			}
		}
	}
}

func TestEndpoint(t *testing.T) {
	c := contract(t, requirementsYAML, contractMarkdown)
	for _, test := range []struct {
		o        evidence.Observation
		endpoint verdict.Verdict
		want     []string
	}{
		{evidence.Observation{State: evidence.Obtained, Status: 200, Body: []byte(answerJSON)}, verdict.Passed,
			[]string{}},
		{evidence.Observation{State: evidence.Obtained, Status: 200, Body: []byte("{")}, verdict.Failed,
			[]string{"endpoint not-json"}},
		{evidence.Observation{State: evidence.Absent, Code: evidence.CodeHTTPStatus}, verdict.Failed,
			[]string{"endpoint http-status"}},
		{evidence.Observation{State: evidence.Absent, Code: evidence.CodeNoHost}, verdict.Failed,
			[]string{"endpoint no-such-host"}},
		{evidence.Observation{State: evidence.Invalid, Code: evidence.CodeTLS}, verdict.Failed,
			[]string{"endpoint tls-not-verified"}},
		{evidence.Observation{State: evidence.Unavailable, Code: evidence.CodeTimeout}, verdict.Failed,
			[]string{"endpoint timeout"}},
		{evidence.Observation{State: evidence.Unavailable, Code: evidence.CodeHTTPStatus, Status: 500}, verdict.Failed,
			[]string{"endpoint http-status"}},
		{evidence.Observation{State: evidence.Unavailable, Code: evidence.CodeConnect}, verdict.Failed,
			[]string{"endpoint connect-failed"}},
		{evidence.Observation{State: evidence.Unavailable, Code: evidence.CodeBudget}, verdict.Inconclusive,
			[]string{"endpoint budget-spent"}},
		{evidence.Observation{State: evidence.Unavailable, Code: evidence.CodeNotRecorded}, verdict.Inconclusive,
			[]string{"endpoint not-recorded"}},
		{evidence.Observation{State: evidence.Unsought, Code: evidence.CodeOffline}, verdict.Skipped,
			[]string{"response not-exercised"}},
		{evidence.Observation{State: 99, Code: "odd"}, verdict.Failed, []string{"endpoint odd"}},
	} {
		in := Asked(c, test.o, 1)
		if got := verdicts(t, in)["endpoint"]; got != test.endpoint {
			t.Errorf("%s %s: %s, want %s", test.o.State, test.o.Code, got, test.endpoint)
		}
		if diff := cmp.Diff(test.want, judged(t, in)); diff != "" {
			t.Errorf("%s %s: %s", test.o.State, test.o.Code, diff)
		}
	}
}

func TestMessages(t *testing.T) {
	c := contract(t, requirementsYAML, contractMarkdown)
	text := edited(t, object{"/requirements/heating": false, "/supported": false,
		"/unmet_requirements": array{object{"requirement": "heating", "reason": "no \x1b[31mgas\n::error::x"}}})
	results := must.Get(Judge(Saved(c, "answer.json", text, 1), "answer.json"))(t)
	want := "provider does not satisfy greenhouse requirement heating: it is false, true is needed; " +
		`the provider says "no \x1b[31mgas\n::error::x"`
	for _, r := range results {
		if r.Check == "oasis-requirements" && (len(r.Findings) != 1 || r.Findings[0].Message != want) {
			t.Errorf("told %q, want %q", r.Findings, want)
		}
	}
}

func TestRunnerDiffers(t *testing.T) {
	c := contract(t, strings.Replace(requirementsYAML, ", <2.0.0", "", 1), contractMarkdown)
	for _, test := range []struct {
		versions array
		want     bool
	}{
		{array{"1.0.0"}, false},
		{array{"1.1.0"}, false},
		{array{"1.0.0-rc1.4"}, true},
		{array{"0.9.0"}, true},
		{array{"1.0.0-rc1.4", "1.0.0-rc1.5"}, false},
	} {
		results, err := Judge(Saved(c, "a", edited(t, object{"/oasis_core_spec_versions": test.versions}), 1), "a")
		must.OK(t, err)
		got := false
		for _, f := range results[3].Findings {
			got = got || f.Code == "runner-differs" && f.Severity == verdict.Notice
		}
		if got != test.want {
			t.Errorf("%v: runner-differs is %v, want %v", test.versions, got, test.want)
		}
	}
}

// An answer of a mebibyte is judged, whatever it holds, and gets a bounded number of findings.
func TestHostileAnswers(t *testing.T) {
	c := contract(t, requirementsYAML, contractMarkdown)
	var members strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&members, `"%x":1,`, i)
	}
	long := strings.TrimSuffix(strings.Repeat(`"x",`, 100_000), ",")
	for name, test := range map[string]struct {
		text string
		code string
	}{
		"a byte too many":  {`"` + strings.Repeat("a", MaxResponse) + `"`, "body-too-large"},
		"deep":             {strings.Repeat("[", 100_000), "not-json"},
		"deep, in members": {strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000), "not-json"},
		"a member twice": {strings.Replace(answerJSON, `"supported": true`, `"supported": true, "supported": false`,
			1), "not-json"},
		"by an escape": {strings.Replace(answerJSON, `"supported": true`,
			`"supported": true, "\u0073upported": false`, 1), "not-json"},
		"something after it": {answerJSON + "{}", "not-json"},
		"half a surrogate":   {strings.Replace(answerJSON, "grower", `\ud800`, 1), "not-json"},
		"no UTF-8":           {strings.Replace(answerJSON, "grower", "\xff", 1), "not-json"},
		"a byte order mark":  {"\xef\xbb\xbf" + answerJSON, "not-json"},
		"a huge number":      {strings.Replace(answerJSON, `"tiers": 2`, `"tiers": 1e400`, 1), "not-json"},
		"nothing":            {"", "not-json"},
		"null":               {"null", "wrong-type"},
		"many members":       {strings.Replace(answerJSON, `"provider"`, members.String()+`"provider"`, 1), ""},
		"many requirements": {strings.Replace(answerJSON, `"climate"`, members.String()+`"climate"`, 1),
			"requirements-schema"},
		"many core versions": {strings.Replace(answerJSON, `["1.0.0-rc1", `, "["+long+",", 1), "not-semver"},
		"many entries":       {strings.Replace(answerJSON, `["air"`, "["+long+`,"air"`, 1), "requirements-schema"},
		"many gaps": {strings.Replace(answerJSON, `"supported"`,
			`"unmet_requirements":[`+strings.ReplaceAll(long, `"x"`, "{}")+`],"supported"`, 1), "missing-member"},
		"a number of 64 digits": {strings.Replace(answerJSON, `"beds": 4`, `"beds": `+strings.Repeat("9", 60), 1),
			"requirement-unmet"},
	} {
		results, err := Judge(Saved(c, "a", []byte(test.text), 1), "a")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		codes, n := map[string]bool{}, 0
		for _, r := range results {
			for _, f := range r.Findings {
				if n++; f.Severity == verdict.Error {
					codes[f.Code] = true
				}
				if len(f.Message) > 4000 {
					t.Errorf("%s: a message of %d bytes", name, len(f.Message))
				}
			}
		}
		if test.code != "" && !codes[test.code] || test.code == "" && len(codes) > 0 || n > 500 {
			t.Errorf("%s: %d findings, errors %v, want %q", name, n, codes, test.code)
		}
	}
}

func TestConstraints(t *testing.T) {
	order := []string{"1.0.0-rc1", "1.0.0-rc1.5", "1.0.0-rc1.12", "1.0.0", "1.1.0"}
	for _, test := range []struct {
		text string
		want []string
	}{
		{">=1.0.0-rc1.5", order[1:]},
		{">1.0.0-rc1.5", order[2:]},
		{"<=1.0.0-rc1.5", order[:2]},
		{"<1.0.0-rc1.5", order[:1]},
		{"=1.0.0", order[3:4]},
		{"= 1.0.0+build", order[3:4]},
		{">= 1.0.0-rc1.5,<1.0.0", order[1:3]},
		{">=1.0.0-rc1.5 <1.0.0", order[1:3]},
		{">=1.0.0-rc1.5 , < 1.0.0", order[1:3]},
		{">=2.0.0", nil},
	} {
		c, err := readConstraint(test.text)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
		}
		var got []string
		for _, v := range order {
			if c.admits(v) {
				got = append(got, v)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%q admits %q, want %q", test.text, got, test.want)
		}
	}
	for _, text := range []string{"", " ", "1.0.0", ">=", ">=1.0", ">=v1.0.0", "~1.0.0", "^1.0.0", ">=1.0.0,",
		",>=1.0.0",
		">=1.0.0,,<2.0.0", ">=1.0.0 || <0.1.0", "*", ">=1.0.0-rc1.5<2.0.0", "=>1.0.0",
		strings.Repeat(">=1.0.0 ", maxBounds+1)} {
		if _, err := readConstraint(text); err == nil {
			t.Errorf("%q is taken for a constraint", text)
		}
	}
	c, _ := readConstraint(">=1.0.0-rc1")
	for _, v := range []string{"", "1", "1.0", "v1.0.0", "1.0.0 ", "latest"} {
		if c.admits(v) {
			t.Errorf("%q is taken for a version", v)
		}
	}
}

func TestCatalogue(t *testing.T) {
	ids, manual := map[string]bool{}, 0
	for _, r := range Rules {
		if ids[r.ID] {
			t.Errorf("%s stands there twice", r.ID)
		}
		ids[r.ID] = true
		if r.Title == "" || r.Cite == "" || r.Why == "" || r.Fix == "" ||
			r.Role != roleProvider && r.Role != roleClaimant && r.Role != roleReport {
			t.Errorf("%s has an empty field: %+v", r.ID, r)
		}
		if r.Method == verdict.Attested {
			manual++
		}
	}
	if len(ProviderRows())-manual != 8 || len(ClaimRows()) != 2 || manual != 25 {
		t.Errorf("%d and %d rows are decided and %d are for people, want 8, 2 and 25", len(ProviderRows())-manual,
			len(ClaimRows()), manual)
	}
}

// TestSilentCheck requires an error that names a check, of an answer or of a report, that says nothing.
func TestSilentCheck(t *testing.T) {
	defer func(was []verdict.Entry[*Input]) { checks = was }(checks)
	defer func(was []verdict.Entry[*evaluation]) { reportRules = was }(reportRules)
	checks = append(slices.Clip(checks), verdict.Entry[*Input]{Rule: verdict.Rule{ID: "silent"},
		Judge: func(*Input) (verdict.Outcome, error) { return verdict.Outcome{}, nil }})
	reportRules = append(slices.Clip(reportRules), verdict.Entry[*evaluation]{Rule: verdict.Rule{ID: "silent"},
		Judge: func(*evaluation) (verdict.Outcome, error) { return verdict.Outcome{}, nil }})
	_, ofAnswer := Judge(Unasked(contract(t, requirementsYAML, contractMarkdown), "why"), "x")
	_, ofReport := (&Report{Path: "x"}).Judge()
	for _, err := range []error{ofAnswer, ofReport} {
		if !errors.Is(err, verdict.ErrUnsaid) || err.Error() != "check silent said nothing of x" {
			t.Errorf("%v; expected one that names the check", err)
		}
	}
}
