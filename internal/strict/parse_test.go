package strict

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func TestParse(t *testing.T) {
	got, err := Parse("x.json",
		[]byte(` {"a":[1,-2.50e1,"x\u00e9\ud83d\ude00",[],{}],"b":{"":null},"c":true,"d":false}`+"\n"), RegistryFile)
	must.OK(t, err)
	want := map[string]any{
		"a": []any{json.Number("1"), json.Number("-2.50e1"), "xé😀", []any{}, map[string]any{}},
		"b": map[string]any{"": nil},
		"c": true,
		"d": false,
	}
	if diff := cmp.Diff(want, got.Root); diff != "" {
		t.Error(diff)
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct {
		name, text, want string
	}{
		{"nothing", "", `x:1:1: json-syntax`},
		{"blanks", " \n ", `x:2:2: json-syntax`},
		{"unterminated object", "{\n", `x:2:1: json-syntax`},
		{"unterminated string", `{"a":"`, `x:1:7: json-syntax /a`},
		{"missing comma", "{\"a\":1\n \"b\":2}", `x:2:2: json-syntax`},
		{"trailing comma", `{"a":1,}`, `x:1:7: json-syntax`},
		{"trailing comma in array", "[1,]", `x:1:3: json-syntax`},
		{"leading comma", `[,1]`, `x:1:2: json-syntax`},
		{"number as a name", `{1:2}`, `x:1:2: json-syntax`},
		{"object as a name", `{{}:2}`, `x:1:2: json-syntax`},
		{"wrong bracket", `{"a":[1}`, `x:1:8: json-syntax`},
		{"comment", "{} // no", `x:1:4: trailing-text`},
		{"leading zero", `[01]`, `x:1:3: json-syntax`},
		{"plus", `[+1]`, `x:1:2: json-syntax`},
		{"NaN", `[NaN]`, `x:1:2: json-syntax`},
		{"single quotes", `{'a':1}`, `x:1:2: json-syntax`},
		{"control character", "[\"a\tb\"]", `x:1:4: json-syntax`},
		{"NUL", "[1]\x00", `x:1:4: trailing-text`},
		{"bad escape", `["\x41"]`, `x:1:3: json-syntax`},
		{"no-break space", "[1,\u00a02]", `x:1:4: json-syntax`},
		{"byte order mark", "\ufeff{}", `x:1:1: byte-order-mark`},
		{"UTF-16", "\xff\xfe[\x00]\x00", `x:1:1: invalid-utf8`},
		{"invalid UTF-8 in a string", "[\n\"ab\xff\"]", `x:2:4: invalid-utf8`},
		{"invalid UTF-8 in a name", "{\"\xc0\xaf\":1}", `x:1:3: invalid-utf8`},
		{"encoded surrogate", "[\"\xed\xa0\x80\"]", `x:1:3: invalid-utf8`},
		{"lone continuation byte", "[\"\x80\"]", `x:1:3: invalid-utf8`},
		{"continuation byte after a character", "[\"a\xbf\"]", `x:1:4: invalid-utf8`},
		{"overlong form of two bytes", "[\"\xc1\xbf\"]", `x:1:3: invalid-utf8`},
		{"overlong form of three bytes", "[\"\xe0\x80\xaf\"]", `x:1:3: invalid-utf8`},
		{"overlong form of six bytes", "[\"\xfc\x80\x80\x80\x80\x80\"]", `x:1:3: invalid-utf8`},
		{"second half of a pair, encoded", "[\"\xed\xbf\xbf\"]", `x:1:3: invalid-utf8`},
		{"beyond the last code point", "[\"\xf4\x90\x80\x80\"]", `x:1:3: invalid-utf8`},
		{"truncated sequence in a string", "[\"\xe0\xff\"]", `x:1:3: invalid-utf8`},
		{"truncated sequence before a quote", "[\"\xf0\x9f\x98\"]", `x:1:3: invalid-utf8`},
		{"invalid UTF-8 in an escape", "[\"\\u\xe5\"]", `x:1:3: json-syntax`},
		{"invalid UTF-8 outside a string", "[\xe5]", `x:1:2: invalid-utf8`},
		{"Latin-1", "[\"\xe9\"]", `x:1:3: invalid-utf8`},
		{"UTF-16 without a byte order mark", "[\x00\"\x00\xe9\x00\"\x00]\x00", `x:1:2: json-syntax`},
		{"UTF-16, high byte first", "\xfe\xff\x00[\x00]", `x:1:1: invalid-utf8`},
		{"cut rune at the end", "[\"\xe2\x82", `x:1:3: invalid-utf8`},
		{"lone high surrogate", `{"s":"\ud800"}`, `x:1:7: lone-surrogate /s`},
		{"lone low surrogate", `["a\uDC00x"]`, `x:1:4: lone-surrogate /0`},
		{"reversed pair", `["\ude00\ud83d"]`, `x:1:3: lone-surrogate /0`},
		{"lone surrogate in a name", `{"\ud800":1,"a":2}`, `x:1:3: lone-surrogate`},
		{"duplicate", "{\"a\":1,\n\"a\":2}", `x:2:1: duplicate-member /a`},
		{"duplicate by an escape", `{"a":1,"\u0061":2}`, `x:1:8: duplicate-member /a`},
		{"duplicate further in", `{"v":[{"n":1,"m":2,"n":1}]}`, `x:1:20: duplicate-member /v/0/n`},
		{"second value", "{}\n{}", `x:2:1: trailing-text`},
		{"second bracket", "[]]", `x:1:3: trailing-text`},
		{"deep arrays", strings.Repeat("[", 65) + strings.Repeat("]", 65), `x:1:65: nesting-too-deep`},
		{"deep objects", strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), `x:1:321: nesting-too-deep`},
		{"5 MB of brackets", strings.Repeat("[", 5<<20), `x:1:65: nesting-too-deep`},
		{"number of 65 bytes", `{"n":` + strings.Repeat("1", 65) + "}", `x:1:6: number-too-long /n`},
		{"number of 900,000 digits", "[" + strings.Repeat("9", 900000) + "]", `x:1:2: number-too-long /0`},
		{"overflow", `{"n":1e400}`, `x:1:6: number-out-of-range /n`},
		{"negative overflow", `{"n":-1.8e308}`, `x:1:6: number-out-of-range /n`},
		{"too large", strings.Repeat(" ", 6<<20) + "1", `x: file-too-large`},
	}
	lim := RegistryFile
	lim.Bytes = 6 << 20
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := Parse("x", []byte(tt.text), lim)
			if d != nil || err == nil {
				t.Fatalf("accepted, want %s", tt.want)
			}
			e := err.(*Error)
			if got := e.Pos.String() + ": " + e.Code; !strings.HasPrefix(tt.want, got) {
				t.Errorf("%s (%v), want %s", got, err, tt.want)
			}
			if _, pointer, ok := strings.Cut(tt.want, e.Code+" "); ok && e.Pointer != pointer {
				t.Errorf("pointer %s, want %s", e.Pointer, pointer)
			}
			if strings.ContainsAny(e.Message, "\n\x00\x1b") || len(e.Message) > 300 {
				t.Errorf("message %q is not fit for a line", e.Message)
			}
		})
	}
}

