package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/mirrorstate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// A bundle that does not say what its run assumed, or that verify did not record, is not replayed.
func TestAgainRefuses(t *testing.T) {
	t.Parallel()
	w := built(t, "base: [{listing: nova}]")
	commit := must.Get(w.repo.Resolve("main"))(t)
	many := func(n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf("https://t%d.example", i))
		}
		return out
	}
	file := func(state evidence.State) []evidence.Observation {
		return []evidence.Observation{{Request: evidence.Request{Protocol: evidence.File, Target: "manifest"},
			State: state}}
	}
	for _, c := range []struct {
		name string
		edit func(*bundle.Bundle)
		want string // in the error; empty: it is replayed
	}{
		{"honest", func(*bundle.Bundle) {}, ""},
		{"of a check", func(b *bundle.Bundle) { b.Mode = "check" }, `of the mode "check"`},
		{"without flags", func(b *bundle.Bundle) { b.Flags.Verify = nil }, `of the mode "verify"`},
		{"no target", func(b *bundle.Bundle) { b.Flags.Verify.Targets = nil }, "has 0 targets"},
		{"documents and a target", func(b *bundle.Bundle) {
			b.Flags.Verify.AtHand, b.Flags.Assumed = true, []string{"--receipt"}
		}, "has 1 targets"},
		{"documents", func(b *bundle.Bundle) {
			b.Flags.Verify.AtHand, b.Flags.Assumed, b.Flags.Verify.Targets = true, []string{"--receipt"}, nil
		}, ""},
		{"100 targets", func(b *bundle.Bundle) { b.Flags.Verify.Targets = many(100) }, ""},
		{"101 targets", func(b *bundle.Bundle) { b.Flags.Verify.Targets = many(101) }, "has 101 targets"},
		{"a target that is none", func(b *bundle.Bundle) { b.Flags.Verify.Targets = []string{"../x"} }, "not a target"},
		{"a slug without a clone", func(b *bundle.Bundle) {
			b.Head, b.Flags.Verify.Targets = "", []string{"nova"}
		}, "may be a slug"},
		{"a line that is not a target", func(b *bundle.Bundle) {
			b.Flags.Verify.Targets, b.Flags.Verify.Places = []string{"../x"}, []string{"list:7"}
		}, ""},
		{"a target that is none, without a place", func(b *bundle.Bundle) {
			b.Flags.Verify.Targets, b.Flags.Verify.Places = []string{"../x"}, []string{""}
		}, "not a target"},
		{"fewer places than targets", func(b *bundle.Bundle) { b.Flags.Verify.Places = []string{} },
			"1 targets and 0 places"},
		{"suites that are none", func(b *bundle.Bundle) {
			b.Flags.Verify.Suites, b.Flags.Assumed = "*", []string{"--trusted-suites"}
		}, "--trusted-suites"},
		{"a level that does not exist", func(b *bundle.Bundle) { b.Flags.Verify.Level = "L9" },
			`--level "L9" is not a level`},
		{"another commit", func(b *bundle.Bundle) { b.Head = strings.Repeat("c0ffee", 7)[:40] }, "has no commit"},
		{"a time that is none", func(b *bundle.Bundle) { b.Flags.Verify.Fetched = "today" }, `fetched at "today"`},
		{"documents not owned up", func(b *bundle.Bundle) {
			b.Flags.Verify.AtHand, b.Flags.Verify.Targets = true, nil
		}, "recorded with --receipt"},
		{"suites not owned up", func(b *bundle.Bundle) { b.Flags.Verify.Suites = "2.x" },
			"recorded with --trusted-suites"},
		{"no registry, not owned up", func(b *bundle.Bundle) { b.Flags.Verify.Without = true },
			"recorded with --without-registry"},
		{"no registry", func(b *bundle.Bundle) {
			b.Flags.Verify.Without, b.Flags.Assumed = true, []string{"--without-registry value"}
		}, ""},
		{"local hosts not owned up", func(b *bundle.Bundle) { b.Flags.Verify.Local = []string{"a.example=a"} },
			"recorded with --local"},
		{"local hosts not owned up, of which nothing was asked", func(b *bundle.Bundle) {
			b.Flags.Verify.Local, b.Observations = []string{"a.example=a"}, file(evidence.Unavailable)
		}, "recorded with --local"},
		{"local hosts", func(b *bundle.Bundle) {
			b.Flags.Verify.Local = []string{"a.example=a"}
			b.Flags.Assumed = []string{"--x", "--local", "--x y", "--local"}
		}, ""},
		{"a local document not owned up", func(b *bundle.Bundle) {
			b.Observations = []evidence.Observation{{Code: evidence.CodeLocal}}
		}, "recorded with --local"},
		{"a file not owned up", func(b *bundle.Bundle) { b.Observations = file(evidence.Obtained) },
			"recorded with --manifest"},
		{"a bad file not owned up", func(b *bundle.Bundle) { b.Observations = file(evidence.Invalid) },
			"recorded with --manifest"},
		{"a file that was not given", func(b *bundle.Bundle) { b.Observations = file(evidence.Unavailable) }, ""},
	} {
		b := &bundle.Bundle{Mode: "verify", Now: w.Now, Head: commit,
			Flags: bundle.Flags{Verify: &bundle.VerifyFlags{Targets: []string{"https://nova.example"}}}}
		c.edit(b)
		run := &Run{}
		err := run.Again(t.Context(), b, func() (*registry.Repository, error) { return w.repo, nil })
		if got := run.Config.Assumed; !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Errorf("%s: assumed are %q, want them sorted, each once", c.name, got)
		}
		list := b.SuffixList
		if err == nil && (run.Config.Recorded == nil || run.Config.Recorded.List != list) {
			t.Errorf("%s: recorded is %+v, want the list %+v", c.name, run.Config.Recorded, list)
		}
		if err == nil && !slices.Equal(run.Config.Local, b.Flags.Verify.Local) {
			t.Errorf("%s: local are %q, want %q", c.name, run.Config.Local, b.Flags.Verify.Local)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	b := &bundle.Bundle{Mode: "verify", Now: w.Now, Head: commit,
		Flags: bundle.Flags{Verify: &bundle.VerifyFlags{Targets: []string{"nova"}}}}
	if err := (&Run{}).Again(t.Context(), b, nil); err == nil || !strings.Contains(err.Error(), commit) {
		t.Errorf("without a clone: %v", err)
	}
	unopened := errors.New("unopened")
	open := func() (*registry.Repository, error) { return nil, unopened }
	if err := (&Run{}).Again(t.Context(), b, open); !errors.Is(err, unopened) {
		t.Errorf("with a clone that does not open: %v", err)
	}
}

