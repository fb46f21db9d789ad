package checks

import (
	"fmt"
	"strings"
	"testing"
)

func maintainers(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("%q", fmt.Sprintf("did:web:m%d.example", i)))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func TestParsePolicy(t *testing.T) {
	const head = "version: 1\nreference_server: {tool_did: \"did:web:ref.example\"}\n"
	for _, test := range []struct {
		name, text, err string
	}{
		{"one maintainer", head + "maintainers: " + maintainers(1), ""},
		{"50 maintainers", head + "maintainers: " + maintainers(50), ""},
		{"DIDs of two methods", head +
			`maintainers: ["did:web:a.example", "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"]`, ""},
		{"51 maintainers", head + "maintainers: " + maintainers(51), "maintainers is no list of 1 to 50 DIDs"},
		{"no maintainers", head, "maintainers is no list of 1 to 50 DIDs"},
		{"maintainers are one text", head + "maintainers: did:web:a.example", "maintainers is no list"},
		{"a maintainer that is a number", head + "maintainers: [1]", "a maintainer is no text"},
		{"a maintainer that is null", head + "maintainers: [~, \"did:web:a.example\"]", "a maintainer is no text"},
		{"a maintainer in capitals", head + `maintainers: ["did:web:A.example"]`,
			`not in its one spelling "did:web:a.example"`},
		{"a maintainer in two letter cases", head + `maintainers: ["did:web:a.example:x", "did:web:a.example:X"]`,
			"stands there twice"},
		{"no version", strings.TrimPrefix(head, "version: 1\n") + "maintainers: " + maintainers(1),
			"version is not the number 1"},
		{"a version that is a text", "version: '1'\n" + "maintainers: " + maintainers(1),
			"version is not the number 1"},
		{"no reference server", "version: 1\nmaintainers: " + maintainers(1), "reference_server.tool_did is no text"},
		{"a reference server without mapping", "version: 1\nreference_server: did:web:a.example\nmaintainers: " +
			maintainers(1), "is no mapping"},
		{"a key beside", head + "extra: 1\nmaintainers: " + maintainers(1), `key "extra" is not known`},
		{"a list", "- version: 1", "is no mapping"},
		{"an alias", head + "maintainers: &m " + maintainers(1) + "\n", "anchor"},
		{"two documents", head + "maintainers: " + maintainers(1) + "\n---\n" + head, "second YAML document"},
		{"nothing", "", "holds no YAML document"},
	} {
		p, err := parsePolicy([]byte(test.text))
		switch {
		case test.err == "" && (err != nil || p.ReferenceServer != "did:web:ref.example" || len(p.Maintainers) == 0):
			t.Errorf("%s: %+v, %v", test.name, p, err)
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.err)
		}
	}
}
