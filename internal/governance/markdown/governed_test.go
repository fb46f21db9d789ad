package markdown

import (
	"errors"
	"strings"
	"testing"
)

// editorial reports whether two texts require the same and have the same Status, in a tree that has only the old text
// and here.md.
func editorial(t *testing.T, old, new string) bool {
	t.Helper()
	o, err := Read(old)
	if err != nil {
		t.Fatal(err)
	}
	n, err := Read(new)
	if err != nil {
		t.Fatal(err)
	}
	words := Words(old)
	changes, _ := Compare(o, n, Tree{
		Used:  func(word string) bool { return words[word] > 1 },
		Lacks: func(target string) bool { return target == "gone.md" || strings.HasPrefix(target, "<") },
	})
	for _, c := range changes {
		if c.Describe(200) == "" {
			t.Errorf("a change of %q is not described", old)
		}
	}
	same := len(changes) == 0 && len(o.Status) == len(n.Status)
	for i := range o.Status {
		same = same && o.Status[i].Text == n.Status[i].Text
	}
	return same
}

const must = "It MUST bow.\n"

// TestTwins has cheap ways to change a requirement, next to honest edits that look like them.
func TestTwins(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		editorial      bool
	}{
		{"no requirement", "One.", "Two.", true},
		{"a requirement", "It MUST be one.", "It MUST be two.", false},
		{"in small letters", "It must be one.", "It must be two.", true},
		{"emphasis", "It **MUST** be *one*.", "It MUST be one.", true},
		{"code", "It MUST be `one`.", "It MUST be one.", false},
		{"a full-width letter", "It is.", "It ＭUST.", false},
		{"a block outside", "One.\n\nIt MUST.", "Two.\n\nIt MUST.", true},
		{"another order", "It MUST a.\n\nIt MUST b.", "It MUST b.\n\nIt MUST a.", false},
		{"into a comment", "It MUST.", "<!--\nIt MUST.\n-->", false},
		{"into a heading", "It MUST.", "# It MUST.", false},
		{"a governed row", "It MUST:\n\n| a |\n|---|", "It MUST:\n\n| b |\n|---|", false},
		{"a row beside one with a requirement", "| a |\n|---|\n| MUST |", "| b |\n|---|\n| MUST |", false},
		{"a row of another table", "| a |\n|---|\n\nIt MUST.", "| b |\n|---|\n\nIt MUST.", true},
		{"below a heading", "# MUST\n\nOne.", "# MUST\n\nTwo.", false},
		{"below the next heading", "# MUST\n\n# A\n\nOne.", "# MUST\n\n# A\n\nTwo.", true},
		{"a repair", "It MUST be opn.", "It MUST be open.", true},
		{"another first letter", "It MUST be visible.", "It MUST be invisible.", false},
		{"a swap", "It MUST be recieved.", "It MUST be received.", true},
		{"four repairs", "It MUST keyss linnes wordss pagees.", "It MUST keys lines words pages.", false},
		{"a number", "It MUST be 30.", "It MUST be 3.", false},
		{"a point in a number", "It MUST be 3.0", "It MUST be 30", false},
		{"doubled", "It MUST be be so.", "It MUST be so.", true},
		{"a doubled number", "It MUST be 3 3.", "It MUST be 3.", false},
		{"a doubled negation", "It MUST not not be.", "It MUST not be.", false},
		{"a doubled requirement", "It MUST MUST be.", "It MUST be.", false},
		{"an operator", "It MUST a == b.", "It MUST a != b.", false},
		{"a word in use", "It MUST be lest. It is lest.", "It MUST be lost. It is lest.", false},
		{"details wrap", "A\n\n" + must, "A\n\n<details>\n\n" + must + "\n</details>\n", false},
		{"details around with link closing", "A\n\n" + must, "A\n\nx <details> [x](</details>)\n\n" + must, false},
		{"details escaped closing", "A\n\n" + must, "A\n\nx <details> \\</details>\n\n" + must, false},
		{"details code closing", "A\n\n" + must, "A\n\nx <details> `</details>`\n\n" + must, false},
		{"details comment closing", "A\n\n" + must, "A\n\n<details><!-- </details> -->\n\n" + must, false},
		{"div hidden", must, "<div hidden>\n\n" + must + "\n</div>\n", false},
		{"div hidden nested", must, "<div hidden>\n<div>\n</div>\n\n" + must, false},
		{"div style", must, "<div style=\"display:none\">\n\n" + must, false},
		{"div title swallow", must, "<div title=\"\n\n" + must + "\n\">\n", false},
		{"raw comment in code", must, "<div>\n`<!--`\n\n" + must + "\n`-->`\n", false},
		{"script", must, "<script>\n" + must + "</script>\n", false},
		{"del inline", must, "It <del>MUST</del> bow.\n", false},
		{"s unknown tag", must, "<b<s>\n\n" + must, false},
		{"blockquote html", must, "<blockquote>\n\n" + must + "\n</blockquote>\n", false},
		{"pre", must, "<pre>\n" + must + "</pre>\n", false},
		{"unclosed s before", "A\n\n" + must, "A <s>\n\n" + must, false},
		{"textarea", "A\n\n" + must, "A <textarea>\n\n" + must, false},
		{"into quote lazily", "> a\n\n" + must, "> a\n" + must, false},
		{"into list item", "- a\n\n" + must, "- a\n  " + must, false},
		{"into code in item", "- a\n\n  " + must, "- a\n\n      " + must, false},
		{"indented in quote", "> a\n>\n> " + must, "> a\n>\n>     " + must, false},
		{"to heading setext", must, must + "---\n", false},
		{"new by entity", "x\n", "x\n\nIt M&#85;ST bow.\n", false},
		{"new by hex entity", "x\n", "x\n\nIt &#x4d;UST bow.\n", false},
		{"new by comment", "x\n", "x\n\nIt MU<!-- -->ST bow.\n", false},
		{"new by tags", "x\n", "x\n\nIt M<b>U</b>ST bow.\n", false},
		{"new by stars", "x\n", "x\n\nIt M*U*ST bow.\n", false},
		{"new by br", "x\n", "x\n\nIt MUST<br>bow.\n", false},
		{"new by wbr", "x\n", "x\n\nIt MU<wbr>ST bow.\n", false},
		{"new by unknown", "x\n", "x\n\nIt MU<foo>ST bow.\n", false},
		{"new by zwsp", "x\n", "x\n\nIt MU\u200bST bow.\n", false},
		{"new by shy", "x\n", "x\n\nIt MU&shy;ST bow.\n", false},
		{"new fullwidth", "x\n", "x\n\nIt ＭＵＳＴ bow.\n", false},
		{"new cyrillic", "x\n", "x\n\nIt MU\u0405T bow.\n", false},
		{"new all cyrillic", "x\n", "x\n\nIt \u041c\u0423\u0405\u0422 bow.\n", false},
		{"new underlined", "x\n", "x\n\nIt M\u0332U\u0332S\u0332T\u0332 bow.\n", false},
		{"new math bold", "x\n", "x\n\nIt 𝐌𝐔𝐒𝐓 bow.\n", false},
		{"new circled", "x\n", "x\n\nIt ⓂⓊⓈⓉ bow.\n", false},
		{"new squared", "x\n", "x\n\nIt 🅼🆄🆂🆃 bow.\n", false},
		{"new flags", "x\n", "x\n\nIt 🇲🇺🇸🇹 bow.\n", false},
		{"new small caps", "x\n", "x\n\nIt ᴍᴜꜱᴛ bow.\n", false},
		{"new code M`US`T", "x\n", "x\n\nIt M`US`T bow.\n", false},
		{"new escape", "x\n", "x\n\nIt MUST\\! bow.\n", false},
		{"new underscore", "x\n", "x\n\nIt __MUST__ bow.\n", false},
		{"new in link", "x\n", "x\n\nIt [MUST](a) bow.\n", false},
		{"new in ref link", "x\n", "x\n\nIt [MU][a][ST][a] bow.\n\n[a]: b\n", false},
		{"new in link split", "x\n", "x\n\nIt [MU](a)ST bow.\n", false},
		{"new image alt", "x\n", "x\n\n![It MUST bow](a.png)\n", false},
		{"new img alt", "x\n", "x\n\n<img alt=\"It MUST bow\">\n", false},
		{"new title", "x\n", "x\n\n[x](a \"It MUST bow\")\n", false},
		{"new table cell", "| a |\n|---|\n| b |\n", "| a |\n|---|\n| MUST |\n", false},
		{"new strikethrough mixture", "x\n", "x\n\nIt ~~not~~ MU~~x~~ST MUST.\n", false},
		{"new in heading", "x\n", "# It MUST\n\nx\n", false},
		{"new in fence", "x\n", "```\nMUST\n```\n\nx\n", false},
		{"new in def title", "x\n", "x\n\n[a]: b \"It MUST bow\"\n", false},
		{"math", "x\n", "x\n\n$\\text{MUST}$\n", false},
		{"math split", "x\n", "x\n\n$M\\!U\\!S\\!T$\n", true},
		{"repoint via def", "It MUST follow [x].\n\n[x]: http://a\n",
			"It MUST follow [x].\n\n[x]: http://b\n", false},
		{"repoint via def label", "It MUST follow [the x][y].\n\n[y]: http://a\n",
			"It MUST follow [the x][y].\n\n[y]: http://b\n", false},
		{"repoint via multi-line def", "It MUST follow [x].\n\n[x]:\n  http://a\n",
			"It MUST follow [x].\n\n[x]:\n  http://b\n", false},
		{"repoint via def, its label over lines", "It MUST follow [the x].\n\n[the\nx]: http://a\n",
			"It MUST follow [the x].\n\n[the\nx]: http://b\n", false},
		{"repoint via def, its label with a bracket", "It MUST follow [the x][a\\]b].\n\n[a\\]b]: http://a\n",
			"It MUST follow [the x][a\\]b].\n\n[a\\]b]: http://b\n", false},
		{"a line above a def, which is text then", "It MUST follow [x].\n\n[x]: http://a\n",
			"It MUST follow [x].\n\nSee\n[x]: http://a\n", false},
		{"a def above that is none", "It MUST follow [x].\n\n[y]: http://b\n[x]: http://a\n",
			"It MUST follow [x].\n\n[y]: http://b c\n[x]: http://a\n", false},
		{"a def below another", "It MUST follow [x].\n\n[x]: http://a\n",
			"It MUST follow [x].\n\n[y]: http://b \"b\"\n[x]: http://a\n", true},
		{"repoint via def, its label in capitals", "It MUST follow [Straße].\n\n[STRASSE]: http://a\n",
			"It MUST follow [Straße].\n\n[STRASSE]: http://b\n", false},
		{"repoint via def, a label of 999 characters", "It MUST [" + strings.Repeat("x", 999) + "].\n\n[" +
			strings.Repeat("x", 999) + "]: a\n", "It MUST [" + strings.Repeat("x", 999) + "].\n\n[" +
			strings.Repeat("x", 999) + "]: b\n", false},
		{"repoint via def, a label of 999 long characters", "It MUST [" + strings.Repeat("中", 999) + "].\n\n[" +
			strings.Repeat("中", 999) + "]: a\n", "It MUST [" + strings.Repeat("中", 999) + "].\n\n[" +
			strings.Repeat("中", 999) + "]: b\n", false},
		{"repoint via def, a colon after the link", "[x]: it MUST bow.\n\n[x]: http://a\n",
			"[x]: it MUST bow.\n\n[x]: http://b\n", false},
		{"repoint via def in a footnote", "It MUST follow [x].[^a].\n\n[^a]: b\n\n    [x]: http://a\n",
			"It MUST follow [x].[^a].\n\n[^a]: b\n\n    [x]: http://b\n", false},
		{"repoint via def before an underlined heading", must + "\n[x]: http://a\nIt MUST follow [x].\n===\n",
			must + "\n[x]: http://b\nIt MUST follow [x].\n===\n", false},
		{"def in a heading without requirement", "It MUST follow [x].\n\n[x]: http://a\nA\n===\n",
			"It MUST follow [x].\n\n[x]: http://b\nA\n===\n", false},
		{"what looks like a def in code", "It MUST follow [x].\n\n# A\n\n    [x]: http://a\n\n[x]: http://c\n",
			"It MUST follow [x].\n\n# A\n\n    [x]: http://b\n\n[x]: http://c\n", true},
		{"def of another link", "It MUST follow [x].\n\n[x]: http://a\n[y\nz]: http://a\n",
			"It MUST follow [x].\n\n[x]: http://a\n[y\nz]: http://b\n", true},
		{"repoint html", "It MUST follow <a href=\"a\">x</a>.\n", "It MUST follow <a href=\"b\">x</a>.\n", false},
		{"repoint html behind a title", "It MUST follow <a title=\"x href=a\" href=b>x</a>.\n",
			"It MUST follow <a title=\"x href=a\" href=c>x</a>.\n", false},
		{"repoint html behind an attribute without a value", "It MUST follow <a download href=a>x</a>.\n",
			"It MUST follow <a download href=b>x</a>.\n", false},
		{"repoint html before another", "It MUST follow <a HREF = 'a' href=b>x</a>.\n",
			"It MUST follow <a HREF = 'c' href=b>x</a>.\n", false},
		{"repoint html that does not count", "It MUST follow <a href=a href=b>x</a>.\n",
			"It MUST follow <a href=a href=c>x</a>.\n", true},
		{"html address in other quotation marks", "It MUST follow <a id=b-1\nhref=a/>x</a>.\n",
			"It MUST follow <a href=\"a/\" data-href=c>x</a>.\n", true},
		{"repoint image", "It MUST follow ![x](a.png).\n", "It MUST follow ![x](b.png).\n", false},
		{"repoint autolink", "It MUST follow <http://a.b>.\n", "It MUST follow <http://a.c>.\n", false},
		{"repoint bare case", "It MUST follow http://a.b/X.\n", "It MUST follow http://a.b/x.\n", false},
		{"repoint without scheme", "It MUST follow www.a.b/X.\n", "It MUST follow www.a.b/x.\n", false},
		{"without scheme", "It MUST follow www.a.b.\n", "It MUST follow <https://www.a.b>.\n", true},
		{"dead link", "It MUST follow [x](gone.md).\n", "It MUST follow [x](here.md).\n", true},
		{"http", "It MUST follow [x](http://a).\n", "It MUST follow [x](https://a).\n", true},
		{"autolink https", "It MUST follow <http://a.b>.\n", "It MUST follow https://a.b.\n", true},
		{"inline to ref link", "It MUST follow [x](http://a).\n", "It MUST follow [x][y].\n\n[y]: http://a\n", true},
		{"footnote unreferred", "a[^1]\n\n[^1]: It MUST bow.\n", "a\n\n[^1]: It MUST bow.\n", false},
		{"footnote renamed ref elsewhere", "a[^1]\n\n[^1]: It MUST bow.\n", "b[^1]\n\n[^1]: It MUST bow.\n", true},
		{"footnote of a label that has one", "a[^1]\n\n[^1]: It MUST bow.\n",
			"a[^1]\n\n[^1]: b\n\n[^1]: It MUST bow.\n", false},
		{"footnote after that of another label", "a[^1]\n\n[^1]: It MUST bow.\n",
			"a[^1][^2]\n\n[^2]: b\n\n[^1]: It MUST bow.\n", true},
		{"footnote after another, unreferred", "a[^1][^2]\n\n[^1]: b\n[^2]: It MUST bow.\n",
			"a[^1]\n\n[^1]: b\n[^2]: It MUST bow.\n", false},
		{"footnotes parted", "a[^1][^2]\n\n[^1]: b\n[^2]: It MUST bow.\n",
			"a[^1][^2]\n\n[^1]: b\n\n[^2]: It MUST bow.\n", true},
		{"later paragraph of a footnote, unreferred", "a[^1]\n\n[^1]: b\n\n    It MUST bow.\n",
			"a\n\n[^1]: b\n\n    It MUST bow.\n", false},
		{"ruby parenthesis", "It MUST not bow.\n", "It MUST <rp>not</rp> bow.\n", false},
		{"meter", must, "<meter>It MUST bow.</meter>\n", false},
		{"popover", must, "<div popover>\n\n" + must + "\n</div>\n", false},
		{"cell beyond the columns", "| a | MAY | |\n|---|---|---|\n| b | c | MUST |\n",
			"| a | MAY |\n|---|---|\n| b | c | MUST |\n", false},
		{"empty column", "| a | MAY | |\n|---|---|---|\n| b | MUST | |\n", "| a | MAY |\n|---|---|\n| b | MUST |\n",
			true},
		{"image without address", "It MUST bow.\n", "It MUST <img alt=not> bow.\n", false},
		{"a mark that turns numbers", "It MUST be 2 : 3.\n", "It MUST be \u200f2 : 3.\n", false},
		{"an Arabic mark that turns numbers", "It MUST be 2 : 3.\n", "It MUST be &#x61c;2 : 3.\n", false},
		{"another direction", "It MUST be 12.\n", "It MUST be \u202e12\u202c.\n", false},
		{"a new word backwards", "x\n", "x\n\nIt \u202eTSUM\u202c bow.\n", false},
		{"a title that names an attribute", "It MUST <b>bow</b>.\n", "It MUST <b title='a hidden style'>bow</b>.\n",
			true},
		{"an attribute of a longer name", "It MUST <b>bow</b>.\n", "It MUST <b data-hidden>bow</b>.\n", true},
		{"an attribute without a blank before it", must, "<div/hidden>\n" + must, false},
		{"an attribute without its value", must, "<div title=>\n</div>\n\n" + must, true},
		{"another direction by a tag", "It MUST be 12.\n", "It MUST be <span dir=rtl>12</span>.\n", false},
		{"a new word with a control character", "x\n", "x\n\nIt MU\x01ST bow.\n", false},
		{"a new word before a form feed", "x\n", "x\n\nIt *MUST\fbow*.\n", false},
		{"a new word in code with a control character", "x\n", "x\n\n```\nMU\x7fST\n```\n", false},
		{"into front matter", must, "---\n" + must + "---\n", false},
		{"title in front matter", "---\ntitle: a\n---\n\n" + must, "---\ntitle: b\n---\n\n" + must, true},
		{"a fraction", "It MUST be 1½.\n", "It MUST be 11⁄2.\n", false},
		{"a vulgar fraction", "It MUST be 1⅝.\n", "It MUST be 15⁄8.\n", false},
		{"a raised letter", "It MUST be 2ᵏ.\n", "It MUST be 2k.\n", false},
		{"a micro sign", "It MUST be 2 µs.\n", "It MUST be 2 μs.\n", true},
		{"a power", "It MUST be 28.\n", "It MUST be 2⁸.\n", false},
		{"a power by a tag", "It MUST be 28.\n", "It MUST be 2<sup>8</sup>.\n", false},
		{"below by a tag", "It MUST be 2<sup>8</sup>.\n", "It MUST be 2<sub>8</sub>.\n", false},
		{"behind a comment that an item begins", must, "- <!--\n\n" + must, false},
		{"a comment that an item ends", must, "- <!--\n  -->\n\n" + must, true},
		{"a table of one column", "It MUST bow.\n:-\na\n", "It MUST bow.\n:-\n\na\n", false},
		{"a ruler that is indented", "It MUST|bow.\n    -|-\n\na|b\n", "It MUST|bow.\n  -|-\n\na|b\n", false},
		{"a longer power", "It MUST be 2<sup>8</sup>4.\n", "It MUST be 2<sup>84</sup>.\n", false},
		{"struck by tags elsewhere", "It MUST <del>not</del> bow.\n", "It MUST not <del>bow</del>.\n", false},
		{"struck by tags in another cell", "| <del>a</del> | MUST |\n|---|---|\n",
			"| a | <del>MUST</del> |\n|---|---|\n", false},
		{"struck by tags in capitals", "It MUST <del>not</del> bow.\n", "It MUST <DEL>not</DEL> bow.\n", true},
		{"lead keeps by tags", "It MUST send:\n\n<details>\n\n- a\n", "It MUST send:\n\n<details>\n\n- b\n", false},
		{"a mark of direction", "It MUST be 12.\n", "It MUST be \u200e12.\n", true},
		{"neg", "It MUST NOT bow.\n", "It MUST not bow.\n", false},
		{"star math", "It MUST be 3*4.\n", "It MUST be 34.\n", false},
		{"tilde", "It MUST ~~not~~ bow.\n", "It MUST not bow.\n", false},
		{"code to prose", "It MUST be `x`.\n", "It MUST be x.\n", false},
		{"a sign in code", "It MUST be `a: b`.\n", "It MUST be `a b`.\n", false},
		{"a backtick in code", "It MUST be ``a`b``.\n", "It MUST be `ab`.\n", false},
		{"out of an item that a rule begins", "-\n  ***\n\n  " + must, "-\n  ***\n\n " + must, false},
		{"signs around code", "It MUST be (`a b`).\n", "It MUST be `a b`.\n", true},
		{"case in code", "It MUST be `Key`.\n", "It MUST be `key`.\n", false},
		{"case", "It MUST be Key.\n", "It MUST be key.\n", true},
		{"typographic quotes", "It MUST be \"x\" - y.\n", "It MUST be “x” — y.\n", true},
		{"rewrap", "It MUST bow and sign.\n", "It MUST\nbow and\nsign.\n", true},
		{"hard break", "It MUST bow and sign.\n", "It MUST bow  \nand sign.\n", true},
		{"hard break backslash", "It MUST bow and sign.\n", "It MUST bow\\\nand sign.\n", true},
		{"bullet char", "It MUST:\n\n- a\n- b\n", "It MUST:\n\n* a\n* b\n", true},
		{"loose list", "It MUST:\n\n- a\n- b\n", "It MUST:\n\n- a\n\n- b\n", true},
		{"indented list", "It MUST:\n\n- a\n  - b\n", "It MUST:\n\n-   a\n    -   b\n", true},
		{"setext heading", "# A\n\n" + must, "A\n=\n\n" + must, true},
		{"closed heading", "# A\n\n" + must, "# A #\n\n" + must, true},
		{"outdent item", "It MUST:\n\n- a\n  - b\n- c\n", "It MUST:\n\n- a\n- b\n- c\n", false},
		{"swap items", "It MUST:\n\n- a\n- b\n", "It MUST:\n\n- b\n- a\n", false},
		{"table outer pipes", "a | b\n---|---\nx | MUST\n", "| a | b |\n|---|---|\n| x | MUST |\n", true},
		{"cell moved", "| a | b |\n|---|---|\n| MUST | |\n", "| a | b |\n|---|---|\n| | MUST |\n", false},
		{"cell doubled", "| a | b |\n|---|---|\n| MUST x | x |\n", "| a | b |\n|---|---|\n| MUST x | |\n", false},
		{"row under head", "| Check | Rule |\n|---|---|\n| a | MUST |\n| b | c |\n",
			"| Check | Rule |\n|---|---|\n| a | MUST |\n| b | d |\n", false},
		{"column swap", "| Check | Rule |\n|---|---|\n| a | MUST |\n",
			"| Rule | Check |\n|---|---|\n| a | MUST |\n", false},
		{"html heading over", "# A\n\n" + must, "# A\n\n<h2>Examples</h2>\n\n" + must, false},
		{"heading over", "# A\n\n" + must, "# A\n\n## Examples\n\n" + must, false},
		{"heading renumber", "## 2. A\n\n" + must, "## 3. A\n\n" + must, true},
		{"heading renumber bare", "## 1 A\n\nx\n\n## 2 B\n\n" + must,
			"## 1 A\n\nx\n\n## 2 X\n\n## 3 B\n\n" + must, true},
		{"heading days", "## 30 days\n\n" + must, "## 3 days\n\n" + must, false},
		{"heading renumber appendix", "## A.1 Foo\n\n" + must, "## B.2 Foo\n\n" + must, true},
		{"heading attr", "## A\n\n" + must, "## A {#a}\n\n" + must, true},
		{"heading misspelt", "## Dutis\n\n" + must, "## Duties\n\n" + must, true},
		{"heading case", "## Users\n\n" + must, "## USERS\n\n" + must, true},
		{"status hidden", "Status: Draft\n", "<!--\nStatus: Draft\n-->\nStatus: Accepted\n", false},
		{"status entity", "Status: Draft\n", "Stat&#117;s: Accepted\n", false},
		{"status second", "Status: Draft\n\nx\n", "Status: Draft\n\nx\n\n**Status**: Accepted\n", false},
		{"status bold", "Status: Draft\n", "**Status:** Draft\n", true},
		{"status bold 2", "**Status:** Draft\n", "**Status**: Draft\n", true},
		{"status next line", "Status:\nDraft\n", "Status:\nAccepted\n", false},
		{"status yaml", "---\nstatus: Draft\n---\n# A\n", "---\nstatus: Accepted\n---\n# A\n", false},
		{"status in code", "```\nStatus: 200\n```\n", "```\nStatus: 404\n```\n", true},
		{"status list", "- Status: Draft\n", "- Status: Accepted\n", false},
		{"plural", "It MUST sign the key.\n", "It MUST sign the keys.\n", true},
		{"lead by new para", "It MUST send:\n\n- a\n", "It MUST send:\n\nx\n\n- a\n", false},
		{"lead keeps by anchor", "It MUST send:\n\n- a\n", "It MUST send:\n\n<a id=\"x\"></a>\n\n- a\n", true},
		{"code under lead via hr", "It MUST send:\n\n- a\n", "It MUST send:\n\n---\n\n- b\n", false},
		{"code fence to tilde", "It MUST send:\n\n```\na\n```\n", "It MUST send:\n\n~~~js\na\n~~~\n", true},
		{"code indent to fence", "It MUST send:\n\n    a\n", "It MUST send:\n\n```\na\n```\n", true},
		{"crlf", "It MUST:\n\n- a\n", "It MUST:\r\n\r\n- a\r\n", true},
		{"tab", "It MUST:\n\n- a\n", "It MUST:\n\n-\ta\n", true},
		{"bom", must, "\ufeff" + must, true},
		{"exclamation", "It MUST bow.\n", "It MUST bow!\n", false},
		{"question", "It MUST bow.\n", "It MUST bow?\n", true},
		{"outside edit", "x\n\n" + must + "\nNote.\n", "y\n\n" + must + "\nNote that.\n", true},
		{"outside comment", "x\n\n" + must, "x <!-- y -->\n\n" + must, true},
		{"outside list", must + "\nA:\n\n- b\n", must + "\nA:\n\n- c\n", true},
		{"item para", "- It MUST bow.\n\n  for 30 days\n", "- It MUST bow.\n\n  for 3 days\n", false},
		{"later para leads code", "- Sign.\n\n  It MUST send:\n\n  ```\n  a\n  ```\n",
			"- Sign.\n\n  It MUST send:\n\n  ```\n  b\n  ```\n", false},
		{"quote lead", "> It MUST:\n>\n> - a\n", "> It MUST:\n>\n> - b\n", false},
		{"quote other", must + "\nX\n\n> a\n", must + "\nX\n\n> b\n", true},
		{"a lazy line of a footnote", "a[^1]\n\n[^1]: b\n\n    It MUST\nbow.\n",
			"a[^1]\n\n[^1]: b\n\n    It MUST\nrun.\n",
			false},
		{"an item of a footnote", "a[^1]\n\n[^1]: It MUST:\n\n    - b\n", "a[^1]\n\n[^1]: It MUST:\n\n    - c\n",
			false},
		{"an item of a footnote, wrapped", "a[^1]\n\n[^1]: - It MUST bow.\n", "a[^1]\n\n[^1]: - It MUST\n      bow.\n",
			true},
		{"out of a footnote", "a[^1]\n\n[^1]: b\n\n    It MUST bow.\n", "a[^1]\n\n[^1]: b\n\n   It MUST bow.\n", false},
		{"a heading in a footnote", "a[^1]\n\n[^1]: b\n\n    It MUST bow.\n",
			"a[^1]\n\n[^1]: b\n\n    ## c\n\n    It MUST bow.\n", false},
		{"into another footnote", "a[^1][^2]\n\n[^1]: b\n\n    It MUST bow.\n\n[^2]: c\n",
			"a[^1][^2]\n\n[^1]: b\n\n[^2]: c\n\n    It MUST bow.\n", false},
		{"an item after a footnote", "It MUST:[^1]\n\n[^1]: b\n\n- a\n", "It MUST:[^1]\n\n[^1]: b\n\n- c\n", false},
		{"a footnote after a requirement", "It MUST.[^1]\n\n[^1]: b\n", "It MUST.[^1]\n\n[^1]: c\n", true},
		{"repoint via def, its label like a footnote's", "It MUST follow [^a b].\n\n[^a b]: http://a\n",
			"It MUST follow [^a b].\n\n[^a b]: http://b\n", false},
		{"behind an instruction with a tag", must, "<?a>\n<del>\n?>\n\n" + must, false},
		{"behind character data with a tag", must, "<![CDATA[a>\n<del>\n]]>\n\n" + must, false},
		{"behind a declaration with a tag", must, "<!a>\n<del>\n\n" + must, false},
		{"behind a declaration in HTML with a tag", must, "<p>\n<!1><del>\n\n" + must, false},
		{"behind a comment with a tag", must, "<!-- a --!><del>\n-->\n\n" + must, false},
		{"behind an instruction within text", must, "a <?a><del>?>\n\n" + must, false},
		{"behind a whole instruction", must, "<?a?>\n\n" + must, true},
		{"behind a whole comment", must, "<!-- <del> -->\n\n" + must, true},
		{"below a comment in an item", "- It MUST bow.\n", "- <!-- a -->\n  It MUST bow.\n", true},
		{"end of a tag that swallows a quote",
			"> <div title=\"\n\n<p>\">\n\n" + must, "> <div title=\"\n\n<p>\n\n" + must,
			false},
		{"a list in HTML", "It MUST send:\n\n<ul>\n<li>a</li>\n</ul>\n", "It MUST send:\n\n<ul>\n<li>b</li>\n</ul>\n",
			false},
		{"a list in HTML, parted", "It MUST send:\n\n<ul>\n\n<li>\n\na\n", "It MUST send:\n\n<ul>\n\n<li>\n\nb\n",
			false},
		{"a table in HTML", "It MUST send:\n\n<table><tr><td>a</table>\n",
			"It MUST send:\n\n<table><tr><td>b</table>\n",
			false},
		{"code in HTML", "It MUST send:\n\n<pre>a</pre>\n", "It MUST send:\n\n<pre>b</pre>\n", false},
		{"a list in HTML behind many elements", "It MUST:\n\n" + strings.Repeat("<s>", 40) + "<ul><li>a</ul>\n",
			"It MUST:\n\n" + strings.Repeat("<s>", 40) + "<ul><li>b</ul>\n", false},
		{"a list in HTML in many elements", "It MUST:\n\n" + strings.Repeat("<s>", 40) + "<ul>\n\n<li>a\n",
			"It MUST:\n\n" + strings.Repeat("<s>", 40) + "<ul>\n\n<li>b\n", false},
		{"into a list in HTML", must, "<ul>\n<li>\n\n" + must + "\n</li>\n</ul>\n", false},
		{"an item in HTML without a list", "It MUST send:\n\n<li>a\n", "It MUST send:\n\n<li>b\n", false},
		{"into an item in HTML", must, "<li>\n\n" + must + "\n</li>\n", false},
		{"below a list in HTML without end tags", "<ul><li>a</ul>\n\n" + must, "<ul><li>a<li>b</ul>\n\n" + must, true},
		{"below lists in HTML without end tags", "<dl><dt>a<dd>b<ul><li>a</ul></dl>\n\n" + must, must, true},
		{"an end tag in a table", must, "<details><table></details></table>\n\n" + must, false},
		{"end tags of a table", must, "<details><table></table></details>\n\n" + must, true},
		{"an entity without its end in an address", "It MUST follow [x](a?b&copy;c).\n",
			"It MUST follow [x](a?b&copyc).\n",
			false},
		{"an entity in an address", "It MUST follow [x](a?b&c).\n", "It MUST follow [x](a?b&amp;c).\n", true},
		{"an entity twice in an address", "It MUST follow <a href='a&amp;lt;'>x</a>.\n",
			"It MUST follow <a href='a&lt;'>x</a>.\n",
			false},
		{"out of an element that an item ends", "<details>\n\n" + must, "- <details>\n\n" + must, false},
		{"an element that an item ends, elsewhere", must + "\n- <details>\n\nA\n", must + "\n- <details>\n\nB\n",
			false},
		{"an element that ends in its item", must + "\n- <details>\n  </details>\n\nA\n",
			must + "\n- <details>\n  </details>\n\nB\n", true},
		{"behind a tag without its end", must + "\n<div title='\n\nA\n", must + "\n<div title='\n\nB\n", false},
		{"before a tag without its end", "A\n\n" + must + "\n<div title='\n", "B\n\n" + must + "\n<div title='\n",
			true},
		{"another element by a sign", "<p>\n<s>It MUST bow.</s>\n", "<p>\n<s.>It MUST bow.</s.>\n", false},
		{"an element in a value", "<s>\n\n" + must, "<p title='<s>'>\n\n" + must, false},
		{"an entity without its end", "It MUST be < 5;\n", "It MUST be &lt 5;\n", false},
		{"an entity without its end in HTML", "<p>\nIt MUST be < 5;\n", "<p>\nIt MUST be &lt 5;\n", true},
		{"a row of a bar alone", "|a|\n|-|\nIt MUST\n", "|a|\n|-|\n|\nIt MUST\n", false},
		{"a header of a bar alone", "|\n|-|\nIt MUST\n", "| |\n|-|\nIt MUST\n", false},
		{"struck text that a star ends", "It MUST ~~not~~ bow.\n", "It MUST ~~not~*~ bow.\n", false},
		{"struck text in capitals and bold", "It MUST ~~not~~ bow.\n", "It MUST **~~not~~** bow.\n", true},
		{"struck text that is escaped", "It MUST ~~not~~ bow.\n", "It MUST \\~\\~not\\~\\~ bow.\n", false},
		{"struck text of entities", "It MUST ~~not~~ bow.\n", "It MUST &#126;&#126;not&#126;~ bow.\n", false},
		{"struck text in HTML", "It MUST ~~not~~ bow.\n", "<p>It MUST ~~not~~ bow.</p>\n", false},
		{"case in code in HTML", "It MUST be <code>Key</code>.\n", "It MUST be <code>key</code>.\n", false},
		{"case in later code in HTML", "It MUST be <code>a Key</code>.\n", "It MUST be <code>a key</code>.\n", false},
		{"case in lines of code in HTML", "It MUST be:\n\n<pre>\n\nKey b\n", "It MUST be:\n\n<pre>\n\nkey b\n", false},
		{"a sign in code in HTML", "It MUST be <code>a; b</code>\n", "It MUST be <code>a b</code>\n", false},
		{"a sign behind code in HTML", "It MUST be <code>a b</code>\n", "It MUST be <code>a b</code>.\n", true},
		{"case behind code in HTML", "It MUST be <code>a</code> Key.\n", "It MUST be <code>a</code> key.\n", true},
		{"a new word in code in HTML", "x\n", "It <code>MUST</code> bow.\n", false},
		{"a number without its semicolon", "It MUST be &#60; 5\n", "It MUST be &amp#60; 5\n", false},
		{"a longer name of an entity", "It MUST be ¬it;\n", "It MUST be &notit;\n", false},
		{"a list in HTML elsewhere", must + "\nA\n\n<ul><li>a</ul>\n", must + "\nA\n\n<ul><li>b</ul>\n", true},
		{"a picture in HTML", must + "\n<p>a</p>\n", must + "\n<p>b</p>\n", true},
		{"a tag that breaks an address", "It MUST follow https://a.b/cd.\n", "It MUST follow https://a.b/c<b></b>d.\n",
			false},
		{"a link that breaks an address", "It MUST follow https://a.b/cd [e](f).\n",
			"It MUST follow https://a.b/c[d](f) e.\n", false},
		{"stars in an address", "It MUST follow www.a.b.\n", "It MUST follow www.a.*b.\n", false},
		{"repoint an emphasized address", "It MUST follow _https://a.b/C_.\n", "It MUST follow _https://a.b/c_.\n",
			false},
		{"an emphasized address", "It MUST follow https://a.b/C.\n", "It MUST follow **https://a.b/C**.\n", true},
		{"nested under heading", "## It MUST\n\n### Foo\n\n- a\n", "## It MUST\n\n### Foo\n\n- b\n", false},
	} {
		if got := editorial(t, c.old, c.new); got != c.editorial {
			t.Errorf("%s: editorial is %t", c.name, got)
		}
		if got := editorial(t, c.new, c.old); got != c.editorial && c.name != "dead link" && c.name != "a word in use" {
			t.Errorf("%s, from new to old: editorial is %t", c.name, got)
		}
		if !editorial(t, c.old, c.old) || !editorial(t, c.new, c.new) {
			t.Errorf("%s: a text differs from itself", c.name)
		}
	}
}