func TestParseAtTheLimits(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("[", 64) + strings.Repeat("]", 64),
		"[" + strings.Repeat("1", 64) + "]",
		`{"n":1.7976931348623157e308,"m":5e-324,"z":1e-400}`,
		`{"a":{"a":{"a":1}},"A":1}`,
		`"alone"`,
		"null",
	} {
		if _, err := Parse("x", []byte(text), RegistryFile); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	exact := []byte(`"` + strings.Repeat("a", RegistryFile.Bytes-2) + `"`)
	if _, err := Parse("x", exact, RegistryFile); err != nil {
		t.Error(err)
	}
}

// A text that is refused leaves nothing behind for the next one.
func TestParseAfterRefusal(t *testing.T) {
	for range 100 {
		if _, err := Parse("x", []byte(`{"a":[1,{"b":"\ud800"}]}`), RegistryFile); err == nil {
			t.Fatal("accepted")
		}
		d := must.Get(Parse("y", []byte(`{"c":[2]}`), RegistryFile))(t)
		if diff := cmp.Diff(map[string]any{"c": []any{json.Number("2")}}, d.Root); diff != "" {
			t.Fatal(diff)
		}
	}
}

const listing = `{
  "slug": "example-agent",
  "name": "Example Agent",
  "tool_did": "did:web:example-agent.example.org",
  "manifest_uri": "https://example-agent.example.org/.well-known/oap-tool.json",
  "conformance_level": "L1-NC",
  "conformance_receipt_uri": "https://example-agent.example.org/oap-conformance-receipt.json",
  "conformance_receipt_sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  "issued_at": "2026-05-04T10:34:47.660Z",
  "expires_at": "2026-08-02T10:34:47.660Z",
  "license": "Apache-2.0",
  "non_commercial": true,
  "provisional": true,
  "contact": "oap-contact@example-agent.example.org",
  "categories": ["assistant-network", "calendar", "messaging", "crm"],
  "jurisdictions": ["DE", "EU"]
}
`

// Whatever Parse accepts encoding/json accepts too, with equal values, and Pos stays inside the text.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		listing, `{"a":[1,{"b/c":"\ud83d\ude00"},[]],"~":null}`, `{"a":1,"\u0061":2}`, "[\"\\ud800\"]", "\ufeff1",
		"[1e400]",
		`[[[[]]]] `, "1 2", `{"a":}`, "\"\xff\"", `[1,]`, `{"a" 1}`, `{,}`, `:`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		d, err := Parse("x", data, RegistryFile)
		if !bytes.Equal(before, data) {
			t.Fatal("the text was changed")
		}
		if err != nil {
			if e := err.(*Error); e.Code != CodeTooLarge {
				inside(t, data, e.Pos)
			}
			return
		}
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber()
		var peer any
		if err := decoder.Decode(&peer); err != nil {
			t.Fatalf("encoding/json: %v", err)
		}
		if !reflect.DeepEqual(peer, d.Root) { // cmp.Diff takes exponential time in the depth
			t.Fatalf("%v, encoding/json has %v", d.Root, peer)
		}
		for _, pointer := range append(pointers("", d.Root, nil), "/", "/nowhere", "/0/0/x", "a") {
			inside(t, data, d.Pos(pointer))
		}
	})
}

func inside(t *testing.T, data []byte, p Pos) {
	t.Helper()
	lines := bytes.Split(data, []byte("\n"))
	if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column > len(lines[p.Line-1])+1 {
		t.Fatalf("%v is outside the text", p)
	}
}

func pointers(at string, v any, all []string) []string {
	all = append(all, at)
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			name = strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
			all = pointers(at+"/"+name, member, all)
		}
	case []any:
		for i, element := range v {
			if i < 3 {
				all = pointers(at+"/"+string(rune('0'+i)), element, all)
			}
		}
	}
	return all
}
