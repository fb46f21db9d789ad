package outside

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
)

// naughty returns each text that may take effect where it is shown: every code point that controls, formats or
// separates, of private use at the edges, and each half of a surrogate pair as UTF-8 would have it.
func naughty() (all []string) {
	for _, table := range []*unicode.RangeTable{unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp} {
		for _, few := range table.R16 {
			for c := rune(few.Lo); c <= rune(few.Hi); c += rune(few.Stride) {
				all = append(all, string(c))
			}
		}
		for _, few := range table.R32 {
			for c := rune(few.Lo); c <= rune(few.Hi); c += rune(few.Stride) {
				all = append(all, string(c))
			}
		}
	}
	for _, edge := range []rune{0xe000, 0xf8ff, 0xf0000, 0xffffd, 0x100000, 0x10fffd} {
		all = append(all, string(edge))
	}
	for c := 0xd800; c < 0xe000; c++ {
		all = append(all, string([]byte{0xe0 | byte(c>>12), 0x80 | byte(c>>6&0x3f), 0x80 | byte(c&0x3f)}))
	}
	return all
}

// shownTexts asks Node.js which texts have a character that is not shown as itself. Line breaks are allowed if broken
// is set.
func shownTexts(r *run, texts []string, broken bool) (bad []bool) {
	node(r, `const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u
print(input.texts.map(t => hidden.test(input.broken ? t.replaceAll('\n', '') : t)))`,
		map[string]any{"texts": texts, "broken": broken}, &bad)
	return bad
}

// What Line writes has no such character by Node's tables, and strconv reads the text back from it.
var controlLines = &judge{name: "generated: control characters, Unicode tables of Node.js",
	of: programVersion(0, "node", "--version"), cases: 4582, sound: true, needs: []string{"node"},
	run: func(r *run) {
		var texts, lines []string
		for _, c := range naughty() {
			for _, text := range []string{c, "before " + c + " after" + c} {
				texts, lines = append(texts, text), append(lines, foreign.Line(text))
			}
		}
		for i, bad := range shownTexts(r, lines, false) {
			r.compare(fmt.Sprintf("%d %q", i, texts[i]), answer{value: texts[i]}, func() (string, error) {
				if bad {
					return lines[i], nil
				}
				return strconv.Unquote(`"` + lines[i] + `"`)
			})
		}
	}}

// All texts together are a name and a message in the reports for people.
var controlReports = &judge{name: "generated: control characters in reports, Unicode tables of Node.js",
	of: programVersion(0, "node", "--version"), cases: 5, sound: true, needs: []string{"node"}, run: func(r *run) {
		quoted, err := json.Marshal(strings.ToValidUTF8(strings.Join(naughty(), "x"), ""))
		if err != nil {
			r.Fatal(err)
		}
		sample := string(readFile(r, "..", "..", "internal", "report", "testdata", "audited.json"))
		for _, plain := range []string{`"Acme"`, `"append-only: this commit deletes the path"`} {
			if !strings.Contains(sample, plain) {
				r.Fatalf("the sample lacks %s", plain)
			}
			sample = strings.ReplaceAll(sample, plain, string(quoted))
		}
		doc, err := report.Read("audited.json", []byte(sample))
		if err != nil {
			r.Fatal(err)
		}
		formats, texts := []string{"text", "markdown", "github", "html", "junit"}, []string{}
		for _, format := range formats {
			var out bytes.Buffer
			if err := report.Write(&out, format, doc, report.Options{}); err != nil {
				r.Fatal(err)
			}
			texts = append(texts, out.String())
		}
		for i, bad := range shownTexts(r, texts, true) {
			r.compare(formats[i], answer{value: "shown"}, func() (string, error) {
				if bad || !strings.Contains(texts[i], "2028") {
					return texts[i], nil
				}
				return "shown", nil
			})
		}
	}}
