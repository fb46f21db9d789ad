package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// twin is a path that has the same folded form as another.
type twin struct {
	path, other string
	stood       bool // both were there before
}

// newTwins reports the paths of the resulting tree that some systems cannot tell apart. Those that the base tree has
// already are warnings.
func newTwins(r *Run) (verdict.Outcome, error) {
	groups, err := caseTwins(r.Range.Result)
	if err != nil {
		return verdict.Outcome{}, err
	}
	var twins []twin
	for _, folded := range slices.Sorted(maps.Keys(groups)) {
		var stood, fresh []string
		for _, path := range groups[folded] {
			is, err := r.existed(path)
			if err != nil {
				return verdict.Outcome{}, err
			}
			if is {
				stood = append(stood, path)
			} else {
				fresh = append(fresh, path)
			}
		}
		other := original(folded, stood, fresh)
		twins = appendTwins(appendTwins(twins, stood, other, true), fresh, other, false)
	}
	slices.SortFunc(twins, func(a, b twin) int { return strings.Compare(a.path, b.path) })
	out := twinFindings(twins)
	if !out.Has(verdict.Error) {
		err = r.twinsInPassing(&out)
	}
	return out, err
}

// maxLookups is how often twins are looked for in the trees of single commits: commits times paths could take hours.
const maxLookups = 1 << 16

// twinsInPassing reports a path that lands and that a single commit adds next to a twin that does not: rebase-merged,
// both would be on the main branch.
func (r *Run) twinsInPassing(o *verdict.Outcome) error {
	odd := func(t registry.Change) bool { return !isPlain(t.Path) }
	if !slices.ContainsFunc(r.Range.Commits, func(c registry.Commit) bool {
		return slices.ContainsFunc(c.Touched, odd) // one of two twins is
	}) {
		return nil
	}
	gone, seen := map[string][]string{}, map[string]bool{} // by folded form: what does not land
	for _, c := range r.Range.Commits {
		for _, t := range c.Touched {
			for _, path := range prefixes(t.Path) {
				if seen[path] {
					continue
				}
				seen[path] = true
				if _, lands, err := r.Range.Result.Entry(path); err != nil {
					return err
				} else if folded := foldPath(path); !lands {
					gone[folded] = append(gone[folded], path)
				}
			}
		}
	}
	lookups := 0
	for _, c := range r.Range.Commits {
		for _, t := range c.Touched {
			for _, path := range prefixes(t.Path) {
				others := gone[foldPath(path)]
				if t.Head == nil || len(others) == 0 || slices.Contains(others, path) {
					continue
				}
				if is, err := r.existed(path); err != nil {
					return err
				} else if is {
					continue
				}
				if lookups += len(others); lookups > maxLookups {
					o.Errorf(verdict.At{Path: path}, "", "case-twin", "more than %d times a single commit may have "+
						"this path next to one that differs in letter case; not all are looked at", maxLookups).
						WithFix("%s", r.oneCommit())
					return nil
				}
				tree, err := r.Repo.Tree(r.Context, c.ID)
				if err != nil {
					return err
				}
				for _, other := range others {
					if _, is, err := tree.Entry(other); err != nil {
						return err
					} else if is {
						found := twinFindings([]twin{{path: path, other: other}}).Findings
						r.inPassing(found, tree)
						o.Findings = append(o.Findings, found...)
						return nil
					}
				}
			}
		}
	}
	return nil
}

// existed reports whether a path was there before: in the base tree, or as every data directory.
func (r *Run) existed(path string) (bool, error) {
	if isDataDirectory(path) {
		return true, nil
	}
	if c := changeOf(r.Range.Changes, path); c != nil {
		return c.Base != nil, nil
	}
	_, is, err := r.Range.Base.Entry(path)
	return is, err
}

// appendTwins appends the paths of a group that are not the original one.
func appendTwins(twins []twin, paths []string, original string, stood bool) []twin {
	for _, path := range paths {
		if path != original {
			twins = append(twins, twin{path, original, stood})
		}
	}
	return twins
}

// original returns the path of a group of twins that the others are reported against. A path that was there before goes
// before a new one, then the folded form before any other, then the first in order.
func original(folded string, stood, fresh []string) string {
	if len(stood) == 0 {
		stood = fresh
	}
	if slices.Contains(stood, folded) {
		return folded
	}
	return slices.Min(stood)
}

// twinFindings returns the findings for the twins, and one for those that are only counted.
func twinFindings(twins []twin) verdict.Outcome {
	var out capped
	for _, t := range twins {
		out.named(t.path, errorIf(!t.stood), "case-twin",
			"%q and %q are one path on systems that fold letter case or drop characters", t.path, t.other).
			WithFix("rename the newer of the two")
	}
	return out.rest("case-twin", "rename the newer of each two", func(n int) string {
		return fmt.Sprintf("%d more pairs of paths are one on systems that fold letter case or drop characters", n)
	})
}

