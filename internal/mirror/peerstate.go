package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// relation compares the tip of another copy with one's own.
type relation string

// The relations only consider first parents: the branch never pointed to a commit that came in by a merge.
const (
	peerSame   relation = "same"
	peerBehind relation = "behind" // the peer's tip is an older commit of one's own chain
	peerAhead  relation = "ahead"  // one's own tip is an older commit of the peer's chain
	peerSplit  relation = "split"  // two histories
)

// peerState is the state of another copy of a registry, compared with one's own.
type peerState struct {
	name     string
	tip      string
	when     time.Time // committer date of its tip, UTC
	relation relation
	ownOnly  int // commits that only one's own chain has, up to the common one
	peerOnly int // commits that only the peer's has
	// common is the newest commit of both chains, with its committer date; empty where they share none.
	common     string
	commonWhen time.Time
	// differ holds, for a split, the first paths of the data directories whose entries differ between the two tips, in
	// path order, at most maxPeerDiffer. It is empty where both histories led to the same records.
	differ []string
}

// maxPeerDiffer is how many differing paths a peerState names.
const maxPeerDiffer = 10

var (
	// errOtherHash means that two copies have ids of different hash functions, and nothing of them can be compared.
	errOtherHash = errors.New("ids of another hash function")
	// errEmptyPeer means that another copy has no branch yet.
	errEmptyPeer = errors.New("the copy is empty")
)

// isEmpty reports whether a repository has no branch, so that HEAD names none either. A repository whose refs cannot be
// read is not empty.
func isEmpty(s *gitstore.Store) bool {
	if s.HasRef("HEAD") {
		return false
	}
	err := filepath.WalkDir(filepath.Join(s.CommonDir(), "refs", "heads"),
		func(_ string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				err = fs.ErrExist
			}
			return err
		})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	packed, err := capped.ReadFile(filepath.Join(s.CommonDir(), "packed-refs"), maxPackedRefs)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Contains(packed, []byte(" refs/heads/"))
}

// maxPackedRefs is how much of a list of refs is read, in bytes.
const maxPackedRefs = 256 << 20

// comparePeer compares the history at tip with the copy of the registry in dir, whose branch is its HEAD. It reads the
// chains only as far as they differ. Errors are those of registry.Open and of reading commits, errOtherHash and
// errEmptyPeer.
func comparePeer(ctx context.Context, own *registry.Repository, name, dir, tip string) (_ *peerState, err error) {
	theirs, err := registry.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("opening peer %q: %w", name, err)
	}
	defer func() { err = errors.Join(err, theirs.Close()) }()
	if tip, err = own.Resolve(tip); err != nil {
		return nil, err
	}
	s := &peerState{name: name, common: tip}
	if s.tip, err = theirs.Resolve("HEAD"); err != nil && isEmpty(theirs.Store()) {
		err = errEmptyPeer
	}
	if err == nil {
		s.when, _, err = commitOf(theirs, s.tip)
	}
	if err != nil {
		return nil, fmt.Errorf("reading peer %q: %w", name, err)
	}
	if len(s.tip) != len(tip) {
		return nil, remedy.Errorf("name a copy whose object format is that of the clone",
			"comparing peer %q: %w", name, errOtherHash)
	}
	a, b := &chain{own, tip, map[string]int{}, 0}, &chain{theirs, s.tip, map[string]int{}, 0}
	if tip != s.tip { // else even a shallow copy can say that much
		s.common, err = meet(ctx, a, b)
	}
	if err == nil && s.common != "" {
		s.commonWhen, _, err = commitOf(own, s.common)
	}
	if err != nil {
		return nil, fmt.Errorf("comparing peer %q: %w", name, err)
	}
	s.ownOnly, s.peerOnly = a.count, b.count
	switch {
	case s.common == "", s.ownOnly > 0 && s.peerOnly > 0:
		s.relation = peerSplit
		if s.differ, err = differingRecords(ctx, a, tip, b, s.tip); err != nil {
			return nil, fmt.Errorf("comparing records of peer %q: %w", name, err)
		}
	case s.ownOnly > 0:
		s.relation = peerBehind
	case s.peerOnly > 0:
		s.relation = peerAhead
	default:
		s.relation = peerSame
	}
	return s, nil
}

// commitOf returns the committer date of a commit and its first parent, empty for a root commit.
func commitOf(repo *registry.Repository, id string) (when time.Time, parent string, err error) {
	c, err := repo.CommitObject(id)
	if err != nil {
		return time.Time{}, "", err
	}
	if len(c.Parents) > 0 {
		parent = c.Parents[0].String()
	}
	return time.Unix(c.When, 0).UTC(), parent, nil
}

// chain is one of two chains that are walked down.
type chain struct {
	repo  *registry.Repository
	next  string
	seen  map[string]int // how many commits are above one that was passed, while the other one was walked too
	count int            // commits that were passed
}

// meet walks both chains down, in turns, until one comes to a commit that the other has passed: below it they are one,
// so it is the newest common commit whatever the dates. It returns "" if the chains share no commit. count is then the
// number of commits above it. The longer chain remembers only about as many commits as the shorter one has: a peer may
// have millions.
func meet(ctx context.Context, a, b *chain) (string, error) {
	for one, other := a, b; a.next != "" || b.next != ""; one, other = other, one {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		c := one.next
		if c == "" {
			continue
		}
		if above, ok := other.seen[c]; ok {
			other.count = above
			return c, nil
		}
		if other.next != "" {
			one.seen[c] = one.count
		}
		one.count++
		var err error
		if _, one.next, err = commitOf(one.repo, c); err != nil {
			return "", err
		}
	}
	return "", nil
}

// differingRecords lists the first paths of the data directories that differ between commits of two clones.
func differingRecords(ctx context.Context, a *chain, own string, b *chain, theirs string) ([]string, error) {
	ours, err := a.repo.Tree(ctx, own)
	if err != nil {
		return nil, err
	}
	others, err := b.repo.Tree(ctx, theirs)
	if err != nil {
		return nil, err
	}
	var differ []string
	for _, k := range registry.DataKinds {
		only := map[string]registry.Entry{}
		for e, err := range ours.Entries(k) {
			if err != nil {
				return nil, err
			}
			only[e.Path] = e.Entry
		}
		for e, err := range others.Entries(k) {
			if err != nil {
				return nil, err
			}
			if had, ok := only[e.Path]; !ok || had != e.Entry {
				differ = append(differ, e.Path)
			}
			delete(only, e.Path)
		}
		differ = slices.AppendSeq(differ, maps.Keys(only))
	}
	slices.Sort(differ)
	return differ[:min(len(differ), maxPeerDiffer)], nil
}
