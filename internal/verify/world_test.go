package verify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// A target is a world, an implementation in it that a reader verifies in memory, and what the report says.
type target struct {
	name  string
	world string // as fixture.Build reads it; "" is that of nova, which is honest at L1 and lists nothing
	text  string // the target; https://nova.example where it is empty
	clone string // the revision of the clone that is read; "" for --without-registry
	with  func(*bundle.VerifyFlags)

	// want has the verdict, the accepted levels, and each step that does not end as usual: the steps on documents
	// pass, and with a clone nothing is revoked, and the Receipt is anchored; other steps are skipped. FIRST..LAST are
	// neighbours that end alike.
	want string
	says []string // expressions that the report as JSON matches
}

// The parts of worlds.
const (
	nova = "base: [{publish: nova}]"

	manifestURL = `"https://nova.example/.well-known/oap-tool.json"`
	receiptURL  = `"https://nova.example/oap-conformance-receipt.json"`
	documentURL = `"https://nova.example/.well-known/did.json"`
)

func publish(members string) string      { return "base: [{publish: nova, " + members + "}]" }
func withReceipt(members string) string  { return publish("receipt: {" + members + "}") }
func withManifest(members string) string { return publish("manifest: {" + members + "}") }

// web returns an entry of the web with a URL and members, for a world that has none yet.
func web(url, members string) string { return "\nweb: [{" + url + ", " + members + "}]" }

// gone and down return the entry of a page that answers 404 or 503.
func gone(url string) string { return web("url: "+url, "status: 404") }
func down(url string) string { return web("url: "+url, "status: 503") }

func (c target) run(t *testing.T) {
	w := built(t, cmp.Or(c.world, nova))
	flags := &bundle.VerifyFlags{Targets: []string{cmp.Or(c.text, "https://nova.example")}, Without: c.clone == ""}
	if c.with != nil {
		c.with(flags)
	}
	rep := w.verify(t, c.clone, flags)
	if got, want := summary(rep), strings.ReplaceAll(strings.TrimSpace(c.want), "\t", ""); got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
	text := encoded(t, rep)
	for _, says := range c.says {
		if !matches(says, text) {
			t.Errorf("the report does not match %q:\n%s", says, text)
		}
	}
}

func matches(says string, text []byte) bool { return regexp.MustCompile(says).Match(text) }

func runTargets(t *testing.T, cases []target) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

// builtWorld is a world in memory with its registry on disk.
type builtWorld struct {
	*fixture.World
	repo *registry.Repository

	from    evidence.Source // replaces the world's web; nil: it does not
	assumed []string        // flags that a run from it assumes
}

func built(t *testing.T, text string) *builtWorld {
	t.Helper()
	w, repo := checktest.Build(t, text)
	return &builtWorld{World: w, repo: repo}
}

// source answers from the world's web, and keeps what it answered.
func (w *builtWorld) source(t testing.TB) evidence.Source {
	if w.from != nil {
		return w.from
	}
	web := checktest.Web(t, w.World)
	return (&bundle.Bundle{Now: w.Now}).SourceOr(func(r evidence.Request) evidence.Observation {
		return web.Observe(context.Background(), r)
	})
}

// verify verifies one target, live and then again from the bundle of the run, and requires both reports to be equal
// and consistent.
func (w *builtWorld) verify(t *testing.T, rev string, flags *bundle.VerifyFlags) *Report {
	t.Helper()
	run := &Run{Source: w.source(t), Now: w.Now, Clone: w.repo, Keep: true, Jobs: 1}
	run.Config.Tool = verdict.Tool{Version: "test"}
	run.Config.Require = flags.Require
	run.Config.Assumed = slices.Compact(slices.Sorted(slices.Values(append(assumed(flags), w.assumed...))))
	if rev != "" {
		must.OK(t, run.Open(t.Context(), "", rev, flags))
	}
	must.OK(t, run.Heard(flags))
	rep := only(t, run)
	consistent(t, rep)

	kept := must.Get(bundle.Decode("bundle", run.Bundle().Encode()))(t)
	again := &Run{Jobs: 1}
	again.Config.Require = flags.Require
	open := func() (*registry.Repository, error) { return registry.Open(w.Repo.Dir) }
	must.OK(t, again.Again(t.Context(), kept, open))
	if again.Clone != nil {
		defer again.Clone.Close()
	}
	if live, replayed := encoded(t, rep), encoded(t, only(t, again)); !bytes.Equal(live, replayed) {
		t.Errorf("the replay gives\n%s\nthe live run gave\n%s", replayed, live)
	}
	return rep
}

