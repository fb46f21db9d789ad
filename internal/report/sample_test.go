package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

var catalogue = []verdict.Rule{
	{ID: "layout", Title: "every file is where the registry format puts it", Cite: "RFC 0026 sections 3, 4, 5",
		Why: "nobody judges a file elsewhere", Fix: "move the file to the place that the message names"},
	{ID: "schema", Title: "records are valid under their JSON Schema", Cite: "RFC 0026 section 6",
		Why: "later checks read what the schema promises", Fix: "change the member that the message names"},
	{ID: "append-only", Title: "no tampering", Cite: "RFC 0026 sections 6 and 7"},
	{ID: "reissue", Title: "a merged listing changes only by its owner's newly signed Receipt",
		Cite: "RFC 0026 section 4"},
	{ID: "name-similarity"}, {ID: "did-resolution"}, {ID: "manifest-reachability"}, {ID: "manifest-did"},
	{ID: "receipt-fetch"}, {ID: "receipt-claims"}, {ID: "receipt-signature"}, {ID: "receipt-validity"},
	{ID: "peer-witnesses"}, {ID: "external-audit"}, {ID: "domain-age"}, {ID: "fallback-policy"},
	{ID: "revocations"}, {ID: "workflow-anchors"},
}

func frame() *verdict.Report {
	return &verdict.Report{
		Version:        1,
		Tool:           verdict.Tool{Version: "v0.1.0", Commit: "unknown"},
		Mode:           "check",
		EvaluatedAt:    noon,
		Base:           "1111111111111111111111111111111111111111",
		Head:           "2222222222222222222222222222222222222222",
		MergeBase:      "1111111111111111111111111111111111111111",
		Chosen:         "base 1111111 (origin/main), head 2222222 (HEAD)",
		Verdict:        verdict.Passed,
		EvidenceSHA256: "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945",
	}
}

// honest is a pull request of one listing at L3 that passes.
func honest() *verdict.Report {
	r := frame()
	r.Results = verdict.NewResults(onListing("implementations/acme.json")...)
	r.Evidence = []verdict.Evidence{
		{URL: "https://acme.example/.well-known/did.json", Status: 200, SHA256: "aa", Bytes: 812, Attempts: 1,
			Milliseconds: 41, Address: "203.0.113.7", State: "obtained"},
		{URL: "https://acme.example/receipt.json", Status: 200, SHA256: "bb", Bytes: 3120, Attempts: 2,
			Milliseconds: 240, Address: "203.0.113.7", FinalURL: "https://cdn.acme.example/receipt.json",
			State: "obtained"},
		{URL: "rdap:acme.example", Status: 200, SHA256: "cc", Bytes: 6240, Attempts: 1, Milliseconds: 310,
			Address: "203.0.113.9", State: "obtained"},
	}
	return counted(r)
}

// edit changes the results of a report.
func edit(r *verdict.Report, change func(i int, result *verdict.Result)) {
	all := slices.Collect(r.Results.All())
	for i := range all {
		change(i, &all[i])
	}
	r.Results = verdict.NewResults(all...)
}

func onListing(path string) []verdict.Result {
	var all []verdict.Result
	for _, rule := range catalogue[:16] {
		result := verdict.Result{Check: rule.ID, Subject: path, Verdict: verdict.Passed}
		switch rule.ID {
		case "reissue":
			result.Verdict, result.Reason = verdict.Skipped, "the listing is new"
		case "peer-witnesses", "external-audit":
			result.Verdict, result.Reason = verdict.Skipped, "not required at L3"
		case "domain-age":
			result.Reason = "acme.example was registered 2019-03-02, 2620 days ago"
		case "receipt-signature":
			result.Reason = "signed by did:web:acme.example#key-1"
		}
		all = append(all, result)
	}
	return all
}

