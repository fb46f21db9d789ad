package checks

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// shadow is a path of a tree that makes a repository of its directory, or takes the name of a mirror's clone.
type shadow struct {
	path    string
	message string
	rename  string // a path that would do neither
}

// gitDirectory is what a directory has of the names that make a repository.
type gitDirectory struct {
	path, head string
	others     map[string]bool // objects, refs, commondir
}

// shadows finds the paths of a tree that git, or this program, would read as a repository, in path order.
func shadows(t *registry.Tree) ([]shadow, error) {
	var out []shadow
	directories := map[string]*gitDirectory{}
	in := func(directory string) *gitDirectory {
		key := directory
		if !isPlain(directory) {
			key = foldPath(directory)
		}
		if directories[key] == nil {
			directories[key] = &gitDirectory{path: directory, others: map[string]bool{}}
		}
		return directories[key]
	}
	last := ""
	err := t.Walk(func(p string, _ registry.Entry) error {
		for start, more := seenBefore(last, p), true; more; {
			var name string
			name, _, more = strings.Cut(p[start:], "/")
			end := start + len(name)
			directory, at := p[:max(start-1, 0)], p[:end]
			if !isPlain(name) {
				name = foldPath(name)
			}
			switch name {
			case "head":
				in(directory).head = at
			case "objects", "refs", "commondir":
				in(directory).others[name] = true
			case registry.MirrorClone:
				out = append(out, shadow{at, fmt.Sprintf("%q has the name of the clone in a mirror's directory; "+
					"expected another name", at), path.Join(directory, "registry-git")})
			}
			start = end + 1
		}
		last = p
		return nil
	})
	for _, f := range directories {
		others := ""
		switch {
		case f.head == "":
			continue
		case f.others["objects"] && f.others["refs"]:
			others = "objects and refs"
		case f.others["commondir"]:
			others = "commondir"
		default:
			continue
		}
		out = append(out, shadow{f.head, fmt.Sprintf("directory %q is a Git repository to its readers: it has %s next "+
			"to %s; expected a directory without one of these names", cmp.Or(f.path, "."), path.Base(f.head), others),
			f.head + ".txt"})
	}
	slices.SortFunc(out, func(a, b shadow) int { return strings.Compare(a.path, b.path) })
	return out, err
}

// seenBefore returns where the part of a path begins that the path before it, in byte order, did not have as a
// directory.
func seenBefore(last, p string) int {
	n := 0
	for n < len(last) && n < len(p) && last[n] == p[n] {
		n++
	}
	return strings.LastIndexByte(p[:n], '/') + 1
}

// shadowFindings reports the repositories that the resulting tree would have. What is already in the base tree is a
// warning.
func shadowFindings(r *Run) (verdict.Outcome, error) {
	var out capped
	found, err := shadows(r.Range.Result)
	if err != nil || len(found) == 0 {
		return out.Outcome, err
	}
	standing, err := shadows(r.Range.Base)
	if err != nil {
		return out.Outcome, err
	}
	stood := map[string]bool{}
	for _, s := range standing {
		stood[s.path] = true
	}
	for _, s := range found {
		out.named(s.path, errorIf(!stood[s.path]), "repository-in-tree", "%s", s.message).
			WithFix("rename %q to %q", s.path, s.rename)
	}
	return out.rest("repository-in-tree", "rename them", func(n int) string {
		return plain.Count(n, "more path") + plain.Plural(n, " makes", " make") + " a repository to readers of the tree"
	}), nil
}

// The longest names that a clone on every system can hold, in bytes.
const (
	maxPathPart = 255
	maxPath     = 1024
)

// longPaths reports the new paths that are too long for some systems.
func longPaths(r *Run) (verdict.Outcome, error) {
	var out capped
	for _, c := range r.Range.Changes {
		if c.Base != nil || c.Head == nil {
			continue
		}
		longest := slices.MaxFunc(strings.Split(c.Path, "/"),
			func(a, b string) int { return cmp.Compare(len(a), len(b)) })
		message := ""
		switch {
		case len(longest) > maxPathPart:
			message = fmt.Sprintf("the part %.60q… of the path is %d bytes long; expected at most %d", longest,
				len(longest), maxPathPart)
		case len(c.Path) > maxPath:
			message = fmt.Sprintf("the path is %d bytes long; expected at most %d", len(c.Path), maxPath)
		default:
			continue
		}
		out.named(c.Path, verdict.Error, "path-too-long", "%s", message).WithFix("choose a shorter name")
	}
	return out.rest("path-too-long", "choose shorter names", func(n int) string {
		return fmt.Sprintf("%s%s too long; expected at most %d bytes, %d in each part", plain.Count(n, "more new path"),
			plain.Plural(n, " is", " are"), maxPath, maxPathPart)
	}), nil
}
