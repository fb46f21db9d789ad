package foreign_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
)

var lines = []struct{ name, in, want string }{
	{"plain", "implementations/acme.json: 3 of 4 (75%)", "implementations/acme.json: 3 of 4 (75%)"},
	{"empty", "", ""},
	{"letters of other scripts", "Überprüfung 検証 проверка ✓ 👍", "Überprüfung 検証 проверка ✓ 👍"},
	{"decomposed letters", "e\u0301 ก\u0e35\u0e49", "e\u0301 ก\u0e35\u0e49"},
	{"command at the start", "::error::x", `\x3a:error::x`},
	{"command behind blanks", "  ::error::x", `  \x3a:error::x`},
	{"command behind a tab", "\t::error::x", `\t::error::x`},
	{"command behind a no-break space", "\u00a0::error::x", `\u00a0::error::x`},
	{"colons inside", "a::b", "a::b"},
	{"legacy command", "x ##[error]y", `x ##\x5berror]y`},
	{"legacy command behind more", "###[group]", `###\x5bgroup]`},
	{"legacy command with a hidden character", "#\u200b#[error]", `#\u200b#[error]`},
	{"legacy command with a variation selector", "##\ufe0f[error]", `##\ufe0f[error]`},
	{"a bracket alone", "a[0] #[x]", "a[0] #[x]"},
	{"line breaks", "a\nb\rc\u0085d\u2028e\u2029f\vg\fh", `a\nb\rc\u0085d\u2028e\u2029f\x0bg\x0ch`},
	{"colour", "\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
	{"one-byte control sequence", "\u009b31m", `\u009b31m`},
	{"hyperlink", "\x1b]8;;https://evil.example\x07x", `\x1b]8;;https://evil.example\x07x`},
	{"backspace and delete", "a\bb\x7f", `a\x08b\x7f`},
	{"bidirectional", "a\u202eb\u2066c\u200fd\u061ce", `a\u202eb\u2066c\u200fd\u061ce`},
	{"zero width", "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg", `a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg`},
	{"looks like nothing", "a\u3164b\uffa0c\u115fd\u2800e", `a\u3164b\uffa0c\u115fd\u2800e`},
	{"tags", "a\U000e0041", `a\U000e0041`},
	{"private use and unassigned", "\ue000\U000f0000\uffff\u0378", `\ue000\U000f0000\uffff\u0378`},
	{"invalid UTF-8", "a\xff\xc0\xafb", `a\xff\xc0\xafb`},
	{"surrogate in UTF-8", "\xed\xa0\x80", `\xed\xa0\x80`},
	{"replacement character", "\ufffd", "\ufffd"},
	{"marks without a letter", "\u0338a: \u0301", `\u0338a: \u0301`},
	{"marks on an escape", "a\u3164\u0485 e\ufe0f\u0301", `a\u3164\u0485 e\ufe0f\u0301`},
	{"a pile of marks", "a" + strings.Repeat("\u0300", 6), "a" + strings.Repeat("\u0300", 4) + `\u0300\u0300`},
}

func TestLine(t *testing.T) {
	for _, test := range lines {
		t.Run(test.name, func(t *testing.T) {
			if got := foreign.Line(test.in); got != test.want {
				t.Errorf("Line(%q)\n got %s\nwant %s", test.in, got, test.want)
			}
		})
	}
}

func FuzzLine(f *testing.F) {
	for _, test := range lines {
		f.Add(test.in)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := foreign.Line(s)
		if !utf8.ValidString(got) {
			t.Errorf("Line(%q) = %q: not UTF-8", s, got)
		}
		for _, r := range got {
			if !foreign.Visible(r) {
				t.Errorf("Line(%q) = %q: holds %U", s, got, r)
			}
		}
		if again := foreign.Line(got); again != got {
			t.Errorf("Line(%q) = %q, and again %q", s, got, again)
		}
		for _, prefix := range []string{"", " ", "fix: ", "    "} {
			if found := ghtest.Commands(prefix + got); found != nil {
				t.Errorf("%q before Line(%q) = %q: the runner finds %v", prefix, s, got, found)
			}
		}
	})
}
