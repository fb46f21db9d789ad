package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// work returns what is known about an https target once its documents were sought.
func (w *builtWorld) work(t *testing.T, text string) *work {
	t.Helper()
	target := must.Get(ParseTarget(text, false))(t)
	of := &work{ctx: t.Context(), src: w.source(t), cfg: &Config{Without: true}, target: target,
		levels: map[string]map[level.Level]verdict.Verdict{}}
	must.OK(t, of.collect())
	return of
}

// What a check leaves to one that is not a step would be reported by nobody, so the step reports it.
func TestDeferred(t *testing.T) {
	t.Parallel()
	w := built(t, nova+web("edit: "+documentURL, `body: "[]"`)).work(t, "https://nova.example")
	w.subject.Listing.ToolDID = "did:web:NOVA.example" // which layout reports
	out := must.Get(judgeSignature(w))(t)
	if v, err := out.Verdict(); v != verdict.Failed {
		t.Errorf("the step signature is %s, %v: %+v", v, err, out)
	}
}

// A step on documents that is skipped while no step is at fault leaves every level open.
func TestSkipped(t *testing.T) {
	for i, rule := range catalogue {
		rep := &Report{ClaimedLevels: []level.Level{"L1"}}
		for _, s := range catalogue {
			rep.Steps = append(rep.Steps, Step{Step: s.ID, Verdict: verdict.Passed})
		}
		rep.Steps[i].Verdict = verdict.Skipped
		(&work{}).accept(rep)
		want := verdict.Inconclusive
		switch rule.ID {
		case "revocation", "peer-witnesses", "external-audit", "registry-anchor", "reverify":
			want = verdict.Passed
		}
		if rep.Verdict != want || rep.Accepted != (want == verdict.Passed) {
			t.Errorf("without the step %s: %s, accepted is %t, want %s", rule.ID, rep.Verdict, rep.Accepted, want)
		}
	}
}

// Documents at hand are judged as served ones, but the host of the Manifest is not known. One that was not given
// leaves its steps open.
func TestAtHand(t *testing.T) {
	t.Parallel()
	all := []string{sources.FileManifest, sources.FileReceipt, sources.FileDIDDocument}
	const noClone = "\nrevocation: inconclusive; inconclusive no-registry\n" +
		"registry-anchor: inconclusive; inconclusive no-registry"
	for _, c := range []struct {
		name, world string
		given       []string
		with        bundle.VerifyFlags
		want        string
		says        []string
	}{
		{name: "all", world: nova, given: all, with: bundle.VerifyFlags{Without: true}, want: "pass L1",
			says: []string{`is of did:web:nova.example, as given`, `the Manifest's host is not known`,
				`"target":"did:web:nova.example"`}},
		{name: "no clone", world: nova, given: all, want: "inconclusive" + noClone},
		{name: "no Manifest", world: nova, given: all[1:], with: bundle.VerifyFlags{Without: true},
			want: "inconclusive\nmanifest: inconclusive; inconclusive not-given manifest#\n" +
				"receipt-discovery: skip, see manifest\nidentity: skip, see manifest",
			says: []string{`"fix":"give it with --manifest FILE"`}},
		{name: "no DID Document", world: nova, given: all[:2], with: bundle.VerifyFlags{Without: true},
			want: "inconclusive\nsignature: inconclusive; inconclusive not-given did-document#",
			says: []string{`"fix":"give it with --did-document FILE"`}},
		{name: "a did:key, which needs no DID Document", world: publish("did: key"), given: all[:2],
			with: bundle.VerifyFlags{Without: true},
			want: "pass L1"},
		{name: "a Manifest of another", world: withManifest(`set: {/tool/did: "did:web:other.example"}`), given: all,
			with: bundle.VerifyFlags{Without: true},
			want: "fail\n" +
				"identity: fail; error receipt-did-differs receipt#/implementation/did"},
		{name: "signed by another key", world: publish("signing_key: other"), given: all,
			with: bundle.VerifyFlags{Without: true},
			want: "fail\nsignature: fail; error signature-not-verified receipt#/signatures"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := built(t, c.world)
			given := map[string][]byte{}
			for i, url := range []string{manifestURL, receiptURL, documentURL} {
				if slices.Contains(c.given, all[i]) {
					w.assumed = append(w.assumed, "--"+all[i])
					given[all[i]] = w.Web.Body(strings.Trim(url, `"`))
				}
			}
			c.with.AtHand = true
			w.from = Files(w.Now, given)
			rep := w.verify(t, "", &c.with)
			if got := summary(rep); got != c.want {
				t.Errorf("found\n%s\nwant\n%s", got, c.want)
			}
			for _, says := range c.says {
				if text := encoded(t, rep); !matches(says, text) {
					t.Errorf("the report does not match %q:\n%s", says, text)
				}
			}
		})
	}
}