// The reports come in the order of the targets; a slug that is not listed and a line that is not a target have one too.
func TestSeveral(t *testing.T) {
	t.Parallel()
	w := built(t, "base: [{listing: nova}, {listing: ada}]")
	run := &Run{Source: w.source(t), Now: w.Now, Clone: w.repo, Jobs: 3}
	flags := &bundle.VerifyFlags{Targets: []string{"nova", "nobody", "https://ada.example", "../x"},
		Places: []string{"", "", "", "list:7"}}
	must.OK(t, run.Open(t.Context(), "", "main", flags))
	must.OK(t, run.Heard(flags))
	var all []*Report
	must.OK(t, run.Verify(t.Context(), func(r *Report) error { all = append(all, r); return nil }))
	var got []string
	for _, r := range all {
		got = append(got, fmt.Sprintf("%s %s %d %q %q", r.Target, r.Verdict, r.Line, r.Error, r.Reasons))
	}
	commit := run.Config.Clone.Commit[:12]
	unlisted := `"the clone holds no such listing: implementations/nobody.json is not in commit ` + commit + `"`
	want := []string{`nova pass 0 "" []`, "nobody error 0 " + unlisted + " [" + unlisted + "]",
		`https://ada.example pass 0 "" []`,
		`../x error 7 "list:7: not a target: \"../x\"" ["list:7: not a target: \"../x\""]`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	common := Common(all)
	if common.Verdict != verdict.Errored || common.Error != all[1].Error || common.Remedy != all[1].Remedy ||
		common.Head != run.Config.Clone.Commit || common.Counts.Records != 4 || common.Verified != nil ||
		len(common.Evidence) != len(all[0].Evidence)+len(all[2].Evidence) {
		t.Errorf("the common report is %+v", common)
	}
	subjects := map[string]int{}
	for r := range common.Results.All() {
		subjects[r.Subject]++
	}
	if len(subjects) != 2 || subjects["nova"] != len(catalogue) || subjects["https://ada.example"] != len(catalogue) {
		t.Errorf("the subjects are %v", subjects)
	}
	one := Common(all[:1])
	if one.Verdict != verdict.Passed || one.Verified == nil || one.Verified.DID != "did:web:nova.example" ||
		strings.Join(one.Verified.Levels, " ") != "L1" || !one.Verified.AsOf.Equal(*all[0].Registry.AsOf) {
		t.Errorf("the common report of one is %+v", one)
	}
	for r := range one.Results.All() {
		if r.Subject != all[0].Target {
			t.Errorf("the subject of one is %q", r.Subject)
		}
	}
	if twice := Common([]*Report{all[0], all[0]}); len(twice.Evidence) != len(all[0].Evidence) {
		t.Errorf("two reports with one evidence have %d, want %d", len(twice.Evidence), len(all[0].Evidence))
	}

	stop := errors.New("stop")
	taken := 0
	if err := run.Verify(t.Context(), func(*Report) error {
		if taken++; taken == 1 {
			return stop
		}
		return nil
	}); !errors.Is(err, stop) || taken != 1 {
		t.Errorf("a report that is not taken: %v, and %d reports", err, taken)
	}
	ended, cancel := context.WithCancel(t.Context())
	if err := run.Verify(ended, func(r *Report) error {
		if r.Target == flags.Targets[3] {
			cancel()
		}
		return nil
	}); err != nil {
		t.Errorf("a run that was cancelled after its last report: %v", err)
	}
	if err := run.Verify(ended, func(*Report) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that was cancelled: %v", err)
	}
}

// A run ends with the goroutines of its targets, which stop once a report is not taken, and with their panics.
func TestVerifyEnds(t *testing.T) {
	t.Parallel()
	w := built(t, nova)
	stop := errors.New("stop")
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Second) // a run that hangs ends too
	defer cancel()
	run := func(src evidence.Source, each func(*Report) error) error {
		run := &Run{Source: src, Now: w.Now, Jobs: 2}
		flags := &bundle.VerifyFlags{Targets: []string{"https://nova.example", "https://slow.example"}, Without: true}
		must.OK(t, run.Heard(flags))
		return run.Verify(soon, each)
	}
	slow := &hanging{Source: w.source(t), began: make(chan struct{})}
	if err := run(slow, func(*Report) error { <-slow.began; return stop }); !errors.Is(err, stop) {
		t.Errorf("a report that is not taken: %v", err)
	}
	if !slow.ended.Load() || soon.Err() != nil {
		t.Errorf("a request of the run ended: %t; the run hung: %v", slow.ended.Load(), soon.Err())
	}
	defer func() {
		if got := recover(); got != "a bug" {
			t.Errorf("a target panics, and the run with %v", got)
		}
	}()
	err := run(&hanging{Source: w.source(t)}, func(*Report) error { return nil })
	t.Errorf("a target panics, and the run ends with %v", err)
}

