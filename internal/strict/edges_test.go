package strict

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestStep checks the pointers of places, which lead to these places.
func TestStep(t *testing.T) {
	const text = `{"a/b": [0, {"m~1": 7, "": 8}]}`
	doc := must.Get(Parse("x", []byte(text), RegistryFile))(t)
	item := &Step{&Step{nil, "a/b"}, "1"}
	for _, row := range []struct {
		step    *Step
		pointer string
		column  int
	}{
		{nil, "", 1}, {item, "/a~1b/1", 13},
		{&Step{item, "m~1"}, "/a~1b/1/m~01", 14}, {&Step{item, ""}, "/a~1b/1/", 24},
	} {
		if got := row.step.Pointer(); got != row.pointer || doc.Pos(got).Column != row.column {
			t.Errorf("%q is the place %v, expected %q in column %d", got, doc.Pos(got), row.pointer, row.column)
		}
	}
}

// TestMessages checks that the error names the slip, and that it does not where there is another.
func TestMessages(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,}`:                    `trailing comma before "}"`,
		`[1, ]`:                       `trailing comma before "]"`,
		`[,1]`:                        "!trailing",
		`[,`:                          "comma has no value on one side",
		`[// x`:                       "comment, JSON has none",
		`[/* x`:                       "comment, JSON has none",
		`[# x`:                        "comment, JSON has none",
		`[/x]`:                        "!comment",
		`1 // x`:                      "comment after the JSON value",
		`1 /* x`:                      "comment after the JSON value",
		`1 # x`:                       "comment after the JSON value",
		`1 x`:                         "text follows the JSON value",
		`['a']`:                       "quote is '\\''",
		"[`a`]":                       "quote is '`'",
		`[“a”]`:                       "typographic",
		"<<<<<<< main\n{}":            "line 1 is a merge conflict marker",
		"[\n=======\n]":               "line 2 is a merge conflict marker",
		"[\n>>>>>>> a\n]":             "line 2 is a merge conflict marker",
		`[1 "a"]`:                     "comma is missing",
		`[1 {}]`:                      "comma is missing",
		`[1 []]`:                      "comma is missing",
		`[1 2]`:                       "!comma is missing",
		`{"a" "b"}`:                   `'"' follows a member's name`,
		"[\"a\tb\"]":                  `control character '\t'`,
		`<html>`:                      "HTML or XML",
		`[1 <]`:                       "!HTML",
		`[True]`:                      `"True" is not JSON, which writes true`,
		`[None]`:                      `"None" is not JSON, which writes null`,
		`[a1é_$-]`:                    `"a1é_$" has no quotes`,
		`[_]`:                         `"_" has no quotes`,
		`[$]`:                         `"$" has no quotes`,
		`[1 a]`:                       "!has no quotes",
		`[+1]`:                        "invalid character '+'",
		"[" + strings.Repeat("x", 41): `"` + strings.Repeat("x", 40) + `"`,
		`[`:                           "text ends before its value is complete",
		`["a`:                         "text ends before its value is complete",
		`[tru`:                        "text ends before its value is complete",
	} {
		_, err := Parse("x", []byte(text), RegistryFile)
		if err == nil {
			t.Errorf("%s: accepted", text)
			continue
		}
		unwanted, not := strings.CutPrefix(want, "!")
		if strings.Contains(err.Error(), strings.TrimPrefix(want, "!")) == not {
			t.Errorf("%s: %v; expected %q, not: %q", text, err, want, unwanted)
		}
	}
}

// TestValues checks both sides of the limit on values, which counts from 0 in each text.
func TestValues(t *testing.T) {
	for range 3 {
		for _, tt := range []struct {
			text   string
			values int
			ok     bool
		}{
			{`[1,2]`, 3, true}, {`[1,2,3]`, 3, false}, {`{"a":{"b":1}}`, 3, true}, {`{"a":[{"b":1}]}`, 3, false},
			{`[` + strings.Repeat("1,", 999) + `1]`, 0, true},
		} {
			_, err := Parse("x", []byte(tt.text), Limits{Bytes: 1 << 16, Depth: 9, Number: 9, Values: tt.values})
			if (err == nil) != tt.ok || err != nil && err.(*Error).Code != CodeTooMany {
				t.Errorf("%.20s with %d values: %v", tt.text, tt.values, err)
			}
		}
	}
}

