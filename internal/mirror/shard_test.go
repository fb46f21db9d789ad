package mirror_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/bulk"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// written is the JSON of a report.
func written(t *testing.T, r *verdict.Report) string {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, report.Write(&b, "json", r, report.Options{}))
	return b.String()
}

// part is a shard's report as it is read from its JSON.
func part(t *testing.T, r *verdict.Report) mirror.Part {
	t.Helper()
	return read(t, written(t, r))
}

func read(t *testing.T, text string) mirror.Part {
	t.Helper()
	first := must.Get(report.Stream("shard.json", strings.NewReader(text), verdict.Records{}))(t)
	return mirror.Part{Report: first, Read: func(records verdict.Records) error {
		_, err := report.Stream("shard.json", strings.NewReader(text), records)
		return err
	}}
}

// ofRegistry are the checks whose results on the history and on the registry as a whole each shard has.
var ofRegistry = []string{"history", "commit-signatures", "consistency", "layout", "schema", "peer-witnesses",
	"revocations"}

// whole adds their results to a shard's report, without one of them.
func whole(r *verdict.Report, without string) *verdict.Report {
	for _, id := range ofRegistry {
		if id != without {
			r.Results.Add(verdict.Result{Check: id, Subject: checks.RegistrySubject, Verdict: verdict.Passed})
			r.Counts.Pass++
		}
	}
	return r
}

// TestMergeNeedsTheRegistry requires a result of each check of the history and of the registry in each shard.
func TestMergeNeedsTheRegistry(t *testing.T) {
	shard := func(without string, assumed ...string) mirror.Part {
		return part(t, whole(&verdict.Report{Version: 1, Mode: "audit", Verdict: verdict.Passed, Shard: "1/1",
			Assumed: assumed}, without))
	}
	if _, err := mirror.Merge([]mirror.Part{shard("")}, bulk.Spool{}); err != nil {
		t.Error(err)
	}
	for _, id := range ofRegistry {
		_, err := mirror.Merge([]mirror.Part{shard(id)}, bulk.Spool{})
		if want := "lacks the check " + id + ` of "registry"`; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if _, err := mirror.Merge([]mirror.Part{shard(id, "--skip "+id)}, bulk.Spool{}); err != nil {
			t.Error(err)
		}
	}
}

