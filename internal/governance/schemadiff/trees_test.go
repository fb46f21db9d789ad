package schemadiff

import (
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func tree(texts map[string]string) *Tree {
	all := map[string][]byte{}
	for path, text := range texts {
		all[path] = []byte(text)
	}
	return NewTree(all, published, nil)
}

func published(path string) bool { return strings.HasPrefix(path, "schemas/v") }

// with is a copy of the texts in which one is another.
func with(texts map[string]string, path, text string) map[string]string {
	all := maps.Clone(texts)
	all[path] = text
	return all
}

// differing returns the classes and places of the differences of a schema.
func differing(c *Comparison, path string) string {
	var all []string
	for _, d := range c.Schemas(path, path) {
		all = append(all, string(d.Class)+" "+d.Pointer)
	}
	return strings.Join(all, "; ")
}

func TestTrees(t *testing.T) {
	base := map[string]string{
		"schemas/v1.0/a.json":      `{"$id":"https://x.example/v1.0/a.json","items":{"$ref":"b.json"}}`,
		"schemas/v1.0/b.json":      `{"$id":"https://x.example/v1.0/b.json","$ref":"../common/c.json#/$defs/t"}`,
		"schemas/v1.0/n.json":      `{"not":{"$ref":"https://x.example/v1.0/b.json"}}`,
		"schemas/v1.0/alone.json":  `{"type":"string"}`,
		"schemas/v1.0/loose.json":  `{"definitions":{"d":{"type":"string"}},"oneOf":[{"type":"null"},true]}`,
		"schemas/v1.0/far.json":    `{"items":{"$ref":"loose.json#/definitions/d"}}`,
		"schemas/v1.0/first.json":  `{"items":{"$ref":"loose.json#/oneOf/0"}}`,
		"schemas/common/c.json":    `{"$defs":{"t":{"$ref":"d.json"}}}`,
		"schemas/common/d.json":    `{"minimum":1}`,
		"schemas/common/free.json": `{"minimum":1}`,
	}
	type expected = map[string]string
	tests := []struct {
		name, path, text string
		want             expected // by published schema
	}{
		{"nothing leads there", "schemas/common/free.json", `{"minimum":2}`, expected{}},
		{"two hops over files that are not published", "schemas/common/d.json", `{"minimum":2}`,
			// a.json and n.json refer to b.json, which is published and tells it itself: changed, since n.json turns it
			expected{"b.json": "changed /$ref"}},
		{"a published one that another has in a not", "schemas/v1.0/b.json",
			`{"$id":"https://x.example/v1.0/b.json","$ref":"../common/c.json#/$defs/t","maximum":9}`,
			expected{"b.json": "changed /maximum"}},
		{"an unknown keyword of a published one", "schemas/v1.0/loose.json",
			`{"definitions":{"d":{"type":"integer"}},"oneOf":[{"type":"null"},true]}`,
			expected{"loose.json": "note /definitions", "far.json": "changed /items/$ref"}},
		{"the order of a published one's branches", "schemas/v1.0/loose.json",
			`{"definitions":{"d":{"type":"string"}},"oneOf":[true,{"type":"null"}]}`,
			expected{"first.json": "loosened /items/$ref"}},
		{"the reference leads elsewhere", "schemas/v1.0/a.json",
			`{"$id":"https://x.example/v1.0/a.json","items":{"$ref":"../common/d.json"}}`,
			expected{"a.json": "identity /items/$ref"}},
		{"a published one is gone", "schemas/v1.0/alone.json", `{`, expected{"alone.json": "changed "}},
		{"another takes the $id", "schemas/common/free.json", `{"$id":"https://x.example/v1.0/b.json"}`, expected{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := Trees(tree(base), tree(with(base, test.path, test.text)), published)
			got := expected{}
			for p := range base {
				if all := differing(c, p); published(p) && all != "" {
					got[strings.TrimPrefix(p, "schemas/v1.0/")] = all
				}
			}
			if !maps.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestOlderDrafts has references from keywords that draft 2020-12 lacks to a file that becomes narrower.
func TestOlderDrafts(t *testing.T) {
	const (
		draft7 = `"$schema":"http://json-schema.org/draft-07/schema#",`
		draft4 = `"$schema":"http://json-schema.org/draft-04/schema#",`
	)
	for _, test := range []struct{ name, old, want string }{
		{"items", `{` + draft7 + `"items":[true,{"$ref":"../common/c.json"}]}`, "changed /items/1/$ref"},
		{"additionalItems", `{` + draft7 + `"items":[],"additionalItems":{"$ref":"../common/c.json"}}`,
			"changed /additionalItems/$ref"},
		{"dependencies", `{"dependencies":{"a":{"$ref":"../common/c.json"},"b":["c"]}}`,
			"changed /dependencies/a/$ref"},
		{"a field that is named as a keyword", `{"properties":{"items":{"$ref":"../common/c.json"}}}`,
			"changed /properties/items/$ref"},
		{"id", `{` + draft4 + `"id":"https://x.example/v1.0/a.json","not":{"$ref":"https://x.example/common/c.json"}}`,
			"changed /not/$ref"},
		{"a field that is named id", `{` + draft4 + `"properties":{"id":{"$ref":"../common/c.json"}}}`,
			"changed /properties/id/$ref"},
	} {
		texts := map[string]string{"schemas/v1.0/a.json": test.old,
			"schemas/common/c.json": `{` + draft4 + `"id":"https://x.example/common/c.json","minimum":1}`}
		narrower := with(texts, "schemas/common/c.json",
			`{`+draft4+`"id":"https://x.example/common/c.json","minimum":2}`)
		got := differing(Trees(tree(texts), tree(narrower), published), "schemas/v1.0/a.json")
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// A reference leads to another $id also where the schema that it leads to stands at its place; one within the file does
// not, whatever the file is called now.
func TestReferenceToAnotherIdentifier(t *testing.T) {
	version := func(host string) map[string]string {
		return map[string]string{
			"schemas/v1.0/a.json": `{"$id":"https://` + host + `/v1.0/a.json","items":{"$ref":"https://` + host +
				`/v1.0/b.json"},
				"not":{"$ref":"#/$defs/t"},"contains":{"$ref":"b.json"},"$defs":{"t":{"type":"null"}}}`,
			"schemas/v1.0/b.json": `{"$id":"https://` + host + `/v1.0/b.json"}`,
		}
	}
	got := differing(Trees(tree(version("x.example")), tree(version("y.example")), published), "schemas/v1.0/a.json")
	if want := "identity /$id; identity /items/$ref"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A schema that another file's $id is taken from leads to nothing that is known.
func TestReferenceTakenOver(t *testing.T) {
	base := map[string]string{"schemas/v1.0/a.json": `{"items":{"$ref":"https://x.example/b.json"}}`,
		"schemas/v1.0/b.json": `{"$id":"https://x.example/b.json","type":"string"}`}
	head := with(base, "schemas/v1.0/c.json", `{"$id":"https://x.example/b.json"}`)
	d := Trees(tree(base), tree(head), published).Schemas("schemas/v1.0/a.json", "schemas/v1.0/a.json")
	if len(d) != 1 || d[0].Class != Changed || d[0].Pointer != "/items/$ref" {
		t.Errorf("got %v", d)
	}
}

// Which file an $id names: a published one first, then the path, then a file that is reached by path. What becomes a
// name, or ceases to be one, concerns those that refer to it.
func TestNames(t *testing.T) {
	const a, b = "schemas/v1.0/a.json", "schemas/v1.0/b.json"
	base := map[string]string{
		a:                       `{"$id":"https://x.example/schemas/v1.0/a.json","items":{"$ref":"https://y.example/t"}}`,
		b:                       `{"$id":"https://x.example/schemas/v1.0/b.json","not":{"$ref":"../common/u.json"}}`,
		"schemas/common/t.json": `{"$id":"https://y.example/t","type":"string"}`,
		"schemas/common/u.json": `{"type":"string"}`,
	}
	reaching := `{"$id":"https://x.example/schemas/v1.0/b.json","not":{"$ref":"../common/u.json"},"x":{"$ref":"../common/t.json"}}`
	for _, test := range []struct {
		name     string
		old, new map[string]string
		want     string
	}{
		{"a file of no name", base, with(base, "schemas/common/t.json", `{}`), ""},
		{"a file is given a name", base, with(base, b, reaching), a + " changed /items/$ref; " + b + " note /x"},
		{"a file loses its name", with(base, b, reaching), base, a + " changed /items/$ref; " + b + " note /x"},
		{"a file with a name", with(base, b, reaching), with(with(base, b, reaching), "schemas/common/t.json",
			`{"$id":"https://y.example/t"}`), a + " loosened /items/$ref"},
		{"a published file takes the name", with(base, b, reaching),
			with(with(base, b, reaching), "schemas/v1.0/c.json",
				`{"$id":"https://y.example/t"}`), a + " loosened /items/$ref"},
		{"a path, whose $id a reached file has", with(base, b, reaching), with(with(base, b, reaching),
			"schemas/common/t.json", `{"$id":"https://y.example/t","type":"string",
			"$defs":{"u":{"$id":"https://x.example/schemas/common/u.json"}}}`), ""},
	} {
		c := Trees(tree(test.old), tree(test.new), published)
		var got []string
		for _, p := range []string{a, b} {
			if all := differing(c, p); all != "" {
				got = append(got, p+" "+all)
			}
		}
		if got := strings.Join(got, "; "); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// A new file of the tree that a new field leads to does not end the search for a reference that leads out.
func TestReferenceOutOfNewFile(t *testing.T) {
	base := map[string]string{"schemas/v1.0/a.json": `{"$id":"https://x.example/v1.0/a.json"}`}
	head := map[string]string{
		"schemas/v1.0/a.json": `{"$id":"https://x.example/v1.0/a.json","properties":{"f":{"$ref":"b.json"}}}`,
		"schemas/v1.0/b.json": `{"$id":"https://x.example/v1.0/b.json","items":{"$ref":"https://y.example/c.json"}}`}
	d := Trees(tree(base), tree(head), published).Schemas("schemas/v1.0/a.json", "schemas/v1.0/a.json")
	if len(d) != 1 || d[0].Class != Changed || d[0].Pointer != "/properties/f" {
		t.Errorf("got %v", d)
	}
}

func TestResolve(t *testing.T) {
	files := tree(map[string]string{
		"schemas/v1.0/a.json": `{"$id":"https://x.example/schemas/v1.0/a.json","$defs":{"x y":{"$anchor":"n"},
			"r":{"$id":"inner","$defs":{"z":true},"properties":{"p":{"$ref":"#/$defs/z"}}}},"definitions":{"u":[{"title":"t"}]}}`,
		"schemas/v1.1/a.json": `{"$id":"https://x.example/schemas/v1.1/a.json"}`,
		"schemas/v1.0/b.json": `{"title":"no $id"}`,
		"schemas/v1.1/b.json": `{"title":"no $id"}`,
	})
	tests := []struct{ from, reference, want string }{
		{"schemas/v1.0/a.json", "#", "schemas/v1.0/a.json#"},
		{"schemas/v1.0/a.json", "#/$defs/x%20y", "schemas/v1.0/a.json#/$defs/x y"},
		{"schemas/v1.0/a.json", "#n", "schemas/v1.0/a.json#/$defs/x y"},
		{"schemas/v1.0/a.json", "inner#/$defs/z", "schemas/v1.0/a.json#/$defs/r/$defs/z"},
		{"schemas/v1.0/a.json", "#/definitions/u/0", "schemas/v1.0/a.json#/definitions/u/0"},
		{"schemas/v1.0/a.json", "../v1.1/a.json", "schemas/v1.1/a.json#"},
		{"schemas/v1.0/a.json", "b.json", "schemas/v1.0/b.json#"},
		{"schemas/v1.1/b.json", "b.json", "schemas/v1.1/b.json#"},
		{"schemas/v1.0/b.json", "https://elsewhere.example/b.json", ""},  // of the same name only
		{"schemas/v1.0/a.json", "#/$defs", "schemas/v1.0/a.json#/$defs"}, // what holds schemas is read as one
		{"schemas/v1.0/a.json", "#/definitions/u/00", ""},
		{"schemas/v1.0/a.json", "#%", ""},
		{"schemas/v1.0/a.json", "none.json", ""},
		{"schemas/v1.0/a.json", "https://x.example/", ""},
		{"schemas/v1.0/a.json", "://", ""},
	}
	for _, test := range tests {
		got := ""
		if s := files.resolve(files.files[test.from].root, test.reference); s != nil {
			got = s.place()
		}
		if got != test.want {
			t.Errorf("%s in %s: %q, want %q", test.reference, test.from, got, test.want)
		}
	}
	inner := files.files["schemas/v1.0/a.json"].root.at("$defs", "r").at("properties", "p")
	if s := files.resolve(inner, "#/$defs/z"); s == nil || s.place() != "schemas/v1.0/a.json#/$defs/r/$defs/z" {
		t.Error("a fragment is not resolved in the schema resource around it")
	}
}

func TestUnread(t *testing.T) {
	texts := map[string][]byte{"bad.json": []byte("{"), "big.json": make([]byte, MaxBytes+1), "ok.json": []byte("{}")}
	for i := range MaxTree/MaxBytes + 1 {
		texts[fmt.Sprintf("z%02d.json", i)] = []byte(`{"title":"` + strings.Repeat("x", MaxBytes-20) + `"}`)
	}
	files := NewTree(texts, nil, nil)
	for path, want := range map[string]bool{"bad.json": true, "big.json": true, "ok.json": false, "none.json": false,
		"z00.json": false, "z08.json": true} {
		if _, err := files.Document(path); (err != nil) != want {
			t.Errorf("%s: %v", path, err)
		}
		if d := Compare(files, "ok.json", files, path); want && (len(d) != 1 || d[0].Class != Changed ||
			d[0].Pointer != "") {
			t.Errorf("%s: %v", path, d)
		}
	}
}

// realSchemas are those of the specification's repository at the end of its history.
func realSchemas(t testing.TB) map[string][]byte {
	t.Helper()
	bundle := shared(t, "spec-history.bundle")
	if _, err := exec.LookPath("git"); err != nil {
		t.Skipf("NOT CHECKED: %v", err)
	}
	repo := t.TempDir()
	git := func(args ...string) []byte {
		out, err := exec.Command("git", args...).Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return out
	}
	git("clone", "-q", "--bare", bundle, repo)
	texts := map[string][]byte{}
	for p := range strings.FieldsSeq(string(git("-C", repo, "ls-tree", "-r", "--name-only", "HEAD", "schemas/"))) {
		if strings.HasSuffix(p, ".json") {
			texts[p] = git("-C", repo, "show", "HEAD:"+p)
		}
	}
	if len(texts) < 40 {
		t.Fatalf("%d schemas", len(texts))
	}
	return texts
}

func TestRealSchemas(t *testing.T) {
	texts := realSchemas(t)
	files, again := NewTree(texts, nil, nil), NewTree(texts, nil, nil)
	c := Trees(files, again, published)
	for _, p := range slices.Sorted(maps.Keys(texts)) {
		if d := c.Schemas(p, p); len(d) > 0 {
			t.Errorf("%s against itself: %v", p, d)
		}
		if d := Compare(files, p, again, p); len(d) > 0 {
			t.Errorf("%s against itself alone: %v", p, d)
		}
		for _, q := range slices.Sorted(maps.Keys(texts)) {
			if p != q && !Breaking(Compare(files, p, again, q)) {
				t.Errorf("%s against %s breaks nothing", p, q)
			}
		}
	}
}

// BenchmarkRealSchemas compares every schema of the specification with every one, itself included.
func BenchmarkRealSchemas(b *testing.B) {
	texts := realSchemas(b)
	paths := slices.Sorted(maps.Keys(texts))
	for b.Loop() {
		files, again := NewTree(texts, nil, nil), NewTree(texts, nil, nil)
		for _, p := range paths {
			for _, q := range paths {
				Compare(files, p, again, q)
			}
		}
	}
	b.ReportMetric(float64(len(paths)*len(paths)), "pairs/op")
}

// FuzzCompare checks that no two texts make a comparison panic or hang, that a text that is read is no break of itself
// unless it refers to nothing, and that two comparisons of one pair are equal.
func FuzzCompare(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"minimum":1}}}`,
			`{"not":{"$ref":"#"}}`},
		{`{"$id":"https://x.example/a","$dynamicRef":"#b","anyOf":[{"$dynamicAnchor":"b"}]}`, `{"$ref":"a#/anyOf/0"}`},
		{`{"unevaluatedItems":false,"prefixItems":[true],"contains":{"const":1e-9},"maxContains":2}`,
			`{"if":true,"then":{"enum":[1]}}`},
		{`{"patternProperties":{"^a":false},"dependentRequired":{"a":["b"]},"dependentSchemas":{"b":{}}}`,
			`{"properties":{"a":{}}}`},
		{`{"$ref":"#/definitions/0","definitions":[{"$ref":"#/definitions/1"},{"$ref":"#/definitions/0"}]}`,
			`{"multipleOf":0}`},
		{`{"allOf":[1],"properties":1,"$defs":[],"items":[{}],"$ref":"#/items/0","enum":1,"required":{"a":1}}`,
			`{"allOf":{},"oneOf":[]}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, old, new []byte) {
		first := differences(string(old), string(new))
		if !slices.EqualFunc(first, differences(string(old), string(new)), func(a, b Difference) bool {
			return a.Class == b.Class && a.Pointer == b.Pointer && a.Gone == b.Gone && a.Message == b.Message
		}) {
			t.Error("two comparisons differ")
		}
		differences(string(new), string(old))
		for _, d := range differences(string(old), string(old)) {
			if !strings.Contains(d.Message, "does not lead to a schema") &&
				!strings.Contains(d.Message, "cannot be read") &&
				!strings.Contains(d.Message, "what is beyond is not known") &&
				!strings.Contains(d.Message, "differs at") {
				t.Errorf("%s against itself: %v", old, d)
			}
		}
	})
}