// hanging is a source that closes began at a request to slow.example, and answers it at the end of the run. It panics
// if began is nil.
type hanging struct {
	evidence.Source
	began chan struct{}
	ended atomic.Bool
}

func (h *hanging) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	if !strings.Contains(r.Target, "slow") {
		return h.Source.Observe(ctx, r)
	}
	if h.began == nil {
		panic("a bug")
	}
	close(h.began)
	<-ctx.Done()
	for range 1000 { // time for a run that does not wait to return
		runtime.Gosched()
	}
	h.ended.Store(true)
	return sources.Refuse(evidence.Unavailable, evidence.CodeBudget, "ended").Observation(r)
}

// As many targets are in work at once as the caller says, at most 64.
func TestInWork(t *testing.T) {
	t.Parallel()
	for jobs, want := range map[int]int{-1: 1, 1: 1, 2: 2, 63: 63, 64: 64, 65: 64} {
		soon, cancel := context.WithTimeout(t.Context(), 20*time.Second) // a run that waits for more ends too
		src := &crowd{Source: Files(time.Time{}, nil), enough: want, full: make(chan struct{})}
		run := &Run{Source: src, Jobs: jobs}
		flags := &bundle.VerifyFlags{Without: true}
		for i := range 70 {
			flags.Targets = append(flags.Targets, fmt.Sprintf("https://t%d.example", i))
		}
		must.OK(t, run.Heard(flags))
		err := run.Verify(soon, func(*Report) error { return nil })
		if err != nil || src.most != want {
			t.Errorf("with %d jobs %d targets are in work, %v; want %d", jobs, src.most, err, want)
		}
		cancel()
	}
}

