package registry

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Scan reads every record of a kind and gives f's result for each, in byte order of the paths. Files are
// decoded by GOMAXPROCS goroutines, so f must be safe for concurrent use; a Record that f does not keep is
// free once f returns. README.md and .gitkeep are no records. The error is the one of the first path that
// could not be read.
func Scan[T any](ctx context.Context, t *Tree, k Kind, f func(*Record) T) ([]T, error) {
	all, err := t.Data(k)
	if err != nil {
		return nil, err
	}
	entries := all[:0]
	for _, e := range all {
		if KindOf(e.Path) == k {
			entries = append(entries, e)
		}
	}
	results := make([]T, len(entries))
	err = inParallel(ctx, len(entries), func(i int) error {
		rec, err := t.repo.Record(ctx, entries[i].Path, entries[i].Entry)
		if err == nil {
			results[i] = f(rec)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// batch is how many items a goroutine of inParallel takes at a time: neighbours share deltas in a pack.
const batch = 64

// inParallel calls f for 0 to n-1 from GOMAXPROCS goroutines. After an error no batch is taken; since they
// are taken in order and each ends at its first error, that of the smallest index is always among those met,
// and it is the one returned.
func inParallel(ctx context.Context, n int, f func(i int) error) error {
	var (
		wg      sync.WaitGroup
		next    atomic.Int64
		mu      sync.Mutex
		failure error
		failed  = n
	)
	run := func() {
		for int(next.Load()) < n {
			mu.Lock()
			stop := failure != nil || ctx.Err() != nil
			mu.Unlock()
			if stop {
				return
			}
			start := int(next.Add(batch)) - batch // a batch taken is worked off
			for i := start; i < min(start+batch, n); i++ {
				if err := f(i); err != nil {
					mu.Lock()
					if i < failed {
						failed, failure = i, err
					}
					mu.Unlock()
					return
				}
			}
		}
	}
	for range min(runtime.GOMAXPROCS(0), (n+batch-1)/batch) {
		wg.Go(run)
	}
	wg.Wait()
	if failure != nil {
		return failure
	}
	return ctx.Err()
}
