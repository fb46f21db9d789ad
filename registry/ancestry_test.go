package registry

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// history writes commits by git fast-import: for each its parents by number, and its date.
func (c *clone) history(parents [][]int, dates []int) []string {
	c.T.Helper()
	var stream strings.Builder
	for i := range parents {
		fmt.Fprintf(&stream, "commit refs/heads/c%d\nmark :%d\ncommitter C <c@example.org> %d +0000\ndata 1\nm\n", i,
			i+1, dates[i])
		for n, p := range parents[i] {
			fmt.Fprintf(&stream, "%s :%d\n", [...]string{"from", "merge"}[min(n, 1)], p+1)
		}
		fmt.Fprintf(&stream, "M 100644 inline f%d\ndata 1\nx\n\n", i)
	}
	c.GitInput(stream.String(), "fast-import", "--quiet", "--force")
	names := []string{"rev-parse"}
	for i := range parents {
		names = append(names, fmt.Sprintf("c%d", i))
	}
	return strings.Fields(c.Git(names...))
}

// TestAncestryAsGitDoes compares merge bases and base..head of random histories with git, and with the definition where
// dates are out of order.
func TestAncestryAsGitDoes(t *testing.T) {
	for _, skewed := range []bool{false, true} {
		for seed := range uint64(6) {
			rnd := rand.New(rand.NewPCG(seed, 7))
			const count = 24
			parents, dates := make([][]int, count), make([]int, count)
			for i := range parents {
				for len(parents[i]) < min(i, 1+rnd.IntN(3)*rnd.IntN(2)) {
					p := i - 1 - rnd.IntN(min(i, 6))
					if !strings.Contains(fmt.Sprint(parents[i], " "), fmt.Sprint(p)) {
						parents[i] = append(parents[i], p)
					} else {
						break
					}
				}
				dates[i] = 1_700_000_000 + i/2
				if skewed {
					dates[i] = 1_700_000_000 + rnd.IntN(count)
				}
			}
			c := newClone(t)
			ids := c.history(parents, dates)
			r := c.open()
			args := []string{"rev-parse"}
			pairs := make([][2]int, 25)
			for i := range pairs {
				pairs[i] = [2]int{rnd.IntN(count), rnd.IntN(count)}
				args = append(args, ids[pairs[i][0]]+"..."+ids[pairs[i][1]])
			}
			// For each pair both commits, and then each merge base after a ^.
			lines := strings.Fields(c.Git(args...))
			for _, pair := range pairs {
				var want []string
				for lines = lines[2:]; len(lines) > 0 && lines[0][0] == '^'; lines = lines[1:] {
					want = append(want, lines[0][1:])
				}
				checkAncestry(t, r, parents, ids, pair[0], pair[1], skewed, want)
			}
		}
	}
}

// checkAncestry compares the merge bases of two commits with the wanted ones, and base..head with its definition.
func checkAncestry(t *testing.T, r *Repository, parents [][]int, ids []string, b, h int, skewed bool,
	want []string) {
	t.Helper()
	base := must.Get(r.resolve(ids[b]))(t)
	head := must.Get(r.resolve(ids[h]))(t)
	walk := must.Get(r.walkAncestry(ctx, head, base))(t)
	bases := must.Get(walk.mergeBases(ctx))(t)
	var got []string
	for _, c := range bases {
		got = append(got, c.id.String())
	}
	sort.Strings(want)
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("merge bases of %s and %s: %v, want %v", ids[b], ids[h], got, want)
	}
	must.OK(t, walk.settle(ctx))
	commits := must.Get(walk.ahead(t.Context(), head))(t)
	reached := reach(parents, b)
	ahead := map[string]bool{}
	for n := range reach(parents, h) {
		if !reached[n] {
			ahead[ids[n]] = true
		}
	}
	place := map[string]int{}
	for i, c := range commits {
		place[c.id.String()] = i
		if !ahead[c.id.String()] && !skewed {
			t.Errorf("%s..%s lists %s, which base reaches", ids[b], ids[h], c.id)
		}
		for _, p := range c.parents {
			if at, ok := place[p.String()]; ok && at >= i {
				t.Errorf("commit %s stands before its parent %s", c.id, p)
			}
		}
	}
	for id := range ahead {
		if _, ok := place[id]; !ok {
			t.Errorf("%s..%s misses %s", ids[b], ids[h], id)
		}
	}
}

func reach(parents [][]int, from int) map[int]bool {
	seen := map[int]bool{}
	todo := []int{from}
	for len(todo) > 0 {
		n := todo[0]
		todo = todo[1:]
		if !seen[n] {
			seen[n] = true
			todo = append(todo, parents[n]...)
		}
	}
	return seen
}

// TestManyMergeBases checks that a head with more merge bases than are compared is refused.
func TestManyMergeBases(t *testing.T) {
	for sides, want := range map[int]error{maxMergeBases: nil, maxMergeBases + 1: ErrLimit,
		5 * maxMergeBases: ErrLimit} {
		parents := [][]int{nil}
		var all []int
		for i := range sides {
			parents = append(parents, []int{0})
			all = append(all, i+1)
		}
		parents = append(parents, all, all)
		dates := make([]int, len(parents))
		for i := range dates {
			dates[i] = 1_700_000_000 + i
		}
		c := newClone(t)
		ids := c.history(parents, dates)
		g, err := c.open().Range(ctx, ids[sides+1], ids[sides+2])
		if want != nil {
			wantError(t, err, want)
		} else if err != nil || len(g.MergeBases) != sides || len(g.Views) != sides {
			t.Errorf("%d sides: %v", sides, err)
		}
	}
}

// TestAncestryDates checks that no date takes a commit out of a range or an ancestor out of sight.
func TestAncestryDates(t *testing.T) {
	const now = 1_700_000_000
	// 0 - 1 - 2 - 3 (base), 1 - 4 - 5 (head)
	parents := [][]int{nil, {0}, {1}, {2}, {1}, {4}}
	for _, dates := range [][]int{
		{now, now + 1, now + 2, now + 3, 0, 0},
		{now, now + 1, now + 2, now + 3, 1 << 32, 1 << 32},
		{now, 1 << 32, 0, now, now, now},
		{now, 0, 1 << 32, 0, 1 << 32, 0},
		{0, 0, 0, 0, 0, 0},
	} {
		c := newClone(t)
		ids := c.history(parents, dates)
		g := c.rangeOf(ids[3], ids[5])
		if len(g.MergeBases) != 1 || g.MergeBases[0] != ids[1] || len(g.Commits) != 2 || g.Commits[0].ID != ids[4] {
			t.Errorf("dates %v: merge bases %v, commits %v", dates, g.MergeBases, g.Commits)
		}
	}
}
