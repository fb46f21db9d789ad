package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
)

// PeerRelation compares the tip of another copy with one's own.
type PeerRelation string

// The relations only consider first parents: the branch never pointed to a commit that came in by a merge.
const (
	PeerSame   PeerRelation = "same"
	PeerBehind PeerRelation = "behind" // the peer's tip is an older commit of one's own chain
	PeerAhead  PeerRelation = "ahead"  // one's own tip is an older commit of the peer's chain
	PeerSplit  PeerRelation = "split"  // two histories
)

// PeerState is the state of another copy of a registry, compared with one's own.
type PeerState struct {
	Name     string
	Tip      string
	When     time.Time // committer date of its tip, UTC
	Relation PeerRelation
	OwnOnly  int // commits that only one's own chain has, up to the common one
	PeerOnly int // commits that only the peer's has
	// Common is the newest commit of both chains, with its committer date; empty where they share none.
	Common     string
	CommonWhen time.Time
	// Differ holds, for a split, the first paths of the data directories whose entries differ between the two tips,
	// Base being one's own and Head the peer's, in path order, at most maxPeerDiffer. It is empty where both histories
	// led to the same records.
	Differ []Change
}

// maxPeerDiffer is how many differing paths a PeerState names.
const maxPeerDiffer = 10

// errOtherHash means that two copies have ids of different hash functions, and nothing of them can be compared.
var errOtherHash = errors.New("ids of another hash function")

// ErrEmptyPeer means that another copy has no branch yet.
var ErrEmptyPeer = errors.New("the copy is empty")

// ComparePeer compares the history at tip with the copy of the registry in peerDir, whose branch is its HEAD. It reads
// the chains only as far as they differ. Errors are those of Open and FirstParents, errOtherHash and ErrEmptyPeer.
func (r *Repository) ComparePeer(ctx context.Context, name, peerDir, tip string) (_ *PeerState, err error) {
	peer, err := Open(peerDir)
	if err != nil {
		return nil, fmt.Errorf("opening peer %q: %w", name, err)
	}
	defer func() { err = errors.Join(err, peer.Close()) }()
	return r.comparePeer(ctx, name, peer, tip)
}

func (r *Repository) comparePeer(ctx context.Context, name string, peer *Repository, tip string) (*PeerState, error) {
	own, err := r.resolve(tip)
	if err != nil {
		return nil, err
	}
	peer.passing = true
	theirs, err := peer.resolve("HEAD")
	if err != nil && peer.store.IsEmpty() {
		err = ErrEmptyPeer
	}
	if err != nil {
		return nil, fmt.Errorf("reading peer %q: %w", name, err)
	}
	if own.id.Size() != theirs.id.Size() {
		return nil, remedy.Errorf("name a copy whose object format is that of the clone",
			"comparing peer %q: %w", name, errOtherHash)
	}
	s := &PeerState{Name: name, Tip: theirs.id.String(), When: theirs.when}
	common := own
	if own.id != theirs.id { // else even a shallow copy can say that much
		a := &chain{repo: r, next: own, seen: map[gitobject.ID]int{}}
		b := &chain{repo: peer, next: theirs, seen: map[gitobject.ID]int{}}
		if common, err = meet(ctx, a, b); err != nil {
			return nil, fmt.Errorf("comparing peer %q: %w", name, err)
		}
		s.OwnOnly, s.PeerOnly = a.count, b.count
	}
	if common != nil {
		s.Common, s.CommonWhen = common.id.String(), common.when
	}
	switch {
	case common == nil, s.OwnOnly > 0 && s.PeerOnly > 0:
		s.Relation = PeerSplit
		if s.Differ, err = differingRecords(ctx, r.treeOf(own), peer.treeOf(theirs)); err != nil {
			return nil, fmt.Errorf("comparing records of peer %q: %w", name, err)
		}
	case s.OwnOnly > 0:
		s.Relation = PeerBehind
	case s.PeerOnly > 0:
		s.Relation = PeerAhead
	default:
		s.Relation = PeerSame
	}
	return s, nil
}

// chain is one of two chains that are walked down.
type chain struct {
	repo  *Repository
	next  *commit
	seen  map[gitobject.ID]int // how many commits are above one that was passed, while the other one was walked too
	count int                  // commits that were passed
}

// meet walks both chains down, in turns, until one comes to a commit that the other has passed: below it they are one,
// so it is the newest common commit whatever the dates. It returns nil if the chains share no commit. count is then the
// number of commits above it. The longer chain remembers only about as many commits as the shorter one has: a peer may
// have millions.
func meet(ctx context.Context, a, b *chain) (*commit, error) {
	for one, other := a, b; a.next != nil || b.next != nil; one, other = other, one {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := one.next
		if c == nil {
			continue
		}
		if above, ok := other.seen[c.id]; ok {
			other.count = above
			return c, nil
		}
		if other.next != nil {
			one.seen[c.id] = one.count
		}
		one.count++
		var err error
		if one.next, err = one.repo.firstParent(c); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// differingRecords lists the first paths of the data directories that differ between trees of two clones. It reads no
// other directory but the roots.
func differingRecords(ctx context.Context, own, theirs *Tree) ([]Change, error) {
	outside := func(path string) bool {
		first, _, _ := strings.Cut(path, "/")
		return !isDataDirectory(first)
	}
	read := func(id gitobject.ID, path string) (*directory, error) {
		if path != "" && outside(path) {
			return nothing, nil
		}
		f, err := own.repo.directory(id, path)
		if errors.Is(err, gitstore.ErrNotFound) {
			return theirs.repo.directory(id, path)
		}
		return f, err
	}
	c := comparison{ctx: ctx, directory: read, middle: differing}
	differ, err := c.trees("", own.root, theirs.root)
	differ = slices.DeleteFunc(differ, func(c Change) bool { return outside(c.Path) })
	return differ[:min(len(differ), maxPeerDiffer)], err
}

// DataTrees returns the ids of the four data directories, in path order: implementations, peer-witnesses, revocations,
// workflow-anchors; "-" for one that does not exist. If an entry of that name is not a directory, its id counts.
func (t *Tree) DataTrees() ([4]string, error) {
	var ids [4]string
	for i, k := range DataKinds {
		e, ok, err := t.Entry(k.Directory())
		if err != nil {
			return ids, err
		}
		ids[i] = "-"
		if ok {
			ids[i] = e.ID.String()
		}
	}
	return ids, nil
}
