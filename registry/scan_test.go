package registry

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/fixture"
)

// collect gives all that a scan yields, or its error.
func collect[T any](seq iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for one, err := range seq {
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// TestScan holds that all files are given, in order, whatever part of them is decoded at once; that no more are read
// once nobody wants them; and that what ends a scan early is told.
func TestScan(t *testing.T) {
	for _, listings := range []int{1, neighbours, (ahead+3)*neighbours + 1} {
		t.Run(fmt.Sprint(listings), func(t *testing.T) {
			generated, err := fixture.Generate(filepath.Join(t.TempDir(), "registry"), fixture.Bulk{Listings: listings})
			if err != nil {
				t.Fatal(err)
			}
			repo, err := Open(generated.Dir)
			if err != nil {
				t.Fatal(err)
			}
			defer repo.Close()
			tree, err := repo.Tree(t.Context(), "main")
			if err != nil {
				t.Fatal(err)
			}
			path := func(r *Record) string { return r.Path }
			paths, err := collect(Scan(t.Context(), tree, KindListing, path))
			if err != nil || len(paths) != listings || !slices.IsSorted(paths) || len(slices.Compact(paths)) != listings {
				t.Errorf("%d paths, %v", len(paths), err)
			}
			for range Scan(t.Context(), tree, KindListing, path) {
				break
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for _, err = range Scan(ctx, tree, KindListing, path) {
				cancel()
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("canceled: %v", err)
			}
			defer func() {
				if r := recover(); r != "a bug" {
					t.Errorf("recovered %v", r)
				}
			}()
			for p, err := range Scan(t.Context(), tree, KindListing, func(r *Record) string {
				if r.Path == paths[listings-1] {
					panic("a bug")
				}
				return r.Path
			}) {
				if err != nil || p == paths[listings-1] {
					t.Errorf("%q, %v", p, err)
				}
			}
			t.Error("ended in spite of the bug")
		})
	}
}

func TestInParallelCrash(t *testing.T) {
	defer func() {
		if r := recover(); r != "a bug" {
			t.Errorf("recovered %v", r)
		}
	}()
	_ = inParallel(t.Context(), 100, 10, func(int, int) error { panic("a bug") })
}
