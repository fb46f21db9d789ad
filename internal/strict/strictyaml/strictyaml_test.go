package strictyaml

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

const lessIndented = "f.yml:2:1: the line continues the value of line 1 and is indented less than it; expected at " +
	"least 1 space before it"

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"honest", "a: 1\non: {b: [x, true, ~]}\n", ""},
		{"empty", "", "f.yml: file holds no YAML document"},
		{"comment alone", "# nothing\n", "f.yml: file holds no YAML document"},
		{"too large", "a: " + strings.Repeat("x", 200), "f.yml: file has 203 bytes; expected at most 100"},
		{"a line break of YAML 1.1", "a: 1\nbö: 2 # c\u0085d: 3\n",
			"f.yml:2:10: U+0085 ends a line for some readers; expected a line feed or an escape"},
		{"a line separator", "a: \u2028 1\n",
			"f.yml:1:4: U+2028 ends a line for some readers; expected a line feed or an escape"},
		{"a paragraph separator in quotes", "a: 'b\u2029'\n",
			"f.yml:1:6: U+2029 ends a line for some readers; expected a line feed or an escape"},
		{"escaped line breaks", `a: "\N\L\P"` + "\n", ""},
		{"byte order mark", "\xef\xbb\xbfa: 1\n", "f.yml:1:1: file starts with a byte order mark"},
		{"UTF-16", "\xff\xfea\x00", "f.yml: file is not UTF-8"},
		{"duplicate", "a: 1\nb: 2\n\"a\": 3\n", `f.yml:3:1: key "a" again; it is on line 1 already`},
		{"nested duplicate", "x:\n  - a: 1\n    a: 2\n", `f.yml:3:5: key "a" again; it is on line 2 already`},
		{"anchor", "a: &x 1\n", `f.yml:1:4: anchor "&x": anchors are not followed, write the value out`},
		{"alias", "a: [&x 1, *x]\n", `f.yml:1:5: anchor "&x": anchors are not followed, write the value out`},
		{"self reference", "a: &x [*x]\n", `f.yml:1:4: anchor "&x": anchors are not followed, write the value out`},
		{"merge key", "<<: {a: 1}\n", `f.yml:1:1: tag "!!merge": tags and merge keys are not allowed`},
		{"custom tag", "a: !ruby 1\n", `f.yml:1:4: tag "!ruby": tags and merge keys are not allowed`},
		{"explicit tag", "a: !!str 1\n", `f.yml:1:4: tag "!!str": tags and merge keys are not allowed`},
		{"binary", "a: !!binary aGk=\n", `f.yml:1:4: tag "!!binary": tags and merge keys are not allowed`},
		{"sequence as key", "? [a]\n: 1\n", "f.yml:1:3: a key is not plain text"},
		{"two documents", "a: 1\n---\nb: 2\n", "f.yml:2:1: a second YAML document starts here; expected only one"},
		{"deep", strings.Repeat("[", 80) + strings.Repeat("]", 80), "f.yml:1:66: nested deeper than 64"},
		{"syntax", "a: 1\nb: [\n", "f.yml:3:1: did not find expected node content"},
		{"broken second document", "a: 1\n---\nb: [\n", "f.yml:4:1: did not find expected node content"},
		{"tag of a sequence", "a: ! [1]\n", `f.yml:1:4: tag "!": tags and merge keys are not allowed`},
		{"tag without a name", "a: ! 1\n", ""},

		// Lines of a value need the indentation of YAML 1.2, which many readers do not ask for.
		{"sequence", "a: [b,\nc]\n", lessIndented},
		{"sequence in a sequence", "- - [b,\n  c]\n", strings.Replace(lessIndented, "1 space ", "3 spaces ", 1)},
		{"mapping", "a: {b: 1,\nc: 2}\n", lessIndented},
		{"a plain text inside", "a: [b\nc]\n", lessIndented},
		{"a quoted text inside", "a: ['b\n# c']\n", lessIndented},
		{"behind a quotation mark inside a text", "a: [b'c,\n'd']\n", lessIndented},
		{"behind an escaped quotation mark", "a: [\"\\\"]\", ''']',\nb]\n", lessIndented},
		{"behind a comment with a bracket", "a: [ # ]\nb]\n", lessIndented},
		{"behind characters of several bytes", "äöü: [b,\nc]\n", lessIndented},
		{"double quotes", "a: \"b\nc\"\n", lessIndented},
		{"single quotes", "a: 'b\nc'\n", lessIndented},
		{"a tab", "a: \"b\n\tc\"\n", lessIndented},
		{"a tab in a sequence", "a: [\n\tb]\n", lessIndented},
		{"a long blank line", "a: |\n   \n  b\n", "f.yml:3:3: did not find expected key"},
		{"a long blank line before a comment", "a: >\n  \n # b\n",
			"f.yml:2:1: the blank line has 2 spaces, and the first line of the text has 1 space; expected no more"},
		{"one space", "a: [b,\n c]\nd: \"e\n f\"\ng: 'h\n i'\n", ""},
		{"closing brackets", "a: [\n b\n]\nc: {\n  d: [\n  e\n]}\n", ""},
		{"comments and blank lines", "a: [b,\n# c\n\n \n\t\n d]\n", ""},
		{"a tab behind the space", "a: \"b\n \tc\"\n", ""},
		{"the root", "[a,\nb, \"c\nd\"]\n", ""},
		{"carriage returns alone", "a:\r\r\r  - 'b\rc'\r", "f.yml:5:1: the line continues the value of line 4 and is " +
			"indented less than it; expected at least 3 spaces before it"},
		{"carriage returns alone, and a space", "a: [b,\r c]\r", ""},
		{"carriage returns", "a: [b,\r\n\r\n c]\r\nd: |\r\n \r\n e\r\n", ""},
		{"blank lines of a text", "a: |\n\n  \n  b\n   \nc: >-\n\n d\n", ""},
		{"a text of blank lines", "a: |\n   \nb: 1\n", ""},
		{"indentation that is written", "a: |1\n   \n b\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			limit := 1 << 10
			if c.name == "too large" {
				limit = 100
			}
			_, err := Parse("f.yml", []byte(c.text), limit)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestMember(t *testing.T) {
	root := must.Get(Parse("f.yml", []byte("on:\n  push: 1\n"), 100))(t)
	_, on := Member(root, "on")
	name, value := Member(on, "push")
	if name == nil || name.Line != 2 || name.Column != 3 || value.Value != "1" {
		t.Errorf("push is %+v: %+v", name, value)
	}
	if name, value := Member(value, "push"); name != nil || value != nil {
		t.Error("a scalar has a member")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: 1", "a: &x [*x]", "? [a]\n: 1", "<<: {a: 1}", "- - -", "a: |\n  x\n",
		"%YAML 1.2\n---\na", "\"\\u0041\": 1\nA: 2", "!!binary a", "a:\tb", "? \n? ", "a:\n\r\r\r'b\rc'\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		root, err := Parse("f.yml", data, 1<<12)
		var e *Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("error is %T", err)
		}
		if err == nil && root == nil {
			t.Fatal("neither value nor error")
		}
	})
}

