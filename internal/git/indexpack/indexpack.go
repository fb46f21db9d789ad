// Package indexpack checks each byte of a pack and writes its index, and checks the packs and objects of a clone. It is
// for packs that a stranger sent or a disk damaged. A gate needs none of it: package gitstore compares each object that
// it reads with its id.
package indexpack

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"hash/crc32"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/crash"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// Caps on what a stranger's pack may cost. They hold for the sizes that it declares, before anything is made.
const (
	// MaxObject is the size of the largest object, or delta, of a pack that is indexed.
	MaxObject = 64 << 20
	// maxPackObjects is the number of objects; each takes 64 bytes of memory.
	maxPackObjects = 2_000_000
	// maxNamedBases is the number of deltas whose base is named by its id: a server that can names its offset.
	maxNamedBases = 100_000
	// leastEntry is what an entry takes: a byte of its head, and an empty zlib stream.
	leastEntry = 9
	// maxPackWork is the sum of the sizes of all that is inflated or made of deltas, see packWork.
	maxPackWork = 64 << 30
	// leastPackWork is what any pack may take of it.
	leastPackWork = 1 << 30
	// maxKeptAlone is what the objects of one delta chain may take at once, a delta and what it makes included.
	maxKeptAlone = 144 << 20
	// maxKeptTogether is the same for a chain that is processed together with others.
	maxKeptTogether = 24 << 20
)

// Index reads the SHA-1 pack at path, checks each of its bytes, and writes and syncs the index of its objects to
// the file at to. It returns the pack's checksum in hexadecimal digits. A stranger may have made the pack: sizes,
// chains and work are capped, and the context ends it soon. The base of each delta must be in the pack. Errors:
// ErrCorrupt, ErrTooLarge, ErrUnsupported, or the context's.
func Index(ctx context.Context, path, to string) (string, error) {
	var sum []byte
	info, err := os.Stat(path)
	if err == nil {
		sum, err = index(ctx, path, to, packWork(info.Size()))
	}
	if err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", &gitstore.Error{Op: "indexing pack", Object: path, Err: err,
			Remedy: "fetch it again, or from another copy"}
	}
	return fmt.Sprintf("%x", sum), nil
}

// packWork returns the work that a pack of that size may take. For a registry it grows with the square: one half of a
// pack of P bytes may name P/40 entries of a directory, by 20 bytes each that do not compress, and the other half may
// have P/600 commits, each of which rewrites that directory, at up to 97 bytes an entry. packWork allows twice that.
func packWork(size int64) int64 {
	size = min(size, 4<<20) // whose square is beyond the cap
	return min(maxPackWork, leastPackWork+size*size/128)
}

// index is Index, and inflates or makes of deltas at most work bytes.
func index(ctx context.Context, path, to string, work int64) ([]byte, error) {
	f, err := capped.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	x := &indexer{ctx: ctx, file: f, most: work}
	if err := x.scan(); err != nil {
		return nil, err
	}
	if err := x.resolve(); err != nil {
		return nil, err
	}
	return x.sum, x.write(to)
}

// indexer knows the entries of a pack, in their order.
type indexer struct {
	ctx     context.Context
	file    *os.File
	end     int64 // where the entries end
	sum     []byte
	entries []indexed
	buffer  []byte // for the stream that is scanned

	waiting map[gitobject.ID][]int32 // by the id of an object: the subscripts of the deltas that name it as their base
	named   int                      // number of these deltas
	work    atomic.Int64
	most    int64 // of work
}

// indexed is one entry.
type indexed struct {
	at   int64 // of its head
	data int64 // of its stream
	size int64 // size of the inflated stream
	id   [sha1.Size]byte
	crc  uint32
	// child is the first entry that is a delta of this one, sibling the next delta of the same base. 0, the first entry
	// of all, means none.
	child, sibling int32
	state          int32          // unmade, being made, made; atomic
	kind           gitobject.Type // the object's type, once made
}

const (
	unmade int32 = iota
	beingMade
	isMade
)

