package report

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// audited is an audit that says something in each part of its page.
func audited() *verdict.Report {
	r := frame()
	r.Mode, r.Base, r.MergeBase, r.Verdict, r.Chosen = "audit", "", "", verdict.Failed, "head 2222222 (HEAD)"
	r.Origin = "registry.example.org/oap"
	r.Commits = []verdict.Commit{{ID: "1111111111111111111111111111111111111111", Time: noon.Add(-40 * plain.Day),
		Subject: "List acme"},
		{ID: "3333333333333333333333333333333333333333", Time: noon.Add(-2 * time.Hour), Subject: "Remove <acme>"}}
	r.Assumed = []string{"--rdap-url https://rdap.example.org/"}
	r.History = &verdict.History{Commits: 12, Walked: 5, HeadTime: noon.Add(-time.Hour),
		Checkpoint: "1111111111111111111111111111111111111111",
		Signatures: verdict.Signatures{Good: 3, Unsigned: 1, UnknownKey: 1},
		Peers: []verdict.Peer{
			{Name: "https://mirror.example.org/registry.git", Tip: "2222222222222222222222222222222222222222",
				Time: noon.Add(-time.Hour), State: "same"},
			{Name: "../copy", Tip: "4444444444444444444444444444444444444444", Time: noon.Add(-48 * time.Hour),
				State: "split"},
		}}
	ends := func(d time.Duration) *time.Time { t := noon.Add(d); return &t }
	r.Listings = []verdict.Listing{
		{Slug: "acme", Name: "Acme", ToolDID: "did:web:acme.example", Level: "L5", Status: verdict.StatusValid,
			ExpiresAt: ends(60 * plain.Day), Witnesses: []string{"one", "two", "three"}},
		{Slug: "gone", Name: "Gone", ToolDID: "did:web:gone.example", Level: "L2", Status: verdict.StatusRevoked,
			ExpiresAt: ends(3 * plain.Day), RevokedBy: "revocations/gone-00.json"},
		{Slug: "hasty", Name: "Hasty", ToolDID: "did:web:hasty.example", Level: "L2", Status: verdict.StatusExpiring,
			ExpiresAt: ends(90 * time.Minute)},
		{Slug: "late", Name: "Late", ToolDID: "did:web:late.example", Level: "L4", Status: verdict.StatusExpired,
			ExpiresAt: ends(-5 * plain.Day), Witnesses: []string{"one"}},
		{Slug: "one", Name: "One", ToolDID: "did:web:one.example", Level: "L4", Status: verdict.StatusValid,
			ExpiresAt: ends(89 * plain.Day), Witnesses: []string{"two"}},
		{Slug: "three", Name: "Three", ToolDID: "did:web:three.example", Level: "L4-X", Status: verdict.StatusValid,
			ExpiresAt: ends(20 * plain.Day), Witnesses: []string{"one", "two"}, Archived: true},
		{Slug: "two", Name: "Two", ToolDID: "did:web:two.example", Level: "L4", Status: verdict.StatusValid,
			Witnesses: []string{"one"}},
	}
	for _, l := range r.Listings {
		r.Results.Add(onListing("implementations/" + l.Slug + ".json")...)
	}
	r.Results.Add(verdict.Result{Check: "history", Subject: "implementations/acme.json", Verdict: verdict.Failed,
		Findings: []verdict.Finding{{Severity: verdict.Error, Code: "path-deleted",
			Message: "append-only: this commit deletes the path", Fix: "restore it",
			Pos:    strict.Pos{Path: "implementations/acme.json"},
			Commit: "3333333333333333333333333333333333333333"}}},
		verdict.Result{Check: "consistency", Subject: "registry", Verdict: verdict.Passed,
			Reason: "the checkpoint lies on this history"})
	r.Evidence = append(honest().Evidence, verdict.Evidence{URL: "https://gone.example/receipt.json", Attempts: 3,
		State: "unavailable", Code: "timeout", Message: "no full answer within 10s"})
	r.Results = verdict.NewResults(together(slices.Collect(r.Results.All()))...) // as a run sorts them
	return counted(r)
}