// crowd is a source that answers once enough requests were in flight, and keeps how many there were at most.
type crowd struct {
	evidence.Source
	enough int
	full   chan struct{}

	mu        sync.Mutex
	now, most int
}

func (c *crowd) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	c.mu.Lock()
	c.now++
	if c.most = max(c.most, c.now); c.now == c.enough {
		select {
		case <-c.full:
		default:
			close(c.full)
		}
	}
	c.mu.Unlock()
	select {
	case <-c.full:
	case <-ctx.Done():
	}
	for range 100 { // time for further targets to begin
		runtime.Gosched()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now--
	return c.Source.Observe(ctx, r)
}

// At most 4,096 targets are verified before the first of them is written.
func TestAhead(t *testing.T) {
	t.Parallel()
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	src := &ahead{Source: Files(time.Time{}, nil)}
	run := &Run{Source: src, Jobs: 2}
	flags := &bundle.VerifyFlags{Without: true, Targets: []string{"https://slow.example"}, Places: []string{""}}
	for range 4100 {
		flags.Targets, flags.Places = append(flags.Targets, "../x"), append(flags.Places, "list:1")
	}
	must.OK(t, run.Heard(flags))
	n := 0
	if err := run.Verify(soon, func(*Report) error { n++; return nil }); err != nil || n != 4101 {
		t.Errorf("%d reports, %v", n, err)
	}
	if src.before != 4095 {
		t.Errorf("%d targets end before the first, want 4095", src.before)
	}
}

// ahead is a source that answers once as many targets as may be are at their end: each asks for the time.
type ahead struct {
	evidence.Source
	asked  atomic.Int64
	before int64
}

func (a *ahead) Now() time.Time {
	a.asked.Add(1)
	return a.Source.Now()
}

func (a *ahead) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	for ctx.Err() == nil && a.asked.Load() < 4095 {
		runtime.Gosched()
	}
	for range 1000 { // time for further targets to begin
		runtime.Gosched()
	}
	a.before = a.asked.Load()
	return a.Source.Observe(ctx, r)
}

// The common report has each step as a check, and each document once.
func TestCommon(t *testing.T) {
	row := verdict.Evidence{URL: "https://a.example/", State: "obtained", Status: 200, SHA256: "aa"}
	cached := row
	cached.CachedAt = &time.Time{}
	rep := Common([]*Report{
		{Target: "a", Verdict: verdict.Failed, Evidence: []verdict.Evidence{row}, Steps: []Step{{
			Step: "manifest", Verdict: verdict.Failed, Findings: []Finding{
				{Severity: verdict.Error, Code: "x", Document: "manifest", Pointer: "/tool"},
				{Severity: verdict.Warning, Code: "y", Pointer: "/z"}}}}},
		{Target: "b", Verdict: verdict.Errored, Error: "why", Remedy: "how", Evidence: []verdict.Evidence{cached}},
		{Target: "c", Verdict: verdict.Errored, Error: "another"},
	})
	digest := evidence.Digest([]verdict.Evidence{{URL: row.URL, State: row.State, Status: 200, SHA256: "aa"}})
	if rep.Verdict != verdict.Errored || rep.Error != "why" || rep.Remedy != "how" || len(rep.Evidence) != 1 ||
		rep.EvidenceSHA256 != digest || rep.Counts.Fail != 1 {
		t.Errorf("the common report is %+v", rep)
	}
	for r := range rep.Results.All() {
		if r.Subject != "a" || len(r.Findings) != 2 || r.Findings[0].Pointer != "manifest#/tool" ||
			r.Findings[1].Pointer != "/z" {
			t.Errorf("the result is %+v", r)
		}
	}
	if rep := Common([]*Report{{Verdict: verdict.Failed, Error: "why"}}); rep.Error != "" {
		t.Errorf("a report that was made has the error %q", rep.Error)
	}
	if rep := Common([]*Report{{Registry: &Anchored{}}}); !rep.Verified.AsOf.IsZero() {
		t.Errorf("a clone without a time that counts is of %s", rep.Verified.AsOf)
	}
	for message, want := range map[string]int{"": 0, "why": 1} {
		rep := Unmade("a", Files(time.Time{}, nil), &Config{}, message, "")
		if len(rep.Reasons) != want || rep.Reasons == nil {
			t.Errorf("the error %q has the reasons %q", message, rep.Reasons)
		}
	}
}

