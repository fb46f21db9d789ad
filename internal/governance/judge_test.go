package governance

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/page"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// files are the texts of a tree by path. A text may begin with "mode 120000 ", or be gone.
type files map[string]string

const gone = "\x00gone"

// specified is a small specification.
var specified = files{
	"rfcs/README.md":                "x\n",
	"rfcs/RFC-0001-a.md":            "# RFC 0001\n\n**Status:** Accepted\n\nA Tool MUST answer.\n",
	"spec/v1.0/core.md":             "# Core\n\nA Tool MUST answer.\n",
	"CHANGELOG.md":                  "x\n",
	"test-suite/levels/levels.json": `{"levels": {"L1": ["behavior/a.test.js"]}}`,
	"test-suite/behavior/a.test.js": "a\n",
	"reference/server.js":           "s\n",
	"reference/logo.bin":            "b\n",
	"schemas/v1.0/a.schema.json": `{"$id": "https://x.example/schemas/v1.0/a.schema.json", "type": "object",
		"properties": {}}`,
	"schemas/v1.0/b.schema.json": `{"$id": "https://x.example/schemas/v1.0/b.schema.json", "type": "object",
 "properties": {"a": {"$ref": "a.schema.json"}, "c": {"$ref": "../common.json"},
 "d": {"$ref": "../../spec/deep.json#/$defs/x"}}}`,
	"schemas/common.json": `{"type": "string"}`,
	"spec/deep.json":      `{"$defs": {"x": {"type": "string"}}}`,
	"governance/MAINTAINERS.md": "# M\n\n## Current Maintainers\n\n| handle | org | User Advocate |\n|---|---|---|\n" +
		"| @ann | A | yes |\n| @bob | B | |\n| @cyd | C | |\n| @dee | D | |\n",
}

func write(repo *fixture.Repo, all files) error {
	for path, text := range all {
		if text == gone {
			if err := repo.Remove(path); err != nil {
				return err
			}
			continue
		}
		mode := "100644"
		if rest, ok := strings.CutPrefix(text, "mode "); ok {
			mode, text, _ = strings.Cut(rest, " ")
		}
		repo.WriteMode(path, mode, []byte(text))
	}
	return nil
}

// propose makes a proposal of a change of the specification.
func propose(t *testing.T, base, head files) *Proposal {
	t.Helper()
	repo := must.Get(fixture.NewBareRepo(t.TempDir()))(t)
	all := maps.Clone(specified)
	maps.Copy(all, base)
	maps.DeleteFunc(all, func(_, text string) bool { return text == gone })
	must.OK(t, write(repo, all))
	at := time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC)
	repo.Commit("base", at)
	repo.Branch("topic")
	must.OK(t, write(repo, head))
	repo.Commit("change", at)
	must.OK(t, repo.Sync())
	return open(t, repo.Dir, "main", "topic")
}

func open(t *testing.T, dir, base, head string) *Proposal {
	t.Helper()
	r := must.Get(registry.Open(dir))(t)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	rng := must.Get(r.Range(t.Context(), base, head))(t)
	p := must.Get(NewRange(t.Context(), r, rng, &Texts{}))(t)
	return p
}

// TestSilentGate requires an error that names a gate that says nothing.
func TestSilentGate(t *testing.T) {
	defer func(was []verdict.Entry[*Judgement]) { gates = was }(gates)
	gates = append(slices.Clip(gates), gate(verdict.Rule{ID: "silent"},
		func(*Proposal, *Judgement) (verdict.Outcome, error) { return verdict.Outcome{}, nil }))
	_, err := Judge(&Proposal{Base: &registry.Tree{}}, func(id string) bool { return id == "silent" })
	if want := "check silent said nothing of proposal"; !errors.Is(err, verdict.ErrUnsaid) || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}

