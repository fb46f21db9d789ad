package page

import (
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func TestSays(t *testing.T) {
	additive, exception := NewForm("Additive only", false), NewForm("Implementability Gate exception", false)
	cleared := NewForm("Charter Review Gate cleared", true)
	const said = "said"
	for _, row := range []struct {
		form       *Form
		text, want string
	}{
		{additive, "Additive only: adds `x`.", said},
		{additive, "ADDITIVE-ONLY", said},
		{additive, "a\nadditive only", said},
		{additive, "**Additive** only: x", said},
		{additive, "### Additive only", said},
		{additive, "1. Additive only.", said},
		{additive, "- [x] _Additive only_ (adds x)", said},
		{additive, "☑ additive only", said},
		{additive, "[X] additive only", said},
		{additive, "Additive&nbsp;only", said},
		{additive, "additive\u2011only", said},
		{additive, "Additive\u200b only", said},
		{additive, "Additive <b>only</b>: x", said},
		{additive, "Additive <!-- x -->only — x", said},
		{additive, "Additive only: no existing field changes", said},
		{additive, "<details>\n<summary>x</summary>\n\nAdditive only: x\n\n</details>", said},
		{additive, "<!-- x -->\n\nAdditive only", said},
		{additive, "```\n<!--\n```\n\nAdditive only", said},
		{additive, "> x\n\nAdditive only", said},
		{additive, "- [ ] x\n- [x] additive only", said},
		{additive, "- [ ] x\n  - [x] additive only", said},
		{additive, "x<br>Additive only", said},
		{additive, "Additive only\n\nNone of the fields goes.", said},
		{additive, "Additive only\n\n## Breaking\n\nNone", said},

		{additive, "", ""},
		{additive, "An additive change, only.", ""},
		{additive, "This change is additive only.", "within a line"},
		{additive, "\"Additive only\"", "within a line"},
		{additive, "Additive\nonly", ""},
		{additive, "Additive only once X lands", "the line goes on without a colon"},
		{additive, "Additive only?", "the line goes on without a colon"},
		{additive, "Additive only: no", "answered with no"},
		{additive, "Additive only: **N/A**.", "answered with no"},
		{additive, "Additive only - not yet, soon", "answered with no"},
		{additive, "Additive only: ?", "answered with no"},
		{additive, "## Additive only\n\nNo.", "answered with no"},
		{additive, "Additive only\ntbd", "answered with no"},
		{additive, "Aditive only", `spelt "Aditive only"`},
		{additive, "- Additive onlyy: x", `spelt "Additive onlyy"`},
		{additive, "Additively only: x", ""},
		{additive, "```\nAdditive only\n```", "in a code block"},
		{additive, "    Additive only", "in a code block"},
		{additive, "`Additive only`", "in code"},
		{additive, "x `additive-only`: y", "in code"},
		{additive, "<code>Additive only</code>", "in code"},
		{additive, "<!-- Additive only -->", "in a comment"},
		{additive, "x <!-- Additive only -->", "in a comment"},
		{additive, "<!-- x\n\nAdditive only", "in a comment"},
		{additive, "<div><!--\n\nAdditive only\n\n<p>x</p>", "in a comment"},
		{additive, "<div>\nAdditive only\n</div>", "in HTML"},
		{additive, "> Additive only", "in a quote"},
		{additive, "> x\nAdditive only", "in a quote"},
		{additive, "> - [x] Additive only", "in a quote"},
		{additive, "> | Additive only | yes |\n> |---|---|\n", "in a table"},
		{additive, "| Additive only | yes |\n|---|---|\n", "in a table"},
		{additive, "| a |\n|---|\n| Additive only |", "in a table"},
		{additive, "~~Additive only~~", "struck out"},
		{additive, "~~x~~ Additive only", "within a line"},
		{additive, "<del>\n\nAdditive only\n\n</del>", "struck out"},
		{additive, "<del/>\n\nAdditive only", "struck out"},
		{additive, "<div title=\"\n\nAdditive only", "in HTML"},
		{additive, "<s>Additive only</s>", "struck out"},
		{additive, "- [ ] Additive only", "the box is not ticked"},
		{additive, "- [ ] x\n\n  Additive only", "the box is not ticked"},
		{additive, "[ ] Additive only", "the box is not ticked"},
		{additive, "☐ Additive only", "the box is not ticked"},
		{additive, "☐ x\nAdditive only", "the box is not ticked"},
		{additive, "Additive only<del>", said},
		{additive, "- x\n  <!--\n- Additive only", "in a comment"},
		{additive, "- x\n  <!-- -->\n- Additive only", said},
		{additive, "<!-- x -->Additive only", "in HTML"},
		{additive, "![Additive only](x.png)", ""},
		{additive, "![x](x.png) Additive only", "within a line"},
		{additive, "[Additive only](x): y", said},
		{additive, "`Additive only`\n\nadditive only", said},

		{exception, "implementability gate Exception: x", said},
		{exception, "Implementability Gate exceptions: x", `spelt "Implementability Gate exceptions"`},
		{exception, "Implementability Gate exception granted", "the line goes on without a colon"},

		{cleared, "LGTM. Charter Review Gate cleared.", said},
		{cleared, "charter review\ngate cleared", said},
		{cleared, "LGTM,\n**Charter Review Gate cleared**", said},
		{cleared, "LGTM! **Charter Review Gate cleared**", said},
		{cleared, "not Charter Review Gate cleared", "within a line"},
		{cleared, "LGTM. Charter Review Gate cleared if X", "the line goes on without a colon"},
		{cleared, "Charter Review Gate cleared: no", "answered with no"},
		{cleared, "> LGTM. Charter Review Gate cleared", "in a quote"},
	} {
		b := must.Get(ReadBody(row.text))(t)
		got := b.Says(row.form)
		if got.Said != (row.want == said) || !got.Said && got.Where != row.want {
			t.Errorf("%q says %+v, want %q", row.text, got, row.want)
		}
	}
}

func TestReason(t *testing.T) {
	form := NewForm("Implementability Gate exception", false)
	for text, want := range map[string]string{
		"a\n\nImplementability Gate exception: b `c-d`\ne\n\nf\ng\n\nh":            "b c-d e f g",
		"## Implementability Gate exception\n\n- a\n\n- b\n  - c\n\nd":             "a b c",
		"## Implementability Gate exception\n\n## A\n\nb":                          "",
		"- Implementability Gate exception\n- a\n\n<p>x</p>\n\n> x\n\nb\n\nc":      "a b",
		"Implementability Gate exception. a\n\n```\nx\n```\n\n<!-- x -->\n\n# b":   "a",
		"Implementability Gate exception: a **b** [c](x) ~~d~~ ![e](f) <b>g</b>":   "a b c g",
		"**Implementability Gate exception**\n\n- [ ] x\n- [x] a\n\nb":             "a",
		"Implementability Gate exception (a)\n\n| u | v |\n|---|---|\n| w | z |\n": "a)",
	} {
		b := must.Get(ReadBody(text))(t)
		got := b.Says(form)
		shown := strings.Join(strings.Fields(strings.ReplaceAll(got.Reason, string(broken), " ")), " ")
		if !got.Said || shown != want {
			t.Errorf("%q has the reason %q, want %q", text, shown, want)
		}
	}
	if n := Words("a 1, – (b) …"); n != 3 {
		t.Errorf("%d words", n)
	}
}

// A text that has the words many times without saying them is read once, and one over the limit is not.
func TestManyWords(t *testing.T) {
	for _, unit := range []string{"- Additive only\n- no\n", "x additive only ", "Additive only\n\nno\n\n"} {
		b := must.Get(ReadBody(strings.Repeat(unit, 1<<17/len(unit))))(t)
		for _, form := range []*Form{NewForm("Additive only", false), NewForm("Additive only", true)} {
			if got := b.Says(form); got.Said {
				t.Errorf("%q says %+v", unit, got)
			}
		}
	}
	if _, err := ReadBody(strings.Repeat("a", maxMarkdown+1)); err == nil {
		t.Error("a body over the limit is read")
	}
}
