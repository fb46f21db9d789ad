// Package memo remembers what was worked out of foreign bytes, so that a run does it once, within a bound of memory.
package memo

import (
	"runtime/debug"
	"sync"
)

// Memo holds values by key, as long as their weights together stay within its bound. It is safe for concurrent use;
// nil remembers nothing.
type Memo struct {
	most int

	mu     sync.Mutex
	weight int
	known  map[any]any
}

// New makes a memo that holds values of at most so many bytes together.
func New(most int) *Memo { return &Memo{most: most, known: map[any]any{}} }

// entry is the weight of one value in addition to what weigh returns: its key, its place in the map, a few words of its
// own.
const entry = 1 << 10

// Get returns the value that m holds for key. If m has no such value, it calls work and keeps the result. The result
// must depend on the key only, and nobody may change it. Each caller uses a key type of its own. A full memo is
// emptied: nothing predicts which value will be needed again, and forgetting only costs time.
func Get[V any](m *Memo, key any, weigh func(V) int, work func() V) V {
	if m == nil {
		return work()
	}
	if v, found := m.get(key); found {
		return v.(V)
	}
	v := work() // not under the lock: two that ask at once both work
	m.put(key, v, entry+weigh(v))
	return v
}

func (m *Memo) get(key any) (any, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, found := m.known[key]
	return v, found
}

func (m *Memo) put(key, v any, weight int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, found := m.known[key]; found || weight > m.most {
		return
	}
	if m.weight+weight > m.most {
		clear(m.known)
		m.weight = 0
	}
	m.known[key] = v
	m.weight += weight
}

// Texts of at most small bytes are decoded concurrently, a larger one alone: decoding 1 MiB can take a hundred times as
// much memory.
const small = 64 << 10

var large sync.Mutex

// Decoding waits until a text of this size may be decoded, and gives what to call once what it was decoded to has gone.
// While a large one is, garbage is collected once it is a fifth of what is used.
func Decoding(size int) (done func()) {
	if size <= small {
		return func() {}
	}
	large.Lock()
	before := debug.SetGCPercent(20)
	return func() {
		debug.SetGCPercent(before)
		large.Unlock()
	}
}
