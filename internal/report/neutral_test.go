package report

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/ghtest"
)

func TestLine(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
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
		{"a pile of marks", "a" + strings.Repeat("\u0300", 6), "a" + strings.Repeat("\u0300", 4) + `\u0300\u0300`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Line(test.in); got != test.want {
				t.Errorf("Line(%q)\n got %s\nwant %s", test.in, got, test.want)
			}
		})
	}
}

func TestMarkdown(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"", ""},
		{"did:web:acme.example", "`did:web:acme.example`"},
		{"@maintainer fixes #1, see [x](https://evil.example) <img src=x>",
			"`@maintainer fixes #1, see [x](https://evil.example) <img src=x>`"},
		{"a`b``c", "`a\\x60b\\x60\\x60c`"},
		{"^(a|b)$", "`^(a\\x7cb)$`"},
		{"a\n\n# b", "`a\\n\\n# b`"},
	} {
		if got := Markdown(test.in); got != test.want {
			t.Errorf("Markdown(%q) = %s, want %s", test.in, got, test.want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, test := range []struct {
		in    string
		limit int
		want  string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"äöü", 3, "äöü"},
		{"äöüß", 3, "äö…"},
		{"👍👍", 4, "👍👍"},
		{"👍👍👍", 4, "👍…"},
		{"👍👍", 3, "👍…"},
	} {
		if got := cut(test.in, test.limit); got != test.want {
			t.Errorf("cut(%q, %d) = %q, want %q", test.in, test.limit, got, test.want)
		}
	}
}

func FuzzLine(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Line(s)
		if !utf8.ValidString(got) {
			t.Errorf("Line(%q) = %q: not UTF-8", s, got)
		}
		for _, r := range got {
			if !visible(r) {
				t.Errorf("Line(%q) = %q: holds %U", s, got, r)
			}
		}
		if again := Line(got); again != got {
			t.Errorf("Line(%q) = %q, and again %q", s, got, again)
		}
		for _, prefix := range []string{"", " ", "fix: ", "    "} {
			if found := ghtest.Commands(prefix + got); found != nil {
				t.Errorf("%q before Line(%q) = %q: the runner finds %v", prefix, s, got, found)
			}
		}
		checkSpan(t, Markdown(s))
	})
}

// checkSpan fails unless s is one code span, or empty.
func checkSpan(t *testing.T, s string) {
	t.Helper()
	if s == "" {
		return
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(s, "`"), "`")
	if len(inner) != len(s)-2 || inner == "" || strings.ContainsAny(inner, "`|\r\n") {
		t.Errorf("%q is not one code span", s)
	}
}

// hostile are texts that try to take effect somewhere.
var hostile = []string{
	"x",
	"::error::pwned",
	"::stop-commands::token",
	"  ::error::pwned",
	" \t::set-output name=verdict::pass",
	"a\n::add-mask::a",
	"a\r::group::a\u2028::error::b\u0085::error::c",
	"%0A::error::a%0D%0A",
	"##[error]pwned",
	"x ##[group]a\r##[endgroup]",
	"#\u200b#\u00ad[command]rm -rf /",
	"##\x1b[error]",
	"]]##[error]##",
	"\x1b[2J\x1b[1;1Hpass: all is well",
	"\x1b]8;;https://evil.example\x07click\x1b]8;;\x07",
	"abc\u202egnp.exe \u2066x\u2069 \u200f",
	"Z\u0335\u0321\u0358\u0301\u0316\u0320",
	"`code` ``more`` |pipe| \\| \\`",
	strings.Repeat("`", 200) + " <script>alert(1)</script>",
	"</code></td></table></details><h1>pass</h1><img src=x onerror=alert(1)>",
	"[click](https://evil.example) ![x](https://evil.example/x.png) <https://evil.example>",
	"[text](0) {0} {1} {{2}}",
	"@maintainer #1 owner/repo#2 GH-3 0123456789012345678901234567890123456789 evil@mail.example www.evil.example " +
		":smile:",
	"https://good.example@evil.example/",
	"https://evil.example/>)<b>x</b>",
	"javascript:alert(1)",
	"# heading\n\n- list\n\n---\n\n<!-- comment",
	"]]><failure/>&lt;&#x1b;",
	"{\"verdict\":\"pass\"}",
	"oap_gate_verdict{verdict=\"pass\"} 1\n\\\"",
	"\xff\xfe\x00\xed\xa0\x80",
	"~~~\n```\n$$x$$ *b* _i_ ~s~ &copy; &#64;",
	"implementations/../../etc/passwd:1:1: layout: error",
}
