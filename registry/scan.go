package registry

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/openagentprotocol-OAP/oap-gate/internal/crash"
)

// Scan reads every record of a kind and yields f's result for each, in byte order of the paths. Files are decoded by
// GOMAXPROCS goroutines, a few hundred ahead of what is yielded, so f must be safe for concurrent use, also beside what
// is done with results; a Record that f does not keep is free once f returns. README.md and .gitkeep are no records. An
// error, of the first path that could not be read, or ctx's, is yielded last, and with no result.
func Scan[T any](ctx context.Context, t *Tree, k Kind, f func(*Record) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		ended, end := context.WithCancel(ctx)
		read, order := make(chan *part[T]), make(chan *part[T], ahead)
		var running sync.WaitGroup
		var crashed crash.Carrier
		defer crashed.Rethrow()
		defer running.Wait()
		defer end()
		running.Go(func() {
			defer crashed.Catch(end)
			defer close(read)
			defer close(order)
			parts(t, k, func(p *part[T]) bool {
				for _, to := range []chan *part[T]{order, read} {
					select {
					case to <- p:
					case <-ended.Done():
						return false
					}
				}
				return true
			})
		})
		for range runtime.GOMAXPROCS(0) {
			running.Go(func() {
				defer crashed.Catch(end)
				for p := range read {
					p.read(ctx, t.repo, f)
					close(p.done)
				}
			})
		}
		for p := range order {
			select {
			case <-p.done:
			case <-ended.Done():
			}
			if ended.Err() != nil {
				break
			}
			for _, r := range p.results {
				if !yield(r, nil) {
					return
				}
			}
			if p.err != nil {
				yield(none, p.err)
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(none, err)
		}
	}
}

// part are files that stand one after another, on their way through Scan.
type part[T any] struct {
	entries []NamedEntry
	results []T
	err     error         // of the file after the results, or of the folder after the entries
	done    chan struct{} // closed when results and err are there
}

// ahead is how many parts are decoded before any result of them is yielded.
const ahead = 8

// parts gives the records of a kind in parts, until send returns false.
func parts[T any](t *Tree, k Kind, send func(*part[T]) bool) {
	p := &part[T]{done: make(chan struct{})}
	for e, err := range t.Entries(k) {
		switch {
		case err != nil:
			p.err = err
		case KindOf(e.Path) == k:
			p.entries = append(p.entries, e)
		}
		if len(p.entries) == neighbours {
			if !send(p) {
				return
			}
			p = &part[T]{done: make(chan struct{})}
		}
	}
	send(p)
}

// read reads the files of a part.
func (p *part[T]) read(ctx context.Context, repo *Repository, f func(*Record) T) {
	p.results = make([]T, 0, len(p.entries))
	for _, e := range p.entries {
		rec, err := repo.Record(ctx, e.Path, e.Entry)
		if err != nil {
			p.err = err
			return
		}
		p.results = append(p.results, f(rec))
	}
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
