package gitstore

import (
	"context"
	"runtime"
	"sync"
)

// Each reads objects and gives them to f in the order of ids, one at a time. It is for large objects of which each is
// a delta of the next or the one before, as the trees of a history are: one goroutine makes them, while as many
// as there are processors verify those made before. A few are held at a time. For objects that have little to do with
// each other, several goroutines calling Read are faster. The error is the first in the order of ids, f's own
// included, as of Read; or ctx's.
func (s *Store) Each(ctx context.Context, ids []ID, limit int64, f func(i int, t Type, data []byte) error) error {
	workers := runtime.GOMAXPROCS(0)
	ctx, cancel := context.WithCancel(ctx)
	made, order := make(chan *pending), make(chan *pending, workers)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() {
		defer close(made)
		defer close(order)
		for _, id := range ids {
			p := &pending{id: id, done: make(chan struct{})}
			p.object, p.err = s.unverified(id, limit)
			for _, to := range []chan *pending{order, made} {
				select {
				case to <- p:
				case <-ctx.Done():
					return
				}
			}
		}
	})
	for range workers {
		running.Go(func() {
			for p := range made {
				s.finish(p, limit)
				close(p.done)
			}
		})
	}
	i := 0
	for p := range order {
		select {
		case <-p.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if p.err != nil {
			return p.err
		}
		if err := f(i, p.object.kind, p.object.data); err != nil {
			return err
		}
		i++
	}
	return ctx.Err()
}

// pending is an object on its way through Each.
type pending struct {
	id     ID
	object cached
	err    error
	done   chan struct{} // closed when object is verified, or err says why not
}

// unverified makes an object from the first pack that has it. Whatever goes wrong is left to finish.
func (s *Store) unverified(id ID, limit int64) (cached, error) {
	for _, p := range *s.packs.Load() {
		if at, ok := p.index.find(id); ok {
			if err := p.ready(); err != nil {
				return cached{}, err
			}
			return p.object(at, limit, &s.cache)
		}
	}
	return cached{}, errAbsent
}

// finish verifies an object, or reads it anew as Read does.
func (s *Store) finish(p *pending, limit int64) {
	if p.err == nil && p.object.id != p.id {
		p.object, p.err = s.verified(p.object, p.id)
	}
	if p.err != nil {
		p.object.kind, p.object.data, p.err = s.Read(p.id, limit)
	}
}
