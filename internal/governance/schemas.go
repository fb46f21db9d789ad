package governance

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/links"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/schemadiff"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// isSchema reports whether a path is that of a published schema, in any letter case. An example is not a schema.
func isSchema(path string) bool {
	path = strings.ToLower(path)
	names := strings.SplitN(path, "/", 4)
	return isJSON(path) && inVersion(path, "schemas/") && !(len(names) == 4 && names[2] == "examples")
}

// isBeside reports whether a path is that of a JSON file below schemas/, in any letter case: a draft and an example are
// such files too.
func isBeside(path string) bool {
	return isJSON(path) && strings.HasPrefix(strings.ToLower(path), "schemas/")
}

// schemaText is one schema as it was read.
type schemaText struct {
	document *strict.Document
	err      error // not strict JSON
}

// schemaLimits are those of package schemadiff.
var schemaLimits = strict.Limits{Bytes: schemadiff.MaxBytes, Depth: schemadiff.MaxDepth, Number: 64, Values: 1 << 17}

// schemaSet is the JSON files below schemas/ of one Git tree, and what published schemas among them lead to.
type schemaSet struct {
	texts map[string][]byte
	links map[string]string // by the path of a symbolic link to a schema, the path that it leads to
	hops  map[string]string // by each path on the way of a reference or link, the text of the link there, or ""
	tree  *schemadiff.Tree
	ids   map[string]gitstore.ID
	byID  map[string][]identity // by absolute $id; nil: not asked for yet
}

// identity is the place of an $id.
type identity struct {
	path    string
	pointer func() string
}

// schemaView compares the schemas of two trees.
type schemaView struct {
	base, head *schemaSet
	diff       *schemadiff.Comparison // nil: not asked for yet
	known      map[string][]schemadiff.Difference
	versions   func(oldPath, newPath string) []schemadiff.Difference // the head's; nil: not needed yet
}

// comparison returns the comparison, and creates it when it is first needed: many views touch JSON files that are not
// schemas.
func (s *schemaView) comparison() *schemadiff.Comparison {
	if s.diff == nil {
		s.diff = schemadiff.Trees(s.base.tree, s.head.tree, isSchema)
	}
	return s.diff
}

// comparesSchemas gives the comparison of the schemas of a view, once.
func (v *View) comparesSchemas() (*schemaView, error) {
	if v.schemas != nil {
		return v.schemas, nil
	}
	base, err := v.texts.schemas(v.Base)
	if err != nil {
		return nil, err
	}
	head, err := v.texts.schemas(v.Head)
	if err != nil {
		return nil, err
	}
	v.schemas = &schemaView{base: base, head: head, known: map[string][]schemadiff.Difference{}}
	return v.schemas, nil
}

// differences returns how a published schema that both trees have differs.
func (s *schemaView) differences(path string) []schemadiff.Difference {
	if d, ok := s.known[path]; ok {
		return d
	}
	s.known[path] = s.comparison().Schema(path)
	return s.known[path]
}

const (
	maxSchemas  = 4 << 20 // bytes of the schemas of a tree together
	maxFollowed = 2_000   // paths outside schemas/, or of no file, that the schemas of a tree refer to
	maxLink     = 4096    // bytes of the path in a symbolic link
)

// schemas reads the JSON files below schemas/ of a tree, and the files to which references in published ones lead.
func (x *Texts) schemas(t *registry.Tree) (*schemaSet, error) {
	s := &schemaSet{texts: map[string][]byte{}, links: map[string]string{}, hops: map[string]string{},
		ids: map[string]gitstore.ID{}}
	budget := maxSchemas
	published := map[string]bool{} // what a published link leads to
	add := func(p string, e registry.Entry) error {
		if e.Mode == registry.ModeSymlink {
			target, to, err := x.follow(t, p, s.hops)
			if err != nil || target == "" {
				return err
			}
			s.links[p] = target
			published[target] = published[target] || isSchema(p)
			p, e = target, to
		}
		if s.texts[p] != nil || !isFile(&e) {
			return nil
		}
		data, err := read(t, p, schemadiff.MaxBytes, &budget)
		s.texts[p], s.ids[p] = data, e.ID
		return err
	}
	directory, _, err := t.Entry("schemas")
	if err != nil {
		return nil, err
	}
	key := directory.ID.String()
	if known := x.trees[key]; known != nil {
		return known, nil
	}
	err = t.WalkFolder("schemas", func(p string, e registry.Entry) error {
		if !isJSON(p) {
			return nil
		}
		return add(p, e)
	})
	if err != nil {
		return nil, err
	}
	followed := 0
	self := len(s.links) == 0 // nothing leads out of the directory
	s.tree = schemadiff.NewTree(maps.Clone(s.texts), func(p string) bool { return isSchema(p) || published[p] },
		func(p string) (string, []byte) {
			if err != nil {
				return "", nil
			}
			if followed++; followed > maxFollowed {
				err = remedy.Errorf("put what they refer to into fewer files",
					"%w: they refer to more than %d other files", ErrLimit, maxFollowed)
				return "", nil
			}
			at, e, fault := x.follow(t, p, s.hops)
			self = self && at == p && strings.HasPrefix(p, "schemas/")
			if err = fault; err == nil && at != "" {
				err = add(at, e)
			}
			return at, s.texts[at]
		})
	if err != nil {
		return nil, fmt.Errorf("reading what the schemas refer to: %w", err)
	}
	if self {
		if x.trees == nil {
			x.trees = map[string]*schemaSet{}
		}
		x.trees[key] = s
	}
	return s, nil
}