// short is a source whose budget does not last for one step.
type short struct {
	evidence.Source
	step string
}

func (s short) Reaches(check, subject string) bool {
	return check != s.step && s.Source.Reaches(check, subject)
}

// A step that takes time is open if the budget does not last for it, and no other step is.
func TestNotReached(t *testing.T) {
	t.Parallel()
	for _, rev := range []string{"", "main"} {
		w := built(t, circle+`[{listing: nova, level: L4, witness: [ada],
                receipt: {set: {/claimed_levels: [L1, L4]}}}]`)
		for _, rule := range catalogue {
			run := &Run{Source: short{w.source(t), rule.ID}, Now: w.Now, Clone: w.repo, Jobs: 1}
			flags := &bundle.VerifyFlags{Targets: []string{"https://nova.example"}, Without: rev == "", Level: "L4"}
			if rev != "" {
				must.OK(t, run.Open(t.Context(), "", rev, flags))
			}
			must.OK(t, run.Heard(flags))
			open := rule.ID == "schema" || rule.ID == "signature" || rev != "" && (rule.ID == "revocation" ||
				rule.ID == "peer-witnesses" || rule.ID == "registry-anchor")
			rep := only(t, run)
			consistent(t, rep)
			if slices.Contains(rep.AcceptedLevels, "L1") == (open && !rule.each) {
				t.Errorf("revision %q, without time for %s: accepted are %s", rev, rule.ID, rep.AcceptedLevels)
			}
			accepted := rev != "" && !open
			if rep.Accepted != accepted || (rep.Verdict == verdict.Passed) != accepted {
				t.Errorf("revision %q, without time for %s: the verdict is %s, accepted are %s", rev, rule.ID,
					rep.Verdict, rep.AcceptedLevels)
			}
			for _, s := range rep.Steps {
				if got := s.Reason == checks.NotReached; got != (open && s.Step == rule.ID) ||
					got && s.Verdict != verdict.Inconclusive {
					t.Errorf("revision %q, without time for %s: step %s is %s: %s", rev, rule.ID, s.Step, s.Verdict,
						s.Reason)
				}
			}
		}
	}
	w := built(t, nova+gone(receiptURL))
	run := &Run{Source: short{w.source(t), "schema"}, Now: w.Now, Jobs: 1}
	must.OK(t, run.Heard(&bundle.VerifyFlags{Targets: []string{"https://nova.example"}, Without: true}))
	if s := only(t, run).Steps[3]; s.Verdict != verdict.Skipped {
		t.Errorf("without a Receipt and time the step schema is %s: %s", s.Verdict, s.Reason)
	}
	run.Source, run.Budget = w.source(t), 1 // a nanosecond
	if rep := only(t, run); rep.Verdict != verdict.Inconclusive {
		t.Errorf("without time the verdict is %s", rep.Verdict)
	}
	if missed := run.Bundle().NotReached["target:https://nova.example"]; len(missed) == 0 {
		t.Error("without time the bundle says that all was reached")
	}
}

// Of the levels that a Receipt claims at most 64 are looked at, each once and cut to 100 characters.
func TestClaim(t *testing.T) {
	for _, n := range []int{64, 65} {
		r := &receipt.Receipt{ClaimedLevels: []level.Level{level.Level(strings.Repeat("x", 200))}}
		for i := range n - 1 {
			r.ClaimedLevels = append(r.ClaimedLevels, level.Level(fmt.Sprint("X", i)), level.Level(fmt.Sprint("X", i)))
		}
		var w work
		w.claim(r)
		if len(w.claimed) != 64 || len(w.claimed[0]) > 110 || w.claimed[63] != "X62" {
			t.Errorf("of %d levels: %q", n, w.claimed)
		}
	}
}

