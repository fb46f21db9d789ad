package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// pack is a pack and its index. It is opened when first read; until that succeeds each reader tries again.
type pack struct {
	path  string // the pack file
	index *index

	opened  atomic.Bool // file and end are set, and stay
	opening sync.Mutex
	file    file
	end     int64 // where the checksum of the pack begins
}

// file is what is read of an *os.File.
type file interface {
	io.ReaderAt
	io.Closer
}

// ready opens the pack and compares its header and checksum with the index. The error is fs.ErrNotExist if gc removed
// the pack.
func (p *pack) ready() error {
	if p.opened.Load() {
		return nil
	}
	p.opening.Lock()
	defer p.opening.Unlock()
	if p.opened.Load() {
		return nil
	}
	f, err := capped.Open(p.path)
	if err != nil {
		return err
	}
	end, err := checkPack(f, p.index)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	p.file, p.end = f, end
	p.opened.Store(true)
	return nil
}

func checkPack(f *os.File, x *index) (int64, error) {
	count, end, err := gitobject.PackHead(f, x.idSize)
	if err != nil {
		return 0, err
	}
	tail := make([]byte, x.idSize)
	if _, err := f.ReadAt(tail, end); err != nil {
		return 0, err
	}
	switch {
	case int64(count) != int64(x.count()):
		return 0, fmt.Errorf("%w: pack of %d objects, its index has %d", gitobject.ErrCorrupt, count, x.count())
	case !bytes.Equal(tail, x.pack):
		return 0, fmt.Errorf("%w: the index is of another pack", gitobject.ErrCorrupt)
	}
	return end, nil
}

func (p *pack) close() error {
	if !p.opened.Load() {
		return nil
	}
	return p.file.Close()
}

// start reads the header of the entry at an offset and returns an inflater at the start of its stream. The caller
// releases the inflater.
func (p *pack) start(at int64) (*gitobject.Inflater, gitobject.Entry, error) {
	if at < gitobject.PackHeadSize || at >= p.end {
		return nil, gitobject.Entry{}, fmt.Errorf("%w: offset %d lies outside the pack", gitobject.ErrCorrupt, at)
	}
	r := gitobject.Inflate(p.file, at, p.end)
	e, err := p.entry(r, at)
	if err != nil {
		r.Release()
		return nil, gitobject.Entry{}, err
	}
	return r, e, nil
}

// entry reads the head of an entry.
func (p *pack) entry(r *gitobject.Inflater, at int64) (gitobject.Entry, error) {
	head, err := r.Head()
	if err != nil {
		return gitobject.Entry{}, err
	}
	e, base, used, err := gitobject.ParseEntry(head, at, p.index.idSize)
	if err != nil {
		return gitobject.Entry{}, err
	}
	if e.Kind == gitobject.RefDelta {
		var found bool
		if e.Base, found = p.index.find(base); !found {
			return gitobject.Entry{}, fmt.Errorf("%w: the delta at %d has the base %s, which is not in the pack",
				gitobject.ErrCorrupt, at,
				base)
		}
	}
	r.Discard(used)
	return e, nil
}

// kind returns the type of the object at an offset, which is that of the whole object at the end of its delta chain.
func (p *pack) kind(at int64) (gitobject.Type, error) {
	for range gitobject.MaxChain {
		r, e, err := p.start(at)
		if err != nil {
			return 0, err
		}
		r.Release()
		if e.Kind < gitobject.OffsetDelta {
			return e.Kind, nil
		}
		at = e.Base
	}
	return 0, fmt.Errorf("%w: a chain of more than %d deltas", gitobject.ErrTooLarge, gitobject.MaxChain)
}
