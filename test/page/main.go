// Command page writes sample reports for a browser: go run ./test/page DIRECTORY.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: page DIRECTORY")
		os.Exit(2)
	}
	for name, r := range map[string]*verdict.Report{
		"0": audit(0), "1": audit(1), "1000": audit(1000), "10000": audit(10000), "worst": worst(10000),
		"check": check(), "error": failed(), "hostile": hostile(),
	} {
		o := report.Options{Rules: rules()}
		for _, format := range []string{"html", "json"} {
			if err := report.Count(r).WriteFile(filepath.Join(os.Args[1], name+"."+format), format, o); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
	}
}

func rules() []verdict.Rule {
	var all []verdict.Rule
	for _, c := range append(mirror.Rules(), checks.Rules()...) {
		all = append(all, verdict.Rule{ID: c.ID, Title: c.Title, Cite: c.Cite, Why: c.Why, Fix: c.Fix})
	}
	return all
}

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

const (
	base = "1f0c5a6d2b9e4c7788aa51d0e3f4b6a798c0d1e2"
	head = "8d3e2f1a0b4c5d6e7f8091a2b3c4d5e6f7a8b9c0"
	sum  = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
)

func frame(mode string) *verdict.Report {
	return &verdict.Report{Version: 1, Tool: verdict.Tool{Version: "v0.1.0", Commit: "5f7a2c1"}, Mode: mode,
		EvaluatedAt: noon,
		Head:        head, Chosen: "head 8d3e2f1a0b4c (HEAD)", Verdict: verdict.Passed, EvidenceSHA256: sum}
}

// audit returns an audit of n listings, with some of each status if there are enough.
func audit(n int) *verdict.Report {
	r := frame("audit")
	r.History = &verdict.History{Commits: 2*n + 7, Walked: 2*n + 7, HeadTime: noon.Add(-31 * time.Hour)}
	for _, id := range []string{"history", "commit-signatures", "consistency"} {
		r.Results.Add(verdict.Result{Check: id, Subject: "registry", Verdict: verdict.Passed,
			Reason: "nothing to say against it"})
	}
	if n > 1 {
		r.History.Checkpoint = base
		r.History.Signatures = verdict.Signatures{Good: 2*n - 5, Unsigned: 9, UnknownKey: 2, ExpiredKey: 1}
		r.History.Peers = []verdict.Peer{
			{Name: "https://mirror.example.org/registry.git", Tip: head, Time: noon.Add(-31 * time.Hour),
				State: "same"},
			{Name: "https://old.example.net/registry.git", Tip: base, Time: noon.Add(-900 * time.Hour),
				State: "behind"},
			{Name: "/srv/mirror/registry.git", Tip: "00ff" + base[4:], Time: noon.Add(-40 * time.Hour), State: "split"},
		}
		r.Assumed = []string{"--rdap-url https://rdap.example.org/"}
		all := slices.Collect(r.Results.All())
		all[0] = verdict.Result{Check: "history", Subject: "implementations/" + slug(17) + ".json",
			Verdict: verdict.Failed, Findings: []verdict.Finding{{
				Severity: verdict.Error, Code: "path-deleted",
				Message: "append-only: commit 1f0c5a6d2b9e deletes the path, which its first parent holds; merged " +
					"records stay",
				Fix: "git checkout 1f0c5a6d2b9e^ -- implementations/" + slug(17) + ".json", Cite: "RFC 0026 section 7",
				Pos: strict.Pos{Path: "implementations/" + slug(17) + ".json"}, Commit: base}}}
		all[2] = verdict.Result{Check: "consistency", Subject: "registry", Verdict: verdict.Failed,
			Findings: []verdict.Finding{{
				Severity: verdict.Error, Code: "split-view",
				Message: "the copy /srv/mirror/registry.git has the tip 00ff5a6d2b9e, this one 8d3e2f1a0b4c, and " +
					"neither lies on the other's first-parent history; the last common commit is 1f0c5a6d2b9e",
				Fix: "tell both mirrors' operators and the maintainers, and keep both clones", Commit: head}}}
		r.Results = verdict.NewResults(all...)
		r.Verdict = verdict.Failed
	}
	for i := range n {
		add(r, i, n)
	}
	return counted(r)
}

func slug(i int) string { return fmt.Sprintf("%c-listing-%05d", 'a'+i%26, i) }