// assumed returns the flags that the command would say were assumed.
func assumed(flags *bundle.VerifyFlags) (out []string) {
	for name, is := range map[string]bool{"--without-registry": flags.Without, "--trusted-suites": flags.Suites != "",
		"--receipt": flags.AtHand} {
		if is {
			out = append(out, name)
		}
	}
	return out
}

// only runs a run of one target.
func only(t *testing.T, run *Run) *Report {
	t.Helper()
	var all []*Report
	must.OK(t, run.Verify(t.Context(), func(r *Report) error { all = append(all, r); return nil }))
	if len(all) != 1 {
		t.Fatalf("%d reports, want 1", len(all))
	}
	if (all[0].Registry != nil) != (run.Config.Clone != nil) {
		t.Errorf("with the clone %+v the report says of the registry %+v", run.Config.Clone, all[0].Registry)
	}
	return all[0]
}

func encoded(t *testing.T, rep *Report) []byte {
	t.Helper()
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	must.OK(t, to.Encode(rep))
	return out.Bytes()
}

// summary returns the report in the form of target.want.
func summary(rep *Report) string {
	out := []string{strings.TrimSpace(fmt.Sprintf("%s %s", rep.Verdict, joined(rep.AcceptedLevels)))}
	first, last, ended := "", "", ""
	flush := func() {
		if last != first {
			first += ".." + last
		}
		if first != "" {
			out = append(out, first+": "+ended)
		}
	}
	for i, s := range rep.Steps {
		how := string(s.Verdict)
		if _, reporter, found := strings.Cut(": "+s.Reason, ": see "); found {
			how += ", see " + reporter
		}
		for j, n := 0, 0; j < len(s.Findings); j += n {
			one := place(s.Findings[j])
			for n = 1; j+n < len(s.Findings) && place(s.Findings[j+n]) == one; n++ {
			}
			if how += ";" + map[bool]string{true: " ", false: "\n"}[j == 0]; n > 1 {
				how += fmt.Sprintf("%d times ", n)
			}
			how += one
		}
		usual := "pass"
		switch {
		case i < slices.IndexFunc(catalogue, func(s step) bool { return s.ID == "revocation" }):
		case rep.Registry != nil && s.Step == "registry-anchor":
			usual = "pass; notice anchored receipt#"
		case rep.Registry == nil || s.Step != "revocation":
			usual = "skip"
		}
		if how == usual || how != ended {
			flush()
			first, ended = s.Step, how
		}
		if last = s.Step; how == usual {
			first, last, ended = "", "", ""
		}
	}
	flush()
	return strings.Join(out, "\n")
}

func place(f Finding) string {
	text := f.Severity.String() + " " + f.Code
	if f.Document != "" {
		text += " " + f.Document + "#" + f.Pointer
	}
	return text
}

func joined[S ~string](all []S) string {
	var out []string
	for _, s := range all {
		out = append(out, string(s))
	}
	return strings.Join(out, " ")
}