// caseTwins groups the paths and directories that have the same folded form, by that form. It includes the data
// directories, even those that the tree lacks.
func caseTwins(t *registry.Tree) (map[string][]string, error) {
	folded, err := oddPaths(t)
	if err != nil || len(folded) == 0 {
		return nil, err
	}
	seen := map[string]bool{}
	note := func(plain string) {
		if folded[plain] != nil && !seen[plain] {
			seen[plain] = true
			folded[plain] = append(folded[plain], plain)
		}
	}
	for _, k := range registry.DataKinds {
		note(k.Directory())
	}
	err = t.Walk(func(path string, _ registry.Entry) error {
		for i := 0; i <= len(path); i++ {
			if (i == len(path) || path[i] == '/') && isPlain(path[:i]) {
				note(path[:i])
			}
		}
		return nil
	})
	maps.DeleteFunc(folded, func(_ string, paths []string) bool { return len(paths) == 1 })
	return folded, err
}

// oddPaths returns the paths and directories of a tree that folding changes, by their folded form.
func oddPaths(t *registry.Tree) (map[string][]string, error) {
	odd := map[string][]string{}
	seen := map[string]bool{}
	err := t.Walk(func(path string, _ registry.Entry) error {
		if isPlain(path) {
			return nil
		}
		for _, prefix := range prefixes(path) {
			if !isPlain(prefix) && !seen[prefix] {
				seen[prefix] = true
				folded := foldPath(prefix)
				odd[folded] = append(odd[folded], prefix)
			}
		}
		return nil
	})
	return odd, err
}

// newTwins returns the paths of this commit that have the same folded form as another path, and remembers the commit's
// paths for later commits.
func (l *Ledger) newTwins(step *registry.Step) (out []twin, err error) {
	brought, err := l.paths(step)
	if err != nil {
		return nil, err
	}
	groups := map[string][]string{} // by folded form: odd paths, and plain ones with an earlier odd twin
	for _, p := range brought {
		if !isPlain(p) || len(l.odd[p]) > 0 {
			folded := foldPath(p)
			groups[folded] = append(groups[folded], p)
		}
	}
	for _, folded := range slices.Sorted(maps.Keys(groups)) {
		fresh, stood := groups[folded], slices.Clone(l.odd[folded])
		for _, p := range fresh {
			if !isPlain(p) {
				l.odd[folded] = append(l.odd[folded], p)
			}
		}
		_, new := slices.BinarySearch(brought, folded)
		_, found, err := step.Result.Entry(folded)
		switch {
		case err != nil:
			return nil, err
		case isDataDirectory(folded), found && folded != "" && !new:
			stood = append(stood, folded)
		case new && !slices.Contains(fresh, folded):
			fresh = append(fresh, folded)
		}
		out = appendTwins(out, fresh, original(folded, stood, fresh), false)
	}
	return out, nil
}

// paths returns the paths and directories that a commit adds, in order, and forgets those that it removes. It looks up
// files only in the changes: reading a directory of many versions for each of them takes longer than all else.
func (l *Ledger) paths(step *registry.Step) ([]string, error) {
	lost := map[string]bool{} // something, or itself
	for _, c := range step.Changes {
		if c.Head != nil {
			continue
		}
		for _, p := range prefixes(c.Path) {
			lost[p] = true
		}
	}
	if err := l.forget(step, lost); err != nil {
		return nil, err
	}
	var brought []string
	directories := map[string]bool{}
	for _, c := range step.Changes {
		if c.Base != nil {
			continue // a directory of a file that existed existed, too
		}
		for _, p := range prefixes(c.Path) {
			before := lost[p]
			if p != c.Path {
				if directories[p] {
					continue
				}
				directories[p] = true
				if !before {
					var err error
					if _, before, err = step.Base.Entry(p); err != nil {
						return nil, err
					}
				}
			}
			if !before {
				brought = append(brought, p)
			}
		}
	}
	slices.Sort(brought)
	return brought, nil
}

// forget drops from the odd paths those that lost something in a commit and are gone.
func (l *Ledger) forget(step *registry.Step, lost map[string]bool) error {
	gone := map[string]bool{}
	in := map[string]bool{} // their folded forms
	for p := range lost {
		if isPlain(p) {
			continue
		}
		_, found, err := step.Result.Entry(p)
		if err != nil {
			return err
		}
		if !found {
			gone[p], in[foldPath(p)] = true, true
		}
	}
	for folded := range in {
		l.odd[folded] = slices.DeleteFunc(l.odd[folded], func(o string) bool { return gone[o] })
	}
	return nil
}

// prefixes returns a path and its parent directories.
func prefixes(path string) []string {
	var out []string
	for i := range len(path) {
		if path[i] == '/' {
			out = append(out, path[:i])
		}
	}
	return append(out, path)
}
