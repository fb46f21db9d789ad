// Package listed keeps what is known of the listings of a tree in little memory, and finds them by path, slug and DID.
package listed

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

const directory, suffix = "implementations/", ".json"

// Path returns the path of the listing of a slug.
func Path(slug string) string { return directory + slug + suffix }

// SlugOf returns the slug in the name of a listing's file.
func SlugOf(path string) string {
	return strings.TrimSuffix(strings.TrimPrefix(path, directory), suffix)
}

// Listing is what is kept of one listing.
type Listing struct {
	Path, Slug, Name, ToolDID, ReceiptSHA256 string
	Level                                    level.Level
	Issued, Expires                          time.Time
	Provisional                              bool
}

// New takes of a listing what is kept of it.
func New(path string, l *registry.Listing) *Listing {
	return &Listing{path, l.Slug, l.Name, l.ToolDID, l.ReceiptSHA256, l.Level, l.Issued, l.Expires, l.Provisional}
}

// Packed is a Listing as one text: the path, NUL, the rest. So they are in the order of their paths, and the collector
// has nothing to follow in them. A usual one takes 140 bytes, of which 33 are the path and 32 the hash.
type Packed string

// Pack copies the strings of a listing, which are parts of its file, and keeps a note about it, which is at most 31.
func Pack(l *Listing, note uint8) Packed {
	slug, sum, flags := l.Slug, l.ReceiptSHA256, byte(0)
	if l.Provisional {
		flags |= packedProvisional
	}
	flags |= note * packedNote
	if slug == SlugOf(l.Path) {
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
	return Packed(b)
}

const (
	packedProvisional = 1 << iota
	packedSlug        // it is that of the path
	packedHex         // the hash is in its bytes
	packedNote        // times the note, in the bits from here on
)

// Path returns the path of the listing.
func (p Packed) Path() string { return string(p[:strings.IndexByte(string(p), 0)]) }

// Unpack returns the Listing. Its strings are parts of p, except the hash.
func (p Packed) Unpack() *Listing {
	l, flags := p.read()
	if flags&packedHex != 0 {
		l.ReceiptSHA256 = string(hex.AppendEncode(make([]byte, 0, 64), []byte(l.ReceiptSHA256)))
	}
	return &l
}

// read is Unpack without memory of its own: a hash that is packedHex is in its bytes.
func (p Packed) read() (l Listing, flags byte) {
	l.Path = p.Path()
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
		l.Slug = SlugOf(l.Path)
	}
	return l, flags
}

// Note returns the note that the listing was Packed with.
func (p Packed) Note() uint8 {
	_, flags := p.read()
	return flags / packedNote
}

// Slug returns the slug in the text of the listing.
func (p Packed) Slug() string {
	l, _ := p.read()
	return l.Slug
}

// ToolDID returns the DID in the text of the listing.
func (p Packed) ToolDID() string {
	l, _ := p.read()
	return l.ToolDID
}

// A Set has the listings of a tree, by numbers in the order in which they were added. Each takes 30 bytes in the
// indexes, 16 for its place, and its text.
type Set struct {
	texts []Packed // empty where one was removed
	order []uint32 // the numbers in path order; nil where that is their own
	count int
	paths index
	slugs index // only those whose lower-case slug differs from the path's
	dids  index
}

// NewSet returns an empty set.
func NewSet() Set {
	same := func(s string) string { return s }
	return Set{
		paths: newIndex(same, Packed.Path),
		slugs: newIndex(strings.ToLower, Packed.Slug),
		dids:  newIndex(did.Fold, Packed.ToolDID)}
}

// Add adds a listing.
func (ls *Set) Add(p Packed) {
	n := uint32(len(ls.texts))
	ls.texts, ls.order, ls.count = append(ls.texts, p), nil, ls.count+1
	for _, x := range ls.indexes(p) {
		x.add(p, n)
	}
}

// Len returns the number of listings.
func (ls *Set) Len() int { return ls.count }

// Named reports whether a listing is in the file of its slug.
func (p Packed) Named() bool { return p.Path() == Path(strings.ToLower(p.Slug())) }

// indexes returns the indexes that contain a listing.
func (ls *Set) indexes(p Packed) []*index {
	if p.Named() {
		return []*index{&ls.paths, &ls.dids}
	}
	return []*index{&ls.paths, &ls.slugs, &ls.dids}
}

