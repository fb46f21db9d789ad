package gate_test

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

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// written is the JSON of a report.
func written(t *testing.T, r *verdict.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, "json", r, report.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// part is a shard's report as it is read from its JSON.
func part(t *testing.T, r *verdict.Report) gate.Part {
	t.Helper()
	return read(t, written(t, r))
}

func read(t *testing.T, text string) gate.Part {
	t.Helper()
	first, err := report.Stream("shard.json", strings.NewReader(text), gate.Records{})
	if err != nil {
		t.Fatal(err)
	}
	return gate.Part{Report: first, Read: func(records gate.Records) error {
		_, err := report.Stream("shard.json", strings.NewReader(text), records)
		return err
	}}
}

// TestMergeRefuses holds that what is no whole is refused, and what two shards judged by different rules.
func TestMergeRefuses(t *testing.T) {
	frame := func(shard int) *verdict.Report {
		return &verdict.Report{Version: 1, Mode: "audit", Verdict: verdict.Passed, Shard: fmt.Sprintf("%d/2", shard),
			Accepted: &verdict.Accepted{SHA256: "aa", Lines: []verdict.AcceptedLine{}}}
	}
	path := func(shard int) string {
		for i := 0; ; i++ {
			if p := fmt.Sprintf("implementations/x%d.json", i); gate.ShardOf(p, 2) == shard {
				return p
			}
		}
	}
	result := func(check string, shard int) verdict.Result {
		return verdict.Result{Check: check, Subject: path(shard), Verdict: verdict.Passed}
	}
	for want, edit := range map[string]func(*verdict.Report){
		"": func(r *verdict.Report) { r.Results.Add(result("layout", 2), result("schema", 2)) },
		"shard 2/2 leaves out results, as --summary-only has it": func(r *verdict.Report) {
			r.Omitted = []string{"pass"}
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
		_, err := gate.Merge([]gate.Part{part(t, frame(1)), part(t, second)}, verdict.Spool{})
		if (err == nil) != (want == "") ||
			err != nil && (!errors.Is(err, gate.ErrMerge) || !strings.Contains(err.Error(), want)) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestShardsMakeTheWhole holds that for any number of shards each record is judged in one of them, and that their
// reports joined are the report of the whole.
func TestShardsMakeTheWhole(t *testing.T) {
	generated, err := fixture.Generate(filepath.Join(t.TempDir(), "registry"), fixture.Bulk{Listings: 60, Commits: 10})
	if err != nil {
		t.Fatal(err)
	}
	repo, err := registry.Open(generated.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	ctx := context.Background()
	head, err := repo.Resolve("main")
	if err != nil {
		t.Fatal(err)
	}
	var spool verdict.Spool
	audit := func(part, of int) *verdict.Report {
		t.Helper()
		rep, err := gate.Audit(ctx, repo, head, evidence.Offline(fixture.Clock, 0),
			gate.AuditConfig{Shard: part, Of: of, Spool: spool,
				Config: gate.Config{Offline: true, Selected: func(string) bool { return true }}})
		if err != nil {
			t.Fatal(err)
		}
		return rep
	}
	whole := audit(0, 0)
	if whole.Counts.Records != 60 {
		t.Fatalf("%d records, want 60", whole.Counts.Records)
	}
	all := cmp.Transformer("all", func(rs verdict.Results) []verdict.Result { return slices.Collect(rs.All()) })
	spool.File = func() (verdict.File, error) { return os.Create(filepath.Join(t.TempDir(), "results")) }
	if diff := cmp.Diff(whole, audit(0, 0), all); diff != "" {
		t.Errorf("in a file:\n%s", diff)
	}
	for _, n := range []int{1, 2, 3, 5, 8, 13} {
		var parts []gate.Part
		judged := 0
		for i := range n {
			parts = append(parts, part(t, audit(i+1, n)))
			judged += parts[i].Counts.Records
		}
		if judged != 60 {
			t.Errorf("%d shards judge %d records, want 60", n, judged)
		}
		for _, order := range [][]gate.Part{parts, slices.Collect(func(yield func(gate.Part) bool) {
			for _, p := range slices.Backward(parts) {
				if !yield(p) {
					return
				}
			}
		})} {
			joined, err := gate.Merge(order, spool)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(written(t, whole), written(t, joined)); diff != "" {
				t.Errorf("%d shards:\n%s", n, diff)
			}
		}
	}
	// A record's shard depends on its slug alone: what belongs to one implementation is judged together.
	for _, n := range []int{2, 7, 100} {
		for i := range 50 {
			slug := fmt.Sprintf("impl-%d", i)
			want := gate.ShardOf("implementations/"+slug+".json", n)
			for _, path := range []string{fmt.Sprintf("revocations/%s-%064x.json", slug, i), "peer-witnesses/" + slug +
				".json", "workflow-anchors/" + slug + ".json"} {
				if got := gate.ShardOf(path, n); got != want {
					t.Errorf("%s is of shard %d of %d, its listing of %d", path, got, n, want)
				}
			}
		}
	}
}
