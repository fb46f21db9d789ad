// Package ahead makes what comes next while what is there is in use.
package ahead

import (
	"iter"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/crash"
)

// Of has the next value of a sequence made while one is in use, by one goroutine, which has ended when the range over
// it does. A panic of the sequence is one of whoever ranges.
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
