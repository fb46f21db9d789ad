package governance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestDeclaration checks what of a body declares that a change is additive only.
func TestDeclaration(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       bool
	}{
		{"plain", "This change is additive only.", true},
		{"hyphen and capitals", "Additive-Only change.", true},
		{"over two lines", "The change is additive\nonly.", true},
		{"over two lines, CRLF", "The change is additive\r\nonly.\r\n", true},
		{"over two paragraphs", "The change is additive\n\nonly.", false},
		{"a blank that does not break", "additive\u00a0only", true},
		{"an entity", "additive&nbsp;only", true},
		{"bold", "**additive only**", true},
		{"a heading", "## Additive only\n", true},
		{"in a table", "| kind | additive only |\n|---|---|\n", true},
		{"a list item", "* additive only", true},
		{"a nested item", "- changes\n    - additive only\n", true},
		{"ticked", "1. [X] additive only", true},
		{"unticked", "- [ ] additive only", false},
		{"unticked, second sentence", "- [ ] I looked. It is additive only.", false},
		{"unticked, on the next line", "* [ ] the change is\n  additive only", false},
		{"unticked beside ticked", "- [ ] breaking\n- [x] additive only", true},
		{"unticked in an item of an item", "1. - [ ] additive only", false},
		{"unticked in a table", "| [ ] | additive only |", false},
		{"unticked without a list", "[x] breaking\n[ ] additive only", false},
		{"ticked without a list", "[ ] breaking\n[x] additive only", true},
		{"within a word", "superadditive only", false},
		{"within a word after", "additive onlyness", false},
		{"not", "not additive only", false},
		{"emphasised not", "This is **not** additive only", false},
		{"never, later", "It was never a plain additive only change", false},
		{"no", "no additive only change", false},
		{"neither", "neither breaking nor additive only", false},
		{"without", "without being additive only", false},
		{"isn't", "This isn't additive only", false},
		{"isn’t", "This isn’t really additive only", false},
		{"aren't by entity", "These aren&#39;t additive only", false},
		{"non-additive", "A non-additive-only change", false},
		{"nonadditive", "A nonadditive only change", false},
		{"not hidden by an invisible letter", "n\u200bot additive only", false},
		{"not, split by a tag", "n<b></b>ot additive only", false},
		{"not, before a quotation", `This is not "additive only"`, false},
		{"not, before curly quotes", "This is not “**additive only**”", false},
		{"not, before a link", "This is not [additive only](https://example.org)", false},
		{"a clause before a quotation", `It is not breaking: "additive only"`, false},
		{"not, before a bracket", "It is not breaking (additive only)", true},
		{"not in code", "not `really` additive only", false},
		{"a clause before", "It does not break anything: additive only.", true},
		{"a comma before", "Not a breaking change, additive only", true},
		{"a sentence before", "This is not breaking. Additive only.", true},
		{"a paragraph before", "This is not breaking\n\nAdditive only", true},
		{"an item before", "- no field is removed\n- additive only", true},
		{"an apostrophe before", "It keeps the schema's meaning and is additive only", true},
		{"another contraction", "It doesn't break and is additive only", false},
		{"a contraction in another clause", "It doesn't break, and is additive only", true},
		{"notable", "A notable additive only change", true},
		{"a question", "Is this additive only?", false},
		{"a question in bold", "**Is this additive only?**", false},
		{"a question, then yes", "Is this additive only? Yes, additive only.", true},
		{"the other phrase", "backward-compatibility-exception", false},
		{"fenced", "```\nadditive only\n```\n", false},
		{"fenced by tildes", "~~~ text\nadditive only\n~~~\n", false},
		{"fenced, unclosed", "```\nadditive only\n", false},
		{"behind a fence", "```\ncode\n```\nadditive only", true},
		{"a fence closed by more", "```\ncode\n`````\nadditive only", true},
		{"a fence not closed by fewer", "````\n```\nadditive only\n````\n", false},
		{"a fence not closed by the other kind", "```\n~~~\nadditive only\n```\n", false},
		{"a fence not closed with a word", "```\n``` x\nadditive only\n```\n", false},
		{"a fence not closed by an indented one", "```\n    ```\nadditive only\n```\n", false},
		{"no fence: a backtick follows", "``` a`b\nadditive only", true},
		{"fenced in an item", "- ```\n  additive only\n  ```\n", false},
		{"indented", "Text.\n\n    additive only\n", false},
		{"indented by a tab", "Text.\n\n\tadditive only\n", false},
		{"indented at the start", "    additive only", false},
		{"indented, but in a paragraph", "The change is\n    additive only", true},
		{"indented, but in an item", "- item\n\n    additive only\n", true},
		{"indented in an item", "- item\n\n      additive only\n", false},
		{"indented behind a list", "- item\n\ntext\n\n    additive only\n", false},
		{"comment", "<!-- additive only -->", false},
		{"comment over lines", "<!--\nadditive only\n-->", false},
		{"comment, unclosed", "Text <!-- additive only", false},
		{"comment that ends in code", "<!-- `-->` additive only", true},
		{"between comments", "<!-- a -->additive only<!-- b -->", true},
		{"split by a comment", "additive <!-- x -->only", true},
		{"attribute", `<span title="additive only">x</span>`, false},
		{"attribute with a bracket", `<span title="a > additive only">x</span>`, false},
		{"attribute over lines", "<span\ntitle='additive only'>x</span>", false},
		{"image element", `<img alt="additive only" src="x">`, false},
		{"unclosed tag", `<span title="additive only`, false},
		{"behind a tag", `<p align="left">additive only</p>`, true},
		{"in bold by tags", "<b>additive</b> only", true},
		{"details", "<details><summary>Kind</summary>\n\nadditive only\n\n</details>", true},
		{"a line break", "No field is removed.<br>additive only", true},
		{"code by tags", "<code>additive only</code>", false},
		{"preformatted", "<pre>\nadditive only\n</pre>", false},
		{"deleted by tags", "<del>additive only</del>", false},
		{"struck by tags", "<s>not</s> additive only", true},
		{"less than", "a < b, additive only", true},
		{"an address", "<https://example.org/additive only>", false},
		{"definition", "[a]: https://example.org 'additive only'", false},
		{"definition's label", "[additive only]: https://example.org", false},
		{"definition over lines", "[a]:\n  https://example.org\n  \"additive only\"\n", false},
		{"definition's title over lines", "[a]: https://example.org 'one\nadditive only'\n", false},
		{"definition in an item", "- [a]: https://example.org 'additive only'\n", false},
		{"behind a definition", "[a]: https://example.org\nadditive only", true},
		{"link text", "[additive only](https://example.org)", true},
		{"link target", "[x](https://example.org/additive-only)", false},
		{"link title", "[x](https://example.org \"additive only\")", false},
		{"link title with a bracket", "[x](https://example.org \") additive only\")", false},
		{"link target in angles", "[x](<additive only>)", false},
		{"link label", "[x][additive only]", false},
		{"image", "![additive only](x.png)", false},
		{"image in a link", "[![additive only](x.png)](y)", false},
		{"an image between", "additive ![x](y) only", false},
		{"struck", "~~additive only~~", false},
		{"struck by one", "~additive only~", false},
		{"struck over lines", "~~This is\nadditive only~~", false},
		{"a struck not", "~~not~~ additive only", true},
		{"about", "~5 fields, additive only, ~3 tests", true},
		{"code", "`additive only`", false},
		{"code by two", "``additive only``", false},
		{"code by two with one inside", "`` ` additive only` ``", false},
		{"no code: another length", "``additive only`", true},
		{"code between", "additive `x` only", false},
		{"quote", "> additive only", false},
		{"indented quote", "  >additive only", false},
		{"nested quote", "> > additive only", false},
		{"quote in an item", "- > additive only", false},
		{"under a quote", "> Does it break?\n\nNo. It is additive only.", true},
		{"everything at once", strings.Repeat("> ~~`![[<a b='", 20) + "\n\nadditive only", true},
		{"often in one sentence", strings.Repeat("not additive only ", 20_000) + ", additive only", true},
		{"too often in one clause", strings.Repeat("additive only ", 20_000) + "[ ]", false},
		{"a dash before", "Schema \u2014 additive only", true},
		{"two hyphens before", "No field changes -- additive only", true},
		{"a hyphen between blanks", "No field changes - additive only", true},
		{"parentheses", "Schema (additive only)", true},
		{"a part of a longer word", "This is semi-additive-only.", false},
		{"a word is longer by a hyphen", "This is additive-only-ish.", false},
		{"an apostrophe splits no word", "additive only's", false},
		{"a mark between", "additive/only", false},
		{"full width", "\uff21\uff44\uff44\uff49\uff54\uff49\uff56\uff45 only", true},
		{"denied behind", "Additive only it is not.", false},
		{"denied behind, in another clause", "Additive only, not breaking.", true},
		{"nothing is denied", "Additive only: no field is removed.", true},
		{"hardly", "This is hardly additive only.", false},
		{"far from", "This is far from additive only.", false},
		{"far, not far from", "This is by far additive only.", true},
		{"instead of", "It breaks instead of being additive only.", false},
		{"rather than", "It breaks rather than being additive only.", false},
		{"withdrawn", "The additive only claim is withdrawn.", false},
		{"refused", "They refused additive only", false},
		{"should", "This should be additive only.", false},
		{"please", "Please make it additive only.", false},
		{"whether", "Check whether it is additive only.", false},
		{"to do", "TO" + "DO additive only", false},
		{"once", "Additive only once the rename lands.", false},
		{"a condition first", "If the rename lands, it is additive only.", false},
		{"a condition in another sentence", "If in doubt, ask. It is additive only.", true},
		{"can't", "This can't be additive only", false},
		{"answered", "Additive only: no", false},
		{"answered with a reason", "Additive only: no, it removes a field", false},
		{"answered by n/a", "Additive only: N/A", false},
		{"answered by false", "Additive only = false", false},
		{"answered not yet", "Additive only: not yet", false},
		{"answered behind more words", "Additive only change: no", false},
		{"answered in the next sentence", "Additive only. No.", false},
		{"answered below a heading", "## Additive only\n\nNo\n", false},
		{"answered below a heading by an item", "## Additive only\n\n- none\n", false},
		{"not answered below a heading", "## Additive only\n\nNo field changes.\n", true},
		{"answered below a colon", "Additive only:\n\nno", false},
		{"answered yes", "Additive only: yes", true},
		{"answered in a row", "| a | b |\n|---|---|\n| Additive only | no |", false},
		{"answered yes in a row", "| a | b |\n|---|---|\n| Additive only | yes |\n| Breaking | no |", true},
		{"answered in a column", "| Additive only | Breaking |\n|---|---|\n| no | yes |", false},
		{"answered yes in a column", "| Additive only | Breaking |\n|---|---|\n| yes | no |", true},
		{"answered by a box in a row", "| a | b |\n|---|---|\n| Additive only | [ ] |", false},
		{"answered by two boxes", "Additive only: [ ] yes [x] no", false},
		{"answered by two boxes, yes", "Additive only: [x] yes [ ] no", true},
		{"answered by a cross", "Additive only: \u274c", false},
		{"a question without a blank", "additive only?Maybe", false},
		{"a question in parentheses", "(Is it additive only?) Maybe.", false},
		{"an address with a question mark", "Additive only, see https://example.org/?a=b.", true},
		{"unticked by a sign", "- \u2610 additive only", false},
		{"unticked by a sign without a list", "\u2610 additive only", false},
		{"ticked by a sign", "\u2611 additive only", true},
		{"unticked with backslashes", `- \[ \] additive only`, false},
		{"unticked by an element", `- <input type="checkbox"> additive only`, false},
		{"unticked by an element with a title", `- <input title="checked" data-checked> additive only`, false},
		{"ticked by an element", `- <input type="checkbox" checked> additive only`, true},
		{"below an unticked item", "- [ ] One of\n  - additive only\n  - other", false},
		{"in an unticked item", "- [ ] One of\n\n  additive only", false},
		{"ticked below an unticked item", "- [ ] One of\n  - [x] additive only", true},
		{"behind an unticked item", "- [ ] breaking\n\nadditive only", true},
		{"an item behind an unticked one", "- [ ] breaking\n- additive only", true},
		{"in quotation marks", "This is \u201cadditive only\u201d.", false},
		{"in other quotation marks", "This is \u00ab additive only \u00bb.", false},
		{"in German quotation marks", "This is \u201eadditive only\u201c.", false},
		{"in single quotation marks", "This is 'additive only'.", false},
		{"in quotation marks by entities", "This is &quot;additive only&quot;.", false},
		{"in quotation marks by an element", "This is <q>additive only</q>.", false},
		{"in quotation marks that are not closed", `He said: "it is additive only.`, false},
		{"in nested quotation marks", `"He said "it" is additive only" today`, false},
		{"behind quotation marks", `The "small" change is additive only.`, true},
		{"between apostrophes", "The schema's change is additive only, by the users' wish.", true},
		{"behind inches", `A 5" screen, additive only.`, true},
		{"lazy line of a quote", "> He wrote\nadditive only", false},
		{"behind a tag in a quote", "> <p>additive only</p>", false},
		{"behind a line break in a quote", "> He wrote:<br>additive only", false},
		{"a heading under a quote", "> He wrote\n## Additive only", true},
		{"an item under a quote", "> He wrote\n- additive only", true},
		{"a quote by an element", "<blockquote>\n\nadditive only\n\n</blockquote>", false},
		{"struck by a tag in a broken tag", "<b<s>additive only</s>", false},
		{"struck over blocks", "<del>\n\nadditive only\n\n</del>", false},
		{"behind struck blocks", "<del>\n\nbreaking\n\n</del>\n\nadditive only", true},
		{"struck by crossing tags", "<s><del></s>additive only</del>", false},
		{"hidden by an attribute", "<p hidden>additive only</p>", false},
		{"hidden by a style", `<span style="display:none">additive only</span>`, false},
		{"in an attribute of an invalid tag", "<div>\n<i a\"b\" title=\"> additive only \">x</i>\n</div>", false},
		{"in an attribute behind a slash", "<div>\n<i/title=\"> additive only \">x</i>\n</div>", false},
		{"in an attribute over blocks", "<div title=\"\n\n</div>additive only\n\n\">", false},
		{"behind an invalid tag", "<div>\n<a href=x=y>x</a> additive only\n</div>", true},
		{"hidden by an invalid tag", "<div>\n<p a\"b\" hidden>additive only</p>\n</div>", false},
		{"in an element whose name begins with that of a struck one", "<del-x>additive only</del-x>", true},
		{"hidden in a nested element", "<div hidden><div></div>additive only</div>", false},
		{"an escaped tag", `\<s>additive only`, true},
		{"an escaped tag within HTML", "<div>\\<s>additive only</s></div>", false},
		{"code that holds a comment's begin", "`<!--` additive only", true},
		{"code across a comment", "a ` b\nc ` <!-- ` additive only -->", false},
		{"code does not cross a comment that begins a line", "a `\n<!-- ` additive only -->", false},
		{"code does not end a comment within HTML", "<div>\n` <!-- ` additive only -->\n</div>", false},
		{"a comment over paragraphs", "Text <!-- a\n\nadditive only\n\n--> b", false},
		{"behind a comment over paragraphs", "Text <!-- a\n\nb --> c\n\nadditive only", true},
		{"behind a comment in its line", "<!-- a --> additive only", true},
		{"a fence in an item ends with it", "- ```\n\n```\nadditive only\n```", false},
		{"a fence within HTML", "<div>\n```\n</div>\n\n```\nadditive only\n```", false},
		{"a link over a comment", "[x](a<!-- ) additive only -->)", false},
		{"a target with a bracket in angles", "[x](<a) additive only>)", false},
		{"a target with code", "[x](`) additive only`)", false},
		{"definition's label over lines", "[foo\nbar]: /url (additive only)", false},
		{"what looks like a definition in a paragraph", "Text\n[a]: additive only", false},
		{"a footnote", "[^1]: additive only", false},
		{"a footnote over lines", "[^1]: Text\nadditive only", false},
		{"a footnote's later paragraph", "[^1]: Text\n\n    additive only", false},
		{"a box that looks like a definition", "[x] additive only", true},
		{"a name with a dot", "Also schemas/v1.0/a.json, additive only.", true},
		{"UTF-16", "a\x00d\x00d\x00i\x00t\x00i\x00v\x00e\x00 \x00o\x00n\x00l\x00y\x00", false},
		{"a NUL", "additive\x00only", false},
		{"empty", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := NewWords("the body", c.body)
			if got := w.says(additiveOnly); (got != "") != c.want {
				t.Errorf("declared %.100q, want %t; of\n%.200q\nremains\n%.300s", got, c.want, c.body,
					fmt.Sprintf("%+v", w.blocks))
			}
		})
	}
}

