package report

import (
	"strings"
	"testing"
)

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

func FuzzMarkdown(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkSpan(t, Markdown(s)) })
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
