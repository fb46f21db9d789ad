package checks

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"hash/maphash"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Listed is what is kept of one listing.
type Listed struct {
	Path, Slug, Name, ToolDID, ReceiptSHA256 string
	Level                                    level.Level
	Issued, Expires                          time.Time
	Provisional                              bool
}

// condense takes of a listing what is kept of it.
func condense(path string, l *registry.Listing) *Listed {
	return &Listed{path, l.Slug, l.Name, l.ToolDID, l.ReceiptSHA256, l.Level, l.Issued, l.Expires, l.Provisional}
}

// packed is a Listed as one text: the path, NUL, the rest. So they are in the order of their paths, and the collector
// has nothing to follow in them. A usual one takes 140 bytes, of which 33 are the path and 32 the hash.
type packed string

// pack copies the strings of l, which are parts of its file.
func pack(l *Listed, is fault) packed {
	slug, sum, flags := l.Slug, l.ReceiptSHA256, byte(0)
	if l.Provisional {
		flags |= packedProvisional
	}
	flags |= byte(is) * packedFault
	if slug == slugOf(l.Path) {
		slug, flags = "", flags|packedSlug
	}
	if raw, err := hex.DecodeString(sum); err == nil && strings.ToLower(sum) == sum {
		sum, flags = string(raw), flags|packedHex
	}
	b := make([]byte, 0, 256)
	b = append(append(append(b, l.Path...), 0), flags)
	for _, t := range []time.Time{l.Issued, l.Expires} {
		b = binary.AppendUvarint(binary.AppendVarint(b, t.Unix()), uint64(t.Nanosecond()))
	}
	for _, text := range []string{slug, l.Name, l.ToolDID, sum, string(l.Level)} {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	return packed(b)
}

const (
	packedProvisional = 1 << iota
	packedSlug        // it is that of the path
	packedHex         // the hash is in its bytes
	packedFault       // times the fault, in the bits from here on
)

func (p packed) path() string { return string(p[:strings.IndexByte(string(p), 0)]) }

// unpack returns the Listed. Its strings are parts of p, except the hash.
func (p packed) unpack() *Listed {
	l, flags := p.read()
	if flags&packedHex != 0 {
		l.ReceiptSHA256 = string(hex.AppendEncode(make([]byte, 0, 64), []byte(l.ReceiptSHA256)))
	}
	return &l
}

// read is unpack without memory of its own: a hash that is packedHex is in its bytes.
func (p packed) read() (l Listed, flags byte) {
	l.Path = p.path()
	rest := string(p[len(l.Path)+1:])
	flags = rest[0]
	rest = rest[1:]
	uint := func() uint64 {
		var n uint64
		for shift := 0; ; shift += 7 {
			c := rest[0]
			rest = rest[1:]
			if n |= uint64(c&0x7f) << shift; c < 0x80 {
				return n
			}
		}
	}
	for _, t := range []*time.Time{&l.Issued, &l.Expires} {
		seconds := uint()
		*t = time.Unix(int64(seconds>>1)^-int64(seconds&1), int64(uint())).UTC()
	}
	var kind string
	for _, text := range []*string{&l.Slug, &l.Name, &l.ToolDID, &l.ReceiptSHA256, &kind} {
		n := uint()
		*text, rest = rest[:n], rest[n:]
	}
	l.Level, l.Provisional = level.Level(kind), flags&packedProvisional != 0
	if flags&packedSlug != 0 {
		l.Slug = slugOf(l.Path)
	}
	return l, flags
}

func (p packed) fault() fault {
	_, flags := p.read()
	return fault(flags / packedFault)
}

func (p packed) slug() string {
	l, _ := p.read()
	return l.Slug
}

func (p packed) toolDID() string {
	l, _ := p.read()
	return l.ToolDID
}

// listings are those of a tree, by numbers in the order in which they were added. Each takes 30 bytes in the indexes,
// 16 for its place, and its text.
type listings struct {
	texts []packed // empty where one was removed
	order []uint32 // the numbers in path order; nil where that is their own
	count int
	paths index
	slugs index // only those whose lower-case slug differs from the path's
	dids  index
}

func newListings() listings {
	same := func(s string) string { return s }
	return listings{
		paths: newIndex(same, packed.path),
		slugs: newIndex(strings.ToLower, packed.slug),
		dids:  newIndex(did.Fold, packed.toolDID)}
}

// add adds a listing, and gives its number.
func (ls *listings) add(p packed) int {
	n := uint32(len(ls.texts))
	ls.texts, ls.order, ls.count = append(ls.texts, p), nil, ls.count+1
	for _, x := range ls.indexes(p) {
		x.add(p, n)
	}
	return int(n)
}

// named reports whether a listing is in the file of its slug.
func (p packed) named() bool { return p.path() == listingPath(strings.ToLower(p.slug())) }

// indexes returns the indexes that contain a listing.
func (ls *listings) indexes(p packed) []*index {
	if p.named() {
		return []*index{&ls.paths, &ls.dids}
	}
	return []*index{&ls.paths, &ls.slugs, &ls.dids}
}

// remove takes the listing of that path away, where there is one, and gives it.
func (ls *listings) remove(path string) *Listed {
	n, found := ls.number(path)
	if !found {
		return nil
	}
	p := ls.texts[n]
	for _, x := range ls.indexes(p) {
		x.remove(p, uint32(n))
	}
	ls.texts[n], ls.count = "", ls.count-1
	return p.unpack()
}

// number returns the number of the listing at a path.
func (ls *listings) number(path string) (int, bool) {
	if all := ls.numbers(&ls.paths, path); len(all) > 0 {
		return int(all[0]), true
	}
	return 0, false
}

// numbers returns the listings that an index has for a folded text, in the order in which they were added.
func (ls *listings) numbers(x *index, key string) []uint32 {
	return slices.DeleteFunc(x.maybe(key), func(n uint32) bool {
		other := x.of(ls.texts[n])
		return other != key && x.fold(other) != key
	})
}

// unpack gives the listings of these numbers, in path order.
func (ls *listings) unpack(numbers []uint32) []*Listed {
	var out []*Listed
	for _, n := range numbers {
		out = append(out, ls.texts[n].unpack())
	}
	slices.SortFunc(out, func(a, b *Listed) int { return strings.Compare(a.Path, b.Path) })
	return out
}

func (ls *listings) byPath(path string) *Listed {
	if n, found := ls.number(path); found {
		return ls.texts[n].unpack()
	}
	return nil
}

func (ls *listings) bySlug(slug string) []*Listed {
	lower := strings.ToLower(slug)
	all := ls.numbers(&ls.slugs, lower)
	if n, found := ls.number(listingPath(lower)); found && strings.ToLower(ls.texts[n].slug()) == lower {
		all = append(all, uint32(n))
	}
	return ls.unpack(all)
}

// byDID returns the listings of a DID folded by did.Fold, in path order.
func (ls *listings) byDID(folded string) []*Listed { return ls.unpack(ls.numbers(&ls.dids, folded)) }

// all returns the listings, in path order once they are sorted.
func (ls *listings) all() iter.Seq[*Listed] { return ls.parts(1)[0] }

// parts returns all listings, in count parts.
func (ls *listings) parts(count int) []iter.Seq[*Listed] {
	parts := make([]iter.Seq[*Listed], count)
	for i := range parts {
		parts[i] = func(yield func(*Listed) bool) {
			for at := i * len(ls.texts) / count; at < (i+1)*len(ls.texts)/count; at++ {
				n := at
				if ls.order != nil {
					n = int(ls.order[at])
				}
				if p := ls.texts[n]; p != "" && !yield(p.unpack()) {
					return
				}
			}
		}
	}
	return parts
}

// sort has all give path order, until the next is added.
func (ls *listings) sort() {
	ls.order = make([]uint32, len(ls.texts))
	for i := range ls.order {
		ls.order[i] = uint32(i)
	}
	slices.SortFunc(ls.order, func(a, b uint32) int { return cmp.Compare(ls.texts[a], ls.texts[b]) })
}

// index finds listings by the folded form of one of their texts: it returns those that may have it, by its hash under a
// key of this process. The caller compares the texts. Hardly two texts share a hash, so only the second one gets a
// list.
type index struct {
	fold  func(string) string // what it gives it gives for itself too
	of    func(packed) string
	seed  maphash.Seed
	first map[uint32]uint32
	more  map[uint32][]uint32
}

func newIndex(fold func(string) string, of func(packed) string) index {
	return index{fold, of, maphash.MakeSeed(), map[uint32]uint32{}, map[uint32][]uint32{}}
}

func (x *index) hash(key string) uint32 { return uint32(maphash.String(x.seed, key)) }

// maybe returns the numbers of the listings whose folded text may be the key, in rising order.
func (x *index) maybe(key string) []uint32 {
	h := x.hash(key)
	n, found := x.first[h]
	if !found {
		return nil
	}
	return append([]uint32{n}, x.more[h]...)
}

// add adds a listing, whose number is the highest.
func (x *index) add(p packed, n uint32) {
	h := x.hash(x.fold(x.of(p)))
	if _, found := x.first[h]; found {
		x.more[h] = append(x.more[h], n)
	} else {
		x.first[h] = n
	}
}

func (x *index) remove(p packed, n uint32) {
	key := x.fold(x.of(p))
	h := x.hash(key)
	left := slices.DeleteFunc(x.maybe(key), func(o uint32) bool { return o == n })
	delete(x.first, h)
	delete(x.more, h)
	if len(left) > 0 {
		x.first[h] = left[0]
	}
	if len(left) > 1 {
		x.more[h] = left[1:]
	}
}

// shared returns the numbers that share a hash with others, those of each hash together.
func (x *index) shared() iter.Seq[[]uint32] {
	return func(yield func([]uint32) bool) {
		for h, more := range x.more {
			if !yield(append([]uint32{x.first[h]}, more...)) {
				return
			}
		}
	}
}