func add(r *verdict.Report, i, n int) {
	issued := noon.AddDate(0, 0, -(i*37)%90).Add(-time.Hour)
	expires := issued.AddDate(0, 0, 90)
	l := verdict.Listing{Slug: slug(i), Name: fmt.Sprintf("Sample Implementation %d", i), ToolDID: "did:web:" +
		slug(i) + ".example.org", Level: "L2",
		Status: verdict.StatusValid, IssuedAt: &issued, ExpiresAt: &expires}
	if i%5 == 0 && i > 0 || n == 1 {
		l.Level = "L4"
		if n > 1 {
			l.Witnesses = []string{slug(i * i % 97 % n)}
		}
	}
	if i%25 == 0 && i > 0 && n > 100 {
		l.Level = "L5-FINANCE"
		l.Witnesses = []string{slug(i % 7 * 5), slug(40 + i%9*5), slug(100 + i%31*5)}
		if i%50 == 0 {
			l.Witnesses = append(l.Witnesses, slug(300))
		}
	}
	path := "implementations/" + l.Slug + ".json"
	results := passed(path)
	switch {
	case n < 2:
	case expires.Sub(noon) < 14*24*time.Hour:
		l.Status = verdict.StatusExpiring
	case i%40 == 3:
		l.Status = verdict.StatusExpired
		expires = noon.AddDate(0, 0, -i%200-1)
	case i%50 == 7:
		l.Status, l.RevokedBy = verdict.StatusRevoked, "revocations/"+l.Slug+"-"+sum+".json"
	case i%60 == 11:
		l.Status = verdict.StatusProvisional
	case i%97 == 13:
		l.Status = verdict.StatusInvalid
		results[8] = verdict.Result{Check: results[8].Check, Subject: path, Verdict: verdict.Failed,
			Findings: []verdict.Finding{{Severity: verdict.Error, Code: "receipt-hash-mismatch",
				Message: "served receipt has sha256 " + sum + ", the listing pins " + sum[32:] + sum[:32],
				Fix:     "pin the served bytes, or publish the receipt that was pinned",
				Cite:    "RFC 0026 section 6", Pos: strict.Pos{Path: path, Line: 9, Column: 3},
				Pointer: "/conformance_receipt_sha256"}}}
	case i%97 == 19:
		l.Status = verdict.StatusUnreachable
		results[6] = verdict.Result{Check: results[6].Check, Subject: path, Verdict: verdict.Inconclusive,
			Findings: []verdict.Finding{{Severity: verdict.Doubt, Code: "timeout",
				Message: fmt.Sprintf("no answer from \"https://%s.example.org/manifest.json\" within 10s, 3 attempts",
					l.Slug), Fix: "run the audit again once the host answers",
				Cite: "RFC 0026 section 6", Pos: strict.Pos{Path: path, Line: 6, Column: 3}, Pointer: "/manifest_uri"}}}
	case i%97 == 23:
		l.Archived = true
	}
	r.Listings = append(r.Listings, l)
	r.Results.Add(results...)
	host := "https://" + l.Slug + ".example.org/"
	for _, url := range []string{host + ".well-known/did.json", host + "manifest.json", host + "receipts/current.json",
		"rdap:" + l.Slug + ".example.org"} {
		e := verdict.Evidence{URL: url, Status: 200, SHA256: sum, Bytes: 2048 + i, Attempts: 1,
			Milliseconds: int64(40 + i%200), Address: "203.0.113.7", State: "obtained"}
		if l.Status == verdict.StatusUnreachable && url == host+"manifest.json" {
			e = verdict.Evidence{URL: url, Attempts: 3, Milliseconds: 30000, State: "unavailable", Code: "timeout",
				Message: "no full answer within 10s"}
		}
		r.Evidence = append(r.Evidence, e)
	}
}

func passed(path string) []verdict.Result {
	var all []verdict.Result
	for _, c := range checks.All[:16] {
		result := verdict.Result{Check: c.ID, Subject: path, Verdict: verdict.Passed}
		switch c.ID {
		case "append-only", "reissue", "name-similarity":
			result.Verdict, result.Reason = verdict.Skipped, "judged with the history"
		case "domain-age":
			result.Reason = "example.org was registered 2019-03-02, 2620 days ago"
		}
		all = append(all, result)
	}
	return all
}

// worst has findings, witnesses and long texts for each of n listings.
func worst(n int) *verdict.Report {
	r := audit(n)
	for i := range r.Listings {
		l := &r.Listings[i]
		l.Level, l.Witnesses = "L5", nil
		l.Name = fmt.Sprintf("%-100s", "A name as long as the schema lets it be & \"quoted\" "+l.Slug)
		for k := range 5 {
			l.Witnesses = append(l.Witnesses, slug((i*7+k*k*13)%n))
		}
	}
	all := slices.Collect(r.Results.All())
	for i := range all {
		result := &all[i]
		if result.Subject != "registry" && (result.Check == "receipt-fetch" || result.Check == "schema") {
			result.Verdict = verdict.Failed
			result.Findings = []verdict.Finding{{Severity: verdict.Error, Code: "receipt-hash-mismatch",
				Message: "served receipt has sha256 " + sum + ", the listing pins " + sum,
				Fix:     "pin the served bytes, or publish the receipt that was pinned", Cite: "RFC 0026 section 6",
				Pos: strict.Pos{Path: result.Subject, Line: 9, Column: 3}, Pointer: "/x"}}
		}
	}
	r.Results = verdict.NewResults(all...)
	return counted(r)
}