// A mirror shows its verified tip, with the age and the refusals of its state, and warns once it is frozen.
func TestMirror(t *testing.T) {
	t.Parallel()
	const world = "base: [{listing: ada}, {commit: List}, {listing: nova}]"
	for _, c := range []struct {
		name  string
		state func(s *mirrorstate.State, before string)
		age   int64
		rev   string
		want  string
	}{
		{"fresh", func(*mirrorstate.State, string) {}, 3600, "", "pass L1"},
		{"a second older", func(*mirrorstate.State, string) {}, 3599, "",
			"inconclusive\nrevocation: inconclusive; inconclusive clone-old\n" +
				"registry-anchor: inconclusive; inconclusive clone-old"},
		{"named", func(*mirrorstate.State, string) {}, 3600, "main", "pass L1"},
		{"an older commit", func(*mirrorstate.State, string) {}, 3600, "main~1",
			"inconclusive\nrevocation: inconclusive; inconclusive clone-old\n" +
				"registry-anchor: inconclusive; inconclusive clone-old"},
		{"an older commit of any age", func(*mirrorstate.State, string) {}, 0, "main~1", "pass L1\n" +
			"registry-anchor: warn; warning not-anchored receipt#"},
		{"frozen", func(s *mirrorstate.State, before string) { s.Verified = before }, 3600, "",
			"pass L1\nrevocation: warn; warning mirror-frozen\n" +
				"registry-anchor: warn; warning mirror-frozen;\nnotice anchored receipt#"},
		{"refused", func(s *mirrorstate.State, _ string) {
			s.Tips[0].Refused = []string{"implementations/nova.json"}
		}, 3600, "", "pass L1\nregistry-anchor: warn; warning mirror-refused receipt#"},
		{"never fresh", func(s *mirrorstate.State, _ string) { s.Tips[0].FreshAt = time.Time{} }, 3600, "",
			"inconclusive\nrevocation: inconclusive; inconclusive clone-old;\nwarning mirror-frozen\n" +
				"registry-anchor: inconclusive; inconclusive clone-old;\nwarning mirror-frozen"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := built(t, world)
			tip := must.Get(w.repo.Resolve("main"))(t)
			before := must.Get(w.repo.Resolve("main~1"))(t)
			fresh := w.Now.Add(-time.Hour)
			s := &mirrorstate.State{Verified: tip, LastAttempt: fresh,
				Tips: []mirrorstate.Tip{{Tip: tip, FreshAt: fresh}}}
			c.state(s, before)
			dir, clone := mirrored(t, w, s)
			run := &Run{Source: w.source(t), Now: w.Now, Clone: clone, Jobs: 1}
			flags := &bundle.VerifyFlags{Targets: []string{"https://nova.example"}, MaxAge: c.age}
			must.OK(t, run.Open(t.Context(), dir, c.rev, flags))
			must.OK(t, run.Heard(flags))
			rep := only(t, run)
			consistent(t, rep)
			if got := summary(rep); got != c.want {
				t.Errorf("found\n%s\nwant\n%s", got, c.want)
			}
			for _, s := range rep.Steps {
				for _, f := range s.Findings {
					if f.Code == "mirror-frozen" && f.Commit != run.Config.Clone.Commit {
						t.Errorf("step %s: the mirror is frozen at %q", s.Step, f.Commit)
					}
				}
			}
		})
	}
}

