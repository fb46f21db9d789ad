// Package links follows symbolic links in a tree of files without leaving it.
package links

import (
	"path"
	"strings"
)

const (
	maxLinks = 40   // links that lead to links
	maxPath  = 4096 // bytes of a path
	maxDepth = 65   // names of the path of a link
)

// Resolve returns a path without the links on its way, and reports whether it leads out of the tree. A link with an
// absolute target does, since a copy of the tree is elsewhere; so does a circle of links, which leads nowhere. A name
// that does not exist leads to no other place. The function link returns the target of the link at a path without
// links, empty if no link is there.
func Resolve(name string, link func(at string) (target string)) (at string, outside bool) {
	if len(name) > maxPath {
		return name, false
	}
	rest, here := strings.Split(name, "/"), []string(nil)
	for links := 0; len(rest) > 0; {
		next := rest[0]
		rest = rest[1:]
		switch {
		case next == "" || next == ".":
			continue
		case next == ".." && len(here) == 0:
			return "", true
		case next == "..":
			here = here[:len(here)-1]
			continue
		}
		if here = append(here, next); len(here) > maxDepth {
			continue
		}
		target := link(strings.Join(here, "/"))
		if target == "" {
			continue
		}
		if links++; links > maxLinks || path.IsAbs(target) {
			return "", true
		}
		here, rest = here[:len(here)-1], append(strings.Split(target, "/"), rest...)
	}
	return path.Join(".", path.Join(here...)), false
}