// scan reads the pack from its head to its end, and computes the ids of the objects that are not deltas.
func (x *indexer) scan() error {
	count, end, err := gitobject.PackHead(x.file, sha1.Size)
	if err != nil {
		return err
	}
	x.end = end
	switch {
	case count > maxPackObjects:
		return fmt.Errorf("%w: %d objects, at most %d are indexed", gitobject.ErrTooLarge, count, maxPackObjects)
	case int64(count) > x.end/leastEntry:
		return fmt.Errorf("%w: it declares %d objects in %d bytes", gitobject.ErrCorrupt, count, x.end+sha1.Size)
	}
	if x.sum, err = sum(x.ctx, x.file, x.end, sha1.Size); err != nil {
		return err
	}
	x.entries, x.waiting, x.buffer = make([]indexed, 0, count), map[gitobject.ID][]int32{}, make([]byte, 32<<10)
	at := int64(gitobject.PackHeadSize)
	for i := range count {
		if i%256 == 0 && x.ctx.Err() != nil {
			return x.ctx.Err()
		}
		if at, err = x.entry(at); err != nil {
			return err
		}
	}
	if at != x.end {
		return fmt.Errorf("%w: %d bytes follow its %d objects", gitobject.ErrCorrupt, x.end-at, count)
	}
	return nil
}

// entry reads the entry at an offset, after all before it, and gives where the next begins.
func (x *indexer) entry(at int64) (int64, error) {
	r := gitobject.Inflate(x.file, at, x.end)
	defer r.Release()
	head, err := r.Head()
	if err != nil {
		return 0, gitobject.ErrEntryEnds
	}
	i := int32(len(x.entries))
	e, base, used, err := gitobject.ParseEntry(head, at, sha1.Size)
	if err != nil {
		return 0, err
	}
	if e.Size > MaxObject {
		return 0, fmt.Errorf("%w: the entry at %d declares %d bytes, at most %d are read", gitobject.ErrTooLarge, at,
			e.Size,
			int64(MaxObject))
	}
	r.Discard(used)
	x.entries = append(x.entries, indexed{})
	p := &x.entries[i]
	p.at, p.data, p.size = at, at+int64(used), e.Size
	switch e.Kind {
	case gitobject.OffsetDelta:
		j, found := slices.BinarySearchFunc(x.entries[:i], e.Base, byOffset)
		if !found {
			return 0, fmt.Errorf("%w: the delta at %d has its base at %d, where no entry begins", gitobject.ErrCorrupt,
				at,
				e.Base)
		}
		p.sibling, x.entries[j].child = x.entries[j].child, i
	case gitobject.RefDelta:
		if x.named++; x.named > maxNamedBases {
			return 0, fmt.Errorf("%w: more than %d deltas name their base by its id", gitobject.ErrTooLarge,
				maxNamedBases)
		}
		x.waiting[base] = append(x.waiting[base], i)
	default:
		p.kind, p.state = e.Kind, isMade
	}
	if err := x.spend(p.size); err != nil {
		return 0, err
	}
	next, err := x.stream(r, p)
	if err != nil {
		return 0, fmt.Errorf("the entry at %d: %w", at, err)
	}
	p.crc, err = x.crc(at, next)
	return next, err
}

func byOffset(p indexed, at int64) int { return cmp.Compare(p.at, at) }

// stream reads the stream of an entry, names the object if it is one, and gives where the stream ends.
func (x *indexer) stream(r *gitobject.Inflater, p *indexed) (int64, error) {
	if err := r.Zlib(); err != nil {
		return 0, err
	}
	var h *gitobject.Hasher
	if p.kind != 0 {
		h = gitobject.Hash(p.kind, p.size, sha1.Size)
		defer h.Release()
	}
	sum := adler32.New()
	for left := p.size; left > 0; {
		n, err := io.ReadFull(r.Flate, x.buffer[:min(left, int64(len(x.buffer)))])
		if err != nil {
			return 0, gitobject.StreamError(err)
		}
		sum.Write(x.buffer[:n])
		if h != nil {
			h.Write(x.buffer[:n])
		}
		left -= int64(n)
	}
	if err := r.Exactly(nil); err != nil {
		if errors.Is(err, gitobject.ErrCorrupt) {
			return 0, fmt.Errorf("%w: its stream does not end after the %d bytes that it declares",
				gitobject.ErrCorrupt, p.size)
		}
		return 0, err
	}
	tail, err := r.Peek(adler32.Size)
	if err != nil {
		return 0, gitobject.StreamError(err)
	}
	if binary.BigEndian.Uint32(tail) != sum.Sum32() {
		return 0, fmt.Errorf("%w: the checksum of its stream is wrong", gitobject.ErrCorrupt)
	}
	r.Discard(len(tail))
	if h != nil {
		id, err := h.ID()
		if err != nil {
			return 0, err
		}
		p.id = [sha1.Size]byte(id.Bytes())
	}
	return r.Offset(), nil
}

