package governance

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/schemadiff"
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

// schemaSet is the JSON files below schemas/ of one Git tree, and the files that published ones among them lead to.
type schemaSet struct {
	texts map[string][]byte
	links []string // paths of links and submodules on the way to published schemas and to what they refer to
	tree  *schemadiff.Tree
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
	diff       *schemadiff.Comparison
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
	v.schemas = &schemaView{base, head, schemadiff.Trees(base.tree, head.tree, isSchema)}
	return v.schemas, nil
}

// differences returns how a published schema that both trees have differs.
func (s *schemaView) differences(path string) []schemadiff.Difference {
	return s.diff.Schemas(path, path)
}

const (
	maxSchemas  = 4 << 20 // bytes of the schemas of a tree together
	maxFollowed = 2_000   // paths outside schemas/, or of no file, that the schemas of a tree refer to
)

// schemas reads the JSON files below schemas/ of a tree, and the files to which references in published ones lead.
func (x *Texts) schemas(t *registry.Tree) (*schemaSet, error) {
	directory, _, err := t.Entry("schemas")
	if err != nil {
		return nil, err
	}
	key := directory.ID.String()
	if known := x.trees[key]; known != nil {
		return known, nil
	}
	s := &schemaSet{texts: map[string][]byte{}}
	budget := &budget{"the schemas of a tree", "split the change", schemadiff.MaxBytes, maxSchemas}
	err = t.WalkFolder("schemas", func(p string, e registry.Entry) (err error) {
		if isFile(&e) && isJSON(p) {
			s.texts[p], err = budget.read(t, p)
		} else if isSchema(p) {
			s.links = append(s.links, p)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	followed, self := 0, true // self: nothing leads out of the directory
	s.tree = schemadiff.NewTree(maps.Clone(s.texts), isSchema, func(p string) []byte {
		if followed++; err == nil && followed > maxFollowed {
			err = remedy.Errorf("put what they refer to into fewer files",
				"%w: they refer to more than %d other files", ErrLimit, maxFollowed)
		}
		if err != nil {
			return nil
		}
		self = self && strings.HasPrefix(p, "schemas/")
		var at string
		var e registry.Entry
		if at, e, err = lead(t, p); err != nil {
			return nil
		}
		if isFile(&e) && at == p {
			s.texts[p], err = budget.read(t, p)
		} else if e.Mode != 0 && e.Mode != registry.ModeTree && !isFile(&e) {
			s.links = append(s.links, at)
		}
		return s.texts[p]
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

// lead returns the first on the way to a path that is not a directory, and its entry; the zero entry if nothing is
// there.
func lead(t *registry.Tree, p string) (at string, e registry.Entry, err error) {
	for i, c := range p + "/" {
		if c != '/' {
			continue
		}
		if e, _, err = t.Entry(p[:i]); err != nil || e.Mode != registry.ModeTree {
			return p[:i], e, err
		}
	}
	return p, e, nil
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

// led returns the published schemas that do not change themselves and that differ by what they refer to.
func (v *View) led(s *schemaView) []string {
	itself, read := map[string]bool{}, false
	for _, c := range v.Changes {
		itself[c.Path] = true
		read = read || s.base.texts[c.Path] != nil || s.head.texts[c.Path] != nil
	}
	var out []string
	for _, p := range slices.Sorted(maps.Keys(s.base.texts)) {
		if read && !itself[p] && isSchema(p) && s.base.tree.Refers(p) && len(s.differences(p)) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// meaningfulSchemas lists the places at which the schemas of a view differ in more than annotations.
func (v *View) meaningfulSchemas() ([]string, error) {
	s, err := v.comparesSchemas()
	if err != nil {
		return nil, err
	}
	var out []string
	led := v.led(s)
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