// mixed is a pull request in which every verdict of a result occurs.
func mixed() *verdict.Report {
	r := honest()
	r.Verdict = verdict.Failed
	set := func(check string, v verdict.Verdict, reason string, f ...verdict.Finding) {
		edit(r, func(_ int, result *verdict.Result) {
			if result.Check == check {
				result.Verdict, result.Reason, result.Findings = v, reason, f
			}
		})
	}
	set("receipt-validity", verdict.Failed, "", verdict.Finding{
		Severity: verdict.Error, Code: "window-too-long", Cite: "RFC 0026 section 6",
		Message: "expires_at is 90d0h0m0.001s after issued_at; expected at most 90d",
		Fix:     "set expires_at to 2026-08-02T10:34:47.660Z or earlier",
		Pos:     strict.Pos{Path: "implementations/acme.json", Line: 9, Column: 3}, Pointer: "/expires_at",
	})
	set("append-only", verdict.Failed, "", verdict.Finding{
		Severity: verdict.Error, Code: "path-deleted", Cite: "RFC 0026 section 7",
		Message: "this commit deletes the path, which the base holds; merged records stay",
		Fix:     "git checkout 1111111 -- implementations/other.json",
		Pos:     strict.Pos{Path: "implementations/other.json"}, Commit: "3333333333333333333333333333333333333333",
	})
	set("did-resolution", verdict.Inconclusive, "", verdict.Finding{
		Severity: verdict.Doubt, Code: "timeout", Cite: "RFC 0026 section 6",
		Message: `no answer from "https://acme.example/.well-known/did.json" within 10s, 3 attempts`,
		Fix:     "run the job again once the host answers",
		Pos:     strict.Pos{Path: "implementations/acme.json", Line: 5, Column: 3}, Pointer: "/tool_did",
	})
	set("manifest-did", verdict.Warned, "", verdict.Finding{
		Severity: verdict.Warning, Code: "name-differs",
		Message: `the Manifest calls the tool "Acme Assistant", the listing "Acme"`,
		Pos:     strict.Pos{Path: "implementations/acme.json", Line: 4, Column: 3}, Pointer: "/name",
	}, verdict.Finding{Severity: verdict.Notice, Code: "declared", Message: "the audit is declared, not verified"})
	set("receipt-signature", verdict.Inconclusive, "needs the DID Document, which did-resolution could not get")
	r.Evidence[0] = verdict.Evidence{URL: "https://acme.example/.well-known/did.json", Attempts: 3, Milliseconds: 30000,
		State: "unavailable", Code: "timeout", Message: "no full answer within 10s"}
	r.Results.Add(verdict.Result{
		Check: "append-only", Subject: "registry", Verdict: verdict.Warned,
		Findings: []verdict.Finding{{Severity: verdict.Warning, Code: "squash",
			Message: "2 commits of the range touch data paths", Fix: "squash them, or merge with a squash"}},
	})
	r.Squash = true
	return counted(r)
}

// offline is honest without network and without one more check.
func offline() *verdict.Report {
	r := honest()
	r.Evidence = nil
	r.Assumed = []string{"--offline", "--skip name-similarity"}
	edit(r, func(_ int, result *verdict.Result) {
		switch result.Check {
		case "name-similarity":
			result.Reason = "left out by --skip"
		case "did-resolution", "manifest-reachability", "manifest-did", "receipt-fetch", "receipt-claims",
			"receipt-signature", "domain-age":
			result.Reason = "left out by --offline"
		default:
			return
		}
		result.Verdict = verdict.Skipped
		r.NotRun = append(r.NotRun, result.Check)
	})
	return counted(r)
}

// many has n listings, some of which are at fault, a revocation and a governance file.
func many(n int) *verdict.Report {
	r := frame()
	for i := range n {
		results := onListing(fmt.Sprintf("implementations/listing-%04d.json", i))
		if i%7 == 3 {
			f := verdict.Finding{Severity: verdict.Error, Code: "receipt-hash-mismatch",
				Message: fmt.Sprintf("served receipt has sha256 %04d, the listing pins another", i),
				Pos:     strict.Pos{Path: results[0].Subject, Line: 9, Column: 3}}
			results[8].Verdict, results[8].Findings = verdict.Failed, []verdict.Finding{f}
			r.Verdict = verdict.Failed
		}
		if i%5 == 2 {
			results[14].Verdict, results[14].Reason = verdict.Inconclusive, "RDAP answers 503"
		}
		r.Results.Add(results...)
	}
	r.Results.Add(verdict.Result{Check: "layout", Subject: "revocations/acme-00.json", Verdict: verdict.Passed},
		verdict.Result{Check: "revocations", Subject: "revocations/acme-00.json", Verdict: verdict.Warned,
			Reason: "revoked_at is before issued_at"})
	return counted(r)
}