// TestException checks what of a body claims an exception, and justifies it.
func TestException(t *testing.T) {
	const why = "Only a broken cross reference in section 4 is mended, and the working group's minutes of May say so."
	for _, c := range []struct {
		name, body string
		want       claim
	}{
		{"one line", "Implementability Gate exception: " + why, justified},
		{"over two lines", "Implementability\nGate exception: " + why, justified},
		{"a heading", "### Implementability Gate exception\n\n" + why, justified},
		{"bold", "**Implementability Gate exception**\n\n" + why, justified},
		{"a link", "[Implementability Gate exception](https://example.org/minutes)\n\n" + why, justified},
		{"underscores and stops", "__Implementability Gate exception.__ : " + why, justified},
		{"why over lines", "Implementability Gate exception\n\nOnly a broken\ncross reference in section 4\nis " +
			"mended, and the " +
			"working group's\nminutes of May say so.", justified},
		{"five words", "Implementability Gate exception: 1 2 3 4 5", justified},
		{"four words", "Implementability Gate exception: 1 2 3 4", unjustified},
		{"dashes are no words", "Implementability Gate exception: 1 2 3 4 - - -", unjustified},
		{"two sentences", "Implementability Gate exception: 1 2 3 4. 5 6 7 8", unjustified},
		{"two paragraphs", "Implementability Gate exception: 1 2 3\n\n4 5 6 7", unjustified},
		{"the next sentence", "Implementability Gate exception. Only a heading of it changes.", justified},
		{"only the phrase again", "Implementability Gate exception. Implementability Gate exception granted.",
			unjustified},
		{"the phrase in two headings",
			"## Implementability Gate exception\n\nYes.\n\n## Implementability Gate exception",
			unjustified},
		{"another item", "- Implementability Gate exception\n- Only a heading of it changes.", justified},
		{"an unticked item", "- [x] Implementability Gate exception\n- [ ] Only a heading of it changes.", unjustified},
		{"why in another section", "## Why\n\n" + why + "\n\n## Implementability Gate exception\n", unjustified},
		{"a row", "Implementability Gate exception\n\n| Only a heading of it changes | x |\n|---|---|", unjustified},
		{"an underlined heading", "Implementability Gate exception\n---\n\n" + why, justified},
		{"a quoted heading between", "## Implementability Gate exception\n\n> # Quoted\n\n" + why, justified},
		{"requested", "Implementability Gate exception requested.\n\n" + why, justified},
		{"a dash in the heading", "### Implementability Gate exception \u2014 editorial\n\n" + why, justified},
		{"not needed", "We need no Implementability Gate exception. " + why, noClaim},
		{"asked", "Is an Implementability Gate exception needed? " + why, noClaim},
		{"pending", "Implementability Gate exception: pending\n\n" + why, noClaim},
		{"in quotation marks", "We wrote \"Implementability Gate exception\" here. " + why, noClaim},
		{"alone", "Implementability Gate exception", unjustified},
		{"why before", why + "\n\nImplementability Gate exception", justified},
		{"why in a comment", "Implementability Gate exception\n<!-- " + why + " -->", unjustified},
		{"why in code", "Implementability Gate exception\n\n```\n" + why + "\n```", unjustified},
		{"why in a quote", "Implementability Gate exception\n\n> " + why, unjustified},
		{"the second is justified", "Implementability Gate exception.\n\n## Implementability Gate exception\n\n" + why,
			justified},
		{"another letter case", "implementability gate exception: " + why, noClaim},
		{"in a comment", "<!-- Implementability Gate exception: " + why + " -->", noClaim},
		{"in code", "`Implementability Gate exception`: " + why, noClaim},
		{"in a link's title", "[x](y 'Implementability Gate exception') " + why, noClaim},
		{"struck out", "~~Implementability Gate exception~~ " + why, noClaim},
		{"none", why, noClaim},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := NewWords("the body", c.body).exception(); got != c.want {
				t.Errorf("claim %d, want %d", got, c.want)
			}
		})
	}
}