// TestMergeRefuses checks that what is no whole is refused, and what two shards judged by different rules.
func TestMergeRefuses(t *testing.T) {
	frame := func(shard int) *verdict.Report {
		return &verdict.Report{Version: 1, Mode: "audit", Verdict: verdict.Passed, Shard: fmt.Sprintf("%d/2", shard),
			Accepted: &verdict.Accepted{SHA256: "aa", Lines: []verdict.AcceptedLine{}}}
	}
	path := func(shard int) string {
		for i := 0; ; i++ {
			if p := fmt.Sprintf("implementations/x%d.json", i); mirror.ShardOf(p, 2) == shard {
				return p
			}
		}
	}
	result := func(check string, shard int) verdict.Result {
		return verdict.Result{Check: check, Subject: path(shard), Verdict: verdict.Passed}
	}
	// judged are the results of a listing, of all checks but those that are left out.
	judged := func(without ...string) (all []verdict.Result) {
		for _, c := range checks.All {
			if c.Judges(registry.KindListing) && !slices.Contains(without, c.ID) {
				all = append(all, result(c.ID, 2))
			}
		}
		return all
	}
	broken := []verdict.Finding{{Severity: verdict.Error, Code: "slug-mismatch"}}
	for want, edit := range map[string]func(*verdict.Report){
		"Skip:0 Manual:0}, its results give pass and {Records:0": func(r *verdict.Report) {
			r.Counts = verdict.Counts{Records: 1, Pass: 1}
		},
		"says pass and counts {Records:0 Pass:7 Fail:1": func(r *verdict.Report) { r.Counts.Fail = 1 },
		"its results give pass and {":                   func(r *verdict.Report) { r.Verdict = verdict.Failed },
		"counts {Records:-1 ":                           func(r *verdict.Report) { r.Counts.Records = -1 },
		"has a finding of layout on": func(r *verdict.Report) {
			one := result("layout", 2)
			one.Findings = broken
			r.Results.Add(one)
		},
		"more than 1 day apart": func(r *verdict.Report) { r.EvaluatedAt = r.EvaluatedAt.Add(24*time.Hour + 1) },
		"": func(r *verdict.Report) {
			r.Results.Add(judged()...)
			slug := strings.TrimSuffix(strings.TrimPrefix(path(2), "implementations/"), ".json")
			r.Listings = []verdict.Listing{{Slug: slug, Status: verdict.StatusValid}}
		},
		fmt.Sprintf("shard 2/2 lacks the check receipt-signature of %q", path(2)): func(r *verdict.Report) {
			r.Results.Add(judged("receipt-signature")...)
		},
		fmt.Sprintf("shard 2/2 lacks the check fallback-policy of %q", path(2)): func(r *verdict.Report) {
			r.Results.Add(judged("fallback-policy")...)
		},
		`shard 2/2 lacks the check layout of "implementations/nova.json"`: func(r *verdict.Report) {
			r.Results.Add(judged()...)
			r.Listings = []verdict.Listing{{Slug: "nova", Status: verdict.StatusValid},
				{Slug: "nova", Status: verdict.StatusValid}}
		},
		"shard 2/2 leaves out results, as --summary-only has it": func(r *verdict.Report) {
			r.Omitted = []string{"pass"}
		},
		`one is of the registry "", another of "forge.example/other"`: func(r *verdict.Report) {
			r.Origin = "forge.example/other"
		},
		"shard 2/2 was judged with another file of --accepted": func(r *verdict.Report) { r.Accepted.SHA256 = "bb" },
		"which is of shard 1": func(r *verdict.Report) { r.Results.Add(result("layout", 1)) },
		"shard 2/2 are not in order, each once": func(r *verdict.Report) {
			r.Results.Add(result("schema", 2), result("layout", 2))
		},
		"not in order, each once: layout": func(r *verdict.Report) {
			r.Results.Add(result("layout", 2), result("layout", 2))
		},
	} {
		second := frame(2)
		edit(second)
		for range second.Results.All() {
			second.Counts.Records = 1
			second.Counts.Pass++
		}
		_, err := mirror.Merge([]mirror.Part{part(t, whole(frame(1), "")), part(t, whole(second, ""))}, bulk.Spool{})
		if (err == nil) != (want == "") ||
			err != nil && (!errors.Is(err, mirror.ErrMerge) || !strings.Contains(err.Error(), want)) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestMergeOfWhatWasLeftOut checks that a check may be missing that a flag of the run left out, and no other.
func TestMergeOfWhatWasLeftOut(t *testing.T) {
	for _, c := range []struct {
		assumed string
		results []string
		missing string
	}{
		{"--only layout,schema", []string{"layout", "schema"}, ""},
		{"--only layout,schema", []string{"layout"}, "schema"},
		{"--skip layout", []string{"schema"}, "append-only"},
		{"--offline", []string{"layout", "schema"}, "append-only"},
		{"--onlys layout", []string{"layout"}, "schema"},
	} {
		r := &verdict.Report{Version: 1, Mode: "audit", Verdict: verdict.Passed, Shard: "1/1",
			Assumed: []string{c.assumed}, Counts: verdict.Counts{Records: 1, Pass: len(c.results)}}
		for _, id := range c.results {
			r.Results.Add(verdict.Result{Check: id, Subject: "implementations/nova.json", Verdict: verdict.Passed})
		}
		_, err := mirror.Merge([]mirror.Part{part(t, whole(r, ""))}, bulk.Spool{})
		want := "lacks the check " + c.missing + " of"
		if (err == nil) != (c.missing == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s with %q: error %v, want %q", c.assumed, c.results, err, want)
		}
	}
}

// TestMergeWithinADay checks that all shards are of one day, in whatever order they are named.
func TestMergeWithinADay(t *testing.T) {
	at := func(shard int, hours int) mirror.Part {
		return part(t, whole(&verdict.Report{Version: 1, Mode: "audit", Verdict: verdict.Passed,
			Shard: fmt.Sprintf("%d/3", shard), EvaluatedAt: fixture.Clock.Add(time.Duration(hours) * time.Hour)}, ""))
	}
	for _, c := range []struct {
		hours [3]int
		taken bool
	}{{[3]int{0, 12, 24}, true}, {[3]int{12, 0, 24}, true}, {[3]int{12, 0, 25}, false}, {[3]int{0, 1, 25}, false}} {
		parts := []mirror.Part{at(1, c.hours[0]), at(2, c.hours[1]), at(3, c.hours[2])}
		whole, err := mirror.Merge(parts, bulk.Spool{})
		if (err == nil) != c.taken {
			t.Errorf("%v: error %v", c.hours, err)
		}
		if c.taken && !whole.EvaluatedAt.Equal(fixture.Clock.Add(24*time.Hour)) {
			t.Errorf("%v: evaluated at %s", c.hours, whole.EvaluatedAt)
		}
	}
}

// TestShardsMakeTheWhole checks that for any number of shards each record is judged in one of them, and that their
// reports joined are the report of the whole.
func TestShardsMakeTheWhole(t *testing.T) {
	generated, err := fixture.Generate(filepath.Join(t.TempDir(), "registry"), fixture.Bulk{Listings: 60, Commits: 10})
	must.OK(t, err)
	repo := must.Get(registry.Open(generated.Dir))(t)
	defer repo.Close()
	ctx := context.Background()
	head := must.Get(repo.Resolve("main"))(t)
	var spool bulk.Spool
	audit := func(part, of int) *verdict.Report {
		t.Helper()
		rep := must.Get(mirror.Audit(ctx, repo, head, sources.Offline(fixture.Clock, 0),
			mirror.AuditConfig{Shard: part, Of: of, Spool: spool,
				Config: judge.Config{Offline: true, Selected: func(string) bool { return true }}}))(t)
		return rep
	}
	whole := audit(0, 0)
	if whole.Counts.Records != 60 {
		t.Fatalf("%d records, want 60", whole.Counts.Records)
	}
	all := cmp.Transformer("all", func(rs verdict.Results) []verdict.Result { return slices.Collect(rs.All()) })
	spool.File = func() (bulk.File, error) { return os.Create(filepath.Join(t.TempDir(), "results")) }
	if diff := cmp.Diff(whole, audit(0, 0), all); diff != "" {
		t.Errorf("in a file:\n%s", diff)
	}
	for _, n := range []int{1, 7, 59} {
		restore := mirror.SetWindow(n)
		if diff := cmp.Diff(whole, audit(0, 0), all); diff != "" {
			t.Errorf("%d records at a time:\n%s", n, diff)
		}
		restore()
	}
	for _, n := range []int{1, 2, 3, 5, 8, 13} {
		var parts []mirror.Part
		judged := 0
		for i := range n {
			parts = append(parts, part(t, audit(i+1, n)))
			judged += parts[i].Counts.Records
		}
		if judged != 60 {
			t.Errorf("%d shards judge %d records, want 60", n, judged)
		}
		for _, order := range [][]mirror.Part{parts, slices.Collect(func(yield func(mirror.Part) bool) {
			for _, p := range slices.Backward(parts) {
				if !yield(p) {
					return
				}
			}
		})} {
			joined := must.Get(mirror.Merge(order, spool))(t)
			if diff := cmp.Diff(written(t, whole), written(t, joined)); diff != "" {
				t.Errorf("%d shards:\n%s", n, diff)
			}
		}
	}
	// A record's shard depends on its slug alone: what belongs to one implementation is judged together.
	for _, n := range []int{2, 7, 100} {
		for i := range 50 {
			slug := fmt.Sprintf("impl-%d", i)
			want := mirror.ShardOf("implementations/"+slug+".json", n)
			for _, path := range []string{fmt.Sprintf("revocations/%s-%064x.json", slug, i), "peer-witnesses/" + slug +
				".json", "workflow-anchors/" + slug + ".json"} {
				if got := mirror.ShardOf(path, n); got != want {
					t.Errorf("%s is of shard %d of %d, its listing of %d", path, got, n, want)
				}
			}
		}
	}
}