func TestLevelList(t *testing.T) {
	for _, c := range []struct {
		levels []level.Level
		want   string
	}{
		{nil, "none"},
		{[]level.Level{"L1"}, "L1"},
		{[]level.Level{"L1", level.Level(strings.Repeat("x", 30))}, "L1, " + strings.Repeat("x", 20)},
		{slices.Repeat([]level.Level{"L1"}, 21), strings.Repeat("L1, ", 19) + "L1"},
	} {
		if got := LevelList(c.levels); got != c.want {
			t.Errorf("%q: %q, want %q", c.levels, got, c.want)
		}
	}
}

// One target leads to at most 50 documents, however many witnesses its Receipt names.
func TestMaxDocuments(t *testing.T) {
	t.Parallel()
	world := "base:\n"
	var all []string
	for i := range 30 {
		slug := fmt.Sprintf("w%02d", i)
		all = append(all, slug)
		world += fmt.Sprintf("  - {listing: %s, level: L4}\n", slug)
	}
	world += "  - {listing: nova, level: L4, witness: [" + strings.Join(all, ", ") + "]}\n"
	w := built(t, world)
	rep := w.verify(t, "main", &bundle.VerifyFlags{Targets: []string{"https://nova.example"}})
	if n := len(rep.Evidence); n != 3+23*2 { // a fourth own one is counted: a DID with a path has two
		t.Errorf("%d documents were sought, want its own and those of 23 witnesses", n)
	}
}

// Each step says what it verified, and no more.
func TestReasons(t *testing.T) {
	t.Parallel()
	w := built(t, "base: [{listing: nova}]")
	pin := must.Get(w.Pin("nova", 0))(t)
	commit := must.Get(w.repo.Resolve("main"))(t)
	want := map[string]string{
		"manifest":          "is of did:web:nova.example",
		"receipt-discovery": "names https://nova.example/oap-conformance-receipt.json",
		"receipt-fetch":     "sha256 " + pin,
		"schema":            "valid under the receipt schema",
		"suite-trust":       "version 1.0.0",
		"validity":          "until 2026-08-20T12:00:00Z, 80 days left",
		"identity":          "the Receipt is that of did:web:nova.example",
		"signature": "signed by did:web:nova.example#key-1, over the canonical JSON without signatures and " +
			"peer_witnesses",
		"claims":          "claims L1, 42 of 42 tests passed",
		"revocation":      "no revocation in force names it",
		"peer-witnesses":  "only L4 and L5 need peer witnesses",
		"external-audit":  "only L5 needs an external audit",
		"registry-anchor": "implementations/nova.json, brought by commit " + commit,
		"reverify":        "live re-execution of the suite was not performed",
	}
	for _, text := range []string{"https://nova.example", "nova"} {
		if text == "nova" {
			want["receipt-fetch"] += ", as pinned"
		}
		rep := w.verify(t, "main", &bundle.VerifyFlags{Targets: []string{text}})
		for _, s := range rep.Steps {
			if s.Reason != want[s.Step] {
				t.Errorf("%s: step %s says %q, want %q", text, s.Step, s.Reason, want[s.Step])
			}
		}
		if rep.Registry.Commit != commit || rep.Registry.Path != "implementations/nova.json" ||
			!rep.Registry.AsOf.Equal(w.Now.AddDate(0, 0, -10)) || !rep.NotAfter.Equal(w.Now.AddDate(0, 0, 80)) ||
			rep.DID != "did:web:nova.example" || rep.SuiteVersion != "1.0.0" || rep.Canonical != nil ||
			rep.Judged != nil {
			t.Errorf("%s: the report is %+v, %+v", text, rep, rep.Registry)
		}
	}
	rep := built(t, "base: [{publish: nova}, {listing: ada}]").verify(t, "main",
		&bundle.VerifyFlags{Targets: []string{"https://nova.example"}})
	if got := rep.Steps[9].Reason; got != "the clone lists no such DID, so that nothing of it is revoked" ||
		rep.Registry.Path != "" {
		t.Errorf("of a DID that is not listed: %q, %+v", got, rep.Registry)
	}
}