// elements are those of the page, with the attributes that each may have.
var elements = map[string]string{
	"html": "lang", "head": "", "meta": "charset http-equiv content name", "title": "", "style": "", "body": "",
	"a": "class href rel", "header": "", "nav": "aria-label", "main": "id tabindex", "section": "aria-labelledby",
	"footer": "",
	"h1":     "", "h2": "id", "h3": "id", "p": "class", "b": "class", "strong": "", "small": "", "code": "", "br": "",
	"span": "class aria-hidden", "time": "datetime", "div": "class tabindex role aria-label", "ul": "class",
	"ol": "class start", "li": "class",
	"dl": "class", "dt": "", "dd": "", "details": "open", "summary": "", "table": "", "caption": "class",
	"thead": "", "tbody": "", "tr": "",
	"th": "scope class", "td": "class", "svg": "class viewbox role aria-label", "g": "", "path": "class d",
	"circle": "cx cy r", "text": "class x y dy",
}

// checkPage fails unless page holds our elements and attributes alone, links to https alone, nothing that a
// reader cannot see, and the policy that its style needs.
func checkPage(t *testing.T, page string) {
	t.Helper()
	root := must.Get(html.Parse(strings.NewReader(page)))(t)
	policy, style := "", ""
	for n := range root.Descendants() {
		switch n.Type {
		case html.CommentNode:
			t.Errorf("a comment: %.100q", n.Data)
		case html.TextNode:
			for _, c := range n.Data {
				if c != '\n' && !foreign.Visible(c) {
					t.Errorf("%U in the text %.100q", c, n.Data)
				}
			}
		case html.ElementNode:
			attributes, ok := elements[n.Data]
			if strings.EqualFold(n.Data, "viewBox") || !ok {
				t.Errorf("an element %q", n.Data)
			}
			for _, a := range n.Attr {
				if !slices.Contains(strings.Fields(attributes), strings.ToLower(a.Key)) {
					t.Errorf("%s with the attribute %s=%.100q", n.Data, a.Key, a.Val)
				}
				checkAttribute(t, n.Data, a)
				if a.Key == "content" && strings.HasPrefix(a.Val, "default-src") {
					policy = a.Val
				}
			}
			if n.Data == "style" {
				style += n.FirstChild.Data
			}
		}
	}
	sum := sha256.Sum256([]byte(style))
	if want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'"; policy != want {
		t.Errorf("the policy is %q, the style needs %q", policy, want)
	}
}

func checkAttribute(t *testing.T, element string, a html.Attribute) {
	t.Helper()
	switch a.Key {
	case "href":
		if !strings.HasPrefix(a.Val, "#") && !linkable().MatchString(a.Val) {
			t.Errorf("a link to %q", a.Val)
		}
	case "class", "id", "role", "scope":
		if strings.Trim(a.Val, "abcdefghijklmnopqrstuvwxyz0123456789 ") != "" {
			t.Errorf("%s with %s=%q", element, a.Key, a.Val)
		}
	}
}

func TestPages(t *testing.T) {
	for _, sample := range samples {
		checkPage(t, written(t, "html", sample.report, Options{Rules: rulesOf(sample.report)}))
	}
}

func FuzzPage(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range poisoned(s) {
			for _, mode := range []string{s, "audit"} {
				r.Mode = mode
				checkPage(t,
					written(t, "html", r, Options{Rules: []verdict.Rule{{ID: s, Title: s, Cite: s, Why: s, Fix: s}}}))
			}
		}
	})
}

// Whatever a report holds, its page stays small, and says what it leaves out.
func TestPageIsBounded(t *testing.T) {
	for text, many := range map[string]int{strings.Repeat("long ", 900): 400, strings.Repeat(`"`, 4000): 400,
		"x": 1000} {
		r := frame()
		r.Mode = "audit"
		r.History = &verdict.History{}
		for i := range many {
			name := fmt.Sprint(i, text)
			r.Assumed = append(r.Assumed, name)
			r.NotRun = append(r.NotRun, name)
			r.Governance = append(r.Governance, name)
			r.History.Peers = append(r.History.Peers, verdict.Peer{Name: name, Tip: name, State: name})
			end := noon.Add(time.Duration(i) * time.Hour)
			r.Listings = append(r.Listings, verdict.Listing{Slug: name, Name: text, ToolDID: text, Level: "L5",
				Status: verdict.StatusValid, ExpiresAt: &end,
				Witnesses: []string{fmt.Sprint(i+1, text), fmt.Sprint(i+2, text), fmt.Sprint(i%9, text)}})
			f := verdict.Finding{Severity: verdict.Error, Code: text, Message: text, Fix: text, Cite: text,
				Pos: strict.Pos{Path: text}, Commit: text, Pointer: text}
			r.Results.Add(verdict.Result{Check: fmt.Sprint(i%50, text), Subject: name,
				Verdict: verdict.Failed, Reason: text, Findings: []verdict.Finding{f}},
				verdict.Result{Check: "history", Subject: wholeRegistry, Verdict: verdict.Failed, Reason: text,
					Findings: []verdict.Finding{f}})
			r.Evidence = append(r.Evidence, verdict.Evidence{URL: "https://x.example/" + name, FinalURL: name,
				Address: text, State: text, Message: text, Code: text, SHA256: text})
		}
		page := written(t, "html", r, Options{})
		if len(page) > maxPage {
			t.Errorf("with %.10q everywhere the page has %d bytes", text, len(page))
		}
		if text != "x" && !strings.Contains(page, "have no room on this page") {
			t.Errorf("with %.10q everywhere the page leaves nothing out", text)
		}
	}
}

