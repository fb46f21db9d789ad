// Package schemadiff compares the meaning of two JSON Schemas (draft 2020-12): which valid documents remain valid, and
// what RFC 0019 section 4 requires. It is pure: it takes texts and returns differences.
//
// It walks two schemas side by side from the root. Each difference has a Class and the place of the keyword. A
// difference that cannot be shown to be of a harmless class is Changed, which fails.
//
// References resolve only inside the tree, by `$id` and by path. Nothing is fetched.
package schemadiff

import (
	"cmp"
	"slices"
)

// Class says what a difference does to the documents that the old schema judged.
type Class string

// The classes. Only Note and Additive do not break.
const (
	// Note: no document is judged otherwise.
	Note Class = "note"
	// Additive: a new optional field where nothing governed that name. A document without that member is judged as
	// before.
	Additive Class = "additive"
	// Loosened: the new schema accepts all that the old one did, and more.
	Loosened Class = "loosened"
	// Tightened: the new schema may refuse what the old one accepted, and accepts nothing that it refused.
	Tightened Class = "tightened"
	// Enum: the value range of an enumeration differs, either way.
	Enum Class = "enum"
	// Removed: a field or a definition is gone.
	Removed Class = "removed"
	// Identity: `$id`, `$schema` or an anchor differs, or a reference leads to another document.
	Identity Class = "identity"
	// Meaning: a default, readOnly, writeOnly or content keyword differs, or a requirement in a title or description.
	Meaning Class = "meaning"
	// Changed: none of the others can be shown.
	Changed Class = "changed"
)

// Breaking reports whether RFC 0019 section 4 forbids the difference in a published schema, whatever is declared.
func (c Class) Breaking() bool { return c != Note && c != Additive }

// Difference is one place at which the new schema says something else than the old.
type Difference struct {
	Class   Class  `json:"class"`
	Pointer string `json:"pointer"`        // RFC 6901, of the keyword or entry; "" is the schema as a whole
	Gone    bool   `json:"gone,omitempty"` // the pointer is one of the old schema, whose keyword or entry is gone
	Message string `json:"message"`        // what was, what is; foreign text is quoted and cut, in one line

	Old, New any `json:"-"` // the keyword's values as strict.Document has them; nil where absent or not of one place
}

// Breaking reports whether one of the differences breaks.
func Breaking(differences []Difference) bool {
	return slices.ContainsFunc(differences, func(d Difference) bool { return d.Class.Breaking() })
}

// Limits. A schema beyond the first two cannot be read; a comparison beyond the last ends with a Changed of the whole.
const (
	MaxBytes = 1 << 20 // limit of one schema's text
	MaxDepth = 60      // of objects and arrays in it
	MaxTree  = 8 << 20 // bytes of all texts of a tree
)

// Compare returns how the schema newPath of one tree differs from oldPath of the other, sorted by pointer and class.
// Parts that the two refer to in other files are compared at the reference, whichever file has them. A text that cannot
// be read, or does not exist, is one Changed of the whole.
func Compare(old *Tree, oldPath string, new *Tree, newPath string) []Difference {
	return newComparison(old, new, map[string]string{newPath: oldPath}).Schemas(oldPath, newPath)
}

// Trees prepares the comparison of the schemas for which published returns true and that the old tree has. Their
// differences are reported at their own places: a reference from one of them to another reports nothing.
func Trees(old, new *Tree, published func(path string) bool) *Comparison {
	both := map[string]string{}
	for path := range old.files {
		if published(path) {
			both[path] = path
		}
	}
	return newComparison(old, new, both)
}

// Successor returns the differences without the one of the root $id, and reports whether there is one: then the new
// schema is another one, and no version of the old.
func Successor(differences []Difference) (rest []Difference, another bool) {
	rest = slices.DeleteFunc(append([]Difference{}, differences...), func(d Difference) bool {
		return d.Class == Identity && d.Pointer == "/$id" && d.Old != nil && d.New != nil
	})
	return rest, len(rest) < len(differences)
}

func sorted(differences []Difference) []Difference {
	slices.SortStableFunc(differences, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Class, b.Class))
	})
	return differences
}
