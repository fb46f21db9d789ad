// Package prove replays the history of a clone as the log of its registry, writes proofs of listings, and reports what
// a proof shows.
package prove

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/indexpack"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// History is the log of a clone, with the map at its last entry.
type History struct {
	Log  proof.Log
	Map  *proof.Map
	Last proof.Entry
	// Entries are those of the log.
	Entries []proof.Entry

	repo  *registry.Repository
	chain []string // first-parent commits up to the last logged one
	seen  seen     // what See remembers for Step
	// changed is called with each name that an entry changes, and its values; it may be nil.
	changed func(e proof.Entry, name string, before, after *proof.Hash) error
}

// maxFile is the size of the largest file that the map can have: that of the largest object of a pack.
const maxFile = indexpack.MaxObject

// NewHistory returns the empty log of a clone.
func NewHistory(repo *registry.Repository) *History { return &History{repo: repo, Map: proof.NewMap()} }

// Restore returns the log of known entries, as if the clone had been replayed. m is the map at the last entry.
func Restore(ctx context.Context, repo *registry.Repository, known []proof.Entry, m *proof.Map) (*History, error) {
	h := &History{Map: m, Entries: slices.Clip(known), Last: known[len(known)-1], repo: repo}
	for _, e := range known {
		if err := h.Log.Add(e.Text()); err != nil {
			return nil, err
		}
	}
	var err error
	h.chain, err = repo.FirstParents(ctx, "", h.Last.Commit)
	return h, err
}

// batch is what one commit changes in the map.
type batch struct {
	marks []revokedName
	// members are what most changes set, and all that they do. A commit may bring a million, so there are no pointers.
	members []proof.Member
	others  []proof.Change
}

// revokedName is a name revoked/SLUG-HASH that a listing sets.
type revokedName struct {
	name string
	sum  proof.Hash
}

// seen is the part of a step that See was called with.
type seen struct {
	step   *registry.Step
	next   int // in step.Changes: those before it are in the batch or unread
	unread []registry.Change
	batch
}

// See remembers what a change of a step brings, so that Step does not read the file again. Changes come in path order;
// one that comes again is ignored.
func (h *History) See(s *registry.Step, c registry.Change, text []byte) {
	if !proof.InMap(c.Path) || s.Base.Commit() != h.Last.Commit {
		return
	}
	if h.seen.step != s {
		h.seen = seen{step: s, batch: batch{members: make([]proof.Member, 0, len(s.Changes))}}
	}
	for i := h.seen.next; i < len(s.Changes) && s.Changes[i].Path <= c.Path; i++ {
		if s.Changes[i].Path == c.Path {
			h.seen.unread = append(h.seen.unread, s.Changes[h.seen.next:i]...)
			h.seen.next = i + 1
			h.put(&h.seen.batch, proof.NewChange(c.Path, uint32(c.Head.Mode), text))
		}
	}
}

// put adds a change to a batch.
func (h *History) put(b *batch, c proof.Change) {
	if e, all := c.Member(); all && h.changed == nil {
		b.members = append(b.members, e)
	} else {
		b.others = append(b.others, c)
	}
}

// Step adds a commit if its first parent is the last logged one. It adds no other commit: Extend does.
func (h *History) Step(ctx context.Context, s *registry.Step, m *checks.Marker) error {
	if s.Base.Commit() != h.Last.Commit {
		return nil
	}
	h.chain = append(h.chain, s.Commit.ID)
	var known seen
	if h.seen.step == s {
		known = h.seen
	}
	h.seen = seen{}
	if err := h.mark(ctx, m, s.Result, s.Changes, &known.batch); err != nil {
		return err
	}
	return h.add(ctx, s.Commit, "", append(known.unread, s.Changes[known.next:]...), known.batch)
}

// mark adds the names that listings set in the commit that is the last of the chain.
func (h *History) mark(ctx context.Context, m *checks.Marker, t *registry.Tree, changes []registry.Change,
	b *batch) error {
	marks, err := m.Marks(ctx, len(h.chain), t, changes)
	for _, mark := range marks {
		content, err := h.repo.Bytes(mark.By, maxFile)
		if err != nil {
			return err
		}
		b.marks = append(b.marks, revokedName{proof.RevokedName(mark.Slug, mark.SHA256), sha256.Sum256(content)})
	}
	return err
}

