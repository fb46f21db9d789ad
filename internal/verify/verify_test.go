package verify

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const didKey = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"

func TestParseTarget(t *testing.T) {
	for _, c := range []struct {
		text  string
		clone bool
		want  Target // Text apart
	}{
		{"https://tool.example", false, Target{ManifestURI: "https://tool.example/.well-known/oap-tool.json"}},
		{"https://tool.example/", false, Target{ManifestURI: "https://tool.example/.well-known/oap-tool.json"}},
		{"https://tool.example:8443/a/b/", false,
			Target{ManifestURI: "https://tool.example:8443/a/b/.well-known/oap-tool.json"}},
		{"https://tool.example/x/m.json", false, Target{ManifestURI: "https://tool.example/x/m.json"}},
		{"https://tool.example/%20/m.json", false, Target{ManifestURI: "https://tool.example/%20/m.json"}},
		{"https://tool.example/m.json?v=2", false, Target{ManifestURI: "https://tool.example/m.json?v=2"}},
		{"did:web:tool.example", true, Target{DID: "did:web:tool.example",
			ManifestURI: "https://tool.example/.well-known/oap-tool.json"}},
		{"did:web:tool.example%3A8443:a:b", false, Target{DID: "did:web:tool.example%3A8443:a:b",
			ManifestURI: "https://tool.example:8443/a/b/.well-known/oap-tool.json"}},
		{"tool", true, Target{Slug: "tool"}},
	} {
		c.want.Text = c.text
		if got, err := ParseTarget(c.text, c.clone); err != nil || got != c.want {
			t.Errorf("%q: %+v, %v, want %+v", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"", "tool", "http://tool.example", "https://", "https://tool.example?q",
		"https://tool.example?",
		"https://tool.example#f", "https://u:p@tool.example", "did:web:",
		didKey,
		"did:web:127.0.0.1", "did:web:tool.example#key-1", "did:ion:x", "ftp://tool.example", "tool.example", "Tool",
		"../tool", "https://[::1]:x", "https://tool.example/#", "https://tool.example/a/#",
		"https://tool.example//", "https://tool.example//a", "https://tool.example/a//",
		"https://tool.example/a//m.json",
		"https://tool.example/a/../b", "https://tool.example/a/%2e%2E/b/m.json", "https://tool.example/./",
		"https://tool.example/a/..;/b", "https://tool.example/a/..;x=1/m.json", "https://tool.example/a/..%3b/b",
		"https://tool.example/a%2fb", "https://tool.example/a%2Fb/m.json", "https://tool.example/a%5cb",
		"https://tool.example/a\\b", "https://tool.example/a%00/m.json", "https://tool.example/a%0a",
		"https://tool.example/%7f",
		"https://tool.example/a/%252e%252e/b/m.json", "https://tool.example/a%252fb",
		"https://tool.example/a/..%253b/m.json", "https://tool.example/a/%c0%ae%c0%ae/b/m.json",
		"https://tool.example/..;a.json", "https://tool.example/%c0%aem.json", "https://tool.example/a%2fm.json",
		"https://tool.example/a/..%20/b/m.json", "https://tool.example/a/.../b/m.json", "https://tool.example/a%c0%afb",
		"did:web:tool.example:a:..%3b:b", "did:web:tool.example:a::b", "did:web:tool.example:..:b"} {
		got, err := ParseTarget(text, false)
		if !errors.Is(err, ErrForm) {
			t.Errorf("%q: %+v, %v, want ErrForm", text, got, err)
			continue
		}
		const address = "names no host"
		if strings.Contains(err.Error(), address) != (text == didKey || text == "did:ion:x") {
			t.Errorf("%q: %v; only a DID of another method than web %s", text, err, address)
		}
	}
}

// A text that is a host name may be meant as its URL.
func TestFormsOf(t *testing.T) {
	for text, want := range map[string]string{"Tool.example": "did you mean https://tool.example?", "tool": Forms,
		"../tool": Forms, "xn--a.example": Forms} {
		if got := FormsOf(text, Forms); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzParseTarget(f *testing.F) {
	f.Add("https://tool.example/a.json")
	f.Add("did:web:a.example:b")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseTarget(text, true)
		if err == nil && got.ManifestURI == "" && got.Slug == "" {
			t.Errorf("%q leads nowhere", text)
		}
	})
}

func TestParseTargets(t *testing.T) {
	got := ParseTargets([]byte("\n# none\n https://a.example # one\r\nhttps://b.example/#frag\n\ttool\n#"))
	if want := []Line{{"https://a.example", 3}, {"https://b.example/#frag", 4}, {"tool", 5}}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestWorst(t *testing.T) {
	order := []verdict.Verdict{verdict.Passed, verdict.Inconclusive, verdict.Failed, verdict.Errored}
	for i, a := range order {
		for j, b := range order {
			if got := Worst(a, b); got != order[max(i, j)] {
				t.Errorf("of %s and %s: %s", a, b, got)
			}
		}
	}
}

// Each step has what explain tells of it, and no two have one name.
func TestCatalogue(t *testing.T) {
	want := []string{"manifest", "receipt-discovery", "receipt-fetch", "schema", "suite-trust", "validity", "identity",
		"signature",
		"claims", "revocation", "peer-witnesses", "external-audit", "registry-anchor", "reverify"}
	var got []string
	for _, s := range catalogue {
		got = append(got, s.ID)
		if s.Title == "" || s.Cite == "" || s.Why == "" || s.Fix == "" || s.judge == nil {
			t.Errorf("step %s lacks something: %+v", s.ID, s.Rule)
		}
		codes := map[string]bool{}
		for _, c := range s.Codes {
			if codes[c.ID] {
				t.Errorf("step %s explains the code %s twice", s.ID, c.ID)
			}
			codes[c.ID] = true
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the steps are %q, want %q", got, want)
	}
	if rules := Rules(); len(rules) != len(catalogue) || rules[0].ID != "manifest" {
		t.Errorf("the rules are %+v", rules)
	}
}