// TestRelease checks that a reader keeps its stacks up to maxKept, and nothing of a text.
func TestRelease(t *testing.T) {
	for _, tt := range []struct{ names, values, kept int }{
		{maxKept, maxKept, 2 * maxKept}, {maxKept + 1, 1, 0}, {1, maxKept + 1, 0},
	} {
		r := &reader{path: "x", data: []byte("[1]"), text: "[1]", read: 7, names: make([]name, tt.names),
			values: make([]any, tt.values)}
		r.source = *bytes.NewBuffer(r.data)
		r.tokens.Reset(&r.source, decoding)
		if _, err := r.next(); err != nil {
			t.Fatal(err)
		}
		for i := range r.names {
			r.names[i].text = "a"
		}
		for i := range r.values {
			r.values[i] = "a"
		}
		r.release()
		names, values := r.names[:cap(r.names)], r.values[:cap(r.values)]
		if len(r.names) > 0 || len(r.values) > 0 || len(names)+len(values) != tt.kept {
			t.Errorf("%d and %d are kept of %d and %d", len(names), len(values), tt.names, tt.values)
		}
		if slices.ContainsFunc(names, func(n name) bool { return n.text != "" }) ||
			slices.ContainsFunc(values, func(v any) bool { return v != nil }) || r.path+r.text != "" || r.data != nil ||
			r.read != 0 || r.source.Cap() > 0 || r.tokens.InputOffset() > 0 {
			t.Errorf("a part of the text is kept: %+v", r)
		}
	}
}

// TestFaultPosition checks the position after each kind of blank, and at the end of a text that is cut off.
func TestFaultPosition(t *testing.T) {
	for text, want := range map[string]string{
		"{\"a\":1,\t\"a\":2}":   "x:1:9",
		"{\"a\":1,\r\"a\":2}":   "x:1:9",
		"{\"a\":1,\r\n\"a\":2}": "x:2:1",
		"{\"a\":1, \"a\":2}":    "x:1:9",
		`[1.`:                   "x:1:4",
		`["\u12`:                "x:1:7",
	} {
		if _, err := Parse("x", []byte(text), RegistryFile); err == nil || err.(*Error).Pos.String() != want {
			t.Errorf("%q: %v; expected %s", text, err, want)
		}
	}
}

// TestSurrogate checks each part of the escape of half a pair.
func TestSurrogate(t *testing.T) {
	for text, want := range map[string]bool{
		`\ud800`: true, `\udfff`: true, `\uDBFFx`: true, `\ud80`: false, `xud800`: false, `\xd800`: false,
		`\u0041`: false, `\ud7ff`: false, `\ue000`: false, `\uzzzz`: false, `\u+d80`: false,
	} {
		if surrogate([]byte(text)) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}

// TestShapes checks the digits of a time one by one. time.Parse would refuse most of these too, but not all.
func TestShapes(t *testing.T) {
	for _, tt := range []struct {
		text, shape, rest string
		ok                bool
	}{
		{"0x", "0", "x", true}, {"9", "0", "", true}, {"/", "0", "/", false}, {":", "0", ":", false},
		{"a", "0", "a", false}, {"", "0", "", false}, {"5", "T", "5", false}, {"T", "T", "", true},
		{"t", "T", "t", false},
	} {
		if rest, ok := cutShape(tt.text, tt.shape); rest != tt.rest || ok != tt.ok {
			t.Errorf("cutShape(%q, %q) = %q, %v", tt.text, tt.shape, rest, ok)
		}
	}
	const second = "2026-05-04T10:34:47"
	for text, want := range map[string]bool{
		second + "Z": true, second + ".5Z": true, second + "+23:59": true, second + "-00:00": true, "Z": false,
		second: false, second + ".Z": false, second + "+": false, second + "+2:00": false, second + "+02:00Z": false,
		second + "+24:00": false, second + "+23:60": false, second + "*02:00": false,
	} {
		if timeShape(text) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}

// TestOtherFiles checks the messages for what another program writes instead of a record.
func TestOtherFiles(t *testing.T) {
	utf16 := func(high, low int) string {
		var out []byte
		for _, c := range []byte(`{"a": 1}`) {
			unit := [2]byte{}
			unit[low], unit[high] = c, 0
			out = append(out, unit[:]...)
		}
		return string(out)
	}
	for text, want := range map[string]string{
		"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n":       LFSPointer,
		"version https://git-lfs.github.com/spec/v1\r\noid sha256:0\r\nsize 1\r\n": LFSPointer,
		"\xff\xfe" + utf16(1, 0): UTF16,
		"\xfe\xff" + utf16(0, 1): UTF16,
		utf16(1, 0):              UTF16,
		utf16(0, 1):              UTF16,
		"\xff\xfe\x00\x00{\x00\x00\x00}\x00\x00\x00": "byte 0xff is not valid UTF-8; JSON is UTF-8 throughout",
		"version 1":  `"version" has no quotes; expected names and texts in "`,
		"\xff\xff{}": "byte 0xff is not valid UTF-8; JSON is UTF-8 throughout",
		`{"version https://git-lfs.github.com/spec/v1": "\u0000"}`: "",
	} {
		_, err := Parse("x", []byte(text), RegistryFile)
		got := ""
		if e, ok := err.(*Error); ok && err != nil {
			got = e.Message
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
