package registry

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestCompareAsGitDoes compares random trees, the result with git diff-tree, and what the changes make of the first
// tree with the second.
func TestCompareAsGitDoes(t *testing.T) {
	c := newClone(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	var blobs []string
	for i := range 4 {
		blobs = append(blobs, c.object("blob", fmt.Sprint(i)))
	}
	const count = 60
	trees := make([]string, count)
	files := map[string]string{}
	for i := range trees {
		scramble(rnd, files, blobs)
		trees[i] = c.tree(files)
	}
	r := c.open()
	var pairs []string
	for i := 1; i < count; i++ {
		pairs = append(pairs, trees[i-1]+" "+trees[i]+"\n", trees[i]+" "+trees[rnd.IntN(count)]+"\n")
	}
	// Each pair again, and then its changes.
	left := c.GitInput(strings.Join(pairs, ""), "-c", "core.quotePath=false", "diff-tree", "--stdin", "-r", "--raw",
		"--no-renames", "--no-abbrev") + "\n"
	for i, pair := range pairs {
		want, found := strings.CutPrefix(left, pair)
		if i+1 < len(pairs) {
			want, _, _ = strings.Cut(want, pairs[i+1])
		}
		left = strings.TrimPrefix(left, pair+want)
		want = strings.TrimSuffix(want, "\n")
		from, to, _ := strings.Cut(strings.TrimSuffix(pair, "\n"), " ")
		changes, err := r.compare(ctx, id(from), id(to))
		if err != nil || !found {
			t.Fatalf("comparing %s: %v; git compared it: %t", pair, err, found)
		}
		if got := rawDiff(changes); got != want {
			t.Fatalf("comparing %s:\n%s\nwant\n%s", pair, got, want)
		}
		root, err := r.compose(id(from), changes)
		if err != nil || root != id(to) {
			t.Fatalf("the changes of %s compose %s, %v", pair, root, err)
		}
	}
}

func id(s string) gitobject.ID {
	parsed, err := gitobject.ParseID(s)
	if err != nil {
		panic(err)
	}
	return parsed
}

// scramble changes some of the files, by path the mode and id of each. Names are such that files and directories
// take one another's place, and sort near one another.
func scramble(rnd *rand.Rand, files map[string]string, blobs []string) {
	names := []string{"a", "a-b", "a.b", "a0", "b", "ab", "z"}
	for range 1 + rnd.IntN(12) {
		path := names[rnd.IntN(len(names))]
		for rnd.IntN(3) > 0 {
			path += "/" + names[rnd.IntN(len(names))]
		}
		for other := range files {
			if other == path || strings.HasPrefix(other, path+"/") || strings.HasPrefix(path, other+"/") {
				delete(files, other)
			}
		}
		if rnd.IntN(3) > 0 {
			modes := []string{"100644", "100644", "100755", "120000"}
			files[path] = modes[rnd.IntN(len(modes))] + " blob " + blobs[rnd.IntN(len(blobs))]
		}
	}
}

// tree writes a tree of files, "mode type id" by path, as git write-tree does.
func (c *clone) tree(files map[string]string) string {
	c.T.Helper()
	directories, entries := map[string]map[string]string{}, map[string]string{}
	for path, what := range files {
		directory, rest, nested := strings.Cut(path, "/")
		if !nested {
			mode, object, _ := strings.Cut(what, " ")
			_, id, _ := strings.Cut(object, " ")
			entries[path] = entryText(mode, path, id)
			continue
		}
		if directories[directory] == nil {
			directories[directory] = map[string]string{}
		}
		directories[directory][rest] = what
	}
	for name, files := range directories {
		entries[name+"/"] = entryText("40000", name, c.tree(files)) // which is where it is sorted
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		text.WriteString(entries[name])
	}
	return c.object("tree", text.String())
}

// rawDiff writes changes as git diff-tree --raw does.
func rawDiff(changes []Change) string {
	zero := strings.Repeat("0", 40)
	var lines []string
	for _, c := range changes {
		line := [4]string{"000000", "000000", zero, zero}
		if c.Base != nil {
			line[0], line[2] = c.Base.Mode.Octal(), c.Base.ID.String()
		}
		if c.Head != nil {
			line[1], line[3] = c.Head.Mode.Octal(), c.Head.ID.String()
		}
		kind := strings.Fields(spellChanges([]Change{c}))[0]
		lines = append(lines, fmt.Sprintf(":%s %s %s %s %s\t%s", line[0], line[1], line[2], line[3], kind, c.Path))
	}
	return strings.Join(lines, "\n")
}

// TestCompareFlat compares large flat directories, where the common beginning and end are skipped by blocks.
func TestCompareFlat(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	r := newRepository(nil)
	for round := range 200 {
		base := map[string]byte{}
		for range rnd.IntN(600) {
			base[fmt.Sprintf("f%03d", rnd.IntN(999))] = byte(1 + rnd.IntN(3))
		}
		head := map[string]byte{}
		for name, content := range base {
			head[name] = content
		}
		want := map[string]string{}
		for range rnd.IntN(4) {
			name := fmt.Sprintf("f%03d", rnd.IntN(999))
			delete(head, name)
			if rnd.IntN(2) == 0 {
				head[name] = byte(1 + rnd.IntN(3))
			}
			want[name] = ""
		}
		var expected []string
		for name := range want {
			if kind := kindOf(base[name], head[name]); kind != "" {
				expected = append(expected, kind+" "+name)
			}
		}
		sort.Slice(expected, func(i, j int) bool { return expected[i][2:] < expected[j][2:] })
		changes := must.Get(r.compare(ctx, flat(t, r, base), flat(t, r, head)))(t)
		if got := spellChanges(changes); got != strings.Join(expected, "\n") {
			t.Fatalf("round %d: got\n%s\nwant\n%s", round, got, strings.Join(expected, "\n"))
		}
	}
}

func kindOf(base, head byte) string {
	switch {
	case base == head:
		return ""
	case base == 0:
		return "A"
	case head == 0:
		return "D"
	}
	return "M"
}

func flat(t *testing.T, r *Repository, files map[string]byte) gitobject.ID {
	t.Helper()
	var names []string
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	var raw []byte
	for _, name := range names {
		raw = fmt.Appendf(raw, "100644 %s\x00", name)
		raw = append(raw, strings.Repeat(string(files[name]), 20)...)
	}
	id := must.Get(r.composed.add(object{gitobject.Tree, raw}, gitobject.BytesID(make([]byte, 20))))(t)
	return id
}