// found are the codes that one gate gives, each with its severity, file and pointer.
func found(t *testing.T, p *Proposal, check string) (codes []string, of verdict.Result) {
	t.Helper()
	j := must.Get(Judge(p, func(id string) bool { return id == check }))(t)
	for _, f := range j.Results[0].Findings {
		codes = append(codes, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", f.Severity, f.Code, f.Path, f.Pointer)))
		whole := slices.Contains([]string{"schema-removed", "mode-changed", "new-version"}, f.Code)
		if whole && f.Line == 0 {
			t.Errorf("%s of %s is on no line", f.Code, f.Path)
		}
	}
	slices.Sort(codes)
	return codes, j.Results[0]
}

const (
	editsRFC = "# RFC 0001\n\n**Status:** Accepted\n\nA Tool MUST answer soon.\n"
	editsOne = "# RFC 0001\n\n**Status:** Accepted\n\nSome say so.\n\nA Tool MUST answer.\n"
	rfc      = "rfcs/RFC-0001-a.md"
	levels   = "test-suite/levels/levels.json"
	schemaA  = "schemas/v1.0/a.schema.json"
	justify  = "Implementability Gate exception: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"
)

// TestImplementability checks when evidence is needed.
func TestImplementability(t *testing.T) {
	for _, c := range []struct {
		name string
		head files
		body string // "-": not known
		want []string
		says string // in the first message, or in what was verified
	}{
		{"nothing normative", files{"papers/x.md": "A Tool MUST."}, "", nil, "no normative artifact is touched"},
		{"no evidence", files{rfc: editsRFC}, "", []string{"error no-evidence " + rfc}, ""},
		{"a later version", files{"spec/v1.1/core.md": "MUST"}, "", []string{"error no-evidence spec/v1.1/core.md"},
			""},
		{"a version of one number", files{"schemas/v2/a.txt": "MUST"}, "",
			[]string{"error no-evidence schemas/v2/a.txt"}, ""},
		{"in another letter case", files{"RFCs/Rfc-0001-a.md": "MUST"}, "",
			[]string{"error no-evidence RFCs/Rfc-0001-a.md"}, ""},
		{"a version of two digits", files{"schemas/v12.34/x": "MUST"}, "",
			[]string{"error no-evidence schemas/v12.34/x"}, ""},
		{"a sentence that goes", files{rfc: gone}, "", []string{"error no-evidence " + rfc}, ""},
		{"a schema that comes", files{"schemas/v1.0/n.json": "true"}, "",
			[]string{"error no-evidence schemas/v1.0/n.json"}, ""},
		{"JSON that is no schema", files{"spec/v1.0/x.json": "1"}, "", []string{"error no-evidence spec/v1.0/x.json"},
			""},
		{"within a line", files{rfc: editsOne}, "An " + justify, []string{"error no-evidence " + rfc},
			"the words are there, but within a line"},
		{"in code", files{rfc: editsOne, "reference/x.md": "x"}, "`" + justify + "`",
			[]string{"error evidence-does-not-count " + rfc}, "the words are there, but in code"},
		{"claimed without need", files{rfc: editsRFC, "reference/x.js": "x"}, justify, nil, "evidence: 1 file"},
		{"not known, editorial", files{rfc: editsOne}, "-", []string{"inconclusive exception-unknown " + rfc}, ""},
		{"not known, a rule", files{rfc: editsRFC + "It MUST.\n"}, "-", []string{"error no-evidence " + rfc}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := propose(t, nil, c.head)
			if c.body != "-" {
				p.Words = worded(t, c.body)
			}
			got, r := found(t, p, "implementability")
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			said := r.Reason
			for _, f := range r.Findings {
				said += f.Message
			}
			if !strings.Contains(said, c.says) {
				t.Errorf("%q does not hold %q", said, c.says)
			}
		})
	}
}