// consistent requires the parts of a report that follow from others to do so.
func consistent(t *testing.T, rep *Report) {
	t.Helper()
	if len(rep.EvidenceSHA256) != 64 || rep.NotAfter != nil && rep.NotAfter.IsZero() {
		t.Errorf("the evidence has the digest %q, the Receipt ends at %v", rep.EvidenceSHA256, rep.NotAfter)
	}
	var reasons []string
	var counts verdict.Counts
	counts.Records = 1
	if rep.Registry != nil && rep.Registry.AsOf != nil && rep.Registry.AsOf.IsZero() {
		t.Error("the clone is of the year 1")
	}
	for i, s := range rep.Steps {
		rule := catalogue[i]
		bad := s.Verdict == verdict.Failed || s.Verdict == verdict.Inconclusive
		if looked := s.Verdict != verdict.Skipped || !rule.registry || rep.Registry != nil; looked != (s.OK != nil) ||
			looked && *s.OK == bad || s.Step != rule.ID || s.Cite != rule.Cite {
			t.Errorf("step %d is %+v", i, s)
		}
		for _, f := range s.Findings {
			if f.Message == "" || f.Cite == "" || f.Fix == "" && f.Severity < verdict.Notice &&
				!strings.HasPrefix(f.Message, "the Receipt violates its schema in") {
				t.Errorf("step %s: a finding says too little: %+v", s.Step, f)
			}
			if strings.HasPrefix(f.Fix, "give it with") != (f.Code == evidence.CodeNotGiven) {
				t.Errorf("step %s: a file is asked for: %+v", s.Step, f)
			}
			if !slices.ContainsFunc(rule.Codes, func(c strict.Code) bool { return c.ID == f.Code }) {
				t.Errorf("step %s does not explain the code %s", s.Step, f.Code)
			}
		}
		if !slices.IsSortedFunc(s.Findings, func(a, b Finding) int { return cmp.Compare(a.Severity, b.Severity) }) {
			t.Errorf("step %s: the worst finding is not the first: %+v", s.Step, s.Findings)
		}
		first := s.Reason
		if len(s.Findings) > 0 && s.Findings[0].Severity <= verdict.Doubt {
			first = s.Findings[0].Message
		}
		switch {
		case !bad && s.Error != "", bad && (s.Error == "" || s.Error != first):
			t.Errorf("step %s says of the error %q, want %q", s.Step, s.Error, first)
		case bad:
			reasons = append(reasons, s.Step+": "+s.Error)
		case s.Reason == "" && len(s.Findings) == 0:
			t.Errorf("step %s says nothing", s.Step)
		}
		if _, reporter, found := strings.Cut(": "+s.Reason, ": see "); found {
			at := slices.IndexFunc(rep.Steps, func(s Step) bool { return s.Step == reporter })
			if v := rep.Steps[at].Verdict; v == verdict.Passed || v == verdict.Warned {
				t.Errorf("step %s is skipped for %s, which is %s", s.Step, reporter, v)
			}
		}
		fetch := s.Step == "receipt-fetch"
		if fetch && s.SHA256 != rep.ReceiptSHA256 || fetch && s.ReceiptID == "" && rep.SuiteVersion != "" ||
			!fetch && (s.ReceiptID != "" || s.SHA256 != "") {
			t.Errorf("step %s has the Receipt's id %q and SHA-256 %q", s.Step, s.ReceiptID, s.SHA256)
		}
		partly := s.Step == "manifest" || s.Step == "registry-anchor" // these may have verified something
		if s.Verdict == verdict.Failed && s.Reason != "" && !partly {
			t.Errorf("step %s failed, and says %q", s.Step, s.Reason)
		}
		*map[verdict.Verdict]*int{verdict.Passed: &counts.Pass, verdict.Failed: &counts.Fail,
			verdict.Inconclusive: &counts.Inconclusive, verdict.Warned: &counts.Warn,
			verdict.Skipped: &counts.Skip}[s.Verdict]++
	}
	if n := len(reasons); len(rep.Reasons) < n || !slices.Equal(rep.Reasons[:n], reasons) ||
		len(rep.Reasons) > n && rep.Level == "" || len(rep.Reasons) > n+1 {
		t.Errorf("the reasons are %q, want %q", rep.Reasons, reasons)
	}
	if rep.Counts != counts {
		t.Errorf("the counts are %+v, want %+v", rep.Counts, counts)
	}
	if want := len(rep.ClaimedLevels) > 0 && slices.Equal(rep.AcceptedLevels, rep.ClaimedLevels); rep.Accepted != want {
		t.Errorf("accepted is %t, want %t", rep.Accepted, want)
	}
	if rep.Level == "" && (rep.Verdict == verdict.Passed) != rep.Accepted {
		t.Errorf("the verdict is %s, and accepted is %t", rep.Verdict, rep.Accepted)
	}
	if rep.Version != 1 || rep.Mode != "verify" || rep.Target == "" || rep.Timestamp.Location() != time.UTC ||
		(len(rep.Evidence) == 0) != (rep.Steps[0].Verdict == verdict.Skipped) {
		t.Errorf("the report is %+v", rep)
	}
}