// The time of a clone is that of the last fetch of its remote's main, if it shows one that is not ahead.
func TestFetched(t *testing.T) {
	t.Parallel()
	w := built(t, "base: [{listing: nova}, {commit: List}, {listing: ada}]")
	tip := must.Get(w.repo.Resolve("main"))(t)
	const url = "https://forge.example/registry"
	config, err := os.OpenFile(filepath.Join(w.Repo.Dir, "config"), os.O_APPEND|os.O_WRONLY, 0)
	must.OK(t, err)
	_, err = config.WriteString("\n[remote \"origin\"]\n\turl = " + url + "\n")
	must.OK(t, errors.Join(err, config.Close()))
	head := filepath.Join(w.Repo.Dir, "FETCH_HEAD")
	must.OK(t, os.WriteFile(head, []byte(tip+"\t\tbranch 'main' of "+url+"\n"), 0o666))
	for _, c := range []struct {
		at   time.Duration // of the fetch, from now on
		want verdict.Verdict
	}{
		{-time.Hour, verdict.Passed},
		{-time.Hour - time.Second, verdict.Inconclusive},
		{5 * time.Minute, verdict.Passed},
		{5*time.Minute + time.Second, verdict.Inconclusive},
	} {
		must.OK(t, os.Chtimes(head, w.Now.Add(c.at), w.Now.Add(c.at)))
		w.repo.Close()
		if w.repo, err = registry.Open(w.Repo.Dir); err != nil {
			t.Fatal(err)
		}
		flags := &bundle.VerifyFlags{Targets: []string{"https://nova.example"}, MaxAge: 3600}
		rep := w.verify(t, "main", flags)
		if rep.Verdict != c.want {
			t.Errorf("fetched %s from now: %s, want %s", c.at, rep.Verdict, c.want)
		}
		if text := encoded(t, rep); c.want == verdict.Inconclusive &&
			!strings.Contains(string(text), "update the clone: git fetch origin main:main") {
			t.Errorf("the report names no command:\n%s", text)
		}
	}
	// The copy of a remote's branch moves without being named. No fetch updates a commit that is not the head of one.
	ref := filepath.Join(w.Repo.Dir, "refs", "remotes", "origin")
	must.OK(t, errors.Join(os.MkdirAll(ref, 0o777),
		os.WriteFile(filepath.Join(ref, "main"), []byte(tip+"\n"), 0o666)))
	for rev, want := range map[string]string{"main": `git fetch origin main[^:]`, "main~1": ""} {
		flags := &bundle.VerifyFlags{Targets: []string{"https://nova.example"}, MaxAge: 1}
		text := encoded(t, w.verify(t, rev, flags))
		if want != "" && !matches(want, text) || want == "" && matches("git fetch", text) {
			t.Errorf("at %s the report does not match %q:\n%s", rev, want, text)
		}
	}
}

// A clone without listings is not one of a registry, and a revision that it lacks is an error.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	w := built(t, "base: [{listing: nova}]")
	w.Repo.Orphan("other")
	w.Repo.Write("README.md", nil)
	w.Repo.Commit("Begin", w.Now)
	must.OK(t, w.Repo.Sync())
	for rev, want := range map[string]string{"other": "no OAP registry here", "gone": "gone", "main": ""} {
		repo, err := registry.Open(w.Repo.Dir)
		must.OK(t, err)
		var flags bundle.VerifyFlags
		err = (&Run{Now: w.Now, Clone: repo}).Open(t.Context(), "", rev, &flags)
		if flags.Fetched != "" {
			t.Errorf("%s: a clone without a remote was fetched at %s", rev, flags.Fetched)
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", rev, err, want)
		}
		repo.Close()
	}
	// A clone whose last fetch cannot be read is not one that was never fetched.
	must.OK(t, os.Symlink("FETCH_HEAD", filepath.Join(w.Repo.Dir, "FETCH_HEAD")))
	if err := (&Run{Now: w.Now, Clone: w.repo}).Open(t.Context(), "", "", &bundle.VerifyFlags{}); err == nil {
		t.Error("a clone whose last fetch cannot be read is opened")
	}
	none := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(none, "objects"), 0o777), os.Mkdir(filepath.Join(none, "refs"), 0o777),
		os.WriteFile(filepath.Join(none, "HEAD"), []byte("ref: refs/heads/main\n"), 0o666)); err != nil {
		t.Fatal(err)
	}
	repo := must.Get(registry.Open(none))(t)
	defer repo.Close()
	for rev, want := range map[string]bool{"": true, "gone": false} {
		_, _, _, err := Choose(t.Context(), repo, "", rev)
		fixer, is := errors.AsType[remedy.Fixer](err)
		if err == nil || (is && strings.Contains(fixer.Fix(), "fetch the registry's main")) != want {
			t.Errorf("at %q a clone without commits: %v", rev, err)
		}
	}
}