// TestCompatibility checks each row of what happens to a schema.
func TestCompatibility(t *testing.T) {
	a := func(members string) string {
		return `{"$id": "https://x.example/schemas/v1.0/a.schema.json", "type": "object", "properties": {` + members
	}
	added := a(`"n": {"type": "string"}}}`)
	ids, claimed := `{}`, []string(nil) // as many as are reported, and two more
	for i := range maxClaims + 2 {
		ids += fmt.Sprintf(`, {"$id": "https://x.example/%c"}`, 'a'+i)
		if i < maxClaims {
			claimed = append(claimed, fmt.Sprintf("error schema-id schemas/n.json /x/%d/$id", i+1))
		}
	}
	slices.Sort(claimed)
	narrow := strings.Replace(a("}}"), `"object"`, `["object", "null"]`, 1)
	for _, c := range []struct {
		name       string
		base, head files
		body       string
		want       []string
	}{
		{"nothing", nil, files{rfc: editsRFC}, "", nil},
		{"formatting", nil, files{schemaA: a("\n} }")}, "", []string{"error additive-undeclared " + schemaA}},
		{"formatting, declared", nil, files{schemaA: a("\n} }")}, "Additive only",
			[]string{"notice annotations " + schemaA}},
		{"formatting, body not known", nil, files{schemaA: a("\n} }")}, "-",
			[]string{"inconclusive declaration-unknown " + schemaA}},
		{"another title, declared", files{schemaA: a(`}, "title": "A Tool."}`)},
			files{schemaA: a(`}, "title": "No Tool."}`)}, "Additive only",
			[]string{"notice annotations " + schemaA, "warning description-differs " + schemaA + " /title"}},
		{"a field beside a draft with another's $id", nil, files{schemaA: added, "schemas/n.json": `{"$id": "https://x.example/schemas/v1.0/b.schema.json"}`}, "",
			[]string{"error additive-undeclared " + schemaA, "error schema-id schemas/n.json /$id",
				"error schema-id schemas/n.json /$id", "notice additive " + schemaA + " /properties/n"}},
		{"white space in a string", files{schemaA: a(`}, "description": "A Tool."}`)},
			files{schemaA: a(`}, "description": "A  Tool."}`)}, "", []string{"error additive-undeclared " + schemaA}},
		{"members in another order", nil,
			files{schemaA: `{"type": "object", "$id": "https://x.example/schemas/v1.0/a.schema.json", "properties": {}}`},
			"", []string{"error additive-undeclared " + schemaA}},
		{"members in another order, declared", nil,
			files{schemaA: `{"type": "object", "$id": "https://x.example/schemas/v1.0/a.schema.json", "properties": {}}`},
			"additive only", []string{"notice annotations " + schemaA}},
		{"an annotation, declared", nil, files{schemaA: a(`}, "description": "A Tool may."}`)}, "additive only",
			[]string{"notice annotations " + schemaA}},
		{"an annotation", nil, files{schemaA: a(`}, "description": "A Tool may."}`)}, "",
			[]string{"error additive-undeclared " + schemaA}},
		{"an annotation, body not known", nil, files{schemaA: a(`}, "description": "A Tool may."}`)}, "-",
			[]string{"inconclusive declaration-unknown " + schemaA}},
		{"another description, declared", files{schemaA: a(`}, "description": "A Tool may."}`)},
			files{schemaA: a(`}, "description": "A Tool can."}`)}, "additive only",
			[]string{"notice annotations " + schemaA, "warning description-differs " + schemaA + " /description"}},
		{"another description", files{schemaA: a(`}, "description": "A Tool may."}`)},
			files{schemaA: a(`}, "description": "A Tool can."}`)}, "",
			[]string{"error additive-undeclared " + schemaA}},
		{"another description beside a new field, declared", files{schemaA: a(`}, "description": "A Tool may."}`)},
			files{schemaA: a(`"n": true}, "description": "A Tool can."}`)}, "additive only",
			[]string{"notice additive " + schemaA + " /properties/n",
				"warning description-differs " + schemaA + " /description"}},
		{"a rule in a description", nil, files{schemaA: a(`}, "description": "A Tool MUST."}`)}, "additive only",
			[]string{"error meaning " + schemaA + " /description"}},
		{"a rule beside another sentence", files{schemaA: a(`}, "description": "One. A Tool MUST."}`)},
			files{schemaA: a(`}, "description": "Two. A Tool MUST."}`)}, "additive only",
			[]string{"notice annotations " + schemaA, "warning description-differs " + schemaA + " /description"}},
		{"a typo next to a rule", files{schemaA: a(`}, "description": "A Tool MUST anwser."}`)},
			files{schemaA: a(`}, "description": "A Tool MUST answer."}`)}, "additive only",
			[]string{"notice annotations " + schemaA, "warning description-differs " + schemaA + " /description"}},
		{"another rule", files{schemaA: a(`}, "description": "A Tool MUST answer."}`)},
			files{schemaA: a(`}, "description": "A Tool MAY answer."}`)}, "additive only",
			[]string{"error meaning " + schemaA + " /description"}},
		{"an example", files{"schemas/v1.0/examples/e.json": `{"type": "string"}`},
			files{"schemas/v1.0/examples/e.json": `{"type": "integer"}`}, "", nil},
		{"a new example", nil, files{"schemas/v1.0/examples/e.json": `{"type": "string"}`}, "", nil},
		{"a deleted example", files{"schemas/v1.0/examples/e.json": `{}`},
			files{"schemas/v1.0/examples/e.json": gone}, "", nil},
		{"an example that a schema leads to", files{schemaA: a(`"e": {"$ref": "examples/e.json"}}}`),
			"schemas/v1.0/examples/e.json": `{"type": "string"}`},
			files{"schemas/v1.0/examples/e.json": `{"type": "integer"}`}, "additive only",
			[]string{"error changed " + schemaA + " /properties/e/$ref"}},
		{"an example that a schema leads to, deleted", files{schemaA: a(`"e": {"$ref": "examples/e.json"}}}`),
			"schemas/v1.0/examples/e.json": `{"type": "string"}`},
			files{"schemas/v1.0/examples/e.json": gone}, "additive only",
			[]string{"error changed " + schemaA + " /properties/e/$ref"}},
		{"a reference to another host", files{schemaA: a(`"e": {"$ref": "b.schema.json"}}}`)},
			files{schemaA: a(`"e": {"$ref": "https://y.example/schemas/v1.0/b.schema.json"}}}`)}, "additive only",
			[]string{"error identity " + schemaA + " /properties/e/$ref"}},
		{"a reference spelled out", files{schemaA: a(`"e": {"$ref": "b.schema.json"}}}`)},
			files{schemaA: a(`"e": {"$ref": "https://x.example/schemas/v1.0/b.schema.json"}}}`)}, "additive only",
			[]string{"notice annotations " + schemaA}},
		{"a reference spelled out, undeclared", files{schemaA: a(`"e": {"$ref": "b.schema.json"}}}`)},
			files{schemaA: a(`"e": {"$ref": "https://x.example/schemas/v1.0/b.schema.json"}}}`)}, "",
			[]string{"error additive-undeclared " + schemaA}},
		{"new with another's $id below", nil, files{"schemas/v1.0/n.json": `{"$id":
			"https://x.example/schemas/v1.0/n.json", "$defs": {"d": {"$id": "a.schema.json#"}}}`}, "",
			[]string{"error schema-id schemas/v1.0/n.json /$defs/d/$id"}},
		{"new with another's $id under an unknown keyword", nil, files{"schemas/v1.0/n.json": `{"$id":
			"https://x.example/schemas/v1.0/n.json", "definitions": {"d": {"$id": "a.schema.json"}}}`}, "",
			[]string{"error schema-id schemas/v1.0/n.json /definitions/d/$id"}},
		{"new with another's $id under names that are keywords elsewhere", nil, files{"schemas/v1.0/n.json": `{"$id":
			"https://x.example/schemas/v1.0/n.json", "properties": {"default": {"$id": "a.schema.json"}},
			"definitions": {"enum": {"$defs": {"const": {"$id": "b.schema.json"}}}}}`}, "",
			[]string{"error schema-id schemas/v1.0/n.json /definitions/enum/$defs/const/$id",
				"error schema-id schemas/v1.0/n.json /properties/default/$id"}},
		{"new with another's $id in a value of a field named as a keyword", nil, files{"schemas/v1.0/n.json": `{"$id":
			"https://x.example/schemas/v1.0/n.json", "properties": {"properties": {"default": {"$id":
			"a.schema.json"}}, "$id": {"examples": [{"$id": "a.schema.json"}]}}}`}, "", nil},
		{"new with an own $id below, and another's in a value", nil, files{"schemas/v1.0/n.json": `{"$id":
			"https://x.example/schemas/v1.0/n.json", "$defs": {"d": {"$id": "n-d", "$ref": "a.schema.json",
			"const": {"$id": "a.schema.json"}}}}`}, "", nil},
		{"new with the address of a file that a published one leads to", nil, files{"schemas/v1.0/n.json": `{"$id":
			"https://x.example/schemas/v1.0/n.json", "$defs": {"d": {"$id": "../common.json", "type": "integer"}}}`},
			"additive only", []string{"error changed schemas/v1.0/b.schema.json /properties/c/$ref",
				"error identity schemas/v1.0/b.schema.json /properties/c/$ref"}},
		{"new, for a new field", nil, files{schemaA: a(`"n": {"$ref": "n.json"}}}`),
			"schemas/v1.0/n.json": `{"$id": "https://x.example/schemas/v1.0/n.json"}`}, "additive only",
			[]string{"notice additive " + schemaA + " /properties/n"}},
		{"deleted", nil, files{schemaA: gone}, "additive only", []string{"error schema-removed " + schemaA}},
		{"moved", nil, files{schemaA: gone, "schemas/v1.0/sub/a.schema.json": a("}}")}, "additive only",
			[]string{"error schema-id schemas/v1.0/sub/a.schema.json /$id",
				"error schema-id schemas/v1.0/sub/a.schema.json /$id", "error schema-removed " + schemaA}},
		{"a mode", nil, files{schemaA: "mode 100755 " + specified[schemaA]}, "additive only",
			[]string{"error mode-changed " + schemaA}},
		{"a link", nil, files{schemaA: "mode 120000 b.schema.json"}, "additive only",
			[]string{"error mode-changed " + schemaA}},
		{"a link becomes a file", files{"schemas/v1.0/l.json": "mode 120000 a.schema.json"},
			files{"schemas/v1.0/l.json": "true"}, "",
			[]string{"error changed schemas/v1.0/l.json", "error mode-changed schemas/v1.0/l.json"}},
		{"a link becomes another", files{"schemas/v1.0/l.json": "mode 120000 a.schema.json"},
			files{"schemas/v1.0/l.json": "mode 120000 b.schema.json"}, "",
			[]string{"error changed schemas/v1.0/l.json"}},
		{"no JSON", nil, files{schemaA: a("}")}, "additive only", []string{"error schema-unreadable " + schemaA}},
		{"a member twice", nil, files{schemaA: `{"type": "object", "type": "array"}`}, "additive only",
			[]string{"error schema-unreadable " + schemaA + " /type"}},
		{"no schema", nil, files{schemaA: a(`}, "required": "n"}`)}, "additive only",
			[]string{"error changed " + schemaA + " /required", "error schema-unreadable " + schemaA + " /required"}},
		{"was no JSON", files{"schemas/v1.0/o.json": "{"}, files{"schemas/v1.0/o.json": "{}"}, "additive only",
			[]string{"error changed schemas/v1.0/o.json"}},
		{"additive, declared", nil, files{schemaA: added}, "additive only",
			[]string{"notice additive " + schemaA + " /properties/n"}},
		{"additive, undeclared", nil, files{schemaA: added}, "",
			[]string{"error additive-undeclared " + schemaA, "notice additive " + schemaA + " /properties/n"}},
		{"additive, not known", nil, files{schemaA: added}, "-",
			[]string{"inconclusive declaration-unknown " + schemaA, "notice additive " + schemaA + " /properties/n"}},
		{"additive, the other phrase", nil, files{schemaA: added}, "backward-compatibility-exception",
			[]string{"error additive-undeclared " + schemaA, "notice additive " + schemaA + " /properties/n"}},
		{"wider", nil, files{schemaA: narrow}, "additive only", []string{"error loosened " + schemaA + " /type"}},
		{"narrower", files{schemaA: narrow}, files{schemaA: a("}}")}, "additive only",
			[]string{"error tightened " + schemaA + " /type"}},
		{"another $id", nil, files{schemaA: strings.Replace(a("}}"), "x.example", "y.example", 1)}, "additive only",
			[]string{"error identity " + schemaA + " /$id"}},
		{"in capitals", files{"schemas/v1.0/U.JSON": "true"}, files{"schemas/v1.0/U.JSON": "false"}, "additive only",
			[]string{"error tightened schemas/v1.0/U.JSON"}},
		{"a file that is referred to", nil, files{"schemas/common.json": `{"type": "integer"}`}, "additive only",
			[]string{"error changed schemas/v1.0/b.schema.json /properties/c/$ref"}},
		{"a file elsewhere that is referred to", nil, files{"spec/deep.json": `{"$defs": {"x": {"type": "integer"}}}`},
			"additive only",
			[]string{"error changed schemas/v1.0/b.schema.json /properties/d/$ref"}},
		{"a file that is referred to by an escaped name",
			files{schemaA: a(`"e": {"$ref": "../../spec/%70art.json"}}}`), "spec/part.json": `{"type": "string"}`},
			files{"spec/part.json": `{"type": "integer"}`}, "additive only",
			[]string{"error changed " + schemaA + " /properties/e/$ref"}},
		{"a file of another extension that is referred to",
			files{schemaA: a(`"e": {"$ref": "../../spec/part.schema"}}}`), "spec/part.schema": `{"type": "string"}`},
			files{"spec/part.schema": `{"type": "integer"}`}, "additive only",
			[]string{"error changed " + schemaA + " /properties/e/$ref"}},
		{"a file of another extension under schemas/ that is referred to",
			files{schemaA: a(`"e": {"$ref": "part"}}}`), "schemas/v1.0/part": `{"type": "string"}`},
			files{"schemas/v1.0/part": `{"type": "integer"}`}, "additive only",
			[]string{"error changed " + schemaA + " /properties/e/$ref"}},
		{"an unknown keyword of a published schema that another refers to",
			files{schemaA: a(`}, "definitions": {"d": {"type": "string"}}}`),
				"schemas/v1.0/r.json": `{"items": {"$ref": "a.schema.json#/definitions/d"}}`},
			files{schemaA: a(`}, "definitions": {"d": {"type": "integer"}}}`)}, "additive only",
			[]string{"error changed schemas/v1.0/r.json /items/$ref"}},
		{"a file of another extension that nobody refers to", files{"spec/part.schema": `{"type": "string"}`},
			files{"spec/part.schema": `{"type": "integer"}`}, "", nil},
		{"the target of a link that is referred to", files{"spec/deep.json": "mode 120000 real.json",
			"spec/real.json": specified["spec/deep.json"]}, files{"spec/real.json": `{"$defs": {"x": true}}`}, "",
			[]string{"error changed spec/deep.json"}},
		{"a link for the file that is referred to", nil, files{"spec/deep.json": "mode 120000 real.json",
			"spec/real.json": specified["spec/deep.json"]}, "",
			[]string{"error changed schemas/v1.0/b.schema.json /properties/d/$ref", "error changed spec/deep.json"}},
		{"the target of a published link", files{"schemas/v1.0/l.json": "mode 120000 ../../real.json",
			"real.json": "{}"}, files{"real.json": `{"type": "object"}`}, "",
			[]string{"error changed schemas/v1.0/l.json"}},
		{"a file that is referred to by a link to its directory",
			files{schemaA: a(`"e": {"$ref": "shared/c.json"}}}`), "schemas/v1.0/shared": "mode 120000 ../../common",
				"common/c.json": `{"type": "string"}`},
			files{"common/c.json": `{"type": "integer"}`}, "additive only",
			[]string{"error changed schemas/v1.0/shared"}},
		{"a new schema that refers to a link", files{"l.json": "mode 120000 real.json", "real.json": "{}"},
			files{"schemas/v1.0/n.json": `{"$id": "https://x.example/schemas/v1.0/n.json", "$ref": "../../l.json"}`}, "",
			[]string{"error changed l.json"}},
		{"a link to which no published schema refers", files{"schemas/drafts/l.json": "mode 120000 ../../real.json",
			"schemas/v1.0/latest": "mode 120000 .", "real.json": "{}"}, files{"real.json": `{"type": "object"}`}, "", nil},
		{"a file that is referred to, beside white space in what refers to it", nil,
			files{"schemas/common.json": `{"type": "integer"}`,
				"schemas/v1.0/b.schema.json": specified["schemas/v1.0/b.schema.json"] + "\n"}, "additive only",
			[]string{"error changed schemas/v1.0/b.schema.json /properties/c/$ref"}},
		{"a file that is referred to, gone", nil, files{"schemas/common.json": gone}, "additive only",
			[]string{"error changed schemas/v1.0/b.schema.json /properties/c/$ref"}},
		{"a file elsewhere that has the name of a published one",
			files{schemaA: a(`"e": {"$ref": "../../spec/b.schema.json"}}}`), "spec/b.schema.json": `{"type": "string"}`},
			files{"spec/b.schema.json": `{"type": "integer"}`}, "additive only",
			[]string{"error changed " + schemaA + " /properties/e/$ref"}},
		{"a file that nobody refers to", nil, files{"test-suite/package.json": "{}", "schemas/other.json": "{}"}, "",
			nil},
		{"new", nil, files{"schemas/v1.0/n.json": `{"$id": "https://x.example/schemas/v1.0/n.json"}`}, "", nil},
		{"new without $id", nil, files{"schemas/v1.0/n.json": `{}`}, "",
			[]string{"error schema-id schemas/v1.0/n.json"}},
		{"new with another place", nil,
			files{"schemas/v1.0/n.json": `{"$id": "https://x.example/schemas/v1.1/n.json"}`}, "",
			[]string{"error schema-id schemas/v1.0/n.json /$id"}},
		{"new with a longer name", nil,
			files{"schemas/v1.0/n.json": `{"$id": "https://x.example/xschemas/v1.0/n.json"}`}, "",
			[]string{"error schema-id schemas/v1.0/n.json /$id"}},
		{"new with another's $id", nil,
			files{"schemas/v1.0/n.json": `{"$id": "https://x.example/schemas/v1.0/a.schema.json"}`}, "",
			[]string{"error schema-id schemas/v1.0/n.json /$id", "error schema-id schemas/v1.0/n.json /$id"}},
		{"new twice", nil, files{"schemas/v1.0/n.json": `{"$id": "https://x.example/schemas/v1.0/n.json"}`,
			"schemas/v1.0/x/schemas/v1.0/n.json": `{"$id": "https://x.example/schemas/v1.0/n.json"}`}, "",
			[]string{"error schema-id schemas/v1.0/n.json /$id",
				"error schema-id schemas/v1.0/x/schemas/v1.0/n.json /$id",
				"error schema-id schemas/v1.0/x/schemas/v1.0/n.json /$id"}},
		{"a draft with another's $id", nil,
			files{"schemas/drafts/n.json": `{"$id": "https://x.example/schemas/v1.0/a.schema.json"}`}, "",
			[]string{"error schema-id schemas/drafts/n.json /$id", "error schema-id schemas/drafts/n.json /$id"}},
		{"a draft with another's $id of draft 4, behind a fragment", nil,
			files{"schemas/n.JSON": `{"$schema": "http://json-schema.org/draft-04/schema#", "x":
				{"id": "https://x.example/schemas/v1.0/a.schema.json#a"}}`}, "",
			[]string{"error schema-id schemas/n.JSON /x/id"}},
		{"a draft with many $ids of another", files{schemaA: a(`}, "x": [` + ids + `]}`)},
			files{"schemas/n.json": `{"$id": "https://x.example/schemas/n.json", "x": [` + ids + `]}`}, "",
			slices.Concat([]string{"error schema-id schemas/n.json"}, claimed)},
		{"a draft with its own $id", nil,
			files{"schemas/drafts/n.json": `{"$id": "https://x.example/schemas/drafts/n.json"}`}, "", nil},
		{"a draft that keeps another's $id", files{"schemas/n.json": `{"$id": "https://x.example/s"}`},
			files{"schemas/n.json": `{"$id": "https://x.example/s", "title": "x"}`}, "", nil},
		{"an example that carries a foreign schema", nil, files{"schemas/v1.0/examples/n.json": `{"s":
			{"$id": "https://json-schema.org/draft/2020-12/schema"}}`}, "", nil},
		{"a schema that a new field leads to, with another's $id", files{"common.json": `{}`},
			files{"common.json": `{"$id": "https://x.example/schemas/v1.0/b.schema.json"}`,
				schemaA: a(`"n": {"$ref": "../../common.json"}}}`)}, "additive only",
			[]string{"error schema-id common.json /$id", "notice additive " + schemaA + " /properties/n"}},
		{"a draft that a new field means by its $id", files{"schemas/n.json": `{"$id": "https://y.example/n"}`},
			files{schemaA: a(`"n": {"$ref": "https://y.example/n"}}}`)}, "additive only",
			[]string{"error changed " + schemaA + " /properties/n"}},
		{"a break behind a draft with the $id", files{"schemas/n.json": `{"$id":
			"https://x.example/schemas/v1.0/a.schema.json"}`, "schemas/v1.0/n.json": `{"not": {"$ref": "https://x.example/schemas/v1.0/a.schema.json"}}`}, files{schemaA: added}, "additive only",
			[]string{"error changed " + schemaA + " /properties/n"}},
		{"a draft with the $id goes", files{"schemas/n.json": `{"$id":
			"https://x.example/schemas/v1.0/a.schema.json"}`}, files{"schemas/n.json": gone}, "", nil},
		{"two published schemas of the base have one $id",
			files{"schemas/v1.0/n.json": `{"$defs": {"d": {"$id": "https://x.example/schemas/v1.0/a.schema.json"}}}`},
			files{"schemas/v1.0/b.schema.json": specified["schemas/v1.0/b.schema.json"] + "\n"}, "additive only",
			[]string{"error schema-id-twice schemas/v1.0/n.json /$defs/d/$id",
				"notice annotations schemas/v1.0/b.schema.json"}},
		{"new and unreadable", nil, files{"schemas/v1.0/n.json": `{`}, "",
			[]string{"error schema-unreadable schemas/v1.0/n.json"}},
		{"new and unreadable alike", nil, files{"schemas/v1.0/m.json": `{`, "schemas/v1.0/n.json": `{`}, "",
			[]string{"error schema-unreadable schemas/v1.0/m.json", "error schema-unreadable schemas/v1.0/n.json"}},
		{"new and a link", nil, files{"schemas/v1.0/n.json": "mode 120000 a.schema.json"}, "",
			[]string{"error schema-unreadable schemas/v1.0/n.json"}},
		{"of a draft that nobody knows", nil,
			files{"schemas/v1.0/n.json": `{"$id": "https://x.example/schemas/v1.0/n.json", "$schema": "https://y.example/s"}`},
			"", []string{"error schema-unreadable schemas/v1.0/n.json /$schema"}},
		{"of an older draft", nil,
			files{"schemas/v1.0/n.json": `{"$id": "https://x.example/schemas/v1.0/n.json", "$schema": "http://json-schema.org/draft-07/schema#"}`},
			"", nil},
		{"a new version", nil,
			files{"schemas/v1.1/a.schema.json": `{"$id": "https://x.example/schemas/v1.1/a.schema.json", "type": "array"}`}, "",
			[]string{"notice new-version schemas/v1.1/a.schema.json"}},
		{"an older version", files{"schemas/v1.10/z.json": `{"$id": "https://x.example/schemas/v1.10/z.json"}`},
			files{"schemas/v1.9/z.json": `{"$id": "https://x.example/schemas/v1.9/z.json"}`}, "", nil},
		{"breaks beside a field", nil, files{schemaA: added, "schemas/v1.0/b.schema.json": gone}, "",
			[]string{"error schema-removed schemas/v1.0/b.schema.json", "notice additive " + schemaA +
				" /properties/n"}},
		{"a field beside a new schema without $id", nil, files{schemaA: added, "schemas/v1.0/n.json": `{}`}, "",
			[]string{"error additive-undeclared " + schemaA, "error schema-id schemas/v1.0/n.json",
				"notice additive " + schemaA + " /properties/n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := propose(t, c.base, c.head)
			if c.body != "-" {
				p.Words = worded(t, c.body)
			}
			got, r := found(t, p, "backward-compatibility")
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%q, want\n%q\n%+v", got, c.want, r)
			}
			for _, f := range r.Findings { // a line of a schema does not say which member it is of
				differs := !slices.Contains([]string{"schema-id", "schema-id-twice", "schema-unreadable",
					"description-differs"}, f.Code)
				if f.Pointer != "" && differs && !strings.HasPrefix(f.Message, f.Pointer+": ") {
					t.Errorf("%s: %q does not begin with the pointer", f.Code, f.Message)
				}
			}
		})
	}
}