// check returns a pull request with a fault, a doubt and a warning.
func check() *verdict.Report {
	r := frame("check")
	r.Base, r.MergeBase, r.Verdict = base, base, verdict.Failed
	r.Chosen = "base 1f0c5a6d2b9e (origin/main), head 8d3e2f1a0b4c (HEAD)"
	add(r, 4, 0)
	r.Listings = nil
	path := "implementations/listing-00004.json"
	all := slices.Collect(r.Results.All())
	for i := range all {
		result := &all[i]
		switch result.Check {
		case "receipt-validity":
			result.Verdict, result.Findings = verdict.Failed,
				[]verdict.Finding{{Severity: verdict.Error, Code: "window-too-long", Cite: "RFC 0026 section 6",
					Message: "expires_at is 90d0h0m0.001s after issued_at; expected at most 90d",
					Fix:     "set expires_at to 2026-08-02T10:34:47.660Z or earlier",
					Pos:     strict.Pos{Path: path, Line: 9, Column: 3}, Pointer: "/expires_at"}}
		case "did-resolution":
			result.Verdict, result.Findings = verdict.Inconclusive,
				[]verdict.Finding{{Severity: verdict.Doubt, Code: "timeout", Cite: "RFC 0026 section 6",
					Message: "no answer from \"https://listing-00004.example.org/.well-known/did.json\" within " +
						"10s, 3 attempts", Fix: "run the job again once the host answers",
					Pos: strict.Pos{Path: path, Line: 5, Column: 3}, Pointer: "/tool_did"}}
		case "manifest-did":
			result.Verdict, result.Findings = verdict.Warned,
				[]verdict.Finding{{Severity: verdict.Warning, Code: "receipt-uri-differs",
					Message: "the Manifest names another Receipt",
					Pos:     strict.Pos{Path: path, Line: 8, Column: 3}}}
		}
	}
	r.Results = verdict.NewResults(all...)
	r.Governance, r.Squash = []string{".github/gate-policy.yml"}, true
	return counted(r)
}

func failed() *verdict.Report {
	r := frame("check")
	r.Head, r.Chosen, r.Verdict, r.EvidenceSHA256 = "", "", verdict.Errored, ""
	r.Error, r.Remedy = "the clone is shallow: the parent of 8d3e2f1a0b4c is not in it",
		"git fetch --unshallow, or fetch-depth: 0 in actions/checkout"
	return r
}

// attack is what a page must not act on, in as many contexts as one text can address.
const attack = `"'></style></title></textarea></svg></table><script>alert(1)</script><img src=https://evil.example/x onerror=alert(2)>` +
	`<svg onload=alert(3)><iframe src=javascript:alert(4)></iframe><link rel=stylesheet href=//evil.example/x><base href=//evil.example>` +
	`<meta http-equiv=refresh content="0;url=https://evil.example"><style>*{background:url(https://evil.example/y)}</style>{{.}}` + "\u202e\u2066\x00\x1b[31m\u200b"

// hostile returns a report with an attack in every text, except the words that decide what is shown.
func hostile() *verdict.Report {
	r := new(verdict.Report)
	poison(reflect.ValueOf(r).Elem())
	r.Mode, r.Verdict = "audit", verdict.Failed
	for i, status := range []string{verdict.StatusValid, verdict.StatusInvalid, attack} {
		l := r.Listings[0]
		l.Status, l.Slug = status, fmt.Sprint(attack, i)
		r.Listings = append(r.Listings, l)
	}
	for i, severity := range []verdict.Severity{verdict.Error, verdict.Doubt, verdict.Warning, verdict.Notice} {
		result := slices.Collect(r.Results.All())[0]
		result.Findings = []verdict.Finding{result.Findings[0]}
		result.Findings[0].Severity = severity
		result.Subject = fmt.Sprint("registry", i)
		r.Results.Add(result)
	}
	for _, url := range []string{"javascript:alert(5)", "data:text/html,<script>alert(6)</script>",
		"https://good.example@evil.example/", "https://ok.example/a?b=c"} {
		r.Evidence = append(r.Evidence, verdict.Evidence{URL: url, FinalURL: url + "#x", State: "obtained"})
	}
	return r
}

// poison sets every text in v, makes slices of two, and leaves the rest as fits.
func poison(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(attack)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		poison(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			poison(v.Index(i))
		}
	case reflect.Struct:
		if results, ok := v.Addr().Interface().(*verdict.Results); ok {
			var all []verdict.Result
			poison(reflect.ValueOf(&all).Elem())
			results.Add(all...)
			return
		}
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(noon))
			return
		}
		for i := range v.NumField() {
			poison(v.Field(i))
		}
	}
}

func counted(r *verdict.Report) *verdict.Report {
	r.Counts = verdict.Counts{}
	subjects := map[string]bool{}
	for result := range r.Results.All() {
		if result.Subject != "registry" && !subjects[result.Subject] {
			subjects[result.Subject] = true
			r.Counts.Records++
		}
		r.Counts.Add(result.Verdict)
	}
	return r
}