func TestRevocationDrops(t *testing.T) {
	g := vouchings(audited())
	for witness, want := range map[string][]string{
		"one":    {"acme", "two"}, // three has two to spare, late is expired
		"two":    {"acme", "one"},
		"three":  {"acme"},
		"nobody": nil,
		"acme":   nil,
		"late":   nil,
	} {
		if got := g.falls[witness]; !slices.Equal(got, want) {
			t.Errorf("without %s fall %v, want %v", witness, got, want)
		}
	}
}

func TestPictureIsCapped(t *testing.T) {
	r := frame()
	for i := range 1000 {
		l := verdict.Listing{Slug: fmt.Sprintf("s-%03d", i), Level: "L4", Status: verdict.StatusValid}
		for w := range 1 + i%60 {
			l.Witnesses = append(l.Witnesses, fmt.Sprintf("s-%03d", w))
		}
		r.Listings = append(r.Listings, l)
	}
	v := newWitnesses(r)
	curves, last := 0, 0
	for _, n := range v.Left {
		curves += len(n.Curves)
		for _, c := range n.Curves {
			if c.Last {
				last++
			}
		}
	}
	if len(v.Left) != 60 || len(v.Right) != maxDrawn || curves != maxLines || v.Lines != curves || last != 2 {
		t.Errorf("%d witnesses, %d listings, %d curves of %d, %d of them the last", len(v.Left), len(v.Right), curves,
			v.Lines, last)
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 seconds", 90 * time.Minute: "1 hour 30 minutes", 47 * time.Hour: "1 day 23 hours",
		50 * time.Hour: "2 days", 90 * plain.Day: "90 days",
	} {
		if got := duration(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

// A long list is cut into parts that say from which slug on they are, and every link within a page leads somewhere,
// once.
func TestLongLists(t *testing.T) {
	r := frame()
	r.Mode, r.History = "audit", &verdict.History{HeadTime: noon}
	for i := range 1200 {
		end := noon.Add(time.Duration(1200-i) * time.Hour)
		status := []string{verdict.StatusValid, verdict.StatusExpiring}[i%2]
		r.Listings = append(r.Listings, verdict.Listing{Slug: fmt.Sprintf("%c-%04d", "zab9~"[i%5], i), Level: "L1",
			Status: status, ExpiresAt: &end})
	}
	r.Listings = append(r.Listings, verdict.Listing{Slug: "q", Status: "unheard"})
	page := written(t, "html", r, Options{})
	checkPage(t, page)
	for _, want := range []string{
		"<details>\n<summary>valid 1 to 500, from <code>9-0008</code></summary>",
		"<details>\n<summary>expiring 501 to 600, from <code>~-0199</code></summary>",
		`<caption>1200 listings in date, by days left, of at most 90</caption>`, `<a href="#statusother">`,
		"no checkpoint yet",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if first, last := strings.Index(page, `<th scope="row" class="t">~-1199<`),
		strings.Index(page, `<th scope="row" class="t">b-1197<`); first < 0 || last < first {
		t.Errorf("the first to end stand at %d and %d", first, last)
	}
	for _, page := range []string{page, written(t, "html", audited(), Options{}),
		written(t, "html", honest(), Options{})} {
		root := must.Get(html.Parse(strings.NewReader(page)))(t)
		ids, links := map[string]int{}, []string{}
		for n := range root.Descendants() {
			for _, a := range n.Attr {
				switch {
				case a.Key == "id":
					ids[a.Val]++
				case a.Key == "href" && strings.HasPrefix(a.Val, "#"):
					links = append(links, a.Val[1:])
				}
			}
		}
		for _, to := range links {
			if ids[to] != 1 {
				t.Errorf("#%s stands %d times", to, ids[to])
			}
		}
	}
}
