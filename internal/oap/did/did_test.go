package did

import (
	"net/url"
	"strings"
	"testing"
)

func TestParseWeb(t *testing.T) {
	tests := []struct {
		text, host, port, primary, fallback string
	}{
		{"did:web:example.org", "example.org", "", "https://example.org/.well-known/did.json", ""},
		{"did:web:a.b.example.org:user:alice", "a.b.example.org", "", "https://a.b.example.org/user/alice/did.json",
			"https://a.b.example.org/user/alice/.well-known/did.json"},
		{"did:web:example.org%3A8443", "example.org", "8443", "https://example.org:8443/.well-known/did.json", ""},
		{"did:web:example.org%3a3000:a", "example.org", "3000", "https://example.org:3000/a/did.json",
			"https://example.org:3000/a/.well-known/did.json"},
		{"did:web:example.org%3A443", "example.org", "443", "https://example.org/.well-known/did.json", ""},
		{"did:web:Example.ORG.", "example.org", "", "https://example.org/.well-known/did.json", ""},
		{"did:web:xn--mnchen-3ya.example", "xn--mnchen-3ya.example", "",
			"https://xn--mnchen-3ya.example/.well-known/did.json", ""},
		{"did:web:my_tool.example.org", "my_tool.example.org", "", "https://my_tool.example.org/.well-known/did.json",
			""},
		{"did:web:1.example", "1.example", "", "https://1.example/.well-known/did.json", ""},
		{"did:web:0x7f.example", "0x7f.example", "", "https://0x7f.example/.well-known/did.json", ""},
		{"did:web:example.org:...:%C3%A9", "example.org", "", "https://example.org/.../%C3%A9/did.json",
			"https://example.org/.../%C3%A9/.well-known/did.json"},
		{"did:web:example.org:a%3Ab", "example.org", "", "https://example.org/a%3Ab/did.json",
			"https://example.org/a%3Ab/.well-known/did.json"},
		{"did:web:example.org:.well-known", "example.org", "", "https://example.org/.well-known/did.json", ""},
		{"did:WEB:%65xample%2Eorg%2e%3a%34%34%33:%78", "example.org", "443", "https://example.org/x/did.json",
			"https://example.org/x/.well-known/did.json"},
		{"did:web:example.org:%7ex:%c3%A9", "example.org", "", "https://example.org/%7Ex/%C3%A9/did.json",
			"https://example.org/%7Ex/%C3%A9/.well-known/did.json"},
	}
	for _, tt := range tests {
		d, err := Parse(tt.text)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		primary, fallback := d.URLs()
		if d.Host() != tt.host || d.port != tt.port || primary != tt.primary || fallback != tt.fallback {
			t.Errorf("%s: host %q port %q urls %q %q", tt.text, d.Host(), d.port, primary, fallback)
		}
		if d.HasPath() != (tt.fallback != "") {
			t.Errorf("%s: HasPath is %v", tt.text, d.HasPath())
		}
	}
}