// follow returns the entry of a tree to which a symbolic link leads, over other links too. The path is empty if it is
// outside of the tree. The texts of the links on its way are read once.
func (x *Texts) follow(t *registry.Tree, link string, hops map[string]string) (string, registry.Entry, error) {
	var fault error
	at, outside := links.Resolve(link, func(at string) string {
		if target, known := hops[at]; known || fault != nil {
			return target
		}
		var text []byte
		e, _, err := t.Entry(at)
		if err == nil && e.Mode == registry.ModeSymlink {
			if text, err = x.repo.Blob(e, maxLink); errors.Is(err, gitstore.ErrTooLarge) {
				text, err = []byte("/"), nil
			}
		}
		if err != nil {
			fault = fmt.Errorf("reading %q: %w", at, err)
		}
		hops[at] = string(text)
		return hops[at]
	})
	if outside || fault != nil {
		return "", registry.Entry{}, fault
	}
	to, _, err := t.Entry(at)
	return at, to, err
}

// textKey is one text at one path: its faults are reported there.
type textKey struct {
	path string
	id   gitstore.ID
}

// document reads one schema of a set, once for each text and path. The error is a *strict.Error.
func (x *Texts) document(s *schemaSet, path string) (*strict.Document, error) {
	key := textKey{path, s.ids[path]}
	if known := x.parsed[key]; known != nil {
		return known.document, known.err
	}
	text := &schemaText{}
	text.document, text.err = strict.Parse(path, s.texts[path], schemaLimits)
	if x.parsed == nil {
		x.parsed = map[textKey]*schemaText{}
	}
	x.parsed[key] = text
	return text.document, text.err
}

// claims returns the places of the identifiers of a set, in the order of paths.
func (s *schemaSet) claims() map[string][]identity {
	if s.byID == nil {
		s.byID = map[string][]identity{}
		for _, p := range slices.Sorted(maps.Keys(s.texts)) {
			s.tree.Identifiers(p, func(id string, pointer func() string) {
				s.byID[id] = append(s.byID[id], identity{p, pointer})
			})
		}
	}
	return s.byID
}

// concerned returns the published schemas that do not change themselves and that changed files concern: unchanged
// symbolic links to a file that differs and is not published itself, and schemas that lead to a changed file.
func (v *View) concerned(s *schemaView) (linked, led []string) {
	itself, relinked := map[string]bool{}, false
	var changed []string // files that a published schema may lead to
	for _, c := range v.Changes {
		itself[c.Path] = true
		if isSchema(c.Path) && c.Base != nil && !isFile(c.Head) {
			continue
		}
		changed = append(changed, c.Path)
		relinked = relinked || s.base.hops[c.Path] != "" || s.head.hops[c.Path] != ""
	}
	if relinked { // whatever it led to, or leads to, counts as changed
		changed = slices.AppendSeq(slices.AppendSeq(changed, maps.Keys(s.base.texts)), maps.Keys(s.head.texts))
	}
	for _, p := range slices.Sorted(maps.Keys(s.base.links)) {
		was, is := s.base.links[p], s.head.links[p]
		if isSchema(p) && !itself[p] && (was != is || !isSchema(was)) &&
			!bytes.Equal(s.base.texts[was], s.head.texts[is]) && !sameTokens(s.base.texts[was], s.head.texts[is]) {
			linked = append(linked, p)
		}
	}
	if slices.ContainsFunc(changed, func(p string) bool { return s.base.texts[p] != nil || s.head.texts[p] != nil }) {
		led = slices.DeleteFunc(s.comparison().Affected(changed), func(p string) bool { return itself[p] })
	}
	return linked, led
}

// meaningfulSchemas lists the places at which the schemas of a view differ in more than annotations.
func (v *View) meaningfulSchemas() ([]string, error) {
	s, err := v.comparesSchemas()
	if err != nil {
		return nil, err
	}
	out, led := v.concerned(s)
	for i, p := range out {
		out[i] = fmt.Sprintf("%q, by what it links to", p)
	}
	for _, c := range v.normative() {
		switch {
		case !isSchema(c.Path):
		case !isFile(c.Base) || !isFile(c.Head) || c.Base.Mode != c.Head.Mode:
			out = append(out, fmt.Sprintf("%q is added, deleted or changes its mode", c.Path))
		default:
			led = append(led, c.Path)
		}
	}
	for _, p := range led {
		for _, d := range s.differences(p) {
			if d.Class != schemadiff.Note {
				out = append(out, fmt.Sprintf("%q of %q", d.Pointer, p))
			}
		}
	}
	return out, nil
}
