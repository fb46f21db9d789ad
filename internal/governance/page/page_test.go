package page

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func read(t *testing.T, name, text string) *Text {
	t.Helper()
	out, err := Read(name, []byte(text))
	if err != nil || out == nil {
		t.Fatalf("%q: %v, %v", text, out, err)
	}
	return out
}

func TestSeen(t *testing.T) {
	for _, row := range [][2]string{
		{"A *Tool* **MUST** `bow`.", "A Tool MUST bow."},
		{"mem<!-- -->ory, mem<b></b>ory, mem&shy;ory, &#109;emory, \uff4demory",
			"memory, memory, memory, memory, memory"},
		{"a <plaintext> mem<b></b>ory", "a memory"},
		{"a<br>b\\\nc  \nd\ne", "a b c d e"},
		{"| a | b |\n|---|---|\n| c | d |", "a b c d"},
		{"<!-- a\n\nb -->\n\nc", "c"},
		{"<div><!--\n\na -->\n\n<div>--></div>\n\nc", "c"},
		{"```\n<!-- a\n```\n\nb", "<!-- a b"},
		{"a <!-- b", "a <!-- b"},
		{"![MUST](x.png) [a](https://MUST.example \"MUST\") <a title='>MUST'>b</a>", "a b"},
		{"~~a~~ [x]\n\n[x]: y", "a x"},
		{"<?php MUST ?> <![CDATA[ > b ]]>", "b ]]>"},
	} {
		if got := read(t, "a.MD", row[0]).Seen(); got != row[1] {
			t.Errorf("%q shows as %q, want %q", row[0], got, row[1])
		}
	}
	if got := read(t, "a.txt", "**a**\n\n<!-- b\u200b -->").Seen(); got != "**a** <!-- b -->" {
		t.Errorf("a text shows as %q", got)
	}
	for _, data := range []string{"a\xff", "a\x00"} {
		if text, err := Read("a.md", []byte(data)); text != nil || err != nil {
			t.Errorf("%q: %v, %v", data, text, err)
		}
	}
}

func TestKeyWords(t *testing.T) {
	for text, want := range map[string]string{
		"It MUST, SHALL and MAY.":                     "MUST SHALL MAY",
		"MUST NOT SHALL NOT SHOULD NOT MAY NOT":       "MUST NOT|SHALL NOT|SHOULD NOT|MAY",
		"NOT RECOMMENDED RECOMMENDED, NOT MUST":       "NOT RECOMMENDED|RECOMMENDED|MUST",
		"MUST, NOT SHOULD":                            "MUST SHOULD",
		"must MUSTER AMUST MUST\u0301 MUST_BE 1MUST":  "",
		"_MUST_ (REQUIRED) OPTIONAL: \"MUST\" MUST's": "MUST REQUIRED OPTIONAL MUST MUST",
	} {
		sep := " "
		if strings.Contains(want, "|") {
			sep = "|"
		}
		if got := strings.Join(KeyWords(text), sep); got != want {
			t.Errorf("%q has the key words %q, want %q", text, got, want)
		}
	}
	if got := read(t, "a.md", "MU**ST** MUST\n\nNOT\n\n`MAY`").KeyWords(); !reflect.DeepEqual(got, []string{"MUST",
		"MUST NOT", "MAY"}) {
		t.Errorf("a page has the key words %q", got)
	}
}