// The last line names the steps that are as bad as the verdict, and how the first that is open is decided.
func TestObstacles(t *testing.T) {
	rep := func(v verdict.Verdict, edit func(map[string]*Step)) *Report {
		r := &Report{Verdict: v}
		steps := map[string]*Step{}
		for _, s := range catalogue {
			r.Steps = append(r.Steps, Step{Step: s.ID, Verdict: verdict.Passed})
		}
		for i := range r.Steps {
			steps[r.Steps[i].Step] = &r.Steps[i]
		}
		edit(steps)
		return r
	}
	for _, c := range []struct {
		rep        *Report
		steps, fix string
	}{
		{rep(verdict.Failed, func(s map[string]*Step) {
			s["schema"].Verdict, s["claims"].Verdict, s["peer-witnesses"].Verdict = verdict.Failed, verdict.Failed,
				verdict.Failed
			s["schema"].Reason = "failed"
		}), "schema, claims", ""},
		{rep(verdict.Inconclusive, func(s map[string]*Step) {
			s["schema"].Verdict, s["schema"].Reason = verdict.Inconclusive, "not reached"
			s["signature"].Verdict, s["signature"].Reason = verdict.Inconclusive, "later"
		}), "schema, signature", "not reached"},
		{rep(verdict.Inconclusive, func(s map[string]*Step) {
			s["signature"].Verdict = verdict.Inconclusive
			s["signature"].Findings = []Finding{{Severity: verdict.Warning, Fix: "warned"},
				{Severity: verdict.Doubt, Fix: "try again"}}
		}), "signature", "try again"},
		{rep(verdict.Inconclusive, func(s map[string]*Step) {
			s["signature"].Verdict = verdict.Inconclusive
			s["signature"].Findings = []Finding{{Severity: verdict.Doubt, Fix: "first"}}
		}), "signature", "first"},
	} {
		if steps, fix := c.rep.Obstacles(); steps != c.steps || fix != c.fix {
			t.Errorf("%q, %q, want %q, %q", steps, fix, c.steps, c.fix)
		}
	}
}

// The report may have the bytes that are signed, and the digests of the Receipt and of the listing that pins it.
func TestCanonical(t *testing.T) {
	t.Parallel()
	w := built(t, "base: [{listing: nova}]")
	rep := w.verify(t, "main", &bundle.VerifyFlags{Targets: []string{"nova"}, Canonical: true})
	var signed map[string]json.RawMessage
	if err := json.Unmarshal([]byte(rep.Canonical.Text), &signed); err != nil || signed["signatures"] != nil ||
		signed["claimed_levels"] == nil || len(rep.Canonical.SHA256) != 64 {
		t.Errorf("the canonical form is %+v, %v", rep.Canonical, err)
	}
	w = built(t, nova+gone(receiptURL))
	rep = w.verify(t, "", &bundle.VerifyFlags{Targets: []string{"https://nova.example"}, Canonical: true,
		Without: true})
	if rep.Canonical == nil || rep.Canonical.Error == "" {
		t.Errorf("without a Receipt the canonical form is %+v", rep.Canonical)
	}
	for text, want := range map[string]int{nova: 0, "base: [{listing: nova}]": 2,
		"base: [{listing: nova}]" + web("edit: "+receiptURL, `replace: {"{": "{ "}`): 1} {
		w := built(t, text)
		run := &Run{Source: w.source(t), Now: w.Now, Clone: w.repo, Jobs: 1}
		run.Config.Digests = true
		flags := &bundle.VerifyFlags{Targets: []string{"https://nova.example"}}
		if want == 0 {
			w.Web.Set("https://nova.example/oap-conformance-receipt.json", w.Web.RDAP("nobody.example"))
		}
		must.OK(t, errors.Join(run.Open(t.Context(), "", "main", flags), run.Heard(flags)))
		if got := only(t, run).Judged; len(got) != want {
			t.Errorf("%d digests, want %d: %+v", len(got), want, got)
		}
	}
}

// mirrored makes the directory of a mirror that has the world's registry and that state, and opens the mirror's clone.
func mirrored(t *testing.T, w *builtWorld, s *mirrorstate.State) (dir string, clone *registry.Repository) {
	t.Helper()
	dir = filepath.Join(w.Dir, "mirror")
	at := filepath.Join(dir, registry.MirrorClone)
	err := errors.Join(os.Mkdir(dir, 0o777), os.CopyFS(at, os.DirFS(w.Repo.Dir)))
	if err == nil {
		clone, err = registry.Open(at)
	}
	must.OK(t, errors.Join(err, s.Write(dir)))
	t.Cleanup(func() { clone.Close() })
	return dir, clone
}