// A verdict is about all claimed levels, or about the one that is asked for; without a claim nothing is accepted.
func TestAccept(t *testing.T) {
	for _, c := range []struct {
		claimed []level.Level
		asked   level.Level
		want    verdict.Verdict
		reasons int
	}{
		{nil, "", verdict.Failed, 0},
		{[]level.Level{"L1"}, "", verdict.Passed, 0},
		{[]level.Level{"L1"}, "L1", verdict.Passed, 0},
		{[]level.Level{"L1"}, "L2", verdict.Failed, 1},
	} {
		rep := &Report{ClaimedLevels: c.claimed, Level: c.asked}
		for _, s := range catalogue {
			rep.Steps = append(rep.Steps, Step{Step: s.ID, Verdict: verdict.Passed})
		}
		w := &work{facts: &evidence.Facts{}}
		w.facts.Receipt.State, w.facts.Receipt.Value = evidence.Obtained, &receipt.Receipt{}
		if w.accept(rep); rep.Verdict != c.want || len(rep.Reasons) != c.reasons {
			t.Errorf("%q, asked for %q: %s, %q", c.claimed, c.asked, rep.Verdict, rep.Reasons)
		}
	}
}

// A Manifest below the root of a host is the root's if the owner of the root serves the same bytes, or lists its URL.
func TestConfirmed(t *testing.T) {
	t.Parallel()
	const (
		at     = "https://nova.example/static/oap.json"
		moved  = "\nweb:\n  - {edit: " + manifestURL + `, to: "` + at + `"`
		static = nova + moved
	)
	runTargets(t, []target{
		{name: "the same bytes", world: static + "}", text: at, want: `
			pass L1
			identity: warn; warning target-folder manifest#`},
		{name: "other bytes", world: static + ", set: {/extra: 1}}", text: at, want: `
			fail
			identity: fail; error manifest-host manifest#`},
		{name: "nothing at the root", world: static + "}\n  - {url: " + manifestURL + ", status: 404}", text: at,
			want: `
			fail
			identity: fail; error manifest-host manifest#`},
		{name: "the root cannot be asked now",
			world: static + "}\n  - {url: " + manifestURL + ", status: 503}", text: at, want: `
			inconclusive
			identity: inconclusive; inconclusive manifest-host manifest#`},
		{name: "the clone lists the URL", text: at, clone: "main",
			world: `base: [{listing: nova, set: {/manifest_uri: "` + at + `"}}]` + moved +
				"}\n  - {url: " + manifestURL + ", status: 404}", want: `
			pass L1
			identity: warn; warning target-folder manifest#`},
		{name: "the clone lists another URL", text: at, clone: "main",
			world: "base: [{listing: nova}]" + moved + "}\n  - {url: " + manifestURL + ", status: 404}", want: `
			fail
			identity: fail; error manifest-host manifest#`},
	})
}

