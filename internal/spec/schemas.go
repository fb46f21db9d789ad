package spec

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/schemadiff"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// isSchema reports whether a path is that of a schema of some version, in any letter case.
func isSchema(path string) bool {
	path = strings.ToLower(path)
	return inVersion(path, "schemas/") && strings.HasSuffix(path, ".json")
}

// schemaText is one schema as it was read.
type schemaText struct {
	document *strict.Document
	err      error // it is no strict JSON
}

// schemaLimits are those of package schemadiff.
var schemaLimits = strict.Limits{Bytes: schemadiff.MaxBytes, Depth: schemadiff.MaxDepth, Number: 64, Values: 1 << 17}

// schemaSet is the schemas of one Git tree, and what they lead to.
type schemaSet struct {
	texts map[string][]byte
	read  *schemadiff.Tree // nil: not asked for yet
	ids   map[string]gitstore.ID
	byID  map[string][]string // paths; nil: not asked for yet
}

func (s *schemaSet) tree() *schemadiff.Tree {
	if s.read == nil {
		s.read = schemadiff.NewTree(s.texts)
	}
	return s.read
}

// schemaView compares the schemas of two trees.
type schemaView struct {
	base, head *schemaSet
	diff       *schemadiff.Comparison // nil: not asked for yet
	known      map[string][]schemadiff.Difference
	versions   func(oldPath, newPath string) []schemadiff.Difference // of the head; nil: not asked for yet
}

// comparison is made where it is asked for: many a view touches JSON that is no schema.
func (s *schemaView) comparison() *schemadiff.Comparison {
	if s.diff == nil {
		s.diff = schemadiff.Trees(s.base.tree(), s.head.tree(), isSchema)
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

// differences tells how a published schema that both trees have differs.
func (s *schemaView) differences(path string) []schemadiff.Difference {
	if d, ok := s.known[path]; ok {
		return d
	}
	s.known[path] = s.comparison().Schema(path)
	return s.known[path]
}

// maxSchemas is how many bytes the schemas of a tree have together.
const maxSchemas = 4 << 20

// maxHops is how many files outside schemas/ lead to one another.
const maxHops = 8

// schemas reads the schemas of a tree and, of its other JSON files, those whose names they refer to.
func (x *Texts) schemas(t *registry.Tree) (*schemaSet, error) {
	s := &schemaSet{texts: map[string][]byte{}, ids: map[string]gitstore.ID{}}
	budget := maxSchemas
	add := func(p string, e registry.Entry) error {
		if s.texts[p] != nil || !isJSON(p) || !isFile(&e) {
			return nil
		}
		data, err := read(t, p, schemadiff.MaxBytes, &budget)
		s.texts[p], s.ids[p] = data, e.ID
		return err
	}
	folder, _, err := t.Entry("schemas")
	if err != nil {
		return nil, err
	}
	key := folder.ID.String()
	if known := x.trees[key]; known != nil {
		return known, nil
	}
	if err := t.WalkFolder("schemas", add); err != nil {
		return nil, err
	}
	self := true // nothing leads out of the folder
	for range maxHops {
		wanted := s.unresolved()
		if len(wanted) == 0 {
			break
		}
		n := len(s.texts)
		err := t.Walk(func(p string, e registry.Entry) error {
			if !wanted[path.Base(p)] {
				return nil
			}
			return add(p, e)
		})
		if err != nil {
			return nil, err
		}
		if len(s.texts) == n {
			break
		}
		self = false
	}
	if self {
		if x.trees == nil {
			x.trees = map[string]*schemaSet{}
		}
		x.trees[key] = s
	}
	return s, nil
}

var (
	reference  = plain.Pattern(`"\$(?:dynamicR|r)ef"\s*:\s*"([^"#\\]+)`)
	identifier = plain.Pattern(`"\$id"\s*:\s*"([^"\\]+)"`)
)

// unresolved are the base names of the files that the texts refer to and that none of them is, by place or by $id.
func (s *schemaSet) unresolved() map[string]bool {
	there := map[string]bool{}
	for p, text := range s.texts {
		there[path.Base(p)] = true
		for _, m := range identifier().FindAllSubmatch(text, -1) {
			there[path.Base(strings.TrimSuffix(string(m[1]), "#"))] = true
		}
	}
	out := map[string]bool{}
	for _, text := range s.texts {
		for _, m := range reference().FindAllSubmatch(text, -1) {
			if name := path.Base(string(m[1])); !there[name] {
				out[name] = true
			}
		}
	}
	return out
}

// textKey is one text at one path: what is wrong with it is told there.
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

// identified gives the schemas of a set under schemas/ by their $id, without an empty fragment, in the order of paths.
func (x *Texts) identified(s *schemaSet) map[string][]string {
	if s.byID == nil {
		s.byID = map[string][]string{}
		for _, p := range slices.Sorted(maps.Keys(s.texts)) {
			if d, _ := x.document(s, p); d != nil && strings.HasPrefix(p, "schemas/") {
				id := strings.TrimSuffix(strict.String(d.Root, "$id"), "#")
				s.byID[id] = append(s.byID[id], p)
			}
		}
	}
	return s.byID
}

// meaningfulSchemas lists the places at which the normative JSON files of a view differ in more than annotations.
func (v *View) meaningfulSchemas() ([]string, error) {
	var out []string
	for _, c := range v.normative() {
		switch {
		case !isJSON(c.Path):
			continue
		case !isFile(c.Base) || !isFile(c.Head) || c.Base.Mode != c.Head.Mode:
			out = append(out, fmt.Sprintf("%q is added, deleted or changes its mode", c.Path))
			continue
		case !isSchema(c.Path):
			same, err := v.sameWithoutSpace(c.Path)
			if err != nil {
				return nil, err
			}
			if !same {
				out = append(out, fmt.Sprintf("%q", c.Path))
			}
			continue
		}
		s, err := v.comparesSchemas()
		if err != nil {
			return nil, err
		}
		for _, d := range s.differences(c.Path) {
			if d.Class != schemadiff.Note {
				out = append(out, fmt.Sprintf("%q of %q", d.Pointer, c.Path))
			}
		}
	}
	return out, nil
}

func (v *View) sameWithoutSpace(path string) (bool, error) {
	budget := maxTexts
	base, err := read(v.Base, path, maxText, &budget)
	if err != nil {
		return false, err
	}
	head, err := read(v.Head, path, maxText, &budget)
	return slices.Equal(withoutSpace(base), withoutSpace(head)), err
}