func TestBlocks(t *testing.T) {
	const text = "\n[a]: b\n\n# T\n\nOne\nline.\n\nTwo\n---\n\n- i\n\n  > j\n\n```js\nk\n```\n### Three\n\n" +
		"| a | b |\n|---|---|\n| c | d |\n\n<!-- l -->\n<b>m</b>\n\n## Four\n[x]: y\n"
	var got []string
	for _, b := range read(t, "a.md", text).Blocks() {
		above := ""
		for a := b.Above; a != nil; a = a.Above {
			above += "<" + a.Text()
		}
		got = append(got, fmt.Sprintf("%d %d %q %q %s", b.Line, b.Level, b.Text()+b.Hidden(), b.Source, above))
	}
	want := []string{
		`4 1 "T" "[a]: b\n\n# T" `,
		`6 0 "One line." "One\nline." <T`,
		`9 2 "Two" "Two\n---" <T`,
		`12 0 "i" "- i" <Two<T`,
		`14 0 "j" "  > j" <Two<T`,
		"16 0 \"k\" \"```js\\nk\\n```\" <Two<T",
		`19 3 "Three" "### Three" <Two<T`,
		`21 0 "a b" "| a | b |\n|---|---|" <Three<Two<T`,
		`23 0 "c d" "| c | d |" <Three<Two<T`,
		`25 0 "l" "<!-- l -->" <Three<Two<T`,
		`26 0 "m" "<b>m</b>" <Three<Two<T`,
		`28 2 "Four" "## Four\n[x]: y" <T`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	got = nil
	for _, b := range read(t, "a.txt", "\r\n a\r\n b\r\n \r\nc").Blocks() {
		got = append(got, fmt.Sprintf("%d %q %q", b.Line, b.Text(), b.Source))
	}
	if want := []string{`2 "a b" " a\r\n b\r\n "`, `5 "c" "c"`}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLimits(t *testing.T) {
	row := strings.Repeat("|a", 700) + "|\n"
	table := row + strings.Repeat("|-", 700) + "|\n" + strings.Repeat("|\n", 700)
	for text, fits := range map[string]bool{
		strings.Repeat("a", 1<<20): true, strings.Repeat("a", 1<<20+1): false,
		table: true, table + strings.Repeat("|\n", 20): false,
		strings.Repeat("*a\n", 5_000): true, strings.Repeat("*a\n", 5_001): false,
		strings.Repeat("*a\n\n", 5_001): true, strings.Repeat(">", 200): true, strings.Repeat("> - ", 101): false,
		// What is short between blank lines is not in all, and only white space of ASCII is a blank line.
		strings.Repeat(strings.Repeat("[a](", 500)+"\n\n", 100): true,
		strings.Repeat(strings.Repeat("[a](", 500)+"\n\n", 101): false,
		strings.Repeat("[a](\n\n", 5_001):                       true,
		strings.Repeat("[a](\n\u00a0\n", 5_001):                 false,
		strings.Repeat("-", 1000):                               true, "1. " + strings.Repeat(">", 200): false,
	} {
		if _, err := Read("a.md", []byte(text)); errors.Is(err, ErrLimit) == fits || (err == nil) != fits {
			t.Errorf("%d bytes: %v", len(text), err)
		}
		if _, err := Read("a.txt", []byte(text)); err != nil {
			t.Errorf("%d bytes of text: %v", len(text), err)
		}
	}
}

// What is within the limits is read in seconds, whatever it nests.
func TestHostile(t *testing.T) {
	for _, unit := range []string{"`", "<!--", "a\n> ", "|a\n|-\n", "\\", "&", "<a ", "[a]: b\n\n", "http://a",
		strings.Repeat("*_a", 300) + "\n\n", strings.Repeat("**a_", 200) + "\n\n",
		strings.Repeat("[a](", 2_000) + "\n\n", strings.Repeat("> - ", 90) + "a\n", strings.Repeat(">", 190) +
			"a\n\n"} {
		began := time.Now()
		text := read(t, "a.md", strings.Repeat(unit, 50_000/len(unit)))
		text.Seen()
		text.Blocks()
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%.20q takes %s", unit, took)
		}
	}
}

// FuzzRead checks that every text has a page, that its blocks are in order and lose no line, and that a body is read.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"# a\n\n- [ ] b\n\n  > c\n", "| a |\n|---|\n| `\\|` |\n",
		"<del>\n\n<!--\nx\n\n</del>-->\n",
		"[a]: b\nc\n---\n", "```\n<!--\n", "1. a\n\n\t2. b\r\n", "*a ~~b* c~~ <b",
		"\tAdditive only\n> Additive only: no"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		page, err := Read("a.md", []byte(text))
		if page == nil || err != nil {
			return
		}
		KeyWords(page.Seen())
		line, all := 0, ""
		for _, b := range page.Blocks() {
			if b.Line < line || b.Line > 1+strings.Count(text, "\n") {
				t.Fatalf("a block of line %d follows line %d", b.Line, line)
			}
			line, all = b.Line, all+b.Source+"\n"
		}
		if bare := func(s string) string {
			return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
				return r == '\r' || r == '\n'
			}), "\n")
		}; line > 0 && bare(all) != bare(text) {
			t.Fatalf("the blocks have %q of %q", all, text)
		}
		body := must.Get(ReadBody(text))(t)
		if s := body.Says(NewForm("Additive only", false)); s.Said && s.Where != "" {
			t.Fatalf("%+v", s)
		}
	})
}
