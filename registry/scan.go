package registry

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/ahead"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/crash"
)

// Scan reads every record of a kind and yields f's result for each, in byte order of the paths. GOMAXPROCS goroutines
// decode the files, some thousand at a time and the next ones while results are used. So f must be safe for concurrent
// use, also with the code that uses the results; a Record that f does not keep is free once f returns. README.md and
// .gitkeep are not records. An error, of the first path that could not be read, is yielded last, and without a result.
func Scan[T any](ctx context.Context, t *Tree, k Kind, f func(*Record) T) iter.Seq2[T, error] {
	return scan(ctx, t, k, atOnce, f)
}

// atOnce is how many files are decoded before any result is given on.
const atOnce = 1 << 13

func scan[T any](ctx context.Context, t *Tree, k Kind, atOnce int, f func(*Record) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for results, err := range ahead.Of(scanParts(ctx, t, k, atOnce, f)) {
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, r := range results {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// scanParts yields the results of atOnce files at a time.
func scanParts[T any](ctx context.Context, t *Tree, k Kind, atOnce int, f func(*Record) T) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		read := func(entries []NamedEntry) bool {
			results := make([]T, len(entries))
			err := inParallel(ctx, len(entries), neighbours, func(from, to int) error {
				for i := from; i < to; i++ {
					rec, err := t.repo.Record(ctx, entries[i].Path, entries[i].Entry)
					if err != nil {
						return err
					}
					results[i] = f(rec)
				}
				return nil
			})
			return yield(results, err) && err == nil
		}
		var entries []NamedEntry
		for e, err := range t.Entries(k) {
			if err != nil {
				yield(nil, err)
				return
			}
			if KindOf(e.Path) != k {
				continue
			}
			if entries = append(entries, e); len(entries) == atOnce {
				if !read(entries) {
					return
				}
				entries = entries[:0]
			}
		}
		read(entries)
	}
}

// neighbours is how many files a goroutine takes at a time: they share deltas in a pack.
const neighbours = 64

// inParallel calls f for parts of 0 to n, each of size except the last, from GOMAXPROCS goroutines. It starts no part
// after an error. Parts start in order, so the error of the first part that has one is always among those met, and
// inParallel returns that error.
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