// Extend adds the first-parent commits up to tip that are not logged, until the log has size entries; 0 means all. If
// the last logged commit is not among those of tip, the log continues as after an accepted rewrite.
func (h *History) Extend(ctx context.Context, tip string, size int64) error {
	chain, err := h.repo.FirstParents(ctx, "", tip)
	if err != nil {
		return err
	}
	common := 0
	for common < min(len(chain), len(h.chain)) && chain[common] == h.chain[common] {
		common++
	}
	end := len(chain)
	if size > 0 {
		end = int(min(int64(end), int64(common)+max(0, size-h.Log.Size())))
	}
	if common >= end {
		return nil
	}
	from := ""
	if common > 0 {
		from = chain[common-1]
	}
	m := checks.NewMarker(h.repo, chain[end-1])
	if common < len(h.chain) {
		h.chain = chain[:common+1]
		if err := h.rewrite(ctx, m); err != nil {
			return err
		}
		from, common = chain[common], common+1
	} else if common > 0 {
		tree, err := h.repo.Tree(ctx, from)
		if err == nil {
			err = m.Start(ctx, tree)
		}
		if err != nil {
			return err
		}
	}
	if common == end {
		return nil
	}
	return h.repo.Steps(ctx, from, chain[end-1], func(s *registry.Step) error {
		h.chain = chain[:len(h.chain)+1]
		var b batch
		if err := h.mark(ctx, m, s.Result, s.Changes, &b); err != nil {
			return err
		}
		return h.add(ctx, s.Commit, "", s.Changes, b)
	})
}

// rewrite adds the last commit of the chain, the first one after a rewrite. Its tree replaces that of the last logged
// commit.
func (h *History) rewrite(ctx context.Context, m *checks.Marker) error {
	id := h.chain[len(h.chain)-1]
	commit, err := h.repo.Commit(ctx, id)
	if err != nil {
		return err
	}
	present := map[string]*registry.Entry{}
	var tree *registry.Tree
	for i, of := range []string{h.Last.Commit, id} {
		if tree, err = h.repo.Tree(ctx, of); err != nil {
			return err
		}
		for _, k := range registry.DataKinds {
			err := tree.WalkFolder(k.Directory(), func(path string, e registry.Entry) error {
				if i == 1 {
					present[path] = &e
				} else {
					present[path] = nil
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	var changes []registry.Change
	for path, e := range present {
		changes = append(changes, registry.Change{Path: path, Head: e})
	}
	var b batch
	if err := h.mark(ctx, m, tree, changes, &b); err != nil {
		return err
	}
	return h.add(ctx, commit, h.Last.Commit, changes, b)
}

// add logs a commit. It reads the changes that are not in the batch.
func (h *History) add(ctx context.Context, commit *registry.Commit, after string, unread []registry.Change,
	b batch) error {
	b.members = slices.Grow(b.members, len(unread)) // append copies a large slice often
	for _, c := range unread {
		switch {
		case !proof.InMap(c.Path):
		case c.Head == nil:
			h.put(&b, proof.NewChange(c.Path, proof.Gone, nil))
		default:
			content, err := h.repo.Bytes(*c.Head, maxFile)
			if err != nil {
				return fmt.Errorf("reading %q of commit %s: %w", c.Path, commit.ID, err)
			}
			h.put(&b, proof.NewChange(c.Path, uint32(c.Head.Mode), content))
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	e := proof.Entry{Commit: commit.ID, Time: commit.When.Unix(), After: after}
	if err := h.apply(&e, b); err != nil {
		return err
	}
	h.Last, h.Entries = e, append(h.Entries, e)
	return h.Log.Add(e.Text())
}

// Follow adds the commits up to each accepted rewrite that known entries of the log name, after those that it has.
func (h *History) Follow(ctx context.Context, known []proof.Entry) error {
	for i, e := range known {
		if e.After == "" || int64(i) < h.Log.Size() {
			continue
		}
		if _, err := h.repo.Commit(ctx, e.After); errors.Is(err, gitstore.ErrNotFound) {
			return remedy.Errorf("fetch it from a mirror of the registry, and keep a branch at it",
				"the clone lacks commit %s, after which the history was rewritten", e.After)
		}
		if err := h.Extend(ctx, e.After, int64(i)); err != nil {
			return err
		}
	}
	return nil
}

// Codes explains the codes of this package's errors.
var Codes = []strict.Code{{ID: codeLogDiffers,
	Meaning: "the clone's history is not the one in the log checkpoint: two readers are shown two registries",
	Fix: "keep the clone and the log checkpoint, and ask the maintainers which history is the " +
		"registry's; a log that continued over a rewritten history needs --log DIR with its tiles"}}

const codeLogDiffers = "log-differs"

// Replay returns the log of a clone at the size of a log checkpoint. known are the log's entries, if its tiles could be
// read: they say where the log continued over a rewrite. Errors with the code log-differs mean that the clone has
// another history.
func Replay(ctx context.Context, repo *registry.Repository, tip string, c proof.Checkpoint,
	known []proof.Entry) (*History, error) {
	h := NewHistory(repo)
	if err := h.Follow(ctx, known); err != nil {
		return nil, err
	}
	if err := h.Extend(ctx, tip, c.Size); err != nil {
		return nil, err
	}
	if h.Log.Size() < c.Size {
		return nil, remedy.Errorf("git fetch", "the clone has %d commits, and the log %d: it is behind", h.Log.Size(),
			c.Size)
	}
	root, err := h.Log.Root(c.Size)
	if err != nil {
		return nil, err
	}
	if root != c.Root {
		return nil, remedy.Coded(codeLogDiffers, Codes[0].Fix, "at %d entries the clone's log has the root %s, and "+
			"the log checkpoint of %q has %s", c.Size, root, c.Origin, c.Root)
	}
	return h, nil
}
