package spec

import (
	"slices"
	"strings"
	"testing"
)

// TestDeclaration holds what of a body declares that a change is additive only.
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
		{"a clause before a quotation", `It is not breaking: "additive only"`, true},
		{"not, before a bracket", "It is not breaking (additive only)", true},
		{"not in code", "not `really` additive only", false},
		{"a clause before", "It does not break anything: additive only.", true},
		{"a comma before", "Not a breaking change, additive only", true},
		{"a sentence before", "This is not breaking. Additive only.", true},
		{"a paragraph before", "This is not breaking\n\nAdditive only", true},
		{"an item before", "- no field is removed\n- additive only", true},
		{"an apostrophe before", "It does not change the schema's meaning and is additive only", true},
		{"another contraction", "It doesn't break and is additive only", true},
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
		{"too often in one sentence", strings.Repeat("not additive only ", 20_000) + ", additive only", false},
		{"empty", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := NewWords("the body", c.body)
			if got := w.declaration(); (got != "") != c.want {
				t.Errorf("declared %q, want %t; of\n%q\nremains\n%q", got, c.want, c.body, w.text)
			}
		})
	}
}

// TestException holds what of a body claims an exception, and justifies it.
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
		{"fifteen words", "Implementability Gate exception: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", justified},
		{"fourteen words", "Implementability Gate exception: 1 2 3 4 5 6 7 8 9 10 11 12 13 14", unjustified},
		{"dashes are no words", "Implementability Gate exception: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 - - -", unjustified},
		{"two paragraphs", "Implementability Gate exception: 1 2 3 4 5 6 7 8\n\n9 10 11 12 13 14 15 16", unjustified},
		{"alone", "Implementability Gate exception", unjustified},
		{"why before", why + "\n\nImplementability Gate exception", unjustified},
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

// TestCloses holds which issues a body closes.
func TestCloses(t *testing.T) {
	w := NewWords("the body", "Fixes #7, closes: #8 and resolved https://github.com/a/b/issues/9; see #10, prefixes "+
		"#11\n`fixes #12` > "+
		"fixed a/b#13\n> closes #14")
	if got, want := w.closes("A/b"), []int{7, 8, 9, 13}; !slices.Equal(got, want) {
		t.Errorf("closes %v, want %v", got, want)
	}
	if got, want := w.closes("a/c"), []int{7, 8}; !slices.Equal(got, want) {
		t.Errorf("closes %v of another repository, want %v", got, want)
	}
}

// FuzzClean holds that any text is cleaned, that no more comes out, and that nothing is found in what is gone.
func FuzzClean(f *testing.F) {
	for _, seed := range []string{"```\n<!-- `", "- [ ] a\n    - b", "[a]: <b\n'c", "![[]](\"", "~~a~~b~", "<a b='",
		"&lt;!--"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w := NewWords("the body", text)
		if got := NewWords("the body", "```\n"+strings.ReplaceAll(text, "`", "")); strings.TrimSpace(got.text) != "" {
			t.Errorf("of a fence that is not closed remains %q", got.text)
		}
		w.declaration()
		w.exception()
		w.closes("a/b")
	})
}
