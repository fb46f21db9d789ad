package report

import (
	"strings"
	"testing"
)

func TestMarkdownIsCut(t *testing.T) {
	for _, test := range []struct{ limit, want int }{
		{0, MaxSummary},
		{MaxSummary + 1, MaxSummary},
		{65536, 65536},
		{1, minMarkdown},
	} {
		page := written(t, "markdown", many(3000), Options{MaxBytes: test.limit})
		if len(page) > test.want || len(page) < test.want-1000 {
			t.Errorf("with MaxBytes %d the page has %d bytes", test.limit, len(page))
		}
		if !strings.Contains(page, "\n**Cut:** ") {
			t.Errorf("with MaxBytes %d the page does not say that it was cut", test.limit)
		}
		if strings.Count(page, "<details>") != strings.Count(page, "</details>") || strings.Count(page, "`")%2 != 0 {
			t.Errorf("with MaxBytes %d the page is not balanced", test.limit)
		}
	}
}

func TestMarkdownHeadFitsTheSmallestPage(t *testing.T) {
	for _, s := range []string{"\u202e`", "検", "👍"} {
		for _, r := range poisoned(strings.Repeat(s, 10_000)) {
			if page := written(t, "markdown", r, Options{MaxBytes: 1}); len(page) > minMarkdown {
				t.Errorf("the page has %d bytes", len(page))
			}
		}
	}
}

func TestOnlyPlainHTTPSLinks(t *testing.T) {
	for _, url := range []string{
		"https://acme.example/.well-known/did.json",
		"https://acme.example:8443/a/b_c~d?x=1,2",
		"https://acme.example",
	} {
		if got := link(url); !strings.HasSuffix(got, "](<"+url+">)") {
			t.Errorf("link(%q) = %s", url, got)
		}
	}
	for _, url := range []string{
		"",
		"http://acme.example/",
		"HTTPS://acme.example/",
		"javascript:alert(1)",
		"rdap:acme.example",
		"https://acme.example@evil.example/",
		"https://user:word@evil.example/",
		"https://acme.example\\@evil.example/",
		"https://acme.example/a b",
		"https://acme.example/>)",
		"https://acme.example/(x)",
		"https://acme.example/#fragment",
		"https://acme.example/\u202e",
		"https://аcme.example/",
		"https://acme.example/?a=1&b=2",
		"https://acme.example/\n",
		"https://acme.example/" + strings.Repeat("a", 2000),
	} {
		if got := link(url); strings.Contains(got, "](") || got != Markdown(url) {
			t.Errorf("link(%q) = %s", url, got)
		}
	}
}
