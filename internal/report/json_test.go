package report

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzJSON holds that JSON says what encoding/json does, and where nothing is spelled out, in the same bytes.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{`{}`, `[]`, `[[],{},[{}]]`, `{"a":[1,-2.5e3,true,null,"x"],"b":{"c":"\"\\ d,:{}[]"}}`,
		`"##[error] \u001b \u202e é \u007f ##["`, `{"##[a]":"::b"}`, `"` + "\u00e9\U000e0041" + `"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var v any
		if json.Unmarshal(text, &v) != nil {
			return
		}
		for _, indent := range []string{"", "  "} {
			got, err := JSON(v, indent)
			if err != nil {
				t.Fatal(err)
			}
			var want, compact, again bytes.Buffer
			e := json.NewEncoder(&want)
			e.SetEscapeHTML(false)
			e.SetIndent("", indent)
			if err := e.Encode(v); err != nil {
				t.Fatal(err)
			}
			plain := want.Bytes()
			if !bytes.ContainsFunc(plain, func(r rune) bool { return r >= 0x7f }) &&
				!bytes.Contains(plain, []byte("##[")) && !bytes.Equal(got, plain) {
				t.Fatalf("got\n%s\nwant\n%s", got, plain)
			}
			if err := json.Compact(&compact, plain); err != nil {
				t.Fatal(err)
			}
			var decoded any
			if err := json.Unmarshal(got, &decoded); err != nil {
				t.Fatalf("%v in\n%s", err, got)
			}
			e = json.NewEncoder(&again)
			e.SetEscapeHTML(false)
			if err := e.Encode(decoded); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(bytes.TrimSpace(again.Bytes()), bytes.TrimSpace(compact.Bytes())) {
				t.Fatalf("%s decodes to\n%s\nwant\n%s", got, again.Bytes(), compact.Bytes())
			}
		}
	})
}
