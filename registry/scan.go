package registry

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/openagentprotocol-OAP/oap-gate/internal/crash"
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
	err = inParallel(ctx, len(entries), neighbours, func(from, to int) error {
		for i := from; i < to; i++ {
			rec, err := t.repo.Record(ctx, entries[i].Path, entries[i].Entry)
			if err != nil {
				return err
			}
			results[i] = f(rec)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// neighbours is how many files a goroutine takes at a time: they share deltas in a pack.
const neighbours = 64

// inParallel calls f for parts of 0 to n, each of size but for the last, from GOMAXPROCS goroutines. After an
// error no part is begun. Parts are begun in order, so that the error of the first part that has one is
// always among those met, and it is the one returned.
func inParallel(ctx context.Context, n, size int, f func(from, to int) error) error {
	var (
		wg      sync.WaitGroup
		next    atomic.Int64
		mu      sync.Mutex
		failure error
		failed  = n
	)
	over := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return failure != nil || ctx.Err() != nil
	}
	var crashed crash.Carrier
	run := func() {
		defer crashed.Catch(nil)
		for !over() {
			from := int(next.Add(int64(size))) - size
			if from >= n {
				return
			}
			if err := f(from, min(from+size, n)); err != nil {
				mu.Lock()
				if from < failed {
					failed, failure = from, err
				}
				mu.Unlock()
			}
		}
	}
	for range min(runtime.GOMAXPROCS(0), (n+size-1)/size) {
		wg.Go(run)
	}
	wg.Wait()
	crashed.Rethrow()
	if failure != nil {
		return failure
	}
	return ctx.Err()
}
