package governance

import (
	"slices"
	"testing"
)

// TestOutside has normative paths that are no files, and requirements where no gate looks, each next to what is fine.
func TestOutside(t *testing.T) {
	const test = "test-suite/behavior/b.test.js"
	for _, c := range []struct {
		name       string
		base, head files
		want       []string
	}{
		{"a link", nil, files{"spec/v1.0/more.md": "mode 120000 ../core.md", test: "b()\n"},
			[]string{"error not-a-file spec/v1.0/more.md"}},
		{"a file that becomes a link", nil, files{"spec/v1.0/core.md": "mode 120000 ../core.md", test: "b()\n"},
			[]string{"error not-a-file spec/v1.0/core.md"}},
		{"a version that is a link", nil, files{"spec/v2": "mode 120000 ../papers", test: "b()\n"},
			[]string{"error not-a-file spec/v2"}},
		{"a published schema that becomes a link", nil, files{schemaA: "mode 120000 ../common.json", test: "b()\n"},
			nil},
		{"a link that goes", files{"spec/v1.0/more.md": "mode 120000 core.md"}, files{"spec/v1.0/more.md": gone,
			test: "b()\n"}, nil},
		{"a link elsewhere", nil, files{"papers/x.md": "mode 120000 y.md"}, nil},
		{"a requirement in another folder", nil, files{"spec/core.md": "It MUST."},
			[]string{"notice outside-the-paths spec/core.md"}},
		{"a requirement in another name", nil, files{"rfcs/RFC_0042.md": "It MUST.", "schemas/x.txt": "It MAY.",
			test: "b()\n", rfc: editsRFC}, []string{"notice outside-the-paths rfcs/RFC_0042.md"}},
		{"a requirement that goes", files{"Spec/core.md": "It MUST."}, files{"Spec/core.md": "It must."},
			[]string{"notice outside-the-paths Spec/core.md"}},
		{"other words", files{"spec/core.md": "It MUST."}, files{"spec/core.md": "It MUST. So."}, nil},
		{"a comment", nil, files{"spec/core.md": "<!-- It MUST. -->"}, nil},
		{"JSON", nil, files{"schemas/x.json": `{"$id": "https://x.example/schemas/x.json", "description": "MUST"}`}, nil},
		{"papers are free", nil, files{"papers/x.md": "It MUST."}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got, _ := found(t, propose(t, c.base, c.head), "implementability"); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
