// Package ahead makes what comes next while what is there is in use.
package ahead

import (
	"iter"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/crash"
)

// Of prefetches one element of a sequence: a goroutine computes the next value while the caller uses the current one,
// and exits when the loop ends. A panic of the sequence continues in the loop that ranges over it.
func Of[T any](seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		type made struct {
			value T
			err   error
		}
		values, ended := make(chan made), make(chan struct{})
		var running sync.WaitGroup
		var crashed crash.Carrier
		running.Go(func() {
			defer close(values)
			defer crashed.Catch(nil)
			for v, err := range seq {
				select {
				case values <- made{v, err}:
				case <-ended:
					return
				}
			}
		})
		defer func() {
			close(ended)
			running.Wait()
			crashed.Rethrow()
		}()
		for m := range values {
			if !yield(m.value, m.err) {
				return
			}
		}
	}
}
