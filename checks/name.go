package checks

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/revocation"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/fold"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// RecordSlug returns the slug in the path of a record of kind k: DIRECTORY/SLUG.json. For a revocation it is the part
// before the hash. It returns "" for a path of another form.
func RecordSlug(k registry.Kind, path string) string {
	if k == registry.KindRevocation {
		return revocationName(path).Slug
	}
	name, found := strings.CutPrefix(path, k.Directory()+"/")
	slug, isJSON := strings.CutSuffix(name, ".json")
	if !found || !isJSON || !revocation.IsSlug(slug) {
		return ""
	}
	return slug
}

// revocationName returns what the path of a revocation says: revocations/SLUG-SHA256.json. It returns the zero pin for
// a path of another form.
func revocationName(path string) pin {
	name, found := strings.CutPrefix(path, "revocations/")
	name, isJSON := strings.CutSuffix(name, ".json")
	at := strings.LastIndexByte(name, '-')
	if !found || !isJSON || at < 0 || !revocation.IsSlug(name[:at]) || !plain.IsSHA256(name[at+1:]) {
		return pin{}
	}
	return pin{Slug: name[:at], SHA256: name[at+1:]}
}

// recordPath returns the path of a record of kind k: DIRECTORY/SLUG.json, for a revocation DIRECTORY/SLUG-SHA256.json.
func recordPath(k registry.Kind, slug, sha256 string) string {
	if k == registry.KindRevocation {
		slug += "-" + sha256
	}
	return k.Directory() + "/" + slug + ".json"
}

// memberPath returns the path that the members of a record of kind k require.
func memberPath(k registry.Kind, root any) string {
	return recordPath(k, strict.String(root, "slug"), strict.String(root, "revoked_receipt_sha256"))
}

// isPlain reports whether folding leaves a path as it is, and reads only its bytes.
func isPlain(path string) bool {
	for i := range len(path) {
		c := path[i]
		last := i+1 == len(path) || path[i+1] == '/'
		if c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' || last && isDropped(rune(c)) {
			return false
		}
	}
	return true
}

// foldPath returns a path as the most forgetful systems compare it: folded, and without the dots and blanks at each
// part's end. Systems that forget less see fewer twins, and a clone must work on all systems.
func foldPath(path string) string {
	folded := path
	if utf8.ValidString(path) {
		folded = fold.Text(path)
	} else { // bytes that are not UTF-8 remain distinct
		folded = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(path)))
	}
	parts := strings.Split(folded, "/")
	for i, p := range parts {
		parts[i] = strings.TrimRightFunc(p, isDropped)
	}
	return strings.Join(parts, "/")
}

// isDropped reports whether a rune is one that some systems drop at the end of a name.
func isDropped(r rune) bool { return r == '.' || unicode.IsSpace(r) }