// failed is a run that could not take place.
func failed() *verdict.Report {
	return &verdict.Report{
		Version: 1, Tool: verdict.Tool{Version: "v0.1.0", Commit: "unknown"}, Mode: "check", EvaluatedAt: noon,
		Verdict: verdict.Errored, Error: "the clone is shallow: the parent of 2222222 is not in it",
		Remedy: "git fetch --unshallow, or fetch-depth: 0 in actions/checkout",
	}
}

func counted(r *verdict.Report) *verdict.Report {
	r.Counts = verdict.Counts{}
	for results := range bySubject(r) {
		if results[0].Subject != "registry" {
			r.Counts.Records++
		}
	}
	for result := range r.Results.All() {
		r.Counts.Add(result.Verdict)
	}
	return r
}

// installed is an installation with a fault, after something was applied.
func installed() *verdict.Report {
	r := &verdict.Report{Version: 1, Tool: verdict.Tool{Version: "v0.1.0", Commit: "unknown"}, Mode: "protect",
		EvaluatedAt: noon, Verdict: verdict.Failed,
		Installation: &verdict.Installation{Repository: "acme/registry", Branch: "main",
			Files: []string{".github/repo-config.yml"}, Applied: []string{`ruleset "oap-gate": updated`},
			Unread: []string{"rulesets: x\n::error::y ##[error]"}}}
	r.Results = verdict.NewResults(verdict.Result{Check: "protections", Subject: "registry", Verdict: verdict.Failed,
		Reason: "acme/registry, branch main: 1 missing, 0 unknown, 0 stricter and kept",
		Findings: []verdict.Finding{{Severity: verdict.Error, Code: "protection-missing",
			Message: "protection.approvals: have 0; want 1", Fix: "run oap-gate forge protect --apply",
			Cite: "RFC 0026 section 7",
			Pos:  strict.Pos{Path: ".github/repo-config.yml", Line: 9, Column: 3}}}})
	return counted(r)
}

// companion is the catalogue of a protocol with each of the methods.
var companion = []verdict.Rule{
	{ID: "shape", Title: "the answer has the members that are needed", Cite: "section 1"},
	{ID: "late", Title: "a late answer counts for nothing", Cite: "section 2", Method: verdict.Live},
	{ID: "X-3a", Title: "the effect comes after its event", Cite: "section 3", Method: verdict.Attested},
	{ID: "X-3b", Title: "nothing is made up", Cite: "section 3", Method: verdict.Attested},
}

// declared is a pass of which nobody verified anything, with rows for people and one that no peer was asked about.
func declared() *verdict.Report {
	r := &verdict.Report{Version: 1, Tool: verdict.Tool{Version: "v0.1.0", Commit: "unknown"}, Mode: "conformance",
		Protocol: "x", Declared: true, EvaluatedAt: noon, Verdict: verdict.Passed}
	r.Results = verdict.NewResults(
		verdict.Result{Check: "shape", Subject: "a|b`*.json", Verdict: verdict.Passed, Reason: "4 members"},
		verdict.Result{Check: "late", Subject: "a|b`*.json", Verdict: verdict.Skipped, Reason: "not run"},
	)
	for _, rule := range companion[2:4] {
		r.Results.Add(verdict.Result{Check: rule.ID, Subject: "a|b`*.json", Verdict: verdict.Manual,
			Reason: rule.Title})
	}
	return counted(r)
}

// sessions is a run at a level with n subjects, one of which fails, beside what it was pointed at.
func sessions(n int) *verdict.Report {
	r := declared()
	r.Declared, r.Level, r.Verdict, r.Assumed = false, 2, verdict.Failed, []string{"--lenient"}
	r.Results = verdict.NewResults(slices.Collect(r.Results.All())[1:]...)
	for i := range n {
		result := verdict.Result{Check: "shape", Subject: fmt.Sprintf("a|b`*.json#%d", i), Verdict: verdict.Passed}
		if i == 1 {
			result.Verdict, result.Findings = verdict.Failed,
				[]verdict.Finding{{Severity: verdict.Error, Code: "no-shape",
					Message: "no member |x`", Pos: strict.Pos{Path: "a|b`*.json", Line: 2, Column: 1}, Pointer: "/x"}}
		}
		r.Results.Add(result)
	}
	counted(r)
	r.Counts.Records = n
	return r
}