// crc returns the CRC-32 of the bytes of an entry, as they are in the file.
func (x *indexer) crc(from, to int64) (uint32, error) {
	h := crc32.NewIEEE()
	_, err := io.Copy(h, io.NewSectionReader(x.file, from, to-from))
	return h.Sum32(), err
}

// resolve makes what is made of deltas, and names it.
func (x *indexer) resolve() error {
	var roots []int32
	for i := range x.entries {
		if p := &x.entries[i]; p.kind != 0 && x.hasChildren(int32(i)) {
			roots = append(roots, int32(i))
		}
	}
	large, err := x.parallel(roots)
	if err != nil {
		return err
	}
	for _, root := range large {
		d := descent{x: x, most: maxKeptAlone, again: true}
		if err := d.from(root); err != nil {
			return err
		}
	}
	left := 0
	for i := range x.entries {
		if x.entries[i].state != isMade {
			left++
		}
	}
	if left > 0 {
		return fmt.Errorf("%w: %d deltas have no base in the pack", gitobject.ErrCorrupt, left)
	}
	return nil
}

func (x *indexer) hasChildren(i int32) bool {
	return x.entries[i].child > 0 || len(x.waiting[gitobject.BytesID(x.entries[i].id[:])]) > 0
}

// parallel processes the roots and their descendants, several at a time. It returns the roots whose objects are too
// large for that.
func (x *indexer) parallel(roots []int32) (large []int32, err error) {
	ctx, cancel := context.WithCancelCause(x.ctx)
	defer cancel(nil)
	var next atomic.Int64
	var mu sync.Mutex
	var running sync.WaitGroup
	var crashed crash.Carrier
	for range runtime.GOMAXPROCS(0) {
		running.Go(func() {
			defer crashed.Catch(func() { cancel(nil) })
			d := descent{x: x, most: maxKeptTogether}
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= int64(len(roots)) {
					return
				}
				err := d.from(roots[i])
				if errors.Is(err, errKept) {
					mu.Lock()
					large = append(large, roots[i])
					mu.Unlock()
				} else if err != nil {
					cancel(err)
				}
			}
		})
	}
	running.Wait()
	crashed.Rethrow()
	slices.Sort(large)
	return large, context.Cause(ctx)
}

// descent goes from an object to those that are deltas of it, and of these, depth first.
type descent struct {
	x        *indexer
	most     int64 // bytes that may be held
	again    bool  // some of what is below the root was made before
	retained int64
	stack    []level
}

// level is an object on the way down. Its data is dropped once its last child is begun.
type level struct {
	entry int32
	data  []byte
	child int32   // the next that is a delta of it by its place; 0: none
	named []int32 // and by its id
}

// next takes the next child.
func (l *level) next(x *indexer) (i int32, ok bool) {
	switch i = l.child; {
	case i > 0:
		l.child = x.entries[i].sibling
	case len(l.named) > 0:
		i, l.named = l.named[0], l.named[1:]
	default:
		return 0, false
	}
	return i, true
}

// errKept: the objects of a chain take more than may be held.
var errKept = fmt.Errorf("%w: a delta, its base and what it makes take more than %d bytes", gitobject.ErrTooLarge,
	int64(maxKeptAlone))

func (d *descent) from(root int32) error {
	d.stack, d.retained = d.stack[:0], 0
	p := &d.x.entries[root]
	if p.size > d.most {
		return errKept
	}
	data, err := d.x.inflated(p)
	if err != nil {
		return err
	}
	d.push(root, data)
	for len(d.stack) > 0 {
		if err := d.x.ctx.Err(); err != nil {
			return err
		}
		if err := d.step(); err != nil {
			return err
		}
	}
	return nil
}

func (d *descent) push(i int32, data []byte) {
	p := &d.x.entries[i]
	d.stack = append(d.stack, level{i, data, p.child, d.x.waiting[gitobject.BytesID(p.id[:])]})
	d.retained += int64(len(data))
}