// TestCloses checks which issues a body may close: a forge reads code and quotes too.
func TestCloses(t *testing.T) {
	w := NewWords("the body", "Fixes #7, closes: #8 and resolved https://github.com/a/b/issues/9; see #10, prefixes "+
		"#11\n`fixes #12` > "+
		"fixed a/b#13\n> closes #14")
	if got, want := w.closes("A/b"), []int{7, 8, 9, 12, 13, 14}; !slices.Equal(got, want) {
		t.Errorf("closes %v, want %v", got, want)
	}
	if got, want := w.closes("a/c"), []int{7, 8, 12, 14}; !slices.Equal(got, want) {
		t.Errorf("closes %v of another repository, want %v", got, want)
	}
}

// FuzzClean checks that any text is cleaned, that no more comes out, and that nothing is found in what is gone.
func FuzzClean(f *testing.F) {
	for _, seed := range []string{"```\n<!-- `", "- [ ] a\n    - b", "[a]: <b\n'c", "![[]](\"", "~~a~~b~", "<a b='",
		"&lt;!--"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w := NewWords("the body", text)
		if got := NewWords("the body", "```\n"+strings.ReplaceAll(text, "`", "")); len(got.blocks) > 0 {
			t.Errorf("of a fence that is not closed remains %+v", got.blocks)
		}
		w.says(additiveOnly)
		w.exception()
		w.closes("a/b")
	})
}