func TestParseOther(t *testing.T) {
	for _, text := range []string{"did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw", "did:ion:a:b:c%20",
		"did:x1:::a"} {
		d, err := Parse(text)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		primary, fallback := d.URLs()
		if d.Text != text || d.Host() != "" || d.HasPath() || primary != "" || fallback != "" {
			t.Errorf("%s: %+v", text, d)
		}
		if got := d.Spelling(); got != text {
			t.Errorf("%s: spelling %q", text, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"", "did:", "did:web", "did:web:", "did:web::", "did:web:example.org:", "DID:web:example.org",
		"did::example.org", "did:\u212aey:a",
		"did:web:example.org#key-1", "did:web:example.org/a", "did:web:example.org?x=1", " did:web:example.org",
		"did:web:example.org\n",
		"did:web:exämple.org", "did:web:example.org%", "did:web:example.org%3", "did:web:example.org%zz",
		// hosts
		"did:web:localhost", "did:web:localhost%3A8443", "did:web:-a.example", "did:web:a-.example",
		"did:web:a..example", "did:web:.example",
		"did:web:example.org..", "did:web:" + strings.Repeat("a", 64) + ".example", "did:web:" +
			strings.Repeat("a.", 127) + "example",
		"did:web:user%40example.org", "did:web:example.org%2Fa", "did:web:ex%00ample.org", "did:web:example.org%3A",
		"did:web:example.org%3A0", "did:web:example.org%3A65536", "did:web:example.org%3A08443",
		"did:web:example.org%3A80%3A80", "did:web:example.org%3A-1",
		"did:web:example.org%3A443%40evil.test",
		// IP addresses, in the forms that URL parsers take for one
		"did:web:127.0.0.1", "did:web:127.1", "did:web:2130706433", "did:web:0x7f.1", "did:web:0x7f.0.0.1",
		"did:web:0177.0.0.1", "did:web:0x7f000001",
		"did:web:10.0.0.1.", "did:web:1.2.3.08", "did:web:example.0x", "did:web:example.1", "did:web:%5B%3A%3A1%5D",
		"did:web:127.0.0.1%3A80", "did:web:169.254.169.254",
		// paths
		"did:web:example.org::a", "did:web:example.org:.", "did:web:example.org:a:..:b", "did:web:example.org:%2e%2E",
		"did:web:example.org:.%2e",
		"did:web:example.org:a%2Fb", "did:web:example.org:a%5Cb", "did:web:example.org:a%3Fb",
		"did:web:example.org:a%23b", "did:web:example.org:a%252e",
		"did:key:%2E", "did:ion:a:.%2e:b", "did:web:example.org:a%0Ab", "did:web:example.org:a%7F",
		"did:web:example.org:%FF", "did:web:example.org:%00",
		"did:key:" + strings.Repeat("z", MaxLength),
	} {
		if d, err := Parse(text); err == nil {
			t.Errorf("%q: accepted as %+v", text, d)
		} else if len(err.Error()) > 3*MaxLength {
			t.Errorf("%.40q: error of %d bytes", text, len(err.Error()))
		}
	}
}

func TestSpelling(t *testing.T) {
	for text, want := range map[string]string{
		"did:web:example.org":                       "did:web:example.org",
		"did:web:example.org:A:b":                   "did:web:example.org:A:b",
		"did:web:example.org%3A8443":                "did:web:example.org%3A8443",
		"did:web:Example.org":                       "did:web:example.org",
		"did:Web:example.org":                       "did:web:example.org",
		"did:web:example.org.":                      "did:web:example.org",
		"did:web:EXAMPLE.ORG.:Path":                 "did:web:example.org:Path",
		"did:web:example.org%3a8443:a":              "did:web:example.org%3A8443:a",
		"did:web:example.org%3A443":                 "did:web:example.org",
		"did:web:example.org.%3A443:a":              "did:web:example.org:a",
		"did:web:example.org%3A%34%34%33":           "did:web:example.org",
		"did:web:example%2Eorg%2E":                  "did:web:example.org",
		"did:web:example.org:%78":                   "did:web:example.org:x",
		"did:web:example.org:%58%5f%2d%2E%7e":       "did:web:example.org:X_-.%7E",
		"did:web:example.org:%c3%a9%3a":             "did:web:example.org:%C3%A9%3A",
		"did:web:example.org:.well-known":           "did:web:example.org",
		"did:web:example.org%3A443:%2Ewell-know%6e": "did:web:example.org",
		"did:web:example.org%3A8443:.well-known":    "did:web:example.org%3A8443",
		"did:web:example.org:.Well-Known":           "did:web:example.org:.Well-Known",
		"did:web:example.org:.well-known:a":         "did:web:example.org:.well-known:a",
		"did:web:example.org:a:.well-known":         "did:web:example.org:a:.well-known",
		"did:web:my_tool.example.org":               "did:web:my_tool.example.org",
		"did:KEY:%7AaB":                             "did:key:zaB",
		"did:ion:%252e":                             "did:ion:%252e",
	} {
		d, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Spelling(); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// Spelling is that of the DID that Parse reads, and a text that it refuses is its own.
func TestSpellingOfText(t *testing.T) {
	texts := []string{""}
	for i := 0; len(texts[i]) < 4; i++ { // all of up to four of these characters
		for _, c := range "aA0.-_:%" {
			texts = append(texts, texts[i]+string(c))
		}
	}
	for _, text := range texts {
		for _, text := range []string{"did:web:" + text, "did:web:" + text + "a.example", "did:Web:a.example" + text} {
			want := text
			if d, err := Parse(text); err == nil {
				want = d.Spelling()
			}
			if got := Spelling(text); got != want {
				t.Fatalf("%q: %q, want %q", text, got, want)
			}
		}
	}
}

func TestSame(t *testing.T) {
	for _, tt := range []struct {
		a, b        string
		same, alike bool
	}{
		{"did:web:a.example", "did:web:a.example", true, true},
		{"did:web:a.example", "did:web:A.EXAMPLE.", true, true},
		{"did:web:a.example", "did:WEB:%61.example%3a443:.well-known", true, true},
		{"did:web:a.example:x", "did:web:a.example:%78", true, true},
		{"did:web:a.example:x", "did:web:a.example:X", false, true},
		{"did:web:a.example:x", "did:web:a.example:%58", false, true},
		{"did:web:a.example", "did:web:a.example:.Well-Known", false, true},
		{"did:web:a.example", "did:web:a.example%3A8443", false, false},
		{"did:web:a.example", "did:web:b.example", false, false},
		{"did:web:my_tool.example", "did:web:my-tool.example", false, false},
		{"did:web:a.example:x", "did:web:a.example", false, false},
		{"did:web:a.example", "did:web:a.example#", false, false},
		{"did:web:a.example", "did:web:a.example/", false, false},
		{"did:web:a.example", "did:web:a.example\u200b", false, false},
		{"did:web:a.example", " did:web:a.example", false, false},
		{"did:key:zAb", "did:key:zab", false, true},
		{"nobody", "nobody", true, true},
		{"nobody", "Nobody", false, true},
	} {
		if same, alike := Same(tt.a, tt.b), Alike(tt.b, tt.a); same != tt.same || alike != tt.alike {
			t.Errorf("%q, %q: same is %v, alike %v", tt.a, tt.b, same, alike)
		}
	}
}

// A did:web that is accepted leads to a URL of exactly its host, in which nothing is left to interpret.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"did:web:example.org", "did:web:example.org%3A8443:a:b", "did:web:127.1",
		"did:web:a.example:%2e%2e:x",
		"did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw", "did:web:EXAMPLE.org.:%C3%A9",
		"did:web:a_b.example:...", "did:web:x.0xf", "did:web:x.00_"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := Parse(s)
		if err != nil {
			if got := Spelling(s); got != s {
				t.Fatalf("%q: spelling %q of what is refused", s, got)
			}
			return
		}
		want := d.Spelling()
		if got := Spelling(s); got != want {
			t.Fatalf("%q: spelling %q, not %q", s, got, want)
		}
		again, err := Parse(want)
		if err != nil || again.Spelling() != want || !Same(s, want) || !Alike(s, strings.ToLower(want)) ||
			Fold(s) != Fold(Fold(s)) {
			t.Fatalf("%q: spelling %q, then %q: %v", s, want, again.Spelling(), err)
		}
		primary, fallback := d.URLs()
		if d.Method != "web" {
			return
		}
		if same, _ := again.URLs(); same != primary {
			t.Fatalf("%q: spelling %q leads to %q, not %q", s, want, same, primary)
		}
		for _, text := range []string{primary, fallback} {
			if text == "" {
				continue
			}
			u, err := url.Parse(text)
			if err != nil {
				t.Fatalf("%q: %v", s, err)
			}
			if u.Scheme != "https" || u.Hostname() != d.Host() || u.User != nil || u.RawQuery != "" ||
				u.Fragment != "" ||
				u.JoinPath().EscapedPath() != u.EscapedPath() || !strings.HasSuffix(u.Path, "/did.json") {
				t.Fatalf("%q: leads to %q", s, text)
			}
		}
	})
}
