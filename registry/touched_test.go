package registry

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// dag is a history by numbers: each commit after its parents, with the text of its files.
type dag struct {
	parents [][]int
	files   []map[string]string
}

func (d *dag) commit(files map[string]string, parents ...int) int {
	d.parents = append(d.parents, parents)
	d.files = append(d.files, files)
	return len(d.parents) - 1
}

// write gives the ids of the commits.
func (d *dag) write(c *clone) []string {
	c.T.Helper()
	var stream strings.Builder
	names := []string{"rev-parse"}
	for i, parents := range d.parents {
		fmt.Fprintf(&stream, "commit refs/heads/c%d\nmark :%d\n", i, i+1)
		fmt.Fprintf(&stream, "committer C <c@example.org> %d +0000\ndata 1\nm\n", c.Date+i)
		for n, p := range parents {
			fmt.Fprintf(&stream, "%s :%d\n", [...]string{"from", "merge"}[min(n, 1)], p+1)
		}
		stream.WriteString("deleteall\n")
		for _, path := range slices.Sorted(maps.Keys(d.files[i])) {
			fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", path, len(d.files[i][path]), d.files[i][path])
		}
		stream.WriteByte('\n')
		names = append(names, fmt.Sprintf("c%d", i))
	}
	c.GitInput(stream.String(), "fast-import", "--quiet", "--force")
	return strings.Fields(c.Git(names...))
}

var threePaths = []string{pathA, pathB, "README.md"}

// randomDAG is a history in which anybody does anything to three paths.
func randomDAG(rnd *rand.Rand, count int) *dag {
	d := &dag{}
	d.commit(map[string]string{pathA: "1", "README.md": "1"})
	for i := 1; i < count; i++ {
		var parents []int
		for range 1 + rnd.IntN(2)*rnd.IntN(3) {
			if p := i - 1 - rnd.IntN(min(i, 5)); !slices.Contains(parents, p) {
				parents = append(parents, p)
			}
		}
		files := map[string]string{}
		for _, path := range threePaths {
			text, there := d.files[parents[rnd.IntN(len(parents))]][path]
			if rnd.IntN(5) == 0 {
				text, there = fmt.Sprint(rnd.IntN(3)), rnd.IntN(4) > 0
			}
			if there {
				files[path] = text
			}
		}
		d.commit(files, parents...)
	}
	return d
}

// TestTouched compares what counts as changed by each commit of random histories with the definition. No way to land a
// range commit by commit, by a fast-forward or a rebase, makes a step of the main branch that does not count.
func TestTouched(t *testing.T) {
	const count = 14
	counted := map[string]int{}
	for seed := range uint64(24) {
		rnd := rand.New(rand.NewPCG(seed, 11))
		d := randomDAG(rnd, count)
		c := newClone(t)
		ids := d.write(c)
		r := c.open()
		for b := range count {
			for h := range count {
				g, err := r.Range(ctx, ids[b], ids[h])
				must.OK(t, err)
				n := naive{d: d, b: b, h: h, lands: map[string]string{}}
				n.ahead, n.base = reach(d.parents, h), reach(d.parents, b)
				maps.DeleteFunc(n.ahead, func(c int, _ bool) bool { return n.base[c] })
				for _, p := range threePaths {
					if n.lands[p], err = textAt(g.Result, p); err != nil {
						t.Fatal(err)
					}
				}
				where := fmt.Sprintf("seed %d, base %d, head %d of %v %v", seed, b, h, d.parents, d.files)
				n.check(t, g, ids, where, counted)
			}
		}
	}
	for _, shape := range []string{"left as base has it", "mends", "step of a merge", "displaces",
		"breaks a fast-forward", "breaks a rebase"} {
		if counted[shape] == 0 {
			t.Errorf("no history has the shape: %s", shape)
		}
	}
}

// textAt is the content at a path; empty: nothing stands there.
func textAt(tree *Tree, path string) (string, error) {
	text, err := tree.File(ctx, path, 100)
	return string(text), err
}

// naive is the definition, by sets of commits and the text of files; no file is empty.
type naive struct {
	d           *dag
	b, h        int
	ahead, base map[int]bool
	lands       map[string]string
}

func (n *naive) text(commit int, path string) string { return n.d.files[commit][path] }

// chain lists the commits from h down to b along first parents; false where these do not lead there.
func (n *naive) chain(h int) ([]int, bool) {
	var chain []int
	for h != n.b {
		chain = append(chain, h)
		if len(n.d.parents[h]) == 0 {
			return nil, false
		}
		h = n.d.parents[h][0]
	}
	return chain, true
}

