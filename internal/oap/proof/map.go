package proof

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"slices"

	"golang.org/x/mod/sumdb/tlog"
)

// Hash is a SHA-256.
type Hash = tlog.Hash

// MaxSiblings is the number of hashes that a proof in the map may have: one for each bit of a key.
const MaxSiblings = 8 * tlog.HashSize

// Map is a set of names with a value each, and the root of the binary trie over the SHA-256 of the names. The zero Map
// is not usable; see NewMap. A Map is not safe for concurrent use.
type Map struct {
	buckets [][]Member // sorted by key; the bucket of a key is its first 16 bits
	// nodes are the subtrees above the buckets as a heap: nodes[1] is the whole map, the children of nodes[i] are
	// nodes[2i] and nodes[2i+1], and the bucket b is nodes[len(buckets)+b]. A tree of pointers takes three times the
	// memory at a million names.
	nodes []node
	dirty []int // buckets that changed since Root was called, each perhaps several times
}

// Member is one name of a Map, by its key, the SHA-256 of the name.
type Member struct{ Key, Value Hash }

// node is a subtree. Its hash is that of its one member if it has one, and zero if it has none.
type node struct {
	hash    Hash
	members uint8 // 0, 1, or 2 for two or more
}

// bucketBits is the number of a key's bits that choose its bucket.
const bucketBits = 16

// NewMap returns a map without names.
func NewMap() *Map {
	return &Map{buckets: make([][]Member, 1<<bucketBits), nodes: make([]node, 2<<bucketBits)}
}

// bitOf returns the bit of a key at a depth, the most significant one of the first byte first.
func bitOf(key *Hash, depth int) int { return int(key[depth/8]>>(7-depth%8)) & 1 }

// keyOf returns the key of a name.
func keyOf(name string) Hash { return sha256.Sum256([]byte(name)) }

// find returns the bucket of a key, its subscript in there, and whether the map has it.
func (m *Map) find(key *Hash) (bucket, at int, found bool) {
	bucket = int(key[0])<<8 | int(key[1])
	at, found = slices.BinarySearchFunc(m.buckets[bucket], key,
		func(e Member, key *Hash) int { return bytes.Compare(e.Key[:], key[:]) })
	return bucket, at, found
}

// Set gives a name a value.
func (m *Map) Set(name string, value Hash) { m.Add(Member{keyOf(name), value}) }

