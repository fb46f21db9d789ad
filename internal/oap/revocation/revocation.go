// Package revocation reads which Receipts a file below revocations/ revokes, whatever its name and form.
//
// A signature decides when a revocation is merged. Afterwards each reader counts what the history has, so that all
// readers have one answer: this package reads only names and texts.
package revocation

import (
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// Directory is the directory of revocations, with its slash.
const Directory = "revocations/"

// MaxBytes is the size of the largest content in which a revocation is looked for.
const MaxBytes = 1 << 20

// Pin is a slug, and the SHA-256 of a Receipt that its listing pinned.
type Pin struct{ Slug, SHA256 string }

// A Revocation is what one tree entry below revocations/ revokes.
type Revocation struct {
	Pins   []Pin // by its name and by its text, at most one each
	Named  Pin   // by its name; zero if the name has another form
	Text   Pin   // by its text; zero if the text has another form
	Read   bool  // the content is strict JSON
	By     string
	Forced bool // it has as many witness signatures as revoke against the owner's will
	Reason string
}

// Excused reports whether the reason is that the owner has another Receipt or left, which says nothing against what the
// Receipt vouched for. A reason that cannot be read is another one.
func (v *Revocation) Excused() bool {
	return v.Reason == "superseded" || v.Reason == "voluntary_withdrawal"
}

// quorum is how many witness signatures make a revocation a forced one.
const quorum = 3

// Counts reports whether a tree entry at a path is read as a revocation: any path below the directory except the
// governance files README.md and .gitkeep.
func Counts(path string) bool {
	return strings.HasPrefix(path, Directory) && path != Directory+"README.md" && path != Directory+".gitkeep"
}

// Read reads a tree entry: the content of a file, the target of a symbolic link, or nothing for a submodule. It returns
// the zero Revocation for a path that does not count.
func Read(path string, content []byte) Revocation {
	var v Revocation
	if !Counts(path) {
		return v
	}
	name := strings.TrimSuffix(lower(path[strings.LastIndexByte(path, '/')+1:]), ".json")
	if i := len(name) - 2*sha256.Size - 1; i > 0 && name[i] == '-' {
		v.Named = v.add(name[:i], name[i+1:])
	}
	doc, err := strict.Parse(path, content, strict.Limits{Bytes: MaxBytes, Depth: 64, Number: 64})
	if err != nil {
		return v
	}
	v.Read = true
	v.Text = v.add(lower(strict.String(doc.Root, "slug")), lower(strict.String(doc.Root, "revoked_receipt_sha256")))
	v.By = strings.Clone(strict.String(doc.Root, "revoked_by_did"))
	v.Reason = strings.Clone(strict.String(doc.Root, "reason"))
	entries, _ := strict.Member(doc.Root, "peer_witness_signatures").([]any)
	v.Forced = len(entries) >= quorum
	return v
}

func (v *Revocation) add(slug, sum string) Pin {
	p := Pin{strings.Clone(slug), strings.Clone(sum)}
	if !IsSlug(slug) || !plain.IsSHA256(sum) {
		return Pin{}
	}
	if !slices.Contains(v.Pins, p) {
		v.Pins = append(v.Pins, p)
	}
	return p
}

// IsSlug reports whether a text is [a-z0-9][a-z0-9-]{1,63}.
func IsSlug(text string) bool {
	return len(text) >= 2 && len(text) <= 64 && text[0] != '-' &&
		strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// lower changes only ASCII: Unicode has letters whose lower case is in a slug.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}
