package proof

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/revocation"
)

// The modes of a tree entry, as Git writes them. Gone is the mode of a path without an entry.
const (
	Gone           uint32 = 0
	modeTree       uint32 = 0o40000
	modeFile       uint32 = 0o100644
	modeExecutable uint32 = 0o100755
)

// recordDirectories are the directories whose files are names of the map.
var recordDirectories = []string{"implementations/", "peer-witnesses/", "revocations/", "workflow-anchors/"}

// InMap reports whether what a tree has at a path can change the map.
func InMap(path string) bool {
	return slices.ContainsFunc(recordDirectories, func(dir string) bool { return strings.HasPrefix(path, dir) })
}

// Change is what one path holds from a commit on.
type Change struct {
	Path    string
	Sum     Hash
	file    bool
	revoked []string
}

// NewChange returns the change of a path to an entry with a mode and content: the bytes of a file, the target of a
// link, nothing of a submodule.
func NewChange(path string, mode uint32, content []byte) Change {
	c := Change{Path: path, file: InMap(path) && (mode == modeFile || mode == modeExecutable)}
	if mode != Gone && mode != modeTree {
		c.Sum = sha256.Sum256(content)
		c.revoked = revoked(path, content)
	}
	return c
}

// revoked returns the names revoked/SLUG-HASH that a tree entry sets: by its file name, and by its content.
func revoked(path string, content []byte) (names []string) {
	for _, p := range revocation.Read(path, content).Pins {
		names = append(names, RevokedName(p.Slug, p.SHA256))
	}
	return names
}

// RevokedName returns the name in the map that a revocation of a Receipt sets.
func RevokedName(slug, sha256 string) string { return "revoked/" + slug + "-" + sha256 }

// ListingPath returns the path of a slug's listing.
func ListingPath(slug string) string { return "implementations/" + slug + ".json" }

// IsSlug reports whether a text is [a-z0-9][a-z0-9-]{1,63}.
func IsSlug(text string) bool { return revocation.IsSlug(text) }

// Names returns the names in the map that a change may set or delete.
func (c Change) Names() []string { return append([]string{c.Path}, c.revoked...) }

// Member returns the member of the map that a change sets, and whether that is all it does.
func (c Change) Member() (e Member, all bool) {
	return Member{keyOf(c.Path), c.Sum}, c.file && len(c.revoked) == 0
}

// Apply applies the changes of the next commit to the map, and sorts them. A file may disappear again; a name
// revoked/SLUG-HASH stays.
func (m *Map) Apply(changes []Change) {
	// In byte order: several entries of one commit may set the same name.
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	for _, c := range changes {
		if c.file {
			m.Set(c.Path, c.Sum)
		} else {
			m.Delete(c.Path)
		}
		for _, name := range c.revoked {
			m.Revoke(name, c.Sum)
		}
	}
}

// Revoke sets a name revoked/SLUG-HASH that the map does not have.
func (m *Map) Revoke(name string, sum Hash) {
	if _, _, found := m.find(new(keyOf(name))); !found {
		m.Set(name, sum)
	}
}
