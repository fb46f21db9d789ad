package outside

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// history writes commits for git fast-import.
type history struct {
	strings.Builder
	marks int
}

// commit adds a commit with these files and returns its mark.
func (h *history) commit(branch string, files map[string]string, parents ...int) int {
	h.marks++
	fmt.Fprintf(h, "commit refs/heads/%s\nmark :%d\ncommitter A <a@a.example> %d +0000\ndata 1\nx\n", branch, h.marks,
		1700000000+h.marks)
	for i, parent := range parents {
		fmt.Fprintf(h, "%s :%d\n", []string{"from", "merge"}[min(i, 1)], parent)
	}
	h.WriteString("deleteall\n")
	for _, path := range slices.Sorted(maps.Keys(files)) {
		mode, text, _ := strings.Cut(files[path], " ")
		fmt.Fprintf(h, "M %s inline %s\ndata %d\n%s\n", mode, path, len(text), text)
	}
	return h.marks
}

var mergedPaths = strings.Fields("a b c d e f/a f/b f/c f/g/a f/g/b g h/a h/b/c z")

// edited returns files after some random changes, and the paths that differ.
func edited(rnd *rand.Rand, files map[string]string) (map[string]string, map[string]bool) {
	now, changed := maps.Clone(files), map[string]bool{}
	for range rnd.IntN(4) {
		path := one(rnd, mergedPaths...)
		if now[path] != "" && rnd.IntN(3) == 0 {
			delete(now, path)
		} else {
			mode := one(rnd, "100644", "100644", "100755", "120000")
			now[path] = fmt.Sprintf("%s %d", mode, rnd.IntN(1<<30))
		}
		changed[path] = true
	}
	return now, changed
}

// The gate follows no renamed file, so git does not either here. A file that both sides changed is a conflict, which
// the check append-only refuses, and out of scope.
var mergeTree = &judge{name: "generated: merges of branches, git merge-tree", of: programVersion(2, "git", "version"),
	random: true, cases: 150, needs: []string{"git"}, sound: true, run: func(r *run) {
		rnd, dir := random(), r.TempDir()
		var h history
		for i := range 150 {
			base := fmt.Sprint("base-", i)
			files, _ := edited(rnd, map[string]string{"a": "100644 a", "f/a": "100644 f", "f/g/a": "100755 g",
				"z": "100644 z"})
			root := h.commit(base, files)
			landed, landedPaths := edited(rnd, files)
			main := h.commit(base, landed, root)
			head := fmt.Sprint("head-", i)
			proposed, proposedPaths := edited(rnd, files)
			tip := h.commit(head, proposed, root)
			disjoint := true
			for path := range landedPaths {
				disjoint = disjoint && !proposedPaths[path]
			}
			if i%3 == 0 && disjoint { // the branch merges the base branch before both continue
				joined := maps.Clone(landed)
				for path := range proposedPaths {
					if joined[path] = proposed[path]; joined[path] == "" {
						delete(joined, path)
					}
				}
				tip = h.commit(head, joined, tip, main)
				joined, _ = edited(rnd, joined)
				h.commit(head, joined, tip)
			}
			landed, _ = edited(rnd, landed)
			h.commit(base, landed, main)
		}
		if _, err := git(r, dir, nil, "init", "-q", "--bare"); err != nil {
			r.Fatal(err)
		}
		if _, err := git(r, dir, []byte(h.String()), "fast-import", "--quiet"); err != nil {
			r.Fatal(err)
		}
		repo, err := registry.Open(dir)
		if err != nil {
			r.Fatal(err)
		}
		defer repo.Close()
		clean := 0
		for i := range 150 {
			base, head := fmt.Sprint("base-", i), fmt.Sprint("head-", i)
			tree, err := git(r, dir, nil, "-c", "merge.renames=false", "merge-tree", "--write-tree", base, head)
			if err != nil {
				if _, err := repo.Range(r.Context(), base, head); err != nil {
					r.fault = append(r.fault, fmt.Sprintf("%d: %v", i, err))
				}
				r.skip(fmt.Sprint(i))
				continue
			}
			clean++
			list, err := git(r, dir, nil, "ls-tree", "-r", strings.TrimSpace(tree))
			if err != nil {
				r.Fatal(err)
			}
			r.compare(fmt.Sprint(i), answer{value: list}, func() (string, error) {
				rng, err := repo.Range(r.Context(), base, head)
				if err != nil {
					return "", err
				}
				var out strings.Builder
				err = rng.Result.Walk(func(path string, e registry.Entry) error {
					fmt.Fprintf(&out, "%06o blob %s\t%s\n", e.Mode, e.ID, path)
					return nil
				})
				return out.String(), err
			})
		}
		if clean < 75 {
			r.Errorf("%d merges have no conflict; expected at least 75", clean)
		}
	}}