// TestParseResolved checks that aliases are followed, and that neither a circle nor a small text of many nodes is.
func TestParseResolved(t *testing.T) {
	wide := "a: &a [" + strings.Repeat("x,", 9) + "x]\n"
	for at := 'b'; at <= 'j'; at++ {
		alias := "*" + string(at-1) + ","
		wide += string(at) + ": &" + string(at) + " [" + strings.Repeat(alias, 9) + alias + "]\n"
	}
	for _, c := range []struct{ name, text, want string }{
		{"alias", "a: &x {b: 1}\nc: *x\nd: [*x, *x]\n", ""},
		{"without anchors", "a: 1\n", ""},
		{"without anchors, less indented", "a: [b,\nc]\n", lessIndented},
		{"merge key", "a: &x {b: 1}\nc: {<<: *x}\n", `f.yml:2:5: tag "!!merge": tags and merge keys are not allowed`},
		{"alias as a key", "a: &x b\n*x : 1\n", "f.yml:2:1: a key is not plain text"},
		{"alias of nothing", "a: *x\n", "unknown anchor"},
		{"its own parent", "a: &x [*x]\n", "f.yml:1:4: nested deeper than 64"},
		{"ten deep, ten wide", wide, "the text has more nodes than are read"},
		{"duplicate below an anchor", "a: &x {b: 1, b: 2}\n", `f.yml:1:14: key "b" again`},
	} {
		root, err := ParseResolved("f.yml", []byte(c.text), 1<<10, 1000)
		if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s: the error is %q, want %q", c.name, got, c.want)
		}
		if c.name != "alias" || err != nil {
			continue
		}
		_, value := Member(root, "c")
		if _, b := Member(value, "b"); b == nil || b.Value != "1" || b.Line != 1 {
			t.Errorf("c.b is %+v, want the node of line 1", b)
		}
	}
}