// The result of a target names where its documents were asked for, and the listings that its Receipt would make.
func TestResult(t *testing.T) {
	t.Parallel()
	const here, there = "https://nova.example/oap-conformance-receipt.json", "https://nova.example/there.json"
	w := built(t, publish("level: L5, receipt: {set: {/claimed_levels: [L5, L1, L4, L5-ORG]}}")+
		web("edit: "+receiptURL, `to: "`+there+`"`))
	http := built(t, withManifest(`set: {/conformance/receipt_uri: "http://nova.example/r.json"}`))
	gone := built(t, nova+gone(manifestURL))
	atHand := map[string][]byte{sources.FileManifest: w.Web.Body(strings.Trim(manifestURL, `"`)),
		sources.FileReceipt: w.Web.Body(there)}
	target := Target{Text: "https://nova.example", ManifestURI: strings.Trim(manifestURL, `"`)}
	moved := target
	moved.ReceiptURI = there
	for _, c := range []struct {
		name            string
		src             evidence.Source
		target          Target
		uri, candidates string
	}{
		{"what the Manifest names", w.source(t), target, here, "L4 L5 L5-ORG"},
		{"what replaces it", w.source(t), moved, there, "L4 L5 L5-ORG"},
		{"an http URL", http.source(t), target, "", ""},
		{"no Manifest", gone.source(t), target, "", ""},
		{"documents at hand", Files(w.Now, atHand), Target{AtHand: true}, "", "L4 L5 L5-ORG"},
	} {
		found := must.Get(Verify(t.Context(), c.src, c.target, &Config{Without: true}))(t)
		var candidates []level.Level
		for _, s := range found.Candidates {
			candidates = append(candidates, s.Listing.Level)
		}
		asked := func(e verdict.Evidence) bool { return e.URL == c.uri }
		if c.uri != "" && !slices.ContainsFunc(found.Evidence, asked) {
			t.Errorf("%s: the Receipt is asked for elsewhere: %+v", c.name, found.Evidence)
		}
		if found.ReceiptURI != c.uri || joined(candidates) != c.candidates ||
			found.ManifestURI != c.target.ManifestURI || (found.ReceiptSHA256 == "") != (c.uri+c.candidates == "") {
			t.Errorf("%s: the Receipt %q of %q, candidates %q, sha256 %q", c.name, found.ReceiptURI, found.ManifestURI,
				joined(candidates), found.ReceiptSHA256)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if found, err := Verify(ended, w.source(t), target, &Config{Without: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the run: %v, %+v", err, found)
	}
}

// Documents of others are sought if a claimed level needs them: of a witness at L4 all but the Manifest.
func TestSought(t *testing.T) {
	t.Parallel()
	for claimed, want := range map[string]string{"L1": "",
		"L1, L4": "https://ada.example/.well-known/did.json https://ada.example/oap-conformance-receipt.json",
		"L5": "https://ada.example/.well-known/did.json https://ada.example/.well-known/oap-tool.json " +
			"https://ada.example/oap-conformance-receipt.json"} {
		w := built(t, circle+"[{listing: nova, level: L5, witness: [ada], receipt: {set: {/claimed_levels: ["+claimed+
			"]}}}]")
		rep := w.verify(t, "main", &bundle.VerifyFlags{Targets: []string{"https://nova.example"}})
		var got []string
		for _, e := range rep.Evidence {
			if !strings.HasPrefix(e.URL, "https://nova.example/") {
				got = append(got, e.URL)
			}
		}
		if joined(got) != want {
			t.Errorf("at %s: %q, want %s", claimed, got, want)
		}
	}
}

// A DID that no document can have is cut, so that no report is long.
func TestLongDID(t *testing.T) {
	for n, want := range map[int]int{did.MaxLength: did.MaxLength, did.MaxLength + 1: 200 + len("…")} {
		w := &work{ctx: t.Context(), src: always{}, cfg: &Config{}, facts: &evidence.Facts{}}
		w.target.DID = "did:web:a.example:" + strings.Repeat("a", n-len("did:web:a.example:"))
		if w.draft(); len(w.did) != want {
			t.Errorf("a DID of %d bytes has %d, want %d", n, len(w.did), want)
		}
	}
}

// Bytes that are not the pinned ones are compared with the pin of the slug.
func TestPinned(t *testing.T) {
	t.Parallel()
	w := built(t, listed+web("edit: "+receiptURL, `replace: {"{": "{ "}`))
	pin := must.Get(w.Pin("nova", 0))(t)
	rep := w.verify(t, "main", &bundle.VerifyFlags{Targets: []string{"nova"}})
	if got := rep.Steps[2].Error; !strings.HasSuffix(got, "the listing pins "+pin) {
		t.Errorf("%q, want the pin %s", got, pin)
	}
}

// Each level is judged for itself; the worst says why, a finding of two is there once, and errors end the run.
func TestEachLevel(t *testing.T) {
	bug := errors.New("bug")
	passed := verdict.Outcome{Passed: true}
	warned := verdict.Outcome{Findings: []verdict.Finding{{Severity: verdict.Warning, Code: "x"}}}
	for _, c := range []struct {
		name     string
		l4, l5   verdict.Outcome
		err      error
		want     verdict.Verdict
		findings int
		fails    error
	}{
		{"both pass", passed, passed, nil, verdict.Passed, 0, nil},
		{"both warn of one thing", warned, warned, nil, verdict.Warned, 1, nil},
		{"one is open", passed, verdict.Outcome{Doubtful: "why"}, nil, verdict.Inconclusive, 0, nil},
		{"one says nothing", passed, verdict.Outcome{}, nil, "", 0, verdict.ErrUnsaid},
		{"one cannot be judged", passed, passed, bug, "", 0, bug},
	} {
		w := &work{facts: &evidence.Facts{}, levels: map[string]map[level.Level]verdict.Verdict{},
			claimed: []level.Level{"L3", "L4", "L5"}}
		w.facts.Receipt.State, w.facts.ReceiptText.State = evidence.Obtained, evidence.Obtained
		out, err := w.eachLevel("id", 4, "none", func(l level.Level, _ *checks.Subject) (verdict.Outcome, error) {
			if l == "L4" {
				return c.l4, nil
			}
			return c.l5, c.err
		})
		if !errors.Is(err, c.fails) {
			t.Errorf("%s: %v, want %v", c.name, err, c.fails)
		}
		if c.fails != nil {
			continue
		}
		if v, err := out.Verdict(); v != c.want || err != nil || len(out.Findings) != c.findings ||
			len(w.levels["id"]) != 2 {
			t.Errorf("%s: %s, %v: %+v, %v", c.name, v, err, out, w.levels)
		}
	}
}

// Without a clone nothing anchors a level that needs witnesses, whatever the other steps say.
func TestAnchorOpen(t *testing.T) {
	t.Parallel()
	w := built(t, publish("level: L4, receipt: {set: {/claimed_levels: [L1, L4]}}")).work(t, "https://nova.example")
	if _, err := judgeAnchor(w); err != nil {
		t.Fatal(err)
	}
	if got := w.levels["registry-anchor"]; len(got) != 1 || got["L4"] != verdict.Inconclusive {
		t.Errorf("the step leaves %v, want L4 open", got)
	}
}

// What a bundle was recorded with is said of domains that were compared by another list.
func TestRecordedList(t *testing.T) {
	t.Parallel()
	w := built(t, nova).work(t, "https://nova.example")
	w.cfg.Recorded = &evidence.Recorded{List: &verdict.SuffixList{Date: "2020-01-01"}}
	out, err := judgeIdentity(w)
	if err != nil || len(out.Findings) != 1 || out.Findings[0].Code != evidence.CodeSuffixList {
		t.Errorf("%v, %+v, want %s", err, out.Findings, evidence.CodeSuffixList)
	}
}

// A step that is not ok says why, by its first finding if that is an error or a doubt.
func TestStep(t *testing.T) {
	w := &work{src: always{}, cfg: &Config{}, facts: &evidence.Facts{}}
	warning := []verdict.Finding{{Severity: verdict.Warning, Message: "warned"}}
	doubt := append(warning[:1:1], verdict.Finding{Severity: verdict.Doubt, Message: "open"})
	for _, c := range []struct {
		out  verdict.Outcome
		want string
	}{
		{verdict.Outcome{Verified: "all"}, ""},
		{verdict.Outcome{Verified: "all", Findings: warning}, ""},
		{verdict.Outcome{Doubtful: "why"}, "why"},
		{verdict.Outcome{Doubtful: "why", Findings: warning}, "why"},
		{verdict.Outcome{Doubtful: "why", Findings: doubt}, "open"},
	} {
		if s := w.step(catalogue[0], c.out); s.Error != c.want {
			t.Errorf("%+v: %q, want %q", c.out, s.Error, c.want)
		}
	}
}

// TestSilentStep requires an error that names a step that says nothing. It changes the catalogue, so that it does not
// run in parallel.
func TestSilentStep(t *testing.T) {
	defer func(was []step) { catalogue = was }(catalogue)
	catalogue = append(slices.Clip(catalogue), step{Rule: verdict.Rule{ID: "silent"},
		judge: func(*work) (verdict.Outcome, error) { return verdict.Outcome{}, nil }})
	_, err := Verify(t.Context(), always{}, Target{Text: "https://ada.example"}, &Config{})
	if want := "check silent said nothing of https://ada.example"; !errors.Is(err, verdict.ErrUnsaid) ||
		err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}