// TestHostile checks that no input takes long or differs from itself. More than the limit is an error.
func TestHostile(t *testing.T) {
	size := 1 << 16
	for _, part := range []string{"> ", ">", "*", "- ", "| a ", "MUST ", "<!--", "\x00", "\xff\xfe", "[", "](",
		"[a](b ",
		"`", "`a``b", "<a ", "<a b=\"", "<a b='", ">\n", "a\n\n", "- MUST\n", "  - MUST\n", "# MUST\n",
		"|a|b|\n|-|-|\n|MUST|x|\n\n", "<div>\n\n", "<details>\n\nMUST\n\n", "&#77;", "\\", "é", "中文字", "ꓓ ",
		"M\u0301", "[a]: b\n[a]\n", "~~~\nMUST\n~~~\n", "\t", "1. ", "<?", "<!X", "<![CDATA[", "a\n===\n",
		"[^a]: b\n\n", "Status: x\n", "<s>MUST</s> ", "<td>", "<div title=\"\n\n", "\u200b", "ﷺ"} {
		for _, begin := range []string{"", "<div>\n", "- MUST\n  "} {
			text := begin + strings.Repeat(part, size/len(part))
			d, err := Read(text)
			if err != nil {
				continue
			}
			if changes, _ := Compare(d, d, Tree{}); len(changes) > 0 {
				t.Errorf("%q repeated differs from itself", part)
			}
			if strings.Contains(part, "MUST") && d.Requirements() == "" {
				t.Errorf("%q repeated has no requirement", part)
			}
		}
	}
	if d, err := Read(strings.Repeat("- ", 10_000) + "MUST"); err != nil || !d.Blocks[0].Required {
		t.Errorf("an item of many levels: %v", err)
	}
	for _, text := range []string{strings.Repeat("\n", maxLines+1), strings.Repeat("MUST ", maxWords+1)} {
		if _, err := Read(text); !errors.Is(err, ErrLimit) {
			t.Errorf("%.8q repeated: %v", text, err)
		}
	}
}