// step makes the next child of the deepest level, or leaves it.
func (d *descent) step() error {
	top := &d.stack[len(d.stack)-1]
	child, ok := top.next(d.x)
	if !ok {
		d.drop(top)
		d.stack = d.stack[:len(d.stack)-1]
		return nil
	}
	if len(d.stack) > gitobject.MaxChain {
		return fmt.Errorf("%w: a chain of more than %d deltas", gitobject.ErrTooLarge, gitobject.MaxChain)
	}
	data, err := d.make(top, child)
	if err != nil {
		return fmt.Errorf("the delta at %d: %w", d.x.entries[child].at, err)
	}
	if atomic.CompareAndSwapInt32(&d.x.entries[child].state, unmade, beingMade) {
		if err := d.x.made(child, d.x.entries[top.entry].kind, data); err != nil {
			return err
		}
	} else if !d.again {
		return nil // the base is there twice, which is refused at the end
	}
	if top.child == 0 && len(top.named) == 0 {
		d.drop(top)
	}
	if d.x.hasChildren(child) {
		d.push(child, data)
	}
	return nil
}

// made names an object that was made of a delta.
func (x *indexer) made(i int32, kind gitobject.Type, data []byte) error {
	id, err := gitobject.IDOf(kind, data, sha1.Size)
	if err != nil {
		return err
	}
	p := &x.entries[i]
	p.id, p.kind = [sha1.Size]byte(id.Bytes()), kind
	atomic.StoreInt32(&p.state, isMade)
	return nil
}

// drop forgets the object of a level.
func (d *descent) drop(l *level) {
	d.retained -= int64(len(l.data))
	l.data = nil
}

// spend counts work before it is done.
func (x *indexer) spend(n int64) error {
	if x.work.Add(n) > x.most {
		return fmt.Errorf("%w: its objects take more than %d bytes to make", gitobject.ErrTooLarge, x.most)
	}
	return nil
}

// make applies the delta of a child to the object of a level.
func (d *descent) make(base *level, child int32) ([]byte, error) {
	p := &d.x.entries[child]
	if d.retained+p.size > d.most {
		return nil, errKept
	}
	delta, err := d.x.inflated(p)
	if err != nil {
		return nil, err
	}
	_, size, _, err := gitobject.DeltaSizes(delta)
	if err != nil {
		return nil, err
	}
	if err := gitobject.Within(size, MaxObject); err != nil {
		return nil, err
	}
	if d.retained+p.size+size > d.most {
		return nil, errKept
	}
	if err := d.x.spend(size + p.size); err != nil {
		return nil, err
	}
	return gitobject.ApplyDelta(base.data, delta)
}

// inflated returns the inflated stream of an entry.
func (x *indexer) inflated(p *indexed) ([]byte, error) {
	r := gitobject.Inflate(x.file, p.data, x.end)
	defer r.Release()
	out := make([]byte, p.size)
	return out, r.Stream(out)
}

// write writes the index, gitformat-pack(5), version 2.
func (x *indexer) write(to string) error {
	order := make([]int32, len(x.entries))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return bytes.Compare(x.entries[a].id[:], x.entries[b].id[:]) })
	for i := 1; i < len(order); i++ {
		if x.entries[order[i]].id == x.entries[order[i-1]].id {
			return fmt.Errorf("%w: it holds the object %x twice", gitobject.ErrCorrupt, x.entries[order[i]].id)
		}
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	h := sha1.New()
	w := bufio.NewWriterSize(io.MultiWriter(f, h), 256<<10) // its error stays, and shows in Flush
	w.Write(gitobject.IndexMagic)
	u32 := func(n uint32) { w.Write(binary.BigEndian.AppendUint32(nil, n)) }
	n := 0
	for first := range 256 {
		for n < len(order) && int(x.entries[order[n]].id[0]) <= first {
			n++
		}
		u32(uint32(n))
	}
	for _, i := range order {
		w.Write(x.entries[i].id[:])
	}
	for _, i := range order {
		u32(x.entries[i].crc)
	}
	var far []int64
	for _, i := range order {
		at := x.entries[i].at
		if at >= 1<<31 {
			u32(1<<31 | uint32(len(far)))
			far = append(far, at)
			continue
		}
		u32(uint32(at))
	}
	for _, at := range far {
		w.Write(binary.BigEndian.AppendUint64(nil, uint64(at)))
	}
	w.Write(x.sum)
	err = w.Flush()
	if err == nil {
		_, err = f.Write(h.Sum(nil))
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
