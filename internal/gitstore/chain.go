package gitstore

import (
	"fmt"
	"sync"
)

// Caps on what one read may cost.
const (
	// maxBase is the size that the base of a delta, or a delta, may have; the caller's limit if that is larger. Git
	// makes no delta against a base of more than 32 times the size, so what a gate reads stays below it.
	maxBase = 16 << 20
	// maxChain is the length of a delta chain; git writes at most 4095.
	maxChain = 4096
	// maxWork is the sum of the sizes in a delta chain.
	maxWork = 4 << 30
)

// link is a delta of a chain and where it stands.
type link struct {
	entry
	place place
}

// scratch is the memory of one read, kept for the next.
type scratch struct {
	chain []link // each the delta of the next
	first []byte // delta of chain[0]
	delta []byte // of another
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

const maxKept = 1 << 20 // of a buffer in scratches

func (s *scratch) release() {
	s.chain = s.chain[:0]
	if cap(s.first) > maxKept {
		s.first = nil
	}
	if cap(s.delta) > maxKept {
		s.delta = nil
	}
	scratches.Put(s)
}

func resize(b []byte, n int64) []byte {
	if int64(cap(b)) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// object reads the object at an offset, at most max bytes of it, and leaves the bases it is made from in the cache.
// It is not verified. Deltas are resolved from the base up, one at a time, so that a read holds at most one base,
// one delta and one result beside the first delta.
func (p *pack) object(at, max int64, c *cache) (cached, error) {
	target := place{p, at}
	if got, ok := c.get(target); ok {
		return got, within(int64(len(got.data)), max)
	}
	e, err := p.entry(at)
	if err != nil {
		return cached{}, err
	}
	if e.kind < offsetDelta {
		return p.whole(link{e, target}, max)
	}
	s := scratches.Get().(*scratch)
	defer s.release()
	limit := maxFor(max)
	if s.first, err = p.delta(e, s.first, limit); err != nil {
		return cached{}, err
	}
	_, size, _, err := deltaSizes(s.first)
	if err != nil {
		return cached{}, err
	}
	if err := within(size, max); err != nil {
		return cached{}, err
	}
	s.chain = append(s.chain, link{e, target})
	base, err := p.bottom(s, limit, c)
	if err != nil {
		return cached{}, err
	}
	return p.apply(s, base, limit, c)
}

func maxFor(max int64) int64 {
	if max > maxBase {
		return max
	}
	return maxBase
}

func within(size, max int64) error {
	if size > max {
		return fmt.Errorf("%w: %d bytes, at most %d are read", ErrTooLarge, size, max)
	}
	return nil
}

// bottom follows the chain down to an object that is whole, or cached.
func (p *pack) bottom(s *scratch, limit int64, c *cache) (cached, error) {
	for {
		next := place{p, s.chain[len(s.chain)-1].base}
		if got, ok := c.get(next); ok {
			return got, nil
		}
		e, err := p.entry(next.offset)
		if err != nil {
			return cached{}, err
		}
		if e.kind < offsetDelta {
			base, err := p.whole(link{e, next}, limit)
			if err != nil {
				return cached{}, fmt.Errorf("base of a delta: %w", err)
			}
			c.put(base)
			return base, nil
		}
		if len(s.chain) == maxChain {
			return cached{}, fmt.Errorf("%w: a chain of more than %d deltas", ErrTooLarge, maxChain)
		}
		s.chain = append(s.chain, link{e, next})
	}
}

// apply goes up the chain from its base to its first.
func (p *pack) apply(s *scratch, base cached, limit int64, c *cache) (cached, error) {
	work := int64(0)
	for i := len(s.chain) - 1; i >= 0; i-- {
		delta := s.first
		if i > 0 {
			var err error
			if s.delta, err = p.delta(s.chain[i].entry, s.delta, limit); err != nil {
				return cached{}, err
			}
			delta = s.delta
		}
		_, size, _, err := deltaSizes(delta)
		if err == nil {
			err = within(size, limit)
		}
		if work += size + int64(len(delta)); err == nil && work > maxWork {
			err = fmt.Errorf("%w: a chain of deltas makes more than %d bytes", ErrTooLarge, int64(maxWork))
		}
		if err != nil {
			return cached{}, err
		}
		data, err := applyDelta(base.data, delta)
		if err != nil {
			return cached{}, err
		}
		base = cached{place: s.chain[i].place, kind: base.kind, data: data}
		if i > 0 {
			c.put(base)
		}
	}
	return base, nil
}

// whole reads an object that is no delta.
func (p *pack) whole(l link, max int64) (cached, error) {
	if err := within(l.size, max); err != nil {
		return cached{}, err
	}
	o := cached{place: l.place, kind: l.kind, data: make([]byte, l.size)}
	return o, p.inflate(l.entry, o.data)
}

// delta reads a delta into buf, or a larger one.
func (p *pack) delta(e entry, buf []byte, limit int64) ([]byte, error) {
	if err := within(e.size, limit); err != nil {
		return nil, fmt.Errorf("delta: %w", err)
	}
	buf = resize(buf, e.size)
	return buf, p.inflate(e, buf)
}