// TestChangelog checks when an entry is asked for.
func TestChangelog(t *testing.T) {
	for _, c := range []struct {
		name string
		head files
		body string
		want []string
	}{
		{"nothing normative", files{"papers/x.md": "MUST"}, "", nil},
		{"no entry", files{rfc: editsRFC}, "", []string{"warning no-changelog " + rfc}},
		{"no entry, with evidence", files{rfc: editsRFC, "reference/x.js": "x"}, "",
			[]string{"warning no-changelog " + rfc}},
		{"an entry", files{rfc: editsRFC, "CHANGELOG.md": "y"}, "", nil},
		{"another change log", files{rfc: editsRFC, "docs/CHANGELOG.md": "y"}, "",
			[]string{"warning no-changelog " + rfc}},
		{"only formatting", files{rfc: strings.ReplaceAll(specified[rfc], "Tool", "*Tool*")}, justify, nil},
		{"an exception that nobody grants", files{rfc: editsOne}, justify, []string{"warning no-changelog " + rfc}},
		{"a schema", files{"schemas/v1.0/n.json": "{}"}, "", []string{"warning no-changelog schemas/v1.0/n.json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := propose(t, nil, c.head)
			p.Words = worded(t, c.body)
			if got, _ := found(t, p, "changelog"); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestHasSpecification has trees that are a specification and trees that are not.
func TestHasSpecification(t *testing.T) {
	for _, c := range []struct {
		has   bool
		files files
	}{
		{true, files{"rfcs/README.md": "x", "spec/core.md": "x"}},
		{true, files{"rfcs/README.md": "x", "schemas/x.json": "x"}},
		{true, files{"rfcs/RFC-0001-a.md": "x"}},
		{false, files{"rfcs/README.md": "x", "implementations/a.json": "x"}},
		{false, files{"rfcs": "x", "spec/v1.0/core.md": "x"}},
		{false, files{"docs/rfcs/RFC-0001-a.md": "x", "schemas/x.json": "x"}},
	} {
		repo := must.Get(fixture.NewBareRepo(t.TempDir()))(t)
		must.OK(t, write(repo, c.files))
		repo.Commit("base", time.Unix(0, 0))
		must.OK(t, repo.Sync())
		r := must.Get(registry.Open(repo.Dir))(t)
		defer r.Close()
		tree := must.Get(r.Tree(t.Context(), "HEAD"))(t)
		if err := HasSpecification(r.EmptyTree(), tree); (err == nil) != c.has ||
			!c.has && !errors.Is(err, ErrNoSpecification) {
			t.Errorf("%q: %v", c.files, err)
		}
	}
}

// TestLimits checks that what passes a limit is no verdict.
func TestLimits(t *testing.T) {
	many := files{}
	chain := files{schemaA: strings.Replace(specified[schemaA], `"object"`, `"object", "$ref": "../../spec/0.json"`, 1)}
	for i := range maxSchemas>>20 + 1 {
		chain[fmt.Sprintf("spec/%d.json", i)] = fmt.Sprintf(`{"$ref": "%d.json", "title": %q}`, i+1,
			strings.Repeat("x", 1<<20-100))
	}
	for i := range maxChanges + 1 {
		many[fmt.Sprintf("papers/%d", i)] = "x"
	}
	for _, c := range []struct {
		name  string
		head  files
		check string
	}{
		{"a text", files{rfc: strings.Repeat("A Tool MUST.\n", maxText/12)}, "implementability"},
		{"a table", files{rfc: strings.Repeat("|a", 900) + "|\n" + strings.Repeat("|-", 900) + "|\n" +
			strings.Repeat("|\n", 900)}, "implementability"},
		{"evidence", files{rfc: editsRFC, "reference/x.js": strings.Repeat("x", maxText+1)}, "implementability"},
		{"a schema", files{schemaA: strings.Repeat(" ", 1<<20) + "{}"}, "backward-compatibility"},
		{"files that a schema leads to", chain, "backward-compatibility"},
	} {
		p := propose(t, nil, c.head)
		if _, err := Judge(p, func(id string) bool { return id == c.check }); err == nil ||
			!strings.Contains(err.Error(), "too large") && !errors.Is(err, page.ErrLimit) &&
				!errors.Is(err, ErrLimit) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	repo := must.Get(fixture.NewBareRepo(t.TempDir()))(t)
	must.OK(t, errors.Join(write(repo, specified)))
	repo.Commit("base", time.Unix(0, 0))
	must.OK(t, write(repo, many))
	repo.Commit("many", time.Unix(1, 0))
	must.OK(t, repo.Sync())
	r := must.Get(registry.Open(repo.Dir))(t)
	defer r.Close()
	rng := must.Get(r.Range(t.Context(), "HEAD~1", "HEAD"))(t)
	if _, err := NewRange(t.Context(), r, rng, &Texts{}); !errors.Is(err, ErrLimit) {
		t.Errorf("%d paths: %v", len(many), err)
	}
}

// A specification repository has rfcs/ next to schemas/ or spec/, and no implementations/, which a registry has.
func TestIsSpecification(t *testing.T) {
	for _, c := range []struct {
		directories string
		want        bool
	}{
		{"rfcs schemas", true}, {"rfcs spec", true}, {"rfcs schemas spec governance", true},
		{"rfcs", false}, {"schemas", false}, {"rfcs schemas implementations", false},
		{"implementations schemas", false}, {"", false},
	} {
		tree := fstest.MapFS{"README.md": &fstest.MapFile{}}
		for _, name := range strings.Fields(c.directories) {
			tree[name+"/x"] = &fstest.MapFile{}
		}
		if got, err := repoconfig.IsSpecification(tree); got != c.want || err != nil {
			t.Errorf("%q: %t, %v", c.directories, got, err)
		}
	}
	files := fstest.MapFS{"rfcs": &fstest.MapFile{}, "schemas": &fstest.MapFile{}}
	if got, err := repoconfig.IsSpecification(files); got || err != nil {
		t.Errorf("files: %t, %v", got, err)
	}
}
