package registry

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
)

// FirstParents returns the first-parent commits in (from, to], oldest first. An empty from means the start of history:
// the list begins with the root commit. If from is not on that chain, as after a rewrite of history, the error is
// ErrNotAncestor.
func (r *Repository) FirstParents(ctx context.Context, from, to string) ([]string, error) {
	chain, err := r.firstParents(ctx, from, to)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(chain))
	for i, c := range chain {
		ids[i] = c.id.String()
	}
	return ids, nil
}

func (r *Repository) firstParents(ctx context.Context, from, to string) ([]*commit, error) {
	tip, err := r.resolve(to)
	if err != nil {
		return nil, err
	}
	var stop gitobject.ID
	if from != "" {
		c, err := r.resolve(from)
		if err != nil {
			return nil, err
		}
		stop = c.id
	}
	var chain []*commit
	for c := tip; c != nil && c.id != stop; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		chain = append(chain, c)
		if c, err = r.firstParent(c); err != nil {
			return nil, err
		}
		if c == nil && from != "" {
			return nil, remedy.Errorf(
				"history was rewritten, or the older commit came in by a merge: name one that the branch itself "+
					"pointed to",
				"walking first parents from %s to %s: %w", tip.id, stop, ErrNotAncestor)
		}
	}
	slices.Reverse(chain)
	return chain, nil
}

// firstParent returns the first parent of c, or nil for a root commit.
func (r *Repository) firstParent(c *commit) (*commit, error) {
	if len(c.parents) == 0 {
		return nil, nil
	}
	if r.store.IsShallow(c.id) {
		return nil, errShallow(c)
	}
	p, err := r.commit(c.parents[0])
	if err != nil {
		return nil, fmt.Errorf("first parent of %s: %w", c.id, err)
	}
	return p, nil
}

// Skew is the time by which a date may be ahead of the clock that it is compared with.
const Skew = 5 * time.Minute

// landing is a commit's first-parent time by one clock; when is zero if no date counts.
type landing struct {
	known       bool
	clock, when time.Time
}

// date moves the time on to a date that counts.
func (l *landing) date(when time.Time, counts bool) {
	if counts && when.After(l.when) && !when.After(l.clock.Add(Skew)) {
		l.when = when
	}
}

func (l landing) time() time.Time {
	if l.when.IsZero() {
		return l.clock.UTC()
	}
	return l.when
}

// Sight makes the time at which a commit was first seen, by its full id, count as a date in first-parent times, besides
// the committer date. Ids that cannot be read are skipped.
func (r *Repository) Sight(seenAt map[string]time.Time) {
	seen := make(map[gitobject.ID]time.Time, len(seenAt))
	for commit, at := range seenAt {
		if id, err := gitobject.ParseID(commit); err == nil {
			seen[id] = at.UTC()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sighted = seen
	for _, c := range r.commits {
		c.landed = landing{}
	}
}

// FirstParentTime returns the first-parent time of the commit that rev names: the latest committer date of the commit
// and of all first-parent commits before it. Anybody can set a committer date, but no commit landed before its first
// parent. A time that Sight set counts as a date. Dates more than Skew after now, the clock of the run, do not count;
// if no date counts, the time is now. The first call for a clock reads the first-parent history down to the root.
func (r *Repository) FirstParentTime(ctx context.Context, rev string, now time.Time) (time.Time, error) {
	c, err := r.resolve(rev)
	if err != nil {
		return time.Time{}, err
	}
	return r.firstParentTime(ctx, c, now)
}

func (r *Repository) firstParentTime(ctx context.Context, c *commit, now time.Time) (_ time.Time, err error) {
	last := landing{known: true, clock: now}
	var chain []*commit
	for c != nil {
		if err := ctx.Err(); err != nil {
			return time.Time{}, err
		}
		if l := r.landed(c); l.known && l.clock.Equal(now) {
			last = l
			break
		}
		chain = append(chain, c)
		if c, err = r.firstParent(c); err != nil {
			return time.Time{}, err
		}
	}
	return r.land(chain, last).time(), nil
}

func (r *Repository) landed(c *commit) landing {
	r.mu.Lock()
	defer r.mu.Unlock()
	return c.landed
}

// land sets the first-parent times of successive commits, newest first, and returns that of the newest; last is that of
// the commit before them.
func (r *Repository) land(chain []*commit, last landing) landing {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range slices.Backward(chain) {
		last.date(c.when, c.dated)
		seen, sighted := r.sighted[c.id]
		last.date(seen, sighted)
		c.landed = last
	}
	return last
}

// PathVersion is what a path held from a first-parent commit on.
type PathVersion struct {
	Path string
	Version
	Number int       // position of the commit in the first-parent history, the root commit being 1
	Dated  time.Time // the latest committer date of the commit and those before it
}

// FolderHistory returns what the paths below a directory of the root held, along the first parents of tip, oldest
// first; an empty directory means all paths, and an empty tip no commit. Each commit has one PathVersion for each entry
// that it changed, if keep accepts the path, with its first-parent time by the clock now. FolderHistory reads nothing
// outside that directory.
func (r *Repository) FolderHistory(ctx context.Context, tip, directory string, now time.Time,
	keep func(path string) bool) ([]PathVersion, error) {
	if tip == "" {
		return nil, nil
	}
	chain, err := r.firstParents(ctx, "", tip)
	if err != nil {
		return nil, err
	}
	var out []PathVersion
	number := 0
	var dated time.Time
	for b, err := range r.compareChain(ctx, directory, gitobject.ID{}, chain, batches) {
		if err != nil {
			return nil, err
		}
		for i, changes := range b.changes {
			commit := b.commits[i]
			number++
			if commit.when.After(dated) {
				dated = commit.when
			}
			landed, err := r.firstParentTime(ctx, commit, now)
			if err != nil {
				return nil, err
			}
			v := PathVersion{Version: Version{Commit: commit.id.String(), When: landed}, Number: number, Dated: dated}
			for _, c := range changes {
				if c.Path != directory && keep(c.Path) {
					v.Path, v.Entry = c.Path, c.Head
					out = append(out, v)
				}
			}
		}
	}
	return out, nil
}

// Dated returns the latest committer date of the first-parent commits up to tip.
func (r *Repository) Dated(ctx context.Context, tip string) (latest time.Time, err error) {
	chain, err := r.firstParents(ctx, "", tip)
	for _, c := range chain {
		if c.when.After(latest) {
			latest = c.when
		}
	}
	return latest, err
}
