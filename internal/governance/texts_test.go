package governance

import (
	"slices"
	"strings"
	"testing"
)

// TestEditorialFiles checks which files look editorial, each change next to one that is more.
func TestEditorialFiles(t *testing.T) {
	const (
		core    = "spec/v1.0/core.md"
		schemaC = "schemas/v1.0/c.schema.json"
		other   = "rfcs/RFC-0033-b.md"
		moved   = "rfcs/RFC-0034-b.md"
		flow    = "# RFC 0033: Flow\n\n**Status:** Draft\n\n## 1. Rules\n\nA Tool MUST log.\n"
	)
	defines := func(kind string) string { return `{"definitions": {"x": {"type": ` + kind + `}}}` }
	leads := func(to string) string { return `{"properties": {"c": {"$ref": "` + to + `#/definitions/x"}}}` }
	must := func(words string) string { return "A Tool MUST " + words + "\n" }
	for _, c := range []struct {
		name       string
		base, head files
		editorial  bool
		says       string // in the warning about the exception, or in the error
	}{
		{"nothing", files{core: must("log.")}, files{core: must("log."), "papers/x.md": "x"}, true, ""},
		{"a mode", files{core: must("log.")}, files{core: "mode 100755 " + must("log.")}, true, ""},
		{"a link to a file", files{core: must("log.")}, files{core: "mode 120000 README.md"}, false,
			"not a regular file"},
		{"another number", files{other: flow}, files{other: gone, moved: strings.Replace(flow, "0033", "0034", 1)},
			true, ""},
		{"another number, accepted", files{other: flow}, files{other: gone, moved: strings.NewReplacer("0033", "0034",
			"Draft", "Accepted").Replace(flow)}, false, ""},
		{"another directory", files{core: must("log.")}, files{core: gone, "spec/v1.1/core.md": must("log.")}, false,
			""},
		{"one of two", files{other: flow, "rfcs/RFC-0035-b.md": flow}, files{other: gone, "rfcs/RFC-0035-b.md": gone,
			moved: flow}, false, "is removed"},
		{"another Status", files{other: flow}, files{other: strings.Replace(flow, "Draft", "Withdrawn", 1)}, false,
			`the Status "draft" becomes "withdrawn" (` + other + `:3)`},
		{"a Status that comes", nil, files{other: "Status: Draft\n"}, false, `the Status "draft" is new`},
		{"a text without either", nil, files{other: "A note.\n"}, true, ""},
		{"a repair", files{core: must("bo opn.")}, files{core: must("bo open.")}, true, "opn → open"},
		{"a word in use", files{core: must("bo opn."), "docs/x.txt": "opn"}, files{core: must("bo open.")}, false, ""},
		{"a dead link", files{core: must("see [x](../gone.md#a).")}, files{core: must("see [x](a.md).")}, true,
			"../gone.md#a → a.md"},
		{"a live link", files{core: must("see [x](../../rfcs/RFC-0001-a.md#a).")},
			files{core: must("see [x](a.md).")}, false, "<a.md>"},
		{"a link to a host", files{core: must("see [x](https://a.example/a).")}, files{core: must("see [x](a.md).")},
			false, ""},
		{"UTF-16", files{core: must("log.")}, files{core: "\xff\xfeA\x00"}, false, "not UTF-8"},
		{"a NUL", files{core: must("log.")}, files{core: must("log.") + "\x00"}, false, "not UTF-8"},
		{"a picture", nil, files{"spec/v1.0/x.PNG": "x"}, true, ""},
		{"YAML", nil, files{"spec/v1.0/x.yaml": "x"}, false, "neither Markdown nor text"},
		{"JSON outside the schemas", files{"spec/v1.0/x.json": "1"}, files{"spec/v1.0/x.json": " 1"}, false, ""},
		{"a definition that another schema leads to", files{schemaA: defines(`"string"`),
			schemaC: leads("a.schema.json")},
			files{schemaA: defines(`"null"`)}, false, `"/properties/c/$ref" of "` + schemaC},
		{"a definition that no schema leads to", files{schemaA: defines(`"string"`)},
			files{schemaA: defines(`"null"`)}, true,
			""},
		{"a file that a schema leads to, next to a text", nil, files{"schemas/common.json": `{"type": "null"}`,
			core: "# Core\n\nA Tool MUST answer.\n" +
				"\nA note.\n"}, false, `"/properties/c/$ref" of "` + "schemas/v1.0/b.schema.json"},
		{"an example that a schema leads to", files{schemaC: leads("examples/e.json"),
			"schemas/v1.0/examples/e.json": defines("1")},
			files{"schemas/v1.0/examples/e.json": defines("2")}, false, schemaC},
		{"the title of an example that a schema leads to", files{schemaC: `{"$ref": "examples/e.json"}`,
			"schemas/v1.0/examples/e.json": `{"title": "a"}`}, files{"schemas/v1.0/examples/e.json": `{"title": "b"}`},
			true, ""},
		{"a file that a link leads to, next to a text", files{schemaC: "mode 120000 ../common.json"},
			files{"schemas/common.json": `{"type": "null"}`, core: "# Core\n\nA Tool MUST answer.\n\nA note.\n"}, false,
			`"` + schemaC + `", by what it links to`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := propose(t, c.base, c.head)
			p.Words = worded(t, "Implementability Gate exception: this only corrects the wording of a text.")
			got, r := found(t, p, "implementability")
			claimed := slices.ContainsFunc(got, func(f string) bool { return strings.Contains(f, "exception-claimed") })
			denied := slices.ContainsFunc(got, func(f string) bool {
				return strings.Contains(f, "exception-not-editorial")
			})
			if denied == c.editorial || c.name != "nothing" && claimed == denied {
				t.Errorf("got %q", got)
			}
			said := r.Reason
			for _, f := range r.Findings {
				said += f.Message
			}
			if !strings.Contains(said, c.says) {
				t.Errorf("%q does not have %q", said, c.says)
			}
		})
	}
}