// TestManyAttributes checks that a tag with many attributes is not copied for each of them: a pull request chooses how
// many there are.
func TestManyAttributes(t *testing.T) {
	many, _ := ParseTag("<a" + strings.Repeat(" b=c", 10_000) + ">")
	copies := testing.AllocsPerRun(1, func() {
		if _, found := many.attribute("href"); found {
			t.Error("the tag has an address")
		}
	})
	if copies > 10 {
		t.Errorf("the search allocates %v times", copies)
	}
}

// FuzzRead checks that any text is read, that it equals itself, and that an added requirement is seen.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"# a\n\nb MUST\n- c\n", "> a\n```\nb", "|a|\n|-|\n|b|", "<!-- a\n-->\n<div>b",
		"<!d \x80\x80\x81>\n", "<!d ȺȺȺ>\n", "<p A=ȺȺȺȺȺȺȺȺ hidden=a>b", "[a]: b 'c'\n[a][]", "- a\n\n      b",
		"<p>\n<s", "<p hidden>a</p>&amp;\\*`b`"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Read(text)
		if err != nil {
			return
		}
		if changes, _ := Compare(d, d, Tree{}); len(changes) > 0 {
			t.Errorf("differs from itself: %s", changes[0].Describe(100))
		}
		for _, b := range d.Blocks {
			d.Text(b)
		}
		more, err := Read("It MUST bow.\n\n" + text)
		if err != nil {
			t.Fatal(err)
		}
		if changes, _ := Compare(d, more, Tree{}); len(changes) == 0 {
			t.Error("a requirement before the text is not seen")
		}
	})
}
