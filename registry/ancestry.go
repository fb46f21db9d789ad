package registry

import (
	"container/heap"
	"context"
	"fmt"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
)

// mark says from where a walk has reached a commit.
type mark uint8

const (
	fromBase mark = 1 << iota
	fromHead
	stale  // an ancestor of a common ancestor
	result // common to both sides when it was reached
)

// ancestry is a walk from two commits towards the roots, the newest commit first.
//
// The order is by committer date, which anybody can set. So the walk visits a commit again whenever it gets a new mark,
// and continues until every waiting commit is stale. Whatever the dates, every commit on a path from either side to a
// best common ancestor is not stale and is therefore visited.
type ancestry struct {
	repo    *Repository
	marks   map[gitobject.ID]mark
	queue   commitQueue
	queued  map[gitobject.ID]bool
	waiting int // queued commits that are not stale
}

// walkAncestry runs the walk to its end; base may be any number of commits. The marks of commits that are not stale are
// final, with one exception: a commit with only the mark fromHead can be an ancestor of base too if history has commits
// that are older than their parents: see ancestry.settle.
func (r *Repository) walkAncestry(ctx context.Context, head *commit, base ...*commit) (*ancestry, error) {
	a := &ancestry{repo: r, marks: map[gitobject.ID]mark{}, queued: map[gitobject.ID]bool{}}
	for _, c := range base {
		a.add(c, fromBase)
	}
	a.add(head, fromHead)
	for a.waiting > 0 {
		if err := a.step(ctx); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a *ancestry) add(c *commit, m mark) {
	old := a.marks[c.id]
	if old&m == m {
		return
	}
	a.marks[c.id] = old | m
	switch {
	case !a.queued[c.id]:
		a.queued[c.id] = true
		heap.Push(&a.queue, c)
		if (old|m)&stale == 0 {
			a.waiting++
		}
	case old&stale == 0 && m&stale != 0:
		a.waiting--
	}
}

func (a *ancestry) step(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := heap.Pop(&a.queue).(*commit)
	a.queued[c.id] = false
	m := a.marks[c.id]
	if m&stale == 0 {
		a.waiting--
	}
	pass := m & (fromBase | fromHead | stale)
	if pass == fromBase|fromHead {
		a.marks[c.id] = m | result
		pass |= stale
	}
	parents, err := a.repo.parents(c)
	if err != nil {
		return err
	}
	for _, p := range parents {
		a.add(p, pass)
	}
	return nil
}

// settle continues the walk until no waiting stale commit is as new as a commit that only head reaches. It removes what
// base reaches from what ahead will list. A commit remains there wrongly only if base's own history has a commit older
// than its parent; the gate then judges it once more, which is the safe side. An exact answer would require reading the
// whole history in every run.
func (a *ancestry) settle(ctx context.Context) error {
	oldest, rooted, found, err := a.oldestAhead()
	if err != nil || !found {
		return err
	}
	for a.queue.Len() > 0 && (rooted || a.queue[0].when.Unix() >= oldest) {
		if err := a.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (a *ancestry) isAhead(id gitobject.ID) bool {
	return a.marks[id]&(fromHead|fromBase|stale) == fromHead
}

// oldestAhead gives the date of the oldest such commit, and reports whether one of them is a root: base has its own,
// so that most likely the walk went past a commit of base with a wrong date.
func (a *ancestry) oldestAhead() (seconds int64, rooted, found bool, err error) {
	for id := range a.marks {
		if !a.isAhead(id) {
			continue
		}
		c, err := a.repo.commit(id)
		if err != nil {
			return 0, false, false, err
		}
		rooted = rooted || len(c.parents) == 0
		if when := c.when.Unix(); !found || when < seconds {
			seconds, found = when, true
		}
	}
	return seconds, rooted, found, nil
}

// ahead lists the commits that head reaches and base does not, each after its parents. The order depends on
// the commits alone.
func (a *ancestry) ahead(ctx context.Context, head *commit) ([]*commit, error) {
	var order []*commit
	isNew := unseen(map[gitobject.ID]bool{})
	err := a.repo.ancestors(ctx, head, func(id gitobject.ID) bool { return a.isAhead(id) && isNew(id) },
		func(c *commit, _ []*commit) error {
			order = append(order, c)
			return nil
		})
	return order, err
}

// unseen returns a function that reports whether an id is not in the set, and adds it.
func unseen(seen map[gitobject.ID]bool) func(gitobject.ID) bool {
	return func(id gitobject.ID) bool {
		known := seen[id]
		seen[id] = true
		return !known
	}
}

// ancestors calls visit for a commit and all that it reaches by commits that enters accepts, each after its parents.
func (r *Repository) ancestors(ctx context.Context, tip *commit, enters func(gitobject.ID) bool,
	visit func(c *commit, parents []*commit) error) error {
	type frame struct {
		c       *commit
		parents []*commit
		next    int
	}
	var stack []frame
	push := func(c *commit) error {
		if !enters(c.id) {
			return nil
		}
		parents, err := r.parents(c)
		stack = append(stack, frame{c: c, parents: parents})
		return err
	}
	if err := push(tip); err != nil {
		return err
	}
	for len(stack) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		top := &stack[len(stack)-1]
		if top.next < len(top.parents) {
			top.next++
			if err := push(top.parents[top.next-1]); err != nil {
				return err
			}
			continue
		}
		c, parents := top.c, top.parents
		stack = stack[:len(stack)-1]
		if err := visit(c, parents); err != nil {
			return err
		}
	}
	return nil
}

// maxMergeBases bounds the comparisons of one range. Git's own merges leave one or two merge bases.
const maxMergeBases = 16

// mergeBases returns the best common ancestors of the two commits that a walked from, sorted by id. No merge base is an
// ancestor of another.
func (a *ancestry) mergeBases(ctx context.Context) ([]*commit, error) {
	// The walk met these first on some way: all best ones, and where dates are out of order some that are ancestors of
	// others.
	var ids []gitobject.ID
	for id, m := range a.marks {
		if m&result != 0 && m&stale == 0 {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, gitobject.ID.Compare)
	if len(ids) > 4*maxMergeBases {
		return nil, errMergeBases(len(ids))
	}
	common := make([]*commit, len(ids))
	for i, id := range ids {
		var err error
		if common[i], err = a.repo.commit(id); err != nil {
			return nil, err
		}
	}
	if len(common) < 2 {
		return common, nil
	}
	var best []*commit
	for i, c := range common {
		others := append(common[:i:i], common[i+1:]...)
		redundant, err := a.repo.isAncestor(ctx, c, others...)
		if err != nil {
			return nil, err
		}
		if !redundant {
			best = append(best, c)
		}
	}
	if len(best) > maxMergeBases {
		return nil, errMergeBases(len(best))
	}
	return best, nil
}

func errMergeBases(n int) error {
	return remedy.Errorf("merge the base branch into the head, then there is one",
		"finding the merge base: %w: %d merge bases, at most %d are compared", ErrLimit, n, maxMergeBases)
}

// IsAncestor reports whether a commit is tip or an ancestor of it; both are commit ids or revisions.
func (r *Repository) IsAncestor(ctx context.Context, commit, tip string) (bool, error) {
	c, err := r.resolve(commit)
	if err != nil {
		return false, err
	}
	t, err := r.resolve(tip)
	if err != nil {
		return false, err
	}
	return r.isAncestor(ctx, c, t)
}

// isAncestor reports whether c is one of the tips or an ancestor of one, whatever the dates say.
func (r *Repository) isAncestor(ctx context.Context, c *commit, tips ...*commit) (bool, error) {
	a, err := r.walkAncestry(ctx, c, tips...)
	if err != nil {
		return false, err
	}
	return a.marks[c.id]&fromBase != 0, nil
}

// commitQueue is a heap, the newest commit on top; ties by id.
type commitQueue []*commit

func (q commitQueue) Len() int { return len(q) }

func (q commitQueue) Less(i, j int) bool {
	if !q[i].when.Equal(q[j].when) {
		return q[i].when.After(q[j].when)
	}
	return q[i].id.Compare(q[j].id) < 0
}

func (q commitQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *commitQueue) Push(x any) { *q = append(*q, x.(*commit)) }

func (q *commitQueue) Pop() any {
	old := *q
	c := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return c
}

// Connected reports whether the clone has every object that a commit reaches: its history by all parents, their trees,
// and what these name. Commits and trees are read, other objects are only looked for. The error is of the first that is
// missing or cannot be read.
func (r *Repository) Connected(ctx context.Context, tip string) error {
	main := map[string]bool{}
	err := r.Steps(ctx, "", tip, func(s *Step) error {
		main[s.Commit.ID] = true
		return r.has(s.Commit.ID, s.Changes)
	})
	if err != nil {
		return err
	}
	c, err := r.resolve(tip)
	if err != nil {
		return err
	}
	return r.ancestors(ctx, c, unseen(map[gitobject.ID]bool{}), func(c *commit, parents []*commit) error {
		if main[c.id.String()] { // else a commit of a merged side branch
			return nil
		}
		changes, err := r.changesOf(ctx, c, parents)
		if err != nil {
			return err
		}
		return r.has(c.id.String(), changes)
	})
}

// has looks for what the changes of a commit bring.
func (r *Repository) has(commit string, changes []Change) error {
	for _, c := range changes {
		if c.Head == nil || c.Head.Mode == ModeSubmodule {
			continue
		}
		if id := c.Head.id(); !r.store.Has(id) {
			return fmt.Errorf("%s of commit %s: object %s: %w", c.Path, commit, id, gitstore.ErrNotFound)
		}
	}
	return nil
}
