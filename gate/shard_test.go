package gate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

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
		var parts []*verdict.Report
		judged := 0
		for i := range n {
			parts = append(parts, audit(i+1, n))
			judged += parts[i].Counts.Records
		}
		if judged != 60 {
			t.Errorf("%d shards judge %d records, want 60", n, judged)
		}
		for _, order := range [][]*verdict.Report{parts, slices.Collect(func(yield func(*verdict.Report) bool) {
			for _, p := range slices.Backward(parts) {
				if !yield(p) {
					return
				}
			}
		})} {
			joined, err := gate.Merge(order)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(whole, joined, all); diff != "" {
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