// A clone in the directory of a mirror is the mirror's for a run in that directory too.
func TestChooseHere(t *testing.T) {
	w := built(t, "base: [{listing: nova}]")
	tip := must.Get(w.repo.Resolve("main"))(t)
	dir, clone := mirrored(t, w, &mirrorstate.State{Verified: tip, Tips: []mirrorstate.Tip{{Tip: tip}}})
	t.Chdir(dir)
	if mirror, _, _, err := Choose(t.Context(), clone, "", ""); err != nil || mirror == nil {
		t.Errorf("the clone is read as %+v, %v", mirror, err)
	}
}

// What a mirror saw is known to a run on its directory and to one on the bundle of that.
func TestSeen(t *testing.T) {
	t.Parallel()
	w := built(t, "base: [{listing: nova}]")
	tip := must.Get(w.repo.Resolve("main"))(t)
	seen := w.Now.Add(-time.Minute)
	flags := &bundle.VerifyFlags{Targets: []string{"nova"}, Seen: map[string]time.Time{tip: seen}}
	b := &bundle.Bundle{Mode: "verify", Now: w.Now, Head: tip, Flags: bundle.Flags{Verify: flags}}
	run := &Run{}
	must.OK(t, run.Again(t.Context(), b, func() (*registry.Repository, error) { return w.repo, nil }))
	if when, err := run.Clone.FirstParentTime(t.Context(), tip, w.Now); err != nil || !when.Equal(seen) {
		t.Errorf("the tip landed at %s, %v; want %s", when, err, seen)
	}
}

// Of an older commit a mirror refuses the records that its verified tip has too, in the same content.
func TestRefusedAtAnOlderCommit(t *testing.T) {
	t.Parallel()
	w := built(t, "base: [{listing: ada}, {listing: nova, issued: -10d}, {commit: List}, "+
		"{listing: eve}, {reissue: nova}]")
	tip := must.Get(w.repo.Resolve("main"))(t)
	const ada = "implementations/ada.json"
	const all = ada + " implementations/eve.json implementations/gone.json implementations/nova.json"
	seen := w.Now.Add(-time.Minute)
	s := &mirrorstate.State{Verified: tip, Tips: []mirrorstate.Tip{{Tip: tip, Refused: strings.Fields(all)}},
		Backdated: mirrorstate.Backdated{{Commit: tip, At: seen}}}
	dir, clone := mirrored(t, w, s)
	for rev, want := range map[string]string{"": all, "main": all, "main~1": ada} {
		for _, at := range []struct {
			repo *registry.Repository
			dir  string
		}{{clone, dir}, {clone, ""}, {clone, w.Dir}, {w.repo, dir}} { // a clone next to a state is the mirror's
			at.repo.Sight(nil)
			mirror, commit, how, err := Choose(t.Context(), at.repo, at.dir, rev)
			must.OK(t, err)
			if rev == "" && how != "the mirror's last verified commit" {
				t.Errorf("the tip of a mirror is chosen as %s", how)
			}
			if when, err := at.repo.FirstParentTime(t.Context(), tip, w.Now); err != nil || !when.Equal(seen) {
				t.Errorf("at %q the tip landed at %s, %v; want when the mirror saw it first, %s", rev, when, err, seen)
			}
			if got := strings.Join(mirror.Refused, " "); got != want || (commit == tip) != (rev != "main~1") {
				t.Errorf("at %q the mirror refuses %q at %s, want %q", rev, got, commit, want)
			}
		}
	}
	if _, _, _, err := Choose(t.Context(), clone, dir, "gone"); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("at a commit that is not there: %v", err)
	}
	state := filepath.Join(dir, mirrorstate.File)
	must.OK(t, os.WriteFile(state, []byte("{"), 0o666))
	for _, rev := range []string{"", "main"} {
		if _, _, _, err := Choose(t.Context(), clone, dir, rev); err == nil {
			t.Errorf("at %q a mirror whose state cannot be read is chosen", rev)
		}
	}
	must.OK(t, os.Remove(state))
	if mirror, commit, _, err := Choose(t.Context(), clone, "", ""); mirror != nil || commit != tip || err != nil {
		t.Errorf("without a state the clone is read as %+v at %s, %v", mirror, commit, err)
	}
}
