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

// numbered returns so many different names.
func numbered(n int) string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("s%d.example", i))
	}
	return strings.Join(names, ", ")
}

// The two lists need no reference server, and no version either.
func TestParsePolicyLists(t *testing.T) {
	for text, known := range map[string]bool{
		"public_suffixes: [a.example]":                       true,
		"example_keys: ['" + strings.Repeat("0a", 32) + "']": true,
		"version: 1\npublic_suffixes: [a.example]":           true,
		"version: 2\npublic_suffixes: [a.example]":           false,
		"version: 1":                                               false,
		"max_file_bytes: 10485760":                                 true,
		"version: 1\nmax_file_bytes: 104857600":                    true,
		"max_file_bytes: 10485759":                                 false,
		"max_file_bytes: 104857601":                                false,
		"max_file_bytes: 99999999999999999999":                     false,
		"max_file_bytes: '20000000'":                               false,
		"max_file_bytes: 2e7":                                      false,
		"max_file_bytes:":                                          false,
		"max_file_bytes: [20000000]":                               false,
		"max_file_bytes: 20000000\nmaintainers: []":                false,
		"public_suffixes: [a.example]\nmaintainers: [did:web:b.c]": false,
		"public_suffixes: [a.example]\nreference_server: {tool_did: did:web:b.c}": false,
		"public_suffix: [a.example]": false,
	} {
		if p, err := parsePolicy([]byte(text)); (err == nil) != known {
			t.Errorf("%q: %+v, %v", text, p, err)
		}
	}
}

// A policy that names no reference server names none by the empty text.
func TestNoReferenceServer(t *testing.T) {
	w, repo := built(t, `base: [{write: .github/gate-policy.yml, text: "public_suffixes: [a.example]\n"}]`)
	s := &Subject{Run: runOn(t, repo, w.Now)}
	if was, err := s.wasReferenceServer(""); was || err != nil {
		t.Errorf("%t, %v", was, err)
	}
}

func TestParsePolicy(t *testing.T) {
	const head = "version: 1\nreference_server: {tool_did: \"did:web:ref.example\"}\n"
	whole := head + "maintainers: " + maintainers(1)
	for _, test := range []struct {
		name, text, err string
	}{
		{"public suffixes", whole + "\npublic_suffixes: [tenants.example, xn--bcher-kva.example, a.b.c]\n" +
			"example_keys: ['" +
			strings.Repeat("0a", 32) + "']", ""},
		{"no public suffixes", whole + "\npublic_suffixes: []\nexample_keys: []", ""},
		{"a suffix that is null", whole + "\npublic_suffixes: [~]", "is not a text"},
		{"suffixes that are null", whole + "\npublic_suffixes:", "is not a list"},
		{"a suffix with a wildcard", whole + "\npublic_suffixes: ['*.a.example']",
			`"*.a.example" is not a DNS name`},
		{"a suffix in capitals", whole + "\npublic_suffixes: [A.example]", "is not a DNS name"},
		{"a suffix in Unicode", whole + "\npublic_suffixes: [bücher.example]",
			"is not a DNS name"},
		{"a suffix with a dot", whole + "\npublic_suffixes: [a.example.]",
			"is not a DNS name"},
		{"a suffix that is an exception", whole + "\npublic_suffixes: ['!a.example']",
			"is not a DNS name"},
		{"1001 suffixes", whole + "\npublic_suffixes: [" + strings.Repeat("a.example, ", 1000) +
			"b.example]", "at most 1000"},
		{"an example key in capitals", whole + "\nexample_keys: ['" +
			strings.Repeat("0A", 32) + "']", "is not a SHA-256"},
		{"a short example key", whole + "\nexample_keys: ['0a']", "is not a SHA-256"},
		{"1001 example keys", whole + "\nexample_keys: [" + strings.Repeat("a, ", 1000) +
			"b]", "at most 1000"},
		{"a mapping of suffixes", whole + "\npublic_suffixes: {a: b}", "is not a list"},
		{"one maintainer", head + "maintainers: " + maintainers(1), ""},
		{"50 maintainers", head + "maintainers: " + maintainers(50), ""},
		{"DIDs of two methods", head +
			`maintainers: ["did:web:a.example", "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"]`, ""},
		{"51 maintainers", head + "maintainers: " + maintainers(51), "maintainers is not a list of 1 to 50 DIDs"},
		{"no maintainers", head, "maintainers is not a list of 1 to 50 DIDs"},
		{"maintainers are one text", head + "maintainers: did:web:a.example", "maintainers is not a list"},
		{"maintainers are a mapping", head + `maintainers: {"did:web:a.example": "did:web:b.example"}`,
			"maintainers is not a list"},
		{"a maintainer that is a number", head + "maintainers: [1]", "a maintainer is not a text"},
		{"a maintainer that is null", head + "maintainers: [~, \"did:web:a.example\"]", "a maintainer is not a text"},
		{"a maintainer with an underscore", head + `maintainers: ["did:web:a_b.example"]`, "has an underscore"},
		{"a maintainer that is no DID", head + `maintainers: [a]`, "is not a DID"},
		{"a list as a suffix", whole + "\npublic_suffixes: [[a.example]]", "is not a text"},
		{"a tagged list as a suffix", whole + "\npublic_suffixes: [!!str [a.example]]", "tags and merge keys"},
		{"a number as a suffix", whole + "\npublic_suffixes: [1]", "is not a text"},
		{"1000 suffixes", whole + "\npublic_suffixes: [" + numbered(1000) + "]", ""},
		{"a maintainer in capitals", head + `maintainers: ["did:web:A.example"]`,
			`not in its one spelling "did:web:a.example"`},
		{"a maintainer in two letter cases", head + `maintainers: ["did:web:a.example:x", "did:web:a.example:X"]`,
			"appears twice"},
		{"no version", strings.TrimPrefix(head, "version: 1\n") + "maintainers: " + maintainers(1),
			"version is not the number 1"},
		{"a version that is a text", "version: '1'\n" + "maintainers: " + maintainers(1),
			"version is not the number 1"},
		{"no reference server", "version: 1\nmaintainers: " + maintainers(1),
			"reference_server.tool_did is not a text"},
		{"a reference server without mapping", "version: 1\nreference_server: did:web:a.example\nmaintainers: " +
			maintainers(1), "is not a mapping"},
		{"a key beside", head + "extra: 1\nmaintainers: " + maintainers(1), `key "extra" is not known`},
		{"a list", "- version: 1", "is not a mapping"},
		{"an alias", head + "maintainers: &m " + maintainers(1) + "\n", "anchor"},
		{"two documents", whole + "\n---\n" + head, "second YAML document"},
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