// Add adds members, or replaces those with their keys. It sorts and keeps the slice: empty buckets share it.
func (m *Map) Add(members ...Member) {
	slices.SortFunc(members, func(a, b Member) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	for n := 1; len(members) > 0; members, n = members[n:], 1 {
		bucket, at, found := m.find(&members[0].Key)
		switch {
		case found:
			m.buckets[bucket][at] = members[0]
		case len(m.buckets[bucket]) > 0:
			m.buckets[bucket] = slices.Insert(m.buckets[bucket], at, members[0])
		default:
			first := members[0].Key[:bucketBits/8]
			for n < len(members) && bytes.HasPrefix(members[n].Key[:], first) && members[n].Key != members[n-1].Key {
				n++
			}
			m.buckets[bucket] = members[:n:n]
		}
		m.dirty = append(m.dirty, bucket)
	}
}

// Members returns the members in the order of their keys, in several slices. The caller must not change them.
func (m *Map) Members() [][]Member { return m.buckets }

// Delete removes a name, if the map has it.
func (m *Map) Delete(name string) {
	key := keyOf(name)
	if bucket, at, found := m.find(&key); found {
		m.buckets[bucket] = slices.Delete(m.buckets[bucket], at, at+1)
		m.dirty = append(m.dirty, bucket)
	}
}

// Root returns the hash of the map. It hashes only what changed since it was called last.
func (m *Map) Root() Hash {
	slices.Sort(m.dirty)
	level := slices.Compact(m.dirty)
	m.dirty = nil
	for i, bucket := range level {
		level[i] = len(m.buckets) + bucket
		m.nodes[level[i]] = subtree(m.buckets[bucket], bucketBits)
	}
	for len(level) > 0 && level[0] > 1 {
		for i := range level {
			level[i] /= 2
		}
		level = slices.Compact(level)
		for _, i := range level {
			m.nodes[i] = join(m.nodes[2*i], m.nodes[2*i+1])
		}
	}
	return m.nodes[1].hash
}

// subtree returns the node of members that agree in the bits before depth.
func subtree(members []Member, depth int) node {
	switch len(members) {
	case 0:
		return node{}
	case 1:
		return node{hash(0, &members[0].Key, &members[0].Value), 1}
	}
	left, right := halves(members, depth)
	return join(subtree(left, depth+1), subtree(right, depth+1))
}

func halves(members []Member, depth int) (left, right []Member) {
	for right = members; len(right) > 0 && bitOf(&right[0].Key, depth) == 0; right = right[1:] {
	}
	return members[:len(members)-len(right)], right
}

// join returns the node above two. A node above a single member is that member's, so that the same members always have
// the same root.
func join(left, right node) node {
	switch {
	case left.members+right.members > 1:
		return node{hash(1, &left.hash, &right.hash), 2}
	case left.members == 1:
		return left
	}
	return right
}

// hash returns the hash of a leaf, kind 0, or of a node above two, kind 1.
func hash(kind byte, a, b *Hash) Hash {
	text := [1 + 2*tlog.HashSize]byte{kind}
	copy(text[1:], a[:])
	copy(text[1+tlog.HashSize:], b[:])
	return sha256.Sum256(text[:])
}

// NameProof shows what a map of a known root has under one name.
type NameProof struct {
	Name     string
	Value    *Hash   // nil: the map does not have the name
	Siblings []Hash  // from the root downwards
	Other    *Member // the one member at the place of a name that is absent; nil: the place is empty
}

// Prove returns the proof of a name.
func (m *Map) Prove(name string) *NameProof {
	m.Root()
	key := keyOf(name)
	p := &NameProof{Name: name}
	place, depth := 1, 0 // in nodes
	for ; place < len(m.buckets); depth++ {
		if m.nodes[place].members < 2 { // down to the bucket of the one member, if there is one
			place = 2*place + 1 - int(m.nodes[2*place].members)
			continue
		}
		place = 2*place + bitOf(&key, depth)
		p.Siblings = append(p.Siblings, m.nodes[place^1].hash)
	}
	members := m.buckets[place-len(m.buckets)]
	for ; len(members) > 1; depth++ {
		own, other := halves(members, depth)
		if bitOf(&key, depth) == 1 {
			own, other = other, own
		}
		p.Siblings = append(p.Siblings, subtree(other, depth+1).hash)
		members = own
	}
	switch {
	case len(members) == 0:
	case members[0].Key == key:
		p.Value = new(members[0].Value)
	default:
		p.Other = new(members[0])
	}
	return p
}

var errOther = errors.New("the member that is shown instead of the name cannot be at its place")

// Root returns the root of the map that the proof is of.
func (p *NameProof) Root() (Hash, error) {
	key := keyOf(p.Name)
	var h Hash
	switch {
	case len(p.Siblings) > MaxSiblings || p.Value != nil && p.Other != nil:
		return h, errOther
	case p.Value != nil:
		h = hash(0, &key, p.Value)
	case p.Other != nil:
		if p.Other.Key == key {
			return h, errOther
		}
		for depth := range p.Siblings {
			if bitOf(&p.Other.Key, depth) != bitOf(&key, depth) {
				return h, errOther
			}
		}
		h = hash(0, &p.Other.Key, &p.Other.Value)
	}
	for depth, sibling := range slices.Backward(p.Siblings) {
		if bitOf(&key, depth) == 0 {
			h = hash(1, &h, &sibling)
		} else {
			h = hash(1, &sibling, &h)
		}
	}
	return h, nil
}
