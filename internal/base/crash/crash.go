// Package crash carries a panic from a goroutine to the one that waits for it. There the program can end in order, with
// one line on stderr and its reports written.
package crash

import "sync"

// Carrier carries the first panic of some goroutines. The zero value is ready.
type Carrier struct {
	mu    sync.Mutex
	found bool
	value any
}

// Catch keeps the value of a panic of the goroutine that deferred it, and calls then, which may be nil.
func (c *Carrier) Catch(then func()) {
	r := recover()
	if r == nil {
		return
	}
	c.mu.Lock()
	if !c.found {
		c.found, c.value = true, r
	}
	c.mu.Unlock()
	if then != nil {
		then()
	}
}

// Rethrow panics with the value that was kept, if there is one. It is for the one who has waited for the goroutines.
func (c *Carrier) Rethrow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found {
		panic(c.value)
	}
}