// comesFrom reports whether a commit descends from one of base that has base's own text there and a child in the range.
func (n *naive) comesFrom(commit int, path string) bool {
	for c := range reach(n.d.parents, commit) {
		for _, p := range n.d.parents[c] {
			if n.ahead[c] && n.base[p] && n.text(p, path) == n.text(n.b, path) {
				return true
			}
		}
	}
	return false
}

func (n *naive) counts(commit int, path string, counted map[string]int) bool {
	text, base := n.text(commit, path), n.text(n.b, path)
	parents := n.d.parents[commit]
	if base != "" && text != n.lands[path] && text != n.text(parents[0], path) {
		if _, onto := n.chain(commit); onto {
			counted["step of a merge"] += len(parents) - 1
			return true
		}
	}
	if slices.ContainsFunc(parents, func(p int) bool { return n.text(p, path) == text }) {
		return false
	}
	if text != base {
		return true
	}
	if n.comesFrom(commit, path) {
		counted["mends"]++
		return true
	}
	counted["left as base has it"]++
	return false
}

func (n *naive) check(t *testing.T, g *Range, ids []string, where string, counted map[string]int) {
	t.Helper()
	var order []int
	touched := map[string]bool{}
	for _, c := range g.Commits {
		i := slices.Index(ids, c.ID)
		order = append(order, i)
		var got, want []string
		for _, change := range c.Touched {
			got = append(got, change.Path)
			touched[change.Path] = true
		}
		for _, p := range threePaths {
			if n.counts(i, p, counted) {
				want = append(want, p)
			}
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: commit %d changes %v, want %v", where, i, got, want)
		}
	}
	steps, forward := n.chain(n.h)
	if displaces := !forward && reach(n.d.parents, n.h)[n.b]; displaces != g.Displaces {
		t.Errorf("%s: displaces is %v", where, g.Displaces)
	} else if displaces {
		counted["displaces"]++
	}
	for _, p := range threePaths {
		base := n.text(n.b, p)
		if base == "" {
			continue
		}
		broken := func(text, how string) {
			if text == base || text == n.lands[p] {
				return
			}
			counted["breaks a "+how]++
			if !touched[p] {
				t.Errorf("%s: a %s makes %s %q on the way, and no commit counts there", where, how, p, text)
			}
		}
		for _, c := range steps {
			broken(n.text(c, p), "fast-forward")
		}
		now := base
		for _, c := range order {
			if len(n.d.parents[c]) != 1 {
				continue // a rebase leaves merges out
			}
			from, to := n.text(n.d.parents[c][0], p), n.text(c, p)
			if from == to || now == to {
				continue
			}
			if now != from {
				break // a conflict
			}
			now = to
			broken(now, "rebase")
		}
	}
}

// TestTouchedHonestly checks that a branch that only adds, however it and main merge and squash one another, touches
// nothing that main holds, and that main moved on nowhere.
func TestTouchedHonestly(t *testing.T) {
	for seed := range uint64(12) {
		rnd := rand.New(rand.NewPCG(seed, 13))
		d := &dag{}
		tips := [2]int{}
		tips[0] = d.commit(map[string]string{pathA: "a"})
		tips[1] = tips[0]
		var pairs [][2]int
		for i := range 16 {
			side := rnd.IntN(2)
			files := maps.Clone(d.files[tips[side]])
			parents := []int{tips[side]}
			switch rnd.IntN(3) {
			case 0: // squash-merge the other, or only go on
				if side == 0 {
					maps.Copy(files, d.files[tips[1]])
				}
			case 1:
				maps.Copy(files, d.files[tips[1-side]])
				parents = append(parents, tips[1-side])
			}
			if len(parents) == 1 {
				files[fmt.Sprintf("implementations/new-%d.json", i)] = fmt.Sprint(i)
			}
			tips[side] = d.commit(files, parents...)
			pairs = append(pairs, tips)
		}
		c := newClone(t)
		ids := d.write(c)
		r := c.open()
		for _, pair := range pairs {
			g := must.Get(r.Range(ctx, ids[pair[0]], ids[pair[1]]))(t)
			base := d.files[pair[0]]
			for _, c := range g.Commits {
				for _, change := range c.Touched {
					if base[change.Path] != "" {
						t.Errorf("seed %d, %v: commit %s counts at %s, which base holds", seed, pair, c.ID, change.Path)
					}
				}
			}
			for _, v := range g.Views {
				for _, change := range v.Changes {
					e := must.Get(g.Base.Leaf(change.Path))(t)
					if !SameEntry(e, change.Base) && !SameEntry(e, change.Head) {
						t.Errorf("seed %d, %v: base moved on at %s since %s", seed, pair, change.Path, v.From)
					}
				}
			}
		}
	}
}