// Remove takes the listing of that path away, and gives it; nil if the set has none.
func (ls *Set) Remove(path string) *Listing {
	n, p := ls.At(path)
	if p == "" {
		return nil
	}
	for _, x := range ls.indexes(p) {
		x.remove(p, uint32(n))
	}
	ls.texts[n], ls.count = "", ls.count-1
	return p.Unpack()
}

// At returns the listing at a path and its number; the listing is empty if the set has none.
func (ls *Set) At(path string) (int, Packed) {
	if all := ls.numbers(&ls.paths, path); len(all) > 0 {
		return int(all[0]), ls.texts[all[0]]
	}
	return 0, ""
}

// numbers returns the listings that an index has for a folded text, in the order in which they were added.
func (ls *Set) numbers(x *index, key string) []uint32 {
	return slices.DeleteFunc(x.maybe(key), func(n uint32) bool {
		other := x.of(ls.texts[n])
		return other != key && x.fold(other) != key
	})
}

// unpack gives the listings of these numbers, in path order.
func (ls *Set) unpack(numbers []uint32) []*Listing {
	var out []*Listing
	for _, n := range numbers {
		out = append(out, ls.texts[n].Unpack())
	}
	slices.SortFunc(out, func(a, b *Listing) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// ByPath returns the listing at a path, or nil.
func (ls *Set) ByPath(path string) *Listing {
	if _, p := ls.At(path); p != "" {
		return p.Unpack()
	}
	return nil
}

// BySlug returns the listings of a slug in any letter case, in path order.
func (ls *Set) BySlug(slug string) []*Listing {
	lower := strings.ToLower(slug)
	all := ls.numbers(&ls.slugs, lower)
	if n, p := ls.At(Path(lower)); p != "" && strings.ToLower(p.Slug()) == lower {
		all = append(all, uint32(n))
	}
	return ls.unpack(all)
}

// ByDID returns the listings of a DID folded by did.Fold, in path order.
func (ls *Set) ByDID(folded string) []*Listing { return ls.unpack(ls.numbers(&ls.dids, folded)) }

// MayShare reports whether more than one listing may have a DID folded by did.Fold. It compares hashes.
func (ls *Set) MayShare(folded string) bool { return len(ls.dids.maybe(folded)) > 1 }

// Shared returns the listings that may share their DIDs with others, those together that share a hash, in path order.
func (ls *Set) Shared() iter.Seq[[]*Listing] {
	return func(yield func([]*Listing) bool) {
		for h, more := range ls.dids.more {
			if !yield(ls.unpack(append([]uint32{ls.dids.first[h]}, more...))) {
				return
			}
		}
	}
}

// Numbered returns the listings and their numbers.
func (ls *Set) Numbered() iter.Seq2[int, *Listing] {
	return func(yield func(int, *Listing) bool) {
		for n, p := range ls.texts {
			if p != "" && !yield(n, p.Unpack()) {
				return
			}
		}
	}
}

// All returns the listings, in path order once they are sorted.
func (ls *Set) All() iter.Seq[*Listing] { return ls.Parts(1)[0] }

// Parts returns all listings, in count parts.
func (ls *Set) Parts(count int) []iter.Seq[*Listing] {
	parts := make([]iter.Seq[*Listing], count)
	for i := range parts {
		parts[i] = func(yield func(*Listing) bool) {
			for at := i * len(ls.texts) / count; at < (i+1)*len(ls.texts)/count; at++ {
				n := at
				if ls.order != nil {
					n = int(ls.order[at])
				}
				if p := ls.texts[n]; p != "" && !yield(p.Unpack()) {
					return
				}
			}
		}
	}
	return parts
}

// Sort has All give path order, until the next is added.
func (ls *Set) Sort() {
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
	of    func(Packed) string
	seed  maphash.Seed
	first map[uint32]uint32
	more  map[uint32][]uint32
}

func newIndex(fold func(string) string, of func(Packed) string) index {
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
func (x *index) add(p Packed, n uint32) {
	h := x.hash(x.fold(x.of(p)))
	if _, found := x.first[h]; found {
		x.more[h] = append(x.more[h], n)
	} else {
		x.first[h] = n
	}
}

func (x *index) remove(p Packed, n uint32) {
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
