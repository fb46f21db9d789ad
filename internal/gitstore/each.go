package gitstore

import (
	"context"
	"crypto/sha1"
	"runtime"
	"strconv"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/internal/sha1x16"
)

// Each reads objects and gives them to f in the order of ids, one at a time. It is for large objects of which each is
// a delta of the next or the one before, as the trees of a history are: one goroutine makes them, while others
// verify those made before, many at a time where the processor can. Some 100 MiB of them are held at most. For
// objects that have little to do with each other, several goroutines calling Read are faster. The error is the first in
// the order of ids, f's own included, as of Read; or ctx's.
func (s *Store) Each(ctx context.Context, ids []ID, limit int64, f func(i int, t Type, data []byte) error) error {
	ctx, cancel := context.WithCancel(ctx)
	made, order := make(chan *batch), make(chan *batch, 1)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() {
		defer close(made)
		defer close(order)
		s.batches(ids, limit, func(b *batch) bool {
			for _, to := range []chan *batch{order, made} {
				select {
				case to <- b:
				case <-ctx.Done():
					return false
				}
			}
			return true
		})
	})
	for range runtime.GOMAXPROCS(0) {
		running.Go(func() {
			for b := range made {
				s.finish(b, limit)
				close(b.done)
			}
		})
	}
	i := 0
	for b := range order {
		select {
		case <-b.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		for _, p := range b.objects {
			if p.err != nil {
				return p.err
			}
			if err := f(i, p.object.kind, p.object.data); err != nil {
				return err
			}
			i++
		}
	}
	return ctx.Err()
}

// batch is what is verified together on its way through Each.
type batch struct {
	objects []pending
	done    chan struct{} // closed when the objects are verified, or say why not
}

// pending is an object on its way through Each.
type pending struct {
	id     ID
	object cached
	err    error
}

// maxBatch is from how many bytes on a batch is complete.
const maxBatch = 32 << 20

// batches makes objects, as many at a time as are best verified together, until send returns false.
func (s *Store) batches(ids []ID, limit int64, send func(*batch) bool) {
	var b *batch
	size := 0
	for i, id := range ids {
		if b == nil {
			b, size = &batch{done: make(chan struct{})}, 0
		}
		p := pending{id: id}
		p.object, p.err = s.unverified(id, limit)
		b.objects = append(b.objects, p)
		size += len(p.object.data)
		if len(b.objects) < sha1x16.AtOnce() && size < maxBatch && i < len(ids)-1 {
			continue
		}
		if !send(b) {
			return
		}
		b = nil
	}
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

// finish verifies the objects of a batch: trees together, others one by one. What turns out wrong is read anew, as
// Read does.
func (s *Store) finish(b *batch, limit int64) {
	s.verifyTrees(b)
	for i := range b.objects {
		p := &b.objects[i]
		if p.err == nil && p.object.id != p.id {
			p.object, p.err = s.verified(p.object, p.id)
		}
		if p.err != nil {
			p.object.kind, p.object.data, p.err = s.Read(p.id, limit)
		}
	}
}

// verifyTrees sets the id of each tree of a batch that is what its id says.
func (s *Store) verifyTrees(b *batch) {
	var trees []*pending
	var messages []sha1x16.Message
	for i := range b.objects {
		p := &b.objects[i]
		if p.err == nil && p.object.kind == Tree && p.id.size == sha1.Size && p.object.id != p.id {
			trees = append(trees, p)
			head := strconv.AppendInt([]byte("tree "), int64(len(p.object.data)), 10)
			messages = append(messages, sha1x16.Message{Head: append(head, 0), Data: p.object.data})
		}
	}
	for i, sum := range sha1x16.Sum(messages) {
		if p := trees[i]; BytesID(sum[:]) == p.id {
			p.object.id = p.id
			s.cache.put(p.object)
		}
	}
}
